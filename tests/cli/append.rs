//! `rp append`, one event at a time: idempotency, expectations, dry runs, times, texts.

use serde_json::json;

use crate::support::env::{Env, rejected};

fn append<'a>(data: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["append", "command.rejected", "--as", "recorder", "--data", data, "--json"], more].concat()
}

#[test]
fn an_event_is_recorded_once_and_the_answer_says_where() {
    let env = Env::new();
    let data = rejected("c");
    let answer = env.rp(&append(&data, &[])).ok().json();
    assert_eq!(answer["seq"], 3);
    assert_eq!(answer["size"], 4);
    assert_eq!(answer["stream"], "trust");
    assert_eq!(answer["stream_version"], 4);
    assert_eq!(answer["duplicate"], false);
    assert_eq!(answer["idem"].as_str().unwrap().len(), 32, "a drawn key is printed");
    let events = env.events();
    assert_eq!(events.len(), 4);
    assert_eq!(events[3]["event_id"], answer["event_id"]);
    assert_eq!(events[3]["key"], "recorder");
    let text = env.rp(&["append", "command.rejected", "--as", "recorder", "--data", &data]).ok();
    assert!(
        text.out.starts_with("entry 4 recorded: command.rejected in trust\nevent "),
        "{text:?}"
    );
}

#[test]
fn the_payload_comes_from_flag_file_or_standard_input() {
    let env = Env::new();
    let kinds = ["append", "command.rejected", "--as", "recorder", "--json"];
    let file = env.work().join("payload.json");
    let write = |text: &str| {
        use std::io::Write as _;
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&file)
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    write(&rejected("from a file"));
    env.rp(&[&kinds[..], &["--file", "payload.json"]].concat()).ok();
    env.rp_reading(&[&kinds[..], &["-"]].concat(), &rejected("from dash")).ok();
    env.rp_reading(&[&kinds[..], &["--file", "-"]].concat(), &rejected("from a dash file")).ok();
    let codes: Vec<_> =
        env.events()[3..].iter().map(|event| event["data"]["code"].clone()).collect();
    assert_eq!(codes, ["from a file", "from dash", "from a dash file"]);
    assert_eq!(env.rp(&[&kinds[..], &["--file", "absent"]].concat()).code, 74);
}

#[test]
fn the_same_request_under_the_same_key_is_the_stored_event() {
    let env = Env::new();
    let data = rejected("c");
    let first = env.rp(&append(&data, &["--idem", "k"])).ok().json();
    let before = env.bytes();
    let again = env.rp(&append(&data, &["--idem", "k"])).ok().json();
    assert_eq!(again["duplicate"], true);
    assert_eq!(again["event_id"], first["event_id"]);
    assert_eq!(again["seq"], 3);
    assert_eq!(env.bytes(), before, "a duplicate writes nothing");
    let text =
        env.rp(&["append", "command.rejected", "--as", "recorder", "--data", &data, "--idem", "k"]);
    assert!(text.ok().out.starts_with("entry 3 was recorded before"), "people are told as well");
}

#[test]
fn another_request_under_the_same_key_names_the_first_event() {
    let env = Env::new();
    let (data, other) = (rejected("c"), rejected("other"));
    let first = env.rp(&append(&data, &["--idem", "k"])).ok().json();
    let before = env.bytes();
    let grant = format!(r#"{{"kid":"{}","role":"monitor"}}"#, "0".repeat(64));
    let conflicts = [
        append(&other, &["--idem", "k"]),
        append(&data, &["--idem", "k", "--claimed-at", "2026-01-01T00:00:00Z"]),
        vec!["append", "role.granted", "--as", "root", "--data", &grant, "--idem", "k", "--json"],
        vec!["append", "command.rejected", "--data", &data, "--idem", "k", "--json"],
    ];
    for args in conflicts {
        let error = env.rp(&args).refused(2, "idempotency-conflict");
        assert_eq!(error["details"]["first_seq"], 3, "{args:?}");
        assert_eq!(error["details"]["first_event_id"], first["event_id"], "{args:?}");
        assert!(error["message"].as_str().unwrap().contains("`k`"), "{error}");
    }
    assert_eq!(env.bytes(), before, "a conflict is not recorded");
}

#[test]
fn expectations_hold_or_say_what_is_current() {
    let env = Env::new();
    let data = rejected("c");
    env.rp(&append(&data, &["--expect-size", "3", "--expect-stream", "trust=3"])).ok();
    let before = env.bytes();
    for (more, current) in [
        (vec!["--expect-size", "3"], 4),
        (vec!["--expect-size", "5"], 4),
        (vec!["--expect-stream", "trust=3"], 4),
        (vec!["--expect-stream", "program=1"], 0),
        (vec!["--expect-stream", "trust=4", "--expect-stream", "round/1=2"], 0),
    ] {
        let error = env.rp(&append(&data, &more)).refused(2, "version-conflict");
        assert_eq!(error["details"]["current"], current, "{more:?}");
        assert!(error["message"].as_str().unwrap().ends_with(&format!("it is {current}")));
    }
    assert_eq!(env.bytes(), before, "a version conflict is not recorded");
    env.rp(&append(&data, &["--expect-stream", "program=0", "--expect-size", "4"])).ok();
}

#[test]
fn a_retry_is_answered_before_its_expectation_is_asked() {
    // The caller was never told of the first success, so its expectation is the old one.
    let env = Env::new();
    let data = rejected("c");
    let args = append(&data, &["--idem", "k", "--expect-size", "3"]);
    let first = env.rp(&args).ok().json();
    let again = env.rp(&args).ok().json();
    assert_eq!((&again["duplicate"], &again["seq"]), (&json!(true), &first["seq"]));
    let other = rejected("other");
    let conflict = append(&other, &["--idem", "k", "--expect-size", "3"]);
    env.rp(&conflict).refused(2, "idempotency-conflict");
}

#[test]
fn a_dry_run_judges_and_records_nothing() {
    let env = Env::new();
    let data = rejected("c");
    let before = env.bytes();
    let answer = env.rp(&append(&data, &["--dry-run"])).ok().json();
    assert_eq!((&answer["dry_run"], &answer["seq"]), (&json!(true), &json!(3)));
    env.rp(&["append", "command.rejected", "--data", &data, "--dry-run", "--json"])
        .refused(2, "role-missing");
    env.rp(&append("{}", &["--dry-run"])).refused(2, "missing-field");
    env.rp(&append(&data, &["--dry-run", "--expect-size", "9"])).refused(2, "version-conflict");
    assert_eq!(env.bytes(), before, "not even the refusal is recorded");
    let line = crate::support::env::rejected_line("c", None);
    env.rp_reading(&["append", "--batch", "--dry-run", "--json"], &line).ok().json();
    assert_eq!(env.bytes(), before);
    assert_eq!(
        env.rp_reading(&["append", "--batch", "--dry-run", "--json"], &line.repeat(2)).code,
        64
    );
}

#[test]
fn claimed_times_go_forward_in_their_stream_and_not_beyond_the_clock() {
    let mut env = Env::empty();
    env.set("RP_CLOCK", "2026-03-02T08:00:00Z");
    env.rp(&["init"]).ok();
    let data = rejected("c");
    let at = |time: &'static str| append(&data, &["--claimed-at", time]);
    env.rp(&at("2026-03-01T12:00:00Z")).ok();
    env.rp(&at("2026-03-01T12:00:00Z")).ok();
    let error = env.rp(&at("2026-03-01T11:59:59.999Z")).refused(2, "time-regression");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("2026-03-01T12:00:00") && message.contains("2026-03-01T11:59:59.999"));
    assert_eq!(error["details"]["recorded"], true);
    // Five minutes ahead of the clock are allowed; the clock goes on by some milliseconds within a command.
    env.rp(&at("2026-03-02T08:04:59Z")).ok();
    let error = env.rp(&at("2026-03-02T08:06:00Z")).refused(2, "time-in-future");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("2026-03-02T08:06:00") && message.contains("2026-03-02T08:00:00"));
    // Another stream has times of its own.
    let program = r#"{"program":"P","direction":"d"}"#;
    let early =
        ["append", "program.created", "--data", program, "--claimed-at", "2026-01-01T00:00:00Z"];
    env.rp(&early).ok();
    assert_eq!(env.validate().0, 0);
}

#[test]
fn a_clock_that_steps_back_is_accepted() {
    let mut env = Env::empty();
    env.set("RP_CLOCK", "2026-03-02T08:00:00Z");
    env.rp(&["init"]).ok();
    env.set("RP_CLOCK", "2026-03-01T08:00:00Z");
    env.append("earlier").ok();
    let events = env.events();
    assert!(events[2]["time"].as_str().unwrap().starts_with("2026-03-02T08:00:00"));
    assert!(events[3]["time"].as_str().unwrap().starts_with("2026-03-01T08:00:00"));
    assert_eq!(env.validate().0, 0);
}

#[test]
fn texts_of_any_script_come_back_as_they_were_given() {
    let env = Env::new();
    let texts = [
        "\u{fc}ber \u{2116} 1",
        "\u{7814}\u{7a76}",
        "e\u{301} is not \u{e9}",
        "\u{1f9ea}\u{200d}",
        "a\nb\tc",
    ];
    for text in texts {
        env.append(text).ok();
    }
    let codes: Vec<_> =
        env.events()[3..].iter().map(|event| event["data"]["code"].clone()).collect();
    assert_eq!(codes, texts);
    assert_eq!(env.rp(&["show", "3", "--json"]).ok().json()["data"]["code"], texts[0]);
    let idem = "\u{3ba}\u{3bb}\u{3b5}\u{3b9}\u{3b4}\u{3af}";
    let data = rejected("c");
    assert_eq!(env.rp(&append(&data, &["--idem", idem])).ok().json()["idem"], idem);
    assert_eq!(env.rp(&append(&data, &["--idem", idem])).ok().json()["duplicate"], true);
    assert_eq!(env.validate().0, 0);
}

#[test]
fn a_citation_names_an_earlier_event_and_is_shown_from_both_sides() {
    let env = Env::new();
    let data = rejected("c");
    let first = env.append("first").ok().json();
    let cite = format!("evidences={}", first["event_id"].as_str().unwrap());
    env.rp(&append(&data, &["--cite", &cite])).ok();
    let citing = env.rp(&["show", "4", "--json"]).ok().json();
    assert_eq!(citing["cause"], json!([["evidences", first["event_id"]]]));
    let cited = env.rp(&["show", "event:3", "--json"]).ok().json();
    assert_eq!(cited["cited_by"], json!([{ "seq": 4, "relation": "evidences" }]));
}
