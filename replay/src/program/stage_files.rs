//! Which stages are complete by their files, and how a resumption goes on (H.1 to H.4).
//!
//! Pure: the caller lists the files below [`FOLDERS`] and brings the content of those that [`is_read`] names.

use std::collections::{BTreeMap, BTreeSet};

use rp_events::{Decimal, Refusal, json::Json};

use super::{
    codes,
    constants::{PhenomenonStatus, StageName, Verdict},
    import::lenient::{self, Doubts, Fields},
    resumption::{Resumption, resumption},
    rules,
    state::{Program, Round, Settings, StageState},
};
use crate::State;

/// The folders in which stages leave their documents.
pub const FOLDERS: [&str; 4] = ["idea-stage", "refine-logs", "verify", "review-stage"];

const ROUTING: &str = "refine-logs/MECHANISM_ROUTING.md";
const RESULTS: &str = "refine-logs/EXPERIMENT_RESULTS.md";
const TRACKER: &str = "refine-logs/EXPERIMENT_TRACKER.md";
const PLAN: &str = "refine-logs/EXPERIMENT_PLAN.md";
const AUDIT: &str = "verify/INTEGRITY_AUDIT.md";
const REVIEW: &str = "review-stage/REVIEW_STATE.json";
const REPORT: &str = "review-stage/AUTO_ITERATION_FINAL_REPORT.md";
/// The section that says that the variants' audit was made (H.1).
const VARIANT_SECTION: &str = "## Variant integrity (Phase 9)";

/// The documents whose content decides; of the others only the size is asked.
pub fn is_read(path: &str) -> bool {
    [ROUTING, RESULTS, PLAN, AUDIT, REVIEW].contains(&path)
}

/// The documents that a stage leaves, as they are named in the record (H.1); `ended` if a terminal verdict on
/// the phenomenon ended the round's work.
pub fn due_files(stage: StageName, ended: bool) -> &'static [&'static str] {
    match stage {
        StageName::Claim => &["idea-stage/IDEA_REPORT.md", "refine-logs/FINAL_PROPOSAL.md", PLAN],
        StageName::Experiment if ended => &[RESULTS],
        StageName::Experiment => &[ROUTING, RESULTS, TRACKER],
        StageName::Verify => &["verify/VERIFY_REPORT.md", AUDIT],
        StageName::Iteration => &["review-stage/AUTO_REVIEW.md", REVIEW, REPORT],
    }
}

/// The files of a project or a round, as far as stages ask for them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    files: BTreeMap<String, (u64, Option<Vec<u8>>)>,
}

impl Listing {
    /// Adds a file: its path with `/`, its size, and its content if [`is_read`] names it.
    pub fn put(&mut self, path: impl Into<String>, bytes: u64, content: Option<Vec<u8>>) {
        self.files.insert(path.into(), (bytes, content));
    }

    /// Whether a file is there and not empty.
    pub fn has_content(&self, path: &str) -> bool {
        self.files.get(path).is_some_and(|(bytes, _)| *bytes > 0)
    }

    /// The content of a file, where it was brought.
    pub fn content(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path)?.1.as_deref()
    }

    /// The content of a file as text, whatever its bytes.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        Some(String::from_utf8_lossy(self.content(path)?).into_owned())
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

/// What `refine-logs/MECHANISM_ROUTING.md` says; the last line of a name counts (H.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoutingFile {
    /// Whether a method is committed.
    pub is_committed: bool,
    /// Whether the round is behavioral only.
    pub is_not_applicable: bool,
    /// The family chosen, if one is named.
    pub family: Option<String>,
}

impl RoutingFile {
    /// Reads the file.
    pub fn read(text: &str) -> Self {
        let last = |name: &str| values(text, name).last().map(str::to_owned);
        // A remark behind the word does not belong to it.
        let committed = last("committed").unwrap_or_default();
        let family = last("chosen_family").filter(|name| !name.is_empty() && name != "none");
        Self {
            is_committed: committed.split_whitespace().next() == Some("true"),
            is_not_applicable: values(text, "routing")
                .any(|value| value.starts_with("not-applicable")),
            family,
        }
    }

    /// The family that a build call is given; `None` if the file is malformed.
    pub fn build_family(&self) -> Option<&str> {
        if self.is_not_applicable { Some("not-applicable") } else { self.family.as_deref() }
    }
}

/// The values of the lines that begin with a name and a colon.
fn values<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    text.lines().filter_map(move |line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
}

/// What the results say of the phenomenon in their top metadata, and whether they call it terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhenomenonLine {
    /// The verdict.
    pub status: PhenomenonStatus,
    /// Whether it ends the round; `None` where the file does not say (L22).
    pub is_terminal: Option<bool>,
}

/// Reads the verdict on the phenomenon from the head of the results, above the first section.
pub fn phenomenon(results: &str) -> Option<PhenomenonLine> {
    let head: Vec<&str> = results.lines().take_while(|line| !line.starts_with("## ")).collect();
    let head = head.join("\n");
    let value = values(&head, "phenomenon_status").last()?.to_owned();
    let mut words = value.split(|c: char| c.is_whitespace() || "(),;".contains(c));
    let status = PhenomenonStatus::parse(words.next()?)?;
    let said = values(&head, "terminal").last().and_then(|word| word.parse().ok());
    let is_terminal = match status {
        PhenomenonStatus::NotEstablished => Some(true),
        PhenomenonStatus::Established | PhenomenonStatus::Conditional => Some(false),
        PhenomenonStatus::Inconclusive if words.any(|word| word == "terminal") => Some(true),
        PhenomenonStatus::Inconclusive => said,
    };
    Some(PhenomenonLine { status, is_terminal })
}

/// The claims of a round, for finding their directories.
#[derive(Debug, Clone, Copy, Default)]
pub struct Claims<'c> {
    /// Every claim; a rewrite's directory must not pass for its parent's (L12).
    pub known: &'c [String],
    /// Those under verification.
    pub targets: &'c [String],
}

/// What a stage did not leave, a sentence each; nothing if it is complete (H.1).
///
/// `ended` says whether the record holds a terminal verdict on the phenomenon, which the results file may not
/// show.
pub fn lacks(stage: StageName, files: &Listing, claims: Claims<'_>, ended: bool) -> Vec<String> {
    let ended = ended || is_ended(files);
    let due = due_files(stage, ended).iter().filter(|path| !files.has_content(path));
    let mut lacks: Vec<String> = due.map(|path| (*path).to_owned()).collect();
    match stage {
        StageName::Claim | StageName::Iteration => {}
        StageName::Experiment => {
            let routing = files.text(ROUTING).map(|text| RoutingFile::read(&text));
            if !ended && routing.is_some_and(|routing| !routing.is_committed) {
                lacks.push(format!("{ROUTING} (committed: true)"));
            }
        }
        StageName::Verify => {
            if files.has_content(AUDIT) && !files.text(AUDIT).is_some_and(|text| has_section(&text))
            {
                lacks.push(format!("{AUDIT} ({VARIANT_SECTION})"));
            }
            if claims.targets.is_empty() {
                lacks.push("verify/ (a claim under verification)".to_owned());
            }
            let unaudited =
                claims.targets.iter().filter(|claim| !is_audited(files, claim, claims.known));
            lacks.extend(unaudited.map(|claim| audit_of(claim)));
        }
    }
    lacks
}

/// Whether the results end the round by themselves (H.2, case 0).
fn is_ended(files: &Listing) -> bool {
    let line = files.text(RESULTS).and_then(|text| phenomenon(&text));
    line.is_some_and(|line| line.is_terminal == Some(true))
}

/// Where a claim's audit is looked for.
pub fn audit_of(claim: &str) -> String {
    format!("verify/{claim}_*/main_experiment_audit/EXPERIMENT_AUDIT.json")
}

/// Whether the section on the variants holds anything, be it the reason why there are none.
fn has_section(audit: &str) -> bool {
    let mut lines = audit.lines().skip_while(|line| line.trim_end() != VARIANT_SECTION);
    lines.next().is_some()
        && lines
            .take_while(|line| !line.starts_with("# ") && !line.starts_with("## "))
            .any(|line| !line.trim().is_empty())
}

fn is_audited(files: &Listing, claim: &str, known: &[String]) -> bool {
    files.names().any(|path| {
        let folder = path
            .strip_prefix("verify/")
            .and_then(|rest| rest.strip_suffix("/main_experiment_audit/EXPERIMENT_AUDIT.json"));
        folder.is_some_and(|folder| is_of(folder, claim, known)) && files.has_content(path)
    })
}

/// Whether a directory is a claim's own, and not that of a longer id that begins with it.
fn is_of(folder: &str, claim: &str, known: &[String]) -> bool {
    let begins = |id: &str| folder.strip_prefix(id).is_some_and(|rest| rest.starts_with('_'));
    begins(claim) && !known.iter().any(|other| other.len() > claim.len() && begins(other))
}

/// How the experiment stage goes on (H.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExperimentCase {
    /// Case 0: a terminal verdict on the phenomenon ended the round; verify and iteration are skipped as well.
    Ended(PhenomenonStatus),
    /// Case 1: a method is committed, results and tracker are there.
    Done,
    /// Case 2: a method is committed and the results are missing.
    Build {
        /// The family to build with, or `not-applicable`.
        family: String,
    },
    /// Case 3: nothing is committed, or the file is malformed.
    Route {
        /// Whether it says `committed: true` and names no family.
        is_malformed: bool,
    },
    /// Case 4: there is no routing file.
    Fresh,
}

/// Decides the case from the files; `recorded` is a terminal verdict on the phenomenon that the record holds.
pub fn experiment_case(files: &Listing, recorded: Option<PhenomenonStatus>) -> ExperimentCase {
    let line = files.text(RESULTS).and_then(|text| phenomenon(&text));
    let line = line.filter(|line| line.is_terminal == Some(true)).map(|line| line.status);
    if let Some(status) = recorded.filter(|_| files.has_content(RESULTS)).or(line) {
        return ExperimentCase::Ended(status);
    }
    let Some(text) = files.text(ROUTING).filter(|text| !text.trim().is_empty()) else {
        return ExperimentCase::Fresh;
    };
    let routing = RoutingFile::read(&text);
    match (routing.is_committed, routing.build_family()) {
        (true, Some(_)) if files.has_content(RESULTS) && files.has_content(TRACKER) => {
            ExperimentCase::Done
        }
        (true, Some(family)) => ExperimentCase::Build { family: family.to_owned() },
        (committed, _) => ExperimentCase::Route { is_malformed: committed },
    }
}

/// `review-stage/REVIEW_STATE.json`, as far as a resumption reads it (H.4).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewState {
    /// Actions charged.
    pub iterations_consumed: u64,
    /// Rewrites charged.
    pub claim_reentries_consumed: u64,
    /// `in_progress`, `awaiting_upstream` or `completed`.
    pub status: String,
    /// The last verdict.
    pub last_verdict: String,
    /// The last score.
    pub last_score: Option<Decimal>,
    /// The skills called and not finished, in order.
    pub pending_upstream_calls: Vec<String>,
}

impl ReviewState {
    /// Reads the file as far as it can be read; `None` if it holds no object.
    pub fn read(bytes: &[u8], doubts: &mut Doubts) -> Option<Self> {
        let json = lenient::json(bytes, doubts)?;
        if !matches!(json, Json::Object(_)) {
            doubts.add("bad-type", "", &lenient::literal(&json), "an object was due");
            return None;
        }
        let mut fields = Fields::of(Some(&json), "", doubts);
        let calls = match fields.optional("pending_upstream_calls") {
            None | Some(Json::Null) => Vec::new(),
            Some(_) => fields.items("pending_upstream_calls", doubts),
        };
        let skill = |(place, json): (String, &Json)| match json.get("skill") {
            Some(Json::Text(skill)) => skill.clone(),
            _ => place,
        };
        // The loop keeps more in this file than a resumption asks for.
        Some(Self {
            iterations_consumed: fields.count("iterations_consumed", doubts),
            claim_reentries_consumed: fields.count("claim_reentries_consumed", doubts),
            status: fields.text("status", doubts),
            last_verdict: fields.text_or_null("last_verdict", doubts).unwrap_or_default(),
            last_score: fields.decimal_or_null("last_score", doubts),
            pending_upstream_calls: calls.into_iter().map(skill).collect(),
        })
    }
}

/// How the iteration stage goes on (H.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IterationCase {
    /// It is over and reported.
    Skip {
        /// Why it is over.
        because: Over,
    },
    /// It is over, and is sent out once to write its final report.
    Assemble {
        /// Why it is over.
        because: Over,
    },
    /// Earlier stages are called first, in this order; then it goes on with what it has charged.
    Handoff {
        /// The skills.
        calls: Vec<String>,
    },
    /// It goes on with what it has charged.
    Dispatch,
}

/// Why a review loop is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// The reviewer is content.
    Verdict,
    /// Its actions are used up, or its rewrites while nothing else would help.
    Budget,
}

/// What decides whether a review loop is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopLimits {
    /// The score that is aimed at.
    pub target_score: Decimal,
    /// Most actions.
    pub max_iterations: u64,
    /// Most rewrites.
    pub max_reentries: u64,
    /// Whether every fix that is left would be a rewrite.
    pub only_rewrites_left: bool,
}

/// Decides the case from the files.
pub fn iteration_case(files: &Listing, limits: &LoopLimits) -> IterationCase {
    let review =
        files.content(REVIEW).and_then(|bytes| ReviewState::read(bytes, &mut Doubts::of(REVIEW)));
    let Some(review) = review else { return IterationCase::Dispatch };
    if review.status == "awaiting_upstream" {
        return IterationCase::Handoff { calls: review.pending_upstream_calls };
    }
    match over(&review, limits) {
        None => IterationCase::Dispatch,
        Some(because) if files.has_content(REPORT) => IterationCase::Skip { because },
        Some(because) => IterationCase::Assemble { because },
    }
}

fn over(review: &ReviewState, limits: &LoopLimits) -> Option<Over> {
    if review.status != "completed" {
        return None;
    }
    let content = matches!(review.last_verdict.as_str(), "ready" | "almost");
    let reached =
        review.last_score.as_ref().is_some_and(|s| s.compare(&limits.target_score).is_ge());
    let rewrites =
        review.claim_reentries_consumed >= limits.max_reentries && limits.only_rewrites_left;
    if content && reached {
        return Some(Over::Verdict);
    }
    (review.iterations_consumed >= limits.max_iterations || rewrites).then_some(Over::Budget)
}

/// How a round is resumed: what the record and the files say together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// The stages that need not run again; `complete` of `round.resumed`.
    pub complete: Vec<StageName>,
    /// The first stage that must; `resume_from` of `round.resumed`.
    pub resume_from: Option<StageName>,
    /// Of the complete stages those that were interrupted, with the files that show it; in a `strict` journal
    /// `rp` records them with `round.resumed`.
    pub found: Vec<(StageName, Vec<String>)>,
    /// What the files of each stage lack.
    pub lacks: Vec<(StageName, Vec<String>)>,
    /// How the experiment stage goes on.
    pub experiment: ExperimentCase,
    /// The calls of the experiment stage, in order; none where it is skipped.
    pub calls: Calls,
    /// How the iteration stage goes on.
    pub iteration: IterationCase,
    /// The lines of a log (H, H.2).
    pub log: Vec<String>,
}

/// The calls of the experiment stage: modes of `stage.dispatched`, with a family where one is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls {
    /// `combined`; or `route_only` and, after the family's gate, `build`; or `build`.
    pub modes: Vec<&'static str>,
    /// The family that the build call is given.
    pub family: Option<String>,
}

/// Decides how a round is resumed (H.1 to H.4). The round exists; an unknown one is as one without events.
///
/// In a `compat` journal the stages are those that the record has; in a `strict` one an interrupted stage that
/// left all its files counts as well.
pub fn resume_case(state: &State, number: u64, files: &Listing) -> Resume {
    let program = state.program();
    let round = program.round(number).unwrap_or_default();
    let course = program.course();
    // A resumption brings flags of its own; what the round was opened with holds until then.
    let settings = course.flags.as_ref().filter(|flags| flags.resume).unwrap_or(&round.settings);
    let targets = targets(&round);
    let claims = Claims { known: &round.claims, targets: &targets };
    let ended = round.phenomenon_ended();
    let each = |stage| (stage, lacks(stage, files, claims, ended));
    let lacks: Vec<(StageName, Vec<String>)> = StageName::ALL.map(each).into();
    let found = if state.trust().is_strict() {
        interrupted(program, number, &round, &lacks)
    } else {
        Vec::new()
    };
    let is_found = |name: StageName| found.iter().any(|(stage, _)| *stage == name);
    let is_complete = |name: StageName| is_found(name) || rules::is_complete(program, number, name);
    let Resumption { complete, from: resume_from } =
        resumption(&round, settings.review_loop, is_complete);
    let verdict = round.phenomenon.verdict.filter(|verdict| verdict.terminal);
    let experiment = experiment_case(files, verdict.map(|verdict| verdict.status));
    let limits = LoopLimits {
        target_score: settings.target_score.clone(),
        max_iterations: settings.max_iterations,
        max_reentries: settings.max_reentries,
        only_rewrites_left: only_rewrites_left(program, number, &round),
    };
    let mut log = log(&complete, resume_from, ended);
    let calls = calls(program, number, &round, settings, (&experiment, files), &mut log);
    let iteration = iteration_case(files, &limits);
    Resume { complete, resume_from, found, lacks, experiment, calls, iteration, log }
}

/// Holds what a stage left to its documents, read anew (E20 in a `strict` journal): acceptance rests on files, not
/// on what was said of them.
///
/// # Errors
///
/// `artifacts-missing`, with the first document that is missing, empty or unfinished.
pub fn accepts(
    state: &State,
    number: u64,
    name: StageName,
    files: &Listing,
) -> Result<(), Refusal> {
    let round = state.program().round(number).unwrap_or_default();
    let targets = targets(&round);
    let claims = Claims { known: &round.claims, targets: &targets };
    match lacks(name, files, claims, round.phenomenon_ended()).first() {
        None => Ok(()),
        Some(lack) => Err(Refusal::new(
            &codes::ARTIFACTS_MISSING,
            format!("stage `{name}` left no `{lack}` with content in the workspace"),
        )),
    }
}

/// The claims under verification; before any are named, all.
fn targets(round: &Round) -> Vec<String> {
    if round.session.targets.is_empty() {
        round.claims.clone()
    } else {
        round.session.targets.clone()
    }
}

/// The stages whose agents never came back although their files are whole and their events recorded.
fn interrupted(
    program: &Program,
    number: u64,
    round: &Round,
    lacks: &[(StageName, Vec<String>)],
) -> Vec<(StageName, Vec<String>)> {
    let out = |name: StageName| {
        matches!(round.stages.of(name).state, StageState::Running { .. } | StageState::Crashed)
    };
    let whole = lacks.iter().filter(|(name, lacks)| lacks.is_empty() && out(*name));
    let files = whole.map(|(name, _)| {
        let due = due_files(*name, round.phenomenon_ended()).iter();
        (*name, due.map(|path| (*path).to_owned()).collect::<Vec<_>>())
    });
    files
        .filter(|(name, paths)| {
            let paths: BTreeSet<String> = paths.iter().cloned().collect();
            rules::is_whole(program, number, *name, &paths)
        })
        .collect()
}

fn log(complete: &[StageName], from: Option<StageName>, ended: bool) -> Vec<String> {
    let names: Vec<&str> = complete.iter().map(|name| name.as_str()).collect();
    let mut lines = vec![format!(
        "[resume-mode] resume=true \u{2014} completed stages: {}; will resume from: {}",
        if names.is_empty() { "none".to_owned() } else { names.join(",") },
        from.map_or("none", StageName::as_str)
    )];
    lines.extend(complete.iter().map(|name| {
        let files = due_files(*name, ended).join(", ");
        format!("[resume] stage={name} skipped \u{2014} artifacts present: {files}")
    }));
    lines
}

/// Which calls the experiment stage takes (H.2), with a line of the log where something is not as it should be.
fn calls(
    program: &Program,
    number: u64,
    round: &Round,
    settings: &Settings,
    (case, files): (&ExperimentCase, &Listing),
    log: &mut Vec<String>,
) -> Calls {
    let build = |family: String| Calls { modes: vec!["build"], family: Some(family) };
    match case {
        ExperimentCase::Ended(_) | ExperimentCase::Done => return Calls::default(),
        ExperimentCase::Build { family } => return build(family.clone()),
        ExperimentCase::Route { is_malformed: true } => log.push(
            "[resume] MECHANISM_ROUTING.md committed:true but chosen_family missing \u{2014} falling back to fresh routing"
                .to_owned(),
        ),
        ExperimentCase::Route { is_malformed: false } | ExperimentCase::Fresh => {}
    }
    if round.mechanism == "given" {
        let recorded = program.plan(number).and_then(|plan| plan.chosen_mechanism.clone());
        let written = || {
            let plan = files.text(PLAN)?;
            values(&plan, "chosen_mechanism").last().map(str::to_owned)
        };
        match recorded.or_else(written).filter(|name| !name.is_empty()) {
            Some(name) => return build(name),
            None => log.push(
                "[mechanism] MECHANISM=given but no chosen_mechanism stamped \u{2014} falling back to routing"
                    .to_owned(),
            ),
        }
    } else if let Some(family) = &round.task.family
        && !round.dropped_pins.contains("family")
    {
        return build(family.clone());
    }
    let modes = if settings.auto_proceed { vec!["combined"] } else { vec!["route_only", "build"] };
    Calls { modes, family: None }
}

/// Whether the claims that are left unresolved can only be rewritten: each failed with clean variants.
fn only_rewrites_left(program: &Program, number: u64, round: &Round) -> bool {
    let works = round.claims.iter().filter_map(|id| program.work(number, id));
    let open: Vec<_> = works
        .filter(|work| match work.verdict {
            Some(Verdict::Fail | Verdict::Inconclusive | Verdict::ZeroEligible) => true,
            Some(Verdict::Pass | Verdict::IntegrityOnly) | None => false,
        })
        .collect();
    !open.is_empty()
        && open.iter().all(|work| work.verdict == Some(Verdict::Fail) && work.variants_are_clean())
}
