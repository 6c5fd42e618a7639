//! The suite: every test that looks at the project from outside, in one binary.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

mod cases;
mod cli;
mod concurrent;
mod disk;
mod kill;
mod recovery;
mod support;
