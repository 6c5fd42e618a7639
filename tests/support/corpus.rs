//! Small journals made byte by byte, with keys from fixed seeds: what the tests of damage start from.

use std::collections::BTreeMap;

use rp_events::{
    Chain, Digest, Event, EventId, Idem, KeyName, Kid, Role, SecretKey, Seq, Stamp,
    entry::{self, Envelope},
    frame::{self, FrameKind, SEGMENT_HEADER_BYTES, SegmentHeader},
    head::{HEAD_BYTES, Head, SLOT_BYTES},
    trust::{CommandRejected, Event as Trust, JournalOpened, KeyAuthorized, SUITE},
};
use rp_validator::{source::Memory, walk::segment_name};

/// A journal in memory, and where its parts are.
pub(crate) struct Corpus {
    /// The files of the journal folder.
    pub(crate) files: Memory,
    /// Where each frame of the last segment ends.
    pub(crate) ends: Vec<usize>,
    /// The name of the last segment.
    pub(crate) last: String,
    /// Where the last segment's frames end.
    pub(crate) content: usize,
}

/// Builds a journal frame by frame.
pub(crate) struct Builder {
    files: BTreeMap<String, Vec<u8>>,
    chain: Chain,
    log_id: EventId,
    name: String,
    segment: Vec<u8>,
    salt: u64,
    ends: Vec<usize>,
    acknowledged: u64,
    generation: u64,
    head: Vec<u8>,
}

pub(crate) fn key(name: &str) -> SecretKey {
    SecretKey::from_seed(blake3::hash(name.as_bytes()).as_bytes())
}

fn body(event: &Event, signer: &SecretKey, seq: Seq, prev: EventId) -> Vec<u8> {
    let data = event.encode().unwrap();
    let kind = event.kind();
    let mut idem = [0; 16];
    idem[..8].copy_from_slice(&seq.0.to_le_bytes());
    let envelope = Envelope {
        seq,
        prev,
        kind: kind.name.to_owned(),
        version: kind.version,
        kid: signer.public().kid(),
        time: Stamp::from_millis(1_772_438_400_000 + seq.0).unwrap(),
        at: None,
        idem: Idem(idem),
        req: entry::request(kind.name, kind.version, &data),
        nonce: [7; 16],
        stream: None,
        cause: Vec::new(),
    };
    entry::encode_body(&envelope, &data)
}

fn genesis() -> Event {
    Event::Trust(Trust::JournalOpened(Box::new(JournalOpened {
        origin: "rp.example/corpus".to_owned(),
        title: None,
        profile: "strict".to_owned(),
        suite: SUITE.to_owned(),
        root_keys: vec![key("root").public()],
        threshold: 1,
        log_key: key("log").public(),
    })))
}

/// A refused command: the one kind that may stand any number of times.
pub(crate) fn rejected(n: u64) -> Event {
    Event::Trust(Trust::CommandRejected(Box::new(CommandRejected {
        kind: "claim.seeded".to_owned(),
        stream: "program".to_owned(),
        kid: Kid([9; 32]),
        code: format!("code-{n}"),
        request: Digest([3; 32]),
    })))
}

impl Builder {
    /// A journal with genesis and a recorder key, acknowledged.
    pub(crate) fn new() -> Self {
        let root = key("root");
        let log_id = entry::event_id(&body(&genesis(), &root, Seq(0), EventId::ZERO));
        let mut builder = Self {
            files: BTreeMap::from([("FORMAT".to_owned(), rp_validator::FORMAT.to_vec())]),
            chain: Chain::default(),
            log_id,
            name: String::new(),
            segment: Vec::new(),
            salt: 0,
            ends: Vec::new(),
            acknowledged: 0,
            generation: 0,
            head: vec![0; HEAD_BYTES],
        };
        builder.begin_segment();
        builder.append(&[(&genesis(), "root")]);
        let recorder = key("recorder");
        let authorized = Event::Trust(Trust::KeyAuthorized(Box::new(KeyAuthorized {
            public: recorder.public(),
            roles: vec![Role::parse("recorder").unwrap()],
            name: KeyName::parse("recorder").unwrap(),
            pop: recorder.prove_possession(log_id, Seq(1)),
            max_seq: None,
        })));
        builder.append(&[(&authorized, "root")]);
        builder.acknowledge();
        builder
    }

    /// Begins the next segment with a salt of its own.
    pub(crate) fn begin_segment(&mut self) {
        self.finish_segment();
        self.salt = 0x0102_0304_0506_0708 ^ self.chain.next().0;
        self.name = segment_name(self.chain.next());
        let header = SegmentHeader {
            log_id: self.log_id,
            first: self.chain.next(),
            salt: self.salt,
            root_before: self.chain.frontier().root(),
        };
        self.segment = header.encode().to_vec();
        self.ends = vec![SEGMENT_HEADER_BYTES];
    }

    fn finish_segment(&mut self) {
        if !self.name.is_empty() {
            self.files.insert(self.name.clone(), self.segment.clone());
        }
    }

    /// Appends one group.
    pub(crate) fn append(&mut self, group: &[(&Event, &str)]) {
        for (n, (event, signer)) in group.iter().enumerate() {
            let secret = key(signer);
            let bytes = body(event, &secret, self.chain.next(), self.chain.last());
            let entry = entry::assemble(&bytes, &secret.sign_event(&bytes));
            let kind = FrameKind::Entry { more: n + 1 < group.len() };
            frame::encode(
                kind,
                self.chain.next(),
                self.acknowledged,
                self.salt,
                &entry,
                &mut self.segment,
            );
            self.ends.push(self.segment.len());
            self.chain.push(entry::event_id(&bytes), &entry);
        }
    }

    /// Promises everything appended so far.
    pub(crate) fn acknowledge(&mut self) {
        self.generation += 1;
        self.acknowledged = self.chain.next().0;
        let head = Head {
            generation: self.generation,
            segment: rp_validator::walk::segment_first(&self.name).unwrap(),
            end: self.segment.len() as u64,
            last: self.chain.last(),
            frontier: self.chain.frontier().clone(),
        };
        let at = if head.slot() == 0 { 0 } else { SLOT_BYTES };
        self.head[at..at + SLOT_BYTES].copy_from_slice(&head.encode());
    }

    /// Seals the segment.
    pub(crate) fn seal(&mut self) {
        let next = self.chain.next();
        let payload = frame::seal_payload(Seq(next.0 - 1), self.chain.frontier().root());
        frame::encode(
            FrameKind::Seal,
            next,
            self.acknowledged,
            self.salt,
            &payload,
            &mut self.segment,
        );
        self.ends.push(self.segment.len());
    }

    /// The journal, its last segment followed by so many zeros.
    pub(crate) fn build(mut self, zeros: usize) -> Corpus {
        let content = self.segment.len();
        self.segment.resize(content + zeros, 0);
        self.finish_segment();
        self.files.insert("HEAD".to_owned(), self.head);
        Corpus { files: Memory(self.files), ends: self.ends, last: self.name, content }
    }
}

/// One segment, four entries one by one, 64 spare zeros.
pub(crate) fn corpus() -> Corpus {
    let mut builder = Builder::new();
    for n in 0..2 {
        builder.append(&[(&rejected(n), "recorder")]);
        builder.acknowledge();
    }
    builder.build(64)
}

/// One segment with groups of two, the last group never acknowledged.
pub(crate) fn unacknowledged() -> Corpus {
    let mut builder = Builder::new();
    builder.append(&[(&rejected(0), "recorder"), (&rejected(1), "recorder")]);
    builder.acknowledge();
    builder.append(&[(&rejected(2), "recorder"), (&rejected(3), "recorder")]);
    builder.build(64)
}

/// Two segments: three entries and the seal, then two entries.
pub(crate) fn two_segments() -> Corpus {
    let mut builder = Builder::new();
    for n in 0..3 {
        if n == 1 {
            builder.seal();
            builder.begin_segment();
        }
        builder.append(&[(&rejected(n), "recorder")]);
        builder.acknowledge();
    }
    builder.build(24)
}
