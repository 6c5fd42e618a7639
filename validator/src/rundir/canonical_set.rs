//! The canonical artifacts: every finalized file is referenced, nothing else stands there (J.36, L7).

use std::collections::{BTreeMap, BTreeSet};

use super::{
    artifacts::Case,
    bytes::{Map, Value},
    disk::Kind,
    fields::stored_digest,
    findings::Findings,
    journal::{Attempt, Journal},
    scalar::has_end,
};

/// The five namespaces of canonical files.
pub const NAMESPACES: [&str; 5] = ["boundaries", "designs", "evidence", "logs", "snapshots"];

/// What stands in the namespaces.
#[derive(Debug, Default)]
pub struct Files {
    /// Finalized files.
    pub finalized: BTreeSet<String>,
    /// Files in flight, anywhere outside the quarantine.
    pub partial: Vec<String>,
}

/// Lists the canonical files and those in flight.
pub fn files(out: &mut Findings, case: Case<'_>) -> Files {
    let mut files = Files::default();
    for namespace in NAMESPACES {
        walk(out, case, namespace, &mut files);
    }
    // Elsewhere only names in flight matter.
    in_flight(case, "", &mut files);
    files
}

/// Files in flight outside the canonical namespaces and the quarantine.
fn in_flight(case: Case<'_>, folder: &str, files: &mut Files) {
    let disk = case.shelf.disk();
    for name in disk.names(&format!("{}/{folder}", case.shelf.root())).unwrap_or_default() {
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = disk.kind(&format!("{}/{path}", case.shelf.root()));
        let elsewhere = NAMESPACES.contains(&path.as_str()) || path == "quarantine";
        if kind == Kind::Folder && !elsewhere {
            in_flight(case, &path, files);
        } else if kind != Kind::Folder && is_partial(&name) {
            files.partial.push(path);
        }
    }
}

fn is_partial(name: &str) -> bool {
    has_end(name, ".partial") || has_end(name, ".tmp")
}

fn walk(out: &mut Findings, case: Case<'_>, folder: &str, files: &mut Files) {
    let disk = case.shelf.disk();
    let full = format!("{}/{folder}", case.shelf.root());
    if disk.kind(&full) != Kind::Folder {
        return;
    }
    for name in disk.names(&full).unwrap_or_default() {
        let path = format!("{folder}/{name}");
        out.at(&path, None, |out| match disk.kind(&format!("{full}/{name}")) {
            Kind::Link => {
                out.find(775, "symlink_forbidden", "a symbolic link stands among canonical files");
            }
            Kind::Special => out.find(776, "invalid_canonical_artifact", "this is no regular file"),
            Kind::Folder => walk(out, case, &path, files),
            Kind::File { .. } if name.contains('\u{fffd}') => {
                out.find(916, "invalid_path", "the name is not UTF-8");
            }
            Kind::File { .. } if is_partial(&name) => files.partial.push(path.clone()),
            Kind::File { .. } => {
                files.finalized.insert(path.clone());
            }
            Kind::Missing => {}
        });
    }
}

/// Names the files that nothing refers to (777); with an open tail, `rp`'s version only warns of those that
/// the next legal event would refer to (904).
pub fn orphans(
    out: &mut Findings,
    case: Case<'_>,
    journal: &Journal,
    files: &Files,
    allow_incomplete: bool,
) {
    let known = referenced(journal);
    let orphans: Vec<&String> =
        files.finalized.iter().filter(|path| !known.contains(*path)).collect();
    let pending = case.is_own() && allow_incomplete && are_pending(journal, &orphans);
    for path in orphans {
        out.at(path, None, |out| {
            if pending {
                out.warn(
                    904,
                    "pending_unreferenced_artifact",
                    "the next event may refer to it; nothing does yet",
                );
            } else {
                out.find(777, "orphan_canonical_artifact", "nothing refers to this file");
            }
        });
    }
}

fn referenced(journal: &Journal) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    let mut take = |value: &Value| {
        if let Some(path) = value.field("path").text() {
            known.insert(path.to_owned());
        }
    };
    for attempt in &journal.attempts {
        take(&attempt.design_reference);
        for entry in &attempt.plan.launches {
            take(super::artifacts::plan::planned(entry, "workspace"));
        }
        for launch in &attempt.launches {
            launch.references.iter().for_each(&mut take);
            if let Some(published) = &launch.published {
                take(&published.evidence);
                take(&published.log);
            }
        }
    }
    for attempt in &journal.attempts {
        for path in ["launch-plan", "admission"] {
            known.insert(format!("snapshots/{}-{path}.json", attempt.id));
        }
        known.insert(format!("boundaries/{}.json", attempt.id));
    }
    known
}

/// Whether all unreferenced files are those of one next event.
fn are_pending(journal: &Journal, orphans: &[&String]) -> bool {
    if journal.stopped.is_some() {
        return false;
    }
    match journal.open() {
        Some(attempt) => {
            let published = orphans.iter().all(|path| is_unpublished(attempt, path));
            published || is_next_intent(journal, attempt, orphans)
        }
        None => is_next_attempt(journal, orphans),
    }
}

fn is_unpublished(attempt: &Attempt, path: &str) -> bool {
    attempt.launches.iter().any(|launch| {
        launch.is_complete()
            && launch.published.is_none()
            && [
                format!("evidence/{}.json", launch.result_id),
                format!("logs/{}.log", launch.result_id),
            ]
            .iter()
            .any(|due| due == path)
    })
}

/// The part of a snapshot's name before one of these ends.
fn stem<'p>(path: &'p str, ends: &[&str]) -> Option<&'p str> {
    let name = path.strip_prefix("snapshots/")?;
    ends.iter().find_map(|end| name.strip_suffix(end))
}

fn is_next_intent(journal: &Journal, attempt: &Attempt, orphans: &[&String]) -> bool {
    let legal = attempt.phase == attempt.launching_phase()
        && attempt.launches.len() < attempt.plan.launches.len()
        && attempt.launches.iter().all(|launch| launch.state.is_settled());
    let stems: BTreeSet<_> = orphans
        .iter()
        .map(|path| stem(path, &["-config.json", "-state.json", "-tree.json"]))
        .collect();
    let known = |id: &str| {
        journal
            .attempts
            .iter()
            .flat_map(|attempt| &attempt.launches)
            .any(|launch| launch.result_id == id)
    };
    legal
        && stems.len() == 1
        && stems.iter().all(|stem| stem.is_some_and(|id| id.starts_with("r-") && !known(id)))
}

fn is_next_attempt(journal: &Journal, orphans: &[&String]) -> bool {
    let mut attempts = BTreeSet::new();
    let mut designs = 0;
    for path in orphans {
        if path.starts_with("designs/") {
            designs += 1;
            continue;
        }
        let workspace = path
            .split_once("-ws-")
            .map(|(head, _)| head)
            .and_then(|head| head.strip_prefix("snapshots/"));
        let Some(id) = stem(path, &["-launch-plan.json", "-admission.json"]).or(workspace) else {
            return false;
        };
        attempts.insert(id);
    }
    let fresh =
        |id: &str| id.starts_with("a-") && journal.attempts.iter().all(|attempt| attempt.id != id);
    designs <= 1 && attempts.len() <= 1 && attempts.iter().all(|id| fresh(id))
}

/// The manifest of H.2: every finalized file with its digest, by path.
pub fn manifest(case: Case<'_>, files: &Files) -> Value {
    let items = files.finalized.iter().map(|path| {
        let sha256 = stored_digest(case.shelf, path);
        Value::Map(Map::from([
            ("path".to_owned(), Value::of(path)),
            ("sha256".to_owned(), Value::of(sha256.as_deref().unwrap_or_default())),
        ]))
    });
    Value::List(items.collect())
}

/// A path has one role in the whole run (L25).
pub fn roles(out: &mut Findings, journal: &Journal) {
    let mut roles: BTreeMap<String, &str> = BTreeMap::new();
    let mut take = |out: &mut Findings, path: Option<&str>, role: &'static str| {
        let Some(path) = path else { return };
        let first = *roles.entry(path.to_owned()).or_insert(role);
        out.at(path, None, |out| {
            out.due(
                first == role,
                908,
                "artifact_role_collision",
                format!("it is used as {first} and as {role}"),
            );
        });
    };
    for attempt in &journal.attempts {
        take(out, Some(&format!("snapshots/{}-launch-plan.json", attempt.id)), "a plan");
        take(out, Some(&format!("snapshots/{}-admission.json", attempt.id)), "an admission");
        for entry in &attempt.plan.launches {
            take(
                out,
                super::artifacts::plan::planned(entry, "workspace").field("path").text(),
                "a workspace",
            );
        }
        for launch in &attempt.launches {
            for (value, role) in
                launch.references.iter().zip(["a configuration", "a state", "a tree"])
            {
                take(out, value.field("path").text(), role);
            }
        }
    }
}
