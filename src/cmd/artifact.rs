//! `rp artifact`: bytes kept beside the journal, named by their digests.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use rp_events::{
    ArtifactName, Event, Refusal,
    artifact::{Fingerprint, blob_path},
    refusal::general,
    text::shown,
    trust::{ArtifactAdded, Event as Trust},
};
use rp_replay::{Address, State, trust::Artifact};
use rp_validator::{
    artifacts::{Held, held},
    source::Source,
};
use serde_json::{Value, json};

use crate::{
    artifacts::{Store, Stored, path_of},
    engine::{Draft, Engine, fresh_idem},
    error::Failure,
    exit::Exit,
    out::Out,
    workspace::{Moment, Settings, Workspace},
};

/// `rp artifact`
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Store files and record their digests, so that events can cite them.
    Add(AddArgs),
    /// Write an artifact's bytes, checked against their digest.
    Get(GetArgs),
    /// List the artifacts on record.
    List(ListArgs),
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// The files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Your own name for this request: repeating it records nothing twice. Several files are numbered.
    #[arg(long, value_name = "TEXT")]
    idem: Option<String>,
}

#[derive(Debug, clap::Args)]
struct GetArgs {
    /// The artifact: `b3:DIGEST`, `sha256:DIGEST`, or either with `artifact:` before it.
    #[arg(value_name = "DIGEST")]
    name: String,
    /// Write to a new file in the place of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

/// Adds, gets or lists.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    match &args.what {
        What::Add(args) => add(args, &workspace, out),
        What::Get(args) => get(args, &workspace, out),
        What::List(args) => list(args, &workspace, out),
    }
}

/// A file that is in the store.
struct Added {
    found: Fingerprint,
    stored: Stored,
    path: Option<String>,
}

fn add(args: &AddArgs, workspace: &Workspace, out: &Out) -> Result<Exit, Failure> {
    let mut added = Vec::new();
    {
        let store = Store::open(workspace)?;
        for file in &args.files {
            let (found, stored) = store.add(file)?;
            added.push(Added { found, stored, path: path_of(workspace, file) });
        }
    }
    // The bytes are durable; only now may an entry name them.
    let mut engine = Engine::open(workspace)?;
    engine.notes.iter().for_each(|note| out.note(note));
    let mut drafts: Vec<Draft> = Vec::new();
    for (file, n) in added.iter().zip(1..) {
        let event = event_of(file);
        let again = drafts.iter().any(|draft| draft.event == event);
        if again || is_on_record(engine.state(), file) {
            continue;
        }
        let idem = match &args.idem {
            Some(idem) if added.len() == 1 => idem.clone(),
            Some(idem) => format!("{idem}:{n}"),
            None => fresh_idem(workspace),
        };
        let signer = workspace.key_name()?;
        drafts.push(Draft { event, stream: None, at: None, cause: Vec::new(), idem, signer });
    }
    if !drafts.is_empty()
        && let Some(failure) = engine.commit(&drafts)?.refused
    {
        return Err(failure.hint("the bytes are stored; nothing names them yet"));
    }
    let recorded: Vec<&Event> = drafts.iter().map(|draft| &draft.event).collect();
    report(&added, &recorded, &engine, out)
}

fn event_of(file: &Added) -> Event {
    let Fingerprint { b3, sha256, bytes } = file.found;
    let path = file.path.clone();
    Event::Trust(Trust::ArtifactAdded(Box::new(ArtifactAdded { b3, sha256, bytes, path })))
}

/// Whether an entry names these bytes, and under this path if the file has one.
fn is_on_record(state: &State, file: &Added) -> bool {
    let known = state.trust().artifact(&ArtifactName::Blake3(file.found.b3));
    known.is_some_and(|known| file.path.as_ref().is_none_or(|path| known.paths.contains(path)))
}

fn report(
    added: &[Added],
    recorded: &[&Event],
    engine: &Engine,
    out: &Out,
) -> Result<Exit, Failure> {
    let mut records: Vec<Value> = Vec::new();
    let mut text = String::new();
    for file in added {
        let name = ArtifactName::Blake3(file.found.b3);
        let known = engine.state().trust().artifact(&name);
        let since = known.as_ref().map(|known| known.since.0);
        let is_new = recorded.contains(&&event_of(file));
        records.push(json!({
            "address": Address::Artifact(name).to_string(),
            "b3": file.found.b3.to_string(),
            "sha256": file.found.sha256.to_string(),
            "bytes": file.found.bytes,
            "path": file.path,
            "seq": since,
            "duplicate": !is_new,
            "stored": file.stored.name(),
        }));
        let what = if is_new { "recorded" } else { "was on record" };
        let path = file.path.as_deref().unwrap_or("a file outside the workspace");
        let bytes = file.found.bytes;
        text.push_str(&format!("artifact:{name}  {what}, {bytes} bytes, {}\n", shown(path)));
        if file.stored == Stored::Repaired {
            out.note(&format!("the store held other bytes as {name}; they were replaced"));
        }
    }
    if out.json {
        let head = engine.writer().head();
        out.document(&json!({
            "schema": "rp.artifact.add/1",
            "artifacts": records,
            "size": head.size(),
            "root": head.root().to_string(),
        }))?;
    } else {
        out.data(&text)?;
    }
    Ok(Exit::DONE)
}

fn on_record(name: &str, state: &State) -> Result<std::sync::Arc<Artifact>, Failure> {
    let text = name.strip_prefix("artifact:").unwrap_or(name);
    let parsed = ArtifactName::parse(text).ok_or_else(|| {
        let message = format!(
            "an artifact is named by `b3:` or `sha256:` and 64 lower-case hexadecimal digits, found `{}`",
            shown(name)
        );
        Failure::usage(message).hint("`rp artifact list` prints the names")
    })?;
    state.trust().artifact(&parsed).ok_or_else(|| {
        let why = format!("this journal names no artifact `{parsed}`");
        Failure::from(Refusal::new(&general::ARTIFACT_MISSING, why))
            .hint("`rp artifact list` prints those on record")
    })
}

fn get(args: &GetArgs, workspace: &Workspace, out: &Out) -> Result<Exit, Failure> {
    let reading = workspace.read(None)?;
    let artifact = on_record(&args.name, &reading.state)?;
    if let Some(path) = args.out.as_ref().filter(|path| path.exists()) {
        let message = format!("`{}` exists and is not overwritten", path.display());
        return Err(Failure::new(Exit::EXISTS, "exists", message).hint("name a new file"));
    }
    let blob = workspace.blobs_folder().join(blob_path(&artifact.b3));
    let read = |error: io::Error| Failure::io("read", &blob, &error);
    // Checked before the first byte is given away, so that nothing wrong is taken for the artifact.
    whole(&held(&workspace.blobs(), &artifact).map_err(read)?, &artifact)?;
    let mut file = File::open(&blob).map_err(read)?;
    match &args.out {
        None if out.json => {
            Err(Failure::usage("`--json` needs `--out FILE`: standard output holds one document"))
        }
        None => {
            io::copy(&mut file, &mut io::stdout().lock()).map_err(read)?;
            Ok(Exit::DONE)
        }
        Some(path) => {
            copy_to(&mut file, path)?;
            let name = ArtifactName::Blake3(artifact.b3);
            if out.json {
                out.document(&json!({
                    "schema": "rp.artifact.get/1",
                    "address": Address::Artifact(name).to_string(),
                    "bytes": artifact.bytes,
                    "out": path.display().to_string(),
                }))?;
            } else {
                out.data(&format!("{} bytes of {name} in {}\n", artifact.bytes, path.display()))?;
            }
            Ok(Exit::DONE)
        }
    }
}

/// Holds what the store has to be the artifact.
fn whole(held: &Held, artifact: &Artifact) -> Result<(), Failure> {
    match held {
        Held::Whole => Ok(()),
        Held::Missing => {
            let why = format!("the bytes of `b3:{}` are not in the store", artifact.b3);
            let failure = Failure::from(Refusal::new(&general::ARTIFACT_MISSING, why));
            Err(Failure { exit: Exit::NOTHING, ..failure }
                .hint("add the original file again, or restore `.rp/blobs` from a copy"))
        }
        Held::Changed(found) => {
            let why = format!(
                "the store has {} bytes with the digest b3:{} under the name `b3:{}`",
                found.bytes, found.b3, artifact.b3
            );
            Err(Failure::from(Refusal::new(&general::ARTIFACT_MISMATCH, why))
                .hint("add the original file again, which puts the right bytes in place"))
        }
    }
}

fn copy_to(from: &mut dyn Read, path: &Path) -> Result<(), Failure> {
    let write = |error: io::Error| Failure::io("write", path, &error);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path).map_err(write)?;
    io::copy(from, &mut file).and_then(|_| file.flush()).map_err(write)
}

fn list(args: &ListArgs, workspace: &Workspace, out: &Out) -> Result<Exit, Failure> {
    let reading = workspace.read(args.at.as_ref())?;
    let artifacts = reading.state.trust().artifacts();
    let stored = workspace
        .blobs()
        .names()
        .map_err(|error| Failure::io("read", &workspace.blobs_folder(), &error))?;
    let is_stored = |artifact: &Artifact| stored.binary_search(&blob_path(&artifact.b3)).is_ok();
    let named = |name: &&String| {
        name.starts_with("b3/") && !artifacts.iter().any(|a| blob_path(&a.b3) == **name)
    };
    let strays: Vec<&String> = stored.iter().filter(named).collect();
    if out.json {
        let record = |artifact: &std::sync::Arc<Artifact>| {
            json!({
                "address": Address::Artifact(ArtifactName::Blake3(artifact.b3)).to_string(),
                "b3": artifact.b3.to_string(),
                "sha256": artifact.sha256.to_string(),
                "bytes": artifact.bytes,
                "paths": artifact.paths,
                "seq": artifact.since.0,
                "stored": is_stored(artifact),
            })
        };
        out.document(&json!({
            "schema": "rp.artifact.list/1",
            "artifacts": artifacts.iter().map(record).collect::<Vec<_>>(),
            "unnamed_files": strays,
        }))?;
        return Ok(Exit::DONE);
    }
    let mut text = String::new();
    for artifact in &artifacts {
        let gone = if is_stored(artifact) { "" } else { "  (not in the store)" };
        text.push_str(&format!(
            "artifact:b3:{}  {:>12}  entry {}  {}{gone}\n",
            artifact.b3,
            artifact.bytes,
            artifact.since,
            shown(&artifact.paths.join(", "))
        ));
    }
    out.data(&text)?;
    for stray in strays {
        out.note(&format!("no entry names the stored file `{stray}`"));
    }
    out.note("the bytes were not read; `rp validate` reads them");
    Ok(Exit::DONE)
}
