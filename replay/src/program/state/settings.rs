//! The flags that a round runs under, with their defaults filled in.

use std::collections::BTreeSet;

use rp_events::{
    Decimal,
    program::{CountOrAuto, Flags, GpuId, GpuPin, Switch},
};
use serde::{Deserialize, Serialize};

use crate::program::constants::{Axis, StageName};

/// The flags that a round runs under (C.2 of the domain text).
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) auto_proceed: bool,
    pub(crate) resume: bool,
    pub(crate) review_loop: bool,
    pub(crate) auto_deploy: bool,
    pub(crate) model: Option<String>,
    /// A model by stage, in the order of the stages.
    pub(crate) models: [Option<String>; 4],
    pub(crate) dimensions: Vec<Axis>,
    pub(crate) target_claims: String,
    pub(crate) max_verify_claims: u64,
    pub(crate) robustness_threshold: Decimal,
    pub(crate) min_variants: u64,
    pub(crate) max_iterations: u64,
    pub(crate) max_reentries: u64,
    pub(crate) target_score: Decimal,
    /// The devices that the round is pinned to; `None` is `auto`.
    pub(crate) gpus: Option<BTreeSet<GpuId>>,
    /// `None` is `auto`.
    pub(crate) oom_gpus_max: Option<u64>,
    pub(crate) underpower: String,
    pub(crate) figures: FigurePolicy,
    pub(crate) behavior_source: String,
    pub(crate) mechanism: String,
}

/// When figures are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FigurePolicy {
    /// At a scientific ending.
    Auto,
    /// At every ending.
    Always,
    /// Never.
    Never,
}

impl Default for Settings {
    fn default() -> Self {
        Self::resolve(&Flags::default())
    }
}

impl Settings {
    /// Fills in the defaults. A value that the rules would not let pass counts as left out.
    pub(crate) fn resolve(flags: &Flags) -> Self {
        let switch = |flag: &Option<Switch>, default: bool| match flag {
            Some(Switch::Is(value)) => *value,
            Some(Switch::Text(_)) | None => default,
        };
        let text = |flag: &Option<String>, default: &str| {
            flag.clone().unwrap_or_else(|| default.to_owned())
        };
        let decimal = |flag: &Option<Decimal>, default: &str| {
            let or = || Decimal::parse(default).expect("defaults are decimals");
            flag.clone().unwrap_or_else(or)
        };
        let axes = flags.dimensions.iter().flatten().filter_map(|axis| Axis::parse(axis));
        let mut dimensions: Vec<Axis> = axes.collect();
        if dimensions.is_empty() {
            dimensions.push(Axis::Model);
        }
        Self {
            auto_proceed: switch(&flags.auto_proceed, true),
            resume: switch(&flags.resume, false),
            review_loop: switch(&flags.review_loop, true),
            auto_deploy: switch(&flags.auto_deploy, true),
            model: flags.model.clone(),
            models: [
                flags.claim_model.clone(),
                flags.experiment_model.clone(),
                flags.verify_model.clone(),
                flags.iteration_model.clone(),
            ],
            dimensions,
            target_claims: text(&flags.target_claims, "all"),
            max_verify_claims: flags.max_verify_claims.unwrap_or(1),
            robustness_threshold: decimal(&flags.robustness_threshold, "0.5"),
            min_variants: flags.min_variants_for_verdict.unwrap_or(1),
            max_iterations: flags.max_iterations.unwrap_or(6),
            max_reentries: flags.max_claim_reentries.unwrap_or(2),
            target_score: decimal(&flags.target_score, "6"),
            gpus: pinned(flags.gpu_id.as_ref()),
            oom_gpus_max: match &flags.oom_max_gpus {
                Some(CountOrAuto::Count(n)) => Some(*n),
                Some(CountOrAuto::Word(_)) => None,
                None => Some(4),
            },
            underpower: text(&flags.underpower, "tag"),
            figures: policy(flags.ledger_figures.as_ref()),
            behavior_source: text(&flags.behavior_source, "given"),
            mechanism: text(&flags.mechanism, "discovery"),
        }
    }

    /// The model that a flag gives a stage, and which kind of flag did.
    pub(crate) fn model_of(&self, stage: StageName) -> Option<(&str, &'static str)> {
        let [claim, experiment, verify, iteration] = &self.models;
        let own = match stage {
            StageName::Claim => claim,
            StageName::Experiment => experiment,
            StageName::Verify => verify,
            StageName::Iteration => iteration,
        };
        let global = || self.model.as_deref().map(|model| (model, "CLI-global"));
        own.as_deref().map(|model| (model, "CLI-stage")).or_else(global)
    }
}

fn pinned(pin: Option<&GpuPin>) -> Option<BTreeSet<GpuId>> {
    match pin? {
        GpuPin::One(device) => Some(BTreeSet::from([GpuId::Number(*device)])),
        GpuPin::Several(devices) => Some(devices.iter().cloned().collect()),
        GpuPin::Word(_) => None,
    }
}

fn policy(flag: Option<&Switch>) -> FigurePolicy {
    match flag {
        Some(Switch::Is(true)) => FigurePolicy::Always,
        Some(Switch::Is(false)) => FigurePolicy::Never,
        Some(Switch::Text(word)) if word == "true" => FigurePolicy::Always,
        Some(Switch::Text(word)) if word == "false" => FigurePolicy::Never,
        Some(Switch::Text(_)) | None => FigurePolicy::Auto,
    }
}
