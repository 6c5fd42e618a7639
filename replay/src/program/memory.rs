//! The research memory: the records behind `research_memory.json` (F.1 of the domain text).

#![expect(missing_docs, reason = "the fields are those of the file, under its names")]

use serde::{Deserialize, Serialize};

/// One behavior and everything tried on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Behavior {
    pub id: String,
    pub statement: String,
    pub status: String,
    pub behavior_conclusion: String,
    pub impact: Impact,
    pub decided_in_round: u64,
    pub mechanisms: Vec<Mechanism>,
    pub untried_mechanism_directions: Vec<String>,
    /// Order of first appearance.
    pub ordinal: u64,
    /// Whether the status on record was only asserted, so that any test outranks it (F.3).
    pub asserted: bool,
}

/// How much a behavior matters; empty where it was not assessed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Impact {
    pub assessment: String,
    pub recommendation: String,
    pub assessed_in_round: Option<u64>,
}

/// One attempt at a mechanism: one a round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mechanism {
    pub round: u64,
    pub direction: String,
    pub family: Option<String>,
    pub headline: String,
    pub claims: Vec<MechanismClaim>,
    pub archived_to: String,
    /// The latest reading of it (E83): `stable-positive`, `stable-negative` or `open`. Not in the file.
    pub reading: Option<String>,
}

/// A claim as a finding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MechanismClaim {
    pub id: String,
    pub statement: String,
    pub method: String,
    pub conclusion: String,
}

impl Mechanism {
    /// Whether the latest reading of it is a stable one, positive or negative (F.6).
    pub fn is_settled(&self) -> bool {
        matches!(self.reading.as_deref(), Some("stable-positive" | "stable-negative"))
    }
}
