//! Rules about the research memory (E79 to E83).

use rp_events::program::{
    MemoryBehaviorRecorded, MemoryMechanismRecorded, MemorySkipped, MemoryUntriedBehaviorsUpdated,
    SettlementJudged,
};

use super::{
    Ruling, Scene, filled, hold,
    plan::{known_direction, known_family},
    results::finding,
    word,
};
use crate::program::{
    codes,
    constants::{CHAIN, Ending, PhenomenonStatus, RECOMMENDATIONS},
    state::{Life, Routing},
};

/// Holds the round to have a scientific ending that the memory keeps, and gives it.
fn kept(scene: &Scene<'_>) -> Result<Ending, rp_events::Refusal> {
    let ending = match scene.round.life {
        Life::Ended(ending) => Some(ending).filter(|ending| ending.is_scientific()),
        Life::Running | Life::Archived | Life::Discarded => None,
    };
    hold(ending.is_some(), &codes::MEMORY_STATUS, || {
        let header = scene.program.header(scene.number);
        let status = header.map_or_else(String::new, |header| header.pipeline_status.clone());
        format!(
            "the memory keeps the four scientific endings; round {} is `{status}`",
            scene.number
        )
    })?;
    hold(!scene.round.is_reproduction(), &codes::REPRODUCTION_NO_MEMORY, || {
        format!("round {} only reproduces and writes no memory", scene.number)
    })?;
    Ok(ending.expect("hold() let it pass"))
}

pub(super) fn behavior(scene: &Scene<'_>, body: &MemoryBehaviorRecorded) -> Ruling {
    kept(scene)?;
    let status = PhenomenonStatus::parse(&body.status);
    hold(status.is_some(), &codes::BAD_STATUS, || {
        let words = PhenomenonStatus::WORDS.join("`, `");
        format!("a status is one of `{words}`; found `{}`", body.status)
    })?;
    word(&body.basis, "basis", &["m0", "asserted"])?;
    word(&body.matched, "match", &["new", "existing"])?;
    let impact = body.impact.as_ref();
    impact.map_or(Ok(()), |i| word(&i.recommendation, "recommendation", RECOMMENDATIONS))?;
    let tested = scene.round.phenomenon.verdict.map(|verdict| verdict.status);
    let due = match body.basis.as_str() {
        "m0" => tested,
        // A round that tests its behavior knows better than an assertion.
        _ if scene.round.tests_phenomenon() => None,
        _ => Some(PhenomenonStatus::Established),
    };
    hold(due.is_some() && due == status, &codes::STATUS_BASIS, || {
        let due = due.map_or("nothing", PhenomenonStatus::as_str);
        format!("the basis `{}` gives `{due}`; found `{}`", body.basis, body.status)
    })?;
    matched(scene, body)?;
    finding(&body.statement, "statement")?;
    finding(&body.conclusion, "conclusion")?;
    let source = &scene.round.behavior_source;
    hold(impact.is_none() || source == "discovery", &codes::IMPACT_MODE, || {
        format!("the impact is assessed in `discovery`; the behavior source is `{source}`")
    })
}

/// Holds the behavior to be known, or fresh, and to be the one that the round recorded before.
fn matched(scene: &Scene<'_>, body: &MemoryBehaviorRecorded) -> Ruling {
    let id = body.behavior.as_str();
    let memory = scene.program.round_memory(scene.number);
    let earlier = memory.behavior.as_deref();
    hold(earlier.is_none_or(|earlier| earlier == id), &codes::BEHAVIOR_UNMATCHED, || {
        format!("round {} recorded `{}`; found `{id}`", scene.number, earlier.unwrap_or_default())
    })?;
    let known = scene.program.behavior(id).is_some();
    if body.matched == "existing" {
        return hold(known, &codes::BEHAVIOR_UNMATCHED, || format!("the memory holds no `{id}`"));
    }
    // What this round made itself it may write again.
    if known && earlier.is_some() && memory.before.is_none() {
        return Ok(());
    }
    hold(!known, &codes::BEHAVIOR_EXISTS, || format!("the memory holds `{id}`"))?;
    let due = format!("B{}", scene.program.course().highest_behavior + 1);
    hold(id == due, &codes::BEHAVIOR_UNMATCHED, || {
        format!("the next fresh id is `{due}`; found `{id}`")
    })
}

pub(super) fn mechanism(scene: &Scene<'_>, body: &MemoryMechanismRecorded) -> Ruling {
    let ending = kept(scene)?;
    let memory = scene.program.round_memory(scene.number);
    let recorded = memory.behavior.as_deref();
    hold(recorded == Some(body.behavior.as_str()), &codes::BEHAVIOR_UNMATCHED, || {
        let recorded = recorded.unwrap_or("none");
        format!(
            "the behavior that round {} recorded is `{recorded}`; found `{}`",
            scene.number, body.behavior
        )
    })?;
    let attempted = matches!(ending, Ending::Completed | Ending::TruncatedAtVerify);
    hold(attempted, &codes::NO_MECHANISM_ON_UNESTABLISHED, || {
        format!("round {} ended `{ending}`", scene.number)
    })?;
    body.direction.split(CHAIN).try_for_each(known_direction)?;
    let plan = scene.program.plan(scene.number);
    let due = plan.map_or_else(String::new, |plan| plan.directions.join(CHAIN));
    // With the mechanism given the plan names no directions, and the record's own stand.
    hold(due.is_empty() || due == body.direction, &codes::DIRECTION_MISMATCH, || {
        format!("the plan's directions are `{due}`; found `{}`", body.direction)
    })?;
    if let Some(name) = &body.family {
        known_family(name)?;
    }
    let due = match &scene.round.routing {
        Routing::Committed(method) => Some(method.full()),
        Routing::NotApplicable | Routing::Open | Routing::Proposed { .. } => None,
    };
    hold(due == body.family, &codes::FAMILY_MISMATCH, || {
        let text = |family: &Option<String>| family.clone().unwrap_or_else(|| "null".to_owned());
        format!("the committed family is `{}`; found `{}`", text(&due), text(&body.family))
    })?;
    let found: Vec<&str> = body.claims.iter().map(|claim| claim.id.as_str()).collect();
    hold(scene.round.claims == found, &codes::CLAIMS_INCOMPLETE, || {
        format!(
            "the ledger's claims are `{}`; found `{}`",
            scene.round.claims.join("`, `"),
            found.join("`, `")
        )
    })?;
    finding(&body.headline, "headline")?;
    for claim in &body.claims {
        finding(&claim.statement, "statement")?;
        finding(&claim.method, "method")?;
        finding(&claim.conclusion, "conclusion")?;
    }
    Ok(())
}

pub(super) fn untried(scene: &Scene<'_>, body: &MemoryUntriedBehaviorsUpdated) -> Ruling {
    kept(scene)?;
    // The second update of a round changes nothing, whatever it says.
    if scene.program.round_memory(scene.number).has_listed {
        return Ok(());
    }
    let discovery = scene.round.behavior_source == "discovery";
    hold(discovery || body.append.is_empty(), &codes::UNTRIED_APPEND_MODE, || {
        format!(
            "only `discovery` leaves ideas over; the behavior source is `{}`",
            scene.round.behavior_source
        )
    })?;
    let root = scene.program.root();
    let listed = |entry: &String| {
        root.as_ref().is_some_and(|root| root.untried_behavior_directions.contains(entry))
    };
    if let Some(entry) = body.remove.iter().find(|entry| !listed(entry)) {
        return hold(false, &codes::UNTRIED_UNKNOWN, || format!("the list has no entry `{entry}`"));
    }
    for (n, entry) in body.append.iter().enumerate() {
        hold(has_tail(scene, entry), &codes::UNTRIED_TAIL, || {
            format!("an entry ends with the tail of an idea left over; found `{entry}`")
        })?;
        let twice = body.append.iter().take(n).any(|earlier| earlier == entry);
        hold(!twice && !listed(entry), &codes::UNTRIED_DUPLICATE, || {
            format!("the list has an entry `{entry}`")
        })?;
    }
    Ok(())
}

/// Whether an entry ends with the tail of a surviving idea other than the chosen one (F.4).
fn has_tail(scene: &Scene<'_>, entry: &str) -> bool {
    let Some(ideas) = scene.program.ideas(scene.number) else { return false };
    let left =
        ideas.ideas.iter().filter(|idea| !idea.eliminated && Some(idea.rank) != ideas.chosen);
    left.into_iter().any(|idea| {
        let tail = format!(
            " (round {} idea #{} \u{2014} impact {}, novelty {})",
            scene.number, idea.rank, idea.impact, idea.novelty
        );
        entry.strip_suffix(&tail).is_some_and(|text| !text.trim().is_empty())
    })
}

pub(super) fn skipped(scene: &Scene<'_>, body: &MemorySkipped) -> Ruling {
    word(&body.reason, "reason", &["reproduction", "needs-decision", "halted"])?;
    let life = scene.round.life;
    let holds = match body.reason.as_str() {
        "reproduction" => scene.round.is_reproduction() && life != Life::Running,
        "halted" => life == Life::Ended(Ending::Halted),
        _ => life == Life::Ended(Ending::NeedsDecision),
    };
    hold(holds, &codes::MEMORY_STATUS, || {
        format!("the reason `{}` does not hold for round {}", body.reason, scene.number)
    })
}

pub(super) fn settlement(scene: &Scene<'_>, body: &SettlementJudged) -> Ruling {
    let behavior = scene.program.behavior(body.behavior.as_str());
    hold(behavior.is_some(), &codes::BEHAVIOR_UNMATCHED, || {
        format!("the memory holds no behavior `{}`", body.behavior)
    })?;
    let attempted = behavior.is_some_and(|behavior| {
        behavior.mechanisms.iter().any(|attempt| attempt.round == body.attempt_round)
    });
    hold(attempted, &codes::BEHAVIOR_UNMATCHED, || {
        format!("`{}` has no attempt of round {}", body.behavior, body.attempt_round)
    })?;
    word(&body.reading, "reading", &["stable-positive", "stable-negative", "open"])?;
    filled(&body.reason, "reason")
}
