//! Pass 3, the artifacts: every digest on record has its bytes in the store, and they are those bytes.
//!
//! Bytes are hashed as they are read, a piece at a time, so the size of an artifact costs no memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read},
    ops::ControlFlow,
};

use rp_events::{
    ArtifactName, Digest, Seq,
    artifact::{Fingerprint, Fingerprinter, blob_path},
};
use rp_replay::{State, trust::Artifact};

use crate::{
    report::{Class, Report},
    source::Source,
    walk::{self, Plan, Until},
};

/// Bytes read at a time.
const PIECE_BYTES: usize = 1 << 16;

/// What the store holds under an artifact's digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// The bytes on record.
    Whole,
    /// Nothing.
    Missing,
    /// Other bytes.
    Changed(Fingerprint),
}

/// Takes the fingerprint of everything that a reader gives.
///
/// # Errors
///
/// It cannot be read.
pub fn fingerprint(reader: &mut dyn Read) -> io::Result<Fingerprint> {
    let mut hasher = Fingerprinter::default();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(read) => hasher.update(piece.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads an artifact from the store and says whether its bytes are those on record.
///
/// # Errors
///
/// They are there and cannot be read.
pub fn held(store: &dyn Source, artifact: &Artifact) -> io::Result<Held> {
    let Some(mut reader) = store.open(&blob_path(&artifact.b3))? else {
        return Ok(Held::Missing);
    };
    let found = fingerprint(&mut *reader)?;
    let due = Fingerprint { b3: artifact.b3, sha256: artifact.sha256, bytes: artifact.bytes };
    Ok(if found == due { Held::Whole } else { Held::Changed(found) })
}

/// Checks every artifact on record, and notes what the store holds beside them.
pub(crate) fn check(
    state: &State,
    journal: &impl Source,
    store: &dyn Source,
    report: &mut Report,
) -> io::Result<()> {
    let artifacts = state.trust().artifacts();
    let mut faults = Vec::new();
    for artifact in &artifacts {
        report.counts.artifacts += 1;
        match held(store, artifact) {
            Ok(Held::Whole) => {}
            Ok(Held::Missing) => {
                faults.push((artifact, Class::Unverifiable, "artifact-missing", missing()));
            }
            Ok(Held::Changed(found)) => {
                faults.push((
                    artifact,
                    Class::Broken,
                    "artifact-mismatch",
                    changed(artifact, &found),
                ));
            }
            Err(error) => {
                faults.push((artifact, Class::Unreadable, "unreadable", error.to_string()));
            }
        }
    }
    if !faults.is_empty() {
        let citing = citing(journal, state)?;
        for (artifact, class, code, what) in faults {
            let place = blob_path(&artifact.b3);
            let paths = match artifact.paths.as_slice() {
                [] => String::new(),
                paths => format!(" (`{}`)", paths.join("`, `")),
            };
            let by = cited_by(citing.get(&artifact.b3));
            let text = format!("artifact:b3:{}{paths} {what}; {by}", artifact.b3);
            report.find(class, code, Some(artifact.since), place, text);
        }
    }
    note_strays(&artifacts, store, report)
}

fn missing() -> String {
    "is not in the store".to_owned()
}

fn changed(artifact: &Artifact, found: &Fingerprint) -> String {
    format!(
        "has {} bytes with the digest b3:{}, on record are {} bytes",
        found.bytes, found.b3, artifact.bytes
    )
}

fn cited_by(seqs: Option<&BTreeSet<Seq>>) -> String {
    let Some(seqs) = seqs else { return "no entry cites it".to_owned() };
    let list: Vec<String> = seqs.iter().map(ToString::to_string).collect();
    format!("cited by {} {}", if list.len() == 1 { "entry" } else { "entries" }, list.join(", "))
}

/// The entries that cite each artifact, found by one more walk; only a fault asks for it.
fn citing(journal: &impl Source, state: &State) -> io::Result<BTreeMap<Digest, BTreeSet<Seq>>> {
    let mut citing: BTreeMap<Digest, BTreeSet<Seq>> = BTreeMap::new();
    let plan = Plan::whole(Until::Size(state.next().0));
    walk::walk(journal, plan, &mut |parsed, _| {
        for citation in &parsed.envelope.cause {
            let name = ArtifactName::parse(&citation.target);
            if let Some(artifact) = name.and_then(|name| state.trust().artifact(&name)) {
                citing.entry(artifact.b3).or_default().insert(parsed.envelope.seq);
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(citing)
}

/// Notes files of the store that no entry names; they are no fault.
fn note_strays(
    artifacts: &[std::sync::Arc<Artifact>],
    store: &dyn Source,
    report: &mut Report,
) -> io::Result<()> {
    let named: BTreeSet<String> =
        artifacts.iter().map(|artifact| blob_path(&artifact.b3)).collect();
    for name in store.names()? {
        if name.starts_with("b3/") && !named.contains(&name) {
            report.notes.push(format!("no entry names the stored file `{name}`"));
        }
    }
    Ok(())
}
