//! Commits: they exist, hold plain files, and candidates change what they may (734 to 737, 742 to 748).

use super::{
    super::{
        artifacts::Role,
        bytes::Value,
        closure::Whole,
        fields::path,
        findings::Findings,
        journal::Attempt,
        scalar::{DotPath, is_control, is_within},
    },
    Facts,
    facts::names,
};

/// Every commit that is named exists (734).
pub(super) fn exist(out: &mut Findings, whole: &Whole<'_>, facts: &Facts) {
    let due = |out: &mut Findings, commit: &str| {
        let exists = commit.is_empty() || facts.commit(commit).is_some();
        out.due(
            exists,
            734,
            "missing_git_commit",
            format!("the repository has no commit {commit}"),
        );
    };
    out.at("contract.json", None, |out| due(out, &whole.case.contract.baseline_commit));
    for attempt in &whole.journal.attempts {
        out.at("journal.jsonl", Some(attempt.line), |out| {
            let named = [
                Some(&attempt.incumbent),
                Some(&attempt.head),
                attempt.commit.as_ref(),
                attempt.rollback.as_ref(),
            ];
            named.into_iter().flatten().for_each(|commit| due(out, commit));
        });
    }
    for (index, row) in whole.rows.iter().enumerate() {
        let line = u64::try_from(index).unwrap_or(u64::MAX).saturating_add(1);
        out.at("results.jsonl", Some(line), |out| due(out, &row.commit));
    }
    if let Some(stopped) = &whole.journal.stopped {
        out.at("journal.jsonl", Some(whole.journal.count), |out| {
            due(out, &stopped.incumbent);
            due(out, &stopped.head);
        });
    }
}

/// The scopes hold plain files only (735 to 737).
pub(super) fn trees(out: &mut Findings, whole: &Whole<'_>, facts: &Facts) {
    let _ = whole;
    for (commit, listing) in &facts.listings {
        out.at("", None, |out| {
            let Some(listing) = listing else {
                return out.find(
                    735,
                    "git_tree_unreadable",
                    format!("the tree of {commit} cannot be listed"),
                );
            };
            for record in listing.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
                entry(out, commit, record);
            }
        });
    }
}

/// `<mode> <kind> <object>\t<path>`
fn entry(out: &mut Findings, commit: &str, record: &[u8]) {
    let text = String::from_utf8_lossy(record);
    let parsed = text.split_once('\t').and_then(|(head, path)| {
        let mut words = head.split(' ');
        let (mode, kind, object) = (words.next()?, words.next()?, words.next()?);
        (words.next().is_none() && super::super::scalar::is_oid(object))
            .then_some((mode, kind, path))
    });
    let Some((mode, kind, path)) = parsed else {
        return out.find(
            736,
            "git_tree_unreadable",
            format!("the listing of {commit} has a malformed record"),
        );
    };
    let plain = kind == "blob" && matches!(mode, "100644" | "100755");
    out.due(plain, 737, "unsafe_git_mode", format!("`{path}` of {commit} has the mode {mode}"));
}

/// Each candidate is one commit over the head before it, within its scope.
pub(super) fn candidates(out: &mut Findings, whole: &Whole<'_>, facts: &Facts) {
    for attempt in whole.journal.attempts.iter().filter(|attempt| attempt.role == Role::Candidate) {
        let Some(commit) = &attempt.commit else { continue };
        out.at("journal.jsonl", Some(attempt.line), |out| {
            if let Some(found) = facts.commit(commit) {
                let child =
                    found.parents.len() == 1 && found.parents.first() == Some(&attempt.head);
                out.due(
                    child,
                    742,
                    "candidate_parent_mismatch",
                    format!("{commit} is not a single child of the head before it"),
                );
            }
            let diff = facts
                .diffs
                .get(&(attempt.incumbent.clone(), commit.clone()))
                .and_then(Option::as_ref);
            match diff {
                None => out.find(
                    743,
                    "candidate_diff_unreadable",
                    format!("the changes of {commit} cannot be listed"),
                ),
                Some(diff) => changes(out, whole, attempt, diff),
            }
        });
    }
}

fn changes(out: &mut Findings, whole: &Whole<'_>, attempt: &Attempt, diff: &[u8]) {
    let Some(names) = names(diff) else {
        return out.find(743, "candidate_diff_unreadable", "a changed path is not UTF-8");
    };
    out.due(!names.is_empty(), 744, "empty_candidate_diff", "the candidate changes nothing");
    for name in names {
        let normal = out.within(745, |out| {
            path(out, &Value::of(name), "a changed path", DotPath::Forbidden).is_some()
        });
        if normal {
            in_scope(out, whole, attempt, name);
        }
    }
}

/// A changed path is one that the candidate may change (746 to 748); says whether it is.
pub(super) fn in_scope(out: &mut Findings, whole: &Whole<'_>, attempt: &Attempt, name: &str) {
    let (scope, code) = (&whole.case.contract.scope, "candidate_scope_violation");
    out.due(scope.is_writable(name), 746, code, format!("`{name}` is in no writable scope"));
    if let Some(design) = &attempt.design {
        let allowed = design.allowed_files.iter().any(|file| is_within(name, file));
        out.due(
            allowed,
            747,
            code,
            format!("`{name}` is not among the files that the design allows"),
        );
    }
    let own = whole.case.is_own() && is_within(name, ".rp");
    let forbidden = scope.is_immutable(name) || is_control(name) || own;
    out.due(
        !forbidden,
        748,
        code,
        format!("`{name}` is immutable, or only Git or the supervisor writes it"),
    );
}
