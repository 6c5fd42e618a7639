//! The passage from a round to the next (part G of the domain text): what is recommended, what stays at the root
//! and what moves, what the draft is made for, what is said at the end. Rules and verbs ask the same functions.

use std::sync::Arc;

use rp_events::program::{ArchivePlanned, OverrideRecorded};

use super::{
    Program,
    constants::{Intent, JOURNAL, KEPT, KEPT_FOR_SAME_BEHAVIOR, PhenomenonStatus},
    memory::Behavior,
    state::Life,
};

/// The folders of which one must be at the root for a round to have left anything (G.5).
pub const OUTPUTS: &[&str] = &["idea-stage", "refine-logs", "verify", "review-stage"];

/// How far the passage after a round is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// What the user decided, once asked.
    pub intent: Option<Intent>,
    /// The behavior that the user decided to go on with.
    pub behavior: Option<String>,
    /// The move that was planned and neither refused nor finished.
    pub planned: Option<Move>,
    /// Whether the round is archived.
    pub is_archived: bool,
    /// Whether the next round's task is drafted.
    pub is_drafted: bool,
}

/// A planned move.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Move {
    /// The folder that the paths go to.
    pub target: String,
    /// The paths at the root, in the order in which they move.
    pub moved: Vec<String>,
}

/// How far the passage after a round is.
pub fn standing(program: &Program, round: u64) -> Standing {
    let passage = program.passage(round);
    let is_archived = program.is_archived(round);
    let planned = passage.planned.as_ref().filter(|_| !is_archived);
    Standing {
        intent: passage.intent,
        behavior: passage.behavior.clone(),
        planned: planned
            .map(|plan| Move { target: plan.target.clone(), moved: plan.moved.clone() }),
        is_archived,
        is_drafted: passage.drafted.is_some(),
    }
}

/// Whether the user threw a round away.
pub fn is_discarded(program: &Program, round: u64) -> bool {
    program.round(round).is_some_and(|round| round.life == Life::Discarded)
}

/// What follows from the memory of the round's behavior (G.5); nothing if it left none.
pub fn recommended(program: &Program, round: u64) -> Option<Intent> {
    let behavior = behavior_of(program, round)?;
    match PhenomenonStatus::parse(&behavior.status)? {
        PhenomenonStatus::NotEstablished => Some(Intent::NewBehavior),
        PhenomenonStatus::Inconclusive => Some(Intent::ReValidate),
        PhenomenonStatus::Established | PhenomenonStatus::Conditional => {
            Some(if is_open(&behavior) { Intent::NewMechanism } else { Intent::NewBehavior })
        }
    }
}

/// The behavior that a round wrote into the memory.
pub fn behavior_of(program: &Program, round: u64) -> Option<Arc<Behavior>> {
    program.behavior(program.round_memory(round).behavior.as_deref()?)
}

/// Whether a direction is untried, or an attempt was not read as settled.
fn is_open(behavior: &Behavior) -> bool {
    !behavior.untried_mechanism_directions.is_empty()
        || behavior.mechanisms.iter().any(|attempt| !attempt.is_settled())
}

/// The behavior that an intent without one is about: the one decided or tried last, and of several the later
/// entry (G.5).
pub fn latest_behavior(program: &Program) -> Option<Arc<Behavior>> {
    let last = |behavior: &Arc<Behavior>| {
        let tried = behavior.mechanisms.iter().map(|attempt| attempt.round);
        tried.chain([behavior.decided_in_round]).max()
    };
    program.behaviors().into_iter().max_by_key(last)
}

/// Whether an intent takes up a behavior of the memory.
pub fn keeps_behavior(intent: Intent) -> bool {
    match intent {
        Intent::NewBehavior => false,
        Intent::NewMechanism | Intent::ReValidate => true,
    }
}

/// The folder that a round's files are archived in.
pub fn target(round: u64) -> String {
    format!("rounds/round_{round}/")
}

/// What stays at the root for an intent (G.2), the journal's own folder last.
pub fn stays(intent: Intent) -> Vec<&'static str> {
    let mut stays = KEPT.to_vec();
    if keeps_behavior(intent) {
        stays.extend(KEPT_FOR_SAME_BEHAVIOR);
    }
    stays.push(JOURNAL);
    stays
}

/// Plans the move of a round's files: everything at the root that is not kept, names without a leading dot
/// first, each part in byte order (G.2). The user's own keeps come after the list of the text.
pub fn plan(round: u64, intent: Intent, at_root: &[String], kept: &[String]) -> ArchivePlanned {
    let mut keep: Vec<String> = stays(intent).into_iter().map(str::to_owned).collect();
    for path in kept {
        if !keep.contains(path) {
            keep.push(path.clone());
        }
    }
    let mut moved: Vec<String> =
        at_root.iter().filter(|path| !keep.contains(path)).cloned().collect();
    moved.sort_by(|a, b| (a.starts_with('.'), a).cmp(&(b.starts_with('.'), b)));
    moved.dedup();
    ArchivePlanned { target: target(round), moved, keep }
}

/// The user's wish that a path stays at the root when a round is archived; it contradicts nothing in the task.
pub fn keep_wish(round: u64, path: &str) -> OverrideRecorded {
    OverrideRecorded {
        point: keep_point(round),
        request: format!("{KEEP}{path}{AT_ROOT}"),
        overrides: None,
        urgency: "deferrable".to_owned(),
        constraint: None,
    }
}

/// The paths that the user wished to stay when a round is archived.
pub fn kept_by_user(program: &Program, round: u64) -> Vec<String> {
    let (overrides, point) = (program.overrides(round), keep_point(round));
    let wishes = overrides.requests.iter().filter(|(at, _)| *at == point);
    let path =
        |request: &String| request.strip_prefix(KEEP)?.strip_suffix(AT_ROOT).map(str::to_owned);
    wishes.filter_map(|(_, request)| path(request)).collect()
}

const KEEP: &str = "keep ";
const AT_ROOT: &str = " at the root";

fn keep_point(round: u64) -> String {
    format!("archive of round {round}")
}

/// What is said when the folder of a round holds something already (G.3).
pub fn clobber(round: u64) -> String {
    let target = target(round);
    format!(
        "[next-round] ERROR: {target} already populated \u{2014} nothing in it is overwritten\n[next-round] nothing was archived, and no task was drafted\n[next-round] if round {round} is archived there, nothing is left to do; else look through rounds/ before the next try"
    )
}

/// The parameters recommended for an intent (G.4): the source of the behavior, and who picks the mechanism.
pub fn parameters(intent: Intent) -> (&'static str, &'static str) {
    match intent {
        Intent::NewBehavior => ("discovery", "discovery"),
        Intent::NewMechanism => ("given", "discovery"),
        Intent::ReValidate => ("given-validation", "discovery"),
    }
}

/// The line under `## Notes` of a draft whose user gave none.
pub fn note(intent: Intent, behavior: Option<&Behavior>) -> String {
    let id = behavior.map_or("the behavior", |behavior| behavior.id.as_str());
    match intent {
        Intent::NewBehavior => {
            "Pick a phenomenon that is not on the list above; the untried candidates are a start."
                .to_owned()
        }
        Intent::NewMechanism => format!(
            "Explain {id} by a direction that nobody has settled yet; data/ and cache/ are kept for it."
        ),
        Intent::ReValidate => {
            let weakness = behavior.map_or("", |behavior| behavior.behavior_conclusion.trim());
            let weakness = if weakness.is_empty() { "nothing conclusive" } else { weakness };
            format!(
                "Strengthen the M0 test of {id} (data, contrast or model); it found: {weakness} data/ and cache/ are kept: delete them before the run if the test needs new data."
            )
        }
    }
}

/// The lines of G.7; none before the next task is drafted.
pub fn report(program: &Program, round: u64) -> Vec<String> {
    let passage = program.passage(round);
    let (Some(intent), Some((source, mechanism))) = (passage.intent, &passage.drafted) else {
        return Vec::new();
    };
    // Validating again keeps the behavior's files as a new mechanism does, and prints as one.
    let intent = match (keeps_behavior(intent), &passage.behavior) {
        (true, Some(id)) => format!("new-mechanism {id}"),
        (true, None) | (false, _) => Intent::NewBehavior.to_string(),
    };
    let next = round + 1;
    vec![
        format!("[next-round] archived round {round} \u{2192} {}", target(round)),
        format!("[next-round] intent: {intent}"),
        format!(
            "[next-round] drafted task.md for round {next} (recommended: /auto \u{2014} behavior-source: {source}, mechanism: {mechanism})"
        ),
        "Next: edit task.md, then run /auto.".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Intent, plan};

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn everything_that_is_not_kept_moves_plain_names_first_in_byte_order() {
        let root = texts(&[
            ".rp",
            "verify",
            ".mechanist",
            "data",
            "cache",
            "task.md",
            "rounds",
            ".git",
            "Zeta",
            "a b",
            "\u{e9}tude",
            "line\nbreak",
            "notification",
            "mechanic_db_cache",
            ".a",
        ]);
        let fresh = plan(2, Intent::NewBehavior, &root, &[]);
        assert_eq!(fresh.target, "rounds/round_2/");
        assert_eq!(
            fresh.moved,
            texts(&[
                "Zeta",
                "a b",
                "cache",
                "data",
                "line\nbreak",
                "mechanic_db_cache",
                "verify",
                "\u{e9}tude",
                ".a",
                ".mechanist",
            ])
        );
        let same = plan(2, Intent::ReValidate, &root, &texts(&["verify", ".git"]));
        assert_eq!(
            same.moved,
            texts(&[
                "Zeta",
                "a b",
                "line\nbreak",
                "mechanic_db_cache",
                "\u{e9}tude",
                ".a",
                ".mechanist",
            ])
        );
        assert_eq!(
            same.keep,
            texts(&[
                ".claude",
                ".mcp.json",
                ".git",
                ".gitignore",
                "task.md",
                "research_memory.json",
                "rounds",
                "notification",
                "data",
                "cache",
                ".rp",
                "verify",
            ])
        );
    }
}
