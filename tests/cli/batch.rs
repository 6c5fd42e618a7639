//! `rp append --batch`: groups, resuming, and where a batch stops.

use serde_json::json;

use crate::support::env::{Env, rejected_line};

fn lines(texts: &[&str]) -> String {
    texts.iter().map(|text| rejected_line(text, None)).collect()
}

#[test]
fn a_batch_answers_a_line_each_and_a_summary() {
    let env = Env::new();
    let answer = env.rp_reading(&["append", "--batch", "--json"], &lines(&["a", "b", "c"])).ok();
    let answers = answer.lines();
    let (summary, receipts) = answers.split_last().unwrap();
    for (n, receipt) in receipts.iter().enumerate() {
        assert_eq!(receipt["schema"], "rp.append/1");
        assert_eq!((&receipt["seq"], &receipt["input_line"]), (&json!(n + 3), &json!(n + 1)));
    }
    assert_eq!(summary["schema"], "rp.append.summary/1");
    assert_eq!((&summary["recorded"], &summary["duplicates"]), (&json!(3), &json!(0)));
    assert_eq!(summary["size"], 6);
    assert!(answer.err.contains("without `--idem`"), "a batch that cannot be resumed says so");
    let text = env.rp_reading(&["append", "--batch"], &lines(&["d"])).ok();
    assert_eq!(text.out, "1 events recorded; the journal has 7 entries\n");
    let nothing = env.rp_reading(&["append", "--batch", "-", "--json"], "").ok().json();
    assert_eq!((&nothing["recorded"], &nothing["size"]), (&json!(0), &json!(7)));
}

#[test]
fn a_batch_is_resumed_by_its_base_and_records_nothing_twice() {
    let env = Env::new();
    let all = ["a", "b", "c", "d", "e"];
    let args = ["append", "--batch", "--group", "2", "--idem", "base", "--json"];
    env.rp_reading(&args, &lines(&all[..3])).ok();
    let answers = env.rp_reading(&args, &lines(&all)).ok().lines();
    let flags: Vec<_> = answers[..5].iter().map(|answer| answer["duplicate"].clone()).collect();
    assert_eq!(flags, [true, true, true, false, false]);
    assert_eq!(answers[0]["idem"], "base:1");
    assert_eq!((&answers[5]["recorded"], &answers[5]["duplicates"]), (&json!(2), &json!(3)));
    assert_eq!(env.size(), 8);
    let again = env.rp_reading(&args, &lines(&all)).ok().lines();
    assert_eq!((&again[5]["recorded"], &again[5]["duplicates"]), (&json!(0), &json!(5)));
    assert_eq!(env.size(), 8);
}

#[test]
fn physical_lines_count_and_empty_ones_are_passed_over() {
    let env = Env::new();
    let input =
        format!("\n{}  \r\n\n{}", rejected_line("a", None), rejected_line("b", None).trim_end());
    let answers =
        env.rp_reading(&["append", "--batch", "--idem", "x", "--json"], &input).ok().lines();
    let numbers: Vec<_> = answers[..2].iter().map(|answer| answer["input_line"].clone()).collect();
    assert_eq!(numbers, [2, 5]);
    assert_eq!((&answers[0]["idem"], &answers[1]["idem"]), (&json!("x:2"), &json!("x:5")));
}

#[test]
fn the_callers_own_line_number_is_echoed_and_not_recorded() {
    let env = Env::new();
    let line = rejected_line("a", None).replacen('{', r#"{"line":41,"#, 1);
    let answers = env.rp_reading(&["append", "--batch", "--json"], &line).ok().lines();
    assert_eq!((&answers[0]["line"], &answers[0]["input_line"]), (&json!(41), &json!(1)));
    assert!(!env.events()[3].to_string().contains("41,"));
}

#[test]
fn a_batch_stops_at_the_first_bad_line_and_keeps_those_before_it() {
    let bad = [
        ("not json at all\n", "malformed-json"),
        ("[]\n", "bad-type"),
        ("{\"kind\":\"command.rejected\",\"data\":{},\"other\":1}\n", "unknown-field"),
        ("{\"kind\":\"command.rejected\"}\n", "missing-field"),
        ("{\"kind\":\"command.rejected\",\"data\":{}}\n", "missing-field"),
        ("{\"kind\":\"nonsense\",\"data\":{}}\n", "unknown-kind"),
        ("{\"kind\":\"command.rejected\",\"data\":{},\"kind\":\"x\"}\n", "duplicate-key"),
    ];
    let env = Env::new();
    let mut size = 3;
    for (line, code) in bad {
        for group in ["1", "2", "3", "256"] {
            let input = format!("{}{line}{}", lines(&["a", "b"]), lines(&["after"]));
            let answer = env.rp_reading(&["append", "--batch", "--group", group, "--json"], &input);
            let error = answer.refused(2, code);
            assert_eq!(error["details"]["input_line"], 3, "{line} {group}");
            assert_eq!(error["details"]["recorded_before"], 2, "{line} {group}");
            assert_eq!(answer.out.lines().count(), 3, "two receipts and the error: {answer:?}");
            size += 2;
            assert_eq!(env.size(), size, "{line} {group}: nothing after the bad line is recorded");
        }
    }
    let plain = env.rp_reading(&["append", "--batch"], &format!("{}[]\n", lines(&["a"])));
    assert!(plain.err.contains("line 2 of the batch was refused; 1 events before it are recorded"));
    assert_eq!(env.validate().0, 0);
}

#[test]
fn a_batch_stops_at_the_first_refusal_by_a_rule_and_records_it() {
    let env = Env::new();
    let wrong = rejected_line("w", None).replace("\"recorder\"", "\"owner\"");
    let input = format!("{}{wrong}{}", lines(&["a", "b"]), lines(&["after"]));
    for group in ["1", "2", "3", "4"] {
        let size = env.size();
        let answer = env.rp_reading(&["append", "--batch", "--group", group, "--json"], &input);
        let error = answer.refused(2, "role-missing");
        assert_eq!(error["details"]["input_line"], 3);
        assert_eq!(error["details"]["recorded"], true);
        assert_eq!(env.size(), size + 3, "two lines and the refusal");
        let last = env.events().pop().unwrap();
        assert_eq!(last["data"]["code"], "role-missing");
        assert_eq!(last["data"]["kind"], "command.rejected");
    }
    assert_eq!(env.validate().0, 0);
}

#[test]
fn two_lines_of_a_group_may_not_share_a_key_for_two_requests() {
    let env = Env::new();
    let same = rejected_line("a", Some("k"));
    let answers = env.rp_reading(&["append", "--batch", "--json"], &same.repeat(2)).ok().lines();
    assert_eq!((&answers[0]["duplicate"], &answers[1]["duplicate"]), (&json!(false), &json!(true)));
    assert_eq!(answers[1]["event_id"], answers[0]["event_id"]);
    let input = format!("{}{}", rejected_line("b", Some("q")), rejected_line("c", Some("q")));
    let error =
        env.rp_reading(&["append", "--batch", "--json"], &input).refused(2, "idempotency-conflict");
    assert_eq!(
        (&error["details"]["first_seq"], &error["details"]["input_line"]),
        (&json!(4), &json!(2))
    );
    assert_eq!(env.size(), 5);
}

#[test]
fn a_batch_may_come_from_a_file_and_expect_a_size() {
    let env = Env::new();
    let answer = env.rp(&["append", "--batch", "--file", "absent", "--json"]);
    assert_eq!(answer.code, 74, "{answer:?}");
    let before = env.bytes();
    env.rp_reading(&["append", "--batch", "--expect-size", "9", "--json"], &lines(&["a"]))
        .refused(2, "version-conflict");
    assert_eq!(env.bytes(), before);
}

#[test]
fn input_that_is_not_utf_8_is_refused_with_its_byte() {
    let env = Env::new();
    let before = env.bytes();
    let mut child = env
        .command(&["append", "--batch", "--json"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"{\"kind\":\"\xff\"}\n").unwrap();
    let error = crate::support::env::Answer::of(child).refused(2, "malformed-json");
    assert!(error["message"].as_str().unwrap().contains("byte 9"), "{error}");
    assert_eq!(env.bytes(), before);
}
