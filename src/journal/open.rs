//! Opening a journal for append: take the lock, find the end, set aside what was never promised.
//!
//! In the common case nothing is scanned: HEAD says where the frames end, the last frame is read again, and
//! only zeros follow. Otherwise the walk of `rp_validator` decides, and this file carries the decision out.

use std::{fs, io, ops::ControlFlow, path::PathBuf, sync::Arc, time::Duration};

use rp_events::{
    Digest, EventId, Seq,
    frame::{self, FRAME_BYTES_MAX, FrameKind, SEGMENT_HEADER_BYTES, SegmentHeader},
    head::Head,
};
use rp_validator::{
    Class, FORMAT, Finding, log_id,
    source::Folder,
    walk::{self, End, Plan, Position, Until, segment_first, segment_name},
};

use super::{
    Knobs, Paths,
    disk::Disk,
    durable,
    lock::{self, LockError},
    writer::{Segment, Writer, create_segment},
};
use crate::clock::Clock;

/// A journal that may be appended to.
#[derive(Debug)]
pub struct Opened {
    /// The writer; its chain includes whole entries that were never acknowledged.
    pub writer: Writer,
    /// How many entries an anchor promises. Those after it are to be judged before they are acknowledged.
    pub anchored: u64,
    /// What was set aside.
    pub cut: Option<Cut>,
    /// What a user should know.
    pub notes: Vec<String>,
}

/// A torn tail that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Entries kept.
    pub kept: u64,
    /// Bytes set aside.
    pub bytes: u64,
    /// Their BLAKE3.
    pub blake3: Digest,
    /// Where they are kept.
    pub path: PathBuf,
    /// What was found.
    pub cause: String,
}

/// Why a journal cannot be appended to.
#[derive(Debug)]
pub enum OpenError {
    /// The lock.
    Lock(LockError),
    /// The journal's state forbids it; the finding says why.
    ReadOnly(Finding),
    /// A torn tail is there, and may not be set aside by this caller.
    TornTail(Finding),
    /// A file cannot be read or written.
    Io(io::Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<LockError> for OpenError {
    fn from(error: LockError) -> Self {
        Self::Lock(error)
    }
}

/// What the caller of [`open`] brings.
#[derive(Debug)]
pub struct Caller<'c> {
    /// How long to wait for the lock.
    pub wait: Duration,
    /// What the lock file says of this process.
    pub about: &'c str,
    /// Whether a torn tail may be set aside: the recorder's key is here to record it.
    pub may_recover: bool,
    /// Time and randomness.
    pub clock: &'c Clock,
}

/// Opens a journal for append.
///
/// # Errors
///
/// See [`OpenError`]; nothing was changed then.
pub fn open(
    disk: Arc<dyn Disk>,
    paths: &Paths,
    knobs: Knobs,
    caller: &Caller<'_>,
) -> Result<Opened, OpenError> {
    let lock = lock::acquire(&paths.lock(), caller.wait, caller.about, caller.clock)?;
    let source = Folder(paths.folder.clone());
    if fs::read(paths.folder.join("FORMAT"))? != FORMAT {
        return Err(read_only(
            Class::Broken,
            "format",
            "FORMAT",
            "the file does not say `rp-journal 1`",
        ));
    }
    let mut notes = Vec::new();
    let head = anchor(paths, &source, &mut notes)?;
    let last = last_segment(paths)?;
    let from = position(&head, log_id(&source)?);
    let clean = last == Some(head.segment) && is_clean(disk.as_ref(), paths, &head)?;
    let (position, cut) = if clean {
        (from, None)
    } else {
        settle(disk.as_ref(), paths, &source, &from, head.size(), caller)?
    };
    let segment = open_segment(disk.as_ref(), paths, &position)?;
    let chain = position.chain;
    let anchored = head.size();
    let writer = Writer::new(disk, paths.clone(), knobs, lock, segment, (chain, head))?;
    Ok(Opened { writer, anchored, cut, notes })
}

fn read_only(class: Class, code: &'static str, place: &str, text: &str) -> OpenError {
    OpenError::ReadOnly(Finding {
        class,
        code,
        seq: None,
        place: place.to_owned(),
        text: text.to_owned(),
    })
}

/// The best anchor: HEAD, or the remembered checkpoint where it promises more or HEAD is lost.
fn anchor(paths: &Paths, source: &Folder, notes: &mut Vec<String>) -> Result<Head, OpenError> {
    let head = paths.read_head();
    let remembered = log_id(source)?.and_then(|log_id| paths.read_remembered(log_id));
    if head.as_ref().is_none_or(|slots| slots.head.is_none()) {
        notes.push("HEAD was lost and is written anew from the remembered checkpoint".to_owned());
    }
    if remembered.as_ref().is_some_and(|slots| slots.head.is_none() && slots.damaged > 0) {
        notes.push("the remembered checkpoint is damaged and was passed over".to_owned());
    }
    let both = [head, remembered].into_iter().flatten().filter_map(|slots| slots.head);
    both.max_by_key(|head| (head.size(), head.generation)).ok_or_else(|| {
        read_only(
            Class::Unverifiable,
            "unanchored",
            "HEAD",
            "HEAD is gone and no checkpoint is remembered here, so nobody can say whether the tail was cut",
        )
    })
}

fn position(head: &Head, log_id: Option<EventId>) -> Position {
    let last = (head.size() > 0).then_some(head.last);
    let chain = rp_events::Chain::from_parts(last, head.frontier.clone());
    Position {
        segment: head.segment,
        offset: head.end,
        chain: chain.expect("a head of no entries has no last event"),
        log_id,
    }
}

fn last_segment(paths: &Paths) -> io::Result<Option<Seq>> {
    let mut last = None;
    for entry in fs::read_dir(&paths.folder)? {
        let first = entry?.file_name().to_str().and_then(segment_first);
        last = last.max(first);
    }
    Ok(last)
}

/// Whether the last frame is the one that HEAD names and nothing but zeros follows.
fn is_clean(disk: &dyn Disk, paths: &Paths, head: &Head) -> io::Result<bool> {
    let Ok(file) = disk.open(&paths.folder.join(segment_name(head.segment))) else {
        return Ok(false);
    };
    let len = file.len()?;
    let header_len = u64::try_from(SEGMENT_HEADER_BYTES).unwrap_or(0);
    if len < head.end || head.end < header_len {
        return Ok(false);
    }
    let mut header = [0; SEGMENT_HEADER_BYTES];
    file.read_exact_at(&mut header, 0)?;
    let Some(header) = SegmentHeader::decode(&header) else { return Ok(false) };
    let window = u64::try_from(FRAME_BYTES_MAX).unwrap_or(0).min(head.end - header_len);
    let mut tail = vec![0; usize::try_from(window).unwrap_or(0)];
    file.read_exact_at(&mut tail, head.end - window)?;
    if !ends_with_last_frame(&tail, header.salt, head) {
        return Ok(false);
    }
    let mut rest = vec![0; usize::try_from(len - head.end).unwrap_or(0)];
    file.read_exact_at(&mut rest, head.end)?;
    Ok(frame::content_end(&rest) == 0)
}

/// Finds the frame that ends where the bytes end, and holds it to be the last entry or its seal.
fn ends_with_last_frame(tail: &[u8], salt: u64, head: &Head) -> bool {
    if tail.is_empty() {
        // An empty segment: the entries before it stand in sealed ones.
        return true;
    }
    (0..tail.len()).rev().filter(|at| (tail.len() - at).is_multiple_of(8)).any(|at| {
        let Ok(frame) = frame::decode(tail.get(at..).unwrap_or_default(), salt) else {
            return false;
        };
        let whole = at + frame.len == tail.len();
        whole
            && match frame.header.kind {
                FrameKind::Entry { .. } => {
                    rp_events::entry::parse(frame.payload).is_ok_and(|parsed| {
                        parsed.id == head.last && parsed.envelope.seq.next().0 == head.size()
                    })
                }
                FrameKind::Seal => frame.header.seq.0 == head.size(),
            }
    })
}

/// The end is not as HEAD says: lets the walk judge it, and carries the judgement out.
fn settle(
    disk: &dyn Disk,
    paths: &Paths,
    source: &Folder,
    from: &Position,
    floor: u64,
    caller: &Caller<'_>,
) -> Result<(Position, Option<Cut>), OpenError> {
    let mut pass = |_: rp_events::entry::Parsed<'_>, _: &[u8]| ControlFlow::Continue(());
    // From the first entry: whatever made the end differ from HEAD may have touched more than the end.
    let plan = Plan { watch: vec![floor], ..Plan::whole(Until::End { floor }) };
    let walked = walk::walk(source, plan, &mut pass)?;
    let fork = walked.watched.first().is_some_and(|chain| *chain != from.chain);
    if fork {
        return Err(read_only(
            Class::Fork,
            "fork",
            "HEAD",
            "HEAD promises another root than the entries have",
        ));
    }
    match walked.end {
        End::Clean | End::Stopped => {
            redo(disk, paths, &walked.position)?;
            Ok((walked.position, None))
        }
        End::Fault(finding) => Err(OpenError::ReadOnly(finding)),
        End::Torn { finding, .. } if !caller.may_recover => Err(OpenError::TornTail(finding)),
        End::Torn { finding, content } => {
            let cut = set_aside(disk, paths, &walked.position, content, &finding)?;
            redo(disk, paths, &walked.position)?;
            Ok((walked.position, Some(cut)))
        }
    }
}

/// Writes the last segment's frames once more and syncs them: after a failed sync the page cache may hold
/// bytes that never reached the disk, and a later sync would not write them again.
fn redo(disk: &dyn Disk, paths: &Paths, position: &Position) -> io::Result<()> {
    let file = disk.open(&paths.folder.join(segment_name(position.segment)))?;
    let mut bytes = vec![0; usize::try_from(position.offset.min(file.len()?)).unwrap_or(0)];
    file.read_exact_at(&mut bytes, 0)?;
    file.write_all_at(&bytes, 0)?;
    file.sync()
}

/// Copies a torn tail to quarantine, durably, and then cuts it off.
fn set_aside(
    disk: &dyn Disk,
    paths: &Paths,
    position: &Position,
    content: u64,
    finding: &Finding,
) -> io::Result<Cut> {
    let last = last_segment(paths)?.unwrap_or_default();
    let is_begun = last != position.segment;
    let keep = if is_begun { 0 } else { position.offset };
    let name = segment_name(last);
    let path = paths.folder.join(&name);
    let file = disk.open(&path)?;
    let mut torn = vec![0; usize::try_from(content.saturating_sub(keep)).unwrap_or(0)];
    file.read_exact_at(&mut torn, keep)?;
    let digest = blake3::hash(&torn);
    let digits: String = digest.to_hex().chars().take(16).collect();
    let stem = name.trim_end_matches(".rpj");
    let aside = paths.quarantine().join(format!("{stem}-{keep}-{digits}.torn"));
    disk.make_folder(&paths.quarantine())?;
    durable::write(disk, &aside, &torn)?;
    disk.sync_folder(&paths.folder)?;
    // A crash before the cut leaves the tail in both places; the name is that of the content, so doing it
    // again changes nothing.
    if is_begun {
        disk.rename(&path, &paths.quarantine().join(format!("{stem}-begun.torn")))?;
        disk.sync_folder(&paths.folder)?;
    } else {
        file.set_len(keep)?;
        file.sync()?;
    }
    Ok(Cut {
        kept: position.chain.next().0,
        bytes: u64::try_from(torn.len()).unwrap_or(0),
        blake3: Digest(*digest.as_bytes()),
        path: aside,
        cause: format!("{} at {}", finding.text, finding.place),
    })
}

fn open_segment(disk: &dyn Disk, paths: &Paths, position: &Position) -> Result<Segment, OpenError> {
    let path = paths.folder.join(segment_name(position.segment));
    let file = disk.open(&path)?;
    let mut header = [0; SEGMENT_HEADER_BYTES];
    file.read_exact_at(&mut header, 0)?;
    let header = SegmentHeader::decode(&header).ok_or_else(|| {
        read_only(Class::Broken, "segment-header", "segment", "the header does not hold")
    })?;
    let is_sealed = ends_with_seal(file.as_ref(), position, header.salt)?;
    let len = file.len()?;
    Ok(Segment { header, file, end: position.offset, len, is_sealed })
}

fn ends_with_seal(
    file: &dyn super::disk::Handle,
    position: &Position,
    salt: u64,
) -> io::Result<bool> {
    // A seal frame takes 80 bytes: header and 40 bytes of payload.
    let seal = 80;
    let header = u64::try_from(SEGMENT_HEADER_BYTES).unwrap_or(0);
    if position.offset < header + seal {
        return Ok(false);
    }
    let mut bytes = [0; 80];
    file.read_exact_at(&mut bytes, position.offset - seal)?;
    Ok(frame::decode(&bytes, salt).is_ok_and(|frame| frame.header.kind == FrameKind::Seal))
}

/// Makes the files of a new journal with its first entries, in a folder that has none.
///
/// # Errors
///
/// As the file system says.
pub fn create(
    disk: &Arc<dyn Disk>,
    paths: &Paths,
    knobs: Knobs,
    log_id: EventId,
    items: &[super::Item],
    clock: &Clock,
) -> Result<(), OpenError> {
    disk.make_folder(&paths.folder)?;
    let lock = lock::acquire(&paths.lock(), Duration::ZERO, "rp init", clock)?;
    durable::write(disk.as_ref(), &paths.folder.join("FORMAT"), FORMAT)?;
    let header = SegmentHeader {
        log_id,
        first: Seq(0),
        salt: u64::from_le_bytes(clock.random()),
        root_before: rp_events::Chain::default().frontier().root(),
    };
    let segment = create_segment(disk.as_ref(), paths, header)?;
    let head = Head {
        generation: 0,
        segment: Seq(0),
        end: segment.end,
        last: EventId::ZERO,
        frontier: rp_events::tree::Frontier::default(),
    };
    let chain = rp_events::Chain::default();
    let mut writer =
        Writer::new(Arc::clone(disk), paths.clone(), knobs, lock, segment, (chain, head))?;
    writer.append(items, true).map_err(|error| match error {
        super::AppendError::Full(_) => OpenError::Io(io::Error::from(io::ErrorKind::StorageFull)),
        super::AppendError::NotWritten(error) | super::AppendError::Unknown(error) => {
            OpenError::Io(error)
        }
    })
}
