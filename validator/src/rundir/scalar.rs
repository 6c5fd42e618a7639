//! The formats of single values (`domains/run.md` C.4).

/// Largest count or amount of `rp`'s own profile (L2): what a double still tells apart.
pub const COUNT_MAX: i128 = (1 << 53) - 1;

/// A point in time, in microseconds since the year 1970; earlier ones are negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(i128);

impl Instant {
    /// The beginning of 2026, where made-up runs begin.
    pub const START: Self = Self(1_767_225_600_000_000);

    /// Reads `2026-01-02T03:04:05.678Z`: a real date, whole seconds to 59, a fraction of one to nine digits.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_suffix('Z')?;
        let (seconds, fraction) = match rest.split_once('.') {
            Some((seconds, fraction)) => (seconds, Some(fraction)),
            None => (rest, None),
        };
        let bytes = seconds.as_bytes();
        let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
        let shaped = bytes.len() == 19
            && bytes.iter().enumerate().all(|(at, byte)| {
                match separators.iter().find(|(place, _)| *place == at) {
                    Some((_, separator)) => byte == separator,
                    None => byte.is_ascii_digit(),
                }
            });
        if !shaped {
            return None;
        }
        let part = |from: usize, to: usize| seconds.get(from..to)?.parse::<i128>().ok();
        let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
        let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
        let real = year >= 1
            && (1..=12).contains(&month)
            && (1..=days_in(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        let micros = match fraction {
            None => 0,
            Some(digits) if digits.len() <= 9 && is_digits(digits) => {
                format!("{digits:0<6}").get(..6)?.parse().ok()?
            }
            Some(_) => return None,
        };
        let time = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
        real.then_some(Self(time * 1_000_000 + micros))
    }

    /// The time that many seconds later.
    #[must_use]
    pub fn plus(self, seconds: i128) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }

    /// Microseconds from an earlier time to this one.
    pub fn since(self, earlier: Self) -> i128 {
        self.0 - earlier.0
    }

    /// Prints it with whole seconds, for those who build run directories.
    pub fn print(self) -> String {
        let seconds = self.0.div_euclid(1_000_000);
        let (day, clock) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, date) = date(day);
        let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
        format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn days_in(year: i128, month: i128) -> i128 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970 of a date of the Gregorian calendar: years are counted from March, so that the leap day
/// comes last.
fn days(year: i128, month: i128, day: i128) -> i128 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (month * 153 + 2) / 5 + day - 719_469
}

/// The date of a day since 1970: the inverse of [`days`].
fn date(day: i128) -> (i128, i128, i128) {
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + carry, month, date)
}

/// 64 lower-case hexadecimal digits.
pub fn is_sha256(text: &str) -> bool {
    text.len() == 64 && is_hex(text)
}

/// A full Git object id: 40 or 64 lower-case hexadecimal digits.
pub fn is_oid(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && is_hex(text)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A run tag: lower-case words joined by single hyphens.
pub fn is_slug(text: &str) -> bool {
    text.split('-').all(|word| {
        !word.is_empty() && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'z'))
    })
}

/// The name of a unit, stage, metric or hard constraint.
pub fn is_unit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'_'))
}

/// A safe id: 1 to 128 characters that no file name minds.
pub fn is_safe_id(text: &str) -> bool {
    text.len() <= 128
        && text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'.' | b'_' | b'-'))
}

/// The name of an environment variable.
pub fn is_environment_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// What is wrong with a relative path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathFault {
    /// It is empty or holds a NUL.
    Empty,
    /// It holds a backslash.
    Backslash,
    /// It is `.` where a real path is due.
    Dot,
    /// It is absolute, not normalized, or leads upwards.
    Unsafe,
}

/// Looks at a relative path; `.` passes only where it may.
///
/// # Errors
///
/// The fault, the most specific first.
pub fn check_path(text: &str, dot: DotPath) -> Result<(), PathFault> {
    if text.is_empty() || text.contains('\0') {
        return Err(PathFault::Empty);
    }
    if text.contains('\\') {
        return Err(PathFault::Backslash);
    }
    if text == "." {
        return if dot == DotPath::Allowed { Ok(()) } else { Err(PathFault::Dot) };
    }
    if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(PathFault::Unsafe);
    }
    Ok(())
}

/// Whether `.` is a path here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DotPath {
    /// Only for working directories.
    Allowed,
    /// Everywhere else.
    Forbidden,
}

/// Whether a path is a scope or lies below it; whole components count.
pub fn is_within(path: &str, scope: &str) -> bool {
    path.strip_prefix(scope).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a name ends so, letter for letter: the protocol's names have one spelling.
pub fn has_end(name: &str, end: &str) -> bool {
    name.ends_with(end)
}

/// Whether a path has a component that only Git or the supervisor writes.
pub fn is_control(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, ".git" | ".research-loop"))
}

#[cfg(test)]
mod tests {
    use super::{
        DotPath, Instant, PathFault, check_path, is_environment_name, is_oid, is_safe_id, is_slug,
        is_unit, is_within,
    };

    #[test]
    fn times_are_real_and_exact() {
        let time = |text: &str| Instant::parse(text);
        for good in [
            "0001-01-01T00:00:00Z",
            "2024-02-29T23:59:59Z",
            "2000-02-29T00:00:00.1Z",
            "2026-12-31T00:00:00.123456789Z",
        ] {
            assert!(time(good).is_some(), "{good}");
        }
        for bad in [
            "2023-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01t00:00:00Z",
            "2026-01-01T00:00:00z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00+00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00.1234567890Z",
            "0000-01-01T00:00:00Z",
            "2026-1-01T00:00:00Z",
            "\u{0662}026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.\u{0661}Z",
            "",
        ] {
            assert_eq!(time(bad), None, "{bad}");
        }
        assert_eq!(time("1970-01-01T00:00:01.0000019Z").unwrap().0, 1_000_001);
        assert_eq!(time("2026-01-01T00:00:00Z").unwrap().0, 1_767_225_600_000_000);
        for text in [
            "1970-01-01T00:00:00Z",
            "2024-02-29T12:34:56Z",
            "2024-03-01T00:00:00Z",
            "1999-12-31T23:59:59Z",
        ] {
            assert_eq!(time(text).unwrap().print(), text);
        }
    }

    #[test]
    fn names_of_each_kind() {
        assert!(
            is_slug("a-1-b") && !is_slug("a--b") && !is_slug("-a") && !is_slug("A") && !is_slug("")
        );
        assert!(is_unit("a_1") && !is_unit("1a") && !is_unit("") && !is_unit("a-b"));
        assert!(
            is_safe_id("0.a_-") && is_safe_id(&"a".repeat(128)) && !is_safe_id(&"a".repeat(129))
        );
        assert!(!is_safe_id("") && !is_safe_id(".a") && !is_safe_id("a/b") && !is_safe_id("A"));
        assert!(
            is_environment_name("_A1") && !is_environment_name("1A") && !is_environment_name("A-B")
        );
        assert!(
            is_oid(&"a".repeat(40))
                && is_oid(&"0".repeat(64))
                && !is_oid(&"a".repeat(41))
                && !is_oid(&"A".repeat(40))
        );
    }

    #[test]
    fn paths_are_relative_and_normal() {
        for (path, fault) in [
            ("", PathFault::Empty),
            ("a\0", PathFault::Empty),
            ("a\\b", PathFault::Backslash),
            (".", PathFault::Dot),
            ("/a", PathFault::Unsafe),
            ("a/", PathFault::Unsafe),
            ("a//b", PathFault::Unsafe),
            ("./a", PathFault::Unsafe),
            ("a/../b", PathFault::Unsafe),
            ("..", PathFault::Unsafe),
        ] {
            assert_eq!(check_path(path, DotPath::Forbidden), Err(fault), "{path:?}");
        }
        assert_eq!(check_path("a/b.c", DotPath::Forbidden), Ok(()));
        assert_eq!(check_path(".", DotPath::Allowed), Ok(()));
        assert!(is_within("src/a", "src") && is_within("src", "src") && !is_within("srcx", "src"));
    }
}
