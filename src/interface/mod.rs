//! The interface: every page of the table of views as linked files that need no server.
//!
//! Which pages there are follows from the table alone; nothing here knows a domain. The first view of the table is
//! the home page. Long tables are cut into parts by position, so that a part that is full never changes again.

pub mod folder;
mod names;

use std::{cell::RefCell, collections::BTreeMap};

use rp_events::Seq;
use rp_replay::{
    History, State, VIEWS, View,
    document::{Address, Body, Cell, Document, Section, Tone},
    lineage::Marks,
    views::{Args, Build, Touch, ViewError},
};

use self::names::Names;
use crate::render::html::{self, Frame, Item};

/// The most rows of a table that stand on one page.
pub const ROWS_MAX: usize = 500;

/// What the pages are made of.
#[derive(Debug)]
pub struct Material<'a> {
    /// The state that they show.
    pub state: &'a State,
    /// The entries that led to it.
    pub history: &'a History,
    /// The root of the tree over them.
    pub root: String,
    /// What was found out about the journal, in a sentence for the pages that speak of it.
    pub verdict: String,
    /// What must be known before a page is believed: a sentence, and details.
    pub banner: Option<(String, Vec<String>)>,
    /// What rests on a revoked key's suspect range or on bytes that changed.
    pub marks: Marks,
}

/// A page of the table of views.
struct Leaf {
    view: &'static View,
    /// Its file, without the ending.
    stem: String,
    document: Document,
}

/// The pages of a site, ready to be drawn.
struct Site<'a> {
    material: &'a Material<'a>,
    title: String,
    leaves: Vec<Leaf>,
    /// The files of things that have a page of their own.
    entities: Vec<(&'static View, Address, String)>,
    /// Where each thing is found.
    places: BTreeMap<Address, String>,
    /// The names of parts are given while pages are drawn.
    names: RefCell<Names>,
}

/// Draws every page and hands each to `sink` by its file name.
///
/// # Errors
///
/// The first of `sink`, and a view that cannot be made.
pub fn draw<E>(
    material: &Material<'_>,
    sink: &mut dyn FnMut(&str, &str) -> Result<(), E>,
) -> Result<u64, Trouble<E>> {
    let site = plan(material).map_err(Trouble::View)?;
    let mut pages = 0;
    let mut put = |name: &str, page: &str| {
        pages += 1;
        sink(name, page).map_err(Trouble::Sink)
    };
    for leaf in &site.leaves {
        let current = capital(leaf.view.name);
        site.pages(leaf.view, &leaf.stem, Some(&current), &leaf.document, &mut put)?;
    }
    for (view, address, stem) in &site.entities {
        let document = entity(material, view, address).map_err(Trouble::View)?;
        site.pages(view, stem, None, &document, &mut put)?;
    }
    Ok(pages)
}

/// Takes a page by its file name.
type Put<'p, E> = &'p mut dyn FnMut(&str, &str) -> Result<(), Trouble<E>>;

/// Why a site was not drawn.
#[derive(Debug)]
pub enum Trouble<E> {
    /// A view gave no page.
    View(ViewError),
    /// A page could not be handed on.
    Sink(E),
}

/// Makes the pages of whole views, and finds a place for everything that can be linked to.
fn plan<'a>(material: &'a Material<'a>) -> Result<Site<'a>, ViewError> {
    let mut names = Names::default();
    let mut leaves = Vec::new();
    let mut entities = Vec::new();
    for view in VIEWS {
        if let Build::Entity { all, .. } = &view.build {
            for address in all(material.state) {
                let stem = names.entity(&address);
                entities.push((*view, address, stem));
            }
        } else if let Some(document) = whole(material, view)? {
            let stem = if leaves.is_empty() { "index" } else { view.name };
            leaves.push(Leaf { view, stem: names.page(stem), document });
        }
    }
    let mut site = Site {
        material,
        title: leaves.first().map_or_else(String::new, |leaf| leaf.document.title.clone()),
        leaves,
        entities,
        places: BTreeMap::new(),
        names: RefCell::new(names),
    };
    let places = places(&site);
    site.places = places;
    Ok(site)
}

/// The page of a view of the whole record; a view that shows nothing yet has a page that says so.
fn whole(material: &Material<'_>, view: &View) -> Result<Option<Document>, ViewError> {
    let args = Args::default();
    let built = match &view.build {
        Build::Page(page) | Build::File { page: Some(page), .. } => page(material.state, &args),
        Build::Story(story) => story(material.state, material.history, &args),
        Build::Entity { .. } | Build::File { page: None, .. } | Build::Site => return Ok(None),
    };
    match built {
        Ok(mut document) => {
            material.marks.draw_on(&mut document);
            Ok(Some(document))
        }
        Err(ViewError::Nothing(why)) => {
            let note = Body::Note(Tone::Open, Cell::from(why));
            Ok(Some(Document::new(capital(view.name)).with("", note)))
        }
        Err(error) => Err(error),
    }
}

fn entity(material: &Material<'_>, view: &View, address: &Address) -> Result<Document, ViewError> {
    let Build::Entity { page, .. } = &view.build else {
        return Err(ViewError::Argument(format!("`{}` is no view of one thing", view.name)));
    };
    let args = Args { address: Some(address.clone()), ..Args::default() };
    let mut document = page(material.state, material.history, &args)?;
    material.marks.draw_on(&mut document);
    Ok(document)
}

/// Where each thing is found: on its own page, or in the row about it.
fn places(site: &Site<'_>) -> BTreeMap<Address, String> {
    let mut places = BTreeMap::new();
    for leaf in &site.leaves {
        for section in &leaf.document.sections {
            let Body::Table { rows, .. } = &section.body else { continue };
            for (n, row) in rows.iter().enumerate() {
                let Some(address) = &row.address else { continue };
                let file = site.part(&leaf.stem, section, n / ROWS_MAX);
                places.insert(address.clone(), format!("{file}#{}", html::anchor_of(address)));
            }
        }
    }
    for (_, address, stem) in &site.entities {
        places.insert(address.clone(), format!("{stem}.html"));
    }
    places
}

impl Site<'_> {
    /// The file of a part of a section's table; the first part stands on the page itself.
    fn part(&self, stem: &str, section: &Section, part: usize) -> String {
        if part == 0 {
            return format!("{stem}.html");
        }
        format!("{}.html", self.names.borrow_mut().part(stem, &section.heading, part + 1))
    }

    fn menu(&self, current: Option<&str>) -> Vec<Item> {
        let item = |leaf: &Leaf| {
            let label = capital(leaf.view.name);
            let href = (current != Some(label.as_str())).then(|| format!("{}.html", leaf.stem));
            Item { label, href }
        };
        self.leaves.iter().map(item).collect()
    }

    /// Draws a document's page, and those of the parts of its long tables.
    fn pages<E>(
        &self,
        view: &View,
        stem: &str,
        current: Option<&str>,
        document: &Document,
        put: Put<'_, E>,
    ) -> Result<(), Trouble<E>> {
        let file = format!("{stem}.html");
        let stamp = self.stamp(view, document);
        let mut first = document.clone();
        let mut counts = Vec::new();
        for section in &mut first.sections {
            if let Body::Table { rows, .. } = &mut section.body
                && rows.len() > ROWS_MAX
            {
                counts.push((section.heading.clone(), rows.len()));
                rows.truncate(ROWS_MAX);
            }
        }
        let ranges = |section: &Section| -> Vec<Item> {
            let count = counts.iter().find(|(heading, _)| *heading == section.heading);
            let all = count.map_or(0, |(_, n)| *n);
            (0..all.div_ceil(ROWS_MAX)).map(|part| self.range(stem, section, part, all)).collect()
        };
        put(&file, &self.page(&first, &self.menu(current), &stamp, &ranges, &file))?;
        for section in &document.sections {
            self.parts(stem, current, document, section, put)?;
        }
        Ok(())
    }

    /// A link to a part by the rows that stand there; none for the part on the page itself.
    fn range(&self, stem: &str, section: &Section, part: usize, all: usize) -> Item {
        let (from, to) = (part * ROWS_MAX + 1, all.min((part + 1) * ROWS_MAX));
        let href = (part > 0).then(|| self.part(stem, section, part));
        Item { label: format!("{from} to {to}"), href }
    }

    /// Draws the parts after the first of a section's table. They say nothing that an append would change
    /// before they are full: no count of all rows, and no last entry.
    fn parts<E>(
        &self,
        stem: &str,
        current: Option<&str>,
        document: &Document,
        section: &Section,
        put: Put<'_, E>,
    ) -> Result<(), Trouble<E>> {
        let Body::Table { columns, rows } = &section.body else { return Ok(()) };
        let count = rows.len().div_ceil(ROWS_MAX);
        for (part, chunk) in rows.chunks(ROWS_MAX).enumerate().skip(1) {
            let from = part * ROWS_MAX + 1;
            let heading = if section.heading.is_empty() { "Rows" } else { &section.heading };
            let title = format!("{}: {heading} from {from} on", document.title);
            let table = Body::Table { columns: columns.clone(), rows: chunk.to_vec() };
            let shown = Document {
                address: document.address.clone(),
                ..Document::new(title).with(section.heading.clone(), table)
            };
            let around = |_: &Section| self.around(stem, section, part, count);
            let file = self.part(stem, section, part);
            let stamp =
                [Cell::from("A part of a long table; its first page says as of when it holds.")];
            let menu = self.menu(current).into_iter().map(|item| Item {
                href: Some(item.href.unwrap_or_else(|| format!("{stem}.html"))),
                ..item
            });
            put(&file, &self.page(&shown, &menu.collect::<Vec<_>>(), &stamp, &around, &file))?;
        }
        Ok(())
    }

    /// Links from a part to its neighbours.
    fn around(&self, stem: &str, section: &Section, part: usize, count: usize) -> Vec<Item> {
        let link = |label: &str, part: usize| Item {
            label: label.to_owned(),
            href: Some(self.part(stem, section, part)),
        };
        let mut items = vec![link("first", 0)];
        if part > 1 {
            items.push(link("before", part - 1));
        }
        if part + 1 < count {
            items.push(link("after", part + 1));
        }
        items
    }

    fn page(
        &self,
        document: &Document,
        menu: &[Item],
        stamp: &[Cell],
        parts: &dyn Fn(&Section) -> Vec<Item>,
        file: &str,
    ) -> String {
        // A link within a page does not load it again.
        let href = |address: &Address| {
            let place = self.places.get(address)?;
            let here = place.strip_prefix(file).filter(|rest| rest.starts_with('#'));
            Some(here.map_or_else(|| place.clone(), str::to_owned))
        };
        html::page(
            document,
            &Frame {
                site: &self.title,
                menu,
                banner: self.material.banner.as_ref(),
                stamp,
                href: &href,
                parts,
            },
        )
    }

    /// As of when a page holds. Only pages that speak of the journal carry its size and root: an append changes
    /// no page but those that it touches (decisions 26 of the design).
    fn stamp(&self, view: &View, document: &Document) -> Vec<Cell> {
        let material = self.material;
        if matches!(view.touch, Touch::Journal) {
            let size = material.state.next().0;
            return vec![
                Cell::from(format!("The journal as of {size} entries; root "))
                    .and(Cell::code(material.root.clone())),
                Cell::from(material.verdict.clone()),
            ];
        }
        let last = match (&view.touch, &document.address) {
            (Touch::Subject, Some(address)) => material.history.last_about(address),
            (touch, shown) => material.history.last(|line| touch.is_by(line, shown.as_ref())),
        };
        vec![last.map_or_else(|| Cell::from("Nothing is recorded about this yet."), as_of)]
    }
}

fn as_of(seq: Seq) -> Cell {
    Cell::from("Changed last by ").and(Cell::link(Address::event(seq))).and(".")
}

fn capital(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
