//! Every byte cut, every bit flipped, every file damaged: the check names what it is, and where; and the
//! verifier in another language says the same.

use std::{
    fs,
    io::Write,
    num::NonZero,
    process::{Command, Stdio},
};

use rp_replay::Scope;
use rp_validator::{Class, Question, Report, Signatures, source::Memory, walk::segment_first};

use crate::support::corpus::{Corpus, corpus, two_segments, unacknowledged};

fn judge(files: &Memory, signatures: Signatures) -> Report {
    let question = Question {
        scope: Scope::Trust,
        signatures,
        remembered: &|_| None,
        receipt: None,
        being_written: false,
        artifacts: None,
        files: None,
    };
    rp_validator::check(files, &question)
}

/// An edit of the files of a journal, in a form that the other verifier reads as well.
#[derive(Debug, Clone)]
enum Edit {
    Flip(String, usize),
    Truncate(String, usize),
    Zeros(String, usize),
    Append(String, &'static str),
    Delete(String),
    Zero(String),
    Empty(String),
    Swap(String, String),
}

impl Edit {
    fn apply(&self, original: &Memory) -> Memory {
        let mut files = original.clone();
        let mut change =
            |name: &String, how: &dyn Fn(&mut Vec<u8>)| how(files.0.get_mut(name).unwrap());
        match self {
            Self::Flip(name, bit) => change(name, &|file| file[bit / 8] ^= 1 << (bit % 8)),
            Self::Truncate(name, len) => change(name, &|file| file.truncate(*len)),
            Self::Zeros(name, n) => change(name, &|file| file.resize(file.len() + n, 0)),
            Self::Append(name, text) => change(name, &|file| file.extend(text.bytes())),
            Self::Zero(name) => change(name, &|file| file.fill(0)),
            Self::Empty(name) => change(name, &|file| file.clear()),
            Self::Delete(name) => drop(files.0.remove(name)),
            Self::Swap(a, b) => {
                let (x, y) = (files.0[a].clone(), files.0[b].clone());
                files.0.insert(a.clone(), y);
                files.0.insert(b.clone(), x);
            }
        }
        files
    }

    fn json(&self) -> String {
        match self {
            Self::Flip(f, bit) => format!(r#"{{"op":"flip","file":"{f}","bit":{bit}}}"#),
            Self::Truncate(f, len) => format!(r#"{{"op":"truncate","file":"{f}","len":{len}}}"#),
            Self::Zeros(f, n) => format!(r#"{{"op":"append","file":"{f}","zeros":{n}}}"#),
            Self::Append(f, text) => {
                let hex = data_encoding::HEXLOWER.encode(text.as_bytes());
                format!(r#"{{"op":"append","file":"{f}","hex":"{hex}"}}"#)
            }
            Self::Delete(f) => format!(r#"{{"op":"delete","file":"{f}"}}"#),
            Self::Zero(f) => format!(r#"{{"op":"zero","file":"{f}"}}"#),
            Self::Empty(f) => format!(r#"{{"op":"empty","file":"{f}"}}"#),
            Self::Swap(a, b) => format!(r#"{{"op":"swap","a":"{a}","b":"{b}"}}"#),
        }
    }
}

/// Every flip and cut of every file, and each way to lose or spoil one.
fn edits(corpus: &Corpus) -> Vec<Edit> {
    let mut all = Vec::new();
    for (name, bytes) in &corpus.files.0 {
        // Every bit and every cut; of HEAD one bit a byte and each eighth cut, since a unit test of its slots flips every bit of them.
        let step = if name == "HEAD" { 8 } else { 1 };
        all.extend((0..bytes.len() * 8).step_by(step).map(|bit| Edit::Flip(name.clone(), bit)));
        all.extend((0..bytes.len()).step_by(step).map(|len| Edit::Truncate(name.clone(), len)));
        all.extend([8, 512, 4096].map(|n| Edit::Zeros(name.clone(), n)));
        all.extend([
            Edit::Append(name.clone(), "stray bytes"),
            Edit::Delete(name.clone()),
            Edit::Zero(name.clone()),
            Edit::Empty(name.clone()),
        ]);
    }
    let segments: Vec<&String> =
        corpus.files.0.keys().filter(|name| segment_first(name).is_some()).collect();
    if let [a, b] = segments[..] {
        all.push(Edit::Swap(a.clone(), b.clone()));
    }
    all
}

fn outcome(corpus: &Corpus, edit: &Edit, signatures: Signatures) -> (Class, Option<u64>) {
    let report = judge(&edit.apply(&corpus.files), signatures);
    (report.class(), report.first_bad().map(|seq| seq.0))
}

/// What section 7 of the format says of an edit of the four-entry corpus, worked out here by hand.
#[expect(clippy::match_same_arms, reason = "an arm a sentence of the text, in its order")]
fn due(corpus: &Corpus, edit: &Edit) -> Class {
    let is_last = |name: &String| *name == corpus.last;
    match edit {
        Edit::Flip(name, _) | Edit::Truncate(name, _) if name == "HEAD" => match edit {
            // One slot always survives a flip; a cut of the file may take both.
            Edit::Truncate(_, len) if *len < 4096 => Class::Unverifiable,
            _ => Class::Ok,
        },
        Edit::Flip(name, bit) if is_last(name) && *bit >= corpus.content * 8 => Class::Torn,
        Edit::Flip(..) => Class::Broken,
        Edit::Truncate(name, len) if is_last(name) => {
            if *len >= corpus.content {
                Class::Ok
            } else if corpus.ends.contains(len) {
                Class::Rollback
            } else {
                Class::Broken
            }
        }
        Edit::Zeros(name, _) if name != "FORMAT" => Class::Ok,
        Edit::Append(name, _) if name == "HEAD" => Class::Ok,
        Edit::Append(name, _) if is_last(name) => Class::Torn,
        Edit::Delete(name) | Edit::Zero(name) | Edit::Empty(name) if name == "HEAD" => {
            Class::Unverifiable
        }
        Edit::Delete(name) if is_last(name) => Class::Rollback,
        Edit::Truncate(..)
        | Edit::Zeros(..)
        | Edit::Append(..)
        | Edit::Delete(_)
        | Edit::Zero(_)
        | Edit::Empty(_)
        | Edit::Swap(..) => Class::Broken,
    }
}

#[test]
fn every_flip_and_cut_of_a_small_journal_is_named_for_what_it_is() {
    let corpus = corpus();
    let whole = judge(&corpus.files, Signatures::Judge(NonZero::<usize>::MIN));
    assert_eq!((whole.class(), whole.counts.entries, whole.counts.signatures), (Class::Ok, 4, 4));
    let all = edits(&corpus);
    assert!(all.len() > 17_000);
    for edit in &all {
        // The signatures of untouched entries need not be judged again for each of a hundred thousand edits.
        let (class, _) = outcome(&corpus, edit, Signatures::Skip);
        assert_eq!(class, due(&corpus, edit), "{edit:?}");
    }
}

#[test]
fn the_first_bad_entry_of_a_damaged_frame_is_that_frame() {
    let corpus = corpus();
    for (n, window) in corpus.ends.windows(2).enumerate() {
        for byte in (window[0]..window[1]).step_by(7) {
            let edit = Edit::Flip(corpus.last.clone(), byte * 8);
            let threads = Signatures::Judge(NonZero::<usize>::MIN);
            assert_eq!(
                outcome(&corpus, &edit, threads),
                (Class::Broken, Some(n as u64)),
                "{edit:?}"
            );
        }
        let cut = Edit::Truncate(corpus.last.clone(), window[0]);
        assert_eq!(outcome(&corpus, &cut, Signatures::Skip), (Class::Rollback, Some(n as u64)));
    }
}

#[test]
fn damage_of_a_tail_that_nobody_was_promised_is_a_torn_tail() {
    let corpus = unacknowledged();
    let whole = judge(&corpus.files, Signatures::Judge(NonZero::<usize>::MIN));
    assert_eq!(
        (whole.class(), whole.counts.entries, whole.counts.unacknowledged),
        (Class::Ok, 6, 2)
    );
    let [.., floor, middle, end] = corpus.ends[..] else { panic!("six entries") };
    for byte in floor..end {
        for edit in [
            Edit::Flip(corpus.last.clone(), byte * 8 + 3),
            Edit::Truncate(corpus.last.clone(), byte),
        ] {
            // A cut at the floor leaves nothing torn behind; the open group goes as a whole.
            let due = match edit {
                Edit::Truncate(_, len) if len == floor => (Class::Ok, None),
                _ => (Class::Torn, Some(4)),
            };
            assert_eq!(outcome(&corpus, &edit, Signatures::Skip), due, "{edit:?}");
        }
    }
    assert!(middle < end);
}

#[test]
fn a_forged_payload_with_its_checksums_made_anew_is_broken_by_its_signature() {
    let mut corpus = corpus();
    let segment = corpus.files.0.get_mut(&corpus.last).unwrap();
    let (start, end) = (corpus.ends[3], corpus.ends[4]);
    let frame = rp_events::frame::decode(&segment[start..], 0x0102_0304_0506_0708).unwrap();
    let mut payload = frame.payload.to_vec();
    let last = payload.len() - 1;
    payload[last] ^= 1;
    let mut forged = Vec::new();
    let header = frame.header;
    rp_events::frame::encode(
        header.kind,
        header.seq,
        header.durable_upto,
        0x0102_0304_0506_0708,
        &payload,
        &mut forged,
    );
    segment[start..end].copy_from_slice(&forged);
    let report = judge(&corpus.files, Signatures::Judge(NonZero::new(2).unwrap()));
    assert_eq!((report.class(), report.first_bad().map(|s| s.0)), (Class::Broken, Some(3)));
    assert!(report.findings.iter().any(|finding| finding.code == "bad-signature"), "{report:?}");
}

/// Whether the other verifier can run here.
fn python() -> bool {
    let probe = Command::new("python3")
        .args(["-c", "import blake3, cryptography"])
        .stderr(Stdio::null())
        .status();
    probe.is_ok_and(|status| status.success())
}

fn other_verifier(corpus: &Corpus, edits: &[Edit]) -> Vec<(String, Option<u64>)> {
    let folder =
        std::env::temp_dir().join(format!("rp-tamper-{}-{}", std::process::id(), corpus.content));
    let journal = folder.join(".rp/journal");
    fs::create_dir_all(&journal).unwrap();
    for (name, bytes) in &corpus.files.0 {
        fs::write(journal.join(name), bytes).unwrap();
    }
    let mut lines = fs::File::create(folder.join("edits")).unwrap();
    for (id, edit) in edits.iter().enumerate() {
        writeln!(lines, r#"{{"id":{id},"edits":[{}]}}"#, edit.json()).unwrap();
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/spec/verify.py");
    let output = Command::new("python3")
        .arg(script)
        .arg(&folder)
        .arg("--mutations")
        .arg(folder.join("edits"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let read = |line: &str| {
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        (json["class"].as_str().unwrap().to_owned(), json["first_bad"].as_u64())
    };
    text.lines().map(read).collect()
}

#[test]
fn the_verifier_in_another_language_agrees_on_every_edit() {
    if !python() {
        println!("skipped: python3 with the packages blake3 and cryptography is not here");
        return;
    }
    for corpus in [corpus(), unacknowledged(), two_segments()] {
        let all = edits(&corpus);
        let theirs = other_verifier(&corpus, &all);
        assert_eq!(theirs.len(), all.len());
        for (edit, (class, first_bad)) in all.iter().zip(theirs) {
            let ours = outcome(&corpus, edit, Signatures::Skip);
            assert_eq!((ours.0.name(), ours.1), (class.as_str(), first_bad), "{edit:?}");
        }
    }
}
