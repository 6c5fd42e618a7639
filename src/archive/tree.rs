//! Whole trees of files: copied, compared and removed without following a link out of them.

use std::{
    fs::{self, File},
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
};

use super::moves::Moves;

/// What a path is, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    File,
    Link,
    /// A socket, a pipe, a device.
    Special,
}

fn kind(path: &Path) -> io::Result<Kind> {
    let found = fs::symlink_metadata(path)?.file_type();
    Ok(match (found.is_dir(), found.is_file(), found.is_symlink()) {
        (true, _, _) => Kind::Folder,
        (_, true, _) => Kind::File,
        (_, _, true) => Kind::Link,
        _ => Kind::Special,
    })
}

/// Whether a path is there, be it a link that leads nowhere.
pub(super) fn is_there(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The names in a folder, in byte order.
pub(super) fn names(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name());
    }
    names.sort();
    Ok(names)
}

fn within(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

/// Copies a tree to a name that is free, durably.
///
/// # Errors
///
/// As the file system says, naming the path; a socket, pipe or device cannot be copied. Part may be there.
pub(super) fn copy(moves: &dyn Moves, from: &Path, to: &Path) -> io::Result<()> {
    let named = |error: io::Error| within(from, &error);
    match kind(from).map_err(named)? {
        Kind::File => moves.copy_file(from, to).map_err(named),
        Kind::Link => moves.copy_link(from, to).map_err(named),
        Kind::Special => {
            let why = "a socket, pipe or device cannot be copied to another file system";
            Err(within(from, &io::Error::new(io::ErrorKind::Unsupported, why)))
        }
        Kind::Folder => {
            moves.make_folder(to).map_err(named)?;
            for name in names(from).map_err(named)? {
                copy(moves, &from.join(&name), &to.join(&name))?;
            }
            let mode = fs::metadata(from).map_err(named)?.permissions();
            fs::set_permissions(to, mode).map_err(named)?;
            moves.sync_folder(to).map_err(named)
        }
    }
}

/// The first path under `from` that `to` does not hold with the same content; none if everything of `from` is in
/// `to`.
pub(super) fn lacking(from: &Path, to: &Path) -> io::Result<Option<PathBuf>> {
    let odd = || Ok(Some(from.to_owned()));
    if !is_there(to)? {
        return odd();
    }
    let kinds = (kind(from)?, kind(to)?);
    if kinds.0 != kinds.1 {
        return odd();
    }
    match kinds.0 {
        Kind::Folder => {
            for name in names(from)? {
                if let Some(path) = lacking(&from.join(&name), &to.join(&name))? {
                    return Ok(Some(path));
                }
            }
            Ok(None)
        }
        Kind::Link if fs::read_link(from)? == fs::read_link(to)? => Ok(None),
        Kind::File if same_bytes(from, to)? => Ok(None),
        Kind::Link | Kind::File | Kind::Special => odd(),
    }
}

fn same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    if fs::metadata(one)?.len() != fs::metadata(other)?.len() {
        return Ok(false);
    }
    let mut one = BufReader::new(File::open(one)?).bytes();
    let mut other = BufReader::new(File::open(other)?).bytes();
    loop {
        match (one.next().transpose()?, other.next().transpose()?) {
            (None, None) => return Ok(true),
            (a, b) if a != b => return Ok(false),
            _ => {}
        }
    }
}

/// Removes a tree, the leaves first.
pub(super) fn remove(moves: &dyn Moves, path: &Path) -> io::Result<()> {
    let named = |error: io::Error| within(path, &error);
    if kind(path).map_err(named)? != Kind::Folder {
        return moves.remove_file(path).map_err(named);
    }
    for name in names(path).map_err(named)? {
        remove(moves, &path.join(&name))?;
    }
    moves.remove_folder(path).map_err(named)
}
