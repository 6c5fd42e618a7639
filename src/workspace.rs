//! A workspace: the folder with `.rp/` in it, and what one may do with its journal.
//!
//! Reading verbs fold what HEAD promises, without a lock and without judging signatures, and say so. Writing
//! goes through [`crate::engine::Engine`].

pub mod documents;

use std::{
    collections::BTreeSet,
    fs, io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rp_events::{Chain, Digest, Event, EventId, Seq, Stamp, artifact::blob_path, entry::Parsed};
use rp_replay::{History, Lineage, Scope, State};
use rp_validator::{
    Class, FORMAT, Finding,
    artifacts::{self, Held},
    log_id,
    meaning::Fold,
    source::{Folder, Tree},
    walk::{self, End, Plan, Until},
};
use serde::{Deserialize, Serialize};

use crate::{
    clock::Clock,
    error::Failure,
    exit::Exit,
    journal::{Knobs, Paths, disk::Disk, lock::Lock},
    keyring::Keyring,
};

/// What a command brings from the command line and the environment.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where to look for a workspace.
    pub start: PathBuf,
    /// The folder of secret keys.
    pub keys: PathBuf,
    /// The folder of remembered checkpoints.
    pub known: PathBuf,
    /// The key to sign with, if one was named.
    pub key: Option<String>,
    /// How long to wait for the lock.
    pub wait: Duration,
    /// Sizes that tests make small.
    pub knobs: Knobs,
    /// Above how many entries the cache is used.
    pub cache_threshold: u64,
    /// The clock.
    pub clock: Arc<Clock>,
    /// The file system.
    pub disk: Arc<dyn Disk>,
}

/// `.rp/config.json`: what this workspace prefers. Not part of the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// The key that signs when no other is named.
    pub default_key: String,
}

/// A workspace.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// The folder that holds `.rp/`.
    pub root: PathBuf,
    /// Where the journal is.
    pub paths: Paths,
    /// What the command brought.
    pub settings: Settings,
}

/// A point of the journal that a reader asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// After this entry.
    Entry(Seq),
    /// After this event.
    Event(EventId),
    /// The longest prefix whose last event is not after this time.
    Time(Stamp),
}

impl Moment {
    /// Parses `--at`: a position, 64 hexadecimal digits, or a time.
    ///
    /// # Errors
    ///
    /// A sentence on what the three forms are.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(id) = EventId::parse(text) {
            return Ok(Self::Event(id));
        }
        if let Ok(seq) = text.parse() {
            return Ok(Self::Entry(Seq(seq)));
        }
        Stamp::parse(text).map(Self::Time).map_err(|_| {
            format!("expected an entry's number, an event id of 64 digits or a time such as `2026-03-02T08:00:00Z`, found `{text}`")
        })
    }
}

/// What was read of a journal.
#[derive(Debug)]
pub struct Reading {
    /// The state after the entries read.
    pub state: State,
    /// Chain and tree after them.
    pub chain: Chain,
    /// The lock, where the state loads from a cache that one process may open.
    pub lock: Option<Lock>,
}

/// What was read of a journal, with the entries that led there.
#[derive(Debug)]
pub struct Told {
    /// What was read.
    pub reading: Reading,
    /// The entries.
    pub history: History,
    /// Why nothing was read beyond them, if something did not hold.
    pub broken: Option<Failure>,
}

impl Workspace {
    /// The nearest workspace from the starting folder upward.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn find(settings: &Settings) -> Result<Self, Failure> {
        let start = fs::canonicalize(&settings.start)
            .map_err(|error| Failure::io("enter", &settings.start, &error))?;
        let root =
            start.ancestors().find(|folder| folder.join(".rp").is_dir()).ok_or_else(|| {
                let message = format!("there is no workspace at or above `{}`", start.display());
                Failure::new(Exit::USAGE, "no-workspace", message)
                    .hint("`rp init` makes one here")
                    .hint("`rp -C DIR ...` runs as if started in DIR")
            })?;
        Ok(Self::at(root, settings))
    }

    /// The workspace in a folder, whether or not it is there yet.
    pub fn at(root: &Path, settings: &Settings) -> Self {
        let paths = Paths { folder: root.join(".rp/journal"), known: settings.known.clone() };
        Self { root: root.to_owned(), paths, settings: settings.clone() }
    }

    /// The journal's files.
    pub fn source(&self) -> Folder {
        Folder(self.paths.folder.clone())
    }

    /// The store of artifacts, for reading.
    pub fn blobs(&self) -> Tree {
        Tree(self.blobs_folder())
    }

    /// The folder of the store of artifacts.
    pub fn blobs_folder(&self) -> PathBuf {
        self.root.join(".rp/blobs")
    }

    /// The lineage of a journal's first entries.
    ///
    /// # Errors
    ///
    /// The first thing that does not hold.
    pub fn lineage(&self, size: u64) -> Result<Lineage, Failure> {
        let mut lineage = Lineage::default();
        let mut unread = None;
        self.each(Plan::whole(Until::Size(size)), &mut |parsed, _| match Event::decode(
            &parsed.envelope.kind,
            parsed.data,
        ) {
            Ok(event) => {
                lineage.take(parsed.id, &parsed.envelope, &event);
                ControlFlow::Continue(())
            }
            Err(why) => {
                unread = Some((parsed.envelope.seq, why));
                ControlFlow::Break(())
            }
        })?;
        match unread {
            None => Ok(lineage),
            Some((seq, why)) => {
                Err(Failure::new(Exit::REFUSED, "bad-payload", format!("entry {seq}: {why}"))
                    .detail("seq", seq.0)
                    .hint("`rp validate` lists everything that does not hold"))
            }
        }
    }

    /// The artifacts whose bytes are not those on record or are gone; every one of them is read.
    ///
    /// # Errors
    ///
    /// Bytes that are there and cannot be read.
    pub fn broken_artifacts(&self, state: &State) -> Result<BTreeSet<Digest>, Failure> {
        let store = self.blobs();
        let mut broken = BTreeSet::new();
        for artifact in state.trust().artifacts() {
            let held = artifacts::held(&store, &artifact);
            let held = held.map_err(|error| {
                Failure::io("read", &self.blobs_folder().join(blob_path(&artifact.b3)), &error)
            })?;
            if held != Held::Whole {
                broken.insert(artifact.b3);
            }
        }
        Ok(broken)
    }

    /// The id of the journal.
    ///
    /// # Errors
    ///
    /// The journal cannot be read, or no segment says it.
    pub fn log_id(&self) -> Result<EventId, Failure> {
        let found = log_id(&self.source())
            .map_err(|error| Failure::io("read", &self.paths.folder, &error))?;
        found.ok_or_else(|| {
            Failure::new(Exit::NOTHING, "nothing", "the journal has no entries")
                .hint("`rp validate` says what is there")
        })
    }

    /// The secret keys of this journal.
    ///
    /// # Errors
    ///
    /// As [`Workspace::log_id`].
    pub fn keyring(&self) -> Result<Keyring, Failure> {
        Ok(Keyring::new(&self.settings.keys, self.log_id()?))
    }

    /// The name of the key to sign with: named, or else the workspace's default.
    ///
    /// # Errors
    ///
    /// None was named, and the configuration cannot be read.
    pub fn key_name(&self) -> Result<String, Failure> {
        if let Some(name) = &self.settings.key {
            return Ok(name.clone());
        }
        let path = self.root.join(".rp/config.json");
        let text = fs::read_to_string(&path).map_err(|error| {
            Failure::io("read", &path, &error).hint("name a key with `--as KEY`")
        })?;
        let config: Config = serde_json::from_str(&text).map_err(|error| {
            Failure::new(Exit::IO, "config", format!("`{}`: {error}", path.display()))
                .hint("name a key with `--as KEY`")
        })?;
        Ok(config.default_key)
    }

    /// How many entries HEAD promises, or the remembered checkpoint where HEAD is lost.
    ///
    /// # Errors
    ///
    /// Neither is there.
    pub fn promised(&self) -> Result<u64, Failure> {
        let head = self.paths.read_head().and_then(|slots| slots.head);
        let head = match head {
            Some(head) => Some(head),
            None => self.paths.read_remembered(self.log_id()?).and_then(|slots| slots.head),
        };
        head.map(|head| head.size()).ok_or_else(|| {
            Failure::new(
                Exit::NOTHING,
                "unanchored",
                "HEAD is gone and no checkpoint is remembered here",
            )
            .hint("`rp validate` says what can still be said")
        })
    }

    /// Folds the journal as of a moment, or whole; every rule is asked again, no signature is judged.
    ///
    /// # Errors
    ///
    /// The first thing that does not hold, or a moment that is not there.
    pub fn read(&self, moment: Option<&Moment>) -> Result<Reading, Failure> {
        let size = self.size_at(moment)?;
        if moment.is_none()
            && let Some(reading) = crate::cache::reading(self, size)
        {
            return Ok(reading);
        }
        let mut fold = Fold::new(State::default(), Scope::Whole);
        let chain = self
            .each(Plan::whole(Until::Size(size)), &mut |parsed, _| fold.take(parsed, &mut drop))?;
        if let Some(offence) = fold.offences.first() {
            return Err(Failure::from(offence.refusal.clone())
                .detail("seq", offence.seq.0)
                .hint("`rp validate` lists everything that does not hold"));
        }
        if moment.is_none() {
            self.hold_to_head(&chain)?;
        }
        Ok(Reading { state: fold.state, chain, lock: None })
    }

    /// Folds as [`Workspace::read`] and keeps a line an entry; every entry is read, whatever is cached.
    ///
    /// # Errors
    ///
    /// As [`Workspace::read`].
    pub fn tell(&self, moment: Option<&Moment>) -> Result<Told, Failure> {
        let told = self.tell_to(self.size_at(moment)?)?;
        if let Some(why) = told.broken {
            return Err(why);
        }
        if moment.is_none() {
            self.hold_to_head(&told.reading.chain)?;
        }
        Ok(told)
    }

    /// Folds the first `size` entries, or as many of them as hold.
    ///
    /// # Errors
    ///
    /// The journal cannot be read, or is of another version.
    pub fn tell_to(&self, size: u64) -> Result<Told, Failure> {
        self.hold_to_format()?;
        let mut fold = Fold::new(State::default(), Scope::Whole);
        let mut history = History::default();
        let walked =
            walk::walk(&self.source(), Plan::whole(Until::Size(size)), &mut |parsed, _| {
                let flow = fold.take(parsed.clone(), &mut drop);
                if flow.is_continue() {
                    history.note(&parsed);
                }
                flow
            })
            .map_err(|error| Failure::io("read", &self.paths.folder, &error))?;
        let refused = fold.offences.first().map(|offence| {
            Failure::from(offence.refusal.clone())
                .detail("seq", offence.seq.0)
                .hint("`rp validate` lists everything that does not hold")
        });
        let broken = refused.or_else(|| match &walked.end {
            End::Clean | End::Stopped => None,
            End::Fault(finding) | End::Torn { finding, .. } => Some(found(finding)),
        });
        let reading = Reading { state: fold.state, chain: walked.position.chain, lock: None };
        Ok(Told { reading, history, broken })
    }

    /// Visits the entries of a plan; gives the chain after them.
    ///
    /// # Errors
    ///
    /// The first thing that does not hold.
    pub fn each(
        &self,
        plan: Plan,
        visit: &mut dyn FnMut(Parsed<'_>, &[u8]) -> ControlFlow<()>,
    ) -> Result<Chain, Failure> {
        self.hold_to_format()?;
        let walked = walk::walk(&self.source(), plan, visit)
            .map_err(|error| Failure::io("read", &self.paths.folder, &error))?;
        match walked.end {
            End::Clean | End::Stopped => Ok(walked.position.chain),
            End::Fault(finding) | End::Torn { finding, .. } => Err(found(&finding)),
        }
    }

    /// A journal of another version is not read as if it were of this one.
    fn hold_to_format(&self) -> Result<(), Failure> {
        let path = self.paths.folder.join("FORMAT");
        let format = fs::read(&path).map_err(|error| Failure::io("read", &path, &error))?;
        if format == FORMAT {
            return Ok(());
        }
        Err(found(&Finding {
            class: Class::Broken,
            code: "format",
            seq: None,
            place: "FORMAT".to_owned(),
            text: "the file does not say `rp-journal 1`".to_owned(),
        }))
    }

    /// Holds a chain to the root that HEAD promises, if it is as long as HEAD says.
    ///
    /// # Errors
    ///
    /// `fork`.
    pub fn hold_to_head(&self, chain: &Chain) -> Result<(), Failure> {
        let promise = self.paths.read_head().and_then(|slots| slots.head);
        match promise {
            Some(head)
                if head.size() == chain.next().0 && head.root() != chain.frontier().root() =>
            {
                Err(found(&Finding {
                    class: Class::Fork,
                    code: "fork",
                    seq: None,
                    place: "HEAD".to_owned(),
                    text: "HEAD promises another root than the entries have".to_owned(),
                }))
            }
            _ => Ok(()),
        }
    }

    fn size_at(&self, moment: Option<&Moment>) -> Result<u64, Failure> {
        let promised = self.promised()?;
        let mut reached = None;
        match moment {
            None => return Ok(promised),
            Some(Moment::Entry(seq)) => reached = (seq.0 < promised).then_some(seq.0 + 1),
            Some(wanted @ (Moment::Event(_) | Moment::Time(_))) => {
                self.each(Plan::whole(Until::Size(promised)), &mut |parsed, _| {
                    let envelope = &parsed.envelope;
                    let hit = match wanted {
                        Moment::Event(id) => parsed.id == *id,
                        Moment::Time(time) => envelope.at.unwrap_or(envelope.time) <= *time,
                        Moment::Entry(seq) => envelope.seq == *seq,
                    };
                    if hit {
                        reached = Some(envelope.seq.0 + 1);
                    }
                    ControlFlow::Continue(())
                })?;
            }
        }
        reached.ok_or_else(|| {
            let message =
                format!("the journal has {promised} entries and none at the moment asked for");
            Failure::new(Exit::REFUSED, "no-such-moment", message)
                .hint("`rp log` shows what there is")
        })
    }

    /// The stored entry at a position, whole.
    ///
    /// # Errors
    ///
    /// It is not there, or does not hold.
    pub fn entry(&self, seq: Seq) -> Result<Vec<u8>, Failure> {
        let mut entry = None;
        self.each(Plan::whole(Until::Size(seq.0 + 1)), &mut |parsed, bytes| {
            if parsed.envelope.seq == seq {
                entry = Some(bytes.to_vec());
            }
            ControlFlow::Continue(())
        })?;
        entry.ok_or_else(|| {
            Failure::new(Exit::REFUSED, "no-such-entry", format!("there is no entry {seq}"))
                .hint("`rp log` shows what there is")
        })
    }

    /// Reads a file under the workspace; `None` if it is not there.
    ///
    /// # Errors
    ///
    /// It is there and cannot be read.
    pub fn file(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.root.join(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A finding as a command's failure.
pub fn found(finding: &Finding) -> Failure {
    let failure = Failure::new(Exit(finding.class.exit()), finding.code, finding.to_string())
        .detail("class", finding.class.name())
        .detail("place", &finding.place)
        .hint("`rp validate` lists everything that does not hold");
    match finding.seq {
        Some(seq) => failure.detail("seq", seq.0),
        None => failure,
    }
}
