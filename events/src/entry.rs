//! Entry and envelope: the bytes that are signed, hashed and kept.
//!
//! ```text
//! entry = 0x01 | u32be length of body | body | 64-byte signature        at most 65,535 bytes
//! body  = a map in the strict profile: cause? at? data idem kid nonce prev req seq stream? time tv type v
//! ```

use std::fmt;

use crate::{
    id::{Digest, EventId, Idem, Kid, Seq},
    profile::{self, ProfileError, Reader, Token, Value},
    time::Stamp,
};

/// Largest entry, in bytes.
pub const ENTRY_BYTES_MAX: usize = 65_535;
/// Bytes around the body: version, length and signature.
pub const ENTRY_OVERHEAD_BYTES: usize = 1 + 4 + 64;
/// Most citations of one event.
pub const CITATIONS_MAX: usize = 64;
/// Longest stream name, in bytes.
pub const STREAM_BYTES_MAX: usize = 200;

const ENTRY_VERSION: u8 = 1;
const ENVELOPE_VERSION: i128 = 1;
const EVENT_ID_CONTEXT: &str = "rp 2026 event id v1";
const REQUEST_CONTEXT: &str = "rp 2026 request v1";
const IDEM_CONTEXT: &str = "rp 2026 idempotency key v1";

/// A typed citation: how this event stands to an earlier event or to an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// The relation, from the table in `replay`.
    pub relation: String,
    /// 64 hexadecimal digits of an event id, or `b3:` or `sha256:` and 64 digits of an artifact.
    pub target: String,
}

/// Everything of an event but its payload and signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Position in the journal.
    pub seq: Seq,
    /// The event before; all zero at the genesis.
    pub prev: EventId,
    /// The kind's wire name.
    pub kind: String,
    /// The version of the payload's type.
    pub version: u64,
    /// The signing key.
    pub kid: Kid,
    /// When `rp` wrote the event, by the clock of its machine.
    pub time: Stamp,
    /// When the writer claims that it happened, if that is another time.
    pub at: Option<Stamp>,
    /// The caller's idempotency key.
    pub idem: Idem,
    /// Digest of kind, version and payload.
    pub req: Digest,
    /// Random bytes that make the leaf a hiding commitment.
    pub nonce: [u8; 16],
    /// The stream, where the kind does not imply it.
    pub stream: Option<String>,
    /// What the event cites.
    pub cause: Vec<Citation>,
}

/// An entry taken apart, its shape held to the format; nothing is said about its signature.
#[derive(Debug, Clone)]
pub struct Parsed<'a> {
    /// The envelope.
    pub envelope: Envelope,
    /// The payload's bytes.
    pub data: &'a [u8],
    /// The signed bytes.
    pub body: &'a [u8],
    /// The signature.
    pub signature: [u8; 64],
    /// The event's name, derived from the body.
    pub id: EventId,
}

/// Why bytes are no entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryError {
    /// The lengths do not add up, or the entry is too large.
    Frame(&'static str),
    /// The body leaves the strict profile.
    Profile(ProfileError),
    /// The envelope has a key, a type or a value that it may not have.
    Envelope(String),
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frame(what) => f.write_str(what),
            Self::Profile(error) => write!(f, "body, {error}"),
            Self::Envelope(what) => write!(f, "envelope, {what}"),
        }
    }
}

impl std::error::Error for EntryError {}

impl From<ProfileError> for EntryError {
    fn from(error: ProfileError) -> Self {
        Self::Profile(error)
    }
}

/// Takes an entry apart.
///
/// # Errors
///
/// The first thing that is not as the format says; see [`EntryError`].
pub fn parse(entry: &[u8]) -> Result<Parsed<'_>, EntryError> {
    if entry.len() > ENTRY_BYTES_MAX {
        return Err(EntryError::Frame("the entry is larger than 65,535 bytes"));
    }
    let Some((&[version, a, b, c, d], rest)) = entry.split_first_chunk::<5>() else {
        return Err(EntryError::Frame("the entry ends inside its header"));
    };
    if version != ENTRY_VERSION {
        return Err(EntryError::Frame("the entry has another version"));
    }
    let length = u64::from(u32::from_be_bytes([a, b, c, d]));
    let Some((body, signature)) = rest.split_last_chunk::<64>() else {
        return Err(EntryError::Frame("the entry ends inside its signature"));
    };
    if u64::try_from(body.len()) != Ok(length) {
        return Err(EntryError::Frame("the body has another length than the entry says"));
    }
    let (envelope, data) = read_body(body)?;
    Ok(Parsed { envelope, data, body, signature: *signature, id: event_id(body) })
}

/// Assembles an entry from a body and its signature.
pub fn assemble(body: &[u8], signature: &[u8; 64]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("the caller holds a body to ENTRY_BYTES_MAX");
    let mut entry = Vec::with_capacity(body.len() + ENTRY_OVERHEAD_BYTES);
    entry.push(ENTRY_VERSION);
    entry.extend_from_slice(&length.to_be_bytes());
    entry.extend_from_slice(body);
    entry.extend_from_slice(signature);
    entry
}

/// Names an event by its body.
pub fn event_id(body: &[u8]) -> EventId {
    EventId(derive(EVENT_ID_CONTEXT, &[body]))
}

/// Digests a request: the array of kind, version and payload in the strict profile.
pub fn request(kind: &str, version: u64, data: &[u8]) -> Digest {
    let mut head = vec![0x93];
    head.extend(profile::encode(&Value::Str(kind.to_owned())));
    head.extend(profile::encode(&Value::Int(version.into())));
    Digest(derive(REQUEST_CONTEXT, &[&head, data]))
}

/// Hashes a caller's idempotency text to its 16 bytes.
pub fn idem(text: &str) -> Idem {
    let [low @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] =
        derive(IDEM_CONTEXT, &[text.as_bytes()]);
    Idem(low)
}

fn derive(context: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for part in parts {
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

/// Encodes the body of an event; `data` is the payload in the strict profile.
pub fn encode_body(envelope: &Envelope, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() + 320);
    let optional = [envelope.at.is_some(), !envelope.cause.is_empty(), envelope.stream.is_some()];
    let count = 11 + optional.iter().filter(|&&present| present).count();
    out.push(0x80 | u8::try_from(count).expect("at most 14 keys"));
    let mut put = |key: &str, value: &[u8]| {
        out.extend(profile::encode(&Value::Str(key.to_owned())));
        out.extend_from_slice(value);
    };
    let int = |n: u64| profile::encode(&Value::Int(n.into()));
    let text = |text: &str| profile::encode(&Value::Str(text.to_owned()));
    let bin = |bytes: &[u8]| profile::encode(&Value::Bin(bytes.to_vec()));
    if let Some(at) = envelope.at {
        put("at", &int(at.millis()));
    }
    if !envelope.cause.is_empty() {
        let pair = |c: &Citation| {
            Value::Array(vec![Value::Str(c.relation.clone()), Value::Str(c.target.clone())])
        };
        put("cause", &profile::encode(&Value::Array(envelope.cause.iter().map(pair).collect())));
    }
    put("data", data);
    put("idem", &bin(&envelope.idem.0));
    put("kid", &bin(&envelope.kid.0));
    put("nonce", &bin(&envelope.nonce));
    put("prev", &bin(&envelope.prev.0));
    put("req", &bin(&envelope.req.0));
    put("seq", &int(envelope.seq.0));
    if let Some(stream) = &envelope.stream {
        put("stream", &text(stream));
    }
    put("time", &int(envelope.time.millis()));
    put("tv", &int(envelope.version));
    put("type", &text(&envelope.kind));
    put("v", &int(1));
    out
}

/// The keys read so far; each stays `None` until its key was met.
#[derive(Default)]
struct Fields<'a> {
    seq: Option<Seq>,
    prev: Option<EventId>,
    kind: Option<String>,
    version: Option<u64>,
    kid: Option<Kid>,
    time: Option<Stamp>,
    at: Option<Stamp>,
    idem: Option<Idem>,
    req: Option<Digest>,
    nonce: Option<[u8; 16]>,
    stream: Option<String>,
    cause: Vec<Citation>,
    data: Option<&'a [u8]>,
    v: bool,
}

fn read_body(body: &[u8]) -> Result<(Envelope, &[u8]), EntryError> {
    let mut reader = Reader::new(body);
    let Token::Map(count) = reader.token()? else {
        return Err(EntryError::Envelope("the body is not a map".into()));
    };
    let mut fields = Fields::default();
    let mut last = None;
    for _ in 0..count {
        let key = reader.key(last)?;
        last = Some(key);
        read_field(key, &mut reader, body, &mut fields)?;
    }
    if !reader.is_at_end() {
        return Err(EntryError::Envelope("bytes follow the body".into()));
    }
    finish(fields)
}

fn read_field<'a>(
    key: &str,
    reader: &mut Reader<'a>,
    body: &'a [u8],
    fields: &mut Fields<'a>,
) -> Result<(), EntryError> {
    match key {
        "data" => {
            let start = reader.offset();
            // The body's own map is the first of the sixteen containers.
            reader.skip(1)?;
            let data = body.get(start..reader.offset()).unwrap_or_default();
            if !matches!(data.first(), Some(0x80..=0x8f | 0xde | 0xdf)) {
                return Err(EntryError::Envelope("`data` is not a map".into()));
            }
            fields.data = Some(data);
        }
        "at" => fields.at = Some(stamp(reader, key)?),
        "time" => fields.time = Some(stamp(reader, key)?),
        "seq" => fields.seq = Some(Seq(unsigned(reader, key)?)),
        "tv" => fields.version = Some(unsigned(reader, key)?),
        "v" => {
            if reader.token()? != Token::Int(ENVELOPE_VERSION) {
                return Err(EntryError::Envelope("`v` is not 1".into()));
            }
            fields.v = true;
        }
        "prev" => fields.prev = Some(EventId(bytes(reader, key)?)),
        "kid" => fields.kid = Some(Kid(bytes(reader, key)?)),
        "req" => fields.req = Some(Digest(bytes(reader, key)?)),
        "idem" => fields.idem = Some(Idem(bytes(reader, key)?)),
        "nonce" => fields.nonce = Some(bytes(reader, key)?),
        "type" => fields.kind = Some(short(reader, key)?),
        "stream" => fields.stream = Some(short(reader, key)?),
        "cause" => fields.cause = citations(reader)?,
        _ => return Err(EntryError::Envelope(format!("there is no key `{key}`"))),
    }
    Ok(())
}

fn finish(fields: Fields<'_>) -> Result<(Envelope, &[u8]), EntryError> {
    fn need<T>(value: Option<T>, key: &str) -> Result<T, EntryError> {
        value.ok_or_else(|| EntryError::Envelope(format!("`{key}` is missing")))
    }
    need(fields.v.then_some(()), "v")?;
    let data = need(fields.data, "data")?;
    let envelope = Envelope {
        seq: need(fields.seq, "seq")?,
        prev: need(fields.prev, "prev")?,
        kind: need(fields.kind, "type")?,
        version: need(fields.version, "tv")?,
        kid: need(fields.kid, "kid")?,
        time: need(fields.time, "time")?,
        at: fields.at,
        idem: need(fields.idem, "idem")?,
        req: need(fields.req, "req")?,
        nonce: need(fields.nonce, "nonce")?,
        stream: fields.stream,
        cause: fields.cause,
    };
    if request(&envelope.kind, envelope.version, data) != envelope.req {
        return Err(EntryError::Envelope("`req` is not the digest of the request".into()));
    }
    Ok((envelope, data))
}

fn unsigned(reader: &mut Reader<'_>, key: &str) -> Result<u64, EntryError> {
    let Token::Int(n) = reader.token()? else {
        return Err(EntryError::Envelope(format!("`{key}` is not an integer")));
    };
    u64::try_from(n).map_err(|_| EntryError::Envelope(format!("`{key}` is negative")))
}

fn stamp(reader: &mut Reader<'_>, key: &str) -> Result<Stamp, EntryError> {
    Stamp::from_millis(unsigned(reader, key)?)
        .ok_or_else(|| EntryError::Envelope(format!("`{key}` lies past the year 9999")))
}

fn bytes<const N: usize>(reader: &mut Reader<'_>, key: &str) -> Result<[u8; N], EntryError> {
    let Token::Bin(bytes) = reader.token()? else {
        return Err(EntryError::Envelope(format!("`{key}` is not bytes")));
    };
    bytes
        .try_into()
        .map_err(|_| EntryError::Envelope(format!("`{key}` has another length than {N}")))
}

fn short(reader: &mut Reader<'_>, key: &str) -> Result<String, EntryError> {
    if let Token::Str(text) = reader.token()?
        && !text.is_empty()
        && text.len() <= STREAM_BYTES_MAX
        && crate::text::forbidden(text).is_none()
    {
        return Ok(text.to_owned());
    }
    Err(EntryError::Envelope(format!("`{key}` is not a text of 1 to {STREAM_BYTES_MAX} bytes")))
}

fn citations(reader: &mut Reader<'_>) -> Result<Vec<Citation>, EntryError> {
    let wrong = || EntryError::Envelope("`cause` is not a list of 1 to 64 pairs of texts".into());
    let Token::Array(n) = reader.token()? else { return Err(wrong()) };
    if n == 0 || n > CITATIONS_MAX {
        return Err(wrong());
    }
    (0..n)
        .map(|_| {
            let Token::Array(2) = reader.token()? else { return Err(wrong()) };
            Ok(Citation { relation: short(reader, "cause")?, target: short(reader, "cause")? })
        })
        .collect()
}
