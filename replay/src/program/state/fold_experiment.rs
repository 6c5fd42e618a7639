//! What the experiment stage leaves: phenomenon, method, runs, results.

use std::str::FromStr;

use bigdecimal::BigDecimal;
use rp_events::program::{
    CodeReviewed, ExperimentRecorded, GpuPinChecked, PhenomenonDecided, PhenomenonTested,
    PlanReconciled, PowerFlagged, RealisedData, RoutingCommitted, RoutingProposed, RunFinished,
    RunStarted, ScorerPiloted,
};

use super::{
    Method, PhenomenonVerdict, Program, Reconciliation, Routing, Run, fold_claims::add, key, within,
};
use crate::{
    At,
    launch::{End, Launch, Outcome},
    measurement::Measurement,
    program::{
        constants::{BaseVerdict, PhenomenonStatus, Severity, StageName},
        ledger::{DataUse, MainExperiment},
    },
};

/// What a verdict carries while its power is in question.
const PROVISIONAL: &str = " [provisional \u{2014} suspected under-power]";

impl Program {
    pub(super) fn test_phenomenon(&mut self, round: u64, body: &PhenomenonTested) {
        self.rounds.edit(&key(round), |record| {
            record.phenomenon.tests = body.attempt;
            record.phenomenon.audit = Severity::parse(&body.audit);
            record.phenomenon.run = body.run.to_string();
        });
    }

    pub(super) fn decide_phenomenon(&mut self, round: u64, body: &PhenomenonDecided) {
        let Some(status) = PhenomenonStatus::parse(&body.status) else { return };
        let verdict = PhenomenonVerdict { status, terminal: body.terminal };
        let mut claims = Vec::new();
        self.rounds.edit(&key(round), |record| {
            record.phenomenon.verdict = Some(verdict);
            claims.clone_from(&record.claims);
        });
        // Every milestone but the phenomenon's own depends on it, so every claim does.
        for claim in &claims {
            self.end_claim(round, claim, verdict, body);
        }
    }

    fn end_claim(
        &mut self,
        round: u64,
        claim: &str,
        verdict: PhenomenonVerdict,
        body: &PhenomenonDecided,
    ) {
        if verdict.status == PhenomenonStatus::Conditional {
            let conditions = body.conditions.as_deref().unwrap_or_default();
            let text = format!("conditional \u{2014} holds under {conditions}");
            self.add_caveat(round, claim, &text);
        }
        if !verdict.terminal {
            return;
        }
        let (word, status) = if verdict.status == PhenomenonStatus::NotEstablished {
            ("phenomenon not established", "\u{2717} phenomenon not established")
        } else {
            ("phenomenon inconclusive", "phenomenon validation inconclusive \u{2014} fix M0")
        };
        self.rows.edit(&within(round, claim), |row| {
            row.main_experiment = MainExperiment {
                verdict: word.to_owned(),
                key_stats: body.evidence.clone(),
                headline: body.headline.clone(),
            };
            status.clone_into(&mut row.final_status);
        });
    }

    pub(super) fn propose_routing(&mut self, round: u64, body: &RoutingProposed) {
        let method = |candidate: &rp_events::program::Candidate| Method {
            family: candidate.family.clone(),
            submethod: candidate.submethod.clone(),
        };
        let routing = Routing::Proposed {
            candidates: body.candidates.iter().map(method).collect(),
            recommended: body.recommended,
        };
        self.rounds.edit(&key(round), |record| record.routing = routing);
    }

    pub(super) fn commit_routing(&mut self, round: u64, body: &RoutingCommitted) {
        let method = Method { family: body.family.clone(), submethod: body.submethod.clone() };
        self.rounds.edit(&key(round), |record| record.routing = Routing::Committed(method));
    }

    pub(super) fn reconcile_plan(&mut self, round: u64, body: &PlanReconciled) {
        let escalated = body.status == "escalate";
        let outcome = if escalated { Reconciliation::Escalated } else { Reconciliation::Fits };
        self.rounds.edit(&key(round), |record| record.reconciliation = Some(outcome));
    }

    pub(super) fn review_code(&mut self, round: u64, body: &CodeReviewed) {
        self.rounds.edit(&key(round), |record| {
            if body.verdict == "critical" {
                record.open_reviews.insert(body.unit.clone());
            } else {
                record.open_reviews.remove(&body.unit);
            }
        });
    }

    pub(super) fn pilot_scorer(&mut self, round: u64, body: &ScorerPiloted) {
        let collapsed = body.variance.compare(&body.floor).is_lt();
        self.rounds.edit(&key(round), |record| {
            if collapsed {
                record.collapsed_scorers.insert(body.unit.clone());
            } else {
                record.collapsed_scorers.remove(&body.unit);
            }
        });
    }

    pub(super) fn start_run(&mut self, at: &At<'_>, round: u64, body: &RunStarted) {
        let Some(name) = StageName::parse(&body.stage) else { return };
        let mut attempt = 0;
        self.rounds.edit(&key(round), |record| {
            let stage = record.stages.of_mut(name);
            attempt = stage.attempt;
            add(&mut stage.runs, body.run.as_str());
            stage.gpus.extend(body.gpu_ids.iter().cloned());
            // A device check made before this run says nothing about it.
            stage.pin_holds = None;
        });
        let run = Run {
            stage: name,
            attempt,
            milestone: body.milestone.as_ref().map(ToString::to_string),
            claims: body.claims.iter().map(ToString::to_string).collect(),
            path: body.path.clone(),
            gpus: body.gpu_ids.iter().cloned().collect(),
            gpu_hours: None,
            launch: Launch::started(at.seq),
            used_n: String::new(),
            measurements: Vec::new(),
        };
        self.runs.put(&within(round, body.run.as_str()), run);
    }

    pub(super) fn finish_run(&mut self, at: &At<'_>, round: u64, body: &RunFinished) {
        let completed = body.status == "completed";
        let outcome = if completed { Outcome::Completed } else { Outcome::Failed };
        let mut served = (StageName::Experiment, Vec::new());
        self.runs.edit(&within(round, body.run.as_str()), |run| {
            served = (run.stage, run.claims.clone());
            run.gpu_hours = Some(body.gpu_hours.to_string());
            run.launch.finish(End { entry: at.seq, outcome });
            run.used_n.clone_from(&body.used_n);
            run.measurements = measurements(at, body);
        });
        self.rounds.edit(&key(round), |record| {
            record.has_failed_run |= !completed;
            let before = record.gpu_hours.as_deref().map_or_else(BigDecimal::default, exact);
            record.gpu_hours = Some((before + body.gpu_hours.value()).to_string());
        });
        let (stage, claims) = served;
        if !completed {
            return;
        }
        for claim in &claims {
            self.works.edit(&within(round, claim), |work| {
                work.is_measured |= stage != StageName::Verify;
                work.swap_runs += u64::from(stage != StageName::Experiment);
            });
        }
    }

    pub(super) fn record_experiment(&mut self, round: u64, body: &ExperimentRecorded) {
        let at = within(round, body.claim.as_str());
        self.works.edit(&at, |work| {
            work.base = BaseVerdict::leading(&body.verdict);
            work.is_flagged = false;
        });
        self.rows.edit(&at, |row| {
            overwrite(&mut row.data, &body.data);
            if let Some(models) = &body.models {
                row.models.clone_from(models);
            }
            row.method = if body.composition.is_empty() {
                body.method.clone()
            } else {
                format!("{} \u{2014} {}", body.method, body.composition)
            };
            row.main_experiment = MainExperiment {
                verdict: body.verdict.clone(),
                key_stats: body.key_stats.clone(),
                headline: body.headline.clone(),
            };
        });
        self.add_artifacts(round, body.claim.as_str(), &body.artifacts);
    }

    pub(super) fn flag_power(&mut self, round: u64, body: &PowerFlagged) {
        let at = within(round, body.claim.as_str());
        let share =
            |scale: &rp_events::program::Scale| format!("{}/{}", scale.actual, scale.planned);
        let caveat = format!(
            "[suspected under-power: used_n {}, seeds {}, grid {}]",
            share(&body.used_n),
            share(&body.seeds),
            share(&body.grid)
        );
        self.rows.edit(&at, |row| {
            add(&mut row.caveats, &caveat);
            if !row.main_experiment.verdict.ends_with(PROVISIONAL) {
                row.main_experiment.verdict.push_str(PROVISIONAL);
            }
        });
        self.works.edit(&at, |work| work.is_flagged = true);
        if body.policy == "stop" {
            self.rounds.edit(&key(round), |record| record.power_stop = true);
        }
    }

    pub(super) fn check_pin(&mut self, round: u64, body: &GpuPinChecked) {
        let Some(name) = StageName::parse(&body.stage) else { return };
        let holds = body.observed.iter().all(|device| body.requested.contains(device));
        self.rounds.edit(&key(round), |record| {
            record.stages.of_mut(name).pin_holds = Some(holds);
        });
    }
}

/// What the end of a run states, as measurements.
fn measurements(at: &At<'_>, body: &RunFinished) -> Vec<Measurement> {
    let stated = [
        ("gpu_hours", Some(&body.gpu_hours), "h"),
        ("wall_clock_seconds", body.wall_clock_seconds.as_ref(), "s"),
        ("gpu_seconds", body.gpu_seconds.as_ref(), "s"),
    ];
    let each = stated.into_iter().filter_map(|(metric, value, unit)| Some((metric, value?, unit)));
    each.map(|(metric, value, unit)| Measurement::stated(at, metric, value, unit)).collect()
}

/// Reads a sum of GPU-hours back.
pub(crate) fn exact(sum: &str) -> BigDecimal {
    BigDecimal::from_str(sum).expect("finish_run() writes sums that read back")
}

impl BaseVerdict {
    /// The verdict that a text begins with; free wording may follow it.
    pub(crate) fn leading(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !c.is_ascii_alphabetic() && c != '-').unwrap_or(text.len());
        Self::parse(text.get(..end)?)
    }
}

fn overwrite(data: &mut DataUse, realised: &RealisedData) {
    let fields = [
        (&mut data.provenance, &realised.provenance),
        (&mut data.source, &realised.source),
        (&mut data.available_n, &realised.available_n),
        (&mut data.used_n, &realised.used_n),
        (&mut data.subset_note, &realised.subset_note),
    ];
    for (field, value) in fields {
        if let Some(value) = value {
            field.clone_from(value);
        }
    }
}
