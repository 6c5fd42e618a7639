//! Rules about what the experiments gave, at which power and on which devices (E46 to E48).

use std::collections::BTreeSet;

use rp_events::{
    Refusal,
    program::{ExperimentRecorded, GpuId, GpuPinChecked, PowerFlagged},
};

use super::{Ruling, Scene, filled, hold, runs, stage, word};
use crate::program::{
    codes,
    constants::{BaseVerdict, FINDING_WORDS_MIN, LABELS, PROVENANCES},
    state::ClaimWork,
};

pub(super) fn recorded(scene: &Scene<'_>, body: &ExperimentRecorded) -> Ruling {
    hold(!scene.round.phenomenon_ended(), &codes::PHENOMENON_ENDED, || {
        format!("the phenomenon ended round {}; `{}` was not tried", scene.number, body.claim)
    })?;
    let work = scene.work(body.claim.as_str())?;
    hold(BaseVerdict::leading(&body.verdict).is_some(), &codes::BAD_ENUM, || {
        let words = BaseVerdict::WORDS.join("`, `");
        format!("`verdict` begins with one of `{words}`; found `{}`", body.verdict)
    })?;
    if let Some(provenance) = &body.data.provenance {
        word(provenance, "provenance", PROVENANCES)?;
    }
    let texts = [("key_stats", &body.key_stats), ("headline", &body.headline)];
    texts.into_iter().try_for_each(|(field, text)| filled(text, field))?;
    hold(is_measured(scene, &work), &codes::VERDICT_WITHOUT_RUN, || {
        format!("no completed run serves `{}`", body.claim)
    })?;
    for (field, text) in texts {
        hold(!is_label(text), &codes::LABEL_ONLY, || {
            format!("`{field}` is a finding; found `{text}`")
        })?;
    }
    Ok(())
}

/// Whether a completed run stands behind a claim: one of its milestones, or one that names it.
fn is_measured(scene: &Scene<'_>, work: &ClaimWork) -> bool {
    if work.is_measured {
        return true;
    }
    let Some(plan) = scene.program.plan(scene.number) else { return false };
    let milestones = work.milestones.iter().filter_map(|id| plan.milestone(id));
    milestones.flat_map(|own| &own.runs).any(|run| runs::is_complete(scene, run))
}

/// Whether a text is a word that says how something stands.
pub(super) fn is_label(text: &str) -> bool {
    let plain: String = text
        .chars()
        .map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' })
        .collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    LABELS.contains(&plain.as_str())
}

/// Holds a text of the memory to be a finding (F.2).
pub(super) fn finding(text: &str, field: &str) -> Ruling {
    let words = text.split_whitespace().count();
    hold(words >= FINDING_WORDS_MIN && !is_label(text), &codes::LABEL_ONLY, || {
        format!("`{field}` is a finding of at least {FINDING_WORDS_MIN} words; found `{text}`")
    })
}

pub(super) fn power(scene: &Scene<'_>, body: &PowerFlagged) -> Ruling {
    let work = scene.work(body.claim.as_str())?;
    let policy = &scene.round.settings.underpower;
    let strict = scene.round.is_reproduction();
    let applies = !strict && policy != "off" && *policy == body.policy;
    hold(applies, &codes::POWER_NOT_APPLICABLE, || {
        let marker = if strict { "the strict marker" } else { "no strict marker" };
        format!("the policy is `{policy}` with {marker}; found `{}`", body.policy)
    })?;
    let Some(base) = work.base else {
        return Err(Refusal::new(
            &codes::VERDICT_WITHOUT_RUN,
            format!("`{}` has no verdict whose power could be in question", body.claim),
        ));
    };
    hold(base != BaseVerdict::Supported, &codes::POWER_VERDICT_STRONG, || {
        format!("the verdict on `{}` is `{base}`", body.claim)
    })?;
    let scales = [&body.used_n, &body.seeds, &body.grid];
    hold(
        scales.iter().any(|scale| scale.actual < scale.planned),
        &codes::POWER_NO_SHORTFALL,
        || format!("everything planned for `{}` was done", body.claim),
    )
}

pub(super) fn pin(scene: &Scene<'_>, body: &GpuPinChecked) -> Ruling {
    let name = stage(&body.stage)?;
    let Some(pinned) = &scene.round.settings.gpus else {
        return Err(Refusal::new(
            &codes::GPU_PIN_MISMATCH,
            format!("round {} is pinned to no devices", scene.number),
        ));
    };
    let requested: BTreeSet<GpuId> = body.requested.iter().cloned().collect();
    hold(requested == *pinned, &codes::GPU_PIN_MISMATCH, || {
        format!("the flags ask for {}; found {}", shown(pinned), shown(&requested))
    })?;
    let own = scene.round.stages.of(name);
    let runs: BTreeSet<&str> = body.runs.iter().map(rp_events::RunId::as_str).collect();
    let due: BTreeSet<&str> = own.runs.iter().map(String::as_str).collect();
    hold(runs == due, &codes::GPU_PIN_MISMATCH, || {
        let odd = due.symmetric_difference(&runs).next().copied().unwrap_or_default();
        format!("stage `{name}` started {} runs; the lists differ by `{odd}`", due.len())
    })?;
    let observed: BTreeSet<GpuId> = body.observed.iter().cloned().collect();
    hold(observed == own.gpus, &codes::GPU_PIN_MISMATCH, || {
        format!("the runs of stage `{name}` took {}; found {}", shown(&own.gpus), shown(&observed))
    })
}

fn shown(devices: &BTreeSet<GpuId>) -> String {
    let each = |device: &GpuId| match device {
        GpuId::Number(n) => n.to_string(),
        GpuId::Tier(name) => name.clone(),
    };
    format!("`{{{}}}`", devices.iter().map(each).collect::<Vec<_>>().join(","))
}
