//! The brief: where the program stands and what may come next, small enough to be read whole by an agent.

use std::{collections::BTreeMap, sync::Arc};

use super::tone;
use crate::{
    State,
    document::{Address, Body, Cell, Document, clipped},
    program::{
        Program,
        ledger::ClaimRow,
        next::{self, Action},
    },
    views::{Args, ViewError},
};

/// Longest brief as text, in bytes and so in characters.
pub const BRIEF_BYTES_MAX: usize = 4000;

/// What a heading, a bullet, a line end and the widest label take beside their words, at most.
const LINE_BYTES: usize = 20;

/// Longest line of the brief, in characters.
const LINE_CHARS_MAX: usize = 320;

/// A part of the brief: what it may take even if all others are full.
struct Part {
    heading: &'static str,
    share: usize,
    lines: Vec<Cell>,
    /// Where the rest stands, if not all fits.
    rest: String,
}

pub(super) fn brief(state: &State, _: &Args) -> Result<Document, ViewError> {
    if state.trust().genesis().is_none() {
        return Err(ViewError::Nothing("the journal has no entries".to_owned()));
    }
    let program = state.program();
    let name = program.root().map_or_else(|| "no program yet".to_owned(), |root| root.name.clone());
    let title = format!("Brief: {}", clipped(&name, 60));
    let latest = program.latest_round();
    let round = latest.unwrap_or(0);
    let header = latest.and_then(|round| program.header(round));
    let open = header.as_ref().map_or_else(Vec::new, |header| {
        header.open_items.iter().map(|item| Cell::clipped(item, 200)).collect()
    });
    let parts = [
        Part {
            heading: "Next",
            share: 1500,
            lines: at_work(state).into_iter().chain(next::next(state).iter().map(action)).collect(),
            rest: "rp status".to_owned(),
        },
        Part {
            heading: "",
            share: 900,
            lines: standing(program, latest),
            rest: "rp status".to_owned(),
        },
        Part {
            heading: "Claims",
            share: 600,
            lines: claims(round, &program.claims(round)),
            rest: format!("rp fold claims --round {round}"),
        },
        Part {
            heading: "Open items",
            share: 300,
            lines: open,
            rest: format!("rp show round:{round}"),
        },
        Part {
            heading: "Memory",
            share: 300,
            lines: memory(program),
            rest: "rp fold memory".to_owned(),
        },
    ];
    Ok(fitted(&title, parts))
}

/// Puts the parts on a page in the order of reading, each cut to what is left for it.
///
/// What a part leaves goes to those after it. The first part is measured first and stands last: what may come
/// next must not give way to anything.
fn fitted(title: &str, parts: [Part; 5]) -> Document {
    let mut left = BRIEF_BYTES_MAX.saturating_sub(title.len() + LINE_BYTES);
    let mut reserved: usize = parts.iter().map(|part| part.share).sum();
    let mut bodies = parts.map(|part| {
        reserved = reserved.saturating_sub(part.share);
        let room = left.saturating_sub(reserved);
        let (lines, used) = cut(part.lines, room, &part.rest);
        left = left.saturating_sub(used);
        (part.heading, Body::List(lines))
    });
    bodies.rotate_left(1);
    bodies
        .into_iter()
        .fold(Document::new(title), |page, (heading, body)| page.with_some(heading, body))
}

/// The lines that fit, with one that says how many do not, and the bytes they take.
fn cut(lines: Vec<Cell>, room: usize, rest: &str) -> (Vec<Cell>, usize) {
    let size = |cell: &Cell| cell.plain().len() + LINE_BYTES;
    if lines.is_empty() {
        return (lines, 0);
    }
    let heading = LINE_BYTES;
    let all: usize = lines.iter().map(size).sum::<usize>() + heading;
    if all <= room {
        return (lines, all);
    }
    let more = |n: usize| Cell::from(format!("and {n} more: ")).and(Cell::code(rest));
    let count = lines.len();
    let mut used = heading + size(&more(count));
    let mut kept = Vec::new();
    for line in lines {
        if used + size(&line) > room {
            break;
        }
        used += size(&line);
        kept.push(line);
    }
    kept.push(more(count - kept.len()));
    (kept, used)
}

/// The agent that is out, and what it may record.
fn at_work(state: &State) -> Option<Cell> {
    let work = next::at_work(state)?;
    let line = Cell::from(format!("{} is at work in ", work.agent))
        .and(Cell::link(Address::round(work.round)))
        .and(format!(" ({} {}) and may record: ", work.stage, work.attempt).as_str());
    Some(line.and(Cell::clipped(&work.kinds.join(", "), 360)))
}

/// One line of what may come next.
fn action(action: &Action) -> Cell {
    let mut head = Cell::code(action.kind)
        .and(format!(" in {} by {}", place(&action.stream), action.by.join(" or ")).as_str());
    if !action.choices.is_empty() {
        head = head.and(": ").and(Cell::clipped(&action.choices.join("; "), 200));
    }
    match action.data.as_ref().filter(|_| action.choices.len() < 2) {
        Some(data) if data.chars().count() + head.plain().chars().count() < LINE_CHARS_MAX => {
            head.and(" ").and(Cell::code(data.clone()))
        }
        Some(_) | None => head,
    }
}

/// A stream by the address of its round, where it has one.
fn place(stream: &str) -> String {
    stream.replace("round/", "round:")
}

fn standing(program: &Program, latest: Option<u64>) -> Vec<Cell> {
    let Some(root) = program.root() else { return Vec::new() };
    let mut lines = vec![Cell::from("direction: ").and(Cell::clipped(&root.direction, 200))];
    if let Some(task) = &root.task {
        let origin = if task.drafted { "drafted" } else { "recorded by the user" };
        lines.push(Cell::from(format!(
            "task: for {}, {origin} (rp fold next-task)",
            Address::round(task.for_round)
        )));
    }
    let Some(number) = latest else {
        lines.push(Cell::from("no round was opened yet"));
        return lines;
    };
    let Some(header) = program.header(number) else { return lines };
    let end = &header.round_end;
    let state = if program.is_archived(number) { ", archived" } else { "" };
    let round = Cell::link(Address::round(number))
        .and(" ")
        .and(tone::pipeline(&header.pipeline_status, 120))
        .and(state);
    lines.insert(0, round);
    if !header.updated_after_stage.is_empty() {
        lines.insert(1, Cell::from(format!("ledger after: {}", header.updated_after_stage)));
    }
    if !header.project.is_empty() {
        lines.push(Cell::from("project: ").and(Cell::clipped(&header.project, 120)));
    }
    if !end.qualifier.is_empty() {
        lines.insert(1, Cell::from("to decide: ").and(Cell::clipped(&end.detail, 200)));
        lines.insert(2, Cell::from("remedy: ").and(Cell::clipped(&end.remedy, 200)));
    }
    lines
}

fn claims(round: u64, claims: &[Arc<ClaimRow>]) -> Vec<Cell> {
    let line = |claim: &Arc<ClaimRow>| {
        Cell::link(Address::claim(round, &claim.id))
            .and(" ")
            .and(tone::final_status(&claim.final_status, 60))
            .and("; verify ")
            .and(tone::verdict(&claim.verify.verdict))
            .and(": ")
            .and(Cell::clipped(&claim.statement, 90))
    };
    let mut lines: Vec<Cell> = claims.iter().map(line).collect();
    if claims.len() > 4 {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for claim in claims {
            *counts.entry(claim.verify.verdict.as_str()).or_default() += 1;
        }
        let each = counts.iter().map(|(word, n)| format!("{n} {word}")).collect::<Vec<_>>();
        let text = format!("{} claims; verify: {}", claims.len(), each.join(", "));
        lines.insert(0, Cell::clipped(&text, 200));
    }
    lines
}

fn memory(program: &Program) -> Vec<Cell> {
    let behaviors = program.behaviors();
    // The latest are the likeliest to matter.
    let line = |behavior: &Arc<crate::program::memory::Behavior>| {
        Cell::from(format!("{} ", behavior.id))
            .and(tone::behavior(&behavior.status))
            .and(" since ")
            .and(Cell::link(Address::round(behavior.decided_in_round)))
            .and(format!(", {} attempts: ", behavior.mechanisms.len()).as_str())
            .and(Cell::clipped(&behavior.statement, 90))
    };
    behaviors.iter().rev().map(line).collect()
}
