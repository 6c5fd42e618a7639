//! Reads `research_memory.json` of an older project (F.1) into the payload that takes it over.

use std::collections::BTreeSet;

use rp_events::{
    BehaviorId, ClaimId,
    json::Json,
    program::{
        ClaimFinding, ImportedBehavior, ImportedImpact, ImportedMechanism, ImportedMemory,
        Unverified,
    },
};

use super::{
    ROUND_MAX,
    lenient::{self, Doubts, Fields},
};

/// Reads the memory.
///
/// # Errors
///
/// What keeps it from being taken over whole: the next round would write the file anew, and lose the rest.
pub(super) fn read(bytes: &[u8], doubts: &mut Doubts) -> Result<ImportedMemory, Unverified> {
    let json = match lenient::json(bytes, doubts) {
        Some(json @ Json::Object(_)) => json,
        Some(other) => {
            return Err(blocked("bad-type", "", &lenient::literal(&other), "an object was due"));
        }
        // What could not be read at all was the last doubt.
        None => {
            let last = doubts.clone().into_list().pop();
            return Err(last.unwrap_or_else(|| blocked("empty-file", "", "", "it has no content")));
        }
    };
    let mut fields = Fields::of(Some(&json), "", doubts);
    let direction = fields.text("direction", doubts);
    let mut behaviors: Vec<ImportedBehavior> = Vec::new();
    let mut seen = BTreeSet::new();
    for (place, json) in fields.items("behaviors", doubts) {
        let behavior = behavior(json, &place, doubts)?;
        if !seen.insert(behavior.id.clone()) {
            return Err(blocked(
                "duplicate-key",
                &place,
                behavior.id.as_str(),
                "the behavior stands twice",
            ));
        }
        behaviors.push(behavior);
    }
    let untried_behavior_directions = fields.texts("untried_behavior_directions", doubts);
    fields.finish(doubts);
    Ok(ImportedMemory { direction, behaviors, untried_behavior_directions })
}

fn blocked(code: &str, place: &str, value: &str, why: &str) -> Unverified {
    let mut doubts = Doubts::of(super::MEMORY);
    doubts.add(code, place, value, why);
    doubts.into_list().pop().expect("it was just added")
}

fn behavior(json: &Json, place: &str, doubts: &mut Doubts) -> Result<ImportedBehavior, Unverified> {
    let mut fields = Fields::of(Some(json), place, doubts);
    let id = fields.text("id", doubts);
    let id =
        BehaviorId::parse(&id).map_err(|why| blocked("bad-id", &fields.place("id"), &id, &why))?;
    let statement = fields.text("statement", doubts);
    let status = fields.text("status", doubts);
    let behavior_conclusion = fields.text("behavior_conclusion", doubts);
    let mut impact = fields.object("impact", doubts);
    let assessed = ImportedImpact {
        assessment: impact.text("assessment", doubts),
        recommendation: impact.text("recommendation", doubts),
        assessed_in_round: impact.count_or_null("assessed_in_round", doubts),
    };
    impact.finish(doubts);
    let decided_in_round = round(&mut fields, "decided_in_round", doubts)?;
    let mut mechanisms = Vec::new();
    for (place, json) in fields.items("mechanisms", doubts) {
        mechanisms.push(mechanism(json, &place, doubts)?);
    }
    let untried_mechanism_directions = fields.texts("untried_mechanism_directions", doubts);
    fields.finish(doubts);
    Ok(ImportedBehavior {
        id,
        statement,
        status,
        behavior_conclusion,
        impact: assessed,
        decided_in_round,
        mechanisms,
        untried_mechanism_directions,
    })
}

fn round(
    fields: &mut Fields<'_>,
    key: &'static str,
    doubts: &mut Doubts,
) -> Result<u64, Unverified> {
    let number = fields.count(key, doubts);
    if number > ROUND_MAX {
        let why = format!("a round's number is at most {ROUND_MAX}");
        return Err(blocked("bad-number", &fields.place(key), &number.to_string(), &why));
    }
    Ok(number)
}

fn mechanism(
    json: &Json,
    place: &str,
    doubts: &mut Doubts,
) -> Result<ImportedMechanism, Unverified> {
    let mut fields = Fields::of(Some(json), place, doubts);
    let attempt = ImportedMechanism {
        round: round(&mut fields, "round", doubts)?,
        direction: fields.text("direction", doubts),
        family: fields.text_or_null("family", doubts),
        headline: fields.text("headline", doubts),
        claims: {
            let items = fields.items("claims", doubts);
            let read = items.into_iter().map(|(place, json)| finding(json, &place, doubts));
            read.collect::<Result<_, _>>()?
        },
        archived_to: fields.text("archived_to", doubts),
    };
    fields.finish(doubts);
    Ok(attempt)
}

fn finding(json: &Json, place: &str, doubts: &mut Doubts) -> Result<ClaimFinding, Unverified> {
    let mut fields = Fields::of(Some(json), place, doubts);
    let id = fields.text("id", doubts);
    let finding = ClaimFinding {
        id: ClaimId::parse(&id).map_err(|why| blocked("bad-id", &fields.place("id"), &id, &why))?,
        statement: fields.text("statement", doubts),
        method: fields.text("method", doubts),
        conclusion: fields.text("conclusion", doubts),
    };
    fields.finish(doubts);
    Ok(finding)
}
