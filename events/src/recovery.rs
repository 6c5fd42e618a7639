//! Which bytes at the end of a journal may be set aside, and which never: one pure decision.
//!
//! The floor is the largest size that any anchor promises: `HEAD`, the remembered checkpoint, a note.
//! Entries below it were acknowledged, so their damage is corruption; above it, whatever is not whole was
//! never promised to anyone and is a torn tail.

use crate::{
    frame::{self, FRAME_ALIGN_BYTES, FRAME_HEADER_BYTES, FrameKind, SEGMENT_HEADER_BYTES},
    id::Seq,
};

/// What the last segment's end is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tail {
    /// Frames up to `end`, then nothing but zeros. `size` entries stand before it, at least the floor.
    Clean {
        /// The number of entries.
        size: u64,
        /// Where the frames end.
        end: usize,
    },
    /// As `Clean`, but the segment is sealed: the next one was never begun.
    Sealed {
        /// The number of entries.
        size: u64,
        /// Where the seal ends.
        end: usize,
    },
    /// Bytes after `keep` were never acknowledged and are not whole; they may be set aside.
    Torn {
        /// The number of entries to keep.
        size: u64,
        /// Where the kept frames end.
        keep: usize,
        /// Where the last byte that is not zero ends.
        end: usize,
        /// Where the first byte that is no whole frame stands.
        at: usize,
    },
    /// An acknowledged entry is damaged: nothing may be touched.
    Corrupt {
        /// The first entry that cannot be read.
        seq: Seq,
        /// Where.
        at: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// The segment ends cleanly before the floor: acknowledged entries are missing.
    Rollback {
        /// The number of entries that are there, up to the last finished group.
        size: u64,
        /// Where their frames end.
        keep: usize,
    },
}

/// Judges the bytes of the last segment, whose header holds, against the floor.
///
/// The walk begins at byte `from`, where the frame of entry `first` is due.
pub fn judge(segment: &[u8], from: usize, first: Seq, salt: u64, floor: u64) -> Tail {
    let content = segment.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
    let mut at = from.max(SEGMENT_HEADER_BYTES);
    let mut seq = first.0;
    // Where the last finished group ends: an open group is kept or set aside as a whole.
    let (mut keep, mut size) = (at, seq);
    loop {
        if at >= content {
            return at_the_end(floor, size, keep, at, content, at);
        }
        match frame::decode(segment.get(at..).unwrap_or_default(), salt) {
            Ok(frame) if frame.header.seq.0 == seq => {
                at += frame.len;
                match frame.header.kind {
                    FrameKind::Entry { more } => {
                        seq += 1;
                        if !more {
                            (keep, size) = (at, seq);
                        }
                    }
                    FrameKind::Seal if size == seq && at >= content && size >= floor => {
                        return Tail::Sealed { size, end: at };
                    }
                    FrameKind::Seal => {
                        return Tail::Corrupt { seq: Seq(seq), at, what: "bytes follow the seal" };
                    }
                }
            }
            Ok(_) => {
                return broken(
                    segment,
                    salt,
                    floor,
                    (seq, size),
                    (at, keep),
                    content,
                    "a frame has another number than its place",
                );
            }
            Err(frame::FrameError::Short) => {
                return broken(
                    segment,
                    salt,
                    floor,
                    (seq, size),
                    (at, keep),
                    content,
                    "the bytes end inside a frame",
                );
            }
            Err(_) => {
                return broken(
                    segment,
                    salt,
                    floor,
                    (seq, size),
                    (at, keep),
                    content,
                    "a frame does not hold",
                );
            }
        }
    }
}

/// The walk met the zero remainder. An open group is a torn tail.
fn at_the_end(floor: u64, size: u64, keep: usize, end: usize, content: usize, at: usize) -> Tail {
    if size < floor {
        Tail::Rollback { size, keep }
    } else if keep < end {
        Tail::Torn { size, keep, end: content, at }
    } else {
        Tail::Clean { size, end }
    }
}

/// The walk met bytes that are no frame: damage if anything promises them, else a torn tail.
fn broken(
    segment: &[u8],
    salt: u64,
    floor: u64,
    (seq, size): (u64, u64),
    (at, keep): (usize, usize),
    content: usize,
    what: &'static str,
) -> Tail {
    if size < floor {
        return Tail::Corrupt { seq: Seq(seq), at, what };
    }
    let mut later = at.next_multiple_of(FRAME_ALIGN_BYTES);
    while later + FRAME_HEADER_BYTES <= content {
        if let Ok(header) = frame::header(segment.get(later..).unwrap_or_default(), salt)
            && header.seq.0 >= seq
            && header.durable_upto > seq
        {
            return Tail::Corrupt { seq: Seq(seq), at, what };
        }
        later += FRAME_ALIGN_BYTES;
    }
    Tail::Torn { size, keep, end: content, at }
}
