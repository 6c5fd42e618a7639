//! The acts around a round: the program's beginning, a round's ends, its memory, and the passage to the next.

use serde_json::json;

use super::Acts;
use crate::program::{
    constants::{
        Ending, Intent, JOURNAL, KEPT, KEPT_FOR_SAME_BEHAVIOR, PhenomenonStatus, StageName,
    },
    passage, resumption,
    rules::Scene,
    state::{Handoff, Life, Routing},
};

/// A finding that the rules on findings let pass; only the caller knows the true one.
const FINDING: &str = "what was found out here";

/// The reasons for which a stage's round may end for a decision (G.6).
const REASONS: &[&str] = &[
    "no-viable-idea",
    "no-mechanism-candidate",
    "no-result",
    "scorer-invalid",
    "plan-reconciliation-conflict",
    "suspected-under-power",
    "no-target",
    "all-main-experiments-integrity-broken",
    "all-variants-integrity-broken",
    "retries-exhausted",
    "impossible-under-constraint",
];

/// Asks about the acts that begin a program or a round.
pub(super) fn program(acts: &mut Acts<'_>) {
    let state = acts.state;
    let shape = json!({ "program": "name", "direction": "what" });
    acts.ask_shape("program.created", "program", "", &shape);
    let Some(root) = state.program().root() else { return };
    let course = state.program().course();
    let latest = course.latest_round.and_then(|n| state.program().round(n));
    let is_free = latest.is_none_or(|round| round.life.is_closed());
    let next = course.highest_round + 1;
    if is_free {
        let shape = json!({
            "for_round": next, "origin": "user", "language": "en", "body": "what",
            "pins": { "behavior": null, "mechanism_direction": null, "family": null },
            "retry_settled": false, "notify": false,
        });
        acts.ask_shape("task.recorded", "program", &format!("for round {next}"), &shape);
    }
    let idle = course.request.is_none() && course.flags.is_none();
    if idle && is_free && root.task.is_some() {
        let data = json!({ "raw": "", "resume": false });
        acts.ask("run.requested", "program", "a new round under the task", &data);
    }
    if let Some(request) = &course.request {
        let shape = json!({ "flags": { "RESUME": request.resume }, "notes": [] });
        acts.ask_shape("flags.resolved", "program", "", &shape);
    }
    if let Some(flags) = &course.flags {
        let stream = format!("round/{next}");
        let data =
            json!({ "behavior_source": flags.behavior_source, "mechanism": flags.mechanism });
        acts.ask("round.opened", &stream, &format!("round {next}"), &data);
    }
}

/// Asks how an open round may be continued, may end, and what it may leave in the memory.
pub(super) fn ends(scene: &Scene<'_>, acts: &mut Acts<'_>) {
    let stream = scene.at.stream;
    for status in Ending::WORDS {
        let shape = json!({ "status": status, "end": "2026-01-01" });
        acts.ask_shape("pipeline.finished", stream, status, &shape);
    }
    memory(scene, acts);
    // A round ends where it stands: at the stage that was dispatched last.
    let reached = StageName::ALL.into_iter().rfind(|name| scene.round.stages.of(*name).attempt > 0);
    if let Some(stage) = reached.map(StageName::as_str) {
        for reason in REASONS {
            round_end(acts, stream, stage, reason, None);
        }
        for cause in ["stopped by user", "agent crash", "the recorded cause"] {
            halted(acts, stream, stage, cause);
        }
    }
    if let Handoff::Stopped { qualifier, .. } = &scene.program.review_loop(scene.number).handoff {
        round_end(acts, stream, "iteration-upstream", "", Some(qualifier));
    }
    halted(acts, stream, "iteration-upstream", "the call that crashed");
    let course = scene.program.course();
    if course.request.is_none() && course.flags.is_none() {
        let data = json!({ "raw": "-- resume: true", "resume": true });
        acts.ask("run.requested", "program", "go on with the round", &data);
    }
    resumed(scene, acts);
}

fn resumed(scene: &Scene<'_>, acts: &mut Acts<'_>) {
    let course = scene.program.course();
    let loops = course.flags.as_ref().is_none_or(|flags| flags.review_loop);
    let Some(resumption) = resumption::of(scene.program, scene.number, loops, &[]) else { return };
    let complete: Vec<&str> = resumption.complete.iter().map(|name| name.as_str()).collect();
    let from = resumption.from.map(StageName::as_str);
    let data = json!({ "complete": complete, "resume_from": from });
    acts.ask("round.resumed", scene.at.stream, from.unwrap_or("nothing is left"), &data);
}

fn round_end(acts: &mut Acts<'_>, stream: &str, stage: &str, reason: &str, upstream: Option<&str>) {
    let shape = json!({
        "stage": stage, "reason": reason, "upstream": upstream, "detail": "what", "remedy": "what",
        "see": "where", "partial_artifacts": [], "options": ["one", "two"], "claims": [],
    });
    let choice = crate::program::state::qualifier(stage, reason, upstream);
    acts.ask_shape("round_end.decided", stream, &choice, &shape);
}

fn halted(acts: &mut Acts<'_>, stream: &str, stage: &str, cause: &str) {
    let shape = json!({ "stage": stage, "cause": cause, "see": "where" });
    acts.ask_shape("pipeline.halted", stream, &format!("{stage}: {cause}"), &shape);
}

fn memory(scene: &Scene<'_>, acts: &mut Acts<'_>) {
    let stream = scene.at.stream;
    for reason in ["reproduction", "needs-decision", "halted"] {
        acts.ask("memory.skipped", stream, reason, &json!({ "reason": reason }));
    }
    let memory = scene.program.round_memory(scene.number);
    let Some(recorded) = &memory.behavior else {
        let fresh = format!("B{}", scene.program.course().highest_behavior + 1);
        for status in PhenomenonStatus::WORDS {
            for basis in ["m0", "asserted"] {
                let shape = json!({
                    "behavior": fresh, "match": "new", "statement": FINDING, "status": status,
                    "basis": basis, "conclusion": FINDING, "impact": null,
                });
                let choice = format!("{fresh} or a known behavior, {status} ({basis})");
                acts.ask_shape("memory.behavior_recorded", stream, &choice, &shape);
            }
        }
        return;
    };
    let known = scene.program.behavior(recorded);
    if known.is_some_and(|known| known.mechanisms.iter().any(|m| m.round == scene.number)) {
        return;
    }
    mechanism(scene, acts, recorded);
}

fn mechanism(scene: &Scene<'_>, acts: &mut Acts<'_>, behavior: &str) {
    let family = match &scene.round.routing {
        Routing::Committed(method) => Some(method.full()),
        Routing::NotApplicable | Routing::Open | Routing::Proposed { .. } => None,
    };
    let plan = scene.program.plan(scene.number).unwrap_or_default();
    let named = plan.directions.join(crate::program::constants::CHAIN);
    let direction = if named.is_empty() { "Location" } else { &named };
    let claim = |id: &String| json!({ "id": id, "statement": FINDING, "method": FINDING, "conclusion": FINDING });
    let shape = json!({
        "behavior": behavior, "direction": direction, "family": family, "headline": FINDING,
        "claims": scene.round.claims.iter().map(claim).collect::<Vec<_>>(),
    });
    acts.ask_shape("memory.mechanism_recorded", scene.at.stream, behavior, &shape);
}

/// Asks about the acts that lead from a round to the next.
pub(super) fn passage(scene: &Scene<'_>, acts: &mut Acts<'_>) {
    let stream = scene.at.stream;
    let passage = scene.program.passage(scene.number);
    if !scene.round.life.is_closed() && scene.round.life != Life::Running {
        transition(scene, acts);
        if let Some(intent) = passage.intent {
            archive(scene, acts, intent);
        }
        if let Some(planned) = &passage.planned {
            let data = json!({ "target": planned.target, "moved": planned.moved, "copied": [] });
            acts.ask("round.archived", stream, &planned.target, &data);
        }
    }
    if !scene.round.life.is_closed() {
        acts.ask_shape("round.discarded", stream, "", &json!({ "paths": [] }));
    }
    let (Some(intent), None) = (passage.intent, &passage.drafted) else { return };
    let (source, mechanism) = passage::parameters(intent);
    let shape = json!({
        "for_round": scene.number + 1, "intent": intent.as_str(), "behavior": passage.behavior,
        "behavior_source": source, "mechanism": mechanism, "note": "what",
    });
    acts.ask_shape("task.drafted", stream, &format!("for round {}", scene.number + 1), &shape);
}

fn transition(scene: &Scene<'_>, acts: &mut Acts<'_>) {
    let recommended = passage::recommended(scene.program, scene.number).map(Intent::as_str);
    let memory = scene.program.round_memory(scene.number);
    let last = || scene.program.behaviors().last().map(|behavior| behavior.id.clone());
    let behavior = memory.behavior.clone().or_else(last);
    for word in Intent::WORDS {
        let kept = behavior.as_ref().filter(|_| *word != Intent::NewBehavior.as_str());
        let data = json!({
            "arguments": "", "recommended": recommended, "intent": word, "behavior": kept,
            "decided_by": "user",
        });
        let mark = if recommended == Some(*word) { " (recommended)" } else { "" };
        let of = kept.map_or_else(String::new, |id| format!(" {id}"));
        let choice = format!("{word}{of}{mark}");
        acts.ask("transition.requested", scene.at.stream, &choice, &data);
    }
}

fn archive(scene: &Scene<'_>, acts: &mut Acts<'_>, intent: Intent) {
    let same: &[&str] = match intent {
        Intent::NewBehavior => &[],
        Intent::NewMechanism | Intent::ReValidate => KEPT_FOR_SAME_BEHAVIOR,
    };
    let keep: Vec<&str> = KEPT.iter().chain([&JOURNAL]).chain(same).copied().collect();
    let target = format!("rounds/round_{}/", scene.number);
    let shape = json!({ "target": target, "move": [], "keep": keep });
    acts.ask_shape("archive.planned", scene.at.stream, &target, &shape);
}
