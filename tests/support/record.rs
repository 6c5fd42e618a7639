//! A journal in memory: what `rp append` does to an event, without files and with fixed keys.
//!
//! A key's secret is BLAKE3 of its name, so a vector says `"as": "orchestrator"` and every run of the suite
//! signs the same bytes.

use std::{collections::BTreeMap, sync::Arc};

use rp_events::{
    Chain, EventId, Kid, Refusal, Role, SecretKey, Seq, Stamp, Verified,
    entry::{self, Envelope},
    id::KeyName,
    json::{self, Json},
    trust::{JournalOpened, KeyAuthorized, SUITE},
};
use rp_replay::{
    History, State, VIEWS,
    table::{Backing, Store, Stored},
    views::Build,
};

/// The keys that every recorder has; each holds the role of its name.
pub(crate) const ROLES: &[&str] = &[
    "user",
    "orchestrator",
    "claim-agent",
    "experiment-agent",
    "verify-agent",
    "iteration-agent",
    "launcher",
    "monitor",
    "paper-figure",
    "notify",
    "next-round",
    "recorder",
];

/// What the clock says, whenever it is asked.
const CLOCK: &str = "2027-01-01T00:00:00Z";

/// The secret key of a name.
pub(crate) fn secret(name: &str) -> SecretKey {
    SecretKey::from_seed(&entry::event_id(name.as_bytes()).0)
}

/// A journal in memory with its state.
pub(crate) struct Recorder {
    state: State,
    /// The records handed out by the state at the last fork, by table and key.
    saved: Saved,
    history: History,
    chain: Chain,
    keys: BTreeMap<String, Kid>,
    tries: u64,
}

/// A store in memory, so that two states can go on from the same records.
#[derive(Clone, Default)]
struct Saved(BTreeMap<(String, Vec<u8>), Vec<u8>>);

impl Store for Saved {
    fn load(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.get(&(table.to_owned(), key.to_owned())).cloned())
    }

    fn scan(&self, table: &str, prefix: &[u8]) -> Result<Vec<Stored>, String> {
        let from = (table.to_owned(), prefix.to_owned());
        let records = self.0.range(from..);
        let records =
            records.take_while(|((name, key), _)| name == table && key.starts_with(prefix));
        Ok(records.map(|((_, key), record)| (key.clone(), record.clone())).collect())
    }
}

impl Recorder {
    /// Opens a `compat` journal and authorizes a key for each of [`ROLES`].
    pub(crate) fn new() -> Self {
        Self::with_profile("compat")
    }

    /// Opens a journal of a profile and authorizes a key for each of [`ROLES`].
    pub(crate) fn with_profile(profile: &str) -> Self {
        let mut recorder = Self {
            state: State::default(),
            saved: Saved::default(),
            history: History::default(),
            chain: Chain::default(),
            keys: BTreeMap::new(),
            tries: 0,
        };
        let genesis = rp_events::trust::Event::JournalOpened(Box::new(JournalOpened {
            origin: "rp.test/0000000000000000".to_owned(),
            title: None,
            profile: profile.to_owned(),
            suite: SUITE.to_owned(),
            root_keys: vec![secret("root").public()],
            threshold: 1,
            log_key: secret("log").public(),
        }));
        let genesis = rp_events::Event::Trust(genesis);
        recorder.record("root", None, None, &genesis).expect("a journal opens");
        for name in ROLES {
            recorder.authorize(name, &[name]);
        }
        recorder
    }

    /// Admits a key with a name and roles.
    pub(crate) fn authorize(&mut self, name: &str, roles: &[&str]) {
        let log = self.state.trust().genesis().expect("entry 0 is the genesis").log_id;
        let key = rp_events::trust::Event::KeyAuthorized(Box::new(KeyAuthorized {
            public: secret(name).public(),
            roles: roles.iter().map(|role| Role::parse(role).unwrap()).collect(),
            name: KeyName::parse(name).unwrap(),
            pop: secret(name).prove_possession(log, self.state.next()),
            max_seq: None,
        }));
        self.record("root", None, None, &rp_events::Event::Trust(key)).expect("a key is new");
        self.keys.insert(name.to_owned(), secret(name).public().kid());
    }

    /// Records a line of the batch form: `kind`, `data`, `as`, `round` or `stream`, and perhaps `at`.
    pub(crate) fn append(&mut self, line: &str) -> Result<Seq, Refusal> {
        self.append_json(&json::parse(line)?)
    }

    /// Records a line of the batch form that was parsed before.
    pub(crate) fn append_json(&mut self, line: &Json) -> Result<Seq, Refusal> {
        let (signer, stream, at, event) = Self::read(line)?;
        self.record(&signer, Some(&stream), at, &event)
    }

    /// Asks whether a line of the batch form would be recorded, and records nothing.
    pub(crate) fn admits(&mut self, line: &str) -> Result<(), Refusal> {
        let (signer, stream, at, event) = Self::read(&json::parse(line)?)?;
        let (_, bytes) = self.sign(&signer, Some(&stream), at, &event)?;
        let parsed = entry::parse(&bytes).expect("what was encoded parses");
        let entry: Verified = rp_events::verify(parsed, &self.state)?;
        self.state.admit(entry).map(drop)
    }

    /// Signer, stream, claimed time and event of a line.
    fn read(line: &Json) -> Result<(String, String, Option<Stamp>, rp_events::Event), Refusal> {
        let text = |key: &str| match line.get(key) {
            Some(Json::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        let event = rp_events::Event::read(
            text("kind").unwrap(),
            line.get("data").expect("a line has data"),
        )?;
        let stream = match (line.get("round"), text("stream")) {
            (Some(Json::Number(n)), _) if n == "0" => "program".to_owned(),
            (Some(Json::Number(n)), _) => format!("round/{n}"),
            (_, Some(stream)) => stream.to_owned(),
            _ => "program".to_owned(),
        };
        let at = text("at").map(|at| Stamp::parse(at).unwrap());
        Ok((text("as").unwrap().to_owned(), stream, at, event))
    }

    fn record(
        &mut self,
        signer: &str,
        stream: Option<&str>,
        at: Option<Stamp>,
        event: &rp_events::Event,
    ) -> Result<Seq, Refusal> {
        let (seq, bytes) = self.sign(signer, stream, at, event)?;
        let parsed = entry::parse(&bytes).expect("what was encoded parses");
        self.chain.admit(&parsed)?;
        let id: EventId = parsed.id;
        let entry: Verified = rp_events::verify(parsed.clone(), &self.state)?;
        let admitted = self.state.admit(entry)?;
        self.state.apply(&admitted);
        self.history.note(&parsed);
        self.chain.push(id, &bytes);
        Ok(seq)
    }

    /// The bytes of an entry at the free position.
    fn sign(
        &mut self,
        signer: &str,
        stream: Option<&str>,
        at: Option<Stamp>,
        event: &rp_events::Event,
    ) -> Result<(Seq, Vec<u8>), Refusal> {
        self.tries += 1;
        let data = event.encode()?;
        let kind = event.kind();
        let envelope = Envelope {
            seq: self.chain.next(),
            prev: self.chain.last(),
            kind: kind.name.to_owned(),
            version: kind.version,
            kid: secret(signer).public().kid(),
            time: Stamp::parse(CLOCK).unwrap(),
            at,
            idem: entry::idem(&self.tries.to_string()),
            req: entry::request(kind.name, kind.version, &data),
            nonce: [0; 16],
            stream: stream.map(str::to_owned),
            cause: Vec::new(),
        };
        let body = entry::encode_body(&envelope, &data);
        let bytes = entry::assemble(&body, &secret(signer).sign_event(&body));
        Ok((envelope.seq, bytes))
    }

    /// Another recorder that goes on from here, through a store as a process that reads a cache would.
    pub(crate) fn fork(&mut self) -> Self {
        for change in self.state.changes() {
            self.saved.0.insert((change.table.to_owned(), change.key), change.record);
        }
        Self {
            state: State::new(Backing::new(Arc::new(self.saved.clone())), self.state.next()),
            saved: self.saved.clone(),
            history: self.history.clone(),
            chain: self.chain.clone(),
            keys: self.keys.clone(),
            tries: self.tries,
        }
    }

    /// The state so far.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// The entries so far.
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// The root of the tree over the entries so far.
    pub(crate) fn root(&self) -> String {
        self.chain.frontier().root().to_string()
    }

    /// Every file that the views keep, by path, with its bytes.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        for view in VIEWS {
            if let Build::File { render, places, .. } = &view.build {
                for place in places(&self.state) {
                    let bytes = render(&self.state, &place.args, place.format);
                    files.insert(place.path, format!("{bytes:?}"));
                }
            }
        }
        files
    }

    /// The bytes of one file that the views keep.
    pub(crate) fn file(&self, path: &str) -> Option<String> {
        let of = |build: &Build| match build {
            Build::File { render, places, .. } => {
                let place = places(&self.state).into_iter().find(|place| place.path == path)?;
                render(&self.state, &place.args, place.format).ok()
            }
            Build::Page(_) | Build::Story(_) | Build::Entity { .. } | Build::Site => None,
        };
        VIEWS.iter().find_map(|view| of(&view.build))
    }
}
