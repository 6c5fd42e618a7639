//! Rules about caveats, open items and the ends of a round (E72 to E78).

use rp_events::program::{
    CaveatAdded, ConsistencySwept, OpenItemAdded, OpenItemClosed, PipelineFinished, PipelineHalted,
    RoundEndDecided,
};

use super::{Ruling, Scene, filled, hold, verify, word};
use crate::program::{
    codes,
    constants::{Ending, PhenomenonStatus, REJECTIONS_MAX, Severity, StageName, Verdict},
    state::{Audit, Handoff, Reconciliation, Routing, StageState, qualifier},
};

pub(super) fn caveat(scene: &Scene<'_>, body: &CaveatAdded) -> Ruling {
    scene.work(body.claim.as_str())?;
    filled(&body.text, "text")
}

pub(super) fn open_item(body: &OpenItemAdded) -> Ruling {
    filled(&body.text, "text")?;
    filled(&body.source, "source")
}

/// An item that is not on the list leaves nothing to take away, which is no fault.
pub(super) fn closed_item(body: &OpenItemClosed) -> Ruling {
    filled(&body.text, "text")
}

pub(super) fn swept(scene: &Scene<'_>, body: &ConsistencySwept) -> Ruling {
    body.mismatches.iter().try_for_each(|odd| scene.work(odd.claim.as_str()).map(drop))?;
    let header = scene.program.header(scene.number);
    for mismatch in &body.mismatches {
        let listed = header.as_ref().is_some_and(|header| {
            let items = header.open_items.iter();
            items.into_iter().any(|item| item.contains(&mismatch.a) && item.contains(&mismatch.b))
        });
        hold(listed, &codes::CONSISTENCY_UNRESOLVED, || {
            format!("no open item names both `{}` and `{}`", mismatch.a, mismatch.b)
        })?;
    }
    Ok(())
}

pub(super) fn round_end(scene: &Scene<'_>, body: &RoundEndDecided) -> Ruling {
    scene.known(&body.claims)?;
    hold(condition(scene, body), &codes::ROUND_END_CONDITION, || {
        let named = qualifier(&body.stage, &body.reason, body.upstream.as_deref());
        format!("the condition of `{named}` does not hold in round {}", scene.number)
    })?;
    let count = body.options.len();
    hold((2..=4).contains(&count), &codes::ROUND_END_OPTIONS, || {
        format!("a decision offers two to four options; found {count}")
    })?;
    for (field, text) in [("detail", &body.detail), ("remedy", &body.remedy), ("see", &body.see)] {
        hold(!text.trim().is_empty(), &codes::ROUND_END_DETAIL, || format!("`{field}` is empty"))?;
    }
    Ok(())
}

/// Whether a case of G.6 is met.
fn condition(scene: &Scene<'_>, body: &RoundEndDecided) -> bool {
    let round = &scene.round;
    if body.stage == "iteration-upstream" {
        let handoff = &scene.program.review_loop(scene.number).handoff;
        return matches!(handoff, Handoff::Stopped { qualifier, .. } if Some(qualifier) == body.upstream.as_ref());
    }
    let Some(name) = StageName::parse(&body.stage) else { return false };
    let own = round.stages.of(name);
    match (name, body.reason.as_str()) {
        _ if body.upstream.is_some() => false,
        (StageName::Claim, "no-viable-idea") => no_viable_idea(scene),
        (StageName::Experiment, "no-mechanism-candidate") => {
            round.routing == Routing::Open && own.attempt > 0 && !round.phenomenon_ended()
        }
        (StageName::Experiment, "no-result") => match &own.state {
            StageState::Returned { files, .. } => {
                !files.contains("refine-logs/EXPERIMENT_RESULTS.md")
            }
            StageState::Stopped { .. } => true,
            StageState::Pending
            | StageState::Running { .. }
            | StageState::Accepted
            | StageState::Skipped
            | StageState::Waiting
            | StageState::Crashed => false,
        },
        (StageName::Experiment, "scorer-invalid") => !round.collapsed_scorers.is_empty(),
        (StageName::Experiment, "plan-reconciliation-conflict") => {
            round.reconciliation == Some(Reconciliation::Escalated)
        }
        (StageName::Experiment, "suspected-under-power") => {
            round.power_stop && round.settings.underpower == "stop"
        }
        (StageName::Verify, "no-target") => own.attempt > 0 && verify::selects_none(scene),
        (StageName::Verify, "all-main-experiments-integrity-broken") => {
            !round.settings.review_loop && all_targets(scene, main_broken)
        }
        (StageName::Verify, "all-variants-integrity-broken") => {
            !round.settings.review_loop && all_targets(scene, variants_broken)
        }
        (_, "retries-exhausted") => {
            own.rejections >= REJECTIONS_MAX && matches!(own.state, StageState::Returned { .. })
        }
        (_, "impossible-under-constraint") => {
            let constraints = scene.program.constraints(scene.number);
            own.attempt > 0 && constraints.items.iter().any(|item| item.block == "hard")
        }
        _ => false,
    }
}

fn no_viable_idea(scene: &Scene<'_>) -> bool {
    let stopped = matches!(scene.round.stages.claim.state, StageState::Stopped { .. });
    match scene.program.ideas(scene.number) {
        Some(ideas) => ideas.ideas.iter().all(|idea| idea.eliminated),
        None => stopped,
    }
}

type Broken = fn(&crate::program::state::ClaimWork) -> bool;

fn all_targets(scene: &Scene<'_>, broken: Broken) -> bool {
    let targets = &scene.round.session.targets;
    let work = |id: &String| scene.program.work(scene.number, id);
    !targets.is_empty() && targets.iter().all(|id| work(id).is_some_and(|work| broken(&work)))
}

fn main_broken(work: &crate::program::state::ClaimWork) -> bool {
    work.audit.map(Audit::combined) == Some(Severity::Fail)
}

/// No verdict can be had from the claim's variants, and there are some, or its main experiment is broken.
fn variants_broken(work: &crate::program::state::ClaimWork) -> bool {
    main_broken(work) || work.verdict == Some(Verdict::ZeroEligible)
}

pub(super) fn halted(scene: &Scene<'_>, body: &PipelineHalted) -> Ruling {
    let stages = ["claim", "experiment", "verify", "iteration", "iteration-upstream"];
    word(&body.stage, "stage", &stages)?;
    for (field, text) in [("cause", &body.cause), ("see", &body.see)] {
        hold(!text.trim().is_empty(), &codes::ROUND_END_DETAIL, || format!("`{field}` is empty"))?;
    }
    hold(is_error(scene, body), &codes::HALT_CAUSE, || {
        format!("nothing that halts stage `{}` is recorded; found `{}`", body.stage, body.cause)
    })
}

/// Whether something is recorded that halts a pipeline.
fn is_error(scene: &Scene<'_>, body: &PipelineHalted) -> bool {
    let round = &scene.round;
    if body.stage == "iteration-upstream" {
        let handoff = &scene.program.review_loop(scene.number).handoff;
        return matches!(handoff, Handoff::Crashed { .. });
    }
    let Some(name) = StageName::parse(&body.stage) else { return false };
    let own = round.stages.of(name);
    let cause = body.cause.to_ascii_lowercase();
    let stopped = round.gates.stopped() && cause.starts_with("stopped by user");
    // An agent that crashed cannot say so itself; while it is out the orchestrator says it.
    let crashed =
        own.state == StageState::Crashed || (own.is_running() && cause.starts_with("agent crash"));
    let strict = scene.program.plan(scene.number).is_some_and(|plan| plan.is_strict);
    let exhausted = strict && name == StageName::Experiment && round.has_failed_run;
    stopped || crashed || exhausted || own.pin_holds == Some(false)
}

pub(super) fn finished(scene: &Scene<'_>, body: &PipelineFinished) -> Ruling {
    let endings: Vec<&str> = Ending::WORDS
        .iter()
        .copied()
        .filter(|word| Ending::parse(word).is_some_and(Ending::is_scientific))
        .collect();
    word(&body.status, "status", &endings)?;
    let round = &scene.round;
    let verdict = round.phenomenon.verdict.filter(|verdict| verdict.terminal);
    let ended_as = |status| verdict.is_some_and(|verdict| verdict.status == status);
    let fits = match Ending::parse(&body.status) {
        Some(Ending::Completed) => scene.program.review_loop(scene.number).terminated,
        Some(Ending::TruncatedAtVerify) => {
            !round.settings.review_loop
                && round.stages.verify.is_done()
                && verdict.is_none()
                && !all_targets(scene, main_broken)
                && !all_targets(scene, variants_broken)
        }
        Some(Ending::NotEstablished) => ended_as(PhenomenonStatus::NotEstablished),
        Some(Ending::Inconclusive) => ended_as(PhenomenonStatus::Inconclusive),
        Some(Ending::NeedsDecision | Ending::Halted) | None => false,
    };
    hold(fits, &codes::STATUS_MISMATCH, || {
        format!("round {} did not come to the end `{}`", scene.number, body.status)
    })
}
