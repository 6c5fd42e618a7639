//! The stored artifacts as facts: what each path holds, read once, with its digest and its value.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet, VecDeque},
    rc::Rc,
};

use super::{
    bytes::{Fault, FaultKind, Map, Value, file_digest, parse},
    disk::{Disk, Kind},
    findings::Findings,
    scalar::is_within,
};

/// What stands at an artifact's path.
#[derive(Debug, Clone)]
pub enum Found {
    /// Nothing.
    Missing,
    /// A link, in the last component or on the way.
    Link {
        /// Whether it leads out of the root.
        outside: bool,
        /// Whether the last component is one.
        last: bool,
    },
    /// A directory or a special file.
    NotFile,
    /// A file that cannot be read.
    Unreadable(String),
    /// A file.
    File(Stored),
}

/// The value that a file's bytes are, or why they are none.
pub type Content = Rc<Result<Value, Fault>>;

/// A file that was read.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The digest of the bytes.
    pub sha256: Rc<str>,
    path: Rc<str>,
}

/// How many values are kept: those that launches of one stage share, and those looked at twice in a row.
const KEPT: usize = 16;

/// The files below a root, each read at most once.
pub struct Shelf<'d> {
    disk: &'d dyn Disk,
    root: String,
    seen: RefCell<BTreeMap<String, Found>>,
    /// Values by the digest of their bytes, the last ones last; a long run has more than fit in memory.
    values: RefCell<VecDeque<(Rc<str>, Content)>>,
    /// The bytes of the file that was read last: most are looked at at once.
    last: RefCell<(Rc<str>, Vec<u8>)>,
    folders: RefCell<BTreeMap<String, Kind>>,
    looked: RefCell<BTreeSet<String>>,
}

impl<'d> Shelf<'d> {
    /// The files below a root.
    pub fn new(disk: &'d dyn Disk, root: &str) -> Self {
        Self {
            disk,
            root: root.to_owned(),
            seen: RefCell::default(),
            values: RefCell::default(),
            last: RefCell::new(("".into(), Vec::new())),
            folders: RefCell::default(),
            looked: RefCell::default(),
        }
    }

    /// The disk.
    pub fn disk(&self) -> &'d dyn Disk {
        self.disk
    }

    /// The root.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// What stands at a normalized path.
    pub fn get(&self, path: &str) -> Found {
        if let Some(found) = self.seen.borrow().get(path) {
            return found.clone();
        }
        let found = self.look(path);
        self.seen.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }

    /// Whether something is looked at for the first time: what many launches share is judged once.
    pub fn is_first_look(&self, what: &str) -> bool {
        self.looked.borrow_mut().insert(what.to_owned())
    }

    fn look(&self, path: &str) -> Found {
        let full = format!("{}/{path}", self.root);
        let outside =
            || self.disk.resolve(&full).is_some_and(|to| !is_within(&to, &self.real_root()));
        for (end, _) in path.match_indices('/') {
            let folder = path.get(..end).unwrap_or_default();
            match self.folder(folder) {
                Kind::Folder => {}
                Kind::Link => return Found::Link { outside: outside(), last: false },
                Kind::Missing | Kind::File { .. } | Kind::Special => return Found::Missing,
            }
        }
        match self.disk.kind(&full) {
            Kind::Missing => Found::Missing,
            Kind::Link => Found::Link { outside: outside(), last: true },
            Kind::Folder | Kind::Special => Found::NotFile,
            Kind::File { .. } => match self.disk.read(&full) {
                Ok(bytes) => Found::File(self.store(path, bytes)),
                Err(error) => Found::Unreadable(error.to_string()),
            },
        }
    }

    fn real_root(&self) -> String {
        self.disk.resolve(&self.root).unwrap_or_else(|| self.root.clone())
    }

    fn folder(&self, path: &str) -> Kind {
        if let Some(kind) = self.folders.borrow().get(path) {
            return *kind;
        }
        let kind = self.disk.kind(&format!("{}/{path}", self.root));
        self.folders.borrow_mut().insert(path.to_owned(), kind);
        kind
    }

    fn store(&self, path: &str, bytes: Vec<u8>) -> Stored {
        let sha256: Rc<str> = file_digest(&bytes).into();
        *self.last.borrow_mut() = (sha256.clone(), bytes);
        Stored { sha256, path: path.into() }
    }

    /// The value of a file that was read.
    pub fn content(&self, stored: &Stored) -> Content {
        let mut values = self.values.borrow_mut();
        if let Some((_, value)) = values.iter().rev().find(|(known, _)| *known == stored.sha256) {
            return value.clone();
        }
        let last = self.last.borrow();
        let value: Content = if last.0 == stored.sha256 {
            Rc::new(parse(&last.1))
        } else {
            let bytes = self.disk.read(&format!("{}/{}", self.root, stored.path));
            Rc::new(parse(&bytes.unwrap_or_default()))
        };
        if values.len() == KEPT {
            values.pop_front();
        }
        values.push_back((stored.sha256.clone(), value.clone()));
        value
    }

    /// The object in a file (J.1); `None` if it is missing and may be, or after findings.
    pub fn object(&self, out: &mut Findings, path: &str, presence: Presence) -> Option<Object> {
        out.at(path, None, |out| match self.get(path) {
            Found::Missing => {
                out.due(presence == Presence::Optional, 3, "missing_file", "the file is missing");
                None
            }
            Found::Link { .. } => {
                out.find(1, "symlink_forbidden", "the file is a symbolic link");
                None
            }
            Found::NotFile => {
                out.find(2, "invalid_publication_target", "something else than a file stands here");
                None
            }
            Found::Unreadable(error) => {
                out.find(10, "invalid_json", format!("it cannot be read: {error}"));
                None
            }
            Found::File(stored) => stored.object(out, self),
        })
    }
}

/// Whether a file must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must.
    Required,
    /// It may be absent.
    Optional,
}

/// An object that was read, kept while rules look at it.
#[derive(Debug, Clone)]
pub struct Object {
    /// The digest of its bytes.
    pub sha256: Rc<str>,
    value: Content,
}

impl Object {
    /// The value.
    pub fn value(&self) -> &Value {
        self.value.as_ref().as_ref().unwrap_or(&Value::Null)
    }

    /// Its fields.
    pub fn map(&self) -> &Map {
        static EMPTY: Map = Map::new();
        self.value().map().unwrap_or(&EMPTY)
    }
}

impl Stored {
    /// The object in this file, with findings if it holds none.
    pub fn object(&self, out: &mut Findings, files: &Shelf<'_>) -> Option<Object> {
        let value = files.content(self);
        match value.as_ref() {
            Ok(Value::Map(_)) => Some(Object { sha256: self.sha256.clone(), value }),
            Ok(_) => {
                out.find(11, "invalid_json_type", "the value is not an object");
                None
            }
            Err(fault) => {
                out.find(json_rule(fault), "invalid_json", fault.to_string());
                None
            }
        }
    }
}

/// The line of J.1 that a fault stands for.
fn json_rule(fault: &Fault) -> u16 {
    match fault.kind {
        FaultKind::Bom => 4,
        FaultKind::Encoding => 5,
        FaultKind::Syntax(_) => 6,
        FaultKind::Duplicate(_) => 7,
        FaultKind::NonFinite => 8,
        FaultKind::Overflow => 9,
    }
}
