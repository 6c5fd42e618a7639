//! The user's `task.md`: what its text fixes by marker lines, and the log of overrides at its end (J.2 and E3 of
//! the domain text). Markers are read, prose is not.

use rp_events::program::{Pins, TaskRecorded};

use super::{Program, constants::DIRECTIONS};

/// The heading of the log.
const LOG: &str = "## User Overrides (log)";

/// The heading under which a draft states the behavior to go on with.
const BEHAVIOR: &str = "behavior to investigate";

/// The markers that ask for notifications.
const NOTIFY: &[&str] = &["notify", "notification", "email-notify"];

/// Reads a task as the event that records it. Line ends are LF in the record.
///
/// Pins come from `behavior:`, `mechanism direction:` and `family:` lines and from the section on the behavior
/// to investigate; a `retry-settled: true` line and a `notify:` line are what they say. Comments are not read.
pub fn read(text: &str, for_round: u64, language: &str) -> TaskRecorded {
    let body = text.replace("\r\n", "\n");
    let plain = without_comments(&body);
    let mut pins = Pins { behavior: section(&plain), mechanism_direction: None, family: None };
    let (mut retry_settled, mut notify) = (false, false);
    for (key, value) in plain.lines().filter_map(marker) {
        let said = || (!value.is_empty()).then(|| value.to_owned());
        match key.as_str() {
            "behavior" => pins.behavior = said(),
            "mechanism direction" | "mechanism-direction" => {
                pins.mechanism_direction = said().map(|text| canonical(&text));
            }
            "family" => pins.family = said(),
            "retry-settled" => retry_settled = value.eq_ignore_ascii_case("true"),
            key if NOTIFY.contains(&key) => notify = asks(value),
            _ => {}
        }
    }
    TaskRecorded {
        for_round,
        origin: "user".to_owned(),
        language: language.to_owned(),
        body,
        pins,
        retry_settled,
        notify,
    }
}

/// The language of the task that stands, or else English.
pub fn language(program: &Program) -> String {
    let language = program.course().task.language.clone();
    if language.is_empty() { "en".to_owned() } else { language }
}

/// Whether a file's text is the task that stands, log included.
pub fn is_recorded(program: &Program, text: &str) -> bool {
    let root = program.root();
    let task = root.as_ref().and_then(|root| root.task.as_ref());
    let text = text.replace("\r\n", "\n");
    task.is_some_and(|task| task.text == text || super::views::next_task::render(task) == text)
}

/// The lines of the log that the record holds for the task that stands.
pub fn log(program: &Program) -> Vec<String> {
    let root = program.root();
    root.and_then(|root| root.task.as_ref().map(|task| task.log.clone())).unwrap_or_default()
}

/// A task with lines appended to its log; a line that is logged already is not logged twice, and everything else
/// stays as it is. The section is made with the first line.
pub fn with_log(text: &str, lines: &[String]) -> String {
    let item = |line: &String| format!("- {}", line.split('\n').collect::<Vec<_>>().join(" "));
    let (before, section) = match text.find(&format!("\n{LOG}")) {
        Some(at) => text.split_at(at + 1),
        None if text.starts_with(LOG) => ("", text),
        None => (text, ""),
    };
    let logged: Vec<&str> = section.lines().collect();
    let fresh: Vec<String> =
        lines.iter().map(item).filter(|line| !logged.contains(&line.as_str())).collect();
    if fresh.is_empty() {
        return text.to_owned();
    }
    let mut out = before.to_owned();
    if section.is_empty() {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        if !out.is_empty() && !out.ends_with("\n\n") {
            out.push('\n');
        }
        out.push_str(&format!("{LOG}\n{}\n", fresh.join("\n")));
        return out;
    }
    // What a user wrote after the log stays after it.
    let next = section.match_indices("\n#").map(|(at, _)| at + 1).next().unwrap_or(section.len());
    let (log, rest) = section.split_at(next);
    out.push_str(&format!("{}\n{}\n", log.trim_end(), fresh.join("\n")));
    if !rest.is_empty() {
        out.push_str(&format!("\n{rest}"));
    }
    out
}

/// A text without its `<!-- -->` comments.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        out.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    out + rest
}

/// A marker line: a key and its value, perhaps as an item of a list.
fn marker(line: &str) -> Option<(String, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line);
    let (key, value) = line.split_once(':')?;
    Some((key.trim().to_lowercase(), value.trim()))
}

fn asks(value: &str) -> bool {
    !["", "false", "no", "none", "off"].contains(&value.to_lowercase().as_str())
}

/// A direction under its canonical name, where only the case differs.
fn canonical(text: &str) -> String {
    let known = DIRECTIONS.iter().find(|direction| direction.eq_ignore_ascii_case(text));
    known.map_or_else(|| text.to_owned(), |direction| (*direction).to_owned())
}

/// The first paragraph under the heading of the behavior to investigate, on one line.
fn section(text: &str) -> Option<String> {
    let is_heading = |line: &str| line.starts_with('#');
    let titled = |line: &str| {
        is_heading(line) && line.trim_start_matches('#').trim().to_lowercase().starts_with(BEHAVIOR)
    };
    let under = text.lines().skip_while(|line| !titled(line)).skip(1);
    let paragraph: Vec<&str> = under
        .map(str::trim)
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty() && !is_heading(line))
        .collect();
    (!paragraph.is_empty()).then(|| paragraph.join(" "))
}

#[cfg(test)]
mod tests {
    use super::{read, with_log};

    #[test]
    fn markers_are_read_and_prose_is_not() {
        let text = "<!-- family: SHAP -->\r\n# Research direction\r\nfamily life of models: an aside\n\n## Behavior to investigate (this round)\nModels forget\nnegation.\n\nNobody knows why.\n\n- mechanism direction: causal intervention\n- Family: Probing\nretry-settled: TRUE\nnotify: email\n";
        let task = read(text, 3, "de");
        assert_eq!(task.pins.behavior.as_deref(), Some("Models forget negation."));
        assert_eq!(task.pins.mechanism_direction.as_deref(), Some("Causal Intervention"));
        assert_eq!(task.pins.family.as_deref(), Some("Probing"));
        assert!(task.retry_settled && task.notify);
        assert_eq!((task.for_round, task.language.as_str()), (3, "de"));
        assert!(!task.body.contains('\r') && task.body.contains("an aside"));
        let bare = read("# Research direction\nx\nnotify: no\n", 1, "en");
        assert_eq!(bare.pins.behavior, None);
        assert!(!bare.retry_settled && !bare.notify);
    }

    #[test]
    fn the_log_grows_at_the_end_and_touches_nothing_else() {
        let line = "@gate: raise the budget (overrides: At most 30.)".to_owned();
        let other = "@later: use GPU 3\nnow (overrides: Use GPU 1.)".to_owned();
        let first = with_log("# T\nbody", std::slice::from_ref(&line));
        assert_eq!(
            first,
            "# T\nbody\n\n## User Overrides (log)\n- @gate: raise the budget (overrides: At most 30.)\n"
        );
        assert_eq!(with_log(&first, std::slice::from_ref(&line)), first, "nothing is logged twice");
        let second = with_log(&first, &[line.clone(), other.clone()]);
        assert_eq!(second, format!("{first}- @later: use GPU 3 now (overrides: Use GPU 1.)\n"));
        let followed = format!("{first}\n## Mine\nkept  \n");
        assert_eq!(
            with_log(&followed, &[other]),
            format!("{first}- @later: use GPU 3 now (overrides: Use GPU 1.)\n\n## Mine\nkept  \n")
        );
        assert_eq!(
            with_log("", &[line]),
            "## User Overrides (log)\n- @gate: raise the budget (overrides: At most 30.)\n"
        );
    }
}
