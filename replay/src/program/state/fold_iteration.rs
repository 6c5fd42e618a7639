//! What the review loop leaves.

use rp_events::program::{
    ClaimFalsified, ClaimNarrowed, HandoffCallFinished, HandoffQueued, IterationActionApplied,
    IterationMerged, IterationReviewed,
};

use super::{Handoff, Program, fold_claims::add, key, within};

impl Program {
    pub(super) fn review_cycle(&mut self, round: u64, body: &IterationReviewed) {
        self.loops.upsert(&key(round), |review| {
            let same_score =
                review.score.as_ref().is_some_and(|old| old.compare(&body.score).is_eq());
            review.is_unchanged = same_score && review.verdict == body.verdict;
            review.had_charged = review.has_charged;
            review.has_charged = false;
            review.rewritten.clear();
            review.is_full = false;
            review.cycle = body.cycle;
            review.score = Some(body.score.clone());
            review.verdict.clone_from(&body.verdict);
        });
        let max = self.round(round).map_or(0, |record| record.settings.max_iterations);
        self.headers.edit(&key(round), |header| {
            header.iteration.score = Some(body.score.clone());
            header.iteration.verdict.clone_from(&body.verdict);
            header.iteration.max_rounds = max;
        });
    }

    pub(super) fn apply_action(&mut self, round: u64, body: &IterationActionApplied) {
        if body.action == 0 {
            return;
        }
        let mut consumed = 0;
        self.loops.upsert(&key(round), |review| {
            review.has_charged = true;
            review.consumed += 1;
            consumed = review.consumed;
            if body.action == 3 {
                review.reentries += 1;
                review.is_full |= body.path == "full";
                review.licensed.extend(body.produced.iter().map(ToString::to_string));
                review.rewritten.extend(body.claims.iter().map(ToString::to_string));
            }
        });
        self.headers.edit(&key(round), |header| header.iteration.rounds_consumed = consumed);
        if body.action == 2 {
            for claim in &body.claims {
                self.works.edit(&within(round, claim.as_str()), |work| work.step_repairs += 1);
            }
        }
    }

    pub(super) fn queue_handoff(&mut self, round: u64, body: &HandoffQueued) {
        let skills = body.calls.iter().map(|call| call.skill.clone()).collect();
        self.loops.upsert(&key(round), |review| {
            review.handoff = Handoff::Open { skills, finished: 0 };
        });
    }

    pub(super) fn finish_call(&mut self, round: u64, body: &HandoffCallFinished) {
        self.loops.upsert(&key(round), |review| {
            let Handoff::Open { skills, finished } = &review.handoff else { return };
            let (skills, finished) = (skills.clone(), *finished);
            review.handoff = match body.outcome.as_str() {
                "ok" if usize::try_from(finished + 1).is_ok_and(|n| n >= skills.len()) => {
                    Handoff::Finished
                }
                "ok" => Handoff::Open { skills, finished: finished + 1 },
                "needs-decision" => {
                    let qualifier = body.qualifier.clone().unwrap_or_default();
                    Handoff::Stopped { qualifier, skills, finished }
                }
                _ => Handoff::Crashed { skills, finished },
            };
        });
    }

    /// Makes the call that ended badly due again, as a resumed round goes on with the calls that are queued (H.4).
    pub(super) fn reopen_handoff(&mut self, round: u64) {
        let due = match &self.review_loop(round).handoff {
            Handoff::Stopped { skills, finished, .. } | Handoff::Crashed { skills, finished } => {
                Handoff::Open { skills: skills.clone(), finished: *finished }
            }
            Handoff::None | Handoff::Open { .. } | Handoff::Finished => return,
        };
        self.loops.upsert(&key(round), |review| review.handoff = due);
    }

    pub(super) fn merge_cycle(&mut self, round: u64, body: &IterationMerged) {
        self.loops.upsert(&key(round), |review| review.merged = body.cycle);
        for claim in &body.claims {
            self.rows.edit(&within(round, claim.id.as_str()), |row| {
                row.iteration.final_reviewer_status.clone_from(&claim.reviewer_status);
                row.iteration.changed.extend(claim.changed.iter().cloned());
            });
        }
    }

    pub(super) fn narrow_claim(&mut self, round: u64, body: &ClaimNarrowed) {
        self.rows.edit(&within(round, body.claim.as_str()), |row| {
            row.iteration.narrowed_to.clone_from(&body.to);
        });
        self.set_status(round, body.claim.as_str(), &body.final_status);
    }

    pub(super) fn falsify_claim(&mut self, round: u64, body: &ClaimFalsified) {
        self.rows.edit(&within(round, body.claim.as_str()), |row| {
            row.iteration.falsified.push(body.falsifier.clone());
            for path in &body.artifacts {
                add(&mut row.artifacts, path);
            }
        });
        self.set_status(round, body.claim.as_str(), &body.final_status);
    }

    pub(super) fn set_status(&mut self, round: u64, claim: &str, status: &str) {
        let at = within(round, claim);
        self.rows.edit(&at, |row| status.clone_into(&mut row.final_status));
        let in_loop = self.review_loop(round).cycle > 0;
        self.works.edit(&at, |work| {
            work.is_judged |= in_loop;
            work.is_stale = false;
        });
    }
}
