//! The cache: folded records kept between processes, so that an append loads a handful of them.

use rp_replay::{Scope, State};
use rp_validator::{
    meaning::Fold,
    walk::{Plan, Until},
};

use crate::{
    error::Failure,
    journal::Writer,
    workspace::{Reading, Workspace},
};

/// A reading from the cache, if one is worth it and can be had without waiting.
pub fn reading(_workspace: &Workspace, _size: u64) -> Option<Reading> {
    None
}

/// The state of the first `size` entries for a writer.
///
/// # Errors
///
/// The history does not hold.
pub fn writing(workspace: &Workspace, size: u64) -> Result<State, Failure> {
    let mut fold = Fold::new(State::default(), Scope::Whole);
    workspace
        .each(Plan::whole(Until::Size(size)), &mut |parsed, _| fold.take(parsed, &mut drop))?;
    match fold.offences.first() {
        None => Ok(fold.state),
        Some(offence) => Err(Failure::from(offence.refusal.clone()).detail("seq", offence.seq.0)),
    }
}

/// Writes changed records back, when enough have gathered.
pub fn save(_workspace: &Workspace, _state: &mut State, _writer: &Writer) {}

/// Removes the cache; the next opening folds from the first entry.
pub fn discard(_workspace: &Workspace) {}
