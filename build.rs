//! Names the fold code: a digest over the sources that give the journal its meaning. A cache written by other
//! fold code is never read.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let mut files = Vec::new();
    for folder in ["events/src", "replay/src"] {
        println!("cargo::rerun-if-changed={folder}");
        collect(Path::new(folder), &mut files)?;
    }
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for file in files {
        hasher.update(file.to_string_lossy().as_bytes());
        hasher.update(&fs::read(&file)?);
    }
    println!("cargo::rustc-env=RP_FOLD_DIGEST={}", hasher.finalize().to_hex());
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
