//! Workspaces with a program in them, for the tests of its verbs.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::support::env::Env;

/// The roles that a person who works alone gives to the own key.
const ROLES: &[&str] = &["orchestrator", "next-round", "notify", "launcher", "monitor"];

/// A workspace whose owner holds every role that the verbs sign in, with a program created.
pub(crate) fn created() -> Env {
    let env = Env::new();
    for role in ROLES {
        env.rp(&["key", "grant", "owner", "--role", role]).ok();
    }
    let data = json!({ "program": "negation", "direction": "How models lose negation" });
    env.rp(&["append", "program.created", "--data", &data.to_string()]).ok();
    env
}

/// The same, with round 1 taken over from files as the live round, and a behavior in memory.
pub(crate) fn live() -> Env {
    let env = created();
    let behavior = |id: &str, round: u64| {
        json!({
            "id": id,
            "statement": format!("Models lose {id}."),
            "status": "inconclusive",
            "behavior_conclusion": "The contrast was too weak to tell.",
            "impact": { "assessment": "", "recommendation": "", "assessed_in_round": null },
            "decided_in_round": round,
            "mechanisms": [],
            "untried_mechanism_directions": ["Location"],
        })
    };
    let data = json!({
        "archives": [],
        "memory": {
            "direction": "",
            "behaviors": [behavior("B1", 1), behavior("B2", 1)],
            "untried_behavior_directions": [],
        },
        "highest_round": 1,
        "live_round": 1,
    });
    env.rp(&["append", "program.imported", "--data", &data.to_string()]).ok();
    env.rp(&["sync", "memory"]).ok();
    env
}

/// Writes a file under the workspace, with the folders above it.
pub(crate) fn write(env: &Env, path: &str, text: &str) {
    let path = env.work().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What a round leaves at the root: plain names, odd names, links, an empty folder.
pub(crate) fn outputs(env: &Env) {
    for (path, text) in [
        ("idea-stage/IDEA_REPORT.md", "ideas\n"),
        ("refine-logs/FINAL_PROPOSAL.md", "proposal\n"),
        ("runs/A1_probe/cost.json", "{\"gpu_ids\":[0]}\n"),
        ("runs/A1_probe/deep/er/log.txt", "log\n"),
        ("data/d.bin", "0101"),
        ("cache/c.bin", "1010"),
        ("two words \u{e9}", "odd\n"),
        ("line\nbreak", "odder\n"),
        (".mechanist/state", "hidden\n"),
        ("task.md", "# Research direction\nHow models lose negation\n"),
        ("notification/n.md", "kept\n"),
        (".gitignore", "data\n"),
    ] {
        write(env, path, text);
    }
    fs::create_dir(env.work().join("logs")).unwrap();
    symlink("runs/A1_probe", env.work().join("latest")).unwrap();
    symlink("/nowhere/at/all", env.work().join("broken")).unwrap();
}

/// Everything under a folder but the journal: files with their text, links with what they say, folders.
pub(crate) fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(folder, "", &mut found);
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        let kind = entry.file_type().unwrap();
        if name == ".rp" {
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path()).unwrap();
            found.insert(name, format!("-> {}", target.display()));
        } else if kind.is_dir() {
            found.insert(format!("{name}/"), String::new());
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name, fs::read_to_string(entry.path()).unwrap());
        }
    }
}

/// Copies a workspace and its keys into a fresh place.
pub(crate) fn copy(env: &Env) -> Env {
    let other = Env::empty();
    copy_tree(&env.work(), &other.work());
    copy_tree(&env.home(), &other.home());
    other
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, target): (PathBuf, PathBuf) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_symlink() {
            symlink(fs::read_link(path).unwrap(), target).unwrap();
        } else if kind.is_dir() {
            copy_tree(&path, &target);
        } else {
            fs::copy(path, target).unwrap();
        }
    }
}

/// The payloads of the events of a kind.
pub(crate) fn payloads(env: &Env, kind: &str) -> Vec<Value> {
    env.events().into_iter().filter(|e| e["kind"] == kind).map(|e| e["data"].clone()).collect()
}

/// The kinds of the program's events, in order.
pub(crate) fn kinds(env: &Env) -> Vec<String> {
    let own = env.events().into_iter().filter(|event| event["stream"] != "trust");
    own.map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
}
