//! Phenomenon, method, experiment runs and their results.

use rp_events::program::{
    CodeReviewed, ExperimentRecorded, GpuPinChecked, PhenomenonDecided, PhenomenonTested,
    PlanReconciled, PowerFlagged, RoutingCommitted, RoutingNotApplicable, RunFinished, RunRescaled,
    RunStarted,
};

use super::{place, within};
use crate::{
    Address,
    lineage::{Known, Ties},
};

pub(super) fn tested(round: u64, body: &PhenomenonTested, ties: &mut Ties) {
    ties.gist(format!("test {}, audit {}: {}", body.attempt, body.audit, body.observation));
    ties.on("run", Address::Run(round, body.run.to_string()));
    ties.takes(place("tests", round));
}

pub(super) fn phenomenon(known: &Known, round: u64, body: &PhenomenonDecided, ties: &mut Ties) {
    ties.gist(format!("{}: {}", body.status, body.headline));
    ties.after("test", known.all(&place("tests", round)).iter().copied());
    if body.terminal || body.status == "conditional" {
        // Such a verdict is written into every claim of the round.
        for claim in known.words(&place("claims", round)) {
            ties.about(Address::Claim(round, claim.clone()));
        }
    }
    ties.takes(place("phenomenon", round));
}

pub(super) fn proposed(known: &Known, round: u64, ties: &mut Ties) {
    ties.after("plan", known.last(&place("plan", round)));
    ties.after("phenomenon", known.last(&place("phenomenon", round)));
    ties.takes(place("proposal", round));
}

pub(super) fn committed(known: &Known, round: u64, body: &RoutingCommitted, ties: &mut Ties) {
    ties.gist(format!("{} / {}", body.family, body.submethod));
    ties.after("proposal", known.last(&place("proposal", round)));
    ties.after("gate", known.last(&within("gate", round, "mechanism-family")));
    ties.after("plan", known.last(&place("plan", round)));
    ties.takes(place("method", round));
}

pub(super) fn not_applicable(
    known: &Known,
    round: u64,
    body: &RoutingNotApplicable,
    ties: &mut Ties,
) {
    ties.gist(body.reason.as_str());
    ties.after("plan", known.last(&place("plan", round)));
    ties.takes(place("method", round));
}

pub(super) fn reconciled(known: &Known, round: u64, body: &PlanReconciled, ties: &mut Ties) {
    ties.gist(body.status.as_str());
    ties.after("method", known.last(&place("method", round)));
    ties.after("plan", known.last(&place("plan", round)));
    ties.takes(place("reconciled", round));
}

pub(super) fn reviewed(known: &Known, round: u64, body: &CodeReviewed, ties: &mut Ties) {
    ties.gist(format!("{}: {}", body.unit, body.verdict));
    ties.after("plan", known.last(&place("plan", round)));
    ties.takes(within("code", round, &body.unit));
}

pub(super) fn started(known: &Known, round: u64, body: &RunStarted, ties: &mut Ties) {
    ties.gist(body.path.as_str());
    ties.about(Address::Run(round, body.run.to_string()));
    match body.stage.as_str() {
        "verify" => {
            for claim in &body.claims {
                let planned = within("variant", round, format!("{claim}/"));
                ties.after("variant", known.last_of_each(&planned));
            }
            ties.after("gate", known.last(&within("gate", round, "verify")));
        }
        "iteration" => ties.after("action", known.last(&place("action", round))),
        _ => {
            ties.after("plan", known.last(&place("plan", round)));
            ties.after("phenomenon", known.last(&place("phenomenon", round)));
            ties.after("method", known.last(&place("method", round)));
            ties.after("reconciliation", known.last(&place("reconciled", round)));
            ties.after("gate", known.last(&within("gate", round, "experiment")));
        }
    }
    ties.after("review", known.last(&within("code", round, &body.run)));
    let claims = body.claims.iter().map(ToString::to_string).collect();
    ties.set(within("run-claims", round, &body.run), claims);
    ties.set(within("run-stage", round, &body.run), vec![body.stage.clone()]);
    ties.set(within("run-path", round, &body.run), vec![body.path.clone()]);
    ties.takes(within("started", round, &body.run));
}

pub(super) fn finished(known: &Known, round: u64, body: &RunFinished, ties: &mut Ties) {
    let spent = &body.gpu_hours;
    ties.gist(format!("{}, used {}, {spent} GPU-hours", body.status, body.used_n));
    ties.about(Address::Run(round, body.run.to_string()));
    ties.after("start", known.last(&within("started", round, &body.run)));
    for path in known.words(&within("run-path", round, &body.run)) {
        ties.file(path, None);
    }
    ties.add(place("finished", round), body.run.to_string());
    if body.status != "completed" {
        return;
    }
    let stage = known.words(&within("run-stage", round, &body.run));
    let is_of = |name: &str| stage.iter().any(|stage| stage == name);
    for claim in known.words(&within("run-claims", round, &body.run)) {
        if !is_of("verify") {
            ties.add(within("measured-by", round, claim), body.run.to_string());
        }
        if !is_of("experiment") {
            ties.add(within("swapped-by", round, claim), body.run.to_string());
        }
    }
}

pub(super) fn rescaled(known: &Known, round: u64, body: &RunRescaled, ties: &mut Ties) {
    ties.gist(format!("{} to {} devices by {}", body.gpus_from, body.gpus_to, body.technique));
    ties.about(Address::Run(round, body.run.to_string()));
    ties.after("start", known.last(&within("started", round, &body.run)));
}

pub(super) fn recorded(known: &Known, round: u64, body: &ExperimentRecorded, ties: &mut Ties) {
    ties.gist(format!("{}: {}", body.verdict, body.headline));
    ties.about(Address::Claim(round, body.claim.to_string()));
    for run in known.words(&within("measured-by", round, &body.claim)) {
        ties.on("run", Address::Run(round, run.clone()));
    }
    ties.after("phenomenon", known.last(&place("phenomenon", round)));
    body.artifacts.iter().for_each(|path| ties.file(path, None));
    ties.takes(within("result", round, &body.claim));
}

pub(super) fn flagged(known: &Known, round: u64, body: &PowerFlagged, ties: &mut Ties) {
    ties.gist(format!("policy {}", body.policy));
    ties.about(Address::Claim(round, body.claim.to_string()));
    ties.after("result", known.last(&within("result", round, &body.claim)));
}

pub(super) fn pinned(round: u64, body: &GpuPinChecked, ties: &mut Ties) {
    ties.gist(format!("stage {}", body.stage));
    for run in &body.runs {
        ties.on("run", Address::Run(round, run.to_string()));
    }
}
