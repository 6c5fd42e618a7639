//! The supervisor's worktree: head, transitions, cleanliness (732, 733, 738 to 741, 749 to 757).

use super::{
    super::{
        artifacts::Role,
        closure::Whole,
        disk::Kind,
        findings::Findings,
        journal::{Attempt, Phase, rollback_action},
        scalar::{is_oid, is_within},
    },
    Facts, commits,
    facts::names,
};

pub(super) fn is_repository(out: &mut Findings, facts: &Facts) -> bool {
    let inside = facts.supervisor.inside;
    out.due(inside, 732, "git_repository_required", "the Git root is no work tree");
    if inside {
        let head = facts.supervisor.head.as_deref().is_some_and(is_oid);
        out.due(head, 733, "git_head_unreadable", "HEAD cannot be resolved");
    }
    inside
}

/// Heads follow from one attempt to the next, and end at HEAD (749 to 754, 791).
pub(super) fn chain(out: &mut Findings, whole: &Whole<'_>, facts: &Facts, allow_incomplete: bool) {
    let tree = |commit: &str| facts.commit(commit).map(|commit| commit.tree);
    let differ = |left: &str, right: &str| {
        tree(left).zip(tree(right)).is_some_and(|(left, right)| left != right)
    };
    let mut expected = whole.case.contract.baseline_commit.clone();
    for attempt in &whole.journal.attempts {
        out.at("journal.jsonl", Some(attempt.line), |out| {
            out.due(
                attempt.head == expected,
                749,
                "pre_attempt_head_chain",
                format!("the head before it is {expected}"),
            );
            let same = !differ(&attempt.head, &attempt.incumbent);
            out.due(
                same,
                750,
                "pre_attempt_tree_mismatch",
                "the tree before it is not that of the incumbent",
            );
            if let Some(rollback) = &attempt.rollback {
                let child = facts.commit(rollback).is_none_or(|found| {
                    found.parents.len() == 1 && found.parents.first() == attempt.commit.as_ref()
                });
                out.due(
                    child,
                    751,
                    "rollback_lineage_mismatch",
                    "the rollback is not a single child of the candidate",
                );
                let same = !differ(rollback, &attempt.incumbent);
                out.due(
                    same,
                    752,
                    "rollback_tree_mismatch",
                    "the rollback does not restore the incumbent's tree",
                );
            }
        });
        expected = attempt.rollback.clone().or_else(|| attempt.commit.clone()).unwrap_or(expected);
    }
    let Some(head) = facts.supervisor.head.as_deref() else { return };
    let ahead =
        whole.case.is_own() && allow_incomplete && is_one_ahead(whole, facts, (&expected, head));
    out.at("", None, |out| {
        out.due(
            head == expected || ahead,
            753,
            "head_chain_mismatch",
            format!("HEAD is {head}, recorded is {expected}"),
        );
    });
    let Some(stopped) = &whole.journal.stopped else { return };
    out.at("journal.jsonl", Some(whole.journal.count), |out| {
        if stopped.unresolved_cleanup == Some(false) && stopped.unresolved_recovery == Some(false) {
            let same = !differ(head, whole.incumbent());
            out.due(
                same,
                754,
                "final_tree_mismatch",
                "the tree of HEAD is not that of the last incumbent",
            );
        }
        out.due(stopped.head == head, 791, "run_boundary_mismatch", format!("HEAD is {head}"));
    });
}

/// A commit that was made and not yet recorded (L8).
fn is_one_ahead(whole: &Whole<'_>, facts: &Facts, (expected, head): (&str, &str)) -> bool {
    let Some(last) = whole.journal.attempts.last() else { return false };
    let Some(commit) = facts.commit(head) else { return false };
    if commit.parents != [expected] {
        return false;
    }
    match last.phase {
        Phase::Prepared if last.role == Role::Candidate => {
            let diff = facts
                .diffs
                .get(&(last.incumbent.clone(), head.to_owned()))
                .and_then(Option::as_ref);
            diff.and_then(|diff| names(diff)).is_some_and(|names| {
                let mut scratch = Findings::default();
                for name in &names {
                    commits::in_scope(&mut scratch, whole, last, name);
                }
                !names.is_empty() && scratch.errors.is_empty()
            })
        }
        Phase::Decided if rollback_action(last) == "revert" => {
            facts.commit(&last.incumbent).is_some_and(|incumbent| incumbent.tree == commit.tree)
        }
        Phase::Prepared
        | Phase::Committed
        | Phase::Evaluated
        | Phase::Decided
        | Phase::RolledBack
        | Phase::Finalized => false,
    }
}

/// Index, dirt and generated paths of the supervisor's worktree.
pub(super) fn worktree(out: &mut Findings, whole: &Whole<'_>, root: &str, facts: &Facts) {
    out.at("", None, |out| {
        generated(out, whole, root);
        match facts.supervisor.index.as_deref().and_then(names) {
            None => out.find(755, "git_status_unreadable", "the index cannot be listed"),
            Some(entries) => {
                for entry in entries.iter().filter(|entry| !entry.starts_with("H ")) {
                    out.find(
                        756,
                        "unsafe_git_index_flags",
                        format!("the index hides changes: `{entry}`"),
                    );
                }
            }
        }
        let dirty = &facts.supervisor.dirty;
        for (listing, what) in [
            (&dirty.tracked, "changed"),
            (&dirty.staged, "staged"),
            (&dirty.untracked, "untracked"),
            (&dirty.ignored, "ignored"),
        ] {
            match listing.as_deref().and_then(names) {
                None => out.find(
                    755,
                    "git_status_unreadable",
                    format!("what is {what} cannot be listed"),
                ),
                Some(paths) => {
                    for path in paths.into_iter().filter(|path| !is_permitted(whole, path)) {
                        out.find(757, "dirty_worktree", format!("`{path}` is {what}"));
                    }
                }
            }
        }
    });
}

/// What need not be clean: the run's own folder, and what an open candidate is editing.
fn is_permitted(whole: &Whole<'_>, path: &str) -> bool {
    let own = whole.case.is_own() && is_within(path, ".rp");
    let editing = |attempt: &Attempt| {
        let allowed = attempt
            .design
            .iter()
            .flat_map(|design| &design.allowed_files)
            .any(|file| is_within(path, file));
        let scope = &whole.case.contract.scope;
        attempt.role == Role::Candidate
            && attempt.phase == Phase::Prepared
            && allowed
            && scope.is_writable(path)
            && !scope.is_immutable(path)
    };
    path.starts_with(".research-loop/") || own || whole.journal.attempts.last().is_some_and(editing)
}

/// Generated paths are absent (738 to 741).
fn generated(out: &mut Findings, whole: &Whole<'_>, root: &str) {
    let disk = whole.case.shelf.disk();
    for path in &whole.case.contract.scope.generated {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let linked = ends.into_iter().any(|end| {
            disk.kind(&format!("{root}/{}", path.get(..end).unwrap_or_default())) == Kind::Link
        });
        out.due(!linked, 738, "symlink_forbidden", format!("`{path}` leads over a symbolic link"));
        let kind = disk.kind(&format!("{root}/{path}"));
        out.due(
            kind == Kind::Missing,
            739,
            "generated_state_not_reset",
            format!("`{path}` is in the worktree"),
        );
        if kind == Kind::Folder {
            below(out, whole, &format!("{root}/{path}"), path);
        } else if kind == Kind::Special {
            out.find(741, "invalid_generated_entry", format!("`{path}` is no regular file"));
        }
    }
}

fn below(out: &mut Findings, whole: &Whole<'_>, full: &str, path: &str) {
    let disk = whole.case.shelf.disk();
    for name in disk.names(full).unwrap_or_default() {
        let (full, path) = (format!("{full}/{name}"), format!("{path}/{name}"));
        match disk.kind(&full) {
            Kind::Link => {
                out.find(740, "symlink_forbidden", format!("`{path}` is a symbolic link"));
            }
            Kind::Special => {
                out.find(741, "invalid_generated_entry", format!("`{path}` is no regular file"));
            }
            Kind::Folder => below(out, whole, &full, &path),
            Kind::File { .. } | Kind::Missing => {}
        }
    }
}
