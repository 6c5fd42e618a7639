//! The suite: every test that looks at the project from outside, in one binary.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "tests start the program and write files to damage")]
#![expect(clippy::indexing_slicing, reason = "a test that reads past an end fails")]
#![expect(clippy::as_conversions, reason = "small numbers of tests")]

mod artifacts;
mod bytes;
mod cases;
mod cli;
mod concurrent;
mod conformance;
mod determinism;
mod disk;
mod kill;
mod pages;
mod program;
mod recovery;
mod rundir;
mod support;
mod tamper;
mod tidy;
mod trace;
mod vectors;
