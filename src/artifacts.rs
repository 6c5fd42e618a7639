//! The store of artifacts: `.rp/blobs/b3/ab/cd/` and 64 digits, one file an artifact.
//!
//! Bytes are read once, a piece at a time, hashed and written aside; the file then gets the name that its
//! digest gives, durable before any entry names it. What a killed process left aside is harmless and is
//! removed by the next that adds something while nobody else does.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use fs2::FileExt;
use rp_events::{
    Refusal,
    artifact::{self, Fingerprint, Fingerprinter, blob_path},
    refusal::general,
    text::shown,
};
use rp_validator::artifacts::fingerprint;

use crate::{error::Failure, journal::RESERVE_BYTES_MAX, workspace::Workspace};

/// Bytes moved at a time.
const PIECE_BYTES: usize = 1 << 16;

/// What became of bytes that were to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// The store had none of the kind.
    New,
    /// The store had them.
    Present,
    /// The store had other bytes under their name, and has the right ones now.
    Repaired,
}

impl Stored {
    /// The word in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Present => "present",
            Self::Repaired => "repaired",
        }
    }
}

/// The store, open for adding: for as long as this lives, nobody removes what it has aside.
#[derive(Debug)]
pub struct Store<'w> {
    workspace: &'w Workspace,
    _lock: File,
}

impl<'w> Store<'w> {
    /// Opens the store, making it where there is none, and clears away what killed processes left aside.
    ///
    /// # Errors
    ///
    /// The folder cannot be made or its lock not taken.
    pub fn open(workspace: &'w Workspace) -> Result<Self, Failure> {
        let folder = workspace.blobs_folder();
        let lock = Self::lock(workspace, &folder)
            .map_err(|error| Failure::io("open the store", &folder, &error))?;
        Ok(Self { workspace, _lock: lock })
    }

    fn lock(workspace: &Workspace, folder: &Path) -> io::Result<File> {
        workspace.settings.disk.make_folder(&folder.join("aside"))?;
        let file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.join("LOCK"))?;
        if file.try_lock_exclusive().is_ok() {
            for left in fs::read_dir(folder.join("aside"))? {
                fs::remove_file(left?.path())?;
            }
        }
        // The lock is shared among all who add; whoever finds it free is alone.
        file.lock_shared()?;
        Ok(file)
    }

    /// Stores the bytes of a file; they are durable under their digest when this returns.
    ///
    /// # Errors
    ///
    /// The file is missing, empty or none, cannot be read, or the store cannot be written.
    pub fn add(&self, path: &Path) -> Result<(Fingerprint, Stored), Failure> {
        let mut file = open_file(path)?;
        let random = self.workspace.settings.clock.random::<16>();
        let name = data_encoding::HEXLOWER.encode(&random);
        let aside = self.workspace.blobs_folder().join("aside").join(name);
        let outcome = self.add_from(&mut file, path, &aside);
        if outcome.is_err() {
            // Whatever is left aside is of no use to anyone; the next who adds removes what stays.
            drop(fs::remove_file(&aside));
        }
        outcome
    }

    fn add_from(
        &self,
        file: &mut File,
        path: &Path,
        aside: &Path,
    ) -> Result<(Fingerprint, Stored), Failure> {
        let found = self.copy(file, path, aside)?;
        if found.bytes == 0 {
            return Err(nothing(path, "is empty, and nothing can rest on it"));
        }
        let target = self.workspace.blobs_folder().join(blob_path(&found.b3));
        let put = |error: &io::Error| Failure::io("store", &target, error);
        let stored = match File::open(&target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Stored::New,
            Err(error) => return Err(put(&error)),
            Ok(mut there) => {
                let held = fingerprint(&mut there).map_err(|error| put(&error))?;
                if held == found { Stored::Present } else { Stored::Repaired }
            }
        };
        match stored {
            Stored::Present => {
                fs::remove_file(aside).map_err(|error| Failure::io("remove", aside, &error))?;
                // Who stored them may have been killed before the name was durable.
                self.sync_folders(&target).map_err(|error| put(&error))?;
            }
            Stored::New | Stored::Repaired => {
                self.take_name(aside, &target).map_err(|error| put(&error))?;
            }
        }
        Ok((found, stored))
    }

    /// Copies the bytes aside and makes them durable there.
    fn copy(&self, file: &mut File, path: &Path, aside: &Path) -> Result<Fingerprint, Failure> {
        let disk = &self.workspace.settings.disk;
        let put = |error: io::Error| Failure::io("write", aside, &error);
        self.hold_to_space(file, aside)?;
        let out = disk.create(aside).map_err(put)?;
        let mut hasher = Fingerprinter::default();
        let mut piece = vec![0; PIECE_BYTES];
        let mut offset = 0;
        loop {
            let read = match file.read(&mut piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(|error| Failure::io("read", path, &error))?,
            };
            if read == 0 {
                break;
            }
            let bytes = piece.get(..read).unwrap_or_default();
            hasher.update(bytes);
            out.write_all_at(bytes, offset).map_err(put)?;
            offset += u64::try_from(read).unwrap_or(0);
        }
        out.sync().map_err(put)?;
        Ok(hasher.finish())
    }

    /// Holds the file system to have room for the bytes beside what is kept for the journal.
    fn hold_to_space(&self, file: &File, aside: &Path) -> Result<(), Failure> {
        let folder = aside.parent().unwrap_or(aside);
        let look = |error: io::Error| Failure::io("look at", folder, &error);
        let due = file.metadata().map_err(look)?.len();
        let space = self.workspace.settings.disk.space(folder).map_err(look)?;
        let reserve = RESERVE_BYTES_MAX.min(space.total / 20);
        if space.free >= due.saturating_add(reserve) {
            return Ok(());
        }
        let why = format!(
            "the artifact takes {due} bytes, {} are free, and {reserve} are kept for the journal",
            space.free
        );
        Err(Refusal::new(&general::DISK_FULL, why).into())
    }

    fn take_name(&self, aside: &Path, target: &Path) -> io::Result<()> {
        let disk = &self.workspace.settings.disk;
        if let Some(folder) = target.parent() {
            disk.make_folder(folder)?;
        }
        disk.protect(aside)?;
        disk.rename(aside, target)?;
        self.sync_folders(target)
    }

    /// Makes the name of a stored file durable, and those of the folders on the way to it.
    fn sync_folders(&self, target: &Path) -> io::Result<()> {
        let top = self.workspace.root.join(".rp");
        let folders = target.ancestors().skip(1).take_while(|folder| folder.starts_with(&top));
        folders.into_iter().try_for_each(|folder| self.workspace.settings.disk.sync_folder(folder))
    }
}

fn nothing(path: &Path, what: &str) -> Failure {
    Refusal::new(&general::ARTIFACT_MISSING, format!("`{}` {what}", path.display())).into()
}

/// Opens a file that is there and is a file.
fn open_file(path: &Path) -> Result<File, Failure> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(nothing(path, "is not there"));
        }
        Err(error) => return Err(Failure::io("read", path, &error)),
        Ok(about) if about.is_dir() => {
            let failure = nothing(path, "is a folder; an artifact is a file");
            return Err(failure.hint("name the files in it"));
        }
        Ok(about) if !about.is_file() => return Err(nothing(path, "is not a file")),
        Ok(_) => {}
    }
    File::open(path).map_err(|error| Failure::io("read", path, &error))
}

/// The path of a file as the record names it: relative to the workspace; `None` if it lies elsewhere.
pub fn path_of(workspace: &Workspace, file: &Path) -> Option<String> {
    let whole = fs::canonicalize(file).ok()?;
    let parts = whole.strip_prefix(&workspace.root).ok()?.components();
    let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/")).filter(|path| artifact::is_path(path))
}

/// What is found of a file that a list names: its size and its SHA-256.
///
/// # Errors
///
/// `artifact-missing`: it does not lie in the workspace, is missing or empty; or it cannot be read.
pub fn find(workspace: &Workspace, path: &str) -> Result<Fingerprint, Failure> {
    let shown_path = PathBuf::from(shown(path));
    if !artifact::is_path(path) {
        let why = "is not the path of a file in the workspace";
        return Err(nothing(&shown_path, why));
    }
    let file = workspace.root.join(path);
    let mut opened = open_file(&file)?;
    if path_of(workspace, &file).is_none() {
        return Err(nothing(&shown_path, "leads out of the workspace"));
    }
    let found = fingerprint(&mut opened).map_err(|error| Failure::io("read", &file, &error))?;
    if found.bytes == 0 {
        return Err(nothing(&shown_path, "is empty, and nothing can rest on it"));
    }
    Ok(found)
}
