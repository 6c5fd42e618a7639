//! The flags of a run and the values that they take (C.2 of the domain text).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{json::optional, number::Decimal};

/// A boolean, or the text that somebody wrote in place of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected true, false or a text")]
pub enum Switch {
    /// `true` or `false`.
    Is(bool),
    /// Anything else that was written.
    Text(String),
}

/// A device: its number, or a tier's name at providers that number none.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(untagged, expecting = "expected a device number or a tier's name")]
pub enum GpuId {
    /// A local device.
    Number(u64),
    /// A tier.
    Tier(String),
}

/// The devices that a round is pinned to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a device, a list of devices or `auto`")]
pub enum GpuPin {
    /// One device.
    One(u64),
    /// `auto`.
    Word(String),
    /// Several devices.
    Several(Vec<GpuId>),
}

/// A number, or `auto`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number or `auto`")]
pub enum CountOrAuto {
    /// A number.
    Count(u64),
    /// `auto`.
    Word(String),
}

/// The flags of a run; one left out has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "SCREAMING_SNAKE_CASE")]
pub struct Flags {
    /// Gates never prompt and take what is recommended; default true.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub auto_proceed: Option<Switch>,
    /// The latest round is continued; default false.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub resume: Option<Switch>,
    /// The review loop runs after verify; default true.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub review_loop: Option<Switch>,
    /// The model of every stage without its own.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model of the claim stage.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub claim_model: Option<String>,
    /// The model of the experiment stage.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub experiment_model: Option<String>,
    /// The model of the verify stage.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub verify_model: Option<String>,
    /// The model of the iteration stage.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub iteration_model: Option<String>,
    /// The swap axes; default `model`.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Vec<String>>,
    /// Which claims are verified: `all`, `passed`, `failed` or one; default `all`.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub target_claims: Option<String>,
    /// How many claims get variants; default 1.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub max_verify_claims: Option<u64>,
    /// The least share of agreeing variants; default 0.5.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub robustness_threshold: Option<Decimal>,
    /// The fewest clean variants for a verdict; default 1.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub min_variants_for_verdict: Option<u64>,
    /// The code base to clone.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub base_repo: Option<Switch>,
    /// A tag for routing; default `auto`.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub research_domain: Option<String>,
    /// Short summaries; default false.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub compact: Option<Switch>,
    /// External review before deployment; default true.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub code_review: Option<Switch>,
    /// The smallest run goes first; default true.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub sanity_first: Option<Switch>,
    /// Deployment needs no prompt; default true.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub auto_deploy: Option<Switch>,
    /// Runs at the same time; default 4.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub max_parallel_runs: Option<u64>,
    /// `auto`, `queue` or `direct`; default `auto`.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub batch_dispatch: Option<String>,
    /// A paper that is summarised first.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub ref_paper: Option<Switch>,
    /// `given`, `given-validation` or `discovery`; default `given`.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub behavior_source: Option<String>,
    /// `given` or `discovery`; default `discovery`.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<String>,
    /// Charged actions of the review loop; default 6.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u64>,
    /// Claim rewrites; default 2.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub max_claim_reentries: Option<u64>,
    /// The score that ends the loop; default 6.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub target_score: Option<Decimal>,
    /// The devices; default `auto`.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub gpu_id: Option<GpuPin>,
    /// Devices under the strict marker; default 4.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub oom_max_gpus: Option<CountOrAuto>,
    /// `tag`, `stop` or `off`; default `tag`.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub underpower: Option<String>,
    /// `auto`, true or false; default `auto`.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub ledger_figures: Option<Switch>,
}
