//! The state of the program: a record for each entity, so that an append loads few of them.

mod claim;
mod fold_claims;
mod fold_ends;
mod fold_experiment;
mod fold_iteration;
mod fold_memory;
mod fold_rounds;
mod fold_stages;
mod fold_verify;
mod round;
mod settings;
mod work;

use std::sync::Arc;

use rp_events::program::Event;
use serde::{Deserialize, Serialize};

pub(crate) use self::{
    claim::*, fold_claims::PHENOMENON, fold_ends::qualifier, fold_experiment::exact,
    fold_verify::verdict, round::*, settings::*, work::*,
};
use super::{
    ledger::{ClaimRow, Header},
    memory::Behavior,
};
use crate::{
    At,
    table::{Backing, Change, Table},
};

/// What holds for the program as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// The program's name.
    pub name: String,
    /// The overarching direction.
    pub direction: String,
    /// The root list of candidates that nobody has tried (F.4).
    pub untried_behavior_directions: Vec<String>,
    /// Whether any memory event was recorded; before, the memory file does not exist.
    pub has_memory: bool,
    /// The task as it stands: the latest draft or the user's latest edit.
    pub task: Option<Task>,
}

/// `task.md` as it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The round it is for.
    pub for_round: u64,
    /// Whether it was drafted between rounds and not edited since.
    pub drafted: bool,
    /// The text: the draft as it was rendered when it was drafted, or the user's body.
    pub text: String,
    /// The lines of its `## User Overrides (log)` (J.2), without the leading `- `.
    pub log: Vec<String>,
}

/// The program part of the state.
#[derive(Debug)]
pub struct Program {
    root: Table<Root>,
    course: Table<Course>,
    rounds: Table<Round>,
    headers: Table<Header>,
    rows: Table<ClaimRow>,
    works: Table<ClaimWork>,
    plans: Table<Plan>,
    loops: Table<Loop>,
    runs: Table<Run>,
    ideas: Table<Ideas>,
    constraints: Table<Constraints>,
    figures: Table<FigurePlan>,
    behaviors: Table<Behavior>,
    memories: Table<RoundMemory>,
    passages: Table<Passage>,
    overrides: Table<Overrides>,
    notes: Table<u64>,
}

/// The one key of tables that hold one record.
const ONE: &str = "";

/// The key of a round's own records.
fn key(round: u64) -> String {
    round.to_string()
}

/// The key of something within a round.
fn within(round: u64, id: &str) -> String {
    format!("{round}/{id}")
}

impl Program {
    pub(crate) fn new(backing: &Backing) -> Self {
        Self {
            root: Table::new("program", backing),
            course: Table::new("course", backing),
            rounds: Table::new("rounds", backing),
            headers: Table::new("ledgers", backing),
            rows: Table::new("claims", backing),
            works: Table::new("claim-works", backing),
            plans: Table::new("plans", backing),
            loops: Table::new("loops", backing),
            runs: Table::new("runs", backing),
            ideas: Table::new("ideas", backing),
            constraints: Table::new("constraints", backing),
            figures: Table::new("figures", backing),
            behaviors: Table::new("behaviors", backing),
            memories: Table::new("memories", backing),
            passages: Table::new("passages", backing),
            overrides: Table::new("overrides", backing),
            notes: Table::new("notes", backing),
        }
    }

    /// What holds for the program as a whole, once it was created.
    pub fn root(&self) -> Option<Arc<Root>> {
        self.root.get(ONE)
    }

    /// The numbers of all rounds ever opened, ascending.
    pub fn rounds(&self) -> Vec<u64> {
        let keys = self.rounds.scan("").into_iter();
        let mut numbers: Vec<u64> = keys.filter_map(|(key, _)| key.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The round opened last.
    pub fn latest_round(&self) -> Option<u64> {
        self.course.get(ONE).and_then(|course| course.latest_round)
    }

    /// The ledger of a round without its claims.
    pub fn header(&self, round: u64) -> Option<Arc<Header>> {
        self.headers.get(&key(round))
    }

    /// The claims of a round, in the order of seeding.
    pub fn claims(&self, round: u64) -> Vec<Arc<ClaimRow>> {
        let Some(record) = self.round(round) else { return Vec::new() };
        record.claims.iter().filter_map(|id| self.row(round, id)).collect()
    }

    /// Whether a round is archived.
    pub fn is_archived(&self, round: u64) -> bool {
        self.round(round).is_some_and(|round| round.life == Life::Archived)
    }

    /// The behaviors, in the order of first appearance.
    pub fn behaviors(&self) -> Vec<Arc<Behavior>> {
        let mut behaviors: Vec<_> =
            self.behaviors.scan("").into_iter().map(|(_, behavior)| behavior).collect();
        behaviors.sort_by_key(|behavior| behavior.ordinal);
        behaviors
    }

    pub(crate) fn course(&self) -> Arc<Course> {
        self.course.get(ONE).unwrap_or_default()
    }

    pub(crate) fn round(&self, round: u64) -> Option<Arc<Round>> {
        self.rounds.get(&key(round))
    }

    pub(crate) fn row(&self, round: u64, claim: &str) -> Option<Arc<ClaimRow>> {
        self.rows.get(&within(round, claim))
    }

    pub(crate) fn work(&self, round: u64, claim: &str) -> Option<Arc<ClaimWork>> {
        self.works.get(&within(round, claim))
    }

    pub(crate) fn plan(&self, round: u64) -> Option<Arc<Plan>> {
        self.plans.get(&key(round))
    }

    pub(crate) fn review_loop(&self, round: u64) -> Arc<Loop> {
        self.loops.get(&key(round)).unwrap_or_default()
    }

    pub(crate) fn run(&self, round: u64, run: &str) -> Option<Arc<Run>> {
        self.runs.get(&within(round, run))
    }

    /// Every run of a round, by its name.
    pub(crate) fn runs(&self, round: u64) -> Vec<(String, Arc<Run>)> {
        let prefix = within(round, "");
        let runs = self.runs.scan(&prefix).into_iter();
        runs.map(|(key, run)| (key.get(prefix.len()..).unwrap_or_default().to_owned(), run))
            .collect()
    }

    pub(crate) fn ideas(&self, round: u64) -> Option<Arc<Ideas>> {
        self.ideas.get(&key(round))
    }

    pub(crate) fn constraints(&self, round: u64) -> Arc<Constraints> {
        self.constraints.get(&key(round)).unwrap_or_default()
    }

    pub(crate) fn figure_plan(&self, round: u64) -> Arc<FigurePlan> {
        self.figures.get(&key(round)).unwrap_or_default()
    }

    pub(crate) fn behavior(&self, id: &str) -> Option<Arc<Behavior>> {
        self.behaviors.get(id)
    }

    pub(crate) fn round_memory(&self, round: u64) -> Arc<RoundMemory> {
        self.memories.get(&key(round)).unwrap_or_default()
    }

    pub(crate) fn passage(&self, round: u64) -> Arc<Passage> {
        self.passages.get(&key(round)).unwrap_or_default()
    }

    pub(crate) fn overrides(&self, round: u64) -> Arc<Overrides> {
        self.overrides.get(&key(round)).unwrap_or_default()
    }

    pub(crate) fn has_note(&self, file: &str) -> bool {
        self.notes.contains(file)
    }

    /// Records an admitted event.
    #[expect(clippy::too_many_lines, reason = "one arm a kind, and every kind has one")]
    pub(super) fn record(&mut self, at: &At<'_>, event: &Event) {
        let round = at.round();
        match event {
            Event::ProgramCreated(body) => self.create(body),
            Event::ProgramImported(body) => self.import(body),
            Event::TaskRecorded(body) => self.record_task(body),
            Event::RunRequested(body) => self.request_run(body),
            Event::RunRefused(_) => self.refuse_run(),
            Event::FlagsResolved(body) => self.resolve_flags(body),
            Event::RoundOpened(body) => self.open_round(round, body),
            Event::RoundResumed(body) => self.resume_round(round, body),
            Event::RoundDiscarded(_) => self.rounds.edit(&key(round), |r| r.life = Life::Discarded),
            Event::ConstraintsExtracted(body) => self.extract_constraints(round, body),
            Event::ConstraintsInjected(body) => self.inject_constraints(round, body),
            Event::ConstraintsRegenerated(body) => self.regenerate_constraints(round, body),
            Event::PinResolved(body) => self.resolve_pin(round, body),
            Event::ComprehensionDecided(body) => self.decide_comprehension(round, body),
            Event::StageDispatched(body) => self.dispatch_stage(round, body),
            Event::StageReturned(body) => self.return_stage(round, body),
            Event::StageAccepted(body) => self.accept_stage(round, body),
            Event::StageRejected(body) => self.reject_stage(round, body),
            Event::StageSuperseded(body) => self.supersede_stage(round, body),
            Event::StageSkipped(body) => self.skip_stage(round, body),
            Event::GateDecided(body) => self.decide_gate(round, body),
            Event::IdeasRanked(body) => self.rank_ideas(round, body),
            Event::PlanCommitted(body) => self.commit_plan(round, body),
            Event::PlanRevised(body) => self.plans.edit(&key(round), |plan| plan.rev = body.rev),
            Event::LedgerHeaderSet(body) => self.set_header(round, body),
            Event::ClaimSeeded(body) => self.seed_claim(round, body),
            Event::ClaimPlanned(body) => self.plan_claim(round, body),
            Event::JourneySet(body) => self.set_journey(round, &body.field, &body.text),
            Event::LedgerHooked(body) => self.hook_ledger(round, body),
            Event::PhenomenonTested(body) => self.test_phenomenon(round, body),
            Event::PhenomenonDecided(body) => self.decide_phenomenon(round, body),
            Event::RoutingProposed(body) => self.propose_routing(round, body),
            Event::RoutingCommitted(body) => self.commit_routing(round, body),
            Event::RoutingNotApplicable(_) => {
                self.rounds.edit(&key(round), |r| r.routing = Routing::NotApplicable);
            }
            Event::PlanReconciled(body) => self.reconcile_plan(round, body),
            Event::CodeReviewed(body) => self.review_code(round, body),
            Event::ScorerPiloted(body) => self.pilot_scorer(round, body),
            Event::RunStarted(body) => self.start_run(round, body),
            Event::RunFinished(body) => self.finish_run(round, body),
            Event::ExperimentRecorded(body) => self.record_experiment(round, body),
            Event::PowerFlagged(body) => self.flag_power(round, body),
            Event::GpuPinChecked(body) => self.check_pin(round, body),
            Event::VerifyTargeted(body) => self.target_claims(round, body),
            Event::IntegrityAudited(body) => self.audit_claim(round, body),
            Event::VariantsPicked(body) => self.pick_claims(round, body),
            Event::VariantPlanned(body) => self.plan_variant(round, body),
            Event::VariantJudged(body) => self.judge_variant(round, body),
            Event::VariantAudited(body) => self.audit_variant(round, body),
            Event::VerifyDecided(body) => self.decide_verify(round, body),
            Event::IterationReviewed(body) => self.review_cycle(round, body),
            Event::IterationActionApplied(body) => self.apply_action(round, body),
            Event::HandoffQueued(body) => self.queue_handoff(round, body),
            Event::HandoffCallFinished(body) => self.finish_call(round, body),
            Event::IterationMerged(body) => self.merge_cycle(round, body),
            Event::ClaimNarrowed(body) => self.narrow_claim(round, body),
            Event::ClaimFalsified(body) => self.falsify_claim(round, body),
            Event::ClaimStatusSet(body) => {
                self.set_status(round, body.claim.as_str(), &body.final_status);
            }
            Event::IterationTerminated(_) => {
                self.loops.upsert(&key(round), |review| review.terminated = true);
            }
            Event::FiguresPlanned(body) => self.plan_figures(round, body),
            Event::FiguresRecorded(body) => self.record_figures(round, body),
            Event::FiguresBatchFailed(body) => self.fail_figures(round, body),
            Event::FiguresSkipped(body) => self.skip_figures(round, body),
            Event::CaveatAdded(body) => self.add_caveat(round, body.claim.as_str(), &body.text),
            Event::OpenItemAdded(body) => self.add_open_item(round, &body.text),
            Event::OpenItemClosed(body) => self.close_open_item(round, &body.text),
            Event::RoundEndDecided(body) => self.end_round(at, round, body),
            Event::PipelineHalted(body) => self.halt_pipeline(at, round, body),
            Event::PipelineFinished(body) => self.finish_pipeline(round, body),
            Event::MemoryBehaviorRecorded(body) => self.record_behavior(round, body),
            Event::MemoryMechanismRecorded(body) => self.record_mechanism(round, body),
            Event::MemoryUntriedBehaviorsUpdated(body) => self.update_untried(round, body),
            Event::SettlementJudged(body) => self.judge_settlement(body),
            Event::OverrideRecorded(body) => self.record_override(round, body),
            Event::NotificationTimerRegistered(_) => {
                self.rounds.edit(&key(round), |r| r.has_timer = true);
            }
            Event::NotificationRecorded(body) => self.notes.put(&body.file, at.seq.0),
            Event::TransitionRequested(body) => self.request_transition(round, body),
            Event::ArchivePlanned(body) => self.plan_archive(round, body),
            Event::RoundArchived(_) => self.rounds.edit(&key(round), |r| r.life = Life::Archived),
            Event::TaskDrafted(body) => self.draft_task(round, body),
            // Facts for people and for the record; no rule and no view asks for them.
            Event::ModelsResolved(_)
            | Event::BudgetReported(_)
            | Event::MemoryRead(_)
            | Event::TipsMatched(_)
            | Event::SanityRecorded(_)
            | Event::RunRescaled(_)
            | Event::VerifyCompleted(_)
            | Event::IterationActionRefused(_)
            | Event::FiguresFinished(_)
            | Event::ConsistencySwept(_)
            | Event::MemorySkipped(_)
            | Event::ApprovalNeeded(_)
            | Event::ArchiveRefused(_)
            | Event::TransitionReported(_) => {}
        }
    }

    pub(crate) fn changes(&mut self, out: &mut Vec<Change>) {
        self.root.changes(out);
        self.course.changes(out);
        self.rounds.changes(out);
        self.headers.changes(out);
        self.rows.changes(out);
        self.works.changes(out);
        self.plans.changes(out);
        self.loops.changes(out);
        self.runs.changes(out);
        self.ideas.changes(out);
        self.constraints.changes(out);
        self.figures.changes(out);
        self.behaviors.changes(out);
        self.memories.changes(out);
        self.passages.changes(out);
        self.overrides.changes(out);
        self.notes.changes(out);
    }
}
