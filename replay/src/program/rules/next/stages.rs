//! The acts within a round: stages, gates, the ledger's hooks, the review loop.

use serde_json::{Value, json};

use super::Acts;
use crate::program::{
    constants::StageName,
    rules::Scene,
    state::{Answer, Handoff, Hook, Loop, Stage},
};

/// Asks about the acts of an open round.
pub(super) fn of_round(scene: &Scene<'_>, acts: &mut Acts<'_>) {
    let stream = scene.at.stream;
    if !scene.round.comprehended {
        let data = json!({ "concrete": true, "decision": null, "given_behavior": null, "decided_by": "auto" });
        acts.ask("comprehension.decided", stream, "the given behavior is concrete", &data);
    }
    for name in StageName::ALL {
        stage(scene, acts, name);
    }
    gates(scene, acts);
    claims(scene, acts);
    hooks(scene, acts);
    review(scene, acts);
}

fn stage(scene: &Scene<'_>, acts: &mut Acts<'_>, name: StageName) {
    let own = scene.round.stages.of(name);
    let (stream, attempt) = (scene.at.stream, own.attempt + 1);
    if own.injected != attempt {
        let items = bound(scene, name);
        let data = json!({ "stage": name.as_str(), "attempt": attempt, "items": items });
        acts.ask("constraints.injected", stream, name.as_str(), &data);
    }
    let modes: &[&str] = match name {
        StageName::Experiment => &["combined", "route_only", "build", "full"],
        StageName::Claim | StageName::Verify | StageName::Iteration => &["full"],
    };
    for mode in modes {
        let data =
            json!({ "stage": name.as_str(), "attempt": attempt, "mode": mode, "resume": false });
        acts.ask("stage.dispatched", stream, &format!("{name} {mode}"), &data);
    }
    came_back(scene, acts, name, own);
    for reason in ["review-loop-false", "phenomenon-ended", "resume-complete", "round-ended"] {
        if own.is_done() {
            break;
        }
        let data = json!({ "stage": name.as_str(), "reason": reason });
        acts.ask("stage.skipped", stream, &format!("{name}: {reason}"), &data);
    }
}

/// The constraints that a stage is given: all of them for the claim stage, else those that bind it.
fn bound(scene: &Scene<'_>, name: StageName) -> Vec<String> {
    let constraints = scene.program.constraints(scene.number);
    let binds = |stages: &[String]| stages.iter().any(|stage| stage == name.as_str());
    let items = constraints.items.iter();
    items
        .filter(|item| name == StageName::Claim || binds(&item.stages))
        .map(|item| item.id.to_string())
        .collect()
}

fn came_back(scene: &Scene<'_>, acts: &mut Acts<'_>, name: StageName, own: &Stage) {
    let (stream, word, attempt) = (scene.at.stream, name.as_str(), own.attempt);
    for outcome in ["ok", "phenomenon-terminal", "awaiting-upstream", "needs-decision", "crashed"] {
        // Which files it left is for the agent to say.
        let shape =
            json!({ "stage": word, "attempt": attempt, "outcome": outcome, "artifacts": [] });
        acts.ask_shape("stage.returned", stream, &format!("{name} {outcome}"), &shape);
    }
    let data = json!({ "stage": word, "attempt": attempt });
    acts.ask("stage.accepted", stream, word, &data);
    let shape =
        json!({ "stage": word, "attempt": attempt, "reason": "incomplete", "note": "what" });
    acts.ask_shape("stage.rejected", stream, word, &shape);
}

fn gates(scene: &Scene<'_>, acts: &mut Acts<'_>) {
    // Who said stop may say otherwise while the round has not ended for it.
    let gates = &scene.round.gates;
    let open = [
        ("claim", gates.claim != Some(Answer::Go)),
        ("mechanism-family", gates.family.is_none()),
        ("experiment", gates.experiment != Some(Answer::Go)),
        ("verify", gates.verify != Some(Answer::Go)),
    ];
    for (gate, _) in open.into_iter().filter(|(_, is_open)| *is_open) {
        let decisions = ["approve", "choose", "switch", "re-run", "narrow-scope", "stop", "abort"];
        for decision in decisions {
            for choice in choices(scene, gate, decision) {
                decided(scene, acts, gate, decision, &choice);
            }
        }
    }
}

/// The numbers that an answer may name.
fn choices(scene: &Scene<'_>, gate: &str, decision: &str) -> Vec<Value> {
    let ideas = scene.program.ideas(scene.number);
    let count = match (gate, decision) {
        ("claim", "switch") => ideas.as_ref().map_or(0, |ideas| ideas.ideas.len()),
        // Two or three methods are proposed.
        ("mechanism-family", _) => 3,
        _ => 0,
    };
    let chosen = ideas.as_ref().and_then(|ideas| ideas.chosen).filter(|_| gate == "claim");
    let mut numbers: Vec<Value> = (1..=count).map(|n| json!(n)).collect();
    if numbers.is_empty() {
        numbers.push(chosen.filter(|_| decision == "approve").map_or(Value::Null, |n| json!(n)));
    }
    numbers
}

fn decided(scene: &Scene<'_>, acts: &mut Acts<'_>, gate: &str, decision: &str, choice: &Value) {
    for (mode, by) in [("auto", "auto"), ("standing-approval", "auto"), ("interactive", "user")] {
        let said = if choice.is_null() { String::new() } else { format!(" {choice}") };
        let data = json!({
            "gate": gate, "mode": mode, "decision": decision, "choice": choice, "decided_by": by,
        });
        acts.ask(
            "gate.decided",
            scene.at.stream,
            &format!("{gate}: {decision}{said} by {by}"),
            &data,
        );
    }
}

/// The claims that the plan or a charged rewrite names and that are not seeded.
fn claims(scene: &Scene<'_>, acts: &mut Acts<'_>) {
    let mut ask = |id: &str, parent: Option<&String>| {
        let shape = json!({ "id": id, "statement": "what", "origin": "where", "parent": parent });
        acts.ask_shape("claim.seeded", scene.at.stream, id, &shape);
    };
    if let Some(plan) = scene.program.plan(scene.number) {
        let mut named: Vec<&String> = Vec::new();
        for id in plan.milestones.iter().flat_map(|milestone| &milestone.claims) {
            if scene.program.row(scene.number, id).is_none() && !named.contains(&id) {
                named.push(id);
            }
        }
        for id in named {
            ask(id, None);
        }
    }
    let review = scene.program.review_loop(scene.number);
    for id in &review.licensed {
        if let Some(parent) = review.rewritten.first() {
            ask(id, Some(parent));
        }
    }
}

fn hooks(scene: &Scene<'_>, acts: &mut Acts<'_>) {
    let merged = scene.program.review_loop(scene.number).merged;
    let cycle = format!("iteration:round-{merged}");
    for name in ["claim", "experiment", "verify", cycle.as_str(), "iteration:final"] {
        // A hook that was reached may be written again, after a gate that opened twice.
        let again = Hook::parse(name).is_some_and(|hook| scene.round.hook == Some(hook));
        let choice = if again { format!("{name} (again)") } else { name.to_owned() };
        acts.ask("ledger.hooked", scene.at.stream, &choice, &json!({ "hook": name }));
    }
}

fn review(scene: &Scene<'_>, acts: &mut Acts<'_>) {
    let stream = scene.at.stream;
    let review: &Loop = &scene.program.review_loop(scene.number);
    let cycle = review.cycle + 1;
    let shape = json!({ "cycle": cycle, "score": 1, "verdict": "almost", "requests": [] });
    acts.ask_shape("iteration.reviewed", stream, &format!("cycle {cycle}"), &shape);
    let shape = json!({ "cycle": review.cycle, "claims": [] });
    acts.ask_shape("iteration.merged", stream, &format!("cycle {}", review.cycle), &shape);
    if let Handoff::Open { skills, finished } = &review.handoff {
        let n = usize::try_from(*finished).unwrap_or(usize::MAX);
        let skill = skills.get(n).map_or("", String::as_str);
        let data = json!({
            "index": finished, "outcome": "ok", "qualifier": null, "detail": null, "remedy": null,
        });
        acts.ask("handoff.call_finished", stream, skill, &data);
    }
    let Some(score) = &review.score else { return };
    for reason in ["positive_verdict", "iterations_exhausted", "claim_reentry_exhausted", "stalled"]
    {
        let data = json!({
            "reason": reason, "score": score.to_string(), "verdict": review.verdict,
        });
        acts.ask("iteration.terminated", stream, reason, &data);
    }
}
