//! The worktrees that launches ran in (316 to 327).

use std::collections::BTreeMap;

use super::{
    super::{
        artifacts::workspace::{Workspace, directory_identity},
        closure::Whole,
        disk::{Disk, Kind},
        findings::Findings,
        scalar::is_within,
    },
    Facts, Worktree,
    facts::names,
};

pub(super) fn workspaces(out: &mut Findings, whole: &Whole<'_>, root: &str, facts: &Facts) {
    let mut distinct: BTreeMap<&str, &Workspace> = BTreeMap::new();
    for attempt in &whole.journal.attempts {
        let planned = attempt.plan.launches.iter().filter_map(|entry| entry.workspace.as_ref());
        for workspace in
            planned.chain(attempt.launches.iter().filter_map(|launch| launch.workspace.as_ref()))
        {
            distinct.insert(&workspace.snapshot, workspace);
        }
    }
    for workspace in distinct.values() {
        if let Some(found) = facts.workspaces.get(&workspace.root) {
            out.at(&workspace.snapshot, None, |out| {
                one(out, whole, root, (workspace, found), facts);
            });
        }
    }
    for launch in whole.journal.attempts.iter().flat_map(|attempt| &attempt.launches) {
        let Some(workspace) = &launch.workspace else { continue };
        let head = facts.workspaces.get(&workspace.root).and_then(|found| found.head.as_deref());
        out.at("journal.jsonl", Some(launch.line), |out| {
            let same = head.is_none_or(|head| head == launch.commit);
            out.due(
                same,
                324,
                "workspace_commit_mismatch",
                format!("the head of `{}` is another", workspace.id),
            );
        });
    }
}

fn one(
    out: &mut Findings,
    whole: &Whole<'_>,
    root: &str,
    (workspace, found): (&Workspace, &Worktree),
    facts: &Facts,
) {
    let disk = whole.case.shelf.disk();
    let answered = found.inside
        && found.top_level.is_some()
        && found.git_dir.is_some()
        && found.common_dir.is_some()
        && found.head.is_some()
        && found.index.is_some();
    out.due(answered, 317, "workspace_git_unreadable", "Git does not answer in the workspace");
    if let Some(top) = &found.top_level {
        out.due(
            *top == workspace.root,
            319,
            "workspace_not_git_toplevel",
            format!("the top level is `{top}`"),
        );
    }
    let supervisor = disk.resolve(root).unwrap_or_else(|| root.to_owned());
    let nested = is_within(&workspace.root, &supervisor) || is_within(&supervisor, &workspace.root);
    out.due(
        !nested,
        321,
        "workspace_not_dedicated",
        "the workspace is the supervisor's worktree, or lies in it or around it",
    );
    folder(out, disk, found.git_dir.as_deref(), (&workspace.git_dir_identity, 322));
    folder(out, disk, found.common_dir.as_deref(), (&workspace.common_dir_identity, 323));
    let same = found.common_dir.is_none() || found.common_dir == facts.supervisor.common_dir;
    out.due(same, 320, "foreign_workspace_repository", "the workspace is of another repository");
    clean(out, found);
}

/// An administrative directory is one, and the one that the snapshot knows.
fn folder(out: &mut Findings, disk: &dyn Disk, path: Option<&str>, (due, rule): (&str, u16)) {
    let Some(path) = path else { return };
    if !out.due(
        disk.kind(path) == Kind::Folder,
        318,
        "workspace_git_unreadable",
        "an administrative directory of Git is missing",
    ) {
        return;
    }
    let same = directory_identity(disk, path).is_some_and(|found| found == due);
    out.due(
        same,
        rule,
        "workspace_git_identity_mismatch",
        "the identity is not that of Git's directory",
    );
}

fn clean(out: &mut Findings, found: &Worktree) {
    for entry in found
        .index
        .as_deref()
        .and_then(names)
        .into_iter()
        .flatten()
        .filter(|entry| !entry.starts_with("H "))
    {
        out.find(
            325,
            "unsafe_workspace_index_flags",
            format!("the index hides changes: `{entry}`"),
        );
    }
    let dirty = &found.dirty;
    for (rule, listing, what) in [
        (326, &dirty.tracked, "changed"),
        (326, &dirty.staged, "staged"),
        (327, &dirty.untracked, "untracked"),
        (327, &dirty.ignored, "ignored"),
    ] {
        match listing.as_deref().and_then(names) {
            None => out.find(
                317,
                "workspace_git_unreadable",
                format!("what is {what} cannot be listed"),
            ),
            Some(paths) => {
                for path in paths {
                    out.find(
                        rule,
                        "dirty_evaluation_workspace",
                        format!("`{path}` is {what} in the workspace"),
                    );
                }
            }
        }
    }
}
