//! Appends groups of entries. Reads nothing, judges nothing, mends nothing.
//!
//! The order of a commit: frames, data sync, HEAD, sync, remembered checkpoint; only then is a group
//! acknowledged. Group and HEAD each cost one sync.

use std::{io, path::Path, sync::Arc};

use rp_events::{
    Chain, EventId, Seq,
    frame::{self, FrameKind, SEGMENT_HEADER_BYTES, SegmentHeader},
    head::{HEAD_BYTES, Head, SLOT_BYTES},
};
use rp_validator::walk::segment_name;

use super::{
    Knobs, Paths,
    disk::{Disk, Handle, Space},
    lock::Lock,
};
use crate::clock::Clock;

/// Free space that ordinary appends leave: this, or a twentieth of the file system if that is less.
pub const RESERVE_BYTES_MAX: u64 = 64 << 20;

/// An entry on its way to the disk.
#[derive(Debug, Clone)]
pub struct Item {
    /// The event's name.
    pub id: EventId,
    /// The whole entry.
    pub entry: Vec<u8>,
}

/// Why a group was not appended.
#[derive(Debug)]
pub enum AppendError {
    /// Too little space is free. Nothing was written.
    Full(Space),
    /// Writing failed and was undone. Nothing was recorded.
    NotWritten(io::Error),
    /// Whether the group is recorded cannot be known before the journal is opened again.
    Unknown(io::Error),
}

/// The journal, open for appending and locked for this process.
#[derive(Debug)]
pub struct Writer {
    disk: Arc<dyn Disk>,
    paths: Paths,
    knobs: Knobs,
    _lock: Lock,
    log_id: EventId,
    segment: Segment,
    chain: Chain,
    head: Head,
    head_file: Box<dyn Handle>,
    remembered: Option<Box<dyn Handle>>,
    /// Set when a write or sync failed and the tail is unknown. The kernel may call a later sync a success
    /// although these bytes never reached the disk, so nothing more is appended by this process.
    failed: bool,
}

/// The segment that is being written.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) header: SegmentHeader,
    pub(super) file: Box<dyn Handle>,
    /// Where the frames end.
    pub(super) end: u64,
    /// Where the file ends: zeros in between.
    pub(super) len: u64,
    pub(super) is_sealed: bool,
}

impl Writer {
    pub(super) fn new(
        disk: Arc<dyn Disk>,
        paths: Paths,
        knobs: Knobs,
        lock: Lock,
        segment: Segment,
        (chain, head): (Chain, Head),
    ) -> io::Result<Self> {
        let head_file = open_or_make(&*disk, &paths.head())?;
        let log_id = segment.header.log_id;
        let remembered = disk
            .make_folder(&paths.known)
            .and_then(|()| open_or_make(&*disk, &paths.remembered(log_id)))
            .ok();
        Ok(Self {
            disk,
            paths,
            knobs,
            _lock: lock,
            log_id,
            segment,
            chain,
            head,
            head_file,
            remembered,
            failed: false,
        })
    }

    /// The chain that the next entry extends.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The acknowledged position.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The journal's id.
    pub fn log_id(&self) -> EventId {
        self.log_id
    }

    /// Whether the remembered checkpoint can be kept.
    pub fn remembers(&self) -> bool {
        self.remembered.is_some()
    }

    /// Appends one atomic group and makes it durable.
    ///
    /// After `Ok` the group survives a power cut and HEAD promises it. `reserve` says whether the space kept
    /// back for recoveries and revocations may be used.
    ///
    /// # Errors
    ///
    /// See [`AppendError`]; after `Unknown` this writer refuses everything.
    pub fn append(&mut self, group: &[Item], reserve: bool) -> Result<(), AppendError> {
        if self.failed {
            return Err(AppendError::Unknown(io::Error::other(
                "an earlier append failed; open the journal again",
            )));
        }
        let space = self.disk.space(&self.paths.folder).map_err(AppendError::NotWritten)?;
        if !reserve && space.free < RESERVE_BYTES_MAX.min(space.total / 20) {
            return Err(AppendError::Full(space));
        }
        self.make_room(group)?;
        let mut frames = Vec::new();
        let mut seq = self.chain.next();
        for (n, item) in group.iter().enumerate() {
            let kind = FrameKind::Entry { more: n + 1 < group.len() };
            frame::encode(
                kind,
                seq,
                self.head.size(),
                self.segment.header.salt,
                &item.entry,
                &mut frames,
            );
            seq = seq.next();
        }
        self.write(&frames)?;
        for item in group {
            self.chain.push(item.id, &item.entry);
        }
        self.acknowledge()
    }

    /// Promises everything up to the chain's end: HEAD, synced, then the remembered checkpoint.
    ///
    /// # Errors
    ///
    /// `Unknown`: the entries may be durable, but nobody was told.
    pub fn acknowledge(&mut self) -> Result<(), AppendError> {
        let head = Head {
            generation: self.head.generation + 1,
            segment: self.segment.header.first,
            end: self.segment.end,
            last: self.chain.last(),
            frontier: self.chain.frontier().clone(),
        };
        let slot = head.encode();
        let offset = head.slot() * u64::try_from(SLOT_BYTES).unwrap_or(0);
        // A crash before the sync leaves a torn slot; the other one still holds, and recovery finds the group.
        let synced =
            self.head_file.write_all_at(&slot, offset).and_then(|()| self.head_file.sync());
        self.poison(synced)?;
        self.head = head;
        // Not synced: after a power cut it may lag behind the disk, but it is never ahead of it.
        if let Some(file) = &self.remembered
            && file.write_all_at(&slot, offset).is_err()
        {
            self.remembered = None;
        }
        Ok(())
    }

    fn poison<T>(&mut self, outcome: io::Result<T>) -> Result<T, AppendError> {
        outcome.map_err(|error| {
            self.failed = true;
            AppendError::Unknown(error)
        })
    }

    /// Finishes the segment if the group does not fit, and reserves space for the frames.
    fn make_room(&mut self, group: &[Item]) -> Result<(), AppendError> {
        let size =
            |item: &Item| u64::try_from((item.entry.len() + 40).next_multiple_of(8)).unwrap_or(0);
        let bytes: u64 = group.iter().map(size).sum();
        let entries = self.chain.next().0 - self.segment.header.first.0;
        let full = self.segment.end + bytes > self.knobs.segment_bytes_max
            || entries >= self.knobs.segment_entries_max;
        if self.segment.is_sealed || (full && entries > 0) {
            self.next_segment()?;
        }
        let needed = self.segment.end + bytes;
        if needed > self.segment.len {
            let step = self.knobs.allocation_step_bytes.max(8);
            let len = needed.next_multiple_of(step);
            // Where the file system refuses, or space is short, the segment grows with the write itself.
            if self.segment.file.allocate(len).is_ok() {
                self.segment.len = len;
            }
        }
        Ok(())
    }

    /// Writes at the end of the frames and syncs; a failed write is undone.
    fn write(&mut self, bytes: &[u8]) -> Result<(), AppendError> {
        let (start, file) = (self.segment.end, &self.segment.file);
        if let Err(error) = file.write_all_at(bytes, start) {
            // Nothing of the group was promised, so its bytes may go; only if that fails is the tail unknown.
            let undone = file.set_len(start).and_then(|()| file.sync());
            self.segment.len = start;
            self.poison(undone)?;
            return Err(AppendError::NotWritten(error));
        }
        // A crash after the write and before the sync leaves a whole or a torn tail that nobody was promised:
        // the next writer adopts or sets aside. A crash after the sync leaves a durable group whose caller
        // was not told; the idempotency key finds it again.
        let synced = file.sync();
        self.poison(synced)?;
        self.segment.end += u64::try_from(bytes.len()).unwrap_or(0);
        self.segment.len = self.segment.len.max(self.segment.end);
        Ok(())
    }

    /// Seals the segment and begins the next one.
    fn next_segment(&mut self) -> Result<(), AppendError> {
        if !self.segment.is_sealed {
            self.seal()?;
        } else if self.segment.len > self.segment.end {
            // A crash came between the seal and the cut.
            self.cut()?;
        }
        let next = create_segment(&*self.disk, &self.paths, self.next_header());
        // A crash in between leaves a file aside, or an empty segment that the next writer goes on with.
        let path = self.paths.folder.join(segment_name(self.segment.header.first));
        self.segment = next.map_err(AppendError::NotWritten)?;
        // Protection is a courtesy to people; a file system without it changes nothing. It comes last, for
        // the last segment of a journal is opened for writing.
        drop(self.disk.protect(&path));
        Ok(())
    }

    fn seal(&mut self) -> Result<(), AppendError> {
        let next = self.chain.next();
        let last = Seq(next.0 - 1);
        let mut bytes = Vec::new();
        let payload = frame::seal_payload(last, self.chain.frontier().root());
        frame::encode(
            FrameKind::Seal,
            next,
            self.head.size(),
            self.segment.header.salt,
            &payload,
            &mut bytes,
        );
        self.write(&bytes)?;
        self.segment.is_sealed = true;
        self.cut()?;
        self.acknowledge()
    }

    /// Takes the zeros away that follow a seal.
    fn cut(&mut self) -> Result<(), AppendError> {
        let end = self.segment.end;
        let cut = self.segment.file.set_len(end).and_then(|()| self.segment.file.sync());
        self.poison(cut)?;
        self.segment.len = end;
        Ok(())
    }

    fn next_header(&self) -> SegmentHeader {
        SegmentHeader {
            log_id: self.log_id,
            first: self.chain.next(),
            salt: u64::from_le_bytes(Clock::default().random()),
            root_before: self.chain.frontier().root(),
        }
    }
}

fn open_or_make(disk: &dyn Disk, path: &Path) -> io::Result<Box<dyn Handle>> {
    match disk.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let file = disk.create(path)?;
            file.set_len(u64::try_from(HEAD_BYTES).unwrap_or(0))?;
            file.sync()?;
            if let Some(folder) = path.parent() {
                disk.sync_folder(folder)?;
            }
            Ok(file)
        }
        opened => opened,
    }
}

/// Makes a segment that holds nothing but its header, under its final name and durable.
pub(super) fn create_segment(
    disk: &dyn Disk,
    paths: &Paths,
    header: SegmentHeader,
) -> io::Result<Segment> {
    let path = paths.folder.join(segment_name(header.first));
    super::durable::write(disk, &path, &header.encode())?;
    let len = u64::try_from(SEGMENT_HEADER_BYTES).unwrap_or(0);
    Ok(Segment { header, file: disk.open(&path)?, end: len, len, is_sealed: false })
}
