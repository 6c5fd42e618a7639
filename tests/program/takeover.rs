//! A project in files through the binary: imported, validated, continued for a round, archived.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Value, json};

use crate::{
    support::{
        env::Env,
        project::{
            Files, LEDGER_1, LEDGER_2, MARKDOWN_2, MEMORY_1, MEMORY_2, at_the_end, between_rounds,
            change, round, write,
        },
        record::ROLES,
    },
    vectors::SAMPLE,
};

/// A workspace of a profile with a key for each role, and a project's files in it.
fn workspace(profile: &str, files: &Files) -> Env {
    let env = Env::empty();
    env.rp(&["init", "--profile", profile]).ok();
    for role in ROLES.iter().filter(|role| **role != "recorder") {
        env.rp(&["key", "new", role, "--role", role]).ok();
    }
    write(files, &env.work());
    env
}

fn on_disk(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap() == ".rp" {
                continue;
            }
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

/// Records one event; gives the answer.
fn append(
    env: &Env,
    kind: &str,
    signer: &str,
    round: u64,
    data: &Value,
) -> crate::support::env::Answer {
    let (round, data) = (round.to_string(), data.to_string());
    env.rp(&["append", kind, "--as", signer, "--round", &round, "--data", &data, "--json"])
}

#[test]
fn a_project_in_files_is_taken_over_continued_for_a_round_and_archived() {
    let files = between_rounds();
    let env = workspace("compat", &files);
    let before = on_disk(&env.work());
    let planned = env.rp(&["import", "program", ".", "--dry-run", "--json"]).ok().json();
    assert_eq!((&planned["dry_run"], &planned["events"]), (&json!(true), &json!(3)));
    let size = env.size();
    let taken = env.rp(&["import", "program", ".", "--json"]).ok().json();
    assert_eq!(taken["schema"], "rp.import.program/1");
    assert_eq!((&taken["archives"], &taken["live_round"]), (&json!([1]), &Value::Null));
    assert_eq!((&taken["recorded"], &taken["unverified"]), (&json!(4), &json!([])));
    assert_eq!(env.size(), size + 4);
    assert_eq!(on_disk(&env.work()), before, "an import changes nothing of the files");
    let again = env.rp(&["import", "program", ".", "--json"]).ok().json();
    assert_eq!((&again["duplicate"], &again["recorded"]), (&json!(true), &json!(0)));
    assert_eq!(again["first_seq"].as_u64().unwrap(), taken["first_seq"].as_u64().unwrap() + 1);
    assert_eq!(env.validate().0, 0);
    env.rp(&["sync", "--check"]).ok();

    // The sample's second round, from its task to its last event, in groups around the move of its files.
    let lines: Vec<&str> = SAMPLE.lines().collect();
    let batch = |from: usize, to: usize| lines[from - 1..to].join("\n") + "\n";
    env.rp_reading(&["append", "--batch", "--file", "-"], &batch(202, 252)).ok();
    env.rp(&["sync"]).ok();
    let read = |path: &str| fs::read_to_string(env.work().join(path)).unwrap();
    assert_eq!(read("claims_ledger.json"), LEDGER_2);
    assert_eq!(read("CLAIMS_LEDGER.md"), MARKDOWN_2);
    assert_eq!(read("research_memory.json"), MEMORY_2);
    assert!(read("figures/INDEX.md").starts_with("# Figures\n\n## C1 \u{2014} "));
    assert_eq!(read("rounds/round_1/figures/INDEX.md"), "# What the figure skill wrote\n");
    env.rp(&["sync", "--check"]).ok();
    env.rp_reading(&["append", "--batch", "--file", "-"], &batch(253, 254)).ok();
    let archive = env.work().join("rounds/round_2");
    fs::create_dir_all(&archive).unwrap();
    for name in ["claims_ledger.json", "CLAIMS_LEDGER.md", "figures"] {
        fs::rename(env.work().join(name), archive.join(name)).unwrap();
    }
    env.rp_reading(&["append", "--batch", "--file", "-"], &batch(255, 257)).ok();
    assert_eq!(env.validate().0, 0);
    env.rp(&["sync", "--check"]).ok();
    let shown = env.rp(&["fold", "next-task"]).ok().out;
    assert_eq!(shown, include_str!("../../spec/samples/program/round_2/drafted_task.md"));
    assert_eq!(env.rp(&["fold", "ledger", "--round", "1"]).ok().out, LEDGER_1);

    // Edited by hand, an archive is named, whoever wrote it first.
    let path = "rounds/round_1/CLAIMS_LEDGER.md";
    fs::write(env.work().join(path), "nonsense\n").unwrap();
    let check = env.rp(&["sync", "--check", "--json"]);
    assert_eq!((check.code, &check.json()["differing"][0]["path"]), (2, &json!(path)));
    let (code, report) = env.validate();
    assert_eq!(code, 2, "{report}");
    env.rp(&["sync"]).ok();
    assert_eq!(env.validate().0, 0);
    // The journal has moved on: another project does not come in.
    env.rp(&["import", "program", ".", "--json"]).refused(73, "imported");
}

#[test]
fn another_writer_s_files_hold_as_they_were_imported_and_no_other_way() {
    let mut files = between_rounds();
    let ledger = "rounds/round_1/claims_ledger.json";
    let compact: Value = serde_json::from_str(LEDGER_1).unwrap();
    files.insert(ledger.to_owned(), compact.to_string().into_bytes());
    change(&mut files, "research_memory.json", "{\n  \"direction\"", "{ \"direction\"");
    let env = workspace("strict", &files);
    let taken = env.rp(&["import", "program", ".", "--json"]).ok().json();
    let doubts = taken["unverified"].as_array().unwrap();
    let doubted: Vec<(&str, &str)> =
        doubts.iter().map(|d| (d["code"].as_str().unwrap(), d["file"].as_str().unwrap())).collect();
    assert_eq!(doubted, [("not-rendered", "research_memory.json"), ("not-rendered", ledger)]);
    assert_eq!(env.validate().0, 0);
    env.rp(&["sync", "--check"]).ok();
    env.rp(&["sync"]).ok();
    assert_eq!(
        fs::read(env.work().join(ledger)).unwrap(),
        files[ledger],
        "an archive is not rewritten"
    );
    fs::write(env.work().join(ledger), compact.to_string() + "\n").unwrap();
    assert_eq!(env.rp(&["sync", "--check"]).code, 2);
    // Gone altogether, it is folded again.
    fs::remove_file(env.work().join(ledger)).unwrap();
    env.rp(&["sync"]).ok();
    let due: Value = serde_json::from_slice(&fs::read(env.work().join(ledger)).unwrap()).unwrap();
    assert_eq!(due, compact);
}

#[test]
fn an_import_that_was_interrupted_is_finished_by_repeating_it() {
    let files = between_rounds();
    let env = workspace("strict", &files);
    let plan = rp_replay::program::import::plan(&crate::support::project::survey(&files)).unwrap();
    let first = rp_events::program::Event::ProgramImported(Box::new(plan.events[0].clone()));
    let first = rp_events::Event::Program(first).to_json().get().to_owned();
    let created = json!({ "program": "P", "direction": "d" }).to_string();
    env.rp(&["append", "program.created", "--idem", "i:0", "--data", &created]).ok();
    env.rp(&["append", "program.imported", "--idem", "i:1", "--data", &first]).ok();
    let taken = env.rp(&["import", "program", ".", "--idem", "i", "--json"]).ok().json();
    assert_eq!((&taken["recorded"], &taken["duplicate"]), (&json!(2), &json!(false)));
    assert_eq!(env.validate().0, 0);
    // The same under another name is another import.
    env.rp(&["import", "program", ".", "--idem", "j", "--json"]).refused(73, "imported");
}

#[test]
fn what_is_no_file_is_not_followed_and_said() {
    let env = workspace("strict", &between_rounds());
    let at = |path: &str| env.work().join(path);
    fs::remove_file(at("rounds/round_1/CLAIMS_LEDGER.md")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", at("rounds/round_1/CLAIMS_LEDGER.md")).unwrap();
    std::os::unix::fs::symlink("round_1", at("rounds/round_2")).unwrap();
    let odd = std::ffi::OsString::from_vec(b"\xff.md".to_vec());
    fs::write(at("rounds/round_1/idea-stage").join(odd), "x").unwrap();
    let taken = env.rp(&["import", "program", ".", "--json"]).ok().json();
    let doubts = taken["unverified"].as_array().unwrap();
    let has = |code: &str, file: &str, value: &str| {
        doubts.iter().any(|d| (d["code"] == code) && (d["file"] == file) && (d["value"] == value))
    };
    let linked = "rounds/round_1/CLAIMS_LEDGER.md";
    assert!(has("not-a-file", linked, "a symbolic link to /etc/hostname"), "{doubts:#?}");
    assert!(has("missing-file", linked, linked), "{doubts:#?}");
    assert!(has("not-a-file", "rounds/round_2", "a symbolic link to round_1"), "{doubts:#?}");
    assert!(
        has("not-a-file", "rounds/round_1/idea-stage/\u{fffd}.md", "a name that is no UTF-8"),
        "{doubts:#?}"
    );
    assert_eq!(taken["archives"], json!([1]));
}

use std::os::unix::ffi::OsStringExt as _;

#[test]
fn misuse_and_nothing_to_import_have_their_exit_codes() {
    let env = Env::new();
    env.rp(&["import", "program", ".", "--json"]).refused(5, "nothing");
    env.rp(&["import", "program", "nowhere", "--json"]).refused(74, "io");
    assert_eq!(env.rp(&["import", "program"]).code, 64);
    write(&round(2, "rounds/round_1/"), &env.work());
    fs::write(env.work().join("research_memory.json"), MEMORY_1.replace("\"B1\"", "\"B 1\""))
        .unwrap();
    let error = env.rp(&["import", "program", ".", "--json"]).refused(2, "bad-id");
    assert_eq!(error["details"]["place"], "behaviors[0].id");
    // Without any file that says it, the direction must be given.
    fs::remove_file(env.work().join("research_memory.json")).unwrap();
    fs::remove_file(env.work().join("rounds/round_1/claims_ledger.json")).unwrap();
    env.rp(&["import", "program", ".", "--json"]).refused(64, "usage");
    let said = ["import", "program", ".", "--direction", "negation", "--name", "decay", "--json"];
    assert_eq!(env.rp(&said).ok().json()["archives"], json!([1]));
}

#[test]
fn people_read_what_was_taken_over_and_what_is_next() {
    let env = workspace("strict", &at_the_end());
    let answer = env.rp(&["import", "program", "."]).ok();
    assert!(
        answer.out.contains(
            "archived rounds  1\nround at root    2\ncomplete stages  claim, experiment\n"
        ),
        "{answer:?}"
    );
    assert!(
        answer.out.contains("everything that can be derived from the files agrees"),
        "{answer:?}"
    );
    assert!(answer.err.contains("next: round 2 lies at the root"), "{answer:?}");
    env.rp(&["sync", "--check"]).ok();
}

/// A strict workspace with round 1 opened and its claim stage out, its plan recorded.
fn claim_stage_out() -> Env {
    let env = workspace("strict", &Files::new());
    let step = |kind: &str, signer: &str, round: u64, data: Value| {
        append(&env, kind, signer, round, &data).ok();
    };
    step("program.created", "user", 0, json!({ "program": "P", "direction": "d" }));
    step("run.requested", "user", 0, json!({ "raw": "\"decay\"", "resume": false }));
    let flags = json!({ "BEHAVIOR_SOURCE": "discovery" });
    step("flags.resolved", "orchestrator", 0, json!({ "flags": flags, "notes": [] }));
    let axes = json!({ "behavior_source": "discovery", "mechanism": "discovery" });
    step("round.opened", "orchestrator", 1, axes);
    step("constraints.extracted", "orchestrator", 1, json!({ "items": [] }));
    let inject = json!({ "stage": "claim", "attempt": 1, "items": [] });
    step("constraints.injected", "orchestrator", 1, inject);
    let dispatch = json!({ "stage": "claim", "attempt": 1, "mode": "full", "resume": false });
    step("stage.dispatched", "orchestrator", 1, dispatch);
    let plan = SAMPLE.lines().find(|line| line.contains("plan.committed")).unwrap();
    let plan: Value = serde_json::from_str(plan).unwrap();
    step("plan.committed", "claim-agent", 1, plan["data"].clone());
    env
}

const DOCUMENTS: [&str; 3] = [
    "idea-stage/IDEA_REPORT.md",
    "refine-logs/FINAL_PROPOSAL.md",
    "refine-logs/EXPERIMENT_PLAN.md",
];

fn documents() -> Files {
    DOCUMENTS.iter().map(|path| ((*path).to_owned(), b"abc".to_vec())).collect()
}

fn returned(bytes: u64) -> Value {
    let artifacts: Vec<Value> =
        DOCUMENTS.iter().map(|path| json!({ "path": path, "bytes": bytes })).collect();
    json!({ "stage": "claim", "attempt": 1, "outcome": "ok", "artifacts": artifacts })
}

#[test]
fn what_an_agent_says_of_its_files_is_held_to_the_files() {
    let env = claim_stage_out();
    let size = env.size();
    let back = |data: &Value| append(&env, "stage.returned", "claim-agent", 1, data);
    back(&returned(3)).refused(2, "artifact-missing");
    write(&documents(), &env.work());
    fs::write(env.work().join(DOCUMENTS[1]), "").unwrap();
    back(&returned(3)).refused(2, "artifact-missing");
    write(&documents(), &env.work());
    back(&returned(4)).refused(2, "artifact-mismatch");
    let mut other = returned(3);
    other["artifacts"][0]["sha256"] = "0".repeat(64).into();
    back(&other).refused(2, "artifact-mismatch");
    for outside in ["../home/x", "/etc/hostname", "idea-stage", "./idea-stage/../../x"] {
        let mut data = returned(3);
        data["artifacts"][0]["path"] = outside.into();
        back(&data).refused(2, "artifact-missing");
    }
    assert_eq!(env.size(), size, "what is not there is not recorded");
    let data = returned(3).to_string();
    let say = [
        "append",
        "stage.returned",
        "--as",
        "claim-agent",
        "--round",
        "1",
        "--data",
        &data,
        "--idem",
        "r",
        "--json",
    ];
    env.rp(&say).ok();
    let event = env.events().pop().unwrap();
    // SHA-256 of `abc`.
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(event["data"]["artifacts"][2]["sha256"], digest);
    assert_eq!(env.rp(&say).ok().json()["duplicate"], true);

    let accept = json!({ "stage": "claim", "attempt": 1 });
    fs::remove_file(env.work().join(DOCUMENTS[0])).unwrap();
    let error =
        append(&env, "stage.accepted", "orchestrator", 1, &accept).refused(2, "artifacts-missing");
    assert!(error["message"].as_str().unwrap().contains(DOCUMENTS[0]), "{error}");
    write(&documents(), &env.work());
    append(&env, "stage.accepted", "orchestrator", 1, &accept).ok();
    assert_eq!(env.validate().0, 0);
}

#[test]
fn an_agent_that_never_came_back_has_its_files_counted_on_resumption() {
    let env = claim_stage_out();
    write(&documents(), &env.work());
    let asked = json!({ "raw": "-- resume: true, \"decay\"", "resume": true });
    append(&env, "run.requested", "user", 1, &asked).ok();
    append(
        &env,
        "task.recorded",
        "user",
        1,
        &json!({ "for_round": 1, "origin": "user", "language": "en",
        "body": "decay", "retry_settled": false, "notify": false,
        "pins": { "behavior": null, "mechanism_direction": null, "family": null } }),
    )
    .ok();
    let flags = json!({ "flags": { "RESUME": true, "BEHAVIOR_SOURCE": "discovery" }, "notes": [] });
    append(&env, "flags.resolved", "orchestrator", 1, &flags).ok();
    let nothing = json!({ "complete": [], "resume_from": "claim" });
    append(&env, "round.resumed", "orchestrator", 1, &nothing).refused(2, "resume-mismatch");
    let resumed = json!({ "complete": ["claim"], "resume_from": "experiment" });
    append(&env, "round.resumed", "orchestrator", 1, &resumed).ok();
    let event = env.events().pop().unwrap();
    assert_eq!(event["data"]["on_disk"][0]["stage"], "claim");
    assert_eq!(event["data"]["on_disk"][0]["artifacts"].as_array().unwrap().len(), 3);
    let skip = json!({ "stage": "claim", "reason": "resume-complete" });
    append(&env, "stage.skipped", "orchestrator", 1, &skip).ok();
    assert_eq!(env.validate().0, 0);
}

#[test]
fn files_that_are_not_there_make_no_stage_complete() {
    let env = claim_stage_out();
    let mut files = documents();
    files.remove(DOCUMENTS[2]);
    write(&files, &env.work());
    append(
        &env,
        "run.requested",
        "user",
        1,
        &json!({ "raw": "\"decay\" -- resume: true", "resume": true }),
    )
    .ok();
    let flags = json!({ "flags": { "RESUME": true, "BEHAVIOR_SOURCE": "discovery" }, "notes": [] });
    append(&env, "flags.resolved", "orchestrator", 1, &flags).ok();
    let resumed = json!({ "complete": ["claim"], "resume_from": "experiment" });
    append(&env, "round.resumed", "orchestrator", 1, &resumed).refused(2, "resume-mismatch");
    let said = json!({ "complete": ["claim"], "resume_from": "experiment", "on_disk": [
        { "stage": "claim", "artifacts": [{ "path": DOCUMENTS[2], "bytes": 3 }] }] });
    append(&env, "round.resumed", "orchestrator", 1, &said).refused(2, "artifact-missing");
    let nothing = json!({ "complete": [], "resume_from": "claim" });
    append(&env, "round.resumed", "orchestrator", 1, &nothing).ok();
}
