//! The lock of a journal: one writer at a time, by the kernel, gone with the process that held it.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, Write},
    os::unix::fs::MetadataExt,
    path::Path,
    time::Duration,
};

use fs2::FileExt;

use crate::clock::Clock;

/// How often a waiting process tries again.
const RETRY: Duration = Duration::from_millis(10);
/// Longest text about a holder that is read.
const HOLDER_BYTES_MAX: u64 = 1024;

/// The lock, held for as long as this value lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Why there is no lock.
#[derive(Debug)]
pub enum LockError {
    /// Another process held it past the deadline; the text is what that process wrote about itself.
    Held(String),
    /// The file cannot be opened or locked.
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Takes the lock, waiting at most `wait`; `about` tells others who holds it.
///
/// # Errors
///
/// See [`LockError`].
pub fn acquire(path: &Path, wait: Duration, about: &str, clock: &Clock) -> Result<Lock, LockError> {
    let deadline = clock.deadline(wait);
    loop {
        let mut file = open(path)?;
        match file.try_lock_exclusive() {
            Ok(()) if is_current(&file, path)? => {
                // The content informs people; the lock itself is the kernel's.
                file.set_len(0)?;
                file.write_all(about.as_bytes())?;
                return Ok(Lock { _file: file });
            }
            // The file was replaced while we waited: lock the one that has the name now.
            Ok(()) => {}
            Err(error) if error.kind() == fs2::lock_contended_error().kind() => {
                if !clock.wait_until(deadline, RETRY) {
                    return Err(LockError::Held(holder(&mut file)));
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether another process holds the lock now.
///
/// # Errors
///
/// The file is there and cannot be opened.
pub fn is_held(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    // Taken shared and given back with the handle, so that two readers do not see each other as writers.
    Ok(file.try_lock_shared().is_err())
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

fn is_current(file: &File, path: &Path) -> io::Result<bool> {
    let (held, named) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((held.dev(), held.ino()) == (named.dev(), named.ino()))
}

fn holder(file: &mut File) -> String {
    let mut about = String::new();
    let read = file.rewind().and_then(|()| file.take(HOLDER_BYTES_MAX).read_to_string(&mut about));
    match read {
        Ok(_) if !about.trim().is_empty() => about.trim().to_owned(),
        _ => "a process that did not name itself".to_owned(),
    }
}
