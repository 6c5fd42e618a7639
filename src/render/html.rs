//! Documents as HTML pages: no script, nothing from elsewhere, every text shown as text.
//!
//! A page is complete in itself: one inline style sheet, named by its digest in the page's policy, so that nothing
//! else on the page is ever taken for style or script. Each text stands in a `bdi` element: its direction cannot
//! reach what stands around it.

use data_encoding::BASE64;
use rp_replay::document::{Address, Body, Cell, Document, Piece, Row, Section, Tone};
use sha2::{Digest, Sha256};

/// The style sheet of every page.
const STYLE: &str = include_str!("style.css");

/// A text longer than this is folded up behind its beginning.
const OPEN_CHARS_MAX: usize = 900;
/// How much of a folded text is shown.
const SHOWN_CHARS: usize = 240;
/// From this many characters in a cell on, its column is kept wide enough to read.
const WIDE_CHARS: usize = 40;

/// What stands around a document.
pub struct Frame<'a> {
    /// What the site is called.
    pub site: &'a str,
    /// The pages to choose from.
    pub menu: &'a [Item],
    /// What must be known before anything on the page is believed: a sentence, and details.
    pub banner: Option<&'a (String, Vec<String>)>,
    /// As of when the page holds.
    pub stamp: &'a [Cell],
    /// Where a thing is found on the site, if it is.
    pub href: &'a dyn Fn(&Address) -> Option<String>,
    /// Other parts of a long table, by the section that it stands in.
    pub parts: &'a dyn Fn(&Section) -> Vec<Item>,
}

/// A link of a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its words.
    pub label: String,
    /// Where it leads; none for the page that is shown.
    pub href: Option<String>,
}

/// Draws a document that stands alone; nothing in it is a link.
pub fn draw(document: &Document, note: &str) -> String {
    page(
        document,
        &Frame {
            site: "",
            menu: &[],
            banner: None,
            stamp: &[Cell::from(note)],
            href: &|_| None,
            parts: &|_| Vec::new(),
        },
    )
}

/// Draws a page.
pub fn page(document: &Document, frame: &Frame<'_>) -> String {
    let title = match frame.site {
        "" => escaped(&document.title),
        site => format!("{} \u{2013} {}", escaped(&document.title), escaped(site)),
    };
    let digest = BASE64.encode(&Sha256::digest(STYLE.as_bytes()));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
    );
    out.push_str(&header(frame));
    out.push_str("<main id=\"main\">\n");
    out.push_str(&banner(frame));
    out.push_str(&format!("<h1>{}</h1>\n", text(&document.title)));
    if let Some(address) = &document.address {
        out.push_str(&format!("<p class=\"address\">{}</p>\n", code(address.as_str())));
    }
    for (n, section) in document.sections.iter().enumerate() {
        out.push_str(&drawn(n + 1, section, frame));
    }
    out.push_str("</main>\n<footer>\n");
    for line in frame.stamp {
        out.push_str(&format!("<p>{}</p>\n", inline(line, frame)));
    }
    out.push_str("</footer>\n</body>\n</html>\n");
    out
}

fn header(frame: &Frame<'_>) -> String {
    if frame.menu.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<header>\n<p class=\"site\">{}</p>\n<nav aria-label=\"Pages\">\n<ul>\n",
        text(frame.site)
    );
    for item in frame.menu {
        out.push_str(&format!("<li>{}</li>\n", anchor(item)));
    }
    out.push_str("</ul>\n</nav>\n</header>\n");
    out
}

/// A link of a menu; the page that is shown says so.
fn anchor(item: &Item) -> String {
    match &item.href {
        Some(href) => format!("<a href=\"{}\">{}</a>", escaped(href), text(&item.label)),
        None => format!("<a aria-current=\"page\" href=\"#main\">{}</a>", text(&item.label)),
    }
}

fn banner(frame: &Frame<'_>) -> String {
    let Some((sentence, details)) = frame.banner else { return String::new() };
    let mut out = format!("<div class=\"banner bad\" role=\"note\">{}", text(sentence));
    if !details.is_empty() {
        out.push_str("<ul>");
        for detail in details {
            out.push_str(&format!("<li>{}</li>", text(detail)));
        }
        out.push_str("</ul>");
    }
    out.push_str("</div>\n");
    out
}

fn drawn(n: usize, section: &Section, frame: &Frame<'_>) -> String {
    let body = body(section, frame);
    if section.heading.is_empty() {
        return body;
    }
    let heading = text(&section.heading);
    format!(
        "<section id=\"part-{n}\" aria-labelledby=\"heading-{n}\">\n\
         <h2 id=\"heading-{n}\">{heading}</h2>\n{body}</section>\n"
    )
}

fn body(section: &Section, frame: &Frame<'_>) -> String {
    match &section.body {
        Body::Text(cell) => format!("<div class=\"p\">{}</div>\n", block(cell, frame)),
        Body::Note(tone, cell) => format!(
            "<div class=\"note {}\" role=\"note\">{}</div>\n",
            tone.as_str(),
            block(cell, frame)
        ),
        Body::Facts(facts) => {
            let mut out = String::from("<dl>\n");
            for (label, value) in facts {
                let value = block(value, frame);
                out.push_str(&format!("<dt>{}</dt><dd>{value}</dd>\n", text(label)));
            }
            out.push_str("</dl>\n");
            out
        }
        Body::List(items) => {
            let mut out = String::from("<ul>\n");
            for item in items {
                out.push_str(&format!("<li>{}</li>\n", block(item, frame)));
            }
            out.push_str("</ul>\n");
            out
        }
        Body::Code(code) => format!("<pre><code>{}</code></pre>\n", escaped(code)),
        Body::Table { columns, rows } => table(section, columns, rows, frame),
    }
}

fn table(section: &Section, columns: &[String], rows: &[Row], frame: &Frame<'_>) -> String {
    let label = if section.heading.is_empty() { "Table" } else { section.heading.as_str() };
    // A box that can be scrolled must be reachable without a pointer.
    let mut out = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table>\n<thead><tr>",
        escaped(label)
    );
    for column in columns {
        out.push_str(&format!("<th scope=\"col\">{}</th>", text(column)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        match &row.address {
            Some(address) => out.push_str(&format!("<tr id=\"{}\">", escaped(&anchor_of(address)))),
            None => out.push_str("<tr>"),
        }
        for (n, cell) in row.cells.iter().enumerate() {
            out.push_str(&cell_of(n, cell, frame));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    let parts = (frame.parts)(section);
    if !parts.is_empty() {
        let links: Vec<String> = parts.iter().map(anchor).collect();
        out.push_str(&format!(
            "<nav class=\"parts\" aria-label=\"Rows\">Rows: {}</nav>\n",
            links.join(" \u{b7} ")
        ));
    }
    out
}

fn cell_of(n: usize, cell: &Cell, frame: &Frame<'_>) -> String {
    let drawn = block(cell, frame);
    if n == 0 {
        return format!("<th scope=\"row\">{drawn}</th>");
    }
    // A status is short enough to be read in a narrow column.
    let words = cell.0.iter().filter(|piece| !matches!(piece, Piece::Status(..)));
    let long = words.map(|piece| piece.plain().len()).sum::<usize>() > WIDE_CHARS;
    if long { format!("<td class=\"wide\">{drawn}</td>") } else { format!("<td>{drawn}</td>") }
}

/// The name of an address within a page.
pub fn anchor_of(address: &Address) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') { c } else { '-' };
    address.as_str().chars().map(kept).collect()
}

/// A value where long texts may be folded up.
fn block(cell: &Cell, frame: &Frame<'_>) -> String {
    let parts = cell.0.iter().map(|part| match part {
        Piece::Text(words) if words.chars().nth(OPEN_CHARS_MAX).is_some() => folded(words),
        other => piece(other, frame),
    });
    parts.collect()
}

fn folded(words: &str) -> String {
    let length = words.chars().count();
    let shown: String = words.chars().take(SHOWN_CHARS).collect();
    format!(
        "<details><summary>{}\u{2026} <span class=\"address\">({length} characters)</span></summary>\
         <div class=\"long\">{}</div></details>",
        text(&shown),
        text(words)
    )
}

fn inline(cell: &Cell, frame: &Frame<'_>) -> String {
    cell.0.iter().map(|part| piece(part, frame)).collect()
}

fn piece(piece: &Piece, frame: &Frame<'_>) -> String {
    match piece {
        Piece::Text(words) => text(words),
        Piece::Code(words) => code(words),
        Piece::Time(words) => {
            let words = escaped(words);
            format!("<time datetime=\"{words}\">{words}</time>")
        }
        Piece::Link(address) => match (frame.href)(address) {
            Some(href) => {
                format!("<a href=\"{}\">{}</a>", escaped(&href), text(address.as_str()))
            }
            None => code(address.as_str()),
        },
        Piece::Status(tone, words) => status(*tone, words),
    }
}

fn status(tone: Tone, words: &str) -> String {
    format!("<span class=\"s {}\">{}</span>", tone.as_str(), text(words))
}

fn text(words: &str) -> String {
    format!("<bdi>{}</bdi>", escaped(words))
}

fn code(words: &str) -> String {
    format!("<code><bdi>{}</bdi></code>", escaped(words))
}

/// A text in which nothing is markup, in content and within quotes.
fn escaped(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            // Neither allowed in a page nor of any meaning to a reader; the record refuses them as well.
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shown_as_text_wherever_it_stands() {
        let hostile = "</title><script>alert(1)</script>\" onload=x ]]> ' \u{7}";
        let address = Address::parse(&format!("claim:1/{hostile}")).unwrap();
        let cell = Cell::from(hostile)
            .and(Cell::code(hostile))
            .and(Cell::status(Tone::Good, hostile))
            .and(Cell(vec![Piece::Time(hostile.to_owned())]))
            .and(Cell::link(address.clone()));
        let rows = [(Some(address.clone()), [cell.clone()])];
        let document = Document::of(hostile, address)
            .with(hostile, Body::Text(cell.clone()))
            .with(hostile, Body::Note(Tone::Bad, cell.clone()))
            .with(hostile, Body::facts([(hostile, cell.clone())]))
            .with(hostile, Body::List(vec![cell]))
            .with(hostile, Body::Code(hostile.to_owned()))
            .with(hostile, Body::table([hostile], rows));
        let page = draw(&document, hostile);
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains("\" onload"), "{page}");
        assert_eq!(page.matches("</title>").count(), 1);
        assert!(!page.contains('\u{7}'));
    }

    #[test]
    fn a_long_text_is_folded_up_and_whole_behind_its_beginning() {
        let long = "word ".repeat(12_000);
        let page = draw(&Document::new("t").with("", Body::Text(Cell::from(long.clone()))), "");
        assert!(page.contains("(60000 characters)</span></summary>"));
        assert!(page.contains(&long));
    }
}
