//! `rp key`: names, roles, files, revocation, rotation.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::env::{Env, rejected};

fn mode(path: &std::path::Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn rows(env: &Env, name: &str) -> Vec<Value> {
    let list = env.rp(&["key", "list", "--json"]).ok().json();
    let keys = list["keys"].as_array().unwrap().iter();
    keys.filter(|key| key["name"] == name).cloned().collect()
}

#[test]
fn a_new_key_holds_its_roles_and_its_secret_is_its_owners_alone() {
    let env = Env::new();
    let made =
        env.rp(&["key", "new", "agent", "--role", "monitor", "--role", "launcher", "--json"]);
    let made = made.ok().json();
    assert_eq!(made["roles"], json!(["monitor", "launcher"]));
    assert_eq!((&made["name"], &made["seq"]), (&json!("agent"), &json!(3)));
    for name in ["root", "log", "owner", "recorder", "agent"] {
        let files = env.key_files(name);
        assert_eq!(files.len(), 1, "{name}");
        assert_eq!(mode(&files[0]), 0o600, "{name}");
        assert_eq!(mode(files[0].parent().unwrap()), 0o700);
    }
    assert_eq!(rows(&env, "agent")[0]["kid"], made["kid"]);
    assert!(!env.work().join(".rp/keys").exists(), "no secret is inside the workspace");
}

#[test]
fn a_name_is_given_once() {
    let env = Env::new();
    env.rp(&["key", "new", "agent", "--role", "monitor"]).ok();
    let before = env.bytes();
    for name in ["agent", "owner", "root"] {
        env.rp(&["key", "new", name, "--role", "monitor", "--json"]).refused(73, "key-exists");
    }
    assert_eq!(env.bytes(), before);
    assert_eq!(env.key_files("agent").len(), 1, "no second secret is left behind");
}

#[test]
fn an_unknown_role_is_refused_with_the_list() {
    let env = Env::new();
    let error =
        env.rp(&["key", "new", "agent", "--role", "wizard", "--json"]).refused(2, "unknown-role");
    let message = error["message"].as_str().unwrap();
    for role in ["user", "claim-agent", "supervisor", "recorder"] {
        assert!(message.contains(&format!("`{role}`")), "{message}");
    }
    assert!(message.ends_with("found `wizard`"), "{message}");
    assert_eq!(env.key_files("agent").len(), 0, "its secret is not kept");
    env.rp(&["key", "new", "agent", "--role", "root", "--json"]).refused(2, "unknown-role");
    env.rp(&["key", "grant", "owner", "--role", "wizard", "--json"]).refused(2, "unknown-role");
    let help = env.rp(&["key", "new", "--help"]).ok().out;
    assert!(help.contains("claim-agent") && help.contains("supervisor"), "{help}");
}

#[test]
fn a_role_is_granted_once_and_only_to_a_key_that_is_known() {
    let env = Env::new();
    let granted = env.rp(&["key", "grant", "owner", "--role", "monitor", "--json"]).ok().json();
    assert_eq!(granted["roles"], json!(["user", "monitor"]));
    env.rp(&["key", "grant", "owner", "--role", "monitor", "--json"]).refused(2, "role-held");
    env.rp(&["key", "grant", "nobody", "--role", "monitor", "--json"]).refused(2, "unknown-key");
    env.rp(&["key", "show", "nobody", "--json"]).refused(2, "unknown-key");
    let root = env.rp(&["key", "grant", "root", "--role", "monitor", "--json"]);
    root.refused(2, "root-protected");
    let by_owner = ["--as", "owner", "key", "grant", "recorder", "--role", "monitor", "--json"];
    env.rp(&by_owner).refused(2, "role-missing");
    let first = ["key", "grant", "owner", "--role", "launcher", "--idem", "g", "--json"];
    env.rp(&first).ok();
    assert_eq!(env.rp(&first).ok().json()["duplicate"], true);
}

#[test]
fn a_revoked_key_signs_no_more_and_its_suspect_events_are_marked() {
    let env = Env::new();
    env.rp(&["key", "new", "agent", "--role", "recorder"]).ok();
    let data = rejected("c");
    let by_agent = ["append", "command.rejected", "--as", "agent", "--data", &data, "--json"];
    env.rp(&by_agent).ok();
    env.rp(&by_agent).ok();
    env.rp(&["key", "revoke", "agent", "--reason", "laptop lost", "--suspect-from", "5"]).ok();
    let error = env.rp(&by_agent).refused(2, "key-revoked");
    assert!(error["message"].as_str().unwrap().contains("laptop lost"), "{error}");
    assert_eq!(error["details"]["recorded"], true);
    let row = &rows(&env, "agent")[0];
    assert_eq!(row["may_sign"], false);
    let due = json!({ "effective_seq": 6, "suspect_from_seq": 5, "reason": "laptop lost" });
    assert_eq!(row["revoked"], due);
    // Of the agent's two events, 4 stands before the suspect range and 5 in it.
    let marked: Vec<u64> = env
        .events()
        .iter()
        .filter(|event| event["suspect"] == true)
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(marked, [5]);
    for (seq, suspect) in [("4", false), ("5", true)] {
        assert_eq!(env.rp(&["show", seq, "--json"]).ok().json()["suspect"], suspect, "{seq}");
    }
    // As of entry 5 nobody knew.
    assert_eq!(env.rp(&["log", "--at", "5", "--json"]).ok().lines()[5]["suspect"], false);
    assert_eq!(env.events()[0]["key"], "root", "the genesis names its own key");
    env.rp(&["key", "revoke", "agent", "--reason", "again", "--json"]).refused(2, "key-revoked");
    env.rp(&["key", "revoke", "root", "--reason", "r", "--json"]).refused(2, "root-protected");
    assert_eq!(env.validate().0, 0);
}

#[test]
fn rotation_keeps_name_and_roles_and_the_old_key_ends_with_its_overlap() {
    let env = Env::new();
    let old = rows(&env, "owner")[0].clone();
    // Entry 3 is the rotation; the old key may sign up to entry 5.
    let rotated = env.rp(&["key", "rotate", "owner", "--overlap-until", "5", "--json"]).ok().json();
    assert_ne!(rotated["kid"], old["kid"]);
    assert_eq!(rotated["roles"], json!(["user"]));
    assert_eq!(env.key_files("owner").len(), 2, "the old secret is kept");
    let may_sign = |kid: &Value| {
        rows(&env, "owner").iter().find(|row| row["kid"] == *kid).unwrap()["may_sign"].clone()
    };
    assert_eq!((may_sign(&old["kid"]), may_sign(&rotated["kid"])), (json!(true), json!(true)));
    env.append("4").ok();
    assert_eq!(may_sign(&old["kid"]), true, "entry 5 is the last");
    env.append("5").ok();
    assert_eq!((may_sign(&old["kid"]), may_sign(&rotated["kid"])), (json!(false), json!(true)));
    let created = r#"{"program":"P","direction":"d"}"#;
    env.rp(&["append", "program.created", "--data", created, "--json"]).ok();
    assert_eq!(env.events().last().unwrap()["kid"], rotated["kid"], "the name is the new key's");
    let late = env.rp(&["key", "rotate", "owner", "--overlap-until", "5", "--json"]);
    late.refused(2, "bad-range");
    assert_eq!(env.key_files("owner").len(), 2, "the refused secret is not kept");
    assert_eq!(env.validate().0, 0);
}

#[test]
fn a_key_ends_with_the_entry_that_its_authorization_named() {
    let env = Env::new();
    env.rp(&["key", "new", "agent", "--role", "recorder", "--max-seq", "4"]).ok();
    let data = rejected("c");
    let by_agent = ["append", "command.rejected", "--as", "agent", "--data", &data, "--json"];
    assert_eq!(env.rp(&by_agent).ok().json()["seq"], 4);
    env.rp(&by_agent).refused(2, "key-revoked");
    env.rp(&["key", "new", "late", "--max-seq", "3", "--json"]).refused(2, "bad-range");
}

#[test]
fn a_key_file_that_others_may_read_is_refused() {
    let env = Env::new();
    let before = env.bytes();
    let file = env.key_files("recorder").remove(0);
    for exposed in [0o644, 0o640, 0o604, 0o601] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(exposed)).unwrap();
        let error = env.append("c").refused(2, "key-exposed");
        assert!(error["message"].as_str().unwrap().contains(&format!("{exposed:o}")), "{error}");
        assert!(error["next"][0].as_str().unwrap().starts_with("chmod 600 "), "{error}");
        assert_eq!(env.rp(&["doctor", "--json"]).json()["examined"][5]["sign"], "bad");
    }
    assert_eq!(env.bytes(), before);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    env.append("c").ok();
}

#[test]
fn a_secret_that_is_damaged_or_absent_signs_nothing() {
    let env = Env::new();
    let before = env.bytes();
    let (owner, recorder) = (env.key_files("owner").remove(0), env.key_files("recorder").remove(0));
    let secret = std::fs::read(&recorder).unwrap();
    std::fs::copy(&owner, &recorder).unwrap();
    env.append("c").refused(74, "key-damaged");
    std::fs::remove_file(&recorder).unwrap();
    let error = env.append("c").refused(2, "unknown-key");
    assert!(error["message"].as_str().unwrap().contains("`recorder`"), "{error}");
    assert_eq!(env.bytes(), before);
    assert!(!error.to_string().contains(&String::from_utf8(secret).unwrap()));
}

#[test]
fn the_signing_key_is_named_by_flag_variable_or_configuration() {
    let mut env = Env::new();
    let data = rejected("c");
    env.set("RP_KEY", "recorder");
    env.rp(&["append", "command.rejected", "--data", &data, "--json"]).ok();
    env.rp(&["--as", "owner", "append", "command.rejected", "--data", &data, "--json"])
        .refused(2, "role-missing");
    env.unset("RP_KEY");
    let error = env.rp(&["append", "command.rejected", "--data", &data, "--json"]);
    let error = error.refused(2, "role-missing");
    assert!(error["message"].as_str().unwrap().contains("key `owner`"), "{error}");
}

#[test]
fn a_revoked_recorder_costs_the_record_of_refusals_and_nothing_else() {
    let env = Env::new();
    env.rp(&["key", "revoke", "recorder", "--reason", "lost"]).ok();
    let data = rejected("c");
    let by_owner = ["append", "command.rejected", "--data", &data, "--json"];
    let error = env.rp(&by_owner).refused(2, "role-missing");
    assert_eq!(error["details"]["recorded"], false);
    let error = env.append("c").refused(2, "key-revoked");
    assert_eq!(error["details"]["recorded"], false);
    assert_eq!(env.size(), 4);
}

#[test]
fn without_the_recorders_secret_a_refusal_is_given_and_not_recorded() {
    let env = Env::new();
    std::fs::remove_file(env.key_files("recorder").remove(0)).unwrap();
    let before = env.bytes();
    let data = rejected("c");
    let error = env.rp(&["append", "command.rejected", "--data", &data, "--json"]);
    assert_eq!(error.refused(2, "role-missing")["details"]["recorded"], false);
    assert_eq!(env.bytes(), before);
}

#[test]
fn a_key_verb_repeated_under_its_own_name_records_nothing_twice() {
    // A fresh secret or a later position is no other request: the caller asked for the same thing.
    let env = Env::new();
    for line in [
        "key new agent --role monitor --idem a --json",
        "key rotate agent --idem b --json",
        "key revoke agent --reason r --idem c --json",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let first = env.rp(&args).ok().json();
        let size = env.size();
        let again = env.rp(&args).ok().json();
        assert_eq!(again["duplicate"], true, "{line}");
        assert_eq!((&again["seq"], &again["kid"]), (&first["seq"], &first["kid"]), "{line}");
        assert_eq!(env.size(), size, "{line}");
    }
    let other = ["key", "revoke", "owner", "--reason", "r", "--idem", "c", "--json"];
    env.rp(&other).refused(2, "idempotency-conflict");
}
