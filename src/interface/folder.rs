//! The folder of pages: written file by file, never mixed with files of others.
//!
//! A file with the names of all pages marks the folder as ours; only what it names is ever replaced or removed.
//! Pages can be folded again at any time, so they are renamed into place whole and not synced.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    error::Failure,
    exit::Exit,
    journal::disk::{Disk, Handle},
};

/// The file that marks a folder.
pub const MARKER: &str = ".rp-interface";
/// Its first line.
const FIRST: &str = "rp-interface 1\n";
/// What a file is called until it is whole.
const ASIDE: &str = ".rp-interface.new";

/// A folder of pages, open for writing.
#[derive(Debug)]
pub struct Folder<'a> {
    disk: &'a dyn Disk,
    path: PathBuf,
    /// The marker, to which each name is added before its file is made.
    marker: Box<dyn Handle>,
    length: u64,
    /// What the marker named before.
    known: BTreeSet<String>,
    /// What was written or found the same.
    current: BTreeSet<String>,
    /// How many files were written.
    pub written: u64,
    /// How many files held their page already.
    pub same: u64,
}

impl<'a> Folder<'a> {
    /// Opens a folder that is new, empty, or ours.
    ///
    /// # Errors
    ///
    /// It holds something else, or cannot be read or written.
    pub fn open(disk: &'a dyn Disk, path: &Path) -> Result<Self, Failure> {
        let known = known(path)?;
        let fail = |error: &io::Error| Failure::io("write", path, error);
        disk.make_folder(path).map_err(|error| fail(&error))?;
        let marker = path.join(MARKER);
        let mut text = FIRST.to_owned();
        text.extend(known.iter().map(|name| format!("{name}\n")));
        replace(disk, path, MARKER, text.as_bytes()).map_err(|error| fail(&error))?;
        let handle = disk.open(&marker).map_err(|error| fail(&error))?;
        let length = handle.len().map_err(|error| fail(&error))?;
        Ok(Self {
            disk,
            path: path.to_owned(),
            marker: handle,
            length,
            known,
            current: BTreeSet::new(),
            written: 0,
            same: 0,
        })
    }

    /// Puts a page under its name, unless it stands there already.
    ///
    /// # Errors
    ///
    /// It cannot be written; the file of that name is then the old one.
    pub fn put(&mut self, name: &str, page: &str) -> Result<(), Failure> {
        self.current.insert(name.to_owned());
        let path = self.path.join(name);
        let fail = |error: &io::Error| Failure::io("write", &path, error);
        // A link is never followed: it is replaced.
        let is_file = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
        if is_file && fs::read(&path).is_ok_and(|found| found == page.as_bytes()) {
            self.same += 1;
            return self.mark(name);
        }
        self.mark(name)?;
        replace(self.disk, &self.path, name, page.as_bytes()).map_err(|error| fail(&error))?;
        self.written += 1;
        Ok(())
    }

    /// Names a file in the marker before it is made: a file that is not named there is not ours.
    fn mark(&mut self, name: &str) -> Result<(), Failure> {
        if !self.known.insert(name.to_owned()) {
            return Ok(());
        }
        let line = format!("{name}\n");
        self.marker
            .write_all_at(line.as_bytes(), self.length)
            .map_err(|error| Failure::io("write", &self.path.join(MARKER), &error))?;
        self.length += u64::try_from(line.len()).unwrap_or(0);
        Ok(())
    }

    /// Removes the pages that there are no more; gives how many.
    ///
    /// # Errors
    ///
    /// One cannot be removed; the marker names it still.
    pub fn finish(self) -> Result<u64, Failure> {
        let mut removed = 0;
        for name in self.known.difference(&self.current) {
            let path = self.path.join(name);
            match fs::remove_file(&path) {
                Ok(()) => removed += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Failure::io("remove", &path, &error)),
            }
        }
        let mut text = FIRST.to_owned();
        text.extend(self.current.iter().map(|name| format!("{name}\n")));
        replace(self.disk, &self.path, MARKER, text.as_bytes())
            .map_err(|error| Failure::io("write", &self.path.join(MARKER), &error))?;
        Ok(removed)
    }
}

/// What a folder's marker names; nothing for a folder that is new or empty.
fn known(path: &Path) -> Result<BTreeSet<String>, Failure> {
    let foreign = |what: &str| {
        Failure::new(Exit::EXISTS, "exists", format!("`{}` {what}", path.display()))
            .detail("path", path.display().to_string())
            .hint("name a folder that is new or empty, or one that `rp fold interface` made")
    };
    let mut entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(foreign("is no folder"));
        }
        Err(error) => return Err(Failure::io("read", path, &error)),
    };
    match fs::read_to_string(path.join(MARKER)) {
        Ok(text) => {
            let names = text.strip_prefix(FIRST).ok_or_else(|| {
                foreign(&format!("has a file `{MARKER}` that names no pages of this version"))
            })?;
            Ok(names.lines().filter(|name| is_ours(name)).map(str::to_owned).collect())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let is_empty = entries.next().is_none();
            if is_empty { Ok(BTreeSet::new()) } else { Err(foreign("holds files of others")) }
        }
        Err(error) => Err(Failure::io("read", &path.join(MARKER), &error)),
    }
}

/// Whether a name is one that a page may have: a marker that was written by others must not lead elsewhere.
fn is_ours(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
    Path::new(name).extension().is_some_and(|ending| ending == "html")
        && !name.starts_with('.')
        && name.bytes().all(plain)
}

/// Puts a whole file in the place of any that has its name.
fn replace(disk: &dyn Disk, folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let aside = folder.join(ASIDE);
    let file = match disk.create(&aside) {
        // What an interrupted writer left, or a link that somebody put there.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(&aside)?;
            disk.create(&aside)?
        }
        made => made?,
    };
    file.write_all_at(bytes, 0)?;
    disk.rename(&aside, &folder.join(name))
}
