//! Rules about a round's constraints, pins and given behavior (E11 to E13, E16, E17).

use std::collections::BTreeSet;

use rp_events::{
    ConstraintId, Refusal,
    program::{
        ComprehensionDecided, Constraint, ConstraintsExtracted, ConstraintsInjected,
        ConstraintsRegenerated, PinResolved,
    },
};

use super::{Ruling, Scene, hold, rounds, stage, stages, word};
use crate::program::{codes, constants::StageName, memory::Behavior, settled};

pub(super) fn extracted(scene: &Scene<'_>, body: &ConstraintsExtracted) -> Ruling {
    let root = scene.program.root();
    let task = root.as_ref().and_then(|root| root.task.as_ref()).map_or("", |task| &task.text);
    for (n, item) in body.items.iter().enumerate() {
        shaped(item)?;
        let twice = body.items.iter().take(n).any(|earlier| earlier.id == item.id);
        hold(!twice, &codes::CONSTRAINT_SCOPE, || format!("`{}` stands twice", item.id))?;
        hold(task.contains(&item.text), &codes::CONSTRAINT_NOT_VERBATIM, || {
            format!("the task does not say `{}`", item.text)
        })?;
    }
    Ok(())
}

/// Holds an item to a kind of its block, and to the claim stage.
fn shaped(item: &Constraint) -> Ruling {
    let kinds: &[&str] = match item.block.as_str() {
        "hard" => &["budget", "prohibition", "emphatic"],
        "notice" => &["preference"],
        _ => &[],
    };
    hold(kinds.contains(&item.kind.as_str()), &codes::CONSTRAINT_KIND, || {
        format!("`{}` stands in block `{}` with the kind `{}`", item.id, item.block, item.kind)
    })?;
    item.stages.iter().try_for_each(|name| stage(name).map(drop))?;
    let claim = item.stages.iter().any(|name| name == "claim");
    hold(claim, &codes::CONSTRAINT_CLAIM_UNION, || {
        format!("`{}` binds `{}`, and not `claim`", item.id, item.stages.join("`, `"))
    })
}

pub(super) fn injected(scene: &Scene<'_>, body: &ConstraintsInjected) -> Ruling {
    let name = stage(&body.stage)?;
    stages::dispatchable(scene, name, body.attempt)?;
    let constraints = scene.program.constraints(scene.number);
    let all = name == StageName::Claim;
    let binds = |item: &&Constraint| all || item.stages.contains(&body.stage);
    let due: BTreeSet<&ConstraintId> =
        constraints.items.iter().filter(binds).map(|item| &item.id).collect();
    let found: BTreeSet<&ConstraintId> = body.items.iter().collect();
    let code = if all { &codes::CONSTRAINT_CLAIM_UNION } else { &codes::CONSTRAINT_SCOPE };
    hold(due == found && found.len() == body.items.len(), code, || {
        let list = |ids: &BTreeSet<&ConstraintId>| {
            ids.iter().map(|id| id.as_str()).collect::<Vec<_>>().join("`, `")
        };
        format!("stage `{name}` is bound by `{}`; found `{}`", list(&due), list(&found))
    })
}

pub(super) fn regenerated(scene: &Scene<'_>, body: &ConstraintsRegenerated) -> Ruling {
    overridden_at(scene, &body.point)?;
    let constraints = scene.program.constraints(scene.number);
    let removed = body.removed.iter().flatten();
    for id in body.items.iter().map(|item| &item.id).chain(removed) {
        let known = constraints.items.iter().any(|item| item.id == *id);
        hold(known, &codes::CONSTRAINT_SCOPE, || format!("the round has no constraint `{id}`"))?;
    }
    body.items.iter().try_for_each(shaped)
}

/// Holds the user to have overridden something at a point of the round.
pub(super) fn overridden_at(scene: &Scene<'_>, point: &str) -> Ruling {
    let overrides = scene.program.overrides(scene.number);
    let known = overrides.requests.iter().any(|(at, _)| at == point);
    hold(known, &codes::NO_OVERRIDE, || {
        format!("the user overrode nothing in round {} at `{point}`", scene.number)
    })
}

pub(super) fn pin(scene: &Scene<'_>, body: &PinResolved) -> Ruling {
    body.behavior.as_ref().map_or(Ok(()), |id| rounds::known_behavior(scene, id))?;
    word(&body.level, "level", &["behavior", "direction", "family"])?;
    word(&body.decision, "decision", &["honor-pin", "pick-fresh"])?;
    word(&body.basis, "basis", &["retry-settled", "auto", "user"])?;
    let task = &scene.round.task;
    let pinned = match body.level.as_str() {
        "behavior" => &task.behavior,
        "direction" => &task.direction,
        _ => &task.family,
    };
    hold(pinned.as_ref() == Some(&body.item), &codes::PIN_NOT_SETTLED, || {
        format!("the task pins no {} `{}`", body.level, body.item)
    })?;
    // A pin that matches no behavior of the memory pins nothing that was settled there.
    let matched = body.behavior.as_ref().and_then(|id| scene.program.behavior(id.as_str()));
    let Some(settled_in) = matched.and_then(|behavior| settled_in(scene, body, &behavior)) else {
        return Err(Refusal::new(
            &codes::PIN_NOT_SETTLED,
            format!("nothing settled is pinned by the {} `{}`", body.level, body.item),
        ));
    };
    hold(body.settled_in_round.is_none_or(|n| n == settled_in), &codes::PIN_RESOLUTION, || {
        format!("round {settled_in} settled it; found {}", body.settled_in_round.unwrap_or(0))
    })?;
    let (fits, due) = if task.retry_settled {
        (body.decision == "honor-pin" && body.basis == "retry-settled", "honor-pin")
    } else if scene.round.settings.auto_proceed {
        (body.decision == "pick-fresh" && body.basis == "auto", "pick-fresh")
    } else {
        (body.basis == "user", "what the user answers")
    };
    hold(fits, &codes::PIN_RESOLUTION, || {
        format!("the resolution is {due}; found `{}` by `{}`", body.decision, body.basis)
    })
}

/// The round that settled what is pinned, by F.6 and F.7. Where the task pins a direction and a family, it is the
/// pair that may be settled.
fn settled_in(scene: &Scene<'_>, body: &PinResolved, behavior: &Behavior) -> Option<u64> {
    let task = &scene.round.task;
    let standing = |level: &str, pin: &Option<String>| {
        pin.clone().filter(|_| !scene.round.dropped_pins.contains(level))
    };
    let other = match body.level.as_str() {
        "behavior" => return settled::behavior_conflict(behavior, &scene.round.behavior_source),
        "direction" => standing("family", &task.family),
        _ => standing("direction", &task.direction),
    };
    let (own, other) = (Some(body.item.as_str()), other.as_deref());
    if body.level == "direction" {
        settled::attempt_settled(behavior, own, other)
    } else {
        settled::attempt_settled(behavior, other, own)
    }
}

pub(super) fn comprehension(scene: &Scene<'_>, body: &ComprehensionDecided) -> Ruling {
    if let Some(decision) = &body.decision {
        word(decision, "decision", &["switch-to-discovery", "specify-behavior"])?;
    }
    let source = &scene.round.behavior_source;
    hold(source != "discovery", &codes::COMPREHENSION_MODE, || {
        format!("round {} looks for its behavior; nothing is given", scene.number)
    })?;
    if body.concrete {
        return hold(body.decision.is_none(), &codes::BAD_ENUM, || {
            "a concrete behavior needs no decision".to_owned()
        });
    }
    hold(body.decided_by == "user", &codes::COMPREHENSION_AUTO, || {
        format!("a vague behavior is decided by `user`; found `{}`", body.decided_by)
    })?;
    let decided = match body.decision.as_deref() {
        Some("specify-behavior") => {
            body.given_behavior.as_ref().is_some_and(|text| !text.trim().is_empty())
        }
        Some(_) => true,
        None => false,
    };
    hold(decided, &codes::COMPREHENSION_MISSING, || {
        "the behavior is vague, and the user neither specified one nor switched".to_owned()
    })
}
