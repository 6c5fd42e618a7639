//! What may come next: the rules are asked about each act that would move the program on.
//!
//! No list of steps stands here. An act is put together from the state as it would be recorded, and the rules
//! that an append asks say whether it may come; those that they refuse are left out. So what is named as legal is
//! legal, and a rule that changes changes the answer.

mod between;
mod stages;

use rp_events::{EventId, Kid, Kind, Role, Stamp};
use serde_json::Value;

use super::Scene;
use crate::{At, State};

/// An act that the rules would let pass now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// Its kind.
    pub kind: &'static str,
    /// The stream that it would stand in.
    pub stream: String,
    /// The roles of which its key must hold one.
    pub by: Vec<String>,
    /// The payload, where the state says all of it; else only its shape is known.
    pub data: Option<String>,
    /// What it would say, one for each payload that may pass.
    pub choices: Vec<String>,
}

/// Every act that moves the program on and that the rules would let pass now.
pub fn next(state: &State) -> Vec<Action> {
    let mut acts = Acts { state, passed: Vec::new() };
    between::program(&mut acts);
    let Some(number) = state.program().latest_round() else { return acts.passed };
    let Some(round) = state.program().round(number) else { return acts.passed };
    let stream = format!("round/{number}");
    let roles = [];
    let at = place(state, kind("round.resumed"), &stream, &roles, None);
    let scene = Scene { state, program: state.program(), at: &at, number, round };
    if !scene.round.life.is_closed() {
        stages::of_round(&scene, &mut acts);
        between::ends(&scene, &mut acts);
    }
    between::passage(&scene, &mut acts);
    acts.passed
}

/// The agent that is at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// The round.
    pub round: u64,
    /// The stage.
    pub stage: &'static str,
    /// Which dispatch of it this is.
    pub attempt: u64,
    /// The agent's role.
    pub agent: String,
    /// What it may record while it is out, each within the rules of its kind.
    pub kinds: Vec<&'static str>,
}

/// The agent that is at work in the latest round, if one is out.
pub fn at_work(state: &State) -> Option<Work> {
    let number = state.program().latest_round()?;
    let round = state.program().round(number)?;
    let running = round.stages.running().filter(|_| !round.life.is_closed())?;
    let agent = format!("{running}-agent");
    let own = |kind: &&Kind| kind.owners.contains(&agent.as_str());
    let kinds = rp_events::program::KINDS.iter().filter(own).map(|kind| kind.name).collect();
    let attempt = round.stages.of(running).attempt;
    Some(Work { round: number, stage: running.as_str(), attempt, agent, kinds })
}

/// The acts that passed so far.
struct Acts<'a> {
    state: &'a State,
    passed: Vec<Action>,
}

impl Acts<'_> {
    /// Asks about an act whose payload is known.
    fn ask(&mut self, name: &'static str, stream: &str, choice: &str, data: &Value) {
        self.put(name, stream, choice, data, true);
    }

    /// Asks about an act of which only the caller knows what it will say; `shape` stands in its place.
    fn ask_shape(&mut self, name: &'static str, stream: &str, choice: &str, shape: &Value) {
        self.put(name, stream, choice, shape, false);
    }

    fn put(&mut self, name: &'static str, stream: &str, choice: &str, data: &Value, whole: bool) {
        let kind = kind(name);
        let stage = kind.stage_field().and_then(|field| data.get(field)).and_then(Value::as_str);
        let by = owners(kind, stage);
        if !passes(self.state, kind, stream, &by, stage, data) {
            return;
        }
        let same = |action: &&mut Action| action.kind == kind.name && action.stream == stream;
        let choice = (!choice.is_empty()).then(|| choice.to_owned());
        if let Some(action) = self.passed.iter_mut().find(same) {
            action.choices.extend(choice);
            return;
        }
        self.passed.push(Action {
            kind: kind.name,
            stream: stream.to_owned(),
            by,
            data: whole.then(|| data.to_string()),
            choices: choice.into_iter().collect(),
        });
    }
}

/// Whether the rules would let an act pass, signed by an owner of its kind.
fn passes(
    state: &State,
    kind: &'static Kind,
    stream: &str,
    by: &[String],
    agent_of: Option<&str>,
    data: &Value,
) -> bool {
    let read = rp_events::json::parse(&data.to_string())
        .and_then(|json| rp_events::Event::read(kind.name, &json));
    let Ok(rp_events::Event::Program(event)) = read else { return false };
    let roles: Vec<Role> = by.iter().filter_map(|role| Role::parse(role).ok()).collect();
    let at = place(state, kind, stream, &roles, agent_of);
    super::admit(state, &at, &event).is_ok()
}

fn place<'a>(
    state: &State,
    kind: &'static Kind,
    stream: &'a str,
    roles: &'a [Role],
    agent_of: Option<&'a str>,
) -> At<'a> {
    At {
        seq: state.next(),
        id: EventId([0; 32]),
        time: Stamp::from_millis(0).expect("the epoch is a time"),
        kind,
        kid: Kid([0; 32]),
        signer: "",
        roles,
        stage: agent_of,
        stream,
        cause: &[],
    }
}

/// The roles that own a kind, the stage's agent by its own name.
fn owners(kind: &Kind, stage: Option<&str>) -> Vec<String> {
    let each = |owner: &&str| match (owner.starts_with('@'), stage) {
        (false, _) => Some((*owner).to_owned()),
        (true, Some(stage)) => Some(format!("{stage}-agent")),
        (true, None) => None,
    };
    kind.owners.iter().filter_map(each).collect()
}

fn kind(name: &str) -> &'static Kind {
    rp_events::kind(name).expect("acts are of kinds in the table")
}
