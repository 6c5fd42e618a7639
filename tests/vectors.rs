//! What may be recorded and what is refused: the sample program, its rejected lines, and the vectors.

use rp_events::{Event, json};

use crate::support::record::Recorder;

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
fn shown(recorder: &Recorder) -> (std::collections::BTreeMap<String, String>, u64) {
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
