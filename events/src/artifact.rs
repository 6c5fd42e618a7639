//! Artifacts: bytes kept beside the journal and named by their digests. Specified in `spec/record.md`.
//!
//! BLAKE3 names an artifact in the store; SHA-256 stands beside it, since others name bytes by that.

use std::fmt;

use sha2::Digest as _;

use crate::{id::Digest, text};

/// Longest path of an artifact, in bytes.
pub const PATH_BYTES_MAX: usize = 1024;

/// A name of an artifact: one of its two digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArtifactName {
    /// `b3:` and the BLAKE3 of its bytes.
    Blake3(Digest),
    /// `sha256:` and the SHA-256 of its bytes.
    Sha256(Digest),
}

impl ArtifactName {
    /// Parses `b3:` or `sha256:` and 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':')? {
            ("b3", digits) => Digest::parse(digits).map(Self::Blake3),
            ("sha256", digits) => Digest::parse(digits).map(Self::Sha256),
            _ => None,
        }
    }
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blake3(digest) => write!(f, "b3:{digest}"),
            Self::Sha256(digest) => write!(f, "sha256:{digest}"),
        }
    }
}

/// What names some bytes: both digests and the length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    /// BLAKE3 of the bytes.
    pub b3: Digest,
    /// SHA-256 of the bytes.
    pub sha256: Digest,
    /// How many bytes there are.
    pub bytes: u64,
}

/// Takes bytes piece by piece and gives their fingerprint.
#[derive(Debug, Clone, Default)]
pub struct Fingerprinter {
    b3: blake3::Hasher,
    sha256: sha2::Sha256,
    bytes: u64,
}

impl Fingerprinter {
    /// Takes the next piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.b3.update(piece);
        self.sha256.update(piece);
        self.bytes += u64::try_from(piece.len()).expect("a length fits 64 bits");
    }

    /// The fingerprint of all pieces.
    pub fn finish(self) -> Fingerprint {
        Fingerprint {
            b3: Digest(*self.b3.finalize().as_bytes()),
            sha256: Digest(self.sha256.finalize().into()),
            bytes: self.bytes,
        }
    }
}

/// Where the store keeps an artifact: `b3/ab/cd/` and 64 digits, of which `abcd` are the first.
pub fn blob_path(b3: &Digest) -> String {
    let digits = b3.to_string();
    let (first, rest) = digits.split_at(2);
    let (second, _) = rest.split_at(2);
    format!("b3/{first}/{second}/{digits}")
}

/// Whether a text is the path of a file in the workspace: relative, separated by `/`, without `.` and `..`.
pub fn is_path(path: &str) -> bool {
    path.len() <= PATH_BYTES_MAX
        && text::forbidden(path).is_none()
        && !path.contains(['\n', '\t', '\\'])
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::{ArtifactName, Digest, Fingerprinter, blob_path, is_path};

    /// The digests are those that `b3sum` and `sha256sum` print for the three bytes `abc`.
    #[test]
    fn pieces_give_the_fingerprint_of_the_whole() {
        let mut hasher = Fingerprinter::default();
        hasher.update(b"a");
        hasher.update(b"bc");
        let found = hasher.finish();
        let b3 = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((found.b3.to_string(), found.bytes), (b3.to_owned(), 3));
        assert_eq!(ArtifactName::Sha256(found.sha256).to_string(), format!("sha256:{sha256}"));
        assert_eq!(blob_path(&found.b3), format!("b3/64/37/{b3}"));
        assert_eq!(Fingerprinter::default().finish().b3, Digest::b3(b""));
    }

    #[test]
    fn a_path_stays_in_the_workspace() {
        for good in ["a", "runs/A1_x/cost.json", "a b/c"] {
            assert!(is_path(good), "{good}");
        }
        for bad in ["", "/a", "a/", "a//b", "../a", "a/./b", "a\nb", "a\\b"] {
            assert!(!is_path(bad), "{bad}");
        }
    }

    #[test]
    fn only_whole_digests_are_names() {
        let digits = "ab".repeat(32);
        assert!(ArtifactName::parse(&format!("b3:{digits}")).is_some());
        for bad in [
            format!("b3:{}", "AB".repeat(32)),
            format!("md5:{digits}"),
            digits.clone(),
            "b3:ab".to_owned(),
        ] {
            assert_eq!(ArtifactName::parse(&bad), None, "{bad}");
        }
    }
}
