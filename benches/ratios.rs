//! Ratios against ideal loops of the same work, measured in one run: `cargo bench --bench ratios -- PART...`.
//!
//! Parts: `append`, `replay`, `fold`, `process`, `memory` (a million events), or none for the first four. The
//! ideal loops are those of the design: the same bytes with no rules, no tables and no checks beyond what is
//! named. Each pair runs in turns, several rounds; the ratio is the median of the rounds' ratios.

#![expect(clippy::unwrap_used, reason = "a measurement that fails stops")]
#![expect(
    clippy::disallowed_methods,
    reason = "measurements look at the time and start the program"
)]
#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]
#![expect(clippy::as_conversions, reason = "figures are printed, not relied on")]
#![expect(clippy::cast_precision_loss, reason = "figures are printed, not relied on")]
#![expect(clippy::needless_for_each, reason = "the ideal loops are one expression each")]
#![expect(
    clippy::semicolon_if_nothing_returned,
    reason = "the ideal loops are one expression each"
)]
#![expect(clippy::case_sensitive_file_extension_comparisons, reason = "we named the files")]
#![expect(clippy::indexing_slicing, reason = "a measurement that fails stops")]

use std::{
    fs::{self, File},
    hint::black_box,
    num::NonZero,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use rp::{
    clock::Clock,
    engine::{Draft, Engine, fresh_idem},
    journal::{Knobs, disk::Real},
    workspace::{Settings, Workspace},
};
use rp_events::{
    Digest, Event, Kid, entry, frame,
    sign::pae,
    trust::{CommandRejected, Event as Trust},
};
use rp_replay::{Scope, State};
use rp_validator::{
    Question, Signatures,
    meaning::Fold,
    source::{Memory, Source},
    walk::{Plan, Position, Until, walk},
};

const ROUNDS: usize = 7;
const GROUP: usize = 256;

fn main() {
    let parts: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wants =
        |part: &str| parts.iter().any(|p| p == part) || (parts.is_empty() && part != "memory");
    if wants("append") {
        append();
    }
    if wants("replay") {
        replay();
    }
    if wants("fold") {
        fold();
    }
    if wants("process") {
        process();
    }
    if wants("memory") {
        memory();
    }
}

/// Median of a pair's ratios (ideal time over ours), and both medians per event.
fn report(what: &str, events: usize, mut pairs: Vec<(Duration, Duration)>) {
    pairs.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let (ideal, ours) = pairs[pairs.len() / 2];
    let rate = |time: Duration| events as f64 / time.as_secs_f64();
    println!(
        "{what}: {:.2} of the ideal loop ({:.0} events/s against {:.0}; range {:.2} to {:.2})",
        ratio(&pairs[pairs.len() / 2]),
        rate(ours),
        rate(ideal),
        ratio(&pairs[0]),
        ratio(&pairs[pairs.len() - 1]),
    );
}

fn ratio((ideal, ours): &(Duration, Duration)) -> f64 {
    ideal.as_secs_f64() / ours.as_secs_f64()
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

struct Place {
    root: PathBuf,
    settings: Settings,
}

impl Place {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("rp-bench-{}-{name}", std::process::id()));
        drop(fs::remove_dir_all(&root));
        fs::create_dir_all(&root).unwrap();
        let settings = Settings {
            start: root.clone(),
            keys: root.join("home/keys"),
            known: root.join("home/known"),
            key: None,
            wait: Duration::from_secs(10),
            knobs: Knobs::default(),
            cache_threshold: 4000,
            clock: Arc::new(Clock::default()),
            disk: Arc::new(Real),
        };
        let place = Self { root, settings };
        place.rp(&["init", "--profile", "compat"]);
        place
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rp"));
        command.args(args).current_dir(&self.root).env("RP_HOME", self.root.join("home"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn rp(&self, args: &[&str]) {
        assert!(self.command(args).status().unwrap().success(), "rp {args:?}");
    }

    fn engine(&self) -> (Workspace, Engine) {
        let workspace = Workspace::find(&self.settings).unwrap();
        let engine = Engine::open(&workspace).unwrap();
        (workspace, engine)
    }

    fn journal(&self) -> Memory {
        let folder = rp_validator::source::Folder(self.root.join(".rp/journal"));
        let mut files = Memory::default();
        for name in folder.names().unwrap() {
            let mut bytes = Vec::new();
            folder.read(&name, &mut bytes).unwrap();
            files.0.insert(name, bytes);
        }
        files
    }

    /// Appends so many events in groups.
    fn fill(&self, events: usize) {
        let (workspace, mut engine) = self.engine();
        for start in (0..events).step_by(GROUP) {
            let group = drafts(&workspace, GROUP.min(events - start));
            assert!(engine.commit(&group).unwrap().refused.is_none());
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.root));
    }
}

fn event(n: usize) -> Event {
    Event::Trust(Trust::CommandRejected(Box::new(CommandRejected {
        kind: "claim.seeded".to_owned(),
        stream: "round/1".to_owned(),
        kid: Kid([9; 32]),
        code: format!("code-{}", n % 100),
        request: Digest([3; 32]),
    })))
}

fn drafts(workspace: &Workspace, count: usize) -> Vec<Draft> {
    (0..count)
        .map(|n| Draft {
            event: event(n),
            stream: None,
            at: None,
            cause: Vec::new(),
            idem: fresh_idem(workspace),
            signer: "recorder".to_owned(),
        })
        .collect()
}

/// The frames' payloads of a journal in memory, in order.
fn entries(files: &Memory) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (_, bytes) in files.0.iter().filter(|(name, _)| name.ends_with(".rpj")) {
        let salt = frame::SegmentHeader::decode(bytes).unwrap().salt;
        let mut at = frame::SEGMENT_HEADER_BYTES;
        while let Ok(found) = frame::decode(&bytes[at..], salt) {
            if matches!(found.header.kind, frame::FrameKind::Entry { .. }) {
                all.push(found.payload.to_vec());
            }
            at += found.len;
        }
    }
    all
}

/// Batch append in groups of 256, a signature an event, against encode, hash, sign, checksum, write, sync on
/// one thread.
fn append() {
    const EVENTS: usize = 20 * GROUP;
    let place = Place::new("append");
    let (workspace, mut engine) = place.engine();
    let pairs = (0..ROUNDS).map(|round| {
        let path = place.root.join(format!("ideal-{round}"));
        let ideal = timed(|| ideal_append(&path, EVENTS));
        let groups: Vec<Vec<Draft>> =
            (0..EVENTS / GROUP).map(|_| drafts(&workspace, GROUP)).collect();
        let ours = timed(|| {
            for group in &groups {
                assert!(engine.commit(group).unwrap().refused.is_none());
            }
        });
        (ideal, ours)
    });
    report("batch append, groups of 256", EVENTS, pairs.collect());
}

fn ideal_append(path: &Path, events: usize) {
    let key = SigningKey::from_bytes(&[1; 32]);
    let file = File::create_new(path).unwrap();
    fs2::FileExt::allocate(&file, 8 << 20).unwrap();
    let (mut offset, mut prev) = (0, [0; 32]);
    let mut frames = Vec::new();
    for start in 0..events / GROUP {
        frames.clear();
        for n in 0..GROUP {
            let Event::Trust(Trust::CommandRejected(payload)) = event(start * GROUP + n) else {
                return;
            };
            let body = rmp_serde::to_vec_named(&(&*payload, prev, n, "command.rejected")).unwrap();
            prev = *blake3::hash(&body).as_bytes();
            let signature = key.sign(&prev).to_bytes();
            frames.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
            frames.extend_from_slice(&body);
            frames.extend_from_slice(&signature);
        }
        file.write_all_at(&frames, offset).unwrap();
        file.sync_data().unwrap();
        offset += frames.len() as u64;
    }
}

/// Strict verified replay on both cores against the file cut in two, a thread each.
fn replay() {
    const EVENTS: usize = 40_000;
    let place = Place::new("replay");
    place.fill(EVENTS);
    let files = place.journal();
    let all = entries(&files);
    let recorder = public_of(&all, "recorder");
    let pairs = (0..ROUNDS).map(|_| {
        let ideal = timed(|| {
            std::thread::scope(|scope| {
                for half in all.chunks(all.len().div_ceil(2)) {
                    scope.spawn(move || {
                        half.iter().for_each(|entry| ideal_verify(entry, &recorder))
                    });
                }
            });
        });
        let ours = timed(|| {
            let question = Question {
                scope: Scope::Whole,
                signatures: Signatures::Judge(
                    std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN),
                ),
                remembered: &|_| None,
                receipt: None,
                being_written: false,
                files: None,
            };
            let report = rp_validator::check(&files, &question);
            assert_eq!((report.class().exit(), report.counts.signatures), (0, all.len() as u64));
        });
        (ideal, ours)
    });
    report("strict verified replay, both cores", all.len(), pairs.collect());
}

fn public_of(all: &[Vec<u8>], name: &str) -> VerifyingKey {
    let found = all.iter().find_map(|bytes| {
        let parsed = entry::parse(bytes).unwrap();
        match Event::decode(&parsed.envelope.kind, parsed.data) {
            Ok(Event::Trust(Trust::KeyAuthorized(key))) if key.name == name => Some(key.public),
            _ => None,
        }
    });
    VerifyingKey::from_bytes(&found.unwrap().0).unwrap()
}

fn ideal_verify(bytes: &[u8], key: &VerifyingKey) {
    black_box(crc32fast::hash(bytes));
    let (body, signature) = bytes[5..].split_last_chunk::<64>().unwrap();
    black_box(blake3::hash(body));
    black_box(ideal_decode(body));
    let message = pae(rp_events::sign::EVENT_TYPE, body);
    // The first entries are signed by another key; the work is the same.
    let _outcome = black_box(key.verify_strict(&message, &Signature::from_bytes(signature)));
}

#[derive(serde::Deserialize)]
#[expect(dead_code, reason = "decoded to be counted")]
struct Borrowed<'a> {
    #[serde(borrow)]
    data: Payload<'a>,
    #[serde(borrow)]
    kid: &'a serde_bytes::Bytes,
    #[serde(borrow)]
    prev: &'a serde_bytes::Bytes,
    #[serde(borrow, rename = "type")]
    kind: &'a str,
    seq: u64,
    time: u64,
}

/// Any payload, texts and bytes borrowed.
#[derive(serde::Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "decoded to be counted")]
enum Payload<'a> {
    Text(&'a str),
    Number(i64),
    Flag(bool),
    Nothing(()),
    Bytes(&'a [u8]),
    List(Vec<Self>),
    #[serde(borrow)]
    Map(std::collections::BTreeMap<&'a str, Self>),
}

/// The envelope borrowed; the payload walked, borrowed, without being kept.
#[derive(serde::Deserialize)]
#[expect(dead_code, reason = "decoded to be counted")]
struct Walked<'a> {
    data: serde::de::IgnoredAny,
    #[serde(borrow)]
    kid: &'a serde_bytes::Bytes,
    #[serde(borrow)]
    prev: &'a serde_bytes::Bytes,
    #[serde(borrow, rename = "type")]
    kind: &'a str,
    seq: u64,
    time: u64,
}

fn ideal_decode(body: &[u8]) -> u64 {
    rmp_serde::from_slice::<Walked<'_>>(body).unwrap().seq
}

/// Unverified fold of the sample's kinds against checksum, hash and decode.
///
/// The entries that admit its keys are folded beforehand: their proofs of possession are signatures, which
/// an unverified fold of a longer journal meets no more often.
fn fold() {
    const REPEAT: usize = 40;
    let place = Place::new("fold");
    place.rp(&["quickstart", "sample"]);
    let sample = Place { root: place.root.join("sample"), settings: place.settings.clone() };
    let files = sample.journal();
    std::mem::forget(sample);
    let all = entries(&files);
    let kind = |bytes: &Vec<u8>| entry::parse(bytes).unwrap().envelope.kind;
    let keys =
        all.iter().take_while(|bytes| rp_events::kind(&kind(bytes)).unwrap().domain == "trust");
    let (keys, whole) = (keys.count(), all.len() as u64);
    let all = &all[keys..];
    let step = |fold: &mut Fold, from: Position, size: u64| {
        let plan = Plan { from, until: Until::Size(size), watch: Vec::new() };
        let walked = walk(&files, plan, &mut |parsed, _| fold.take(parsed, &mut drop)).unwrap();
        assert_eq!(walked.position.chain.next().0, size);
        walked.position
    };
    let ours = || -> Duration {
        let once = |_| {
            let mut fold = Fold::new(State::default(), Scope::Whole);
            let from = step(&mut fold, Position::default(), keys as u64);
            timed(|| step(&mut fold, from, whole))
        };
        (0..REPEAT).map(once).sum()
    };
    let walked = || {
        all.iter().for_each(|bytes| {
            ideal_step(bytes, |body| {
                black_box(ideal_decode(body));
            })
        })
    };
    let typed = || {
        all.iter().for_each(|bytes| {
            ideal_step(bytes, |body| {
                black_box(ideal_decode(body));
                let parsed = entry::parse(bytes).unwrap();
                drop(black_box(Event::decode(&parsed.envelope.kind, parsed.data)));
            });
        });
    };
    let borrowed = || {
        all.iter().for_each(|bytes| {
            ideal_step(bytes, |body| drop(black_box(rmp_serde::from_slice::<Borrowed<'_>>(body))));
        });
    };
    for (what, ideal) in [
        ("unverified fold; ideal: payload borrowed", &borrowed as &dyn Fn()),
        ("unverified fold; ideal: payload walked", &walked),
        ("unverified fold; ideal: payload typed and checked", &typed),
    ] {
        let pairs = (0..ROUNDS).map(|_| (timed(|| (0..REPEAT).for_each(|_| ideal())), ours()));
        report(what, all.len() * REPEAT, pairs.collect());
    }
}

fn ideal_step(bytes: &[u8], decode: impl Fn(&[u8])) {
    black_box(crc32fast::hash(bytes));
    let (body, _) = bytes[5..].split_last_chunk::<64>().unwrap();
    black_box(blake3::hash(body));
    decode(body);
}

/// A whole `rp append` process against the disk's two syncs.
fn process() {
    let place = Place::new("process");
    for events in [100, 100_000] {
        place.fill(events - 1);
        let data = event(1).to_json().get().to_owned();
        let run = || {
            let mut command =
                place.command(&["append", "command.rejected", "--as", "recorder", "--data", &data]);
            assert!(command.status().unwrap().success());
        };
        // The first run after filling writes the cache back.
        run();
        let mut times: Vec<Duration> = (0..20).map(|_| timed(run)).collect();
        let mut syncs: Vec<Duration> = (0..20).map(|n| two_syncs(&place.root, n)).collect();
        times.sort();
        syncs.sort();
        let (time, sync) = (times[10], syncs[10]);
        println!(
            "rp append at {events} events: {:.1} ms, of which two syncs {:.1} ms and the rest {:.1} ms (p90 {:.1} ms)",
            time.as_secs_f64() * 1e3,
            sync.as_secs_f64() * 1e3,
            time.saturating_sub(sync).as_secs_f64() * 1e3,
            times[18].as_secs_f64() * 1e3,
        );
    }
}

fn two_syncs(root: &Path, n: usize) -> Duration {
    let path = root.join("syncs");
    let file = File::options().create(true).truncate(false).write(true).open(path).unwrap();
    fs2::FileExt::allocate(&file, 1 << 20).unwrap();
    timed(|| {
        for half in 0..2 {
            file.write_all_at(&[1; 512], (n * 1024 + half * 512) as u64).unwrap();
            file.sync_data().unwrap();
        }
    })
}

/// The largest memory of `rp validate` over a million events.
fn memory() {
    let events: usize =
        std::env::var("RP_BENCH_EVENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let place = Place::new("memory");
    let filled = timed(|| place.fill(events));
    let start = Instant::now();
    let mut child = place.command(&["validate"]).spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib =
            line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(child.wait().unwrap().success());
    println!(
        "rp validate of {events} events: at most {} MiB, {:.1} s (recorded in {:.1} s)",
        peak >> 10,
        start.elapsed().as_secs_f64(),
        filled.as_secs_f64()
    );
}
