//! Documents as text for a terminal.

use rp_replay::document::{Body, Cell, Document, Row, Tone};

/// Widest column but the last that is padded; a wider one lets its row run on.
const PADDED_MAX: usize = 48;

/// Draws a document; ends in a line feed.
pub fn draw(document: &Document) -> String {
    let mut out = format!("{}\n", clean(&document.title));
    for section in &document.sections {
        out.push('\n');
        if !section.heading.is_empty() {
            out.push_str(&format!("{}\n", clean(&section.heading)));
        }
        out.push_str(&body(&section.body));
    }
    out
}

fn body(body: &Body) -> String {
    match body {
        Body::Text(cell) => lines(&cell.plain()),
        Body::Note(tone, cell) => format!("{}{}", mark(*tone), lines(&cell.plain())),
        Body::Facts(facts) => {
            let rows = facts.iter().map(|(label, value)| vec![clean(label), line(value)]);
            grid(&rows.collect::<Vec<_>>())
        }
        Body::List(items) => {
            let lines: Vec<String> =
                items.iter().map(|item| format!("- {}\n", line(item))).collect();
            lines.concat()
        }
        Body::Code(text) => lines(text),
        Body::Table { columns, rows } => {
            let head = columns.iter().map(|column| clean(column)).collect();
            let cells = |row: &Row| row.cells.iter().map(line).collect();
            let rows: Vec<Vec<String>> =
                std::iter::once(head).chain(rows.iter().map(cells)).collect();
            grid(&rows)
        }
    }
}

/// What stands before a note that must not be overlooked.
fn mark(tone: Tone) -> &'static str {
    match tone {
        Tone::Bad => "!! ",
        Tone::Caution => "! ",
        Tone::Good | Tone::Open | Tone::Plain => "",
    }
}

/// Lays rows out in columns two spaces apart; the last column is not padded.
fn grid(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![0_usize; columns];
    for row in rows {
        for (cell, width) in row.iter().zip(&mut widths) {
            *width = (*width).max(cell.chars().count().min(PADDED_MAX));
        }
    }
    let mut out = String::new();
    for row in rows {
        let mut drawn = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            drawn.push_str(&format!("{cell:width$}  "));
        }
        out.push_str(drawn.trim_end());
        out.push('\n');
    }
    out
}

fn line(cell: &Cell) -> String {
    clean(&cell.plain())
}

/// One line, whatever the text holds: a cell must not be able to draw outside itself.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Lines as they are, each of them clean; ends in a line feed.
fn lines(text: &str) -> String {
    let lines: Vec<String> = text.trim_end().split('\n').map(clean).collect();
    format!("{}\n", lines.join("\n"))
}
