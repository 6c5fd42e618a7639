//! Ideas, plan, claims, ledger, figures and memory.

use rp_events::{
    Seq,
    program::{
        CaveatAdded, ClaimFalsified, ClaimNarrowed, ClaimPlanned, ClaimSeeded, ClaimStatusSet,
        ConsistencySwept, FiguresPlanned, FiguresRecorded, IdeasRanked, LedgerHeaderSet,
        LedgerHooked, MemoryBehaviorRecorded, MemoryMechanismRecorded, PlanCommitted, PlanRevised,
        SettlementJudged,
    },
};

use super::{place, within};
use crate::{
    Address,
    lineage::{Known, REGARDS, TOGETHER, Ties},
};

pub(super) fn ideas(known: &Known, round: u64, body: &IdeasRanked, ties: &mut Ties) {
    let chosen = body.ideas.iter().find(|idea| Some(idea.rank) == body.chosen);
    ties.gist(chosen.map_or("none survived", |idea| idea.title.as_str()));
    ties.after("dispatch", known.last(&within("dispatched", round, "claim")));
    ties.takes(place("ideas", round));
}

pub(super) fn plan(known: &Known, round: u64, body: &PlanCommitted, ties: &mut Ties) {
    ties.gist(format!("revision {}, {} milestones", body.rev, body.milestones.len()));
    ties.after("ideas", known.last(&place("ideas", round)));
    ties.after("dispatch", known.last(&within("dispatched", round, "claim")));
    ties.takes(place("plan", round));
}

pub(super) fn plan_revised(known: &Known, round: u64, body: &PlanRevised, ties: &mut Ties) {
    ties.gist(format!("revision {}: {}", body.rev, body.reason));
    ties.after("plan", known.last(&place("plan", round)));
    ties.takes(place("plan", round));
}

pub(super) fn header(known: &Known, round: u64, body: &LedgerHeaderSet, ties: &mut Ties) {
    ties.gist(body.project.as_str());
    ties.after("plan", known.last(&place("plan", round)));
    ties.about(Address::Round(round));
}

pub(super) fn seeded(known: &Known, round: u64, body: &ClaimSeeded, ties: &mut Ties) {
    ties.gist(body.statement.as_str());
    ties.about(Address::Claim(round, body.id.to_string()));
    match &body.parent {
        None => {
            ties.after("plan", known.last(&place("plan", round)));
            ties.after("gate", known.last(&within("gate", round, "claim")));
        }
        Some(parent) => {
            ties.after("licence", known.last(&within("licence", round, &body.id)));
            ties.on("parent", Address::Claim(round, parent.to_string()));
        }
    }
    ties.add(place("claims", round), body.id.to_string());
}

pub(super) fn planned(known: &Known, round: u64, body: &ClaimPlanned, ties: &mut Ties) {
    let milestones: Vec<String> = body.milestones.iter().map(ToString::to_string).collect();
    ties.gist(format!("milestones {}; {}", milestones.join(", "), body.method));
    ties.about(Address::Claim(round, body.id.to_string()));
    ties.after("plan", known.last(&place("plan", round)));
}

/// The claims of a round, as they stand.
fn on_claims(known: &Known, round: u64, ties: &mut Ties) {
    for claim in known.words(&place("claims", round)) {
        ties.on(TOGETHER, Address::Claim(round, claim.clone()));
    }
}

pub(super) fn hooked(known: &Known, round: u64, body: &LedgerHooked, ties: &mut Ties) {
    ties.gist(body.hook.as_str());
    ties.about(Address::Round(round));
    on_claims(known, round, ties);
    ties.takes(place("ledger", round));
}

/// What a claim's standing in the review loop rests on.
fn standing(known: &Known, round: u64, claim: &str, ties: &mut Ties) {
    ties.about(Address::Claim(round, claim.to_owned()));
    ties.after("merge", known.last(&place("merged", round)));
    ties.after("verdict", known.last(&within("verdict", round, claim)));
    ties.after("result", known.last(&within("result", round, claim)));
}

pub(super) fn narrowed(known: &Known, round: u64, body: &ClaimNarrowed, ties: &mut Ties) {
    ties.gist(body.final_status.as_str());
    standing(known, round, body.claim.as_str(), ties);
}

pub(super) fn falsified(known: &Known, round: u64, body: &ClaimFalsified, ties: &mut Ties) {
    ties.gist(format!("{}; {}", body.final_status, body.falsifier));
    standing(known, round, body.claim.as_str(), ties);
    body.artifacts.iter().for_each(|path| ties.file(path, None));
}

pub(super) fn status(known: &Known, round: u64, body: &ClaimStatusSet, ties: &mut Ties) {
    ties.gist(body.final_status.as_str());
    standing(known, round, body.claim.as_str(), ties);
}

pub(super) fn figures_planned(round: u64, body: &FiguresPlanned, ties: &mut Ties) {
    for claim in &body.claims {
        ties.on(REGARDS, Address::Claim(round, claim.id.to_string()));
    }
    ties.takes(place("figures-planned", round));
}

pub(super) fn figures(known: &Known, round: u64, body: &FiguresRecorded, ties: &mut Ties) {
    let ids: Vec<String> = body.figures.iter().map(|figure| figure.id.to_string()).collect();
    ties.gist(ids.join(", "));
    ties.about(Address::Claim(round, body.claim.to_string()));
    ties.after("figure plan", known.last(&place("figures-planned", round)));
    for figure in &body.figures {
        let drawn = [&figure.png, &figure.pdf, &figure.md, &figure.tex];
        drawn.into_iter().flatten().for_each(|path| ties.file(path, None));
        ties.file(&figure.source_data, None);
    }
    ties.takes(within("figures", round, &body.claim));
}

pub(super) fn caveat(round: u64, body: &CaveatAdded, ties: &mut Ties) {
    ties.gist(body.text.as_str());
    ties.about(Address::Claim(round, body.claim.to_string()));
}

pub(super) fn swept(round: u64, body: &ConsistencySwept, ties: &mut Ties) {
    ties.gist(format!("{} mismatches", body.mismatches.len()));
    for mismatch in &body.mismatches {
        ties.on(REGARDS, Address::Claim(round, mismatch.claim.to_string()));
    }
}

pub(super) fn behavior(known: &Known, round: u64, body: &MemoryBehaviorRecorded, ties: &mut Ties) {
    ties.gist(format!("{} ({}): {}", body.status, body.basis, body.conclusion));
    ties.about(Address::Behavior(body.behavior.to_string()));
    ties.after("phenomenon", known.last(&place("phenomenon", round)));
    ties.after("ending", known.last(&place("ending", round)));
    ties.takes("memory");
}

pub(super) fn mechanism(
    known: &Known,
    round: u64,
    body: &MemoryMechanismRecorded,
    ties: &mut Ties,
) {
    ties.gist(body.headline.as_str());
    ties.about(Address::Behavior(body.behavior.to_string()));
    for claim in &body.claims {
        ties.on(TOGETHER, Address::Claim(round, claim.id.to_string()));
    }
    ties.after("method", known.last(&place("method", round)));
    ties.after("ending", known.last(&place("ending", round)));
    ties.takes("memory");
    ties.takes(within("attempt", round, &body.behavior));
}

pub(super) fn settled(known: &Known, body: &SettlementJudged, ties: &mut Ties) {
    ties.gist(format!("round {}: {}", body.attempt_round, body.reading));
    ties.about(Address::Behavior(body.behavior.to_string()));
    let attempt: Option<Seq> = known.last(&within("attempt", body.attempt_round, &body.behavior));
    ties.after("attempt", attempt);
}
