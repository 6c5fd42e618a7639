//! The command line's contract, verb by verb: answers, refusals, exit codes, one JSON document each.

mod append;
mod batch;
mod keys;
mod reading;
mod refusals;

use crate::support::env::{Env, rejected};

/// Every verb, as it stands after `rp`.
const VERBS: [&str; 52] = [
    "init",
    "key",
    "key new",
    "key list",
    "key show",
    "key grant",
    "key revoke",
    "key rotate",
    "append",
    "head",
    "fold",
    "import",
    "import program",
    "sync",
    "log",
    "show",
    "round",
    "round parse-args",
    "round open",
    "round resume",
    "round discard",
    "round archive",
    "round draft",
    "round report",
    "round settled",
    "round budget",
    "round override",
    "round notify",
    "claim",
    "claim list",
    "claim show",
    "claim history",
    "stage",
    "stage brief",
    "stage pin",
    "gate",
    "gate list",
    "trace",
    "artifact",
    "artifact add",
    "artifact get",
    "artifact list",
    "status",
    "kinds",
    "schema",
    "validate",
    "verify",
    "doctor",
    "quickstart",
    "completions",
    "man",
    "help",
];

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn with_json(line: &str) -> Vec<&str> {
    let mut args = words(line);
    args.push("--json");
    args
}

#[test]
fn every_verb_explains_itself_without_a_workspace() {
    let env = Env::empty();
    for verb in VERBS {
        let mut asked = words(verb);
        asked.push("--help");
        let answer = env.rp(&asked).ok();
        assert!(answer.out.contains(&format!("Usage: rp {verb}")), "{verb}: {answer:?}");
        assert_eq!(answer.err, "", "{verb}: help is data");
        let topic = env.rp(&[vec!["help"], words(verb)].concat()).ok();
        assert!(topic.out.contains(&format!("Usage: rp {verb}")), "{verb}: {topic:?}");
    }
    let topics = env.rp(&["help", "exit-codes"]).ok().out;
    for code in
        ["\n  2  ", "\n  3  ", "\n  4  ", "\n  5  ", "\n 64  ", "\n 73  ", "\n 74  ", "\n 75  "]
    {
        assert!(topics.contains(code), "{topics}");
    }
    assert!(topics.starts_with("  0  done"), "{topics}");
    assert!(env.rp(&["help", "environment"]).ok().out.contains("RP_HOME"));
    assert!(env.rp(&["--version"]).ok().out.starts_with("rp 0."));
}

#[test]
fn every_verb_answers_with_one_json_document_of_its_own_schema() {
    let env = Env::empty();
    let data = r#"{"program":"P","direction":"d"}"#;
    let due = [
        ("init", "rp.init/1"),
        ("key new agent --role monitor", "rp.key.new/1"),
        ("key grant agent --role launcher", "rp.key.grant/1"),
        ("key rotate agent", "rp.key.rotate/1"),
        ("key revoke agent --reason lost", "rp.key.revoke/1"),
        ("key list", "rp.key.list/1"),
        ("key show owner", "rp.key.show/1"),
        ("head", "rp.head/1"),
        ("fold --list", "rp.fold.list/1"),
        ("fold trust", "rp.view.trust/1"),
        ("sync", "rp.sync/1"),
        ("sync --check", "rp.sync/1"),
        ("show 0", "rp.show.event/1"),
        ("show event:1", "rp.show.event/1"),
        ("show key:owner", "rp.show.key/1"),
        ("trace key:owner", "rp.trace/1"),
        ("artifact add .rp/config.json", "rp.artifact.add/1"),
        ("artifact list", "rp.artifact.list/1"),
        ("kinds", "rp.kinds/1"),
        ("schema key.revoked", "rp.schema/1"),
        ("validate", "rp.validate/1"),
        ("validate .", "rp.validate/1"),
        ("verify", "rp.verify/1"),
        ("verify --explain", "rp.verify/1"),
        ("doctor", "rp.doctor/1"),
        ("completions bash", "rp.completions/1"),
        ("man", "rp.man/1"),
        ("help", "rp.help/1"),
        ("help append", "rp.help/1"),
        ("help exit-codes", "rp.help/1"),
    ];
    for (line, schema) in due {
        let document = env.rp(&with_json(line)).ok().json();
        assert_eq!(document["schema"], schema, "{line}");
    }
    let created = env.rp(&["append", "program.created", "--data", data, "--json"]).ok().json();
    assert_eq!(created["schema"], "rp.append/1");
    assert_eq!(env.rp(&["status", "--json"]).ok().json()["schema"], "rp.view.status/1");
    let log = env.rp(&["log", "--json"]).ok().lines();
    let (summary, events) = log.split_last().unwrap();
    assert!(events.iter().all(|event| event["schema"] == "rp.log.event/1"));
    assert_eq!(summary["schema"], "rp.log.summary/1");
    assert_eq!(summary["events"], events.len());
}

#[test]
fn misuse_exits_64_with_one_document_and_writes_nothing() {
    let env = Env::new();
    let before = env.bytes();
    let misused = [
        "",
        "nonsense",
        "init --profile other",
        "init --frobnicate",
        "key",
        "key new",
        "key new a --max-seq x",
        "key grant owner",
        "key revoke owner",
        "key rotate",
        "key show",
        "append",
        "append --batch command.rejected",
        "append command.rejected --group 3",
        "append --batch --data {}",
        "append --batch --cite evidences=x",
        "append --batch --claimed-at 2026-01-01T00:00:00Z",
        "append --batch - --file x",
        "append --batch --group 0",
        "append --batch --group 4097",
        "append command.rejected --data {} --file x",
        "append command.rejected --expect-stream trust",
        "append command.rejected --expect-stream trust=x",
        "append command.rejected --expect-size x",
        "append command.rejected --round 1 --stream program",
        "head --at nonsense",
        "fold",
        "fold nonsense",
        "fold trust --format nonsense",
        "fold trust --at nonsense",
        "sync nonsense",
        "log --since nonsense",
        "log --follow --at 1",
        "log --last x",
        "show",
        "status x",
        "schema",
        "validate --format nonsense",
        "verify --nonsense",
        "doctor x",
        "completions nonsense",
        "man x",
        "help nonsense",
        "--wait x head",
        "--color sometimes head",
    ];
    for line in misused {
        let args: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let answer = env.rp(&[&args[..], &["--json"]].concat());
        let error = answer.refused(64, "usage");
        assert_eq!(answer.out.lines().count(), 1, "{line}");
        assert!(error["message"].as_str().unwrap().len() > 10, "{line}: {error}");
        let plain = env.rp(&args);
        assert_eq!((plain.code, plain.out.as_str()), (64, ""), "{line}: talk is on stderr");
        assert!(!plain.err.is_empty(), "{line}");
    }
    let data = rejected("c");
    let cite = ["append", "command.rejected", "--data", &data, "--cite", "evidences", "--json"];
    env.rp(&cite).refused(64, "usage");
    assert_eq!(env.bytes(), before);
}

#[test]
fn without_a_workspace_every_verb_that_needs_one_names_init() {
    let env = Env::empty();
    let needing = [
        "key list",
        "key new a",
        "append command.rejected",
        "append --batch",
        "head",
        "fold trust",
        "sync",
        "log",
        "show 0",
        "status",
        "validate",
        "verify",
        "doctor",
    ];
    for line in needing {
        let error = env.rp(&with_json(line)).refused(64, "no-workspace");
        assert!(error["next"][0].as_str().unwrap().contains("rp init"), "{line}: {error}");
    }
    assert_eq!(std::fs::read_dir(env.work()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn a_workspace_is_found_from_below_and_by_flag() {
    let env = Env::new();
    let below = env.work().join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    let from_below = env.rp(&["-C", "a/b", "head"]).ok().out;
    assert_eq!(from_below, env.rp(&["head"]).ok().out);
    let other = Env::empty();
    let work = env.work();
    assert_eq!(other.rp(&["-C", work.to_str().unwrap(), "head"]).ok().out, from_below);
    assert_eq!(other.rp(&["-C", "nowhere", "head", "--json"]).code, 74);
    // Files that other flags name are looked for there as well.
    other.rp(&["-C", work.to_str().unwrap(), "fold", "trust", "--out", "trust.txt"]).ok();
    assert!(env.work().join("trust.txt").exists() && !other.work().join("trust.txt").exists());
}

#[test]
fn init_says_what_it_made_and_never_makes_it_twice() {
    let env = Env::empty();
    let made = env.rp(&["init", "--title", "T", "--origin", "a.example/x", "--json"]).ok().json();
    assert_eq!(made["origin"], "a.example/x");
    assert_eq!(made["profile"], "strict");
    assert_eq!(made["default_key"], "owner");
    assert_eq!(made["keys"], serde_json::json!(["root", "log", "owner", "recorder"]));
    let events = env.events();
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["journal.opened", "key.authorized", "key.authorized"]);
    assert_eq!(events[0]["event_id"], made["log_id"]);
    assert_eq!(events[0]["data"]["title"], "T");
    let before = env.bytes();
    env.rp(&["init", "--json"]).refused(73, "exists");
    assert_eq!(env.bytes(), before);
    assert_eq!(std::fs::read_dir(env.work()).unwrap().count(), 1, "nothing is left aside");
}

#[test]
fn init_refuses_a_bad_origin_and_records_the_profile() {
    let env = Env::empty();
    let error = env.rp(&["init", "--origin", "Not An Origin", "--json"]).refused(64, "usage");
    assert!(error["message"].as_str().unwrap().contains("Not An Origin"), "{error}");
    assert_eq!(std::fs::read_dir(env.work()).unwrap().count(), 0, "nothing was made");
    env.rp(&["init", "--profile", "compat"]).ok();
    assert_eq!(env.events()[0]["data"]["profile"], "compat");
    let origin = env.events()[0]["data"]["origin"].as_str().unwrap().to_owned();
    let digits = origin.strip_prefix("rp.local/").unwrap();
    assert!(digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit()), "{origin}");
}

#[test]
fn quickstart_never_writes_into_a_folder_that_is_there() {
    let env = Env::empty();
    std::fs::create_dir(env.work().join("rp-quickstart")).unwrap();
    env.rp(&["quickstart", "--json"]).refused(73, "exists");
    assert_eq!(std::fs::read_dir(env.work().join("rp-quickstart")).unwrap().count(), 0);
}

#[test]
fn colour_is_never_used_where_nobody_asked_for_it() {
    let mut env = Env::new();
    let colored = |env: &Env, when: &str| {
        let answer = env.rp(&["--color", when, "show", "nothing"]);
        assert_eq!(answer.code, 2);
        answer.err.contains('\u{1b}') || answer.out.contains('\u{1b}')
    };
    assert!(!colored(&env, "auto"));
    assert!(!colored(&env, "never"));
    env.unset("NO_COLOR");
    assert!(!colored(&env, "auto"), "standard error is no terminal here");
    assert!(colored(&env, "always"));
    assert!(!colored(&env, "never"));
    env.set("TERM", "dumb");
    assert!(!colored(&env, "auto"));
}

#[test]
fn data_is_on_standard_output_and_talk_on_standard_error() {
    let env = Env::new();
    let head = env.rp(&["head"]).ok();
    assert!(head.out.starts_with("rp-head 1\nlog "), "{head:?}");
    assert!(head.err.contains("signatures not checked"), "{head:?}");
    let refused = env.rp(&["append", "command.rejected", "--data", &rejected("c")]);
    assert_eq!(refused.out, "", "{refused:?}");
    assert!(refused.err.contains("[role-missing]") && refused.err.contains("next:"), "{refused:?}");
}
