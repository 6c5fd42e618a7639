//! Rules about stages and gates (E18 to E24).

use std::collections::BTreeSet;

use rp_events::{
    Digest, Refusal,
    artifact::is_path,
    program::{
        Artifact, GateDecided, RoundResumed, StageAccepted, StageDispatched, StageRejected,
        StageReturned, StageSkipped, StageSuperseded,
    },
    refusal::general,
    text::shown,
};

use super::{Ruling, Scene, constraints, hold, stage, word};
use crate::program::{
    Program, codes,
    constants::{Ending, REJECTIONS_MAX, StageName},
    stage_files::due_files,
    state::{Answer, Handoff, Life, Routing, Stage, StageState},
};

/// Holds a stage to be the one that is dispatched next, at this attempt.
pub(super) fn dispatchable(scene: &Scene<'_>, name: StageName, attempt: u64) -> Ruling {
    let round = &scene.round;
    let before = StageName::ALL.into_iter().take_while(|earlier| *earlier != name);
    if let Some(open) = before.into_iter().find(|earlier| !round.stages.of(*earlier).is_done()) {
        return Err(Refusal::new(
            &codes::STAGE_ORDER,
            format!("stage `{open}` is neither accepted nor skipped, so `{name}` waits"),
        ));
    }
    let own = round.stages.of(name);
    let routed = name == StageName::Experiment;
    let why = match &own.state {
        StageState::Pending | StageState::Waiting => return due(own, name, attempt),
        StageState::Returned { routed_only: true, .. } if routed => return due(own, name, attempt),
        StageState::Returned { .. } if own.rejections >= REJECTIONS_MAX => {
            return Err(Refusal::new(
                &codes::RETRY_BUDGET,
                format!("stage `{name}` was rejected {} times", own.rejections),
            ));
        }
        StageState::Returned { .. } => "returned, and is neither accepted nor rejected",
        StageState::Running { .. } => "is running",
        StageState::Accepted => "is accepted",
        StageState::Skipped => "is skipped",
        StageState::Stopped { .. } => "stopped for a decision of the user",
        StageState::Crashed => "crashed, and the pipeline must halt",
    };
    Err(Refusal::new(&codes::STAGE_ORDER, format!("stage `{name}` {why}")))
}

fn due(own: &Stage, name: StageName, attempt: u64) -> Ruling {
    hold(attempt == own.attempt + 1, &codes::STAGE_ORDER, || {
        format!("the next attempt of stage `{name}` is {}; found {attempt}", own.attempt + 1)
    })
}

pub(super) fn dispatched(scene: &Scene<'_>, body: &StageDispatched) -> Ruling {
    let name = stage(&body.stage)?;
    let round = &scene.round;
    // Said before anything about order: nothing of these stages is due any more.
    let ended =
        round.phenomenon_ended() && matches!(name, StageName::Verify | StageName::Iteration);
    hold(!ended, &codes::PHENOMENON_ENDED, || {
        format!("the phenomenon ended round {}; stage `{name}` is skipped", scene.number)
    })?;
    if let Some(running) = round.stages.running() {
        return Err(Refusal::new(&codes::AGENT_BUSY, format!("stage `{running}` is running")));
    }
    dispatchable(scene, name, body.attempt)?;
    let modes: &[&str] = if name == StageName::Experiment {
        &["full", "route_only", "build", "combined"]
    } else {
        &["full"]
    };
    word(&body.mode, "mode", modes)?;
    passed_gate(scene, name)?;
    let own = round.stages.of(name);
    if own.state == StageState::Waiting {
        let handoff = &scene.program.review_loop(scene.number).handoff;
        hold(*handoff == Handoff::Finished, &codes::HANDOFF_OPEN, || {
            "the loop waits for earlier stages that did not all end well".to_owned()
        })?;
    }
    hold(own.injected == body.attempt, &codes::CONSTRAINTS_NOT_INJECTED, || {
        format!("attempt {} of stage `{name}` was given no constraints", body.attempt)
    })?;
    let comprehended = round.comprehended || round.behavior_source == "discovery";
    hold(name != StageName::Claim || comprehended, &codes::COMPREHENSION_MISSING, || {
        format!("the given behavior of round {} was not judged", scene.number)
    })?;
    if body.mode == "build" { family_known(scene) } else { Ok(()) }
}

/// Holds the gate before a stage to be decided in favour; the gate of a skipped stage does not count.
fn passed_gate(scene: &Scene<'_>, name: StageName) -> Ruling {
    let before = match name {
        StageName::Claim => return Ok(()),
        StageName::Experiment => StageName::Claim,
        StageName::Verify => StageName::Experiment,
        StageName::Iteration => StageName::Verify,
    };
    let skipped = scene.round.stages.of(before).state == StageState::Skipped;
    let passed = scene.round.gates.of(before) == Some(Answer::Go);
    hold(skipped || passed, &codes::GATE_OPEN, || {
        format!("gate `{before}` is not decided in favour, so stage `{name}` waits")
    })
}

/// A build call knows the family: chosen at the gate, committed, pinned, or named by the user.
fn family_known(scene: &Scene<'_>) -> Ruling {
    let round = &scene.round;
    let chosen = match &round.routing {
        Routing::Committed(_) | Routing::NotApplicable => true,
        Routing::Open | Routing::Proposed { .. } => round.gates.family.is_some(),
    };
    let pinned = round.task.family.is_some() && !round.dropped_pins.contains("family");
    hold(chosen || pinned || round.mechanism == "given", &codes::GATE_OPEN, || {
        "a build call needs the family, and gate `mechanism-family` is not decided".to_owned()
    })
}

pub(super) fn returned(scene: &Scene<'_>, body: &StageReturned) -> Ruling {
    let name = stage(&body.stage)?;
    let own = scene.round.stages.of(name);
    hold(own.is_running() && own.attempt == body.attempt, &codes::NOT_RUNNING, || {
        format!("attempt {} of stage `{name}` is not running", body.attempt)
    })?;
    let outcomes = ["ok", "needs-decision", "crashed", "awaiting-upstream", "phenomenon-terminal"];
    word(&body.outcome, "outcome", &outcomes)?;
    // In `strict` nobody is believed: `rp` opened the files, or they are not named.
    if scene.state.trust().is_strict() {
        witnessed(&body.artifacts)?;
    }
    match body.outcome.as_str() {
        "awaiting-upstream" => {
            let handoff = &scene.program.review_loop(scene.number).handoff;
            let queued = name == StageName::Iteration && matches!(handoff, Handoff::Open { .. });
            hold(queued, &codes::HANDOFF_CLOSED, || {
                format!("stage `{name}` queued no call that it could wait for")
            })
        }
        "phenomenon-terminal" => {
            let ended = name == StageName::Experiment && scene.round.phenomenon_ended();
            hold(ended, &codes::PHENOMENON_AUDIT, || {
                format!(
                    "no terminal verdict on the phenomenon stands, found outcome `{}`",
                    body.outcome
                )
            })
        }
        _ => Ok(()),
    }
}

pub(super) fn accepted(scene: &Scene<'_>, body: &StageAccepted) -> Ruling {
    let name = stage(&body.stage)?;
    let own = scene.round.stages.of(name);
    let StageState::Returned { files, .. } = &own.state else {
        return Err(Refusal::new(
            &codes::NOT_RUNNING,
            format!("stage `{name}` has not returned with anything to accept"),
        ));
    };
    hold(own.attempt == body.attempt, &codes::NOT_RUNNING, || {
        format!("attempt {} of stage `{name}` returned; found {}", own.attempt, body.attempt)
    })?;
    if let Some(missing) = missing(scene.program, scene.number, name, files) {
        return Err(Refusal::new(
            &codes::ARTIFACTS_MISSING,
            format!("stage `{name}` left no `{missing}` with content"),
        ));
    }
    if scene.round.settings.gpus.is_none() || own.runs.is_empty() {
        return Ok(());
    }
    match own.pin_holds {
        Some(true) => Ok(()),
        None => Err(Refusal::new(
            &codes::GPU_PIN_MISSING,
            format!("stage `{name}` ran {} times on devices that were not checked", own.runs.len()),
        )),
        Some(false) => Err(Refusal::new(
            &codes::GPU_PIN_VIOLATION,
            format!("stage `{name}` ran on devices that were not asked for"),
        )),
    }
}

/// The first file of H.1 that a stage did not leave.
fn missing(
    program: &Program,
    number: u64,
    name: StageName,
    files: &BTreeSet<String>,
) -> Option<String> {
    let round = program.round(number).unwrap_or_default();
    let due = due_files(name, round.phenomenon_ended());
    if let Some(path) = due.iter().find(|path| !files.contains(**path)) {
        return Some((*path).to_owned());
    }
    match name {
        StageName::Claim | StageName::Iteration => None,
        StageName::Experiment => {
            let routed = matches!(round.routing, Routing::Committed(_) | Routing::NotApplicable);
            let open = !routed && !round.phenomenon_ended();
            open.then(|| "refine-logs/MECHANISM_ROUTING.md (committed: true)".to_owned())
        }
        StageName::Verify => {
            // The audit of each target is a file of its own; the event that records it counts as the file.
            let targets = round.session.targets.iter();
            let unaudited = |claim: &&String| {
                program.work(number, claim).is_none_or(|work| work.audit.is_none())
            };
            targets
                .filter(unaudited)
                .map(|claim| {
                    format!("verify/{claim}_*/main_experiment_audit/EXPERIMENT_AUDIT.json")
                })
                .next()
        }
    }
}

/// Whether all of a stage's files are there, so that a resumption need not run it again (H.1).
pub(in crate::program) fn is_complete(program: &Program, number: u64, name: StageName) -> bool {
    let round = program.round(number).unwrap_or_default();
    let own = round.stages.of(name);
    match &own.state {
        StageState::Accepted => true,
        StageState::Returned { files, .. } => missing(program, number, name, files).is_none(),
        StageState::Pending => is_whole(program, number, name, &own.found),
        StageState::Running { .. }
        | StageState::Skipped
        | StageState::Waiting
        | StageState::Stopped { .. }
        | StageState::Crashed => false,
    }
}

/// Whether a stage is complete, or was interrupted after it had left what a resumption found (H.1).
pub(super) fn is_complete_with(scene: &Scene<'_>, name: StageName, body: &RoundResumed) -> bool {
    if is_complete(scene.program, scene.number, name) {
        return true;
    }
    let mut found = body.on_disk.iter().flatten();
    let Some(found) = found.find(|found| found.stage == name.as_str()) else { return false };
    let files = found.artifacts.iter().filter(|artifact| artifact.bytes > 0);
    let files = files.map(|artifact| artifact.path.clone()).collect();
    is_whole(scene.program, scene.number, name, &files)
}

/// Whether an interrupted stage left its files, and the events that the files rest on are recorded.
pub(in crate::program) fn is_whole(
    program: &Program,
    number: u64,
    name: StageName,
    files: &BTreeSet<String>,
) -> bool {
    let recorded = match name {
        StageName::Claim => program.plan(number).is_some(),
        StageName::Experiment => true,
        StageName::Verify => {
            program.round(number).is_some_and(|round| !round.session.targets.is_empty())
        }
        StageName::Iteration => program.review_loop(number).terminated,
    };
    recorded && !files.is_empty() && missing(program, number, name, files).is_none()
}

/// Holds what a resumption found to stages that were interrupted, each once, with the digests of its files.
pub(super) fn found(scene: &Scene<'_>, body: &RoundResumed) -> Ruling {
    let mut seen = BTreeSet::new();
    for found in body.on_disk.iter().flatten() {
        let name = stage(&found.stage)?;
        let own = scene.round.stages.of(name);
        let stopped = match own.state {
            StageState::Running { .. } | StageState::Crashed => true,
            StageState::Pending
            | StageState::Returned { .. }
            | StageState::Accepted
            | StageState::Skipped
            | StageState::Waiting
            | StageState::Stopped { .. } => false,
        };
        hold(stopped && seen.insert(name), &codes::RESUME_MISMATCH, || {
            format!("stage `{name}` was not interrupted, and its files are not looked for")
        })?;
        witnessed(&found.artifacts)?;
    }
    Ok(())
}

/// Holds files that were opened to lie in the workspace and to have content and a digest.
fn witnessed(artifacts: &[Artifact]) -> Ruling {
    artifacts.iter().try_for_each(|artifact| {
        let digest = artifact.sha256.as_deref().and_then(Digest::parse);
        let holds = is_path(&artifact.path) && artifact.bytes > 0 && digest.is_some();
        hold(holds, &general::ARTIFACT_MISSING, || {
            format!(
                "`{}` is no path in the workspace, or has no content or digest",
                shown(&artifact.path)
            )
        })
    })
}

pub(super) fn rejected(scene: &Scene<'_>, body: &StageRejected) -> Ruling {
    let name = stage(&body.stage)?;
    let own = scene.round.stages.of(name);
    let returned = matches!(own.state, StageState::Returned { .. });
    hold(returned && own.attempt == body.attempt, &codes::NOT_RUNNING, || {
        format!("attempt {} of stage `{name}` has not returned", body.attempt)
    })?;
    let reasons = [
        "missing-artifacts",
        "incomplete",
        "under-power",
        "failed-sanity",
        "integrity-break",
        "not-acceptable",
    ];
    word(&body.reason, "reason", &reasons)?;
    hold(own.rejections < REJECTIONS_MAX, &codes::RETRY_BUDGET, || {
        format!("stage `{name}` was rejected {} times already", own.rejections)
    })
}

pub(super) fn superseded(scene: &Scene<'_>, body: &StageSuperseded) -> Ruling {
    let name = stage(&body.stage)?;
    let own = scene.round.stages.of(name);
    hold(own.attempt == body.attempt && own.attempt > 0, &codes::NOT_RUNNING, || {
        format!("the last attempt of stage `{name}` is {}; found {}", own.attempt, body.attempt)
    })?;
    word(&body.by, "by", &["rejection", "user"])?;
    if body.by == "user" {
        return constraints::overridden_at(scene, &body.point);
    }
    hold(!own.is_running(), &codes::AGENT_BUSY, || format!("stage `{name}` is running"))?;
    let from_here = StageName::ALL.into_iter().skip_while(|earlier| *earlier != name);
    let rejected = from_here
        .map(|later| scene.round.stages.of(later))
        .any(|stage| stage.rejections > 0 && matches!(stage.state, StageState::Pending));
    hold(rejected, &codes::STAGE_ORDER, || {
        format!("nothing from stage `{name}` on was rejected and waits to run again")
    })
}

pub(super) fn skipped(scene: &Scene<'_>, body: &StageSkipped) -> Ruling {
    let name = stage(&body.stage)?;
    let round = &scene.round;
    hold(!round.stages.of(name).is_running(), &codes::AGENT_BUSY, || {
        format!("stage `{name}` is running")
    })?;
    let reasons = ["resume-complete", "review-loop-false", "phenomenon-ended", "round-ended"];
    word(&body.reason, "reason", &reasons)?;
    let late = matches!(name, StageName::Verify | StageName::Iteration);
    let holds = match body.reason.as_str() {
        "resume-complete" => round.resumed && is_complete(scene.program, scene.number, name),
        "review-loop-false" => {
            name == StageName::Iteration
                && !round.settings.review_loop
                && round.stages.verify.is_done()
        }
        "phenomenon-ended" => late && round.phenomenon_ended(),
        _ => matches!(round.life, Life::Ended(Ending::NeedsDecision | Ending::Halted)),
    };
    hold(holds, &codes::SKIP_REASON, || {
        format!("the reason `{}` does not hold for stage `{name}`", body.reason)
    })
}

pub(super) fn gate(scene: &Scene<'_>, body: &GateDecided) -> Ruling {
    let gates = ["claim", "experiment", "verify", "mechanism-family"];
    hold(gates.contains(&body.gate.as_str()), &codes::GATE_UNKNOWN, || {
        format!("a gate is one of `{}`; found `{}`", gates.join("`, `"), body.gate)
    })?;
    gate_due(scene, &body.gate)?;
    word(&body.mode, "mode", &["auto", "standing-approval", "interactive"])?;
    word(&body.decided_by, "decided_by", &["auto", "user"])?;
    let settings = &scene.round.settings;
    let deploys = matches!(body.gate.as_str(), "experiment" | "verify");
    let due = if settings.auto_proceed {
        "auto"
    } else if settings.auto_deploy && deploys {
        "standing-approval"
    } else {
        "interactive"
    };
    let by = if due == "interactive" { "user" } else { "auto" };
    hold(body.mode == due && body.decided_by == by, &codes::GATE_MODE, || {
        format!(
            "gate `{}` is decided `{due}` by `{by}`; found `{}` by `{}`",
            body.gate, body.mode, body.decided_by
        )
    })?;
    hold(body.gate != "mechanism-family" || due == "interactive", &codes::GATE_MODE, || {
        "full-auto takes the recommended family without a gate".to_owned()
    })?;
    answer(scene, body, due == "interactive")
}

/// Holds the stage of a gate to stand where the gate is.
fn gate_due(scene: &Scene<'_>, gate: &str) -> Ruling {
    let round = &scene.round;
    match gate {
        "claim" => {
            let passed = round.stages.claim.is_done();
            hold(passed, &codes::STAGE_ORDER, || "stage `claim` is not accepted yet".to_owned())
        }
        "experiment" => scene.live(StageName::Experiment),
        "verify" => scene.live(StageName::Verify),
        _ => {
            let proposed = matches!(round.routing, Routing::Proposed { .. });
            hold(proposed, &codes::STAGE_ORDER, || "no candidates are proposed".to_owned())
        }
    }
}

fn answer(scene: &Scene<'_>, body: &GateDecided, interactive: bool) -> Ruling {
    let answers: &[&str] = match (body.gate.as_str(), interactive) {
        (_, false) => &["approve"],
        ("claim", true) => &["approve", "switch", "re-run", "stop"],
        ("mechanism-family", true) => &["approve", "choose"],
        (_, true) => &["approve", "narrow-scope", "abort"],
    };
    hold(answers.contains(&body.decision.as_str()), &codes::GATE_CHOICE, || {
        format!(
            "gate `{}` answers `{}`; found `{}`",
            body.gate,
            answers.join("`, `"),
            body.decision
        )
    })?;
    let (fits, due) = match body.gate.as_str() {
        "claim" => claim_choice(scene, body),
        "mechanism-family" => {
            let count = match &scene.round.routing {
                Routing::Proposed { candidates, .. } => candidates.len(),
                Routing::Open | Routing::Committed(_) | Routing::NotApplicable => 0,
            };
            let chosen = body.choice.and_then(|n| usize::try_from(n).ok());
            (chosen.is_some_and(|n| (1..=count).contains(&n)), "one of the candidates")
        }
        _ => (body.choice.is_none(), "none"),
    };
    hold(fits, &codes::GATE_CHOICE, || {
        let found = body.choice.map_or("null".to_owned(), |n| n.to_string());
        format!("the choice at gate `{}` is {due}; found {found}", body.gate)
    })
}

/// Whether a choice at the claim gate fits, and what is due.
fn claim_choice(scene: &Scene<'_>, body: &GateDecided) -> (bool, &'static str) {
    let ideas = scene.program.ideas(scene.number);
    let Some(ideas) = ideas else {
        return (body.choice.is_none() && body.decision != "switch", "none");
    };
    match body.decision.as_str() {
        "approve" => (body.choice == ideas.chosen, "the chosen idea"),
        "switch" => {
            let survives =
                |n: u64| ideas.ideas.iter().any(|idea| idea.rank == n && !idea.eliminated);
            let other = body.choice != ideas.chosen;
            (other && body.choice.is_some_and(survives), "another surviving idea")
        }
        _ => (true, "any"),
    }
}
