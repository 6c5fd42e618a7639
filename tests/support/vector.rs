//! Vectors of meaning: `spec/vectors/<domain>/*.txt`, read into cases.
//!
//! The format stands in `spec/README.md`. A file that does not follow it fails the tests with the line at fault.

use std::{fs, path::PathBuf};

use rp_events::json::{self, Json};

/// A case of a file: a stretch of history and what becomes of it.
#[derive(Debug)]
pub(crate) struct Case {
    /// `file.txt#name`, as failures and the conformance tables write it.
    pub(crate) address: String,
    /// The name alone; unique in its domain.
    pub(crate) name: String,
    /// What the line [`Case::at`] meets.
    pub(crate) expect: Expect,
    /// Which of the lines is the example, from 1; those before it lead up to it.
    pub(crate) at: usize,
    /// What was recorded before the case.
    pub(crate) after: After,
    /// What a file of the views holds afterwards.
    pub(crate) gives: Vec<Gives>,
    /// The lines of the batch.
    pub(crate) lines: Vec<Json>,
}

/// What becomes of the example.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    /// It is recorded, and so is every line after it.
    Accepted,
    /// It is refused with a code, and it is the last line.
    Refused(String),
}

/// Where a case begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// After so many lines of the domain's sample.
    Sample(usize),
    /// Where an accepted case of the domain ended.
    Case(String),
}

/// A value that a file of the views holds.
#[derive(Debug)]
pub(crate) struct Gives {
    /// The file, as the views place it.
    pub(crate) file: String,
    /// Where in it, as a JSON pointer.
    pub(crate) pointer: String,
    /// What stands there; `None` if nothing may.
    pub(crate) value: Option<serde_json::Value>,
}

/// Every case of a domain, in the order of files and of cases in them.
pub(crate) fn cases(domain: &str) -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("spec/vectors").join(domain);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut all: Vec<Case> = Vec::new();
    for path in paths {
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        for case in read(&file, &fs::read_to_string(&path).unwrap()) {
            let twice = all.iter().find(|earlier| earlier.name == case.name);
            assert!(
                twice.is_none(),
                "{}: the name is taken by {}",
                case.address,
                twice.unwrap().address
            );
            all.push(case);
        }
    }
    all
}

/// Reads the cases of a file: comments and empty lines, then each case's header, an empty line, its lines.
fn read(file: &str, text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut rest =
        text.lines().zip(1_usize..).filter(|(line, _)| !line.starts_with('#')).peekable();
    while let Some((line, n)) = rest.next() {
        if line.is_empty() {
            continue;
        }
        let name = line
            .strip_prefix("case: ")
            .unwrap_or_else(|| panic!("{file}:{n}: expected `case: NAME`, found `{line}`"));
        let header: Vec<(&str, usize)> =
            std::iter::from_fn(|| rest.next_if(|(line, _)| !line.is_empty())).collect();
        rest.next();
        let body: Vec<(&str, usize)> =
            std::iter::from_fn(|| rest.next_if(|(line, _)| !line.is_empty())).collect();
        cases.push(case(file, name, &header, &body));
    }
    cases
}

fn case(file: &str, name: &str, header: &[(&str, usize)], body: &[(&str, usize)]) -> Case {
    let mut fields = Vec::new();
    for (line, n) in header {
        let field = line.split_once(": ");
        let (key, value) =
            field.unwrap_or_else(|| panic!("{file}:{n}: a header is `key: value`, found `{line}`"));
        let known = ["expect", "at", "after", "why", "gives"].contains(&key);
        assert!(known, "{file}:{n}: there is no header `{key}`");
        let twice = key != "gives" && fields.iter().any(|(earlier, _)| *earlier == key);
        assert!(!twice, "{file}:{n}: the header `{key}` stands twice");
        fields.push((key, value));
    }
    let of = |key: &str| fields.iter().find(|(field, _)| *field == key).map(|(_, value)| *value);
    let due = |key: &str| {
        of(key).unwrap_or_else(|| panic!("{file}#{name}: the header `{key}` is missing"))
    };
    assert!(!due("why").trim().is_empty(), "{file}#{name}: `why` says nothing");
    let expect = match due("expect") {
        "accepted" => Expect::Accepted,
        code => Expect::Refused(code.to_owned()),
    };
    let parsed = |(line, n): &(&str, usize)| {
        json::parse(line).unwrap_or_else(|refusal| panic!("{file}:{n}: {refusal}"))
    };
    let lines: Vec<Json> = body.iter().map(parsed).collect();
    let at: usize = due("at").parse().unwrap_or_else(|_| panic!("{file}#{name}: `at` is a number"));
    let last = if expect == Expect::Accepted { at <= lines.len() } else { at == lines.len() };
    assert!(at > 0 && last, "{file}#{name}: `at` is {at} of {} lines", lines.len());
    let after = of("after").unwrap_or("0");
    let after = after.parse().map_or_else(|_| After::Case(after.to_owned()), After::Sample);
    let gives = fields.iter().filter(|(key, _)| *key == "gives").map(|(_, value)| {
        let mut parts = value.splitn(3, ' ');
        let mut next = || {
            parts.next().unwrap_or_else(|| panic!("{file}#{name}: `gives` is FILE POINTER VALUE"))
        };
        let (file_of, pointer, value_of) = (next().to_owned(), next().to_owned(), next());
        let value = (value_of != "absent").then(|| {
            serde_json::from_str(value_of)
                .unwrap_or_else(|e| panic!("{file}#{name}: `{value_of}` is no JSON: {e}"))
        });
        Gives { file: file_of, pointer, value }
    });
    Case {
        address: format!("{file}#{name}"),
        name: name.to_owned(),
        expect,
        at,
        after,
        gives: gives.collect(),
        lines,
    }
}
