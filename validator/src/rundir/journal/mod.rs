//! The journal (`domains/run.md` F): events folded into attempts, with every order, timing and binding that
//! does not hold found on the way (J.18 to J.28).
//!
//! The fold takes events as values, not lines of a file: whoever has the events otherwise asks the same rules.

mod attempt;
mod decide;
mod envelope;
mod intent;
mod prepare;
mod publish;
mod receipts;
mod schema;
mod stages;
mod state;
mod stop;

use std::collections::{BTreeMap, BTreeSet};

pub use attempt::{rollback_action, steps_after};
pub use decide::{Outcome, outcome};
pub use envelope::Turn;
pub use state::{
    Attempt, Checkpoint, Cleared, Decided, Finalized, Launch, LaunchState, Phase, Published, Stop,
    StopKind, Stopped,
};

use super::{
    artifacts::{Case, Role},
    bytes::Value,
    fields::Usage,
    findings::Findings,
    scalar::Instant,
};

/// What rows say of attempts that are over, for designs to cite.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The confirmed attempts that are not final: their row and commit.
    pub confirmed: BTreeMap<String, (usize, String)>,
    /// The row of each result.
    pub results: BTreeMap<String, usize>,
}

impl History {
    /// The commit of an attempt that was confirmed in one of the first rows.
    pub fn commit_of(&self, attempt: &str, rows: usize) -> Option<&str> {
        self.confirmed
            .get(attempt)
            .filter(|(row, _)| *row < rows)
            .map(|(_, commit)| commit.as_str())
    }

    /// Whether a result is one of the first rows'.
    pub fn has_result(&self, id: &str, rows: usize) -> bool {
        self.results.get(id).is_some_and(|row| *row < rows)
    }
}

/// The journal as far as it was folded.
#[derive(Debug, Default)]
pub struct Journal {
    /// The attempts in order.
    pub attempts: Vec<Attempt>,
    /// The stop request.
    pub stop: Option<Stop>,
    /// The end of the run.
    pub stopped: Option<Stopped>,
    /// Events so far.
    pub count: u64,
    /// The time of the last one.
    pub last_at: Option<Instant>,
    /// What all receipts used.
    pub used: Usage,
    open: Option<usize>,
    ids: BTreeSet<String>,
    launch_ids: BTreeSet<String>,
    result_ids: BTreeSet<String>,
    processes: BTreeSet<String>,
    designs: BTreeMap<String, String>,
}

impl Journal {
    /// Takes the next event; `prefix` gives the digest of the lines up to it.
    pub fn take(
        &mut self,
        out: &mut Findings,
        case: Case<'_>,
        history: &History,
        event: &Value,
        prefix: &dyn Fn() -> String,
    ) {
        self.count += 1;
        let Some(turn) = envelope::open(out, case, self, event) else { return };
        if case.is_own() {
            schema::closed(out, &turn);
        }
        match turn.name {
            "stop_requested" => stop::requested(out, self, &turn),
            "run_stopped" => stop::stopped(out, case, self, &turn),
            "prepared" => prepare::prepared(out, case, self, history, &turn),
            _ => self.attempt_event(out, case, &turn, prefix),
        }
    }

    fn attempt_event(
        &mut self,
        out: &mut Findings,
        case: Case<'_>,
        turn: &Turn<'_>,
        prefix: &dyn Fn() -> String,
    ) {
        envelope::identity(out, self, turn);
        if self.open.is_none() {
            return;
        }
        // The open attempt is always the last; it is taken out so that rules may look at the journal beside it.
        let Some(mut attempt) = self.attempts.pop() else { return };
        match turn.name {
            "committed" => attempt::committed(out, &mut attempt, turn),
            "integrity_cleared" => attempt::cleared(out, case, &mut attempt, turn),
            "launch_intent" => intent::intent(out, case, self, &mut attempt, turn),
            "evidence_published" => publish::published(out, case, &mut attempt, turn),
            "stage_completed" => stages::completed(out, case, &mut attempt, turn),
            "plan_tail_cancelled" => stages::tail_cancelled(out, case, self, &mut attempt, turn),
            "evaluated" => stages::evaluated(out, &mut attempt, turn),
            "decided" => decide::decided(out, case, &mut attempt, turn),
            "rolled_back" => attempt::rolled_back(out, &mut attempt, turn),
            "finalized" => attempt::finalized(out, self, &mut attempt, turn, prefix),
            _ => receipts::receipt(out, case, self, &mut attempt, turn),
        }
        if attempt.finalized.is_some() {
            self.open = None;
        }
        self.attempts.push(attempt);
    }

    /// The attempt that is open.
    pub fn open(&self) -> Option<&Attempt> {
        self.attempts.get(self.open?)
    }

    /// The incumbent after all decisions so far.
    pub fn incumbent<'j>(&'j self, case: &'j Case<'_>) -> &'j str {
        let decided = self.attempts.iter().rev().find_map(|attempt| attempt.decided.as_ref());
        decided.map_or(&case.contract.baseline_commit, |decided| &decided.incumbent_after)
    }

    /// Whether any work of the run is unresolved.
    pub fn is_unresolved(&self) -> bool {
        self.attempts.iter().any(Attempt::is_unresolved)
    }

    /// Whether a stop forbids launches to a role.
    pub fn is_fenced_by_stop(&self, role: Role) -> bool {
        self.stop.as_ref().is_some_and(|stop| role != Role::Final || stop.skips_final)
    }
}
