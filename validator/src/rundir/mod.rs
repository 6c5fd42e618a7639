//! Is a research-loop run directory whole, recoverable or corrupt? The rules of the run-state protocol
//! (`domains/run.md` B to L; `spec/rundir.md` for what was decided), over facts that a [`disk::Disk`]
//! and [`git::Facts`] hand in. Nothing here writes, locks or starts a process.
//!
//! [`Inquiry::open`] reads and judges all but Git, [`Inquiry::wanted`] says what Git is to be asked, and
//! [`Inquiry::judge`] gives the verdict. Every finding names its line of `spec/conformance/run.md`.

pub mod artifacts;
pub mod boundary;
pub mod bytes;
pub mod canonical_set;
pub mod closure;
pub mod contract;
pub mod disk;
pub mod fields;
pub mod findings;
pub mod git;
pub mod journal;
pub mod lines;
pub mod profile;
pub mod results;
pub mod resume;
pub mod scalar;
pub mod scenario;
pub mod shelf;
pub mod verdict;

use artifacts::Case;
use boundary::Boundaries;
use bytes::{Prefix, file_digest};
use canonical_set::Files;
use closure::{Demand, Whole};
use contract::{Contract, Trust};
use disk::{Disk, Kind};
use findings::Findings;
use journal::Journal;
use results::{Earlier, Line, Row};
use shelf::Shelf;
use verdict::{Class, Verdict};

/// The six directories of every run.
const FOLDERS: [&str; 6] = ["boundaries", "designs", "evidence", "logs", "snapshots", "quarantine"];

/// What to judge.
#[derive(Debug, Clone, Copy)]
pub struct Question<'q> {
    /// The run directory, absolute.
    pub directory: &'q str,
    /// Where cwd, extractor and immutable files are; else inferred (D).
    pub trusted_root: Option<&'q str>,
    /// The supervisor's worktree; else inferred.
    pub git_root: Option<&'q str>,
    /// A foreign validator that the reader accepts.
    pub validator: Option<&'q str>,
    /// What is demanded of the tail.
    pub demand: Demand,
}

impl Question<'_> {
    /// The directory that relative things are looked up in, unless one was given: two above a run below
    /// `.research-loop`, else one.
    fn inferred_root(&self) -> &str {
        let parent = above(self.directory);
        if parent.ends_with("/.research-loop") { above(parent) } else { parent }
    }

    /// The trusted root.
    pub fn trusted(&self) -> &str {
        self.trusted_root.unwrap_or_else(|| self.inferred_root())
    }

    /// The Git root.
    pub fn git(&self) -> &str {
        self.git_root.unwrap_or_else(|| self.inferred_root())
    }

    fn name(&self) -> &str {
        self.directory.rsplit('/').next().unwrap_or_default()
    }
}

fn above(path: &str) -> &str {
    path.rsplit_once('/').map_or("/", |(parent, _)| if parent.is_empty() { "/" } else { parent })
}

/// Whether Git was asked.
#[derive(Debug, Clone, Copy)]
pub enum Git<'g> {
    /// It was, and said this.
    Asked(&'g git::Facts),
    /// It was not, and the verdict must not depend on it: for those who build directories without one.
    Ignored,
    /// It was not, so that nobody can say that all holds.
    NotChecked,
}

/// A directory that was read.
pub struct Inquiry<'i> {
    question: Question<'i>,
    shelf: Shelf<'i>,
    out: Findings,
    contract: Option<(Contract, bool)>,
    read: Read,
}

#[derive(Default)]
struct Read {
    journal: Journal,
    rows: Vec<Row>,
    earlier: Earlier,
    boundaries: Boundaries,
    files: Files,
    digests: [String; 2],
    closed: bool,
}

impl<'i> Inquiry<'i> {
    /// Reads a directory and judges all but what Git says.
    pub fn open(disk: &'i dyn Disk, question: Question<'i>) -> Self {
        let shelf = Shelf::new(disk, question.directory);
        let mut inquiry = Self {
            question,
            shelf,
            out: Findings::default(),
            contract: None,
            read: Read::default(),
        };
        if inquiry.directory() {
            inquiry.run();
        }
        inquiry
    }

    /// The directory and its six (J.4); says whether there is anything to read.
    fn directory(&mut self) -> bool {
        let (disk, out, root) = (self.shelf.disk(), &mut self.out, self.question.directory);
        match disk.kind(root) {
            Kind::Folder => {}
            Kind::Link => {
                out.find(50, "symlink_forbidden", "the run directory is a symbolic link");
                return false;
            }
            Kind::Missing | Kind::File { .. } | Kind::Special => {
                out.find(51, "missing_run_directory", "there is no run directory");
                return false;
            }
        }
        for folder in FOLDERS {
            let kind = disk.kind(&format!("{root}/{folder}"));
            out.at(folder, None, |out| match kind {
                Kind::Folder => {}
                Kind::Link if folder == "boundaries" => {
                    out.within(758, |out| {
                        out.find(52, "symlink_forbidden", "the directory is a symbolic link");
                    });
                }
                Kind::Link => out.find(52, "symlink_forbidden", "the directory is a symbolic link"),
                Kind::Missing | Kind::File { .. } | Kind::Special => {
                    out.find(53, "invalid_canonical_directory", "the directory is missing");
                }
            });
        }
        true
    }

    fn run(&mut self) {
        let trust = Trust {
            trusted: self.question.trusted(),
            directory: self.question.name(),
            validator: self.question.validator,
        };
        let (out, stored) = (&mut self.out, &self.shelf);
        self.contract = contract::read(out, stored, trust);
        let (disk, root) = (stored.disk(), self.question.directory);
        let journal = out.within(370, |out| lines::read(out, disk, root, "journal.jsonl"));
        let results = out.within(584, |out| lines::read(out, disk, root, "results.jsonl"));
        let (journal, results) = (journal.unwrap_or_default(), results.unwrap_or_default());
        let (lines, history) = results_lines(out, &results);
        let Some((contract, _)) = &self.contract else {
            for (index, line) in lines::split(&journal).enumerate() {
                out.within(370, |out| {
                    out.at("journal.jsonl", Some(number(index)), |out| lines::object(out, line))
                });
            }
            return;
        };
        let case = Case { shelf: stored, contract };
        let read = &mut self.read;
        read.journal = fold(out, case, &journal, &history);
        read.digests = [file_digest(&journal), file_digest(&results)];
        drop(journal);
        (read.rows, read.earlier) = results::rows(out, case, &read.journal, &lines, &history);
        read.boundaries = boundary::boundaries(out, case, &read.journal, &read.rows);
        boundary::incomplete(
            out,
            &read.journal,
            &read.boundaries,
            self.question.demand.allow_incomplete,
        );
        read.files = canonical_set::files(out, case);
        canonical_set::orphans(
            out,
            case,
            &read.journal,
            &read.files,
            self.question.demand.allow_incomplete,
        );
        if case.is_own() {
            canonical_set::roles(out, &read.journal);
        }
        let whole = self.whole().map(|whole| closure_of(&whole, self.question.demand));
        if let Some((closed, found)) = whole {
            self.read.closed = closed;
            self.out.errors.extend(found.errors);
            self.out.warnings.extend(found.warnings);
        }
    }

    fn whole(&self) -> Option<Whole<'_>> {
        let (contract, _) = self.contract.as_ref()?;
        Some(Whole {
            case: Case { shelf: &self.shelf, contract },
            journal: &self.read.journal,
            rows: &self.read.rows,
            earlier: &self.read.earlier,
            boundaries: &self.read.boundaries,
            files: &self.read.files,
            digests: self.read.digests.clone(),
        })
    }

    /// What Git is to be asked.
    pub fn wanted(&self) -> git::Wanted {
        self.whole().map(|whole| git::wanted(&whole)).unwrap_or_default()
    }

    /// Gives the verdict.
    pub fn judge(&self, asked: Git<'_>) -> Verdict {
        let mut out = Findings::default();
        let mut unverified = Vec::new();
        let whole = self.whole();
        match (asked, &whole) {
            (Git::Asked(facts), Some(whole)) => {
                git::judge(
                    &mut out,
                    whole,
                    self.question.git(),
                    facts,
                    self.question.demand.allow_incomplete,
                );
            }
            (Git::NotChecked, _) => {
                out.warn(
                    913,
                    "git_not_checked",
                    "Git was not asked; commits and worktrees may be anything",
                );
                unverified.push("git");
            }
            (Git::Asked(_) | Git::Ignored, _) => {}
        }
        out.errors.splice(0..0, self.out.errors.iter().cloned());
        out.warnings.splice(0..0, self.out.warnings.iter().cloned());
        let tail = whole.as_ref().map(|whole| resume::tail(whole, self.read.closed));
        let action = tail.as_ref().and_then(|tail| tail.action);
        let class = match (out.errors.is_empty(), action) {
            (false, _) => Class::Invalid,
            (true, Some(_)) => Class::Recoverable,
            (true, None) => Class::Valid,
        };
        let foreign = self.contract.as_ref().is_some_and(|(_, foreign)| *foreign);
        if foreign {
            self.foreign(&mut out);
            unverified.push("validator");
        }
        out.sort();
        let used = whole.as_ref().map(Whole::used).unwrap_or_default();
        Verdict {
            class,
            unverified,
            closed: self.read.closed,
            contract_sha256: fields::stored_digest(&self.shelf, "contract.json")
                .map(|sha256| sha256.to_string()),
            finalized_attempts: self.read.boundaries.whole.clone(),
            active_attempt: tail.as_ref().and_then(|tail| tail.attempt.clone()),
            last_durable_phase: tail.as_ref().map(|tail| tail.phase),
            resume_action: action.filter(|_| class == Class::Recoverable && !foreign),
            result_count: self.read.rows.len(),
            journal_event_count: self.read.journal.count,
            actual_budget: used.into_iter().collect(),
            actual_budget_complete: self.contract.is_none() || self.read.earlier.complete,
            errors: out.errors,
            warnings: out.warnings,
        }
    }

    fn foreign(&self, out: &mut Findings) {
        let sealed =
            self.contract.as_ref().and_then(|(contract, _)| contract.validator_sha256.clone());
        out.at("contract.json", None, |out| {
            out.find(914, "foreign_validator", format!(
                "the contract seals another validator ({}); only that one may resume the run; accept it with --validator-sha256",
                sealed.unwrap_or_default()
            ));
        });
    }
}

fn closure_of(whole: &Whole<'_>, demand: Demand) -> (bool, Findings) {
    let mut out = Findings::default();
    let closed = closure::closure(&mut out, whole, demand);
    (closed, out)
}

fn number(index: usize) -> u64 {
    u64::try_from(index).unwrap_or(u64::MAX).saturating_add(1)
}

fn results_lines<'l>(out: &mut Findings, bytes: &'l [u8]) -> (Vec<Line<'l>>, journal::History) {
    let mut prefix = Prefix::default();
    let mut history = journal::History::default();
    let mut lines = Vec::new();
    for (index, line) in lines::split(bytes).enumerate() {
        prefix.line(line);
        let value = out.within(584, |out| {
            out.at("results.jsonl", Some(number(index)), |out| lines::object(out, line))
        });
        results::remember(&mut history, index, &value);
        lines.push(Line { bytes: line, prefix: prefix.digest() });
    }
    (lines, history)
}

fn fold(out: &mut Findings, case: Case<'_>, bytes: &[u8], history: &journal::History) -> Journal {
    let mut journal = Journal::default();
    let mut prefix = Prefix::default();
    for (index, line) in lines::split(bytes).enumerate() {
        prefix.line(line);
        out.at("journal.jsonl", Some(number(index)), |out| {
            let event = out.within(370, |out| lines::object(out, line));
            journal.take(out, case, history, &event, &|| prefix.digest());
        });
    }
    journal
}
