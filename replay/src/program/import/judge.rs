//! What follows from the files of an older project, and what does not: derived values, files that should print
//! alike, documents that should tell one story.

use std::{collections::BTreeSet, sync::Arc};

use bigdecimal::BigDecimal;
use rp_events::program::{
    FigureEntry, ImportedBehavior, ImportedClaim, ImportedHeader, ImportedMechanism,
    ImportedMemory, Unverified,
};

use super::{Files, LEDGER, MARKDOWN, ledger_file::LedgerFile, lenient::Doubts, pack::OldRound};
use crate::program::{
    Root,
    constants::{
        CHAIN, DIRECTIONS, Ending, FIGURE_TYPES, PROVENANCES, PhenomenonStatus, RECOMMENDATIONS,
        SUBMETHOD, StageName, Verdict, family,
    },
    stage_files::{self, Claims, Listing, PhenomenonLine, ReviewState, RoutingFile},
    state::{archive_of, imported_behavior, imported_header, imported_row},
    views::{ledger_json, ledger_markdown, memory as memory_view},
};

const REVIEW: &str = "review-stage/REVIEW_STATE.json";
const RESULTS: &str = "refine-logs/EXPERIMENT_RESULTS.md";
const ROUTING: &str = "refine-logs/MECHANISM_ROUTING.md";

/// The numbers of rounds that a memory names.
pub(super) fn rounds_of(memory: &ImportedMemory) -> BTreeSet<u64> {
    super::distinct(memory.behaviors.iter().flat_map(numbers))
}

fn numbers(behavior: &ImportedBehavior) -> impl Iterator<Item = u64> {
    let attempts = behavior.mechanisms.iter().map(|attempt| attempt.round);
    attempts.chain([behavior.decided_in_round])
}

/// The number of the round at the root (G.1): the memory's last one, if that can be this round's own, else the
/// one after all that are named (L7).
pub(super) fn live_number(
    archived: &[OldRound],
    memory: Option<&ImportedMemory>,
    header: Option<&ImportedHeader>,
    ledger: Option<&LedgerFile>,
) -> u64 {
    let last = archived.iter().map(|round| round.number).max().unwrap_or(0);
    let Some(memory) = memory else { return last + 1 };
    let named = rounds_of(memory).last().copied().unwrap_or(0);
    if named <= last {
        return last + 1;
    }
    let ended = header.and_then(|header| Ending::leading(&header.pipeline_status));
    let has_outcome = ended.is_some_and(Ending::is_scientific);
    let ids = |claims: &[ImportedClaim]| {
        claims.iter().map(|claim| claim.id.to_string()).collect::<Vec<_>>()
    };
    let own = ledger.map(|ledger| ids(&ledger.claims)).unwrap_or_default();
    let mut attempts = attempts(memory).filter(|(_, attempt)| attempt.round == named);
    let fits =
        attempts.all(|(_, attempt)| attempt.claims.iter().all(|c| own.contains(&c.id.to_string())));
    if has_outcome && fits { named } else { named + 1 }
}

fn attempts(
    memory: &ImportedMemory,
) -> impl Iterator<Item = (&ImportedBehavior, &ImportedMechanism)> {
    memory
        .behaviors
        .iter()
        .flat_map(|behavior| behavior.mechanisms.iter().map(move |attempt| (behavior, attempt)))
}

/// The stages whose documents are all there, up to the first that lacks any (H.1).
pub(super) fn complete(
    listing: &Listing,
    header: Option<&ImportedHeader>,
    claims: &[String],
) -> Vec<StageName> {
    let ended = phenomenon_ended(header);
    let claims = Claims { known: claims, targets: claims };
    let is_whole =
        |stage: &StageName| stage_files::lacks(*stage, listing, claims, ended).is_empty();
    StageName::ALL.into_iter().take_while(is_whole).collect()
}

fn phenomenon_ended(header: Option<&ImportedHeader>) -> bool {
    let ending = header.and_then(|header| Ending::leading(&header.pipeline_status));
    matches!(ending, Some(Ending::NotEstablished | Ending::Inconclusive))
}

/// The rewrites that the review loop had charged, if its file says it.
pub(super) fn reentries(listing: &Listing) -> Option<u64> {
    let review = ReviewState::read(listing.content(REVIEW)?, &mut Doubts::of(REVIEW))?;
    Some(review.claim_reentries_consumed)
}

/// Everything of a round that could not be verified, beyond what reading its ledger said.
pub(super) fn round(
    round: &OldRound,
    files: &Files<'_>,
    listing: &Listing,
    memory: Option<&ImportedMemory>,
) -> Vec<Unverified> {
    let mut all = Vec::new();
    if let Some(ledger) = &round.ledger {
        let mut doubts = Doubts::of(format!("{}{LEDGER}", round.folder));
        words(&ledger.header, &mut doubts);
        for (n, claim) in ledger.claims.iter().enumerate() {
            self::claim(claim, &format!("claims[{n}]"), &mut doubts);
            named_files(claim, &format!("claims[{n}]"), &round.folder, files, &mut doubts);
        }
        rendered(round, ledger, files, &mut doubts);
        all.append(&mut doubts.into_list());
        all.append(&mut rendered_markdown(round, ledger, files));
    }
    all.append(&mut documents(round, listing));
    if let Some(header) = round.header() {
        all.append(&mut stories(round, header, listing));
        all.append(&mut in_memory(round, header, memory));
    }
    all
}

fn word(value: &str, place: String, allowed: &[&str], doubts: &mut Doubts) {
    if !value.is_empty() && !allowed.contains(&value) {
        doubts.add("bad-word", place, value, format!("one of `{}` was due", allowed.join("`, `")));
    }
}

fn words(header: &ImportedHeader, doubts: &mut Doubts) {
    let status = &header.pipeline_status;
    let ending = Ending::leading(status);
    if ending.is_none() && status != "running" {
        doubts.add(
            "bad-word",
            "pipeline_status",
            status,
            "no status of a round is called so; it counts as running",
        );
    }
    let verdict = &header.iteration_summary.verdict;
    word(verdict, "iteration_summary.verdict".into(), &["ready", "almost", "not ready"], doubts);
    let hook = &header.updated_after_stage;
    let is_cycle = hook
        .strip_prefix("iteration:round-")
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    if !is_cycle {
        let hooks = ["claim", "experiment", "verify", "iteration:final"];
        word(hook, "updated_after_stage".into(), &hooks, doubts);
    }
    let summary = &header.iteration_summary;
    if summary.max_rounds > 0 && summary.rounds_consumed > summary.max_rounds {
        let why = format!("at most {} actions were allowed", summary.max_rounds);
        let value = summary.rounds_consumed.to_string();
        doubts.add("not-derived", "iteration_summary.rounds_consumed", &value, why);
    }
    let decides = ending == Some(Ending::NeedsDecision);
    let qualifier = &header.round_end.qualifier;
    if decides == qualifier.is_empty() {
        let why =
            format!("the pipeline status is `{status}`, which asks for a decision or does not");
        doubts.add("disagrees", "round_end.qualifier", qualifier, why);
    }
}

fn claim(claim: &ImportedClaim, place: &str, doubts: &mut Doubts) {
    let at = |field: &str| format!("{place}.{field}");
    word(&claim.data.provenance, at("data.provenance"), PROVENANCES, doubts);
    let verify = &claim.verify;
    let mut verdicts = Verdict::WORDS.to_vec();
    verdicts.push("n/a");
    word(&verify.verdict, at("verify.verdict"), &verdicts, doubts);
    word(&verify.integrity, at("verify.integrity"), &["PASS", "WARN", "FAIL"], doubts);
    let axes = &verify.axes;
    for (name, value) in
        [("method", &axes.method), ("dataset", &axes.dataset), ("model", &axes.model)]
    {
        word(
            value,
            at(&format!("verify.axes.{name}")),
            &["pass", "fail", "excluded", "n/a"],
            doubts,
        );
    }
    let reason = verify.stage2_skip_reason.as_deref().unwrap_or_default();
    let reasons = ["swap_variants_false", "max_verify_claims_cap"];
    word(reason, at("verify.stage2_skip_reason"), &reasons, doubts);
    if (verify.verdict == "INTEGRITY_ONLY") == reason.is_empty() {
        let why = format!(
            "a reason belongs to INTEGRITY_ONLY alone; the verdict is `{}`",
            verify.verdict
        );
        doubts.add("not-derived", at("verify.stage2_skip_reason"), reason, why);
    }
    share(claim, &at("verify.robustness"), doubts);
    for (n, figure) in claim.figures.iter().enumerate() {
        self::figure(figure, &at(&format!("figures[{n}]")), doubts);
    }
}

/// The share follows from the axes: one variant an axis, those with broken integrity left out (E55).
fn share(claim: &ImportedClaim, place: &str, doubts: &mut Doubts) {
    let verify = &claim.verify;
    let axes = [&verify.axes.method, &verify.axes.dataset, &verify.axes.model];
    let count = |word: &str| axes.iter().filter(|axis| axis.as_str() == word).count();
    let (passed, failed) = (count("pass"), count("fail"));
    let counted = u64::try_from(passed + failed).unwrap_or(0);
    let has_share = matches!(verify.verdict.as_str(), "PASS" | "FAIL");
    let Some(stated) = &verify.robustness else {
        if has_share {
            doubts.add(
                "not-derived",
                place,
                "null",
                format!("the verdict `{}` rests on a share", verify.verdict),
            );
        }
        return;
    };
    if !has_share {
        let why = format!("the verdict `{}` rests on no share", verify.verdict);
        return doubts.add("not-derived", place, stated.as_str(), why);
    }
    // Two places are what the file keeps; the share must round to them.
    let passed = BigDecimal::from(u64::try_from(passed).unwrap_or(0));
    let allowed = BigDecimal::from(counted);
    let difference = (stated.value() * &allowed - &passed) * BigDecimal::from(200);
    if counted == 0 || difference.abs() > allowed {
        let why = format!("the axes give {passed} of {counted}");
        doubts.add("not-derived", place, stated.as_str(), why);
    }
}

fn figure(figure: &FigureEntry, place: &str, doubts: &mut Doubts) {
    let at = |field: &str| format!("{place}.{field}");
    word(&figure.kind, at("type"), FIGURE_TYPES, doubts);
    word(&figure.status, at("status"), &["ok", "error", "skipped"], doubts);
}

/// What a claim names must be there: its artifacts, and the files of its figures.
fn named_files(
    claim: &ImportedClaim,
    place: &str,
    folder: &str,
    files: &Files<'_>,
    doubts: &mut Doubts,
) {
    let drawn = claim.figures.iter().enumerate().filter(|(_, figure)| figure.status == "ok");
    let of_figures = drawn.flat_map(|(n, figure)| {
        // A table's Markdown was looked for when the ledger was read.
        let slots = [("png", &figure.png), ("pdf", &figure.pdf), ("tex", &figure.tex)];
        slots.map(|(slot, path)| (format!("{place}.figures[{n}].{slot}"), path.as_deref()))
    });
    let artifacts = claim.artifacts.iter().enumerate();
    let of_claim =
        artifacts.map(|(n, path)| (format!("{place}.artifacts[{n}]"), Some(path.as_str())));
    for (place, path) in of_claim.chain(of_figures) {
        let Some(path) = path else { continue };
        // A pointer into a document, or a remark behind it, names the document.
        let document = path.split(['#', ' ']).next().unwrap_or_default();
        let is_there = |path: &str| files.exists(&format!("{folder}{path}"));
        if !document.is_empty() && !is_there(path) && !is_there(document) {
            doubts.add("missing-file", place, path, format!("there is no `{folder}{document}`"));
        }
    }
}

/// A file must be what its data print.
fn rendered(round: &OldRound, ledger: &LedgerFile, files: &Files<'_>, doubts: &mut Doubts) {
    let Some(found) = files.content(&format!("{}{LEDGER}", round.folder)) else { return };
    let rows: Vec<_> = ledger.claims.iter().map(|claim| Arc::new(imported_row(claim))).collect();
    let due = ledger_json::render(&imported_header(&ledger.header), &rows);
    differing(&due, found, doubts);
}

fn rendered_markdown(round: &OldRound, ledger: &LedgerFile, files: &Files<'_>) -> Vec<Unverified> {
    let path = format!("{}{MARKDOWN}", round.folder);
    let mut doubts = Doubts::of(&path);
    match files.content(&path) {
        None if files.exists(&path) => {
            doubts.add(
                "too-large",
                "",
                &path,
                format!("at most {} bytes are read", super::READ_MAX),
            );
        }
        None => doubts.add("missing-file", "", &path, "the round left no rendered ledger"),
        Some(found) if found.trim_ascii().is_empty() => {
            doubts.add("empty-file", "", "", "it has no content");
        }
        Some(found) => {
            let rows: Vec<_> =
                ledger.claims.iter().map(|claim| Arc::new(imported_row(claim))).collect();
            let due = ledger_markdown::render(&imported_header(&ledger.header), &rows);
            differing(&due, found, &mut doubts);
        }
    }
    doubts.into_list()
}

pub(super) fn rendered_memory(memory: &ImportedMemory, found: Option<&[u8]>, doubts: &mut Doubts) {
    let Some(found) = found else { return };
    let root = Root {
        direction: memory.direction.clone(),
        untried_behavior_directions: memory.untried_behavior_directions.clone(),
        ..Root::default()
    };
    let behaviors: Vec<_> =
        memory.behaviors.iter().map(|b| Arc::new(imported_behavior(b))).collect();
    differing(&memory_view::render(&root, &behaviors), found, doubts);
}

/// Doubts the first line that differs. The file stands as it is until the record adds to it.
fn differing(due: &str, found: &[u8], doubts: &mut Doubts) {
    if due.as_bytes() == found {
        return;
    }
    let found = String::from_utf8_lossy(found);
    let (mut due, mut found) = (due.lines(), found.lines());
    let mut n = 0_u64;
    loop {
        n += 1;
        match (due.next(), found.next()) {
            (None, None) => {
                return doubts.add(
                    "not-rendered",
                    "",
                    "",
                    "it differs in its line ends or its end alone",
                );
            }
            (due, found) if due != found => {
                let why = match due {
                    Some(due) => {
                        format!("its data print `{}`", due.chars().take(80).collect::<String>())
                    }
                    None => "its data print no such line".to_owned(),
                };
                return doubts.add(
                    "not-rendered",
                    format!("line {n}"),
                    found.unwrap_or_default(),
                    why,
                );
            }
            (Some(_) | None, _) => {}
        }
    }
}

/// The documents of the stages that the ending says were passed (H.1).
fn documents(round: &OldRound, listing: &Listing) -> Vec<Unverified> {
    let ending = round.header().and_then(|header| Ending::leading(&header.pipeline_status));
    let passed: &[StageName] = match ending {
        Some(Ending::Completed) => &StageName::ALL,
        Some(Ending::TruncatedAtVerify) => {
            &[StageName::Claim, StageName::Experiment, StageName::Verify]
        }
        Some(Ending::NotEstablished | Ending::Inconclusive) => {
            &[StageName::Claim, StageName::Experiment]
        }
        Some(Ending::NeedsDecision | Ending::Halted) | None => &[],
    };
    let claims = round.claim_ids();
    let claims = Claims { known: &claims, targets: &claims };
    let mut all = Vec::new();
    for stage in passed {
        for lack in stage_files::lacks(*stage, listing, claims, phenomenon_ended(round.header())) {
            let mut doubts = Doubts::of(&round.folder);
            let why = format!("the round ended after stage `{stage}`, which leaves it");
            doubts.add("missing-file", stage.as_str(), &lack, why);
            all.append(&mut doubts.into_list());
        }
    }
    all
}

/// What stage documents and ledger both say (E.4).
fn stories(round: &OldRound, header: &ImportedHeader, listing: &Listing) -> Vec<Unverified> {
    let at = |path: &str| format!("{}{path}", round.folder);
    let mut review_doubts = Doubts::of(at(REVIEW));
    if let Some(review) =
        listing.content(REVIEW).and_then(|bytes| ReviewState::read(bytes, &mut review_doubts))
    {
        review_story(&review, header, &mut review_doubts);
    }
    let mut all = review_doubts.into_list();
    let ending = Ending::leading(&header.pipeline_status);
    if let Some(PhenomenonLine { status, is_terminal }) =
        listing.text(RESULTS).and_then(|text| stage_files::phenomenon(&text))
    {
        let due = match (status, is_terminal) {
            (PhenomenonStatus::NotEstablished, _) => Some(Ending::NotEstablished),
            (PhenomenonStatus::Inconclusive, Some(true)) => Some(Ending::Inconclusive),
            _ => None,
        };
        let is_end = matches!(ending, Some(Ending::NotEstablished | Ending::Inconclusive));
        // An open question may or may not have ended the round where the file does not say (L22).
        let is_open = status == PhenomenonStatus::Inconclusive && is_terminal.is_none();
        let fits = due
            .map_or(!is_end || (is_open && ending == Some(Ending::Inconclusive)), |due| {
                ending == Some(due)
            });
        if !fits {
            let mut doubts = Doubts::of(at(RESULTS));
            let why = format!("the ledger's status is `{}`", header.pipeline_status);
            doubts.add("disagrees", "phenomenon_status", status.as_str(), why);
            all.append(&mut doubts.into_list());
        }
    }
    if let Some(routing) = listing.text(ROUTING).map(|text| RoutingFile::read(&text)) {
        let line = &header.journey_summary.mechanism_routing;
        let named = routing.build_family().filter(|_| routing.is_committed);
        let fits = named.is_none_or(|family| {
            let family = family.split(SUBMETHOD).next().unwrap_or_default();
            line.is_empty() || line.contains(family)
        });
        if !fits {
            let mut doubts = Doubts::of(at(ROUTING));
            let value = routing.build_family().unwrap_or_default();
            doubts.add("disagrees", "chosen_family", value, format!("the ledger says `{line}`"));
            all.append(&mut doubts.into_list());
        }
    }
    all
}

fn review_story(review: &ReviewState, header: &ImportedHeader, doubts: &mut Doubts) {
    let summary = &header.iteration_summary;
    if review.iterations_consumed != summary.rounds_consumed {
        let why = format!("the ledger says {}", summary.rounds_consumed);
        doubts.add(
            "disagrees",
            "iterations_consumed",
            &review.iterations_consumed.to_string(),
            why,
        );
    }
    if !review.last_verdict.is_empty() && review.last_verdict != summary.verdict {
        let why = format!("the ledger says `{}`", summary.verdict);
        doubts.add("disagrees", "last_verdict", &review.last_verdict, why);
    }
    if let Some(score) = &review.last_score
        && summary.score.as_ref().is_none_or(|own| own.compare(score).is_ne())
    {
        let own = summary.score.as_ref().map_or("null", |score| score.as_str());
        doubts.add("disagrees", "last_score", score.as_str(), format!("the ledger says {own}"));
    }
}

/// A round with a scientific outcome stands in the memory, and no other does (F).
fn in_memory(
    round: &OldRound,
    header: &ImportedHeader,
    memory: Option<&ImportedMemory>,
) -> Vec<Unverified> {
    let ending = Ending::leading(&header.pipeline_status);
    let is_named = memory.is_some_and(|memory| rounds_of(memory).contains(&round.number));
    let mut doubts = Doubts::of(format!("{}{LEDGER}", round.folder));
    match ending {
        Some(ending) if ending.is_scientific() && !is_named => {
            let why = "the memory does not name the round: it only reproduced, its behavior was decided in another round, or its entry is lost";
            doubts.add("disagrees", "pipeline_status", &header.pipeline_status, why);
        }
        Some(Ending::NeedsDecision | Ending::Halted) if is_named => {
            let why = "the memory names the round, although it has no scientific outcome";
            doubts.add("disagrees", "pipeline_status", &header.pipeline_status, why);
        }
        Some(_) | None => {}
    }
    doubts.into_list()
}

/// What of the memory could not be verified, by itself and against the rounds.
pub(super) fn memory(
    memory: &ImportedMemory,
    archived: &[OldRound],
    live: Option<&OldRound>,
    doubts: &mut Doubts,
) {
    for (n, behavior) in memory.behaviors.iter().enumerate() {
        let place = format!("behaviors[{n}]");
        let at = |field: &str| format!("{place}.{field}");
        word(&behavior.status, at("status"), PhenomenonStatus::WORDS, doubts);
        let recommendation = &behavior.impact.recommendation;
        word(recommendation, at("impact.recommendation"), RECOMMENDATIONS, doubts);
        untried(behavior, &at("untried_mechanism_directions"), doubts);
        let find = |number: u64| archived.iter().chain(live).find(|round| round.number == number);
        if find(behavior.decided_in_round).is_none() {
            let value = behavior.decided_in_round.to_string();
            doubts.add(
                "missing-file",
                at("decided_in_round"),
                &value,
                "no folder holds that round",
            );
        }
        for (m, attempt) in behavior.mechanisms.iter().enumerate() {
            let place = at(&format!("mechanisms[{m}]"));
            self::attempt(attempt, &place, find(attempt.round), doubts);
        }
    }
}

/// The directions left follow from those taken (F.5).
fn untried(behavior: &ImportedBehavior, place: &str, doubts: &mut Doubts) {
    let taken: BTreeSet<&str> =
        behavior.mechanisms.iter().flat_map(|attempt| attempt.direction.split(CHAIN)).collect();
    let due: Vec<&str> = DIRECTIONS.iter().copied().filter(|name| !taken.contains(name)).collect();
    if behavior.untried_mechanism_directions != due {
        let value = behavior.untried_mechanism_directions.join(", ");
        doubts.add(
            "not-derived",
            place,
            &value,
            format!("the attempts leave `{}`", due.join("`, `")),
        );
    }
}

fn attempt(
    attempt: &ImportedMechanism,
    place: &str,
    round: Option<&OldRound>,
    doubts: &mut Doubts,
) {
    let at = |field: &str| format!("{place}.{field}");
    for direction in attempt.direction.split(CHAIN) {
        word(direction, at("direction"), DIRECTIONS, doubts);
    }
    if let Some(name) = attempt.family.as_deref().filter(|name| family(name).is_none()) {
        doubts.add("bad-word", at("family"), name, "no family of methods is called so");
    }
    let due = archive_of(attempt.round);
    if attempt.archived_to != due {
        doubts.add(
            "not-derived",
            at("archived_to"),
            &attempt.archived_to,
            format!("`{due}` was due"),
        );
    }
    let Some(round) = round else {
        let value = attempt.round.to_string();
        return doubts.add("missing-file", at("round"), &value, "no folder holds that round");
    };
    let Some(ledger) = &round.ledger else { return };
    let claims: Vec<String> = attempt.claims.iter().map(|claim| claim.id.to_string()).collect();
    let own = round.claim_ids();
    if claims != own {
        let why = format!("the ledger of round {} has `{}`", round.number, own.join("`, `"));
        doubts.add("disagrees", at("claims"), &claims.join(", "), why);
    }
    let journey = &ledger.header.journey_summary;
    let strategy = &journey.mechanism_strategy;
    if !strategy.is_empty() && strategy != "n/a" && *strategy != attempt.direction {
        let why = format!("the ledger of round {} says `{strategy}`", round.number);
        doubts.add("disagrees", at("direction"), &attempt.direction, why);
    }
    let routing = &journey.mechanism_routing;
    let named = attempt.family.as_deref().map(|name| name.split(SUBMETHOD).next().unwrap_or(name));
    let fits = match named {
        Some(name) => routing.is_empty() || routing.contains(name),
        None => routing.is_empty() || routing == "not-applicable",
    };
    if !fits {
        let value = attempt.family.as_deref().unwrap_or("null");
        doubts.add(
            "disagrees",
            at("family"),
            value,
            format!("the ledger of round {} says `{routing}`", round.number),
        );
    }
}
