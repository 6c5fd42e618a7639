//! The program's files and pages. Specified in `spec/views.md`.
//!
//! Each file is rendered by a pure function of the records it shows; what stands here only finds the records.

mod brief;
mod claims;
pub mod figures_index;
pub mod ledger_json;
pub mod ledger_markdown;
pub mod memory;
mod memory_page;
pub mod next_task;
mod rounds;
mod status;
#[cfg(test)]
mod tests;
mod tone;

pub use brief::BRIEF_BYTES_MAX;

use std::sync::Arc;

use serde::Serialize;

use super::{
    Program,
    ledger::{ClaimRow, Header},
    state::{Life, archive_of},
};
use crate::{
    State, View,
    views::{Args, Build, Place, Touch, ViewError},
};

/// The claims ledger of one round.
pub static LEDGER: View = View {
    name: "ledger",
    about: "the claims of a round with their verdicts (`claims_ledger.json`, `CLAIMS_LEDGER.md`)",
    build: Build::File {
        formats: &["json", "md"],
        render: ledger,
        places: ledger_places,
        page: None,
    },
    touch: Touch::Domain("program"),
};

/// The figures of one round.
pub static FIGURES: View = View {
    name: "figures",
    about: "the figures of a round, claim by claim (`figures/INDEX.md`)",
    build: Build::File { formats: &["md"], render: figures, places: figures_places, page: None },
    touch: Touch::Domain("program"),
};

/// The research memory.
pub static MEMORY: View = View {
    name: "memory",
    about: "what the program knows of each behavior (`research_memory.json`)",
    build: Build::File {
        formats: &["json"],
        render: memory,
        places: memory_places,
        page: Some(memory_page::memory),
    },
    touch: Touch::Kinds(&["memory.", "settlement.", "program.", "round.archived"]),
};

/// The task of the next round.
pub static NEXT_TASK: View = View {
    name: "next-task",
    about: "the task drafted for the next round (`task.md`)",
    build: Build::File { formats: &["md"], render: next_task, places: nowhere, page: None },
    touch: Touch::Kinds(&["task.", "override."]),
};

/// Where things stand.
pub static STATUS: View = View {
    name: "status",
    about: "where things stand: what may come next, the rounds, claims and open items of the latest",
    build: Build::Page(status::status),
    touch: Touch::Journal,
};

/// Where things stand, bounded.
pub static BRIEF: View = View {
    name: "brief",
    about: "the same in at most 4,000 characters, ending in what may come next",
    build: Build::Page(brief::brief),
    touch: Touch::Domain("program"),
};

/// All rounds.
pub static ROUNDS: View = View {
    name: "rounds",
    about: "the rounds with their state",
    build: Build::Page(rounds::rounds),
    touch: Touch::Kinds(&[
        "round.",
        "pipeline.",
        "round_end.",
        "claim.seeded",
        "ledger.",
        "program.",
    ]),
};

/// One round.
pub static ROUND: View = View {
    name: "round",
    about: "everything about a round (`round:N`, else the latest)",
    build: Build::Entity { all: rounds::every_round, page: rounds::round },
    touch: Touch::Subject,
};

/// All claims.
pub static CLAIMS: View = View {
    name: "claims",
    about: "the claims of all rounds, or of one, with their verdicts",
    build: Build::Page(claims::claims),
    touch: Touch::Kinds(&[
        "claim.",
        "experiment.",
        "power.",
        "verify.",
        "phenomenon.",
        "round_end.",
        "iteration.",
    ]),
};

/// One claim.
pub static CLAIM: View = View {
    name: "claim",
    about: "everything about a claim (`claim:N/ID`)",
    build: Build::Entity { all: claims::every_claim, page: claims::claim },
    touch: Touch::Subject,
};

fn ledger(state: &State, args: &Args, format: &str) -> Result<String, ViewError> {
    let (header, claims) = round(state.program(), args.round)?;
    match format {
        "json" => Ok(ledger_json::render(&header, &claims)),
        "md" => Ok(ledger_markdown::render(&header, &claims)),
        other => Err(ViewError::Argument(format!("the ledger has no format `{other}`"))),
    }
}

/// The ledger of the round asked for, or of the latest one.
fn round(
    program: &Program,
    asked: Option<u64>,
) -> Result<(Arc<Header>, Vec<Arc<ClaimRow>>), ViewError> {
    let rounds = program.rounds();
    let Some(latest) = rounds.last().copied() else {
        return Err(ViewError::Nothing("no round was opened yet".to_owned()));
    };
    let number = asked.unwrap_or(latest);
    if !rounds.contains(&number) {
        let known = rounds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let why = format!("the rounds are {known}; there is no round {number}");
        return Err(ViewError::Argument(why));
    }
    let Some(header) = program.header(number) else {
        return Err(ViewError::Nothing(format!("round {number} has no ledger")));
    };
    if is_partial(program, number) {
        let why = format!(
            "some of round {number}'s ledger could not be taken over from its file; `rp log --kind program.imported` says what, and the file itself stands as it was"
        );
        return Err(ViewError::Nothing(why));
    }
    Ok((header, program.claims(number)))
}

/// Whether an import left something out, so that the fold would be less than the file.
fn is_partial(program: &Program, round: u64) -> bool {
    let imported = program.round(round).and_then(|record| record.imported.clone());
    imported.is_some_and(|imported| imported.is_partial)
}

fn ledger_places(state: &State) -> Vec<Place> {
    let files = [("claims_ledger.json", "json"), ("CLAIMS_LEDGER.md", "md")];
    let rounds = state.program().rounds().into_iter();
    rounds
        .flat_map(|round| files.map(|file| (round, file)))
        .filter_map(|(round, (name, format))| place(state, round, name, format))
        .collect()
}

/// Where a file of a round is kept; nowhere if the round keeps no files, or no whole ones.
fn place(state: &State, round: u64, name: &str, format: &'static str) -> Option<Place> {
    let program = state.program();
    program.header(round)?;
    if is_partial(program, round) {
        return None;
    }
    let record = program.round(round)?;
    let old = record.imported.as_ref().map_or("", |imported| imported.folder.as_str());
    let folder = folder(round, record.life, program.latest_round() == Some(round), old)?;
    let path = format!("{folder}{name}");
    let as_imported = program.imported_file(&path).filter(|_| is_as_imported(state, round));
    Some(Place { path, args: Args { round: Some(round), address: None }, format, as_imported })
}

/// Where a round's files stand: an archived round's in a folder of its own (`old` if an import named it), the
/// live round's at the root. A round that was discarded gave its place away, whether or not another follows yet.
fn folder(round: u64, life: Life, is_latest: bool, old: &str) -> Option<String> {
    match life {
        Life::Archived if old.is_empty() => Some(archive_of(round)),
        Life::Archived => Some(old.to_owned()),
        Life::Discarded => None,
        Life::Running | Life::Ended(_) => is_latest.then(String::new),
    }
}

/// Whether a round's ledger is still the imported one: it lay in the archives, or nothing was recorded in it.
fn is_as_imported(state: &State, round: u64) -> bool {
    let imported = state.program().round(round).and_then(|record| record.imported.clone());
    imported.is_some_and(|imported| {
        let in_archives = !imported.folder.is_empty();
        in_archives || state.record().stream(&format!("round/{round}")).version == 0
    })
}

fn figures(state: &State, args: &Args, _: &str) -> Result<String, ViewError> {
    let (_, claims) = round(state.program(), args.round)?;
    let number = args.round.or_else(|| state.program().rounds().last().copied()).unwrap_or(0);
    let plan = state.program().figure_plan(number);
    if !plan.is_finished && !plan.has_failed {
        return Err(ViewError::Nothing(format!("round {number} has no finished figures")));
    }
    Ok(figures_index::render(&claims, plan.has_failed.then_some(plan.error.as_str())))
}

fn figures_places(state: &State) -> Vec<Place> {
    let stands = |round: &u64| {
        let plan = state.program().figure_plan(*round);
        plan.is_finished || plan.has_failed
    };
    let rounds = state.program().rounds().into_iter().filter(stands);
    rounds.filter_map(|round| place(state, round, "figures/INDEX.md", "md")).collect()
}

fn memory(state: &State, _: &Args, _: &str) -> Result<String, ViewError> {
    match state.program().root() {
        Some(root) if root.has_memory => Ok(memory::render(&root, &state.program().behaviors())),
        Some(_) | None => {
            Err(ViewError::Nothing("no round has written to the memory yet".to_owned()))
        }
    }
}

fn memory_places(state: &State) -> Vec<Place> {
    if !state.program().root().is_some_and(|root| root.has_memory) {
        return Vec::new();
    }
    let path = "research_memory.json".to_owned();
    let old = state.program().course().keeps_old_memory;
    let as_imported = state.program().imported_file(&path).filter(|_| old);
    vec![Place { path, args: Args::default(), format: "json", as_imported }]
}

fn next_task(state: &State, _: &Args, _: &str) -> Result<String, ViewError> {
    let root = state.program().root();
    let Some(task) = root.as_ref().and_then(|root| root.task.as_ref()) else {
        return Err(ViewError::Nothing("no task was recorded or drafted yet".to_owned()));
    };
    Ok(next_task::render(task))
}

/// The task is the user's file: only the draft verb writes it.
fn nowhere(_: &State) -> Vec<Place> {
    Vec::new()
}

/// The bytes of a JSON file: two-space indent, non-ASCII kept, one line feed at the end.
fn json(file: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(file)
        .expect("the files hold texts, lists and numbers under fixed names");
    text.push('\n');
    text
}

/// A value on one line: each run of line breaks is one space.
fn one_line(value: &str) -> String {
    let parts = value.split('\n').collect::<Vec<_>>();
    let last = parts.len().saturating_sub(1);
    let kept = parts.iter().enumerate();
    // An empty part in the middle stands between two breaks of one run.
    let kept = kept.filter(|(index, part)| !part.is_empty() || *index == 0 || *index == last);
    kept.map(|(_, part)| *part).collect::<Vec<_>>().join(" ")
}

/// A value of a Markdown line: on one line, and a dash where there is none.
fn text(value: &str) -> String {
    if value.is_empty() { DASH.to_owned() } else { one_line(value) }
}

/// Stands for an empty or missing value.
const DASH: &str = "\u{2014}";
