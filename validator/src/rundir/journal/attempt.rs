//! Commit, clearance, rollback and end of an attempt (J.21, J.28).

use super::{
    super::{
        artifacts::{Arm, Case, Role},
        bytes::Value,
        fields::{digest, field, oid},
        findings::Findings,
    },
    Attempt, Finalized, Journal, Phase, Turn,
    state::Cleared,
};

pub(super) fn committed(out: &mut Findings, attempt: &mut Attempt, turn: &Turn<'_>) {
    let legal = attempt.role == Role::Candidate && attempt.phase == Phase::Prepared;
    out.due(legal, 423, "journal_order", "only a prepared candidate commits");
    let commit = out.within(424, |out| oid(out, turn.map, "candidate_commit"));
    if legal {
        attempt.phase = Phase::Committed;
        attempt.commit = Some(commit.unwrap_or_default().to_owned());
    }
}

pub(super) fn cleared(out: &mut Findings, case: Case<'_>, attempt: &mut Attempt, turn: &Turn<'_>) {
    let legal = attempt.role == Role::Candidate && attempt.phase == Phase::Committed;
    out.due(legal, 425, "journal_order", "only a committed candidate is cleared");
    out.due(
        attempt.cleared.is_none(),
        426,
        "duplicate_integrity_clearance",
        "it was cleared before",
    );
    let late = attempt.launches.iter().any(|launch| case.contract.is_protected(&launch.stage));
    out.due(!late, 427, "late_integrity_clearance", "a protected stage was entered before");
    let same = field(turn.map, "candidate_commit").text() == attempt.commit.as_deref();
    out.due(
        same,
        428,
        "integrity_commit_mismatch",
        "`candidate_commit` is not that of the attempt",
    );
    let tree = out.within(429, |out| digest(out, turn.map, "evaluated_tree_sha256"));
    let latest = attempt.launches.iter().rev().find(|launch| launch.arm == Some(Arm::Candidate));
    let seen = latest.is_some_and(|launch| tree.is_none_or(|tree| tree == launch.tree_sha256()));
    out.due(
        seen,
        430,
        "integrity_tree_mismatch",
        "it is not the tree of the candidate's last launch",
    );
    let audits = ["scope_audit", "leakage_audit"]
        .iter()
        .all(|key| field(turn.map, key).text() == Some("pass"));
    out.due(audits, 431, "integrity_clearance_failed", "an audit did not pass");
    let constraints = field(turn.map, "constraint_results");
    let due = &case.contract.objective.hard_constraints;
    let exact = constraints.map().is_some_and(|map| {
        map.len() == due.len() && due.iter().all(|id| map.get(id) == Some(&Value::Bool(true)))
    });
    out.due(
        exact,
        432,
        "integrity_constraint_mismatch",
        "the constraints are not exactly those sealed, all true",
    );
    attempt.cleared = Some(Cleared { constraints: constraints.clone() });
}

pub(super) fn rolled_back(out: &mut Findings, attempt: &mut Attempt, turn: &Turn<'_>) {
    let revert = attempt.decided.as_ref().is_some_and(|decided| decided.action == "revert");
    let legal = attempt.phase == Phase::Decided && revert;
    out.due(legal, 575, "journal_order", "no rollback was decided");
    let (commit, restored) = out.within(576, |out| {
        (oid(out, turn.map, "rollback_commit"), oid(out, turn.map, "restored_incumbent_commit"))
    });
    let same = restored.is_none_or(|restored| restored == attempt.incumbent);
    out.due(same, 577, "rollback_mismatch", "what was restored is not the incumbent");
    if legal {
        attempt.phase = Phase::RolledBack;
        attempt.rollback = Some(commit.unwrap_or_default().to_owned());
    }
}

pub(super) fn finalized(
    out: &mut Findings,
    journal: &Journal,
    attempt: &mut Attempt,
    turn: &Turn<'_>,
    prefix: &dyn Fn() -> String,
) {
    let legal = matches!(attempt.phase, Phase::Decided | Phase::RolledBack);
    out.due(legal, 578, "journal_order", "the attempt is not decided");
    let missing = rollback_action(attempt) == "revert" && attempt.rollback.is_none();
    out.due(!missing, 579, "rollback_missing", "the rollback that was decided is not recorded");
    let decision = attempt.decided.as_ref().map(|decided| i128::from(decided.seq));
    let same = decision
        .is_none_or(|seq| field(turn.map, "decision_seq").is_int(seq, turn.case.equality()));
    out.due(same, 580, "decision_reference", "`decision_seq` is not that of the decision");
    let index = field(turn.map, "result_index");
    let counted = turn.case.profile().count(index).is_some();
    out.due(counted, 581, "invalid_result_index", "`result_index` is not a non-negative integer");
    let sha256 = out.within(582, |out| digest(out, turn.map, "result_sha256"));
    let due = format!("boundaries/{}.json", attempt.id);
    let placed = field(turn.map, "boundary_path").text() == Some(&due);
    out.due(placed, 583, "invalid_boundary_path", format!("`boundary_path` is not `{due}`"));
    if legal {
        attempt.phase = Phase::Finalized;
        attempt.finalized = Some(Finalized {
            seq: journal.count,
            at: turn.at,
            index: index.clone(),
            result_sha256: sha256.unwrap_or_default().to_owned(),
            prefix: prefix(),
        });
    }
}

/// What was decided for the attempt's commit; empty before.
pub fn rollback_action(attempt: &Attempt) -> &str {
    attempt.decided.as_ref().map_or("", |decided| &decided.action)
}

/// Whether a row may stand: the attempt is decided, and rolled back if that was decided.
pub fn steps_after(attempt: &Attempt) -> bool {
    attempt.decided.is_some()
        && (rollback_action(attempt) != "revert" || attempt.rollback.is_some())
}
