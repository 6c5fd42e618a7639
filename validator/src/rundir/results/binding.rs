//! A row is the row of its attempt: identity, time, decision (J.29).

use super::{
    super::{
        artifacts::{
            Role,
            design::{self, Before},
        },
        bytes::{Map, Value, object_digest},
        fields::{field, oid, safe_id, schema_version, text, time},
        findings::Findings,
        journal::{Attempt, Outcome, outcome, rollback_action, steps_after},
        scalar::Instant,
    },
    Earlier, Reading,
};

/// The fields of a row in `rp`'s own version (L5).
const KEYS: [&str; 35] = [
    "schema_version",
    "attempt_id",
    "experiment_id",
    "iteration",
    "role",
    "commit",
    "incumbent_commit",
    "pre_attempt_head_commit",
    "rollback_commit",
    "started_at",
    "ended_at",
    "contract_sha256",
    "status",
    "lane",
    "evidence_maturity",
    "acceptance_reason",
    "decision",
    "primary_metric",
    "primary_value",
    "split_metrics",
    "aggregation",
    "secondary_metrics",
    "repetitions",
    "duration_seconds",
    "validation_queries",
    "hypothesis",
    "change_summary",
    "design",
    "admission",
    "budget",
    "leakage_audit",
    "counterexample_results",
    "constraint_results",
    "finding",
    "failure",
];

const DECISION: [&str; 8] = [
    "decision_seq",
    "journal_event_sha256",
    "accepted",
    "incumbent_after",
    "stage_results",
    "stage_evidence",
    "rule_evaluation",
    "rollback_required",
];

pub(super) fn bound(out: &mut Findings, row: &Reading<'_>, earlier: &Earlier) {
    let map = row.map;
    if row.case.is_own() {
        closed(out, row);
    }
    out.within(585, |out| schema_version(out, map, row.case.profile(), 1));
    let id = out.within(586, |out| {
        safe_id(out, map, "experiment_id");
        safe_id(out, map, "attempt_id")
    });
    let number = i128::try_from(row.index).unwrap_or(i128::MAX);
    let counted = row.get("iteration").is_int(number, row.case.equality());
    out.due(counted, 587, "result_iteration", format!("`iteration` is not {number}"));
    let role = row.get("role").text().and_then(Role::of);
    out.due(role.is_some(), 588, "invalid_role", "`role` is unknown");
    out.within(589, |out| {
        for key in ["commit", "incumbent_commit", "pre_attempt_head_commit"] {
            oid(out, map, key);
        }
        if !row.get("rollback_commit").is_null() {
            oid(out, map, "rollback_commit");
        }
    });
    let contract = row.get("contract_sha256").text() == Some(row.case.contract.sha256.as_ref());
    out.due(
        contract,
        594,
        "contract_digest_mismatch",
        "`contract_sha256` is not that of the contract",
    );
    out.within(597, |out| {
        for key in
            ["acceptance_reason", "hypothesis", "change_summary", "aggregation", "primary_metric"]
        {
            text(out, map, key);
        }
    });
    let first = id.is_none_or(|id| !earlier.attempts.contains(id));
    out.due(first, 613, "duplicate_attempt_result", "the attempt has an earlier row");
    let chain = earlier.incumbent.as_deref().unwrap_or(&row.case.contract.baseline_commit);
    out.due(
        row.get("incumbent_commit").text() == Some(chain),
        614,
        "incumbent_chain",
        format!("the incumbent after the earlier rows is {chain}"),
    );
    times(out, row);
    let Some(attempt) = row.attempt else {
        return out.find(770, "orphan_result", "the journal has no attempt for this row");
    };
    own_outcome(out, row, attempt);
    identity(out, row, attempt);
    decision(out, row, attempt);
}

fn closed(out: &mut Findings, row: &Reading<'_>) {
    let parts = [(row.map, &KEYS[..], "the row"), (row.decision, &DECISION[..], "`decision`")];
    for (map, keys, what) in parts {
        let exact = super::super::fields::has_keys(map, keys);
        out.due(
            exact,
            902,
            "result_schema_mismatch",
            format!("the fields of {what} are not exactly those of the protocol"),
        );
    }
    for (key, keys) in [
        ("budget", &["actual_complete", "actual", "remaining_after"][..]),
        (
            "finding",
            &["type", "summary", "scope", "caveats", "next_action", "result_ids", "revive_if"],
        ),
    ] {
        let exact = row.get(key).map().is_none_or(|map| super::super::fields::has_keys(map, keys));
        out.due(
            exact,
            902,
            "result_schema_mismatch",
            format!("the fields of `{key}` are not exactly those of the protocol"),
        );
    }
}

/// Beginning and end (590 to 593).
fn times(out: &mut Findings, row: &Reading<'_>) {
    let (started, ended) =
        out.within(590, |out| (time(out, row.map, "started_at"), time(out, row.map, "ended_at")));
    if let (Some(started), Some(ended)) = (started, ended) {
        out.due(started <= ended, 591, "result_time_regression", "it ended before it began");
    }
    let Some(attempt) = row.attempt else { return };
    if let (Some(started), Some(prepared)) = (started, attempt.at) {
        out.due(
            started == prepared,
            592,
            "result_start_mismatch",
            "`started_at` is not when the attempt was prepared",
        );
    }
    let last = last_receipt(row, attempt);
    if let (Some(ended), Some(last)) = (ended, last) {
        out.due(
            ended >= last,
            593,
            "result_before_launch_terminal",
            "it ended before a receipt of its launches",
        );
    }
}

/// The receipt that a row may not precede; in `rp`'s version only the end of execution counts (L18).
fn last_receipt(row: &Reading<'_>, attempt: &Attempt) -> Option<Instant> {
    if row.case.is_own() {
        attempt.launches.iter().filter_map(|launch| launch.finished).max()
    } else {
        attempt.launches.iter().filter_map(|launch| launch.last).max()
    }
}

fn own_outcome(out: &mut Findings, row: &Reading<'_>, attempt: &Attempt) {
    let found = Outcome {
        status: row.get("status"),
        lane: row.get("lane"),
        maturity: row.get("evidence_maturity"),
        accepted: field(row.decision, "accepted"),
        stage_results: field(row.decision, "stage_results"),
        stage_evidence: field(row.decision, "stage_evidence"),
    };
    out.within(596, |out| outcome(out, row.case, attempt, &found));
}

/// The row names the attempt at its place (598 to 601).
fn identity(out: &mut Findings, row: &Reading<'_>, attempt: &Attempt) {
    let is = |key: &str, due: &str| row.get(key).text() == Some(due);
    let named = is("attempt_id", &attempt.id) && is("experiment_id", &attempt.experiment);
    out.due(
        named,
        598,
        "result_attempt_mismatch",
        format!("the attempt at this place is `{}` of `{}`", attempt.id, attempt.experiment),
    );
    let code = "result_commit_mismatch";
    let same = is("role", &attempt.role_word)
        && is("commit", attempt.evaluated_commit())
        && is("incumbent_commit", &attempt.incumbent);
    out.due(same, 599, code, "role, commit or incumbent are not those of the attempt");
    out.due(
        is("pre_attempt_head_commit", &attempt.head),
        600,
        code,
        "the head before is not that of the attempt",
    );
    let design = row.get("design");
    let same = row.case.equality().holds(design, &attempt.design_reference);
    out.due(same, 601, "design_binding_mismatch", "the design is not that of the attempt");
    if attempt.role != Role::Candidate {
        out.due(design.is_null(), 633, "noncandidate_design", "only candidates have a design");
        return;
    }
    let hypothesis = attempt.design.as_ref().map(|design| design.hypothesis.clone());
    let judged = if same {
        hypothesis
    } else {
        let before = Before {
            experiment: &attempt.experiment,
            incumbent: &attempt.incumbent,
            history: row.history,
            rows: row.index,
        };
        out.within(634, |out| design::design(out, row.case, design, before))
            .map(|design| design.hypothesis)
    };
    if let Some(hypothesis) = judged {
        out.due(
            is("hypothesis", &hypothesis),
            245,
            "design_hypothesis_mismatch",
            "the hypothesis is not that of the design",
        );
    }
}

/// The row repeats the decision (602 to 612), which must stand (768, 769).
fn decision(out: &mut Findings, row: &Reading<'_>, attempt: &Attempt) {
    let Some(decided) = &attempt.decided else {
        return out.find(768, "orphan_result", "the attempt is not decided");
    };
    out.due(
        steps_after(attempt),
        769,
        "result_before_rollback",
        "the rollback that was decided is not recorded",
    );
    let event = decided.event.map().cloned().unwrap_or_default();
    let repeats =
        |row_value: &Value, key: &str| row.case.equality().holds(row_value, field(&event, key));
    let code = "decision_mismatch";
    for key in ["status", "lane", "evidence_maturity"] {
        out.due(
            repeats(row.get(key), key),
            602,
            code,
            format!("`{key}` is not that of the decision"),
        );
    }
    for (rule, key) in [
        (603, "accepted"),
        (604, "incumbent_after"),
        (606, "stage_results"),
        (607, "stage_evidence"),
        (608, "rule_evaluation"),
    ] {
        out.due(
            repeats(field(row.decision, key), key),
            rule,
            code,
            format!("`decision.{key}` is not that of the decision"),
        );
    }
    let required = field(row.decision, "rollback_required").bool()
        == Some(rollback_action(attempt) == "revert");
    out.due(required, 605, code, "`rollback_required` is not whether a revert was decided");
    out.due(
        repeats(row.get("acceptance_reason"), "reason"),
        609,
        code,
        "the reason is not that of the decision",
    );
    references(out, row, attempt, (decided.seq, &event));
}

fn references(out: &mut Findings, row: &Reading<'_>, attempt: &Attempt, (seq, event): (u64, &Map)) {
    let same = field(row.decision, "decision_seq").is_int(i128::from(seq), row.case.equality());
    out.due(same, 610, "decision_reference", format!("the decision is event {seq}"));
    let digest = object_digest(&Value::Map(event.clone()));
    let same = field(row.decision, "journal_event_sha256").text() == Some(&digest);
    out.due(same, 611, "decision_digest_mismatch", format!("the decision hashes to {digest}"));
    let same = row.get("rollback_commit").text() == attempt.rollback.as_deref();
    out.due(same, 612, "rollback_mismatch", "the rollback is not that of the journal");
}
