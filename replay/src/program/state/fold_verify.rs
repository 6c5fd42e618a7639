//! What the verify stage leaves: audits, variants, verdicts.

use bigdecimal::BigDecimal;
use rp_events::program::{
    IntegrityAudited, VariantAudited, VariantJudged, VariantPlanned, VariantsPicked, VerifyDecided,
    VerifyTargeted,
};

use super::{
    Audit, CAPPED, ClaimWork, Derived, Judgement, Program, Round, Session, Settings, Variant,
    VariantState, key, within,
};
use crate::program::{
    constants::{Axis, Severity, Verdict},
    ledger::{Fraction, Share, Verify},
};

impl Program {
    pub(super) fn target_claims(&mut self, round: u64, body: &VerifyTargeted) {
        let targets: Vec<String> = body.claims.iter().map(ToString::to_string).collect();
        for claim in &body.claims {
            let supported = body.main_verdicts.get(claim).is_some_and(|word| word == "supported");
            self.works.edit(&within(round, claim.as_str()), |work| {
                work.is_supported = supported;
                work.audit = None;
                work.is_picked = false;
                work.variants.clear();
            });
        }
        self.rounds.edit(&key(round), |record| record.session = Session { targets, picked: None });
    }

    pub(super) fn audit_claim(&mut self, round: u64, body: &IntegrityAudited) {
        let audit = Audit::read(&body.experiment, &body.mechanism);
        self.works.edit(&within(round, body.claim.as_str()), |work| work.audit = Some(audit));
    }

    pub(super) fn pick_claims(&mut self, round: u64, body: &VariantsPicked) {
        let picked: Vec<String> = body.picked.iter().map(ToString::to_string).collect();
        for claim in &picked {
            self.works.edit(&within(round, claim), |work| work.is_picked = true);
        }
        self.rounds.edit(&key(round), |record| record.session.picked = Some(picked));
    }

    pub(super) fn plan_variant(&mut self, round: u64, body: &VariantPlanned) {
        let Some(axis) = Axis::parse(&body.dimension) else { return };
        let variant = Variant { tag: body.tag.to_string(), axis, state: VariantState::Planned };
        self.works.edit(&within(round, body.claim.as_str()), |work| work.variants.push(variant));
    }

    pub(super) fn judge_variant(&mut self, round: u64, body: &VariantJudged) {
        self.works.edit(&within(round, body.claim.as_str()), |work| {
            let judgement = Judgement {
                rerun: body.rerun,
                supports: body.claim_supported == "pass",
                after_runs: work.swap_runs,
            };
            if let Some(variant) = variant(work, body.tag.as_str()) {
                variant.state = VariantState::Judged(judgement);
            }
        });
    }

    pub(super) fn audit_variant(&mut self, round: u64, body: &VariantAudited) {
        let audit = Audit::read(&body.experiment, &body.mechanism);
        self.works.edit(&within(round, body.claim.as_str()), |work| {
            if let Some(variant) = variant(work, body.tag.as_str())
                && let Some(judgement) = variant.state.judgement()
            {
                variant.state = VariantState::Audited(judgement, audit);
            }
        });
    }

    pub(super) fn decide_verify(&mut self, round: u64, body: &VerifyDecided) {
        let Some(record) = self.round(round) else { return };
        let in_loop = record.stages.iteration.attempt > 0;
        let at = within(round, body.claim.as_str());
        let mut row = Verify::default();
        let mut status = None;
        self.works.edit(&at, |work| {
            let derived = verdict(work, &record);
            row = Verify {
                robustness: derived.robustness.map(Share::Exact),
                method: axis(work, &derived, Axis::Method, &record.settings),
                dataset: axis(work, &derived, Axis::Dataset, &record.settings),
                model: axis(work, &derived, Axis::Model, &record.settings),
                integrity: derived.integrity.as_str().to_ascii_uppercase(),
                verdict: derived.verdict.as_str().to_owned(),
                stage2_skip_reason: derived.skip_reason.map(str::to_owned),
            };
            if !work.is_judged {
                status = Some(mirror(&derived));
            }
            let changed = work.verdict != Some(derived.verdict);
            work.is_stale |= in_loop && (work.is_judged || changed);
            work.verdict = Some(derived.verdict);
        });
        drop(record);
        self.rows.edit(&at, |claim| {
            claim.verify = row;
            if let Some(status) = status {
                status.clone_into(&mut claim.final_status);
            }
        });
        self.add_artifacts(round, body.claim.as_str(), &body.artifacts);
    }
}

/// The verdict on a claim as its round stands (E55).
pub(crate) fn verdict(work: &ClaimWork, round: &Round) -> Derived {
    let threshold = round.settings.robustness_threshold.value();
    // The exact fraction is compared, never its two printed decimals.
    let meets = |share: Fraction| {
        let passed = BigDecimal::from(share.passed);
        passed >= &threshold * BigDecimal::from(share.eligible)
    };
    work.derive(round.session.picked.is_some(), round.settings.min_variants, meets)
}

/// The final status that mirrors a verdict (E.5).
fn mirror(derived: &Derived) -> &'static str {
    match derived.verdict {
        Verdict::IntegrityOnly if derived.skip_reason == Some(CAPPED) => {
            "audit passed, swap-test deferred (max_verify_claims cap)"
        }
        Verdict::IntegrityOnly => "audit passed, swap-test skipped (audit-only mode)",
        Verdict::Pass | Verdict::Fail | Verdict::Inconclusive | Verdict::ZeroEligible => {
            derived.verdict.as_str()
        }
    }
}

fn axis(work: &ClaimWork, derived: &Derived, axis: Axis, settings: &Settings) -> String {
    let has_variants = match derived.verdict {
        Verdict::Pass | Verdict::Fail | Verdict::ZeroEligible => true,
        Verdict::Inconclusive | Verdict::IntegrityOnly => false,
    };
    let text =
        if has_variants && settings.dimensions.contains(&axis) { work.axis(axis) } else { "n/a" };
    text.to_owned()
}

fn variant<'a>(work: &'a mut ClaimWork, tag: &str) -> Option<&'a mut Variant> {
    work.variants.iter_mut().find(|variant| variant.tag == tag)
}

impl Audit {
    /// Reads the two halves; `missing` says as little as `n/a`.
    pub(crate) fn read(experiment: &str, mechanism: &str) -> Self {
        let half = |word: &str| Severity::parse(word).unwrap_or(Severity::Nothing);
        Self { experiment: half(experiment), mechanism: half(mechanism) }
    }
}
