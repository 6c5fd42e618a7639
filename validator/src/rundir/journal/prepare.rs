//! `prepared`: an attempt begins, bound to plan, admission, design and the boundary before it (J.20).

use std::collections::BTreeMap;

use super::{
    super::{
        artifacts::{
            Case, Role,
            admission::{self, Against},
            design::{self, Before, Design},
            plan::{self, Plan, Whose},
        },
        bytes::{Map, Value},
        fields::{Due, Usage, field, has_keys, oid, reference},
        findings::Findings,
        scalar::Instant,
        shelf::Found,
    },
    Attempt, History, Journal, Phase, Turn,
    envelope::{Named, named},
};

pub(super) fn prepared(
    out: &mut Findings,
    case: Case<'_>,
    journal: &mut Journal,
    history: &History,
    turn: &Turn<'_>,
) {
    let named = named(out, turn);
    let role = order(out, case, journal, &named, turn);
    let commit = |out: &mut Findings, key: &str| {
        out.within(418, |out| oid(out, turn.map, key)).unwrap_or_default().to_owned()
    };
    let incumbent = commit(out, "incumbent_commit");
    let head = commit(out, "pre_attempt_head_commit");
    chain(out, case, journal, &incumbent);
    let reference = field(turn.map, "design");
    let design = match role {
        Role::Candidate => {
            candidate_design(out, case, journal, history, (&named, &incumbent, reference))
        }
        Role::Baseline | Role::Final => {
            out.due(
                reference.is_null(),
                407,
                "noncandidate_design",
                "only candidates have a design",
            );
            None
        }
    };
    let plan = out.within(408, |out| {
        plan::plan(
            out,
            case,
            field(turn.map, "launch_plan"),
            Whose { attempt: named.attempt, role },
        )
    });
    let plan = plan.unwrap_or(Plan { launches: Vec::new() });
    prior_boundary(out, case, journal, turn);
    let mut attempt = Attempt {
        id: named.attempt.to_owned(),
        experiment: named.experiment.to_owned(),
        iteration: named.iteration.clone(),
        role,
        role_word: named.role.to_owned(),
        line: turn.seq,
        at: turn.at,
        at_text: field(turn.map, "at").clone(),
        incumbent,
        head,
        design_reference: reference.clone(),
        design,
        plan,
        admission: None,
        admission_value: Value::Null,
        admission_sha256: String::new(),
        phase: Phase::Prepared,
        commit: None,
        cleared: None,
        launches: Vec::new(),
        checkpoints: BTreeMap::new(),
        tail_cancelled: false,
        evaluated: None,
        decided: None,
        rollback: None,
        finalized: None,
    };
    admit(out, case, &journal.used, &mut attempt, field(turn.map, "admission"));
    journal.ids.insert(attempt.id.clone());
    journal.open = Some(journal.attempts.len());
    journal.attempts.push(attempt);
}

/// Whether an attempt may begin now, and as what.
fn order(
    out: &mut Findings,
    case: Case<'_>,
    journal: &Journal,
    named: &Named<'_>,
    turn: &Turn<'_>,
) -> Role {
    let count = journal.attempts.len();
    let role = Role::of(named.role);
    let fenced =
        journal.stop.is_some() && journal.is_fenced_by_stop(role.unwrap_or(Role::Candidate));
    out.due(
        !fenced,
        398,
        "launch_after_stop",
        "a stop was requested, and this is no final test that it allows",
    );
    out.due(
        journal.open().is_none(),
        399,
        "overlapping_attempt",
        "the attempt before is not finalized",
    );
    out.due(
        !journal.ids.contains(named.attempt),
        400,
        "duplicate_attempt_id",
        format!("`{}` is an earlier attempt", named.attempt),
    );
    let number = i128::try_from(count).unwrap_or(i128::MAX);
    let counted = named.iteration.is_int(number, turn.case.equality());
    out.due(counted, 401, "iteration_sequence", format!("`iteration` is not {count}"));
    if count == 0 {
        out.due(
            role == Some(Role::Baseline),
            402,
            "invalid_role",
            "the first attempt is not the baseline",
        );
    } else {
        let later = matches!(role, Some(Role::Candidate | Role::Final));
        out.due(later, 403, "invalid_role", "a later attempt is neither candidate nor final");
    }
    let after_final = journal.attempts.iter().any(|attempt| attempt.role == Role::Final);
    out.due(!after_final, 404, "attempt_after_final", "the final attempt was made");
    let contracted = role != Some(Role::Final) || case.contract.final_test.is_some();
    out.due(contracted, 405, "final_test_not_contracted", "the contract has no final test");
    if case.is_own() {
        let prefixed = named.attempt.starts_with("a-");
        out.due(prefixed, 908, "invalid_id", "the id of an attempt begins with `a-`");
    }
    role.unwrap_or(if count == 0 { Role::Baseline } else { Role::Candidate })
}

fn chain(out: &mut Findings, case: Case<'_>, journal: &Journal, incumbent: &str) {
    let Some(last) = journal.attempts.last() else {
        let same = incumbent == case.contract.baseline_commit;
        out.due(same, 419, "baseline_mismatch", "the first incumbent is not the sealed baseline");
        return;
    };
    let due = journal.incumbent(&case);
    out.due(incumbent == due, 420, "incumbent_chain", format!("the incumbent is {due}"));
    let baseline = journal.attempts.first().and_then(|attempt| attempt.decided.as_ref());
    out.due(
        baseline.is_none_or(|decided| decided.keep),
        421,
        "failed_baseline_continued",
        "the baseline was not kept",
    );
    let preserved =
        last.decided.as_ref().is_some_and(|decided| decided.action == "preserve_and_stop");
    out.due(
        !preserved,
        422,
        "continued_after_preserve",
        "the attempt before preserved its state and stopped",
    );
}

fn candidate_design(
    out: &mut Findings,
    case: Case<'_>,
    journal: &mut Journal,
    history: &History,
    (named, incumbent, value): (&Named<'_>, &str, &Value),
) -> Option<Design> {
    let before =
        Before { experiment: named.experiment, incumbent, history, rows: journal.attempts.len() };
    let design = out.within(406, |out| design::design(out, case, value, before))?;
    let known =
        journal.designs.entry(named.experiment.to_owned()).or_insert_with(|| design.sha256.clone());
    out.due(
        *known == design.sha256,
        252,
        "experiment_design_drift",
        format!("`{}` had another design before", named.experiment),
    );
    Some(design)
}

fn admit(out: &mut Findings, case: Case<'_>, used: &Usage, attempt: &mut Attempt, value: &Value) {
    let path = format!("snapshots/{}-admission.json", attempt.id);
    let found = out.within(409, |out| {
        let found = out
            .within(330, |out| reference(out, case.shelf, value, "admission", Due::Exact(&path)))?;
        let object = out.within(330, |out| found.object(out, case.shelf))?;
        Some((found, object))
    });
    let Some((found, object)) = found else { return };
    let requested = (!attempt.plan.launches.is_empty()).then(|| attempt.plan.requested());
    let against = Against {
        role: attempt.role,
        prepared: attempt.at,
        prior: used,
        requested,
        timeouts: attempt.plan.timeouts_from(0),
    };
    attempt.admission = out.within(409, |out| {
        out.at(&path, None, |out| admission::artifact(out, case, object.value(), &against))
    });
    attempt.admission_value = object.value().clone();
    attempt.admission_sha256 = found.sha256;
}

/// The boundary of the attempt before is bound (410 to 417).
fn prior_boundary(out: &mut Findings, case: Case<'_>, journal: &Journal, turn: &Turn<'_>) {
    let value = field(turn.map, "prior_boundary");
    let Some(prior) = journal.attempts.last() else {
        out.due(
            value.is_null(),
            410,
            "unexpected_prior_boundary",
            "nothing stands before the first attempt",
        );
        return;
    };
    let Some(map) = value.map() else {
        return out.find(411, "missing_prior_boundary", "`prior_boundary` is no reference");
    };
    let keys = ["path", "sha256", "attempt_id", "finalized_seq", "result_sha256"];
    out.due(
        has_keys(map, &keys),
        412,
        "artifact_ref_schema_mismatch",
        "the keys of `prior_boundary` are not the five",
    );
    let code = "prior_boundary_mismatch";
    out.due(
        field(map, "attempt_id").text() == Some(&prior.id),
        413,
        code,
        format!("the attempt before is `{}`", prior.id),
    );
    if let Some(finalized) = &prior.finalized {
        let same = field(map, "finalized_seq").is_int(i128::from(finalized.seq), case.equality());
        out.due(
            same,
            414,
            code,
            format!("the attempt before was finalized in event {}", finalized.seq),
        );
        let same = field(map, "result_sha256").text() == Some(&finalized.result_sha256);
        out.due(same, 415, code, "`result_sha256` is not that of the attempt before");
    }
    bound_file(out, case, &prior.id, map, turn.at);
}

fn bound_file(out: &mut Findings, case: Case<'_>, prior: &str, map: &Map, at: Option<Instant>) {
    let path = format!("boundaries/{prior}.json");
    let (Found::File(stored), true) =
        (case.shelf.get(&path), field(map, "path").text() == Some(&path))
    else {
        return out.find(
            416,
            "prior_boundary_unavailable",
            format!("`{path}` is not bound, or is no file"),
        );
    };
    let same = field(map, "sha256").text() == Some(stored.sha256.as_ref());
    out.due(
        same,
        416,
        "prior_boundary_unavailable",
        format!("`{path}` hashes to {}", stored.sha256),
    );
    let content = case.shelf.content(&stored);
    let value = content.as_ref().as_ref().unwrap_or(&Value::Null);
    let finalized = value.field("finalized_at").text().and_then(Instant::parse);
    if let (Some(finalized), Some(at)) = (finalized, at) {
        out.due(
            finalized <= at,
            417,
            "prior_boundary_time_regression",
            "the boundary was written later",
        );
    }
}
