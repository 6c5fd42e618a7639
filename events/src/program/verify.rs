//! Payloads of the verify stage (E49 to E56).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    id::{ClaimId, VariantTag},
    json::optional,
};

/// The payload of `verify.targeted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyTargeted {
    /// `all`, `passed`, `failed` or a claim.
    pub target: String,
    /// The claims selected.
    pub claims: Vec<ClaimId>,
    /// `supported` or `not-supported`, by claim.
    pub main_verdicts: BTreeMap<ClaimId, String>,
    /// The short name of each claim's directory.
    pub slugs: BTreeMap<ClaimId, String>,
}

/// The payload of `integrity.audited`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntegrityAudited {
    /// The claim.
    pub claim: ClaimId,
    /// What was audited; `main`.
    pub surface: String,
    /// `pass`, `warn`, `fail` or `missing`.
    pub experiment: String,
    /// `pass`, `warn`, `fail`, `n/a` or `missing`.
    pub mechanism: String,
}

/// The payload of `variants.picked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantsPicked {
    /// The claims that get variants.
    pub picked: Vec<ClaimId>,
    /// The reason for each.
    pub rationale: BTreeMap<ClaimId, String>,
    /// How many may be picked.
    pub cap: u64,
}

/// The payload of `variant.planned`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantPlanned {
    /// The claim.
    pub claim: ClaimId,
    /// The variant.
    pub tag: VariantTag,
    /// `method`, `dataset` or `model`.
    pub dimension: String,
    /// What is put in.
    pub swap: String,
    /// What it takes the place of.
    pub replaces: String,
}

/// The payload of `variant.judged`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantJudged {
    /// The claim.
    pub claim: ClaimId,
    /// The variant.
    pub tag: VariantTag,
    /// Which run of it, from 0.
    pub rerun: u64,
    /// `pass` or `fail`.
    pub claim_supported: String,
    /// What was measured.
    pub variant_metric: String,
    /// `high`, `medium` or `low`.
    pub confidence: String,
}

/// The payload of `variant.audited`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantAudited {
    /// The claim.
    pub claim: ClaimId,
    /// The variant.
    pub tag: VariantTag,
    /// The run of it that was judged.
    pub rerun: u64,
    /// `pass`, `warn`, `fail` or `missing`.
    pub experiment: String,
    /// `pass`, `warn`, `fail`, `n/a` or `missing`.
    pub mechanism: String,
}

/// The payload of `verify.decided`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyDecided {
    /// The claim.
    pub claim: ClaimId,
    /// The verdict, as an assertion.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Why no variant ran, as an assertion; `swap_variants_false` says that variants were switched off.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub stage2_skip_reason: Option<String>,
    /// Why, in a sentence.
    pub reason: String,
    /// Where the report lies.
    pub artifacts: Vec<String>,
}

/// The payload of `verify.completed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyCompleted {
    /// The worst main audit of all claims.
    pub main_integrity: String,
    /// The worst variant audit of all claims, or `skipped`.
    pub variant_integrity: String,
}
