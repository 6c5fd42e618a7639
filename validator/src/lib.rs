//! Is this directory a true journal? Reads it, and nothing else: no write, no lock, no process.
//!
//! [`check`] runs the passes in order: the chain ([`walk`]: bytes, links, tree), the meaning ([`meaning`]:
//! keys, rules, signatures), the anchors ([`anchors`]), the artifacts ([`artifacts`]), the derived files
//! ([`derived`]). What it finds is a [`Report`] with the counts of what it looked at; a pass over nothing is not a pass.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod anchors;
pub mod artifacts;
pub mod derived;
pub mod meaning;
mod report;
pub mod rundir;
pub mod source;
pub mod walk;

pub use anchors::{Anchors, Receipt};
pub use meaning::Signatures;
pub use report::{Class, Counts, Finding, Report};

use std::io;

use rp_events::{EventId, head::Slots};
use rp_replay::{Scope, State};

use crate::{
    anchors::Promise,
    derived::ReadFile,
    meaning::{Fold, Offence},
    source::Source,
    walk::{End, Plan, Until, Walked},
};

/// The content of the file `FORMAT`.
pub const FORMAT: &[u8] = b"rp-journal 1\n";

/// What to check, and what else is known.
pub struct Question<'q> {
    /// Which rules to ask.
    pub scope: Scope,
    /// Whether to judge signatures.
    pub signatures: Signatures,
    /// The remembered checkpoint, given the log id; `None` if there is none.
    pub remembered: &'q dyn Fn(EventId) -> Option<Slots>,
    /// A receipt to hold the journal against.
    pub receipt: Option<Receipt>,
    /// Whether another process is writing: then only what HEAD promises is judged.
    pub being_written: bool,
    /// Where the bytes of artifacts are kept, if they are to be checked.
    pub artifacts: Option<&'q dyn Source>,
    /// Where derived files are read, if they are to be compared.
    pub files: Option<ReadFile<'q>>,
}

/// Checks a journal folder.
pub fn check(source: &impl Source, question: &Question<'_>) -> Report {
    let mut report = Report::default();
    if let Err(error) = run(source, question, &mut report) {
        report.find(Class::Unreadable, "unreadable", None, "the journal", error.to_string());
    }
    report
}

fn run(source: &impl Source, question: &Question<'_>, report: &mut Report) -> io::Result<()> {
    let mut format = Vec::new();
    let is_journal = source.read("FORMAT", &mut format)?
        || source.names()?.iter().any(|name| name == "HEAD" || walk::segment_first(name).is_some());
    if is_journal && format != FORMAT {
        let text = "the file does not say `rp-journal 1`, or is missing";
        report.find(Class::Broken, "format", None, "FORMAT", text);
        return Ok(());
    }
    let anchors = read_anchors(source, question)?;
    anchors.note_damage(report);
    let promises = anchors.promises();
    let until = match (&anchors.head, question.being_written) {
        (Some(Slots { head: Some(head), .. }), true) => {
            report.notes.push(
                "the journal is being written; only what HEAD promises was judged".to_owned(),
            );
            Until::Size(head.size())
        }
        _ => Until::End { floor: anchors.floor() },
    };
    let (walked, fold) = fold(source, question, &promises, until, report)?;
    report.counts.segments = walked.segments;
    report.counts.bytes = walked.bytes;
    report.counts.entries = walked.position.chain.next().0;
    report.counts.unacknowledged = report.counts.entries.saturating_sub(anchors.floor());
    report.root = Some(walked.position.chain.frontier().root());
    report.last = Some(walked.position.chain.last());
    report.log_id = walked.position.log_id;
    conclude(walked.end, report);
    anchors.check_log(report.log_id, report);
    unanchored(&promises, report);
    if report.class() != Class::Ok {
        return Ok(());
    }
    if let Some(store) = question.artifacts {
        artifacts::check(&fold.state, source, store, report)?;
    }
    if let Some(files) = question.files {
        derived::check(&fold.state, files, report);
    }
    Ok(())
}

fn read_anchors(source: &impl Source, question: &Question<'_>) -> io::Result<Anchors> {
    let mut bytes = Vec::new();
    let head = source.read("HEAD", &mut bytes)?.then(|| Slots::read(&bytes));
    let remembered = log_id(source)?.and_then(question.remembered);
    Ok(Anchors { head, remembered, receipt: question.receipt.clone() })
}

/// The journal that the first segment with a whole header names; damage elsewhere must not hide an anchor.
///
/// # Errors
///
/// A file that cannot be read.
pub fn log_id(source: &impl Source) -> io::Result<Option<EventId>> {
    let mut bytes = Vec::new();
    for name in source.names()?.iter().filter(|name| walk::segment_first(name).is_some()) {
        source.read_part(name, 0, walk::header_bytes(), &mut bytes)?;
        if let Some(header) = rp_events::frame::SegmentHeader::decode(&bytes) {
            return Ok(Some(header.log_id));
        }
    }
    Ok(None)
}

/// Walks and folds at once, comparing each promise when its size is reached.
fn fold(
    source: &impl Source,
    question: &Question<'_>,
    promises: &[Promise],
    until: Until,
    report: &mut Report,
) -> io::Result<(Walked, Fold)> {
    let mut fold = Fold::new(State::default(), question.scope);
    let watch = promises.iter().map(|promise| promise.size).collect();
    let plan = Plan { watch, ..Plan::whole(until) };
    let (walked, judged, offences) = meaning::judging(question.signatures, |jobs| {
        walk::walk(source, plan, &mut |parsed, _| fold.take(parsed, jobs))
    });
    let walked = walked?;
    fold.judged = judged;
    fold.offences.extend(offences);
    report.counts.signatures = judged;
    report.counts.rules = fold.admitted;
    for Offence { seq, refusal } in &fold.offences {
        report.find(Class::Broken, refusal.code.name, Some(*seq), "entry", refusal.why.clone());
    }
    for promise in promises {
        let reached = walked.watched.iter().find(|chain| chain.next().0 == promise.size);
        if reached.is_some_and(|chain| !promise.is_kept_by(chain)) {
            let text = format!("another root is promised for {} entries", promise.size);
            report.find(Class::Fork, "fork", None, promise.name, text);
        }
    }
    Ok((walked, fold))
}

fn conclude(end: End, report: &mut Report) {
    match end {
        End::Clean | End::Stopped => {}
        End::Torn { finding, .. } | End::Fault(finding) => report.findings.push(finding),
    }
}

fn unanchored(promises: &[Promise], report: &mut Report) {
    if !promises.is_empty() {
        return;
    }
    if report.counts.entries == 0 {
        report.find(
            Class::Nothing,
            "nothing",
            None,
            "the journal",
            "there are no entries and no anchor",
        );
    } else {
        let text = "no anchor says whether the tail was cut: HEAD is gone, and no checkpoint is remembered here";
        report.find(Class::Unverifiable, "unanchored", None, "HEAD", text);
    }
}
