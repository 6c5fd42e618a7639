//! `research_memory.json`: what the program knows of each behavior, in the order of `spec/views.md`.

use std::sync::Arc;

use serde::Serialize;

use crate::program::{
    Root,
    memory::{Behavior, Impact, Mechanism, MechanismClaim},
};

/// Renders the file.
pub fn render(root: &Root, behaviors: &[Arc<Behavior>]) -> String {
    super::json(&Memory {
        direction: &root.direction,
        behaviors: behaviors.iter().map(|behavior| entry(behavior)).collect(),
        untried_behavior_directions: &root.untried_behavior_directions,
    })
}

fn entry(behavior: &Behavior) -> BehaviorEntry<'_> {
    BehaviorEntry {
        id: &behavior.id,
        statement: &behavior.statement,
        status: &behavior.status,
        behavior_conclusion: &behavior.behavior_conclusion,
        impact: &behavior.impact,
        decided_in_round: behavior.decided_in_round,
        mechanisms: behavior.mechanisms.iter().map(mechanism).collect(),
        untried_mechanism_directions: &behavior.untried_mechanism_directions,
    }
}

fn mechanism(attempt: &Mechanism) -> MechanismEntry<'_> {
    MechanismEntry {
        round: attempt.round,
        direction: &attempt.direction,
        family: attempt.family.as_deref(),
        headline: &attempt.headline,
        claims: &attempt.claims,
        archived_to: &attempt.archived_to,
    }
}

// The file's own shapes: the records carry more than the file shows.

#[derive(Serialize)]
struct Memory<'a> {
    direction: &'a str,
    behaviors: Vec<BehaviorEntry<'a>>,
    untried_behavior_directions: &'a [String],
}

#[derive(Serialize)]
struct BehaviorEntry<'a> {
    id: &'a str,
    statement: &'a str,
    status: &'a str,
    behavior_conclusion: &'a str,
    impact: &'a Impact,
    decided_in_round: u64,
    mechanisms: Vec<MechanismEntry<'a>>,
    untried_mechanism_directions: &'a [String],
}

#[derive(Serialize)]
struct MechanismEntry<'a> {
    round: u64,
    direction: &'a str,
    family: Option<&'a str>,
    headline: &'a str,
    claims: &'a [MechanismClaim],
    archived_to: &'a str,
}
