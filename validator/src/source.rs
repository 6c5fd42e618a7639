//! Where a journal's files come from: a folder, or memory. Read-only; nothing else here opens a file.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::PathBuf,
};

/// The files of one folder.
pub trait Source {
    /// The names of the files, in byte order.
    ///
    /// # Errors
    ///
    /// The folder cannot be read.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Reads a whole file into `into`, in the place of what it held; `false` if there is no such file.
    ///
    /// # Errors
    ///
    /// The file is there and cannot be read.
    fn read(&self, name: &str, into: &mut Vec<u8>) -> io::Result<bool>;
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

    fn read(&self, name: &str, into: &mut Vec<u8>) -> io::Result<bool> {
        into.clear();
        let mut file = match File::open(self.0.join(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        file.read_to_end(into)?;
        Ok(true)
    }
}

/// Files in memory, for trying damage without touching a disk.
#[derive(Debug, Clone, Default)]
pub struct Memory(pub BTreeMap<String, Vec<u8>>);

impl Source for Memory {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.0.keys().cloned().collect())
    }

    fn read(&self, name: &str, into: &mut Vec<u8>) -> io::Result<bool> {
        into.clear();
        let file = self.0.get(name);
        into.extend(file.into_iter().flatten());
        Ok(file.is_some())
    }
}
