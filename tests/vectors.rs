//! What may be recorded and what is refused: the sample program, its rejected lines, and the vectors.

use rp_events::{Event, json};

use crate::support::record::Recorder;

const SAMPLE: &str = include_str!("../spec/samples/program/events.jsonl");

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
