//! Documents as text for a terminal.

use rp_replay::document::{Body, Document};

/// Draws a document; ends in a line feed.
pub fn draw(document: &Document) -> String {
    let mut out = format!("{}\n", clean(&document.title));
    for section in &document.sections {
        out.push('\n');
        if !section.heading.is_empty() {
            out.push_str(&format!("{}\n", clean(&section.heading)));
        }
        match &section.body {
            Body::Text(text) => out.push_str(&format!("{}\n", text.trim_end())),
            Body::Facts(facts) => {
                let rows = facts.iter().map(|(label, value)| vec![label.clone(), value.clone()]);
                out.push_str(&grid(&rows.collect::<Vec<_>>()));
            }
            Body::List(lines) => {
                for line in lines {
                    out.push_str(&format!("- {}\n", clean(line)));
                }
            }
            Body::Table { columns, rows } => {
                let rows: Vec<Vec<String>> =
                    std::iter::once(columns).chain(rows).cloned().collect();
                out.push_str(&grid(&rows));
            }
        }
    }
    out
}

/// Lays rows out in columns two spaces apart; the last column is not padded.
fn grid(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |n: usize| {
        rows.iter().filter_map(|row| row.get(n)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{:width$}  ", clean(cell)));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// One line, whatever the text holds: a cell must not be able to draw outside itself.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
