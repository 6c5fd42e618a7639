//! Where the program stands, on one page.

use super::ledger_markdown::short;
use crate::{
    State,
    document::{Body, Document},
    program::{Program, Root, ledger::Header},
    views::{Args, ViewError},
};

pub(super) fn status(state: &State, _: &Args) -> Result<Document, ViewError> {
    let program = state.program();
    let Some(root) = program.root() else {
        return Err(ViewError::Nothing("no program was created yet".to_owned()));
    };
    let rounds = program.rounds();
    let latest = rounds.last().copied();
    let header = latest.and_then(|round| program.header(round));
    let mut page = Document::new(root.name.clone())
        .with("", Body::Facts(facts(&root, latest, header.as_deref(), &state.next().to_string())));
    if !rounds.is_empty() {
        page = page.with("Rounds", rounds_table(program, &rounds));
    }
    if let Some((round, header)) = latest.zip(header) {
        let claims = program.claims(round);
        if !claims.is_empty() {
            let rows = claims.iter().map(|claim| {
                let verdict = claim.verify.verdict.clone();
                vec![claim.id.clone(), short(&claim.statement), verdict, claim.final_status.clone()]
            });
            let columns = ["claim", "statement", "verify", "final status"];
            page = page.with(format!("Claims of round {round}"), table(columns, rows));
        }
        if !header.open_items.is_empty() {
            page = page.with("Open items", Body::List(header.open_items.clone()));
        }
    }
    let behaviors = program.behaviors();
    if !behaviors.is_empty() {
        let rows = behaviors.iter().map(|behavior| {
            let (decided, attempts) = (behavior.decided_in_round, behavior.mechanisms.len());
            let known = [behavior.id.clone(), short(&behavior.statement), behavior.status.clone()];
            known.into_iter().chain([decided.to_string(), attempts.to_string()]).collect()
        });
        let columns = ["behavior", "statement", "status", "decided in round", "attempts"];
        page = page.with("Behaviors", table(columns, rows));
    }
    Ok(page)
}

fn facts(
    root: &Root,
    latest: Option<u64>,
    header: Option<&Header>,
    entries: &str,
) -> Vec<(String, String)> {
    let mut facts = vec![
        ("program", root.name.clone()),
        ("direction", root.direction.clone()),
        ("entries in the journal", entries.to_owned()),
        ("latest round", latest.map_or_else(|| "none".to_owned(), |round| round.to_string())),
    ];
    if let Some(header) = header {
        let stage = header.updated_after_stage.clone();
        let stage = if stage.is_empty() { "none".to_owned() } else { stage };
        facts.extend([("pipeline", header.pipeline_status.clone()), ("last stage merged", stage)]);
        let end = &header.round_end;
        if !end.qualifier.is_empty() {
            facts.extend([("to decide", end.detail.clone()), ("remedy", end.remedy.clone())]);
        }
    }
    if let Some(task) = &root.task {
        let origin = if task.drafted { "drafted" } else { "recorded by the user" };
        facts.push(("task", format!("for round {}, {origin}", task.for_round)));
    }
    facts.into_iter().map(|(label, value)| (label.to_owned(), value)).collect()
}

fn rounds_table(program: &Program, rounds: &[u64]) -> Body {
    let latest = rounds.last().copied();
    let rows = rounds.iter().map(|round| {
        let state = match (program.is_archived(*round), Some(*round) == latest) {
            (true, _) => "archived",
            (false, true) => "live",
            (false, false) => "discarded",
        };
        let header = program.header(*round);
        let pipeline = header.as_ref().map_or_else(String::new, |h| h.pipeline_status.clone());
        let project = header.as_ref().map_or_else(String::new, |h| h.project.clone());
        let claims = program.claims(*round).len();
        vec![round.to_string(), state.to_owned(), pipeline, claims.to_string(), project]
    });
    table(["round", "state", "pipeline", "claims", "project"], rows)
}

fn table<const N: usize>(columns: [&str; N], rows: impl Iterator<Item = Vec<String>>) -> Body {
    Body::Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() }
}
