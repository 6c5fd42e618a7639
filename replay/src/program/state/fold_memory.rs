//! What a round leaves in the research memory (part F of the domain text).

use rp_events::program::{
    MemoryBehaviorRecorded, MemoryMechanismRecorded, MemoryUntriedBehaviorsUpdated,
    SettlementJudged,
};

use super::{ONE, Program, key};
use crate::program::{
    constants::{CHAIN, DIRECTIONS, PhenomenonStatus},
    memory::{Behavior, Impact, Mechanism, MechanismClaim},
};

impl Program {
    pub(super) fn record_behavior(&mut self, round: u64, body: &MemoryBehaviorRecorded) {
        let id = body.behavior.as_str();
        let first = self.round_memory(round).behavior.is_none();
        let known = self.behavior(id);
        if first {
            let before = known.as_deref().cloned();
            self.memories.upsert(&key(round), |record| {
                record.behavior = Some(id.to_owned());
                record.before = before;
            });
        }
        // A second writing in the same round begins again from what stood before the first, so that it
        // changes nothing if it says the same.
        let before = self.round_memory(round).before.clone();
        let mut behavior = merged(before, body, round);
        if let Some(known) = known {
            behavior.mechanisms.clone_from(&known.mechanisms);
        }
        behavior.untried_mechanism_directions = untried(&behavior.mechanisms);
        self.put_behavior(behavior);
        self.touch_memory();
    }

    pub(super) fn record_mechanism(&mut self, round: u64, body: &MemoryMechanismRecorded) {
        let claim = |claim: &rp_events::program::MechanismClaim| MechanismClaim {
            id: claim.id.to_string(),
            statement: claim.statement.clone(),
            method: claim.method.clone(),
            conclusion: claim.conclusion.clone(),
        };
        let mut attempt = Mechanism {
            round,
            direction: body.direction.clone(),
            family: body.family.clone(),
            headline: body.headline.clone(),
            claims: body.claims.iter().map(claim).collect(),
            archived_to: archive_of(round),
            reading: None,
        };
        self.behaviors.edit(body.behavior.as_str(), |behavior| {
            match behavior.mechanisms.iter_mut().find(|old| old.round == round) {
                Some(old) => {
                    attempt.reading.clone_from(&old.reading);
                    *old = attempt;
                }
                None => behavior.mechanisms.push(attempt),
            }
            behavior.untried_mechanism_directions = untried(&behavior.mechanisms);
        });
        self.touch_memory();
    }

    pub(super) fn update_untried(&mut self, round: u64, body: &MemoryUntriedBehaviorsUpdated) {
        if self.round_memory(round).has_listed {
            return;
        }
        self.memories.upsert(&key(round), |record| record.has_listed = true);
        self.touch_memory();
        self.root.edit(ONE, |root| {
            root.untried_behavior_directions.retain(|entry| !body.remove.contains(entry));
            root.untried_behavior_directions.extend(body.append.iter().cloned());
        });
    }

    fn touch_memory(&mut self) {
        self.root.edit(ONE, |root| root.has_memory = true);
        self.course.edit(ONE, |course| course.keeps_old_memory = false);
    }

    pub(super) fn judge_settlement(&mut self, body: &SettlementJudged) {
        self.behaviors.edit(body.behavior.as_str(), |behavior| {
            let attempts = behavior.mechanisms.iter_mut();
            for attempt in attempts.filter(|attempt| attempt.round == body.attempt_round) {
                attempt.reading = Some(body.reading.clone());
            }
        });
    }
}

/// What stands before the number of an archived round's folder.
pub(crate) const ROUNDS: &str = "rounds/round_";

/// Where a round's files are archived.
pub(crate) fn archive_of(round: u64) -> String {
    format!("{ROUNDS}{round}/")
}

/// A behavior after a round's finding, by the table of F.3.
fn merged(before: Option<Behavior>, body: &MemoryBehaviorRecorded, round: u64) -> Behavior {
    let is_asserted = body.basis == "asserted";
    let settles = PhenomenonStatus::parse(&body.status).is_some_and(PhenomenonStatus::is_settled);
    let mut behavior = before.unwrap_or_else(|| Behavior {
        id: body.behavior.to_string(),
        statement: body.statement.clone(),
        ..Behavior::default()
    });
    let is_open = behavior.status.is_empty() || behavior.status == "inconclusive";
    let takes = match (is_asserted, settles) {
        (true, _) => is_open,
        (false, true) => true,
        (false, false) => behavior.status.is_empty(),
    };
    // An open question may be described anew although it stays open.
    let refreshes = takes || (!is_asserted && !settles && is_open);
    if (takes && behavior.status != body.status)
        || (refreshes && behavior.behavior_conclusion != body.conclusion)
    {
        behavior.decided_in_round = round;
    }
    if takes {
        behavior.status.clone_from(&body.status);
        behavior.asserted = is_asserted;
    }
    if refreshes {
        behavior.behavior_conclusion.clone_from(&body.conclusion);
    }
    if let Some(impact) = &body.impact {
        behavior.impact = Impact {
            assessment: impact.assessment.clone(),
            recommendation: impact.recommendation.clone(),
            assessed_in_round: Some(round),
        };
    }
    behavior
}

/// The directions that no attempt took, in canonical order.
fn untried(attempts: &[Mechanism]) -> Vec<String> {
    let used = |direction: &str| {
        attempts.iter().any(|attempt| attempt.direction.split(CHAIN).any(|used| used == direction))
    };
    let free = DIRECTIONS.iter().filter(|direction| !used(direction));
    free.map(|direction| (*direction).to_owned()).collect()
}
