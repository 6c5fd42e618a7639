//! The research memory for people: the same records as the file, a part a behavior.

use super::{rounds, tone};
use crate::{
    State,
    document::{Address, Body, Cell, Document, Tone},
    program::memory::{Behavior, Mechanism},
    views::{Args, ViewError},
};

pub(super) fn memory(state: &State, _: &Args) -> Result<Document, ViewError> {
    let program = state.program();
    let Some(root) = program.root().filter(|root| root.has_memory) else {
        return Err(ViewError::Nothing("no round has written to the memory yet".to_owned()));
    };
    let behaviors = program.behaviors();
    let facts = [
        ("direction", Cell::from(root.direction.clone())),
        ("behaviors", Cell::from(behaviors.len().to_string())),
    ];
    let page = Document::new("Memory").with("", Body::facts(facts));
    let page = behaviors.iter().fold(page, |page, behavior| part(page, behavior));
    let untried = rounds::list(&root.untried_behavior_directions);
    Ok(page.with_some("Directions that nobody has tried", untried))
}

fn part(page: Document, behavior: &Behavior) -> Document {
    let impact = &behavior.impact;
    let assessed = impact.assessed_in_round.map_or_else(Cell::default, |round| {
        Cell::from(impact.recommendation.clone())
            .and(" (assessed in ")
            .and(Cell::link(Address::round(round)))
            .and("): ")
            .and(impact.assessment.as_str())
    });
    let facts = [
        ("statement", Cell::from(behavior.statement.clone())),
        ("status", tone::behavior(&behavior.status)),
        ("decided in", Cell::link(Address::round(behavior.decided_in_round))),
        ("conclusion", Cell::from(behavior.behavior_conclusion.clone())),
        ("impact", assessed),
        ("untried mechanisms", Cell::from(behavior.untried_mechanism_directions.join(", "))),
    ];
    let facts = Body::facts(facts.into_iter().filter(|(_, cell)| !cell.0.is_empty()));
    let page = page.with(behavior.id.clone(), facts);
    page.with_some(format!("{}: attempts", behavior.id), attempts(&behavior.mechanisms))
}

fn attempts(mechanisms: &[Mechanism]) -> Body {
    let rows = mechanisms.iter().map(|attempt| {
        let (tone, reading) = match attempt.reading.as_deref() {
            Some("stable-positive") => (Tone::Good, "stable-positive"),
            Some("stable-negative") => (Tone::Bad, "stable-negative"),
            Some(_) => (Tone::Open, "open"),
            None => (Tone::Open, "unread"),
        };
        let claims = attempt.claims.iter().map(|claim| {
            Cell::link(Address::claim(attempt.round, &claim.id))
                .and(": ")
                .and(Cell::clipped(&claim.conclusion, 160))
        });
        let cells = [
            Cell::link(Address::round(attempt.round)),
            Cell::from(attempt.direction.clone()),
            Cell::from(attempt.family.clone().unwrap_or_else(|| "behavioral only".to_owned())),
            Cell::from(attempt.headline.clone()),
            Cell::joined(claims, "; "),
            Cell::status(tone, reading),
        ];
        (None, cells)
    });
    Body::table(["round", "direction", "family", "headline", "claims", "reading"], rows)
}
