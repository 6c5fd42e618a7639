//! What a run directory and its surroundings look like: a disk, or memory. Read-only; nothing else in this
//! domain opens a file.

use std::{
    collections::BTreeMap,
    io::{self, ErrorKind},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
};

/// What stands at a path, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Missing,
    /// A regular file.
    File {
        /// Whether someone may execute it.
        executable: bool,
    },
    /// A directory.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, socket or pipe.
    Special,
}

impl Kind {
    /// Whether it is a regular file.
    pub fn is_file(self) -> bool {
        matches!(self, Self::File { .. })
    }
}

/// Where a directory is on the machine: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The device.
    pub device: u64,
    /// The inode on it.
    pub inode: u64,
}

/// Files by absolute path.
pub trait Disk {
    /// What stands there, links not followed.
    fn kind(&self, path: &str) -> Kind;

    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// The names in a directory, sorted; a name that is not UTF-8 is shown with U+FFFD in it.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    fn names(&self, path: &str) -> io::Result<Vec<String>>;

    /// The path with every link followed, if it leads somewhere.
    fn resolve(&self, path: &str) -> Option<String>;

    /// Device and inode of what a path leads to.
    fn identity(&self, path: &str) -> Option<Identity>;
}

/// The disk of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Machine;

impl Disk for Machine {
    fn kind(&self, path: &str) -> Kind {
        let Ok(metadata) = std::fs::symlink_metadata(path) else { return Kind::Missing };
        let kind = metadata.file_type();
        if kind.is_symlink() {
            Kind::Link
        } else if kind.is_dir() {
            Kind::Folder
        } else if kind.is_file() {
            Kind::File { executable: metadata.permissions().mode() & 0o111 != 0 }
        } else {
            Kind::Special
        }
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn names(&self, path: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(path)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    fn resolve(&self, path: &str) -> Option<String> {
        std::fs::canonicalize(path).ok()?.into_os_string().into_string().ok()
    }

    fn identity(&self, path: &str) -> Option<Identity> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Identity { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// What stands at a path in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A regular file.
    File(Vec<u8>),
    /// A file that may be executed.
    Program(Vec<u8>),
    /// A file that cannot be read.
    Unreadable,
    /// A directory.
    Folder,
    /// A link to an absolute path.
    Link(String),
    /// A pipe.
    Special,
}

/// A disk in memory, for trying damage.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// What stands where; directories on the way to a file are listed too.
    pub nodes: BTreeMap<String, Node>,
}

impl Memory {
    /// Puts something at a path, with the directories on the way.
    pub fn put(&mut self, path: &str, node: Node) {
        let mut parent = path;
        while let Some((above, _)) = parent.rsplit_once('/').filter(|(above, _)| !above.is_empty())
        {
            self.nodes.entry(above.to_owned()).or_insert(Node::Folder);
            parent = above;
        }
        self.nodes.insert(path.to_owned(), node);
    }

    /// Follows links in every component, at most forty.
    fn follow(&self, path: &str) -> Option<String> {
        let mut path = path.to_owned();
        for _ in 0..40 {
            let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
            let link = ends.into_iter().find_map(|end| match self.nodes.get(path.get(..end)?)? {
                Node::Link(target) => Some((end, target.clone())),
                Node::File(_)
                | Node::Program(_)
                | Node::Unreadable
                | Node::Folder
                | Node::Special => None,
            });
            let Some((end, target)) = link else { break };
            path = format!("{target}{}", path.get(end..).unwrap_or_default());
        }
        self.nodes.contains_key(&path).then_some(path)
    }

    fn at(&self, path: &str) -> Option<&Node> {
        self.nodes.get(&self.follow(path)?)
    }

    /// The path with links followed in all components but the last.
    fn beside(&self, path: &str) -> String {
        match path.rsplit_once('/').filter(|(parent, _)| !parent.is_empty()) {
            Some((parent, name)) => match self.follow(parent) {
                Some(parent) => format!("{parent}/{name}"),
                None => path.to_owned(),
            },
            None => path.to_owned(),
        }
    }
}

impl Disk for Memory {
    fn kind(&self, path: &str) -> Kind {
        match self.nodes.get(&self.beside(path)) {
            None => Kind::Missing,
            Some(Node::File(_) | Node::Unreadable) => Kind::File { executable: false },
            Some(Node::Program(_)) => Kind::File { executable: true },
            Some(Node::Folder) => Kind::Folder,
            Some(Node::Link(_)) => Kind::Link,
            Some(Node::Special) => Kind::Special,
        }
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self.at(path) {
            Some(Node::File(bytes) | Node::Program(bytes)) => Ok(bytes.clone()),
            Some(Node::Unreadable) => Err(ErrorKind::PermissionDenied.into()),
            Some(Node::Folder | Node::Link(_) | Node::Special) => {
                Err(ErrorKind::IsADirectory.into())
            }
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn names(&self, path: &str) -> io::Result<Vec<String>> {
        let Some(folder) = self.follow(path.trim_end_matches('/')) else {
            return Err(ErrorKind::NotFound.into());
        };
        let prefix = format!("{folder}/");
        let below =
            self.nodes.range(prefix.clone()..).map_while(|(path, _)| path.strip_prefix(&prefix));
        Ok(below.filter(|rest| !rest.contains('/')).map(str::to_owned).collect())
    }

    fn resolve(&self, path: &str) -> Option<String> {
        self.follow(path)
    }

    fn identity(&self, path: &str) -> Option<Identity> {
        let path = self.follow(path)?;
        // Any number will do that differs between directories and is the same at each look.
        let inode = path
            .bytes()
            .fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        Some(Identity { device: 1, inode: inode >> 12 })
    }
}
