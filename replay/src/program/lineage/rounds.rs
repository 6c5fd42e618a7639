//! Program, tasks, rounds, stages, gates, and the passage to the next round.

use rp_events::program::{
    ArchivePlanned, BudgetReported, Constraint, ConstraintsInjected, GateDecided, MemoryRead,
    PinResolved, PipelineFinished, PipelineHalted, ProgramCreated, ProgramImported, RoundArchived,
    RoundEndDecided, RoundOpened, RoundResumed, RunRefused, RunRequested, StageAccepted,
    StageDispatched, StageRejected, StageReturned, TaskDrafted, TaskRecorded, TransitionRequested,
};

use super::{place, within};
use crate::{
    Address,
    lineage::{Known, Ties},
};

pub(super) fn created(body: &ProgramCreated, ties: &mut Ties) {
    ties.gist(body.program.as_str());
    ties.takes("program");
}

pub(super) fn imported(known: &Known, body: &ProgramImported, ties: &mut Ties) {
    ties.gist(format!("up to round {}", body.highest_round));
    ties.after("program", known.last("program"));
    for behavior in body.memory.iter().flat_map(|memory| &memory.behaviors) {
        ties.about(Address::Behavior(behavior.id.to_string()));
    }
}

pub(super) fn task(known: &Known, body: &TaskRecorded, ties: &mut Ties) {
    ties.gist(body.body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
    // The body takes the place of a draft; what the draft rests on does not reach it.
    ties.after("program", known.last("program"));
    ties.takes(place("task", body.for_round));
    ties.takes("task");
}

pub(super) fn requested(known: &Known, body: &RunRequested, ties: &mut Ties) {
    ties.gist(body.raw.as_str());
    ties.after("task", known.last("task"));
    ties.takes("request");
}

pub(super) fn refused(known: &Known, body: &RunRefused, ties: &mut Ties) {
    ties.gist(format!("{}: {}", body.reason, body.message));
    ties.after("request", known.last("request"));
}

pub(super) fn flags(known: &Known, ties: &mut Ties) {
    ties.after("request", known.last("request"));
    ties.takes("flags");
}

pub(super) fn opened(known: &Known, round: u64, body: &RoundOpened, ties: &mut Ties) {
    ties.gist(format!("behavior {}, mechanism {}", body.behavior_source, body.mechanism));
    ties.about(Address::Round(round));
    ties.after("flags", known.last("flags"));
    ties.after("task", known.last(&place("task", round)));
    ties.takes(place("opened", round));
}

pub(super) fn resumed(known: &Known, round: u64, body: &RoundResumed, ties: &mut Ties) {
    if let Some(stage) = &body.resume_from {
        ties.gist(format!("from stage {stage}"));
    }
    ties.after("flags", known.last("flags"));
    ties.after("ending", known.last(&place("ending", round)));
    of_round(known, round, ties);
}

/// An event of a round as a whole.
pub(super) fn of_round(known: &Known, round: u64, ties: &mut Ties) {
    ties.about(Address::Round(round));
    ties.after("round", known.last(&place("opened", round)));
}

pub(super) fn constraints(known: &Known, round: u64, items: &[Constraint], ties: &mut Ties) {
    ties.gist(format!("{} constraints", items.len()));
    ties.after("task", known.last(&place("task", round)));
    ties.after("constraints", known.last(&place("constraints", round)));
    ties.takes(place("constraints", round));
}

pub(super) fn injected(known: &Known, round: u64, body: &ConstraintsInjected, ties: &mut Ties) {
    ties.gist(format!("stage {}, attempt {}", body.stage, body.attempt));
    ties.after("constraints", known.last(&place("constraints", round)));
    ties.takes(within("injected", round, &body.stage));
}

pub(super) fn budget(known: &Known, round: u64, body: &BudgetReported, ties: &mut Ties) {
    ties.gist(format!("{} GPU-hours", body.gpu_hours));
    for run in known.words(&place("finished", round)) {
        ties.on("run", Address::Run(round, run.clone()));
    }
}

pub(super) fn memory_read(body: &MemoryRead, ties: &mut Ties) {
    for behavior in &body.behaviors {
        ties.on("behavior", Address::Behavior(behavior.to_string()));
    }
}

pub(super) fn pin(known: &Known, round: u64, body: &PinResolved, ties: &mut Ties) {
    ties.gist(format!("{} {}: {}", body.level, body.item, body.decision));
    ties.after("task", known.last(&place("task", round)));
    if let Some(behavior) = &body.behavior {
        ties.on("behavior", Address::Behavior(behavior.to_string()));
    }
}

pub(super) fn dispatched(known: &Known, round: u64, body: &StageDispatched, ties: &mut Ties) {
    ties.gist(format!("stage {}, attempt {}", body.stage, body.attempt));
    ties.after("constraints", known.last(&within("injected", round, &body.stage)));
    ties.after("round", known.last(&place("opened", round)));
    ties.takes(within("dispatched", round, &body.stage));
}

pub(super) fn returned(known: &Known, round: u64, body: &StageReturned, ties: &mut Ties) {
    ties.gist(format!("stage {}: {}", body.stage, body.outcome));
    ties.after("dispatch", known.last(&within("dispatched", round, &body.stage)));
    for file in &body.artifacts {
        ties.file(&file.path, file.sha256.as_deref());
    }
    ties.takes(within("returned", round, &body.stage));
}

pub(super) fn accepted(known: &Known, round: u64, body: &StageAccepted, ties: &mut Ties) {
    ties.gist(format!("stage {}, attempt {}", body.stage, body.attempt));
    ties.after("return", known.last(&within("returned", round, &body.stage)));
    ties.takes(within("accepted", round, &body.stage));
}

pub(super) fn rejected(known: &Known, round: u64, body: &StageRejected, ties: &mut Ties) {
    ties.gist(format!("stage {}: {}", body.stage, body.reason));
    ties.after("return", known.last(&within("returned", round, &body.stage)));
}

pub(super) fn gate(known: &Known, round: u64, body: &GateDecided, ties: &mut Ties) {
    ties.gist(format!("gate {}: {}, by {}", body.gate, body.decision, body.decided_by));
    let due = match body.gate.as_str() {
        "mechanism-family" => place("proposal", round),
        // The gates of two stages lie inside their agents, before the stage returns.
        "experiment" | "verify" => within("dispatched", round, &body.gate),
        gate => within("accepted", round, gate),
    };
    ties.after("of", known.last(&due));
    ties.takes(within("gate", round, &body.gate));
}

pub(super) fn end_decided(known: &Known, round: u64, body: &RoundEndDecided, ties: &mut Ties) {
    ties.gist(format!("{}: {}", body.stage, body.reason));
    ties.after("return", known.last(&within("returned", round, &body.stage)));
    of_round(known, round, ties);
    for claim in &body.claims {
        ties.about(Address::Claim(round, claim.to_string()));
    }
    for path in &body.partial_artifacts {
        ties.file(path, None);
    }
    ties.takes(place("ending", round));
}

pub(super) fn halted(known: &Known, round: u64, body: &PipelineHalted, ties: &mut Ties) {
    ties.gist(format!("{}: {}", body.stage, body.cause));
    ties.after("return", known.last(&within("returned", round, &body.stage)));
    of_round(known, round, ties);
    ties.takes(place("ending", round));
}

pub(super) fn pipeline_finished(
    known: &Known,
    round: u64,
    body: &PipelineFinished,
    ties: &mut Ties,
) {
    ties.gist(body.status.as_str());
    ties.after("ledger", known.last(&place("ledger", round)));
    of_round(known, round, ties);
    ties.takes(place("ending", round));
}

pub(super) fn transition(known: &Known, body: &TransitionRequested, ties: &mut Ties) {
    ties.gist(format!("{}, by {}", body.intent, body.decided_by));
    if let Some(behavior) = &body.behavior {
        ties.on("behavior", Address::Behavior(behavior.to_string()));
    }
    ties.after("memory", known.last("memory"));
    ties.takes("transition");
}

pub(super) fn archive_planned(known: &Known, round: u64, body: &ArchivePlanned, ties: &mut Ties) {
    ties.gist(body.target.as_str());
    ties.after("transition", known.last("transition"));
    ties.takes(place("archive", round));
}

pub(super) fn archived(known: &Known, round: u64, body: &RoundArchived, ties: &mut Ties) {
    ties.gist(body.target.as_str());
    ties.after("archive plan", known.last(&place("archive", round)));
    of_round(known, round, ties);
}

pub(super) fn drafted(known: &Known, body: &TaskDrafted, ties: &mut Ties) {
    ties.gist(format!("for round {}, {}", body.for_round, body.intent));
    ties.after("transition", known.last("transition"));
    if let Some(behavior) = &body.behavior {
        ties.on("behavior", Address::Behavior(behavior.to_string()));
    }
    ties.takes(place("task", body.for_round));
    ties.takes("task");
    ties.takes("draft");
}
