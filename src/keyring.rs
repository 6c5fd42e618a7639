//! Secret keys: owner-only files outside the workspace, under the id of the journal they belong to.
//!
//! A file is named after the key and its identifier, so two journals may both have a key called `user`, a
//! rotated key keeps its old file, and nothing is ever overwritten.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use data_encoding::HEXLOWER;
use rp_events::{EventId, Kid, SecretKey};

use crate::{error::Failure, exit::Exit};

/// The secret keys of one journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyring {
    folder: PathBuf,
}

impl Keyring {
    /// The keyring of a journal under the folder of all keys.
    pub fn new(keys: &Path, log_id: EventId) -> Self {
        Self { folder: keys.join(log_id.to_string()) }
    }

    /// Where the files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, name: &str, kid: &Kid) -> PathBuf {
        let digits: String = kid.to_string().chars().take(16).collect();
        self.folder.join(format!("{name}.{digits}.key"))
    }

    /// Keeps a new secret; durable before anything names its public half.
    ///
    /// # Errors
    ///
    /// The file exists, or cannot be written.
    pub fn keep(&self, name: &str, key: &SecretKey) -> Result<PathBuf, Failure> {
        let path = self.path(name, &key.public().kid());
        self.write(&path, name, key)
            .map_err(|error| Failure::io("write the key", &path, &error))?;
        Ok(path)
    }

    #[expect(clippy::disallowed_methods, reason = "keys are no part of the journal's disk")]
    fn write(&self, path: &Path, name: &str, key: &SecretKey) -> io::Result<()> {
        use io::Write as _;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        let (kid, seed) = (key.public().kid(), HEXLOWER.encode(&key.seed()));
        write!(file, "rp-key 1\nname {name}\nkid {kid}\nseed {seed}\n")?;
        file.sync_all()?;
        fs::File::open(&self.folder)?.sync_all()
    }

    /// Forgets a secret whose public half was never admitted.
    pub fn discard(&self, name: &str, kid: &Kid) {
        // Left behind it would only be a file that no journal names.
        drop(fs::remove_file(self.path(name, kid)));
    }

    /// Whether the secret of a key is here.
    pub fn holds(&self, name: &str, kid: &Kid) -> bool {
        self.path(name, kid).exists()
    }

    /// Reads the secret of a key.
    ///
    /// # Errors
    ///
    /// It is not here, others may read it, or the file is damaged or of another key.
    pub fn load(&self, name: &str, kid: &Kid) -> Result<SecretKey, Failure> {
        let path = self.path(name, kid);
        let text = fs::read_to_string(&path).map_err(|error| missing(name, &path, &error))?;
        let mode = fs::metadata(&path).map_or(0, |meta| meta.permissions().mode());
        if mode & 0o077 != 0 {
            let message = format!(
                "others may read the key file `{}` (mode {:o})",
                path.display(),
                mode & 0o777
            );
            return Err(Failure::new(Exit::REFUSED, "key-exposed", message)
                .hint(format!("chmod 600 {}", path.display()))
                .hint("if others may have read it: `rp key rotate`"));
        }
        let seed = text.lines().find_map(|line| line.strip_prefix("seed "));
        let seed = seed.and_then(|hex| HEXLOWER.decode(hex.as_bytes()).ok());
        let seed: Option<[u8; 32]> = seed.and_then(|seed| seed.try_into().ok());
        let key = seed.map(|seed| SecretKey::from_seed(&seed));
        key.filter(|key| key.public().kid() == *kid).ok_or_else(|| {
            let message = format!("the key file `{}` does not hold key `{kid}`", path.display());
            Failure::new(Exit::IO, "key-damaged", message).hint("restore the file from a backup")
        })
    }
}

fn missing(name: &str, path: &Path, error: &io::Error) -> Failure {
    if error.kind() != io::ErrorKind::NotFound {
        return Failure::io("read the key", path, error);
    }
    let message = format!("the secret of key `{name}` is not on this machine");
    Failure::new(Exit::REFUSED, "unknown-key", message)
        .detail("path", path.display().to_string())
        .hint("sign with a key whose secret is here: `rp key list`")
        .hint("keys are looked for under RP_HOME, or else the XDG data folder")
}
