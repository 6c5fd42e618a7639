//! Every byte cut, every bit flipped, every file damaged: `rp_validator` names what it is, and where; and the
//! verifier in another language says the same.

use std::{
    collections::BTreeMap,
    io::Write,
    num::NonZero,
    process::{Command, Stdio},
};

use rp_events::head::Slots;
use rp_replay::Scope;
use rp_validator::{Class, Question, Report, Signatures, source::Memory};

use crate::support::corpus::{Corpus, corpus, grouped, two_segments};

fn judge(files: &Memory, remembered: Option<&Slots>) -> Report {
    let known = |_| remembered.cloned();
    let question = Question {
        scope: Scope::Trust,
        signatures: Signatures::Judge(NonZero::<usize>::MIN),
        remembered: &known,
        receipt: None,
        being_written: false,
        files: None,
    };
    rp_validator::check(files, &question)
}

fn class(files: &Memory) -> (Class, Option<u64>) {
    let report = judge(files, None);
    (report.class(), report.first_bad().map(|seq| seq.0))
}

/// An edit of the files of a journal, and its form for the other verifier.
#[derive(Debug, Clone)]
enum Edit {
    Flip(String, usize),
    Truncate(String, usize),
    Zeros(String, usize),
    Append(String, Vec<u8>),
    Delete(String),
    Zero(String),
    Empty(String),
    Swap(String, String),
}

impl Edit {
    fn apply(&self, files: &mut Memory) {
        let at = |files: &mut Memory, name: &String| files.0.get_mut(name).unwrap() as *mut Vec<u8>;
        let _ = at;
        match self {
            Self::Flip(name, bit) => files.0.get_mut(name).unwrap()[bit / 8] ^= 1 << (bit % 8),
            Self::Truncate(name, len) => files.0.get_mut(name).unwrap().truncate(*len),
            Self::Zeros(name, n) => files.0.get_mut(name).unwrap().extend(vec![0; *n]),
            Self::Append(name, bytes) => files.0.get_mut(name).unwrap().extend(bytes),
            Self::Delete(name) => drop(files.0.remove(name)),
            Self::Zero(name) => files.0.get_mut(name).unwrap().fill(0),
            Self::Empty(name) => files.0.get_mut(name).unwrap().clear(),
            Self::Swap(a, b) => {
                let (x, y) = (files.0[a].clone(), files.0[b].clone());
                files.0.insert(a.clone(), y);
                files.0.insert(b.clone(), x);
            }
        }
    }

    fn json(&self) -> String {
        match self {
            Self::Flip(f, bit) => format!(r#"{{"op":"flip","file":"{f}","bit":{bit}}}"#),
            Self::Truncate(f, len) => format!(r#"{{"op":"truncate","file":"{f}","len":{len}}}"#),
            Self::Zeros(f, n) => format!(r#"{{"op":"append","file":"{f}","zeros":{n}}}"#),
            Self::Append(f, bytes) => {
                let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
                format!(r#"{{"op":"append","file":"{f}","hex":"{hex}"}}"#)
            }
            Self::Delete(f) => format!(r#"{{"op":"delete","file":"{f}"}}"#),
            Self::Zero(f) => format!(r#"{{"op":"zero","file":"{f}"}}"#),
            Self::Empty(f) => format!(r#"{{"op":"empty","file":"{f}"}}"#),
            Self::Swap(a, b) => format!(r#"{{"op":"swap","a":"{a}","b":"{b}"}}"#),
        }
    }
}
