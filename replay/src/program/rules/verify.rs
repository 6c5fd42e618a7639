//! Rules about the verify stage: targets, audits, variants, verdicts (E49 to E56).

use std::collections::BTreeSet;

use rp_events::{
    Refusal,
    program::{
        IntegrityAudited, VariantAudited, VariantJudged, VariantPlanned, VariantsPicked,
        VerifyCompleted, VerifyDecided, VerifyTargeted,
    },
};

use super::{Ruling, Scene, hold, word};
use crate::program::{
    codes,
    constants::{Axis, BaseVerdict, SLUG_WORDS_MAX, Severity, StageName, family_named_by},
    state::{Audit, ClaimWork, Routing, SWITCHED_OFF, Variant, VariantState, verdict},
};

pub(super) fn targeted(scene: &Scene<'_>, body: &VerifyTargeted) -> Ruling {
    not_ended(scene)?;
    scene.live(StageName::Verify)?;
    scene.known(&body.claims)?;
    for claim in &body.claims {
        let found = body.main_verdicts.get(claim).map_or("", String::as_str);
        word(found, "main_verdicts", &["supported", "not-supported"])?;
    }
    hold(!body.claims.is_empty(), &codes::NO_TARGET, || {
        format!("the target `{}` selects no claim", body.target)
    })?;
    let flag = &scene.round.settings.target_claims;
    // The review loop verifies again what it repaired, claim by claim.
    let in_stage = scene.round.stages.verify.is_running();
    hold(!in_stage || body.target == *flag, &codes::TARGET_MISMATCH, || {
        format!("the flags target `{flag}`; found `{}`", body.target)
    })?;
    selected(scene, body)?;
    for claim in &body.claims {
        main_verdict(scene, body, claim)?;
        let slug = body.slugs.get(claim).map_or("", String::as_str);
        hold(is_slug(slug), &codes::SLUG_SHAPE, || {
            format!(
                "the short name of `{claim}` is one to four words in snake_case; found `{slug}`"
            )
        })?;
    }
    Ok(())
}

fn not_ended(scene: &Scene<'_>) -> Ruling {
    hold(!scene.round.phenomenon_ended(), &codes::PHENOMENON_ENDED, || {
        format!("the phenomenon ended round {}; nothing is verified", scene.number)
    })
}

/// The claims that a target selects.
fn selection<'a>(scene: &'a Scene<'_>, target: &'a str) -> BTreeSet<&'a str> {
    let base = |id: &String| scene.program.work(scene.number, id).and_then(|work| work.base);
    let supported = |id: &&String| base(id) == Some(BaseVerdict::Supported);
    let claims = scene.round.claims.iter();
    match target {
        "all" => claims.map(String::as_str).collect(),
        "passed" => claims.filter(supported).map(String::as_str).collect(),
        "failed" => claims.filter(|id| !supported(id)).map(String::as_str).collect(),
        one => claims.filter(|id| *id == one).map(String::as_str).collect(),
    }
}

/// Whether the flags' target selects no claim.
pub(super) fn selects_none(scene: &Scene<'_>) -> bool {
    selection(scene, &scene.round.settings.target_claims).is_empty()
}

fn selected(scene: &Scene<'_>, body: &VerifyTargeted) -> Ruling {
    let due = selection(scene, &body.target);
    let found: BTreeSet<&str> = body.claims.iter().map(rp_events::ClaimId::as_str).collect();
    hold(due == found && found.len() == body.claims.len(), &codes::TARGET_MISMATCH, || {
        let list = |ids: &BTreeSet<&str>| ids.iter().copied().collect::<Vec<_>>().join("`, `");
        format!("the target `{}` selects `{}`; found `{}`", body.target, list(&due), list(&found))
    })
}

/// Holds the binary reading of a main verdict: anything short of clear support is none.
fn main_verdict(scene: &Scene<'_>, body: &VerifyTargeted, claim: &rp_events::ClaimId) -> Ruling {
    let found = body.main_verdicts.get(claim).map_or("", String::as_str);
    let Some(base) = scene.work(claim.as_str())?.base else { return Ok(()) };
    let due = if base == BaseVerdict::Supported { "supported" } else { "not-supported" };
    hold(found == due, &codes::TARGET_MISMATCH, || {
        format!(
            "the main verdict on `{claim}` is `{base}`, which counts as `{due}`; found `{found}`"
        )
    })
}

fn is_slug(slug: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    slug.split('_').count() <= SLUG_WORDS_MAX && slug.split('_').all(word)
}

/// Holds a claim to be one of those under verification.
fn target(scene: &Scene<'_>, claim: &str) -> Ruling {
    hold(scene.round.session.targets.iter().any(|id| id == claim), &codes::TARGET_MISMATCH, || {
        let targets = scene.round.session.targets.join("`, `");
        format!("the claims under verification are `{targets}`; found `{claim}`")
    })
}

pub(super) fn audited(scene: &Scene<'_>, body: &IntegrityAudited) -> Ruling {
    not_ended(scene)?;
    scene.live(StageName::Verify)?;
    scene.work(body.claim.as_str())?;
    word(&body.surface, "surface", &["main"])?;
    halves(&body.experiment, &body.mechanism)?;
    target(scene, body.claim.as_str())?;
    either(&body.experiment, &body.mechanism)
}

/// Holds the two halves of an audit to their words.
fn halves(experiment: &str, mechanism: &str) -> Ruling {
    word(experiment, "experiment", &["pass", "warn", "fail", "missing"])?;
    word(mechanism, "mechanism", &["pass", "warn", "fail", "n/a", "missing"])
}

/// Holds one half of an audit to be there.
fn either(experiment: &str, mechanism: &str) -> Ruling {
    let missing = experiment == "missing" && mechanism == "missing";
    hold(!missing, &codes::AUDIT_MISSING, || "both halves of the audit are `missing`".to_owned())
}

pub(super) fn picked(scene: &Scene<'_>, body: &VariantsPicked) -> Ruling {
    not_ended(scene)?;
    scene.live(StageName::Verify)?;
    scene.known(&body.picked)?;
    let session = &scene.round.session;
    hold(!session.targets.is_empty(), &codes::NO_TARGET, || "no claim is targeted".to_owned())?;
    let mut admitted = Vec::new();
    for id in &session.targets {
        let work = scene.work(id)?;
        hold(work.audit.is_some(), &codes::AUDIT_MISSING, || {
            format!("claim `{id}` has no main-experiment audit")
        })?;
        if work.is_admitted() {
            admitted.push(id.as_str());
        }
    }
    if let Some(claim) = body.picked.iter().find(|id| !admitted.contains(&id.as_str())) {
        return Err(Refusal::new(
            &codes::NOT_ADMITTED,
            format!("the admitted claims are `{}`; found `{claim}`", admitted.join("`, `")),
        ));
    }
    let cap = scene.round.settings.max_verify_claims;
    let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let due = cap.min(count(admitted.len()));
    let distinct: BTreeSet<_> = body.picked.iter().collect();
    let fits = count(distinct.len()) == due && distinct.len() == body.picked.len();
    hold(fits && body.cap == cap, &codes::CAP_EXCEEDED, || {
        let found = body.picked.len();
        format!(
            "a cap of {cap} over {} admitted claims gives {due} picks; found {found} under {}",
            admitted.len(),
            body.cap
        )
    })?;
    if due == count(admitted.len()) {
        return Ok(());
    }
    let reason = |id: &&rp_events::ClaimId| {
        body.rationale.get(*id).is_none_or(|text| text.trim().is_empty())
    };
    match body.picked.iter().find(reason) {
        Some(claim) => Err(Refusal::new(
            &codes::RATIONALE_MISSING,
            format!("no reason is given for the pick of `{claim}`"),
        )),
        None => Ok(()),
    }
}

pub(super) fn planned(scene: &Scene<'_>, body: &VariantPlanned) -> Ruling {
    not_ended(scene)?;
    scene.live(StageName::Verify)?;
    let work = scene.work(body.claim.as_str())?;
    hold(work.is_picked, &codes::NOT_ADMITTED, || {
        format!("claim `{}` was not picked", body.claim)
    })?;
    let dimensions = &scene.round.settings.dimensions;
    let axis = Axis::parse(&body.dimension).filter(|axis| dimensions.contains(axis));
    let Some(axis) = axis else {
        let active: Vec<&str> = dimensions.iter().map(|axis| axis.as_str()).collect();
        return Err(Refusal::new(
            &codes::AXIS_NOT_ACTIVE,
            format!("the active axes are `{}`; found `{}`", active.join("`, `"), body.dimension),
        ));
    };
    let twice = work.variants.iter().any(|variant| variant.axis == axis);
    hold(!twice, &codes::AXIS_DUPLICATE, || {
        format!("claim `{}` has a variant on the axis `{axis}`", body.claim)
    })?;
    if axis == Axis::Method {
        same_family(scene, &body.swap)?;
    }
    let name = body.tag.as_str().strip_prefix(axis.as_str()).and_then(|r| r.strip_prefix("-swap-"));
    hold(name.is_some_and(|name| !name.is_empty()), &codes::TAG_SHAPE, || {
        format!("the tag begins with `{axis}-swap-`; found `{}`", body.tag)
    })
}

/// Holds a method that is named outright to belong to the committed family. A description in free words names
/// none, and the code review answers for it.
fn same_family(scene: &Scene<'_>, swap: &str) -> Ruling {
    let Routing::Committed(method) = &scene.round.routing else { return Ok(()) };
    let other = family_named_by(swap).filter(|family| family.name != method.family);
    match other {
        Some(family) => Err(Refusal::new(
            &codes::CROSS_FAMILY_SWAP,
            format!(
                "the committed family is `{}`; `{swap}` is of `{}`",
                method.family, family.name
            ),
        )),
        None => Ok(()),
    }
}

/// The variant of a claim with a tag.
fn variant(work: &ClaimWork, claim: &str, tag: &str) -> Result<Variant, Refusal> {
    work.variant(tag).cloned().ok_or_else(|| {
        Refusal::new(&codes::VARIANT_UNKNOWN, format!("claim `{claim}` has no variant `{tag}`"))
    })
}

pub(super) fn judged(scene: &Scene<'_>, body: &VariantJudged) -> Ruling {
    not_ended(scene)?;
    scene.live(StageName::Verify)?;
    let work = scene.work(body.claim.as_str())?;
    let variant = variant(&work, body.claim.as_str(), body.tag.as_str())?;
    word(&body.claim_supported, "claim_supported", &["pass", "fail"])?;
    word(&body.confidence, "confidence", &["high", "medium", "low"])?;
    let last = variant.state.judgement();
    let due = last.map_or(0, |judgement| judgement.rerun + 1);
    hold(body.rerun == due, &codes::VARIANT_UNKNOWN, || {
        format!("the run of `{}` to be judged next is {due}; found {}", body.tag, body.rerun)
    })?;
    let judged = last.map_or(0, |judgement| judgement.after_runs);
    hold(work.swap_runs > judged, &codes::VERDICT_WITHOUT_RUN, || {
        format!("no completed run stands behind run {due} of `{}` for `{}`", body.tag, body.claim)
    })
}

pub(super) fn variant_audited(scene: &Scene<'_>, body: &VariantAudited) -> Ruling {
    not_ended(scene)?;
    scene.live(StageName::Verify)?;
    let work = scene.work(body.claim.as_str())?;
    let variant = variant(&work, body.claim.as_str(), body.tag.as_str())?;
    halves(&body.experiment, &body.mechanism)?;
    let judged = variant.state.judgement().map(|judgement| judgement.rerun);
    hold(judged == Some(body.rerun), &codes::VARIANT_UNJUDGED, || {
        let last = judged.map_or("none".to_owned(), |n| n.to_string());
        format!("the last judged run of `{}` is {last}; found {}", body.tag, body.rerun)
    })?;
    either(&body.experiment, &body.mechanism)
}

pub(super) fn decided(scene: &Scene<'_>, body: &VerifyDecided) -> Ruling {
    not_ended(scene)?;
    scene.live(StageName::Verify)?;
    let id = body.claim.as_str();
    let work = scene.work(id)?;
    hold(work.audit.is_some(), &codes::AUDIT_MISSING, || {
        format!("claim `{id}` has no main-experiment audit")
    })?;
    if work.is_picked && work.is_admitted() {
        complete(scene, &work, id)?;
    }
    let derived = verdict(&work, &scene.round);
    let asserted = body.stage2_skip_reason.as_deref();
    // Variants are switched off by hand alone, so that the event must say it.
    let switched_off = derived.skip_reason == Some(SWITCHED_OFF);
    let fits = match asserted {
        Some(reason) => derived.skip_reason == Some(reason),
        None => !switched_off,
    };
    hold(fits, &codes::SKIP_REASON, || {
        let due = derived.skip_reason.unwrap_or("none");
        format!("the skip reason of `{id}` is `{due}`; found `{}`", asserted.unwrap_or("none"))
    })?;
    let due = derived.verdict.as_str();
    hold(body.verdict.as_deref().is_none_or(|found| found == due), &codes::VERDICT_MISMATCH, || {
        let found = body.verdict.as_deref().unwrap_or_default();
        format!("the verdict on `{id}` is `{due}`; found `{found}`")
    })
}

/// Holds every active axis of a picked claim to have a variant that is judged and audited.
fn complete(scene: &Scene<'_>, work: &ClaimWork, id: &str) -> Ruling {
    for axis in &scene.round.settings.dimensions {
        let variant = work.variants.iter().find(|variant| variant.axis == *axis);
        let judged = variant.and_then(|variant| variant.state.judgement());
        hold(judged.is_some(), &codes::VARIANT_UNJUDGED, || {
            format!("claim `{id}` has no judged variant on the axis `{axis}`")
        })?;
    }
    for variant in &work.variants {
        let audited = matches!(variant.state, VariantState::Audited(..));
        hold(audited, &codes::VARIANT_UNAUDITED, || {
            format!("variant `{}` of claim `{id}` has no integrity audit", variant.tag)
        })?;
    }
    Ok(())
}

pub(super) fn completed(scene: &Scene<'_>, body: &VerifyCompleted) -> Ruling {
    scene.live(StageName::Verify)?;
    let works = scene.round.claims.iter().filter_map(|id| scene.program.work(scene.number, id));
    let (mut main, mut variants) = (None, None);
    for work in works {
        main = main.max(work.audit.map(Audit::combined));
        for variant in &work.variants {
            if let VariantState::Audited(_, audit) = variant.state {
                variants = variants.max(Some(audit.combined()));
            }
        }
    }
    let due = |worst: Option<Severity>| worst.map_or("skipped", Severity::as_str);
    for (field, found, worst) in [
        ("main_integrity", &body.main_integrity, due(main)),
        ("variant_integrity", &body.variant_integrity, due(variants)),
    ] {
        hold(found.eq_ignore_ascii_case(worst), &codes::VERDICT_MISMATCH, || {
            format!("`{field}` is `{worst}`; found `{found}`")
        })?;
    }
    Ok(())
}
