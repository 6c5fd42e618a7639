//! Both digests of a file, taken in one pass whatever its size.

use sha2::{Digest as _, Sha256};

use crate::id::Digest;

/// The digests of bytes that come in pieces.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    b3: blake3::Hasher,
    sha256: Sha256,
    bytes: u64,
}

/// Size and digests of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summed {
    /// How many they are.
    pub bytes: u64,
    /// Their BLAKE3.
    pub b3: Digest,
    /// Their SHA-256.
    pub sha256: Digest,
}

impl Sums {
    /// Takes the next piece in.
    pub fn update(&mut self, piece: &[u8]) {
        self.b3.update(piece);
        self.sha256.update(piece);
        self.bytes += u64::try_from(piece.len()).unwrap_or(u64::MAX);
    }

    /// The digests of everything taken in.
    pub fn finish(self) -> Summed {
        Summed {
            bytes: self.bytes,
            b3: Digest(*self.b3.finalize().as_bytes()),
            sha256: Digest(self.sha256.finalize().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_give_the_digests_of_the_whole() {
        let mut sums = Sums::default();
        sums.update(b"a");
        sums.update(b"bc");
        let Summed { bytes, b3, sha256 } = sums.finish();
        assert_eq!(bytes, 3);
        assert_eq!(
            sha256.to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            b3.to_string(),
            "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"
        );
        assert_eq!(Sums::default().finish().b3, Digest::b3(b""));
    }
}
