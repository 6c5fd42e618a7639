//! Payloads about the program, its tasks and rounds, what is read before a round, and its constraints (E1 to E17).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    id::{BehaviorId, ClaimId, ConstraintId},
    json::{nullable, optional},
    number::Decimal,
    program::flags::Flags,
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

/// The payload of `program.imported`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramImported {
    /// The numbers of the rounds archived before.
    pub archives: Vec<u64>,
    /// What the old memory file held, or a part of it; null if this event brings none.
    #[serde(deserialize_with = "nullable")]
    pub memory: Option<ImportedMemory>,
    /// The highest round number ever used.
    pub highest_round: u64,
    /// The round whose files still lie at the root; it is archived or discarded before another opens.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub live_round: Option<u64>,
}

/// A research memory, or a part of one, as its file had it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedMemory {
    /// The overarching direction.
    pub direction: String,
    /// The behaviors, in the order of the file.
    pub behaviors: Vec<ImportedBehavior>,
    /// Candidates that nobody has tried.
    pub untried_behavior_directions: Vec<String>,
}

/// A behavior as the memory file had it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedBehavior {
    /// The behavior.
    pub id: BehaviorId,
    /// The phenomenon in one sentence.
    pub statement: String,
    /// `established`, `conditional`, `not-established` or `inconclusive`.
    pub status: String,
    /// What is known of it.
    pub behavior_conclusion: String,
    /// How much it matters.
    pub impact: ImportedImpact,
    /// The round in which status or conclusion last changed.
    pub decided_in_round: u64,
    /// The attempts at a mechanism, one a round.
    pub mechanisms: Vec<ImportedMechanism>,
    /// The directions that no attempt took.
    pub untried_mechanism_directions: Vec<String>,
}

/// An impact assessment as the memory file had it; empty where there was none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedImpact {
    /// Why it matters.
    pub assessment: String,
    /// What was recommended.
    pub recommendation: String,
    /// The round of the assessment.
    #[serde(deserialize_with = "nullable")]
    pub assessed_in_round: Option<u64>,
}

/// An attempt at a mechanism as the memory file had it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedMechanism {
    /// The round of the attempt.
    pub round: u64,
    /// The chain of directions.
    pub direction: String,
    /// The method's family; null if the round was behavioral only.
    #[serde(deserialize_with = "nullable")]
    pub family: Option<String>,
    /// The finding in one sentence.
    pub headline: String,
    /// What was found of each claim.
    pub claims: Vec<ClaimFinding>,
    /// Where the round's files lie.
    pub archived_to: String,
}

/// A claim as a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimFinding {
    /// The claim.
    pub id: ClaimId,
    /// What was claimed.
    pub statement: String,
    /// What was measured and what decided.
    pub method: String,
    /// What was found.
    pub conclusion: String,
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
