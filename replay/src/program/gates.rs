//! The gates of a round: where each stands, how it is decided in this mode, which answers it takes (E16, E17, E24
//! and H.5 of the domain text).

use super::{
    Program,
    constants::StageName,
    state::{Answer, Life, Round, Routing, StageState},
};

/// A gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// Its name.
    pub name: &'static str,
    /// Where it stands.
    pub state: State,
    /// How it is decided: `auto`, `standing-approval`, `interactive`, or `user` in every mode.
    pub mode: &'static str,
    /// The answers that it takes; the recommended one first.
    pub answers: Vec<String>,
    /// What was decided, or what it waits for.
    pub note: String,
}

/// Where a gate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its turn has not come.
    Ahead,
    /// It waits for its answer.
    Open,
    /// It is decided in favour.
    Passed,
    /// It is decided against going on.
    Stopped,
    /// This round does not have it.
    Absent,
}

impl State {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ahead => "ahead",
            Self::Open => "open",
            Self::Passed => "passed",
            Self::Stopped => "stopped",
            Self::Absent => "absent",
        }
    }
}

impl Gate {
    /// Whether it waits for a person.
    pub fn waits(&self) -> bool {
        self.state == State::Open && matches!(self.mode, "interactive" | "user")
    }
}

/// The gates of a round, in the order in which they are met.
pub fn list(program: &Program, number: u64) -> Vec<Gate> {
    let Some(round) = program.round(number) else { return Vec::new() };
    vec![
        multi_round(&round, number),
        settled_pin(&round),
        comprehension(&round),
        claim(program, number, &round),
        family(&round),
        deploy(&round, "experiment", StageName::Experiment),
        deploy(&round, "verify", StageName::Verify),
    ]
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// It guards the next round: this one must be out of the way.
fn multi_round(round: &Round, number: u64) -> Gate {
    let (state, note) = match round.life {
        Life::Archived => (State::Passed, format!("round {number} is archived")),
        Life::Discarded => (State::Passed, format!("round {number} is discarded")),
        Life::Running | Life::Ended(_) => {
            (State::Open, format!("no round opens before round {number} is archived or discarded"))
        }
    };
    let answers = texts(&["archive", "resume", "discard"]);
    Gate { name: "multi-round", state, mode: "user", answers, note }
}

fn settled_pin(round: &Round) -> Gate {
    let task = &round.task;
    let pins =
        [("behavior", &task.behavior), ("direction", &task.direction), ("family", &task.family)];
    let pinned: Vec<&str> =
        pins.iter().filter(|(_, pin)| pin.is_some()).map(|(level, _)| *level).collect();
    let dropped: Vec<&str> = round.dropped_pins.iter().map(String::as_str).collect();
    let mode =
        if round.settings.auto_proceed || task.retry_settled { "auto" } else { "interactive" };
    let (state, note) = match (pinned.is_empty(), dropped.is_empty()) {
        (true, _) => (State::Absent, "the task pins nothing".to_owned()),
        (false, false) => {
            (State::Passed, format!("replaced by a fresh pick: {}", dropped.join(", ")))
        }
        (false, true) if round.stages.claim.attempt > 0 => {
            (State::Passed, format!("honoured: {}", pinned.join(", ")))
        }
        (false, true) => {
            (State::Ahead, format!("ask `rp round settled` about: {}", pinned.join(", ")))
        }
    };
    let answers =
        if task.retry_settled { ["honor-pin", "pick-fresh"] } else { ["pick-fresh", "honor-pin"] };
    Gate { name: "settled-pin", state, mode, answers: texts(&answers), note }
}

fn comprehension(round: &Round) -> Gate {
    let (state, note) = match (round.comprehended, round.behavior_source.as_str()) {
        (true, source) => (State::Passed, format!("the behavior source is {source}")),
        (false, "discovery") => (State::Absent, "the round looks for its behavior".to_owned()),
        (false, _) => {
            (State::Open, "a vague behavior is decided by the user in every mode".to_owned())
        }
    };
    let answers = texts(&["switch-to-discovery", "specify-behavior"]);
    Gate { name: "comprehension", state, mode: "user", answers, note }
}

fn state_of(answer: Option<Answer>, is_due: bool) -> State {
    match answer {
        Some(Answer::Go) => State::Passed,
        Some(Answer::Stop) => State::Stopped,
        None if is_due => State::Open,
        None => State::Ahead,
    }
}

fn claim(program: &Program, number: u64, round: &Round) -> Gate {
    let state = state_of(round.gates.claim, round.stages.claim.is_done());
    let ideas = program.ideas(number);
    let chosen = ideas.as_ref().and_then(|ideas| ideas.chosen);
    let note = chosen.map(|n| format!("idea {n} is recommended")).unwrap_or_default();
    if round.settings.auto_proceed {
        return Gate { name: "claim", state, mode: "auto", answers: texts(&["approve"]), note };
    }
    let mut answers = texts(&["approve"]);
    let others = ideas.iter().flat_map(|ideas| &ideas.ideas);
    let others = others.filter(|idea| !idea.eliminated && Some(idea.rank) != chosen);
    answers.extend(others.map(|idea| format!("switch {}", idea.rank)));
    answers.extend(texts(&["re-run", "stop"]));
    Gate { name: "claim", state, mode: "interactive", answers, note }
}

fn family(round: &Round) -> Gate {
    let auto = round.settings.auto_proceed;
    let named = |method: &super::state::Method| {
        if method.submethod.is_empty() {
            method.family.clone()
        } else {
            format!("{} / {}", method.family, method.submethod)
        }
    };
    let mut answers = Vec::new();
    let (state, note) = match &round.routing {
        _ if auto => (State::Absent, "full-auto takes the recommended family".to_owned()),
        _ if round.mechanism == "given" => {
            (State::Absent, "the user names the mechanism".to_owned())
        }
        Routing::Committed(method) => (State::Passed, named(method)),
        Routing::NotApplicable => (State::Absent, "the round is behavioral only".to_owned()),
        Routing::Open => (State::Ahead, String::new()),
        Routing::Proposed { candidates, recommended } => {
            let numbered = (1_u64..).zip(candidates);
            let mut listed: Vec<(u64, String)> =
                numbered.map(|(n, method)| (n, format!("{n}: {}", named(method)))).collect();
            listed.sort_by_key(|(n, _)| (n != recommended, *n));
            answers = listed.into_iter().map(|(_, text)| text).collect();
            match round.gates.family {
                Some(n) => (State::Passed, format!("candidate {n}")),
                None => (State::Open, format!("candidate {recommended} is recommended")),
            }
        }
    };
    let mode = if auto { "auto" } else { "interactive" };
    Gate { name: "mechanism-family", state, mode, answers, note }
}

/// The gates inside the experiment and verify stages.
fn deploy(round: &Round, name: &'static str, within: StageName) -> Gate {
    let settings = &round.settings;
    let (mode, answers) = if settings.auto_proceed {
        ("auto", texts(&["approve"]))
    } else if settings.auto_deploy {
        ("standing-approval", texts(&["approve"]))
    } else {
        ("interactive", texts(&["approve", "narrow-scope", "abort"]))
    };
    let answer = round.gates.of(within);
    let (state, note) = match (&round.stages.of(within).state, answer) {
        (StageState::Skipped, None) => (State::Absent, format!("stage {name} is skipped")),
        (StageState::Accepted, None) => (State::Absent, format!("stage {name} ended before it")),
        (_, answer) => (state_of(answer, round.is_live(within)), String::new()),
    };
    Gate { name, state, mode, answers, note }
}
