//! Payloads of the claim stage and of the ledger's upkeep (E25 to E32).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    id::{ClaimId, MilestoneId, RunId},
    json::{nullable, optional},
    number::Decimal,
};

/// The payload of `ideas.ranked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdeasRanked {
    /// The ideas, survivors first.
    pub ideas: Vec<Idea>,
    /// The rank of the chosen idea; absent if none survived.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub chosen: Option<u64>,
}

/// An idea for a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Idea {
    /// Its place, from 1.
    pub rank: u64,
    /// Its title.
    pub title: String,
    /// The phenomenon in one sentence.
    pub phenomenon: String,
    /// How much it would matter, of 10.
    pub impact: Decimal,
    /// How new it is, of 10.
    pub novelty: Decimal,
    /// Whether it fell out.
    pub eliminated: bool,
}

/// The payload of `plan.committed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanCommitted {
    /// The plan's revision, from 1.
    pub rev: u64,
    /// Who wrote it; `claim`.
    pub editor: String,
    /// `strict` in the reproduction combination, else null.
    #[serde(deserialize_with = "nullable")]
    pub resource_fidelity: Option<String>,
    /// How the mechanism is looked for, or `n/a`.
    pub mechanism_strategy: Strategy,
    /// The method that the user named, or `not-applicable`.
    #[serde(deserialize_with = "nullable")]
    pub chosen_mechanism: Option<String>,
    /// Families that routing leaves out.
    pub families_already_settled: Vec<String>,
    /// The milestones, in order.
    pub milestones: Vec<Milestone>,
}

/// A milestone of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Milestone {
    /// Its name.
    pub id: MilestoneId,
    /// `phenomenon-validation` for the test of the phenomenon.
    #[serde(deserialize_with = "nullable")]
    pub kind: Option<String>,
    /// The claims that it serves.
    pub claims: Vec<ClaimId>,
    /// The milestones that come first.
    pub depends_on: Vec<MilestoneId>,
    /// Its runs.
    pub runs: Vec<RunId>,
    /// How many items it is planned on.
    pub planned_used_n: String,
    /// Fields that depend on the method chosen later.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub method_sensitive: Option<Vec<String>>,
    /// Its parameter grid.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub grid: Option<String>,
}

/// The payload of `plan.revised`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanRevised {
    /// The plan's revision.
    pub rev: u64,
    /// Who edits: `claim`, `iteration` or `user`.
    pub editor: String,
    /// `full`, `scoped`, or `step` for one failing step.
    pub scope: String,
    /// What stood there.
    pub before: String,
    /// What stands there now.
    pub after: String,
    /// Why.
    pub reason: String,
    /// When in the round.
    pub point: String,
}

/// The payload of `ledger.header_set`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerHeaderSet {
    /// The title of the chosen idea.
    pub project: String,
    /// The round's direction.
    pub direction: String,
    /// The day it began.
    pub start: String,
    /// The models by stage.
    pub models: HeaderModels,
}

/// The models by stage, as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeaderModels {
    /// Of the claim stage.
    pub claim: String,
    /// Of the experiment stage.
    pub experiment: String,
    /// Of the verify stage.
    pub verify: String,
    /// Of the iteration stage.
    pub iteration: String,
}

/// The payload of `claim.seeded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimSeeded {
    /// The claim.
    pub id: ClaimId,
    /// What is claimed; it never changes.
    pub statement: String,
    /// Where it comes from.
    pub origin: String,
    /// The claim that it rewrites.
    #[serde(deserialize_with = "nullable")]
    pub parent: Option<ClaimId>,
}

/// The payload of `claim.planned`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimPlanned {
    /// The claim.
    pub id: ClaimId,
    /// The milestones that serve it.
    pub milestones: Vec<MilestoneId>,
    /// The data planned for it.
    pub data: PlannedData,
    /// The models planned for it.
    pub models: Vec<String>,
    /// The method planned for it.
    pub method: String,
}

/// The data planned for a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlannedData {
    /// `existing`, `adapted` or `constructed`.
    pub provenance: String,
    /// What it is.
    pub source: String,
    /// How much there is.
    pub available_n: String,
    /// How much will be used.
    pub used_n: String,
    /// How the part is chosen.
    pub subset_note: String,
}

/// The payload of `journey.set`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JourneySet {
    /// `claim`, `mechanism_strategy`, `mechanism_routing`, `experiment`, `verify`, `iteration` or `figures`.
    pub field: String,
    /// The line.
    pub text: String,
}

/// The payload of `ledger.hooked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerHooked {
    /// `claim`, `experiment`, `verify`, `iteration:round-N` or `iteration:final`.
    pub hook: String,
}

/// How the mechanism is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a strategy of `directions`, `rejected` and `note`, or `n/a`"
)]
pub enum Strategy {
    /// The directions taken.
    Chain(DirectionChain),
    /// `n/a`: the user named the method.
    Word(String),
}

/// The directions that a round takes, and those that it leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirectionChain {
    /// The directions, in order.
    pub directions: Vec<String>,
    /// The directions considered and left out.
    pub rejected: Vec<RejectedDirection>,
    /// What the strategy is.
    pub note: String,
}

/// A direction that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectedDirection {
    /// The direction.
    pub direction: String,
    /// Why.
    pub why: String,
}
