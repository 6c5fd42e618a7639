//! `rp`: the signed, append-only record of an autonomous research program.
//!
//! This crate holds all effects: disk, clock, keys, processes, sockets. It decodes no bytes and judges no
//! rules itself; those are `rp_events`, `rp_replay` and `rp_validator`.
//!
//! In reading order: [`cli`] reads the command line and the environment; [`cmd`] has a file a verb;
//! [`workspace`] finds a journal and reads it; [`engine`] is the single door for recording; [`journal`] puts
//! bytes on the disk, [`artifacts`] what is cited by digest; [`archive`] moves a round's files; [`porcelain`] is
//! what the verbs of the program share; [`cache`] keeps folded records; [`keyring`] keeps secrets; [`render`] draws
//! documents; [`interface`] makes a folder of pages of them.
//!
//! What holds throughout:
//!
//! 1. The journal is the only ground state; all else can be deleted and folded again.
//! 2. Bytes are verified as read, never as written again.
//! 3. What is appended has passed the functions that an audit runs.
//! 4. Only `journal/` writes and syncs the journal, only `clock.rs` looks at time and waits.
//! 5. Opening after a crash and ordinary opening share one code path.
//! 6. Standard output is data, standard error is talk.

pub mod archive;
pub mod artifacts;
pub mod cache;
pub mod cli;
pub mod clock;
pub mod cmd;
pub mod engine;
pub mod error;
pub mod exit;
pub mod git;
pub mod interface;
pub mod journal;
pub mod keyring;
pub mod out;
pub mod porcelain;
pub mod render;
pub mod workspace;

pub use cmd::run;
