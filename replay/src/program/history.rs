//! Which events are about a claim: those that name it, and those about the runs that serve it.

use rp_events::program::Event;
use serde_json::Value;

use super::Program;

/// The fields that hold claims of their round.
const HOLDING: &[&str] = &["claim", "claims", "produced", "picked", "parent"];

/// The fields that are maps from claims of their round.
const MAPPING: &[&str] = &["main_verdicts", "slugs", "rationale"];

/// Whether an event of a claim's round is about the claim.
pub fn concerns(program: &Program, round: u64, claim: &str, event: &Event) -> bool {
    let run = if let Event::RunFinished(body) = event {
        Some(&body.run)
    } else if let Event::RunRescaled(body) = event {
        Some(&body.run)
    } else {
        None
    };
    let serves = run.and_then(|run| program.run(round, run.as_str()));
    if serves.is_some_and(|run| run.claims.iter().any(|served| served == claim)) {
        return true;
    }
    let own = event.kind().name.starts_with("claim.");
    serde_json::from_str(event.to_json().get()).is_ok_and(|payload| names(&payload, claim, own))
}

/// Whether a payload names a claim. `within` says that an `id` at this level is a claim's.
fn names(value: &Value, claim: &str, within: bool) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            let holding = HOLDING.contains(&key.as_str());
            let is_it = |text: &Value| text.as_str() == Some(claim);
            let named = match value {
                Value::Object(map) => MAPPING.contains(&key.as_str()) && map.contains_key(claim),
                Value::Array(list) => holding && list.iter().any(is_it),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                    (holding || (within && key == "id")) && is_it(value)
                }
            };
            named || names(value, claim, holding)
        }),
        Value::Array(list) => list.iter().any(|value| names(value, claim, within)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_claim_is_named_where_a_field_holds_claims_and_nowhere_else() {
        let of = |text: &str, own| names(&serde_json::from_str(text).unwrap(), "C1", own);
        for text in [
            r#"{"claim":"C1"}"#,
            r#"{"claims":["C2","C1"]}"#,
            r#"{"claims":[{"id":"C1","changed":""}]}"#,
            r#"{"requests":[{"claim":"C1","action":2}]}"#,
            r#"{"milestones":[{"id":"M1","claims":["C1"]}]}"#,
            r#"{"main_verdicts":{"C1":"supported"}}"#,
            r#"{"parent":"C1"}"#,
        ] {
            assert!(of(text, false), "{text}");
        }
        assert!(of(r#"{"id":"C1"}"#, true));
        for text in [
            r#"{"id":"C1"}"#,
            r#"{"claim":"C10"}"#,
            r#"{"run":"C1"}"#,
            r#"{"text":"C1"}"#,
            r#"{"items":[{"id":"C1"}]}"#,
            r#"{"other":{"C1":1}}"#,
        ] {
            assert!(!of(text, false), "{text}");
        }
    }
}
