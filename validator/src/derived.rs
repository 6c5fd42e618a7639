//! Pass 4, derived files: each view that is kept in the workspace equals its fold, byte for byte.

use std::io;

use rp_replay::{State, VIEWS, views::Build};

use crate::report::{Class, Report};

/// Reads a file under the workspace; `None` if it is not there.
pub type ReadFile<'r> = &'r dyn Fn(&str) -> io::Result<Option<Vec<u8>>>;

/// Compares every derived file that exists with its fold.
pub fn check(state: &State, read: ReadFile<'_>, report: &mut Report) {
    for view in VIEWS {
        let Build::File { render, places, .. } = &view.build else { continue };
        for place in places(state) {
            let found = match read(&place.path) {
                Ok(Some(found)) => found,
                Ok(None) => continue,
                Err(error) => {
                    report.find(
                        Class::Unreadable,
                        "unreadable",
                        None,
                        place.path,
                        error.to_string(),
                    );
                    continue;
                }
            };
            report.counts.views += 1;
            match render(state, &place.args, place.format) {
                Ok(due) if place.holds(&due, &found) => {}
                Ok(due) => {
                    let text = format!(
                        "the file is not the fold of `{}`: {}",
                        view.name,
                        difference(&due, &found)
                    );
                    report.find(Class::Broken, "view-edited", None, place.path, text);
                }
                Err(_) => {
                    let text = format!("the record has no `{}` for this file", view.name);
                    report.find(Class::Broken, "view-edited", None, place.path, text);
                }
            }
        }
    }
}

/// The first line that differs, for people.
pub fn difference(due: &str, found: &[u8]) -> String {
    let found = String::from_utf8_lossy(found);
    let mut lines = (1_u64.., due.lines(), found.lines());
    loop {
        let n = lines.0.next().unwrap_or_default();
        match (lines.1.next(), lines.2.next()) {
            (Some(due), Some(found)) if due == found => {}
            (None, None) => return "it differs in its line ends".to_owned(),
            (due, found) => {
                let show = |line: Option<&str>| match line {
                    Some(line) => format!("`{}`", line.chars().take(80).collect::<String>()),
                    None => "no line".to_owned(),
                };
                return format!("line {n} is {}, due is {}", show(found), show(due));
            }
        }
    }
}
