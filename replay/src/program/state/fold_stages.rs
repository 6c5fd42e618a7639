//! What events about stages and gates leave.

use rp_events::program::{
    GateDecided, StageAccepted, StageDispatched, StageRejected, StageReturned, StageSkipped,
    StageSuperseded,
};

use super::{Answer, Handoff, Program, Round, StageState, key};
use crate::program::constants::StageName;

impl Program {
    pub(super) fn dispatch_stage(&mut self, round: u64, body: &StageDispatched) {
        let Some(name) = StageName::parse(&body.stage) else { return };
        self.rounds.edit(&key(round), |record| {
            let stage = record.stages.of_mut(name);
            let resumes = stage.state == StageState::Waiting;
            stage.attempt = body.attempt;
            stage.state = StageState::Running { routes_only: body.mode == "route_only" };
            if !resumes {
                stage.runs.clear();
                stage.gpus.clear();
            }
            stage.pin_holds = None;
            stage.found.clear();
            clear_gate(record, name);
        });
        if name == StageName::Iteration {
            self.loops.upsert(&key(round), |review| review.handoff = Handoff::None);
        }
    }

    pub(super) fn return_stage(&mut self, round: u64, body: &StageReturned) {
        let Some(name) = StageName::parse(&body.stage) else { return };
        self.rounds.edit(&key(round), |record| {
            let stage = record.stages.of_mut(name);
            let routed_only = stage.state == StageState::Running { routes_only: true };
            let with_content = body.artifacts.iter().filter(|artifact| artifact.bytes > 0);
            stage.state = match body.outcome.as_str() {
                "awaiting-upstream" => StageState::Waiting,
                "needs-decision" => StageState::Stopped { qualifier: body.qualifier.clone() },
                "crashed" => StageState::Crashed,
                outcome => StageState::Returned {
                    routed_only,
                    phenomenon: outcome == "phenomenon-terminal",
                    files: with_content.map(|artifact| artifact.path.clone()).collect(),
                },
            };
        });
    }

    pub(super) fn accept_stage(&mut self, round: u64, body: &StageAccepted) {
        let Some(name) = StageName::parse(&body.stage) else { return };
        self.rounds.edit(&key(round), |record| {
            record.stages.of_mut(name).state = StageState::Accepted;
        });
    }

    pub(super) fn reject_stage(&mut self, round: u64, body: &StageRejected) {
        let Some(name) = StageName::parse(&body.stage) else { return };
        self.rounds.edit(&key(round), |record| {
            let stage = record.stages.of_mut(name);
            stage.rejections += 1;
            stage.state = StageState::Pending;
        });
    }

    pub(super) fn supersede_stage(&mut self, round: u64, body: &StageSuperseded) {
        let Some(name) = StageName::parse(&body.stage) else { return };
        self.rounds.edit(&key(round), |record| {
            let stage = record.stages.of_mut(name);
            stage.state = StageState::Pending;
            if body.by == "user" {
                stage.rejections = 0;
            }
            clear_gate(record, name);
        });
    }

    pub(super) fn skip_stage(&mut self, round: u64, body: &StageSkipped) {
        let Some(name) = StageName::parse(&body.stage) else { return };
        self.rounds.edit(&key(round), |record| {
            let stage = record.stages.of_mut(name);
            // A stage that was accepted before the resumption stays what it is.
            if stage.state != StageState::Accepted {
                stage.state = StageState::Skipped;
            }
        });
    }

    pub(super) fn decide_gate(&mut self, round: u64, body: &GateDecided) {
        let answer = match body.decision.as_str() {
            "stop" | "abort" => Answer::Stop,
            _ => Answer::Go,
        };
        self.rounds.edit(&key(round), |record| match body.gate.as_str() {
            // The plan is written anew, and the gate opens again.
            "claim" if matches!(body.decision.as_str(), "switch" | "re-run") => {
                record.stages.claim.state = StageState::Pending;
                record.stages.claim.rejections = 0;
                record.gates.claim = None;
            }
            "claim" => record.gates.claim = Some(answer),
            "experiment" => record.gates.experiment = Some(answer),
            "verify" => record.gates.verify = Some(answer),
            "mechanism-family" => record.gates.family = body.choice,
            _ => {}
        });
        if body.gate == "claim" && body.decision == "switch" {
            self.ideas.upsert(&key(round), |ideas| ideas.chosen = body.choice);
        }
    }
}

/// A stage that begins anew has its gate before it again.
fn clear_gate(round: &mut Round, name: StageName) {
    match name {
        StageName::Claim => round.gates.claim = None,
        StageName::Experiment => round.gates.experiment = None,
        StageName::Verify => round.gates.verify = None,
        StageName::Iteration => {}
    }
}
