//! What an agent says about files is checked: `rp` opens them (`decisions.md` 5).
//!
//! In the profile `strict` every file that a stage says it left is opened, held to what the list asserts of
//! it, and its size and digest are what is recorded.

use std::borrow::Cow;

use rp_events::{
    Event, Refusal,
    program::{Artifact, Event as Program},
    refusal::general,
};
use rp_replay::State;

use crate::{artifacts, error::Failure, workspace::Workspace};

/// The event as it is recorded: its list of files with what `rp` found of each.
///
/// # Errors
///
/// `artifact-missing` or `artifact-mismatch` at the first file that is not as listed.
pub(super) fn attested<'e>(
    event: &'e Event,
    state: &State,
    workspace: &Workspace,
) -> Result<Cow<'e, Event>, Failure> {
    let Event::Program(Program::StageReturned(body)) = event else {
        return Ok(Cow::Borrowed(event));
    };
    if body.artifacts.is_empty() || !state.trust().is_strict() {
        return Ok(Cow::Borrowed(event));
    }
    let mut body = body.clone();
    for listed in &mut body.artifacts {
        attest(listed, workspace)?;
    }
    Ok(Cow::Owned(Event::Program(Program::StageReturned(body))))
}

fn attest(listed: &mut Artifact, workspace: &Workspace) -> Result<(), Failure> {
    let found = artifacts::find(workspace, &listed.path)?;
    let sum = found.sha256.to_string();
    let agrees =
        listed.bytes == found.bytes && listed.sha256.as_ref().is_none_or(|listed| *listed == sum);
    if !agrees {
        let listed_sum = listed.sha256.as_deref().unwrap_or("none");
        let why = format!(
            "`{}` has {} bytes with the SHA-256 {sum}; listed are {} bytes with {listed_sum}",
            listed.path, found.bytes, listed.bytes
        );
        return Err(Refusal::new(&general::ARTIFACT_MISMATCH, why).into());
    }
    listed.sha256 = Some(sum);
    Ok(())
}
