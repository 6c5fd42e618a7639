//! The live worktree that a launch is evaluated in (J.15, E.3), as far as the file system tells. What Git
//! tells is judged in [`git`](super::super::git).

use super::{
    super::{
        bytes::{Map, Value, object_digest},
        disk::{Disk, Kind},
        fields::{Due, digest, field, has_keys, reference, schema_version},
        findings::Findings,
        scalar::is_within,
    },
    Case,
};

/// A workspace as its snapshot names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Its id.
    pub id: String,
    /// Where the snapshot is.
    pub snapshot: String,
    /// Its directory.
    pub root: String,
    /// The digest of its identity.
    pub root_identity: String,
    /// That of its own administrative directory.
    pub git_dir_identity: String,
    /// That of the repository's.
    pub common_dir_identity: String,
}

/// Who uses a workspace.
#[derive(Debug, Clone, Copy)]
pub struct Use<'u> {
    /// The attempt.
    pub attempt: &'u str,
    /// The workspace.
    pub id: &'u str,
    /// The arm, as it is written.
    pub arm: &'u str,
}

const KEYS: [&str; 8] = [
    "schema_version",
    "workspace_id",
    "arm",
    "isolation_mode",
    "root_path",
    "root_identity_sha256",
    "git_dir_identity_sha256",
    "git_common_dir_identity_sha256",
];

/// Judges the snapshot that a reference leads to, and the directory that it names.
pub fn workspace(
    out: &mut Findings,
    case: Case<'_>,
    value: &Value,
    whose: Use<'_>,
) -> Option<Workspace> {
    let path = format!("snapshots/{}-{}.json", whose.attempt, whose.id);
    let reference = reference(out, case.shelf, value, "workspace", Due::Exact(&path))?;
    let object = out.within(300, |out| reference.object(out, case.shelf))?;
    out.at(&reference.path, None, |out| {
        let map = object.map();
        let code = "invalid_workspace_snapshot";
        out.due(has_keys(map, &KEYS), 301, code, "the keys of the snapshot are not the eight");
        out.within(302, |out| schema_version(out, map, case.profile(), 1));
        let same = field(map, "workspace_id").text() == Some(whose.id)
            && field(map, "arm").text() == Some(whose.arm);
        out.due(
            same,
            303,
            "workspace_identity_mismatch",
            "workspace or arm are not those of the launch",
        );
        let isolated = field(map, "isolation_mode").text() == Some("dedicated_git_worktree");
        out.due(isolated, 304, code, "`isolation_mode` is not `dedicated_git_worktree`");
        let mut identity =
            |key: &str| out.within(311, |out| digest(out, map, key)).unwrap_or_default().to_owned();
        let workspace = Workspace {
            id: whose.id.to_owned(),
            snapshot: reference.path.clone(),
            root: field(map, "root_path").text().unwrap_or_default().to_owned(),
            root_identity: identity("root_identity_sha256"),
            git_dir_identity: identity("git_dir_identity_sha256"),
            common_dir_identity: identity("git_common_dir_identity_sha256"),
        };
        if case.shelf.is_first_look(&format!("workspace {}", reference.path)) {
            root(out, case, &workspace);
        }
        Some(workspace)
    })
}

fn root(out: &mut Findings, case: Case<'_>, workspace: &Workspace) {
    let (disk, path) = (case.shelf.disk(), workspace.root.as_str());
    if !out.due(
        path.starts_with('/'),
        305,
        "invalid_workspace_root",
        "`root_path` is not an absolute path",
    ) {
        return;
    }
    out.due(
        disk.kind(path) != Kind::Link,
        306,
        "symlink_forbidden",
        "the workspace is a symbolic link",
    );
    let Some(real) = disk.resolve(path) else {
        return out.find(307, "missing_workspace_root", "the workspace is missing");
    };
    out.due(
        real == path,
        308,
        "noncanonical_workspace_root",
        "`root_path` is not its resolved path",
    );
    let folder = disk.kind(&real) == Kind::Folder;
    if !out.due(folder, 309, "invalid_workspace_root", "the workspace is no directory") {
        return;
    }
    let run = disk.resolve(case.shelf.root()).unwrap_or_default();
    out.due(
        !is_within(&real, &run),
        310,
        "workspace_inside_control_state",
        "the workspace lies in the run directory",
    );
    let same =
        directory_identity(disk, &real).is_some_and(|found| found == workspace.root_identity);
    out.due(
        same,
        312,
        "workspace_root_identity_mismatch",
        "the identity is not that of the directory there",
    );
    contents(out, case, &real);
}

/// Generated paths are absent, immutable files as sealed (328, 329).
fn contents(out: &mut Findings, case: Case<'_>, root: &str) {
    let disk = case.shelf.disk();
    for path in &case.contract.scope.generated {
        let absent = disk.kind(&format!("{root}/{path}")) == Kind::Missing;
        out.due(absent, 328, "generated_state_not_reset", format!("`{path}` is in the workspace"));
    }
    for (path, sha256) in &case.contract.evaluation.immutable {
        let full = format!("{root}/{path}");
        let plain =
            disk.kind(&full).is_file() && disk.resolve(&full).as_deref() == Some(full.as_str());
        let found = disk.read(&full).map(|bytes| super::super::bytes::file_digest(&bytes));
        let same = plain && found.is_ok_and(|found| found == *sha256);
        out.due(
            same,
            329,
            "workspace_immutable_mismatch",
            format!("`{path}` is not as sealed in the workspace"),
        );
    }
}

/// The digest of where a directory is (C.3).
pub fn directory_identity(disk: &dyn Disk, path: &str) -> Option<String> {
    let real = disk.resolve(path)?;
    let identity = disk.identity(&real)?;
    let map = Map::from([
        ("realpath".to_owned(), Value::of(real)),
        ("device".to_owned(), Value::from(i128::from(identity.device))),
        ("inode".to_owned(), Value::from(i128::from(identity.inode))),
    ]);
    Some(object_digest(&Value::Map(map)))
}

/// The working directory of a launch, inside its workspace (313 to 315).
pub fn cwd(out: &mut Findings, case: Case<'_>, workspace: &Workspace, value: &Value) {
    use super::super::{fields, scalar::DotPath};
    let disk = case.shelf.disk();
    let Some(cwd) = out.within(313, |out| fields::path(out, value, "cwd", DotPath::Allowed)) else {
        return;
    };
    if cwd == "." {
        return;
    }
    let full = format!("{}/{cwd}", workspace.root);
    let ends = cwd.match_indices('/').map(|(at, _)| at).chain([cwd.len()]);
    let linked = ends.into_iter().any(|end| {
        disk.kind(&format!("{}/{}", workspace.root, cwd.get(..end).unwrap_or_default()))
            == Kind::Link
    });
    out.due(!linked, 314, "symlink_forbidden", "`cwd` leads over a symbolic link in the workspace");
    let inside = disk
        .resolve(&full)
        .is_some_and(|real| is_within(&real, &workspace.root) && disk.kind(&real) == Kind::Folder);
    out.due(inside, 315, "invalid_workspace_cwd", "`cwd` is no directory in the workspace");
}
