//! Whether something pinned is settled, and what then becomes of the pin (F.6 and F.7 of the domain text).
//!
//! The rule of `pin.resolved` and the question of the command line ask the same functions.

use rp_events::Refusal;

use super::{
    Program, codes,
    constants::{CHAIN, DIRECTIONS, PhenomenonStatus, family, family_named_by},
    memory::{Behavior, Mechanism},
};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// A behavior, by its id or by its statement.
    pub behavior: String,
    /// A direction of mechanism work, or a chain of them.
    pub direction: Option<String>,
    /// A family of methods.
    pub family: Option<String>,
    /// Where the behavior comes from: `given`, `given-validation` or `discovery`.
    pub source: String,
    /// Whether the task says that settled work may be done again.
    pub retry_settled: bool,
    /// Whether nobody is asked.
    pub auto_proceed: bool,
}

/// The answer, a row a level asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The behavior's id.
    pub behavior: String,
    /// Its status.
    pub status: String,
    /// `behavior`, and then, if asked, the pair, direction or family.
    pub rows: Vec<Row>,
}

/// A level of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// `behavior`, `direction`, `family`, or `direction+family`.
    pub level: &'static str,
    /// What is pinned.
    pub item: String,
    /// The round that settled it; none if it is open.
    pub settled_in: Option<u64>,
    /// `honor-pin`, `pick-fresh`, or `ask` where the user decides; none where there is nothing to resolve.
    pub decision: Option<&'static str>,
}

/// Answers from the memory as it stands.
///
/// # Errors
///
/// The memory holds no such behavior, or a direction or family has an unknown name.
pub fn ask(program: &Program, question: &Question) -> Result<Answer, Refusal> {
    let named = |behavior: &&std::sync::Arc<Behavior>| {
        behavior.id == question.behavior || behavior.statement.trim() == question.behavior.trim()
    };
    let behaviors = program.behaviors();
    let behavior = behaviors.iter().find(named).ok_or_else(|| {
        let known: Vec<&str> = behaviors.iter().map(|behavior| behavior.id.as_str()).collect();
        let known = if known.is_empty() { "nothing".to_owned() } else { known.join("`, `") };
        let why = format!("the memory holds `{known}`; found `{}`", question.behavior);
        Refusal::new(&codes::UNKNOWN_BEHAVIOR, why)
    })?;
    if let Some(direction) = &question.direction {
        known_direction(direction)?;
    }
    let wanted = question.family.as_deref().map(known_family).transpose()?;
    let decide = |settled: Option<u64>| settled.map(|_| decision(question));
    let settled_in = behavior_conflict(behavior, &question.source);
    let mut rows = vec![Row {
        level: "behavior",
        item: behavior.id.clone(),
        settled_in,
        decision: decide(settled_in),
    }];
    let direction = question.direction.as_deref();
    if direction.is_some() || wanted.is_some() {
        let settled_in = attempt_settled(behavior, direction, wanted);
        let level = match (direction, wanted) {
            (Some(_), Some(_)) => "direction+family",
            (Some(_), None) => "direction",
            (None, _) => "family",
        };
        let item = [direction, wanted].into_iter().flatten().collect::<Vec<_>>().join(" + ");
        rows.push(Row { level, item, settled_in, decision: decide(settled_in) });
    }
    Ok(Answer { behavior: behavior.id.clone(), status: behavior.status.clone(), rows })
}

fn known_direction(text: &str) -> Result<(), Refusal> {
    match text.split(CHAIN).find(|direction| !DIRECTIONS.contains(direction)) {
        None => Ok(()),
        Some(odd) => Err(Refusal::new(
            &codes::UNKNOWN_DIRECTION,
            format!("a direction is one of `{}`; found `{odd}`", DIRECTIONS.join("`, `")),
        )),
    }
}

fn known_family(text: &str) -> Result<&'static str, Refusal> {
    family_named_by(text).map(|family| family.name).ok_or_else(|| {
        let names: Vec<&str> =
            super::constants::FAMILIES.iter().map(|family| family.name).collect();
        let why = format!("a family is one of `{}`; found `{text}`", names.join("`, `"));
        Refusal::new(&codes::UNKNOWN_FAMILY, why)
    })
}

/// What becomes of a pin on something settled (F.7).
fn decision(question: &Question) -> &'static str {
    match (question.retry_settled, question.auto_proceed) {
        (true, _) => "honor-pin",
        (false, true) => "pick-fresh",
        (false, false) => "ask",
    }
}

/// The round that settled a behavior whose question a pin would ask again.
///
/// With the behavior given, only a refuted one is in conflict: an established one is to be built on.
pub(crate) fn behavior_conflict(behavior: &Behavior, source: &str) -> Option<u64> {
    let status = PhenomenonStatus::parse(&behavior.status)?;
    let conflict = if source == "given" {
        status == PhenomenonStatus::NotEstablished
    } else {
        status.is_settled()
    };
    conflict.then_some(behavior.decided_in_round)
}

/// The round of the last settled attempt at what is pinned. Where both are pinned, it is their pair that is or
/// is not settled (Rule 1).
pub(crate) fn attempt_settled(
    behavior: &Behavior,
    direction: Option<&str>,
    family: Option<&str>,
) -> Option<u64> {
    let matches = |attempt: &&Mechanism| {
        attempt.is_settled()
            && direction.is_none_or(|pin| uses_direction(attempt, pin))
            && family.is_none_or(|pin| uses_family(attempt, pin))
    };
    behavior.mechanisms.iter().filter(matches).map(|attempt| attempt.round).next_back()
}

fn uses_direction(attempt: &Mechanism, pin: &str) -> bool {
    attempt.direction == pin || attempt.direction.split(CHAIN).any(|used| used == pin)
}

fn uses_family(attempt: &Mechanism, pin: &str) -> bool {
    let used = attempt.family.as_deref().and_then(family);
    used.is_some_and(|used| family(pin).is_some_and(|pin| pin.name == used.name))
}

#[cfg(test)]
mod tests {
    use super::{attempt_settled, behavior_conflict};
    use crate::program::memory::{Behavior, Mechanism};

    fn attempt(round: u64, direction: &str, family: &str, reading: Option<&str>) -> Mechanism {
        Mechanism {
            round,
            direction: direction.to_owned(),
            family: Some(family.to_owned()),
            reading: reading.map(str::to_owned),
            ..Mechanism::default()
        }
    }

    #[test]
    fn a_pair_is_settled_as_a_pair_and_open_readings_settle_nothing() {
        let behavior = Behavior {
            mechanisms: vec![
                attempt(1, "Location \u{2192} Causal Intervention", "Probing", Some("open")),
                attempt(2, "Location", "Causal Attribution / Patching", Some("stable-negative")),
                attempt(3, "Unit Interpretation", "Probing", Some("stable-positive")),
                attempt(4, "Formation Tracing", "SHAP", None),
            ],
            ..Behavior::default()
        };
        let settled = |direction, family| attempt_settled(&behavior, direction, family);
        assert_eq!(settled(Some("Location"), None), Some(2));
        assert_eq!(settled(None, Some("Causal Attribution")), Some(2));
        assert_eq!(settled(Some("Location"), Some("Causal Attribution / Ablation")), Some(2));
        // Both halves are settled, each in another attempt; nobody has settled the pair.
        assert_eq!(settled(Some("Location"), Some("Probing")), None);
        assert_eq!(settled(None, Some("Probing")), Some(3));
        assert_eq!(settled(Some("Causal Intervention"), None), None);
        assert_eq!(settled(Some("Formation Tracing"), None), None);
    }

    #[test]
    fn a_behavior_is_in_conflict_where_its_question_would_be_asked_again() {
        let of = |status: &str, source: &str| {
            let behavior =
                Behavior { status: status.to_owned(), decided_in_round: 5, ..Behavior::default() };
            behavior_conflict(&behavior, source)
        };
        for (status, given, validated) in [
            ("established", None, Some(5)),
            ("conditional", None, Some(5)),
            ("not-established", Some(5), Some(5)),
            ("inconclusive", None, None),
        ] {
            assert_eq!(of(status, "given"), given, "{status}");
            assert_eq!(of(status, "given-validation"), validated, "{status}");
        }
    }
}
