//! When an event of the program may come next.

use rp_events::{Refusal, program::Event};

use super::codes;
use crate::{At, State, owned};

/// Decides whether `event` may come next. Reads every domain, changes none.
pub(super) fn admit(state: &State, at: &At<'_>, event: &Event) -> Result<(), Refusal> {
    match event {
        Event::ProgramCreated(_) => {
            if let Some(root) = state.program().root() {
                let why = format!("the program `{}` stands in this journal", root.name);
                return Err(Refusal::new(&codes::PROGRAM_EXISTS, why));
            }
            owned(at)
        }
    }
}
