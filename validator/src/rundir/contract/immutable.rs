//! The immutable manifest and the live files that it lists (J.9).

use std::collections::BTreeSet;

use super::{
    super::{
        bytes::Map,
        disk::Kind,
        fields::{digest, field, has_keys, path, plain_file},
        findings::Findings,
        scalar::{DotPath, is_within},
        shelf::Shelf,
    },
    Evaluation, Reading, Scope,
};

pub(super) fn immutable(
    out: &mut Findings,
    reading: &Reading<'_>,
    scope: &Scope,
    evaluation: &Evaluation,
) {
    let shelf = Shelf::new(reading.disk, reading.trusted);
    let mut listed = BTreeSet::new();
    match reading.part("immutable_files").list() {
        None => out.find(143, "invalid_immutable_files", "`immutable_files` is not an array"),
        Some(items) => {
            for item in items {
                match item.map() {
                    None => out.find(
                        144,
                        "invalid_immutable_file",
                        "an item of `immutable_files` is not an object",
                    ),
                    Some(item) => entry(out, &shelf, scope, item, &mut listed),
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    for root in &scope.immutable {
        walk_scope(out, &shelf, root, &mut found);
    }
    for path in found.symmetric_difference(&listed) {
        let side = if listed.contains(path) {
            "is listed, and no file of an immutable scope"
        } else {
            "is not listed"
        };
        out.find(157, "immutable_coverage_mismatch", format!("`{path}` {side}"));
    }
    if let Some(extractor) = &evaluation.extractor {
        out.due(
            listed.contains(extractor),
            158,
            "extractor_not_immutable",
            format!("the extractor `{extractor}` is not in `immutable_files`"),
        );
    }
}

fn entry(
    out: &mut Findings,
    shelf: &Shelf<'_>,
    scope: &Scope,
    item: &Map,
    listed: &mut BTreeSet<String>,
) {
    out.due(
        has_keys(item, &["path", "sha256"]),
        145,
        "invalid_immutable_file",
        "the keys of an item of `immutable_files` are not `path` and `sha256`",
    );
    let path = out
        .within(146, |out| path(out, field(item, "path"), "immutable_files", DotPath::Forbidden));
    let sha256 = out.within(147, |out| digest(out, item, "sha256"));
    let Some(path) = path else { return };
    out.due(
        listed.insert(path.to_owned()),
        148,
        "duplicate_immutable_path",
        format!("`{path}` is listed twice"),
    );
    out.due(
        scope.is_immutable(path),
        149,
        "immutable_scope_mismatch",
        format!("`{path}` is in no immutable scope"),
    );
    let stored = out.within(150, |out| plain_file(out, shelf, path, "immutable_files"));
    if let (Some(stored), Some(sha256)) = (stored, sha256) {
        out.due(
            stored.sha256.as_ref() == sha256,
            151,
            "immutable_hash_mismatch",
            format!("the bytes of `{path}` are not those sealed"),
        );
    }
}

fn walk_scope(out: &mut Findings, shelf: &Shelf<'_>, scope: &str, found: &mut BTreeSet<String>) {
    let disk = shelf.disk();
    let full = format!("{}/{scope}", shelf.root());
    let mut linked = false;
    for end in scope.match_indices('/').map(|(at, _)| at).chain([scope.len()]) {
        let part = format!("{}/{}", shelf.root(), scope.get(..end).unwrap_or_default());
        linked |= disk.kind(&part) == Kind::Link;
    }
    if linked {
        out.find(
            152,
            "symlink_forbidden",
            format!("the immutable scope `{scope}` leads over a symbolic link"),
        );
    }
    match disk.resolve(&full) {
        None => {
            return out.find(
                153,
                "invalid_immutable_scope",
                format!("the immutable scope `{scope}` is missing"),
            );
        }
        Some(real) => {
            let root = disk.resolve(shelf.root()).unwrap_or_default();
            if !is_within(&real, &root) {
                return out.find(
                    153,
                    "invalid_immutable_scope",
                    format!("the immutable scope `{scope}` leads out of the root"),
                );
            }
        }
    }
    match disk.kind(&full) {
        Kind::File { .. } => {
            found.insert(scope.to_owned());
        }
        Kind::Folder => walk_folder(out, shelf, scope, found),
        Kind::Special => out.find(
            154,
            "invalid_immutable_scope",
            format!("the immutable scope `{scope}` is neither file nor directory"),
        ),
        Kind::Missing | Kind::Link => {}
    }
}

fn walk_folder(out: &mut Findings, shelf: &Shelf<'_>, folder: &str, found: &mut BTreeSet<String>) {
    let Ok(names) = shelf.disk().names(&format!("{}/{folder}", shelf.root())) else {
        return out.find(154, "invalid_immutable_scope", format!("`{folder}` cannot be listed"));
    };
    for name in names {
        let path = format!("{folder}/{name}");
        match shelf.disk().kind(&format!("{}/{path}", shelf.root())) {
            Kind::File { .. } => {
                found.insert(path);
            }
            Kind::Folder => walk_folder(out, shelf, &path, found),
            Kind::Link => {
                out.find(155, "symlink_forbidden", format!("`{path}` is a symbolic link"));
            }
            Kind::Special | Kind::Missing => {
                out.find(156, "invalid_immutable_scope", format!("`{path}` is not a regular file"));
            }
        }
    }
}
