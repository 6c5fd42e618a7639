//! Where a journal's files come from: a folder, or memory. Read-only; nothing else here opens a file.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

/// The files of one folder.
pub trait Source {
    /// The names of the files, in byte order.
    ///
    /// # Errors
    ///
    /// The folder cannot be read.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Reads the bytes of a file from `from` up to `upto`, or to its end if that comes first, into `into`, in
    /// the place of what it held; `false` if there is no such file.
    ///
    /// # Errors
    ///
    /// The file is there and cannot be read.
    fn read_part(&self, name: &str, from: u64, upto: u64, into: &mut Vec<u8>) -> io::Result<bool>;

    /// Reads a whole file, as [`Source::read_part`] does.
    ///
    /// # Errors
    ///
    /// As [`Source::read_part`].
    fn read(&self, name: &str, into: &mut Vec<u8>) -> io::Result<bool> {
        self.read_part(name, 0, u64::MAX, into)
    }

    /// Opens a file to be read a piece at a time; `None` if there is no such file.
    ///
    /// # Errors
    ///
    /// The file is there and cannot be opened.
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + '_>>>;
}

/// A folder on disk.
#[derive(Debug, Clone)]
pub struct Folder(pub PathBuf);

impl Source for Folder {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        let entries = match std::fs::read_dir(&self.0) {
            // A folder that is not there holds no journal, which is for the judgement to say.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(names),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_file()
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    fn read_part(&self, name: &str, from: u64, upto: u64, into: &mut Vec<u8>) -> io::Result<bool> {
        into.clear();
        let mut file = match File::open(self.0.join(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let len = file.metadata()?.len().min(upto).saturating_sub(from);
        // One byte more, so that reading to the end does not grow the buffer to find it.
        into.reserve(usize::try_from(len).unwrap_or(0) + 1);
        if from > 0 {
            file.seek(SeekFrom::Start(from))?;
        }
        file.take(upto.saturating_sub(from)).read_to_end(into)?;
        Ok(true)
    }

    fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + '_>>> {
        open(&self.0.join(name))
    }
}

fn open<'r>(path: &Path) -> io::Result<Option<Box<dyn Read + 'r>>> {
    match File::open(path) {
        Ok(file) => Ok(Some(Box::new(file))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A folder on disk with the folders in it; names are paths under it, with `/`.
#[derive(Debug, Clone)]
pub struct Tree(pub PathBuf);

impl Tree {
    fn list(&self, under: &str, names: &mut Vec<String>) -> io::Result<()> {
        let within = Folder(self.0.join(under));
        let prefix = if under.is_empty() { String::new() } else { format!("{under}/") };
        names.extend(within.names()?.into_iter().map(|name| format!("{prefix}{name}")));
        let entries = match std::fs::read_dir(&within.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir()
                && let Ok(name) = entry.file_name().into_string()
            {
                self.list(&format!("{prefix}{name}"), names)?;
            }
        }
        Ok(())
    }
}

impl Source for Tree {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        self.list("", &mut names)?;
        names.sort();
        Ok(names)
    }

    fn read_part(&self, name: &str, from: u64, upto: u64, into: &mut Vec<u8>) -> io::Result<bool> {
        Folder(self.0.clone()).read_part(name, from, upto, into)
    }

    fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + '_>>> {
        open(&self.0.join(name))
    }
}

/// Files in memory, for trying damage without touching a disk.
#[derive(Debug, Clone, Default)]
pub struct Memory(pub BTreeMap<String, Vec<u8>>);

impl Source for Memory {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.0.keys().cloned().collect())
    }

    fn read_part(&self, name: &str, from: u64, upto: u64, into: &mut Vec<u8>) -> io::Result<bool> {
        into.clear();
        let Some(file) = self.0.get(name) else { return Ok(false) };
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(file.len());
        into.extend_from_slice(file.get(place(from)..place(upto)).unwrap_or_default());
        Ok(true)
    }

    fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + '_>>> {
        let Some(bytes) = self.0.get(name) else { return Ok(None) };
        Ok(Some(Box::new(bytes.as_slice())))
    }
}
