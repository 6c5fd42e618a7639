//! Cases that users of other tools reported, numbered as they were collected; here those that this part of the
//! program answers.

#![expect(clippy::disallowed_methods, reason = "tests damage files on purpose")]

use std::fs;

use rp_events::{
    ClaimId, Decimal,
    frame::{self, FrameHeader, FrameKind, SegmentHeader},
    json,
};
use serde_json::Value;

use crate::support::{
    env::{Env, rejected},
    tail::{at, head, unacknowledged},
};

/// Every file of the state that `rp validate` looks at, with what it counted.
fn counts(report: &Value) -> (u64, u64) {
    let counts = &report["counts"];
    (counts["entries"].as_u64().unwrap(), counts["signatures"].as_u64().unwrap())
}

#[test]
fn c01_a_record_cut_in_half_stops_if_promised_and_is_set_aside_if_not() {
    let env = Env::new();
    for n in 0..7 {
        env.append(&format!("{n}")).ok();
    }
    let start = at(head(&env).end);
    // An eleventh record, half of which was written when the power went.
    let frames = unacknowledged(&env, 1);
    let path = env.segment(0);
    let whole = fs::read(&path).unwrap();
    let half = start + frames.len() / 2;
    fs::write(&path, &whole[..half]).unwrap();
    let (code, report) = env.validate();
    assert_eq!((code, report["class"].as_str()), (3, Some("torn")));
    assert!(report["findings"][0]["place"].as_str().unwrap().ends_with(&format!("byte {start}")));
    env.append("the eleventh").ok();
    let events = env.events();
    assert_eq!(events.len(), 12, "ten, the recovery, the eleventh");
    assert_eq!(events[10]["kind"], "journal.recovered");
    let kept = env.bytes();
    let (_, torn) = kept.iter().find(|(name, _)| name.starts_with("quarantine/")).unwrap();
    assert_eq!(torn[..], whole[start..half], "the cut bytes are kept");
    assert_eq!(env.validate().0, 0);

    // The same cut through a record that somebody was promised.
    let end = at(head(&env).end);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..end - frames.len() / 2]).unwrap();
    let (code, report) = env.validate();
    assert_eq!((code, report["first_bad"].as_u64()), (2, Some(11)));
    let before = env.bytes();
    let error = env.append("another").refused(2, "read-only");
    assert!(error["message"].as_str().unwrap().contains(" byte "), "the place is named: {error}");
    assert_eq!(env.bytes(), before);
}

#[test]
fn c02_eight_processes_append_at_once() {
    crate::concurrent::eight_writers();
}

/// Exchanges a text in an entry for another of its length, and mends every checksum on the way.
fn edit(env: &Env, seq: u64, from: &str, to: &str) {
    let path = env.segment(0);
    let mut bytes = fs::read(&path).unwrap();
    let salt = SegmentHeader::decode(&bytes).unwrap().salt;
    let mut at = 128;
    loop {
        let frame = frame::decode(&bytes[at..], salt).unwrap();
        let FrameHeader { kind, seq: found, durable_upto, .. } = frame.header;
        let len = frame.len;
        if found.0 == seq {
            let mut entry = frame.payload.to_vec();
            let place = entry.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
            entry[place..place + to.len()].copy_from_slice(to.as_bytes());
            let mut mended = Vec::new();
            frame::encode(kind, found, durable_upto, salt, &entry, &mut mended);
            assert!(matches!(kind, FrameKind::Entry { .. }) && mended.len() == len);
            bytes[at..at + len].copy_from_slice(&mended);
            return fs::write(&path, bytes).unwrap();
        }
        at += len;
    }
}

#[test]
fn c05_a_verdict_edited_in_place_is_named_and_no_view_is_drawn_from_it() {
    for (seq, behind) in [(3, 2), (5, 0)] {
        let env = Env::new();
        for n in 3..6 {
            env.append(&format!("verdict {n}: fail")).ok();
        }
        assert_eq!(env.size() - seq - 1, behind);
        edit(&env, seq, &format!("verdict {seq}: fail"), &format!("verdict {seq}: pass"));
        let (code, report) = env.validate();
        assert_eq!((code, report["first_bad"].as_u64()), (2, Some(seq)), "{report}");
        assert_eq!(env.rp(&["verify", "--json"]).code, 2);
        for line in ["fold trust", "log", "head", "key list", "status", "sync", "show 0"] {
            let args: Vec<&str> = line.split(' ').chain(["--json"]).collect();
            let answer = env.rp(&args);
            assert_eq!(answer.code, 2, "{line}: {answer:?}");
            assert_eq!(answer.json()["schema"], "rp.error/1", "{line}: nothing is shown");
        }
        let before = env.bytes();
        assert_eq!(env.append("next").code, 2);
        assert_eq!(env.bytes(), before);
    }
}

#[test]
fn c11_numbers_are_kept_as_written_or_refused_and_keys_stand_once() {
    // A decimal keeps its literal through the signed bytes and back.
    #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
    struct Measured {
        value: Decimal,
    }
    for literal in ["1.0", "1e-7", "9007199254740993", "-0"] {
        let text = format!(r#"{{"value":{literal}}}"#);
        let read: Measured = json::parse(&text).unwrap().read().unwrap();
        assert_eq!(read.value.as_str(), literal);
        let bytes = rp_events::profile::encode_typed(&read).unwrap();
        assert!(bytes.windows(literal.len()).any(|w| w == literal.as_bytes()), "{literal}");
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
    // An integer field takes integers alone, beyond what a double can hold as well.
    let env = Env::new();
    let owner = env.rp(&["key", "show", "owner", "--json"]).ok().json()["kid"].clone();
    let revoke = |number: &str| {
        let data = format!(
            r#"{{"kid":{owner},"effective_seq":{number},"suspect_from_seq":0,"reason":"r"}}"#
        );
        env.rp(&["append", "key.revoked", "--as", "root", "--data", &data, "--json"])
    };
    for literal in ["1.0", "1e-7", "-0"] {
        let error = revoke(literal).refused(2, "bad-number");
        assert!(error["message"].as_str().unwrap().ends_with(&format!("found `{literal}`")));
    }
    revoke("9007199254740993").ok();
    let log = env.rp(&["log", "--json"]).ok().out;
    assert!(log.contains("\"effective_seq\":9007199254740993,"), "{log}");
    let twice = rejected("c").replacen('{', r#"{"code":"first","#, 1);
    let args = ["append", "command.rejected", "--as", "recorder", "--data", &twice, "--json"];
    env.rp(&args).refused(2, "duplicate-key");
    assert_eq!(env.size(), 4);
}

#[test]
fn c12_whole_records_dropped_from_the_end_are_missed_by_every_anchor() {
    let env = Env::new();
    for n in 0..3 {
        env.append(&format!("{n}")).ok();
    }
    let end = at(head(&env).end);
    env.append("last but one").ok();
    env.append("last").ok();
    let receipt = env.work().join("receipt");
    fs::write(&receipt, env.rp(&["head"]).ok().out).unwrap();
    let whole = fs::read(env.segment(0)).unwrap();
    fs::write(env.segment(0), &whole[..end]).unwrap();
    let rollback = |answer: &crate::support::env::Answer| {
        let report = answer.json();
        assert_eq!((answer.code, report["class"].as_str()), (4, Some("rollback")), "{report}");
        assert_eq!(report["first_bad"], 6);
        let text = report["findings"][0]["text"].as_str().unwrap();
        assert!(text.contains("6 entries") && text.contains("8 were acknowledged"), "{text}");
    };
    let (head_file, remembered) = (env.journal().join("HEAD"), env.remembered());
    let kept = (fs::read(&head_file).unwrap(), fs::read(&remembered).unwrap());
    rollback(&env.rp(&["validate", "--json"]));
    fs::remove_file(&head_file).unwrap();
    rollback(&env.rp(&["validate", "--json"]));
    fs::write(&head_file, kept.0).unwrap();
    fs::remove_file(&remembered).unwrap();
    rollback(&env.rp(&["validate", "--json"]));
    fs::remove_file(&head_file).unwrap();
    let plain = env.rp(&["validate", "--json"]);
    assert_eq!((plain.code, &plain.json()["class"]), (5, &Value::from("unverifiable")));
    assert_eq!(counts(&plain.json()).0, 6, "the prefix itself holds");
    rollback(&env.rp(&["verify", "--head", receipt.to_str().unwrap(), "--json"]));
    fs::write(env.segment(0), &whole).unwrap();
    env.rp(&["verify", "--head", receipt.to_str().unwrap()]).ok();
}

#[test]
fn c14_a_disk_that_was_full_needs_no_repair() {
    crate::disk::full_disk();
}

#[test]
fn c15_names_that_look_alike_are_refused_with_their_code_points() {
    let (one, two) = ("Caf\u{e9}", "Cafe\u{301}");
    for (name, point) in [(one, "U+00E9"), (two, "U+0301"), ("C\u{430}fe", "U+0430")] {
        let why = ClaimId::parse(name).unwrap_err();
        assert!(why.contains(point), "{why}");
        let env = Env::new();
        let before = env.bytes();
        let error =
            env.rp(&["key", "new", name, "--role", "user", "--json"]).refused(2, "bad-text");
        assert!(error["message"].as_str().unwrap().contains(point), "{error}");
        let looked_up = env.rp(&["show", &format!("key:{name}"), "--json"]);
        let error = looked_up.refused(2, "unknown-entity");
        assert!(error["message"].as_str().unwrap().contains(point), "{error}");
        assert_eq!(env.bytes(), before);
    }
    assert!(ClaimId::parse("Cafe").is_ok());
}

/// What is done to a journal.
type Damage<'d> = &'d dyn Fn(&Env);

#[test]
fn c17_a_journal_that_is_empty_or_unreadable_passes_no_gate() {
    let gates = [&["validate", "--json"][..], &["verify", "--json"], &["doctor", "--json"]];
    let damage: [(&str, i32, Damage<'_>); 6] = [
        // Zero bytes in the place of the segment: what HEAD promised is damaged.
        ("zero bytes", 2, &|env| fs::write(env.segment(0), b"").unwrap()),
        ("zero bytes and no anchor", 5, &|env| {
            fs::remove_file(env.remembered()).unwrap();
            fs::remove_file(env.journal().join("HEAD")).unwrap();
            fs::remove_file(env.segment(0)).unwrap();
        }),
        ("a folder as segment", 4, &|env| {
            fs::remove_file(env.segment(0)).unwrap();
            fs::create_dir(env.segment(0)).unwrap();
        }),
        ("a folder as FORMAT", 74, &|env| {
            fs::remove_file(env.journal().join("FORMAT")).unwrap();
            fs::create_dir(env.journal().join("FORMAT")).unwrap();
        }),
        ("an empty FORMAT", 2, &|env| fs::write(env.journal().join("FORMAT"), b"").unwrap()),
        // Without FORMAT, HEAD and segments there is no journal, and nothing to check (format, section 7).
        ("no journal at all", 5, &|env| fs::remove_dir_all(env.journal()).unwrap()),
    ];
    for (what, code, damage) in damage {
        let env = Env::new();
        damage(&env);
        for gate in gates {
            let answer = env.rp(gate);
            assert_ne!(answer.code, 0, "{what}, {gate:?}");
            if gate[0] == "validate" {
                let report = answer.json();
                assert_eq!((answer.code, counts(&report)), (code, (0, 0)), "{what}: {report}");
                assert_ne!(report["verdict"], "pass", "{what}");
            }
        }
        for line in ["head --json", "append command.rejected --json", "log --json"] {
            let answer = env.rp(&line.split(' ').collect::<Vec<_>>());
            assert_ne!(answer.code, 0, "{what}, {line}: nothing is attested");
            assert!(!answer.out.contains("rp.head/1"), "{what}");
        }
    }
}
