//! The documents that stages leave in a workspace, as the rules ask for them. Symbolic links are not followed.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read},
    path::{Component, Path, PathBuf},
};

use rp_events::artifact::{Fingerprint, Fingerprinter};
use rp_replay::program::stage_files::{FOLDERS, Listing, is_read};

use crate::error::Failure;

/// What lies in a folder: its files and folders by name, and what is neither, with what it is.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) files: BTreeMap<String, u64>,
    pub(crate) folders: Vec<String>,
    pub(crate) strange: BTreeMap<String, String>,
}

/// Reads one folder; one that is not there is empty.
pub(crate) fn contents(folder: &Path) -> Result<Contents, Failure> {
    let failed = |error: &io::Error| Failure::io("read", folder, error);
    let mut found = Contents::default();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries.map_err(|error| failed(&error))?,
    };
    for entry in entries {
        let entry = entry.map_err(|error| failed(&error))?;
        let about = fs::symlink_metadata(entry.path())
            .map_err(|error| Failure::io("read", &entry.path(), &error))?;
        let name = match entry.file_name().into_string() {
            Ok(name) => name,
            Err(name) => {
                let shown = name.to_string_lossy().into_owned();
                found.strange.insert(shown, "a name that is no UTF-8".to_owned());
                continue;
            }
        };
        let kind = about.file_type();
        if kind.is_dir() {
            found.folders.push(name);
        } else if kind.is_file() {
            found.files.insert(name, about.len());
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path()).unwrap_or_default();
            found.strange.insert(name, format!("a symbolic link to {}", target.to_string_lossy()));
        } else {
            found.strange.insert(name, "neither a file nor a folder".to_owned());
        }
    }
    found.folders.sort();
    Ok(found)
}

/// The documents of the stages below a folder.
///
/// # Errors
///
/// A folder or a document cannot be read.
pub fn listing(root: &Path) -> Result<Listing, Failure> {
    let mut listing = Listing::default();
    let mut open: Vec<String> = FOLDERS.map(str::to_owned).into();
    while let Some(folder) = open.pop() {
        if fs::symlink_metadata(root.join(&folder)).is_ok_and(|about| !about.is_dir()) {
            continue;
        }
        let found = contents(&root.join(&folder))?;
        open.extend(found.folders.iter().map(|name| format!("{folder}/{name}")));
        for (name, bytes) in found.files {
            let path = format!("{folder}/{name}");
            let at = root.join(&path);
            let content = is_read(&path).then(|| fs::read(&at)).transpose();
            let content = content.map_err(|error| Failure::io("read", &at, &error))?;
            listing.put(path, bytes, content);
        }
    }
    Ok(listing)
}

/// Size and digests of a file of the workspace; `None` if there is no regular file of this path in it.
///
/// # Errors
///
/// The file is there and cannot be read.
pub fn sums(root: &Path, path: &str) -> Result<Option<Fingerprint>, Failure> {
    let Some(at) = inside(root, path) else { return Ok(None) };
    read(&at, None).map(|(summed, _)| Some(summed))
}

/// The place of a regular file that is reached from the root without a link and without leaving it.
fn inside(root: &Path, path: &str) -> Option<PathBuf> {
    let mut at = root.to_owned();
    for part in Path::new(path).components() {
        let Component::Normal(name) = part else { return None };
        at.push(name);
        if fs::symlink_metadata(&at).ok()?.is_symlink() {
            return None;
        }
    }
    fs::symlink_metadata(&at).ok()?.is_file().then_some(at)
}

/// Reads a file in pieces; keeps its bytes as well if it has at most `keep` of them.
pub(crate) fn read(
    at: &Path,
    keep: Option<u64>,
) -> Result<(Fingerprint, Option<Vec<u8>>), Failure> {
    let failed = |error: io::Error| Failure::io("read", at, &error);
    let mut file = File::open(at).map_err(failed)?;
    let mut kept = keep.map(|_| Vec::new());
    let mut sums = Fingerprinter::default();
    let mut piece = vec![0; 256 * 1024];
    loop {
        let count = file.read(&mut piece).map_err(failed)?;
        let Some(read) = piece.get(..count).filter(|read| !read.is_empty()) else { break };
        sums.update(read);
        if let Some(bytes) = &mut kept {
            bytes.extend_from_slice(read);
            let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            if keep.is_none_or(|keep| count > keep) {
                kept = None;
            }
        }
    }
    Ok((sums.finish(), kept))
}
