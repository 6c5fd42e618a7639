//! What is said about files is checked (`strict` journals): they are opened here, and what is found is recorded.
//!
//! An agent's list of files is an assertion. Before the event is signed each file is opened; one that is missing,
//! empty or other than asserted is refused, and its size and digest enter the payload. A stage is accepted on its
//! documents as they lie there, read anew. Which documents, and what they must hold, is decided in `replay`.

use rp_events::{
    Digest, Event, Refusal, Verified,
    artifact::Fingerprint,
    entry,
    program::{self, Artifact, FoundStage, RoundResumed, StageReturned},
    refusal::general,
};
use rp_replay::{
    State,
    program::{codes, constants::StageName, stage_files},
};

use super::Draft;
use crate::{
    error::Failure,
    workspace::{Workspace, documents},
};

/// The payload of a draft, with what was found of the files that it names; `first` is the request recorded under
/// its idempotency key, which a retry may repeat word for word although the files have moved on.
pub(super) fn payload(
    workspace: &Workspace,
    state: &State,
    draft: &Draft,
    first: Option<Digest>,
) -> Result<Vec<u8>, Failure> {
    let given = draft.event.encode()?;
    if !state.trust().is_strict() {
        return Ok(given);
    }
    let kind = draft.event.kind();
    if first.is_some_and(|first| entry::request(kind.name, kind.version, &given) == first) {
        return Ok(given);
    }
    let witnessed = match &draft.event {
        Event::Program(program::Event::StageReturned(body)) => returned(workspace, body),
        Event::Program(program::Event::RoundResumed(body)) => {
            resumed(workspace, state, draft.stream.as_deref(), body)
        }
        Event::Program(_) | Event::Trust(_) => return Ok(given),
    };
    match witnessed {
        Ok(event) => Ok(Event::Program(event).encode()?),
        // The conflict with what was recorded is the better answer.
        Err(_) if first.is_some() => Ok(given),
        Err(failure) => Err(failure),
    }
}

fn returned(workspace: &Workspace, body: &StageReturned) -> Result<program::Event, Failure> {
    let opened = body.artifacts.iter().map(|artifact| opened(workspace, artifact));
    let artifacts = opened.collect::<Result<_, _>>()?;
    Ok(program::Event::StageReturned(Box::new(StageReturned { artifacts, ..body.clone() })))
}

/// Opens a file that was named, and holds what was said of it to what is there.
fn opened(workspace: &Workspace, said: &Artifact) -> Result<Artifact, Failure> {
    let found = documents::sums(&workspace.root, &said.path)?;
    let Some(Fingerprint { bytes, sha256, .. }) = found.filter(|found| found.bytes > 0) else {
        let why = match found {
            Some(_) => format!("`{}` is empty", said.path),
            None => format!("`{}` is no file of the workspace", said.path),
        };
        let refusal = Refusal::new(&general::ARTIFACT_MISSING, why);
        return Err(refusal
            .hint("name the files that the stage left, by their paths from the root")
            .into());
    };
    let sha256 = sha256.to_string();
    let other = said.sha256.as_ref().is_some_and(|said| *said != sha256);
    if bytes != said.bytes || other {
        let why = format!(
            "`{}` has {bytes} bytes and SHA-256 {sha256}; found {} bytes and {}",
            said.path,
            said.bytes,
            said.sha256.as_deref().unwrap_or("no digest")
        );
        return Err(Refusal::new(&general::ARTIFACT_MISMATCH, why).into());
    }
    Ok(Artifact { path: said.path.clone(), bytes, sha256: Some(sha256) })
}

/// The stages that were interrupted after they had left all their files, unless the caller named them already.
fn resumed(
    workspace: &Workspace,
    state: &State,
    stream: Option<&str>,
    body: &RoundResumed,
) -> Result<program::Event, Failure> {
    let found = match &body.on_disk {
        Some(said) => said.clone(),
        None => interrupted(workspace, state, number(stream))?,
    };
    let each = found.into_iter().map(|found| {
        let artifacts = found.artifacts.iter().map(|artifact| opened(workspace, artifact));
        Ok(FoundStage { artifacts: artifacts.collect::<Result<_, Failure>>()?, ..found })
    });
    let found: Vec<FoundStage> = each.collect::<Result<_, Failure>>()?;
    let on_disk = (!found.is_empty()).then_some(found);
    Ok(program::Event::RoundResumed(Box::new(RoundResumed { on_disk, ..body.clone() })))
}

fn interrupted(
    workspace: &Workspace,
    state: &State,
    number: u64,
) -> Result<Vec<FoundStage>, Failure> {
    let files = documents::listing(&workspace.root)?;
    let resume = stage_files::resume_case(state, number, &files);
    let each = resume.found.into_iter().map(|(stage, paths)| {
        let artifacts = paths.into_iter().map(|path| {
            let found = documents::sums(&workspace.root, &path)?;
            let bytes = found.map_or(0, |found| found.bytes);
            Ok(Artifact { path, bytes, sha256: None })
        });
        Ok(FoundStage {
            stage: stage.as_str().to_owned(),
            artifacts: artifacts.collect::<Result<_, Failure>>()?,
        })
    });
    each.collect()
}

fn number(stream: Option<&str>) -> u64 {
    let number = stream.and_then(|stream| stream.strip_prefix("round/")?.parse().ok());
    number.unwrap_or(0)
}

/// Holds an acceptance that the rules admit to the documents as they lie there.
pub(super) fn accepted(
    workspace: &Workspace,
    state: &State,
    entry: &Verified,
) -> Result<(), Refusal> {
    let Event::Program(program::Event::StageAccepted(body)) = entry.event() else { return Ok(()) };
    let Some(name) = StageName::parse(&body.stage) else { return Ok(()) };
    if !state.trust().is_strict() {
        return Ok(());
    }
    let files = documents::listing(&workspace.root)
        .map_err(|failure| Refusal::new(&codes::ARTIFACTS_MISSING, failure.message))?;
    let number = number(entry.envelope().stream.as_deref());
    stage_files::accepts(state, number, name, &files)
}
