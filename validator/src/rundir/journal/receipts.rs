//! Receipts of a launch: began, aborted, ended, unresolved, cleaned (J.23).

use super::{
    super::{
        artifacts::{Case, Role},
        bytes::{Value, canonical},
        fields::{add, field, text, usage},
        findings::Findings,
        scalar::Instant,
    },
    Attempt, Journal, Launch, LaunchState, Phase, Turn,
};

/// The five ways a launch ends.
const OUTCOMES: [&str; 5] = ["completed", "crash", "timeout", "cancelled", "interrupted"];

pub(super) fn receipt(
    out: &mut Findings,
    case: Case<'_>,
    journal: &mut Journal,
    attempt: &mut Attempt,
    turn: &Turn<'_>,
) {
    if case.is_own() {
        in_time(out, attempt);
    }
    let (role, window) =
        (attempt.role, attempt.admission.as_ref().and_then(|admission| admission.worst_end));
    let Some(launch) = find(out, attempt, turn) else { return };
    match turn.name {
        "launch_aborted" => aborted(out, launch, turn),
        "launch_unresolved" => unresolved(out, launch, turn),
        "launched" => launched(out, case, journal, (role, window), launch, turn),
        "launch_finished" => finished(out, case, journal, role, launch, turn),
        "cleanup_confirmed" => confirmed(out, case, journal, role, launch, turn),
        _ => cleanup_unresolved(out, launch, turn),
    }
    if turn.name != "launched" {
        launch.last = launch.last.max(turn.at);
    }
}

/// Receipts belong to the phase of launches (L6).
fn in_time(out: &mut Findings, attempt: &Attempt) {
    let legal = matches!(attempt.phase, Phase::Prepared | Phase::Committed);
    out.due(legal, 903, "journal_order", "the launches of the attempt are over");
}

/// The launch that a receipt names (475, 476).
pub(super) fn find<'a>(
    out: &mut Findings,
    attempt: &'a mut Attempt,
    turn: &Turn<'_>,
) -> Option<&'a mut Launch> {
    let id = field(turn.map, "launch_id").text().unwrap_or_default();
    let launch = attempt.launches.iter_mut().rev().find(|launch| launch.id == id);
    let Some(launch) = launch else {
        out.find(475, "unknown_launch", format!("the attempt has no launch `{id}`"));
        return None;
    };
    let same = field(turn.map, "result_id").text() == Some(&launch.result_id)
        && turn.case.equality().holds(field(turn.map, "launch_ordinal"), &launch.ordinal);
    out.due(same, 476, "launch_identity_drift", "result or ordinal are not those of the intent");
    Some(launch)
}

fn aborted(out: &mut Findings, launch: &mut Launch, turn: &Turn<'_>) {
    let legal = launch.state == LaunchState::Intent;
    out.due(legal, 477, "journal_order", "only an intent is aborted");
    let proven = field(turn.map, "absence_verified").bool() == Some(true);
    out.due(proven, 478, "launch_absence_unverified", "`absence_verified` is not true");
    out.within(479, |out| text(out, turn.map, "reason"));
    if legal {
        launch.state = LaunchState::Aborted;
    }
}

fn unresolved(out: &mut Findings, launch: &mut Launch, turn: &Turn<'_>) {
    let legal = matches!(launch.state, LaunchState::Intent | LaunchState::Launched);
    out.due(legal, 480, "journal_order", "the launch is over");
    let fenced = field(turn.map, "fence_applied").bool() == Some(true);
    out.due(fenced, 481, "unfenced_unresolved_work", "`fence_applied` is not true");
    out.within(482, |out| text(out, turn.map, "reason"));
    if legal {
        launch.state = LaunchState::Unresolved;
    }
}

fn launched(
    out: &mut Findings,
    case: Case<'_>,
    journal: &mut Journal,
    (role, window): (Role, Option<Instant>),
    launch: &mut Launch,
    turn: &Turn<'_>,
) {
    let stopped = journal.stop.is_some() && role != Role::Final;
    out.due(!stopped, 483, "launch_after_stop", "a stop was requested before it began");
    if case.is_own() && role == Role::Final {
        out.due(
            !journal.is_fenced_by_stop(role),
            915,
            "launch_after_stop",
            "a stop that skips the final test was requested before it began",
        );
    }
    let timeout = case.contract.evaluation.timeout;
    if let (Some(at), Some(end)) = (turn.at, window) {
        out.due(at <= end, 484, "launch_after_admission_window", "the admitted window has passed");
        out.due(
            at.plus(timeout) <= end,
            485,
            "insufficient_spawn_timeout_window",
            "the window does not cover its timeout",
        );
    }
    if let (Some(at), Some(deadline)) = (turn.at, case.contract.deadline) {
        out.due(
            at.plus(timeout) <= deadline,
            486,
            "insufficient_spawn_deadline_window",
            "the deadline does not allow its timeout",
        );
    }
    let legal = launch.state == LaunchState::Intent;
    out.due(legal, 487, "journal_order", "only an intent begins");
    if let Some(identity) = process(out, case, turn) {
        out.due(
            journal.processes.insert(identity),
            489,
            "reused_process_identity",
            "another launch of the run had this process",
        );
    }
    if legal {
        launch.state = LaunchState::Launched;
        launch.launched = turn.at;
    }
}

/// Exactly one way to find the process again (488).
fn process(out: &mut Findings, case: Case<'_>, turn: &Turn<'_>) -> Option<String> {
    let [pid, group, start, job] =
        ["pid", "pgid", "process_start_id", "external_job_id"].map(|key| field(turn.map, key));
    let filled = |value: &Value| value.text().is_some_and(|text| !text.is_empty());
    let local = case.profile().positive(pid).is_some()
        && case.profile().positive(group).is_some()
        && filled(start)
        && job.is_null();
    let external = pid.is_null() && group.is_null() && start.is_null() && filled(job);
    let one = local != external;
    out.due(
        one,
        488,
        "missing_process_identity",
        "it has neither a local process with group and start nor an external job, or both",
    );
    one.then(|| [pid, group, start, job].map(canonical).join(" "))
}

fn finished(
    out: &mut Findings,
    case: Case<'_>,
    journal: &mut Journal,
    role: Role,
    launch: &mut Launch,
    turn: &Turn<'_>,
) {
    let legal = launch.state == LaunchState::Launched;
    out.due(legal, 490, "journal_order", "only what began ends");
    let outcome = field(turn.map, "outcome").text().filter(|outcome| OUTCOMES.contains(outcome));
    out.due(outcome.is_some(), 491, "invalid_launch_outcome", "`outcome` is unknown");
    let units = case.contract.units();
    let used = out.within(492, |out| {
        usage(out, field(turn.map, "actual_usage"), "actual_usage", &units, case.profile())
    });
    let clean = field(turn.map, "cleanup_verified").bool();
    out.due(clean.is_some(), 493, "invalid_cleanup_state", "`cleanup_verified` is not a boolean");
    let in_grace = is_in_grace(case, journal, role, turn.at);
    out.due(in_grace, 494, "stop_cleanup_grace_exceeded", "it ended after the grace of the stop");
    if legal {
        launch.state = if clean == Some(false) { LaunchState::Pending } else { LaunchState::Clean };
        launch.finished = turn.at;
        outcome.unwrap_or_default().clone_into(&mut launch.outcome);
        if let Some(used) = &used {
            add(&mut journal.used, used);
        }
        launch.usage = used;
    }
}

/// Whether the grace of a stop is not over; final attempts that a stop allows have none.
fn is_in_grace(case: Case<'_>, journal: &Journal, role: Role, at: Option<Instant>) -> bool {
    let Some(stop) = &journal.stop else { return true };
    let bound = role != Role::Final || case.is_own() && stop.skips_final;
    !bound || stop.at.zip(at).is_none_or(|(stop, at)| at <= stop.plus(case.contract.grace))
}

fn confirmed(
    out: &mut Findings,
    case: Case<'_>,
    journal: &Journal,
    role: Role,
    launch: &mut Launch,
    turn: &Turn<'_>,
) {
    let in_grace = is_in_grace(case, journal, role, turn.at);
    out.due(
        in_grace,
        495,
        "stop_cleanup_grace_exceeded",
        "it was confirmed after the grace of the stop",
    );
    // The reference lets a cleanup be confirmed that was given up; the fence stays all the same (L15).
    let given_up = launch.state == LaunchState::CleanupUnresolved;
    let legal = launch.state == LaunchState::Pending || given_up && !case.is_own();
    let line = if given_up { 905 } else { 496 };
    out.due(legal, line, "journal_order", "no cleanup is pending");
    out.within(497, |out| text(out, turn.map, "verification"));
    if launch.state == LaunchState::Pending {
        launch.state = LaunchState::Confirmed;
    }
}

fn cleanup_unresolved(out: &mut Findings, launch: &mut Launch, turn: &Turn<'_>) {
    let legal = launch.state == LaunchState::Pending;
    out.due(legal, 498, "journal_order", "no cleanup is pending");
    let fenced = field(turn.map, "fence_applied").bool() == Some(true);
    out.due(fenced, 499, "unfenced_unresolved_work", "`fence_applied` is not true");
    out.within(500, |out| text(out, turn.map, "reason"));
    if legal {
        launch.state = LaunchState::CleanupUnresolved;
    }
}
