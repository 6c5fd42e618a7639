//! The multi-round guard (H.5 and E7 of the domain text): a fresh run must not overwrite what an earlier one left.
//!
//! It holds in every mode. The journal knows the rounds that are open; the files at the root show what was left
//! by a round that the journal does not know, or that was lost from it.

use super::{Program, passage};

/// The files whose presence at the root, with content, shows that a round left its outputs there.
pub const WITNESSES: &[&str] = &["CLAIMS_LEDGER.md", "refine-logs/FINAL_PROPOSAL.md"];

/// Why a fresh run stops, and what the user may choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halt {
    /// The round that is neither archived nor discarded, if the journal knows one.
    pub round: Option<u64>,
    /// The files that would be overwritten.
    pub files: Vec<String>,
    /// The three choices, the recommended one first: a word, and what it does.
    pub choices: [(&'static str, String); 3],
}

impl Halt {
    /// The lines for the user.
    pub fn message(&self) -> String {
        let what = match self.round {
            Some(round) => format!("round {round} is neither archived nor discarded"),
            None => format!("an earlier round's files are at the root: {}", self.files.join(", ")),
        };
        format!("[multi-round] {what}; a fresh run would overwrite it")
    }
}

/// What stops a fresh run. `files` are those of [`WITNESSES`] that are at the root with content.
///
/// A round that the user discarded gave its place to the next, so its files count as given up.
pub fn multi_round(program: &Program, files: &[String]) -> Option<Halt> {
    let latest = program.latest_round();
    let round = latest
        .filter(|round| !program.is_archived(*round) && !passage::is_discarded(program, *round));
    let given_up = latest.is_some_and(|round| passage::is_discarded(program, round));
    if round.is_none() && (files.is_empty() || given_up) {
        return None;
    }
    let choices = match round {
        Some(round) => [
            ("archive", format!("`rp round archive` moves it to {}", passage::target(round))),
            ("resume", format!("`rp round resume` continues round {round}")),
            ("discard", format!("`rp round discard --round {round}` gives its files up")),
        ],
        None => [
            ("import", "`rp import program DIR` takes the files over as a round".to_owned()),
            ("move", format!("move them by hand to {}", passage::target(next(program)))),
            ("delete", format!("delete {} to overwrite them on purpose", files.join(", "))),
        ],
    };
    Some(Halt { round, files: files.to_vec(), choices })
}

/// The number that the next round has.
pub fn next(program: &Program) -> u64 {
    program.course().highest_round + 1
}
