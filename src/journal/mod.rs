//! The journal on disk: its files, its lock, its one writer.
//!
//! Only this folder writes and syncs the journal. What its bytes mean is decided elsewhere: the formats in
//! `rp_events`, the walk in `rp_validator`, the rules in `rp_replay`.

pub mod disk;
pub mod durable;
pub mod lock;
mod open;
mod writer;

pub use open::{Caller, Cut, OpenError, Opened, create, open};
pub use writer::{AppendError, Item, RESERVE_BYTES_MAX, Writer};

use std::path::{Path, PathBuf};

use rp_events::{EventId, head::Slots};

/// Sizes that tests make small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knobs {
    /// A segment is finished before it would grow past this many bytes.
    pub segment_bytes_max: u64,
    /// A segment is finished when it holds this many entries.
    pub segment_entries_max: u64,
    /// Segments grow by this many bytes at a time.
    pub allocation_step_bytes: u64,
}

impl Default for Knobs {
    fn default() -> Self {
        Self {
            segment_bytes_max: 64 << 20,
            segment_entries_max: 100_000,
            allocation_step_bytes: 1 << 20,
        }
    }
}

/// Where a journal and what belongs to it are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// `.rp/journal`.
    pub folder: PathBuf,
    /// The folder of remembered checkpoints, outside the workspace.
    pub known: PathBuf,
}

impl Paths {
    /// The file `LOCK`.
    pub fn lock(&self) -> PathBuf {
        self.folder.join("LOCK")
    }

    /// The file `HEAD`.
    pub fn head(&self) -> PathBuf {
        self.folder.join("HEAD")
    }

    /// The folder of torn tails.
    pub fn quarantine(&self) -> PathBuf {
        self.folder.join("quarantine")
    }

    /// The remembered checkpoint of a journal.
    pub fn remembered(&self, log_id: EventId) -> PathBuf {
        self.known.join(log_id.to_string())
    }

    /// Reads the remembered checkpoint of a journal; `None` if there is none or it cannot be read.
    pub fn read_remembered(&self, log_id: EventId) -> Option<Slots> {
        read_slots(&self.remembered(log_id))
    }

    /// Reads HEAD; `None` if it is not there.
    pub fn read_head(&self) -> Option<Slots> {
        read_slots(&self.head())
    }
}

fn read_slots(path: &Path) -> Option<Slots> {
    std::fs::read(path).ok().map(|bytes| Slots::read(&bytes))
}
