//! The sample of ten rounds: every file at its line, every refusal after its prefix, and that it holds what it
//! is there for.

use std::{collections::BTreeSet, fs, path::PathBuf};

use rp_events::json::{self, Json};
use serde_json::Value;

use super::records::shown;
use crate::support::{
    env::Env,
    record::{ROLES, Recorder},
};

const EVENTS: &str = include_str!("../../spec/samples/attribution/events.jsonl");
const REJECTED: &str = include_str!("../../spec/samples/attribution/rejected.jsonl");
const FILES: &str = include_str!("../../spec/samples/attribution/files.jsonl");

/// A file or a folder of the sample.
fn sample(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("spec/samples/attribution").join(file)
}

fn values(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn holds_the_files_due(recorder: &Recorder, files: &[Value], line: usize) {
    for file in files.iter().filter(|file| file["after_line"] == line) {
        let text = |key: &str| file[key].as_str().unwrap();
        let due = fs::read_to_string(sample(text("file"))).unwrap();
        let found = shown(recorder, text("view"), file["round"].as_u64(), text("format"));
        assert_eq!(found, due, "after line {line}: {}", text("file"));
    }
}

fn holds_the_refusals_due(recorder: &mut Recorder, rejected: &[Json], line: usize) {
    let due = |json: &&Json| json.get("after_line") == Some(&Json::Number(line.to_string()));
    for json in rejected.iter().filter(due) {
        let Some(Json::Text(expect)) = json.get("expect") else { panic!("{json:?}") };
        let before = recorder.state().next();
        match recorder.append_json(json.get("event").unwrap()) {
            Ok(_) => panic!("after line {line}, `{expect}` was due, found accepted: {json:?}"),
            Err(refusal) => assert_eq!(refusal.code.name, expect, "after line {line}: {refusal}"),
        }
        assert_eq!(recorder.state().next(), before);
    }
}

#[test]
fn every_line_leaves_its_files_and_every_rejected_line_is_refused() {
    let files = values(FILES);
    let rejected: Vec<Json> = REJECTED.lines().map(|line| json::parse(line).unwrap()).collect();
    let mut recorder = Recorder::new();
    for (n, line) in (1..).zip(EVENTS.lines()) {
        recorder.append(line).unwrap_or_else(|refusal| panic!("line {n}: {refusal}\n{line}"));
        holds_the_files_due(&recorder, &files, n);
        holds_the_refusals_due(&mut recorder, &rejected, n);
    }
}

#[test]
fn every_file_of_the_sample_is_held_and_every_rejected_line_comes_after_a_line() {
    let held = values(FILES);
    let held: BTreeSet<&str> = held.iter().map(|file| file["file"].as_str().unwrap()).collect();
    let mut found = BTreeSet::new();
    for round in fs::read_dir(sample("")).unwrap().map(|entry| entry.unwrap().path()) {
        collect(&round, round.file_name().unwrap().to_str().unwrap(), &mut found);
    }
    for own in ["README.md", "events.jsonl", "files.jsonl", "rejected.jsonl"] {
        assert!(found.remove(own), "{own}");
    }
    assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), held);
    let lines = u64::try_from(EVENTS.lines().count()).unwrap();
    for line in values(FILES).iter().chain(&values(REJECTED)) {
        assert!((1..=lines).contains(&line["after_line"].as_u64().unwrap()), "{line}");
    }
}

fn collect(path: &std::path::Path, name: &str, found: &mut BTreeSet<String>) {
    if !path.is_dir() {
        found.insert(name.to_owned());
        return;
    }
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        collect(&entry.path(), &format!("{name}/{}", entry.file_name().to_str().unwrap()), found);
    }
}

#[test]
fn the_journal_of_the_sample_validates() {
    let env = Env::empty();
    env.rp(&["init", "--profile", "compat"]).ok();
    for role in ROLES.iter().filter(|role| **role != "recorder") {
        env.rp(&["key", "new", role, "--role", role]).ok();
    }
    env.rp_reading(&["append", "--batch", "--file", "-", "--json"], EVENTS).ok();
    let (code, report) = env.validate();
    assert_eq!((code, report["verdict"].as_str()), (0, Some("pass")), "{report}");
    // Genesis, owner, recorder and eleven keys stand before the 996 lines.
    assert_eq!(env.size(), 1010);
}

/// The payloads of a kind, with their rounds, in order.
fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<(u64, &'a Value)> {
    let of = events.iter().filter(|event| event["kind"] == kind);
    of.map(|event| (event["round"].as_u64().unwrap(), &event["data"])).collect()
}

#[test]
fn the_sample_ends_rounds_for_all_nine_decisions_and_two_more() {
    let events = values(EVENTS);
    let ends = of_kind(&events, "round_end.decided");
    let text = |data: &Value, key: &str| data[key].as_str().unwrap().to_owned();
    let found: Vec<_> =
        ends.iter().map(|(n, data)| (*n, text(data, "stage"), text(data, "reason"))).collect();
    let due = [
        (2, "verify", "all-variants-integrity-broken"),
        (3, "claim", "no-viable-idea"),
        (5, "experiment", "no-mechanism-candidate"),
        (5, "experiment", "scorer-invalid"),
        (5, "experiment", "suspected-under-power"),
        (6, "experiment", "plan-reconciliation-conflict"),
        (7, "experiment", "no-result"),
        (7, "verify", "no-target"),
        (8, "verify", "all-main-experiments-integrity-broken"),
        (8, "iteration-upstream", "impossible-under-constraint"),
        (9, "claim", "retries-exhausted"),
    ];
    assert_eq!(found, due.map(|(n, stage, reason)| (n, stage.to_owned(), reason.to_owned())));
    // Each shows in a file: its qualifier stands in a ledger that the sample holds.
    let ledgers = values(FILES).into_iter().filter(|file| file["format"] == "json");
    let ledgers: Vec<Value> = ledgers
        .filter(|file| file["view"] == "ledger")
        .map(|file| fs::read_to_string(sample(file["file"].as_str().unwrap())).unwrap())
        .map(|text| serde_json::from_str(&text).unwrap())
        .collect();
    for (_, stage, reason) in due.into_iter().filter(|(_, stage, _)| *stage != "iteration-upstream")
    {
        let status = format!("ended-needs-decision ({stage}: {reason})");
        assert!(ledgers.iter().any(|ledger| ledger["pipeline_status"] == status), "{status}");
    }
    let status = "ended-needs-decision (iteration-upstream: claim: impossible-under-constraint)";
    assert!(ledgers.iter().any(|ledger| ledger["pipeline_status"] == status));
}

#[test]
fn the_sample_resumes_after_a_crash_in_each_stage() {
    let events = values(EVENTS);
    let first: Vec<&Value> = events.iter().filter(|event| event["round"] == 1).collect();
    let mut running: Option<&str> = None;
    let mut crashed = None;
    let mut resumed = Vec::new();
    for event in first {
        let data = &event["data"];
        match event["kind"].as_str().unwrap() {
            "stage.dispatched" => running = data["stage"].as_str(),
            // An agent that crashed said so, or the whole process died while its stage was running.
            "stage.returned" if data["outcome"] == "crashed" => crashed = running.take(),
            "stage.returned" => running = None,
            "round.resumed" => {
                assert_eq!(data["resume_from"].as_str(), crashed.or(running));
                resumed.push((running.is_some(), data["resume_from"].as_str().unwrap()));
                (crashed, running) = (None, None);
            }
            _ => {}
        }
    }
    let due = [(false, "claim"), (true, "experiment"), (false, "verify"), (true, "iteration")];
    assert_eq!(resumed, due);
}

#[test]
fn the_sample_lists_claims_as_they_came_and_rewrites_after_them() {
    let ledger = fs::read_to_string(sample("round_1/claims_ledger.json")).unwrap();
    let ledger: Value = serde_json::from_str(&ledger).unwrap();
    let ids: Vec<&str> = ledger["claims"].as_array().unwrap().iter().map(id).collect();
    let due = [
        "C1", "C2", "C12", "C3", "C4", "C6", "C7", "C8", "C9", "C10", "C11", "C13", "C4_v2",
        "C4_v3", "C3_v2",
    ];
    assert_eq!(ids, due);
    let summary = &ledger["iteration_summary"];
    assert_eq!(
        (summary["rounds_consumed"].as_u64(), summary["max_rounds"].as_u64()),
        (Some(5), Some(7))
    );
}

fn id(claim: &Value) -> &str {
    claim["id"].as_str().unwrap()
}

#[test]
fn the_sample_holds_re_entries_overrides_a_discarded_round_and_a_reproduction() {
    let events = values(EVENTS);
    let rewrites: Vec<_> = of_kind(&events, "iteration.action_applied")
        .into_iter()
        .filter(|(_, data)| data["action"] == 3)
        .map(|(n, data)| (n, data["path"].as_str().unwrap(), data["produced"][0].as_str().unwrap()))
        .collect();
    let due = [
        (1, "lightweight", "C4_v2"),
        (1, "full", "C4_v3"),
        (1, "lightweight", "C3_v2"),
        (8, "full", "C1_v2"),
    ];
    assert_eq!(rewrites, due);
    let overrides = of_kind(&events, "override.recorded");
    let contradicting = overrides.iter().map(|(n, data)| (*n, data["overrides"].is_string()));
    assert_eq!(contradicting.collect::<Vec<_>>(), [(1, true), (1, false), (4, true), (4, false)]);
    assert!(overrides[3].1["request"].as_str().unwrap().starts_with("terminate"));
    let discarded = of_kind(&events, "round.discarded");
    assert_eq!(discarded.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [9]);
    let reproductions: Vec<u64> = of_kind(&events, "round.opened")
        .into_iter()
        .filter(|(_, data)| data["behavior_source"] == "given" && data["mechanism"] == "given")
        .map(|(n, _)| n)
        .collect();
    assert_eq!(reproductions, [10]);
    let written: Vec<u64> =
        of_kind(&events, "memory.behavior_recorded").iter().map(|(n, _)| *n).collect();
    assert_eq!(written, [1, 2, 4]);
}
