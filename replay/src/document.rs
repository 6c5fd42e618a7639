//! What a page shows, before anything is drawn: a title and a few kinds of sections.
//!
//! Domains make documents and know no renderer; renderers draw documents and know no domain.

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// Its parts, in order.
    pub sections: Vec<Section>,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its heading; empty for the opening part.
    pub heading: String,
    /// Its content.
    pub body: Body,
}

/// The content of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// A paragraph.
    Text(String),
    /// Labels with values.
    Facts(Vec<(String, String)>),
    /// Lines in order.
    List(Vec<String>),
    /// Rows under named columns; each row has a cell for each column.
    Table {
        /// The names of the columns.
        columns: Vec<String>,
        /// The rows.
        rows: Vec<Vec<String>>,
    },
}

impl Document {
    /// A page with no parts.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), sections: Vec::new() }
    }

    /// Adds a part.
    #[must_use]
    pub fn with(mut self, heading: impl Into<String>, body: Body) -> Self {
        self.sections.push(Section { heading: heading.into(), body });
        self
    }
}
