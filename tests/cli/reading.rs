//! The reading verbs: moments, receipts, listings, and what they say of a journal that does not hold.

use serde_json::{Value, json};

use crate::support::env::{Env, rejected};

/// A journal whose times are known: entries 0 to 2 on 1 March, 3 on 2 March at 8, 4 on 1 March at noon (the
/// clock stepped back), 5 on 3 March, 6 claimed for 2 March at 20.
fn dated() -> Env {
    let mut env = Env::empty();
    env.set("RP_CLOCK", "2026-03-01T08:00:00Z");
    env.rp(&["init"]).ok();
    for clock in ["2026-03-02T08:00:00Z", "2026-03-01T12:00:00Z", "2026-03-03T08:00:00Z"] {
        env.set("RP_CLOCK", clock);
        env.append(clock).ok();
    }
    let data = rejected("claimed");
    let args = ["append", "command.rejected", "--as", "recorder", "--data", &data];
    env.rp(&[&args[..], &["--claimed-at", "2026-03-02T20:00:00Z"]].concat()).ok();
    env
}

fn size_at(env: &Env, moment: &str) -> Value {
    env.rp(&["head", "--at", moment, "--json"]).ok().json()["size"].clone()
}

#[test]
fn a_moment_is_a_position_an_event_or_a_time() {
    let env = dated();
    assert_eq!(size_at(&env, "0"), 1);
    assert_eq!(size_at(&env, "6"), 7);
    let events = env.events();
    for (n, event) in events.iter().enumerate() {
        assert_eq!(size_at(&env, event["event_id"].as_str().unwrap()), n + 1);
    }
    // The longest prefix whose last event is not after the time: entry 4 lies before entry 3 in time.
    assert_eq!(size_at(&env, "2026-03-01T10:00:00Z"), 3);
    assert_eq!(size_at(&env, "2026-03-01T13:00:00Z"), 5);
    assert_eq!(size_at(&env, "2026-03-02T09:00:00Z"), 5);
    // Entry 6 counts with its claimed time, though it was written on 3 March.
    assert_eq!(size_at(&env, "2026-03-02T20:00:00Z"), 7);
    assert_eq!(size_at(&env, "2026-03-02T19:59:59Z"), 5);
    assert_eq!(size_at(&env, "2027-01-01T00:00:00Z"), 7);
    for absent in ["7", "2026-02-28T00:00:00Z", &"a".repeat(64)] {
        let error = env.rp(&["head", "--at", absent, "--json"]).refused(2, "no-such-moment");
        assert!(error["message"].as_str().unwrap().contains("7 entries"), "{error}");
    }
}

#[test]
fn every_reading_verb_takes_a_moment() {
    let env = dated();
    env.rp(&["key", "new", "late", "--role", "monitor"]).ok();
    env.rp(&["key", "show", "late"]).ok();
    let before = env.rp(&["show", "key:late", "--at", "6", "--json"]);
    before.refused(2, "unknown-entity");
    env.rp(&["show", "key:late", "--at", "7", "--json"]).ok();
    let log = env.rp(&["log", "--at", "2", "--json"]).ok().lines();
    assert_eq!((log.len(), &log[3]["size"]), (4, &json!(3)));
    let trust = |at: &str| env.rp(&["fold", "trust", "--at", at, "--json"]).ok().out;
    assert!(!trust("6").contains("\"late\"") && trust("7").contains("\"late\""));
}

#[test]
fn the_log_is_filtered_by_kind_stream_and_beginning() {
    let env = dated();
    let seqs = |more: &[&str]| -> Vec<u64> {
        let lines = env.rp(&[&["log", "--json"], more].concat()).ok().lines();
        let (summary, events) = lines.split_last().unwrap();
        assert_eq!(summary["events"], events.len());
        events.iter().map(|event| event["seq"].as_u64().unwrap()).collect()
    };
    assert_eq!(seqs(&[]), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(seqs(&["--kind", "key.authorized"]), [1, 2]);
    assert_eq!(seqs(&["--stream", "trust"]).len(), 7);
    assert_eq!(seqs(&["--stream", "program"]).len(), 0);
    assert_eq!(seqs(&["--since", "5"]), [5, 6]);
    assert_eq!(seqs(&["--last", "2"]), [5, 6]);
    assert_eq!(seqs(&["--since", "1", "--kind", "command.rejected", "--at", "4"]), [3, 4]);
    // From the first event at or after the time on.
    assert_eq!(seqs(&["--since", "2026-03-02T00:00:00Z"]), [3, 4, 5, 6]);
}

#[test]
fn a_following_reader_is_told_of_events_as_they_come() {
    use std::io::{BufRead, BufReader};
    let env = Env::new();
    let mut child = env.command(&["log", "--follow", "--since", "3", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    env.append("followed").ok();
    let event: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!((&event["seq"], &event["data"]["code"]), (&json!(3), &json!("followed")));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_receipt_holds_for_the_journal_it_is_of_and_for_no_other() {
    let env = Env::new();
    let keep = |name: &str, args: &[&str]| {
        let text = env.rp(args).ok().out;
        let path = env.work().join(name);
        let mut file = std::fs::File::options().write(true).create_new(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (text, json) = (keep("a", &["head"]), keep("b", &["head", "--json"]));
    env.append("later").ok();
    for receipt in [&text, &json] {
        assert_eq!(env.rp(&["verify", "--head", receipt, "--json"]).ok().json()["class"], "ok");
    }
    let other = Env::new();
    let fork = other.rp(&["verify", "--head", &text, "--json"]);
    assert_eq!((fork.code, &fork.json()["class"]), (4, &json!("fork")));
    let nonsense = keep("c", &["kinds"]);
    assert_eq!(env.rp(&["verify", "--head", &nonsense, "--json"]).code, 64);
}

#[test]
fn validation_reports_in_four_forms() {
    let env = Env::new();
    let report = env.rp(&["validate", "--format", "json"]).ok().json();
    assert_eq!((&report["verdict"], &report["exit"]), (&json!("pass"), &json!(0)));
    let counts = &report["counts"];
    assert_eq!(
        (&counts["entries"], &counts["signatures"], &counts["rules"]),
        (&json!(3), &json!(3), &json!(3))
    );
    assert_eq!((&counts["segments"], &counts["unacknowledged"]), (&json!(1), &json!(0)));
    assert!(
        report["not_checked"]
            .as_array()
            .unwrap()
            .iter()
            .any(|t| t.as_str().unwrap().contains("artifacts"))
    );
    let sarif = env.rp(&["validate", "--format", "sarif"]).ok().json();
    assert_eq!((&sarif["version"], &sarif["runs"][0]["results"]), (&json!("2.1.0"), &json!([])));
    let github = env.rp(&["validate", "--format", "github"]).ok().out;
    assert!(github.starts_with("::notice title=rp validate::"), "{github}");
    let text = env.rp(&["validate"]).ok().out;
    assert!(text.ends_with("pass: everything looked at holds\n"), "{text}");
    let verify = env.rp(&["verify", "--json"]).ok().json();
    assert!(verify["not_checked"].as_array().unwrap().contains(&json!("domain rules")));
    assert!(env.rp(&["verify", "--explain"]).ok().out.contains("owns the host"));
}

#[test]
fn a_view_may_be_written_to_a_file() {
    let env = Env::new();
    let shown = env.rp(&["fold", "trust"]).ok().out;
    let written = env.rp(&["fold", "trust", "--out", "trust.txt"]).ok();
    assert_eq!(written.out, "");
    assert_eq!(std::fs::read_to_string(env.work().join("trust.txt")).unwrap(), shown);
    assert!(!env.work().join("trust.txt.new").exists());
    let names = env.rp(&["fold", "--list"]).ok().out;
    assert!(names.lines().any(|line| line.starts_with("ledger ")), "{names}");
}

#[test]
fn readers_write_nothing() {
    let env = Env::new();
    env.append("c").ok();
    let before = env.bytes();
    let remembered = std::fs::read(env.remembered()).unwrap();
    for line in
        ["head", "log", "show 3", "fold trust", "key list", "validate", "verify", "doctor", "kinds"]
    {
        env.rp(&line.split(' ').collect::<Vec<_>>()).ok();
    }
    assert_eq!(env.bytes(), before);
    assert_eq!(std::fs::read(env.remembered()).unwrap(), remembered);
}
