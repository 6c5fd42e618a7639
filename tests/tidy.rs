//! What no compiler checks: the texts agree with the tables, the crates keep their promises, and nothing is
//! forgotten. Each failure says the file, the line and what to do.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use rp_events::{DOMAINS, Kind, trust::ROLES};
use rp_replay::{VIEWS, relation};
use serde_json::{Value, json};

/// Most lines of a source file.
const LINES_MAX: usize = 600;

/// Files above [`LINES_MAX`] and their lines. The list may only shrink, in numbers and in names.
const LONG_FILES: &[(&str, usize)] = &[];

/// Licences that a package may be under; one of those on offer suffices.
const LICENCES: &[&str] =
    &["Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "Unicode-3.0", "Zlib"];

/// Packages that are linked in more than one major version, because others ask for both.
const DOUBLES: &[&str] = &["syn"];

/// Words that have no place in a public repository: folders of one machine, registries, products.
const FORBIDDEN: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("crates", ".io"),
    concat!("py", "pi"),
    concat!("clau", "de"),
];

/// A folder of the agents' host that the program's own texts name.
const FOLDER_OF_HOST: &str = concat!(".clau", "de");

#[test]
fn every_source_opens_by_saying_what_it_is() {
    let silent = sources().into_iter().filter(|file| !file.text.starts_with("//! "));
    none(silent.map(|file| format!("{}:1: open with `//!` and say what the file is", file.name)));
}

#[test]
fn nothing_is_left_for_later() {
    let words = [concat!("FIX", "ME"), concat!("TO", "DO"), concat!("X", "XX")];
    let attributes = [concat!("#[", "ignore"), concat!("#[", "should_panic")];
    none(lines(&sources()).filter_map(|(place, line)| {
        let mut found = line.split(|c: char| !c.is_ascii_alphanumeric());
        if let Some(word) = found.find(|word| words.contains(word)) {
            return Some(format!(
                "{place}: do it, or say as a plain sentence what is; no `{word}`"
            ));
        }
        let attribute = attributes.iter().find(|attribute| line.contains(**attribute))?;
        Some(format!("{place}: assert what happens today; no `{attribute}]`"))
    }));
}

#[test]
fn sources_are_ascii() {
    none(lines(&sources()).filter_map(|(place, line)| {
        let c = line.chars().find(|c| !c.is_ascii())?;
        Some(format!("{place}: write `\\u{{{:x}}}` in the place of the character", u32::from(c)))
    }));
}

#[test]
fn no_source_is_long() {
    let listed: BTreeMap<&str, usize> = LONG_FILES.iter().copied().collect();
    let mut problems = Vec::new();
    for Source { name, text } in sources().iter().filter(|file| !is_test(&file.name)) {
        let found = text.lines().count();
        match listed.get(name.as_str()) {
            None if found > LINES_MAX => problems.push(format!(
                "{name}:{LINES_MAX}: it has {found} lines, at most {LINES_MAX} are allowed; split it"
            )),
            Some(&due) if found > due => problems.push(format!(
                "{name}:{due}: it grew to {found} lines from {due}; the list in tests/tidy.rs may only shrink"
            )),
            Some(_) if found <= LINES_MAX => problems.push(format!(
                "{name}: it has {found} lines and is long no more; take it off LONG_FILES in tests/tidy.rs"
            )),
            Some(_) | None => {}
        }
    }
    let names: BTreeSet<String> = sources().into_iter().map(|file| file.name).collect();
    let gone = LONG_FILES.iter().filter(|(name, _)| !names.contains(*name));
    problems.extend(
        gone.map(|(name, _)| format!("tests/tidy.rs: LONG_FILES names `{name}`, which is gone")),
    );
    none(problems);
}

#[test]
fn every_kind_of_trust_has_its_section() {
    sections("trust", "spec/trust.md", "events/src/trust.rs");
}

#[test]
fn every_kind_of_the_program_has_its_section() {
    sections("program", "spec/program.md", "events/src/program.rs");
}

#[test]
fn every_code_has_its_row() {
    let text = read("spec/refusals.md");
    let rows: Vec<&str> = text.lines().filter_map(first_cell).collect();
    let codes: Vec<&str> = rp_replay::codes().map(|code| code.name).collect();
    let mut problems = doubled(&rows, "spec/refusals.md: take away one of the rows of");
    problems.extend(doubled(&codes, "replay: declare a code once;"));
    problems.extend(differing(
        ("spec/refusals.md", &rows),
        ("rp_replay::codes()", &codes),
        "give each code its row, and each row its code",
    ));
    none(problems);
}

#[test]
fn every_view_has_its_section_and_its_row() {
    let text = read("spec/views.md");
    let headings = headings(&text);
    let rows: Vec<&str> = text.lines().filter_map(first_cell).collect();
    none(
        VIEWS
            .iter()
            .filter(|view| !headings.contains(&view.name) || !rows.contains(&view.name))
            .map(|view| {
                format!(
                    "spec/views.md: give the view `{0}` a section \"## `{0}`\" and a row",
                    view.name
                )
            }),
    );
}

#[test]
fn the_catalogue_is_that_of_the_tables() {
    let found: Value = serde_json::from_str(&read("spec/kinds.json")).unwrap();
    let due = catalogue();
    let mut problems = Vec::new();
    for part in ["kinds", "roles", "relations"] {
        let name = if part == "kinds" { "kind" } else { "name" };
        let (found, due) = (rows(&found, part, name), rows(&due, part, name));
        let names: BTreeSet<&String> = found.keys().chain(due.keys()).collect();
        let differing: Vec<&str> = names
            .into_iter()
            .filter(|name| found.get(*name) != due.get(*name))
            .map(String::as_str)
            .collect();
        if !differing.is_empty() {
            problems.push(format!(
                "spec/kinds.json: of `{part}`, `{}` are not as the table says; run `cargo run -- kinds --json | python3 -m json.tool > spec/kinds.json`",
                differing.join("` `")
            ));
        }
    }
    if found.get("schema") != due.get("schema") {
        problems.push("spec/kinds.json:1: the schema is `rp.kinds/1`".to_owned());
    }
    none(problems);
}

#[test]
fn dependencies_point_one_way() {
    let mut problems = Vec::new();
    for (manifest, never) in [
        ("events/Cargo.toml", &["rp-replay", "rp-validator", "rp"][..]),
        ("replay/Cargo.toml", &["rp-validator", "rp"]),
        ("validator/Cargo.toml", &["rp"]),
    ] {
        for (line, name) in dependencies(manifest) {
            if never.contains(&name.as_str()) {
                problems.push(format!(
                    "{manifest}:{line}: it may not depend on `{name}`; the order is events, replay, validator, rp"
                ));
            }
        }
    }
    none(problems);
}

#[test]
fn facts_and_meaning_ask_nothing_of_the_machine() {
    let never = ["fs", "net", "process", "env", "thread", "SystemTime", "Instant"];
    none(code_lines(&["events/src/", "replay/src/"]).filter_map(|(place, line)| {
        let name = std_names(&line).into_iter().find(|name| never.contains(&name.as_str()))?;
        Some(format!("{place}: `std::{name}` has no place in this crate; let the caller pass in what is needed"))
    }));
}

#[test]
fn the_auditor_changes_nothing() {
    let never = [
        "OpenOptions",
        "File::create",
        "fs::write",
        "fs::rename",
        "fs::remove",
        "fs::copy",
        "fs::hard_link",
        "fs::create",
        "fs::set_permissions",
        "write_all",
        "set_len",
        "sync_all",
        "sync_data",
        "fs::symlink(",
        "try_lock",
        "lock_exclusive",
        "lock_shared",
        ".lock()?",
        "process::Command",
        "Command::new",
        "std::net",
    ];
    none(code_lines(&["validator/src/"]).filter_map(|(place, line)| {
        let call = never.iter().find(|call| line.contains(**call))?;
        Some(format!("{place}: the auditor only reads; `{call}` belongs to src/"))
    }));
}

#[test]
fn texts_name_no_machine_and_no_product() {
    let ends = ["md", "sh", "py", "rs", "toml"];
    let mut files =
        files(&root(), &|path| path.extension().is_some_and(|end| ends.iter().any(|e| end == *e)));
    files.extend(
        [".ci/run", "LICENSE"].map(|name| Source { name: name.to_owned(), text: read(name) }),
    );
    none(lines(&files).filter_map(|(place, line)| {
        let line = line.to_lowercase().replace(FOLDER_OF_HOST, "");
        let word = FORBIDDEN.iter().find(|word| line.contains(**word))?;
        Some(format!("{place}: say it without `{word}`"))
    }));
}

#[test]
fn every_link_between_texts_leads_somewhere() {
    // The files of a sample are as the program that they describe would have them, and so are their links.
    let texts = files(&root(), &|path| path.extension().is_some_and(|end| end == "md"));
    let texts: Vec<Source> = texts
        .into_iter()
        .filter(|file| !(file.name.starts_with("spec/samples/") && file.name.contains("/round_")))
        .collect();
    none(lines(&texts).flat_map(|(place, line)| {
        let file = place.rsplit_once(':').map_or("", |(file, _)| file).to_owned();
        let folder = root().join(file).parent().unwrap().to_owned();
        let targets: Vec<String> = line
            .split("](")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once(')')?.0.split('#').next()?.to_owned()))
            .filter(|target| !target.is_empty() && !target.contains("://") && !target.contains('<'))
            .collect();
        let broken = targets.into_iter().filter(move |target| !folder.join(target).exists());
        broken.map(|target| format!("{place}: there is no `{target}`")).collect::<Vec<_>>()
    }));
}

#[test]
fn every_dependency_says_what_it_is_for() {
    let text = read("spec/dependencies.md");
    let rows: Vec<&str> = text.lines().filter_map(first_cell).collect();
    let manifests =
        ["Cargo.toml", "events/Cargo.toml", "replay/Cargo.toml", "validator/Cargo.toml"];
    let direct: BTreeSet<String> = manifests
        .iter()
        .flat_map(|manifest| dependencies(manifest))
        .map(|(_, name)| name)
        .filter(|name| !name.starts_with("rp-"))
        .collect();
    let direct: Vec<&str> = direct.iter().map(String::as_str).collect();
    let mut problems = doubled(&rows, "spec/dependencies.md: take away one of the rows of");
    problems.extend(differing(
        ("spec/dependencies.md", &rows),
        ("the manifests", &direct),
        "give each direct dependency a row on what it is for, and each row a dependency",
    ));
    none(problems);
}

#[test]
fn one_place_pins_each_library() {
    let manifests =
        ["Cargo.toml", "events/Cargo.toml", "replay/Cargo.toml", "validator/Cargo.toml"];
    none(manifests.iter().flat_map(|manifest| {
        let text = read(manifest);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        dependencies(manifest).into_iter().filter_map(move |(line, name)| {
            let said = lines.get(line - 1)?;
            (!said.contains("workspace = true")).then(|| {
                format!("{manifest}:{line}: pin `{name}` in [workspace.dependencies] of Cargo.toml and write `{name}.workspace = true`")
            })
        })
    }));
}

#[test]
fn licences_are_on_the_list_and_no_library_comes_twice() {
    let metadata = metadata();
    let packages = metadata.get("packages").and_then(Value::as_array).unwrap();
    let text = |package: &Value, key: &str| {
        package.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let mut problems = Vec::new();
    let mut majors: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages {
        let (name, version) = (text(package, "name"), text(package, "version"));
        let licence = text(package, "license");
        if !is_allowed(&licence) {
            problems.push(format!(
                "Cargo.lock: `{name} {version}` is under `{licence}`; use another library, or allow it in LICENCES of tests/tidy.rs"
            ));
        }
        majors.entry(name).or_default().insert(major(&version));
    }
    for (name, versions) in &majors {
        if versions.len() > 1 && !DOUBLES.contains(&name.as_str()) {
            problems.push(format!(
                "Cargo.lock: `{name}` comes in the versions {versions:?}; bring them together, or list it in DOUBLES of tests/tidy.rs"
            ));
        }
    }
    let single = |name: &&&str| majors.get(**name).is_none_or(|versions| versions.len() < 2);
    let gone = DOUBLES.iter().filter(single);
    problems.extend(
        gone.map(|name| format!("tests/tidy.rs: DOUBLES names `{name}`, which comes once")),
    );
    none(problems);
}

#[test]
fn licence_expressions_are_read() {
    for fine in
        ["MIT", "MIT/GPL-3.0", "(MIT OR X) AND Unicode-3.0", "X WITH Y OR ISC", "X AND Y OR MIT"]
    {
        assert!(is_allowed(fine), "{fine}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR X) AND (X OR Y)", "MIT WITH Y"] {
        assert!(!is_allowed(bad), "{bad}");
    }
}

#[test]
fn no_test_file_is_forgotten() {
    let main = read("tests/main.rs");
    let named: BTreeSet<&str> = main
        .lines()
        .filter_map(|line| line.trim().strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    let mut problems = Vec::new();
    for entry in fs::read_dir(root().join("tests")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_module =
            path.extension().is_some_and(|end| end == "rs") || path.join("mod.rs").exists();
        if is_module && name != "main" && !named.contains(name.as_str()) {
            problems
                .push(format!("tests/main.rs: add `mod {name};`, or the tests in it never run"));
        }
    }
    none(problems);
}

/// A text file of the repository, named by its path from the root with `/`.
struct Source {
    name: String,
    text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name))
        .unwrap_or_else(|error| panic!("{name}: {error}; the suite asks for it"))
}

fn sources() -> Vec<Source> {
    files(&root(), &|path| path.extension().is_some_and(|end| end == "rs"))
}

/// Every file below a folder that is wanted, in the order of the names; what is built or hidden is left out.
fn files(folder: &Path, wanted: &dyn Fn(&Path) -> bool) -> Vec<Source> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && !path.join(".rp").exists() {
                found.extend(files(&path, wanted));
            }
        } else if wanted(&path) {
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
            found.push(Source { text: fs::read_to_string(&path).unwrap(), name });
        }
    }
    found
}

/// Whether a file holds nothing but tests.
fn is_test(name: &str) -> bool {
    name.starts_with("tests/") || name.contains("/tests/") || name.ends_with("/tests.rs")
}

/// The lines of files, each with its `file:line`.
fn lines(files: &[Source]) -> impl Iterator<Item = (String, String)> {
    files.iter().flat_map(|file| {
        let place = |n: usize| format!("{}:{}", file.name, n + 1);
        file.text.lines().enumerate().map(move |(n, line)| (place(n), line.to_owned()))
    })
}

/// The lines of sources in some folders that are no comments.
fn code_lines(folders: &[&str]) -> impl Iterator<Item = (String, String)> {
    let inside = |file: &Source| folders.iter().any(|folder| file.name.starts_with(folder));
    let found: Vec<Source> =
        sources().into_iter().filter(|file| inside(file)).map(joined).collect();
    let lines: Vec<_> =
        lines(&found).filter(|(_, line)| !line.trim_start().starts_with("//")).collect();
    lines.into_iter()
}

/// The file with each `use` on one line, the first of those that it took.
fn joined(file: Source) -> Source {
    let mut text = String::new();
    let mut held = 0;
    for line in file.text.lines() {
        text.push_str(line);
        let is_open = (held > 0 || line.trim_start().starts_with("use ")) && !line.contains(';');
        if is_open {
            held += 1;
        } else {
            text.push_str(&"\n".repeat(held + 1));
            held = 0;
        }
    }
    Source { text, ..file }
}

/// Every name that stands right below `std` or its modules of times in a line of code.
fn std_names(line: &str) -> Vec<String> {
    let mut names = Vec::new();
    for rest in line.split("std::").skip(1) {
        let path =
            if rest.starts_with('{') { rest.split(';').next().unwrap_or_default() } else { rest };
        let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':');
        let mut words = path.split(ends).filter(|word| !word.is_empty());
        let each = |word: &str| word.split("::").map(str::to_owned).collect::<Vec<_>>();
        if rest.starts_with('{') {
            names.extend(words.flat_map(each));
        } else {
            names.extend(words.next().map(each).unwrap_or_default());
        }
    }
    names
}

/// Fails with every problem, if there is one.
fn none(problems: impl IntoIterator<Item = String>) {
    let problems: Vec<String> = problems.into_iter().collect();
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

/// The names in headings of the form "## `name`".
fn headings(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("## `")?.strip_suffix('`')).collect()
}

/// The name in code font that begins a row of a table.
fn first_cell(line: &str) -> Option<&str> {
    Some(line.strip_prefix("| `")?.split_once('`')?.0)
}

fn sections(domain: &str, spec: &str, source: &str) {
    let text = read(spec);
    let found = headings(&text);
    let of = |kinds: &&[Kind]| kinds.first().is_some_and(|kind| kind.domain == domain);
    let kinds = DOMAINS.iter().copied().find(of).unwrap_or_default();
    let due: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
    let mut problems = differing(
        (spec, &found),
        (source, &due),
        "give each kind a section \"## `kind`\", and each section a kind",
    );
    if problems.is_empty()
        && let Some((found, due)) = found.iter().zip(&due).find(|(found, due)| found != due)
    {
        problems.push(format!("{spec}: the section of `{found}` stands where `{due}` is due; the order is that of {source}"));
    }
    none(problems);
}

/// What one list names and the other does not.
fn differing(one: (&str, &[&str]), other: (&str, &[&str]), remedy: &str) -> Vec<String> {
    let lacks = |(place, names): (&str, &[&str]), (_, due): (&str, &[&str])| {
        let names: BTreeSet<&str> = names.iter().copied().collect();
        let missing: Vec<&str> = due.iter().copied().filter(|name| !names.contains(name)).collect();
        let text =
            format!("{place}: {} missing: `{}`; {remedy}", missing.len(), missing.join("` `"));
        (!missing.is_empty()).then_some(text)
    };
    [lacks(one, other), lacks(other, one)].into_iter().flatten().collect()
}

fn doubled(names: &[&str], what: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names
        .iter()
        .filter(|name| !seen.insert(**name))
        .map(|name| format!("{what} `{name}`"))
        .collect()
}

fn catalogue() -> Value {
    let kinds: Vec<Value> = DOMAINS
        .iter()
        .flat_map(|kinds| kinds.iter())
        .map(|kind| {
            json!({
                "kind": kind.name, "version": kind.version, "domain": kind.domain,
                "owners": kind.owners, "owner_code": kind.owner_code, "about": kind.about,
            })
        })
        .collect();
    let pairs = |table: &[(&str, &str)]| {
        table
            .iter()
            .map(|(name, about)| json!({ "name": name, "about": about }))
            .collect::<Vec<_>>()
    };
    json!({ "schema": "rp.kinds/1", "kinds": kinds, "roles": pairs(ROLES), "relations": relations() })
}

fn relations() -> Vec<Value> {
    let between = |name: &str| -> Vec<Value> {
        let rows = relation::table().filter(|row| row.relation == name);
        rows.map(|row| json!({ "from": row.from, "to": row.to })).collect()
    };
    let row = |relation: &relation::Relation| {
        json!({
            "name": relation.name, "about": relation.about, "rests": relation.rests,
            "between": between(relation.name),
        })
    };
    relation::RELATIONS.iter().map(row).collect()
}

/// The rows of a part of the catalogue by their names, with where they stand.
fn rows(catalogue: &Value, part: &str, name: &str) -> BTreeMap<String, (usize, Value)> {
    let rows = catalogue.get(part).and_then(Value::as_array).cloned().unwrap_or_default();
    let named = |(n, row): (usize, Value)| {
        let name = row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        (name, (n, row))
    };
    rows.into_iter().enumerate().map(named).collect()
}

/// The direct dependencies that a manifest names, each with its line.
fn dependencies(manifest: &str) -> Vec<(usize, String)> {
    let text = read(manifest);
    let mut found = Vec::new();
    let mut inside = false;
    for (n, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]") && line != "[workspace.dependencies]";
        } else if let (true, Some((name, _))) = (inside, line.split_once(['.', ' ', '='])) {
            found.push((n + 1, name.to_owned()));
        }
    }
    found
}

/// What cargo says of the packages that this machine links.
fn metadata() -> Value {
    let cargo = |args: &[&str]| {
        let out = Command::new(env!("CARGO")).args(args).current_dir(root()).output().unwrap();
        assert!(out.status.success(), "cargo {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let asked =
        ["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", host];
    serde_json::from_str(&cargo(&asked)).unwrap()
}

/// The part of a version within which a library promises to be compatible.
fn major(version: &str) -> String {
    let mut parts = version.split('.');
    match (parts.next(), parts.next()) {
        (Some("0"), Some(minor)) => format!("0.{minor}"),
        (Some(major), _) => major.to_owned(),
        (None, _) => String::new(),
    }
}

/// Whether a licence expression can be met from [`LICENCES`]; `/` is an old way to write `OR`.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest) && rest.is_empty()
}

fn any_of(rest: &mut &[&str]) -> bool {
    let mut holds = all_of(rest);
    while let ["OR", after @ ..] = *rest {
        *rest = after;
        holds |= all_of(rest);
    }
    holds
}

fn all_of(rest: &mut &[&str]) -> bool {
    let mut holds = licence(rest);
    while let ["AND", after @ ..] = *rest {
        *rest = after;
        holds &= licence(rest);
    }
    holds
}

fn licence(rest: &mut &[&str]) -> bool {
    match *rest {
        ["(", after @ ..] => {
            *rest = after;
            let holds = any_of(rest);
            if let [")", after @ ..] = *rest {
                *rest = after;
            }
            holds
        }
        [_, "WITH", _, after @ ..] => {
            *rest = after;
            false
        }
        [name, after @ ..] => {
            *rest = after;
            LICENCES.contains(name)
        }
        [] => false,
    }
}
