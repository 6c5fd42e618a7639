//! What stands behind a claim's row: its plan, runs, audits, variants and verdict.

use serde::{Deserialize, Serialize};

use crate::program::{
    constants::{Axis, BaseVerdict, Severity, Verdict},
    ledger::Fraction,
};

/// What stands behind a claim's row.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClaimWork {
    /// The claim that it rewrites.
    pub(crate) parent: Option<String>,
    pub(crate) milestones: Vec<String>,
    pub(crate) base: Option<BaseVerdict>,
    /// Whether a completed run outside the verify stage names it.
    pub(crate) is_measured: bool,
    /// Whether the power of its verdict was questioned since it was recorded.
    pub(crate) is_flagged: bool,
    /// The main experiment's verdict for the verify stage: clear support or not.
    pub(crate) is_supported: bool,
    /// How many completed runs of the verify stage and the review loop name it.
    pub(crate) swap_runs: u64,
    pub(crate) audit: Option<Audit>,
    pub(crate) is_picked: bool,
    pub(crate) variants: Vec<Variant>,
    pub(crate) verdict: Option<Verdict>,
    /// Whether the review loop set its final status.
    pub(crate) is_judged: bool,
    /// Whether its verdict changed in the review loop and its final status did not follow yet.
    pub(crate) is_stale: bool,
    /// How often its main experiment was repaired.
    pub(crate) step_repairs: u64,
}

/// The two halves of an integrity audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Audit {
    pub(crate) experiment: Severity,
    pub(crate) mechanism: Severity,
}

impl Audit {
    /// The worse half; two halves that say nothing pass.
    pub(crate) fn combined(self) -> Severity {
        self.experiment.max(self.mechanism).max(Severity::Pass)
    }
}

/// A swap variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Variant {
    pub(crate) tag: String,
    pub(crate) axis: Axis,
    pub(crate) state: VariantState,
}

/// How far a variant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum VariantState {
    /// Nothing is known.
    Planned,
    /// It was judged, and its integrity is open.
    Judged(Judgement),
    /// It was judged and audited.
    Audited(Judgement, Audit),
}

/// Whether a variant supports its claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Judgement {
    /// Which run of the variant, from 0.
    pub(crate) rerun: u64,
    pub(crate) supports: bool,
    /// How many runs stood behind the claim's variants then.
    pub(crate) after_runs: u64,
}

impl VariantState {
    /// The latest judgement.
    pub(crate) fn judgement(self) -> Option<Judgement> {
        match self {
            Self::Planned => None,
            Self::Judged(judgement) | Self::Audited(judgement, _) => Some(judgement),
        }
    }
}

/// What follows from a claim's audits and variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Derived {
    pub(crate) verdict: Verdict,
    pub(crate) robustness: Option<Fraction>,
    pub(crate) integrity: Severity,
    pub(crate) skip_reason: Option<&'static str>,
}

impl ClaimWork {
    /// The variant with a tag.
    pub(crate) fn variant(&self, tag: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.tag == tag)
    }

    /// Whether the main experiment's audit lets the claim be picked.
    pub(crate) fn is_admitted(&self) -> bool {
        self.audit.is_some_and(|audit| audit.combined() < Severity::Fail)
    }

    /// Whether a judgement agrees with the main experiment.
    pub(crate) fn agrees(&self, judgement: Judgement) -> bool {
        judgement.supports == self.is_supported
    }

    /// Whether every variant is free of integrity breaks.
    pub(crate) fn variants_are_clean(&self) -> bool {
        self.variants.iter().all(|variant| match variant.state {
            VariantState::Audited(_, audit) => audit.combined() < Severity::Fail,
            VariantState::Planned | VariantState::Judged(_) => true,
        })
    }

    /// How a variant stands on its axis: `excluded`, `pass` or `fail`; `n/a` without a variant.
    pub(crate) fn axis(&self, axis: Axis) -> &'static str {
        match self.variants.iter().find(|variant| variant.axis == axis).map(|v| v.state) {
            Some(VariantState::Audited(_, audit)) if audit.combined() == Severity::Fail => {
                "excluded"
            }
            Some(VariantState::Audited(judgement, _)) if self.agrees(judgement) => "pass",
            Some(VariantState::Audited(..)) => "fail",
            Some(VariantState::Planned | VariantState::Judged(_)) | None => "n/a",
        }
    }

    /// The verdict that follows from audits and variants; `min` is the fewest clean variants, `meets` holds the
    /// exact share against the threshold.
    pub(crate) fn derive(
        &self,
        any_picked: bool,
        min: u64,
        meets: impl Fn(Fraction) -> bool,
    ) -> Derived {
        let own = self.audit.map_or(Severity::Nothing, Audit::combined);
        let judged = self.variants.iter().filter_map(|variant| match variant.state {
            VariantState::Audited(judgement, audit) => Some((judgement, audit.combined())),
            VariantState::Planned | VariantState::Judged(_) => None,
        });
        let mut integrity = own;
        let mut fraction = Fraction { passed: 0, eligible: 0 };
        for (judgement, severity) in judged {
            integrity = integrity.max(severity);
            if severity < Severity::Fail {
                fraction.eligible += 1;
                fraction.passed += u64::from(self.agrees(judgement));
            }
        }
        let none =
            |verdict, skip_reason| Derived { verdict, robustness: None, integrity, skip_reason };
        if own == Severity::Fail {
            return none(Verdict::Inconclusive, None);
        }
        if !self.is_picked {
            let reason = if any_picked { CAPPED } else { SWITCHED_OFF };
            return none(Verdict::IntegrityOnly, Some(reason));
        }
        if fraction.eligible < min.max(1) {
            return none(Verdict::ZeroEligible, None);
        }
        let verdict = if meets(fraction) { Verdict::Pass } else { Verdict::Fail };
        Derived { verdict, robustness: Some(fraction), integrity, skip_reason: None }
    }
}

/// The reason of a claim that the cap left out.
pub(crate) const CAPPED: &str = "max_verify_claims_cap";
/// The reason of a claim whose variants were switched off by hand.
pub(crate) const SWITCHED_OFF: &str = "swap_variants_false";
