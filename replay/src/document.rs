//! What a page shows, before anything is drawn: a title and a few kinds of sections.
//!
//! Domains make documents and know no renderer; renderers draw documents and know no domain. The shape is
//! described in `spec/views.md`.

use std::fmt;

use rp_events::{Seq, Stamp};

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// What it is the page of, if it is one thing's.
    pub address: Option<Address>,
    /// Its parts, in order.
    pub sections: Vec<Section>,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its heading; empty for a part without one.
    pub heading: String,
    /// Its content.
    pub body: Body,
}

/// The content of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// A paragraph.
    Text(Cell),
    /// A paragraph that must not be overlooked.
    Note(Tone, Cell),
    /// Labels with values.
    Facts(Vec<(String, Cell)>),
    /// Lines in order.
    List(Vec<Cell>),
    /// A text whose line breaks and spaces mean something.
    Code(String),
    /// Rows under named columns.
    Table {
        /// The names of the columns.
        columns: Vec<String>,
        /// The rows; each has a cell for each column.
        rows: Vec<Row>,
    },
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What the row is about; others link to it by this.
    pub address: Option<Address>,
    /// A cell for each column.
    pub cells: Vec<Cell>,
}

/// A value: pieces that follow each other without a space.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell(pub Vec<Piece>);

/// A piece of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Words of the record or of the page.
    Text(String),
    /// Something to be typed or read letter by letter.
    Code(String),
    /// An instant, as the record writes it.
    Time(String),
    /// Another thing of the record.
    Link(Address),
    /// How something stands; the word says it, the tone only underlines it.
    Status(Tone, String),
}

/// How good a status is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It holds.
    Good,
    /// It does not hold.
    Bad,
    /// It holds in part, or needs somebody.
    Caution,
    /// It is not decided.
    Open,
    /// It is a fact without a side.
    Plain,
}

impl Tone {
    /// Its word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Caution => "caution",
            Self::Open => "open",
            Self::Plain => "plain",
        }
    }
}

/// Where a thing of the record is found: `round:2`, `claim:2/C1`, `event:17`, `key:owner`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(String);

impl Address {
    /// Of an entry.
    pub fn event(seq: Seq) -> Self {
        Self(format!("event:{seq}"))
    }

    /// Of a round.
    pub fn round(round: u64) -> Self {
        Self(format!("round:{round}"))
    }

    /// Of a claim of a round.
    pub fn claim(round: u64, claim: &str) -> Self {
        Self(format!("claim:{round}/{claim}"))
    }

    /// Of a key.
    pub fn key(name: &str) -> Self {
        Self(format!("key:{name}"))
    }

    /// Reads an address: a scheme, a colon, and what follows.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once(':')?;
        let is_scheme = !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_lowercase());
        (is_scheme && !rest.is_empty()).then(|| Self(text.to_owned()))
    }

    /// What kind of thing it is: `round`, `claim`.
    pub fn scheme(&self) -> &str {
        self.0.split_once(':').map_or("", |(scheme, _)| scheme)
    }

    /// Which one of its kind.
    pub fn rest(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, rest)| rest)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Document {
    /// A page with no parts.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), address: None, sections: Vec::new() }
    }

    /// A page of one thing, with no parts.
    pub fn of(title: impl Into<String>, address: Address) -> Self {
        Self { title: title.into(), address: Some(address), sections: Vec::new() }
    }

    /// Adds a part.
    #[must_use]
    pub fn with(mut self, heading: impl Into<String>, body: Body) -> Self {
        self.sections.push(Section { heading: heading.into(), body });
        self
    }

    /// Adds a part if there is anything in it.
    #[must_use]
    pub fn with_some(self, heading: impl Into<String>, body: Body) -> Self {
        let is_empty = match &body {
            Body::Text(cell) | Body::Note(_, cell) => cell.0.is_empty(),
            Body::Facts(facts) => facts.is_empty(),
            Body::List(lines) => lines.is_empty(),
            Body::Code(text) => text.is_empty(),
            Body::Table { rows, .. } => rows.is_empty(),
        };
        if is_empty { self } else { self.with(heading, body) }
    }
}

impl Body {
    /// A table; each row has a cell for each column.
    pub fn table<const N: usize>(
        columns: [&str; N],
        rows: impl IntoIterator<Item = (Option<Address>, [Cell; N])>,
    ) -> Self {
        let row = |(address, cells): (Option<Address>, [Cell; N])| Row {
            address,
            cells: cells.into_iter().collect(),
        };
        Self::Table {
            columns: columns.map(str::to_owned).to_vec(),
            rows: rows.into_iter().map(row).collect(),
        }
    }

    /// Labels with values.
    pub fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, Cell)>) -> Self {
        Self::Facts(facts.into_iter().map(|(label, cell)| (label.to_owned(), cell)).collect())
    }
}

impl Cell {
    /// A link.
    pub fn link(address: Address) -> Self {
        Self(vec![Piece::Link(address)])
    }

    /// A status; none for an empty word.
    pub fn status(tone: Tone, word: impl Into<String>) -> Self {
        let word = word.into();
        if word.is_empty() { Self::default() } else { Self(vec![Piece::Status(tone, word)]) }
    }

    /// What the first link leads to, if there is one.
    pub fn linked(&self) -> Option<&Address> {
        self.0.iter().find_map(|piece| match piece {
            Piece::Link(address) => Some(address),
            Piece::Text(_) | Piece::Code(_) | Piece::Time(_) | Piece::Status(..) => None,
        })
    }

    /// Something to be typed.
    pub fn code(text: impl Into<String>) -> Self {
        Self(vec![Piece::Code(text.into())])
    }

    /// An instant.
    pub fn time(stamp: Stamp) -> Self {
        Self(vec![Piece::Time(stamp.to_string())])
    }

    /// A number.
    pub fn count(n: u64) -> Self {
        Self::from(n.to_string())
    }

    /// A text on one line, no longer than `max` characters; what is left out is counted.
    pub fn clipped(text: &str, max: usize) -> Self {
        Self::from(clipped(text, max))
    }

    /// Adds what another cell has.
    #[must_use]
    pub fn and(mut self, more: impl Into<Self>) -> Self {
        self.0.extend(more.into().0);
        self
    }

    /// Cells with a separator between them.
    pub fn joined(cells: impl IntoIterator<Item = Self>, separator: &str) -> Self {
        let mut out = Self::default();
        for (n, cell) in cells.into_iter().enumerate() {
            if n > 0 {
                out.0.push(Piece::Text(separator.to_owned()));
            }
            out.0.extend(cell.0);
        }
        out
    }

    /// The words alone.
    pub fn plain(&self) -> String {
        self.0.iter().map(Piece::plain).collect()
    }
}

impl Piece {
    /// The words alone.
    pub fn plain(&self) -> &str {
        match self {
            Self::Text(text) | Self::Code(text) | Self::Time(text) | Self::Status(_, text) => text,
            Self::Link(address) => address.as_str(),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        if text.is_empty() { Self::default() } else { Self(vec![Piece::Text(text)]) }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

/// A text on one line, each run of white space one space, no longer than `max` characters and a count of
/// those left out.
pub fn clipped(text: &str, max: usize) -> String {
    // Only as much is looked at as can be shown, and then only counted.
    let mut words = String::new();
    let mut length = 0_usize;
    for word in text.split_whitespace() {
        let gap = usize::from(length > 0);
        let size = word.chars().count();
        if length + gap + size <= max {
            if gap > 0 {
                words.push(' ');
            }
            words.push_str(word);
            length += gap + size;
            continue;
        }
        // A first word that is too long is cut; a later one is left out whole.
        if length == 0 {
            words.extend(word.chars().take(max));
            length = max;
        }
        let left = text.chars().count().saturating_sub(length);
        return format!("{words}\u{2026} (+{left} characters)");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clipped_text_ends_at_a_word_and_counts_what_is_left_out() {
        assert_eq!(clipped("a  b\nc", 10), "a b c");
        assert_eq!(clipped("four letter words", 11), "four letter\u{2026} (+6 characters)");
        assert_eq!(clipped("four letter words", 10), "four\u{2026} (+13 characters)");
        assert_eq!(clipped("unbroken", 3), "unb\u{2026} (+5 characters)");
        assert_eq!(clipped("", 3), "");
    }

    #[test]
    fn an_address_is_a_scheme_and_a_rest() {
        let address = Address::parse("claim:2/C1").unwrap();
        assert_eq!((address.scheme(), address.rest()), ("claim", "2/C1"));
        assert_eq!(address, Address::claim(2, "C1"));
        for odd in ["", "claim", ":x", "claim:", "Claim:1"] {
            assert_eq!(Address::parse(odd), None, "{odd}");
        }
    }
}
