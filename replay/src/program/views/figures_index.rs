//! `figures/INDEX.md`: the figures of a round, a section for each claim that has any, as `spec/views.md` says.

use std::sync::Arc;

use super::{DASH, ledger_markdown::heading_of, one_line, text};
use crate::program::ledger::{ClaimRow, Figure};

/// Where the file lies; links in it lead from there.
const FOLDER: &str = "figures/";

/// Renders the file; `failure` is what went wrong with the figures as a whole.
pub fn render(claims: &[Arc<ClaimRow>], failure: Option<&str>) -> String {
    let mut lines = vec!["# Figures".to_owned()];
    if let Some(error) = failure {
        lines.extend([String::new(), format!("figures-batch-error: {}", text(error))]);
    }
    let mut has_any = false;
    for claim in claims {
        let drawn: Vec<&Figure> =
            claim.figures.iter().filter(|figure| figure.status == "ok").collect();
        if drawn.is_empty() {
            continue;
        }
        has_any = true;
        let heading = format!("## {} {DASH} {}", text(&claim.id), heading_of(&claim.statement));
        lines.extend([String::new(), heading]);
        lines.extend(drawn.into_iter().flat_map(figure));
    }
    if !has_any && failure.is_none() {
        lines.extend([String::new(), "No figures.".to_owned()]);
    }
    lines.join("\n") + "\n"
}

fn figure(figure: &Figure) -> Vec<String> {
    let slot = |path: &Option<String>| link(path.as_deref().unwrap_or_default());
    let caption = text(&figure.caption);
    if figure.kind != "table" {
        let (png, pdf) = (slot(&figure.png), slot(&figure.pdf));
        return vec![
            String::new(),
            format!("{} {DASH} vector: {}", image(&caption, &png), shown(&pdf, &pdf)),
        ];
    }
    let body = figure.table_body.as_deref().unwrap_or_default().trim_end_matches('\n');
    let body = if body.is_empty() { DASH } else { body };
    let tex = slot(&figure.tex);
    vec![
        String::new(),
        format!("### {caption}"),
        String::new(),
        body.to_owned(),
        String::new(),
        format!("Source `.tex`: {}", shown(&tex, &tex)),
    ]
}

fn image(caption: &str, png: &str) -> String {
    if png == DASH { format!("{caption}: {DASH}") } else { format!("!{}", shown(caption, png)) }
}

/// A link with its text; one without a target is its dash alone.
fn shown(label: &str, target: &str) -> String {
    let is_plain = !target.contains([' ', '(', ')', '<', '>']);
    match target {
        DASH => DASH.to_owned(),
        _ if is_plain => format!("[{label}]({target})"),
        _ => format!("[{label}](<{target}>)"),
    }
}

/// A path from the root as a link from the file's own folder.
fn link(path: &str) -> String {
    match path.strip_prefix(FOLDER) {
        _ if path.is_empty() => DASH.to_owned(),
        Some(inside) => one_line(inside),
        None => one_line(&format!("../{path}")),
    }
}
