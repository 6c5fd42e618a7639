//! Lineage: the levels of a claim of the sample, written from its lines by hand, and what a fault reaches.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::{Value, json};

use crate::support::env::Env;

/// The keys of the sample, each with the role of its name.
const KEYS: [&str; 11] = [
    "user",
    "orchestrator",
    "claim-agent",
    "experiment-agent",
    "verify-agent",
    "iteration-agent",
    "launcher",
    "monitor",
    "paper-figure",
    "notify",
    "next-round",
];

/// The line of the sample that records the experiment of `C4_v2`; it is given an artifact to cite.
const RESULT: usize = 143;

/// The entry of a line of the sample: genesis, two keys of the workspace and eleven of the sample stand
/// before the first, the artifact before line [`RESULT`].
fn entry(line: usize) -> String {
    format!("event:{}", if line < RESULT { line + 13 } else { line + 14 })
}

/// The sample with one artifact, and the artifact's digest.
fn sample() -> (Env, String) {
    let mut env = Env::empty();
    env.set("RP_CLOCK", "2026-11-02T08:00:00Z");
    env.rp(&["init", "--profile", "compat"]).ok();
    for key in KEYS {
        env.rp(&["key", "new", key, "--role", key]).ok();
    }
    let text = fs::read_to_string("spec/samples/program/events.jsonl").unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let batch = ["append", "--batch", "--idem", "b"];
    env.rp_reading(&batch, &lines[..RESULT - 1].join("\n")).ok();
    let path = "runs/iteration_round_2/filler_type_slopes/summary.json";
    let file = env.work().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{\"clause\":-0.019}\n").unwrap();
    let added = env.rp(&["artifact", "add", path, "--as", "orchestrator", "--json"]).ok().json();
    let digest = added["artifacts"][0]["b3"].as_str().unwrap().to_owned();
    let mut rest: Vec<String> = lines[RESULT - 1..].iter().map(ToString::to_string).collect();
    let cause = format!("{{\"cause\":[[\"evidences\",\"b3:{digest}\"]],");
    rest[0] = rest[0].replacen('{', &cause, 1);
    env.rp_reading(&["append", "--batch", "--idem", "c"], &rest.join("\n")).ok();
    (env, digest)
}

fn trace(env: &Env, entity: &str) -> Value {
    env.rp(&["trace", entity, "--json"]).ok().json()
}

/// Holds a chain of relation and address to stand in the steps, each one level below the one before.
fn holds(steps: &Value, chain: &[(&str, &str)]) {
    let steps = steps.as_array().unwrap();
    let mut at = 0;
    for (depth, (relation, address)) in chain.iter().enumerate() {
        let found = steps[at..].iter().position(|step| {
            step["depth"] == json!(depth + 1)
                && step["relation"] == *relation
                && (step["address"] == *address || step["path"] == *address)
        });
        let found =
            found.unwrap_or_else(|| panic!("no `{relation} {address}` at level {}", depth + 1));
        let parted = steps[at..at + found].iter().any(|step| {
            depth > 0 && step["depth"].as_u64().unwrap() <= u64::try_from(depth).unwrap()
        });
        assert!(!parted, "`{relation} {address}` stands below something else");
        at += found + 1;
    }
}

#[test]
fn a_claim_of_the_sample_is_traced_level_by_level_down_to_bytes() {
    let (env, digest) = sample();
    let artifact = format!("artifact:b3:{digest}");
    let found = trace(&env, "claim:1/C4_v2");
    let down = &found["rests_on"];
    let e = entry;
    // Its last standing (line 156) comes from the verdict (153), that from the experiment's record (143) and
    // the artifact cited there, which entry 156 recorded.
    let (status, verdict, result) = (e(156), e(153), e(RESULT));
    let root =
        [("by", status.as_str()), ("verdict", verdict.as_str()), ("result", result.as_str())];
    let under = |more: &[(&'static str, String)]| {
        let mut chain: Vec<(&str, &str)> = root.to_vec();
        chain.extend(more.iter().map(|(relation, address)| (*relation, address.as_str())));
        holds(down, &chain);
    };
    under(&[("evidences", artifact.clone())]);
    // The table of line 187 is drawn from the same file; being newer, it comes first and opens it.
    holds(down, &[("by", &e(187)), ("file", &artifact), ("by", "event:156")]);
    // The run of line 137 was finished by 138; the review loop's action (134) asked for it, the review (132)
    // for the action.
    let run = "run:1/I3".to_owned();
    under(&[("run", run.clone()), ("by", e(138)), ("start", e(137)), ("action", e(134))]);
    // The phenomenon (line 34) was tested once (line 33), by run A1.
    let phenomenon = [("phenomenon", e(34)), ("test", e(33)), ("run", "run:1/A1".to_owned())];
    under(&phenomenon);
    let swap = |tag: usize| [("by", e(156)), ("verdict", e(153)), ("variant", e(tag))];
    for (audit, judgement) in [(149, 148), (152, 151)] {
        let mut chain = swap(audit).to_vec();
        chain.push(("judgement", e(judgement)));
        let chain: Vec<(&str, &str)> = chain.iter().map(|(r, a)| (*r, a.as_str())).collect();
        holds(down, &chain);
    }
    // It was seeded (135) under the licence of the action, in the place of C4, which the plan has.
    let (seeded, c4_seeded, plan) = (e(135), e(23), e(12));
    holds(down, &[("by", &seeded), ("licence", &e(134))]);
    holds(down, &[("by", &seeded), ("parent", "claim:1/C4"), ("by", &c4_seeded), ("plan", &plan)]);
    // The memory (193) repeats it, and so does each writing of the ledger (157 is the first).
    holds(&found["rested_on_by"], &[("claim", &e(157))]);
    holds(&found["rested_on_by"], &[("claim", &e(193))]);
    assert_eq!(found["marks"], json!([]));
}

#[test]
fn one_changed_byte_marks_all_that_rests_on_it_and_nothing_else() {
    let (env, digest) = sample();
    let blob = format!(".rp/blobs/b3/{}/{}/{digest}", &digest[..2], &digest[2..4]);
    let blob = env.work().join(blob);
    fs::set_permissions(&blob, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&blob, "{\"clause\":-0.018}\n").unwrap();
    let (exit, report) = env.validate();
    assert_eq!(exit, 2);
    let text = report["findings"][0]["text"].as_str().unwrap();
    assert!(text.contains(&format!("artifact:b3:{digest}")), "{text}");
    assert!(text.contains("cited by entry 157"), "{text}");
    let mark = json!([format!("rests on artifact:b3:{digest}, whose bytes do not hold")]);
    let memory = entry(193);
    for entity in ["claim:1/C4_v2", "round:1", "behavior:B1", "event:157", memory.as_str()] {
        assert_eq!(trace(&env, entity)["marks"], mark, "{entity}");
    }
    for entity in ["claim:1/C1", "claim:1/C4", "run:1/I3", "event:156", "round:2"] {
        assert_eq!(trace(&env, entity)["marks"], json!([]), "{entity}");
    }
    let text = env.rp(&["trace", "claim:1/C4_v2"]).ok().out;
    let line = text.lines().find(|line| line.contains("result event:157")).unwrap();
    assert!(line.contains("[!] rests on artifact:b3:"), "{line}");
    let unread = env.rp(&["trace", "claim:1/C4_v2", "--unread", "--json"]).ok().json();
    assert_eq!(unread["marks"], json!([]));
    assert_eq!(unread["not_checked"], json!(["signatures", "bytes of artifacts"]));
    // The pages are written all the same, and say it where it matters.
    assert_eq!(env.rp(&["fold", "interface", "--out", "site"]).code, 2);
    let page = |name: &str| fs::read_to_string(env.work().join("site").join(name)).unwrap();
    for name in ["claim-1-C4_v2.html", "round-1.html"] {
        assert!(page(name).contains("This rests on"), "{name}");
    }
    assert!(!page("claim-1-C1.html").contains("This rests on"));
    assert_eq!(page("claims.html").matches("rests on what does not hold").count(), 1);
}

#[test]
fn what_a_revoked_key_signed_when_it_was_suspect_marks_what_rests_on_it() {
    let (env, _) = sample();
    // Line 153 is the verdict on C4_v2, at entry 167; the key's earlier verdicts stay trusted.
    env.rp(&["key", "revoke", "verify-agent", "--reason", "lost", "--suspect-from", "167"]).ok();
    let found = trace(&env, "event:167");
    let own = "suspect: signed by key:verify-agent within its suspect range";
    assert_eq!(found["marks"], json!([own]));
    let mark = "rests on what key:verify-agent signed when it was suspect";
    assert_eq!(trace(&env, "claim:1/C4_v2")["marks"], json!([mark]));
    assert_eq!(trace(&env, "claim:1/C4")["marks"], json!([]));
    let shown = env.rp(&["show", "claim:1/C4_v2", "--json"]).ok().json();
    assert_eq!(shown["marks"], json!([mark]));
}

#[test]
fn a_depth_closes_levels_and_says_so() {
    let (env, _) = sample();
    let found = env.rp(&["trace", "claim:1/C4_v2", "--depth", "1", "--json"]).ok().json();
    let down = found["rests_on"].as_array().unwrap();
    assert!(down.iter().all(|step| step["depth"] == 1));
    assert!(down.iter().any(|step| step["address"] == entry(156) && step["cut"] == true));
    let run = env.rp(&["show", "run:1/I3", "--json"]).ok().json();
    let facts = run["facts"].as_array().unwrap();
    // Line 138 ends the run: 1.5 GPU-hours, said by the key `monitor`.
    let launch = json!({ "label": "launch", "value": "completed at entry 151" });
    let spent = json!({ "label": "measurement", "value": "gpu_hours 1.5 h, reported by monitor" });
    assert!(facts.contains(&launch) && facts.contains(&spent), "{facts:?}");
    env.rp(&["trace", "loop:x", "--json"]).refused(2, "unknown-entity");
    env.rp(&["show", "claim:9/C1", "--json"]).refused(2, "unknown-entity");
}
