//! The cache: folded records kept between processes, so that an append loads a handful of them.
//!
//! It is used above a threshold only, by whoever holds the journal's lock, and may be deleted at any time.
//! What it says is bound to the fold code, the journal, the machine's boot and a position of the chain; the
//! fold of what follows must end at the root that HEAD promises, or the cache is thrown away and everything
//! is folded from the first entry.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use redb::{ReadableDatabase, TableDefinition, TableError};
use rp_events::{Chain, Digest, EventId, Seq, tree::Frontier};
use rp_replay::{
    Scope, State,
    table::{Backing, Store},
};
use rp_validator::{
    meaning::Fold,
    walk::{Plan, Position, Until},
};
use serde::{Deserialize, Serialize};

use crate::{
    error::Failure,
    journal::{Writer, lock},
    workspace::{Reading, Workspace},
};

/// Entries that may gather before a process leaves them to the next one to fold: some milliseconds' work.
const UNSAVED_MAX: u64 = 250;

/// Entries that may gather while a process goes on appending; writing them back costs two syncs.
const UNSAVED_WHILE_OPEN_MAX: u64 = 16 * 1024;

/// The key of the position; every record's key begins with a table's name, which is never empty.
const POSITION_KEY: &[u8] = b"";

/// A cache that is open for the holder of the journal's lock.
#[derive(Debug)]
pub struct Cache {
    store: Arc<Records>,
    saved: u64,
}

/// What the records stand for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Saved {
    fold: String,
    boot: String,
    log_id: EventId,
    segment: u64,
    offset: u64,
    last: EventId,
    size: u64,
    peaks: Vec<Digest>,
}

/// A state with the chain it stands for, and the cache behind it.
struct Folded {
    state: State,
    chain: Chain,
    cache: Cache,
}

/// Every record of every table, and the position, in one file.
struct Records(redb::Database);

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Records")
    }
}

const RECORDS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("records");

/// The records as a reader sees them.
type Table = redb::ReadOnlyTable<&'static [u8], &'static [u8]>;

impl Records {
    fn key(table: &str, key: &[u8]) -> Vec<u8> {
        [table.as_bytes(), &[0], key].concat()
    }

    /// The table; `None` before anything was saved.
    fn table(&self) -> Result<Option<Table>, redb::Error> {
        match self.0.begin_read()?.open_table(RECORDS) {
            Ok(table) => Ok(Some(table)),
            Err(TableError::TableDoesNotExist(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, String> {
        guarded(|| {
            let Some(records) = self.table()? else { return Ok(None) };
            Ok(records.get(key)?.map(|bytes| bytes.value().to_vec()))
        })
    }
}

/// Runs a call into the store; one that panics has failed.
fn guarded<T>(what: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(what)) {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(_) => Err("the store panicked".to_owned()),
    }
}

impl Store for Records {
    fn load(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>, String> {
        self.get(&Self::key(table, key))
    }

    fn scan(&self, table: &str, prefix: &[u8]) -> Result<Vec<(Vec<u8>, Vec<u8>)>, String> {
        let from = Self::key(table, prefix);
        let skip = table.len() + 1;
        guarded(|| {
            let Some(records) = self.table()? else { return Ok(Vec::new()) };
            let mut found = Vec::new();
            for pair in records.range(from.as_slice()..)? {
                let (key, record) = pair?;
                if !key.value().starts_with(&from) {
                    break;
                }
                let key = key.value().get(skip..).unwrap_or_default().to_vec();
                found.push((key, record.value().to_vec()));
            }
            Ok(found)
        })
    }
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root.join(".rp/cache")
}

/// Removes the cache; the next opening folds from the first entry.
pub fn discard(workspace: &Workspace) {
    // A cache that cannot be removed will mismatch again and be passed over again.
    drop(fs::remove_dir_all(folder(workspace)));
}

fn open(workspace: &Workspace) -> Option<Arc<Records>> {
    let folder = folder(workspace);
    let db = fs::create_dir_all(&folder).map_err(|error| error.to_string()).and_then(|()| {
        guarded(|| {
            let db = redb::Builder::new().set_cache_size(64 << 20).create(folder.join("folded"))?;
            Ok(db)
        })
    });
    match db {
        Ok(db) => Some(Arc::new(Records(db))),
        Err(why) => {
            tracing::warn!(why, "the cache cannot be opened and is removed");
            discard(workspace);
            None
        }
    }
}

/// This boot of the machine: after a power cut the store's files are not to be trusted.
fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

fn fold_digest() -> &'static str {
    env!("RP_FOLD_DIGEST")
}

/// The state of the first `size` entries for a writer, and the cache where one is worth it.
///
/// # Errors
///
/// The history does not hold.
pub fn writing(workspace: &Workspace, size: u64) -> Result<(State, Option<Cache>), Failure> {
    if size >= workspace.settings.cache_threshold
        && let Some(folded) = from_cache(workspace, size)?
    {
        return Ok((folded.state, Some(folded.cache)));
    }
    Ok((fold_all(workspace, State::default(), Position::default(), size)?.0, None))
}

/// A reading from the cache, if one is worth it and can be had without waiting.
pub fn reading(workspace: &Workspace, size: u64) -> Option<Reading> {
    if size < workspace.settings.cache_threshold {
        return None;
    }
    let lock = lock::acquire(
        &workspace.paths.lock(),
        Duration::ZERO,
        "rp (reading)",
        &workspace.settings.clock,
    );
    let lock = lock.ok()?;
    let mut folded = from_cache(workspace, size).ok()??;
    folded.cache.save_at(workspace, &mut folded.state, &folded.chain, None);
    Some(Reading { state: folded.state, chain: folded.chain, lock: Some(lock) })
}

fn from_cache(workspace: &Workspace, size: u64) -> Result<Option<Folded>, Failure> {
    let Some(store) = open(workspace) else { return Ok(None) };
    if let Some(from) = saved_position(workspace, &store, size) {
        let saved = from.chain.next();
        let state = State::new(backing(&store), saved);
        let folded = fold_all(workspace, state, from, size);
        if let Ok((state, chain)) = folded
            && state.failure().is_none()
            && workspace.hold_to_head(&chain).is_ok()
        {
            return Ok(Some(Folded { state, chain, cache: Cache { store, saved: saved.0 } }));
        }
        tracing::warn!("the cache contradicts the journal and is removed");
    }
    drop(store);
    discard(workspace);
    let Some(store) = open(workspace) else { return Ok(None) };
    let state = State::new(backing(&store), Seq(0));
    let (state, chain) = fold_all(workspace, state, Position::default(), size)?;
    Ok(Some(Folded { state, chain, cache: Cache { store, saved: 0 } }))
}

fn backing(store: &Arc<Records>) -> Backing {
    let store: Arc<dyn Store> = store.clone();
    Backing::new(store)
}

fn saved_position(workspace: &Workspace, store: &Records, size: u64) -> Option<Position> {
    let bytes = store.get(POSITION_KEY).ok()??;
    let saved: Saved = serde_json::from_slice(&bytes).ok()?;
    let fits = saved.fold == fold_digest()
        && saved.boot == boot()
        && saved.size <= size
        && workspace.log_id().is_ok_and(|log_id| log_id == saved.log_id);
    if !fits {
        return None;
    }
    let frontier = Frontier::from_parts(saved.size, saved.peaks)?;
    Some(Position {
        segment: Seq(saved.segment),
        offset: saved.offset,
        chain: Chain::from_parts(Some(saved.last), frontier)?,
        log_id: Some(saved.log_id),
    })
}

fn fold_all(
    workspace: &Workspace,
    state: State,
    from: Position,
    size: u64,
) -> Result<(State, Chain), Failure> {
    let mut fold = Fold::new(state, Scope::Whole);
    let plan = Plan { from, until: Until::Size(size), watch: Vec::new() };
    let chain = workspace.each(plan, &mut |parsed, _| fold.take(parsed, &mut drop))?;
    match fold.offences.first() {
        None => Ok((fold.state, chain)),
        Some(offence) => Err(Failure::from(offence.refusal.clone())
            .detail("seq", offence.seq.0)
            .hint("`rp validate` lists everything that does not hold")),
    }
}

impl Cache {
    /// Writes changed records back if very many have gathered, while their process goes on.
    pub fn save_some(&mut self, workspace: &Workspace, state: &mut State, writer: &Writer) {
        if writer.head().size().saturating_sub(self.saved) >= UNSAVED_WHILE_OPEN_MAX {
            self.save(workspace, state, writer);
        }
    }

    /// Writes changed records back for the next process, if that is worth it.
    pub fn save(&mut self, workspace: &Workspace, state: &mut State, writer: &Writer) {
        let head = writer.head();
        // What was admitted and then not written is in the state; such a state is not kept.
        if state.next().0 == head.size() {
            let position = (head.segment.0, head.end);
            self.save_at(workspace, state, writer.chain(), Some(position));
        }
    }

    /// A reader knows no place in a file, only HEAD's: it saves where the two agree.
    fn save_at(
        &mut self,
        workspace: &Workspace,
        state: &mut State,
        chain: &Chain,
        place: Option<(u64, u64)>,
    ) {
        let size = chain.next().0;
        if size.saturating_sub(self.saved) < UNSAVED_MAX {
            return;
        }
        let head = || workspace.paths.read_head().and_then(|slots| slots.head);
        let place = place.or_else(|| {
            head().filter(|head| head.size() == size).map(|head| (head.segment.0, head.end))
        });
        let (Some((segment, offset)), Ok(log_id)) = (place, workspace.log_id()) else { return };
        let saved = Saved {
            fold: fold_digest().to_owned(),
            boot: boot(),
            log_id,
            segment,
            offset,
            last: chain.last(),
            size,
            peaks: chain.frontier().peaks().to_vec(),
        };
        match self.write(state, &saved) {
            Ok(()) => self.saved = size,
            Err(why) => tracing::warn!(why, "the cache could not be written"),
        }
    }

    fn write(&self, state: &mut State, saved: &Saved) -> Result<(), String> {
        let position = serde_json::to_vec(saved).map_err(|error| error.to_string())?;
        let changes = state.changes();
        guarded(|| {
            let mut commit = self.store.0.begin_write()?;
            // A process that is killed must not cost the next one a repair of the whole file.
            commit.set_quick_repair(true);
            {
                let mut records = commit.open_table(RECORDS)?;
                for change in &changes {
                    let key = Records::key(change.table, &change.key);
                    records.insert(key.as_slice(), change.record.as_slice())?;
                }
                records.insert(POSITION_KEY, position.as_slice())?;
            }
            commit.commit()?;
            Ok(())
        })
    }
}
