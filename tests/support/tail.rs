//! What stands behind the acknowledged entries: made as a crash would leave it.

#![expect(clippy::disallowed_methods, reason = "tests damage files on purpose")]

use std::{fs, num::NonZero, path::PathBuf};

use rp::journal::Paths;
use rp_events::head::{Head, Slots};
use rp_replay::Scope;
use rp_validator::{Question, Report, Signatures, source::Folder};

use super::env::{Env, rejected_line};

/// HEAD and the remembered checkpoint as they were.
#[derive(Debug, Clone)]
pub(crate) struct Anchors(Vec<(PathBuf, Vec<u8>)>);

impl Anchors {
    pub(crate) fn of(env: &Env) -> Self {
        let files = [env.journal().join("HEAD"), env.remembered()];
        Self(files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect())
    }

    pub(crate) fn restore(&self) {
        for (path, bytes) in &self.0 {
            fs::write(path, bytes).unwrap();
        }
    }
}

/// What HEAD says.
pub(crate) fn head(env: &Env) -> Head {
    Slots::read(&fs::read(env.journal().join("HEAD")).unwrap()).head.unwrap()
}

/// Records a group as one batch and takes the promise of it back, as if the process had ended between the
/// sync of the frames and HEAD. Gives the frames.
pub(crate) fn unacknowledged(env: &Env, entries: usize) -> Vec<u8> {
    let (anchors, before) = (Anchors::of(env), head(env));
    let lines: String =
        (0..entries).map(|n| rejected_line(&format!("unacknowledged {n}"), None)).collect();
    let group = entries.to_string();
    env.rp_reading(&["append", "--batch", "--group", &group, "--json"], &lines).ok();
    let after = head(env);
    assert_eq!(after.segment, before.segment, "the group must stand in the same segment");
    anchors.restore();
    let bytes = fs::read(env.segment(before.segment.0)).unwrap();
    bytes[at(before.end)..at(after.end)].to_vec()
}

/// A position in a file as an index.
pub(crate) fn at(offset: u64) -> usize {
    usize::try_from(offset).unwrap()
}

/// All signatures, on this thread.
pub(crate) const JUDGE: Signatures = Signatures::Judge(NonZero::<usize>::MIN);

/// Checks a journal in this process, as `rp validate` does.
pub(crate) fn check(env: &Env, signatures: Signatures) -> Report {
    check_at(&env.paths(), signatures)
}

pub(crate) fn check_at(paths: &Paths, signatures: Signatures) -> Report {
    let remembered = |log_id| paths.read_remembered(log_id);
    let question = Question {
        scope: Scope::Whole,
        signatures,
        remembered: &remembered,
        receipt: None,
        being_written: false,
        artifacts: None,
        files: None,
    };
    rp_validator::check(&Folder(paths.folder.clone()), &question)
}
