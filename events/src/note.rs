//! Signed notes and transparency-log proofs in the text forms of C2SP, as any witness or tile client reads them.

use std::fmt;

use data_encoding::{BASE64, HEXLOWER};
use sha2::{Digest as _, Sha256};

use crate::{
    id::{Digest, PublicKey, SignatureBytes},
    sign::SecretKey,
};

/// Longest origin, in bytes.
pub const ORIGIN_BYTES_MAX: usize = 200;

const ED25519: u8 = 0x01;

/// A checkpoint: a log's origin, its size and its root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Names the log.
    pub origin: String,
    /// The number of entries.
    pub size: u64,
    /// The root over them.
    pub root: Digest,
}

/// Why a text is no signed note of this log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteError {
    /// The text is not laid out as a checkpoint note.
    Malformed(&'static str),
    /// No signature line is this key's.
    Unsigned,
    /// The key's signature does not hold.
    BadSignature,
}

impl fmt::Display for NoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "not a checkpoint note: {what}"),
            Self::Unsigned => f.write_str("the note carries no signature of this log's key"),
            Self::BadSignature => f.write_str("the note's signature does not hold"),
        }
    }
}

impl std::error::Error for NoteError {}

/// Whether a text may be an origin: 1 to 200 of `a-z 0-9 . / -`, the first a letter or digit.
pub fn is_origin(text: &str) -> bool {
    let form =
        |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'/' | b'-');
    text.len() <= ORIGIN_BYTES_MAX
        && text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        && text.bytes().all(form)
}

/// The four bytes by which a note names a key.
pub fn key_id(origin: &str, public: &PublicKey) -> [u8; 4] {
    let hash: [u8; 32] = Sha256::new()
        .chain_update(origin)
        .chain_update([b'\n', ED25519])
        .chain_update(public.0)
        .finalize()
        .into();
    let [a, b, c, d, ..] = hash;
    [a, b, c, d]
}

/// The verifier key of a log in its text form: `origin+hex key id+base64 type and key`.
pub fn verifier_key(origin: &str, public: &PublicKey) -> String {
    let typed = [&[ED25519][..], &public.0].concat();
    format!("{origin}+{}+{}", HEXLOWER.encode(&key_id(origin, public)), BASE64.encode(&typed))
}

impl Checkpoint {
    /// The signed text: three lines.
    pub fn text(&self) -> String {
        format!("{}\n{}\n{}\n", self.origin, self.size, BASE64.encode(&self.root.0))
    }

    /// Signs the checkpoint with the log's key.
    pub fn sign(&self, key: &SecretKey) -> String {
        let signature = key.sign(self.text().as_bytes());
        let line = [&key_id(&self.origin, &key.public())[..], &signature.0].concat();
        format!("{}\n\u{2014} {} {}\n", self.text(), self.origin, BASE64.encode(&line))
    }

    /// Reads a note and judges the signature of the log's key in it.
    ///
    /// # Errors
    ///
    /// See [`NoteError`]; signature lines of other keys are passed over.
    pub fn open(note: &str, public: &PublicKey) -> Result<Self, NoteError> {
        let (text, signatures) =
            note.split_once("\n\n").ok_or(NoteError::Malformed("no empty line"))?;
        let text = format!("{text}\n");
        let checkpoint = Self::read(&text)?;
        let mut outcome = Err(NoteError::Unsigned);
        for line in signatures.lines() {
            let rest = line
                .strip_prefix("\u{2014} ")
                .ok_or(NoteError::Malformed("a signature line has another form"))?;
            let (name, encoded) = rest
                .split_once(' ')
                .ok_or(NoteError::Malformed("a signature line has no key name"))?;
            let bytes = BASE64
                .decode(encoded.as_bytes())
                .map_err(|_| NoteError::Malformed("a signature is not base64"))?;
            let Some((id, signature)) = bytes.split_first_chunk::<4>() else {
                return Err(NoteError::Malformed("a signature is too short"));
            };
            if name != checkpoint.origin || *id != key_id(&checkpoint.origin, public) {
                continue;
            }
            let signature = SignatureBytes::from_slice(signature).ok_or(NoteError::BadSignature)?;
            if !public.verifies(text.as_bytes(), &signature) {
                return Err(NoteError::BadSignature);
            }
            outcome = Ok(());
        }
        outcome.map(|()| checkpoint)
    }

    fn read(text: &str) -> Result<Self, NoteError> {
        let mut lines = text.lines();
        let mut next = |what| lines.next().ok_or(NoteError::Malformed(what));
        let origin = next("no origin")?.to_owned();
        if !is_origin(&origin) {
            return Err(NoteError::Malformed("the origin has other characters"));
        }
        let digits = next("no size")?;
        let size = digits.parse().map_err(|_| NoteError::Malformed("the size is no number"))?;
        let root = BASE64
            .decode(next("no root")?.as_bytes())
            .ok()
            .and_then(|root| Digest::from_slice(&root))
            .ok_or(NoteError::Malformed("the root is not base64 of 32 bytes"))?;
        let checkpoint = Self { origin, size, root };
        // Only one spelling is signed: no leading zeros, no extension lines.
        if checkpoint.text() != text {
            return Err(NoteError::Malformed("the text is not exactly origin, size and root"));
        }
        Ok(checkpoint)
    }
}

/// Writes an inclusion proof in the form `c2sp.org/tlog-proof@v1`.
pub fn inclusion_proof(index: u64, path: &[Digest], note: &str) -> String {
    let lines: String = path.iter().map(|hash| BASE64.encode(&hash.0) + "\n").collect();
    format!("c2sp.org/tlog-proof@v1\nindex {index}\n{lines}\n{note}")
}
