//! What can happen, byte for byte: events, the envelope that carries them, and how they stand in files.
//!
//! This crate turns bytes into facts and facts into bytes. It opens no file, reads no clock, draws no random
//! numbers and asks no environment: whatever it needs of these is passed in.
//!
//! In reading order: [`id`], [`text`], [`number`], [`time`] are the words; [`json`] is how callers write a
//! payload and [`profile`] how it is signed; [`entry`] and [`sign`] make and judge an entry; [`artifact`]
//! names bytes kept beside the journal; [`frame`],
//! [`head`], [`recovery`] are the files; [`tree`] and [`note`] prove what they hold; [`trust`] and
//! [`program`] are the events themselves.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod artifact;
pub mod entry;
pub mod frame;
pub mod head;
pub mod id;
pub mod json;
mod kinds;
pub mod note;
pub mod number;
pub mod profile;
pub mod program;
pub mod recovery;
pub mod refusal;
pub mod sign;
pub mod text;
pub mod time;
pub mod tree;
pub mod trust;

pub use artifact::ArtifactName;
pub use id::{
    BehaviorId, ClaimId, ConstraintId, Digest, EventId, FigureId, Idem, KeyName, Kid, MilestoneId,
    PublicKey, Role, RunId, Seq, SignatureBytes, VariantTag,
};
pub use kinds::Kind;
pub use number::Decimal;
pub use refusal::{Code, Refusal};
pub use sign::{Chain, KeyCache, Keys, SecretKey, SignatureJob, Verified, verify};
pub use time::Stamp;

use json::Json;
use refusal::general;
use serde_json::value::RawValue;

/// An event of any domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// About the journal itself.
    Trust(trust::Event),
    /// About the program of rounds.
    Program(program::Event),
}

/// The tables of kinds, a domain each.
pub static DOMAINS: &[&[Kind]] = &[trust::KINDS, program::KINDS];

/// The table row of the kind with this wire name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    DOMAINS.iter().flat_map(|kinds| kinds.iter()).find(|kind| kind.name == name)
}

impl Event {
    /// Reads a payload that a caller wrote as JSON.
    ///
    /// # Errors
    ///
    /// `unknown-kind`, or the shape codes of [`Json::read`].
    pub fn read(name: &str, data: &Json) -> Result<Self, Refusal> {
        let trust = trust::Event::read(name, data).map(|event| event.map(Self::Trust));
        trust
            .or_else(|| program::Event::read(name, data).map(|event| event.map(Self::Program)))
            .unwrap_or_else(|| Err(unknown(name)))
    }

    /// Reads a payload from its signed bytes.
    ///
    /// # Errors
    ///
    /// A sentence on the first field that does not fit, or on the kind.
    pub fn decode(name: &str, data: &[u8]) -> Result<Self, String> {
        let trust = trust::Event::decode(name, data).map(|event| event.map(Self::Trust));
        trust
            .or_else(|| program::Event::decode(name, data).map(|event| event.map(Self::Program)))
            .unwrap_or_else(|| Err(unknown(name).why))
    }

    /// Encodes the payload in the strict profile.
    ///
    /// # Errors
    ///
    /// `too-deep` or `bad-text`.
    pub fn encode(&self) -> Result<Vec<u8>, Refusal> {
        let encoded = match self {
            Self::Trust(event) => event.encode(),
            Self::Program(event) => event.encode(),
        };
        encoded.map_err(|error| {
            let deep = error.what.starts_with("nested");
            let code = if deep { &general::TOO_DEEP } else { &general::BAD_TEXT };
            Refusal::new(code, error.what)
        })
    }

    /// The table row of this event's kind.
    pub fn kind(&self) -> &'static Kind {
        match self {
            Self::Trust(event) => event.kind(),
            Self::Program(event) => event.kind(),
        }
    }

    /// The payload as JSON text, decimals as written.
    pub fn to_json(&self) -> Box<RawValue> {
        match self {
            Self::Trust(event) => event.to_json(),
            Self::Program(event) => event.to_json(),
        }
    }

    /// The JSON Schema of a kind's payload.
    pub fn schema(name: &str) -> Option<schemars::Schema> {
        trust::Event::schema(name).or_else(|| program::Event::schema(name))
    }
}

fn unknown(name: &str) -> Refusal {
    let refusal =
        Refusal::new(&general::UNKNOWN_KIND, format!("no kind is named `{}`", text::shown(name)));
    // A near miss is nearly always a slip of the segment or the tense.
    let (segment, _) = name.split_once('.').unwrap_or((name, ""));
    let near: Vec<&str> = DOMAINS
        .iter()
        .flat_map(|kinds| kinds.iter().map(|kind| kind.name))
        .filter(|known| known.starts_with(&format!("{segment}.")))
        .collect();
    if near.is_empty() {
        refusal
    } else {
        refusal.hint(format!("there are `{}`", near.join("`, `")))
    }
}
