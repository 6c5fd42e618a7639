//! Several processes at one journal: the lock, who holds it, and what readers see meanwhile.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use fs2::FileExt;
use serde_json::Value;

use crate::support::env::{Answer, Env, rejected, rejected_line};

const WRITERS: usize = 8;
const APPENDS: usize = 64;

/// Payload texts of 10 bytes to 16 KiB, most of them short.
fn text(writer: usize, n: usize) -> String {
    let name = format!("w{writer}-{n:03}.");
    let bytes = if n % 16 == 15 { 16 * 1024 } else { 10 << (n % 8) };
    format!("{name}{}", "x".repeat(bytes - name.len()))
}

/// Eight processes at a time, each recording 64 events one by one; then everything is counted.
pub(crate) fn eight_writers() {
    assert_eq!((text(0, 0).len(), text(7, 63).len()), (10, 16 * 1024));
    let mut env = Env::new();
    env.set("RP_SEGMENT_ENTRIES", "200");
    let receipts: Vec<Vec<(u64, String)>> = thread::scope(|scope| {
        let env = &env;
        let threads: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn(move || (0..APPENDS).map(|n| append(env, writer, n)).collect())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let events = env.events();
    assert_eq!(events.len(), 3 + WRITERS * APPENDS);
    for (n, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], n, "the positions have no gap");
    }
    let mut acknowledged = BTreeSet::new();
    for (writer, receipts) in receipts.iter().enumerate() {
        // Each process sees its own events in the order in which it recorded them.
        assert!(receipts.is_sorted_by_key(|(seq, _)| *seq));
        for (n, (seq, id)) in receipts.iter().enumerate() {
            let event = &events[usize::try_from(*seq).unwrap()];
            assert_eq!(event["event_id"], id.as_str());
            assert_eq!(event["data"]["code"], text(writer, n));
            assert!(acknowledged.insert(*seq), "entry {seq} was acknowledged twice");
        }
    }
    assert_eq!(acknowledged.len(), WRITERS * APPENDS);
    let (code, report) = env.validate();
    assert_eq!((code, &report["counts"]["entries"]), (0, &Value::from(515)));
    assert_eq!(report["counts"]["segments"], 3, "515 entries, 200 a segment");
}

fn append(env: &Env, writer: usize, n: usize) -> (u64, String) {
    let data = rejected(&text(writer, n));
    let args = ["append", "command.rejected", "--as", "recorder", "--wait", "120", "--json", "-"];
    let answer = env.rp_reading(&args, &data).ok().json();
    assert_eq!(answer["duplicate"], false);
    (answer["seq"].as_u64().unwrap(), answer["event_id"].as_str().unwrap().to_owned())
}

#[test]
fn readers_among_writers_see_a_journal_that_holds() {
    let env = Env::new();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (env, done) = (&env, &done);
        let readers: Vec<_> = ["validate", "log", "head"]
            .into_iter()
            .map(|verb| {
                scope.spawn(move || {
                    let mut runs = 0;
                    while !done.load(Ordering::Relaxed) || runs < 3 {
                        let answer = env.rp(&[verb, "--json"]);
                        assert_eq!(answer.code, 0, "{verb}: {answer:?}");
                        runs += 1;
                    }
                })
            })
            .collect();
        let lines: String = (0..120).map(|n| rejected_line(&text(n % 8, n % 64), None)).collect();
        env.rp_reading(&["append", "--batch", "--group", "3", "--json"], &lines).ok();
        for n in 0..20 {
            env.append(&text(0, n)).ok();
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
    assert_eq!(env.size(), 143);
}

#[test]
fn a_held_lock_is_refused_at_once_with_its_holder() {
    let env = Env::new();
    let mut holder = env
        .command(&["append", "--batch", "--group", "1", "--json"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = holder.stdin.take().unwrap();
    let mut answers = BufReader::new(holder.stdout.take().unwrap()).lines();
    pipe.write_all(rejected_line("first", None).as_bytes()).unwrap();
    answers.next().unwrap().unwrap();
    // The holder has recorded a line and waits for the next one.
    let before = env.bytes();
    let data = rejected("c");
    let args = ["append", "command.rejected", "--as", "recorder", "--data", &data, "--wait", "0"];
    let error = env.rp(&[&args[..], &["--json"]].concat()).refused(75, "lock-held");
    let name = format!("pid {} (rp)", holder.id());
    assert_eq!(error["details"]["holder"], name.as_str());
    assert!(error["message"].as_str().unwrap().contains(&name), "{error}");
    assert!(error["next"][0].as_str().unwrap().contains("--wait"), "{error}");
    let plain = env.rp(&args);
    assert!(plain.code == 75 && plain.err.contains(&name), "{plain:?}");
    assert_eq!(env.bytes(), before);
    // Readers do not wait, and say that somebody writes.
    let (code, report) = env.validate();
    assert_eq!((code, &report["counts"]["entries"]), (0, &Value::from(4)));
    assert!(report["notes"].to_string().contains("being written"), "{report}");
    let doctor = env.rp(&["doctor", "--json"]).ok().json();
    assert!(doctor["examined"].to_string().contains(&name), "{doctor}");
    drop(pipe);
    assert!(holder.wait().unwrap().success());
    env.rp(&args).ok();
}

#[test]
fn a_writer_waits_for_the_lock_as_long_as_it_was_told_to() {
    let env = Env::new();
    let lock = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(env.journal().join("LOCK"))
        .unwrap();
    lock.lock_exclusive().unwrap();
    lock.set_len(0).unwrap();
    (&lock).write_all(b"someone else\n").unwrap();
    let data = rejected("c");
    let args = ["append", "command.rejected", "--as", "recorder", "--data", &data, "--json"];
    let error = env.rp(&[&args[..], &["--wait", "1"]].concat()).refused(75, "lock-held");
    assert_eq!(error["details"]["holder"], "someone else");
    let waiting = env.command(&[&args[..], &["--wait", "60"]].concat()).spawn().unwrap();
    // However long the child takes to get there, it is refused before and served after this.
    env.rp(&[&args[..], &["--wait", "0"]].concat()).refused(75, "lock-held");
    FileExt::unlock(&lock).unwrap();
    assert_eq!(Answer::of(waiting).ok().json()["seq"], 3);
}

#[test]
fn a_lock_file_that_was_replaced_locks_nobody_out() {
    let env = Env::new();
    let path = env.journal().join("LOCK");
    let old = std::fs::File::open(&path).unwrap();
    old.lock_exclusive().unwrap();
    std::fs::remove_file(&path).unwrap();
    env.append("the lock that counts has the name").ok();
    assert!(path.exists());
}
