//! The brief on every prefix of every sample: bounded, citing, and ending in acts that the rules let pass.

use std::{collections::BTreeSet, fs};

use rp::render;
use rp_replay::{
    document::{Body, Document, Piece},
    program::next,
    views::{self, Args, Build},
};
use serde_json::{Value, json};

use crate::support::{env::Env, record::Recorder};

/// Most characters of a brief, as the command line promises it.
const LIMIT: usize = 4000;

/// The lines of every sample program.
fn samples() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/spec/samples");
    let mut samples = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path().join("events.jsonl");
        if let Ok(text) = fs::read_to_string(&path) {
            samples.push((path.display().to_string(), text));
        }
    }
    samples.sort();
    assert!(!samples.is_empty(), "no sample in {folder}");
    samples
}

fn brief(recorder: &Recorder) -> Document {
    let Build::Page(page) = views::view("brief").unwrap().build else { panic!("a page is due") };
    page(recorder.state(), &Args::default()).unwrap()
}

#[test]
fn it_is_bounded_cites_addresses_and_ends_in_acts_on_every_prefix() {
    for (name, lines) in samples() {
        let mut recorder = Recorder::new();
        for (n, line) in std::iter::once(None).chain(lines.lines().map(Some)).enumerate() {
            if let Some(line) = line {
                recorder.append(line).unwrap_or_else(|refusal| panic!("{name} {n}: {refusal}"));
            }
            let document = brief(&recorder);
            let text = render::text::draw(&document);
            assert!(text.len() <= LIMIT, "{name} {n}: {} bytes\n{text}", text.len());
            let last = document.sections.last().unwrap();
            assert_eq!(last.heading, "Next", "{name} {n}\n{text}");
            let cites = document.sections.iter().any(|section| match &section.body {
                Body::List(items) => {
                    items.iter().flat_map(|item| &item.0).any(|p| matches!(p, Piece::Link(_)))
                }
                _ => false,
            });
            let has_round = recorder.state().program().latest_round().is_some();
            assert!(cites || !has_round, "{name} {n} cites nothing\n{text}");
        }
    }
}

/// The kinds that lead a program from one stage to the next; before each the brief has named it.
const SPINE: &[&str] = &[
    "program.created",
    "run.requested",
    "flags.resolved",
    "round.opened",
    "round.resumed",
    "comprehension.decided",
    "constraints.injected",
    "stage.dispatched",
    "stage.returned",
    "stage.accepted",
    "stage.rejected",
    "stage.skipped",
    "gate.decided",
    "claim.seeded",
    "ledger.hooked",
    "iteration.reviewed",
    "iteration.merged",
    "iteration.terminated",
    "handoff.call_finished",
    "pipeline.finished",
    "pipeline.halted",
    "round_end.decided",
    "memory.behavior_recorded",
    "memory.skipped",
    "transition.requested",
    "archive.planned",
    "round.archived",
    "task.drafted",
];

#[test]
fn what_comes_next_in_a_sample_was_named_before() {
    for (name, lines) in samples() {
        let mut recorder = Recorder::new();
        let mut met = BTreeSet::new();
        for (n, line) in (1..).zip(lines.lines()) {
            let event: Value = serde_json::from_str(line).unwrap();
            let kind = event["kind"].as_str().unwrap();
            if SPINE.contains(&kind) {
                let acts = next::next(recorder.state());
                let act = acts.iter().find(|act| act.kind == kind);
                let act = act.unwrap_or_else(|| panic!("{name} {n}: `{kind}` is not in {acts:?}"));
                let signer = event["as"].as_str().unwrap();
                assert!(act.by.iter().any(|role| role == signer), "{name} {n}: {act:?}");
                let stage = event["data"].get("stage").or(event["data"].get("gate"));
                if let Some(stage) = stage.and_then(Value::as_str) {
                    let named = act.choices.iter().any(|choice| choice.contains(stage));
                    assert!(named, "{name} {n}: `{stage}` is not in {act:?}");
                }
                met.insert(kind.to_owned());
            }
            recorder.append(line).unwrap_or_else(|refusal| panic!("{name} {n}: {refusal}"));
        }
        assert!(met.len() > 15, "{name} meets only {met:?}");
    }
}

#[test]
fn an_act_with_its_payload_is_one_that_an_append_would_take() {
    let mut asked = 0;
    for (name, lines) in samples() {
        let mut recorder = Recorder::new();
        for (n, line) in (1..).zip(lines.lines()) {
            recorder.append(line).unwrap_or_else(|refusal| panic!("{name} {n}: {refusal}"));
            for act in next::next(recorder.state()) {
                let Some(data) = act.data else { continue };
                let data: Value = serde_json::from_str(&data).unwrap();
                let line = json!({
                    "as": act.by[0], "kind": act.kind, "stream": act.stream, "data": data,
                });
                let answer = recorder.admits(&line.to_string());
                assert_eq!(answer, Ok(()), "{name} {n}: {line}");
                asked += 1;
            }
        }
    }
    assert!(asked > 300, "only {asked} acts were asked about");
}

#[test]
fn a_new_workspace_is_told_how_to_begin() {
    let env = Env::new();
    let brief = env.rp(&["brief"]).ok().out;
    let due = "Brief: no program yet\n\nNext\n- program.created in program by user\n";
    assert_eq!(brief, due);
    let json = env.rp(&["brief", "--json"]).ok().json();
    assert_eq!(json["schema"], "rp.view.brief/1");
    assert_eq!(json["sections"][0]["body"]["list"][0][0], json!({ "code": "program.created" }));
    assert!(env.rp(&["status"]).ok().out.contains("no program was created yet"));
}

#[test]
fn texts_of_any_size_leave_room_for_what_comes_next() {
    let mut recorder = Recorder::new();
    for word in ["\u{1f9ea}", "x", "wide text ", "\n"] {
        // An emoji has four bytes, and an entry holds 65,535.
        let long = word.repeat(60_000 / word.len());
        let name = format!("p{long}");
        let created = json!({
            "as": "user", "kind": "program.created", "round": 0,
            "data": { "program": name, "direction": format!("d{}", &long[..0]) },
        });
        if recorder.state().program().root().is_none() {
            recorder.append(&created.to_string()).unwrap();
        }
        let task = json!({
            "as": "user", "kind": "task.recorded", "round": 0, "data": {
                "for_round": 1, "origin": "user", "language": "en", "body": long, "notify": false,
                "pins": { "behavior": null, "mechanism_direction": null, "family": null },
                "retry_settled": false,
            },
        });
        recorder.append(&task.to_string()).unwrap();
        let text = render::text::draw(&brief(&recorder));
        assert!(text.len() <= LIMIT, "{} bytes\n{text}", text.len());
        assert!(text.contains("\n\nNext\n- "), "{text}");
    }
}
