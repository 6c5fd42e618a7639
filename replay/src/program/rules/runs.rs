//! Rules about experiment runs (E43 to E45).

use bigdecimal::BigDecimal;
use rp_events::{
    Refusal, RunId,
    program::{RunFinished, RunRescaled, RunStarted},
};

use super::{Ruling, Scene, experiment::falls_short, hold, routing, stage, word};
use crate::program::{
    codes,
    constants::StageName,
    state::{Answer, Plan, PlanMilestone, Routing, Run},
};

pub(super) fn started(scene: &Scene<'_>, body: &RunStarted) -> Ruling {
    let name = stage(&body.stage)?;
    word(&body.stage, "stage", &["experiment", "verify", "iteration"])?;
    hold(!scene.round.phenomenon_ended(), &codes::PHENOMENON_ENDED, || {
        format!("the phenomenon ended round {}; run `{}` is not needed", scene.number, body.run)
    })?;
    let review = scene.program.review_loop(scene.number);
    hold(!(name == StageName::Iteration && review.terminated), &codes::TERMINATED, || {
        format!("the review loop of round {} has ended", scene.number)
    })?;
    scene.live(name)?;
    scene.known(&body.claims)?;
    fresh(scene, body, name)?;
    word(&body.provider, "provider", &["local", "remote", "vast", "modal"])?;
    word(&body.dispatch, "dispatch", &["direct", "queue"])?;
    match name {
        StageName::Claim | StageName::Experiment => planned(scene, body),
        StageName::Verify => for_variants(scene, body),
        StageName::Iteration => hold(review.has_charged, &codes::UNPLANNED_RUN, || {
            format!("cycle {} charged no action that run `{}` could be of", review.cycle, body.run)
        }),
    }
}

/// A run starts once in an attempt; what failed, and what a rejected attempt left, may be run again.
fn fresh(scene: &Scene<'_>, body: &RunStarted, name: StageName) -> Ruling {
    let Some(run) = scene.program.run(scene.number, body.run.as_str()) else { return Ok(()) };
    let attempt = scene.round.stages.of(name).attempt;
    let earlier = !run.launch.is_complete() || run.attempt < attempt;
    let again = !run.launch.is_open() && run.stage == name && earlier;
    hold(again, &codes::RUN_EXISTS, || format!("round {} has a run `{}`", scene.number, body.run))
}

fn planned(scene: &Scene<'_>, body: &RunStarted) -> Ruling {
    let plan = scene.program.plan(scene.number);
    let plan = plan.as_deref();
    let own = body.milestone.as_ref().and_then(|id| plan?.milestone(id.as_str()));
    let own = own.filter(|own| own.runs.iter().any(|run| is_run(&body.run, run, own)));
    let (Some(plan), Some(own)) = (plan, own) else {
        let milestone = body.milestone.as_ref().map_or("none", |id| id.as_str());
        return Err(Refusal::new(
            &codes::UNPLANNED_RUN,
            format!("milestone `{milestone}` of the plan has no run `{}`", body.run),
        ));
    };
    if own.tests_phenomenon {
        return unblocked(scene, body, plan, own);
    }
    routing::phenomenon_holds(scene)?;
    depends(scene, plan, own)?;
    routed(scene, own)?;
    routing::fits(scene)?;
    hold(scene.round.gates.experiment == Some(Answer::Go), &codes::GATE_OPEN, || {
        format!("gate `experiment` is not decided in favour of run `{}`", body.run)
    })?;
    unblocked(scene, body, plan, own)
}

/// Whether a run is one of the plan, or a retry of it where the phenomenon is tested.
fn is_run(run: &RunId, planned: &str, own: &PlanMilestone) -> bool {
    let retry = || {
        let rest = run.as_str().strip_prefix(planned).and_then(|rest| rest.strip_prefix("_t"));
        rest.is_some_and(|k| !k.is_empty() && k.bytes().all(|b| b.is_ascii_digit()))
    };
    run == planned || (own.tests_phenomenon && retry())
}

/// Holds the milestones before this one to be done: the phenomenon decided, every run of the others complete.
fn depends(scene: &Scene<'_>, plan: &Plan, own: &PlanMilestone) -> Ruling {
    for id in &own.depends_on {
        let Some(before) = plan.milestone(id) else { continue };
        if before.tests_phenomenon {
            continue;
        }
        let open = before.runs.iter().find(|run| !is_complete(scene, run));
        hold(open.is_none(), &codes::DEPENDS_ON, || {
            let open = open.map_or("", String::as_str);
            format!("`{}` depends on `{id}`, whose run `{open}` is not complete", own.id)
        })?;
    }
    Ok(())
}

/// Whether a run is complete.
pub(super) fn is_complete(scene: &Scene<'_>, run: &str) -> bool {
    scene.program.run(scene.number, run).is_some_and(|run| run.launch.is_complete())
}

fn routed(scene: &Scene<'_>, own: &PlanMilestone) -> Ruling {
    match &scene.round.routing {
        Routing::Committed(_) => Ok(()),
        Routing::NotApplicable => hold(own.sensitive.is_empty(), &codes::UNPLANNED_RUN, || {
            format!(
                "round {} is behavioral only, and `{}` is of the mechanism",
                scene.number, own.id
            )
        }),
        Routing::Open | Routing::Proposed { .. } => Err(Refusal::new(
            &codes::MECHANISM_BEFORE_M0,
            format!("no method is committed that `{}` could be built with", own.id),
        )),
    }
}

/// Holds no open review and no collapsed scorer to stand against a run. A unit called like a run or a milestone
/// concerns that alone; any other concerns everything that builds on the phenomenon.
fn unblocked(scene: &Scene<'_>, body: &RunStarted, plan: &Plan, own: &PlanMilestone) -> Ruling {
    let concerns = |unit: &&String| {
        if plan.milestones.iter().any(|m| m.id == **unit || m.runs.contains(*unit)) {
            **unit == own.id || body.run == unit.as_str()
        } else {
            !own.tests_phenomenon
        }
    };
    clear(scene, concerns)
}

fn clear(scene: &Scene<'_>, concerns: impl Fn(&&String) -> bool) -> Ruling {
    if let Some(unit) = scene.round.open_reviews.iter().find(&concerns) {
        return Err(Refusal::new(
            &codes::CODE_REVIEW_OPEN,
            format!("the review of `{unit}` found something critical"),
        ));
    }
    match scene.round.collapsed_scorers.iter().find(concerns) {
        Some(unit) => Err(Refusal::new(
            &codes::SCORER_COLLAPSED,
            format!("the scores of `{unit}` vary less than the floor"),
        )),
        None => Ok(()),
    }
}

fn for_variants(scene: &Scene<'_>, body: &RunStarted) -> Ruling {
    hold(!body.claims.is_empty(), &codes::UNPLANNED_RUN, || {
        format!("run `{}` serves no claim", body.run)
    })?;
    for claim in &body.claims {
        let planned = !scene.work(claim.as_str())?.variants.is_empty();
        hold(planned, &codes::UNPLANNED_RUN, || {
            format!("no variant of `{claim}` is planned that run `{}` could be of", body.run)
        })?;
    }
    hold(scene.round.gates.verify == Some(Answer::Go), &codes::GATE_OPEN, || {
        format!("gate `verify` is not decided in favour of run `{}`", body.run)
    })?;
    clear(scene, |unit| body.run == unit.as_str())
}

fn known_run(scene: &Scene<'_>, run: &RunId) -> Result<std::sync::Arc<Run>, Refusal> {
    scene.program.run(scene.number, run.as_str()).ok_or_else(|| {
        let why = format!("round {} has no run `{run}`", scene.number);
        Refusal::new(&codes::RUN_UNKNOWN, why)
    })
}

pub(super) fn finished(scene: &Scene<'_>, body: &RunFinished) -> Ruling {
    let run = known_run(scene, &body.run)?;
    hold(run.launch.is_open(), &codes::RUN_TWICE, || format!("run `{}` has ended", body.run))?;
    word(&body.status, "status", &["completed", "failed"])?;
    let plan = scene.program.plan(scene.number);
    let own = run.milestone.as_ref().and_then(|id| plan.as_ref()?.milestone(id));
    let strict = plan.as_ref().is_some_and(|plan| plan.is_strict);
    if let Some(own) = own.filter(|own| own.tests_phenomenon || strict) {
        let short = falls_short(&body.used_n, &own.planned_used_n);
        hold(body.status == "failed" || !short, &codes::USED_N_SHORT, || {
            format!(
                "run `{}` used {} of {} items and did not fail",
                body.run, body.used_n, own.planned_used_n
            )
        })?;
    }
    let Some(seconds) = &body.gpu_seconds else { return Ok(()) };
    // Rounded to two decimals, whichever way a half goes.
    let off = body.gpu_hours.value() * BigDecimal::from(3600) - seconds.value();
    let half_a_hundredth = BigDecimal::from(18);
    hold(off.abs() <= half_a_hundredth, &codes::BUDGET_MISMATCH, || {
        format!("{seconds} GPU-seconds are not {} GPU-hours", body.gpu_hours)
    })
}

pub(super) fn rescaled(scene: &Scene<'_>, body: &RunRescaled) -> Ruling {
    let run = known_run(scene, &body.run)?;
    hold(run.launch.is_open(), &codes::RUN_TWICE, || format!("run `{}` has ended", body.run))?;
    let strict = scene.program.plan(scene.number).is_some_and(|plan| plan.is_strict);
    hold(strict, &codes::DOWNSCALE_FORBIDDEN, || {
        format!(
            "runs are rescaled under the strict marker only, and round {} has none",
            scene.number
        )
    })?;
    let techniques = ["batch", "accumulation", "checkpointing", "chunking", "sharding", "offload"];
    let neutral = techniques.contains(&body.technique.as_str());
    hold(neutral && body.equivalence_ok, &codes::DOWNSCALE_FORBIDDEN, || {
        let checked = body.equivalence_ok;
        format!("a technique is neutral and checked; found `{}`, checked {checked}", body.technique)
    })?;
    let cap = scene.round.settings.oom_gpus_max;
    hold(cap.is_none_or(|cap| body.gpus_to <= cap), &codes::OOM_CAP, || {
        format!("a run takes at most {} devices; found {}", cap.unwrap_or(0), body.gpus_to)
    })
}
