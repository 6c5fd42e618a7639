//! What every event has: version, number, time, contract, and the attempt that it is about (J.18).

use super::{
    super::{
        artifacts::Case,
        bytes::{Map, Value},
        fields::{field, safe_id, schema_version, text, time},
        findings::Findings,
        scalar::Instant,
    },
    Journal,
};

/// An event while it is judged.
#[derive(Clone, Copy)]
pub struct Turn<'t> {
    /// Its name.
    pub name: &'t str,
    /// Its number.
    pub seq: u64,
    /// Its time.
    pub at: Option<Instant>,
    /// Its fields.
    pub map: &'t Map,
    /// The whole event.
    pub event: &'t Value,
    /// Whose semantics hold.
    pub case: Case<'t>,
}

const NAMES: [&str; 20] = [
    "stop_requested",
    "run_stopped",
    "prepared",
    "committed",
    "integrity_cleared",
    "launch_intent",
    "launched",
    "launch_aborted",
    "launch_unresolved",
    "launch_finished",
    "cleanup_confirmed",
    "cleanup_unresolved",
    "evidence_published",
    "stage_completed",
    "plan_tail_cancelled",
    "evaluated",
    "decided",
    "rolled_back",
    "finalized",
    "",
];

/// Judges the envelope; `None` if nobody can say what the event is.
pub(super) fn open<'t>(
    out: &mut Findings,
    case: Case<'t>,
    journal: &mut Journal,
    event: &'t Value,
) -> Option<Turn<'t>> {
    let map = event.map()?;
    let seq = journal.count;
    out.within(371, |out| schema_version(out, map, case.profile(), 1));
    let numbered = field(map, "seq").is_int(i128::from(seq), case.equality());
    out.due(numbered, 372, "journal_sequence", format!("`seq` is not {seq}"));
    let at = out.within(373, |out| time(out, map, "at"));
    if let (Some(at), Some(last)) = (at, journal.last_at) {
        out.due(
            at >= last,
            374,
            "journal_time_regression",
            "`at` is before that of the event before",
        );
    }
    journal.last_at = at.or(journal.last_at);
    let same = field(map, "contract_sha256").text() == Some(case.contract.sha256.as_ref());
    out.due(same, 375, "contract_digest_mismatch", "`contract_sha256` is not that of the contract");
    out.due(journal.stopped.is_none(), 378, "event_after_run_stopped", "the run was stopped");
    let name = field(map, "event").text().filter(|name| !name.is_empty() && NAMES.contains(name));
    let Some(name) = name else {
        out.find(376, "unknown_event", "`event` names no event of the protocol");
        return None;
    };
    deadline(out, case, name, at);
    Some(Turn { name, seq, at, map, event, case })
}

fn deadline(out: &mut Findings, case: Case<'_>, name: &str, at: Option<Instant>) {
    let late = case.contract.deadline.zip(at).is_some_and(|(deadline, at)| at > deadline);
    match name {
        "launch_intent" | "launched" => {
            out.due(!late, 377, "launch_after_deadline", "the deadline has passed");
        }
        "launch_finished" if late => {
            out.warn(802, "operational_overrun", "the launch ended after the deadline");
        }
        _ => {}
    }
}

/// Who an attempt's event says that it is about.
pub(super) struct Named<'n> {
    pub(super) attempt: &'n str,
    pub(super) experiment: &'n str,
    pub(super) iteration: &'n Value,
    pub(super) role: &'n str,
}

/// Reads the four fields of an attempt's event (379 to 381).
pub(super) fn named<'t>(out: &mut Findings, turn: &Turn<'t>) -> Named<'t> {
    let (attempt, experiment) = out.within(379, |out| {
        (safe_id(out, turn.map, "attempt_id"), safe_id(out, turn.map, "experiment_id"))
    });
    let role = out.within(380, |out| text(out, turn.map, "role"));
    let iteration = field(turn.map, "iteration");
    let counted = turn.case.profile().count(iteration).is_some();
    out.due(counted, 381, "invalid_iteration", "`iteration` is not a non-negative integer");
    Named {
        attempt: attempt.unwrap_or_default(),
        experiment: experiment.unwrap_or_default(),
        iteration,
        role: role.unwrap_or_default(),
    }
}

/// An event belongs to the open attempt (382, 383).
pub(super) fn identity(out: &mut Findings, journal: &Journal, turn: &Turn<'_>) {
    let named = named(out, turn);
    let Some(open) = journal.open() else {
        return out.find(
            382,
            "event_without_attempt",
            format!("no attempt is open for `{}`", turn.name),
        );
    };
    let same = open.id == named.attempt
        && open.experiment == named.experiment
        && turn.case.equality().holds(&open.iteration, named.iteration)
        && open.role_word == named.role;
    out.due(
        same,
        383,
        "attempt_identity_drift",
        format!("the open attempt is `{}` of `{}`", open.id, open.experiment),
    );
}
