//! The suite: every test that looks at the project from outside, in one binary.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod cli;
mod concurrent;
mod disk;
mod kill;
mod recovery;
mod support;
