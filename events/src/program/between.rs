//! Payloads of overrides, notifications and the passage to the next round (E84 to E93).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    id::{BehaviorId, ConstraintId},
    json::{nullable, optional},
};

/// The payload of `override.recorded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverrideRecorded {
    /// When in the round.
    pub point: String,
    /// What the user asked for.
    pub request: String,
    /// What it contradicts, if anything.
    #[serde(deserialize_with = "nullable")]
    pub overrides: Option<String>,
    /// `strong` or `deferrable`.
    pub urgency: String,
    /// The constraint that it changes.
    #[serde(deserialize_with = "nullable")]
    pub constraint: Option<ConstraintId>,
}

/// The payload of `notification.timer_registered`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotificationTimerRegistered {
    /// The minute of the hour; neither 0 nor 30.
    pub minute: u64,
}

/// The payload of `notification.recorded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotificationRecorded {
    /// `hourly`, `progress`, `done`, `halted` or `approval-needed`.
    pub event: String,
    /// What it says.
    pub reason: String,
    /// Where it was saved.
    pub file: String,
    /// Whether it was sent.
    pub dispatched: bool,
}

/// The payload of `approval.needed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalNeeded {
    /// What waits.
    pub blocked: String,
    /// What a person must do.
    pub action: String,
}

/// The payload of `transition.requested`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransitionRequested {
    /// What the user typed.
    pub arguments: String,
    /// What was recommended; null without a finding in memory.
    #[serde(deserialize_with = "nullable")]
    pub recommended: Option<String>,
    /// `new-behavior`, `new-mechanism` or `re-validate`.
    pub intent: String,
    /// The behavior, for the intents that keep one.
    #[serde(deserialize_with = "nullable")]
    pub behavior: Option<BehaviorId>,
    /// Who decided; `user`.
    pub decided_by: String,
}

/// The payload of `archive.planned`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArchivePlanned {
    /// Where the files go.
    pub target: String,
    /// What moves.
    #[serde(rename = "move")]
    pub moved: Vec<String>,
    /// What stays.
    pub keep: Vec<String>,
}

/// The payload of `archive.refused`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArchiveRefused {
    /// The helper's exit code; 3.
    pub code: u64,
    /// What it said.
    pub message: String,
}

/// The payload of `round.archived`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundArchived {
    /// Where the files went.
    pub target: String,
    /// What moved.
    pub moved: Vec<String>,
    /// What was copied.
    pub copied: Vec<String>,
    /// What was planned and not there.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<MissingPath>>,
}

/// A planned path that was not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MissingPath {
    /// The path.
    pub path: String,
    /// Why.
    pub why: String,
}

/// The payload of `task.drafted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskDrafted {
    /// The round that the draft is for.
    pub for_round: u64,
    /// What the user decided.
    pub intent: String,
    /// The behavior, for the intents that keep one.
    #[serde(deserialize_with = "nullable")]
    pub behavior: Option<BehaviorId>,
    /// The recommended source of the behavior.
    pub behavior_source: String,
    /// The recommended choice of the mechanism.
    pub mechanism: String,
    /// A line for the user.
    pub note: String,
}

/// The payload of `transition.reported`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransitionReported {
    /// What was printed.
    pub lines: Vec<String>,
}
