//! Time stamps: UTC, in milliseconds, parsed and printed; nothing here reads a clock.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z. Never negative; at most the year 9999.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Stamp(u64);

impl Stamp {
    /// The last stamp that can be printed, in the year 9999.
    pub const MAX: Self = Self(253_402_207_199_999);

    /// Takes milliseconds; `None` past [`Stamp::MAX`].
    pub fn from_millis(millis: u64) -> Option<Self> {
        (millis <= Self::MAX.0).then_some(Self(millis))
    }

    /// Milliseconds since 1970.
    pub fn millis(self) -> u64 {
        self.0
    }

    /// Parses RFC 3339 with an offset, to the millisecond.
    ///
    /// # Errors
    ///
    /// A sentence that says what was found.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("{why}, found `{}`", crate::text::shown(text));
        let time: Timestamp =
            text.parse().map_err(|_| wrong("expected a time such as `2026-03-02T08:00:00Z`"))?;
        if time.subsec_nanosecond() % 1_000_000 != 0 {
            return Err(wrong("a time has at most three digits of a second"));
        }
        u64::try_from(time.as_millisecond())
            .ok()
            .and_then(Self::from_millis)
            .ok_or_else(|| wrong("a time lies between 1970 and 9999"))
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = i64::try_from(self.0).expect("a Stamp is at most MAX");
        let time = Timestamp::from_millisecond(millis).expect("a Stamp is at most MAX");
        if self.0.is_multiple_of(1000) { write!(f, "{time:.0}") } else { write!(f, "{time:.3}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_print_what_they_parse() {
        for text in ["1970-01-01T00:00:00Z", "2026-03-02T08:00:00Z", "2026-03-02T08:00:00.125Z"] {
            assert_eq!(Stamp::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Stamp::parse("2026-03-02T09:00:00+01:00").unwrap().to_string(),
            "2026-03-02T08:00:00Z"
        );
        assert_eq!(Stamp::parse("2026-03-02T08:00:00Z").unwrap().millis(), 1_772_438_400_000);
        for bad in [
            "",
            "2026-03-02",
            "2026-03-02T08:00:00",
            "1969-12-31T23:59:59Z",
            "2026-03-02T08:00:00.0001Z",
        ] {
            assert!(Stamp::parse(bad).is_err(), "{bad}");
        }
        assert!(Stamp::MAX.to_string().starts_with("9999-"));
    }
}
