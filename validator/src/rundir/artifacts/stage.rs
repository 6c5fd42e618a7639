//! Effective configuration and tree snapshot of a launch (J.17, E.5 to E.7).

use super::{
    super::{
        fields::{Reference, field, has_keys, oid, safe_id, schema_version},
        findings::Findings,
    },
    Case,
};

/// Judges the configuration that a launch of a stage was given.
pub fn config(out: &mut Findings, case: Case<'_>, reference: &Reference, stage: &str) {
    let Some(object) = reference.object(out, case.shelf) else { return };
    out.at(&reference.path, None, |out| {
        let map = object.map();
        let code = "invalid_effective_config";
        out.due(
            has_keys(map, &["schema_version", "stage", "stage_access_sha256", "settings"]),
            342,
            code,
            "the keys of the configuration are not the four",
        );
        out.within(343, |out| schema_version(out, map, case.profile(), 1));
        out.due(
            field(map, "stage").text() == Some(stage),
            344,
            "effective_config_stage_mismatch",
            format!("the configuration is not that of `{stage}`"),
        );
        let access = case.contract.access.get(stage).map(String::as_str);
        out.due(
            field(map, "stage_access_sha256").text() == access,
            345,
            "effective_config_access_mismatch",
            "the access is not that of the contract",
        );
        let sealed = case.contract.config.get(stage).map(String::as_str);
        out.due(
            sealed == Some(object.sha256.as_ref()),
            346,
            "effective_config_digest_mismatch",
            "the bytes are not those sealed for the stage",
        );
        out.due(field(map, "settings").map().is_some(), 347, code, "`settings` is not an object");
    });
}

/// Judges the tree snapshot of a launch; answers with the tree that it names.
pub fn tree(
    out: &mut Findings,
    case: Case<'_>,
    reference: &Reference,
    result: &str,
    commit: &str,
) -> Option<String> {
    let object = reference.object(out, case.shelf)?;
    out.at(&reference.path, None, |out| {
        let map = object.map();
        out.within(348, |out| schema_version(out, map, case.profile(), 1));
        let (id, evaluated, tree) = out.within(349, |out| {
            (safe_id(out, map, "result_id"), oid(out, map, "commit"), oid(out, map, "tree_oid"))
        });
        for (rule, key) in [(350, "untracked_writable_paths"), (351, "unexpected_paths")] {
            let empty = field(map, key).list().is_some_and(<[_]>::is_empty);
            out.due(empty, rule, "unclean_tree_snapshot", format!("`{key}` is not an empty array"));
        }
        out.due(
            id.is_none_or(|id| id == result),
            352,
            "tree_snapshot_mismatch",
            format!("the snapshot is not that of `{result}`"),
        );
        out.due(
            evaluated.is_none_or(|found| found == commit),
            353,
            "tree_snapshot_mismatch",
            "the snapshot is of another commit",
        );
        tree.map(str::to_owned)
    })
}
