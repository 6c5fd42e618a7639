//! The store of artifacts: added once, found by both digests, checked, and none the worse for a kill.

#![expect(clippy::disallowed_methods, reason = "the moment of a kill is chosen by waiting")]

use std::{
    fs, os::unix::fs::PermissionsExt, path::PathBuf, process::Stdio, thread, time::Duration,
};

use serde_json::{Value, json};

use crate::support::env::{Answer, Env};

/// BLAKE3 and SHA-256 of the three bytes `abc`, as `b3sum` and `sha256sum` print them.
const ABC_B3: &str = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";
const ABC_SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn blob(env: &Env, b3: &str) -> PathBuf {
    env.work().join(format!(".rp/blobs/b3/{}/{}/{b3}", &b3[..2], &b3[2..4]))
}

fn aside(env: &Env) -> Vec<PathBuf> {
    let folder = fs::read_dir(env.work().join(".rp/blobs/aside")).unwrap();
    folder.map(|file| file.unwrap().path()).collect()
}

fn put(env: &Env, path: &str, bytes: &[u8]) {
    let path = env.work().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Writes other bytes into a stored file, which the store keeps from being written by mistake.
fn damage(path: &PathBuf, bytes: &[u8]) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(path, bytes).unwrap();
}

fn add(env: &Env, path: &str) -> Value {
    env.rp(&["artifact", "add", path, "--json"]).ok().json()["artifacts"][0].clone()
}

#[test]
fn a_file_is_stored_under_its_digest_and_recorded_once() {
    let env = Env::new();
    put(&env, "runs/A1_x/summary.json", b"abc");
    let first = add(&env, "runs/A1_x/summary.json");
    let due = json!({
        "address": format!("artifact:b3:{ABC_B3}"), "b3": ABC_B3, "sha256": ABC_SHA256, "bytes": 3,
        "path": "runs/A1_x/summary.json", "seq": 3, "duplicate": false, "stored": "new",
    });
    assert_eq!(first, due);
    assert_eq!(fs::read(blob(&env, ABC_B3)).unwrap(), b"abc");
    let again = add(&env, "runs/A1_x/summary.json");
    assert_eq!((&again["duplicate"], &again["stored"]), (&json!(true), &json!("present")));
    assert_eq!(env.size(), 4);
    // The same bytes under another path are a second name of one file.
    put(&env, "copy.json", b"abc");
    assert_eq!(add(&env, "copy.json")["duplicate"], false);
    assert_eq!(env.size(), 5);
    let listed = env.rp(&["artifact", "list", "--json"]).ok().json();
    assert_eq!(listed["artifacts"].as_array().unwrap().len(), 1);
    assert_eq!(listed["artifacts"][0]["paths"], json!(["runs/A1_x/summary.json", "copy.json"]));
    assert_eq!(aside(&env), Vec::<PathBuf>::new());
    let (exit, report) = env.validate();
    assert_eq!((exit, &report["counts"]["artifacts"]), (0, &json!(1)));
}

#[test]
fn both_digests_find_it_and_nothing_else_does() {
    let env = Env::new();
    put(&env, "a", b"abc");
    add(&env, "a");
    for name in [
        format!("b3:{ABC_B3}"),
        format!("sha256:{ABC_SHA256}"),
        format!("artifact:b3:{ABC_B3}"),
        format!("artifact:sha256:{ABC_SHA256}"),
    ] {
        assert_eq!(env.rp(&["artifact", "get", &name]).ok().out, "abc", "{name}");
        let shown = env.rp(&["show", &name, "--json"]);
        assert_eq!(shown.ok().json()["address"], format!("artifact:b3:{ABC_B3}"), "{name}");
    }
    let out = env.work().join("got");
    let out = out.to_str().unwrap();
    env.rp(&["artifact", "get", &format!("b3:{ABC_B3}"), "--out", out]).ok();
    assert_eq!(fs::read(out).unwrap(), b"abc");
    let twice = env.rp(&["artifact", "get", &format!("b3:{ABC_B3}"), "--out", out, "--json"]);
    twice.refused(73, "exists");
    let other = format!("b3:{}", "0".repeat(64));
    env.rp(&["artifact", "get", &other, "--json"]).refused(2, "artifact-missing");
    env.rp(&["artifact", "get", "abc", "--json"]).refused(64, "usage");
}

#[test]
fn what_is_missing_empty_or_no_file_is_refused_and_records_nothing() {
    let env = Env::new();
    put(&env, "empty", b"");
    for path in ["empty", "absent", ".rp"] {
        env.rp(&["artifact", "add", path, "--json"]).refused(2, "artifact-missing");
    }
    assert_eq!(env.size(), 3);
    let by_root = |env: &Env| env.rp(&["artifact", "add", "a", "--as", "root", "--json"]);
    put(&env, "a", b"abc");
    by_root(&env).refused(2, "role-missing");
    // The bytes stay, and no entry names them; that is no fault.
    let (exit, report) = env.validate();
    assert_eq!(exit, 0);
    let note = format!("no entry names the stored file `b3/64/37/{ABC_B3}`");
    assert!(report["notes"].as_array().unwrap().contains(&json!(note)), "{report}");
}

#[test]
fn a_rule_holds_what_an_entry_says_of_an_artifact() {
    let env = Env::new();
    put(&env, "a", b"abc");
    add(&env, "a");
    let entry = |b3: &str, sha256: &str, bytes: u64, path: Option<&str>| {
        let mut data = json!({ "b3": b3, "sha256": sha256, "bytes": bytes });
        if let Some(path) = path {
            data["path"] = json!(path);
        }
        env.rp(&["append", "artifact.added", "--data", &data.to_string(), "--json"])
    };
    let other = "1".repeat(64);
    entry(ABC_B3, ABC_SHA256, 3, Some("a")).refused(2, "artifact-exists");
    entry(ABC_B3, ABC_SHA256, 3, None).refused(2, "artifact-exists");
    entry(ABC_B3, ABC_SHA256, 4, Some("b")).refused(2, "artifact-mismatch");
    entry(ABC_B3, &other, 3, Some("b")).refused(2, "artifact-mismatch");
    entry(&other, ABC_SHA256, 3, Some("b")).refused(2, "artifact-mismatch");
    entry(&other, &other, 0, None).refused(2, "artifact-missing");
    entry(&other, &other, 1, Some("../a")).refused(2, "artifact-path");
}

#[test]
fn changed_and_missing_bytes_are_named_and_adding_them_again_heals() {
    let env = Env::new();
    put(&env, "a", b"abc");
    add(&env, "a");
    let created = r#"{"program":"P","direction":"d"}"#;
    let cite = format!("evidences=artifact:sha256:{ABC_SHA256}");
    env.rp(&["append", "program.created", "--data", created, "--cite", &cite]).ok();
    damage(&blob(&env, ABC_B3), b"abd");
    let (exit, report) = env.validate();
    let finding = &report["findings"][0];
    assert_eq!((exit, &finding["code"]), (2, &json!("artifact-mismatch")));
    assert_eq!(finding["seq"], 3);
    let text = finding["text"].as_str().unwrap();
    assert!(text.starts_with(&format!("artifact:b3:{ABC_B3} (`a`) has 3 bytes")), "{text}");
    assert!(text.ends_with("cited by entry 4"), "{text}");
    let get = env.rp(&["artifact", "get", &format!("b3:{ABC_B3}"), "--json"]);
    get.refused(2, "artifact-mismatch");
    let trace = env.rp(&["trace", "event:4", "--json"]).ok().json();
    let mark = format!("rests on artifact:b3:{ABC_B3}, whose bytes do not hold");
    assert_eq!(trace["marks"], json!([mark]));
    assert_eq!(add(&env, "a")["stored"], "repaired");
    assert_eq!(env.validate().0, 0);
    assert_eq!(env.rp(&["trace", "event:4", "--json"]).ok().json()["marks"], json!([]));
    fs::remove_file(blob(&env, ABC_B3)).unwrap();
    let (exit, report) = env.validate();
    assert_eq!((exit, &report["class"]), (5, &json!("unverifiable")));
    assert_eq!(report["findings"][0]["code"], "artifact-missing");
}

#[test]
fn a_relation_is_held_to_the_kinds_between_which_it_exists() {
    let env = Env::new();
    put(&env, "a", b"abc");
    add(&env, "a");
    let created = r#"{"program":"P","direction":"d"}"#;
    let by = |relation: &str| {
        let cite = format!("{relation}=b3:{ABC_B3}");
        env.rp(&["append", "program.created", "--data", created, "--cite", &cite, "--json"])
    };
    let error = by("answers").refused(2, "citation-kind");
    let message = error["message"].as_str().unwrap();
    assert_eq!(message, "`program.created` may not cite `an artifact` by `answers`");
    by("evidences").ok();
    let shown = env.rp(&["show", &format!("b3:{ABC_B3}"), "--json"]).ok().json();
    // Entry 4 is the refusal, which is recorded.
    assert_eq!(shown["cited_by"], json!([{ "seq": 5, "relation": "evidences" }]));
}

#[test]
fn many_at_once_store_one_file_and_record_it_once() {
    let env = Env::new();
    put(&env, "a", &vec![7; 300_000]);
    let args = ["artifact", "add", "a", "--json", "--wait", "60"];
    let children: Vec<_> = (0..6).map(|_| env.command(&args).spawn().unwrap()).collect();
    let answers: Vec<Value> = children
        .into_iter()
        .map(|child| Answer::of(child).ok().json()["artifacts"][0].clone())
        .collect();
    let fresh = answers.iter().filter(|answer| answer["duplicate"] == false).count();
    assert_eq!(fresh, 1);
    assert_eq!(env.size(), 4);
    assert_eq!(env.validate().0, 0);
}

#[test]
fn a_kill_in_the_middle_leaves_nothing_that_counts_and_the_next_clears_it_away() {
    let env = Env::new();
    let file = fs::File::create(env.work().join("big")).unwrap();
    file.set_len(1 << 30).unwrap();
    let args = ["artifact", "add", "big"];
    let mut child = env.command(&args).stdout(Stdio::null()).spawn().unwrap();
    let begun = || {
        let left = env.work().join(".rp/blobs/aside");
        let left = fs::read_dir(left).into_iter().flatten().flatten();
        left.into_iter().any(|file| file.metadata().is_ok_and(|about| about.len() > 0))
    };
    while !begun() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(aside(&env).len(), 1);
    assert_eq!((env.size(), env.validate().0), (3, 0));
    put(&env, "a", b"abc");
    add(&env, "a");
    assert_eq!(aside(&env), Vec::<PathBuf>::new());
    assert_eq!(env.validate().0, 0);
}

/// The most memory that a process ever held, in KiB, as far as it was seen.
fn peak(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn a_large_file_costs_no_memory() {
    let env = Env::new();
    let file = fs::File::create(env.work().join("big")).unwrap();
    file.set_len(128 << 20).unwrap();
    let mut child = env.command(&["artifact", "add", "big"]).stdout(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = most.max(peak(child.id()).unwrap_or(0));
        thread::sleep(Duration::from_millis(1));
    }
    assert!(child.wait().unwrap().success());
    assert!((1..48 * 1024).contains(&most), "{most} KiB for a file of 128 MiB");
    assert_eq!(env.validate().0, 0);
}
