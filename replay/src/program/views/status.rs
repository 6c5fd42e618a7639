//! Where the program stands, on one page, and what may come next.

use std::sync::Arc;

use super::tone;
use crate::{
    State,
    document::{Address, Body, Cell, Document, Tone},
    program::{
        Root,
        ledger::{ClaimRow, Header},
        memory::Behavior,
        next::{self, Action, Work},
    },
    views::{Args, ViewError},
};

/// Most rows of a table on this page; the pages of their own have all.
const ROWS_MAX: usize = 50;

/// A round as the page shows it.
pub(super) struct Round {
    pub(super) number: u64,
    pub(super) is_archived: bool,
    pub(super) header: Option<Arc<Header>>,
    pub(super) claims: Vec<Arc<ClaimRow>>,
}

pub(super) fn status(state: &State, _: &Args) -> Result<Document, ViewError> {
    let program = state.program();
    let Some(genesis) = state.trust().genesis() else {
        return Err(ViewError::Nothing("the journal has no entries".to_owned()));
    };
    let next = next::next(state);
    let Some(root) = program.root() else {
        let title = genesis.title.clone().unwrap_or_else(|| "No program yet".to_owned());
        let facts = [("entries in the journal", Cell::count(state.next().0))];
        return Ok(Document::new(title)
            .with("", Body::Note(Tone::Open, Cell::from("no program was created yet")))
            .with("", Body::facts(facts))
            .with_some("Next", actions(&next)));
    };
    let rounds = program.rounds().into_iter().map(|number| Round {
        number,
        is_archived: program.is_archived(number),
        header: program.header(number),
        claims: program.claims(number),
    });
    let rounds: Vec<_> = rounds.collect();
    let work = next::at_work(state);
    Ok(page(&root, state.next().0, &rounds, &program.behaviors(), (work.as_ref(), &next)))
}

pub(super) fn page(
    root: &Root,
    entries: u64,
    rounds: &[Round],
    behaviors: &[Arc<Behavior>],
    (work, next): (Option<&Work>, &[Action]),
) -> Document {
    let latest = rounds.last();
    let mut page = Document::new(root.name.clone())
        .with("", Body::Facts(facts(root, entries, latest)))
        .with_some("At work", at_work(work))
        .with_some("Next", actions(next));
    if !rounds.is_empty() {
        let from = rounds.len().saturating_sub(ROWS_MAX);
        page = page
            .with("Rounds", rounds_table(rounds.iter().skip(from), latest))
            .with_some("", shortened(ROWS_MAX, rounds.len(), "rp fold rounds"));
    }
    if let Some(round) = latest {
        let title = format!("Claims of round {}", round.number);
        let rest = format!("rp fold claims --round {}", round.number);
        let claims = round.claims.iter().take(ROWS_MAX);
        page = page
            .with_some(title, claims_table(claims.map(|claim| (round.number, &**claim))))
            .with_some("", shortened(ROWS_MAX, round.claims.len(), &rest));
        if let Some(header) = &round.header {
            let items = header.open_items.iter().take(ROWS_MAX);
            let rest = format!("rp show round:{}", round.number);
            page = page
                .with_some(
                    "Open items",
                    Body::List(items.map(|item| Cell::clipped(item, 300)).collect()),
                )
                .with_some("", shortened(ROWS_MAX, header.open_items.len(), &rest));
        }
    }
    page.with_some("Behaviors", behaviors_table(behaviors.iter().take(ROWS_MAX)))
        .with_some("", shortened(ROWS_MAX, behaviors.len(), "rp fold memory"))
}

/// Says how much was left out and where it stands; empty if nothing was.
pub(super) fn shortened(shown: usize, all: usize, rest: &str) -> Body {
    if all <= shown {
        return Body::Text(Cell::default());
    }
    Body::Note(
        Tone::Plain,
        Cell::from(format!("{shown} of {all} are shown; all: ")).and(Cell::code(rest)),
    )
}

fn facts(root: &Root, entries: u64, latest: Option<&Round>) -> Vec<(String, Cell)> {
    let none = || Cell::from("none");
    let mut facts = vec![
        ("program", Cell::from(root.name.clone())),
        ("direction", Cell::from(root.direction.clone())),
        ("entries in the journal", Cell::count(entries)),
        (
            "latest round",
            latest.map_or_else(none, |round| Cell::link(Address::round(round.number))),
        ),
    ];
    if let Some(header) = latest.and_then(|round| round.header.as_ref()) {
        let stage = &header.updated_after_stage;
        let stage = if stage.is_empty() { none() } else { Cell::from(stage.clone()) };
        facts.push(("pipeline", tone::pipeline(&header.pipeline_status, 300)));
        facts.push(("last stage merged", stage));
        let end = &header.round_end;
        if !end.qualifier.is_empty() {
            facts.push(("to decide", Cell::from(end.detail.clone())));
            facts.push(("remedy", Cell::from(end.remedy.clone())));
        }
    }
    if let Some(task) = &root.task {
        let origin = if task.drafted { "drafted" } else { "recorded by the user" };
        facts.push(("task", Cell::from(format!("for round {}, {origin}", task.for_round))));
    }
    facts.into_iter().map(|(label, value)| (label.to_owned(), value)).collect()
}

/// The agent that is out, and what it may record.
fn at_work(work: Option<&Work>) -> Body {
    Body::facts(work.into_iter().flat_map(|work| {
        let round = Cell::link(Address::round(work.round));
        [
            ("agent", Cell::from(work.agent.clone())),
            ("stage", round.and(format!(", {}, attempt {}", work.stage, work.attempt).as_str())),
            ("may record", Cell::joined(work.kinds.iter().copied().map(Cell::code), ", ")),
        ]
    }))
}

/// What may come next, as a table: kind, who, what it would say, and the payload where it is known.
fn actions(next: &[Action]) -> Body {
    let row = |action: &Action| {
        let data = action.data.as_deref().filter(|_| action.choices.len() < 2);
        let payload = match data {
            Some(data) => Cell::code(data),
            None => Cell::code(format!("rp schema {}", action.kind)),
        };
        let cells = [
            Cell::code(action.kind),
            Cell::from(action.stream.clone()),
            Cell::from(action.by.join(" or ")),
            Cell::clipped(&action.choices.join("; "), 600),
            payload,
        ];
        (None, cells)
    };
    Body::table(["kind", "stream", "signed by", "what", "payload"], next.iter().map(row))
}

pub(super) fn rounds_table<'a>(
    rounds: impl Iterator<Item = &'a Round>,
    latest: Option<&Round>,
) -> Body {
    let latest = latest.map(|round| round.number);
    let rows = rounds.map(|round| {
        let state = match (round.is_archived, Some(round.number) == latest) {
            (true, _) => "archived",
            (false, true) => "live",
            (false, false) => "discarded",
        };
        let (pipeline, project) = round.header.as_ref().map_or_else(Default::default, |header| {
            (tone::pipeline(&header.pipeline_status, 120), Cell::clipped(&header.project, 120))
        });
        let address = Address::round(round.number);
        let claims = Cell::from(round.claims.len().to_string());
        (None, [Cell::link(address), Cell::from(state), pipeline, claims, project])
    });
    Body::table(["round", "state", "pipeline", "claims", "project"], rows)
}

pub(super) fn claims_table<'a>(claims: impl Iterator<Item = (u64, &'a ClaimRow)>) -> Body {
    let rows = claims.map(|(round, claim)| {
        let cells = [
            Cell::link(Address::claim(round, &claim.id)),
            Cell::clipped(&claim.statement, 160),
            tone::outcome(&claim.main_experiment.verdict, 80),
            tone::verdict(&claim.verify.verdict),
            tone::final_status(&claim.final_status, 100),
        ];
        (None, cells)
    });
    Body::table(["claim", "statement", "main experiment", "verify", "final status"], rows)
}

fn behaviors_table<'a>(behaviors: impl Iterator<Item = &'a Arc<Behavior>>) -> Body {
    let rows = behaviors.map(|behavior| {
        let cells = [
            Cell::from(behavior.id.clone()),
            Cell::clipped(&behavior.statement, 160),
            tone::behavior(&behavior.status),
            Cell::link(Address::round(behavior.decided_in_round)),
            Cell::from(behavior.mechanisms.len().to_string()),
        ];
        (None, cells)
    });
    Body::table(["behavior", "statement", "status", "decided in", "attempts"], rows)
}
