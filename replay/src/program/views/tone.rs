//! How good the program's words are: only their look rests on it, never their meaning.

use crate::document::{Cell, Tone};

/// A claim's final status.
pub(super) fn final_status(text: &str, max: usize) -> Cell {
    let tone = match text.chars().next() {
        Some('\u{2713}') => Tone::Good,
        Some('\u{2717}') => Tone::Bad,
        Some('\u{26a0}' | '\u{23f8}') => Tone::Caution,
        _ if text == "planned" => Tone::Open,
        _ => Tone::Plain,
    };
    status(tone, text, max)
}

/// The verify stage's verdict.
pub(super) fn verdict(text: &str) -> Cell {
    let tone = match text {
        "PASS" => Tone::Good,
        "FAIL" => Tone::Bad,
        "INCONCLUSIVE" | "ZERO_ELIGIBLE_VARIANTS" | "INTEGRITY_ONLY" => Tone::Caution,
        _ => Tone::Plain,
    };
    status(tone, text, 40)
}

/// The main experiment's verdict; what is provisional is not yet good or bad.
pub(super) fn outcome(text: &str, max: usize) -> Cell {
    let tone = if text.contains("provisional") {
        Tone::Caution
    } else if text.starts_with("supported") {
        Tone::Good
    } else if text.starts_with("not-supported") {
        Tone::Bad
    } else if text.is_empty() {
        Tone::Plain
    } else {
        Tone::Caution
    };
    status(tone, text, max)
}

/// How a round's pipeline stands. A refuted phenomenon is a result, and no fault.
pub(super) fn pipeline(text: &str, max: usize) -> Cell {
    let tone = if text == "running" {
        Tone::Open
    } else if text.starts_with("completed") || text.starts_with("truncated") {
        Tone::Good
    } else if text.starts_with("ended-needs-decision") || text.starts_with("halted") {
        Tone::Caution
    } else {
        Tone::Plain
    };
    status(tone, text, max)
}

/// What is known of a behavior.
pub(super) fn behavior(text: &str) -> Cell {
    let tone = match text {
        "established" => Tone::Good,
        "not-established" => Tone::Bad,
        "conditional" => Tone::Caution,
        _ => Tone::Open,
    };
    status(tone, text, 40)
}

/// An integrity audit.
pub(super) fn audit(text: &str) -> Cell {
    let tone = match text {
        "pass" => Tone::Good,
        "fail" | "excluded" => Tone::Bad,
        "warn" => Tone::Caution,
        _ => Tone::Plain,
    };
    status(tone, text, 40)
}

fn status(tone: Tone, text: &str, max: usize) -> Cell {
    Cell::status(tone, crate::document::clipped(text, max))
}
