//! `decided`, and the rules of outcomes that rows repeat (J.26, J.27, G.2).

use std::collections::BTreeSet;

use super::{
    super::{
        artifacts::{Case, Role},
        bytes::{Map, Value},
        fields::{field, oid, text},
        findings::Findings,
        scalar::is_safe_id,
    },
    Attempt, Decided, Phase, Turn,
};

const STATUSES: [&str; 8] =
    ["keep", "deferred", "discard", "crash", "timeout", "invalid", "cancelled", "interrupted"];

/// What an event and a row say of an attempt's outcome.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'o> {
    /// The status.
    pub status: &'o Value,
    /// The lane.
    pub lane: &'o Value,
    /// The maturity.
    pub maturity: &'o Value,
    /// Whether it was accepted.
    pub accepted: &'o Value,
    /// The result of each stage.
    pub stage_results: &'o Value,
    /// What each stage rests on.
    pub stage_evidence: &'o Value,
}

/// Judges an outcome by itself (J.26).
pub fn outcome(out: &mut Findings, case: Case<'_>, attempt: &Attempt, found: &Outcome<'_>) {
    let word = |value: &'_ Value| value.text().unwrap_or_default().to_owned();
    let (status, lane, maturity) = (word(found.status), word(found.lane), word(found.maturity));
    out.due(STATUSES.contains(&status.as_str()), 533, "invalid_status", "`status` is unknown");
    let lanes = ["confirmed", "incubator", "candidate", "diagnostic"];
    out.due(lanes.contains(&lane.as_str()), 534, "invalid_lane", "`lane` is unknown");
    let maturities = ["complete", "incomplete", "unknown"];
    out.due(
        maturities.contains(&maturity.as_str()),
        535,
        "invalid_maturity",
        "`evidence_maturity` is unknown",
    );
    out.due(
        found.accepted.bool().is_some(),
        536,
        "invalid_accepted",
        "`accepted` is not a boolean",
    );
    let stages = case.stages(attempt.role);
    let results = stage_results(out, &stages, found.stage_results);
    let has = |word: &str| results.iter().any(|(_, result)| result == word);
    if maturity == "complete" {
        out.due(
            !has("unknown"),
            540,
            "illegal_maturity",
            "evidence is complete only if no stage is unknown",
        );
    }
    let accepted = found.accepted.bool() == Some(true);
    let code = "illegal_lane";
    match status.as_str() {
        "keep" => {
            let whole = lane == "confirmed" && maturity == "complete" && accepted;
            out.due(
                whole,
                541,
                "illegal_promotion",
                "what is kept is confirmed, complete and accepted",
            );
            let passed = results.iter().all(|(_, result)| result == "pass");
            out.due(passed, 542, "illegal_promotion", "what is kept passed every stage");
        }
        "deferred" => {
            out.due(lane == "incubator", 544, code, "what is deferred is in the incubator");
            out.due(
                maturity != "complete",
                545,
                "illegal_maturity",
                "what is deferred is not complete",
            );
        }
        "discard" => {
            let known = matches!(lane.as_str(), "candidate" | "diagnostic");
            out.due(known, 546, code, "what is discarded is `candidate` or `diagnostic`");
        }
        _ if STATUSES.contains(&status.as_str()) => {
            out.due(lane == "diagnostic", 547, code, "what failed is `diagnostic`");
        }
        _ => {}
    }
    out.due(
        status == "keep" || !accepted,
        543,
        "illegal_acceptance",
        "only what is kept is accepted",
    );
    stage_evidence(out, attempt, &stages, &results, found.stage_evidence);
}

fn has_stages(map: &Map, stages: &[String]) -> bool {
    map.len() == stages.len() && stages.iter().all(|stage| map.contains_key(stage))
}

/// The result of each stage of the attempt (537 to 539).
fn stage_results(out: &mut Findings, stages: &[String], value: &Value) -> Vec<(String, String)> {
    let Some(map) = value.map() else {
        out.find(537, "invalid_stage_results", "`stage_results` is not an object");
        return Vec::new();
    };
    out.due(
        has_stages(map, stages),
        538,
        "stage_results_mismatch",
        "`stage_results` does not have exactly the stages",
    );
    let mut results = Vec::new();
    for stage in stages {
        let result = field(map, stage).text().unwrap_or_default();
        let known = matches!(result, "pass" | "fail" | "unknown");
        out.due(
            known,
            539,
            "missing_stage_result",
            format!("the result of `{stage}` is none of pass, fail, unknown"),
        );
        results.push((stage.clone(), result.to_owned()));
    }
    results
}

fn stage_evidence(
    out: &mut Findings,
    attempt: &Attempt,
    stages: &[String],
    results: &[(String, String)],
    value: &Value,
) {
    let Some(map) = value.map() else {
        return out.find(548, "invalid_stage_evidence", "`stage_evidence` is not an object");
    };
    out.due(
        has_stages(map, stages),
        549,
        "stage_evidence_mismatch",
        "`stage_evidence` does not have exactly the stages",
    );
    for (stage, result) in results {
        let items = field(map, stage).list();
        let ids: Vec<&str> = items
            .into_iter()
            .flatten()
            .filter_map(Value::text)
            .filter(|id| is_safe_id(id))
            .collect();
        let whole = items.is_some_and(|items| items.len() == ids.len());
        out.due(
            whole,
            550,
            "invalid_stage_evidence",
            format!("the evidence of `{stage}` is not an array of ids"),
        );
        let distinct: BTreeSet<&str> = ids.iter().copied().collect();
        out.due(
            distinct.len() == ids.len(),
            551,
            "duplicate_stage_evidence",
            format!("the evidence of `{stage}` has an id twice"),
        );
        let conclusive = matches!(result.as_str(), "pass" | "fail");
        out.due(
            !conclusive || !ids.is_empty(),
            552,
            "missing_stage_evidence",
            format!("`{stage}` has a result and no evidence"),
        );
        out.due(
            result != "unknown" || ids.is_empty(),
            553,
            "unexpected_stage_evidence",
            format!("`{stage}` is unknown and has evidence"),
        );
        let real = ids.iter().all(|id| {
            attempt.launches.iter().any(|launch| {
                launch.result_id == *id && launch.stage == *stage && launch.is_complete()
            })
        });
        out.due(
            real,
            554,
            "stage_evidence_mismatch",
            format!("an id is no completed launch of `{stage}`"),
        );
    }
}

pub(super) fn decided(out: &mut Findings, case: Case<'_>, attempt: &mut Attempt, turn: &Turn<'_>) {
    let again = attempt.decided.is_some();
    out.due(!again, 555, "duplicate_decision", "the attempt was decided before");
    let status = field(turn.map, "status").text().unwrap_or_default();
    if attempt.launches.is_empty() {
        let plain = matches!(status, "invalid" | "cancelled" | "interrupted");
        out.due(
            plain,
            557,
            "decision_without_evaluation",
            "without launches an attempt is invalid, cancelled or interrupted",
        );
        out.within(558, |out| text(out, turn.map, "no_evaluation_reason"));
    } else {
        let evaluated = attempt.phase == Phase::Evaluated;
        out.due(
            evaluated || again,
            556,
            "journal_order",
            "there are launches and they were not evaluated",
        );
    }
    let found = Outcome {
        status: field(turn.map, "status"),
        lane: field(turn.map, "lane"),
        maturity: field(turn.map, "evidence_maturity"),
        accepted: field(turn.map, "accepted"),
        stage_results: field(turn.map, "stage_results"),
        stage_evidence: field(turn.map, "stage_evidence"),
    };
    out.within(559, |out| outcome(out, case, attempt, &found));
    checkpoints(out, case, attempt, &found);
    out.within(564, |out| {
        text(out, turn.map, "reason");
        text(out, turn.map, "rule_evaluation");
    });
    statuses(out, case, attempt, turn, status);
    let incumbent_after =
        out.within(565, |out| oid(out, turn.map, "incumbent_after")).unwrap_or_default();
    let action = field(turn.map, "rollback_action").text().unwrap_or_default();
    consequences(out, case, attempt, turn, (status, incumbent_after, action));
    if !again {
        attempt.phase = Phase::Decided;
        attempt.decided = Some(Decided {
            event: turn.event.clone(),
            seq: turn.seq,
            status: status.to_owned(),
            incumbent_after: incumbent_after.to_owned(),
            action: action.to_owned(),
            keep: status == "keep",
        });
    }
}

/// The outcome repeats the checkpoints (560, 561).
fn checkpoints(out: &mut Findings, case: Case<'_>, attempt: &Attempt, found: &Outcome<'_>) {
    let code = "stage_checkpoint_mismatch";
    for stage in case.stages(attempt.role) {
        let checkpoint = attempt.checkpoints.get(&stage);
        let result = checkpoint.map_or("unknown", |checkpoint| &checkpoint.outcome);
        let same = found.stage_results.field(&stage).text() == Some(result);
        out.due(same, 560, code, format!("the result of `{stage}` is not that of its checkpoint"));
        let due: &[String] = match checkpoint {
            Some(checkpoint) if result != "unknown" => &checkpoint.results,
            _ => &[],
        };
        let cited = found.stage_evidence.field(&stage).list().unwrap_or_default();
        let same = cited.iter().map(Value::text).eq(due.iter().map(|id| Some(id.as_str())));
        out.due(
            same,
            561,
            code,
            format!("the evidence of `{stage}` is not that of its checkpoint"),
        );
    }
}

/// What launches force the status to be (562, 563, 567; in `rp`'s version by precedence, L9).
fn statuses(out: &mut Findings, case: Case<'_>, attempt: &Attempt, turn: &Turn<'_>, status: &str) {
    let unresolved = attempt.is_unresolved();
    if unresolved {
        let unknown = case
            .stages(attempt.role)
            .iter()
            .all(|stage| field(turn.map, "stage_results").field(stage).text() == Some("unknown"));
        let closed = status == "interrupted"
            && field(turn.map, "accepted").bool() == Some(false)
            && unknown
            && field(turn.map, "rollback_action").text() == Some("preserve_and_stop");
        out.due(
            closed,
            567,
            "invalid_unresolved_decision",
            "unresolved work is closed as interrupted, all unknown, preserved",
        );
    }
    let failures = attempt.failures();
    let aborted = matches!(status, "cancelled" | "interrupted" | "invalid");
    if case.is_own() {
        if let Some(due) = forced(attempt, &super::super::results::overruns(case, attempt)) {
            let right = due.contains(&status);
            out.due(
                right,
                911,
                "launch_outcome_mismatch",
                format!("what became of the launches makes the status {}", due.join(" or ")),
            );
        }
        return;
    }
    if !failures.is_empty() && !unresolved {
        out.due(
            failures.contains(status),
            562,
            "launch_outcome_mismatch",
            "a launch failed and the status is none of its outcomes",
        );
    }
    if attempt.has_aborted() {
        out.due(
            aborted,
            563,
            "aborted_launch_promoted",
            "a launch was aborted, so the attempt is cancelled, interrupted or invalid",
        );
    }
}

/// The statuses that the launches of an attempt leave, the gravest reason first; `None` if they leave all.
pub(super) fn forced(attempt: &Attempt, overruns: &[String]) -> Option<Vec<&'static str>> {
    let failures = attempt.failures();
    if attempt.is_unresolved() {
        return Some(vec!["interrupted"]);
    }
    if !overruns.is_empty() || failures.contains("timeout") {
        return Some(vec!["timeout"]);
    }
    if failures.contains("crash") {
        return Some(vec!["crash"]);
    }
    let ended: Vec<&'static str> = ["cancelled", "interrupted"]
        .into_iter()
        .filter(|outcome| failures.contains(outcome))
        .collect();
    if !ended.is_empty() {
        return Some(ended);
    }
    attempt.has_aborted().then(|| vec!["cancelled", "interrupted", "invalid"])
}

/// What follows for incumbent and commit (566, 568 to 574).
fn consequences(
    out: &mut Findings,
    case: Case<'_>,
    attempt: &Attempt,
    turn: &Turn<'_>,
    (status, after, action): (&str, &str, &str),
) {
    let known = matches!(action, "none" | "revert" | "preserve_and_stop");
    out.due(known, 566, "invalid_rollback_action", "`rollback_action` is unknown");
    if status == "keep" {
        let whole = attempt.launches.len() == attempt.plan.launches.len();
        out.due(whole, 568, "incomplete_launch_plan", "a planned launch was not made");
        let due = match attempt.role {
            Role::Candidate => attempt.commit.as_deref().unwrap_or_default(),
            Role::Baseline | Role::Final => &attempt.incumbent,
        };
        let right = after == due && action == "none";
        out.due(
            right,
            569,
            "invalid_keep_decision",
            "what is kept becomes the incumbent, and nothing is rolled back",
        );
        return;
    }
    out.due(
        after == attempt.incumbent,
        570,
        "invalid_incumbent",
        "what is not kept leaves the incumbent",
    );
    match attempt.role {
        Role::Candidate if attempt.commit.is_none() => {
            out.due(
                action != "revert",
                571,
                "invalid_precommit_rollback",
                "there is no commit to revert",
            );
        }
        Role::Candidate => {
            out.due(
                action != "none",
                572,
                "missing_rollback_action",
                "the candidate's commit is neither reverted nor preserved",
            );
        }
        Role::Final => {
            // Unresolved work of a final attempt must be preserved (L10).
            let preserved =
                case.is_own() && attempt.is_unresolved() && action == "preserve_and_stop";
            out.due(
                action == "none" || preserved,
                573,
                "invalid_final_rollback",
                "a final attempt changed nothing",
            );
            let lane = field(turn.map, "lane").text() == Some("diagnostic");
            out.due(
                lane,
                574,
                "invalid_final_lane",
                "a final attempt that is not kept is `diagnostic`",
            );
        }
        Role::Baseline => {
            let revert = case.is_own() && action == "revert";
            out.due(!revert, 906, "invalid_rollback_action", "a baseline has no commit to revert");
        }
    }
}
