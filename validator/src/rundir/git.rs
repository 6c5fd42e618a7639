//! What Git must say of commits, trees and worktrees (J.34, and J.15 as far as it asks Git). Whoever calls
//! gathers the facts; nothing here starts a process.

mod commits;
mod facts;
mod supervisor;
mod workspaces;

pub use facts::{Commit, Dirty, Facts, Wanted, Worktree, wanted};

use super::{closure::Whole, findings::Findings, results::Row};

/// Judges all that Git says.
pub fn judge(
    out: &mut Findings,
    whole: &Whole<'_>,
    root: &str,
    facts: &Facts,
    allow_incomplete: bool,
) {
    if let Some(why) = &facts.unavailable {
        out.find(731, "git_unavailable", why);
        out.within(316, |out| out.find(316, "git_unavailable", why));
        return;
    }
    for object in &facts.replaced {
        out.at("", None, |out| {
            out.warn(
                912,
                "replaced_git_object",
                format!("`{object}` is replaced; the original was judged"),
            );
        });
    }
    if !supervisor::is_repository(out, facts) {
        return;
    }
    commits::exist(out, whole, facts);
    commits::trees(out, whole, facts);
    commits::candidates(out, whole, facts);
    supervisor::chain(out, whole, facts, allow_incomplete);
    supervisor::worktree(out, whole, root, facts);
    workspaces::workspaces(out, whole, root, facts);
    snapshots(out, whole, facts);
}

/// Tree snapshots name the trees of their commits (354; at intents in `rp`'s version, L42).
fn snapshots(out: &mut Findings, whole: &Whole<'_>, facts: &Facts) {
    let code = "tree_snapshot_git_mismatch";
    let tree = |commit: &str| facts.commit(commit).map(|commit| commit.tree);
    for (index, Row { trees, .. }) in whole.rows.iter().enumerate() {
        let line = u64::try_from(index).unwrap_or(u64::MAX).saturating_add(1);
        out.at("results.jsonl", Some(line), |out| {
            for (commit, named) in trees {
                let same = tree(commit).is_none_or(|tree| tree == *named);
                out.due(same, 354, code, format!("the tree of {commit} is another"));
            }
        });
    }
    if !whole.case.is_own() {
        return;
    }
    for launch in whole.journal.attempts.iter().flat_map(|attempt| &attempt.launches) {
        let same = tree(&launch.commit)
            .is_none_or(|tree| launch.tree.as_ref().is_none_or(|named| tree == *named));
        out.at("journal.jsonl", Some(launch.line), |out| {
            out.due(same, 910, code, format!("the tree of {} is another", launch.commit));
        });
    }
}
