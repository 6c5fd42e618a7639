//! Text: which characters a record may hold, and what an identifier looks like.

use std::fmt;

/// Longest identifier, in bytes.
pub const IDENTIFIER_BYTES_MAX: usize = 64;

/// Marks an error of deserialization as being about characters; see [`crate::json`].
#[derive(Debug)]
pub(crate) struct BadText(pub(crate) String);

/// Begins the message of a [`BadText`], so that it is known again after serde has made it a string.
pub(crate) const BAD_TEXT_MARK: &str = "text: ";

impl fmt::Display for BadText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BAD_TEXT_MARK}{}", self.0)
    }
}

/// Finds the first character that no record may hold: controls other than LF and TAB, and the
/// bidirectional embeddings, overrides and isolates (U+202A to U+202E, U+2066 to U+2069).
pub fn forbidden(text: &str) -> Option<char> {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return None;
    }
    text.chars().find(|&c| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })
}

/// Holds an identifier to its form: 1 to 64 of `A-Z a-z 0-9 . _ -`, the first a letter or digit.
///
/// # Errors
///
/// A sentence that shows the code points of anything outside ASCII.
pub fn identifier(text: &str) -> Result<(), String> {
    let form = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let first = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
    if first && text.len() <= IDENTIFIER_BYTES_MAX && text.bytes().all(form) {
        return Ok(());
    }
    Err(format!(
        "an identifier is 1 to {IDENTIFIER_BYTES_MAX} of `A-Z a-z 0-9 . _ -` and begins with a letter or digit, found `{}`",
        shown(text)
    ))
}

/// Shows a text with its non-ASCII and control characters as code points.
pub fn shown(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii() && !c.is_control() {
            out.push(c);
        } else {
            out.push_str(&format!("<U+{:04X}>", u32::from(c)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_and_overrides_are_forbidden_but_line_feed_and_tab_are_not() {
        assert_eq!(forbidden("plain"), None);
        assert_eq!(forbidden("a\nb\tc \u{2014} \u{1f7e0}"), None);
        assert_eq!(forbidden("a\rb"), Some('\r'));
        assert_eq!(forbidden("\u{7f}"), Some('\u{7f}'));
        assert_eq!(forbidden("x\u{85}"), Some('\u{85}'));
        assert_eq!(forbidden("x\u{202e}y"), Some('\u{202e}'));
        assert_eq!(forbidden("x\u{2069}y"), Some('\u{2069}'));
    }

    #[test]
    fn an_identifier_outside_ascii_is_shown_by_its_code_points() {
        assert!(identifier("C4_v2").is_ok());
        assert!(identifier("").is_err());
        assert!(identifier("-a").is_err());
        assert!(identifier(&"a".repeat(64)).is_ok());
        assert!(identifier(&"a".repeat(65)).is_err());
        let composed = identifier("caf\u{e9}").unwrap_err();
        assert!(composed.ends_with("found `caf<U+00E9>`"), "{composed}");
        let combining = identifier("cafe\u{301}").unwrap_err();
        assert!(combining.ends_with("found `cafe<U+0301>`"), "{combining}");
    }
}
