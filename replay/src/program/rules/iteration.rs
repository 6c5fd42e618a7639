//! Rules about the review loop (E57 to E66).

use bigdecimal::BigDecimal;
use rp_events::{
    Refusal,
    program::{
        ClaimFalsified, ClaimNarrowed, ClaimStatusSet, HandoffCallFinished, HandoffQueued,
        IterationActionApplied, IterationActionRefused, IterationMerged, IterationReviewed,
        IterationTerminated,
    },
};

use super::{Ruling, Scene, claims::is_version_of, filled, hold, word};
use crate::program::{
    codes,
    constants::{STEP_REPAIRS_MAX, StageName, Verdict},
    state::{ClaimWork, Handoff, Loop},
};

/// What a reviewer's verdict may be.
const VERDICTS: &[&str] = &["ready", "almost", "not ready"];
/// The codes by which an action may be refused.
const ACTION_REFUSALS: &[&str] = &[
    "no-review",
    "action-bucket",
    "integrity-only-no-action",
    "iterations-exhausted",
    "reentry-exhausted",
    "repair-cap",
    "rewrite-missing",
    "terminated",
];

/// Holds the loop to be at work: not ended, not waiting, its agent out.
fn working(scene: &Scene<'_>) -> Result<std::sync::Arc<Loop>, Refusal> {
    let review = scene.program.review_loop(scene.number);
    hold(!review.terminated, &codes::TERMINATED, || {
        format!("the review loop of round {} has ended", scene.number)
    })?;
    let queued = review.handoff != Handoff::None;
    hold(!queued, &codes::HANDOFF_OPEN, || {
        format!("cycle {} waits for the earlier stages that it called", review.cycle)
    })?;
    scene.live(StageName::Iteration)?;
    Ok(review)
}

/// Holds a cycle to be the one under review.
fn in_review(review: &Loop, cycle: u64) -> Ruling {
    let open = review.cycle == cycle && cycle > 0 && review.merged < cycle;
    hold(open, &codes::NO_REVIEW, || {
        format!(
            "the last review is of cycle {}, the last merge of {}; found {cycle}",
            review.cycle, review.merged
        )
    })
}

fn action(n: u64) -> Ruling {
    hold(n <= 3, &codes::BAD_ENUM, || format!("an action is 0, 1, 2 or 3; found {n}"))
}

pub(super) fn reviewed(scene: &Scene<'_>, body: &IterationReviewed) -> Ruling {
    let review = working(scene)?;
    hold(body.cycle == review.cycle + 1, &codes::CYCLE_NUMBER, || {
        format!("the next cycle is {}; found {}", review.cycle + 1, body.cycle)
    })?;
    hold(review.merged == review.cycle, &codes::CYCLE_NUMBER, || {
        format!("cycle {} is not merged yet; found cycle {}", review.cycle, body.cycle)
    })?;
    for request in &body.requests {
        scene.work(request.claim.as_str())?;
        action(request.action)?;
    }
    word(&body.verdict, "verdict", VERDICTS)?;
    let scale = BigDecimal::from(1)..=BigDecimal::from(10);
    hold(scale.contains(&body.score.value()), &codes::BAD_ENUM, || {
        format!("a score lies between 1 and 10; found {}", body.score)
    })
}

pub(super) fn applied(scene: &Scene<'_>, body: &IterationActionApplied) -> Ruling {
    let review = working(scene)?;
    in_review(&review, body.cycle)?;
    scene.known(&body.claims)?;
    action(body.action)?;
    word(&body.path, "path", &["lightweight", "full"])?;
    for claim in &body.claims {
        bucket(&*scene.work(claim.as_str())?, claim.as_str(), body.action)?;
    }
    hold(body.action == 0 || !body.claims.is_empty(), &codes::ACTION_BUCKET, || {
        format!("action {} repairs a claim, and none is named", body.action)
    })?;
    affordable(scene, &review, body.action)?;
    rewrites(scene, body)
}

/// Holds an action to the claim's verdict.
fn bucket(work: &ClaimWork, claim: &str, action: u64) -> Ruling {
    if action == 0 {
        return Ok(());
    }
    hold(work.verdict != Some(Verdict::IntegrityOnly), &codes::INTEGRITY_ONLY_NO_ACTION, || {
        format!("claim `{claim}` was audited only; found action {action}")
    })?;
    let verdict = work.verdict;
    let fits = match action {
        1 => matches!(verdict, Some(Verdict::Fail | Verdict::ZeroEligible)),
        2 => verdict == Some(Verdict::Inconclusive),
        _ => verdict == Some(Verdict::Fail) && work.variants_are_clean(),
    };
    hold(fits, &codes::ACTION_BUCKET, || {
        let found = verdict.map_or("n/a", Verdict::as_str);
        format!("claim `{claim}` has the verdict `{found}`, which action {action} does not repair")
    })?;
    let spent = action == 2 && work.step_repairs >= STEP_REPAIRS_MAX;
    hold(!spent, &codes::REPAIR_CAP, || {
        format!("the main experiment of `{claim}` was repaired {} times", work.step_repairs)
    })
}

fn affordable(scene: &Scene<'_>, review: &Loop, action: u64) -> Ruling {
    let settings = &scene.round.settings;
    if action == 0 {
        return Ok(());
    }
    hold(review.consumed < settings.max_iterations, &codes::ITERATIONS_EXHAUSTED, || {
        format!("{} of {} actions are charged", review.consumed, settings.max_iterations)
    })?;
    hold(
        action != 3 || review.reentries < settings.max_reentries,
        &codes::REENTRY_EXHAUSTED,
        || format!("{} of {} rewrites are charged", review.reentries, settings.max_reentries),
    )
}

/// Holds a rewrite to name what it makes; its text may follow in the claim's own event.
fn rewrites(scene: &Scene<'_>, body: &IterationActionApplied) -> Ruling {
    if body.action != 3 {
        return hold(body.produced.is_empty(), &codes::ACTION_BUCKET, || {
            format!("action {} makes no claim, and `produced` names some", body.action)
        });
    }
    let named = body.path == "full" || !body.produced.is_empty();
    hold(named, &codes::REWRITE_MISSING, || {
        format!("cycle {} rewrites a claim, and `produced` is empty", body.cycle)
    })?;
    for id in &body.produced {
        let known = scene.program.row(scene.number, id.as_str()).is_some();
        hold(!known, &codes::CLAIM_EXISTS, || {
            format!("round {} has a claim `{id}`", scene.number)
        })?;
        let versioned = body.claims.iter().any(|claim| is_version_of(id.as_str(), claim.as_str()));
        hold(versioned, &codes::REWRITE_MISSING, || {
            format!("`{id}` is not `_v2` or a later version of a claim that is rewritten")
        })?;
    }
    Ok(())
}

pub(super) fn refused(scene: &Scene<'_>, body: &IterationActionRefused) -> Ruling {
    let review = working(scene)?;
    in_review(&review, body.cycle)?;
    scene.work(body.claim.as_str())?;
    action(body.action)?;
    word(&body.reason, "reason", ACTION_REFUSALS)
}

pub(super) fn queued(scene: &Scene<'_>, body: &HandoffQueued) -> Ruling {
    let review = working(scene)?;
    in_review(&review, body.cycle)?;
    hold(review.is_full, &codes::NO_REVIEW, || {
        format!("cycle {} charged no rewrite on the full path", body.cycle)
    })?;
    hold(!body.calls.is_empty(), &codes::EMPTY, || "`calls` is empty".to_owned())?;
    for call in &body.calls {
        word(&call.skill, "skill", &["auto-claim", "auto-experiment", "auto-verify"])?;
    }
    for call in body.calls.iter().filter(|call| call.skill == "auto-claim") {
        let axes = [
            ("behavior_source", &scene.round.behavior_source),
            ("mechanism", &scene.round.mechanism),
        ];
        for (name, due) in axes {
            let found = call.args.get(name);
            hold(found == Some(due), &codes::INHERIT_AXES, || {
                let found = found.map_or("none", String::as_str);
                format!("the round's `{name}` is `{due}`; found `{found}`")
            })?;
        }
    }
    Ok(())
}

pub(super) fn call_finished(scene: &Scene<'_>, body: &HandoffCallFinished) -> Ruling {
    let review = scene.program.review_loop(scene.number);
    let (Handoff::Open { finished, .. }, false) = (&review.handoff, review.terminated) else {
        return Err(Refusal::new(
            &codes::HANDOFF_CLOSED,
            format!("round {} has no call that could end", scene.number),
        ));
    };
    word(&body.outcome, "outcome", &["ok", "needs-decision", "crashed"])?;
    hold(body.index == *finished, &codes::HANDOFF_ORDER, || {
        format!("the call that is due is {finished}; found {}", body.index)
    })?;
    let said = body.qualifier.as_ref().is_some_and(|text| !text.trim().is_empty());
    hold(said || body.outcome != "needs-decision", &codes::EMPTY, || {
        "a call that needs a decision says which in `qualifier`".to_owned()
    })
}

pub(super) fn merged(scene: &Scene<'_>, body: &IterationMerged) -> Ruling {
    let review = scene.program.review_loop(scene.number);
    let open = body.cycle == review.cycle && review.merged < review.cycle;
    hold(open, &codes::CYCLE_NUMBER, || {
        format!(
            "the last review is of cycle {}, the last merge of {}; found {}",
            review.cycle, review.merged, body.cycle
        )
    })?;
    body.claims.iter().try_for_each(|claim| scene.work(claim.id.as_str()).map(drop))
}

fn happened(scene: &Scene<'_>, cycle: u64) -> Ruling {
    let last = scene.program.review_loop(scene.number).cycle;
    hold((1..=last).contains(&cycle), &codes::CYCLE_NUMBER, || {
        format!("the last review is of cycle {last}; found {cycle}")
    })
}

pub(super) fn narrowed(scene: &Scene<'_>, body: &ClaimNarrowed) -> Ruling {
    scene.work(body.claim.as_str())?;
    happened(scene, body.cycle)?;
    filled(&body.to, "to")?;
    filled(&body.final_status, "final_status")
}

pub(super) fn falsified(scene: &Scene<'_>, body: &ClaimFalsified) -> Ruling {
    scene.work(body.claim.as_str())?;
    happened(scene, body.cycle)?;
    filled(&body.falsifier, "falsifier")?;
    filled(&body.final_status, "final_status")
}

pub(super) fn status_set(scene: &Scene<'_>, body: &ClaimStatusSet) -> Ruling {
    scene.work(body.claim.as_str())?;
    filled(&body.final_status, "final_status")
}

pub(super) fn terminated(scene: &Scene<'_>, body: &IterationTerminated) -> Ruling {
    let review = working(scene)?;
    let reasons =
        ["positive_verdict", "iterations_exhausted", "claim_reentry_exhausted", "stalled"];
    word(&body.reason, "reason", &reasons)?;
    word(&body.verdict, "verdict", VERDICTS)?;
    let settings = &scene.round.settings;
    match body.reason.as_str() {
        "iterations_exhausted" => {
            hold(review.consumed >= settings.max_iterations, &codes::BUDGET_LEFT, || {
                format!("{} of {} actions are charged", review.consumed, settings.max_iterations)
            })?;
        }
        "claim_reentry_exhausted" => rewrites_are_spent(scene, &review)?,
        "stalled" => {
            let idle = review.cycle >= 2 && !review.has_charged && !review.had_charged;
            hold(idle && review.is_unchanged, &codes::STOP_RULE_UNMET, || {
                format!(
                    "the last two cycles up to {} charged an action or changed the review",
                    review.cycle
                )
            })?;
        }
        _ => positive(scene, body)?,
    }
    let last = review.score.as_ref().is_none_or(|score| score.compare(&body.score).is_eq());
    hold(
        last && (review.cycle == 0 || review.verdict == body.verdict),
        &codes::STOP_RULE_UNMET,
        || {
            format!(
                "the last review gave another score or verdict; found {} and `{}`",
                body.score, body.verdict
            )
        },
    )
}

/// Holds the rewrites to be used up while nothing but rewrites would help.
fn rewrites_are_spent(scene: &Scene<'_>, review: &Loop) -> Ruling {
    let cap = scene.round.settings.max_reentries;
    hold(review.reentries >= cap, &codes::BUDGET_LEFT, || {
        format!("{} of {cap} rewrites are charged", review.reentries)
    })?;
    for id in unresolved(scene)? {
        let work = scene.work(&id)?;
        let rewrite_only = work.verdict == Some(Verdict::Fail) && work.variants_are_clean();
        hold(rewrite_only, &codes::BUDGET_LEFT, || format!("`{id}` can be repaired otherwise"))?;
    }
    Ok(())
}

fn positive(scene: &Scene<'_>, body: &IterationTerminated) -> Ruling {
    let target = &scene.round.settings.target_score;
    let good = body.verdict != "not ready" && body.score.compare(target).is_ge();
    hold(good, &codes::STOP_RULE_UNMET, || {
        format!(
            "the target is {target} and `ready` or `almost`; found {} and `{}`",
            body.score, body.verdict
        )
    })?;
    match unresolved(scene)?.first() {
        Some(id) => {
            Err(Refusal::new(&codes::STOP_RULE_UNMET, format!("claim `{id}` is unresolved")))
        }
        None => Ok(()),
    }
}

/// The claims whose verdict still asks for a repair. A failed claim is resolved once a rewrite of it passes.
fn unresolved(scene: &Scene<'_>) -> Result<Vec<String>, Refusal> {
    let mut open = Vec::new();
    for id in &scene.round.claims {
        let is_open = match scene.work(id)?.verdict {
            Some(Verdict::Inconclusive | Verdict::ZeroEligible) => true,
            Some(Verdict::Fail) => !is_rewritten(scene, id)?,
            Some(Verdict::Pass | Verdict::IntegrityOnly) | None => false,
        };
        if is_open {
            open.push(id.clone());
        }
    }
    Ok(open)
}

/// Whether a rewrite of a claim, or a rewrite of that, passes.
fn is_rewritten(scene: &Scene<'_>, claim: &str) -> Result<bool, Refusal> {
    let mut family = vec![claim.to_owned()];
    // A rewrite is seeded after what it rewrites, so one pass in the order of seeding meets every generation.
    for id in &scene.round.claims {
        let work = scene.work(id)?;
        if work.parent.as_ref().is_some_and(|parent| family.contains(parent)) {
            if work.verdict == Some(Verdict::Pass) {
                return Ok(true);
            }
            family.push(id.clone());
        }
    }
    Ok(false)
}
