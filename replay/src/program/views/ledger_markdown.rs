//! `CLAIMS_LEDGER.md`: a round's ledger for people, in the blocks of `spec/views.md`.

use std::sync::Arc;

use super::{
    DASH,
    ledger_json::{share, shortest},
    one_line, text,
};
use crate::program::ledger::{ClaimRow, Figure, Header, Journey, RoundEnd, Verify};

/// Renders the file.
pub fn render(header: &Header, claims: &[Arc<ClaimRow>]) -> String {
    let mut lines = head(header);
    lines.extend(claims.iter().map(|claim| grid_row(claim)));
    for (index, claim) in claims.iter().enumerate() {
        lines.push(String::new());
        // The rule stands once, directly above the first heading.
        if index == 0 {
            lines.push("---".to_owned());
        }
        lines.extend(section(claim));
    }
    if header.journey != Journey::default() {
        lines.extend(journey(&header.journey));
    }
    if !header.open_items.is_empty() {
        lines.extend([String::new(), "## Open Items".to_owned()]);
        lines.extend(header.open_items.iter().map(|item| format!("- {}", text(item))));
    }
    let undecided = header.pipeline_status.starts_with("ended-needs-decision");
    if undecided && !header.round_end.qualifier.is_empty() {
        lines.extend(round_end(&header.round_end));
    }
    lines.join("\n") + "\n"
}

fn head(header: &Header) -> Vec<String> {
    let (models, iteration) = (&header.models, &header.iteration);
    let score = iteration.score.as_ref().map_or_else(|| DASH.to_owned(), shortest);
    vec![
        format!("# Claim Ledger {DASH} {}", text(&header.project)),
        String::new(),
        format!("**Direction**: {}", text(&header.direction)),
        format!("**Date**: {} \u{2192} {}", text(&header.start), text(&header.end)),
        format!(
            "**Pipeline**: {} | **Iteration**: {score}/10 \"{}\" ({}/{})",
            text(&header.pipeline_status),
            text(&iteration.verdict),
            iteration.rounds_consumed,
            iteration.max_rounds
        ),
        format!(
            "**Models**: claim={}, experiment={}, verify={}, iteration={}",
            text(&models.claim),
            text(&models.experiment),
            text(&models.verify),
            text(&models.iteration)
        ),
        format!("**Updated after**: {}", text(&header.updated_after_stage)),
        String::new(),
        "| Claim | Main experiment | Verify | Post-Iteration | Final |".to_owned(),
        "|-------|-----------------|--------|----------------|-------|".to_owned(),
    ]
}

fn grid_row(claim: &ClaimRow) -> String {
    let cells = [
        format!("{} {}", text(&claim.id), heading_of(&claim.statement)),
        text(&claim.main_experiment.verdict),
        format!("{} {}", text(&claim.verify.verdict), robustness(&claim.verify)),
        text(&claim.iteration.final_reviewer_status),
        text(&claim.final_status),
    ];
    format!("| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}

fn section(claim: &ClaimRow) -> Vec<String> {
    let (data, main, verify) = (&claim.data, &claim.main_experiment, &claim.verify);
    let subset = if data.subset_note.is_empty() {
        String::new()
    } else {
        format!("; subset: {}", one_line(&data.subset_note))
    };
    let mut lines = vec![
        format!("## {} {DASH} {}", text(&claim.id), heading_of(&claim.statement)),
        format!("- **Statement**: {}", text(&claim.statement)),
        format!("- **Origin**: {}", text(&claim.origin)),
        format!(
            "- **Data**: {} {DASH} provenance={}; available={}, used={}{subset}",
            text(&data.source),
            text(&data.provenance),
            text(&data.available_n),
            text(&data.used_n)
        ),
        format!("- **Models**: {}", list(&claim.models, ", ")),
        format!("- **Method**: {}", text(&claim.method)),
        format!("- **Main experiment**: {} {DASH} {}", text(&main.verdict), text(&main.key_stats)),
        format!(
            "- **Verify**: robustness={} {DASH} method {} / dataset {} / model {}; integrity={}; verdict={}",
            robustness(verify),
            text(&verify.method),
            text(&verify.dataset),
            text(&verify.model),
            text(&verify.integrity),
            text(&verify.verdict)
        ),
        format!(
            "- **Iteration**: {}; falsified: {}; narrowed_to: {}",
            text(&claim.iteration.final_reviewer_status),
            list(&claim.iteration.falsified, "; "),
            text(&claim.iteration.narrowed_to)
        ),
        format!("- **Final**: {}", text(&claim.final_status)),
        format!("- **Caveats**: {}", list(&claim.caveats, "; ")),
        format!("- **Artifacts**: {}", list(&claim.artifacts, ", ")),
    ];
    let drawn: Vec<&Figure> = claim.figures.iter().filter(|figure| figure.status == "ok").collect();
    if !drawn.is_empty() {
        lines.push("- **Figures**:".to_owned());
        lines.extend(drawn.into_iter().flat_map(figure));
    }
    lines
}

fn figure(figure: &Figure) -> Vec<String> {
    let slot = |path: &Option<String>| text(path.as_deref().unwrap_or_default());
    let caption = text(&figure.caption);
    if figure.kind != "table" {
        let (png, pdf) = (slot(&figure.png), slot(&figure.pdf));
        return vec![format!("  - ![{caption}]({png}) {DASH} vector: {pdf}")];
    }
    let body = figure.table_body.as_deref().unwrap_or_default().trim_end_matches('\n');
    let body = if body.is_empty() { DASH } else { body };
    let mut lines = vec![format!("  - #### {caption}"), String::new()];
    // Four spaces keep the table inside the list item.
    let indented = |line: &str| if line.is_empty() { String::new() } else { format!("    {line}") };
    lines.extend(body.split('\n').map(indented));
    lines.extend([String::new(), format!("    Source `.tex`: `{}`", slot(&figure.tex))]);
    lines
}

fn journey(journey: &Journey) -> Vec<String> {
    vec![
        String::new(),
        "---".to_owned(),
        "## Journey Summary".to_owned(),
        format!("- **Claim**: {}", text(&journey.claim)),
        format!("- **Mechanism strategy**: {}", text(&journey.mechanism_strategy)),
        format!("- **Mechanism routing**: {}", text(&journey.mechanism_routing)),
        format!("- **Experiment**: {}", text(&journey.experiment)),
        format!("- **Verify**: {}", text(&journey.verify)),
        format!("- **Iteration**: {}", text(&journey.iteration)),
        format!("- **Figures**: {}", text(&journey.figures)),
    ]
}

fn round_end(end: &RoundEnd) -> Vec<String> {
    let mut lines = vec![
        String::new(),
        format!("## Round-End Decision {DASH} {}", text(&end.qualifier)),
        format!("- **What happened**: {}", text(&end.detail)),
        format!("- **Fix**: {}", text(&end.remedy)),
        format!("- **See**: {}", text(&end.see)),
        "- **Partial artifacts to inspect**:".to_owned(),
    ];
    if end.partial_artifacts.is_empty() {
        lines.push("  - none".to_owned());
    }
    lines.extend(end.partial_artifacts.iter().map(|path| format!("  - {}", text(path))));
    lines.push(format!(
        "- **Next-round options** (you decide {DASH} the pipeline will not auto-pick):"
    ));
    let options = end.next_round_options.iter().zip(1..);
    lines.extend(options.map(|(option, number): (_, u64)| format!("  {number}. {}", text(option))));
    lines
}

/// A statement cut down to a heading: white space collapsed, one final full stop dropped, at most sixty
/// characters, whole words.
pub(super) fn short(statement: &str) -> String {
    let words = statement.split_whitespace().collect::<Vec<_>>();
    let whole = words.join(" ");
    let whole = whole.strip_suffix('.').unwrap_or(&whole);
    if whole.chars().count() <= SHORT_CHARS_MAX {
        return whole.to_owned();
    }
    let mut cut = String::new();
    for word in whole.split(' ') {
        let longer = if cut.is_empty() { word.to_owned() } else { format!("{cut} {word}") };
        // One character is left for the ellipsis.
        if longer.chars().count() >= SHORT_CHARS_MAX {
            break;
        }
        cut = longer;
    }
    cut + "\u{2026}"
}

const SHORT_CHARS_MAX: usize = 60;

pub(super) fn heading_of(statement: &str) -> String {
    text(&short(statement))
}

fn robustness(verify: &Verify) -> String {
    verify.robustness.as_ref().and_then(share).unwrap_or_else(|| DASH.to_owned())
}

fn list(items: &[String], between: &str) -> String {
    if items.is_empty() {
        return "none".to_owned();
    }
    items.iter().map(|item| text(item)).collect::<Vec<_>>().join(between)
}
