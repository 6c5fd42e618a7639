//! What the program says of its rounds, claims, experiment runs and behaviors, by address.

use crate::{Address, State};

/// Whether a round, a claim, a run or a behavior is on record.
pub(crate) fn stands(address: &Address, state: &State) -> bool {
    let program = state.program();
    match address {
        Address::Round(round) => program.round(*round).is_some(),
        Address::Claim(round, id) => program.row(*round, id).is_some(),
        Address::Run(round, id) => program.run(*round, id).is_some(),
        Address::Behavior(id) => program.behavior(id).is_some(),
        Address::Event(_) | Address::Key(_) | Address::Artifact(_) => false,
    }
}

/// What is on record of a round, a claim, a run or a behavior.
pub(crate) fn facts(address: &Address, state: &State) -> Vec<(String, String)> {
    match address {
        Address::Round(round) => round_facts(*round, state),
        Address::Claim(round, id) => claim_facts(*round, id, state),
        Address::Run(round, id) => run_facts(*round, id, state),
        Address::Behavior(id) => behavior_facts(id, state),
        Address::Event(_) | Address::Key(_) | Address::Artifact(_) => Vec::new(),
    }
}

/// Facts whose value says something.
fn said<const N: usize>(facts: [(&str, &str); N]) -> Vec<(String, String)> {
    let spoken = facts.into_iter().filter(|(_, value)| !value.is_empty());
    spoken.map(|(label, value)| (label.to_owned(), value.to_owned())).collect()
}

fn round_facts(round: u64, state: &State) -> Vec<(String, String)> {
    let Some(header) = state.program().header(round) else { return Vec::new() };
    said([
        ("project", &header.project),
        ("direction", &header.direction),
        ("pipeline status", &header.pipeline_status),
    ])
}

fn claim_facts(round: u64, id: &str, state: &State) -> Vec<(String, String)> {
    let Some(row) = state.program().row(round, id) else { return Vec::new() };
    let mut facts = said([
        ("statement", &row.statement),
        ("origin", &row.origin),
        ("main experiment", &row.main_experiment.verdict),
        ("key stats", &row.main_experiment.key_stats),
        ("verify", &row.verify.verdict),
        ("final status", &row.final_status),
    ]);
    facts.extend(row.caveats.iter().map(|text| ("caveat".to_owned(), text.clone())));
    facts.extend(row.artifacts.iter().map(|path| ("artifact path".to_owned(), path.clone())));
    facts
}

fn run_facts(round: u64, id: &str, state: &State) -> Vec<(String, String)> {
    let Some(run) = state.program().run(round, id) else { return Vec::new() };
    let (of, milestone) = (run.stage.to_string(), run.milestone.clone().unwrap_or_default());
    let mut facts = said([
        ("stage", of.as_str()),
        ("milestone", &milestone),
        ("claims", &run.claims.join(", ")),
        ("launch", &run.launch.words()),
        ("items used", &run.used_n),
    ]);
    facts.extend(run.measurements.iter().map(|taken| ("measurement".to_owned(), taken.words())));
    facts
}

fn behavior_facts(id: &str, state: &State) -> Vec<(String, String)> {
    let Some(behavior) = state.program().behavior(id) else { return Vec::new() };
    said([
        ("statement", &behavior.statement),
        ("status", &behavior.status),
        ("conclusion", &behavior.behavior_conclusion),
    ])
}
