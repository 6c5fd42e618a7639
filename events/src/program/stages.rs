//! Payloads about stages and gates (E18 to E24).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::{nullable, optional};

/// The payload of `stage.dispatched`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageDispatched {
    /// The stage.
    pub stage: String,
    /// Which dispatch of it this is, from 1.
    pub attempt: u64,
    /// `full`; for the experiment stage also `route_only`, `build` or `combined`.
    pub mode: String,
    /// Whether the agent continues what lies there.
    pub resume: bool,
}

/// The payload of `stage.returned`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageReturned {
    /// The stage.
    pub stage: String,
    /// The attempt that returned.
    pub attempt: u64,
    /// `ok`, `needs-decision`, `crashed`, `awaiting-upstream` or `phenomenon-terminal`.
    pub outcome: String,
    /// The files that it says it left.
    pub artifacts: Vec<Artifact>,
    /// Why it stopped, for a round-end decision.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub qualifier: Option<String>,
}

/// A file that a stage left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// Its path in the workspace.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its bytes.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// The payload of `stage.accepted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageAccepted {
    /// The stage.
    pub stage: String,
    /// The attempt that is accepted.
    pub attempt: u64,
}

/// The payload of `stage.rejected`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageRejected {
    /// The stage.
    pub stage: String,
    /// The attempt that is rejected.
    pub attempt: u64,
    /// `missing-artifacts`, `incomplete`, `under-power`, `failed-sanity`, `integrity-break` or `not-acceptable`.
    pub reason: String,
    /// What is missing or wrong.
    pub note: String,
}

/// The payload of `stage.superseded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageSuperseded {
    /// The stage.
    pub stage: String,
    /// The attempt whose account is replaced.
    pub attempt: u64,
    /// Where it was replaced.
    pub point: String,
    /// `rejection` or `user`.
    pub by: String,
}

/// The payload of `stage.skipped`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageSkipped {
    /// The stage.
    pub stage: String,
    /// `resume-complete`, `review-loop-false`, `phenomenon-ended` or `round-ended`.
    pub reason: String,
}

/// The payload of `gate.decided`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateDecided {
    /// The gate.
    pub gate: String,
    /// `auto`, `standing-approval` or `interactive`.
    pub mode: String,
    /// `approve`, or one of the gate's other answers.
    pub decision: String,
    /// The idea or candidate chosen, by number.
    #[serde(deserialize_with = "nullable")]
    pub choice: Option<u64>,
    /// `auto` or `user`.
    pub decided_by: String,
}
