//! Whole files that are there completely or not at all, and that survive a power cut once written.

use std::{io, path::Path};

use super::disk::Disk;

/// Writes a file in the place of any that has its name: aside, synced, renamed, the folder synced.
///
/// After `Ok` the new content survives a power cut; after `Err` the old one is still there, and a file with
/// the ending `.new` may be left, which the next write replaces.
///
/// # Errors
///
/// As the file system says.
pub fn write(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A bare file name has the empty parent, which cannot be opened.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let aside = folder.join(name);
    let file = match disk.create(&aside) {
        // A crash after this create and before the rename leaves the file aside; it was never of use.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => disk.open(&aside)?,
        made => made?,
    };
    file.set_len(0)?;
    file.write_all_at(bytes, 0)?;
    file.sync()?;
    disk.rename(&aside, path)?;
    disk.sync_folder(folder)
}
