//! The claims ledger of one round: the records behind `claims_ledger.json` (E.1 of the domain text).
//!
//! Field order and names are those of the file. Numbers are exact decimals; how they are printed is the
//! renderer's rule.

#![expect(missing_docs, reason = "the fields are those of the file, under its names")]

use rp_events::Decimal;
use serde::{Deserialize, Serialize};

/// Everything of a round's ledger but its claims.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    pub project: String,
    pub direction: String,
    pub start: String,
    pub end: String,
    pub models: StageModels,
    pub pipeline_status: String,
    pub round_end: RoundEnd,
    pub journey: Journey,
    pub open_items: Vec<String>,
    pub iteration: IterationSummary,
    pub updated_after_stage: String,
}

/// The model used by each stage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageModels {
    pub claim: String,
    pub experiment: String,
    pub verify: String,
    pub iteration: String,
}

/// Why a round ended for a decision; empty on every other status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundEnd {
    pub qualifier: String,
    pub detail: String,
    pub remedy: String,
    pub see: String,
    pub partial_artifacts: Vec<String>,
    pub next_round_options: Vec<String>,
}

/// One line a stage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journey {
    pub claim: String,
    pub mechanism_strategy: String,
    pub mechanism_routing: String,
    pub experiment: String,
    pub verify: String,
    pub iteration: String,
    pub figures: String,
}

/// The review loop's last word.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationSummary {
    pub score: Option<Decimal>,
    pub verdict: String,
    pub rounds_consumed: u64,
    pub max_rounds: u64,
}

/// One claim's row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimRow {
    pub id: String,
    pub statement: String,
    pub origin: String,
    pub data: DataUse,
    pub models: Vec<String>,
    pub method: String,
    pub main_experiment: MainExperiment,
    pub verify: Verify,
    pub iteration: ClaimIteration,
    pub final_status: String,
    pub caveats: Vec<String>,
    pub artifacts: Vec<String>,
    pub figures: Vec<Figure>,
}

/// Which data a claim was tried on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataUse {
    pub provenance: String,
    pub source: String,
    pub available_n: String,
    pub used_n: String,
    pub subset_note: String,
}

/// The main experiment's outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MainExperiment {
    pub verdict: String,
    pub key_stats: String,
    pub headline: String,
}

/// The verify stage's outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    pub robustness: Option<Share>,
    pub method: String,
    pub dataset: String,
    pub model: String,
    pub integrity: String,
    pub verdict: String,
    pub stage2_skip_reason: Option<String>,
}

impl Default for Verify {
    fn default() -> Self {
        let none = || "n/a".to_owned();
        Self {
            robustness: None,
            method: none(),
            dataset: none(),
            model: none(),
            integrity: String::new(),
            verdict: none(),
            stage2_skip_reason: None,
        }
    }
}

/// The share of consistent variants; printed with two decimals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Share {
    /// Of two counts, exact.
    Exact(Fraction),
    /// As an imported file rounded it; the counts behind it are not known.
    Stated(Decimal),
}

/// An exact fraction: `passed` of `eligible` variants, which is never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fraction {
    pub passed: u64,
    pub eligible: u64,
}

/// What the review loop did to a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimIteration {
    pub final_reviewer_status: String,
    pub changed: Vec<String>,
    pub falsified: Vec<String>,
    pub narrowed_to: String,
}

/// A figure's entry. `table_body` is the Markdown of a table figure and stands in no JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    pub id: String,
    pub kind: String,
    pub caption: String,
    pub png: Option<String>,
    pub pdf: Option<String>,
    pub md: Option<String>,
    pub tex: Option<String>,
    pub source_data: String,
    pub status: String,
    pub error_detail: Option<String>,
    pub reason: Option<String>,
    pub table_body: Option<String>,
}
