//! Taking over a project that was kept in files (E2, G.1): files in, the events that take it over out.
//!
//! Pure: the caller walks the folder and hands over a [`Survey`]. What the files say is recorded as they say it;
//! what cannot be verified of it is recorded beside it. Nothing of the files is changed.

mod judge;
mod ledger_file;
pub mod lenient;
mod memory_file;
mod pack;

use std::collections::{BTreeMap, BTreeSet};

use rp_events::{
    Digest,
    program::{ImportedFile, ImportedHeader, ImportedMemory, ProgramImported, Unverified},
};

use self::{
    ledger_file::LedgerFile,
    lenient::Doubts,
    pack::{Old, OldRound},
};
use super::{
    constants::{JOURNAL, KEPT, StageName},
    stage_files::{self, Listing},
};

/// The memory file, at the root.
pub const MEMORY: &str = "research_memory.json";
const LEDGER: &str = "claims_ledger.json";
const MARKDOWN: &str = "CLAIMS_LEDGER.md";
/// The folder of the archived rounds.
pub const ARCHIVES: &str = "rounds";
/// The highest number of a round that may be imported: the next ones must still be streams.
pub const ROUND_MAX: u64 = 999_999_000;
/// The largest file whose content is read.
pub const READ_MAX: u64 = 64 * 1024 * 1024;

/// What kinds of doubt there are: the word that is recorded, and what it says.
pub static DOUBTS: &[(&str, &str)] = &[
    ("bad-folder", "a folder of the archives whose name is no round's"),
    ("bad-id", "an id that no record may have"),
    ("bad-number", "a number out of its form or range"),
    ("bad-text", "a character that no record may hold"),
    ("bad-type", "a value of another type than the format has"),
    ("bad-word", "a word outside its vocabulary"),
    ("byte-order-mark", "a mark before the first character"),
    ("carriage-return", "lines that end with CR and LF"),
    ("disagrees", "two files that tell different stories"),
    ("duplicate-claim", "a claim that stands twice in its ledger"),
    ("duplicate-key", "a key that stands twice in its object"),
    ("empty-file", "a file without content"),
    ("malformed-json", "a file that is no JSON"),
    ("missing-field", "a field of the format that is not there"),
    (
        "missing-file",
        "a file that another one names, or that a stage leaves, and that is not there",
    ),
    ("not-a-file", "something that is neither file nor folder, a symbolic link above all"),
    ("not-derived", "a value that does not follow from the values it is derived from"),
    ("not-rendered", "a file that is not what its data print"),
    ("not-utf8", "bytes that are no UTF-8"),
    ("round-gap", "numbers of rounds without a folder"),
    ("round-twice", "two folders of one round"),
    ("too-deep", "a value that nests too deep"),
    ("too-large", "a file or a value that is too large to be taken over"),
    ("unknown-field", "a field that the format does not have"),
];

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its path under the project, with `/`.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// BLAKE3 of its bytes.
    pub b3: Digest,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// Its bytes, where [`interest`] asks for them.
    pub content: Option<Vec<u8>>,
}

/// What was found of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// The names of the folders below `rounds/`.
    pub folders: Vec<String>,
    /// The files that [`interest`] asks for.
    pub files: Vec<Found>,
    /// Every other file by its path, with its size.
    pub others: BTreeMap<String, u64>,
    /// What is neither a file nor a folder, with what it is.
    pub strange: BTreeMap<String, String>,
}

/// How much of a file is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// That it is there.
    Name,
    /// Its digests.
    Digest,
    /// Its content and digests.
    Content,
}

/// How much of a file is asked for, by its path under the project.
pub fn interest(path: &str) -> Interest {
    if path == MEMORY {
        return Interest::Content;
    }
    let inside = in_round(path);
    let is_table = inside.starts_with("figures/") && has_end(inside, "md");
    if [LEDGER, MARKDOWN].contains(&inside) || stage_files::is_read(inside) || is_table {
        return Interest::Content;
    }
    let (top, rest) = inside.split_once('/').unwrap_or((inside, ""));
    let is_document = stage_files::FOLDERS.contains(&top) || top == "figures";
    let is_cost = top == "runs" && rest.ends_with("/cost.json");
    let is_note = ["task.md", "MANIFEST.md", "findings.md"].contains(&inside);
    if is_document || is_cost || is_note { Interest::Digest } else { Interest::Name }
}

/// Whether a path has an ending.
fn has_end(path: &str, end: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, found)| found == end)
}

/// Whether a name at the root belongs to no round, so that its folder need not be walked.
pub fn is_passed_over(name: &str) -> bool {
    let kept = KEPT.contains(&name) && !["task.md", MEMORY, ARCHIVES].contains(&name);
    kept || name == JOURNAL
}

/// A path without the folder of its round.
fn in_round(path: &str) -> &str {
    let archived = path.strip_prefix("rounds/").and_then(|rest| rest.split_once('/'));
    archived.map_or(path, |(_, inside)| inside)
}

/// How an older project is taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The events, in order.
    pub events: Vec<ProgramImported>,
    /// The archived rounds.
    pub archives: Vec<u64>,
    /// The round whose files lie at the root.
    pub live: Option<u64>,
    /// Its stages that need not run again.
    pub complete: Vec<StageName>,
    /// The highest number ever used.
    pub highest_round: u64,
    /// The behaviors of the memory.
    pub behaviors: usize,
    /// The claims of all ledgers.
    pub claims: usize,
    /// The files whose digests are recorded.
    pub files: usize,
    /// The files that stay where they lie and are not recorded, and their size.
    pub others: (usize, u64),
    /// What could not be verified.
    pub unverified: Vec<Unverified>,
    /// The overarching direction, if any file says it.
    pub direction: Option<String>,
}

/// Why a project cannot be taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocked {
    /// There is nothing of a project.
    Nothing,
    /// A file that the next round would write anew cannot be taken over whole.
    File(Box<Unverified>),
}

/// Plans how a project is taken over: an event for each behavior, each archived round and the round at the root,
/// and more of them where one would be too large.
///
/// # Errors
///
/// Nothing was found, or a file that the next round would write anew cannot be taken over whole.
pub fn plan(survey: &Survey) -> Result<Plan, Blocked> {
    let files = Files::of(survey);
    let mut doubts = Vec::new();
    let folders = folders(survey, &mut doubts);
    strange(survey, &mut doubts);
    let mut memory_doubts = Doubts::of(MEMORY);
    let memory = read_memory(&files, &mut memory_doubts)?;
    let mut archived = Vec::new();
    for (number, folder) in &folders {
        archived.push(read_round(&files, *number, folder, memory.as_ref()));
    }
    let live = read_live(&files, &archived, memory.as_ref())?;
    if memory.is_none() && archived.is_empty() && live.is_none() {
        return Err(Blocked::Nothing);
    }
    if let Some(memory) = &memory {
        judge::memory(memory, &archived, live.as_ref(), &mut memory_doubts);
        judge::rendered_memory(memory, files.content(MEMORY), &mut memory_doubts);
    }
    let named = memory.iter().flat_map(judge::rounds_of);
    let brought = folders.keys().copied().chain(live.iter().map(|round| round.number));
    let highest_round = named.chain(brought).max().unwrap_or(0);
    gaps(&folders, live.as_ref().map(|round| round.number), &mut doubts);
    doubts.extend(memory_doubts.into_list());
    let direction = direction(memory.as_ref(), live.as_ref(), &archived);
    let complete = live.as_ref().map(|round| round.complete.clone()).unwrap_or_default();
    let of_root =
        files.recorded(|path| in_round(path) == path && (path == MEMORY || live.is_none()));
    let old = Old { memory, archived, live, highest_round, files: of_root, doubts };
    let sum = |each: &dyn Fn(&OldRound) -> usize| old.rounds().map(each).sum::<usize>();
    let mut plan = Plan {
        events: Vec::new(),
        archives: folders.keys().copied().collect(),
        live: old.live.as_ref().map(|round| round.number),
        complete,
        highest_round,
        behaviors: old.memory.as_ref().map_or(0, |memory| memory.behaviors.len()),
        claims: sum(&|round| round.ledger.as_ref().map_or(0, |ledger| ledger.claims.len())),
        files: old.files.len() + sum(&|round| round.files.len()),
        others: (survey.others.len(), survey.others.values().sum()),
        unverified: Vec::new(),
        direction,
    };
    plan.events = pack::events(old).map_err(|why| Blocked::File(Box::new(why)))?;
    plan.unverified =
        plan.events.iter().filter_map(|event| event.unverified.clone()).flatten().collect();
    Ok(plan)
}

/// The files by their paths.
struct Files<'s> {
    survey: &'s Survey,
    by_path: BTreeMap<&'s str, &'s Found>,
}

impl<'s> Files<'s> {
    fn of(survey: &'s Survey) -> Self {
        let by_path = survey.files.iter().map(|file| (file.path.as_str(), file)).collect();
        Self { survey, by_path }
    }

    fn content(&self, path: &str) -> Option<&'s [u8]> {
        self.by_path.get(path)?.content.as_deref()
    }

    /// Whether there is a file or a folder of this path.
    fn exists(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let below = format!("{path}/");
        let within = |found: Option<&str>| found.is_some_and(|found| found.starts_with(&below));
        self.by_path.contains_key(path)
            || self.survey.others.contains_key(path)
            || within(self.by_path.range(below.as_str()..).next().map(|(path, _)| *path))
            || within(
                self.survey.others.range(below.clone()..).next().map(|(path, _)| path.as_str()),
            )
    }

    fn recorded(&self, wanted: impl Fn(&str) -> bool) -> Vec<ImportedFile> {
        let found = self.by_path.values().filter(|file| wanted(&file.path));
        found
            .map(|file| ImportedFile {
                path: lenient::clean(&file.path),
                bytes: file.bytes,
                b3: file.b3,
                sha256: file.sha256,
            })
            .collect()
    }

    /// The stage documents of a round.
    fn listing(&self, folder: &str) -> Listing {
        let mut listing = Listing::default();
        for (path, file) in &self.by_path {
            if let Some(inside) = path.strip_prefix(folder) {
                listing.put(inside, file.bytes, file.content.clone());
            }
        }
        listing
    }
}

/// The folders of the archived rounds, by number; a number is read as a decimal, whatever its zeros (L10).
fn folders(survey: &Survey, doubts: &mut Vec<Unverified>) -> BTreeMap<u64, String> {
    let mut found: BTreeMap<u64, String> = BTreeMap::new();
    let mut names = survey.folders.clone();
    // The name without zeros comes first, and is the round's.
    names.sort_by_key(|name| (name.len(), name.clone()));
    let doubt = |code, name: &str, why: String| {
        let mut own = Doubts::of(format!("{ARCHIVES}/{name}/"));
        own.add(code, "", name, why);
        own.into_list()
    };
    for name in names {
        let digits = name.strip_prefix("round_").filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
        let number = digits.and_then(|n| n.parse().ok()).filter(|n| (1..=ROUND_MAX).contains(n));
        match number {
            None => {
                let why = format!(
                    "an archive is called `round_` and a number from 1 to {ROUND_MAX}; it was left"
                );
                doubts.extend(doubt("bad-folder", &name, why));
            }
            Some(number) if found.contains_key(&number) => {
                let why = format!("round {number} has another folder already; this one was left");
                doubts.extend(doubt("round-twice", &name, why));
            }
            Some(number) => {
                found.insert(number, format!("{ARCHIVES}/{name}/"));
            }
        }
    }
    found
}

fn strange(survey: &Survey, doubts: &mut Vec<Unverified>) {
    for (path, what) in &survey.strange {
        let mut own = Doubts::of(path);
        own.add(
            "not-a-file",
            "",
            what,
            "it was not followed, and nothing behind it was taken over",
        );
        doubts.extend(own.into_list());
    }
}

fn gaps(folders: &BTreeMap<u64, String>, live: Option<u64>, doubts: &mut Vec<Unverified>) {
    let mut due = 1;
    for number in folders.keys().copied().chain(live) {
        if number > due {
            let missing = if number == due + 1 {
                due.to_string()
            } else {
                format!("{due} to {}", number - 1)
            };
            let mut own = Doubts::of(format!("{ARCHIVES}/"));
            let why = "the numbers stay used; what these rounds left is not known";
            own.add("round-gap", "", &missing, why);
            doubts.extend(own.into_list());
        }
        due = due.max(number + 1);
    }
}

fn read_memory(files: &Files<'_>, doubts: &mut Doubts) -> Result<Option<ImportedMemory>, Blocked> {
    if let Some(bytes) = files.content(MEMORY) {
        return memory_file::read(bytes, doubts)
            .map(Some)
            .map_err(|why| Blocked::File(Box::new(why)));
    }
    if files.exists(MEMORY) {
        return Err(Blocked::File(Box::new(too_large(MEMORY, files))));
    }
    Ok(None)
}

fn too_large(path: &str, files: &Files<'_>) -> Unverified {
    let size = files.by_path.get(path).map_or(0, |file| file.bytes);
    let mut doubts = Doubts::of(path);
    doubts.add(
        "too-large",
        "",
        &format!("{size} bytes"),
        format!("at most {READ_MAX} bytes are read"),
    );
    doubts.into_list().pop().expect("it was just added")
}

/// Reads an archived round. What cannot be read of it stays in its file, which nobody writes anew.
fn read_round(
    files: &Files<'_>,
    number: u64,
    folder: &str,
    memory: Option<&ImportedMemory>,
) -> OldRound {
    let path = format!("{folder}{LEDGER}");
    let mut doubts = Doubts::of(&path);
    let ledger = read_ledger(files, folder, &mut doubts);
    let listing = files.listing(folder);
    let mut round = OldRound {
        number,
        folder: folder.to_owned(),
        ledger,
        files: files.recorded(|found| found.starts_with(folder)),
        doubts: Vec::new(),
        complete: Vec::new(),
        reentries: None,
        is_live: false,
    };
    let mut found = judge::round(&round, files, &listing, memory);
    round.doubts = doubts.into_list();
    round.doubts.append(&mut found);
    round
}

fn read_ledger(files: &Files<'_>, folder: &str, doubts: &mut Doubts) -> Option<LedgerFile> {
    let path = format!("{folder}{LEDGER}");
    let table = |path: &str| files.content(&format!("{folder}{path}")).map(<[u8]>::to_vec);
    match files.content(&path) {
        Some(bytes) => ledger_file::read(bytes, &table, doubts),
        None if files.exists(&path) => {
            let doubt = too_large(&path, files);
            doubts.add(&doubt.code, doubt.place, &doubt.value, doubt.why);
            None
        }
        None => {
            doubts.add("missing-file", "", &path, "the round left no ledger");
            None
        }
    }
}

/// Reads the round whose files lie at the root, if any do. Its ledger goes on, so it is taken over whole.
fn read_live(
    files: &Files<'_>,
    archived: &[OldRound],
    memory: Option<&ImportedMemory>,
) -> Result<Option<OldRound>, Blocked> {
    let leaves =
        |folder: &str| files.by_path.keys().any(|path| path.starts_with(&format!("{folder}/")));
    let has_text = files.by_path.get(MARKDOWN).is_some_and(|file| file.bytes > 0);
    let has_ledger = files.by_path.contains_key(LEDGER);
    if !has_ledger && !has_text && !stage_files::FOLDERS.into_iter().any(leaves) {
        return Ok(None);
    }
    let mut doubts = Doubts::of(LEDGER);
    let ledger = read_ledger(files, "", &mut doubts);
    let own = doubts.into_list();
    let is_whole = ledger.as_ref().is_some_and(|ledger| ledger.left_out == 0);
    if has_ledger && !is_whole {
        let blocks = |doubt: &&Unverified| {
            ["malformed-json", "empty-file", "too-large", "bad-id", "duplicate-claim"]
                .contains(&doubt.code.as_str())
                || (ledger.is_none() && doubt.code == "bad-type")
        };
        let why = own.iter().find(blocks).or(own.last()).cloned();
        return Err(Blocked::File(Box::new(why.unwrap_or_else(|| too_large(LEDGER, files)))));
    }
    let header = ledger.as_ref().map(|ledger| &ledger.header);
    let number = judge::live_number(archived, memory, header, ledger.as_ref());
    let listing = files.listing("");
    let is_at_root = |path: &str| in_round(path) == path && path != MEMORY;
    let mut round = OldRound {
        number,
        folder: String::new(),
        ledger,
        files: files.recorded(is_at_root),
        doubts: Vec::new(),
        complete: Vec::new(),
        reentries: judge::reentries(&listing),
        is_live: true,
    };
    let claims = round.claim_ids();
    round.complete = judge::complete(&listing, round.header(), &claims);
    let mut found = judge::round(&round, files, &listing, memory);
    round.doubts = own;
    round.doubts.append(&mut found);
    Ok(Some(round))
}

fn direction(
    memory: Option<&ImportedMemory>,
    live: Option<&OldRound>,
    archived: &[OldRound],
) -> Option<String> {
    let rounds = live.into_iter().chain(archived.iter().rev());
    let of_rounds =
        rounds.filter_map(OldRound::header).map(|header: &ImportedHeader| &header.direction);
    let all = memory.map(|memory| &memory.direction).into_iter().chain(of_rounds);
    all.into_iter().find(|text| !text.trim().is_empty()).cloned()
}

/// The numbers that a memory names, each once.
fn distinct(numbers: impl Iterator<Item = u64>) -> BTreeSet<u64> {
    numbers.collect()
}
