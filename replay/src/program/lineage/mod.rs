//! How events of the program hang together: what each is about, and what it is made from.
//!
//! The links are those that the rules of `domains/program.md` D ask for before an event may come: a record of
//! an experiment rests on the completed runs that name its claim (rule 61), a verdict on the audits and
//! variants it is derived from (rule 78), memory on the claims it repeats (rule 110). Nothing is guessed from
//! prose.

mod claims;
mod rounds;
mod runs;
mod verify;

use rp_events::program::Event;

use crate::lineage::{Known, Ties};

/// A place of a round's own, where later events look for an earlier one.
fn place(what: &str, round: u64) -> String {
    format!("{what}/{round}")
}

/// A place of something within a round.
fn within(what: &str, round: u64, id: impl std::fmt::Display) -> String {
    format!("{what}/{round}/{id}")
}

/// Says what an event is about and what it rests on.
#[expect(clippy::too_many_lines, reason = "one arm a kind, and every kind has one")]
pub(crate) fn tie(known: &Known, round: u64, event: &Event, ties: &mut Ties) {
    match event {
        Event::ProgramCreated(body) => rounds::created(body, ties),
        Event::ProgramImported(body) => rounds::imported(known, body, ties),
        Event::TaskRecorded(body) => rounds::task(known, body, ties),
        Event::RunRequested(body) => rounds::requested(known, body, ties),
        Event::RunRefused(body) => rounds::refused(known, body, ties),
        Event::FlagsResolved(_) => rounds::flags(known, ties),
        Event::RoundOpened(body) => rounds::opened(known, round, body, ties),
        Event::RoundResumed(body) => rounds::resumed(known, round, body, ties),
        Event::RoundDiscarded(_) => rounds::of_round(known, round, ties),
        Event::ModelsResolved(_) => ties.after("round", known.last(&place("opened", round))),
        Event::ConstraintsExtracted(body) => rounds::constraints(known, round, &body.items, ties),
        Event::ConstraintsInjected(body) => rounds::injected(known, round, body, ties),
        Event::ConstraintsRegenerated(body) => rounds::constraints(known, round, &body.items, ties),
        Event::BudgetReported(body) => rounds::budget(known, round, body, ties),
        Event::MemoryRead(body) => rounds::memory_read(body, ties),
        Event::PinResolved(body) => rounds::pin(known, round, body, ties),
        Event::ComprehensionDecided(_) => ties.after("task", known.last(&place("task", round))),
        Event::StageDispatched(body) => rounds::dispatched(known, round, body, ties),
        Event::StageReturned(body) => rounds::returned(known, round, body, ties),
        Event::StageAccepted(body) => rounds::accepted(known, round, body, ties),
        Event::StageRejected(body) => rounds::rejected(known, round, body, ties),
        Event::StageSuperseded(body) => {
            ties.after("return", known.last(&within("returned", round, &body.stage)));
        }
        Event::StageSkipped(body) => ties.gist(format!("{}: {}", body.stage, body.reason)),
        Event::GateDecided(body) => rounds::gate(known, round, body, ties),
        Event::IdeasRanked(body) => claims::ideas(known, round, body, ties),
        Event::PlanCommitted(body) => claims::plan(known, round, body, ties),
        Event::PlanRevised(body) => claims::plan_revised(known, round, body, ties),
        Event::LedgerHeaderSet(body) => claims::header(known, round, body, ties),
        Event::ClaimSeeded(body) => claims::seeded(known, round, body, ties),
        Event::ClaimPlanned(body) => claims::planned(known, round, body, ties),
        Event::JourneySet(body) => ties.gist(format!("{}: {}", body.field, body.text)),
        Event::LedgerHooked(body) => claims::hooked(known, round, body, ties),
        Event::TipsMatched(_) => ties.after("plan", known.last(&place("plan", round))),
        Event::PhenomenonTested(body) => runs::tested(round, body, ties),
        Event::PhenomenonDecided(body) => runs::phenomenon(known, round, body, ties),
        Event::RoutingProposed(_) => runs::proposed(known, round, ties),
        Event::RoutingCommitted(body) => runs::committed(known, round, body, ties),
        Event::RoutingNotApplicable(body) => runs::not_applicable(known, round, body, ties),
        Event::PlanReconciled(body) => runs::reconciled(known, round, body, ties),
        Event::CodeReviewed(body) => runs::reviewed(known, round, body, ties),
        Event::ScorerPiloted(body) => ties.gist(format!("{}: {}", body.unit, body.metric)),
        Event::SanityRecorded(body) => ties.gist(body.unit.as_str()),
        Event::RunStarted(body) => runs::started(known, round, body, ties),
        Event::RunFinished(body) => runs::finished(known, round, body, ties),
        Event::RunRescaled(body) => runs::rescaled(known, round, body, ties),
        Event::ExperimentRecorded(body) => runs::recorded(known, round, body, ties),
        Event::PowerFlagged(body) => runs::flagged(known, round, body, ties),
        Event::GpuPinChecked(body) => runs::pinned(round, body, ties),
        Event::VerifyTargeted(body) => verify::targeted(known, round, body, ties),
        Event::IntegrityAudited(body) => verify::audited(known, round, body, ties),
        Event::VariantsPicked(body) => verify::picked(known, round, body, ties),
        Event::VariantPlanned(body) => verify::variant(known, round, body, ties),
        Event::VariantJudged(body) => verify::judged(known, round, body, ties),
        Event::VariantAudited(body) => verify::variant_audited(known, round, body, ties),
        Event::VerifyDecided(body) => verify::decided(known, round, body, ties),
        Event::VerifyCompleted(_) => {
            ties.after("verdict", known.last_of_each(&within("verdict", round, "")));
        }
        Event::IterationReviewed(body) => verify::reviewed(known, round, body, ties),
        Event::IterationActionApplied(body) => verify::applied(known, round, body, ties),
        Event::IterationActionRefused(body) => {
            ties.gist(format!("{}: {}", body.claim, body.reason));
            ties.after("review", known.last(&place("review", round)));
        }
        Event::HandoffQueued(_) => verify::queued(known, round, ties),
        Event::HandoffCallFinished(body) => {
            ties.gist(body.outcome.as_str());
            ties.after("handoff", known.last(&place("handoff", round)));
        }
        Event::IterationMerged(body) => verify::merged(known, round, body, ties),
        Event::ClaimNarrowed(body) => claims::narrowed(known, round, body, ties),
        Event::ClaimFalsified(body) => claims::falsified(known, round, body, ties),
        Event::ClaimStatusSet(body) => claims::status(known, round, body, ties),
        Event::IterationTerminated(body) => verify::terminated(known, round, body, ties),
        Event::FiguresPlanned(body) => claims::figures_planned(round, body, ties),
        Event::FiguresRecorded(body) => claims::figures(known, round, body, ties),
        Event::FiguresBatchFailed(body) => ties.gist(body.error.as_str()),
        Event::FiguresFinished(_) => {
            ties.after("figures", known.last_of_each(&within("figures", round, "")));
        }
        Event::FiguresSkipped(body) => ties.gist(body.reason.as_str()),
        Event::CaveatAdded(body) => claims::caveat(round, body, ties),
        Event::OpenItemAdded(body) => ties.gist(body.text.as_str()),
        Event::OpenItemClosed(body) => ties.gist(body.text.as_str()),
        Event::ConsistencySwept(body) => claims::swept(round, body, ties),
        Event::RoundEndDecided(body) => rounds::end_decided(known, round, body, ties),
        Event::PipelineHalted(body) => rounds::halted(known, round, body, ties),
        Event::PipelineFinished(body) => rounds::pipeline_finished(known, round, body, ties),
        Event::MemoryBehaviorRecorded(body) => claims::behavior(known, round, body, ties),
        Event::MemoryMechanismRecorded(body) => claims::mechanism(known, round, body, ties),
        Event::MemoryUntriedBehaviorsUpdated(_) => {
            ties.after("ideas", known.last(&place("ideas", round)));
        }
        Event::MemorySkipped(body) => ties.gist(body.reason.as_str()),
        Event::SettlementJudged(body) => claims::settled(known, body, ties),
        Event::OverrideRecorded(body) => ties.gist(format!("{}: {}", body.point, body.request)),
        Event::NotificationTimerRegistered(_) => {}
        Event::NotificationRecorded(body) => ties.gist(body.file.as_str()),
        Event::ApprovalNeeded(body) => ties.gist(body.blocked.as_str()),
        Event::TransitionRequested(body) => rounds::transition(known, body, ties),
        Event::ArchivePlanned(body) => rounds::archive_planned(known, round, body, ties),
        Event::ArchiveRefused(body) => {
            ties.gist(body.message.as_str());
            ties.after("archive plan", known.last(&place("archive", round)));
        }
        Event::RoundArchived(body) => rounds::archived(known, round, body, ties),
        Event::TaskDrafted(body) => rounds::drafted(known, body, ties),
        Event::TransitionReported(_) => ties.after("draft", known.last("draft")),
    }
}
