//! The end of a run: what is owed before it, and the marker that closes it (J.37, H.2, H.3).

use super::{
    artifacts::{Case, Role},
    boundary::Boundaries,
    bytes::{Map, Value, object_digest},
    canonical_set::{Files, manifest},
    fields::{Usage, field, has_keys, text, time},
    findings::Findings,
    journal::{Journal, StopKind, rollback_action},
    results::{Earlier, Row},
    shelf::{Object, Presence},
};

const MARKER: &str = "run.finalized.json";

const KEYS: [&str; 21] = [
    "schema_version",
    "kind",
    "run_tag",
    "contract_sha256",
    "final_incumbent_commit",
    "final_head_commit",
    "best_confirmed_attempt",
    "best_confirmed_commit",
    "result_count",
    "last_journal_seq",
    "results_sha256",
    "journal_sha256",
    "last_attempt_boundary_sha256",
    "canonical_artifacts",
    "canonical_artifacts_sha256",
    "actual_budget",
    "actual_budget_complete",
    "unresolved_cleanup",
    "unresolved_recovery",
    "stop_reason",
    "finalized_at",
];

/// What is known at the end.
pub struct Whole<'w> {
    /// The case.
    pub case: Case<'w>,
    /// The journal.
    pub journal: &'w Journal,
    /// The rows.
    pub rows: &'w [Row],
    /// What they used.
    pub earlier: &'w Earlier,
    /// The boundaries.
    pub boundaries: &'w Boundaries,
    /// The files.
    pub files: &'w Files,
    /// The digests of journal and results.
    pub digests: [String; 2],
}

/// What was asked of a directory.
#[derive(Debug, Clone, Copy, Default)]
pub struct Demand {
    /// Whether one legal tail may be open.
    pub allow_incomplete: bool,
    /// Whether the run must be closed.
    pub require_finalized: bool,
}

impl Whole<'_> {
    /// What all rows used, each unit of the contract named.
    pub fn used(&self) -> Usage {
        let units = self.case.contract.units().into_iter().map(|unit| (unit, 0));
        let mut used: Usage = units.collect();
        super::fields::add(&mut used, &self.earlier.used);
        used
    }

    /// Whether nothing but the end may follow (I.1).
    pub fn is_terminal(&self) -> bool {
        let attempts = &self.journal.attempts;
        self.journal.stop.is_some()
            || attempts.iter().any(|attempt| attempt.role == Role::Final)
            || attempts.iter().any(|attempt| rollback_action(attempt) == "preserve_and_stop")
            || attempts.first().is_some_and(|baseline| {
                baseline.decided.as_ref().is_some_and(|decided| !decided.keep)
            })
    }

    /// Whether a final test is due at an end with nothing unresolved (H.3).
    pub fn owes_final(&self) -> bool {
        let skipped = self
            .journal
            .stop
            .as_ref()
            .is_some_and(|stop| stop.skips_final && stop.kind == StopKind::User);
        let confirmed = self.rows.iter().any(|row| row.confirmed && row.role != Some(Role::Final));
        self.case.contract.final_test.is_some() && confirmed && !skipped
    }

    /// The incumbent after all rows.
    pub fn incumbent(&self) -> &str {
        self.earlier.incumbent.as_deref().unwrap_or(&self.case.contract.baseline_commit)
    }

    fn count(&self) -> Value {
        Value::from(i128::try_from(self.rows.len()).unwrap_or(i128::MAX))
    }
}

/// Judges the end; says whether a readable marker stands.
pub fn closure(out: &mut Findings, whole: &Whole<'_>, demand: Demand) -> bool {
    out.at("journal.jsonl", None, |out| final_test(out, whole));
    let path = format!("{}/{MARKER}", whole.case.shelf.root());
    let present = whole.case.shelf.disk().kind(&path) != super::disk::Kind::Missing;
    let object = whole.case.shelf.object(out, MARKER, Presence::Optional);
    out.at(MARKER, None, |out| {
        if !present {
            missing(out, whole, demand);
        } else if let Some(object) = &object {
            marker(out, whole, object);
        }
    });
    partial(out, whole.files, present);
    object.is_some()
}

fn final_test(out: &mut Findings, whole: &Whole<'_>) {
    let Some(stopped) = &whole.journal.stopped else { return };
    let resolved =
        stopped.unresolved_cleanup == Some(false) && stopped.unresolved_recovery == Some(false);
    if !whole.owes_final() || !resolved {
        return;
    }
    let finals: Vec<&Row> = whole.rows.iter().filter(|row| row.role == Some(Role::Final)).collect();
    let once = finals.len() == 1;
    out.due(
        once,
        778,
        "final_test_missing",
        format!("{} final attempts were made, one is due", finals.len()),
    );
    let launched = finals.iter().all(|row| row.calls >= 1);
    out.due(launched, 779, "final_test_not_launched", "the final attempt launched nothing");
}

fn missing(out: &mut Findings, whole: &Whole<'_>, demand: Demand) {
    out.due(!demand.require_finalized, 780, "missing_run_boundary", "the run is not closed");
    if demand.allow_incomplete || !whole.boundaries.incomplete.is_empty() {
        return;
    }
    if whole.journal.stopped.is_some() {
        out.find(781, "incomplete_run_finalization", "the run was stopped and is not closed");
    } else if whole.is_terminal() {
        out.find(782, "run_stop_record_missing", "only the end may follow, and it is not recorded");
    }
}

fn marker(out: &mut Findings, whole: &Whole<'_>, object: &Object) {
    let map = object.map();
    let complete = whole.boundaries.incomplete.is_empty();
    out.due(complete, 783, "finalized_with_incomplete_attempt", "an attempt has no boundary");
    let stopped = whole.journal.stopped.is_some();
    out.due(
        stopped,
        784,
        "run_boundary_without_stop",
        "the journal does not say that the run was stopped",
    );
    out.due(
        has_keys(map, &KEYS),
        785,
        "run_boundary_schema_mismatch",
        "the keys are not the twenty-one",
    );
    derived(out, whole, map);
    mirrored(out, whole, map);
    let at = out.within(792, |out| time(out, map, "finalized_at"));
    out.within(793, |out| text(out, map, "stop_reason"));
    let code = "run_boundary_time_regression";
    let after = |earlier| at.zip(earlier).is_none_or(|(at, earlier)| at >= earlier);
    out.due(after(whole.journal.last_at), 794, code, "it was written before the last event");
    out.due(
        after(whole.boundaries.last_at),
        795,
        code,
        "it was written before the last boundary of an attempt",
    );
    best(out, whole, map);
}

/// The fifteen keys that follow from the rest (786).
fn derived(out: &mut Findings, whole: &Whole<'_>, map: &Map) {
    let case = whole.case;
    let [journal, results] = &whole.digests;
    let artifacts = manifest(case, whole.files);
    let used = whole.used().into_iter().map(|(unit, amount)| (unit, Value::from(amount))).collect();
    let head =
        whole.journal.stopped.as_ref().map_or(Value::Null, |stopped| Value::of(&stopped.head));
    let boundary = whole.boundaries.last_sha256.as_ref().map_or(Value::Null, Value::of);
    for (key, due) in [
        ("schema_version", Value::from(1)),
        ("kind", Value::of("run-boundary")),
        ("run_tag", Value::of(&case.contract.run_tag)),
        ("contract_sha256", Value::of(case.contract.sha256.as_ref())),
        ("final_incumbent_commit", Value::of(whole.incumbent())),
        ("final_head_commit", head),
        ("result_count", whole.count()),
        ("last_journal_seq", Value::from(i128::from(whole.journal.count))),
        ("results_sha256", Value::of(results)),
        ("journal_sha256", Value::of(journal)),
        ("last_attempt_boundary_sha256", boundary),
        ("canonical_artifacts_sha256", Value::of(object_digest(&artifacts))),
        ("canonical_artifacts", artifacts),
        ("actual_budget", Value::Map(used)),
        ("actual_budget_complete", Value::Bool(whole.earlier.complete)),
    ] {
        let same = case.equality().holds(field(map, key), &due);
        out.due(
            same,
            786,
            "run_boundary_mismatch",
            format!("`{key}` is not what the directory says"),
        );
    }
}

/// What the end in the journal says, the marker says (787 to 790).
fn mirrored(out: &mut Findings, whole: &Whole<'_>, map: &Map) {
    let Some(stopped) = &whole.journal.stopped else { return };
    let code = "run_boundary_mismatch";
    let reason = field(map, "stop_reason").text() == Some(&stopped.reason);
    out.due(reason, 787, code, "`stop_reason` is not that of the journal");
    let same = |key: &str, due: Option<bool>| field(map, key).bool() == due;
    out.due(
        same("unresolved_cleanup", stopped.unresolved_cleanup),
        788,
        code,
        "`unresolved_cleanup` is not that of the journal",
    );
    out.due(
        same("unresolved_recovery", stopped.unresolved_recovery),
        789,
        code,
        "`unresolved_recovery` is not that of the journal",
    );
    out.due(
        stopped.incumbent == whole.incumbent(),
        790,
        code,
        "the journal's last incumbent is not that of the results",
    );
}

/// The best attempt is the last one that confirmed the incumbent (796 to 800).
fn best(out: &mut Findings, whole: &Whole<'_>, map: &Map) {
    let code = "invalid_best_attempt";
    let (attempt, commit) =
        (field(map, "best_confirmed_attempt"), field(map, "best_confirmed_commit"));
    let fits = |row: &&Row| row.confirmed && row.role != Some(Role::Final);
    let due = whole.rows.iter().rev().filter(fits).find(|row| row.commit == whole.incumbent());
    let Some(due) = due else {
        out.due(attempt.is_null() && commit.is_null(), 796, code, "no row confirmed the incumbent");
        return;
    };
    let Some(named) = whole.rows.iter().find(|row| attempt.text() == Some(&row.attempt)) else {
        return out.find(797, code, "it names an attempt without a row");
    };
    out.due(fits(&named), 798, code, "the attempt that it names is not confirmed");
    out.due(
        commit.text() == Some(&named.commit),
        799,
        code,
        "the commit is not that of the attempt",
    );
    out.due(
        named.attempt == due.attempt,
        800,
        code,
        format!("the last that confirmed the incumbent is `{}`", due.attempt),
    );
}

/// Files in flight (801, 804).
fn partial(out: &mut Findings, files: &Files, closed: bool) {
    for path in &files.partial {
        out.at(path, None, |out| {
            if closed {
                out.find(
                    801,
                    "partial_after_finalization",
                    "a file in flight is left in a closed run",
                );
            } else {
                out.warn(804, "partial_artifact", "a file in flight");
            }
        });
    }
}
