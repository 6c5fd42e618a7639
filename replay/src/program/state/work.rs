//! What a round works with beside its claims: plan, runs, review loop, figures, archive.

use std::collections::{BTreeMap, BTreeSet};

use rp_events::{
    Decimal,
    program::{Constraint, GpuId, Idea},
};
use serde::{Deserialize, Serialize};

use super::{round::TaskFacts, settings::Settings};
use crate::{
    launch::Launch,
    measurement::Measurement,
    program::{
        constants::{Intent, StageName},
        memory::Behavior,
    },
};

/// Where the program as a whole stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Course {
    /// The highest round number ever used.
    pub(crate) highest_round: u64,
    /// The round opened last.
    pub(crate) latest_round: Option<u64>,
    /// How many events took over an older project.
    pub(crate) imports: u64,
    pub(crate) request: Option<Request>,
    /// Flags that no round has used yet.
    pub(crate) flags: Option<Settings>,
    pub(crate) task: TaskFacts,
    /// How many behaviors the memory holds.
    pub(crate) behaviors: u64,
    /// The highest number of a behavior called `B` and a number.
    pub(crate) highest_behavior: u64,
    /// Whether the memory is still the one that was imported.
    pub(crate) keeps_old_memory: bool,
}

/// A run that was asked for and not begun.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) resume: bool,
    /// Whether the user typed a direction.
    pub(crate) has_direction: bool,
}

/// The experiment plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) rev: u64,
    pub(crate) is_strict: bool,
    pub(crate) directions: Vec<String>,
    pub(crate) chosen_mechanism: Option<String>,
    pub(crate) settled_families: Vec<String>,
    pub(crate) milestones: Vec<PlanMilestone>,
}

impl Plan {
    /// The milestone of a name.
    pub(crate) fn milestone(&self, id: &str) -> Option<&PlanMilestone> {
        self.milestones.iter().find(|milestone| milestone.id == id)
    }

    /// The milestone that tests the phenomenon, known by its kind.
    pub(crate) fn phenomenon(&self) -> Option<&PlanMilestone> {
        self.milestones.iter().find(|milestone| milestone.tests_phenomenon)
    }
}

/// A milestone of the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlanMilestone {
    pub(crate) id: String,
    pub(crate) tests_phenomenon: bool,
    pub(crate) claims: Vec<String>,
    pub(crate) depends_on: Vec<String>,
    pub(crate) runs: Vec<String>,
    pub(crate) planned_used_n: String,
    pub(crate) sensitive: Vec<String>,
}

/// An experiment run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) stage: StageName,
    /// The stage's attempt that started it last.
    pub(crate) attempt: u64,
    pub(crate) milestone: Option<String>,
    pub(crate) claims: Vec<String>,
    /// Its directory, where its `cost.json` is.
    pub(crate) path: String,
    /// The devices that it was started on.
    pub(crate) gpus: BTreeSet<GpuId>,
    /// The GPU-hours that it took, as written, once it ended.
    pub(crate) gpu_hours: Option<String>,
    /// The latest start of its process.
    pub(crate) launch: Launch,
    /// How many items it used; empty until its launch ended.
    pub(crate) used_n: String,
    /// What its end stated.
    pub(crate) measurements: Vec<Measurement>,
}

/// The ideas of a discovery round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ideas {
    pub(crate) ideas: Vec<Idea>,
    /// The rank of the chosen one.
    pub(crate) chosen: Option<u64>,
}

/// The constraints of a round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Constraints {
    pub(crate) items: Vec<Constraint>,
    /// Where the user asked for the words that an item has now, by the item's name.
    pub(crate) stamps: BTreeMap<String, String>,
}

/// The review loop.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Loop {
    /// The cycle reviewed last; 0 before the first.
    pub(crate) cycle: u64,
    /// The cycle merged last.
    pub(crate) merged: u64,
    pub(crate) score: Option<Decimal>,
    pub(crate) verdict: String,
    /// Whether this cycle charged an action.
    pub(crate) has_charged: bool,
    /// Whether the cycle before charged an action.
    pub(crate) had_charged: bool,
    /// Whether this cycle's score and verdict are those of the one before.
    pub(crate) is_unchanged: bool,
    pub(crate) consumed: u64,
    pub(crate) reentries: u64,
    /// Claims that a charged rewrite made and that are not seeded yet.
    pub(crate) licensed: BTreeSet<String>,
    /// Claims that this cycle rewrites.
    pub(crate) rewritten: BTreeSet<String>,
    /// Whether this cycle charged a rewrite on the full path.
    pub(crate) is_full: bool,
    pub(crate) handoff: Handoff,
    pub(crate) terminated: bool,
}

/// Earlier stages that the review loop called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Handoff {
    /// Nothing is queued.
    #[default]
    None,
    /// Calls are queued, and so many are finished.
    Open {
        /// The skills called, in order.
        skills: Vec<String>,
        finished: u64,
    },
    /// Every call went well; the loop may go on.
    Finished,
    /// A call ended for a decision; a resumed round makes it again.
    Stopped { qualifier: String, skills: Vec<String>, finished: u64 },
    /// A call crashed; a resumed round makes it again.
    Crashed { skills: Vec<String>, finished: u64 },
}

/// The figures of a round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FigurePlan {
    /// The figures planned, by claim; `None` before the plan.
    pub(crate) planned: Option<BTreeMap<String, Vec<String>>>,
    pub(crate) has_failed: bool,
    /// What failed, where the figures could not be made.
    pub(crate) error: String,
    /// Whether the figures are done and merged, so that their index stands.
    pub(crate) is_finished: bool,
}

/// What a round wrote into the memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RoundMemory {
    /// The behavior that it recorded.
    pub(crate) behavior: Option<String>,
    /// That behavior as it stood before.
    pub(crate) before: Option<Behavior>,
    /// Whether the root list was updated.
    pub(crate) has_listed: bool,
}

/// The passage from a round to the next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Passage {
    pub(crate) intent: Option<Intent>,
    pub(crate) behavior: Option<String>,
    pub(crate) planned: Option<PlannedMove>,
    /// The recommended source and mechanism, once the task was drafted.
    pub(crate) drafted: Option<(String, String)>,
}

/// What moves and what stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlannedMove {
    pub(crate) target: String,
    pub(crate) moved: Vec<String>,
}

/// What the user overrode.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Overrides {
    /// Where, and what was asked.
    pub(crate) requests: Vec<(String, String)>,
}
