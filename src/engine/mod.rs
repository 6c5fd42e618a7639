//! The single door to the journal: draft, sign, verify, admit, append, apply.
//!
//! Every verb that changes something builds [`Draft`]s and calls [`Engine::commit`]. What it records has
//! passed the same functions that an auditor runs over it later.

mod attest;
mod failure;

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZero,
    ops::ControlFlow,
    sync::Arc,
};

use rp_events::{
    Digest, Event, EventId, Idem, KeyCache, Kid, Refusal, SecretKey, Seq, SignatureJob, Stamp,
    Verified,
    entry::{self, Citation, ENTRY_BYTES_MAX, ENTRY_OVERHEAD_BYTES, Envelope},
    refusal::general,
    trust::{CommandRejected, JournalRecovered, RECORDER},
};
use rp_replay::{Scope, State};
use rp_validator::{
    meaning::Fold,
    walk::{Plan, Until},
};

use failure::{append_failure, open_failure};

use crate::{
    cache::{self, Cache},
    error::Failure,
    exit::Exit,
    journal::{self, Caller, Cut, Item, OpenError, Writer},
    keyring::Keyring,
    workspace::Workspace,
};

/// An event to be recorded.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The payload.
    pub event: Event,
    /// The stream, where the kind does not imply it.
    pub stream: Option<String>,
    /// The claimed time.
    pub at: Option<Stamp>,
    /// What it cites.
    pub cause: Vec<Citation>,
    /// The caller's idempotency text.
    pub idem: String,
    /// The name of the key to sign with.
    pub signer: String,
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The position.
    pub seq: Seq,
    /// The event's name.
    pub id: EventId,
    /// The kind.
    pub kind: String,
    /// The stream.
    pub stream: String,
    /// Whether the event was recorded before, under the same key, for the same request.
    pub duplicate: bool,
    /// The idempotency text.
    pub idem: String,
}

/// What became of a group.
#[derive(Debug)]
pub struct Committed {
    /// A receipt a draft, in order, up to the one that was refused.
    pub receipts: Vec<Receipt>,
    /// Why the draft after the last receipt was refused.
    pub refused: Option<Failure>,
}

/// What the journal or a stream must be for a commit to go on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// The number of entries.
    pub size: Option<u64>,
    /// Streams and their numbers of events.
    pub streams: Vec<(String, u64)>,
}

/// A journal open for recording.
#[derive(Debug)]
pub struct Engine {
    workspace: Workspace,
    writer: Writer,
    state: State,
    keyring: Keyring,
    secrets: BTreeMap<Kid, Arc<SecretKey>>,
    cache: Option<Cache>,
    /// What a user should know of the opening.
    pub notes: Vec<String>,
}

/// A draft that got its place in the chain.
struct Placed {
    envelope: Envelope,
    body: Vec<u8>,
    secret: Arc<SecretKey>,
}

/// A draft at its turn within a group.
enum Turn {
    New(Box<Placed>),
    Duplicate(Receipt),
}

impl Engine {
    /// Opens the workspace's journal: locks it, finds its end, folds it.
    ///
    /// # Errors
    ///
    /// The lock is held, the journal may not be written, or its history breaks a rule.
    pub fn open(workspace: &Workspace) -> Result<Self, Failure> {
        let keyring = workspace.keyring()?;
        let settings = &workspace.settings;
        let about = format!("pid {} (rp)", std::process::id());
        let open = |may_recover| {
            let caller =
                Caller { wait: settings.wait, about: &about, may_recover, clock: &settings.clock };
            journal::open(Arc::clone(&settings.disk), &workspace.paths, settings.knobs, &caller)
        };
        let opened = match open(false) {
            Err(OpenError::TornTail(_)) if may_record(workspace, &keyring) => open(true),
            opened => opened,
        };
        let opened = opened.map_err(|error| open_failure(error, workspace))?;
        let (state, cache) = cache::writing(workspace, opened.anchored)?;
        let mut engine = Self {
            workspace: workspace.clone(),
            writer: opened.writer,
            state,
            keyring,
            secrets: BTreeMap::new(),
            cache,
            notes: opened.notes,
        };
        engine.adopt(opened.anchored)?;
        if let Some(cut) = &opened.cut {
            engine.record_cut(cut)?;
        }
        Ok(engine)
    }

    /// The state after everything recorded.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The writer, for its position.
    pub fn writer(&self) -> &Writer {
        &self.writer
    }

    /// Judges whole entries that nobody was promised yet, and then promises them.
    fn adopt(&mut self, anchored: u64) -> Result<(), Failure> {
        let size = self.writer.chain().next().0;
        if size == anchored {
            return Ok(());
        }
        let mut fold = Fold::new(std::mem::take(&mut self.state), Scope::Whole);
        let mut cache = KeyCache::default();
        let mut bad = None;
        self.workspace.each(Plan::whole(Until::Size(size)), &mut |parsed, _| {
            if parsed.envelope.seq.0 < anchored {
                return ControlFlow::Continue(());
            }
            let step = fold.take(parsed, &mut |job: SignatureJob| {
                bad = bad.take().or_else(|| job.judge(&mut cache).err());
            });
            if bad.is_some() { ControlFlow::Break(()) } else { step }
        })?;
        let refused = bad.or_else(|| fold.offences.first().map(|offence| offence.refusal.clone()));
        self.state = fold.state;
        if let Some(refusal) = refused {
            return Err(
                Failure::from(refusal).hint("`rp validate` lists everything that does not hold")
            );
        }
        self.notes.push(format!(
            "{} whole entries after the acknowledged ones were adopted",
            size - anchored
        ));
        self.writer.acknowledge().map_err(|error| append_failure(error, ""))
    }

    fn record_cut(&mut self, cut: &Cut) -> Result<(), Failure> {
        let event =
            Event::Trust(rp_events::trust::Event::JournalRecovered(Box::new(JournalRecovered {
                kept: cut.kept,
                cut_bytes: cut.bytes,
                cut_blake3: cut.blake3,
                cause: cut.cause.clone(),
            })));
        self.notes.push(format!(
            "a torn tail of {} bytes was never acknowledged; it is kept in `{}`",
            cut.bytes,
            cut.path.display()
        ));
        let draft = self.own_draft(event);
        let committed = self.commit_group(&[draft], true)?;
        committed.refused.map_or(Ok(()), Err)
    }

    /// A draft that the recorder signs.
    fn own_draft(&self, event: Event) -> Draft {
        Draft {
            event,
            stream: None,
            at: None,
            cause: Vec::new(),
            idem: fresh_idem(&self.workspace),
            signer: RECORDER.to_owned(),
        }
    }

    /// Whether something was recorded under a caller's idempotency text.
    pub fn knows(&self, idem: &str) -> bool {
        self.state.record().recorded_under(&entry::idem(idem)).is_some()
    }

    /// Holds the journal to what the caller expects.
    ///
    /// # Errors
    ///
    /// `version-conflict` with the current values.
    pub fn expect(&self, expected: &Expected) -> Result<(), Failure> {
        let size = self.writer.chain().next().0;
        let conflict = |what: String, now: u64| {
            let message = format!("{what}, it is {now}");
            Failure::from(Refusal::new(&general::VERSION_CONFLICT, message)).detail("current", now)
        };
        if let Some(due) = expected.size
            && due != size
        {
            return Err(conflict(format!("the journal was expected to have size {due}"), size));
        }
        for (stream, due) in &expected.streams {
            let version = self.state.record().stream(stream).version;
            if version != *due {
                return Err(conflict(
                    format!("stream `{stream}` was expected at version {due}"),
                    version,
                ));
            }
        }
        Ok(())
    }

    /// Records a group atomically: all of it, or the drafts before the first that is refused.
    ///
    /// A refusal by a rule, an authority or a role is itself recorded, unless the recorder's key is not here.
    ///
    /// # Errors
    ///
    /// Nothing of the group is recorded, or whether it is cannot be known (`outcome-unknown`).
    pub fn commit(&mut self, drafts: &[Draft]) -> Result<Committed, Failure> {
        let urgent = drafts.iter().all(|draft| {
            matches!(&draft.event, Event::Trust(rp_events::trust::Event::KeyRevoked(_)))
        });
        self.commit_group(drafts, urgent)
    }

    fn commit_group(&mut self, drafts: &[Draft], reserve: bool) -> Result<Committed, Failure> {
        let (mut committed, tried) = self.record_group(drafts, reserve)?;
        if let (Some(failure), Some(envelope)) = (&mut committed.refused, tried) {
            let recorded = self.record_refusal(&failure.code, &envelope);
            failure.details.insert("recorded".to_owned(), recorded.into());
        }
        Ok(committed)
    }

    /// Records a group, and no refusal; gives the envelope that a rule refused, if one was.
    fn record_group(
        &mut self,
        drafts: &[Draft],
        reserve: bool,
    ) -> Result<(Committed, Option<Envelope>), Failure> {
        let (turns, mut refused) = self.place(drafts);
        let signed = sign(&turns);
        let mut jobs = Vec::new();
        let mut items = Vec::new();
        let mut receipts = Vec::new();
        let mut tried = None;
        for ((turn, entry), draft) in turns.into_iter().zip(signed).zip(drafts) {
            let placed = match turn {
                Turn::Duplicate(receipt) => {
                    receipts.push(receipt);
                    continue;
                }
                Turn::New(placed) => placed,
            };
            match self.admit(&entry, &mut jobs) {
                Ok(id) => {
                    items.push(Item { id, entry });
                    receipts.push(receipt(placed.envelope.seq, id, draft));
                }
                Err(refusal) => {
                    tried = Some(placed.envelope);
                    refused = Some(refusal.into());
                    break;
                }
            }
        }
        judge(&jobs)?;
        self.store_failure()?;
        if !items.is_empty() {
            let idem = drafts.first().map_or("", |draft| draft.idem.as_str());
            self.writer.append(&items, reserve).map_err(|error| append_failure(error, idem))?;
            if let Some(cache) = &mut self.cache {
                cache.save(&self.workspace, &mut self.state, &self.writer);
            }
        }
        Ok((Committed { receipts, refused }, tried))
    }

    /// Tries a draft against the rules and records nothing.
    ///
    /// # Errors
    ///
    /// Why it would be refused.
    pub fn dry_run(&mut self, draft: &Draft) -> Result<Receipt, Failure> {
        let (turns, refused) = self.place(std::slice::from_ref(draft));
        let signed = sign(&turns);
        match (turns.into_iter().next(), signed.into_iter().next(), refused) {
            (_, _, Some(failure)) => Err(failure),
            (Some(Turn::Duplicate(receipt)), _, None) => Ok(receipt),
            (Some(Turn::New(placed)), Some(entry), None) => {
                let parsed = entry::parse(&entry).expect("we assembled it");
                let admitted =
                    rp_events::verify(parsed, &self.state).and_then(|v| self.state.admit(v))?;
                Ok(receipt(placed.envelope.seq, admitted.entry().id(), draft))
            }
            (None | Some(Turn::New(_)), _, None) => {
                unreachable!("a draft has a turn or is refused")
            }
        }
    }

    fn store_failure(&self) -> Result<(), Failure> {
        match self.state.failure() {
            None => Ok(()),
            Some(why) => {
                cache::discard(&self.workspace);
                Err(Failure::new(
                    Exit::IO,
                    "cache",
                    format!("the cache failed and was removed: {why}"),
                )
                .hint("nothing was recorded; run the command again"))
            }
        }
    }

    /// Verifies and admits one entry, and applies it; its signature is judged with the group's.
    fn admit(&mut self, entry: &[u8], jobs: &mut Vec<SignatureJob>) -> Result<EventId, Refusal> {
        let parsed = entry::parse(entry).expect("we assembled it");
        let (verified, job) = Verified::pending(parsed, &self.state)?;
        let admitted = self.state.admit(verified)?;
        let id = admitted.entry().id();
        self.state.apply(&admitted);
        jobs.push(job);
        Ok(id)
    }

    /// Gives each draft its place in the chain, up to the first that cannot have one.
    fn place(&mut self, drafts: &[Draft]) -> (Vec<Turn>, Option<Failure>) {
        let mut turns: Vec<Turn> = Vec::with_capacity(drafts.len());
        let mut seq = self.writer.chain().next();
        let mut prev = self.writer.chain().last();
        let mut recorded = match self.recorded(drafts) {
            Ok(recorded) => recorded,
            Err(failure) => return (turns, Some(failure)),
        };
        for draft in drafts {
            match self.turn(draft, seq, prev, &recorded) {
                Ok(Turn::New(placed)) => {
                    prev = entry::event_id(&placed.body);
                    seq = seq.next();
                    recorded.insert(placed.envelope.idem, (placed.envelope.clone(), prev));
                    turns.push(Turn::New(placed));
                }
                Ok(duplicate) => turns.push(duplicate),
                Err(failure) => return (turns, Some(failure)),
            }
        }
        (turns, None)
    }

    fn turn(
        &mut self,
        draft: &Draft,
        seq: Seq,
        prev: EventId,
        recorded: &BTreeMap<Idem, (Envelope, EventId)>,
    ) -> Result<Turn, Failure> {
        let secret = self.secret(&draft.signer)?;
        let data = attest::attested(&draft.event, &self.state, &self.workspace)?.encode()?;
        let kind = draft.event.kind();
        let clock = &self.workspace.settings.clock;
        let envelope = Envelope {
            seq,
            prev,
            kind: kind.name.to_owned(),
            version: kind.version,
            kid: secret.public().kid(),
            time: clock.now(),
            at: draft.at,
            idem: entry::idem(&draft.idem),
            req: entry::request(kind.name, kind.version, &data),
            nonce: clock.random(),
            stream: draft.stream.clone(),
            cause: draft.cause.clone(),
        };
        if let Some((first, id)) = recorded.get(&envelope.idem) {
            return duplicate(&envelope, first, *id, draft).map(Turn::Duplicate);
        }
        let body = entry::encode_body(&envelope, &data);
        let size = body.len() + ENTRY_OVERHEAD_BYTES;
        if size > ENTRY_BYTES_MAX {
            let why = format!("the entry would take {size} bytes, the limit is {ENTRY_BYTES_MAX}");
            return Err(Refusal::new(&general::PAYLOAD_TOO_LARGE, why).into());
        }
        Ok(Turn::New(Box::new(Placed { envelope, body, secret })))
    }

    /// The envelopes that the journal holds under the drafts' idempotency keys, by one walk for all of them.
    fn recorded(&self, drafts: &[Draft]) -> Result<BTreeMap<Idem, (Envelope, EventId)>, Failure> {
        let known = |draft: &Draft| self.state.record().recorded_under(&entry::idem(&draft.idem));
        let seqs: BTreeSet<Seq> = drafts.iter().filter_map(known).collect();
        let mut recorded = BTreeMap::new();
        if let Some(last) = seqs.last() {
            // The answer comes from the stored bytes, never from the request.
            self.workspace.each(Plan::whole(Until::Size(last.0 + 1)), &mut |parsed, _| {
                if seqs.contains(&parsed.envelope.seq) {
                    recorded.insert(parsed.envelope.idem, (parsed.envelope, parsed.id));
                }
                ControlFlow::Continue(())
            })?;
        }
        Ok(recorded)
    }

    fn secret(&mut self, name: &str) -> Result<Arc<SecretKey>, Failure> {
        let Some((kid, _)) = self.state.trust().named(name) else {
            let names: Vec<String> =
                self.state.trust().keys().iter().map(|key| key.name.clone()).collect();
            let why = format!("the journal knows `{}`; found `{name}`", names.join("`, `"));
            return Err(Refusal::new(&general::UNKNOWN_KEY, why).into());
        };
        if let Some(secret) = self.secrets.get(&kid) {
            return Ok(Arc::clone(secret));
        }
        let secret = Arc::new(self.keyring.load(name, &kid)?);
        self.secrets.insert(kid, Arc::clone(&secret));
        Ok(secret)
    }

    /// Records that a command was refused; `false` if that is not possible here.
    fn record_refusal(&mut self, code: &str, tried: &Envelope) -> bool {
        let event =
            Event::Trust(rp_events::trust::Event::CommandRejected(Box::new(CommandRejected {
                kind: tried.kind.clone(),
                stream: tried.stream.clone().unwrap_or_else(|| "trust".to_owned()),
                kid: tried.kid,
                code: code.to_owned(),
                request: Digest(tried.req.0),
            })));
        if self.secret(RECORDER).is_err() {
            return false;
        }
        let draft = self.own_draft(event);
        // The recorder itself may be refused (its key was revoked); that is not recorded in turn.
        matches!(self.record_group(&[draft], false), Ok((Committed { refused: None, .. }, _)))
    }
}

/// A random idempotency text for a caller that gave none.
pub fn fresh_idem(workspace: &Workspace) -> String {
    data_encoding::HEXLOWER.encode(&workspace.settings.clock.random::<16>())
}

/// Whether the recorder may sign the next entry and its secret is here, so that a recovery can be recorded.
fn may_record(workspace: &Workspace, keyring: &Keyring) -> bool {
    let Ok(reading) = workspace.read(None) else { return false };
    let recorder = reading.state.trust().named(RECORDER);
    recorder.is_some_and(|(kid, key)| {
        key.ended_before(reading.state.next()).is_none() && keyring.load(RECORDER, &kid).is_ok()
    })
}

fn receipt(seq: Seq, id: EventId, draft: &Draft) -> Receipt {
    Receipt {
        seq,
        id,
        kind: draft.event.kind().name.to_owned(),
        stream: draft.stream.clone().unwrap_or_else(|| "trust".to_owned()),
        duplicate: false,
        idem: draft.idem.clone(),
    }
}

fn duplicate(
    asked: &Envelope,
    first: &Envelope,
    id: EventId,
    draft: &Draft,
) -> Result<Receipt, Failure> {
    let same = asked.req == first.req
        && asked.stream == first.stream
        && asked.cause == first.cause
        && asked.at == first.at
        && asked.kid == first.kid;
    if same {
        return Ok(Receipt { duplicate: true, ..receipt(first.seq, id, draft) });
    }
    let why = format!(
        "key `{}` was used by entry {} (`{}`) for another request",
        draft.idem, first.seq, first.kind
    );
    Err(Failure::from(Refusal::new(&general::IDEMPOTENCY_CONFLICT, why))
        .detail("first_seq", first.seq.0)
        .detail("first_event_id", id.to_string()))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Signs every new draft, on all cores where there are several. Duplicates get empty bytes.
fn sign(turns: &[Turn]) -> Vec<Vec<u8>> {
    let one = |turn: &Turn| match turn {
        Turn::Duplicate(_) => Vec::new(),
        Turn::New(placed) => entry::assemble(&placed.body, &placed.secret.sign_event(&placed.body)),
    };
    spread(turns, one)
}

/// Judges every signature of a group before anything of it is written.
fn judge(jobs: &[SignatureJob]) -> Result<(), Failure> {
    let verdicts = spread(jobs, |job| job.judge(&mut KeyCache::default()));
    verdicts.into_iter().collect::<Result<(), Refusal>>().map_err(Failure::from)
}

/// Maps in order; a group is cut into a piece a core, a single item stays on this thread.
fn spread<T: Sync, U: Send>(items: &[T], each: impl Fn(&T) -> U + Sync) -> Vec<U> {
    if items.len() < 8 {
        return items.iter().map(each).collect();
    }
    let piece = items.len().div_ceil(cores());
    std::thread::scope(|scope| {
        let each = &each;
        let threads: Vec<_> = items
            .chunks(piece)
            .map(|chunk| scope.spawn(move || chunk.iter().map(each).collect::<Vec<U>>()))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("signing does not panic"))
            .collect()
    })
}
