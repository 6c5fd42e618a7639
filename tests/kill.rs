//! SIGKILL at random moments of a batch: what was acknowledged is there once, in order, and a retry doubles
//! nothing.

#![expect(clippy::disallowed_methods, reason = "the moment of a kill is chosen by waiting")]

use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
    sync::mpsc::channel,
    thread,
    time::Duration,
};

use rp_validator::{Class, Signatures};
use serde_json::Value;

use crate::support::{
    env::{Env, rejected_line},
    tail::check,
};

const KILLS: usize = 300;
/// Lines that a process is given.
const LINES: usize = 5;
/// How many kills one workspace sees before everything is retried.
const ROUND: usize = 60;
/// Latest moment of a kill after the answer that was waited for.
const WINDOW_US: u64 = 12_000;

/// A small generator of known quality (xorshift64*), so that a run can be repeated from its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// What one process acknowledged: its lines' keys with position and event.
type Acknowledged = Vec<(String, u64, String)>;

/// Gives a process lines to record and kills it `delay` after its answer number `answer`; gives everything it
/// acknowledged.
fn killed(env: &Env, group: &str, lines: &str, answer: usize, delay: Duration) -> Acknowledged {
    let args = ["append", "--batch", "--group", group, "--json"];
    let mut child = env.command(&args).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let answers = BufReader::new(child.stdout.take().unwrap());
    let (told, hear) = channel();
    let reader = thread::spawn(move || {
        for line in answers.lines().map_while(Result::ok) {
            // A line that the kill cut in two acknowledges nothing to anyone.
            let Ok(answer) = serde_json::from_str::<Value>(&line) else { continue };
            if answer["schema"] == "rp.append/1" && told.send(receipt(&answer)).is_err() {
                break;
            }
        }
    });
    // All lines fit into the pipe; its end lets the last group be committed without being full.
    drop(pipe.write_all(lines.as_bytes()));
    drop(pipe);
    let mut acknowledged: Acknowledged = hear.iter().take(answer).collect();
    thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    acknowledged.extend(hear.iter());
    acknowledged
}

fn receipt(answer: &Value) -> (String, u64, String) {
    let text = |key: &str| answer[key].as_str().unwrap().to_owned();
    (text("idem"), answer["seq"].as_u64().unwrap(), text("event_id"))
}

#[test]
fn three_hundred_kills_lose_and_double_nothing() {
    let seed = u64::from(std::process::id()) << 20 | 0x5_eed;
    println!("seed {seed:#x}");
    // The rounds wait for the disk most of the time, so they wait side by side.
    let met: Vec<Met> = thread::scope(|scope| {
        let rounds = (1..=KILLS / ROUND).map(|n| scope.spawn(move || round(seed, n)));
        rounds.collect::<Vec<_>>().into_iter().map(|round| round.join().unwrap()).collect()
    });
    println!("{met:?}");
    let silent: usize = met.iter().map(|met| met.silent).sum();
    assert!(silent < KILLS / 2, "too few processes got as far as an answer: {met:?}");
}

/// What the kills left behind.
#[derive(Debug, Default)]
struct Met {
    torn: usize,
    unacknowledged: usize,
    /// Killed before any answer.
    silent: usize,
}

/// Some kills in one workspace, and a retry of everything.
fn round(seed: u64, number: usize) -> Met {
    let mut random = Random(seed ^ u64::try_from(number).unwrap() << 40);
    let mut met = Met::default();
    let mut env = Env::new();
    env.set("RP_SEGMENT_ENTRIES", "40");
    let (mut acknowledged, mut all) = (Acknowledged::new(), String::new());
    for kill in 0..ROUND {
        let mut lines = String::new();
        for n in 0..LINES {
            let key = format!("k{kill}-{n}");
            let bytes = usize::try_from(random.next() % 3000).unwrap();
            lines.push_str(&rejected_line(&format!("{key} {}", "x".repeat(bytes)), Some(&key)));
        }
        let delay = Duration::from_micros(random.next() % WINDOW_US);
        let answer = usize::try_from(random.next()).unwrap() % LINES;
        let group = if kill % 2 == 0 { "1" } else { "4" };
        let told = killed(&env, group, &lines, answer, delay);
        let report = check(&env, Signatures::Skip);
        let class = report.class();
        assert!(
            matches!(class, Class::Ok | Class::Torn),
            "seed {seed:#x}, kill {kill}: {report:?}"
        );
        met.torn += usize::from(class == Class::Torn);
        met.unacknowledged += usize::from(report.counts.unacknowledged > 0);
        met.silent += usize::from(told.is_empty());
        if class == Class::Torn || kill % 10 == 0 {
            assert_eq!(env.validate().0, i32::from(class.exit()), "seed {seed:#x}, kill {kill}");
        }
        acknowledged.extend(told);
        all.push_str(&lines);
    }
    settle(&env, &acknowledged, &all, seed);
    met
}

/// Repeats every line, and holds the journal to have each exactly once.
fn settle(env: &Env, acknowledged: &Acknowledged, all: &str, seed: u64) {
    let args = ["append", "--batch", "--json"];
    let mut answers = env.rp_reading(&args, all).ok().lines();
    let summary = answers.pop().unwrap();
    let (code, report) = env.validate();
    assert_eq!(code, 0, "seed {seed:#x}: {report}");
    let events = env.events();
    let mut once = std::collections::BTreeSet::new();
    for (n, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], n, "seed {seed:#x}");
        if let Some(code) = event["data"]["code"].as_str() {
            let key = code.split(' ').next().unwrap().to_owned();
            assert!(once.insert(key.clone()), "seed {seed:#x}: `{key}` is recorded twice");
        }
    }
    let mut last = 0;
    for (key, seq, id) in acknowledged {
        let event = &events[usize::try_from(*seq).unwrap()];
        assert_eq!(event["event_id"], id.as_str(), "seed {seed:#x}: `{key}` was acknowledged");
        let code = event["data"]["code"].as_str().unwrap();
        assert!(code.starts_with(&format!("{key} ")), "seed {seed:#x}: {key}");
        assert!(*seq > last, "seed {seed:#x}: acknowledged out of order");
        last = *seq;
    }
    for answer in answers {
        let (key, seq, id) = receipt(&answer);
        if let Some((_, first, first_id)) = acknowledged.iter().find(|told| told.0 == key) {
            assert_eq!(
                (seq, &id),
                (*first, first_id),
                "seed {seed:#x}: `{key}` is the stored event"
            );
            assert_eq!(answer["duplicate"], true, "seed {seed:#x}");
        }
    }
    let lines = u64::try_from(all.lines().count()).unwrap();
    let (new, old) =
        (summary["recorded"].as_u64().unwrap(), summary["duplicates"].as_u64().unwrap());
    assert_eq!(new + old, lines);
    let again = env.rp_reading(&args, all).ok().lines().pop().unwrap();
    assert_eq!((again["recorded"].as_u64(), again["duplicates"].as_u64()), (Some(0), Some(lines)));
}
