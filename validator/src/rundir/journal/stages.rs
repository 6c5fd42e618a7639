//! Checkpoints of stages, a cancelled tail, and the end of evaluation (J.25).

use super::{
    super::{
        artifacts::Case,
        bytes::Value,
        fields::{field, text},
        findings::Findings,
    },
    Attempt, Checkpoint, Journal, Launch, LaunchState, Phase, Turn,
};

pub(super) fn tail_cancelled(
    out: &mut Findings,
    case: Case<'_>,
    journal: &Journal,
    attempt: &mut Attempt,
    turn: &Turn<'_>,
) {
    // After a launch that did not complete, the rest of a noisy stage is useless (L30).
    let failed =
        attempt.launches.iter().any(|launch| launch.state.is_settled() && !launch.is_complete());
    let reason = journal.stop.is_some() || case.is_own() && failed;
    out.due(reason, 513, "tail_cancel_without_stop", "no stop was requested");
    out.due(
        !attempt.tail_cancelled,
        514,
        "duplicate_tail_cancellation",
        "the tail was cancelled before",
    );
    let (from, planned) = (attempt.launches.len(), attempt.plan.launches.len());
    let number = |index: usize| i128::try_from(index).unwrap_or(i128::MAX);
    let suffix: Vec<Value> = (from..planned).map(|index| Value::from(number(index))).collect();
    let exact = !suffix.is_empty()
        && field(turn.map, "from_ordinal").is_int(number(from), case.equality())
        && case.equality().holds(field(turn.map, "cancelled_ordinals"), &Value::List(suffix));
    out.due(
        exact,
        515,
        "invalid_tail_cancellation",
        format!("the ordinals are not exactly those from {from} to the end of the plan"),
    );
    let settled = attempt.launches.iter().all(|launch| launch.state.is_settled());
    out.due(settled, 516, "tail_cancel_with_active_launch", "a launch is not over");
    out.within(517, |out| text(out, turn.map, "reason"));
    if case.is_own() {
        in_time(out, attempt);
    }
    attempt.tail_cancelled = true;
}

/// Only while launches are made (L6).
fn in_time(out: &mut Findings, attempt: &Attempt) {
    let legal = attempt.phase == attempt.launching_phase();
    out.due(legal, 903, "journal_order", "the launches of the attempt are over");
}

pub(super) fn completed(
    out: &mut Findings,
    case: Case<'_>,
    attempt: &mut Attempt,
    turn: &Turn<'_>,
) {
    if case.is_own() {
        in_time(out, attempt);
    }
    let stage = field(turn.map, "stage").text().unwrap_or_default();
    let stages = case.stages(attempt.role);
    let known = stages.iter().any(|known| known == stage);
    out.due(known, 518, "unexpected_stage", format!("`{stage}` is no stage of the attempt"));
    let done = attempt.checkpoints.contains_key(stage);
    out.due(!done, 519, "duplicate_stage_checkpoint", format!("the stage `{stage}` is over"));
    let next = stages.iter().find(|stage| !attempt.checkpoints.contains_key(*stage));
    out.due(
        done || next.is_some_and(|next| next == stage),
        520,
        "stage_order",
        format!("`{stage}` is not the next stage"),
    );
    let launches: Vec<&Launch> =
        attempt.launches.iter().filter(|launch| launch.stage == stage).collect();
    out.due(
        !launches.is_empty(),
        521,
        "stage_without_launch",
        format!("nothing was launched in `{stage}`"),
    );
    let whole = launches.len() == attempt.plan.count(stage);
    out.due(
        whole || attempt.tail_cancelled,
        522,
        "incomplete_stage_launch_plan",
        "launches of the stage are planned and not made",
    );
    let settled = launches.iter().all(|launch| launch.state.is_settled());
    out.due(settled, 523, "stage_with_active_launch", "a launch of the stage is not over");
    let admissible = attempt.admissible_in(Some(stage));
    let results = texts(field(turn.map, "result_ids"));
    let same = results
        .as_ref()
        .is_some_and(|found| found.iter().map(String::as_str).eq(admissible.iter().copied()));
    out.due(
        same,
        524,
        "stage_result_ids_mismatch",
        "`result_ids` are not those of the stage's evidence in order",
    );
    let outcome = field(turn.map, "outcome").text().unwrap_or_default();
    out.due(
        matches!(outcome, "pass" | "fail" | "unknown"),
        525,
        "invalid_stage_outcome",
        "`outcome` is unknown",
    );
    let certain =
        whole && !launches.is_empty() && launches.iter().all(|launch| launch.is_admissible());
    let conclusive = matches!(outcome, "pass" | "fail");
    out.due(
        !conclusive || certain,
        526,
        "conclusive_stage_without_evidence",
        "the evidence of the stage is not whole, so its outcome is `unknown`",
    );
    out.within(527, |out| text(out, turn.map, "rule_evaluation"));
    if !done {
        let checkpoint =
            Checkpoint { outcome: outcome.to_owned(), results: results.unwrap_or_default() };
        attempt.checkpoints.insert(stage.to_owned(), checkpoint);
    }
}

/// The strings of an array of nothing else.
fn texts(value: &Value) -> Option<Vec<String>> {
    value.list()?.iter().map(|item| item.text().map(str::to_owned)).collect()
}

pub(super) fn evaluated(out: &mut Findings, attempt: &mut Attempt, turn: &Turn<'_>) {
    let legal = attempt.phase == attempt.launching_phase() && !attempt.launches.is_empty();
    out.due(legal, 528, "journal_order", "there is nothing to evaluate, or it was evaluated");
    let running = attempt
        .launches
        .iter()
        .any(|launch| matches!(launch.state, LaunchState::Intent | LaunchState::Launched));
    out.due(!running, 529, "unfinished_launch", "a launch is not over");
    let pending = attempt.launches.iter().any(|launch| launch.state == LaunchState::Pending);
    out.due(!pending, 530, "cleanup_unverified", "a launch is not known to have left nothing");
    let results = texts(field(turn.map, "result_ids"));
    let admissible = attempt.admissible();
    let same = results
        .as_ref()
        .is_some_and(|found| found.iter().map(String::as_str).eq(admissible.iter().copied()));
    out.due(
        same,
        531,
        "evaluated_result_ids",
        "`result_ids` are not those of the attempt's evidence in order",
    );
    let checked =
        attempt.launches.iter().all(|launch| attempt.checkpoints.contains_key(&launch.stage));
    out.due(checked, 532, "missing_stage_checkpoint", "a stage with launches has no checkpoint");
    if legal {
        attempt.phase = Phase::Evaluated;
        attempt.evaluated = Some(results.unwrap_or_default());
    }
}
