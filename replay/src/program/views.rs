//! The program's files and pages.

use crate::{
    State, View,
    document::{Body, Document},
    views::{Args, Build, Place, ViewError},
};

/// The claims ledger of one round.
pub static LEDGER: View = View {
    name: "ledger",
    about: "the claims of a round with their verdicts (`claims_ledger.json`, `CLAIMS_LEDGER.md`)",
    build: Build::File { formats: &["json", "md"], render: nothing, places: nowhere },
};

/// The research memory.
pub static MEMORY: View = View {
    name: "memory",
    about: "what the program knows of each behavior (`research_memory.json`)",
    build: Build::File { formats: &["json"], render: nothing, places: nowhere },
};

/// The task of the next round.
pub static NEXT_TASK: View = View {
    name: "next-task",
    about: "the task drafted for the next round (`task.md`)",
    build: Build::File { formats: &["md"], render: nothing, places: nowhere },
};

/// Where things stand.
pub static STATUS: View =
    View { name: "status", about: "where the program stands", build: Build::Page(status) };

fn nothing(_: &State, _: &Args, _: &str) -> Result<String, ViewError> {
    Err(ViewError::Nothing("nothing is recorded yet".to_owned()))
}

fn nowhere(_: &State) -> Vec<Place> {
    Vec::new()
}

fn status(state: &State, _: &Args) -> Result<Document, ViewError> {
    let Some(root) = state.program().root() else {
        return Err(ViewError::Nothing("no program was created yet".to_owned()));
    };
    let facts = vec![
        ("program".to_owned(), root.name.clone()),
        ("direction".to_owned(), root.direction.clone()),
    ];
    Ok(Document::new(root.name.clone()).with("", Body::Facts(facts)))
}
