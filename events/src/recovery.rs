//! Which bytes at the end of a journal may be set aside, and which never: one pure decision.
//!
//! The floor is the largest size that any anchor promises: `HEAD`, the remembered checkpoint, a note.
//! Entries below it were acknowledged, so their damage is corruption; above it, whatever is not whole was
//! never promised to anyone and is a torn tail.

use crate::{
    frame::{self, FRAME_ALIGN_BYTES, FRAME_HEADER_BYTES, FrameKind},
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

/// Judges the end of the last segment, whose header holds, against the floor.
///
/// `frames` are its bytes from where the frame of entry `first` is due; every place in the answer counts
/// from there.
pub fn judge(frames: &[u8], first: Seq, salt: u64, floor: u64) -> Tail {
    let content = frame::content_end(frames);
    Walk { frames, salt, floor, content, at: 0, seq: first.0, keep: 0, size: first.0 }.run()
}

/// A walk over the frames of the last segment.
struct Walk<'s> {
    frames: &'s [u8],
    salt: u64,
    floor: u64,
    /// Where the last byte that is not zero ends.
    content: usize,
    /// The next frame, and the entry that is due there.
    at: usize,
    seq: u64,
    /// Where the last finished group ends, and the number of entries up to there: an open group is kept or
    /// set aside as a whole.
    keep: usize,
    size: u64,
}

impl Walk<'_> {
    fn run(mut self) -> Tail {
        while self.at < self.content {
            let bytes = self.frames.get(self.at..).unwrap_or_default();
            let frame = match frame::decode(bytes, self.salt) {
                Ok(frame) => frame,
                Err(frame::FrameError::Short) => {
                    return self.broken("the bytes end inside a frame");
                }
                Err(_) => return self.broken("a frame does not hold"),
            };
            if frame.header.kind == FrameKind::Seal {
                return self.sealed(frame.header.seq, frame.len);
            }
            if frame.header.seq.0 != self.seq {
                return self.broken("a frame has another number than its place");
            }
            self.at += frame.len;
            self.seq += 1;
            if frame.header.kind == (FrameKind::Entry { more: false }) {
                (self.keep, self.size) = (self.at, self.seq);
            }
        }
        self.ended()
    }

    /// Nothing but zeros follows. An open group is a torn tail.
    fn ended(&self) -> Tail {
        let Self { floor, content, at, keep, size, .. } = *self;
        if size < floor {
            Tail::Rollback { size, keep }
        } else if keep < at {
            Tail::Torn { size, keep, end: content, at }
        } else {
            Tail::Clean { size, end: at }
        }
    }

    /// A seal stands here: the end of a finished segment, or not the one that is due.
    fn sealed(&self, seq: Seq, len: usize) -> Tail {
        let Self { floor, content, at, keep, size, .. } = *self;
        if seq.0 != self.seq || size != self.seq || at + len < content {
            let what = "a seal stands where none is due";
            return Tail::Corrupt { seq: Seq(self.seq), at, what };
        }
        if size < floor {
            Tail::Rollback { size, keep }
        } else {
            Tail::Sealed { size, end: at + len }
        }
    }

    /// No whole frame stands here: damage if anything promises it, else a torn tail.
    fn broken(&self, what: &'static str) -> Tail {
        let Self { at, keep, size, .. } = *self;
        if size < self.floor || self.is_promised_later() {
            return Tail::Corrupt { seq: Seq(self.seq), at, what };
        }
        Tail::Torn { size, keep, end: self.content, at }
    }

    /// Whether a frame header from here on says that the entry due here was acknowledged.
    fn is_promised_later(&self) -> bool {
        let last = self.frames.len().saturating_sub(FRAME_HEADER_BYTES);
        (self.at..=last).step_by(FRAME_ALIGN_BYTES).any(|at| {
            let bytes = self.frames.get(at..).unwrap_or_default();
            frame::header(bytes, self.salt)
                .is_ok_and(|header| header.seq.0 >= self.seq && header.durable_upto > self.seq)
        })
    }
}
