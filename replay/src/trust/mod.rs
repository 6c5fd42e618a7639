//! Trust: who may sign what, from which entry to which. Specified in `spec/trust.md`.

pub mod codes;
pub(crate) mod entities;
pub(crate) mod lineage;
pub(crate) mod relations;
mod rules;
mod state;
pub mod views;

pub use rules::root_of;
pub use state::{Artifact, Genesis, KeyRecord, Revocation, Trust};

use rp_events::{Refusal, trust::Event};

use crate::{At, Domain, State};

impl Domain for Trust {
    type Event = Event;

    fn admit(state: &State, at: &At<'_>, event: &Event) -> Result<(), Refusal> {
        rules::admit(state, at, event)
    }

    fn apply(&mut self, at: &At<'_>, event: &Event) {
        self.record(at, event);
    }
}
