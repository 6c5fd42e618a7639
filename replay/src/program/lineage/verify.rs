//! Audits, variants, verdicts and the review loop.

use rp_events::{
    ClaimId,
    program::{
        IntegrityAudited, IterationActionApplied, IterationMerged, IterationReviewed,
        IterationTerminated, VariantAudited, VariantJudged, VariantPlanned, VariantsPicked,
        VerifyDecided, VerifyTargeted,
    },
};

use super::{place, within};
use crate::{
    Address,
    lineage::{Known, REGARDS, Ties},
};

/// Claims that an event chooses or lists.
fn regards<'c>(round: u64, claims: impl IntoIterator<Item = &'c ClaimId>, ties: &mut Ties) {
    for claim in claims {
        ties.on(REGARDS, Address::Claim(round, claim.to_string()));
    }
}

pub(super) fn targeted(known: &Known, round: u64, body: &VerifyTargeted, ties: &mut Ties) {
    ties.gist(body.target.as_str());
    ties.after("dispatch", known.last(&within("dispatched", round, "verify")));
    regards(round, &body.claims, ties);
    ties.takes(place("targets", round));
}

pub(super) fn audited(known: &Known, round: u64, body: &IntegrityAudited, ties: &mut Ties) {
    ties.gist(format!("experiment {}, mechanism {}", body.experiment, body.mechanism));
    ties.about(Address::Claim(round, body.claim.to_string()));
    ties.after("result", known.last(&within("result", round, &body.claim)));
    ties.after("targets", known.last(&place("targets", round)));
    ties.takes(within("audit", round, &body.claim));
}

pub(super) fn picked(known: &Known, round: u64, body: &VariantsPicked, ties: &mut Ties) {
    ties.gist(body.picked.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    ties.after("targets", known.last(&place("targets", round)));
    regards(round, &body.picked, ties);
    ties.takes(place("picked", round));
}

pub(super) fn variant(known: &Known, round: u64, body: &VariantPlanned, ties: &mut Ties) {
    ties.gist(format!("{}: {}", body.tag, body.swap));
    ties.about(Address::Claim(round, body.claim.to_string()));
    ties.after("audit", known.last(&within("audit", round, &body.claim)));
    ties.after("picked", known.last(&place("picked", round)));
    ties.takes(within("variant", round, format!("{}/{}", body.claim, body.tag)));
}

pub(super) fn judged(known: &Known, round: u64, body: &VariantJudged, ties: &mut Ties) {
    ties.gist(format!("{}: {}, {}", body.tag, body.claim_supported, body.variant_metric));
    ties.about(Address::Claim(round, body.claim.to_string()));
    let own = format!("{}/{}", body.claim, body.tag);
    ties.after("variant", known.last(&within("variant", round, &own)));
    for run in known.words(&within("swapped-by", round, &body.claim)) {
        ties.on("run", Address::Run(round, run.clone()));
    }
    ties.takes(within("judgement", round, own));
}

pub(super) fn variant_audited(known: &Known, round: u64, body: &VariantAudited, ties: &mut Ties) {
    ties.gist(format!("{}: {}, {}", body.tag, body.experiment, body.mechanism));
    ties.about(Address::Claim(round, body.claim.to_string()));
    let own = format!("{}/{}", body.claim, body.tag);
    ties.after("judgement", known.last(&within("judgement", round, &own)));
    ties.takes(within("variant-audit", round, own));
}

pub(super) fn decided(known: &Known, round: u64, body: &VerifyDecided, ties: &mut Ties) {
    let verdict = body.verdict.as_ref().map_or_else(String::new, |verdict| format!("{verdict}: "));
    ties.gist(format!("{verdict}{}", body.reason));
    ties.about(Address::Claim(round, body.claim.to_string()));
    ties.after("result", known.last(&within("result", round, &body.claim)));
    ties.after("audit", known.last(&within("audit", round, &body.claim)));
    let variants = within("variant-audit", round, format!("{}/", body.claim));
    ties.after("variant", known.last_of_each(&variants));
    body.artifacts.iter().for_each(|path| ties.file(path, None));
    ties.takes(within("verdict", round, &body.claim));
}

pub(super) fn reviewed(known: &Known, round: u64, body: &IterationReviewed, ties: &mut Ties) {
    ties.gist(format!("cycle {}: score {}, {}", body.cycle, body.score, body.verdict));
    ties.after("dispatch", known.last(&within("dispatched", round, "iteration")));
    regards(round, body.requests.iter().map(|request| &request.claim), ties);
    body.raw.iter().for_each(|path| ties.file(path, None));
    ties.takes(place("review", round));
}

pub(super) fn applied(known: &Known, round: u64, body: &IterationActionApplied, ties: &mut Ties) {
    ties.gist(format!("action {}: {}", body.action, body.summary));
    ties.after("review", known.last(&place("review", round)));
    regards(round, &body.claims, ties);
    for claim in &body.produced {
        ties.takes(within("licence", round, claim));
    }
    ties.takes(place("action", round));
    ties.takes(within("actions", round, body.cycle));
}

pub(super) fn queued(known: &Known, round: u64, ties: &mut Ties) {
    ties.after("action", known.last(&place("action", round)));
    ties.takes(place("handoff", round));
}

pub(super) fn merged(known: &Known, round: u64, body: &IterationMerged, ties: &mut Ties) {
    ties.gist(format!("cycle {}", body.cycle));
    regards(round, body.claims.iter().map(|claim| &claim.id), ties);
    ties.after("action", known.all(&within("actions", round, body.cycle)).iter().copied());
    ties.after("review", known.last(&place("review", round)));
    ties.takes(place("merged", round));
}

pub(super) fn terminated(known: &Known, round: u64, body: &IterationTerminated, ties: &mut Ties) {
    ties.gist(format!("{}: score {}", body.reason, body.score));
    ties.after("review", known.last(&place("review", round)));
    ties.after("merge", known.last(&place("merged", round)));
}
