//! Pass 1, the chain: segments, frames, entries, links and tree. Knows no event kind.
//!
//! The same walk serves an audit from the first entry, and an engine that opens a journal from a position
//! it already knows. It follows section 7 of `spec/FORMAT.md`.

use std::{io, ops::ControlFlow};

use rp_events::{
    Chain, EventId, Seq,
    entry::{self, Parsed},
    frame::{self, Frame, FrameKind, SEGMENT_HEADER_BYTES, SegmentHeader},
    recovery::{self, Tail},
    refusal::general,
};

use crate::{
    report::{Class, Finding},
    source::Source,
};

/// The name of the segment that begins with an entry.
pub fn segment_name(first: Seq) -> String {
    format!("{:020}.rpj", first.0)
}

/// The first entry of the segment with a name; `None` if it names no segment.
pub fn segment_first(name: &str) -> Option<Seq> {
    let digits = name.strip_suffix(".rpj")?;
    let first = Seq(digits.parse().ok()?);
    (segment_name(first) == name).then_some(first)
}

/// A position between two entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// The segment.
    pub segment: Seq,
    /// The byte in it; 0 stands for its first frame.
    pub offset: u64,
    /// Chain and tree up to here.
    pub chain: Chain,
    /// The journal, once an entry or an anchor said it.
    pub log_id: Option<EventId>,
}

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// To this number of entries; whatever follows is being written or was not asked for.
    Size(u64),
    /// To the end, judging the tail against the floor.
    End {
        /// The largest size that any anchor promises.
        floor: u64,
    },
}

/// Where to begin, how far to go, and which roots to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Where to begin.
    pub from: Position,
    /// How far to go.
    pub until: Until,
    /// The sizes whose root and last event are kept, to be held against anchors.
    pub watch: Vec<u64>,
}

impl Plan {
    /// Everything from the first entry on.
    pub fn whole(until: Until) -> Self {
        Self { from: Position::default(), until, watch: Vec::new() }
    }
}

/// How the walk ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Everything asked for was read.
    Clean,
    /// A torn tail follows the position.
    Torn {
        /// Where its last byte that is not zero ends.
        content: u64,
        /// What is wrong, for people.
        finding: Finding,
    },
    /// The visitor broke off.
    Stopped,
    /// Something does not hold; the walk cannot go on.
    Fault(Finding),
}

/// Where a walk came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walked {
    /// The position after the last entry read.
    pub position: Position,
    /// How it ended.
    pub end: End,
    /// The chain at each watched size that was reached.
    pub watched: Vec<Chain>,
    /// Segments read.
    pub segments: u64,
    /// Bytes read.
    pub bytes: u64,
}

/// Looks at each entry, in order; breaking off ends the walk.
pub type Visit<'v> = &'v mut dyn FnMut(Parsed<'_>, &[u8]) -> ControlFlow<()>;

/// Walks the entries of a journal from a position.
///
/// # Errors
///
/// A file that cannot be read; everything else is an [`End`].
pub fn walk(source: &impl Source, plan: Plan, visit: Visit<'_>) -> io::Result<Walked> {
    let names: Vec<Seq> = source.names()?.iter().filter_map(|name| segment_first(name)).collect();
    let Plan { from, until, watch } = plan;
    let mut walker = Walker { at: from, until, watch, watched: Vec::new(), segments: 0, bytes: 0 };
    let end = walker.run(source, &names, visit)?;
    let Walker { at: position, watched, segments, bytes, .. } = walker;
    Ok(Walked { position, end, watched, segments, bytes })
}

/// The bytes of a segment from a place on.
#[derive(Clone, Copy)]
struct Part<'b> {
    from: u64,
    bytes: &'b [u8],
}

impl<'b> Part<'b> {
    /// The bytes from a place of the segment on.
    fn at(&self, offset: u64) -> &'b [u8] {
        let skip = offset.checked_sub(self.from).and_then(|n| usize::try_from(n).ok());
        skip.and_then(|n| self.bytes.get(n..)).unwrap_or_default()
    }

    /// Where the segment ends.
    fn end(&self) -> u64 {
        self.from + length(self.bytes)
    }
}

struct Walker {
    at: Position,
    until: Until,
    watch: Vec<u64>,
    watched: Vec<Chain>,
    segments: u64,
    bytes: u64,
}

impl Walker {
    fn run(&mut self, source: &impl Source, names: &[Seq], visit: Visit<'_>) -> io::Result<End> {
        let (mut header, mut buffer) = (Vec::new(), Vec::new());
        let begin = self.at.segment;
        let mut todo = names.iter().copied().filter(|first| *first >= begin).peekable();
        // A position inside a segment names it; a position at a segment's start is that of its first entry.
        let mut due = if self.at.offset > 0 { begin } else { self.at.chain.next() };
        while let Some(first) = todo.next() {
            if self.is_done() {
                return Ok(End::Clean);
            }
            if first != due {
                let text = format!("a segment that begins with entry {due} was due");
                return Ok(fault("segment-order", due.min(first), segment_name(first), text));
            }
            // What stands before the position was read by whoever came to it; its last byte tells that the
            // segment still reaches there.
            let is_inside = self.at.segment == first && self.at.offset > header_bytes();
            let from = if is_inside { self.at.offset - 1 } else { header_bytes() };
            let name = segment_name(first);
            if !source.read_part(&name, 0, header_bytes(), &mut header)?
                || !source.read_part(&name, from, u64::MAX, &mut buffer)?
            {
                break;
            }
            self.segments += 1;
            self.bytes += length(&header) + length(&buffer);
            let part = Part { from, bytes: &buffer };
            let is_last = todo.peek().is_none();
            if let Some(end) = self.segment(first, &header, part, is_last, visit) {
                return Ok(end);
            }
            due = self.at.chain.next();
        }
        Ok(self.missing().unwrap_or(End::Clean))
    }

    /// What is wrong if no segment is left: entries that were promised or asked for are not there.
    fn missing(&self) -> Option<End> {
        let size = self.at.chain.next().0;
        let due = match self.until {
            Until::Size(due) | Until::End { floor: due } => due,
        };
        (size < due).then(|| self.rollback(due))
    }

    fn rollback(&self, due: u64) -> End {
        let size = self.at.chain.next();
        End::Fault(Finding {
            class: Class::Rollback,
            code: "rollback",
            seq: Some(size),
            place: segment_name(self.at.segment),
            text: format!("the journal ends after {size} entries, {due} were acknowledged"),
        })
    }

    fn is_done(&self) -> bool {
        matches!(self.until, Until::Size(size) if self.at.chain.next().0 >= size)
    }

    /// Reads one segment from the position on; `None` if the walk goes on with the next one.
    fn segment(
        &mut self,
        first: Seq,
        header: &[u8],
        part: Part<'_>,
        is_last: bool,
        visit: Visit<'_>,
    ) -> Option<End> {
        let seq = self.at.chain.next();
        let name = segment_name(first);
        let Some(header) = SegmentHeader::decode(header) else {
            return Some(self.bad_header(seq, header, part, is_last, &name));
        };
        if let Some(what) = self.misplaced(first, &header) {
            return Some(fault("segment-header", seq, name, what));
        }
        self.at.log_id.get_or_insert(header.log_id);
        if self.at.segment != first || self.at.offset == 0 {
            self.at.segment = first;
            self.at.offset = header_bytes();
        }
        if part.end() < self.at.offset {
            return Some(fault("frame", seq, name, "the segment ends before the known position"));
        }
        if let (true, Until::End { floor }) = (is_last, self.until) {
            return Some(self.last_segment(part, &header, floor, visit));
        }
        self.frames(part, &header, part.end(), is_last, visit)
    }

    fn bad_header(
        &self,
        seq: Seq,
        header: &[u8],
        part: Part<'_>,
        is_last: bool,
        name: &str,
    ) -> End {
        let finding = |class, text: &str| Finding {
            class,
            code: "segment-header",
            seq: Some(seq),
            place: format!("{name} byte 0"),
            text: text.to_owned(),
        };
        // A segment is begun with its header alone, so more content means that the header once held.
        let is_begun = part.from == header_bytes() && frame::content_end(part.bytes) == 0;
        match self.until {
            Until::End { floor } if is_last && seq.0 >= floor && is_begun => End::Torn {
                content: u64::try_from(frame::content_end(header)).unwrap_or(u64::MAX),
                finding: finding(Class::Torn, "a segment was begun and its header is not whole"),
            },
            Until::End { .. } | Until::Size(_) => {
                End::Fault(finding(Class::Broken, "the segment header does not hold"))
            }
        }
    }

    /// Why a header that holds is not the one that is due, if it is not.
    fn misplaced(&self, first: Seq, header: &SegmentHeader) -> Option<&'static str> {
        if header.first != first {
            return Some("the header names another first entry than the file name");
        }
        if self.at.log_id.is_some_and(|log_id| log_id != header.log_id) {
            return Some("the segment belongs to another journal");
        }
        let at_start = self.at.segment != first || self.at.offset == 0;
        (at_start && header.root_before != self.at.chain.frontier().root())
            .then_some("the root before the segment is not that of the entries before it")
    }

    fn last_segment(
        &mut self,
        part: Part<'_>,
        header: &SegmentHeader,
        floor: u64,
        visit: Visit<'_>,
    ) -> End {
        let from = self.at.offset;
        let place = |at: usize| from + u64::try_from(at).unwrap_or(u64::MAX);
        let tail = recovery::judge(part.at(from), self.at.chain.next(), header.salt, floor);
        let keep = match &tail {
            Tail::Clean { end, .. } | Tail::Sealed { end, .. } => *end,
            Tail::Torn { keep, .. } | Tail::Rollback { keep, .. } => *keep,
            Tail::Corrupt { at, .. } => *at,
        };
        let name = segment_name(header.first);
        if let Some(end) = self.frames(part, header, place(keep), true, visit) {
            return end;
        }
        match tail {
            Tail::Clean { .. } | Tail::Sealed { .. } => End::Clean,
            Tail::Rollback { .. } => self.rollback(floor),
            Tail::Corrupt { seq, at, what } => {
                fault("frame", seq, format!("{name} byte {}", place(at)), what)
            }
            Tail::Torn { size, end, at, .. } => End::Torn {
                content: place(end),
                finding: Finding {
                    class: Class::Torn,
                    code: "torn-tail",
                    seq: Some(Seq(size)),
                    place: format!("{name} byte {}", place(at)),
                    text: "what follows was never acknowledged and is not whole".to_owned(),
                },
            },
        }
    }

    /// Reads frames up to byte `upto`; `None` if all were read and the walk goes on.
    fn frames(
        &mut self,
        part: Part<'_>,
        header: &SegmentHeader,
        upto: u64,
        is_last: bool,
        visit: Visit<'_>,
    ) -> Option<End> {
        let name = segment_name(header.first);
        let mut open_group = false;
        loop {
            if self.is_done() {
                return Some(End::Clean);
            }
            let at = self.at.offset;
            let seq = self.at.chain.next();
            let place = || format!("{name} byte {at}");
            if at >= upto {
                return match self.until {
                    _ if !is_last => {
                        Some(fault("frame", seq, place(), "the segment ends without a seal"))
                    }
                    Until::Size(_) => Some(self.cut(seq, place())),
                    Until::End { .. } => None,
                };
            }
            let bytes = part.at(at);
            let frame = match frame::decode(bytes, header.salt) {
                Ok(frame) if frame.header.seq == seq => frame,
                Ok(frame) => {
                    let text = format!("the frame says entry {}", frame.header.seq);
                    return Some(fault("frame", seq, place(), text));
                }
                Err(_) if self.ends_here(bytes) => return Some(self.cut(seq, place())),
                Err(error) => return Some(fault("frame", seq, place(), error.to_string())),
            };
            match frame.header.kind {
                FrameKind::Entry { more } => open_group = more,
                FrameKind::Seal => {
                    let whole = !open_group && self.is_sealed_by(&frame);
                    let ends = frame.len == bytes.len() || is_last;
                    if !(whole && ends) {
                        return Some(fault("seal", seq, place(), "the seal does not match"));
                    }
                    self.at.offset += u64::try_from(frame.len).unwrap_or(0);
                    return None;
                }
            }
            if let Some(end) = self.entry(&frame, header, &place, visit) {
                return Some(end);
            }
        }
    }

    /// Whether nothing but zeros is left where an entry that was promised should stand.
    fn ends_here(&self, bytes: &[u8]) -> bool {
        matches!(self.until, Until::Size(_)) && frame::content_end(bytes) == 0
    }

    fn cut(&self, seq: Seq, place: String) -> End {
        match self.rollback(match self.until {
            Until::Size(due) | Until::End { floor: due } => due,
        }) {
            End::Fault(finding) => End::Fault(Finding { seq: Some(seq), place, ..finding }),
            other @ (End::Clean | End::Torn { .. } | End::Stopped) => other,
        }
    }

    fn is_sealed_by(&self, frame: &Frame<'_>) -> bool {
        let after = self.at.chain.next();
        frame::read_seal(frame.payload).is_some_and(|(last, root)| {
            last.next() == after && root == self.at.chain.frontier().root()
        })
    }

    fn entry(
        &mut self,
        frame: &Frame<'_>,
        header: &SegmentHeader,
        place: &dyn Fn() -> String,
        visit: Visit<'_>,
    ) -> Option<End> {
        let seq = self.at.chain.next();
        let parsed = match entry::parse(frame.payload) {
            Ok(parsed) => parsed,
            Err(error) => {
                return Some(fault(general::BAD_ENVELOPE.name, seq, place(), error.to_string()));
            }
        };
        if let Err(refusal) = self.at.chain.admit(&parsed) {
            return Some(fault(refusal.code.name, seq, place(), refusal.why));
        }
        if seq == Seq(0) && header.log_id != parsed.id {
            let text = "the segment names another journal than its first entry is";
            return Some(fault("segment-header", seq, place(), text));
        }
        let id = parsed.id;
        if visit(parsed, frame.payload).is_break() {
            return Some(End::Stopped);
        }
        self.at.chain.push(id, frame.payload);
        if self.watch.contains(&self.at.chain.next().0) {
            self.watched.push(self.at.chain.clone());
        }
        self.at.offset += u64::try_from(frame.len).unwrap_or(0);
        None
    }
}

fn fault(code: &'static str, seq: Seq, place: String, text: impl Into<String>) -> End {
    End::Fault(Finding { class: Class::Broken, code, seq: Some(seq), place, text: text.into() })
}

/// Where a segment's first frame stands.
pub(crate) fn header_bytes() -> u64 {
    u64::try_from(SEGMENT_HEADER_BYTES).unwrap_or(u64::MAX)
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
