//! Payloads of the review loop (E57 to E66).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    id::ClaimId,
    json::{nullable, optional},
    number::Decimal,
};

/// The payload of `iteration.reviewed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IterationReviewed {
    /// The cycle, from 1.
    pub cycle: u64,
    /// The reviewer's score, 1 to 10.
    pub score: Decimal,
    /// `ready`, `almost` or `not ready`.
    pub verdict: String,
    /// What the reviewer asks for.
    pub requests: Vec<ReviewRequest>,
    /// Where the whole answer lies.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

/// What the reviewer asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewRequest {
    /// The claim.
    pub claim: ClaimId,
    /// The kind of repair, 0 to 3.
    pub action: u64,
}

/// The payload of `iteration.action_applied`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IterationActionApplied {
    /// The cycle.
    pub cycle: u64,
    /// 0 narrative, 1 variant scripts, 2 main experiment, 3 rewrite.
    pub action: u64,
    /// The claims repaired.
    pub claims: Vec<ClaimId>,
    /// `lightweight` or `full`.
    pub path: String,
    /// The claims that a rewrite makes.
    pub produced: Vec<ClaimId>,
    /// What was done.
    pub summary: String,
    /// The files edited.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub edits: Option<Vec<String>>,
}

/// The payload of `iteration.action_refused`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IterationActionRefused {
    /// The cycle.
    pub cycle: u64,
    /// The claim.
    pub claim: ClaimId,
    /// The kind of repair that was asked for.
    pub action: u64,
    /// The code that forbids it.
    pub reason: String,
}

/// The payload of `handoff.queued`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandoffQueued {
    /// The cycle.
    pub cycle: u64,
    /// The calls, in order.
    pub calls: Vec<HandoffCall>,
}

/// A call of an earlier stage's skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandoffCall {
    /// `auto-claim`, `auto-experiment` or `auto-verify`.
    pub skill: String,
    /// Its arguments.
    pub args: BTreeMap<String, String>,
}

/// The payload of `handoff.call_finished`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandoffCallFinished {
    /// The call's place in the queue, from 0.
    pub index: u64,
    /// `ok`, `needs-decision` or `crashed`.
    pub outcome: String,
    /// Why it stopped.
    #[serde(deserialize_with = "nullable")]
    pub qualifier: Option<String>,
    /// What happened.
    #[serde(deserialize_with = "nullable")]
    pub detail: Option<String>,
    /// What would help.
    #[serde(deserialize_with = "nullable")]
    pub remedy: Option<String>,
}

/// The payload of `iteration.merged`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IterationMerged {
    /// The cycle.
    pub cycle: u64,
    /// What it did, by claim.
    pub claims: Vec<MergedClaim>,
}

/// What a cycle did to a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergedClaim {
    /// The claim.
    pub id: ClaimId,
    /// What the reviewer says of it now.
    pub reviewer_status: String,
    /// What changed.
    pub changed: Vec<String>,
}

/// The payload of `claim.narrowed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimNarrowed {
    /// The claim.
    pub claim: ClaimId,
    /// The cycle.
    pub cycle: u64,
    /// What it is narrowed to.
    pub to: String,
    /// How it stands now.
    pub final_status: String,
}

/// The payload of `claim.falsified`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimFalsified {
    /// The claim.
    pub claim: ClaimId,
    /// The cycle.
    pub cycle: u64,
    /// What falsified it.
    pub falsifier: String,
    /// How it stands now.
    pub final_status: String,
    /// Where the evidence lies.
    pub artifacts: Vec<String>,
}

/// The payload of `claim.status_set`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimStatusSet {
    /// The claim.
    pub claim: ClaimId,
    /// How it stands now.
    pub final_status: String,
}

/// The payload of `iteration.terminated`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IterationTerminated {
    /// `positive_verdict`, `iterations_exhausted`, `claim_reentry_exhausted` or `stalled`.
    pub reason: String,
    /// The last score.
    pub score: Decimal,
    /// The last verdict.
    pub verdict: String,
}
