//! What figures, open items and the ends of a round leave, and the passage to the next one.

use std::collections::BTreeMap;

use rp_events::program::{
    ArchivePlanned, FigureEntry, FiguresBatchFailed, FiguresPlanned, FiguresRecorded,
    FiguresSkipped, PipelineFinished, PipelineHalted, RoundEndDecided, TaskDrafted,
    TransitionRequested,
};

use super::{FigurePlan, Life, ONE, PlannedMove, Program, Task, TaskFacts, key, within};
use crate::{
    At,
    program::{
        constants::{Ending, Intent},
        ledger::{Figure, RoundEnd},
        views::next_task::{self, Draft},
    },
};

impl Program {
    pub(super) fn plan_figures(&mut self, round: u64, body: &FiguresPlanned) {
        let planned: BTreeMap<String, Vec<String>> = body
            .claims
            .iter()
            .map(|claim| {
                (claim.id.to_string(), claim.entries.iter().map(ToString::to_string).collect())
            })
            .collect();
        let record = FigurePlan { planned: Some(planned), ..FigurePlan::default() };
        self.figures.put(&key(round), record);
    }

    pub(super) fn record_figures(&mut self, round: u64, body: &FiguresRecorded) {
        self.rows.edit(&within(round, body.claim.as_str()), |row| {
            let figure = |entry: &FigureEntry| Figure {
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
                table_body: body.tables.get(&entry.id).cloned(),
            };
            row.figures = body.figures.iter().map(figure).collect();
        });
    }

    pub(super) fn fail_figures(&mut self, round: u64, body: &FiguresBatchFailed) {
        self.figures.upsert(&key(round), |record| {
            record.has_failed = true;
            record.error.clone_from(&body.error);
        });
        self.add_open_item(round, &format!("Figures: batch failed \u{2014} {}", body.error));
    }

    pub(super) fn skip_figures(&mut self, round: u64, body: &FiguresSkipped) {
        let line = match body.reason.as_str() {
            "disabled" => "disabled \u{2014} LEDGER_FIGURES=false".to_owned(),
            reason => format!("not-run \u{2014} {}", reason.replace('-', " ")),
        };
        self.set_journey(round, "figures", &line);
    }

    pub(super) fn add_open_item(&mut self, round: u64, text: &str) {
        self.headers.edit(&key(round), |header| header.open_items.push(text.to_owned()));
    }

    pub(super) fn close_open_item(&mut self, round: u64, text: &str) {
        self.headers.edit(&key(round), |header| {
            if let Some(at) = header.open_items.iter().position(|item| item == text) {
                header.open_items.remove(at);
            }
        });
    }

    pub(super) fn end_round(&mut self, at: &At<'_>, round: u64, body: &RoundEndDecided) {
        let qualifier = qualifier(&body.stage, &body.reason, body.upstream.as_deref());
        let status = format!("{} {qualifier}", Ending::NeedsDecision);
        self.end(round, Ending::NeedsDecision, status, &day(at, body.end.as_deref()));
        self.headers.edit(&key(round), |header| {
            header.round_end = RoundEnd {
                qualifier: qualifier.clone(),
                detail: body.detail.clone(),
                remedy: body.remedy.clone(),
                see: body.see.clone(),
                partial_artifacts: body.partial_artifacts.clone(),
                next_round_options: body.options.clone(),
            };
        });
        for claim in &body.claims {
            self.rows.edit(&within(round, claim.as_str()), |row| {
                row.final_status =
                    format!("\u{23f8} round ended \u{2014} {qualifier} (see round_end)");
            });
        }
    }

    pub(super) fn halt_pipeline(&mut self, at: &At<'_>, round: u64, body: &PipelineHalted) {
        let status = format!("halted-at-{}", body.stage);
        self.end(round, Ending::Halted, status, &day(at, body.end.as_deref()));
        self.add_open_item(round, &format!("{} (see {})", body.cause, body.see));
    }

    pub(super) fn finish_pipeline(&mut self, round: u64, body: &PipelineFinished) {
        let Some(ending) = Ending::parse(&body.status) else { return };
        self.end(round, ending, body.status.clone(), &body.end);
    }

    fn end(&mut self, round: u64, ending: Ending, status: String, day: &str) {
        self.rounds.edit(&key(round), |record| record.life = Life::Ended(ending));
        self.headers.edit(&key(round), |header| {
            header.pipeline_status = status;
            day.clone_into(&mut header.end);
        });
    }

    pub(super) fn request_transition(&mut self, round: u64, body: &TransitionRequested) {
        self.passages.upsert(&key(round), |passage| {
            passage.intent = Intent::parse(&body.intent);
            passage.behavior = body.behavior.as_ref().map(ToString::to_string);
            passage.planned = None;
        });
    }

    pub(super) fn plan_archive(&mut self, round: u64, body: &ArchivePlanned) {
        let planned = PlannedMove { target: body.target.clone(), moved: body.moved.clone() };
        self.passages.upsert(&key(round), |passage| passage.planned = Some(planned));
    }

    /// A refused plan is void: only one whose move began is gone on with.
    pub(super) fn refuse_archive(&mut self, round: u64) {
        self.passages.upsert(&key(round), |passage| passage.planned = None);
    }

    pub(super) fn draft_task(&mut self, round: u64, body: &TaskDrafted) {
        // Rendered now: memory that is recorded later must not change a draft that was given.
        let text = next_task::draft(
            self,
            &Draft {
                for_round: body.for_round,
                intent: body.intent.clone(),
                behavior: body.behavior.as_ref().map(ToString::to_string),
                behavior_source: body.behavior_source.clone(),
                mechanism: body.mechanism.clone(),
                note: body.note.clone(),
            },
        );
        let pin = body.behavior.as_ref().and_then(|id| self.behavior(id.as_str()));
        self.course.edit(ONE, |course| {
            course.task = TaskFacts {
                language: course.task.language.clone(),
                behavior: pin.map(|behavior| behavior.statement.clone()),
                ..TaskFacts::default()
            };
        });
        let task = Task { for_round: body.for_round, drafted: true, text, log: Vec::new() };
        self.root.edit(ONE, |root| root.task = Some(task));
        self.passages.upsert(&key(round), |passage| {
            passage.drafted = Some((body.behavior_source.clone(), body.mechanism.clone()));
        });
    }
}

/// How a round-end decision is named, with its parentheses (E.1, G.6).
pub(crate) fn qualifier(stage: &str, reason: &str, upstream: Option<&str>) -> String {
    match upstream {
        Some(inner) => {
            let bare = inner.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
            format!("({stage}: {})", bare.unwrap_or(inner))
        }
        None => format!("({stage}: {reason})"),
    }
}

/// The day an ending is dated with: the one it names, else the day of the event.
fn day(at: &At<'_>, named: Option<&str>) -> String {
    named.map_or_else(|| at.time.to_string().chars().take(10).collect(), str::to_owned)
}
