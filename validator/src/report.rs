//! What a check found, with what it looked at.

use std::fmt;

use rp_events::{Digest, EventId, Seq};

/// The class of an outcome, worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Looked at something, and it holds.
    Ok,
    /// A tail that was never acknowledged is not whole.
    Torn,
    /// There are no entries.
    Nothing,
    /// No anchor says whether the tail was cut, or the bytes of an artifact are not there.
    Unverifiable,
    /// Entries that an anchor promises are missing.
    Rollback,
    /// An anchor contradicts the journal.
    Fork,
    /// Acknowledged history is damaged or forged, an artifact has other bytes, or a derived file differs from
    /// its fold.
    Broken,
    /// A file could not be read.
    Unreadable,
}

impl Class {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Torn => "torn",
            Self::Nothing => "nothing",
            Self::Unverifiable => "unverifiable",
            Self::Rollback => "rollback",
            Self::Fork => "fork",
            Self::Broken => "broken",
            Self::Unreadable => "unreadable",
        }
    }

    /// The verdict of four values.
    pub fn verdict(self) -> &'static str {
        match self {
            Self::Ok => "pass",
            Self::Torn | Self::Rollback | Self::Fork | Self::Broken => "fail",
            Self::Nothing => "nothing-to-check",
            Self::Unverifiable | Self::Unreadable => "could-not-run",
        }
    }

    /// The exit code of `rp help exit-codes`.
    pub fn exit(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Broken => 2,
            Self::Torn => 3,
            Self::Rollback | Self::Fork => 4,
            Self::Nothing | Self::Unverifiable => 5,
            Self::Unreadable => 74,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One thing that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub class: Class,
    /// A stable code: a refusal's, or one of the check's own.
    pub code: &'static str,
    /// The entry it is about, where it is about one.
    pub seq: Option<Seq>,
    /// The file, and the byte where that helps.
    pub place: String,
    /// What was found and what was due.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.text)?;
        match self.seq {
            Some(seq) => write!(f, " (entry {seq}, {})", self.place),
            None => write!(f, " ({})", self.place),
        }
    }
}

/// How much was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments read.
    pub segments: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Entries whose place in chain and tree holds.
    pub entries: u64,
    /// Signatures judged.
    pub signatures: u64,
    /// Entries that every rule asked let pass.
    pub rules: u64,
    /// Artifacts whose bytes were looked for.
    pub artifacts: u64,
    /// Derived files compared with their fold.
    pub views: u64,
    /// Whole entries after the last acknowledged one.
    pub unacknowledged: u64,
}

/// The outcome of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What does not hold.
    pub findings: Vec<Finding>,
    /// What a reader should know although it is no fault.
    pub notes: Vec<String>,
    /// How much was looked at.
    pub counts: Counts,
    /// The root over the entries read.
    pub root: Option<Digest>,
    /// The last event read.
    pub last: Option<EventId>,
    /// The journal.
    pub log_id: Option<EventId>,
    /// What was not looked at, in words.
    pub not_checked: Vec<&'static str>,
}

impl Report {
    /// The worst class of any finding.
    pub fn class(&self) -> Class {
        self.findings.iter().map(|finding| finding.class).max().unwrap_or(Class::Ok)
    }

    /// The first position of the class that is reported.
    pub fn first_bad(&self) -> Option<Seq> {
        let class = self.class();
        self.findings.iter().filter(|finding| finding.class == class).filter_map(|f| f.seq).min()
    }

    pub(crate) fn find(
        &mut self,
        class: Class,
        code: &'static str,
        seq: Option<Seq>,
        place: impl Into<String>,
        text: impl Into<String>,
    ) {
        self.findings.push(Finding { class, code, seq, place: place.into(), text: text.into() });
    }
}
