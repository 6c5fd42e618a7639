//! Where a command speaks: data on standard output, talk on standard error.

use std::io::{self, IsTerminal, Write};

use serde_json::Value;

use crate::{error::Failure, exit::Exit};

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` or `TERM=dumb` says otherwise.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The two channels of a command.
#[derive(Debug, Clone)]
pub struct Out {
    /// Whether standard output is one JSON document (or NDJSON for streams).
    pub json: bool,
    /// Whether colour is used on standard error.
    pub color: bool,
}

impl Out {
    /// Decides on colour from the flag and what the environment said.
    pub fn new(json: bool, color: Color, plain: bool) -> Self {
        let color = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => !plain && io::stderr().is_terminal(),
        };
        Self { json, color }
    }

    /// Writes data as it is.
    ///
    /// # Errors
    ///
    /// Standard output cannot be written; a reader that went away is none.
    pub fn data(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::new(Exit::IO, "io", format!("cannot write standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Writes one JSON document on one line.
    ///
    /// # Errors
    ///
    /// As [`Out::data`].
    pub fn document(&self, document: &Value) -> Result<(), Failure> {
        self.data(&format!("{document}\n"))
    }

    /// Says something to people; lost if nobody can hear it.
    pub fn talk(&self, text: &str) {
        drop(writeln!(io::stderr().lock(), "{text}"));
    }

    /// Says what a user should know although it is no fault.
    pub fn note(&self, text: &str) {
        let word = if self.color { "\u{1b}[36mnote:\u{1b}[0m" } else { "note:" };
        self.talk(&format!("{word} {text}"));
    }

    /// Reports a failure on the channel it belongs to.
    pub fn failure(&self, failure: &Failure) {
        if self.json {
            drop(self.document(&failure.to_json()));
        } else {
            let text = failure.to_text();
            let text = text.trim_end();
            let text = match text.strip_prefix("error:") {
                Some(rest) if self.color => format!("\u{1b}[31merror:\u{1b}[0m{rest}"),
                _ => text.to_owned(),
            };
            self.talk(&text);
        }
    }
}
