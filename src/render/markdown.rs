//! Documents as Markdown (GitHub's flavour): whatever a text holds, it is shown as text.

use rp_replay::document::{Body, Cell, Document, Piece, Row, Tone};

/// Draws a document; ends in a line feed.
pub fn draw(document: &Document) -> String {
    let mut out = format!("# {}\n", escaped(&document.title));
    for section in &document.sections {
        if !section.heading.is_empty() {
            out.push_str(&format!("\n## {}\n", escaped(&section.heading)));
        }
        out.push('\n');
        out.push_str(&body(&section.body));
    }
    out
}

fn body(body: &Body) -> String {
    match body {
        Body::Text(cell) => format!("{}\n", paragraph(cell)),
        Body::Note(tone, cell) => {
            let kind = match tone {
                Tone::Bad => "CAUTION",
                Tone::Caution => "WARNING",
                Tone::Good | Tone::Open | Tone::Plain => "NOTE",
            };
            format!("> [!{kind}]\n> {}\n", line(cell))
        }
        Body::Facts(facts) => {
            let fact = |(label, value): &(String, Cell)| {
                format!("- **{}**: {}\n", escaped(label), line(value))
            };
            facts.iter().map(fact).collect()
        }
        Body::List(items) => {
            let lines: Vec<String> =
                items.iter().map(|item| format!("- {}\n", line(item))).collect();
            lines.concat()
        }
        Body::Code(text) => {
            let fence = "`".repeat(longest_run(text).max(2) + 1);
            format!("{fence}\n{}\n{fence}\n", text.trim_end_matches('\n'))
        }
        Body::Table { columns, rows } => table(columns, rows),
    }
}

fn table(columns: &[String], rows: &[Row]) -> String {
    let head: Vec<String> = columns.iter().map(|column| escaped(column)).collect();
    let mut out = format!("| {} |\n|{}\n", head.join(" | "), " --- |".repeat(columns.len()));
    for row in rows {
        let cells: Vec<String> = row.cells.iter().map(line).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out
}

/// A value on one line.
fn line(cell: &Cell) -> String {
    cell.0.iter().map(piece).collect()
}

/// A value that may have several lines: each break is kept, an empty line begins a paragraph.
fn paragraph(cell: &Cell) -> String {
    let parts = cell.0.iter().map(|part| match part {
        Piece::Text(text) => {
            let lines = text.trim_end().split('\n').map(str::trim).map(escaped);
            let joined = lines.collect::<Vec<_>>().join("\\\n");
            // A break before an empty line would be drawn as a backslash.
            joined.replace("\\\n\\\n", "\n\n")
        }
        other => piece(other),
    });
    parts.collect()
}

fn piece(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) | Piece::Time(text) => escaped(text),
        Piece::Status(_, text) => format!("**{}**", escaped(text)),
        Piece::Code(text) => code(text),
        Piece::Link(address) => code(address.as_str()),
    }
}

/// A text between marks that it cannot close; a bar would end a table's cell even there.
fn code(text: &str) -> String {
    let text = text.replace('\n', " ").replace('|', "\\|");
    let marks = "`".repeat(longest_run(&text) + 1);
    let space =
        if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{marks}{space}{text}{space}{marks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A text on one line in which nothing is markup: what could begin some is preceded by a backslash.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut at_start = true;
    let mut number = false;
    let mut chars = text.trim_start().chars().peekable();
    while let Some(c) = chars.next() {
        let is_mark = match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '#' | '!' | '$'
            | '@' => true,
            ':' => chars.peek() == Some(&'/'),
            // Only at the beginning of a line do these begin a list or underline a heading.
            '+' | '-' | '=' => at_start,
            '.' | ')' => number,
            _ => false,
        };
        number = c.is_ascii_digit() && (at_start || number);
        at_start = false;
        if is_mark {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    // A bare address would become a link.
    out.replace("www.", "www\\.").replace("WWW.", "WWW\\.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        let hostile = [
            ("a|b", "a\\|b"),
            ("`x`", "\\`x\\`"),
            ("<script>", "\\<script\\>"),
            ("&lt;", "\\&lt;"),
            ("- item", "\\- item"),
            ("1. one", "1\\. one"),
            ("0.67", "0\\.67"),
            ("r 0.67", "r 0.67"),
            ("two\n# lines", "two \\# lines"),
            ("http://x", "http\\://x"),
            ("[a](b)", "\\[a\\](b)"),
        ];
        for (text, due) in hostile {
            assert_eq!(escaped(text), due);
        }
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("a|b"), "`a\\|b`");
    }

    #[test]
    fn a_document_is_drawn_with_its_parts() {
        let row = (None, [Cell::from("x|y"), Cell::status(Tone::Good, "PASS")]);
        let document = Document::new("A *title*")
            .with("", Body::Text(Cell::from("one\ntwo\n\nthree")))
            .with("Part", Body::table(["a", "b"], [row]))
            .with("", Body::Code("``` closes".to_owned()));
        let due = "# A \\*title\\*\n\none\\\ntwo\n\nthree\n\n## Part\n\n| a | b |\n| --- | --- |\n| x\\|y | **PASS** |\n\n````\n``` closes\n````\n";
        assert_eq!(draw(&document), due);
    }
}
