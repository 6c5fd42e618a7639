//! Exit codes: one table for the whole program, printed by `rp help exit-codes`.

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit(pub u8);

impl Exit {
    /// Done; for checks: looked at something, and it holds.
    pub const DONE: Self = Self(0);
    /// Refused by a rule, or invalid, corrupt or tampered history.
    pub const REFUSED: Self = Self(2);
    /// A torn, unacknowledged tail.
    pub const TORN: Self = Self(3);
    /// An archive's folder holds something already; the program's own documents gave it this code.
    pub const CLOBBER: Self = Self(3);
    /// Rollback or fork.
    pub const BEHIND: Self = Self(4);
    /// Nothing to check, or unverifiable.
    pub const NOTHING: Self = Self(5);
    /// Misuse of the command line.
    pub const USAGE: Self = Self(64);
    /// The target exists and would be overwritten.
    pub const EXISTS: Self = Self(73);
    /// Input or output failed.
    pub const IO: Self = Self(74);
    /// Another process holds the lock.
    pub const LOCKED: Self = Self(75);
}

/// The table, as people read it.
pub const TABLE: &str = "  0  done; for checks: looked at something, and it holds
  2  refused by a rule, or invalid, corrupt or tampered history
  3  journals: a torn tail that was never acknowledged; run directories: one recoverable tail
  4  rollback or fork: the journal is behind, or contradicts, a checkpoint remembered or given
  5  nothing to check, or unverifiable (a key, blob, suite or anchor is missing)
 64  misuse of the command line
 73  the target exists and would be overwritten (that of an archive: 3)
 74  input or output error; `outcome unknown` is said when a sync failed, with the key to retry with
 75  another process holds the lock past `--wait`, the holder is named
";
