//! The facts that are asked of Git, as it prints them, and which of them a directory needs.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{artifacts::Role, closure::Whole};

/// What Git said. Absent answers are `None`; raw answers are the bytes of `-z` output.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Why Git could not be asked at all.
    pub unavailable: Option<String>,
    /// The worktree of the supervisor.
    pub supervisor: Worktree,
    /// The commit objects that exist, as stored.
    pub commits: BTreeMap<String, Vec<u8>>,
    /// `ls-tree -r -z` of commits, of the scopes.
    pub listings: BTreeMap<String, Option<Vec<u8>>>,
    /// `diff --no-renames --name-only -z` between two commits.
    pub diffs: BTreeMap<(String, String), Option<Vec<u8>>>,
    /// The worktrees that launches ran in, by directory.
    pub workspaces: BTreeMap<String, Worktree>,
    /// The objects that a replacement hides from whoever does not look past it.
    pub replaced: Vec<String>,
}

/// What Git said of one worktree.
#[derive(Debug, Clone, Default)]
pub struct Worktree {
    /// Whether it is one.
    pub inside: bool,
    /// Its top level.
    pub top_level: Option<String>,
    /// Its administrative directory.
    pub git_dir: Option<String>,
    /// The repository's.
    pub common_dir: Option<String>,
    /// Its head.
    pub head: Option<String>,
    /// `ls-files -v -z`.
    pub index: Option<Vec<u8>>,
    /// What is not as committed.
    pub dirty: Dirty,
}

/// Four listings of paths.
#[derive(Debug, Clone, Default)]
pub struct Dirty {
    /// `diff`
    pub tracked: Option<Vec<u8>>,
    /// `diff --cached`
    pub staged: Option<Vec<u8>>,
    /// `ls-files --others`
    pub untracked: Option<Vec<u8>>,
    /// `ls-files --others --ignored`
    pub ignored: Option<Vec<u8>>,
}

/// A commit, as far as rules ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its tree.
    pub tree: String,
    /// Its parents.
    pub parents: Vec<String>,
}

impl Facts {
    /// A commit, if there is one by this id.
    pub fn commit(&self, id: &str) -> Option<Commit> {
        let text = self.commits.get(id)?;
        let mut commit = Commit { tree: String::new(), parents: Vec::new() };
        for line in text.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty()) {
            let Ok(line) = std::str::from_utf8(line) else { continue };
            match line.split_once(' ') {
                Some(("tree", tree)) => tree.clone_into(&mut commit.tree),
                Some(("parent", parent)) => commit.parents.push(parent.to_owned()),
                _ => {}
            }
        }
        Some(commit)
    }
}

/// The names in `-z` output; `None` if one is not UTF-8.
pub(super) fn names(raw: &[u8]) -> Option<Vec<&str>> {
    raw.split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| std::str::from_utf8(name).ok())
        .collect()
}

/// What a directory needs to know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Commit objects.
    pub commits: BTreeSet<String>,
    /// Listings of the scopes at commits.
    pub listings: BTreeSet<String>,
    /// The scopes.
    pub scopes: Vec<String>,
    /// Differences between commits.
    pub diffs: BTreeSet<(String, String)>,
    /// Directories of worktrees.
    pub workspaces: BTreeSet<String>,
    /// The commit that HEAD is to be compared with: what the last attempt began from.
    pub before_head: Option<String>,
}

/// Says what Git is to be asked, each thing once.
pub fn wanted(whole: &Whole<'_>) -> Wanted {
    let contract = whole.case.contract;
    let mut wanted = Wanted::default();
    let scope = &contract.scope;
    wanted.scopes = [&scope.writable, &scope.immutable, &scope.generated]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    wanted.listings.insert(contract.baseline_commit.clone());
    for attempt in &whole.journal.attempts {
        wanted.listings.insert(attempt.incumbent.clone());
        wanted.commits.insert(attempt.head.clone());
        if let (Some(commit), Role::Candidate) = (&attempt.commit, attempt.role) {
            wanted.listings.insert(commit.clone());
            wanted.diffs.insert((attempt.incumbent.clone(), commit.clone()));
        }
        wanted.commits.extend(attempt.rollback.clone());
        let planned = attempt.plan.launches.iter().filter_map(|entry| entry.workspace.as_ref());
        let launched = attempt.launches.iter().filter_map(|launch| launch.workspace.as_ref());
        wanted.workspaces.extend(planned.chain(launched).map(|workspace| workspace.root.clone()));
    }
    let last = whole.journal.attempts.last().map(|attempt| attempt.incumbent.clone());
    wanted.before_head = last.filter(|commit| super::super::scalar::is_oid(commit));
    wanted.commits.extend(whole.rows.iter().map(|row| row.commit.clone()));
    if let Some(stopped) = &whole.journal.stopped {
        wanted.commits.extend([stopped.incumbent.clone(), stopped.head.clone()]);
    }
    let known = super::super::scalar::is_oid;
    wanted.listings.retain(|commit| known(commit));
    wanted.diffs.retain(|(from, to)| known(from) && known(to));
    wanted.commits.extend(wanted.listings.iter().cloned());
    wanted.commits.retain(|commit| known(commit));
    wanted.workspaces.retain(|root| root.starts_with('/'));
    wanted
}
