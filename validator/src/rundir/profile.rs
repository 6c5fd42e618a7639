//! The two profiles (`design/decisions.md` 12): the protocol as its reference judges it, and `rp`'s own
//! version of it, which carries the fixes of part L.

use super::{
    bytes::{Equality, Value, file_digest},
    scalar::COUNT_MAX,
};

/// Whose semantics judge a run directory; its contract says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Version `1.1.0`.
    Reference,
    /// `rp`'s version.
    Own,
}

/// The rule set as text: what an own contract seals in the place of a program's bytes, so that a rebuild
/// orphans no run.
pub const RULES: &str = include_str!("rules.txt");

/// Largest amount that the reference profile calculates with: far beyond any use, far below overflow.
const AMOUNT_MAX: i128 = 1_000_000_000_000_000_000_000_000_000_000;

impl Profile {
    /// The version that a contract names.
    pub fn version(self) -> &'static str {
        match self {
            Self::Reference => "1.1.0",
            Self::Own => "1.2.0-rp",
        }
    }

    /// The profile of a version.
    pub fn of(version: &str) -> Option<Self> {
        [Self::Reference, Self::Own].into_iter().find(|profile| profile.version() == version)
    }

    /// How values are compared (L2).
    pub fn equality(self) -> Equality {
        match self {
            Self::Reference => Equality::Loose,
            Self::Own => Equality::Strict,
        }
    }

    /// Whether the fixes and tightenings of part L hold.
    pub fn is_own(self) -> bool {
        self == Self::Own
    }

    /// A non-negative integer within what the profile counts with (L2).
    pub fn count(self, value: &Value) -> Option<i128> {
        let max = if self.is_own() { COUNT_MAX } else { AMOUNT_MAX };
        value.int().filter(|count| (0..=max).contains(count))
    }

    /// A positive count.
    pub fn positive(self, value: &Value) -> Option<i128> {
        self.count(value).filter(|count| *count > 0)
    }
}

/// The digest that a contract of `rp`'s own version seals.
pub fn rules_digest() -> String {
    file_digest(RULES.as_bytes())
}
