//! Segment headers and frames: how entries stand in a file.
//!
//! Nothing here is hashed or signed, so segments may be cut anew without touching history; every byte is
//! nevertheless inside a checksum or held to be zero. All integers are little-endian, checksums are CRC-32
//! (IEEE).

use std::fmt;

use crate::id::{Digest, EventId, Seq};

/// Bytes of a segment header.
pub const SEGMENT_HEADER_BYTES: usize = 128;
/// Bytes of a frame header.
pub const FRAME_HEADER_BYTES: usize = 40;
/// Frames begin at multiples of this.
pub const FRAME_ALIGN_BYTES: usize = 8;
/// Largest whole frame: header, payload of 65,535 bytes and padding.
pub const FRAME_BYTES_MAX: usize = FRAME_HEADER_BYTES + 65_536;

const SEGMENT_MAGIC: &[u8; 8] = b"RPJSEG01";
const FRAME_MAGIC: &[u8; 4] = b"RPF1";
const SEAL_PAYLOAD_BYTES: usize = 40;

/// What stands at the head of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentHeader {
    /// The journal: the id of its genesis event.
    pub log_id: EventId,
    /// The first entry of the segment.
    pub first: Seq,
    /// Random, so that bytes of another segment are never adopted.
    pub salt: u64,
    /// The tree's root over the entries before the segment.
    pub root_before: Digest,
}

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// An entry; `more` says that further frames of its atomic group follow.
    Entry {
        /// Whether the group goes on.
        more: bool,
    },
    /// The end of a finished segment.
    Seal,
}

/// A frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// What the frame holds.
    pub kind: FrameKind,
    /// The entry's position; for a seal, the position that is free.
    pub seq: Seq,
    /// Every entry below this was acknowledged as durable when the frame was written.
    pub durable_upto: u64,
    /// Bytes of the payload.
    payload_len: u32,
    payload_crc: u32,
}

/// A whole frame with its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The header.
    pub header: FrameHeader,
    /// The entry's bytes, or a seal's.
    pub payload: &'a [u8],
    /// Bytes that the frame takes, padding included.
    pub len: usize,
}

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// Fewer bytes are left than the header, or than the header announces.
    Short,
    /// Magic, lengths, flags or the header's checksum are wrong.
    Header,
    /// The frame belongs to another segment.
    Salt,
    /// The payload's checksum is wrong.
    Payload,
    /// The padding is not zero.
    Padding,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "the bytes end inside a frame",
            Self::Header => "the frame header does not hold",
            Self::Salt => "the frame belongs to another segment",
            Self::Payload => "the payload's checksum does not hold",
            Self::Padding => "the padding is not zero",
        })
    }
}

impl std::error::Error for FrameError {}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn digest_at(bytes: &[u8], at: usize) -> Option<[u8; 32]> {
    bytes.get(at..at + 32)?.try_into().ok()
}

impl SegmentHeader {
    /// Writes the header.
    pub fn encode(&self) -> [u8; SEGMENT_HEADER_BYTES] {
        let length = 128_u32;
        let fields: [&[u8]; 8] = [
            SEGMENT_MAGIC,
            &length.to_le_bytes(),
            &[0; 4],
            &self.log_id.0,
            &self.first.0.to_le_bytes(),
            &self.salt.to_le_bytes(),
            &self.root_before.0,
            &[0; 28],
        ];
        let mut bytes = fields.concat();
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes.try_into().expect("the fields add up to 128 bytes")
    }

    /// Reads a header; `None` if any of its bytes is not as written.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..SEGMENT_HEADER_BYTES)?;
        let header = Self {
            log_id: EventId(digest_at(bytes, 16)?),
            first: Seq(u64_at(bytes, 48)?),
            salt: u64_at(bytes, 56)?,
            root_before: Digest(digest_at(bytes, 64)?),
        };
        // Every byte is a field, a constant or the checksum, so writing it again compares them all.
        (header.encode() == bytes).then_some(header)
    }
}

fn salt_low(salt: u64) -> u32 {
    u32::try_from(salt & u64::from(u32::MAX)).expect("masked to 32 bits")
}

/// Writes one frame at the end of `out`.
pub fn encode(
    kind: FrameKind,
    seq: Seq,
    durable_upto: u64,
    salt: u64,
    payload: &[u8],
    out: &mut Vec<u8>,
) {
    let (kind, flags) = match kind {
        FrameKind::Entry { more } => (1, u8::from(more)),
        FrameKind::Seal => (2, 0),
    };
    let length = u32::try_from(payload.len()).expect("the caller holds an entry to 65,535 bytes");
    let start = out.len();
    out.extend_from_slice(FRAME_MAGIC);
    out.extend_from_slice(&40_u16.to_le_bytes());
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&seq.0.to_le_bytes());
    out.extend_from_slice(&durable_upto.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    out.extend_from_slice(&salt_low(salt).to_le_bytes());
    let crc = crc32fast::hash(out.get(start..).unwrap_or_default());
    out.extend_from_slice(&crc.to_le_bytes());
    out.extend_from_slice(payload);
    out.resize(start + padded(payload.len()), 0);
}

/// Writes the payload of a seal: the last entry, and the root over all entries up to it.
pub fn seal_payload(last: Seq, root_after: Digest) -> Vec<u8> {
    [&last.0.to_le_bytes()[..], &root_after.0].concat()
}

/// Reads the payload of a seal.
pub fn read_seal(payload: &[u8]) -> Option<(Seq, Digest)> {
    (payload.len() == SEAL_PAYLOAD_BYTES).then_some(())?;
    Some((Seq(u64_at(payload, 0)?), Digest(digest_at(payload, 8)?)))
}

fn padded(payload: usize) -> usize {
    (FRAME_HEADER_BYTES + payload).next_multiple_of(FRAME_ALIGN_BYTES)
}

/// Where the last byte that is not zero ends; past it a segment is only reserved space.
pub fn content_end(bytes: &[u8]) -> usize {
    let is_zero = |chunk: &&[u8]| chunk.iter().fold(0, |all, &b| all | b) == 0;
    let zeros: usize = bytes.rchunks(512).take_while(is_zero).map(<[u8]>::len).sum();
    let rest = bytes.get(..bytes.len() - zeros).unwrap_or_default();
    rest.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1)
}

/// Reads a frame header at the start of `bytes`.
///
/// # Errors
///
/// `Short`, `Header` or `Salt`.
pub fn header(bytes: &[u8], salt: u64) -> Result<FrameHeader, FrameError> {
    let bytes = bytes.get(..FRAME_HEADER_BYTES).ok_or(FrameError::Short)?;
    let (fields, crc) = bytes.split_at(FRAME_HEADER_BYTES - 4);
    if Some(crc32fast::hash(fields)) != u32_at(crc, 0) || !fields.starts_with(b"RPF1\x28\x00") {
        return Err(FrameError::Header);
    }
    let kind = match fields.get(6..8) {
        Some([1, 0]) => FrameKind::Entry { more: false },
        Some([1, 1]) => FrameKind::Entry { more: true },
        Some([2, 0]) => FrameKind::Seal,
        _ => return Err(FrameError::Header),
    };
    let read = || {
        Some(FrameHeader {
            kind,
            seq: Seq(u64_at(fields, 8)?),
            durable_upto: u64_at(fields, 16)?,
            payload_len: u32_at(fields, 24)?,
            payload_crc: u32_at(fields, 28)?,
        })
    };
    let header = read().ok_or(FrameError::Header)?;
    if header.payload_len > 65_535 || header.durable_upto > header.seq.0 {
        return Err(FrameError::Header);
    }
    if u32_at(fields, 32) != Some(salt_low(salt)) {
        return Err(FrameError::Salt);
    }
    Ok(header)
}

/// Reads a whole frame at the start of `bytes`.
///
/// # Errors
///
/// The first part that does not hold.
pub fn decode(bytes: &[u8], salt: u64) -> Result<Frame<'_>, FrameError> {
    let header = header(bytes, salt)?;
    let payload_len = usize::try_from(header.payload_len).map_err(|_| FrameError::Header)?;
    let len = padded(payload_len);
    let whole = bytes.get(FRAME_HEADER_BYTES..len).ok_or(FrameError::Short)?;
    let (payload, padding) = whole.split_at(payload_len);
    if crc32fast::hash(payload) != header.payload_crc {
        return Err(FrameError::Payload);
    }
    if padding.iter().any(|&b| b != 0) {
        return Err(FrameError::Padding);
    }
    Ok(Frame { header, payload, len })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: FrameKind, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        encode(kind, Seq(7), 5, 0x1122_3344_5566_7788, payload, &mut out);
        out
    }

    #[test]
    fn a_frame_comes_back_and_takes_a_multiple_of_eight() {
        for n in 0..40 {
            let payload = vec![9; n];
            let bytes = frame(FrameKind::Entry { more: true }, &payload);
            assert_eq!(bytes.len() % 8, 0);
            let read = decode(&bytes, 0x1122_3344_5566_7788).unwrap();
            assert_eq!((read.payload, read.len), (&payload[..], bytes.len()));
            assert_eq!((read.header.seq, read.header.durable_upto), (Seq(7), 5));
            assert_eq!(read.header.kind, FrameKind::Entry { more: true });
        }
    }

    #[test]
    fn no_bit_of_a_frame_or_a_segment_header_may_flip() {
        let bytes = frame(FrameKind::Entry { more: false }, b"thirteen byte");
        let header = SegmentHeader {
            log_id: EventId([3; 32]),
            first: Seq(4),
            salt: 5,
            root_before: Digest([6; 32]),
        };
        assert_eq!(SegmentHeader::decode(&header.encode()), Some(header));
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&damaged, 0x1122_3344_5566_7788).is_err(), "bit {bit}");
        }
        for bit in 0..SEGMENT_HEADER_BYTES * 8 {
            let mut damaged = header.encode();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SegmentHeader::decode(&damaged), None, "bit {bit}");
        }
    }

    #[test]
    fn content_ends_at_the_last_byte_that_is_not_zero() {
        for len in [0, 1, 511, 512, 513, 2000] {
            assert_eq!(content_end(&vec![0; len]), 0, "{len} zeros");
            for at in 0..len {
                let mut bytes = vec![0; len];
                bytes[at] = 1;
                assert_eq!(content_end(&bytes), at + 1, "byte {at} of {len}");
            }
        }
    }

    #[test]
    fn a_frame_of_another_segment_is_told_apart() {
        let bytes = frame(FrameKind::Seal, &seal_payload(Seq(6), Digest([1; 32])));
        assert_eq!(decode(&bytes, 1), Err(FrameError::Salt));
        let seal = decode(&bytes, 0x5566_7788).unwrap();
        assert_eq!(read_seal(seal.payload), Some((Seq(6), Digest([1; 32]))));
    }
}
