//! What an event of the program is about, beside the round of its stream.

use rp_events::{ClaimId, program::Event};

/// What an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Its stream says it all.
    None,
    /// A round that is not that of its stream.
    Round(u64),
    /// These claims.
    Claims(Vec<String>),
    /// Every claim that the round has.
    EveryClaim,
    /// A run that names these claims.
    RunStarted(String, Vec<String>),
    /// A run, and the claims that its start named.
    Run(String),
}

/// Says what an event is about: whose page it may change.
#[expect(clippy::too_many_lines, reason = "one arm a kind, and every kind has one")]
pub fn subject(event: &Event) -> Subject {
    match event {
        Event::ProgramImported(body) => body.live_round.map_or(Subject::None, Subject::Round),
        Event::ClaimSeeded(body) => {
            let ids = [Some(&body.id), body.parent.as_ref()];
            Subject::Claims(ids.into_iter().flatten().map(ToString::to_string).collect())
        }
        Event::ClaimPlanned(body) => one(&body.id),
        Event::ExperimentRecorded(body) => one(&body.claim),
        Event::PowerFlagged(body) => one(&body.claim),
        Event::IntegrityAudited(body) => one(&body.claim),
        Event::VariantPlanned(body) => one(&body.claim),
        Event::VariantJudged(body) => one(&body.claim),
        Event::VariantAudited(body) => one(&body.claim),
        Event::VerifyDecided(body) => one(&body.claim),
        Event::IterationActionRefused(body) => one(&body.claim),
        Event::ClaimNarrowed(body) => one(&body.claim),
        Event::ClaimFalsified(body) => one(&body.claim),
        Event::ClaimStatusSet(body) => one(&body.claim),
        Event::FiguresRecorded(body) => one(&body.claim),
        Event::CaveatAdded(body) => one(&body.claim),
        Event::VerifyTargeted(body) => each(&body.claims),
        Event::VariantsPicked(body) => each(&body.picked),
        Event::IterationActionApplied(body) => each(&body.claims),
        Event::RoundEndDecided(body) => each(&body.claims),
        Event::IterationReviewed(body) => each(body.requests.iter().map(|request| &request.claim)),
        Event::IterationMerged(body) => each(body.claims.iter().map(|claim| &claim.id)),
        Event::FiguresPlanned(body) => each(body.claims.iter().map(|claim| &claim.id)),
        Event::ConsistencySwept(body) => {
            each(body.mismatches.iter().map(|mismatch| &mismatch.claim))
        }
        Event::MemoryMechanismRecorded(body) => each(body.claims.iter().map(|claim| &claim.id)),
        Event::PhenomenonDecided(_) | Event::FiguresBatchFailed(_) => Subject::EveryClaim,
        Event::RunStarted(body) => Subject::RunStarted(
            body.run.to_string(),
            body.claims.iter().map(ToString::to_string).collect(),
        ),
        Event::RunFinished(body) => Subject::Run(body.run.to_string()),
        Event::RunRescaled(body) => Subject::Run(body.run.to_string()),
        Event::ProgramCreated(_)
        | Event::TaskRecorded(_)
        | Event::RunRequested(_)
        | Event::RunRefused(_)
        | Event::FlagsResolved(_)
        | Event::RoundOpened(_)
        | Event::RoundResumed(_)
        | Event::RoundDiscarded(_)
        | Event::ModelsResolved(_)
        | Event::ConstraintsExtracted(_)
        | Event::ConstraintsInjected(_)
        | Event::ConstraintsRegenerated(_)
        | Event::BudgetReported(_)
        | Event::MemoryRead(_)
        | Event::PinResolved(_)
        | Event::ComprehensionDecided(_)
        | Event::StageDispatched(_)
        | Event::StageReturned(_)
        | Event::StageAccepted(_)
        | Event::StageRejected(_)
        | Event::StageSuperseded(_)
        | Event::StageSkipped(_)
        | Event::GateDecided(_)
        | Event::IdeasRanked(_)
        | Event::PlanCommitted(_)
        | Event::PlanRevised(_)
        | Event::LedgerHeaderSet(_)
        | Event::JourneySet(_)
        | Event::LedgerHooked(_)
        | Event::TipsMatched(_)
        | Event::PhenomenonTested(_)
        | Event::RoutingProposed(_)
        | Event::RoutingCommitted(_)
        | Event::RoutingNotApplicable(_)
        | Event::PlanReconciled(_)
        | Event::CodeReviewed(_)
        | Event::ScorerPiloted(_)
        | Event::SanityRecorded(_)
        | Event::GpuPinChecked(_)
        | Event::VerifyCompleted(_)
        | Event::HandoffQueued(_)
        | Event::HandoffCallFinished(_)
        | Event::IterationTerminated(_)
        | Event::FiguresFinished(_)
        | Event::FiguresSkipped(_)
        | Event::OpenItemAdded(_)
        | Event::OpenItemClosed(_)
        | Event::PipelineHalted(_)
        | Event::PipelineFinished(_)
        | Event::MemoryBehaviorRecorded(_)
        | Event::MemoryUntriedBehaviorsUpdated(_)
        | Event::MemorySkipped(_)
        | Event::SettlementJudged(_)
        | Event::OverrideRecorded(_)
        | Event::NotificationTimerRegistered(_)
        | Event::NotificationRecorded(_)
        | Event::ApprovalNeeded(_)
        | Event::TransitionRequested(_)
        | Event::ArchivePlanned(_)
        | Event::ArchiveRefused(_)
        | Event::RoundArchived(_)
        | Event::TaskDrafted(_)
        | Event::TransitionReported(_) => Subject::None,
    }
}

fn one(claim: &ClaimId) -> Subject {
    Subject::Claims(vec![claim.to_string()])
}

fn each<'a>(claims: impl IntoIterator<Item = &'a ClaimId>) -> Subject {
    Subject::Claims(claims.into_iter().map(ToString::to_string).collect())
}
