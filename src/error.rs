//! Failures of commands: what happened, where, and the next step; drawn by one renderer.

use std::{fmt, io, path::Path};

use rp_events::{Refusal, refusal::general};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::exit::Exit;

/// Why a command did not do what it was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// A stable code.
    pub code: String,
    /// What was found and what was due.
    pub message: String,
    /// Values that a program may want.
    pub details: Map<String, Value>,
    /// Next steps, the most useful first.
    pub next: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// A failure with a code of its own.
    pub fn new(exit: Exit, code: &str, message: impl Into<String>) -> Self {
        Self {
            exit,
            code: code.to_owned(),
            message: message.into(),
            details: Map::new(),
            next: Vec::new(),
        }
    }

    /// Misuse of the command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::USAGE, "usage", message)
    }

    /// A file could not be read or written.
    pub fn io(what: &str, path: &Path, error: &io::Error) -> Self {
        let failure =
            Self::new(Exit::IO, "io", format!("cannot {what} `{}`: {error}", path.display()));
        failure.detail("path", path.display().to_string())
    }

    /// Adds a next step.
    #[must_use]
    pub fn hint(mut self, step: impl Into<String>) -> Self {
        self.next.push(step.into());
        self
    }

    /// Adds a value.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Serialize) -> Self {
        self.details.insert(key.to_owned(), json!(value));
        self
    }

    /// The document of `--json`.
    pub fn to_json(&self) -> Value {
        json!({
            "schema": "rp.error/1",
            "code": self.code,
            "message": self.message,
            "details": self.details,
            "next": self.next,
        })
    }

    /// The lines for people.
    pub fn to_text(&self) -> String {
        let mut out = format!("error: {} [{}]\n", self.message, self.code);
        for step in &self.next {
            out.push_str(&format!("  next: {step}\n"));
        }
        out
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let exit = if *refusal.code == general::LOCK_HELD {
            Exit::LOCKED
        } else if *refusal.code == general::DISK_FULL {
            Exit::IO
        } else {
            Exit::REFUSED
        };
        let mut failure = Self::new(exit, refusal.code.name, refusal.why);
        failure.next = refusal.next;
        failure
    }
}
