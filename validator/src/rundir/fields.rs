//! The generic rules of J.3: fields, paths, references, maps. Each says what it found and answers with the
//! value if there is one.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use super::{
    bytes::{Map, Number, Value},
    findings::Findings,
    profile::Profile,
    scalar::{DotPath, Instant, PathFault, check_path, is_oid, is_safe_id, is_sha256, is_unit},
    shelf::{Found, Object, Shelf, Stored},
};

/// Amounts by unit.
pub type Usage = BTreeMap<String, i128>;

/// A field of an object; `null` if there is none.
pub fn field<'v>(map: &'v Map, key: &str) -> &'v Value {
    map.get(key).unwrap_or(&Value::Null)
}

/// A non-empty string.
pub fn text<'v>(out: &mut Findings, map: &'v Map, key: &str) -> Option<&'v str> {
    let found = field(map, key).text().filter(|text| !text.is_empty());
    if found.is_none() {
        out.find(22, "invalid_field", format!("`{key}` is not a non-empty string"));
    }
    found
}

/// A safe id.
pub fn safe_id<'v>(out: &mut Findings, map: &'v Map, key: &str) -> Option<&'v str> {
    let found = field(map, key).text().filter(|text| is_safe_id(text));
    if found.is_none() {
        out.find(23, "invalid_id", format!("`{key}` is not an id of 1 to 128 of `a-z0-9._-`"));
    }
    found
}

/// A SHA-256 digest.
pub fn digest<'v>(out: &mut Findings, map: &'v Map, key: &str) -> Option<&'v str> {
    let found = field(map, key).text().filter(|text| is_sha256(text));
    if found.is_none() {
        out.find(24, "invalid_digest", format!("`{key}` is not 64 lower-case hexadecimal digits"));
    }
    found
}

/// A full Git object id.
pub fn oid<'v>(out: &mut Findings, map: &'v Map, key: &str) -> Option<&'v str> {
    let found = field(map, key).text().filter(|text| is_oid(text));
    if found.is_none() {
        out.find(25, "invalid_git_oid", format!("`{key}` is not a full Git object id"));
    }
    found
}

/// A time stamp.
pub fn time(out: &mut Findings, map: &Map, key: &str) -> Option<Instant> {
    let found = field(map, key).text().and_then(Instant::parse);
    if found.is_none() {
        out.find(
            26,
            "invalid_timestamp",
            format!("`{key}` is not an RFC 3339 time in UTC with `Z`"),
        );
    }
    found
}

/// A relative path, in its canonical spelling.
pub fn path<'v>(out: &mut Findings, value: &'v Value, what: &str, dot: DotPath) -> Option<&'v str> {
    let text = value.text().unwrap_or_default();
    let (rule, code, why) = match check_path(text, dot) {
        Ok(()) => return Some(text),
        Err(PathFault::Empty) => (27, "invalid_path", "is not a non-empty string"),
        Err(PathFault::Backslash) => (28, "invalid_path", "holds a backslash"),
        Err(PathFault::Dot) => (29, "unsafe_path", "is `.` where a path is due"),
        Err(PathFault::Unsafe) => {
            (30, "unsafe_path", "is absolute, not normalized or leads upwards")
        }
    };
    out.find(rule, code, format!("the path `{what}` {why}: {text:?}"));
    None
}

/// The right `schema_version` (49).
pub fn schema_version(out: &mut Findings, map: &Map, profile: Profile, due: i128) {
    let holds = field(map, "schema_version").is_int(due, profile.equality());
    out.due(holds, 49, "schema_version", format!("`schema_version` is not {due}"));
}

/// Whether an object has exactly these keys.
pub fn has_keys(map: &Map, keys: &[&str]) -> bool {
    map.len() == keys.len() && keys.iter().all(|key| map.contains_key(*key))
}

/// How many items are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// None is as good as some.
    Any,
    /// At least one.
    Some,
}

/// A string array: non-blank items, none twice (45, 46).
pub fn strings(out: &mut Findings, value: &Value, what: &str, amount: Amount) -> Vec<String> {
    let items = value.list().filter(|items| amount == Amount::Any || !items.is_empty());
    let Some(items) = items else {
        out.find(45, "invalid_field", format!("`{what}` is not an array of strings as it is due"));
        return Vec::new();
    };
    let mut seen = Vec::new();
    for item in items {
        match item.text().filter(|text| !text.trim().is_empty()) {
            None => {
                out.find(45, "invalid_field", format!("`{what}` holds a blank item or no string"));
            }
            Some(text) if seen.iter().any(|known| known == text) => {
                out.find(46, "duplicate_value", format!("`{what}` holds `{text}` twice"));
            }
            Some(text) => seen.push(text.to_owned()),
        }
    }
    seen
}

/// A path array: relative paths, none twice (47, 48).
pub fn paths(out: &mut Findings, value: &Value, what: &str, amount: Amount) -> Vec<String> {
    let items = value.list().filter(|items| amount == Amount::Any || !items.is_empty());
    let Some(items) = items else {
        out.find(
            47,
            "invalid_path_scope",
            format!("`{what}` is not an array of paths as it is due"),
        );
        return Vec::new();
    };
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for item in items {
        let Some(path) = path(out, item, what, DotPath::Forbidden) else { continue };
        if seen.insert(path) {
            kept.push(path.to_owned());
        } else {
            out.find(48, "duplicate_path_scope", format!("`{what}` holds `{path}` twice"));
        }
    }
    kept
}

/// A usage map with exactly the units of the contract (40 to 43).
pub fn usage(
    out: &mut Findings,
    value: &Value,
    what: &str,
    units: &BTreeSet<String>,
    profile: Profile,
) -> Option<Usage> {
    let errors = out.errors.len();
    let Some(map) = value.map() else {
        out.find(40, "invalid_budget", format!("`{what}` is not an object of units"));
        return None;
    };
    let mut usage = Usage::new();
    for (unit, amount) in map {
        out.due(
            is_unit(unit),
            41,
            "invalid_budget_unit",
            format!("`{what}` names the unit `{unit}`"),
        );
        match profile.count(amount) {
            Some(amount) => {
                usage.insert(unit.clone(), amount);
            }
            None => out.find(42, "invalid_budget_value", format!("`{what}.{unit}` is no amount")),
        }
    }
    let same = map.len() == units.len() && map.keys().all(|unit| units.contains(unit));
    out.due(
        same,
        43,
        "budget_units_mismatch",
        format!("`{what}` has other units than the contract"),
    );
    out.is_clean_since(errors).then_some(usage)
}

/// Adds a usage map to another.
pub fn add(sum: &mut Usage, usage: &Usage) {
    for (unit, amount) in usage {
        let total = sum.entry(unit.clone()).or_insert(0);
        *total = total.saturating_add(*amount);
    }
}

/// The amount of a unit; zero if there is none.
pub fn amount(usage: &Usage, unit: &str) -> i128 {
    usage.get(unit).copied().unwrap_or(0)
}

/// Whether two usage maps say the same; a unit that one leaves out is zero.
pub fn is_same(left: &Usage, right: &Usage) -> bool {
    left.keys().chain(right.keys()).all(|unit| amount(left, unit) == amount(right, unit))
}

/// Every number at any depth is finite (44).
pub fn finite(out: &mut Findings, value: &Value, what: &str) {
    out.due(
        is_finite(value),
        44,
        "nonfinite_metric",
        format!("`{what}` holds a number that is not finite"),
    );
}

/// Whether every number at any depth is finite.
pub fn is_finite(value: &Value) -> bool {
    match value {
        Value::Number(Number::Int(_)) | Value::Null | Value::Bool(_) | Value::Text(_) => true,
        Value::Number(_) => value.finite().is_some(),
        Value::List(items) => items.iter().all(is_finite),
        Value::Map(map) => map.values().all(is_finite),
    }
}

/// Null, an integer, or a non-empty string.
pub fn is_seed(value: &Value) -> bool {
    match value {
        Value::Null | Value::Number(Number::Int(_) | Number::Long(_)) => true,
        Value::Text(text) => !text.is_empty(),
        Value::Number(Number::Double(_)) | Value::Bool(_) | Value::List(_) | Value::Map(_) => false,
    }
}

/// Null or a non-empty string.
pub fn is_input(value: &Value) -> bool {
    value.is_null() || value.text().is_some_and(|text| !text.is_empty())
}

/// Null or a safe id.
pub fn is_pair(value: &Value) -> bool {
    value.is_null() || value.text().is_some_and(is_safe_id)
}

/// Where a reference must lead.
#[derive(Debug, Clone, Copy)]
pub enum Due<'p> {
    /// To exactly this path.
    Exact(&'p str),
    /// Into this directory.
    In(&'p str),
}

/// A path with the digest of what it holds.
#[derive(Debug, Clone)]
pub struct Reference {
    /// The path, relative to the run directory.
    pub path: String,
    /// The digest that the reference gives.
    pub sha256: String,
    /// What stands there.
    pub stored: Stored,
}

impl Reference {
    /// The object that it leads to (J.1).
    pub fn object(&self, out: &mut Findings, files: &Shelf<'_>) -> Option<Object> {
        out.at(&self.path, None, |out| self.stored.object(out, files))
    }
}

/// A reference (35 to 39) to a plain file (31 to 34).
pub fn reference(
    out: &mut Findings,
    shelf: &Shelf<'_>,
    value: &Value,
    what: &str,
    due: Due<'_>,
) -> Option<Reference> {
    let Some(map) = value.map() else {
        out.find(35, "invalid_artifact_ref", format!("`{what}` is not a reference"));
        return None;
    };
    let keys = has_keys(map, &["path", "sha256"]);
    out.due(
        keys,
        36,
        "artifact_ref_schema_mismatch",
        format!("`{what}` has not exactly `path` and `sha256`"),
    );
    let path = path(out, field(map, "path"), what, DotPath::Forbidden);
    let sha256 = digest(out, map, "sha256");
    let path = path?;
    match due {
        Due::Exact(exact) if path != exact => {
            out.find(
                38,
                "artifact_role_mismatch",
                format!("`{what}` leads to `{path}`, not `{exact}`"),
            );
        }
        Due::In(folder) if path.split('/').next() != Some(folder) => {
            out.find(
                37,
                "artifact_role_mismatch",
                format!("`{what}` leads to `{path}`, not into `{folder}/`"),
            );
        }
        Due::Exact(_) | Due::In(_) => {}
    }
    let stored = plain_file(out, shelf, path, what)?;
    let sha256 = sha256?;
    let same = sha256 == stored.sha256.as_ref();
    out.due(
        same,
        39,
        "artifact_hash_mismatch",
        format!("`{path}` does not hash to what `{what}` says"),
    );
    Some(Reference { path: path.to_owned(), sha256: sha256.to_owned(), stored })
}

/// A regular file with no link on the way (31 to 34).
pub fn plain_file(out: &mut Findings, shelf: &Shelf<'_>, path: &str, what: &str) -> Option<Stored> {
    match shelf.get(path) {
        Found::File(stored) => Some(stored),
        Found::Missing => {
            out.find(
                31,
                "missing_artifact",
                format!("`{what}` leads to `{path}`, which is missing"),
            );
            None
        }
        Found::Link { outside, .. } => {
            out.due(!outside, 32, "unsafe_path", format!("`{path}` leads out of its root"));
            out.find(
                33,
                "symlink_forbidden",
                format!("a symbolic link stands on the way to `{path}`"),
            );
            None
        }
        Found::NotFile | Found::Unreadable(_) => {
            out.find(34, "invalid_artifact", format!("`{path}` is not a regular, readable file"));
            None
        }
    }
}

/// The digest that a stored file has, if it stands there.
pub fn stored_digest(shelf: &Shelf<'_>, path: &str) -> Option<Rc<str>> {
    if let Found::File(stored) = shelf.get(path) { Some(stored.sha256) } else { None }
}
