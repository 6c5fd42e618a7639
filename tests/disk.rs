//! A disk that fails at every call in turn: what was acknowledged is there, what was not is not half there, and
//! nobody is told otherwise.

#![expect(clippy::disallowed_methods, reason = "tests copy and damage files")]

use std::{fs, path::Path, sync::Arc, time::Duration};

use rp::{
    clock::Clock,
    engine::{Draft, Engine},
    error::Failure,
    journal::{
        self, AppendError, Caller, Item, Knobs, OpenError, Opened, Paths, RESERVE_BYTES_MAX,
        disk::{Disk, Real, Space},
    },
};
use rp_events::{Event, EventId, Seq, json};
use rp_validator::{
    Class,
    walk::{Plan, Until, segment_first, segment_name},
};

use crate::support::{
    env::{Env, Temp, rejected},
    faulty::{FAULTS, Fault, Faulty},
    tail::{JUDGE, check_at},
};

/// Entries a segment, so that the scenario rotates twice.
const SEGMENT_ENTRIES: u64 = 6;
/// The groups that are appended to the three entries of a new journal, by their sizes.
const GROUPS: [usize; 5] = [1, 3, 2, 1, 4];

/// A journal of three entries, and the items that may follow them.
struct Scenario {
    env: Env,
    groups: Vec<Vec<Item>>,
}

/// A copy of the journal in a folder of its own.
struct Copy {
    _temp: Temp,
    paths: Paths,
}

impl Scenario {
    fn new() -> Self {
        let env = Env::new();
        // The items are recorded, taken, and forgotten.
        let kept = env.bytes();
        let known = fs::read(env.remembered()).unwrap();
        for n in 0..GROUPS.iter().sum::<usize>() {
            env.append(&format!("{n} {}", "x".repeat(n * 190))).ok();
        }
        let mut items = Vec::new();
        let workspace = env.workspace(Arc::new(Faulty::default()));
        let plan = Plan::whole(Until::Size(env.size()));
        workspace
            .each(plan, &mut |parsed, bytes| {
                items.push(Item { id: parsed.id, entry: bytes.to_vec() });
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        let mut items = items.into_iter().skip(3);
        let groups = GROUPS.map(|size| items.by_ref().take(size).collect()).into();
        for (name, bytes) in kept {
            fs::write(env.journal().join(name), bytes).unwrap();
        }
        fs::write(env.remembered(), known).unwrap();
        Self { env, groups }
    }
}

fn copy(paths: &Paths) -> Copy {
    let temp = Temp::new();
    let to = Paths { folder: temp.path().join("journal"), known: temp.path().join("known") };
    for (from, to) in [(&paths.folder, &to.folder), (&paths.known, &to.known)] {
        fs::create_dir(to).unwrap();
        for file in fs::read_dir(from).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
    Copy { _temp: temp, paths: to }
}

fn open(disk: &Faulty, paths: &Paths) -> Result<Opened, OpenError> {
    let knobs = Knobs {
        segment_entries_max: SEGMENT_ENTRIES,
        allocation_step_bytes: 4096,
        ..Knobs::default()
    };
    let clock = Clock::default();
    // A process that another test is starting holds our files for a moment, and the lock with them.
    let wait = Duration::from_secs(30);
    let caller = Caller { wait, about: "test", may_recover: true, clock: &clock };
    journal::open(Arc::new(disk.clone()), paths, knobs, &caller)
}

fn ids(paths: &Paths) -> Vec<EventId> {
    let mut ids = Vec::new();
    let source = rp_validator::source::Folder(paths.folder.clone());
    let mut visit = |parsed: rp_events::entry::Parsed<'_>, _: &[u8]| {
        ids.push(parsed.id);
        std::ops::ControlFlow::Continue(())
    };
    rp_validator::walk::walk(&source, Plan::whole(Until::End { floor: 0 }), &mut visit).unwrap();
    ids
}

/// What the caller of the writer was told.
#[derive(Debug, Default)]
struct Told {
    acknowledged: usize,
    unknown: bool,
    not_written: usize,
}

/// Opens and appends the groups until one is not acknowledged; a group that was undone is tried once more.
fn run(disk: &Faulty, paths: &Paths, groups: &[Vec<Item>]) -> Told {
    let mut told = Told::default();
    let Ok(Opened { mut writer, .. }) = open(disk, paths) else { return told };
    for group in groups {
        let mut outcome = writer.append(group, false);
        if let Err(AppendError::NotWritten(_) | AppendError::Full(_)) = outcome {
            told.not_written += 1;
            outcome = writer.append(group, false);
        }
        match outcome {
            Ok(()) => told.acknowledged += 1,
            Err(AppendError::NotWritten(_) | AppendError::Full(_)) => return told,
            Err(AppendError::Unknown(_)) => {
                told.unknown = true;
                let before = files(&paths.folder);
                for later in groups.iter().chain([&Vec::new()]) {
                    let refused = writer.append(later, true);
                    assert!(matches!(refused, Err(AppendError::Unknown(_))), "{refused:?}");
                }
                assert_eq!(files(&paths.folder), before, "a poisoned writer wrote");
                return told;
            }
        }
    }
    told
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let mut files: Vec<_> = files
        .filter(|file| file.file_type().unwrap().is_file() && file.file_name() != "LOCK")
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn no_call_that_fails_loses_or_halves_anything() {
    let scenario = Scenario::new();
    let all: Vec<EventId> = scenario.groups.iter().flatten().map(|item| item.id).collect();
    let bounds: Vec<usize> =
        (0..=GROUPS.len()).map(|n| GROUPS[..n].iter().sum::<usize>()).collect();
    let counted = Faulty::default();
    let base = copy(&scenario.env.paths());
    let whole = run(&counted, &base.paths, &scenario.groups);
    assert_eq!((whole.acknowledged, whole.not_written), (GROUPS.len(), 0));
    let calls = counted.calls();
    let (mut unknown, mut refused, mut late) = (0, 0, 0);
    for fault in FAULTS {
        for nth in 0..=calls {
            let disk = Faulty::at(nth, fault);
            let copy = copy(&scenario.env.paths());
            let told = run(&disk, &copy.paths, &scenario.groups);
            let Some(hit) = disk.hit() else {
                assert_eq!(told.acknowledged, GROUPS.len());
                continue;
            };
            unknown += usize::from(told.unknown);
            refused += told.not_written;
            let due = bounds[told.acknowledged];
            judge(&copy.paths, &hit);
            // The process ends; another one opens the journal and goes on.
            let healthy = Faulty::default();
            let Opened { mut writer, cut, .. } =
                open(&healthy, &copy.paths).unwrap_or_else(|error| panic!("{hit}: {error:?}"));
            let there = usize::try_from(writer.chain().next().0).unwrap() - 3;
            assert!(there >= due, "{hit}: {due} were acknowledged, {there} are there");
            assert!(bounds.contains(&there), "{hit}: half a group is there: {there}");
            assert!(told.unknown || there == due, "{hit}: told not recorded, and it is");
            late += usize::from(there > due);
            assert_eq!(cut.is_some(), copy.paths.quarantine().exists(), "{hit}");
            writer.acknowledge().unwrap();
            for group in &scenario.groups[bounds.iter().position(|&n| n == there).unwrap()..] {
                writer.append(group, false).unwrap_or_else(|error| panic!("{hit}: {error:?}"));
            }
            drop(writer);
            let report = check_at(&copy.paths, JUDGE);
            assert_eq!(report.class(), Class::Ok, "{hit}: {report:?}");
            assert_eq!(ids(&copy.paths)[3..], all, "{hit}: each once, in order");
        }
    }
    println!(
        "{calls} calls, {unknown} outcomes unknown, {refused} undone, {late} found recorded later"
    );
    assert!(unknown > 0 && refused > 0 && late > 0, "the faults met too little");
}

/// What `rp validate` says right after the fault: whole, or a torn tail.
fn judge(paths: &Paths, hit: &str) {
    let report = check_at(paths, JUDGE);
    assert!(matches!(report.class(), Class::Ok | Class::Torn), "{hit}: {report:?}");
    // A segment is protected only when another follows it, so that its owner can go on with the last one.
    let files = files(&paths.folder);
    let last = files.iter().rfind(|(name, _)| segment_first(name).is_some()).unwrap();
    let last = paths.folder.join(&last.0);
    assert!(!fs::metadata(last).unwrap().permissions().readonly(), "{hit}");
}

#[test]
fn recovery_itself_may_fail_at_every_call_and_be_done_again() {
    let scenario = Scenario::new();
    let group = &scenario.groups[1];
    // A tail of one whole entry of an open group and half of the next.
    let torn = copy(&scenario.env.paths());
    let anchors = (fs::read(torn.paths.head()).unwrap(), files(&torn.paths.known));
    let mut writer = open(&Faulty::default(), &torn.paths).unwrap().writer;
    writer.append(&scenario.groups[0], false).unwrap();
    writer.append(group, false).unwrap();
    let end = usize::try_from(writer.head().end).unwrap();
    drop(writer);
    fs::write(torn.paths.head(), anchors.0).unwrap();
    for (name, bytes) in anchors.1 {
        fs::write(torn.paths.known.join(name), bytes).unwrap();
    }
    let segment = torn.paths.folder.join(segment_name(Seq(0)));
    let mut bytes = fs::read(&segment).unwrap();
    bytes[end - 200..].fill(0);
    fs::write(&segment, bytes).unwrap();

    let counted = Faulty::default();
    let opened = open(&counted, &copy(&torn.paths).paths).unwrap();
    let cut = opened.cut.unwrap();
    assert_eq!((cut.kept, opened.anchored), (4, 3), "the whole first group is kept");
    drop(opened.writer);
    for fault in FAULTS {
        for nth in 0..counted.calls() {
            let disk = Faulty::at(nth, fault);
            let copy = copy(&torn.paths);
            let first = open(&disk, &copy.paths);
            let Some(hit) = disk.hit() else { continue };
            let was_cut = matches!(&first, Ok(Opened { cut: Some(_), .. }));
            drop(first);
            let report = check_at(&copy.paths, JUDGE);
            assert!(matches!(report.class(), Class::Ok | Class::Torn), "{hit}: {report:?}");
            let again = open(&Faulty::default(), &copy.paths);
            let again = again.unwrap_or_else(|error| panic!("{hit}: {error:?}"));
            assert_eq!(again.writer.chain().next().0, 4, "{hit}");
            if was_cut || again.cut.is_some() {
                let kept = fs::read(copy.paths.quarantine().join(cut.path.file_name().unwrap()));
                assert_eq!(blake3::hash(&kept.unwrap()).as_bytes(), &cut.blake3.0, "{hit}");
            }
            drop(again);
            assert_eq!(check_at(&copy.paths, JUDGE).class(), Class::Ok, "{hit}");
        }
    }
}

fn draft(text: &str, idem: &str) -> Draft {
    let event = Event::read("command.rejected", &json::parse(&rejected(text)).unwrap()).unwrap();
    draft_of(event, idem, "recorder")
}

fn draft_of(event: Event, idem: &str, signer: &str) -> Draft {
    Draft {
        event,
        stream: None,
        at: None,
        cause: Vec::new(),
        idem: idem.to_owned(),
        signer: signer.to_owned(),
    }
}

fn engine(env: &Env, disk: &Faulty) -> Engine {
    Engine::open(&env.workspace(Arc::new(disk.clone()))).unwrap()
}

#[track_caller]
fn failed(outcome: Result<rp::engine::Committed, Failure>, exit: u8, code: &str) -> Failure {
    let failure = outcome.unwrap_err();
    assert_eq!((failure.exit.0, failure.code.as_str()), (exit, code), "{failure:?}");
    assert!(!failure.next.is_empty(), "{failure:?}");
    failure
}

#[test]
fn a_failed_sync_is_an_unknown_outcome_that_names_the_key_to_retry_with() {
    let env = Env::new();
    let disk = Faulty::default();
    let mut first = engine(&env, &disk);
    disk.fail_next_sync(Fault::Io);
    let failure = failed(first.commit(&[draft("c", "my key")]), 74, "outcome-unknown");
    assert!(failure.message.contains("outcome unknown"), "{failure:?}");
    assert_eq!(failure.details["idem"], "my key");
    assert!(failure.next[0].contains("--idem my key"), "{failure:?}");
    drop(first);
    // The page cache still holds the group, so the next opening adopts it, and the retry is answered.
    let retried = engine(&env, &Faulty::default()).commit(&[draft("c", "my key")]).unwrap();
    assert!(retried.receipts[0].duplicate && retried.receipts[0].seq.0 == 3);
    drop(retried);

    let mut second = engine(&env, &disk);
    disk.fail_next_sync(Fault::Lost);
    failed(second.commit(&[draft("d", "other key")]), 74, "outcome-unknown");
    drop(second);
    // This time nothing reached the disk, so the retry records it.
    let retried = engine(&env, &Faulty::default()).commit(&[draft("d", "other key")]).unwrap();
    assert!(!retried.receipts[0].duplicate && retried.receipts[0].seq.0 == 4);
    assert_eq!(env.validate().0, 0);
}

/// C14 of the collected cases.
pub(crate) fn full_disk() {
    let env = Env::new();
    let disk = Faulty::default();
    let total = 100 << 30;
    let space = |free| Some(Space { free, total });
    disk.set_space(space(RESERVE_BYTES_MAX - 1));
    let before = env.bytes();
    let mut engine = engine(&env, &disk);
    let failure = failed(engine.commit(&[draft("c", "k")]), 74, "disk-full");
    assert!(
        failure.message.contains("67108863") && failure.message.contains("nothing was recorded")
    );
    drop(engine);
    assert_eq!(env.bytes(), before, "no byte was written");
    assert_eq!(env.validate().0, 0);

    // Space is freed: no repair is due.
    disk.set_space(space(RESERVE_BYTES_MAX));
    let recorded = self::engine(&env, &disk).commit(&[draft("c", "k")]).unwrap();
    assert_eq!((recorded.receipts[0].seq.0, recorded.receipts[0].duplicate), (3, false));
    assert_eq!(env.validate().0, 0);
}

#[test]
fn the_reserve_is_the_smaller_of_64_mib_and_a_twentieth() {
    let env = Env::new();
    let disk = Faulty::default();
    for (n, (free, total, fits)) in [
        (64 << 20, 100 << 30, true),
        ((64 << 20) - 1, 100 << 30, false),
        (50 << 20, 1000 << 20, true),
        ((50 << 20) - 1, 1000 << 20, false),
        (0, 1 << 40, false),
    ]
    .into_iter()
    .enumerate()
    {
        disk.set_space(Some(Space { free, total }));
        let outcome = engine(&env, &disk).commit(&[draft("c", &format!("{n}"))]);
        assert_eq!(outcome.is_ok(), fits, "{free} of {total}: {outcome:?}");
    }
}

#[test]
fn below_the_reserve_a_revocation_still_goes_through() {
    let env = Env::new();
    let owner = env.rp(&["key", "show", "owner", "--json"]).ok().json();
    let data = serde_json::json!({
        "kid": owner["kid"], "effective_seq": 3, "suspect_from_seq": 3, "reason": "stolen" });
    let revoked = Event::read("key.revoked", &json::parse(&data.to_string()).unwrap()).unwrap();
    let disk = Faulty::default();
    disk.set_space(Some(Space { free: 1 << 20, total: 100 << 30 }));
    let mut engine = engine(&env, &disk);
    failed(engine.commit(&[draft("c", "k")]), 74, "disk-full");
    drop(engine);
    let recorded = self::engine(&env, &disk).commit(&[draft_of(revoked, "r", "root")]).unwrap();
    assert_eq!(recorded.receipts[0].seq.0, 3);
    assert_eq!(env.events()[3]["kind"], "key.revoked");
    assert_eq!(env.validate().0, 0);
}

#[test]
fn a_write_that_finds_no_space_is_undone_and_the_next_one_succeeds() {
    let mut env = Env::new();
    // No space was allocated ahead, so the group itself needs it.
    env.set("RP_ALLOCATION_STEP", "8");
    env.append("before").ok();
    let disk = Faulty::default();
    let mut engine = engine(&env, &disk);
    disk.set_full(true);
    let failure = failed(engine.commit(&[draft(&"x".repeat(9000), "k")]), 74, "disk-full");
    assert!(failure.message.contains("nothing was recorded"), "{failure:?}");
    drop(engine);
    assert_eq!((env.validate().0, env.size()), (0, 4));
    // Opening, reading and checking need no space.
    let workspace = env.workspace(Arc::new(disk.clone()));
    assert_eq!(workspace.read(None).unwrap().chain.next().0, 4);
    drop(Engine::open(&workspace).unwrap());
    disk.set_full(false);
    let recorded = self::engine(&env, &disk).commit(&[draft("x", "k")]).unwrap();
    assert_eq!(recorded.receipts[0].seq.0, 4);
    assert_eq!(env.validate().0, 0);
}

#[test]
fn a_torn_tail_that_cannot_be_copied_leaves_the_journal_as_it_is() {
    let env = Env::new();
    let group = crate::support::tail::unacknowledged(&env, 2);
    let end = usize::try_from(crate::support::tail::head(&env).end).unwrap();
    let mut bytes = fs::read(env.segment(0)).unwrap();
    bytes[end + group.len() - 100..].fill(0);
    fs::write(env.segment(0), bytes).unwrap();
    let before = env.bytes();
    let disk = Faulty::default();
    disk.set_full(true);
    let workspace = env.workspace(Arc::new(disk.clone()));
    let failure = Engine::open(&workspace).unwrap_err();
    assert_eq!(failure.exit.0, 74, "{failure:?}");
    assert_eq!(env.bytes(), before);
    assert_eq!(workspace.read(None).unwrap().chain.next().0, 3);
    disk.set_full(false);
    drop(Engine::open(&workspace).unwrap());
    assert_eq!((env.validate().0, env.size()), (0, 4));
}

#[test]
fn the_disk_says_that_it_can_be_asked() {
    // The seam is the one that the binary uses: the same questions have answers on the machine's disk.
    let temp = Temp::new();
    let real = Real;
    let space = real.space(temp.path()).unwrap();
    assert!(space.total >= space.free && space.total > 0);
    let file = real.create(&temp.path().join("f")).unwrap();
    file.allocate(5000).unwrap();
    assert_eq!(file.len().unwrap(), 5000);
    assert!(real.create(&temp.path().join("f")).is_err());
}
