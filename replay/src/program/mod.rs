//! The program of rounds: stages, gates, claims, verdicts, memory, archive. Specified in `spec/program.md`.

pub mod budget;
pub mod codes;
pub mod command;
pub mod constants;
pub mod devices;
pub mod entities;
pub mod gates;
pub mod guard;
pub mod history;
pub mod import;
pub mod injection;
pub mod ledger;
pub mod limits;
pub(crate) mod lineage;
pub mod memory;
pub mod notification;
pub mod passage;
pub(crate) mod relations;
pub mod resumption;
mod rules;
pub mod settled;
pub mod stage_files;
mod state;
mod subject;
pub mod task;
pub mod views;

pub use rules::next;
pub use state::{Program, Root, Task};
pub use subject::{Subject, subject};

use rp_events::{Refusal, program::Event};

use crate::{At, Domain, State};

/// Whether a stream is one of this domain: `program`, or `round/` and a number from 1 without leading zeros.
pub fn is_stream(name: &str) -> bool {
    name == "program"
        || name.strip_prefix("round/").is_some_and(|digits| {
            digits.len() <= 9
                && !digits.starts_with('0')
                && !digits.is_empty()
                && digits.bytes().all(|b| b.is_ascii_digit())
        })
}

impl Domain for Program {
    type Event = Event;

    fn admit(state: &State, at: &At<'_>, event: &Event) -> Result<(), Refusal> {
        rules::admit(state, at, event)
    }

    fn apply(&mut self, at: &At<'_>, event: &Event) {
        self.record(at, event);
    }
}
