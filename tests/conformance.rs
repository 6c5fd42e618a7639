//! The tables of `spec/conformance/`: a row for each line of a domain's checklist, with its rule and its proof.

use std::{collections::BTreeSet, fs, path::PathBuf};

use rp_events::json::{self, Json};

use crate::support::vector::{self, Case, Expect};

/// A domain whose checklist has a table.
struct Domain {
    /// The table is `spec/conformance/<name>.md`, the vectors are in `spec/vectors/<name>/`.
    name: &'static str,
    /// How many lines its checklist has.
    lines: usize,
    /// The lines with something still to be proved. To become empty; a line leaves when its `open:` leaves.
    open: &'static [usize],
}

/// Every domain whose checklist has a table.
static DOMAINS: &[Domain] = &[Domain { name: "program", lines: 138, open: &[] }];

/// A row of a table.
struct Row {
    line: usize,
    demand: String,
    rules: Vec<String>,
    proof: String,
}

#[test]
fn every_line_of_a_checklist_has_its_rule_and_its_proof() {
    let mut problems = Vec::new();
    for domain in DOMAINS {
        let rows = rows(domain.name);
        let lines: Vec<usize> = rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, (1..=domain.lines).collect::<Vec<_>>(), "{}: the lines", domain.name);
        let open: Vec<usize> =
            rows.iter().filter(|row| row.proof.contains("open: ")).map(|row| row.line).collect();
        assert_eq!(open, domain.open, "{}: the lines with an `open:`", domain.name);
        let cases = vector::cases(domain.name);
        for row in &rows {
            let found = row
                .rules
                .iter()
                .filter_map(|rule| absent(rule))
                .chain(unproved(domain, row, &cases));
            problems
                .extend(found.map(|problem| format!("{} {}: {problem}", domain.name, row.line)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What a row's proofs lack: one that does not exist, a code that none of them produces, or any at all.
fn unproved(domain: &Domain, row: &Row, cases: &[Case]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut produced = BTreeSet::new();
    let proofs = quoted(row.proof.split("; *note").next().unwrap());
    for proof in &proofs {
        if let Some(case) = cases.iter().find(|case| case.address == *proof) {
            if let Expect::Refused(code) = &case.expect {
                produced.insert(code.clone());
            }
        } else if let Some((file, line)) = proof.split_once(".jsonl:") {
            match sample(domain.name, file, line) {
                Some(json) => produced.extend(text(&json, "expect")),
                None => problems.push(format!("there is no `{proof}`")),
            }
        } else {
            problems.extend(absent(proof));
        }
    }
    let reasoned = ["open: ", "not applicable: "].iter().any(|word| row.proof.contains(word));
    if proofs.is_empty() && !reasoned {
        problems.push("neither a proof nor a reason is given".to_owned());
    }
    let codes =
        quoted(&row.demand).into_iter().filter(|word| rp_replay::codes().any(|c| c.name == word));
    let silent = codes.filter(|code| !produced.contains(code));
    problems.extend(silent.map(|code| format!("no proof of the row is refused with `{code}`")));
    problems
}

/// Says so if `path/file.rs::name` names no function, constant or type of a file.
fn absent(place: &str) -> Option<String> {
    let (path, name) = place.split_once("::").unwrap_or((place, ""));
    let text = fs::read_to_string(root().join(path)).unwrap_or_default();
    let named = ["fn ", "const ", "static ", "struct "].iter().any(|word| {
        let after = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let (declared, pieces) = (format!("{word}{name}"), text.as_str());
        pieces.split(declared.as_str()).skip(1).any(after)
    });
    (name.is_empty() || !named).then(|| format!("`{place}` names nothing"))
}

/// A line of a file of the domain's sample.
fn sample(domain: &str, file: &str, line: &str) -> Option<Json> {
    let path = root().join(format!("spec/samples/{domain}/{file}.jsonl"));
    let n: usize = line.parse().ok()?;
    json::parse(fs::read_to_string(path).ok()?.lines().nth(n.checked_sub(1)?)?).ok()
}

fn text(json: &Json, key: &str) -> Option<String> {
    match json.get(key) {
        Some(Json::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

/// The rows of a domain's table: four cells each, the first a number.
fn rows(domain: &str) -> Vec<Row> {
    let path = root().join(format!("spec/conformance/{domain}.md"));
    let table = fs::read_to_string(path).unwrap();
    let cells = table.lines().map(|line| line.split(" | ").collect::<Vec<_>>());
    let row = |cells: Vec<&str>| {
        let line = cells.first()?.strip_prefix("| ")?.parse().ok()?;
        let [_, demand, rules, proof] = cells[..] else {
            panic!("row {line} has {} cells", cells.len())
        };
        let proof = proof.trim_end_matches(" |").to_owned();
        Some(Row { line, demand: demand.to_owned(), rules: quoted(rules), proof })
    };
    cells.filter_map(row).collect()
}

/// What stands in code font in a cell.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
