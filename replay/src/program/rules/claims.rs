//! Rules about ideas, claims and the upkeep of the ledger (E25, E29 to E32).

use std::cmp::Ordering;

use rp_events::{
    Refusal,
    program::{ClaimPlanned, ClaimSeeded, Idea, IdeasRanked, JourneySet, LedgerHooked},
};

use super::{Ruling, Scene, filled, hold, word};
use crate::program::{
    codes,
    constants::{Ending, PROVENANCES, StageName},
    state::{Answer, Handoff, Hook, Life, Loop, StageState},
};

pub(super) fn ideas(scene: &Scene<'_>, body: &IdeasRanked) -> Ruling {
    scene.live(StageName::Claim)?;
    let source = &scene.round.behavior_source;
    hold(source == "discovery", &codes::IDEAS_MODE, || {
        format!("ideas are ranked in `discovery`; the behavior source is `{source}`")
    })?;
    for (n, idea) in body.ideas.iter().enumerate() {
        let due = u64::try_from(n + 1).unwrap_or(u64::MAX);
        hold(idea.rank == due, &codes::IDEAS_ORDER, || {
            format!("the idea in place {due} has the rank {}", idea.rank)
        })?;
    }
    for (one, next) in body.ideas.iter().zip(body.ideas.iter().skip(1)) {
        hold(order(one, next) != Ordering::Greater, &codes::IDEAS_ORDER, || {
            format!("idea {} stands before idea {}, which comes first", one.rank, next.rank)
        })?;
    }
    let survivors = body.ideas.iter().filter(|idea| !idea.eliminated).count();
    let chosen = body.chosen.and_then(|n| body.ideas.iter().find(|idea| idea.rank == n));
    let fits = match (body.chosen, chosen) {
        (None, _) => survivors == 0,
        (Some(_), idea) => idea.is_some_and(|idea| !idea.eliminated),
    };
    hold(fits, &codes::GATE_CHOICE, || {
        let found = body.chosen.map_or("none".to_owned(), |n| n.to_string());
        format!("{survivors} ideas survive, and the chosen one is {found}")
    })
}

/// Survivors first, then impact, then novelty, each descending.
fn order(one: &Idea, next: &Idea) -> Ordering {
    one.eliminated
        .cmp(&next.eliminated)
        .then_with(|| next.impact.compare(&one.impact))
        .then_with(|| next.novelty.compare(&one.novelty))
}

pub(super) fn seeded(scene: &Scene<'_>, body: &ClaimSeeded) -> Ruling {
    let id = body.id.as_str();
    if let Some(parent) = &body.parent {
        scene.work(parent.as_str())?;
    }
    hold(scene.program.row(scene.number, id).is_none(), &codes::CLAIM_EXISTS, || {
        format!("round {} has a claim `{id}`", scene.number)
    })?;
    filled(&body.statement, "statement")?;
    filled(&body.origin, "origin")?;
    match &body.parent {
        None => hold(claim_hook_is_open(scene), &codes::CLAIM_NOT_LICENSED, || {
            format!("the claim hook of round {} is not open for `{id}`", scene.number)
        })?,
        Some(parent) => {
            let review = scene.program.review_loop(scene.number);
            hold(is_licensed(&review, id, parent.as_str()), &codes::CLAIM_NOT_LICENSED, || {
                format!("no charged rewrite of `{parent}` made `{id}`")
            })?;
        }
    }
    // A rewrite is served by the milestones of what it rewrites, or by those of a later plan.
    let mapped = body.parent.is_some()
        || scene.program.plan(scene.number).is_some_and(|plan| {
            plan.milestones.iter().any(|milestone| milestone.claims.iter().any(|c| c == id))
        });
    hold(mapped, &codes::CLAIM_UNMAPPED, || format!("no milestone of the plan serves `{id}`"))
}

/// Open from the claim gate until the experiment stage begins to work on what was seeded.
fn claim_hook_is_open(scene: &Scene<'_>) -> bool {
    let round = &scene.round;
    let passed = round.stages.claim.state == StageState::Skipped
        || (round.stages.claim.is_done() && round.gates.claim == Some(Answer::Go));
    passed && (round.hook.is_none() || round.stages.experiment.state == StageState::Pending)
}

/// Whether a charged rewrite made a claim: it named it, or it went through the claim stage again.
fn is_licensed(review: &Loop, id: &str, parent: &str) -> bool {
    if review.licensed.contains(id) {
        return true;
    }
    let again = match &review.handoff {
        Handoff::Open { skills, finished } => {
            let done = usize::try_from(*finished).unwrap_or(usize::MAX);
            skills.iter().take(done).any(|skill| skill == "auto-claim")
        }
        Handoff::Finished => true,
        Handoff::None | Handoff::Stopped { .. } | Handoff::Crashed { .. } => false,
    };
    again && review.rewritten.contains(parent) && is_version_of(id, parent)
}

/// Whether an id is `_v2`, `_v3` and so on of another, or of the claim that the other is a version of.
pub(super) fn is_version_of(id: &str, parent: &str) -> bool {
    let split = |id: &str| -> Option<(String, u64)> {
        let (stem, n) = id.rsplit_once("_v")?;
        Some((stem.to_owned(), n.parse().ok()?))
    };
    let stem = split(parent).map_or_else(|| parent.to_owned(), |(stem, _)| stem);
    split(id).is_some_and(|(of, n)| of == stem && n >= 2)
}

pub(super) fn planned(scene: &Scene<'_>, body: &ClaimPlanned) -> Ruling {
    scene.work(body.id.as_str())?;
    word(&body.data.provenance, "provenance", PROVENANCES)?;
    let plan = scene.program.plan(scene.number);
    let known = |id: &str| plan.as_ref().is_some_and(|plan| plan.milestone(id).is_some());
    let unknown = body.milestones.iter().find(|id| !known(id.as_str()));
    match unknown {
        Some(id) => Err(Refusal::new(
            &codes::CLAIM_UNMAPPED,
            format!("the plan has no milestone `{id}` that could serve `{}`", body.id),
        )),
        None => hold(!body.milestones.is_empty(), &codes::CLAIM_UNMAPPED, || {
            format!("no milestone serves `{}`", body.id)
        }),
    }
}

pub(super) fn journey(body: &JourneySet) -> Ruling {
    let fields = [
        "claim",
        "mechanism_strategy",
        "mechanism_routing",
        "experiment",
        "verify",
        "iteration",
        "figures",
    ];
    word(&body.field, "field", &fields)
}

pub(super) fn hooked(scene: &Scene<'_>, body: &LedgerHooked) -> Ruling {
    let hook = Hook::parse(&body.hook).ok_or_else(|| {
        let why = format!(
            "a hook is `claim`, `experiment`, `verify`, `iteration:round-N` or `iteration:final`; found `{}`",
            body.hook
        );
        Refusal::new(&codes::BAD_ENUM, why)
    })?;
    let review = scene.program.review_loop(scene.number);
    if let Some(why) = out_of_order(scene, hook, &review) {
        return Err(Refusal::new(
            &codes::HOOK_ORDER,
            format!("{why}, so it is too early or too late for `{}`", body.hook),
        ));
    }
    match hook {
        Hook::Claim | Hook::Experiment | Hook::Verify => Ok(()),
        Hook::Cycle(_) | Hook::Final => fresh(scene),
    }
}

/// Holds every claim's final status to have followed its verdict.
fn fresh(scene: &Scene<'_>) -> Ruling {
    for id in &scene.round.claims {
        let work = scene.work(id)?;
        hold(!work.is_stale, &codes::STALE_FINAL_STATUS, || {
            format!("the verdict of `{id}` changed after its final status was set")
        })?;
    }
    Ok(())
}

fn out_of_order(scene: &Scene<'_>, hook: Hook, review: &Loop) -> Option<String> {
    let round = &scene.round;
    let last = round.hook;
    if last.is_some_and(|last| last > hook) {
        return Some(format!("a later hook stands already: {last:?}"));
    }
    // A round that stopped is written back at the hook of the stage where it stopped.
    let stopped = matches!(round.life, Life::Ended(Ending::NeedsDecision | Ending::Halted));
    let reached = |stage: StageName| {
        let own = round.stages.of(stage);
        own.is_done() || (stopped && own.attempt > 0)
    };
    let after = |due: Hook| last.is_some_and(|last| last >= due);
    let work = |id: &String| scene.program.work(scene.number, id);
    match hook {
        Hook::Claim => {
            let seeded =
                stopped || (round.gates.claim == Some(Answer::Go) && !round.claims.is_empty());
            (!reached(StageName::Claim) || !seeded).then(|| "the claims are not seeded".to_owned())
        }
        Hook::Experiment => {
            let merged = round.life != Life::Running
                || round.claims.iter().filter_map(work).any(|work| work.base.is_some());
            let open = !reached(StageName::Experiment) || !after(Hook::Claim) || !merged;
            open.then(|| "the results are not merged".to_owned())
        }
        Hook::Verify => {
            let targets = round.session.targets.iter().filter_map(work);
            let merged = stopped || targets.into_iter().all(|work| work.verdict.is_some());
            let open = !reached(StageName::Verify) || !after(Hook::Experiment) || !merged;
            open.then(|| "the verdicts are not merged".to_owned())
        }
        Hook::Cycle(n) => {
            let before = if n > 1 { Hook::Cycle(n - 1) } else { Hook::Verify };
            let open = n == 0 || n > review.merged || !after(before);
            open.then(|| format!("the last cycle merged is {}", review.merged))
        }
        Hook::Final => {
            let merged = review.merged == review.cycle;
            let written = review.cycle == 0 || after(Hook::Cycle(review.cycle));
            let open = !review.terminated || !merged || !written;
            open.then(|| "the review loop is not terminated and merged".to_owned())
        }
    }
}
