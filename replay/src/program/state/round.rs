//! A round: its stages and gates, what is known of its phenomenon, its method, its verification.

use std::collections::BTreeSet;

use rp_events::program::GpuId;
use serde::{Deserialize, Serialize};

use super::settings::Settings;
use crate::program::constants::{Ending, PhenomenonStatus, Severity, StageName};

/// Everything of a round that many rules ask for.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Round {
    pub(crate) life: Life,
    pub(crate) settings: Settings,
    pub(crate) behavior_source: String,
    pub(crate) mechanism: String,
    /// What the task said when the round was opened.
    pub(crate) task: TaskFacts,
    pub(crate) resumed: bool,
    pub(crate) stages: Stages,
    pub(crate) gates: Gates,
    pub(crate) comprehended: bool,
    /// The pins that were replaced by a fresh pick: `behavior`, `direction`, `family`.
    pub(crate) dropped_pins: BTreeSet<String>,
    /// The exact sum of the GPU-hours of all finished runs.
    pub(crate) gpu_hours: Option<String>,
    /// The claims in the order of seeding.
    pub(crate) claims: Vec<String>,
    pub(crate) hook: Option<Hook>,
    pub(crate) phenomenon: Phenomenon,
    pub(crate) routing: Routing,
    pub(crate) reconciliation: Option<Reconciliation>,
    /// Units whose latest review found something critical.
    pub(crate) open_reviews: BTreeSet<String>,
    /// Units whose latest pilot collapsed.
    pub(crate) collapsed_scorers: BTreeSet<String>,
    pub(crate) session: Session,
    /// Whether a claim was flagged under a policy that stops.
    pub(crate) power_stop: bool,
    pub(crate) has_timer: bool,
    /// Whether a run failed, which under the strict marker may exhaust what is allowed.
    pub(crate) has_failed_run: bool,
    /// What only a human can do, and was asked for last.
    pub(crate) approval: Option<Approval>,
    /// What is known of a round that was taken over from files.
    pub(crate) imported: Option<Imported>,
}

/// Something that only a human can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Approval {
    pub(crate) blocked: String,
    pub(crate) action: String,
}

/// What is known of a round that was taken over from files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Imported {
    /// Where its files lay: `rounds/round_N/`, or empty for the root.
    pub(crate) folder: String,
    /// Whether some of its ledger could not be taken over, so that its fold is not the whole.
    pub(crate) is_partial: bool,
}

impl Round {
    /// The combination that only repeats what is known: given behavior, given mechanism.
    pub(crate) fn is_reproduction(&self) -> bool {
        self.behavior_source == "given" && self.mechanism == "given"
    }

    /// Whether the behavior is tested before anything builds on it.
    pub(crate) fn tests_phenomenon(&self) -> bool {
        self.behavior_source != "given"
    }

    /// Whether a terminal verdict on the phenomenon ended the round's work.
    pub(crate) fn phenomenon_ended(&self) -> bool {
        self.phenomenon.verdict.is_some_and(|verdict| verdict.terminal)
    }

    /// Whether the agent of a stage may act: its own stage runs, or it works for the review loop.
    pub(crate) fn is_live(&self, stage: StageName) -> bool {
        if self.stages.of(stage).is_running() {
            return true;
        }
        let iteration = &self.stages.iteration;
        match stage {
            // A rewrite on the full path goes through the claim stage again.
            StageName::Claim => iteration.state == StageState::Waiting,
            StageName::Experiment | StageName::Verify => {
                iteration.is_running() || iteration.state == StageState::Waiting
            }
            StageName::Iteration => false,
        }
    }
}

/// Where a round stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Life {
    /// It has no ending yet.
    #[default]
    Running,
    /// It has an ending and is written back.
    Ended(Ending),
    /// Its files are archived.
    Archived,
    /// The user threw it away.
    Discarded,
}

impl Life {
    /// Whether nothing changes the round any more.
    pub(crate) fn is_closed(self) -> bool {
        match self {
            Self::Archived | Self::Discarded => true,
            Self::Running | Self::Ended(_) => false,
        }
    }
}

/// What a task says besides its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TaskFacts {
    pub(crate) language: String,
    pub(crate) behavior: Option<String>,
    pub(crate) direction: Option<String>,
    pub(crate) family: Option<String>,
    pub(crate) retry_settled: bool,
    pub(crate) notify: bool,
}

/// The four stages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stages {
    pub(crate) claim: Stage,
    pub(crate) experiment: Stage,
    pub(crate) verify: Stage,
    pub(crate) iteration: Stage,
}

impl Stages {
    /// The stage of a name.
    pub(crate) fn of(&self, name: StageName) -> &Stage {
        match name {
            StageName::Claim => &self.claim,
            StageName::Experiment => &self.experiment,
            StageName::Verify => &self.verify,
            StageName::Iteration => &self.iteration,
        }
    }

    /// The stage of a name, to be changed.
    pub(crate) fn of_mut(&mut self, name: StageName) -> &mut Stage {
        match name {
            StageName::Claim => &mut self.claim,
            StageName::Experiment => &mut self.experiment,
            StageName::Verify => &mut self.verify,
            StageName::Iteration => &mut self.iteration,
        }
    }

    /// The stage whose agent is out.
    pub(crate) fn running(&self) -> Option<StageName> {
        StageName::ALL.into_iter().find(|name| self.of(*name).is_running())
    }
}

/// A stage of a round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stage {
    /// How often it was dispatched.
    pub(crate) attempt: u64,
    /// How often what it left was rejected since it was entered.
    pub(crate) rejections: u64,
    pub(crate) state: StageState,
    /// The attempt that constraints were injected for; 0 if none.
    pub(crate) injected: u64,
    /// The runs started since the last dispatch that was no resume.
    pub(crate) runs: Vec<String>,
    /// The devices that those ran on.
    pub(crate) gpus: BTreeSet<GpuId>,
    /// The outcome of the device check, once it was made.
    pub(crate) pin_holds: Option<bool>,
    /// The files that a resumption found of an agent that never came back.
    pub(crate) found: BTreeSet<String>,
}

impl Stage {
    /// Whether its agent is out.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state, StageState::Running { .. })
    }

    /// Whether the stage after it may be entered.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.state, StageState::Accepted | StageState::Skipped)
    }
}

/// Where a stage stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StageState {
    /// It waits to be dispatched.
    #[default]
    Pending,
    /// Its agent is out.
    Running {
        /// Whether the agent only chooses the method.
        routes_only: bool,
    },
    /// Its agent came back.
    Returned {
        /// Whether the agent only chose the method.
        routed_only: bool,
        /// Whether a terminal verdict on the phenomenon brought it back.
        phenomenon: bool,
        /// The files with content that it says it left.
        files: BTreeSet<String>,
    },
    /// What it left was accepted.
    Accepted,
    /// It was left out.
    Skipped,
    /// The review loop waits for earlier stages.
    Waiting,
    /// Its agent came back because the user must decide.
    Stopped {
        /// Why, if it said so.
        qualifier: Option<String>,
    },
    /// Its agent crashed.
    Crashed,
}

/// The answers at the gates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gates {
    pub(crate) claim: Option<Answer>,
    pub(crate) experiment: Option<Answer>,
    pub(crate) verify: Option<Answer>,
    /// The candidate that the user chose.
    pub(crate) family: Option<u64>,
}

impl Gates {
    /// The answer at the gate after a stage.
    pub(crate) fn of(&self, stage: StageName) -> Option<Answer> {
        match stage {
            StageName::Claim => self.claim,
            StageName::Experiment => self.experiment,
            StageName::Verify => self.verify,
            StageName::Iteration => Some(Answer::Go),
        }
    }

    /// Whether the user said stop at any gate.
    pub(crate) fn stopped(&self) -> bool {
        [self.claim, self.experiment, self.verify].contains(&Some(Answer::Stop))
    }
}

/// An answer at a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// Go on, as planned or narrower.
    Go,
    /// End the round.
    Stop,
}

/// How far the ledger was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Hook {
    /// After the claim stage.
    Claim,
    /// After the experiment stage.
    Experiment,
    /// After the verify stage.
    Verify,
    /// After a cycle of the review loop.
    Cycle(u64),
    /// After the review loop.
    Final,
}

/// What is known of the phenomenon that everything builds on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Phenomenon {
    /// How often it was tested.
    pub(crate) tests: u64,
    /// The last test's audit.
    pub(crate) audit: Option<Severity>,
    /// The last test's run.
    pub(crate) run: String,
    pub(crate) verdict: Option<PhenomenonVerdict>,
}

/// A verdict on the phenomenon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PhenomenonVerdict {
    pub(crate) status: PhenomenonStatus,
    /// Whether the round's work ends with it.
    pub(crate) terminal: bool,
}

/// How the method was chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Routing {
    /// Nothing is proposed.
    #[default]
    Open,
    /// Candidates are proposed.
    Proposed {
        candidates: Vec<Method>,
        /// Counts from 1.
        recommended: u64,
    },
    /// A method is committed.
    Committed(Method),
    /// The round is behavioral only.
    NotApplicable,
}

/// A family and submethod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Method {
    pub(crate) family: String,
    pub(crate) submethod: String,
}

/// How the plan stands to the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reconciliation {
    /// It fits, or nothing depended on the method.
    Fits,
    /// It conflicts.
    Escalated,
}

/// The claims under verification now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) targets: Vec<String>,
    pub(crate) picked: Option<Vec<String>>,
}
