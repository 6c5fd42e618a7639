//! Evaluation: invocation, environment, live executable and extractor (J.8).

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{
        bytes::{Map, Value, object_digest},
        disk::Kind,
        fields::{field, has_keys, path, plain_file, text},
        findings::Findings,
        profile::Profile,
        scalar::{DotPath, is_environment_name, is_safe_id, is_sha256, is_within},
        shelf::Shelf,
    },
    Reading, digest_within,
};

/// How a launch is made, as far as events repeat it.
#[derive(Debug, Clone, Default)]
pub struct Evaluation {
    /// The working directory.
    pub cwd: String,
    /// The extractor, relative to the root.
    pub extractor: Option<String>,
    /// Seconds a launch may take.
    pub timeout: i128,
    /// The digest of the invocation.
    pub invocation_sha256: String,
    /// The digest of the evaluator.
    pub evaluator_sha256: String,
    /// The manifest of what may not change, by path.
    pub immutable: BTreeMap<String, String>,
}

const KEYS: [&str; 10] = [
    "argv",
    "cwd",
    "extractor_path",
    "executable_path",
    "executable_sha256",
    "environment",
    "environment_sha256",
    "timeout_seconds",
    "invocation_sha256",
    "evaluator_sha256",
];

/// Names that steer how a program is loaded or run.
const CONTROL: [&str; 27] = [
    "BASH_ENV",
    "CDPATH",
    "CLASSPATH",
    "DOTNET_ADDITIONAL_DEPS",
    "DOTNET_SHARED_STORE",
    "DOTNET_STARTUP_HOOKS",
    "ENV",
    "GIT_EXEC_PATH",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LUA_CPATH",
    "LUA_PATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
];

/// More of them in `rp`'s own version, in any case of letters (L26).
const OWN_CONTROL: [&str; 5] =
    ["GLIBC_TUNABLES", "GCONV_PATH", "PERL5DB", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"];

/// Prefixes of such names in `rp`'s own version.
const OWN_PREFIXES: [&str; 4] = ["LD_", "DYLD_", "GIT_", "PYTHON"];

/// Names below those prefixes that steer nothing.
const HARMLESS: [&str; 4] =
    ["PYTHONHASHSEED", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONUNBUFFERED"];

const SENSITIVE: [&str; 9] = [
    "AUTH",
    "CREDENTIAL",
    "PASSWORD",
    "PASSWD",
    "PRIVATE_KEY",
    "SECRET",
    "TOKEN",
    "API_KEY",
    "ACCESS_KEY",
];

/// More words of secrets in `rp`'s own version, plural and fused.
const OWN_SENSITIVE: [&str; 8] = [
    "CREDENTIALS",
    "PASSWORDS",
    "SECRETS",
    "TOKENS",
    "APIKEY",
    "AUTHORIZATION",
    "ACCESSKEY",
    "PRIVATEKEY",
];

pub(super) fn evaluation(out: &mut Findings, reading: &Reading<'_>) -> Evaluation {
    let Some(map) = reading.part("evaluation").map() else {
        out.find(105, "invalid_evaluation", "`evaluation` is not an object");
        return Evaluation::default();
    };
    out.due(
        has_keys(map, &KEYS),
        106,
        "invalid_evaluation",
        "the keys of `evaluation` are not the ten",
    );
    let argv = argv(out, map);
    let cwd = out.within(108, |out| path(out, field(map, "cwd"), "cwd", DotPath::Allowed));
    let extractor_path = out.within(109, |out| {
        path(out, field(map, "extractor_path"), "extractor_path", DotPath::Forbidden)
    });
    let mut extractor = None;
    if let Some(cwd) = cwd {
        working_directory(out, reading, cwd);
        extractor = extractor_path.and_then(|path| live_extractor(out, reading, cwd, path));
    }
    if let Some(path) = extractor_path {
        out.due(
            argv.contains(&path),
            115,
            "extractor_not_invoked",
            format!("`{path}` is not in `argv`"),
        );
    }
    executable(out, reading, map, argv.first().copied());
    environment(out, map, reading.profile);
    let timeout = reading.profile.positive(field(map, "timeout_seconds"));
    out.due(
        timeout.is_some(),
        140,
        "invalid_timeout",
        "`timeout_seconds` is not a positive integer",
    );
    let (invocation, evaluator) = digests(out, reading, map);
    Evaluation {
        cwd: cwd.unwrap_or_default().to_owned(),
        extractor,
        timeout: timeout.unwrap_or(0),
        invocation_sha256: invocation,
        evaluator_sha256: evaluator,
        immutable: manifest(reading),
    }
}

fn manifest(reading: &Reading<'_>) -> BTreeMap<String, String> {
    let items = reading.part("immutable_files").list().unwrap_or_default();
    items
        .iter()
        .filter_map(|item| {
            let text = |key: &str| item.field(key).text().map(str::to_owned);
            Some((text("path")?, text("sha256")?))
        })
        .collect()
}

fn argv<'m>(out: &mut Findings, map: &'m Map) -> Vec<&'m str> {
    let items = field(map, "argv").list().unwrap_or_default();
    let words: Vec<&str> =
        items.iter().filter_map(Value::text).filter(|word| !word.is_empty()).collect();
    let whole = !items.is_empty() && words.len() == items.len();
    out.due(whole, 107, "invalid_invocation", "`argv` is not an array of non-empty strings");
    words
}

fn working_directory(out: &mut Findings, reading: &Reading<'_>, cwd: &str) {
    if cwd == "." {
        return;
    }
    let full = format!("{}/{cwd}", reading.trusted);
    if is_linked(reading, cwd) {
        out.find(110, "symlink_forbidden", format!("`cwd` leads over a symbolic link: `{cwd}`"));
    }
    let root = reading.disk.resolve(reading.trusted).unwrap_or_default();
    match reading.disk.resolve(&full) {
        Some(real) if is_within(&real, &root) => {
            let folder = reading.disk.kind(&real) == Kind::Folder;
            out.due(
                folder,
                112,
                "invalid_evaluation_cwd",
                format!("`cwd` is no directory: `{cwd}`"),
            );
        }
        _ => out.find(
            111,
            "invalid_evaluation_cwd",
            format!("`cwd` is missing or outside the trusted root: `{cwd}`"),
        ),
    }
}

fn is_linked(reading: &Reading<'_>, path: &str) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    ends.into_iter().any(|end| {
        let part = format!("{}/{}", reading.trusted, path.get(..end).unwrap_or_default());
        reading.disk.kind(&part) == Kind::Link
    })
}

/// The extractor's path from the root, if it is a plain file there.
fn live_extractor(
    out: &mut Findings,
    reading: &Reading<'_>,
    cwd: &str,
    path: &str,
) -> Option<String> {
    let from_root = if cwd == "." { path.to_owned() } else { format!("{cwd}/{path}") };
    let shelf = Shelf::new(reading.disk, reading.trusted);
    let root = reading.disk.resolve(reading.trusted).unwrap_or_default();
    let real = reading.disk.resolve(&format!("{}/{from_root}", reading.trusted));
    let outside = real.is_some_and(|real| !is_within(&real, &root));
    out.due(
        !outside,
        114,
        "extractor_outside_trusted_root",
        format!("`{path}` leads out of the trusted root"),
    );
    out.within(113, |out| plain_file(out, &shelf, &from_root, "extractor_path")).map(|_| from_root)
}

fn executable(out: &mut Findings, reading: &Reading<'_>, map: &Map, first: Option<&str>) {
    let path = out.within(116, |out| text(out, map, "executable_path"));
    let due = digest_within(out, 117, map, "executable_sha256");
    let Some(path) = path else { return };
    let invoked = first == Some(path);
    out.due(invoked, 123, "executable_argv_mismatch", "`argv[0]` is not `executable_path`");
    if !out.due(
        path.starts_with('/'),
        118,
        "invalid_executable_path",
        format!("`{path}` is not absolute"),
    ) {
        return;
    }
    let Some(real) = reading.disk.resolve(path) else {
        return out.find(119, "invalid_executable_path", format!("`{path}` does not exist"));
    };
    out.due(
        real == path,
        120,
        "noncanonical_executable_path",
        format!("`{path}` resolves to `{real}`"),
    );
    if reading.disk.kind(&real) != (Kind::File { executable: true }) {
        return out.find(121, "invalid_executable_path", format!("`{path}` is no executable file"));
    }
    let found = reading.disk.read(&real).map(|bytes| super::super::bytes::file_digest(&bytes));
    if let Some(due) = due {
        let same = found.as_deref().is_ok_and(|found| found == due);
        out.due(
            same,
            122,
            "executable_hash_mismatch",
            format!("the bytes of `{path}` are not those sealed"),
        );
    }
}

fn environment(out: &mut Findings, map: &Map, profile: Profile) {
    let value = field(map, "environment");
    let manifest = "invalid_environment_manifest";
    let Some(environment) = value.map() else {
        return out.find(124, manifest, "`environment` is not an object");
    };
    let keys = ["inherit_parent", "variables", "secret_variable_names", "dependency_fingerprints"];
    out.due(
        has_keys(environment, &keys),
        125,
        manifest,
        "the keys of `environment` are not the four",
    );
    let alone = field(environment, "inherit_parent") == &Value::Bool(false);
    out.due(alone, 126, "inherited_environment_forbidden", "`inherit_parent` is not false");
    let variables = field(environment, "variables").map();
    out.due(variables.is_some(), 127, manifest, "`variables` is not an object");
    for (name, value) in variables.into_iter().flatten() {
        variable(out, name, value, profile);
    }
    secrets(out, environment, variables, profile);
    match field(environment, "dependency_fingerprints").map() {
        None => out.find(136, manifest, "`dependency_fingerprints` is not an object"),
        Some(prints) => {
            for (name, value) in prints {
                let good = is_safe_id(name) && value.text().is_some_and(is_sha256);
                out.due(
                    good,
                    137,
                    "invalid_dependency_fingerprint",
                    format!("the fingerprint `{name}` has a bad name or digest"),
                );
            }
        }
    }
    if let Some(due) = digest_within(out, 138, map, "environment_sha256") {
        out.due(
            object_digest(value) == due,
            139,
            "environment_hash_mismatch",
            "`environment` does not hash to `environment_sha256`",
        );
    }
}

fn variable(out: &mut Findings, name: &str, value: &Value, profile: Profile) {
    let code = "invalid_environment_variable";
    out.due(is_environment_name(name), 128, code, format!("`{name}` names no variable"));
    out.due(
        !is_execution_control(name, profile),
        129,
        "execution_control_environment_variable",
        format!("`{name}` steers how programs run"),
    );
    out.due(
        !is_sensitive(name, profile),
        130,
        "secret_environment_value",
        format!("`{name}` looks like a secret, and its value would be in the contract"),
    );
    let plain = value.text().is_some_and(|text| !text.contains('\0'));
    out.due(plain, 131, code, format!("the value of `{name}` is not a string without NUL"));
}

fn secrets(out: &mut Findings, environment: &Map, variables: Option<&Map>, profile: Profile) {
    let items = field(environment, "secret_variable_names").list();
    let names: Vec<&str> = items
        .into_iter()
        .flatten()
        .filter_map(Value::text)
        .filter(|name| is_environment_name(name))
        .collect();
    let whole = items.is_some_and(|items| items.len() == names.len());
    out.due(
        whole,
        132,
        "invalid_environment_manifest",
        "`secret_variable_names` is not an array of variable names",
    );
    let mut seen = BTreeSet::new();
    for name in names {
        out.due(
            seen.insert(name),
            133,
            "duplicate_environment_variable",
            format!("the secret `{name}` is named twice"),
        );
        out.due(
            !is_execution_control(name, profile),
            134,
            "execution_control_environment_variable",
            format!("the secret `{name}` steers how programs run"),
        );
        let open = variables.is_some_and(|variables| variables.contains_key(name));
        out.due(
            !open,
            135,
            "secret_environment_value",
            format!("`{name}` is a secret and a variable with a value"),
        );
    }
}

fn is_execution_control(name: &str, profile: Profile) -> bool {
    let listed = |names: &[&str], name: &str| names.contains(&name);
    let reference = listed(&CONTROL, name)
        || ["DYLD_", "GIT_CONFIG_"].iter().any(|prefix| name.starts_with(prefix));
    let upper = name.to_ascii_uppercase();
    reference
        || profile.is_own()
            && (listed(&CONTROL, &upper)
                || listed(&OWN_CONTROL, &upper)
                || OWN_PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
                    && !listed(&HARMLESS, &upper))
}

/// Whether a name has a word of secrets between underscores or ends.
fn is_sensitive(name: &str, profile: Profile) -> bool {
    let framed = format!("_{}_", name.to_ascii_uppercase());
    let has = |words: &[&str]| words.iter().any(|word| framed.contains(&format!("_{word}_")));
    has(&SENSITIVE) || profile.is_own() && has(&OWN_SENSITIVE)
}

fn digests(out: &mut Findings, reading: &Reading<'_>, map: &Map) -> (String, String) {
    let parts = [
        "argv",
        "cwd",
        "extractor_path",
        "executable_path",
        "executable_sha256",
        "environment_sha256",
        "timeout_seconds",
    ];
    let preimage: Map =
        parts.iter().map(|key| ((*key).to_owned(), field(map, key).clone())).collect();
    let invocation = digest_within(out, 138, map, "invocation_sha256").unwrap_or_default();
    if !invocation.is_empty() {
        let same = object_digest(&Value::Map(preimage)) == invocation;
        out.due(
            same,
            141,
            "invocation_hash_mismatch",
            "the invocation does not hash to `invocation_sha256`",
        );
    }
    let evaluator = digest_within(out, 138, map, "evaluator_sha256").unwrap_or_default();
    if !evaluator.is_empty() {
        let preimage = Map::from([
            ("invocation_sha256".to_owned(), field(map, "invocation_sha256").clone()),
            ("immutable_files".to_owned(), reading.part("immutable_files").clone()),
        ]);
        let same = object_digest(&Value::Map(preimage)) == evaluator;
        out.due(
            same,
            142,
            "evaluator_hash_mismatch",
            "the evaluator does not hash to `evaluator_sha256`",
        );
    }
    (invocation.to_owned(), evaluator.to_owned())
}
