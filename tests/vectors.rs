//! What may be recorded and what is refused: the sample program, its rejected lines, and the vectors.

use std::collections::{BTreeMap, BTreeSet};

use rp_events::{Event, json};

use crate::support::{
    record::Recorder,
    vector::{self, After, Case, Expect},
};

pub(crate) const SAMPLE: &str = include_str!("../spec/samples/program/events.jsonl");

#[test]
fn every_line_of_the_sample_is_read_and_read_again_from_its_bytes() {
    for line in SAMPLE.lines() {
        let json = json::parse(line).unwrap();
        let Some(json::Json::Text(kind)) = json.get("kind") else { panic!("{line}") };
        let event = Event::read(kind, json.get("data").unwrap()).expect(line);
        let bytes = event.encode().unwrap();
        assert_eq!(Event::decode(kind, &bytes).expect(line), event, "{line}");
        let again = json::parse(event.to_json().get()).unwrap();
        assert_eq!(Event::read(kind, &again).expect(line), event, "{line}");
    }
    drop(Recorder::new());
}

const REJECTED: &str = include_str!("../spec/samples/program/rejected.jsonl");

/// What a state shows: every file of its views, and the whole of it as Rust prints it.
fn shown(recorder: &Recorder) -> (BTreeMap<String, String>, u64) {
    (recorder.files(), recorder.state().next().0)
}

#[test]
fn every_line_of_the_sample_is_accepted_and_every_rejected_line_refused_after_its_prefix() {
    let number = |json: &json::Json, key: &str| -> usize {
        let Some(json::Json::Number(n)) = json.get(key) else { panic!("no `{key}`") };
        n.parse().unwrap()
    };
    let rejected: Vec<json::Json> =
        REJECTED.lines().map(|line| json::parse(line).unwrap()).collect();
    let mut recorder = Recorder::new();
    let mut tried = 0;
    for (n, line) in std::iter::once(None).chain(SAMPLE.lines().map(Some)).enumerate() {
        if let Some(line) = line {
            recorder.append(line).unwrap_or_else(|refusal| panic!("line {n}: {refusal}\n{line}"));
        }
        for json in rejected.iter().filter(|json| number(json, "after_line") == n) {
            let Some(json::Json::Text(expect)) = json.get("expect") else { panic!("{json:?}") };
            let before = shown(&recorder);
            let event = json.get("event").unwrap();
            match recorder.append_json(event) {
                Ok(_) => panic!("after line {n}, `{expect}` was due, found accepted: {event:?}"),
                Err(refusal) => assert_eq!(refusal.code.name, expect, "after line {n}: {refusal}"),
            }
            assert_eq!(shown(&recorder), before, "a refusal changed a view");
            tried += 1;
        }
    }
    assert_eq!(tried, rejected.len());
}

/// Folds the sample once and tries every case where it begins, each on a recorder of its own.
#[test]
fn every_vector_of_the_program_is_met() {
    let cases = vector::cases("program");
    let mut sample: BTreeMap<usize, Vec<&Case>> = BTreeMap::new();
    let mut later: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
    for case in &cases {
        match &case.after {
            After::Sample(lines) => sample.entry(*lines).or_default().push(case),
            After::Case(name) => later.entry(name).or_default().push(case),
        }
    }
    let mut recorder = Recorder::new();
    let (mut tried, mut problems) = (BTreeSet::new(), Vec::new());
    for (n, line) in std::iter::once(None).chain(SAMPLE.lines().map(Some)).enumerate() {
        if let Some(line) = line {
            recorder.append(line).unwrap();
        }
        let mut due: Vec<(Recorder, &Case)> = Vec::new();
        due.extend(sample.get(&n).into_iter().flatten().map(|case| (recorder.fork(), *case)));
        while let Some((mut own, case)) = due.pop() {
            tried.insert(case.name.as_str());
            if let Err(problem) = attempt(&mut own, case) {
                problems.push(format!("{}, {problem}", case.address));
                continue;
            }
            let next = later.get(case.name.as_str()).into_iter().flatten();
            due.extend(next.map(|case| (own.fork(), *case)));
        }
    }
    let missed = cases.iter().filter(|case| !tried.contains(case.name.as_str()));
    problems.extend(missed.map(|case| {
        format!(
            "{}: not tried; `after` names {:?}, which was not reached",
            case.address, case.after
        )
    }));
    problems.sort();
    assert!(
        problems.is_empty(),
        "{} of {} cases:\n{}",
        problems.len(),
        cases.len(),
        problems.join("\n")
    );
}

/// Records the lines of a case and says where it goes otherwise than it should.
fn attempt(recorder: &mut Recorder, case: &Case) -> Result<(), String> {
    for (line, n) in case.lines.iter().zip(1..) {
        let due = match &case.expect {
            Expect::Refused(code) if n == case.at => code.as_str(),
            Expect::Refused(_) | Expect::Accepted => "accepted",
        };
        let before = (due != "accepted").then(|| shown(recorder));
        let outcome = recorder.append_json(line);
        let found = outcome.as_ref().map_or_else(|refusal| refusal.code.name, |_| "accepted");
        if found != due {
            let why = outcome.map_or_else(|refusal| format!(": {refusal}"), |_| String::new());
            return Err(format!("line {n}: expected `{due}`, got `{found}`{why}"));
        }
        if before.is_some_and(|before| shown(recorder) != before) {
            return Err(format!("line {n}: it was refused, and a view changed"));
        }
    }
    for gives in &case.gives {
        let file =
            recorder.file(&gives.file).ok_or_else(|| format!("no view keeps `{}`", gives.file))?;
        let file: serde_json::Value = serde_json::from_str(&file).map_err(|e| e.to_string())?;
        let found = file.pointer(&gives.pointer);
        if found != gives.value.as_ref() {
            let text = |value: Option<&serde_json::Value>| {
                value.map_or("absent".to_owned(), ToString::to_string)
            };
            return Err(format!(
                "after the last line, `{}` in `{}`: expected {}, got {}",
                gives.pointer,
                gives.file,
                text(gives.value.as_ref()),
                text(found)
            ));
        }
    }
    Ok(())
}

#[test]
fn every_kind_of_the_program_has_an_example_and_every_code_a_refusal() {
    let cases = vector::cases("program");
    let text = |json: &json::Json, key: &str| match json.get(key) {
        Some(json::Json::Text(text)) => text.clone(),
        _ => panic!("no `{key}` in {json:?}"),
    };
    let mut kinds: BTreeSet<String> =
        SAMPLE.lines().map(|line| text(&json::parse(line).unwrap(), "kind")).collect();
    let mut codes: BTreeSet<String> =
        REJECTED.lines().map(|line| text(&json::parse(line).unwrap(), "expect")).collect();
    for case in &cases {
        match &case.expect {
            Expect::Accepted => kinds.insert(text(&case.lines[case.at - 1], "kind")),
            Expect::Refused(code) => codes.insert(code.clone()),
        };
    }
    let due = rp_events::program::KINDS.iter();
    let bare: Vec<&str> = due.map(|kind| kind.name).filter(|name| !kinds.contains(*name)).collect();
    let due = rp_replay::program::codes::ALL.iter().map(|code| code.name);
    let unseen: Vec<&str> = due.filter(|name| !codes.contains(*name)).collect();
    assert!(bare.is_empty(), "kinds without an accepted example: {}", bare.join(", "));
    assert!(unseen.is_empty(), "codes without a refused example: {}", unseen.join(", "));
}
