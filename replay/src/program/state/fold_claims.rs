//! What the claim stage and the upkeep of the ledger leave.

use rp_events::program::{
    ClaimPlanned, ClaimSeeded, IdeasRanked, LedgerHeaderSet, LedgerHooked, Milestone,
    PlanCommitted, Strategy,
};

use super::{ClaimWork, Hook, Ideas, Plan, PlanMilestone, Program, key, within};
use crate::program::ledger::{ClaimRow, DataUse, StageModels};

/// The kind of the milestone that tests the phenomenon.
pub(crate) const PHENOMENON: &str = "phenomenon-validation";

impl Program {
    pub(super) fn rank_ideas(&mut self, round: u64, body: &IdeasRanked) {
        let record = Ideas { ideas: body.ideas.clone(), chosen: body.chosen };
        self.ideas.put(&key(round), record);
    }

    pub(super) fn commit_plan(&mut self, round: u64, body: &PlanCommitted) {
        let directions = match &body.mechanism_strategy {
            Strategy::Chain(chain) => chain.directions.clone(),
            Strategy::Word(_) => Vec::new(),
        };
        self.plans.put(
            &key(round),
            Plan {
                rev: body.rev,
                is_strict: body.resource_fidelity.is_some(),
                directions,
                chosen_mechanism: body.chosen_mechanism.clone(),
                settled_families: body.families_already_settled.clone(),
                milestones: body.milestones.iter().map(milestone).collect(),
            },
        );
    }

    pub(super) fn set_header(&mut self, round: u64, body: &LedgerHeaderSet) {
        self.headers.edit(&key(round), |header| {
            header.project.clone_from(&body.project);
            header.direction.clone_from(&body.direction);
            header.start.clone_from(&body.start);
            header.models = StageModels {
                claim: body.models.claim.clone(),
                experiment: body.models.experiment.clone(),
                verify: body.models.verify.clone(),
                iteration: body.models.iteration.clone(),
            };
        });
    }

    pub(super) fn seed_claim(&mut self, round: u64, body: &ClaimSeeded) {
        let id = body.id.as_str();
        let row = ClaimRow {
            id: id.to_owned(),
            statement: body.statement.clone(),
            origin: body.origin.clone(),
            final_status: "planned".to_owned(),
            ..ClaimRow::default()
        };
        self.rows.put(&within(round, id), row);
        let parent = body.parent.as_ref().map(ToString::to_string);
        self.works.put(&within(round, id), ClaimWork { parent, ..ClaimWork::default() });
        self.rounds.edit(&key(round), |record| record.claims.push(id.to_owned()));
        if body.parent.is_some() {
            self.loops.upsert(&key(round), |review| {
                review.licensed.remove(id);
            });
        }
    }

    pub(super) fn plan_claim(&mut self, round: u64, body: &ClaimPlanned) {
        let at = within(round, body.id.as_str());
        self.works.edit(&at, |work| {
            work.milestones = body.milestones.iter().map(ToString::to_string).collect();
        });
        self.rows.edit(&at, |row| {
            row.data = DataUse {
                provenance: body.data.provenance.clone(),
                source: body.data.source.clone(),
                available_n: body.data.available_n.clone(),
                used_n: body.data.used_n.clone(),
                subset_note: body.data.subset_note.clone(),
            };
            row.models.clone_from(&body.models);
            row.method.clone_from(&body.method);
        });
    }

    pub(super) fn set_journey(&mut self, round: u64, field: &str, text: &str) {
        self.headers.edit(&key(round), |header| {
            let journey = &mut header.journey;
            let line = match field {
                "claim" => &mut journey.claim,
                "mechanism_strategy" => &mut journey.mechanism_strategy,
                "mechanism_routing" => &mut journey.mechanism_routing,
                "experiment" => &mut journey.experiment,
                "verify" => &mut journey.verify,
                "iteration" => &mut journey.iteration,
                "figures" => &mut journey.figures,
                _ => return,
            };
            text.clone_into(line);
        });
    }

    pub(super) fn hook_ledger(&mut self, round: u64, body: &LedgerHooked) {
        self.headers.edit(&key(round), |header| header.updated_after_stage.clone_from(&body.hook));
        self.rounds.edit(&key(round), |record| record.hook = Hook::parse(&body.hook));
    }

    pub(super) fn add_caveat(&mut self, round: u64, claim: &str, text: &str) {
        self.rows.edit(&within(round, claim), |row| add(&mut row.caveats, text));
    }

    pub(super) fn add_artifacts(&mut self, round: u64, claim: &str, artifacts: &[String]) {
        self.rows.edit(&within(round, claim), |row| {
            for path in artifacts {
                add(&mut row.artifacts, path);
            }
        });
    }
}

/// Appends what a list does not have yet.
pub(super) fn add(list: &mut Vec<String>, text: &str) {
    if !list.iter().any(|old| old == text) {
        list.push(text.to_owned());
    }
}

fn milestone(milestone: &Milestone) -> PlanMilestone {
    let texts = |ids: &[_]| ids.iter().map(ToString::to_string).collect();
    PlanMilestone {
        id: milestone.id.to_string(),
        tests_phenomenon: milestone.kind.as_deref() == Some(PHENOMENON),
        claims: milestone.claims.iter().map(ToString::to_string).collect(),
        depends_on: texts(&milestone.depends_on),
        runs: milestone.runs.iter().map(ToString::to_string).collect(),
        planned_used_n: milestone.planned_used_n.clone(),
        sensitive: milestone.method_sensitive.clone().unwrap_or_default(),
    }
}

impl Hook {
    /// Reads a hook's name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "claim" => Some(Self::Claim),
            "experiment" => Some(Self::Experiment),
            "verify" => Some(Self::Verify),
            "iteration:final" => Some(Self::Final),
            other => other.strip_prefix("iteration:round-")?.parse().ok().map(Self::Cycle),
        }
    }
}
