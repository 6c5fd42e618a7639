//! Rules about the experiment plan (E26, E27).

use std::collections::BTreeSet;

use rp_events::{
    MilestoneId, Refusal,
    program::{Milestone, PlanCommitted, PlanRevised, Strategy},
};

use super::{Ruling, Scene, hold};
use crate::program::{
    codes,
    constants::{DIRECTIONS, FAMILIES, StageName, family},
    state::PHENOMENON,
};

/// The marker of the reproduction combination as it stands in the plan's text.
const STRICT_MARKER: &str = "resource_fidelity: strict";

pub(super) fn committed(scene: &Scene<'_>, body: &PlanCommitted) -> Ruling {
    hold(body.editor == "claim", &codes::PLAN_EDITOR, || {
        format!("a plan is written by `claim`; found `{}`", body.editor)
    })?;
    scene.live(StageName::Claim)?;
    next_revision(scene, body.rev)?;
    strict(scene, body)?;
    strategy(scene, body)?;
    phenomenon(scene, &body.milestones)?;
    acyclic(&body.milestones)?;
    served(scene, &body.milestones)?;
    settled(scene, body)
}

fn next_revision(scene: &Scene<'_>, rev: u64) -> Ruling {
    let due = scene.program.plan(scene.number).map_or(1, |plan| plan.rev + 1);
    hold(rev == due, &codes::REV_GAP, || format!("the next revision is {due}; found {rev}"))
}

fn strict(scene: &Scene<'_>, body: &PlanCommitted) -> Ruling {
    let due = scene.round.is_reproduction().then_some("strict");
    let found = body.resource_fidelity.as_deref();
    hold(found == due, &codes::STRICT_MARKER, || {
        let text = |marker: Option<&str>| marker.unwrap_or("null").to_owned();
        format!("`resource_fidelity` is `{}` in this round; found `{}`", text(due), text(found))
    })?;
    let sensitive = body.milestones.iter().find(|milestone| {
        milestone.method_sensitive.as_ref().is_some_and(|fields| !fields.is_empty())
    });
    match sensitive {
        Some(milestone) if due.is_some() => Err(Refusal::new(
            &codes::STRICT_MARKER,
            format!(
                "nothing depends on the method in this round; found fields in `{}`",
                milestone.id
            ),
        )),
        Some(_) | None => Ok(()),
    }
}

fn strategy(scene: &Scene<'_>, body: &PlanCommitted) -> Ruling {
    if scene.round.mechanism == "given" {
        let named = body.chosen_mechanism.as_ref().is_some_and(|name| !name.trim().is_empty());
        let word = matches!(&body.mechanism_strategy, Strategy::Word(word) if word == "n/a");
        return hold(named && word, &codes::MECHANISM_NOT_NAMED, || {
            let found = body.chosen_mechanism.as_deref().unwrap_or("null");
            format!(
                "the mechanism is given: the strategy is `n/a` and the method is named; found `{found}`"
            )
        });
    }
    let directions = match &body.mechanism_strategy {
        Strategy::Chain(chain) => chain.directions.as_slice(),
        Strategy::Word(_) => &[],
    };
    hold(!directions.is_empty(), &codes::UNKNOWN_DIRECTION, || {
        "the mechanism is to be discovered, and the strategy names no direction".to_owned()
    })?;
    directions.iter().try_for_each(|direction| known_direction(direction))
}

/// Holds a direction to be one of the six.
pub(super) fn known_direction(direction: &str) -> Ruling {
    hold(DIRECTIONS.contains(&direction), &codes::UNKNOWN_DIRECTION, || {
        format!("a direction is one of `{}`; found `{direction}`", DIRECTIONS.join("`, `"))
    })
}

/// Holds a family, with or without a submethod, to be one of the eleven.
pub(super) fn known_family(name: &str) -> Ruling {
    if family(name).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
    Err(Refusal::new(
        &codes::UNKNOWN_FAMILY,
        format!("a family is one of `{}`; found `{name}`", names.join("`, `")),
    ))
}

/// Holds the milestone that tests the phenomenon, known by its kind, to stand as the mode demands.
fn phenomenon(scene: &Scene<'_>, milestones: &[Milestone]) -> Ruling {
    let tests = |milestone: &&Milestone| milestone.kind.as_deref() == Some(PHENOMENON);
    let count = milestones.iter().filter(tests).count();
    let source = &scene.round.behavior_source;
    if !scene.round.tests_phenomenon() {
        hold(count == 0, &codes::M0_SHAPE, || {
            format!(
                "with the behavior source `{source}` no milestone tests the phenomenon; found {count}"
            )
        })?;
        let exists = |id: &str| milestones.iter().any(|milestone| milestone.id == id);
        let dangles = |m: &&Milestone| m.depends_on.iter().any(|id| id == "M0" && !exists("M0"));
        return match milestones.iter().find(dangles) {
            Some(milestone) => Err(Refusal::new(
                &codes::DANGLING_M0,
                format!("no phenomenon is tested, and `{}` depends on `M0`", milestone.id),
            )),
            None => Ok(()),
        };
    }
    hold(count == 1, &codes::M0_SHAPE, || {
        format!(
            "with the behavior source `{source}` one milestone tests the phenomenon; found {count}"
        )
    })?;
    let Some(first) = milestones.first().filter(tests) else {
        return Err(Refusal::new(
            &codes::M0_SHAPE,
            "the milestone that tests the phenomenon does not stand first",
        ));
    };
    let mut reached = BTreeSet::from([&first.id]);
    // Dependents of dependents depend on it too, whatever the order in which they stand.
    while let Some(more) = milestones
        .iter()
        .find(|m| !reached.contains(&m.id) && m.depends_on.iter().any(|id| reached.contains(id)))
    {
        reached.insert(&more.id);
    }
    match milestones.iter().find(|milestone| !reached.contains(&milestone.id)) {
        Some(free) => Err(Refusal::new(
            &codes::M0_SHAPE,
            format!(
                "every milestone depends on `{}`; found `{}`, which does not",
                first.id, free.id
            ),
        )),
        None => Ok(()),
    }
}

fn acyclic(milestones: &[Milestone]) -> Ruling {
    for (n, milestone) in milestones.iter().enumerate() {
        let twice = milestones.iter().take(n).any(|earlier| earlier.id == milestone.id);
        hold(!twice, &codes::PLAN_DAG, || {
            format!("the milestone `{}` stands twice", milestone.id)
        })?;
        let exists = |id: &MilestoneId| milestones.iter().any(|other| other.id == *id);
        if let Some(missing) = milestone.depends_on.iter().find(|id| !exists(id)) {
            return Err(Refusal::new(
                &codes::PLAN_DAG,
                format!("`{}` depends on `{missing}`, which the plan does not have", milestone.id),
            ));
        }
    }
    let mut done = BTreeSet::new();
    while let Some(next) = milestones
        .iter()
        .find(|m| !done.contains(&m.id) && m.depends_on.iter().all(|id| done.contains(id)))
    {
        done.insert(&next.id);
    }
    match milestones.iter().find(|milestone| !done.contains(&milestone.id)) {
        Some(stuck) => Err(Refusal::new(
            &codes::PLAN_DAG,
            format!("the dependencies have a cycle that holds `{}`", stuck.id),
        )),
        None => Ok(()),
    }
}

/// Holds every claim seeded so far to be served; a rewrite may be served as what it rewrites.
fn served(scene: &Scene<'_>, milestones: &[Milestone]) -> Ruling {
    let serves = |id: &str| milestones.iter().any(|m| m.claims.iter().any(|claim| claim == id));
    for id in &scene.round.claims {
        let parent = scene.work(id)?.parent.clone();
        hold(
            serves(id) || parent.is_some_and(|parent| serves(&parent)),
            &codes::CLAIM_UNMAPPED,
            || format!("no milestone serves `{id}`"),
        )?;
    }
    Ok(())
}

fn settled(scene: &Scene<'_>, body: &PlanCommitted) -> Ruling {
    let settled = &body.families_already_settled;
    hold(
        settled.is_empty() || scene.round.mechanism == "discovery",
        &codes::UNKNOWN_FAMILY,
        || "families are left out only where the mechanism is to be discovered".to_owned(),
    )?;
    settled.iter().try_for_each(|name| known_family(name))
}

pub(super) fn revised(scene: &Scene<'_>, body: &PlanRevised) -> Ruling {
    let role = match body.editor.as_str() {
        "claim" => "claim-agent",
        "iteration" => "iteration-agent",
        "user" => "user",
        _ => "none",
    };
    hold(scene.at.holds(role), &codes::PLAN_EDITOR, || {
        format!("key `{}` does not edit the plan as `{}`", scene.at.signer, body.editor)
    })?;
    let live = scene.round.is_live(StageName::Iteration);
    hold(body.editor != "iteration" || live, &codes::PLAN_EDITOR, || {
        "the review loop is not running".to_owned()
    })?;
    let scopes: &[&str] = match body.editor.as_str() {
        "iteration" => &["step"],
        _ => &["full", "scoped", "step"],
    };
    hold(scopes.contains(&body.scope.as_str()), &codes::PLAN_SCOPE, || {
        format!("`{}` changes `{}`; found `{}`", body.editor, scopes.join("`, `"), body.scope)
    })?;
    let stands = scene.program.plan(scene.number).is_some();
    hold(stands, &codes::REV_GAP, || "no plan is committed that could be revised".to_owned())?;
    next_revision(scene, body.rev)?;
    let keeps = body.before.contains(STRICT_MARKER) == body.after.contains(STRICT_MARKER);
    hold(keeps, &codes::STRICT_MARKER, || {
        format!("the marker `{STRICT_MARKER}` stands on one side of the revision only")
    })
}
