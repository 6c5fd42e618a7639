//! What the files of an older project leave (E2): its memory, its rounds, the round at its root.

use rp_events::program::{
    ClaimFinding, FigureEntry, ImportedBehavior, ImportedClaim, ImportedHeader, ImportedLedger,
    ImportedMechanism, ImportedMemory, ProgramImported,
};

use super::{
    Answer, ClaimWork, FigurePlan, Hook, Imported, Life, Loop, Method, ONE, PhenomenonVerdict,
    Program, Round, Routing, StageState, fold_memory::archive_of, fold_rounds::RUNNING, key,
    within,
};
use crate::program::{
    constants::{BaseVerdict, Ending, PhenomenonStatus, StageName, Verdict},
    ledger::{
        ClaimIteration, ClaimRow, DataUse, Figure, Header, IterationSummary, Journey,
        MainExperiment, RoundEnd, Share, StageModels, Verify,
    },
    memory::{Behavior, Impact, Mechanism, MechanismClaim},
};

impl Program {
    pub(super) fn import(&mut self, body: &ProgramImported) {
        self.course.edit(ONE, |course| {
            course.imports += 1;
            course.highest_round = course.highest_round.max(body.highest_round);
            course.latest_round = course.latest_round.or(body.live_round);
        });
        for number in &body.archives {
            let imported = Imported { folder: archive_of(*number), is_partial: false };
            let round =
                Round { life: Life::Archived, imported: Some(imported), ..Round::default() };
            self.rounds.put(&key(*number), round);
        }
        if let Some(live) = body.live_round {
            let round = Round { imported: Some(Imported::default()), ..Round::default() };
            self.rounds.put(&key(live), round);
            let header = Header { pipeline_status: RUNNING.to_owned(), ..Header::default() };
            self.headers.put(&key(live), header);
        }
        if let Some(ledger) = &body.ledger {
            self.import_ledger(ledger);
        }
        for file in body.files.iter().flatten() {
            self.imports.put(&file.path, file.b3);
            // The index is the witness that the figures were made, be there any or none.
            if let Some(ledger) = &body.ledger
                && file.path == format!("{}figures/INDEX.md", ledger.folder)
            {
                self.figures.upsert(&key(ledger.round), |record| record.is_finished = true);
            }
        }
        if let Some(memory) = &body.memory {
            self.import_memory(memory);
        }
    }

    fn import_memory(&mut self, memory: &ImportedMemory) {
        self.course.edit(ONE, |course| course.keeps_old_memory = true);
        self.root.edit(ONE, |root| {
            root.has_memory = true;
            if !memory.direction.is_empty() {
                root.direction.clone_from(&memory.direction);
            }
            let fresh = memory.untried_behavior_directions.iter();
            root.untried_behavior_directions.extend(fresh.cloned());
        });
        for old in &memory.behaviors {
            let behavior = behavior(old);
            let attempts = behavior.mechanisms.iter().map(|attempt| attempt.round);
            for round in attempts.chain([behavior.decided_in_round]) {
                self.memories.upsert(&key(round), |record| {
                    record.behavior = Some(behavior.id.clone());
                    record.before = Some(behavior.clone());
                    record.has_listed = true;
                });
            }
            self.put_behavior(behavior);
        }
    }

    fn import_ledger(&mut self, ledger: &ImportedLedger) {
        let round = ledger.round;
        if let Some(old) = &ledger.header {
            self.headers.put(&key(round), header(old));
            self.import_standing(round, old, ledger.claim_reentries.unwrap_or(0));
        }
        for claim in &ledger.claims {
            self.import_claim(round, claim);
        }
        self.rounds.edit(&key(round), |record| {
            if let Some(imported) = &mut record.imported {
                imported.folder.clone_from(&ledger.folder);
                imported.is_partial |= ledger.left_out.is_some_and(|count| count > 0);
            }
            for name in ledger.complete.iter().flatten().filter_map(|name| StageName::parse(name)) {
                let stage = record.stages.of_mut(name);
                stage.attempt = 1;
                stage.state = StageState::Accepted;
            }
            passed_gates(record);
        });
    }

    /// Where the round stands, read from its ledger: life, hook, review loop, method, phenomenon.
    fn import_standing(&mut self, round: u64, old: &ImportedHeader, reentries: u64) {
        let hook = Hook::parse(&old.updated_after_stage);
        let summary = &old.iteration_summary;
        let cycle = match hook {
            Some(Hook::Cycle(cycle)) => cycle,
            Some(Hook::Claim | Hook::Experiment | Hook::Verify | Hook::Final) | None => 0,
        };
        let review = Loop {
            cycle,
            merged: cycle,
            score: summary.score.clone(),
            verdict: summary.verdict.clone(),
            consumed: summary.rounds_consumed,
            reentries,
            terminated: hook == Some(Hook::Final),
            ..Loop::default()
        };
        self.loops.put(&key(round), review);
        let ending = Ending::leading(&old.pipeline_status);
        self.rounds.edit(&key(round), |record| {
            if let (Life::Running, Some(ending)) = (record.life, ending) {
                record.life = Life::Ended(ending);
            }
            record.hook = hook;
            record.routing = routing(&old.journey_summary.mechanism_routing);
            let status = match ending {
                Some(Ending::NotEstablished) => Some(PhenomenonStatus::NotEstablished),
                Some(Ending::Inconclusive) => Some(PhenomenonStatus::Inconclusive),
                Some(
                    Ending::Completed
                    | Ending::TruncatedAtVerify
                    | Ending::NeedsDecision
                    | Ending::Halted,
                )
                | None => None,
            };
            record.phenomenon.verdict =
                status.map(|status| PhenomenonVerdict { status, terminal: true });
        });
    }

    fn import_claim(&mut self, round: u64, old: &ImportedClaim) {
        let id = old.id.as_str();
        let after = self.header(round).map(|header| header.updated_after_stage.clone());
        let in_loop = after.is_some_and(|stage| stage.starts_with("iteration"));
        let base = BaseVerdict::leading(&old.main_experiment.verdict);
        let work = ClaimWork {
            parent: parent(id).filter(|parent| self.work(round, parent).is_some()),
            base,
            is_measured: !old.main_experiment.verdict.is_empty(),
            is_flagged: old.main_experiment.verdict.contains("[provisional"),
            is_supported: base == Some(BaseVerdict::Supported),
            verdict: Verdict::parse(&old.verify.verdict),
            is_judged: in_loop,
            ..ClaimWork::default()
        };
        self.works.put(&within(round, id), work);
        self.rows.put(&within(round, id), row(old));
        self.rounds.edit(&key(round), |record| record.claims.push(id.to_owned()));
        if !old.figures.is_empty() {
            let planned = old.figures.iter().map(|figure| figure.id.to_string()).collect();
            self.figures.upsert(&key(round), |record: &mut FigurePlan| {
                record.is_finished = true;
                record.planned.get_or_insert_default().insert(id.to_owned(), planned);
            });
        }
    }
}

/// The gates before the last complete stage were passed, and those that lie within a stage ended with it.
fn passed_gates(record: &mut Round) {
    let done = |name| record.stages.of(name).is_done();
    let (experiment, verify) = (done(StageName::Experiment), done(StageName::Verify));
    let iteration = done(StageName::Iteration);
    if experiment || verify || iteration {
        record.gates.claim = Some(Answer::Go);
        record.gates.experiment = Some(Answer::Go);
    }
    if verify || iteration {
        record.gates.verify = Some(Answer::Go);
    }
}

/// The method that a journey line names (E.6).
fn routing(line: &str) -> Routing {
    if line == "not-applicable" {
        return Routing::NotApplicable;
    }
    let named = line.strip_prefix("family=").and_then(|rest| rest.split_once(", submethod="));
    match named {
        Some((family, submethod)) => Routing::Committed(Method {
            family: family.to_owned(),
            submethod: submethod.to_owned(),
        }),
        None => Routing::Open,
    }
}

/// The claim that a rewrite is named after: `C4` of `C4_v2`, `C4_v2` of `C4_v3`.
fn parent(id: &str) -> Option<String> {
    let (original, version) = id.rsplit_once("_v")?;
    match version.parse::<u64>().ok()? {
        2 => Some(original.to_owned()),
        n if n > 2 => Some(format!("{original}_v{}", n - 1)),
        _ => None,
    }
}

/// A behavior as the memory file had it.
pub(crate) fn behavior(old: &ImportedBehavior) -> Behavior {
    Behavior {
        id: old.id.to_string(),
        statement: old.statement.clone(),
        status: old.status.clone(),
        behavior_conclusion: old.behavior_conclusion.clone(),
        impact: Impact {
            assessment: old.impact.assessment.clone(),
            recommendation: old.impact.recommendation.clone(),
            assessed_in_round: old.impact.assessed_in_round,
        },
        decided_in_round: old.decided_in_round,
        mechanisms: old.mechanisms.iter().map(mechanism).collect(),
        untried_mechanism_directions: old.untried_mechanism_directions.clone(),
        ordinal: 0,
        asserted: false,
    }
}

fn mechanism(old: &ImportedMechanism) -> Mechanism {
    let finding = |old: &ClaimFinding| MechanismClaim {
        id: old.id.to_string(),
        statement: old.statement.clone(),
        method: old.method.clone(),
        conclusion: old.conclusion.clone(),
    };
    Mechanism {
        round: old.round,
        direction: old.direction.clone(),
        family: old.family.clone(),
        headline: old.headline.clone(),
        claims: old.claims.iter().map(finding).collect(),
        archived_to: old.archived_to.clone(),
        reading: None,
    }
}

/// A ledger's header as the file had it.
pub(crate) fn header(old: &ImportedHeader) -> Header {
    let (models, end) = (&old.models, &old.round_end);
    let (journey, iteration) = (&old.journey_summary, &old.iteration_summary);
    Header {
        project: old.project.clone(),
        direction: old.direction.clone(),
        start: old.date_range.start.clone(),
        end: old.date_range.end.clone(),
        models: StageModels {
            claim: models.claim.clone(),
            experiment: models.experiment.clone(),
            verify: models.verify.clone(),
            iteration: models.iteration.clone(),
        },
        pipeline_status: old.pipeline_status.clone(),
        round_end: RoundEnd {
            qualifier: end.qualifier.clone(),
            detail: end.detail.clone(),
            remedy: end.remedy.clone(),
            see: end.see.clone(),
            partial_artifacts: end.partial_artifacts.clone(),
            next_round_options: end.next_round_options.clone(),
        },
        journey: Journey {
            claim: journey.claim.clone(),
            mechanism_strategy: journey.mechanism_strategy.clone(),
            mechanism_routing: journey.mechanism_routing.clone(),
            experiment: journey.experiment.clone(),
            verify: journey.verify.clone(),
            iteration: journey.iteration.clone(),
            figures: journey.figures.clone(),
        },
        open_items: old.open_items.clone(),
        iteration: IterationSummary {
            score: iteration.score.clone(),
            verdict: iteration.verdict.clone(),
            rounds_consumed: iteration.rounds_consumed,
            max_rounds: iteration.max_rounds,
        },
        updated_after_stage: old.updated_after_stage.clone(),
    }
}

/// A claim's row as the file had it.
pub(crate) fn row(old: &ImportedClaim) -> ClaimRow {
    let (data, main, verify) = (&old.data, &old.main_experiment, &old.verify);
    ClaimRow {
        id: old.id.to_string(),
        statement: old.statement.clone(),
        origin: old.origin.clone(),
        data: DataUse {
            provenance: data.provenance.clone(),
            source: data.source.clone(),
            available_n: data.available_n.clone(),
            used_n: data.used_n.clone(),
            subset_note: data.subset_note.clone(),
        },
        models: old.models.clone(),
        method: old.method.clone(),
        main_experiment: MainExperiment {
            verdict: main.verdict.clone(),
            key_stats: main.key_stats.clone(),
            headline: main.headline.clone(),
        },
        verify: Verify {
            robustness: verify.robustness.clone().map(Share::Stated),
            method: verify.axes.method.clone(),
            dataset: verify.axes.dataset.clone(),
            model: verify.axes.model.clone(),
            integrity: verify.integrity.clone(),
            verdict: verify.verdict.clone(),
            stage2_skip_reason: verify.stage2_skip_reason.clone(),
        },
        iteration: ClaimIteration {
            final_reviewer_status: old.iteration.final_reviewer_status.clone(),
            changed: old.iteration.changed.clone(),
            falsified: old.iteration.falsified.clone(),
            narrowed_to: old.iteration.narrowed_to.clone(),
        },
        final_status: old.final_status.clone(),
        caveats: old.caveats.clone(),
        artifacts: old.artifacts.clone(),
        figures: old.figures.iter().map(|figure| self::figure(figure, old)).collect(),
    }
}

fn figure(entry: &FigureEntry, claim: &ImportedClaim) -> Figure {
    Figure {
        id: entry.id.to_string(),
        kind: entry.kind.clone(),
        caption: entry.caption.clone(),
        png: entry.png.clone(),
        pdf: entry.pdf.clone(),
        md: entry.md.clone(),
        tex: entry.tex.clone(),
        source_data: entry.source_data.clone(),
        status: entry.status.clone(),
        error_detail: entry.error_detail.clone(),
        reason: entry.reason.clone(),
        table_body: claim.tables.get(&entry.id).cloned(),
    }
}
