//! `rp round open|resume|discard|draft|report|override|notify`: how a run begins, how a round is left, what is
//! written into the user's files on the way.

use std::fs;

use serde_json::{Value, json};

use super::setup::{created, kinds, live, outputs, payloads, write};
use crate::support::env::Env;

const TASK: &str = "# Research direction\nHow models lose negation\n\n## Constraints\n- At most 30 GPU-hours in total.\n\nnotify: email\n";

fn open(env: &Env, line: &str) -> crate::support::env::Answer {
    env.rp(&["round", "open", "--json", "--", line])
}

#[test]
fn a_round_opens_with_its_task_its_request_and_its_flags() {
    let env = created();
    write(&env, "task.md", TASK);
    let line = "-- behavior-source: discovery, gpu-id: 0,1, colour: blue";
    let opened = open(&env, line).ok().json();
    assert_eq!((&opened["schema"], &opened["round"]), (&json!("rp.round.open/1"), &json!(1)));
    assert_eq!(opened["notes"], json!(["[arg-parse] unknown key: colour \u{2014} ignoring"]));
    assert_eq!(
        kinds(&env),
        ["program.created", "task.recorded", "run.requested", "flags.resolved", "round.opened"]
    );
    let task = &payloads(&env, "task.recorded")[0];
    assert_eq!(
        (&task["body"], &task["notify"], &task["language"]),
        (&json!(TASK), &json!(true), &json!("en"))
    );
    assert_eq!(payloads(&env, "run.requested")[0], json!({ "raw": line, "resume": false }));
    let flags = &payloads(&env, "flags.resolved")[0]["flags"];
    assert_eq!(
        (&flags["GPU_ID"], &flags["BEHAVIOR_SOURCE"], &flags["MAX_ITERATIONS"]),
        (&json!([0, 1]), &json!("discovery"), &json!(6))
    );
    assert_eq!(
        payloads(&env, "round.opened")[0],
        json!({ "behavior_source": "discovery", "mechanism": "discovery" })
    );
    assert_eq!(env.validate().0, 0);
}

#[test]
fn a_line_that_stops_the_run_is_refused_on_record() {
    let env = created();
    open(&env, "-- resume: false").refused(2, "no-direction-input");
    open(&env, "d -- model: gpt").refused(2, "bad-model-alias");
    open(&env, "d -- resume: perhaps").refused(2, "bad-bool");
    open(&env, "d -- max-iterations: x").refused(2, "bad-number");
    let error = open(&env, "d -- dimensions: prompt").refused(2, "bad-axis");
    assert_eq!(error["details"]["recorded"], true);
    let reasons: Vec<Value> =
        payloads(&env, "run.refused").into_iter().map(|body| body["reason"].clone()).collect();
    assert_eq!(
        reasons,
        ["no-direction-input", "bad-model-alias", "bad-bool", "bad-number", "bad-axis"]
    );
    assert!(!kinds(&env).contains(&"round.opened".to_owned()));
    // A dry run is no request.
    let size = env.size();
    env.rp(&["round", "open", "--dry-run", "--json", "--", "d -- model: gpt"])
        .refused(2, "bad-model-alias");
    env.rp(&["round", "open", "--dry-run", "--json", "--", "d"]).ok();
    assert_eq!(env.size(), size);
}

#[test]
fn the_guard_holds_in_every_mode_and_offers_three_ways() {
    let env = created();
    open(&env, "\"d\" -- auto-proceed: true").ok();
    for mode in ["true", "false"] {
        let error =
            open(&env, &format!("d -- auto-proceed: {mode}")).refused(2, "unarchived-round");
        assert_eq!(error["details"]["choices"], json!(["archive", "resume", "discard"]));
        assert!(error["message"].as_str().unwrap().starts_with("[multi-round] round 1 is neither"));
    }
    env.rp(&["round", "discard", "--json"]).ok();
    let second = open(&env, "d").ok().json();
    assert_eq!(second["round"], 2, "a discarded number stays used");
}

#[test]
fn files_that_the_journal_does_not_know_stop_a_fresh_run_too() {
    let env = created();
    write(&env, "CLAIMS_LEDGER.md", "");
    open(&env, "d").ok();
    env.rp(&["round", "discard", "--json"]).ok();
    // What a discarded round left was given up.
    write(&env, "CLAIMS_LEDGER.md", "# Claim Ledger\n");
    open(&env, "d").ok();

    let env = created();
    write(&env, "refine-logs/FINAL_PROPOSAL.md", "older\n");
    let error = open(&env, "d").refused(2, "unarchived-round");
    assert_eq!(error["details"]["files"], json!(["refine-logs/FINAL_PROPOSAL.md"]));
    assert_eq!(error["details"]["choices"], json!(["import", "move", "delete"]));
}

#[test]
fn a_round_resumes_where_the_record_says() {
    let env = created();
    env.rp(&["round", "resume", "--json", "--", "d"]).refused(2, "resume-nothing");
    open(&env, "d").ok();
    let resumed =
        env.rp(&["round", "resume", "--json", "--", "d -- max-iterations: 2"]).ok().json();
    assert_eq!(resumed["schema"], "rp.round.resume/1");
    assert_eq!(
        (&resumed["round"], &resumed["complete"], &resumed["resume_from"]),
        (&json!(1), &json!([]), &json!("claim"))
    );
    assert_eq!(payloads(&env, "run.requested")[2]["resume"], true);
    // The line itself may ask for it.
    assert_eq!(open(&env, "d -- resume: true").ok().json()["schema"], "rp.round.resume/1");
    env.rp(&["round", "discard"]).ok();
    env.rp(&["round", "resume", "--json", "--", "d"]).refused(2, "resume-nothing");
    let reasons = payloads(&env, "run.refused");
    assert_eq!(reasons.iter().filter(|body| body["reason"] == "resume-nothing").count(), 2);
}

#[test]
fn a_repeated_request_opens_one_round() {
    let env = created();
    let args = ["round", "open", "--idem", "once", "--json", "--", "d"];
    env.rp(&args).ok();
    let again = env.rp(&args).ok().json();
    assert_eq!(again["duplicate"], true);
    assert_eq!(kinds(&env).iter().filter(|kind| *kind == "round.opened").count(), 1);
}

#[test]
fn a_discard_says_what_is_given_up_and_deletes_nothing() {
    let env = live();
    outputs(&env);
    let dry = env.rp(&["round", "discard", "--dry-run", "--json"]).ok().json();
    assert_eq!(dry["paths"], json!(["idea-stage", "refine-logs"]));
    env.rp(&["round", "discard", "--round", "1"]).ok();
    assert_eq!(payloads(&env, "round.discarded")[0]["paths"], json!(["idea-stage", "refine-logs"]));
    assert!(env.work().join("idea-stage/IDEA_REPORT.md").exists());
    env.rp(&["round", "discard", "--json"]).refused(2, "round-closed");
    env.rp(&["round", "archive", "--intent", "new-behavior", "--json"]).refused(2, "round-closed");
}

#[test]
fn the_draft_takes_the_tasks_place_and_spares_a_users_edit() {
    let env = live();
    outputs(&env);
    env.rp(&["round", "archive", "--intent", "re-validate", "B1"]).ok();
    write(&env, "task.md", "my own words\n");
    env.rp(&["round", "draft", "--json"]).refused(73, "task-edited");
    assert_eq!(fs::read_to_string(env.work().join("task.md")).unwrap(), "my own words\n");
    let drafted = env.rp(&["round", "draft", "--replace", "--json"]).ok().json();
    let text = fs::read_to_string(env.work().join("task.md")).unwrap();
    assert_eq!(drafted["text"], text.as_str());
    assert!(text.starts_with("<!-- DRAFT for round 2 \u{2014} generated by /next-round. EDIT before running /auto. -->\n<!-- Recommended: /auto \u{2014} behavior-source: given-validation, mechanism: discovery -->\n"), "{text}");
    assert!(
        text.contains("\n## Behavior to investigate (this round)\nModels lose B1.\n"),
        "{text}"
    );
    let note = "Strengthen the M0 test of B1 (data, contrast or model); it found: The contrast was too weak to tell. data/ and cache/ are kept: delete them before the run if the test needs new data.";
    assert!(text.ends_with(&format!("\n## Notes\n{note}\n")), "{text}");
    assert_eq!(payloads(&env, "task.drafted")[0]["note"], note);
    // A draft that was recorded and not written is written, without another event.
    fs::remove_file(env.work().join("task.md")).unwrap();
    env.rp(&["round", "draft"]).ok();
    assert_eq!(fs::read_to_string(env.work().join("task.md")).unwrap(), text);
    assert_eq!(payloads(&env, "task.drafted").len(), 1);

    let report = env.rp(&["round", "report"]).ok().out;
    let lines = "[next-round] archived round 1 \u{2192} rounds/round_1/\n[next-round] intent: new-mechanism B1\n[next-round] drafted task.md for round 2 (recommended: /auto \u{2014} behavior-source: given-validation, mechanism: discovery)\nNext: edit task.md, then run /auto.\n";
    assert_eq!(report, lines);
    assert_eq!(payloads(&env, "transition.reported").len(), 1);
    // The draft is the task of the next round, unedited: opening records no task of the user.
    open(&env, "-- behavior-source: given-validation").ok();
    assert!(payloads(&env, "task.recorded").is_empty());
    assert_eq!(env.validate().0, 0);
}

#[test]
fn nothing_is_drafted_or_reported_before_its_time() {
    let env = live();
    env.rp(&["round", "draft", "--json"]).refused(2, "draft-before-archive");
    env.rp(&["round", "report", "--json"]).refused(2, "draft-before-archive");
    assert!(!env.work().join("task.md").exists());
}

#[test]
fn an_override_is_logged_in_the_task_only_where_it_contradicts() {
    let env = created();
    write(&env, "task.md", TASK);
    open(&env, "--").ok();
    let say = |more: &[&str]| {
        let args =
            [&["round", "override", "--point", "round 1 verify gate", "--json"], more].concat();
        env.rp(&args)
    };
    let plain = say(&["--request", "look at layer 9 too"]).ok().json();
    assert_eq!(plain["logged"], "nothing");
    assert_eq!(fs::read_to_string(env.work().join("task.md")).unwrap(), TASK);
    let raise = [
        "--request",
        "raise the GPU budget to 45 hours",
        "--overrides",
        "At most 30 GPU-hours in total.",
        "--constraint",
        "H1",
        "--idem",
        "raise",
    ];
    assert_eq!(say(&raise).ok().json()["logged"], "task.md");
    let due = format!(
        "{TASK}\n## User Overrides (log)\n- @round 1 verify gate: raise the GPU budget to 45 hours (overrides: At most 30 GPU-hours in total.)\n"
    );
    assert_eq!(fs::read_to_string(env.work().join("task.md")).unwrap(), due);
    // The same request again adds neither event nor line; a line that was lost comes back.
    say(&raise).ok();
    assert_eq!(fs::read_to_string(env.work().join("task.md")).unwrap(), due);
    assert_eq!(payloads(&env, "override.recorded").len(), 2);
    write(&env, "task.md", TASK);
    say(&raise).ok();
    assert_eq!(fs::read_to_string(env.work().join("task.md")).unwrap(), due);
    say(&["--request", " "]).refused(2, "empty");
    fs::remove_file(env.work().join("task.md")).unwrap();
    assert_eq!(say(&raise).ok().json()["logged"], "no task.md");
    assert!(!env.work().join("task.md").exists());
}

#[test]
fn a_briefing_is_printed_and_kept_only_where_the_task_asks_for_it() {
    let env = created();
    open(&env, "d").ok();
    let quiet = env.rp(&["round", "notify", "hourly"]).ok();
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""), "a silent no-op");
    env.rp(&["round", "notify", "hourly", "--save"]).ok();
    assert!(!env.work().join("notification").exists());

    let mut env = created();
    env.set("RP_CLOCK", "2026-12-01T08:00:00Z");
    write(&env, "task.md", TASK);
    open(&env, "--").ok();
    let text = env.rp(&["round", "notify", "hourly"]).ok().out;
    assert_eq!(
        text,
        "# Round 1 \u{2014} no project yet \u{2014} hourly\n\nhourly \u{2014} no stage is running\n\n## Progress\n- no stage is running\n- claim: pending\n- experiment: pending\n- verify: pending\n- iteration: pending\n\n## Plan\n- none\n\n## In-flight tasks\n- none\n\n## Next\n- gate multi-round: archive, resume, discard\n- gate comprehension: switch-to-discovery, specify-behavior\n- stage claim\n\n## Blocked / needs manual approval\n- none\n"
    );
    env.rp(&["round", "notify", "done", "--json"]).refused(5, "nothing");
    let save = |more: &[&str]| {
        env.rp(&[&["round", "notify", "hourly", "--save", "--json"], more].concat())
    };
    let kept = save(&["--dispatched", "--idem", "n"]).ok().json();
    let file = kept["file"].as_str().unwrap();
    assert_eq!(file, "notification/20261201T080000Z_hourly.md");
    assert_eq!(fs::read_to_string(env.work().join(file)).unwrap(), text);
    assert_eq!(
        payloads(&env, "notification.recorded")[0],
        json!({ "event": "hourly", "reason": "hourly \u{2014} no stage is running", "file": file, "dispatched": true })
    );
    assert_eq!(save(&["--idem", "n"]).ok().json()["file"], file, "answered, not done again");
    // The clock shows the same second: the name is taken, and nothing is overwritten.
    save(&[]).refused(2, "notify-overwrite");
    let asked = json!({ "blocked": "the disk is full", "action": "free 200 GB" }).to_string();
    env.rp(&["append", "approval.needed", "--round", "1", "--data", &asked]).ok();
    let text = env.rp(&["round", "notify", "approval-needed"]).ok().out;
    assert!(text.contains("\nthe disk is full \u{2014} action required: free 200 GB\n"), "{text}");
    assert!(text.ends_with("approval\n- the disk is full: free 200 GB\n"), "{text}");
}
