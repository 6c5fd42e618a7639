//! A disk that counts what is asked of it and fails where a test says so.
//!
//! It keeps its files on the machine's disk and syncs nothing: what a sync promises is judged here by what is
//! left when one fails.

use std::{
    io,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use rp::journal::disk::{Disk, Handle, Real, Space};

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The call fails with EIO and does nothing.
    Io,
    /// The call fails with ENOSPC and does nothing.
    NoSpace,
    /// A write puts half of its bytes down and fails; other calls succeed.
    Short,
    /// A sync fails, and what was written through the handle since its last sync is not there; other calls
    /// succeed.
    Lost,
    /// A sync fails, and only the first half of what was written since is there; other calls succeed.
    HalfLost,
    /// This call and every one after it fail.
    Dead,
}

pub(crate) const FAULTS: [Fault; 6] =
    [Fault::Io, Fault::NoSpace, Fault::Short, Fault::Lost, Fault::HalfLost, Fault::Dead];

/// The disk; copies share what they count and what they are told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faulty(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    calls: AtomicU64,
    plan: Mutex<Option<(u64, Fault)>>,
    next_sync: Mutex<Option<Fault>>,
    hit: Mutex<Option<String>>,
    space: Mutex<Option<Space>>,
    is_full: AtomicBool,
}

#[derive(Debug)]
struct File {
    disk: Faulty,
    inner: Box<dyn Handle>,
    name: String,
    /// What stood where something was written since the last sync, and how long the file was before it.
    before: Mutex<Vec<(u64, Vec<u8>, u64)>>,
}

impl Faulty {
    /// A disk whose call number `nth`, from 0, fails.
    pub(crate) fn at(nth: u64, fault: Fault) -> Self {
        let disk = Self::default();
        *disk.0.plan.lock().unwrap() = Some((nth, fault));
        disk
    }

    /// How many calls there were.
    pub(crate) fn calls(&self) -> u64 {
        self.0.calls.load(Ordering::Relaxed)
    }

    /// The call that failed, if one did.
    pub(crate) fn hit(&self) -> Option<String> {
        self.0.hit.lock().unwrap().clone()
    }

    /// Makes the next sync of a file fail.
    pub(crate) fn fail_next_sync(&self, fault: Fault) {
        *self.0.next_sync.lock().unwrap() = Some(fault);
    }

    /// Sets how much space the disk says there is.
    pub(crate) fn set_space(&self, space: Option<Space>) {
        *self.0.space.lock().unwrap() = space;
    }

    /// Makes every call fail that needs more space.
    pub(crate) fn set_full(&self, is_full: bool) {
        self.0.is_full.store(is_full, Ordering::Relaxed);
    }

    /// Counts a call; gives the fault that it meets.
    fn call(&self, what: &str) -> Option<Fault> {
        let n = self.0.calls.fetch_add(1, Ordering::Relaxed);
        if what.starts_with("sync ")
            && let Some(fault) = self.0.next_sync.lock().unwrap().take()
        {
            return Some(fault);
        }
        let (nth, fault) = (*self.0.plan.lock().unwrap())?;
        let meets = n == nth || (fault == Fault::Dead && n > nth);
        let applies = match fault {
            Fault::Io | Fault::NoSpace | Fault::Dead => true,
            Fault::Short => what.starts_with("write"),
            Fault::Lost | Fault::HalfLost => what.starts_with("sync "),
        };
        if !(meets && applies) {
            return None;
        }
        self.0.hit.lock().unwrap().get_or_insert_with(|| format!("{fault:?} at {n}, {what}"));
        Some(fault)
    }

    /// A call that either happens or fails without a trace.
    fn plain(&self, what: &str) -> io::Result<()> {
        match self.call(what) {
            None => Ok(()),
            Some(fault) => Err(error(fault)),
        }
    }

    /// A call that needs space.
    fn growing(&self, what: &str) -> io::Result<()> {
        self.plain(what)?;
        self.room()
    }

    fn room(&self) -> io::Result<()> {
        if self.0.is_full.load(Ordering::Relaxed) { Err(error(Fault::NoSpace)) } else { Ok(()) }
    }

    fn wrap(&self, path: &Path, file: Box<dyn Handle>) -> Box<dyn Handle> {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        Box::new(File { disk: self.clone(), inner: file, name, before: Mutex::default() })
    }
}

fn error(fault: Fault) -> io::Error {
    match fault {
        // ENOSPC and EIO, as Linux numbers them.
        Fault::NoSpace => io::Error::from_raw_os_error(28),
        Fault::Io | Fault::Short | Fault::Lost | Fault::HalfLost | Fault::Dead => {
            io::Error::from_raw_os_error(5)
        }
    }
}

impl Disk for Faulty {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        self.plain(&format!("open {}", path.display()))?;
        Ok(self.wrap(path, Real.open(path)?))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        self.growing(&format!("create {}", path.display()))?;
        Ok(self.wrap(path, Real.create(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.plain(&format!("rename {}", to.display()))?;
        Real.rename(from, to)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.plain(&format!("sync_folder {}", path.display()))
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.plain(&format!("make_folder {}", path.display()))?;
        if !path.exists() {
            self.room()?;
        }
        Real.make_folder(path)
    }

    fn protect(&self, path: &Path) -> io::Result<()> {
        self.plain(&format!("protect {}", path.display()))?;
        Real.protect(path)
    }

    fn space(&self, path: &Path) -> io::Result<Space> {
        self.plain("space")?;
        let set = *self.0.space.lock().unwrap();
        set.map_or_else(|| Real.space(path), Ok)
    }
}

impl File {
    fn call(&self, what: &str) -> String {
        format!("{what} {}", self.name)
    }

    /// Remembers what a write is about to replace.
    fn keep(&self, offset: u64, len: usize) -> io::Result<()> {
        let file_len = self.inner.len()?;
        let there = file_len.saturating_sub(offset).min(u64::try_from(len).unwrap());
        let mut old = vec![0; usize::try_from(there).unwrap()];
        self.inner.read_exact_at(&mut old, offset)?;
        self.before.lock().unwrap().push((offset, old, file_len));
        Ok(())
    }

    /// Takes back what was written since the last sync, or the second half of each write.
    fn forget(&self, half: bool) -> io::Result<()> {
        let mut before = self.before.lock().unwrap();
        for (offset, old, len) in before.drain(..).rev() {
            let from = if half { old.len() / 2 } else { 0 };
            self.inner.write_all_at(&old[from..], offset + u64::try_from(from).unwrap())?;
            if !half {
                self.inner.set_len(len)?;
            }
        }
        Ok(())
    }
}

impl Handle for File {
    fn len(&self) -> io::Result<u64> {
        self.disk.plain(&self.call("len"))?;
        self.inner.len()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.disk.plain(&self.call("read"))?;
        self.inner.read_exact_at(buffer, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let end = offset + u64::try_from(bytes.len()).unwrap();
        match self.disk.call(&self.call("write")) {
            Some(Fault::Short) => {
                self.keep(offset, bytes.len() / 2)?;
                self.inner.write_all_at(&bytes[..bytes.len() / 2], offset)?;
                Err(error(Fault::Short))
            }
            Some(fault) => Err(error(fault)),
            None => {
                if end > self.inner.len()? {
                    self.disk.room()?;
                }
                self.keep(offset, bytes.len())?;
                self.inner.write_all_at(bytes, offset)
            }
        }
    }

    fn sync(&self) -> io::Result<()> {
        let Some(fault) = self.disk.call(&self.call("sync")) else {
            self.before.lock().unwrap().clear();
            return Ok(());
        };
        match fault {
            Fault::Lost => self.forget(false)?,
            Fault::HalfLost => self.forget(true)?,
            Fault::Io | Fault::NoSpace | Fault::Short | Fault::Dead => {}
        }
        Err(error(fault))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.plain(&self.call("set_len"))?;
        if len > self.inner.len()? {
            self.disk.room()?;
        }
        self.inner.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.disk.growing(&self.call("allocate"))?;
        self.inner.allocate(len)
    }
}
