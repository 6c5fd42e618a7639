//! Where the program stands, on one page.

use std::sync::Arc;

use super::ledger_markdown::short;
use crate::{
    State,
    document::{Body, Document},
    program::{
        Root,
        ledger::{ClaimRow, Header},
        memory::Behavior,
    },
    views::{Args, ViewError},
};

/// A round as the page shows it.
pub(super) struct Round {
    pub(super) number: u64,
    pub(super) is_archived: bool,
    pub(super) header: Option<Arc<Header>>,
    pub(super) claims: Vec<Arc<ClaimRow>>,
}

pub(super) fn status(state: &State, _: &Args) -> Result<Document, ViewError> {
    let program = state.program();
    let Some(root) = program.root() else {
        return Err(ViewError::Nothing("no program was created yet".to_owned()));
    };
    let rounds = program.rounds().into_iter().map(|number| Round {
        number,
        is_archived: program.is_archived(number),
        header: program.header(number),
        claims: program.claims(number),
    });
    Ok(page(&root, &state.next().to_string(), &rounds.collect::<Vec<_>>(), &program.behaviors()))
}

pub(super) fn page(
    root: &Root,
    entries: &str,
    rounds: &[Round],
    behaviors: &[Arc<Behavior>],
) -> Document {
    let latest = rounds.last();
    let mut page =
        Document::new(root.name.clone()).with("", Body::Facts(facts(root, entries, latest)));
    if !rounds.is_empty() {
        page = page.with("Rounds", rounds_table(rounds));
    }
    if let Some(round) = latest {
        if !round.claims.is_empty() {
            let title = format!("Claims of round {}", round.number);
            page = page.with(title, claims_table(&round.claims));
        }
        let open = round.header.as_ref().map(|header| header.open_items.clone());
        if let Some(open) = open.filter(|open| !open.is_empty()) {
            page = page.with("Open items", Body::List(open));
        }
    }
    if !behaviors.is_empty() {
        page = page.with("Behaviors", behaviors_table(behaviors));
    }
    page
}

fn facts(root: &Root, entries: &str, latest: Option<&Round>) -> Vec<(String, String)> {
    let none = || "none".to_owned();
    let mut facts = vec![
        ("program", root.name.clone()),
        ("direction", root.direction.clone()),
        ("entries in the journal", entries.to_owned()),
        ("latest round", latest.map_or_else(none, |round| round.number.to_string())),
    ];
    if let Some(header) = latest.and_then(|round| round.header.as_ref()) {
        let stage = header.updated_after_stage.clone();
        let stage = if stage.is_empty() { none() } else { stage };
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

fn rounds_table(rounds: &[Round]) -> Body {
    let latest = rounds.last().map(|round| round.number);
    let rows = rounds.iter().map(|round| {
        let state = match (round.is_archived, Some(round.number) == latest) {
            (true, _) => "archived",
            (false, true) => "live",
            (false, false) => "discarded",
        };
        let (pipeline, project) = round.header.as_ref().map_or_else(Default::default, |header| {
            (header.pipeline_status.clone(), header.project.clone())
        });
        let claims = round.claims.len().to_string();
        vec![round.number.to_string(), state.to_owned(), pipeline, claims, project]
    });
    table(["round", "state", "pipeline", "claims", "project"], rows)
}

fn claims_table(claims: &[Arc<ClaimRow>]) -> Body {
    let rows = claims.iter().map(|claim| {
        let verdict = claim.verify.verdict.clone();
        vec![claim.id.clone(), short(&claim.statement), verdict, claim.final_status.clone()]
    });
    table(["claim", "statement", "verify", "final status"], rows)
}

fn behaviors_table(behaviors: &[Arc<Behavior>]) -> Body {
    let rows = behaviors.iter().map(|behavior| {
        let statement = short(&behavior.statement);
        let (decided, attempts) = (behavior.decided_in_round, behavior.mechanisms.len());
        let status = behavior.status.clone();
        vec![behavior.id.clone(), statement, status, decided.to_string(), attempts.to_string()]
    });
    table(["behavior", "statement", "status", "decided in round", "attempts"], rows)
}

fn table<const N: usize>(columns: [&str; N], rows: impl Iterator<Item = Vec<String>>) -> Body {
    Body::Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() }
}
