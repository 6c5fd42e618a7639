//! Events of the program of rounds. Specified in `spec/program.md`.
//!
//! Payloads stand in a module for each part of a round. Their shape is strict and their values are lenient: a
//! word outside its vocabulary is refused by a rule with its domain's code, not at decoding.

use crate::kinds::kinds;

mod between;
mod claims;
mod experiment;
mod flags;
mod import;
mod iteration;
mod memory;
mod rounds;
mod stages;
mod verify;
mod writeback;

pub use between::*;
pub use claims::*;
pub use experiment::*;
pub use flags::*;
pub use import::*;
pub use iteration::*;
pub use memory::*;
pub use rounds::*;
pub use stages::*;
pub use verify::*;
pub use writeback::*;

kinds! {
    #![doc = "An event of the program."]
    domain "program";

    /// The program was created, with its name and overarching direction.
    ProgramCreated(ProgramCreated) = "program.created" v 1 by ["user"] else "wrong-owner";
    /// An existing project was taken over: archives, memory, highest round.
    ProgramImported(ProgramImported) = "program.imported" v 1 by ["user"] else "wrong-owner";
    /// The task was written or edited.
    TaskRecorded(TaskRecorded) = "task.recorded" v 1 by ["user", "next-round"] else "task-body-protected";
    /// The user asked for a run.
    RunRequested(RunRequested) = "run.requested" v 1 by ["user"] else "wrong-owner";
    /// A requested run was refused before anything began.
    RunRefused(RunRefused) = "run.refused" v 1 by ["orchestrator"] else "wrong-owner";
    /// A request's flags were read and their defaults filled in.
    FlagsResolved(FlagsResolved) = "flags.resolved" v 1 by ["orchestrator"] else "wrong-owner";
    /// A round was opened.
    RoundOpened(RoundOpened) = "round.opened" v 1 by ["orchestrator"] else "wrong-owner";
    /// The latest round is continued.
    RoundResumed(RoundResumed) = "round.resumed" v 1 by ["orchestrator"] else "wrong-owner";
    /// The user threw a round away; its number stays used.
    RoundDiscarded(RoundDiscarded) = "round.discarded" v 1 by ["user"] else "wrong-owner";
    /// The model of each stage and where the choice came from.
    ModelsResolved(ModelsResolved) = "models.resolved" v 1 by ["orchestrator"] else "wrong-owner";
    /// The task's constraints, verbatim, with the stages that they bind.
    ConstraintsExtracted(ConstraintsExtracted) = "constraints.extracted" v 1 by ["orchestrator"] else "wrong-owner";
    /// A stage was given its constraints for its next attempt.
    ConstraintsInjected(ConstraintsInjected) = "constraints.injected" v 1 by ["orchestrator"] else "wrong-owner";
    /// Constraints changed because the user overrode them.
    ConstraintsRegenerated(ConstraintsRegenerated) = "constraints.regenerated" v 1 by ["orchestrator"] else "wrong-owner";
    /// The round's GPU-hours so far.
    BudgetReported(BudgetReported) = "budget.reported" v 1 by ["orchestrator"] else "wrong-owner";
    /// The research memory was read, or was not used.
    MemoryRead(MemoryRead) = "memory.read" v 1 by ["orchestrator"] else "wrong-owner";
    /// A pin on something settled was honoured or replaced.
    PinResolved(PinResolved) = "pin.resolved" v 1 by ["orchestrator"] else "wrong-owner";
    /// Whether a given behavior can be tested as it stands.
    ComprehensionDecided(ComprehensionDecided) = "comprehension.decided" v 1 by ["orchestrator"] else "wrong-owner";
    /// A stage's agent was sent out.
    StageDispatched(StageDispatched) = "stage.dispatched" v 1 by ["orchestrator"] else "wrong-owner";
    /// A stage's agent came back.
    StageReturned(StageReturned) = "stage.returned" v 1 by ["@stage"] else "wrong-owner";
    /// What a stage left was accepted.
    StageAccepted(StageAccepted) = "stage.accepted" v 1 by ["orchestrator"] else "wrong-owner";
    /// What a stage left was rejected; it runs again.
    StageRejected(StageRejected) = "stage.rejected" v 1 by ["orchestrator"] else "wrong-owner";
    /// A stage's account was replaced.
    StageSuperseded(StageSuperseded) = "stage.superseded" v 1 by ["orchestrator"] else "wrong-owner";
    /// A stage was left out for a reason that holds.
    StageSkipped(StageSkipped) = "stage.skipped" v 1 by ["orchestrator"] else "wrong-owner";
    /// A gate was decided, by the mode's rule or by the user.
    GateDecided(GateDecided) = "gate.decided" v 1 by ["orchestrator", "@gate"] else "wrong-owner";
    /// The ideas of a discovery round, survivors first.
    IdeasRanked(IdeasRanked) = "ideas.ranked" v 1 by ["claim-agent"] else "wrong-owner";
    /// The experiment plan, whole.
    PlanCommitted(PlanCommitted) = "plan.committed" v 1 by ["claim-agent"] else "plan-editor";
    /// A part of the plan was changed.
    PlanRevised(PlanRevised) = "plan.revised" v 1 by ["claim-agent", "iteration-agent", "user"] else "plan-editor";
    /// The ledger's header.
    LedgerHeaderSet(LedgerHeaderSet) = "ledger.header_set" v 1 by ["orchestrator"] else "ledger-owner";
    /// A claim entered the ledger.
    ClaimSeeded(ClaimSeeded) = "claim.seeded" v 1 by ["orchestrator"] else "ledger-owner";
    /// A claim's planned data, models and method.
    ClaimPlanned(ClaimPlanned) = "claim.planned" v 1 by ["orchestrator"] else "ledger-owner";
    /// A line of the journey summary.
    JourneySet(JourneySet) = "journey.set" v 1 by ["orchestrator"] else "ledger-owner";
    /// A hook's merges are complete.
    LedgerHooked(LedgerHooked) = "ledger.hooked" v 1 by ["orchestrator"] else "ledger-owner";
    /// Tips from the catalogue that fit the plan.
    TipsMatched(TipsMatched) = "tips.matched" v 1 by ["experiment-agent"] else "wrong-owner";
    /// The phenomenon was tested once.
    PhenomenonTested(PhenomenonTested) = "phenomenon.tested" v 1 by ["experiment-agent"] else "wrong-owner";
    /// What the tests say of the phenomenon.
    PhenomenonDecided(PhenomenonDecided) = "phenomenon.decided" v 1 by ["experiment-agent"] else "wrong-owner";
    /// Candidate methods for the mechanism.
    RoutingProposed(RoutingProposed) = "routing.proposed" v 1 by ["experiment-agent"] else "wrong-owner";
    /// The method for the mechanism.
    RoutingCommitted(RoutingCommitted) = "routing.committed" v 1 by ["experiment-agent"] else "wrong-owner";
    /// The round is behavioral only.
    RoutingNotApplicable(RoutingNotApplicable) = "routing.not_applicable" v 1 by ["experiment-agent"] else "wrong-owner";
    /// The plan's method-sensitive fields, held against the method.
    PlanReconciled(PlanReconciled) = "plan.reconciled" v 1 by ["experiment-agent"] else "wrong-owner";
    /// Code was reviewed before its run.
    CodeReviewed(CodeReviewed) = "code.reviewed" v 1 by ["experiment-agent", "verify-agent"] else "wrong-owner";
    /// A scorer was tried on a small sample.
    ScorerPiloted(ScorerPiloted) = "scorer.piloted" v 1 by ["experiment-agent"] else "wrong-owner";
    /// The smallest run was made; it is no result.
    SanityRecorded(SanityRecorded) = "sanity.recorded" v 1 by ["experiment-agent"] else "wrong-owner";
    /// An experiment run began.
    RunStarted(RunStarted) = "run.started" v 1 by ["launcher"] else "wrong-owner";
    /// An experiment run ended.
    RunFinished(RunFinished) = "run.finished" v 1 by ["monitor"] else "wrong-owner";
    /// A run was given more devices by a neutral technique.
    RunRescaled(RunRescaled) = "run.rescaled" v 1 by ["launcher"] else "wrong-owner";
    /// A claim's main experiment.
    ExperimentRecorded(ExperimentRecorded) = "experiment.recorded" v 1 by ["orchestrator"] else "ledger-owner";
    /// A weak verdict was reached at reduced scale.
    PowerFlagged(PowerFlagged) = "power.flagged" v 1 by ["orchestrator"] else "ledger-owner";
    /// The devices used were held against those asked for.
    GpuPinChecked(GpuPinChecked) = "gpu_pin.checked" v 1 by ["orchestrator"] else "wrong-owner";
    /// The claims that are verified.
    VerifyTargeted(VerifyTargeted) = "verify.targeted" v 1 by ["verify-agent"] else "wrong-owner";
    /// A claim's main experiment was audited.
    IntegrityAudited(IntegrityAudited) = "integrity.audited" v 1 by ["verify-agent"] else "wrong-owner";
    /// The claims that get swap variants.
    VariantsPicked(VariantsPicked) = "variants.picked" v 1 by ["verify-agent"] else "wrong-owner";
    /// A swap variant.
    VariantPlanned(VariantPlanned) = "variant.planned" v 1 by ["verify-agent"] else "wrong-owner";
    /// Whether a variant supports its claim.
    VariantJudged(VariantJudged) = "variant.judged" v 1 by ["verify-agent"] else "wrong-owner";
    /// A variant's integrity.
    VariantAudited(VariantAudited) = "variant.audited" v 1 by ["verify-agent"] else "wrong-owner";
    /// A claim's verdict, which is derived.
    VerifyDecided(VerifyDecided) = "verify.decided" v 1 by ["verify-agent"] else "wrong-owner";
    /// The worst integrity over all claims.
    VerifyCompleted(VerifyCompleted) = "verify.completed" v 1 by ["verify-agent"] else "wrong-owner";
    /// The external reviewer's score, verdict and requests.
    IterationReviewed(IterationReviewed) = "iteration.reviewed" v 1 by ["iteration-agent"] else "wrong-owner";
    /// A repair was made, and charged.
    IterationActionApplied(IterationActionApplied) = "iteration.action_applied" v 1 by ["iteration-agent"] else "wrong-owner";
    /// A requested repair is not allowed.
    IterationActionRefused(IterationActionRefused) = "iteration.action_refused" v 1 by ["iteration-agent"] else "wrong-owner";
    /// Earlier stages are to be run again for a rewrite.
    HandoffQueued(HandoffQueued) = "handoff.queued" v 1 by ["iteration-agent"] else "wrong-owner";
    /// A call of the handoff ended.
    HandoffCallFinished(HandoffCallFinished) = "handoff.call_finished" v 1 by ["orchestrator"] else "wrong-owner";
    /// A cycle's evidence entered the ledger.
    IterationMerged(IterationMerged) = "iteration.merged" v 1 by ["orchestrator"] else "ledger-owner";
    /// A claim was narrowed.
    ClaimNarrowed(ClaimNarrowed) = "claim.narrowed" v 1 by ["orchestrator"] else "ledger-owner";
    /// A claim was falsified.
    ClaimFalsified(ClaimFalsified) = "claim.falsified" v 1 by ["orchestrator"] else "ledger-owner";
    /// A claim's final status.
    ClaimStatusSet(ClaimStatusSet) = "claim.status_set" v 1 by ["orchestrator"] else "ledger-owner";
    /// The review loop ended.
    IterationTerminated(IterationTerminated) = "iteration.terminated" v 1 by ["iteration-agent"] else "wrong-owner";
    /// The figures wished for, by claim.
    FiguresPlanned(FiguresPlanned) = "figures.planned" v 1 by ["orchestrator"] else "wrong-owner";
    /// What became of a claim's figures.
    FiguresRecorded(FiguresRecorded) = "figures.recorded" v 1 by ["paper-figure"] else "wrong-owner";
    /// The figures could not be made.
    FiguresBatchFailed(FiguresBatchFailed) = "figures.batch_failed" v 1 by ["orchestrator"] else "ledger-owner";
    /// The figures are done and merged.
    FiguresFinished(FiguresFinished) = "figures.finished" v 1 by ["orchestrator"] else "wrong-owner";
    /// No figures are made.
    FiguresSkipped(FiguresSkipped) = "figures.skipped" v 1 by ["orchestrator"] else "ledger-owner";
    /// A caveat on a claim.
    CaveatAdded(CaveatAdded) = "caveat.added" v 1 by ["orchestrator"] else "ledger-owner";
    /// Something is left open.
    OpenItemAdded(OpenItemAdded) = "open_item.added" v 1 by ["orchestrator"] else "ledger-owner";
    /// Something left open was settled.
    OpenItemClosed(OpenItemClosed) = "open_item.closed" v 1 by ["orchestrator"] else "ledger-owner";
    /// Ledger and stage documents were compared.
    ConsistencySwept(ConsistencySwept) = "consistency.swept" v 1 by ["orchestrator"] else "wrong-owner";
    /// The round ends for a decision of the user.
    RoundEndDecided(RoundEndDecided) = "round_end.decided" v 1 by ["orchestrator"] else "ledger-owner";
    /// The round stops on an error.
    PipelineHalted(PipelineHalted) = "pipeline.halted" v 1 by ["orchestrator"] else "ledger-owner";
    /// The round ends with a scientific outcome.
    PipelineFinished(PipelineFinished) = "pipeline.finished" v 1 by ["orchestrator"] else "ledger-owner";
    /// What the round found of its behavior.
    MemoryBehaviorRecorded(MemoryBehaviorRecorded) = "memory.behavior_recorded" v 1 by ["orchestrator"] else "memory-owner";
    /// The round's attempt at a mechanism.
    MemoryMechanismRecorded(MemoryMechanismRecorded) = "memory.mechanism_recorded" v 1 by ["orchestrator"] else "memory-owner";
    /// The root list of candidates that nobody has tried.
    MemoryUntriedBehaviorsUpdated(MemoryUntriedBehaviorsUpdated) = "memory.untried_behaviors_updated" v 1 by ["orchestrator"] else "memory-owner";
    /// The round leaves nothing in the memory, and why.
    MemorySkipped(MemorySkipped) = "memory.skipped" v 1 by ["orchestrator"] else "memory-owner";
    /// How an attempt reads: settled or open.
    SettlementJudged(SettlementJudged) = "settlement.judged" v 1 by ["next-round", "claim-agent", "orchestrator"] else "wrong-owner";
    /// The user overrode something.
    OverrideRecorded(OverrideRecorded) = "override.recorded" v 1 by ["user"] else "wrong-owner";
    /// The hourly briefing was set.
    NotificationTimerRegistered(NotificationTimerRegistered) = "notification.timer_registered" v 1 by ["orchestrator"] else "wrong-owner";
    /// A briefing was saved, and sent or not.
    NotificationRecorded(NotificationRecorded) = "notification.recorded" v 1 by ["notify"] else "wrong-owner";
    /// Something waits for a person.
    ApprovalNeeded(ApprovalNeeded) = "approval.needed" v 1 by ["orchestrator"] else "wrong-owner";
    /// The user chose what the next round is for.
    TransitionRequested(TransitionRequested) = "transition.requested" v 1 by ["next-round", "user"] else "wrong-owner";
    /// What will move into the archive, and what stays.
    ArchivePlanned(ArchivePlanned) = "archive.planned" v 1 by ["next-round"] else "wrong-owner";
    /// The archive's place was taken.
    ArchiveRefused(ArchiveRefused) = "archive.refused" v 1 by ["next-round"] else "wrong-owner";
    /// The round's files were archived; it is closed.
    RoundArchived(RoundArchived) = "round.archived" v 1 by ["next-round"] else "wrong-owner";
    /// The next round's task was drafted.
    TaskDrafted(TaskDrafted) = "task.drafted" v 1 by ["next-round"] else "wrong-owner";
    /// What the helper printed at its end.
    TransitionReported(TransitionReported) = "transition.reported" v 1 by ["next-round"] else "wrong-owner";
}
