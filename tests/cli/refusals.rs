//! The general refusal codes, each produced once: exit code, the value at hand, a next step, and what of it
//! is recorded. `disk-full` and `read-only` are met in `disk` and `recovery`; no artifacts are stored yet, so
//! `artifact-mismatch` cannot be met.

use crate::support::env::{Env, rejected};

/// A refusal that is no rule's: nothing may be written.
#[track_caller]
fn unrecorded(env: &Env, args: &[&str], code: &str, value: &str) {
    let before = env.bytes();
    let error = env.rp(&[args, &["--json"]].concat()).refused(2, code);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(value), "{code}: `{value}` is not named: {message}");
    assert_eq!(error["details"]["recorded"], serde_json::Value::Null, "{error}");
    assert_eq!(env.bytes(), before, "{code}: the journal was written");
}

/// A refusal by a rule: it is itself recorded, and nothing else.
#[track_caller]
fn recorded(env: &Env, args: &[&str], code: &str, value: &str) {
    let before = env.events().len();
    let error = env.rp(&[args, &["--json"]].concat()).refused(2, code);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(value), "{code}: `{value}` is not named: {message}");
    assert_eq!(error["details"]["recorded"], true, "{error}");
    let events = env.events();
    assert_eq!(events.len(), before + 1, "{code}");
    let last = &events[before];
    assert_eq!(
        (last["kind"].as_str(), last["key"].as_str()),
        (Some("command.rejected"), Some("recorder"))
    );
    assert_eq!(
        (last["data"]["kind"].as_str(), last["data"]["code"].as_str()),
        (Some(args[1]), Some(code))
    );
}

fn payload<'a>(data: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["append", "command.rejected", "--as", "recorder", "--data", data], more].concat()
}

#[test]
fn malformed_payloads_write_nothing() {
    let env = Env::new();
    let good = rejected("c");
    let with = |more: &str| good.replacen('{', &format!("{{{more},"), 1);
    let deep = with(&format!("\"deep\":{}{}", "[".repeat(15), "]".repeat(15)));
    let (twice, more) = (with("\"code\":\"again\""), with("\"surprise\":1"));
    let (null, control) = (good.replace("\"c\"", "null"), good.replace("\"c\"", "\"a\\u0007b\""));
    let (bidi, alone) =
        (good.replace("\"c\"", "\"\u{202e}x\""), good.replace("\"c\"", "\"\\ud800\""));
    let (list, number) = (format!("[{good}]"), good.replace("\"c\"", "5"));
    let short = good.replace(&"0".repeat(64), &"0".repeat(63));
    let large = rejected(&"x".repeat(70_000));
    let cases = [
        ("{\"kind\":", "malformed-json", "column"),
        ("", "malformed-json", "EOF"),
        ("{} {}", "malformed-json", "trailing"),
        (&twice, "duplicate-key", "`code`"),
        (&more, "unknown-field", "surprise"),
        ("{}", "missing-field", "`kind`"),
        (&null, "bad-type", "`code`"),
        (&number, "bad-type", "`code`"),
        (&list, "bad-type", ""),
        (&control, "bad-text", "U+0007"),
        (&bidi, "bad-text", "U+202E"),
        (&alone, "bad-text", "`code`"),
        (&short, "bad-type", "`kid`"),
        (&deep, "too-deep", "`deep"),
        (&large, "payload-too-large", "65535"),
    ];
    for (data, code, value) in cases {
        unrecorded(&env, &payload(data, &[]), code, value);
    }
    let huge = format!("{}{{}}", " ".repeat(600_000));
    let before = env.bytes();
    let args = ["append", "command.rejected", "--as", "recorder", "--json", "-"];
    env.rp_reading(&args, &huge).refused(2, "payload-too-large");
    assert_eq!(env.bytes(), before);
    assert_eq!(env.size(), 3);
}

#[test]
fn numbers_that_are_none_write_nothing() {
    let env = Env::new();
    let kid = "0".repeat(64);
    for literal in ["1.0", "1e3", "-0", "-1", "18446744073709551616"] {
        let data = format!(
            r#"{{"kid":"{kid}","effective_seq":{literal},"suspect_from_seq":0,"reason":"r"}}"#
        );
        let args = ["append", "key.revoked", "--as", "root", "--data", &data];
        unrecorded(&env, &args, "bad-number", "effective_seq");
    }
}

#[test]
fn unknown_names_write_nothing() {
    let env = Env::new();
    let good = rejected("c");
    unrecorded(
        &env,
        &["append", "command.refused", "--data", "{}"],
        "unknown-kind",
        "command.refused",
    );
    unrecorded(&env, &["append", "nonsense", "--data", "{}"], "unknown-kind", "nonsense");
    let by_nobody = ["append", "command.rejected", "--as", "nobody", "--data", &good];
    unrecorded(&env, &by_nobody, "unknown-key", "found `nobody`");
    unrecorded(&env, &["schema", "nonsense"], "unknown-kind", "nonsense");
    unrecorded(&env, &payload(&good, &["--claimed-at", "yesterday"]), "bad-text", "yesterday");
}

#[test]
fn conflicts_write_nothing() {
    let env = Env::new();
    let good = rejected("c");
    unrecorded(&env, &payload(&good, &["--expect-size", "8"]), "version-conflict", "it is 3");
    env.rp(&payload(&good, &["--idem", "k"])).ok();
    let other = rejected("d");
    unrecorded(&env, &payload(&other, &["--idem", "k"]), "idempotency-conflict", "entry 3");
}

#[test]
fn refusals_by_a_rule_an_authority_or_a_role_are_recorded() {
    let mut env = Env::empty();
    env.set("RP_CLOCK", "2026-03-02T08:00:00Z");
    env.rp(&["init"]).ok();
    let good = rejected("c");
    let created = r#"{"program":"P","direction":"d"}"#;
    let (event, artifact) = ("0".repeat(64), format!("b3:{}", "0".repeat(64)));
    let cites = [
        (format!("evidences={event}"), "citation-unknown", event.as_str()),
        (format!("evidences={artifact}"), "artifact-missing", artifact.as_str()),
        (format!("inspires={}", env.log_id()), "citation-kind", "inspires"),
        ("evidences=claim:1/C1".to_owned(), "citation-unknown", "claim:1/C1"),
    ];
    for (cite, code, value) in &cites {
        recorded(&env, &payload(&good, &["--cite", cite]), code, value);
    }
    let by_owner = ["append", "command.rejected", "--as", "owner", "--data", &good];
    recorded(&env, &by_owner, "role-missing", "`owner`");
    let by_recorder = ["append", "program.created", "--as", "recorder", "--data", created];
    recorded(&env, &by_recorder, "wrong-owner", "recorder");
    let future = payload(&good, &["--claimed-at", "2026-03-02T09:00:00Z"]);
    recorded(&env, &future, "time-in-future", "2026-03-02T09:00:00");
    env.rp(&payload(&good, &["--claimed-at", "2026-03-02T07:00:00Z"])).ok();
    let earlier = payload(&good, &["--claimed-at", "2026-03-02T06:00:00Z"]);
    recorded(&env, &earlier, "time-regression", "2026-03-02T06:00:00");
    recorded(&env, &payload(&good, &["--stream", "program"]), "bad-stream", "`program`");
    env.rp(&["key", "new", "agent", "--role", "recorder"]).ok();
    env.rp(&["key", "revoke", "agent", "--reason", "lost"]).ok();
    let by_agent = ["append", "command.rejected", "--as", "agent", "--data", &good];
    recorded(&env, &by_agent, "key-revoked", "lost");
    assert_eq!(env.validate().0, 0);
}

#[test]
fn the_record_of_a_refusal_says_which_key_and_which_request() {
    let env = Env::new();
    let good = rejected("c");
    env.rp(&["append", "command.rejected", "--as", "owner", "--data", &good]);
    env.rp(&payload(&good, &[])).ok();
    let events = env.events();
    let owner = env.rp(&["key", "show", "owner", "--json"]).ok().json();
    assert_eq!(events[3]["data"]["kid"], owner["kid"]);
    // The same request, accepted from another key: the digest is the same.
    assert_eq!(events[3]["data"]["request"], events[4]["request"]);
}
