//! The line after `/auto`: a direction, then options (C.1 of the domain text).
//!
//! Nothing is invented here. A value that has no meaning stops the run with the reason that `run.refused` takes;
//! an unknown word of a vocabulary falls back to the default, and an unknown key is ignored, each with a note.

mod values;

use std::collections::BTreeSet;

use rp_events::program::{CountOrAuto, Flags, GpuPin, Switch};

use super::constants::MODEL_ALIASES;

/// The reasons for which a run is refused before anything begins (E5).
pub static REASONS: &[&str] = &[
    "no-direction-input",
    "bad-model-alias",
    "bad-bool",
    "bad-number",
    "bad-axis",
    "unarchived-round",
    "resume-nothing",
    "mechanism-not-named",
    "reviewer-not-configured",
];

/// What a line says, with every default filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// What stands before the options; empty where only the task gives a direction.
    pub direction: String,
    /// The flags, all of them that have a value.
    pub flags: Flags,
    /// The lines about fallbacks and ignored keys, in order.
    pub notes: Vec<String>,
}

impl Command {
    /// Whether the line asks to continue the latest round.
    pub fn resumes(&self) -> bool {
        self.flags.resume == Some(Switch::Is(true))
    }

    /// Whether the review loop runs.
    pub fn loops(&self) -> bool {
        self.flags.review_loop != Some(Switch::Is(false))
    }

    /// Asks to continue the latest round, whatever the line says.
    #[must_use]
    pub fn resuming(mut self) -> Self {
        self.flags.resume = Some(Switch::Is(true));
        self
    }
}

/// Why a line stops the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The reason, as `run.refused` takes it.
    pub reason: &'static str,
    /// The line for the user.
    pub message: String,
}

/// Reads a line. A leading `/auto` is not part of it.
///
/// # Errors
///
/// The first value that stops the run.
pub fn parse(raw: &str) -> Result<Command, Stop> {
    let (direction, options) = split(raw);
    let mut command = Command { direction, ..Command::default() };
    let mut seen = BTreeSet::new();
    for (key, value) in pairs(options) {
        let name = canonical(&key);
        let known = values::set(&mut command.flags, &name, &value, &mut command.notes)?;
        if !known {
            command.notes.push(format!("[arg-parse] unknown key: {key} \u{2014} ignoring"));
        } else if !seen.insert(name.clone()) {
            command.notes.push(format!("[arg-parse] {name}: given twice \u{2014} the last counts"));
        }
    }
    fill(&mut command.flags);
    Ok(command)
}

/// The direction that a line gives; empty if it gives none.
pub fn direction(raw: &str) -> String {
    split(raw).0
}

/// Holds a run to have a direction: typed, or in the task (C.1).
///
/// # Errors
///
/// Neither is there.
pub fn directed(command: &Command, has_task: bool) -> Result<(), Stop> {
    if !command.direction.is_empty() || has_task {
        return Ok(());
    }
    Err(Stop {
        reason: "no-direction-input",
        message: "[direction] no input \u{2014} provide $ARGUMENTS or create task.md".to_owned(),
    })
}

/// The model of each stage that a flag names, and which kind of flag did; nothing where the session's counts.
pub fn model_of<'a>(flags: &'a Flags, stage: &str) -> Option<(&'a str, &'static str)> {
    let own = match stage {
        "claim" => &flags.claim_model,
        "experiment" => &flags.experiment_model,
        "verify" => &flags.verify_model,
        _ => &flags.iteration_model,
    };
    let global = || flags.model.as_deref().map(|model| (model, "CLI-global"));
    own.as_deref().map(|model| (model, "CLI-stage")).or_else(global)
}

/// Splits a line into its direction and the text of its options.
fn split(raw: &str) -> (String, &str) {
    let raw = raw.trim();
    let raw = match raw.strip_prefix("/auto") {
        Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => rest.trim_start(),
        _ => raw,
    };
    let (text, options) = separator(raw).map_or((raw, ""), |(start, end)| {
        (raw.get(..start).unwrap_or_default(), raw.get(end..).unwrap_or_default())
    });
    (unquoted(text), options.trim())
}

/// Where the options begin: the first em dash between spaces or double hyphen that no quotes enclose.
fn separator(text: &str) -> Option<(usize, usize)> {
    let mut before = None;
    let mut skip_to = 0;
    for (at, c) in text.char_indices() {
        if at < skip_to {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        if let Some(end) = quoted(rest, before) {
            skip_to = at + end;
            before = Some('"');
            continue;
        }
        let after = rest.chars().nth(1);
        let spaced = |c: Option<char>| c.is_none_or(char::is_whitespace);
        if c == '\u{2014}' && spaced(before) && spaced(after) {
            return Some((at, at + c.len_utf8()));
        }
        if rest.starts_with("--") {
            return Some((at, at + 2));
        }
        before = Some(c);
    }
    None
}

/// The length of the quoted text that begins here, with its quotes. A quote opens only where a word could
/// begin, and only if it is closed: an inch mark or a lone quote is an ordinary character.
fn quoted(rest: &str, before: Option<char>) -> Option<usize> {
    let opens = before
        .is_none_or(|c| c.is_whitespace() || matches!(c, ':' | '=' | ',' | '(' | '\u{2014}' | '-'));
    let open = rest.chars().next()?;
    let close = closing(open).filter(|_| opens)?;
    let inner = rest.get(open.len_utf8()..)?;
    let end = inner.find(close)?;
    Some(open.len_utf8() + end + close.len_utf8())
}

/// What closes a quote.
fn closing(open: char) -> Option<char> {
    match open {
        '"' => Some('"'),
        '\u{201c}' => Some('\u{201d}'),
        _ => None,
    }
}

/// A text without the quotes around the whole of it.
fn unquoted(text: &str) -> String {
    let text = text.trim();
    match quoted(text, None) {
        Some(end) if end == text.len() => {
            let mut chars = text.chars();
            chars.next();
            chars.next_back();
            chars.as_str().trim().to_owned()
        }
        Some(_) | None => text.to_owned(),
    }
}

/// The pairs of an option text. A piece that names no key goes on with the value before it, because values may
/// be lists; one with nothing before it is a key without a value.
fn pairs(options: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for piece in pieces(options) {
        match (keyed(piece), pairs.last_mut()) {
            (Some((key, value)), _) => pairs.push((key.to_owned(), value.trim().to_owned())),
            (None, Some((_, value))) => {
                value.push(',');
                value.push_str(piece);
            }
            (None, None) => pairs.push((piece.to_owned(), String::new())),
        }
    }
    for (_, value) in &mut pairs {
        *value = unquoted(value);
    }
    pairs
}

/// Cuts at the commas that no quotes enclose; empty pieces are dropped.
fn pieces(options: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut skip_to, mut before) = (0, 0, None);
    for (at, c) in options.char_indices() {
        if at < skip_to {
            continue;
        }
        if let Some(end) = quoted(options.get(at..).unwrap_or_default(), before) {
            skip_to = at + end;
            before = Some('"');
            continue;
        }
        if c == ',' {
            pieces.push(options.get(start..at).unwrap_or_default());
            start = at + 1;
        }
        before = Some(c);
    }
    pieces.push(options.get(start..).unwrap_or_default());
    pieces.into_iter().map(str::trim).filter(|piece| !piece.is_empty()).collect()
}

/// The key and value of a piece that begins with a key: split at the first `:` or `=`. The scheme of an address
/// is no key.
fn keyed(piece: &str) -> Option<(&str, &str)> {
    let at = piece.find([':', '='])?;
    let (key, rest) = piece.split_at_checked(at)?;
    let (key, value) = (key.trim_end(), rest.get(1..)?);
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic()) && key.chars().all(word);
    (is_key && !value.starts_with("//")).then_some((key, value))
}

/// A key as its flag is called.
fn canonical(key: &str) -> String {
    let name = key.to_lowercase().replace('-', "_").to_uppercase();
    // An older name that is still understood, without a word about it.
    if name == "MAX_ROUNDS" { "MAX_ITERATIONS".to_owned() } else { name }
}

/// Fills in the defaults of C.2. Flags that have none stay empty.
fn fill(flags: &mut Flags) {
    let on = || Some(Switch::Is(true));
    let off = || Some(Switch::Is(false));
    let word = |text: &str| Some(text.to_owned());
    let decimal = |text: &str| rp_events::Decimal::parse(text).ok();
    let Flags { auto_proceed, resume, review_loop, .. } = flags;
    *auto_proceed = auto_proceed.take().or_else(on);
    *resume = resume.take().or_else(off);
    *review_loop = review_loop.take().or_else(on);
    flags.dimensions.get_or_insert_with(|| vec!["model".to_owned()]);
    flags.target_claims = flags.target_claims.take().or_else(|| word("all"));
    flags.max_verify_claims.get_or_insert(1);
    flags.robustness_threshold = flags.robustness_threshold.take().or_else(|| decimal("0.5"));
    flags.min_variants_for_verdict.get_or_insert(1);
    flags.research_domain = flags.research_domain.take().or_else(|| word("auto"));
    flags.compact = flags.compact.take().or_else(off);
    flags.code_review = flags.code_review.take().or_else(on);
    flags.sanity_first = flags.sanity_first.take().or_else(on);
    flags.auto_deploy = flags.auto_deploy.take().or_else(on);
    flags.max_parallel_runs.get_or_insert(4);
    flags.batch_dispatch = flags.batch_dispatch.take().or_else(|| word("auto"));
    flags.ref_paper = flags.ref_paper.take().or_else(off);
    flags.behavior_source = flags.behavior_source.take().or_else(|| word("given"));
    flags.mechanism = flags.mechanism.take().or_else(|| word("discovery"));
    flags.max_iterations.get_or_insert(6);
    flags.max_claim_reentries.get_or_insert(2);
    flags.target_score = flags.target_score.take().or_else(|| decimal("6"));
    flags.gpu_id.get_or_insert_with(|| GpuPin::Word("auto".to_owned()));
    flags.oom_max_gpus.get_or_insert(CountOrAuto::Count(4));
    flags.underpower = flags.underpower.take().or_else(|| word("tag"));
    flags.ledger_figures =
        flags.ledger_figures.take().or_else(|| Some(Switch::Text("auto".to_owned())));
}

/// The line for a model that is no alias.
fn not_an_alias(key: &str, value: &str) -> String {
    format!(
        "[arg-parse] {key}: \"{value}\" is not a family alias ({}) \u{2014} version pinning is managed in agents/<name>.md frontmatter, not on the CLI",
        MODEL_ALIASES.join("|")
    )
}

#[cfg(test)]
mod tests;
