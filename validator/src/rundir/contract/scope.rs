//! Scopes and generated state (J.7).

use super::{
    super::{
        fields::{Amount, digest, field, has_keys, paths},
        findings::Findings,
        scalar::{is_control, is_within},
    },
    EMPTY_STATE_SHA256, Reading,
};

/// What may be written, what may not, and what evaluation leaves behind.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// What candidates may change.
    pub writable: Vec<String>,
    /// What nobody changes during a run.
    pub immutable: Vec<String>,
    /// What launches make and must not find.
    pub generated: Vec<String>,
}

impl Scope {
    /// Whether a path is in the writable scope.
    pub fn is_writable(&self, path: &str) -> bool {
        self.writable.iter().any(|scope| is_within(path, scope))
    }

    /// Whether a path is in the immutable scope.
    pub fn is_immutable(&self, path: &str) -> bool {
        self.immutable.iter().any(|scope| is_within(path, scope))
    }
}

pub(super) fn scope(out: &mut Findings, reading: &Reading<'_>) -> Scope {
    let Some(map) = reading.part("scope").map() else {
        out.find(92, "invalid_scope", "`scope` is not an object");
        return Scope::default();
    };
    let keys = ["writable_paths", "immutable_paths", "generated_paths"];
    out.due(has_keys(map, &keys), 93, "invalid_scope", "the keys of `scope` are not the three");
    let mut list = |key: &str, amount: Amount, rule: u16| {
        let value = field(map, key);
        let short = value.list().is_none_or(|items| amount == Amount::Some && items.is_empty());
        let rule = if short { rule } else { 96 };
        let found = out.within(rule, |out| paths(out, value, key, amount));
        for path in found.iter().filter(|path| is_control(path)) {
            out.find(
                97,
                "protected_control_scope",
                format!("`{key}` holds `{path}`, which only Git or the supervisor writes"),
            );
        }
        found
    };
    let scope = Scope {
        writable: list("writable_paths", Amount::Some, 94),
        immutable: list("immutable_paths", Amount::Some, 94),
        generated: list("generated_paths", Amount::Any, 95),
    };
    for (rule, left, right, what) in [
        (98, &scope.writable, &scope.immutable, "writable and immutable"),
        (99, &scope.generated, &scope.writable, "generated and writable"),
        (100, &scope.generated, &scope.immutable, "generated and immutable"),
    ] {
        let overlap = left.iter().find_map(|left| {
            right.iter().find(|right| is_within(left, right) || is_within(right, left))
        });
        if let Some(path) = overlap {
            out.find(rule, "overlapping_scope", format!("{what} paths overlap at `{path}`"));
        }
    }
    scope
}

pub(super) fn generated_state(out: &mut Findings, reading: &Reading<'_>) {
    let code = "invalid_generated_state_policy";
    let Some(map) = reading.part("generated_state_policy").map() else {
        return out.find(101, code, "`generated_state_policy` is not an object");
    };
    out.due(
        has_keys(map, &["mode", "initial_state_sha256"]),
        102,
        code,
        "the keys of `generated_state_policy` are not the two",
    );
    out.due(
        field(map, "mode").text() == Some("reset_each_launch"),
        103,
        code,
        "the mode is not `reset_each_launch`",
    );
    if let Some(found) = out.within(104, |out| digest(out, map, "initial_state_sha256")) {
        out.due(
            found == EMPTY_STATE_SHA256,
            104,
            code,
            "`initial_state_sha256` is not that of the empty state",
        );
    }
}
