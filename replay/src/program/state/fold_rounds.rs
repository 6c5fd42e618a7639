//! What events about the program, its tasks, rounds and constraints leave.

use std::collections::BTreeMap;

use rp_events::program::{
    ApprovalNeeded, ComprehensionDecided, ConstraintsExtracted, ConstraintsInjected,
    ConstraintsRegenerated, FlagsResolved, OverrideRecorded, PinResolved, ProgramCreated,
    RoundOpened, RoundResumed, RunRequested, TaskRecorded,
};

use super::{
    Approval, Course, Life, ONE, Program, Request, Root, Round, Settings, StageState, Task,
    TaskFacts, key,
};
use crate::program::{
    command,
    constants::{Ending, StageName},
    ledger::{Header, RoundEnd},
    memory::Behavior,
};

/// The pipeline status of a round without an ending.
pub(super) const RUNNING: &str = "running";

impl Program {
    pub(super) fn create(&mut self, body: &ProgramCreated) {
        let root = Root {
            name: body.program.clone(),
            direction: body.direction.clone(),
            ..Root::default()
        };
        self.root.put(ONE, root);
        self.course.put(ONE, Course::default());
    }

    /// Puts a behavior, giving it the next ordinal if it is new.
    pub(super) fn put_behavior(&mut self, mut behavior: Behavior) {
        if let Some(known) = self.behavior(&behavior.id) {
            behavior.ordinal = known.ordinal;
        } else {
            let number = behavior.id.strip_prefix('B').and_then(|n| n.parse().ok()).unwrap_or(0);
            self.course.edit(ONE, |course| {
                behavior.ordinal = course.behaviors;
                course.behaviors += 1;
                course.highest_behavior = course.highest_behavior.max(number);
            });
        }
        let id = behavior.id.clone();
        self.behaviors.put(&id, behavior);
    }

    pub(super) fn record_task(&mut self, body: &TaskRecorded) {
        self.root.edit(ONE, |root| {
            root.task = Some(Task {
                for_round: body.for_round,
                drafted: false,
                text: body.body.clone(),
                log: Vec::new(),
            });
        });
        let facts = TaskFacts {
            language: body.language.clone(),
            behavior: body.pins.behavior.clone(),
            direction: body.pins.mechanism_direction.clone(),
            family: body.pins.family.clone(),
            retry_settled: body.retry_settled,
            notify: body.notify,
        };
        if self.course().latest_round == Some(body.for_round) {
            self.rounds.edit(&key(body.for_round), |round| retask(round, &facts));
        }
        self.course.edit(ONE, |course| course.task = facts);
    }

    pub(super) fn request_run(&mut self, body: &RunRequested) {
        let request = Request {
            resume: body.resume,
            has_direction: !command::direction(&body.raw).is_empty(),
        };
        self.course.edit(ONE, |course| {
            course.request = Some(request);
            course.flags = None;
        });
    }

    pub(super) fn refuse_run(&mut self) {
        self.course.edit(ONE, |course| {
            course.request = None;
            course.flags = None;
        });
    }

    pub(super) fn resolve_flags(&mut self, body: &FlagsResolved) {
        let settings = Settings::resolve(&body.flags);
        self.course.edit(ONE, |course| {
            course.request = None;
            course.flags = Some(settings);
        });
    }

    pub(super) fn open_round(&mut self, round: u64, body: &RoundOpened) {
        let course = self.course();
        self.rounds.put(
            &key(round),
            Round {
                settings: course.flags.clone().unwrap_or_default(),
                behavior_source: body.behavior_source.clone(),
                mechanism: body.mechanism.clone(),
                task: course.task.clone(),
                ..Round::default()
            },
        );
        let header = Header { pipeline_status: RUNNING.to_owned(), ..Header::default() };
        self.headers.put(&key(round), header);
        drop(course);
        self.course.edit(ONE, |course| {
            course.highest_round = course.highest_round.max(round);
            course.latest_round = Some(round);
            course.flags = None;
        });
    }

    pub(super) fn resume_round(&mut self, round: u64, body: &RoundResumed) {
        let flags = self.course().flags.clone();
        self.course.edit(ONE, |course| course.flags = None);
        let mut reopened = false;
        self.rounds.edit(&key(round), |record| {
            record.resumed = true;
            if let Some(flags) = flags {
                // Files do not say which axes a round was on; whoever goes on with it does.
                if record.behavior_source.is_empty() {
                    record.behavior_source.clone_from(&flags.behavior_source);
                    record.mechanism.clone_from(&flags.mechanism);
                }
                record.settings = flags;
            }
            if matches!(record.life, Life::Ended(Ending::NeedsDecision | Ending::Halted)) {
                record.life = Life::Running;
                reopened = true;
            }
            for name in StageName::ALL {
                reopen(record, name, body.complete.iter().any(|done| done == name.as_str()));
            }
            for found in body.on_disk.iter().flatten() {
                let Some(name) = StageName::parse(&found.stage) else { continue };
                let paths = found.artifacts.iter().map(|artifact| artifact.path.clone());
                record.stages.of_mut(name).found = paths.collect();
            }
        });
        self.reopen_handoff(round);
        if reopened {
            self.headers.edit(&key(round), |header| {
                RUNNING.clone_into(&mut header.pipeline_status);
                header.round_end = RoundEnd::default();
            });
        }
    }

    pub(super) fn extract_constraints(&mut self, round: u64, body: &ConstraintsExtracted) {
        let record = super::Constraints { items: body.items.clone(), stamps: BTreeMap::new() };
        self.constraints.put(&key(round), record);
    }

    pub(super) fn inject_constraints(&mut self, round: u64, body: &ConstraintsInjected) {
        let Some(stage) = StageName::parse(&body.stage) else { return };
        self.rounds.edit(&key(round), |record| {
            record.stages.of_mut(stage).injected = body.attempt;
        });
    }

    pub(super) fn regenerate_constraints(&mut self, round: u64, body: &ConstraintsRegenerated) {
        self.constraints.edit(&key(round), |record| {
            for item in &body.items {
                if let Some(old) = record.items.iter_mut().find(|old| old.id == item.id) {
                    old.clone_from(item);
                    record.stamps.insert(item.id.to_string(), body.point.clone());
                }
            }
            let removed = body.removed.as_deref().unwrap_or_default();
            record.items.retain(|item| !removed.contains(&item.id));
        });
    }

    pub(super) fn resolve_pin(&mut self, round: u64, body: &PinResolved) {
        self.rounds.edit(&key(round), |record| {
            if body.decision == "honor-pin" {
                record.dropped_pins.remove(&body.level);
                return;
            }
            record.dropped_pins.insert(body.level.clone());
            // Inside the given modes there is no other behavior to pick, so the round must find one.
            if body.level == "behavior" {
                "discovery".clone_into(&mut record.behavior_source);
            }
        });
    }

    pub(super) fn decide_comprehension(&mut self, round: u64, body: &ComprehensionDecided) {
        self.rounds.edit(&key(round), |record| {
            record.comprehended = true;
            if body.decision.as_deref() == Some("switch-to-discovery") {
                "discovery".clone_into(&mut record.behavior_source);
            }
        });
    }

    pub(super) fn need_approval(&mut self, round: u64, body: &ApprovalNeeded) {
        let approval = Approval { blocked: body.blocked.clone(), action: body.action.clone() };
        self.rounds.edit(&key(round), |record| record.approval = Some(approval));
    }

    pub(super) fn record_override(&mut self, round: u64, body: &OverrideRecorded) {
        self.overrides.upsert(&key(round), |record| {
            record.requests.push((body.point.clone(), body.request.clone()));
        });
        let Some(original) = &body.overrides else { return };
        let line = format!("@{}: {} (overrides: {original})", body.point, body.request);
        self.root.edit(ONE, |root| {
            if let Some(task) = &mut root.task {
                task.log.push(line);
            }
        });
    }
}

/// Gives an open round the task as its user edited it; a pin that is new was not passed over yet.
fn retask(round: &mut Round, facts: &TaskFacts) {
    if round.life.is_closed() {
        return;
    }
    let pins = [
        ("behavior", &round.task.behavior, &facts.behavior),
        ("direction", &round.task.direction, &facts.direction),
        ("family", &round.task.family, &facts.family),
    ];
    for (level, _, _) in pins.into_iter().filter(|(_, old, new)| old != new) {
        round.dropped_pins.remove(level);
    }
    round.task.clone_from(facts);
}

/// Makes a stage dispatchable again that was interrupted or left something out; what was accepted stays.
fn reopen(round: &mut Round, name: StageName, is_complete: bool) {
    let stage = round.stages.of_mut(name);
    match stage.state {
        StageState::Returned { .. } if is_complete => {}
        StageState::Running { .. }
        | StageState::Returned { .. }
        | StageState::Stopped { .. }
        | StageState::Crashed => {
            stage.state = StageState::Pending;
            stage.rejections = 0;
        }
        StageState::Pending | StageState::Accepted | StageState::Skipped | StageState::Waiting => {}
    }
}
