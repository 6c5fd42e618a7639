//! `claims_ledger.json`: a round's ledger as data, in the order and the number forms of `spec/views.md`.

use std::sync::Arc;

use bigdecimal::RoundingMode;
use rp_events::Decimal;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::program::ledger::{
    ClaimIteration, ClaimRow, DataUse, Figure, Fraction, Header, Journey, MainExperiment, RoundEnd,
    Share, StageModels, Verify,
};

/// Renders the file.
pub fn render(header: &Header, claims: &[Arc<ClaimRow>]) -> String {
    super::json(&Ledger {
        project: &header.project,
        direction: &header.direction,
        date_range: DateRange { start: &header.start, end: &header.end },
        models: &header.models,
        pipeline_status: &header.pipeline_status,
        round_end: &header.round_end,
        journey_summary: &header.journey,
        open_items: &header.open_items,
        iteration_summary: IterationSummary {
            score: header.iteration.score.as_ref().map(|score| raw(fractional(score))),
            verdict: &header.iteration.verdict,
            rounds_consumed: header.iteration.rounds_consumed,
            max_rounds: header.iteration.max_rounds,
        },
        updated_after_stage: &header.updated_after_stage,
        claims: claims.iter().map(|row| claim(row)).collect(),
    })
}

/// One claim as the file holds it, on one line.
pub fn one(row: &ClaimRow) -> String {
    serde_json::to_string(&claim(row))
        .expect("a row holds texts, lists and numbers under fixed names")
}

/// A decimal in plain notation without trailing zeros: `6.0` is `6`, `5.50` is `5.5`.
pub(super) fn shortest(value: &Decimal) -> String {
    value.value().normalized().to_plain_string()
}

/// A decimal in plain notation with at least one digit behind the point: `6` is `6.0`, `5.50` is `5.5`.
pub(super) fn fractional(value: &Decimal) -> String {
    let text = shortest(value);
    if text.contains('.') { text } else { text + ".0" }
}

/// A fraction with exactly two digits behind the point, rounded half up.
///
/// There are at most three swap axes, so no fraction on record is a tie; half up holds if that changes.
/// `None` where nothing was eligible.
fn two_places(fraction: Fraction) -> Option<String> {
    let (passed, eligible) = (u128::from(fraction.passed), u128::from(fraction.eligible));
    let hundredths = (200 * passed + eligible).checked_div(2 * eligible)?;
    Some(format!("{}.{:02}", hundredths / 100, hundredths % 100))
}

/// A share with exactly two digits behind the point, rounded half up. `None` where nothing was eligible.
pub(super) fn share(share: &Share) -> Option<String> {
    match share {
        Share::Exact(fraction) => two_places(*fraction),
        Share::Stated(stated) => {
            Some(stated.value().with_scale_round(2, RoundingMode::HalfUp).to_plain_string())
        }
    }
}

/// The same without a trailing zero in the second place: `1.0`, `0.5`, `0.67`. A share that a file stated
/// keeps the places that it had.
fn robustness(share: &Share) -> Option<Box<RawValue>> {
    match share {
        Share::Exact(fraction) => {
            let text = two_places(*fraction)?;
            let text = text.strip_suffix('0').map(str::to_owned).unwrap_or(text);
            Some(raw(text))
        }
        Share::Stated(stated) => Some(raw(fractional(stated))),
    }
}

fn raw(number: String) -> Box<RawValue> {
    RawValue::from_string(number).expect("plain notation is in JSON's grammar of numbers")
}

fn claim(row: &ClaimRow) -> Claim<'_> {
    Claim {
        id: &row.id,
        statement: &row.statement,
        origin: &row.origin,
        data: &row.data,
        models: &row.models,
        method: &row.method,
        main_experiment: &row.main_experiment,
        verify: verify(&row.verify),
        iteration: &row.iteration,
        final_status: &row.final_status,
        caveats: &row.caveats,
        artifacts: &row.artifacts,
        figures: row.figures.iter().map(figure).collect(),
    }
}

fn verify(verify: &Verify) -> VerifyEntry<'_> {
    VerifyEntry {
        robustness: verify.robustness.as_ref().and_then(robustness),
        axes: Axes { method: &verify.method, dataset: &verify.dataset, model: &verify.model },
        integrity: &verify.integrity,
        verdict: &verify.verdict,
        stage2_skip_reason: verify.stage2_skip_reason.as_deref(),
    }
}

fn figure(figure: &Figure) -> FigureEntry<'_> {
    let only_on = |status: &str| (figure.status == status).then_some(());
    FigureEntry {
        id: &figure.id,
        kind: &figure.kind,
        caption: &figure.caption,
        png: figure.png.as_deref(),
        pdf: figure.pdf.as_deref(),
        md: figure.md.as_deref(),
        tex: figure.tex.as_deref(),
        source_data: &figure.source_data,
        status: &figure.status,
        error_detail: only_on("error").and(figure.error_detail.as_deref()),
        reason: only_on("skipped").and(figure.reason.as_deref()),
    }
}

// The file's own shapes. Where a record has the file's keys in the file's order, the record is the shape.

#[derive(Serialize)]
struct Ledger<'a> {
    project: &'a str,
    direction: &'a str,
    date_range: DateRange<'a>,
    models: &'a StageModels,
    pipeline_status: &'a str,
    round_end: &'a RoundEnd,
    journey_summary: &'a Journey,
    open_items: &'a [String],
    iteration_summary: IterationSummary<'a>,
    updated_after_stage: &'a str,
    claims: Vec<Claim<'a>>,
}

#[derive(Serialize)]
struct DateRange<'a> {
    start: &'a str,
    end: &'a str,
}

#[derive(Serialize)]
struct IterationSummary<'a> {
    score: Option<Box<RawValue>>,
    verdict: &'a str,
    rounds_consumed: u64,
    max_rounds: u64,
}

#[derive(Serialize)]
struct Claim<'a> {
    id: &'a str,
    statement: &'a str,
    origin: &'a str,
    data: &'a DataUse,
    models: &'a [String],
    method: &'a str,
    main_experiment: &'a MainExperiment,
    verify: VerifyEntry<'a>,
    iteration: &'a ClaimIteration,
    final_status: &'a str,
    caveats: &'a [String],
    artifacts: &'a [String],
    figures: Vec<FigureEntry<'a>>,
}

#[derive(Serialize)]
struct VerifyEntry<'a> {
    robustness: Option<Box<RawValue>>,
    axes: Axes<'a>,
    integrity: &'a str,
    verdict: &'a str,
    stage2_skip_reason: Option<&'a str>,
}

#[derive(Serialize)]
struct Axes<'a> {
    method: &'a str,
    dataset: &'a str,
    model: &'a str,
}

#[derive(Serialize)]
struct FigureEntry<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    caption: &'a str,
    png: Option<&'a str>,
    pdf: Option<&'a str>,
    md: Option<&'a str>,
    tex: Option<&'a str>,
    source_data: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}
