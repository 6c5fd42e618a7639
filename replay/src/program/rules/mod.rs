//! When an event of the program may come next: part D of its text, in the order of D.0.
//!
//! The program or round exists and is open; the key owns the kind; stage and agent are in the right state;
//! references exist; words are of their vocabulary; the domain's own conditions; asserted derived values. The
//! first that fails names the refusal.

mod between;
mod claims;
mod constraints;
mod endings;
mod experiment;
mod figures;
mod import;
mod iteration;
mod memory;
pub mod next;
mod plan;
mod results;
mod rounds;
mod routing;
mod runs;
pub(super) mod stages;
mod verify;

pub(super) use stages::{is_complete, is_whole};

use std::sync::Arc;

use rp_events::{ClaimId, Code, Refusal, program::Event};

use super::{
    Program, codes,
    constants::StageName,
    state::{ClaimWork, Life, Round},
};
use crate::{At, State, owned};

/// What a rule answers.
type Ruling = Result<(), Refusal>;

/// Where an event would stand: the program and its round as they are.
struct Scene<'a> {
    state: &'a State,
    program: &'a Program,
    at: &'a At<'a>,
    /// The round's number; 0 in the stream `program`.
    number: u64,
    /// The round; an empty one in the stream `program`.
    round: Arc<Round>,
}

/// When a kind may stand in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Window {
    /// In any stream, whatever became of the round: it prepares the next.
    Preparing,
    /// In the stream `program` or in a round that is not closed.
    Reading,
    /// It opens the round.
    Opening,
    /// It takes the live round up again; a round that never was has a code of its own.
    Resuming,
    /// While the round has no ending.
    Running,
    /// While the round is not closed.
    Writeback,
    /// While the round is not archived; the second time has a code of its own.
    Archiving,
    /// In a round, whatever became of it.
    Between,
}

/// Decides whether `event` may come next. Reads every domain, changes none.
pub(super) fn admit(state: &State, at: &At<'_>, event: &Event) -> Ruling {
    let program = state.program();
    let number = at.round();
    if let Event::ProgramCreated(body) = event {
        rounds::none_created(program)?;
        owned(at)?;
        return rounds::created(body);
    }
    hold(program.root().is_some(), &codes::NO_PROGRAM, || {
        format!("`{}` needs a program, and none is created", at.kind.name)
    })?;
    let round = program.round(number);
    let window = window(event);
    stands(program, at, window, round.as_deref())?;
    owned(at)?;
    let scene = Scene { state, program, at, number, round: round.unwrap_or_default() };
    if window == Window::Running {
        scene.runs()?;
    }
    decide(&scene, event)
}

/// Holds an event to a stream and a round that it may stand in.
fn stands(program: &Program, at: &At<'_>, window: Window, round: Option<&Round>) -> Ruling {
    let in_program = at.stream == "program";
    let Some(round) = round else {
        let free = match window {
            Window::Opening => true,
            Window::Preparing | Window::Reading => in_program,
            Window::Resuming
            | Window::Running
            | Window::Writeback
            | Window::Archiving
            | Window::Between => false,
        };
        let resumes = window == Window::Resuming;
        let code = if resumes { &codes::RESUME_NOTHING } else { &codes::UNKNOWN_ROUND };
        return hold(free, code, || {
            let latest = program.latest_round().map_or("none".to_owned(), |n| n.to_string());
            let kind = at.kind.name;
            format!(
                "`{kind}` stands in a round; the latest is {latest}, the stream is `{}`",
                at.stream
            )
        });
    };
    let what = match round.life {
        Life::Running | Life::Ended(_) => return Ok(()),
        Life::Archived => "archived",
        Life::Discarded => "discarded",
    };
    let why = || format!("round {} is {what} and takes no `{}`", at.round(), at.kind.name);
    match window {
        // Rules of their own say more about these.
        Window::Preparing | Window::Opening | Window::Between => Ok(()),
        Window::Archiving if round.life == Life::Archived => {
            Err(Refusal::new(&codes::ALREADY_ARCHIVED, why()))
        }
        Window::Archiving
        | Window::Reading
        | Window::Resuming
        | Window::Running
        | Window::Writeback => Err(Refusal::new(&codes::ROUND_CLOSED, why())),
    }
}

/// When each kind may stand.
#[expect(clippy::too_many_lines, reason = "one arm a kind, and every kind has one")]
fn window(event: &Event) -> Window {
    match event {
        Event::ProgramCreated(_)
        | Event::ProgramImported(_)
        | Event::TaskRecorded(_)
        | Event::RunRequested(_)
        | Event::RunRefused(_)
        | Event::FlagsResolved(_)
        | Event::OverrideRecorded(_)
        | Event::NotificationRecorded(_) => Window::Preparing,
        Event::SettlementJudged(_) => Window::Reading,
        Event::RoundOpened(_) => Window::Opening,
        Event::RoundResumed(_) => Window::Resuming,
        Event::RoundDiscarded(_)
        | Event::BudgetReported(_)
        | Event::StageSkipped(_)
        | Event::LedgerHeaderSet(_)
        | Event::JourneySet(_)
        | Event::LedgerHooked(_)
        | Event::ClaimNarrowed(_)
        | Event::ClaimFalsified(_)
        | Event::ClaimStatusSet(_)
        | Event::FiguresPlanned(_)
        | Event::FiguresRecorded(_)
        | Event::FiguresBatchFailed(_)
        | Event::FiguresFinished(_)
        | Event::FiguresSkipped(_)
        | Event::CaveatAdded(_)
        | Event::OpenItemAdded(_)
        | Event::OpenItemClosed(_)
        | Event::ConsistencySwept(_)
        | Event::MemoryBehaviorRecorded(_)
        | Event::MemoryMechanismRecorded(_)
        | Event::MemoryUntriedBehaviorsUpdated(_)
        | Event::MemorySkipped(_)
        | Event::NotificationTimerRegistered(_)
        | Event::ApprovalNeeded(_)
        | Event::ArchiveRefused(_) => Window::Writeback,
        Event::ArchivePlanned(_) | Event::RoundArchived(_) => Window::Archiving,
        Event::TransitionRequested(_) | Event::TaskDrafted(_) | Event::TransitionReported(_) => {
            Window::Between
        }
        Event::ModelsResolved(_)
        | Event::ConstraintsExtracted(_)
        | Event::ConstraintsInjected(_)
        | Event::ConstraintsRegenerated(_)
        | Event::MemoryRead(_)
        | Event::PinResolved(_)
        | Event::ComprehensionDecided(_)
        | Event::StageDispatched(_)
        | Event::StageReturned(_)
        | Event::StageAccepted(_)
        | Event::StageRejected(_)
        | Event::StageSuperseded(_)
        | Event::GateDecided(_)
        | Event::IdeasRanked(_)
        | Event::PlanCommitted(_)
        | Event::PlanRevised(_)
        | Event::ClaimSeeded(_)
        | Event::ClaimPlanned(_)
        | Event::TipsMatched(_)
        | Event::PhenomenonTested(_)
        | Event::PhenomenonDecided(_)
        | Event::RoutingProposed(_)
        | Event::RoutingCommitted(_)
        | Event::RoutingNotApplicable(_)
        | Event::PlanReconciled(_)
        | Event::CodeReviewed(_)
        | Event::ScorerPiloted(_)
        | Event::SanityRecorded(_)
        | Event::RunStarted(_)
        | Event::RunFinished(_)
        | Event::RunRescaled(_)
        | Event::ExperimentRecorded(_)
        | Event::PowerFlagged(_)
        | Event::GpuPinChecked(_)
        | Event::VerifyTargeted(_)
        | Event::IntegrityAudited(_)
        | Event::VariantsPicked(_)
        | Event::VariantPlanned(_)
        | Event::VariantJudged(_)
        | Event::VariantAudited(_)
        | Event::VerifyDecided(_)
        | Event::VerifyCompleted(_)
        | Event::IterationReviewed(_)
        | Event::IterationActionApplied(_)
        | Event::IterationActionRefused(_)
        | Event::HandoffQueued(_)
        | Event::HandoffCallFinished(_)
        | Event::IterationMerged(_)
        | Event::IterationTerminated(_)
        | Event::RoundEndDecided(_)
        | Event::PipelineHalted(_)
        | Event::PipelineFinished(_) => Window::Running,
    }
}

#[expect(clippy::too_many_lines, reason = "one arm a kind, and every kind has one")]
fn decide(scene: &Scene<'_>, event: &Event) -> Ruling {
    match event {
        Event::ProgramCreated(body) => rounds::created(body),
        Event::ProgramImported(body) => import::imported(scene, body),
        Event::TaskRecorded(body) => rounds::task(scene, body),
        Event::RunRefused(body) => rounds::run_refused(body),
        Event::FlagsResolved(body) => rounds::flags(scene, body),
        Event::RoundOpened(body) => rounds::opened(scene, body),
        Event::RoundResumed(body) => rounds::resumed(scene, body),
        Event::ModelsResolved(body) => rounds::models(scene, body),
        Event::ConstraintsExtracted(body) => constraints::extracted(scene, body),
        Event::ConstraintsInjected(body) => constraints::injected(scene, body),
        Event::ConstraintsRegenerated(body) => constraints::regenerated(scene, body),
        Event::BudgetReported(body) => rounds::budget(scene, body),
        Event::MemoryRead(body) => rounds::memory_read(scene, body),
        Event::PinResolved(body) => constraints::pin(scene, body),
        Event::ComprehensionDecided(body) => constraints::comprehension(scene, body),
        Event::StageDispatched(body) => stages::dispatched(scene, body),
        Event::StageReturned(body) => stages::returned(scene, body),
        Event::StageAccepted(body) => stages::accepted(scene, body),
        Event::StageRejected(body) => stages::rejected(scene, body),
        Event::StageSuperseded(body) => stages::superseded(scene, body),
        Event::StageSkipped(body) => stages::skipped(scene, body),
        Event::GateDecided(body) => stages::gate(scene, body),
        Event::IdeasRanked(body) => claims::ideas(scene, body),
        Event::PlanCommitted(body) => plan::committed(scene, body),
        Event::PlanRevised(body) => plan::revised(scene, body),
        // Where they may stand, and by whom, is all there is to say.
        Event::RunRequested(_) | Event::RoundDiscarded(_) | Event::LedgerHeaderSet(_) => Ok(()),
        Event::ClaimSeeded(body) => claims::seeded(scene, body),
        Event::ClaimPlanned(body) => claims::planned(scene, body),
        Event::JourneySet(body) => claims::journey(body),
        Event::LedgerHooked(body) => claims::hooked(scene, body),
        Event::TipsMatched(_) => scene.live(StageName::Experiment),
        Event::PhenomenonTested(body) => experiment::tested(scene, body),
        Event::PhenomenonDecided(body) => experiment::decided(scene, body),
        Event::RoutingProposed(body) => routing::proposed(scene, body),
        Event::RoutingCommitted(body) => routing::committed(scene, body),
        Event::RoutingNotApplicable(body) => routing::not_applicable(scene, body),
        Event::PlanReconciled(body) => routing::reconciled(scene, body),
        Event::CodeReviewed(body) => experiment::reviewed(scene, body),
        Event::ScorerPiloted(body) => experiment::piloted(scene, body),
        Event::SanityRecorded(body) => experiment::sanity(scene, body),
        Event::RunStarted(body) => runs::started(scene, body),
        Event::RunFinished(body) => runs::finished(scene, body),
        Event::RunRescaled(body) => runs::rescaled(scene, body),
        Event::ExperimentRecorded(body) => results::recorded(scene, body),
        Event::PowerFlagged(body) => results::power(scene, body),
        Event::GpuPinChecked(body) => results::pin(scene, body),
        Event::VerifyTargeted(body) => verify::targeted(scene, body),
        Event::IntegrityAudited(body) => verify::audited(scene, body),
        Event::VariantsPicked(body) => verify::picked(scene, body),
        Event::VariantPlanned(body) => verify::planned(scene, body),
        Event::VariantJudged(body) => verify::judged(scene, body),
        Event::VariantAudited(body) => verify::variant_audited(scene, body),
        Event::VerifyDecided(body) => verify::decided(scene, body),
        Event::VerifyCompleted(body) => verify::completed(scene, body),
        Event::IterationReviewed(body) => iteration::reviewed(scene, body),
        Event::IterationActionApplied(body) => iteration::applied(scene, body),
        Event::IterationActionRefused(body) => iteration::refused(scene, body),
        Event::HandoffQueued(body) => iteration::queued(scene, body),
        Event::HandoffCallFinished(body) => iteration::call_finished(scene, body),
        Event::IterationMerged(body) => iteration::merged(scene, body),
        Event::ClaimNarrowed(body) => iteration::narrowed(scene, body),
        Event::ClaimFalsified(body) => iteration::falsified(scene, body),
        Event::ClaimStatusSet(body) => iteration::status_set(scene, body),
        Event::IterationTerminated(body) => iteration::terminated(scene, body),
        Event::FiguresPlanned(body) => figures::planned(scene, body),
        Event::FiguresRecorded(body) => figures::recorded(scene, body),
        Event::FiguresBatchFailed(body) => figures::batch_failed(scene, body),
        Event::FiguresFinished(body) => figures::finished(scene, body),
        Event::FiguresSkipped(body) => figures::skipped(scene, body),
        Event::CaveatAdded(body) => endings::caveat(scene, body),
        Event::OpenItemAdded(body) => endings::open_item(body),
        Event::OpenItemClosed(body) => endings::closed_item(body),
        Event::ConsistencySwept(body) => endings::swept(scene, body),
        Event::RoundEndDecided(body) => endings::round_end(scene, body),
        Event::PipelineHalted(body) => endings::halted(scene, body),
        Event::PipelineFinished(body) => endings::finished(scene, body),
        Event::MemoryBehaviorRecorded(body) => memory::behavior(scene, body),
        Event::MemoryMechanismRecorded(body) => memory::mechanism(scene, body),
        Event::MemoryUntriedBehaviorsUpdated(body) => memory::untried(scene, body),
        Event::MemorySkipped(body) => memory::skipped(scene, body),
        Event::SettlementJudged(body) => memory::settlement(scene, body),
        Event::OverrideRecorded(body) => between::overridden(body),
        Event::NotificationTimerRegistered(body) => between::timer(scene, body),
        Event::NotificationRecorded(body) => between::notification(scene, body),
        Event::ApprovalNeeded(body) => between::approval(body),
        Event::TransitionRequested(body) => between::transition(scene, body),
        Event::ArchivePlanned(body) => between::archive_planned(scene, body),
        Event::ArchiveRefused(body) => between::archive_refused(scene, body),
        Event::RoundArchived(body) => between::archived(scene, body),
        Event::TaskDrafted(body) => between::drafted(scene, body),
        Event::TransitionReported(body) => between::reported(scene, body),
    }
}

impl Scene<'_> {
    /// Holds the round to have no ending yet.
    fn runs(&self) -> Ruling {
        match self.round.life {
            Life::Ended(ending) => Err(Refusal::new(
                &codes::ALREADY_TERMINAL,
                format!("round {} has the ending `{ending}`", self.number),
            )),
            Life::Running | Life::Archived | Life::Discarded => Ok(()),
        }
    }

    /// Holds the agent of a stage to be at work.
    fn live(&self, stage: StageName) -> Ruling {
        hold(self.round.is_live(stage), &codes::NOT_RUNNING, || {
            let running = self.round.stages.running().map_or("none", StageName::as_str);
            format!("stage `{stage}` is not running; the running stage is `{running}`")
        })
    }

    /// What stands behind a claim of the round.
    fn work(&self, claim: &str) -> Result<Arc<ClaimWork>, Refusal> {
        self.program.work(self.number, claim).ok_or_else(|| {
            let claims = &self.round.claims;
            Refusal::new(
                &codes::UNKNOWN_CLAIM,
                format!("round {} has {} claims, none is `{claim}`", self.number, claims.len()),
            )
        })
    }

    /// Holds claims to be seeded.
    fn known(&self, claims: &[ClaimId]) -> Ruling {
        claims.iter().try_for_each(|claim| self.work(claim.as_str()).map(drop))
    }
}

/// Refuses with a code unless something holds.
fn hold(holds: bool, code: &'static Code, why: impl FnOnce() -> String) -> Ruling {
    if holds { Ok(()) } else { Err(Refusal::new(code, why())) }
}

/// Holds a word to its vocabulary.
fn word(value: &str, field: &str, allowed: &[&str]) -> Ruling {
    hold(allowed.contains(&value), &codes::BAD_ENUM, || {
        format!("`{field}` is one of `{}`; found `{value}`", allowed.join("`, `"))
    })
}

/// Reads a stage's name.
fn stage(name: &str) -> Result<StageName, Refusal> {
    word(name, "stage", StageName::WORDS)?;
    Ok(StageName::parse(name).expect("word() let it pass"))
}

/// Holds a text to say something.
fn filled(text: &str, field: &str) -> Ruling {
    hold(!text.trim().is_empty(), &codes::EMPTY, || format!("`{field}` is empty"))
}
