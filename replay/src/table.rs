//! Tables: state that costs what it touches.
//!
//! A [`Table`] is an ordered map from a text key to one record. In memory it is filled by replay; backed by a
//! [`Store`] it loads a record when it is first asked for, and remembers which ones changed. Rules and folds
//! cannot tell the difference.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use serde::{Serialize, de::DeserializeOwned};

/// Where records are kept between processes. A cache: it may fail, lag or be empty, but never lie.
pub trait Store: Send + Sync {
    /// The record under a key.
    ///
    /// # Errors
    ///
    /// A sentence on what failed.
    fn load(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>, String>;

    /// Every record whose key begins with `prefix`, in the order of their keys.
    ///
    /// # Errors
    ///
    /// A sentence on what failed.
    fn scan(&self, table: &str, prefix: &[u8]) -> Result<Vec<Stored>, String>;
}

/// A stored record: its key and its bytes.
pub type Stored = (Vec<u8>, Vec<u8>);

/// The store behind all tables of a state, or none, with the first failure of any of them.
#[derive(Clone, Default)]
pub struct Backing {
    store: Option<Arc<dyn Store>>,
    failure: Arc<Mutex<Option<String>>>,
}

impl std::fmt::Debug for Backing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.store.is_some() { "Backing(store)" } else { "Backing(memory)" })
    }
}

impl Backing {
    /// Backs every table with a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store: Some(store), failure: Arc::default() }
    }

    /// The first failure of any table. Whatever was decided since then may rest on missing records.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().expect("no holder of this lock panics").clone()
    }

    fn note<T: Default>(&self, outcome: Result<T, String>) -> T {
        outcome.unwrap_or_else(|why| {
            self.failure.lock().expect("no holder of this lock panics").get_or_insert(why);
            T::default()
        })
    }

    fn load(&self, table: &str, key: &[u8]) -> Option<Vec<u8>> {
        self.note(self.store.as_ref()?.load(table, key))
    }

    fn scan(&self, table: &str, prefix: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.store.as_ref().map_or_else(Vec::new, |store| self.note(store.scan(table, prefix)))
    }

    fn read<T: DeserializeOwned>(&self, table: &str, bytes: &[u8]) -> Option<T> {
        self.note(rmp_serde::from_slice(bytes).map(Some).map_err(|e| format!("table {table}: {e}")))
    }
}

/// A changed record on its way to the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The table.
    pub table: &'static str,
    /// The key.
    pub key: Vec<u8>,
    /// The record.
    pub record: Vec<u8>,
}

#[derive(Debug, Clone)]
struct Slot<T> {
    /// `None`: the store was asked and has no such record.
    record: Option<Arc<T>>,
    changed: bool,
}

/// An ordered map from a text key to one record.
#[derive(Debug)]
pub struct Table<T> {
    name: &'static str,
    backing: Backing,
    slots: RefCell<BTreeMap<String, Slot<T>>>,
}

impl<T: Clone + Serialize + DeserializeOwned> Table<T> {
    /// An empty table, or a view of what the store holds under `name`.
    pub fn new(name: &'static str, backing: &Backing) -> Self {
        Self { name, backing: backing.clone(), slots: RefCell::default() }
    }

    /// The record under a key.
    pub fn get(&self, key: &str) -> Option<Arc<T>> {
        if let Some(slot) = self.slots.borrow().get(key) {
            return slot.record.clone();
        }
        self.backing.store.as_ref()?;
        let bytes = self.backing.load(self.name, key.as_bytes());
        let record = bytes.and_then(|bytes| self.backing.read(self.name, &bytes)).map(Arc::new);
        let slot = Slot { record: record.clone(), changed: false };
        self.slots.borrow_mut().insert(key.to_owned(), slot);
        record
    }

    /// Whether there is a record under a key.
    pub fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Puts a record under a key, in the place of any that was there.
    pub fn put(&mut self, key: &str, record: T) {
        let slot = Slot { record: Some(Arc::new(record)), changed: true };
        self.slots.get_mut().insert(key.to_owned(), slot);
    }

    /// Changes the record under a key, which a rule has made sure is there.
    pub fn edit(&mut self, key: &str, change: impl FnOnce(&mut T)) {
        if self.get(key).is_none() {
            // Only a store that failed after the rules ran can be the reason; the engine asks for it.
            assert!(self.backing.failure().is_some(), "BUG: no `{key}` in {}", self.name);
            return;
        }
        if let Some(slot) = self.slots.get_mut().get_mut(key)
            && let Some(record) = &mut slot.record
        {
            change(Arc::make_mut(record));
            slot.changed = true;
        }
    }

    /// Changes the record under a key, beginning with the default if there is none.
    pub fn upsert(&mut self, key: &str, change: impl FnOnce(&mut T))
    where
        T: Default,
    {
        if self.get(key).is_none() {
            self.put(key, T::default());
        }
        self.edit(key, change);
    }

    /// Every record whose key begins with `prefix`, in the order of their keys.
    pub fn scan(&self, prefix: &str) -> Vec<(String, Arc<T>)> {
        if self.backing.store.is_some() {
            for (key, bytes) in self.backing.scan(self.name, prefix.as_bytes()) {
                let Ok(key) = String::from_utf8(key) else { continue };
                if self.slots.borrow().contains_key(&key) {
                    continue;
                }
                let record = self.backing.read(self.name, &bytes).map(Arc::new);
                self.slots.borrow_mut().insert(key, Slot { record, changed: false });
            }
        }
        let slots = self.slots.borrow();
        let under = slots.range(prefix.to_owned()..).take_while(|(key, _)| key.starts_with(prefix));
        under.filter_map(|(key, slot)| Some((key.clone(), slot.record.clone()?))).collect()
    }

    /// Hands out the records changed since the last call.
    pub fn changes(&mut self, out: &mut Vec<Change>) {
        for (key, slot) in self.slots.get_mut() {
            if std::mem::take(&mut slot.changed)
                && let Some(record) = &slot.record
            {
                let record = rmp_serde::to_vec(&**record).expect("records serialize");
                out.push(Change { table: self.name, key: key.as_bytes().to_vec(), record });
            }
        }
    }
}

/// An ordered map from fixed-size bytes to a position: small enough to hold millions.
#[derive(Debug)]
pub struct Index<const N: usize> {
    name: &'static str,
    backing: Backing,
    known: RefCell<BTreeMap<[u8; N], u64>>,
    fresh: Vec<[u8; N]>,
}

impl<const N: usize> Index<N> {
    /// An empty index, or a view of what the store holds under `name`.
    pub fn new(name: &'static str, backing: &Backing) -> Self {
        Self { name, backing: backing.clone(), known: RefCell::default(), fresh: Vec::new() }
    }

    /// The position under a key.
    pub fn get(&self, key: &[u8; N]) -> Option<u64> {
        if let Some(&at) = self.known.borrow().get(key) {
            return Some(at);
        }
        let bytes = self.backing.load(self.name, key)?;
        let at = u64::from_be_bytes(bytes.try_into().ok()?);
        self.known.borrow_mut().insert(*key, at);
        Some(at)
    }

    /// Puts a position under a key.
    pub fn put(&mut self, key: [u8; N], at: u64) {
        self.known.get_mut().insert(key, at);
        if self.backing.store.is_some() {
            self.fresh.push(key);
        }
    }

    /// Hands out the positions put since the last call.
    pub fn changes(&mut self, out: &mut Vec<Change>) {
        for key in self.fresh.drain(..) {
            let at = self.known.get_mut().get(&key).copied().unwrap_or_default();
            out.push(Change {
                table: self.name,
                key: key.to_vec(),
                record: at.to_be_bytes().to_vec(),
            });
        }
    }
}
