//! The one legal next step of an open tail (I.3): first matching row of the table.

use super::{
    boundary::Boundaries,
    closure::Whole,
    journal::{Attempt, Journal, Launch, LaunchState, Phase, rollback_action},
};

/// Where a directory stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// The attempt that is open.
    pub attempt: Option<String>,
    /// The protocol's word for the last durable phase.
    pub phase: &'static str,
    /// The protocol's word for the next step.
    pub action: Option<&'static str>,
}

/// Says where a directory stands and what may come next.
pub fn tail(whole: &Whole<'_>, closed: bool) -> Tail {
    let at =
        |phase: &'static str, action: Option<&'static str>| Tail { attempt: None, phase, action };
    let open = open_attempt(whole.journal, whole.boundaries);
    if closed {
        let attempt = open.map(|(_, attempt)| attempt.id.clone());
        return Tail { attempt, ..at("run_finalized", None) };
    }
    let step = open.map(|(index, attempt)| (attempt, step(whole, index, attempt)));
    if whole.journal.stopped.is_some() {
        // A boundary that is still missing comes before the marker.
        let action = step.map_or("publish_run_boundary", |(_, (_, action))| action);
        let attempt = step.map(|(attempt, _)| attempt.id.clone());
        return Tail { attempt, ..at("run_stopped", Some(action)) };
    }
    if let Some((attempt, (phase, action))) = step {
        return Tail { attempt: Some(attempt.id.clone()), ..at(phase, Some(action)) };
    }
    let phase =
        if whole.boundaries.whole.is_empty() { "contract_sealed" } else { "attempt_boundary" };
    at(phase, whole.is_terminal().then(|| ending(whole)))
}

fn open_attempt<'j>(journal: &'j Journal, boundaries: &Boundaries) -> Option<(usize, &'j Attempt)> {
    let index = *boundaries.incomplete.last()?;
    Some((index, journal.attempts.get(index)?))
}

/// The end, or in `rp`'s version a final attempt that is still owed (L11a).
fn ending(whole: &Whole<'_>) -> &'static str {
    let made =
        whole.journal.attempts.iter().any(|attempt| attempt.role == super::artifacts::Role::Final);
    let preserved = whole
        .journal
        .attempts
        .last()
        .is_some_and(|last| rollback_action(last) == "preserve_and_stop");
    if whole.case.is_own() && whole.owes_final() && !made && !preserved {
        "prepare_final_attempt"
    } else {
        "append_run_stopped"
    }
}

/// Rows 1 to 5 and 15, 16.
fn step(whole: &Whole<'_>, index: usize, attempt: &Attempt) -> (&'static str, &'static str) {
    let has_row = whole.rows.len() > index;
    match attempt.phase {
        Phase::Finalized => ("finalized", "publish_boundary"),
        Phase::Decided | Phase::RolledBack if has_row => ("result_published", "append_finalized"),
        Phase::Decided if rollback_action(attempt) == "revert" => {
            ("decided", "execute_recorded_rollback")
        }
        Phase::Decided => ("decided", "append_result"),
        Phase::RolledBack => ("rolled_back", "append_result"),
        Phase::Evaluated => ("evaluated", "apply_contract_decision"),
        Phase::Committed if attempt.launches.is_empty() => {
            ("committed", "reconcile_committed_candidate")
        }
        Phase::Prepared if attempt.launches.is_empty() => {
            ("prepared", "reconcile_prepared_attempt")
        }
        Phase::Prepared | Phase::Committed => launching(whole, attempt),
    }
}

/// Rows 6 to 14.
fn launching(whole: &Whole<'_>, attempt: &Attempt) -> (&'static str, &'static str) {
    let any = |due: fn(&Launch) -> bool| attempt.launches.iter().any(due);
    if any(|launch| launch.state == LaunchState::Launched) {
        return ("launched", "reclaim_or_drain_launch");
    }
    if any(|launch| launch.state == LaunchState::Intent) {
        return ("launch_intent", "prove_absence_or_append_launch_unresolved");
    }
    if any(|launch| launch.state == LaunchState::Pending) {
        return ("launch_finished_cleanup_pending", "verify_cleanup_or_append_cleanup_unresolved");
    }
    let stage = attempt.launches.last().map_or("", |launch| &launch.stage);
    // What a checkpoint passed over is not published any more, nor what nobody can resolve.
    if any(|launch| launch.is_complete() && launch.published.is_none())
        && !attempt.checkpoints.contains_key(stage)
    {
        return ("evidence_publication_pending", "normalize_and_publish_evidence");
    }
    planned(whole, attempt, stage)
}

/// Rows 10 to 14.
fn planned(whole: &Whole<'_>, attempt: &Attempt, stage: &str) -> (&'static str, &'static str) {
    let own = whole.case.is_own();
    let next =
        attempt.plan.launches.get(attempt.launches.len()).filter(|_| !attempt.tail_cancelled);
    // A final attempt that a stop allows goes on launching (L11b).
    let stopped = if own {
        whole.journal.is_fenced_by_stop(attempt.role)
    } else {
        whole.journal.stop.is_some()
    };
    if stopped && next.is_some() {
        return ("plan_tail_cancellation_pending", "append_plan_tail_cancelled");
    }
    if let Some(next) = next.filter(|next| next.stage == stage) {
        let failed = attempt
            .launches
            .iter()
            .any(|launch| launch.state.is_settled() && !launch.is_complete());
        if own && failed && next.stage == stage {
            // After a fence or a failure the rest of the stage is useless (L11c, L30).
            return ("plan_tail_cancellation_pending", "append_plan_tail_cancelled");
        }
        return ("stage_launches_pending", "append_next_launch_intent");
    }
    let Some(checkpoint) = attempt.checkpoints.get(stage) else {
        return ("stage_checkpoint_pending", "append_stage_completed");
    };
    if next.is_some() && checkpoint.outcome == "pass" {
        return ("next_stage_launch_pending", "append_next_launch_intent");
    }
    ("launches_terminal", "append_evaluated")
}
