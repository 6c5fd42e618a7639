//! The seam to the user's files: every change that an archive makes to them passes through one small trait.
//!
//! [`Real`] is the machine. Tests put another in its place, which counts, fails, or ends the process at a chosen
//! call. The journal's own files go through [`crate::journal::disk`].

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink},
    path::Path,
};

use rustix::fs::{CWD, RenameFlags, renameat_with};

/// What an archive does to files. No call follows a symbolic link that is its last component, and none replaces
/// anything.
pub trait Moves: Send + Sync + std::fmt::Debug {
    /// Makes a folder; one that is there stays as it is.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn make_folder(&self, path: &Path) -> io::Result<()>;

    /// Gives a file, folder or link another name.
    ///
    /// # Errors
    ///
    /// As the file system says; `CrossesDevices` between two of them, `AlreadyExists` if the name is taken.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Copies a file with its permissions and its time of change, and makes the copy durable.
    ///
    /// # Errors
    ///
    /// As the file system says; part of the copy may be there.
    fn copy_file(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes a link that says what another says.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn copy_link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file or a link.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a folder durable.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// The machine's files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Real;

impl Moves for Real {
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        match fs::create_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_folder(path) => Ok(()),
            made => made,
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // A file system without this ability: looking first is all that is left.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => rename_if_free(from, to),
            done => done.map_err(io::Error::from),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a copy is durable before the original goes")]
    fn copy_file(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut source = File::open(from)?;
        let facts = source.metadata()?;
        let mode = facts.permissions().mode();
        let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
        io::copy(&mut source, &mut copy)?;
        copy.set_permissions(fs::Permissions::from_mode(mode))?;
        copy.set_modified(facts.modified()?)?;
        copy.sync_all()
    }

    fn copy_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        symlink(fs::read_link(from)?, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    #[expect(clippy::disallowed_methods, reason = "names are durable before the record says so")]
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir())
}

#[expect(clippy::disallowed_methods, reason = "this is the door that the others use")]
fn rename_if_free(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}
