//! Payloads of the experiment stage: phenomenon, routing, runs, results (E33 to E48).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    id::{ClaimId, MilestoneId, RunId},
    json::{nullable, optional},
    number::Decimal,
    program::flags::GpuId,
};

/// The payload of `tips.matched`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TipsMatched {
    /// The tips that fit.
    pub tips: Vec<Tip>,
}

/// A tip from the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tip {
    /// Its name.
    pub tip: String,
    /// What it asks for.
    pub convention: String,
}

/// The payload of `phenomenon.tested`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhenomenonTested {
    /// The milestone of the phenomenon.
    pub milestone: MilestoneId,
    /// The test's number, from 1.
    pub attempt: u64,
    /// The run that tested it.
    pub run: RunId,
    /// `pass`, `warn` or `fail`.
    pub audit: String,
    /// How many items were planned.
    pub planned_used_n: String,
    /// How many were used.
    pub used_n: String,
    /// What was changed since the last test.
    pub knobs: Vec<Knob>,
    /// What was seen.
    pub observation: String,
}

/// A setting changed between two tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Knob {
    /// Its name.
    pub knob: String,
    /// Its value before.
    pub old: String,
    /// Its value now.
    pub new: String,
}

/// The payload of `phenomenon.decided`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhenomenonDecided {
    /// The milestone of the phenomenon.
    pub milestone: MilestoneId,
    /// `established`, `conditional`, `not-established` or `inconclusive`.
    pub status: String,
    /// Whether the round ends here.
    pub terminal: bool,
    /// How many tests were made.
    pub attempts: u64,
    /// Under what it holds, if conditional.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Option<String>,
    /// The finding in a few words.
    pub headline: String,
    /// The numbers.
    pub evidence: String,
}

/// The payload of `routing.proposed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoutingProposed {
    /// The candidates.
    pub candidates: Vec<Candidate>,
    /// The number of the recommended one.
    pub recommended: u64,
}

/// A candidate method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// Its number, from 1.
    pub n: u64,
    /// Its family.
    pub family: String,
    /// Its submethod.
    pub submethod: String,
    /// Why it fits.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The payload of `routing.committed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoutingCommitted {
    /// The family.
    pub family: String,
    /// The submethod.
    pub submethod: String,
    /// `auto-recommended`, `user-choice`, `family-pin` or `mechanism-given`.
    pub source: String,
    /// How the parts work together, in one line.
    pub composition: String,
    /// The idea's title, for the log.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub idea_title: Option<String>,
}

/// The payload of `routing.not_applicable`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoutingNotApplicable {
    /// Why the round is behavioral only.
    pub reason: String,
}

/// The payload of `plan.reconciled`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanReconciled {
    /// Every method-sensitive field.
    pub fields: Vec<ReconciledField>,
    /// `ok`, `escalate` or `n/a`.
    pub status: String,
}

/// A planned field held against the committed method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReconciledField {
    /// Its milestone.
    pub milestone: MilestoneId,
    /// Its name.
    pub field: String,
    /// What the plan says.
    pub plan: String,
    /// `matches`, `re-bound` or `conflict`.
    pub verdict: String,
    /// The value in its place.
    #[serde(deserialize_with = "nullable")]
    pub value: Option<String>,
    /// Why it changed.
    #[serde(deserialize_with = "nullable")]
    pub why: Option<String>,
}

/// The payload of `code.reviewed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodeReviewed {
    /// What was reviewed.
    pub unit: String,
    /// How often it was submitted again; at most 2.
    pub rounds: u64,
    /// `no-critical`, `critical`, `skipped` or `reviewer-unavailable`.
    pub verdict: String,
}

/// The payload of `scorer.piloted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScorerPiloted {
    /// What is scored.
    pub unit: String,
    /// By what.
    pub metric: String,
    /// The variance of the scores in the pilot.
    pub variance: Decimal,
    /// The least variance that a scorer may show.
    pub floor: Decimal,
}

/// The payload of `sanity.recorded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SanityRecorded {
    /// What was run small.
    pub unit: String,
    /// Which try; at most 3.
    pub attempt: u64,
    /// Whether it ran.
    pub ok: bool,
}

/// The payload of `run.started`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunStarted {
    /// The run.
    pub run: RunId,
    /// `experiment`, `verify` or `iteration`.
    pub stage: String,
    /// The milestone that it serves.
    #[serde(deserialize_with = "nullable")]
    pub milestone: Option<MilestoneId>,
    /// The claims that it serves.
    pub claims: Vec<ClaimId>,
    /// The devices.
    pub gpu_ids: Vec<GpuId>,
    /// `local`, `remote`, `vast` or `modal`.
    pub provider: String,
    /// Its directory.
    pub path: String,
    /// `direct` or `queue`.
    pub dispatch: String,
}

/// The payload of `run.finished`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunFinished {
    /// The run.
    pub run: RunId,
    /// `completed` or `failed`.
    pub status: String,
    /// How many items were used.
    pub used_n: String,
    /// GPU-hours spent.
    pub gpu_hours: Decimal,
    /// Seconds that passed.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub wall_clock_seconds: Option<Decimal>,
    /// GPU-seconds spent.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub gpu_seconds: Option<Decimal>,
    /// When it ended.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

/// The payload of `run.rescaled`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRescaled {
    /// The run.
    pub run: RunId,
    /// Devices before.
    pub gpus_from: u64,
    /// Devices after.
    pub gpus_to: u64,
    /// `batch`, `accumulation`, `checkpointing`, `chunking`, `sharding` or `offload`.
    pub technique: String,
    /// Whether the result was checked to be the same.
    pub equivalence_ok: bool,
}

/// The payload of `experiment.recorded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExperimentRecorded {
    /// The claim.
    pub claim: ClaimId,
    /// `supported`, `not-supported`, `partial` or `null`, and free wording.
    pub verdict: String,
    /// The numbers.
    pub key_stats: String,
    /// The finding in a few words.
    pub headline: String,
    /// What changed against the plan.
    pub data: RealisedData,
    /// The models used; null if as planned.
    #[serde(deserialize_with = "nullable")]
    pub models: Option<Vec<String>>,
    /// The method used.
    pub method: String,
    /// How the method's parts worked together; empty if there is none.
    pub composition: String,
    /// Where the results lie.
    pub artifacts: Vec<String>,
}

/// The data used, as far as it differs from the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RealisedData {
    /// `existing`, `adapted` or `constructed`.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub provenance: Option<String>,
    /// What it was.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How much there was.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub available_n: Option<String>,
    /// How much was used.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub used_n: Option<String>,
    /// How the part was chosen.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub subset_note: Option<String>,
}

/// The payload of `power.flagged`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerFlagged {
    /// The claim.
    pub claim: ClaimId,
    /// Items.
    pub used_n: Scale,
    /// Seeds.
    pub seeds: Scale,
    /// Grid points.
    pub grid: Scale,
    /// `tag` or `stop`.
    pub policy: String,
}

/// How much was done of what was planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// Done.
    pub actual: u64,
    /// Planned.
    pub planned: u64,
}

/// The payload of `gpu_pin.checked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuPinChecked {
    /// The stage.
    pub stage: String,
    /// The devices asked for.
    pub requested: Vec<GpuId>,
    /// The devices that ran something.
    pub observed: Vec<GpuId>,
    /// The runs looked at.
    pub runs: Vec<RunId>,
}
