//! The table of views: a row each, with a name, a sentence and a function.

use rp_events::{Digest, Refusal};

use crate::{
    History, State,
    document::{Address, Document},
    history::Line,
    program, trust,
};

/// What a caller may ask of a view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Args {
    /// The round, for views of one.
    pub round: Option<u64>,
    /// The thing, for views of one thing.
    pub address: Option<Address>,
}

/// A view of the record.
#[derive(Debug)]
pub struct View {
    /// Its name on the command line.
    pub name: &'static str,
    /// One sentence on what it shows.
    pub about: &'static str,
    /// How it is made.
    pub build: Build,
    /// Which entries may change it.
    pub touch: Touch,
}

/// Makes a page from the state alone.
pub type Page = fn(&State, &Args) -> Result<Document, ViewError>;

/// Makes a page from the state and the entries that led to it.
pub type Story = fn(&State, &History, &Args) -> Result<Document, ViewError>;

/// How a view is made.
#[derive(Debug)]
pub enum Build {
    /// A page that the renderers draw.
    Page(Page),
    /// A page that also shows entries.
    Story(Story),
    /// A page for each thing of a kind, named by its address.
    Entity {
        /// The things that have one, in order.
        all: fn(&State) -> Vec<Address>,
        /// Makes the page of one.
        page: Story,
    },
    /// A file whose format exists outside, byte for byte.
    File {
        /// The formats it has, the default first.
        formats: &'static [&'static str],
        /// Makes the bytes in one of the formats.
        render: fn(&State, &Args, &str) -> Result<String, ViewError>,
        /// Where the files are kept in a workspace, and which.
        places: fn(&State) -> Vec<Place>,
        /// The same for people, where there is a page of it.
        page: Option<Page>,
    },
    /// All pages together, as a folder of linked files.
    Site,
}

/// Which entries may change a view.
#[derive(Debug)]
pub enum Touch {
    /// Every entry: it speaks of the journal itself.
    Journal,
    /// Every entry that it lists.
    All,
    /// Those of a domain.
    Domain(&'static str),
    /// Those whose kind begins so.
    Kinds(&'static [&'static str]),
    /// Those about the thing that it shows.
    Subject,
}

impl Touch {
    /// Whether an entry may change the view.
    pub fn is_by(&self, line: &Line, shown: Option<&Address>) -> bool {
        match self {
            Self::Journal | Self::All => true,
            Self::Domain(domain) => line.domain == *domain,
            Self::Kinds(kinds) => kinds.iter().any(|kind| line.kind.starts_with(kind)),
            Self::Subject => shown.is_some_and(|address| line.about.contains(address)),
        }
    }
}

/// A file that a view keeps in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Path under the workspace, with `/`.
    pub path: String,
    /// What to ask of the view.
    pub args: Args,
    /// In which format.
    pub format: &'static str,
    /// BLAKE3 of the file as it was imported. Until the record adds to what the file shows, its own bytes hold
    /// as the fold's do: an older writer had other blanks, and an archive is not rewritten.
    pub as_imported: Option<Digest>,
}

impl Place {
    /// Whether a file's bytes are what is due: the fold's, or those that were imported.
    pub fn holds(&self, due: &str, found: &[u8]) -> bool {
        found == due.as_bytes()
            || self.as_imported.is_some_and(|digest| digest == Digest::b3(found))
    }
}

/// Why a view shows nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewError {
    /// The record holds nothing yet that the view would show.
    Nothing(String),
    /// The view needs another argument.
    Argument(String),
    /// A rule forbids it.
    Refused(Refusal),
}

/// Every view, in the order of `rp fold --list`.
pub static VIEWS: &[&View] = &[
    &program::views::STATUS,
    &program::views::BRIEF,
    &program::views::ROUNDS,
    &program::views::ROUND,
    &program::views::CLAIMS,
    &program::views::CLAIM,
    &program::views::LEDGER,
    &program::views::MEMORY,
    &program::views::FIGURES,
    &program::views::NEXT_TASK,
    &trust::views::TIMELINE,
    &trust::views::REFUSALS,
    &trust::views::TRUST,
    &INTERFACE,
];

/// All pages together.
pub static INTERFACE: View = View {
    name: "interface",
    about: "every page as a folder of linked HTML files that needs no server (`--out DIR`)",
    build: Build::Site,
    touch: Touch::Journal,
};

/// The view with a name; `task` is another name of `next-task`.
pub fn view(name: &str) -> Option<&'static View> {
    let name = if name == "task" { "next-task" } else { name };
    VIEWS.iter().copied().find(|view| view.name == name)
}
