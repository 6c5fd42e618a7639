//! Rules about the method of the mechanism and how the plan stands to it (E36 to E39).

use std::collections::BTreeSet;

use rp_events::{
    Refusal,
    program::{PlanReconciled, RoutingCommitted, RoutingNotApplicable, RoutingProposed},
};

use super::{Ruling, Scene, filled, hold, plan::known_family, word};
use crate::program::{
    codes,
    constants::{SUBMETHOD, StageName, family},
    state::{Method, Plan, Reconciliation, Routing},
};

/// Holds the phenomenon to hold, where it is tested, before anything of the mechanism begins.
pub(super) fn phenomenon_holds(scene: &Scene<'_>) -> Ruling {
    if !scene.round.tests_phenomenon() {
        return Ok(());
    }
    let verdict = scene.round.phenomenon.verdict;
    hold(verdict.is_some_and(|verdict| verdict.status.holds()), &codes::MECHANISM_BEFORE_M0, || {
        let found = verdict.map_or("undecided", |verdict| verdict.status.as_str());
        format!("the phenomenon is to be `established` or `conditional`; found `{found}`")
    })
}

fn not_committed(scene: &Scene<'_>) -> Ruling {
    match &scene.round.routing {
        Routing::Open | Routing::Proposed { .. } => Ok(()),
        Routing::Committed(method) => Err(Refusal::new(
            &codes::ROUTING_TWICE,
            format!("round {} committed `{}`", scene.number, method.full()),
        )),
        Routing::NotApplicable => Err(Refusal::new(
            &codes::ROUTING_TWICE,
            format!("round {} is behavioral only", scene.number),
        )),
    }
}

/// The family that the task pins, unless a fresh pick took its place.
fn pinned<'a>(scene: &'a Scene<'_>) -> Option<&'a str> {
    let dropped = scene.round.dropped_pins.contains("family");
    scene.round.task.family.as_deref().filter(|_| !dropped)
}

pub(super) fn proposed(scene: &Scene<'_>, body: &RoutingProposed) -> Ruling {
    scene.live(StageName::Experiment)?;
    phenomenon_holds(scene)?;
    not_committed(scene)?;
    hold(scene.round.mechanism != "given", &codes::ROUTING_MODE, || {
        "the mechanism is given, and nothing is proposed".to_owned()
    })?;
    if let Some(pin) = pinned(scene) {
        return Err(Refusal::new(
            &codes::ROUTING_MODE,
            format!("the task pins the family `{pin}`"),
        ));
    }
    let count = body.candidates.len();
    let numbered = body.candidates.iter().zip(1..).all(|(candidate, n)| candidate.n == n);
    let recommends = body.candidates.iter().any(|candidate| candidate.n == body.recommended);
    hold((2..=3).contains(&count) && numbered && recommends, &codes::CANDIDATE_COUNT, || {
        format!(
            "two or three candidates, numbered from 1; found {count}, recommended {}",
            body.recommended
        )
    })?;
    body.candidates.iter().try_for_each(|candidate| known_family(&candidate.family))?;
    let plan = scene.program.plan(scene.number);
    body.candidates.iter().try_for_each(|candidate| {
        unsettled(plan.as_deref(), &candidate.family, &candidate.submethod)
    })
}

/// Holds a method to be none that the plan leaves out.
fn unsettled(plan: Option<&Plan>, family: &str, submethod: &str) -> Ruling {
    let full = format!("{family}{SUBMETHOD}{submethod}");
    let settled = plan.is_some_and(|plan| {
        plan.settled_families.iter().any(|name| name == family || *name == full)
    });
    hold(!settled, &codes::SETTLED_FAMILY, || format!("the plan leaves out the family `{family}`"))
}

impl Method {
    /// Family and submethod as the memory writes them.
    pub(crate) fn full(&self) -> String {
        if self.submethod.is_empty() {
            self.family.clone()
        } else {
            format!("{}{SUBMETHOD}{}", self.family, self.submethod)
        }
    }
}

pub(super) fn committed(scene: &Scene<'_>, body: &RoutingCommitted) -> Ruling {
    scene.live(StageName::Experiment)?;
    phenomenon_holds(scene)?;
    not_committed(scene)?;
    known_family(&body.family)?;
    let plan = scene.program.plan(scene.number);
    let plan = plan.as_deref();
    let misplaced = |why: String| Err(Refusal::new(&codes::ROUTING_SOURCE, why));
    let full_auto = scene.round.settings.auto_proceed;
    let given = scene.round.mechanism == "given";
    match (body.source.as_str(), pinned(scene)) {
        ("mechanism-given", _) if given => {
            let named = plan.and_then(|plan| plan.chosen_mechanism.as_deref()).unwrap_or("none");
            names(body, named)
        }
        ("family-pin", Some(pin)) if !given => names(body, pin),
        ("auto-recommended", None) if full_auto && !given => recommended(scene, body, plan),
        ("user-choice", None) if !full_auto && !given => chosen(scene, body, plan),
        (source, pin) => misplaced(format!(
            "with mechanism `{}`, full-auto {full_auto} and pin `{}` the source is another; found `{source}`",
            scene.round.mechanism,
            pin.unwrap_or("none")
        )),
    }
}

/// Holds the family to be the one that the user named, by its canonical name.
fn names(body: &RoutingCommitted, named: &str) -> Ruling {
    let same = family(named).is_some_and(|family| family.name == body.family);
    hold(same, &codes::ROUTING_SOURCE, || {
        format!("the user named `{named}`; found `{}`", body.family)
    })
}

fn recommended(scene: &Scene<'_>, body: &RoutingCommitted, plan: Option<&Plan>) -> Ruling {
    let Routing::Proposed { candidates, recommended } = &scene.round.routing else {
        return Err(Refusal::new(
            &codes::ROUTING_SOURCE,
            format!("nothing is proposed; found the source `{}`", body.source),
        ));
    };
    let due = nth(candidates, *recommended);
    hold(due.is_some_and(|method| is(method, body)), &codes::NOT_RECOMMENDED, || {
        let due = due.map_or_else(String::new, Method::full);
        format!("the recommended candidate is `{due}`; found `{}`", body.family)
    })?;
    unsettled(plan, &body.family, &body.submethod)
}

fn chosen(scene: &Scene<'_>, body: &RoutingCommitted, plan: Option<&Plan>) -> Ruling {
    let Routing::Proposed { candidates, .. } = &scene.round.routing else {
        return Err(Refusal::new(
            &codes::ROUTING_SOURCE,
            format!("nothing is proposed; found the source `{}`", body.source),
        ));
    };
    let due = scene.round.gates.family.and_then(|n| nth(candidates, n));
    hold(due.is_some_and(|method| is(method, body)), &codes::NOT_RECOMMENDED, || {
        let due = due.map_or_else(|| "nothing yet".to_owned(), Method::full);
        format!("the user chose `{due}`; found `{}`", body.family)
    })?;
    unsettled(plan, &body.family, &body.submethod)
}

fn nth(candidates: &[Method], n: u64) -> Option<&Method> {
    candidates.get(usize::try_from(n.checked_sub(1)?).ok()?)
}

fn is(method: &Method, body: &RoutingCommitted) -> bool {
    method.family == body.family && method.submethod == body.submethod
}

pub(super) fn not_applicable(scene: &Scene<'_>, body: &RoutingNotApplicable) -> Ruling {
    scene.live(StageName::Experiment)?;
    phenomenon_holds(scene)?;
    not_committed(scene)?;
    filled(&body.reason, "reason")
}

pub(super) fn reconciled(scene: &Scene<'_>, body: &PlanReconciled) -> Ruling {
    scene.live(StageName::Experiment)?;
    for field in &body.fields {
        word(&field.verdict, "verdict", &["matches", "re-bound", "conflict"])?;
    }
    let routed = matches!(scene.round.routing, Routing::Committed(_) | Routing::NotApplicable);
    hold(routed, &codes::RECONCILIATION_INCOMPLETE, || {
        "no method is committed that the plan could be held against".to_owned()
    })?;
    let plan = scene.program.plan(scene.number);
    let milestones = plan.iter().flat_map(|plan| &plan.milestones);
    let due: BTreeSet<(&str, &str)> = milestones
        .flat_map(|m| m.sensitive.iter().map(|field| (m.id.as_str(), field.as_str())))
        .collect();
    let found: BTreeSet<(&str, &str)> =
        body.fields.iter().map(|field| (field.milestone.as_str(), field.field.as_str())).collect();
    let once = found.len() == body.fields.len();
    hold(due == found && once, &codes::RECONCILIATION_INCOMPLETE, || {
        let odd = due.symmetric_difference(&found).next();
        let odd = odd.map_or("one field twice".to_owned(), |(m, field)| format!("`{m}.{field}`"));
        format!("the plan has {} method-sensitive fields; the lists differ by {odd}", due.len())
    })?;
    let status = if body.fields.iter().any(|field| field.verdict == "conflict") {
        "escalate"
    } else if due.is_empty() {
        "n/a"
    } else {
        "ok"
    };
    hold(body.status == status, &codes::RECONCILIATION_STATUS, || {
        format!("the fields give `{status}`; found `{}`", body.status)
    })
}

/// Holds the plan to fit the method before anything is built.
pub(super) fn fits(scene: &Scene<'_>) -> Ruling {
    let behavioral = scene.round.routing == Routing::NotApplicable;
    match scene.round.reconciliation {
        Some(Reconciliation::Fits) => Ok(()),
        Some(Reconciliation::Escalated) => Err(Refusal::new(
            &codes::RECONCILIATION_ESCALATED,
            "the plan conflicts with the committed method",
        )),
        None if behavioral => Ok(()),
        None => Err(Refusal::new(
            &codes::RECONCILIATION_MISSING,
            "the plan was not held against a committed method",
        )),
    }
}
