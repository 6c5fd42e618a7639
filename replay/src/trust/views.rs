//! Pages about the journal itself: its keys, its entries, what was refused.

use std::sync::Arc;

use super::KeyRecord;
use crate::{
    History, State, View,
    document::{Address, Body, Cell, Document, Tone},
    history::Line,
    views::{Args, Build, Touch, ViewError},
};

/// Keys, roles, and what was refused.
pub static TRUST: View = View {
    name: "trust",
    about: "the journal's keys with their roles and ends, and how often which code was refused",
    build: Build::Page(trust),
    touch: Touch::Journal,
};

/// Every entry.
pub static TIMELINE: View = View {
    name: "timeline",
    about: "every entry, oldest first: when, what kind, by whom, about what",
    build: Build::Story(timeline),
    touch: Touch::All,
};

/// What was tried and refused.
pub static REFUSALS: View = View {
    name: "refusals",
    about: "what was tried and refused: when, by whom, by which code",
    build: Build::Story(refusals),
    touch: Touch::Kinds(&["command.rejected"]),
};

/// The most things that an entry's row names.
const NAMED_MAX: usize = 6;

fn nothing() -> ViewError {
    ViewError::Nothing("the journal has no entries".to_owned())
}

fn trust(state: &State, _: &Args) -> Result<Document, ViewError> {
    let Some(genesis) = state.trust().genesis() else { return Err(nothing()) };
    let facts = [
        ("origin", Cell::from(genesis.origin.clone())),
        ("title", Cell::from(genesis.title.clone().unwrap_or_else(|| "none".to_owned()))),
        ("profile", Cell::from(genesis.profile.clone())),
        ("log id", Cell::code(genesis.log_id.to_string())),
    ];
    let keys = state.trust().keys();
    let rows = keys.iter().map(|key| key_row(state, key));
    let refused = state.trust().refused();
    let counts = refused.iter().map(|(code, n)| (None, [Cell::code(code), Cell::count(*n)]));
    Ok(Document::new("Trust")
        .with("", Body::facts(facts))
        .with("Keys", Body::table(["name", "key", "roles", "since", "state"], rows))
        .with_some("Refused", Body::table(["code", "times"], counts)))
}

fn key_row(state: &State, key: &Arc<KeyRecord>) -> (Option<Address>, [Cell; 5]) {
    let kid = key.public.kid();
    let roles = key.roles.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let end = match key.ended_before(state.next()) {
        None => Cell::status(Tone::Good, "may sign"),
        Some(why) => Cell::status(Tone::Bad, why),
    };
    // A key that took the place of another has its name; the name leads to the one that holds it now.
    let holds_name = state.trust().named(&key.name).is_some_and(|(now, _)| now == kid);
    let cells = [
        Cell::from(key.name.clone()),
        Cell::code(kid.short()),
        Cell::from(roles),
        Cell::link(Address::event(key.since)),
        end,
    ];
    (holds_name.then(|| Address::key(&key.name)), cells)
}

fn timeline(state: &State, history: &History, _: &Args) -> Result<Document, ViewError> {
    if history.lines().is_empty() {
        return Err(nothing());
    }
    let rows = history.lines().iter().map(|line| {
        let cells = [
            Cell::link(Address::event(line.seq)),
            Cell::time(line.time),
            Cell::code(line.kind.clone()),
            place(&line.stream),
            signer(state, line),
            about(line),
            Cell::from(line.gist.clone()),
        ];
        (Some(Address::event(line.seq)), cells)
    });
    let columns = ["entry", "time", "kind", "stream", "key", "about", "what"];
    Ok(Document::new("Timeline").with("", Body::table(columns, rows)))
}

fn refusals(state: &State, history: &History, _: &Args) -> Result<Document, ViewError> {
    let all = history.lines().iter().filter_map(|line| Some((line, line.refused.as_ref()?)));
    let rows: Vec<_> = all
        .map(|(line, refused)| {
            let tried = state.trust().key(&refused.kid);
            let by = tried.map_or_else(
                || Cell::code(refused.kid.short()),
                |key| Cell::link(Address::key(&key.name)),
            );
            let cells = [
                Cell::link(Address::event(line.seq)),
                Cell::time(line.time),
                Cell::code(refused.kind.clone()),
                place(&refused.stream),
                by,
                Cell::status(Tone::Bad, refused.code.clone()),
            ];
            (None, cells)
        })
        .collect();
    if rows.is_empty() {
        return Err(ViewError::Nothing("nothing was refused".to_owned()));
    }
    let columns = ["entry", "time", "kind tried", "stream", "by", "code"];
    Ok(Document::new("Refusals").with("", Body::table(columns, rows)))
}

fn signer(state: &State, line: &Line) -> Cell {
    match state.trust().key(&line.kid) {
        Some(key) if key.is_suspect_at(line.seq) => {
            Cell::link(Address::key(&key.name)).and(" ").and(Cell::status(Tone::Bad, "suspect"))
        }
        Some(key) => Cell::link(Address::key(&key.name)),
        None => Cell::code(line.kid.short()),
    }
}

/// A stream: by the address of its round, where it has one.
fn place(stream: &str) -> Cell {
    match stream.strip_prefix("round/").and_then(|number| number.parse().ok()) {
        Some(number) => Cell::link(Address::round(number)),
        None => Cell::from(stream),
    }
}

fn about(line: &Line) -> Cell {
    let links = line.about.iter().take(NAMED_MAX).cloned().map(Cell::link);
    let cell = Cell::joined(links, ", ");
    match line.about.len().saturating_sub(NAMED_MAX) {
        0 => cell,
        more => cell.and(format!(" and {more} more").as_str()),
    }
}
