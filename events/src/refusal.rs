//! Refusals: a stable code, what was wrong with the values at hand, and the next legal step.
//!
//! A [`Code`] is declared once, beside its meaning, by the [`codes!`](crate::codes) macro; the text of a
//! [`Refusal`] is written where the rule stands, because only the rule knows the values.

use std::fmt;

/// A stable refusal code with its meaning, as listed in `spec/refusals.md`.
#[derive(Debug)]
pub struct Code {
    /// The wire name, `kebab-case`; never changes once published.
    pub name: &'static str,
    /// What is true whenever this code is given.
    pub meaning: &'static str,
    /// The next legal step that holds for every case of this code.
    pub next: &'static str,
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Code {}

/// Why something may not be recorded; the same value is a finding when it stands in history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The stable code.
    pub code: &'static Code,
    /// What was found and what was due, with the offending value last.
    pub why: String,
    /// Legal next steps, the most useful first. Never empty.
    pub next: Vec<String>,
}

impl Refusal {
    /// Makes a refusal whose next step is the code's own.
    pub fn new(code: &'static Code, why: impl Into<String>) -> Self {
        Self { code, why: why.into(), next: vec![code.next.to_owned()] }
    }

    /// Puts a more specific next step before the general one.
    #[must_use]
    pub fn hint(mut self, step: impl Into<String>) -> Self {
        self.next.insert(0, step.into());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.name, self.why)
    }
}

impl std::error::Error for Refusal {}

/// Declares refusal codes as constants and the table `ALL` of them, in the order written.
///
/// Each line reads `NAME = "wire-name", "what is true whenever it is given", "the next legal step";`.
#[macro_export]
macro_rules! codes {
    ($($name:ident = $wire:literal, $meaning:literal, $next:literal;)+) => {
        $(
            #[doc = concat!("`", $wire, "`: ", $meaning, ".")]
            pub static $name: $crate::Code =
                $crate::Code { name: $wire, meaning: $meaning, next: $next };
        )+
        /// Every code of this table, in the order written.
        pub static ALL: &[&$crate::Code] = &[$(&$name),+];
    };
}

/// The general codes of `decisions.md` 33: shape, signer, order, storage.
pub mod general {
    codes! {
        MALFORMED_JSON = "malformed-json", "the input is not one JSON value", "correct the input at the place named";
        DUPLICATE_KEY = "duplicate-key", "an object names one key twice", "keep one of the two";
        UNKNOWN_FIELD = "unknown-field", "the payload has a field that its kind does not have", "see `rp schema KIND` for the fields";
        MISSING_FIELD = "missing-field", "the payload lacks a field that its kind requires", "see `rp schema KIND` for the fields";
        BAD_TYPE = "bad-type", "a field holds a value of another type", "see `rp schema KIND` for the types";
        BAD_NUMBER = "bad-number", "a number is not written in the form its field takes", "write an integer field without fraction or exponent, and a decimal with at most 64 characters";
        BAD_TEXT = "bad-text", "a text holds characters that no record may hold, or an identifier is not one", "remove control characters and bidirectional overrides; identifiers are ASCII";
        TOO_DEEP = "too-deep", "the payload nests deeper than a record may", "flatten the payload, or store it as an artifact and cite its digest";
        PAYLOAD_TOO_LARGE = "payload-too-large", "the record would exceed the size of an entry", "store the large part as an artifact and cite its digest";
        UNKNOWN_KIND = "unknown-kind", "no event kind has this name", "see `rp kinds` for the names";
        UNKNOWN_KEY = "unknown-key", "the journal knows no key with this name or identifier", "see `rp key list`; a root key authorizes others with `rp key new`";
        KEY_REVOKED = "key-revoked", "the key may no longer sign at this point of the journal", "sign with another key (`rp key list`), or make one with `rp key new`";
        ROLE_MISSING = "role-missing", "the signing key does not hold the role that this act needs", "sign with a key that holds it (`rp key list`), or grant it with `rp key grant`";
        WRONG_OWNER = "wrong-owner", "the signing key holds no role that owns this mutation", "sign with a key of the owning role (`rp kinds` names it)";
        VERSION_CONFLICT = "version-conflict", "the journal or a stream is not at the version the caller expected", "read the current state and decide again";
        IDEMPOTENCY_CONFLICT = "idempotency-conflict", "the idempotency key was used for another request", "use a fresh key for a new request";
        TIME_REGRESSION = "time-regression", "a claimed time lies before the last one claimed in its stream", "claim a time that is not earlier, or none";
        TIME_IN_FUTURE = "time-in-future", "a claimed time lies more than five minutes ahead of the clock", "claim a time that has passed";
        CITATION_UNKNOWN = "citation-unknown", "a cited event or artifact does not stand earlier in this journal", "cite an event id that `rp log` shows";
        CITATION_KIND = "citation-kind", "the relation does not exist between these kinds", "see `rp kinds` for the relations";
        ARTIFACT_MISSING = "artifact-missing", "a named artifact is not stored", "add the artifact first";
        ARTIFACT_MISMATCH = "artifact-mismatch", "an artifact's bytes do not have the stated digest", "state the digest of the bytes that are there";
        DISK_FULL = "disk-full", "too little space is free to record more", "free space and retry with the same idempotency key";
        LOCK_HELD = "lock-held", "another process holds the journal's lock", "retry, or wait longer with `--wait`";
        READ_ONLY = "read-only", "the journal cannot be written in its present state", "see `rp validate`";
        // Envelope shape, met in history only: no command can produce them.
        BAD_ENVELOPE = "bad-envelope", "the entry's bytes are not an envelope of this version", "restore the entry from a copy whose head is known";
        BAD_ORDER = "bad-order", "the entry does not follow the one before it", "restore the journal from a copy whose head is known";
        BAD_SIGNATURE = "bad-signature", "the signature does not hold for these bytes and this key", "restore the entry from a copy whose head is known";
        BAD_STREAM = "bad-stream", "the stream is not one that this kind may stand in", "give `--round N`, or the stream that `rp kinds` names";
    }
}
