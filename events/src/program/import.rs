//! The payload of `program.imported`: what an older, file-based project brings (E2), under the names of its files.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    id::{BehaviorId, ClaimId, Digest, FigureId},
    json::{nullable, optional},
    number::Decimal,
    program::writeback::FigureEntry,
};

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
    /// A round's ledger, or a part of it.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub ledger: Option<ImportedLedger>,
    /// The files as they lay there, by digest.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<ImportedFile>>,
    /// What could not be verified of them.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub unverified: Option<Vec<Unverified>>,
}

/// A file as it lay there when it was imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedFile {
    /// Its path under the project, with `/`.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// BLAKE3 of its bytes.
    pub b3: Digest,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
}

/// Something of a file that could not be verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unverified {
    /// What kind of doubt it is, as a word.
    pub code: String,
    /// The file or folder.
    pub file: String,
    /// Where in it: a line, a byte, a field; empty for the whole.
    pub place: String,
    /// What stands there, shortened where it is long.
    pub value: String,
    /// What was due, or what became of it.
    pub why: String,
}

/// A round's ledger, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedLedger {
    /// The round.
    pub round: u64,
    /// Where its files lie: `rounds/round_N/`, or empty for the root.
    pub folder: String,
    /// Everything but the claims; null if there was no ledger file, or in a later part.
    #[serde(deserialize_with = "nullable")]
    pub header: Option<ImportedHeader>,
    /// The claims, in the order of the file.
    pub claims: Vec<ImportedClaim>,
    /// How many claims or figures could not be taken over; absent for none.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
    /// The stages whose files were all there, for the round at the root.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub complete: Option<Vec<String>>,
    /// The rewrites that the review loop had charged, for the round at the root.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub claim_reentries: Option<u64>,
}

/// A ledger file without its claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedHeader {
    /// The title of the idea.
    pub project: String,
    /// The overarching direction.
    pub direction: String,
    /// When the round began and ended.
    pub date_range: ImportedDates,
    /// The model of each stage.
    pub models: ImportedModels,
    /// How the round stands.
    pub pipeline_status: String,
    /// Why it ended for a decision; empty otherwise.
    pub round_end: ImportedRoundEnd,
    /// A line a stage.
    pub journey_summary: ImportedJourney,
    /// What is left open.
    pub open_items: Vec<String>,
    /// The review loop's last word.
    pub iteration_summary: ImportedIterationSummary,
    /// The last hook.
    pub updated_after_stage: String,
}

/// When a round began and ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedDates {
    /// The first day.
    pub start: String,
    /// The last day.
    pub end: String,
}

/// The model of each stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedModels {
    /// Of the claim stage.
    pub claim: String,
    /// Of the experiment stage.
    pub experiment: String,
    /// Of the verify stage.
    pub verify: String,
    /// Of the review loop.
    pub iteration: String,
}

/// Why a round ended for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedRoundEnd {
    /// The decision's name, in parentheses.
    pub qualifier: String,
    /// What happened.
    pub detail: String,
    /// What would help.
    pub remedy: String,
    /// Where to look.
    pub see: String,
    /// What was left.
    pub partial_artifacts: Vec<String>,
    /// What the user may choose from.
    pub next_round_options: Vec<String>,
}

/// A line a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedJourney {
    /// The claim stage.
    pub claim: String,
    /// The directions of the plan.
    pub mechanism_strategy: String,
    /// The method.
    pub mechanism_routing: String,
    /// The experiment stage.
    pub experiment: String,
    /// The verify stage.
    pub verify: String,
    /// The review loop.
    pub iteration: String,
    /// The figures.
    pub figures: String,
}

/// The review loop's last word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedIterationSummary {
    /// The score; null before the first review.
    #[serde(deserialize_with = "nullable")]
    pub score: Option<Decimal>,
    /// `ready`, `almost` or `not ready`.
    pub verdict: String,
    /// Actions charged.
    pub rounds_consumed: u64,
    /// Actions allowed.
    pub max_rounds: u64,
}

/// A claim as the ledger file had it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedClaim {
    /// The claim.
    pub id: ClaimId,
    /// What was claimed.
    pub statement: String,
    /// Where the claim comes from.
    pub origin: String,
    /// The data it was tried on.
    pub data: ImportedData,
    /// The models it was tried on.
    pub models: Vec<String>,
    /// How it was tried.
    pub method: String,
    /// The main experiment.
    pub main_experiment: ImportedExperiment,
    /// The verify stage's outcome.
    pub verify: ImportedVerify,
    /// What the review loop did.
    pub iteration: ImportedIteration,
    /// How it stands.
    pub final_status: String,
    /// Its caveats.
    pub caveats: Vec<String>,
    /// What was left of it.
    pub artifacts: Vec<String>,
    /// Its figures.
    pub figures: Vec<FigureEntry>,
    /// The Markdown of each table among them; it stands in files of its own.
    pub tables: BTreeMap<FigureId, String>,
}

/// The data a claim was tried on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedData {
    /// `existing`, `adapted` or `constructed`.
    pub provenance: String,
    /// Where it comes from.
    pub source: String,
    /// How much there is.
    pub available_n: String,
    /// How much was used.
    pub used_n: String,
    /// How it was chosen.
    pub subset_note: String,
}

/// A main experiment's outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedExperiment {
    /// The verdict.
    pub verdict: String,
    /// The numbers.
    pub key_stats: String,
    /// The finding in a few words.
    pub headline: String,
}

/// The verify stage's outcome for a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedVerify {
    /// The share of consistent variants, as the file rounded it; null if there was none.
    #[serde(deserialize_with = "nullable")]
    pub robustness: Option<Decimal>,
    /// How the claim stood on each axis.
    pub axes: ImportedAxes,
    /// `PASS`, `WARN` or `FAIL`.
    pub integrity: String,
    /// The verdict.
    pub verdict: String,
    /// Why no variant ran; null otherwise.
    #[serde(deserialize_with = "nullable")]
    pub stage2_skip_reason: Option<String>,
}

/// How a claim stood on each axis: `pass`, `fail`, `excluded` or `n/a`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedAxes {
    /// With another method.
    pub method: String,
    /// With other data.
    pub dataset: String,
    /// With another model.
    pub model: String,
}

/// What the review loop did to a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedIteration {
    /// The reviewer's last word.
    pub final_reviewer_status: String,
    /// What was changed, cycle by cycle.
    pub changed: Vec<String>,
    /// What spoke against it.
    pub falsified: Vec<String>,
    /// What it was narrowed to.
    pub narrowed_to: String,
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
