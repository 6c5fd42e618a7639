//! The seam to the file system: every byte of the journal passes through one small trait.
//!
//! [`Real`] is the machine's disk. Tests put another one in its place, which fails, fills up or forgets at a
//! chosen call; nothing that writes the journal can bypass it.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{FileExt, PermissionsExt},
    path::Path,
};

/// Free and total bytes of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes that may still be written.
    pub free: u64,
    /// Bytes in all.
    pub total: u64,
}

/// What the journal asks of a file system.
pub trait Disk: Send + Sync + std::fmt::Debug {
    /// Opens an existing file for reading and writing.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Handle>>;

    /// Makes a new file; fails if it exists.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Handle>>;

    /// Gives a file its final name, in the place of any that has it.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes the names in a folder durable.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Makes a folder and those above it.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn make_folder(&self, path: &Path) -> io::Result<()>;

    /// Takes the right to write from a finished file.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn protect(&self, path: &Path) -> io::Result<()>;

    /// How much space there is where `path` stands.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn space(&self, path: &Path) -> io::Result<Space>;
}

/// An open file.
#[expect(
    clippy::len_without_is_empty,
    reason = "a length that must be asked for, of no collection"
)]
pub trait Handle: Send + std::fmt::Debug {
    /// Its length in bytes.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn len(&self) -> io::Result<u64>;

    /// Fills `buffer` from byte `offset` on, or fails.
    ///
    /// # Errors
    ///
    /// As the file system says; the end of the file before the end of the buffer is one.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes all of `bytes` at byte `offset`.
    ///
    /// # Errors
    ///
    /// As the file system says; some of the bytes may have been written.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes content and length durable.
    ///
    /// # Errors
    ///
    /// As the file system says. What reached the disk is then unknown, and stays so.
    fn sync(&self) -> io::Result<()>;

    /// Cuts the file, or extends it with zeros.
    ///
    /// # Errors
    ///
    /// As the file system says.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Reserves space up to `len` and sets the length, new bytes reading as zeros.
    ///
    /// # Errors
    ///
    /// As the file system says; one without this ability refuses.
    fn allocate(&self, len: u64) -> io::Result<()>;
}

/// The machine's file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Real;

impl Disk for Real {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        Ok(Box::new(OpenOptions::new().read(true).write(true).open(path)?))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        Ok(Box::new(OpenOptions::new().read(true).write(true).create_new(true).open(path)?))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door that the others use")]
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door that the others use")]
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn protect(&self, path: &Path) -> io::Result<()> {
        fs::set_permissions(path, fs::Permissions::from_mode(0o444))
    }

    fn space(&self, path: &Path) -> io::Result<Space> {
        Ok(Space { free: fs2::available_space(path)?, total: fs2::total_space(path)? })
    }
}

impl Handle for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        FileExt::read_exact_at(self, buffer, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, offset)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door that the others use")]
    fn sync(&self) -> io::Result<()> {
        // Only an interrupted call may be made again: after any other failure the kernel may report a later
        // sync as a success although these bytes never reached the disk.
        loop {
            match self.sync_data() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        Self::set_len(self, len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        fs2::FileExt::allocate(self, len)
    }
}
