//! Payloads about the program, its tasks and rounds, what is read before a round, and its constraints (E1 to E17).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    id::{BehaviorId, ClaimId, ConstraintId},
    json::{nullable, optional},
    number::Decimal,
    program::{flags::Flags, stages::Artifact},
};

/// The payload of `program.created`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramCreated {
    /// The program's name.
    pub program: String,
    /// What it is about.
    pub direction: String,
}

/// The payload of `task.recorded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskRecorded {
    /// The round that the task is for.
    pub for_round: u64,
    /// Where the text comes from.
    pub origin: String,
    /// The language of the text.
    pub language: String,
    /// The text.
    pub body: String,
    /// What the text fixes by name.
    pub pins: Pins,
    /// Whether settled things may be pinned on purpose.
    pub retry_settled: bool,
    /// Whether the text asks for notifications.
    pub notify: bool,
}

/// What a task fixes by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    /// The behavior to investigate.
    #[serde(deserialize_with = "nullable")]
    pub behavior: Option<String>,
    /// The direction of the mechanism.
    #[serde(deserialize_with = "nullable")]
    pub mechanism_direction: Option<String>,
    /// The family of the method.
    #[serde(deserialize_with = "nullable")]
    pub family: Option<String>,
}

/// The payload of `run.requested`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequested {
    /// What the user typed after the command.
    pub raw: String,
    /// Whether the latest round is to be continued.
    pub resume: bool,
}

/// The payload of `run.refused`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRefused {
    /// Why, as a word: `no-direction-input`, `unarchived-round`, `resume-nothing`, `bad-bool` and the like.
    pub reason: String,
    /// What the user was told.
    pub message: String,
}

/// The payload of `flags.resolved`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlagsResolved {
    /// The flags with their defaults filled in.
    pub flags: Flags,
    /// Lines about fallbacks and unknown keys.
    pub notes: Vec<String>,
}

/// The payload of `round.opened`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundOpened {
    /// Where the behavior comes from, as resolved.
    pub behavior_source: String,
    /// Who picks the mechanism's method, as resolved.
    pub mechanism: String,
}

/// The payload of `round.resumed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundResumed {
    /// The stages that need not run again.
    pub complete: Vec<String>,
    /// The first stage that must; null if none must.
    #[serde(deserialize_with = "nullable")]
    pub resume_from: Option<String>,
    /// The files of interrupted stages that were found whole, by digest; only `rp` itself fills it in.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub on_disk: Option<Vec<FoundStage>>,
}

/// A stage that was interrupted after it had left all its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FoundStage {
    /// The stage.
    pub stage: String,
    /// Its files.
    pub artifacts: Vec<Artifact>,
}

/// The payload of `round.discarded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundDiscarded {
    /// What was given up: deleted, or free to be overwritten by the next round.
    pub paths: Vec<String>,
}

/// The payload of `models.resolved`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelsResolved {
    /// The model of the claim stage.
    pub claim: StageModel,
    /// The model of the experiment stage.
    pub experiment: StageModel,
    /// The model of the verify stage.
    pub verify: StageModel,
    /// The model of the iteration stage.
    pub iteration: StageModel,
}

/// A stage's model and where the choice came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageModel {
    /// The model.
    pub model: String,
    /// `CLI-stage`, `CLI-global`, `frontmatter-pin` or `session`.
    pub source: String,
}

/// The payload of `constraints.extracted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstraintsExtracted {
    /// The items, in the order of the task.
    pub items: Vec<Constraint>,
}

/// A constraint of the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constraint {
    /// Its name.
    pub id: ConstraintId,
    /// `hard` or `notice`.
    pub block: String,
    /// `budget`, `prohibition`, `emphatic` or `preference`.
    pub kind: String,
    /// The task's words.
    pub text: String,
    /// The stages that it binds; always also the claim stage.
    pub stages: Vec<String>,
    /// The claims that it is limited to; empty for all.
    pub claims: Vec<ClaimId>,
}

/// The payload of `constraints.injected`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstraintsInjected {
    /// The stage.
    pub stage: String,
    /// The attempt that the items are for.
    pub attempt: u64,
    /// The items given to it.
    pub items: Vec<ConstraintId>,
}

/// The payload of `constraints.regenerated`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstraintsRegenerated {
    /// The override that this follows.
    pub point: String,
    /// The items with their new text.
    pub items: Vec<Constraint>,
    /// The items that no longer hold.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub removed: Option<Vec<ConstraintId>>,
}

/// The payload of `budget.reported`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetReported {
    /// The stage after which the sum was taken.
    pub stage: String,
    /// GPU-hours of the round so far.
    pub gpu_hours: Decimal,
    /// The user's limit, if there is one.
    #[serde(deserialize_with = "nullable")]
    pub limit: Option<Decimal>,
    /// Calls of the external reviewer so far.
    pub reviewer_calls: u64,
}

/// The payload of `memory.read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryRead {
    /// Whether the memory informs this round.
    pub used: bool,
    /// The behaviors read.
    pub behaviors: Vec<BehaviorId>,
    /// How many untried candidates were read.
    pub untried: u64,
}

/// The payload of `pin.resolved`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinResolved {
    /// `behavior`, `direction` or `family`.
    pub level: String,
    /// The pin's text.
    pub item: String,
    /// The behavior that it was matched with.
    #[serde(deserialize_with = "nullable")]
    pub behavior: Option<BehaviorId>,
    /// The round that settled it.
    #[serde(deserialize_with = "nullable")]
    pub settled_in_round: Option<u64>,
    /// `honor-pin` or `pick-fresh`.
    pub decision: String,
    /// `retry-settled`, `auto` or `user`.
    pub basis: String,
}

/// The payload of `comprehension.decided`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComprehensionDecided {
    /// Whether the given behavior can be tested as it stands.
    pub concrete: bool,
    /// `switch-to-discovery` or `specify-behavior`; null if it is concrete.
    #[serde(deserialize_with = "nullable")]
    pub decision: Option<String>,
    /// The behavior that the user specified.
    #[serde(deserialize_with = "nullable")]
    pub given_behavior: Option<String>,
    /// Who decided.
    pub decided_by: String,
}
