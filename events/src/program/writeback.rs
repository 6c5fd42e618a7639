//! Payloads of figures, caveats, open items and the ends of a round (E67 to E78).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    id::{ClaimId, FigureId},
    json::{nullable, optional},
};

/// The payload of `figures.planned`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FiguresPlanned {
    /// The figures, by claim.
    pub claims: Vec<PlannedFigures>,
}

/// The figures planned for a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlannedFigures {
    /// The claim.
    pub id: ClaimId,
    /// The figures; none if there is nothing to show.
    pub entries: Vec<FigureId>,
}

/// The payload of `figures.recorded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FiguresRecorded {
    /// The claim.
    pub claim: ClaimId,
    /// What became of each planned figure.
    pub figures: Vec<FigureEntry>,
    /// The Markdown of each table.
    pub tables: BTreeMap<FigureId, String>,
}

/// What became of a figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FigureEntry {
    /// The figure.
    pub id: FigureId,
    /// `line`, `bar`, `grouped_bar`, `scatter`, `heatmap`, `box`, `violin`, `multi_panel` or `table`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its caption.
    pub caption: String,
    /// Its bitmap.
    #[serde(deserialize_with = "nullable")]
    pub png: Option<String>,
    /// Its vector form.
    #[serde(deserialize_with = "nullable")]
    pub pdf: Option<String>,
    /// Its Markdown, for a table.
    #[serde(deserialize_with = "nullable")]
    pub md: Option<String>,
    /// Its LaTeX, for a table.
    #[serde(deserialize_with = "nullable")]
    pub tex: Option<String>,
    /// The data that it shows.
    pub source_data: String,
    /// `ok`, `error` or `skipped`.
    pub status: String,
    /// What failed, on an error.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub error_detail: Option<String>,
    /// Why it was left out, on a skip.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The payload of `figures.batch_failed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FiguresBatchFailed {
    /// What failed.
    pub error: String,
}

/// The payload of `figures.finished`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FiguresFinished {
    /// The index that was written.
    pub index: String,
}

/// The payload of `figures.skipped`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FiguresSkipped {
    /// `disabled`, `halted`, `round-ended` or `nothing-to-plot`.
    pub reason: String,
}

/// The payload of `caveat.added`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaveatAdded {
    /// The claim.
    pub claim: ClaimId,
    /// The caveat.
    pub text: String,
}

/// The payload of `open_item.added`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenItemAdded {
    /// The item.
    pub text: String,
    /// Where it comes from.
    pub source: String,
}

/// The payload of `open_item.closed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenItemClosed {
    /// The item, as it was added.
    pub text: String,
}

/// The payload of `consistency.swept`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsistencySwept {
    /// What does not tell the same story.
    pub mismatches: Vec<Mismatch>,
}

/// Two places that disagree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mismatch {
    /// The claim.
    pub claim: ClaimId,
    /// The one path.
    pub a: String,
    /// The other path.
    pub b: String,
}

/// The payload of `round_end.decided`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundEndDecided {
    /// Where the round ended.
    pub stage: String,
    /// Why, as a word.
    pub reason: String,
    /// The qualifier underneath, if a handed-over call ended.
    #[serde(deserialize_with = "nullable")]
    pub upstream: Option<String>,
    /// What happened.
    pub detail: String,
    /// What would help.
    pub remedy: String,
    /// Where to look.
    pub see: String,
    /// What was left.
    pub partial_artifacts: Vec<String>,
    /// What the user may choose from.
    pub options: Vec<String>,
    /// The claims that are parked.
    pub claims: Vec<ClaimId>,
    /// The day it ended.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// The payload of `pipeline.halted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineHalted {
    /// Where it halted.
    pub stage: String,
    /// Why.
    pub cause: String,
    /// Where to look.
    pub see: String,
    /// The day it ended.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// The payload of `pipeline.finished`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineFinished {
    /// `completed`, `truncated-at-verify`, `ended-phenomenon-not-established` or `ended-phenomenon-inconclusive`.
    pub status: String,
    /// The day it ended.
    pub end: String,
}
