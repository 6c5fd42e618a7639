//! The state of the program.

use std::sync::Arc;

use rp_events::program::Event;
use serde::{Deserialize, Serialize};

use crate::{
    At,
    table::{Backing, Change, Table},
};

/// What holds for the program as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// The program's name.
    pub name: String,
    /// The overarching direction.
    pub direction: String,
    /// The root list of candidates that nobody has tried (F.4).
    pub untried_behavior_directions: Vec<String>,
    /// Whether any memory event was recorded; before, the memory file does not exist.
    pub has_memory: bool,
    /// The task as it stands: the latest draft or the user's latest edit.
    pub task: Option<Task>,
}

/// `task.md` as it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The round it is for.
    pub for_round: u64,
    /// Whether it was drafted between rounds and not edited since.
    pub drafted: bool,
    /// The text: the draft as it was rendered when it was drafted, or the user's body.
    pub text: String,
    /// The lines of its `## User Overrides (log)` (J.2), without the leading `- `.
    pub log: Vec<String>,
}

/// The program part of the state.
#[derive(Debug)]
pub struct Program {
    root: Table<Root>,
}

const ONE: &str = "";

impl Program {
    pub(crate) fn new(backing: &Backing) -> Self {
        Self { root: Table::new("program", backing) }
    }

    /// What holds for the program as a whole, once it was created.
    pub fn root(&self) -> Option<Arc<Root>> {
        self.root.get(ONE)
    }

    /// The numbers of all rounds ever opened, ascending.
    pub fn rounds(&self) -> Vec<u64> {
        Vec::new()
    }

    /// The ledger of a round without its claims.
    pub fn header(&self, _round: u64) -> Option<Arc<super::ledger::Header>> {
        None
    }

    /// The claims of a round, in the order of seeding.
    pub fn claims(&self, _round: u64) -> Vec<Arc<super::ledger::ClaimRow>> {
        Vec::new()
    }

    /// Whether a round is archived.
    pub fn is_archived(&self, _round: u64) -> bool {
        false
    }

    /// The behaviors, in the order of first appearance.
    pub fn behaviors(&self) -> Vec<Arc<super::memory::Behavior>> {
        Vec::new()
    }

    /// Records an admitted event.
    pub(super) fn record(&mut self, _at: &At<'_>, event: &Event) {
        match event {
            Event::ProgramCreated(created) => self.root.put(
                ONE,
                Root {
                    name: created.program.clone(),
                    direction: created.direction.clone(),
                    ..Root::default()
                },
            ),
        }
    }

    pub(crate) fn changes(&mut self, out: &mut Vec<Change>) {
        self.root.changes(out);
    }
}
