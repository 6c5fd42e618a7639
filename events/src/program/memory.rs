//! Payloads of the research memory (E79 to E83).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    id::{BehaviorId, ClaimId},
    json::nullable,
};

/// The payload of `memory.behavior_recorded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryBehaviorRecorded {
    /// The behavior.
    pub behavior: BehaviorId,
    /// `new` or `existing`.
    #[serde(rename = "match")]
    pub matched: String,
    /// The phenomenon in one sentence.
    pub statement: String,
    /// `established`, `conditional`, `not-established` or `inconclusive`.
    pub status: String,
    /// `m0` or `asserted`.
    pub basis: String,
    /// What is known of it.
    pub conclusion: String,
    /// How much it matters, if that was assessed.
    #[serde(deserialize_with = "nullable")]
    pub impact: Option<Impact>,
}

/// How much a behavior matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Impact {
    /// Why.
    pub assessment: String,
    /// `PROCEED`, `PROCEED WITH CAUTION` or `DEPRIORITIZE`.
    pub recommendation: String,
}

/// The payload of `memory.mechanism_recorded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryMechanismRecorded {
    /// The behavior.
    pub behavior: BehaviorId,
    /// The chain of directions.
    pub direction: String,
    /// The method's family and submethod; null if not applicable.
    #[serde(deserialize_with = "nullable")]
    pub family: Option<String>,
    /// The finding in one sentence.
    pub headline: String,
    /// Every claim of the round.
    pub claims: Vec<MechanismClaim>,
}

/// A claim as a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MechanismClaim {
    /// The claim.
    pub id: ClaimId,
    /// What was claimed.
    pub statement: String,
    /// What was measured and what decided.
    pub method: String,
    /// What was found.
    pub conclusion: String,
}

/// The payload of `memory.untried_behaviors_updated`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryUntriedBehaviorsUpdated {
    /// Entries that were investigated now.
    pub remove: Vec<String>,
    /// Ideas left over, each with its tail.
    pub append: Vec<String>,
}

/// The payload of `memory.skipped`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemorySkipped {
    /// `reproduction`, `needs-decision` or `halted`.
    pub reason: String,
}

/// The payload of `settlement.judged`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettlementJudged {
    /// The behavior.
    pub behavior: BehaviorId,
    /// The round of the attempt.
    pub attempt_round: u64,
    /// `stable-positive`, `stable-negative` or `open`.
    pub reading: String,
    /// Why it is read so.
    pub reason: String,
}
