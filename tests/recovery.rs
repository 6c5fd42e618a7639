//! What opening does with a journal that a crash, a fault or a hand left behind: what is set aside, what is
//! adopted, and what is never touched.

#![expect(clippy::disallowed_methods, reason = "tests damage files on purpose")]

use std::{fs, os::unix::fs::PermissionsExt, os::unix::process::CommandExt, sync::Arc};

use rp::{engine::Engine, journal::disk::Real};
use rp_events::{
    EventId, Seq,
    frame::{self, FrameKind, SegmentHeader},
};
use rp_validator::Class;
use serde_json::json;

use crate::support::{
    env::{Answer, Env, rejected, rejected_line},
    faulty::Faulty,
    tail::{Anchors, JUDGE, at, check, head, unacknowledged},
};

/// Puts a tail where the frames end, zeros up to the old length behind it.
fn put_tail(env: &Env, tail: &[u8]) {
    let head = head(env);
    let path = env.segment(head.segment.0);
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(at(head.end));
    bytes.extend_from_slice(tail);
    bytes.resize(bytes.len().next_multiple_of(4096), 0);
    fs::write(&path, bytes).unwrap();
}

fn quarantine(env: &Env) -> Vec<(String, Vec<u8>)> {
    let files = env.bytes().into_iter();
    files.filter(|(name, _)| name.starts_with("quarantine/")).collect()
}

#[test]
fn every_cut_of_an_unacknowledged_group_is_set_aside_and_recorded() {
    let env = Env::new();
    env.append("acknowledged").ok();
    let group = unacknowledged(&env, 2);
    let (anchors, head) = (Anchors::of(&env), head(&env));
    let workspace = env.workspace(Arc::new(Faulty::default()));
    for cut in 1..group.len() {
        anchors.restore();
        drop(fs::remove_dir_all(env.journal().join("quarantine")));
        put_tail(&env, &group[..cut]);
        let report = check(&env, JUDGE);
        if group[cut..].iter().all(|&b| b == 0) {
            // Only padding was cut, and the zero remainder is as good: the group is whole.
            assert_eq!((report.class(), report.counts.unacknowledged), (Class::Ok, 2), "cut {cut}");
            continue;
        }
        assert_eq!(
            (report.class(), report.counts.entries),
            (Class::Torn, 4),
            "cut {cut}: {report:?}"
        );
        let before = env.bytes();
        let engine = Engine::open(&workspace).unwrap();
        assert_eq!(engine.writer().head().size(), 5, "cut {cut}: four entries and the recovery");
        drop(engine);
        let content = group[..cut].iter().rposition(|&b| b != 0).unwrap() + 1;
        let torn = &group[..content];
        let digits: String = blake3::hash(torn).to_hex().chars().take(16).collect();
        let name = format!("quarantine/{:020}-{}-{digits}.torn", 0, head.end);
        assert_eq!(quarantine(&env), [(name, torn.to_vec())], "cut {cut}");
        let segment = format!("{:020}.rpj", 0);
        let kept = at(head.end);
        assert_eq!(env.bytes()[&segment][..kept], before[&segment][..kept], "cut {cut}");
        let report = check(&env, JUDGE);
        assert_eq!(
            (report.class(), report.counts.entries),
            (Class::Ok, 5),
            "cut {cut}: {report:?}"
        );
    }
}

#[test]
fn a_torn_tail_is_reported_by_readers_and_set_aside_by_the_next_append() {
    let env = Env::new();
    env.append("acknowledged").ok();
    let group = unacknowledged(&env, 3);
    let end = head(&env).end;
    put_tail(&env, &group[..group.len() / 2]);
    let (code, report) = env.validate();
    assert_eq!((code, &report["class"], &report["first_bad"]), (3, &json!("torn"), &json!(4)));
    assert!(report["findings"][0]["place"].as_str().unwrap().contains("rpj byte "), "{report}");
    // What was acknowledged can be read all the while.
    assert_eq!(env.size(), 4);
    let answer = env.append("after").ok();
    assert_eq!(answer.json()["seq"], 5);
    assert!(answer.err.contains("was never acknowledged; it is kept in"), "{answer:?}");
    let events = env.events();
    assert_eq!(
        (&events[4]["kind"], &events[4]["key"]),
        (&json!("journal.recovered"), &json!("recorder"))
    );
    let torn = &group[..group.len() / 2];
    let torn = &torn[..=torn.iter().rposition(|&b| b != 0).unwrap()];
    let recovered = &events[4]["data"];
    assert_eq!(recovered["kept"], 4);
    assert_eq!(recovered["cut_bytes"], torn.len());
    assert_eq!(recovered["cut_blake3"], blake3::hash(torn).to_hex().as_str());
    assert!(!recovered["cause"].as_str().unwrap().is_empty());
    assert_eq!(events[5]["data"]["code"], "after");
    assert_eq!(env.validate().0, 0);
    assert!(quarantine(&env)[0].0.contains(&format!("-{end}-")));
    // Opening again changes nothing more.
    env.append("again").ok();
    assert_eq!(quarantine(&env).len(), 1);
    assert_eq!(env.size(), 7);
}

#[test]
fn whole_entries_beyond_head_are_adopted() {
    let env = Env::new();
    unacknowledged(&env, 1);
    let (code, report) = env.validate();
    assert_eq!((code, &report["counts"]["unacknowledged"]), (0, &json!(1)));
    assert_eq!(env.size(), 3, "readers show what was acknowledged");
    let answer = env.append("next").ok();
    assert!(answer.err.contains("1 whole entries after the acknowledged ones were adopted"));
    assert_eq!(answer.json()["seq"], 4);
    let events = env.events();
    assert_eq!(events[3]["data"]["code"], "unacknowledged 0");
    assert_eq!(quarantine(&env).len(), 0);
    let (code, report) = env.validate();
    assert_eq!((code, &report["counts"]["unacknowledged"]), (0, &json!(0)));
}

#[test]
fn an_adopted_event_answers_the_retry_of_its_caller() {
    let env = Env::new();
    let anchors = Anchors::of(&env);
    let data = rejected("c");
    let args = [
        "append",
        "command.rejected",
        "--as",
        "recorder",
        "--data",
        &data,
        "--idem",
        "k",
        "--json",
    ];
    let first = env.rp(&args).ok().json();
    anchors.restore();
    let again = env.rp(&args).ok().json();
    assert_eq!((&again["duplicate"], &again["event_id"]), (&json!(true), &first["event_id"]));
    assert_eq!(env.size(), 4);
}

/// A forged tail: whole frames whose entry nobody signed.
#[test]
fn what_would_not_be_admitted_is_not_adopted() {
    let env = Env::new();
    let group = unacknowledged(&env, 1);
    let head = head(&env);
    let segment = fs::read(env.segment(0)).unwrap();
    let salt = SegmentHeader::decode(&segment).unwrap().salt;
    let mut entry = frame::decode(&group, salt).unwrap().payload.to_vec();
    let last = entry.len() - 1;
    entry[last] ^= 1;
    let mut forged = Vec::new();
    frame::encode(FrameKind::Entry { more: false }, Seq(3), head.size(), salt, &entry, &mut forged);
    put_tail(&env, &forged);
    let (code, report) = env.validate();
    assert_eq!((code, &report["first_bad"]), (2, &json!(3)), "{report}");
    let before = env.bytes();
    env.append("c").refused(2, "bad-signature");
    assert_eq!(env.bytes(), before);
}

#[test]
fn frames_written_by_hand_beyond_head_are_judged_by_what_they_say() {
    let env = Env::new();
    let head = head(&env);
    let salt = SegmentHeader::decode(&fs::read(env.segment(0)).unwrap()).unwrap().salt;
    let due = |durable: u64, seq: u64, salt: u64, more: bool| {
        let mut bytes = Vec::new();
        frame::encode(FrameKind::Entry { more }, Seq(seq), durable, salt, b"no entry", &mut bytes);
        bytes
    };
    let cases = [
        // A frame of another segment, of another position, an open group, a broken one.
        (due(3, 3, salt ^ 1, false), 3),
        (due(3, 7, salt, false), 3),
        (due(3, 3, salt, true), 3),
        (b"garbage!".to_vec(), 3),
        // A whole frame that holds no entry cannot be adopted.
        (due(3, 3, salt, false), 2),
        // Damage before a frame that says the damaged entry was acknowledged.
        ([b"garbage!".to_vec(), due(4, 5, salt, false)].concat(), 2),
        // The same, saying so of the entries before it only.
        ([b"garbage!".to_vec(), due(3, 5, salt, false)].concat(), 3),
    ];
    for (n, (tail, code)) in cases.into_iter().enumerate() {
        put_tail(&env, &tail);
        assert_eq!(env.validate().0, code, "case {n}");
        put_tail(&env, &[]);
        assert_eq!(env.validate().0, 0, "case {n}");
    }
    assert_eq!(head.size(), 3);
}

#[test]
fn damage_to_what_was_acknowledged_stops_every_writer_and_is_left_alone() {
    let env = Env::new();
    env.append("first").ok();
    env.append("second").ok();
    let path = env.segment(0);
    let whole = fs::read(&path).unwrap();
    let end = at(head(&env).end);
    for byte in [end - 1, end - 100, end - 500] {
        let mut damaged = whole.clone();
        damaged[byte] ^= 0x10;
        fs::write(&path, &damaged).unwrap();
        assert_eq!(env.validate().0, 2, "byte {byte}");
        let before = env.bytes();
        let error = env.append("c");
        // Opening reads the last frame alone; earlier damage is found by the fold.
        assert_eq!(error.code, 2, "byte {byte}: {error:?}");
        assert_eq!(env.bytes(), before, "byte {byte}: nothing is touched");
    }
    // Cut inside the last frame: the same.
    fs::write(&path, &whole[..end - 9]).unwrap();
    assert_eq!(env.validate().0, 2);
    let before = env.bytes();
    env.append("c").refused(2, "read-only");
    assert_eq!(env.bytes(), before);
}

#[test]
fn missing_acknowledged_entries_are_a_rollback() {
    let env = Env::new();
    env.append("first").ok();
    let end = at(head(&env).end);
    env.append("second").ok();
    let path = env.segment(0);
    let whole = fs::read(&path).unwrap();
    let mut zeroed = whole.clone();
    zeroed[end..].fill(0);
    for bytes in [&whole[..end], &zeroed] {
        fs::write(&path, bytes).unwrap();
        let (code, report) = env.validate();
        assert_eq!(
            (code, &report["class"], &report["first_bad"]),
            (4, &json!("rollback"), &json!(4))
        );
        let before = env.bytes();
        env.append("c").refused(4, "read-only");
        assert_eq!(env.bytes(), before);
        assert_eq!(env.rp(&["head", "--json"]).code, 4);
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(env.rp(&["append", "command.rejected", "--data", &rejected("c")]).code, 5);
    assert_ne!(env.validate().0, 0);
}

/// What follows the last finished group is no part of the record, though its entries are whole.
#[test]
fn a_group_that_was_acknowledged_and_is_cut_begins_the_rollback() {
    let env = Env::new();
    let lines: String = (0..3).map(|n| rejected_line(&format!("{n}"), None)).collect();
    let start = at(head(&env).end);
    env.rp_reading(&["append", "--batch", "--json"], &lines).ok();
    let path = env.segment(0);
    let whole = fs::read(&path).unwrap();
    let salt = SegmentHeader::decode(&whole).unwrap().salt;
    let first = frame::decode(&whole[start..], salt).unwrap().len;
    let second = frame::decode(&whole[start + first..], salt).unwrap().len;
    for end in [start, start + first, start + first + second] {
        fs::write(&path, &whole[..end]).unwrap();
        let (code, report) = env.validate();
        assert_eq!(
            (code, &report["first_bad"], &report["counts"]["entries"]),
            (4, &json!(3), &json!(3))
        );
    }
}

#[test]
fn a_restored_older_copy_is_a_rollback() {
    let env = Env::new();
    env.append("first").ok();
    let older = env.bytes();
    env.append("second").ok();
    for (name, bytes) in &older {
        fs::write(env.journal().join(name), bytes).unwrap();
    }
    let (code, report) = env.validate();
    assert_eq!((code, &report["class"]), (4, &json!("rollback")), "{report}");
    env.append("c").refused(4, "read-only");
    fs::remove_file(env.remembered()).unwrap();
    assert_eq!(env.validate().0, 0, "without the remembered checkpoint nobody can know");
}

#[test]
fn a_journal_that_contradicts_head_is_a_fork() {
    let env = Env::new();
    let (anchors, before) = (Anchors::of(&env), env.bytes());
    env.append("one").ok();
    let told = Anchors::of(&env);
    anchors.restore();
    for (name, bytes) in &before {
        fs::write(env.journal().join(name), bytes).unwrap();
    }
    env.append("other").ok();
    told.restore();
    assert_eq!(env.validate().0, 4);
    let before = env.bytes();
    env.append("c").refused(4, "read-only");
    assert_eq!(env.bytes(), before);
}

#[test]
fn a_lost_head_is_rebuilt_from_the_remembered_checkpoint_and_from_nothing_else() {
    let env = Env::new();
    env.append("first").ok();
    let head_file = env.journal().join("HEAD");
    fs::remove_file(&head_file).unwrap();
    let (code, report) = env.validate();
    assert_eq!(code, 0);
    assert!(report["notes"].to_string().contains("HEAD is missing"), "{report}");
    assert!(!head_file.exists(), "validate writes nothing");
    assert_eq!(env.size(), 4);
    let answer = env.append("second").ok();
    assert!(answer.err.contains("HEAD was lost"), "{answer:?}");
    assert_eq!((head(&env).size(), env.validate().0), (5, 0));

    fs::remove_file(&head_file).unwrap();
    fs::remove_file(env.remembered()).unwrap();
    let (code, report) = env.validate();
    assert_eq!((code, &report["class"]), (5, &json!("unverifiable")));
    let before = env.bytes();
    env.append("c").refused(5, "read-only");
    assert_eq!(env.bytes(), before);
}

#[test]
fn one_damaged_slot_of_head_costs_nothing() {
    for slot in [0, 1] {
        let env = Env::new();
        env.append("first").ok();
        let path = env.journal().join("HEAD");
        let mut bytes = fs::read(&path).unwrap();
        bytes[slot * 4096 + 50] ^= 1;
        fs::write(&path, bytes).unwrap();
        let (code, report) = env.validate();
        assert_eq!(code, 0, "slot {slot}: {report}");
        assert!(report["notes"].to_string().contains("damaged"), "{report}");
        assert_eq!(env.append("second").ok().json()["seq"], 4, "slot {slot}");
        env.append("third").ok();
        let (code, report) = env.validate();
        assert_eq!((code, &report["counts"]["entries"]), (0, &json!(6)));
        assert_eq!(report["notes"], json!([]), "both slots hold again");
    }
}

#[test]
fn without_the_recorders_key_a_torn_tail_is_read_only() {
    let torn = || {
        let env = Env::new();
        let group = unacknowledged(&env, 2);
        (env, group)
    };
    let leave = |env: &Env, group: &[u8], lose: &dyn Fn(&Env)| {
        lose(env);
        put_tail(env, &group[..group.len() - 70]);
        let before = env.bytes();
        let args = ["key", "grant", "owner", "--role", "monitor", "--json"];
        let error = env.rp(&args).refused(3, "read-only");
        assert!(error["next"][0].as_str().unwrap().contains("`recorder`"), "{error}");
        assert_eq!(env.bytes(), before, "the tail stays");
        assert_eq!(env.validate().0, 3);
    };
    let (env, group) = torn();
    leave(&env, &group, &|env| fs::remove_file(&env.key_files("recorder")[0]).unwrap());
    let (env, group) = torn();
    leave(&env, &group, &|env| {
        let open = fs::Permissions::from_mode(0o644);
        fs::set_permissions(&env.key_files("recorder")[0], open).unwrap();
    });
    let env = Env::new();
    env.rp(&["key", "revoke", "recorder", "--reason", "lost"]).ok();
    leave(&env, &[7; 100], &|_| {});
}

#[test]
fn rotation_leaves_sealed_files_that_nobody_may_write() {
    let mut env = Env::new();
    env.set("RP_SEGMENT_ENTRIES", "3");
    for n in 0..20 {
        env.append(&format!("{n} {}", "x".repeat(n * 37))).ok();
    }
    let (code, report) = env.validate();
    assert_eq!(code, 0, "{report}");
    // 23 entries, three a segment: the last one holds entries 21 and 22.
    assert_eq!(
        (&report["counts"]["entries"], &report["counts"]["segments"]),
        (&json!(23), &json!(8))
    );
    for first in (0..21).step_by(3) {
        let mode = fs::metadata(env.segment(first)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o444, "segment {first}");
        let bytes = fs::read(env.segment(first)).unwrap();
        let salt = SegmentHeader::decode(&bytes).unwrap().salt;
        let seal = frame::decode(&bytes[bytes.len() - 80..], salt).unwrap();
        assert_eq!((seal.header.kind, seal.header.seq), (FrameKind::Seal, Seq(first + 3)));
    }
    assert_eq!(env.events().len(), 23);
    for (first, bad) in [(6, 6), (18, 18)] {
        let path = env.segment(first);
        let whole = fs::read(&path).unwrap();
        let more = [&whole[..], &[0; 8]].concat();
        fs::write(&path, &more).unwrap();
        let (code, report) = env.validate();
        assert_eq!((code, &report["first_bad"]), (2, &json!(bad + 3)), "zeros after a seal");
        fs::remove_file(&path).unwrap();
        let (code, report) = env.validate();
        assert_eq!((code, &report["first_bad"]), (2, &json!(bad)), "a segment is missing");
        fs::write(&path, &whole).unwrap();
    }
    assert_eq!(env.validate().0, 0);
}

#[test]
fn a_batch_over_rotations_holds() {
    let mut env = Env::new();
    env.set("RP_SEGMENT_BYTES", "6000");
    let lines: String = (0..40).map(|n| rejected_line(&"y".repeat(n * 20), None)).collect();
    env.rp_reading(&["append", "--batch", "--group", "3", "--json"], &lines).ok();
    let (code, report) = env.validate();
    assert_eq!((code, &report["counts"]["entries"]), (0, &json!(43)), "{report}");
    assert!(report["counts"]["segments"].as_u64().unwrap() > 3, "{report}");
}

/// A journal whose second segment is about to begin, with everything that a rotation leaves at each step.
fn rotated() -> (Env, Anchors, Vec<u8>, Vec<u8>) {
    let mut env = Env::new();
    env.append("3").ok();
    let anchors = Anchors::of(&env);
    let open = fs::read(env.segment(0)).unwrap();
    env.set("RP_SEGMENT_ENTRIES", "4");
    env.append("4").ok();
    let sealed = fs::read(env.segment(0)).unwrap();
    fs::set_permissions(env.segment(0), fs::Permissions::from_mode(0o644)).unwrap();
    (env, anchors, open, sealed)
}

#[test]
fn a_crash_between_seal_and_next_segment_costs_nothing() {
    let (env, anchors, _, sealed) = rotated();
    let next = fs::read(env.segment(4)).unwrap();
    let zeros = [&sealed[..], &vec![0; 3000]].concat();
    let states: [(&[u8], Option<&[u8]>); 5] = [
        // The seal is written and the zeros are not cut; cut; the next segment has its header alone; it has
        // zeros as well; it has its entry.
        (&zeros, None),
        (&sealed, None),
        (&sealed, Some(&next[..128])),
        (&sealed, Some(&[&next[..128], &[0; 400][..]].concat())),
        (&sealed, Some(&next)),
    ];
    for (n, (first, second)) in states.into_iter().enumerate() {
        anchors.restore();
        fs::set_permissions(env.segment(0), fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(env.segment(0), first).unwrap();
        drop(fs::remove_file(env.segment(4)));
        if let Some(second) = second {
            fs::write(env.segment(4), second).unwrap();
        }
        assert_eq!(env.validate().0, 0, "state {n}");
        let due = if n == 4 { 5 } else { 4 };
        assert_eq!(env.append("on").ok().json()["seq"], due, "state {n}");
        let (code, report) = env.validate();
        assert_eq!((code, &report["counts"]["segments"]), (0, &json!(2)), "state {n}: {report}");
        assert_eq!(quarantine(&env).len(), 0, "state {n}");
        assert_eq!(fs::read(env.segment(0)).unwrap(), sealed, "state {n}");
    }
}

#[test]
fn a_torn_seal_is_set_aside_like_any_torn_tail() {
    let (env, anchors, open, sealed) = rotated();
    let end = {
        anchors.restore();
        at(head(&env).end)
    };
    for cut in [1, 8, 39, 41, 79] {
        anchors.restore();
        drop(fs::remove_dir_all(env.journal().join("quarantine")));
        drop(fs::remove_file(env.segment(4)));
        drop(fs::remove_file(env.segment(5)));
        let mut bytes = open.clone();
        bytes[end..end + cut].copy_from_slice(&sealed[end..end + cut]);
        fs::set_permissions(env.segment(0), fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(env.segment(0), &bytes).unwrap();
        assert_eq!(env.validate().0, 3, "cut {cut}");
        env.append("on").ok();
        assert_eq!(env.validate().0, 0, "cut {cut}");
        assert_eq!(quarantine(&env).len(), 1, "cut {cut}");
        assert_eq!(env.events()[4]["kind"], "journal.recovered", "cut {cut}");
    }
}

#[test]
fn a_half_made_next_segment_is_set_aside_whole() {
    let (env, anchors, _, sealed) = rotated();
    let next = fs::read(env.segment(4)).unwrap();
    let damaged = [&next[..60], &[0xff], &next[61..128]].concat();
    for half in [&[][..], &next[..1], &next[..127], &damaged] {
        anchors.restore();
        drop(fs::remove_dir_all(env.journal().join("quarantine")));
        drop(fs::remove_file(env.segment(4)));
        drop(fs::remove_file(env.segment(5)));
        fs::set_permissions(env.segment(0), fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(env.segment(0), &sealed).unwrap();
        fs::write(env.segment(4), half).unwrap();
        assert_eq!(env.validate().0, 3, "{} bytes", half.len());
        env.append("on").ok();
        let (code, report) = env.validate();
        assert_eq!(code, 0, "{} bytes: {report}", half.len());
        assert_eq!(env.events()[4]["kind"], "journal.recovered", "{} bytes", half.len());
        assert!(quarantine(&env).iter().any(|(_, bytes)| bytes == half), "{} bytes", half.len());
    }
    // The file that a crash leaves under its working name is no part of the journal.
    fs::write(env.journal().join("00000000000000000009.rpj.new"), b"half").unwrap();
    assert_eq!(env.validate().0, 0);
    env.append("on").ok();
}

/// Root may write what nobody may; its owner may not, so the last segment is never protected.
#[test]
fn rotation_works_for_a_user_who_is_not_root() {
    let (env, anchors, _, sealed) = rotated();
    anchors.restore();
    fs::write(env.segment(0), &sealed).unwrap();
    fs::remove_file(env.segment(4)).unwrap();
    let nobody = 65_534;
    let is_root = is_root();
    for path in everything(env.work().parent().unwrap()).iter().filter(|_| is_root) {
        std::os::unix::fs::chown(path, Some(nobody), Some(nobody)).unwrap();
    }
    for n in 4..12 {
        let data = rejected("c");
        let args = ["append", "command.rejected", "--as", "recorder", "--data", &data, "--json"];
        let mut command = env.command(&args);
        if is_root {
            command.uid(nobody).gid(nobody);
        }
        assert_eq!(Answer::of(command.spawn().unwrap()).ok().json()["seq"], n);
    }
    assert_eq!(env.validate().0, 0);
    let mode = |first| fs::metadata(env.segment(first)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(0), mode(4), mode(8)), (0o444, 0o444, 0o644));
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    let probe = crate::support::env::Temp::new();
    fs::metadata(probe.path()).unwrap().uid() == 0
}

fn everything(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut all = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            all.extend(everything(&entry.path()));
        } else {
            all.push(entry.path());
        }
    }
    all
}

#[test]
fn the_walk_and_the_writer_agree_where_frames_end() {
    let env = Env::new();
    env.append("c").ok();
    let engine = Engine::open(&env.workspace(Arc::new(Real))).unwrap();
    assert_eq!(engine.writer().head().size(), 4);
    assert_eq!(engine.writer().log_id(), env.log_id());
    assert_ne!(engine.writer().log_id(), EventId::ZERO);
    assert!(engine.notes.is_empty() && engine.writer().remembers());
}
