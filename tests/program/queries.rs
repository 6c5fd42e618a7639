//! `rp stage brief`, `rp stage pin`, `rp claim`, `rp gate`, `rp round settled|budget|parse-args`: what is asked of
//! a program, over the sample's two rounds.

use std::sync::{Arc, Mutex, Weak};

use rp_replay::program::{injection, notification, settled};
use serde_json::{Value, json};

use super::setup::{payloads, write};
use crate::{
    support::{env::Env, record::Recorder},
    vectors::SAMPLE,
};

/// A place whose folder `q` holds the whole sample, made once for the tests that run side by side.
fn sample() -> Arc<Env> {
    static SAMPLE: Mutex<Weak<Env>> = Mutex::new(Weak::new());
    let mut shared = SAMPLE.lock().unwrap();
    if let Some(env) = shared.upgrade() {
        return env;
    }
    let env = Arc::new(Env::empty());
    env.rp(&["quickstart", "q"]).ok();
    *shared = Arc::downgrade(&env);
    env
}

fn ask(args: &[&str]) -> crate::support::env::Answer {
    sample().rp(&[&["-C", "q"], args].concat())
}

/// The state after so many lines of the sample.
fn after(lines: usize) -> Recorder {
    let mut recorder = Recorder::new();
    for line in SAMPLE.lines().take(lines) {
        recorder.append(line).unwrap();
    }
    recorder
}

/// The blocks that J.3 gives for the verify stage, written down from the sample's task and items.
const VERIFY_BEFORE: &str = "\
## HARD CONSTRAINTS (from task.md \u{2014} non-negotiable)
- At most 30 GPU-hours in total.
- Use only GPUs 0 and 1.
- Never call closed-weight models.

## NOTICE (from task.md \u{2014} informational)
- When verifying claim C4 a 3B model is fine.
";

#[test]
fn each_stage_is_given_its_own_words() {
    use rp_replay::program::constants::StageName::{Claim, Experiment, Iteration, Verify};
    let recorder = after(63);
    let of = |stage| injection::blocks(recorder.state().program(), 1, stage).text();
    assert_eq!(of(Verify), VERIFY_BEFORE);
    assert_eq!(
        of(Experiment),
        "## HARD CONSTRAINTS (from task.md \u{2014} non-negotiable)\n- At most 30 GPU-hours in total.\n- Use only GPUs 0 and 1.\n- Never call closed-weight models.\n- Every steering claim must report a random-direction control.\n\n## NOTICE (from task.md \u{2014} informational)\n- Prefer Qwen2.5-1.5B-Instruct for the main experiment.\n"
    );
    assert_eq!(
        of(Iteration),
        "## HARD CONSTRAINTS (from task.md \u{2014} non-negotiable)\n- At most 30 GPU-hours in total.\n- Use only GPUs 0 and 1.\n- Never call closed-weight models.\n\n## NOTICE (from task.md \u{2014} informational)\n- none\n"
    );
    // Who plans for every stage gets every item, and sees which stages it binds.
    assert_eq!(
        of(Claim),
        "## HARD CONSTRAINTS (from task.md \u{2014} non-negotiable)\n- At most 30 GPU-hours in total.\n- Use only GPUs 0 and 1.\n- Never call closed-weight models.\n- Every steering claim must report a random-direction control. [experiment]\n\n## NOTICE (from task.md \u{2014} informational)\n- Prefer Qwen2.5-1.5B-Instruct for the main experiment. [experiment]\n- When verifying claim C4 a 3B model is fine. [verify]\n"
    );
}

#[test]
fn the_brief_of_the_sample_is_stamped_where_the_user_overrode_it() {
    let now = VERIFY_BEFORE.replace(
        "At most 30 GPU-hours in total.",
        "At most 45 GPU-hours in total. \u{2014} per user request @ round 1 verify gate",
    );
    assert_eq!(ask(&["stage", "brief", "verify", "--round", "1"]).ok().out, now);
    let document = ask(&["stage", "brief", "verify", "--round", "1", "--json"]).ok().json();
    assert_eq!(document["text"], now.as_str());
    assert_eq!(
        document["notice"],
        json!([{
            "id": "N2", "kind": "preference", "text": "When verifying claim C4 a 3B model is fine.",
            "stages": ["claim", "verify"], "claims": ["C4"], "per_user_request": null
        }])
    );
    // Round 2 has no constraints.
    let none = "## HARD CONSTRAINTS (from task.md \u{2014} non-negotiable)\n- none\n\n## NOTICE (from task.md \u{2014} informational)\n- none\n";
    assert_eq!(ask(&["stage", "brief", "verify"]).ok().out, none);
    assert_eq!(ask(&["stage", "brief", "deploy", "--json"]).code, 64);
    ask(&["stage", "brief", "verify", "--round", "9", "--json"]).refused(2, "unknown-round");
}

#[test]
fn claims_are_listed_shown_and_followed() {
    let list = ask(&["claim", "list", "--round", "1", "--json"]).ok().json();
    let ids: Vec<&str> = list["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["address"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["claim:1/C1", "claim:1/C2", "claim:1/C3", "claim:1/C4", "claim:1/C4_v2"]);
    let shown = ask(&["claim", "show", "claim:1/C4_v2", "--json"]).ok().json();
    let ledger: Value =
        serde_json::from_str(include_str!("../../spec/samples/program/round_1/claims_ledger.json"))
            .unwrap();
    assert_eq!(shown["claim"], ledger["claims"][4], "the row is that of the file");
    assert_eq!(ask(&["claim", "show", "C4_v2", "--round", "1", "--json"]).ok().json(), shown);
    ask(&["claim", "show", "C4_v2", "--json"]).refused(2, "unknown-claim");
    ask(&["claim", "show", "claim:7/C1", "--json"]).refused(2, "unknown-round");

    let mut events = ask(&["claim", "history", "claim:1/C4_v2", "--json"]).ok().lines();
    let summary = events.pop().unwrap();
    assert_eq!(
        (&summary["schema"], &summary["events"]),
        (&json!("rp.claim.history/1"), &json!(events.len()))
    );
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.first(), Some(&"iteration.action_applied"), "the rewrite that made it");
    for kind in
        ["claim.seeded", "run.started", "run.finished", "verify.decided", "claim.status_set"]
    {
        assert!(kinds.contains(&kind), "{kind} is missing: {kinds:?}");
    }
    assert!(events.iter().all(|event| event["stream"] == "round/1"));
}

#[test]
fn gates_say_where_they_stand_and_who_answers() {
    let gates = |args: &[&str]| {
        let document = ask(&[&["gate", "list", "--json"], args].concat()).ok().json();
        let rows = document["gates"].as_array().unwrap().clone();
        rows.into_iter()
            .map(|row| {
                let text = |key: &str| row[key].as_str().unwrap().to_owned();
                (text("gate"), text("state"), text("mode"))
            })
            .collect::<Vec<_>>()
    };
    let row =
        |gate: &str, state: &str, mode: &str| (gate.to_owned(), state.to_owned(), mode.to_owned());
    assert_eq!(
        gates(&["--round", "2"]),
        [
            row("multi-round", "passed", "user"),
            row("settled-pin", "passed", "auto"),
            row("comprehension", "passed", "user"),
            row("claim", "passed", "auto"),
            row("mechanism-family", "absent", "auto"),
            row("experiment", "absent", "auto"),
            row("verify", "absent", "auto"),
        ]
    );
}

#[test]
fn what_is_settled_is_read_from_status_and_readings() {
    let question = |source: &str, retry: bool, auto: bool| settled::Question {
        behavior: "B2".to_owned(),
        source: source.to_owned(),
        retry_settled: retry,
        auto_proceed: auto,
        ..settled::Question::default()
    };
    let recorder = after(257);
    let program = recorder.state().program();
    // B2 was refuted at its M0 test in round 2.
    for (source, retry, auto, due) in [
        ("given", false, true, "pick-fresh"),
        ("given-validation", false, false, "ask"),
        ("given", true, true, "honor-pin"),
    ] {
        let answer = settled::ask(program, &question(source, retry, auto)).unwrap();
        assert_eq!((answer.rows[0].settled_in, answer.rows[0].decision), (Some(2), Some(due)));
    }
    let asked = ask(&[
        "round",
        "settled",
        "--behavior",
        "B1",
        "--direction",
        "Location",
        "--family",
        "patching",
        "--json",
    ]);
    let answer = asked.ok().json();
    assert_eq!(answer["status"], "established");
    // Round 1's attempt was read as open; an established behavior is there to be built on.
    assert_eq!(
        answer["levels"],
        json!([
            { "level": "behavior", "item": "B1", "settled": false, "settled_in_round": null, "pin_resolution": null },
            { "level": "direction+family", "item": "Location + Causal Attribution", "settled": false, "settled_in_round": null, "pin_resolution": null },
        ])
    );
    let wrong = |args: &[&str], code: &str| {
        ask(&[&["round", "settled", "--json", "--behavior"], args].concat()).refused(2, code);
    };
    wrong(&["B9"], "unknown-behavior");
    wrong(&["B1", "--direction", "Sideways"], "unknown-direction");
    wrong(&["B1", "--family", "Astrology"], "unknown-family");
}

#[test]
fn the_budget_is_the_sum_of_the_runs() {
    let used = ask(&["round", "budget", "--round", "1", "--json"]).ok().json();
    // 14.2 + 9 + 7.5, as the sample's runs say.
    assert_eq!(
        (&used["gpu_hours"], &used["limit"], &used["reach"]),
        (&json!("30.7"), &json!("45"), &json!("within"))
    );
    let hours: Vec<&str> = used["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["gpu_hours"].as_str().unwrap())
        .collect();
    assert_eq!(hours, ["0", "14.2", "9", "7.5"]);
    assert_eq!(used["iterations"], json!({ "consumed": 3, "cap": 3 }));
    assert_eq!(used["reentries"], json!({ "consumed": 1, "cap": 2 }));
}

#[test]
fn the_reasons_of_the_sample_are_those_that_it_sent() {
    for (line, event) in [(62, "progress"), (113, "progress"), (195, "done")] {
        let recorder = after(line - 1);
        let sent: Value = serde_json::from_str(SAMPLE.lines().nth(line - 1).unwrap()).unwrap();
        let reason = notification::reason(recorder.state().program(), 1, event);
        assert_eq!(reason.as_deref(), sent["data"]["reason"].as_str(), "line {line}");
    }
}

#[test]
fn a_line_is_read_anywhere_and_stops_where_it_must() {
    let env = Env::empty();
    let parse = |line: &str| env.rp(&["round", "parse-args", "--json", "--", line]);
    let read = parse("\"d\" \u{2014} claim-model: opus, dimensions: method,dataset").ok().json();
    assert_eq!((&read["direction"], &read["flags"]["CLAIM_MODEL"]), (&json!("d"), &json!("opus")));
    assert_eq!(read["flags"]["DIMENSIONS"], json!(["method", "dataset"]));
    assert_eq!(read["models"]["claim"], json!({ "model": "opus", "source": "CLI-stage" }));
    assert_eq!(read["models"]["verify"], json!({ "model": null, "source": "session" }));
    let error = parse("d -- model: gpt").refused(2, "bad-model-alias");
    assert_eq!(
        error["message"],
        "[arg-parse] MODEL: \"gpt\" is not a family alias (opus|sonnet|haiku) \u{2014} version pinning is managed in agents/<name>.md frontmatter, not on the CLI"
    );
    parse("-- compact: true").refused(2, "no-direction-input");
    write(&env, "task.md", "# Research direction\n");
    let read = parse("-- compact: true").ok().json();
    assert_eq!((&read["direction"], &read["direction_source"]), (&json!(""), &json!("task.md")));
    let spread = env.rp(&["round", "parse-args", "--json", "--", "d", "--", "compact:", "yes"]);
    assert_eq!(spread.ok().json()["flags"]["COMPACT"], true);
}

/// The sample up to the experiment's runs, in a workspace of its own.
fn pinned() -> Env {
    let env = Env::empty();
    env.rp(&["init", "--profile", "compat"]).ok();
    for role in crate::support::record::ROLES.iter().filter(|role| **role != "recorder") {
        env.rp(&["key", "new", role, "--role", role]).ok();
    }
    let lines = SAMPLE.lines().take(50).collect::<Vec<_>>().join("\n");
    env.rp_reading(&["append", "--batch"], &lines).ok();
    env
}

#[test]
fn the_pin_is_read_from_the_witness_of_each_run() {
    let env = pinned();
    let check = |more: &[&str]| env.rp(&[&["stage", "pin", "experiment", "--json"], more].concat());
    let error = check(&[]).refused(2, "artifact-missing");
    assert!(error["message"].as_str().unwrap().contains("cost.json"), "{error}");
    let runs: Vec<(String, Value)> = payloads(&env, "run.started")
        .into_iter()
        .map(|run| (run["path"].as_str().unwrap().to_owned(), run["gpu_ids"].clone()))
        .collect();
    for (path, gpus) in &runs {
        write(&env, &format!("{path}/cost.json"), &json!({ "gpu_ids": gpus }).to_string());
    }
    let (first, gpus) = &runs[0];
    write(&env, &format!("{first}/cost.json"), "{\"gpu_ids\":[7]}");
    check(&[]).refused(2, "gpu-pin-mismatch");
    write(&env, &format!("{first}/cost.json"), "{\"gpu_ids\":\"0\"}");
    check(&[]).refused(2, "artifact-mismatch");
    write(&env, &format!("{first}/cost.json"), &json!({ "gpu_ids": gpus }).to_string());
    let held = check(&["--dry-run"]).ok().json();
    assert_eq!((&held["requested"], &held["observed"]), (&json!([0, 1]), &json!([0, 1])));
    assert!(payloads(&env, "gpu_pin.checked").is_empty());
    check(&[]).ok();
    let due: Value = serde_json::from_str(SAMPLE.lines().nth(50).unwrap()).unwrap();
    let mut recorded = payloads(&env, "gpu_pin.checked").remove(0);
    assert_eq!(recorded["runs"].as_array().unwrap().len(), 5);
    recorded["runs"] = due["data"]["runs"].clone();
    assert_eq!(recorded, due["data"]);
}
