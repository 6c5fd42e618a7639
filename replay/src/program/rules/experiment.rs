//! Rules about the phenomenon, reviews, pilots and sanity runs (E34, E35, E40 to E42).

use rp_events::{
    Decimal, Refusal,
    program::{CodeReviewed, PhenomenonDecided, PhenomenonTested, SanityRecorded, ScorerPiloted},
};

use super::{Ruling, Scene, hold, word};
use crate::program::{
    codes,
    constants::{PHENOMENON_TESTS_MAX, PhenomenonStatus, Severity, StageName},
};

/// Most submissions of a reviewed unit after the first.
const RESUBMISSIONS_MAX: u64 = 2;
/// Most tries of a sanity run.
const SANITY_TRIES_MAX: u64 = 3;

/// Holds a milestone to be the one that tests the phenomenon, and gives the planned number of items.
fn phenomenon(scene: &Scene<'_>, milestone: &str) -> Result<String, Refusal> {
    let plan = scene.program.plan(scene.number);
    let tests = plan.as_ref().and_then(|plan| plan.phenomenon());
    match tests {
        Some(own) if own.id == milestone => Ok(own.planned_used_n.clone()),
        Some(own) => Err(Refusal::new(
            &codes::NO_M0,
            format!("the phenomenon is tested by `{}`; found `{milestone}`", own.id),
        )),
        None => Err(Refusal::new(
            &codes::NO_M0,
            format!("the plan tests no phenomenon; found `{milestone}`"),
        )),
    }
}

pub(super) fn tested(scene: &Scene<'_>, body: &PhenomenonTested) -> Ruling {
    scene.live(StageName::Experiment)?;
    let planned = phenomenon(scene, body.milestone.as_str())?;
    word(&body.audit, "audit", &["pass", "warn", "fail"])?;
    let tests = scene.round.phenomenon.tests;
    hold(tests < PHENOMENON_TESTS_MAX, &codes::PHENOMENON_BUDGET, || {
        format!("the phenomenon was tested {tests} times")
    })?;
    hold(body.attempt == tests + 1, &codes::PHENOMENON_BUDGET, || {
        format!("the next test is {}; found {}", tests + 1, body.attempt)
    })?;
    let run = scene.program.run(scene.number, body.run.as_str());
    let serves = run.filter(|run| run.milestone.as_deref() == Some(body.milestone.as_str()));
    let Some(finished) = serves.filter(|run| !run.launch.is_open()) else {
        return Err(Refusal::new(
            &codes::VERDICT_WITHOUT_RUN,
            format!("no finished run of `{}` is called `{}`", body.milestone, body.run),
        ));
    };
    let (failed, used_n) = (!finished.launch.is_complete(), &finished.used_n);
    let same = tests > 0 && scene.round.phenomenon.run == body.run.as_str();
    hold(!same || !body.knobs.is_empty(), &codes::VERDICT_WITHOUT_RUN, || {
        format!("a retry changes a knob or the run; found `{}` again", body.run)
    })?;
    let agrees = *used_n == body.used_n && planned == body.planned_used_n;
    hold(agrees, &codes::USED_N_SHORT, || {
        format!(
            "run `{}` used {used_n} of {planned} items; found {} of {}",
            body.run, body.used_n, body.planned_used_n
        )
    })?;
    hold(failed || !falls_short(&body.used_n, &planned), &codes::USED_N_SHORT, || {
        format!("run `{}` used {} of {planned} items and did not fail", body.run, body.used_n)
    })
}

/// Whether fewer items were used than planned; counts that are no numbers must be the same text.
pub(super) fn falls_short(used: &str, planned: &str) -> bool {
    match (Decimal::parse(used.trim()), Decimal::parse(planned.trim())) {
        (Ok(used), Ok(planned)) => used.compare(&planned).is_lt(),
        _ => used.trim() != planned.trim(),
    }
}

pub(super) fn decided(scene: &Scene<'_>, body: &PhenomenonDecided) -> Ruling {
    scene.live(StageName::Experiment)?;
    phenomenon(scene, body.milestone.as_str())?;
    word(&body.status, "status", PhenomenonStatus::WORDS)?;
    let status = PhenomenonStatus::parse(&body.status).expect("word() let it pass");
    let known = &scene.round.phenomenon;
    hold(known.tests > 0 && body.attempts == known.tests, &codes::PHENOMENON_AUDIT, || {
        format!("{} tests stand; found {}", known.tests, body.attempts)
    })?;
    let failed = known.audit == Some(Severity::Fail);
    let says = !body.headline.trim().is_empty() && !body.evidence.trim().is_empty();
    let (carries, due) = match status {
        PhenomenonStatus::Established | PhenomenonStatus::Conditional => {
            (!failed && !body.terminal, "needs a clean audit and does not end the round")
        }
        PhenomenonStatus::NotEstablished => {
            (!failed && body.terminal, "needs a clean audit and ends the round")
        }
        // After a clean audit only a sweep that was too narrow leaves the question open, and that shows
        // only after a retry. An end needs the budget used, or words for why nothing is left to try.
        PhenomenonStatus::Inconclusive => {
            let open = failed || known.tests > 1;
            let spent = known.tests == PHENOMENON_TESTS_MAX || says;
            (open && (!body.terminal || spent), "needs a failed audit or a suspected sweep")
        }
    };
    hold(carries, &codes::PHENOMENON_AUDIT, || {
        let audit = known.audit.map_or("none", Severity::as_str);
        let terminal = body.terminal;
        format!("`{status}` {due}; the last audit is `{audit}`, terminal is {terminal}")
    })?;
    let conditions = body.conditions.as_ref().is_some_and(|text| !text.trim().is_empty());
    hold(
        conditions || status != PhenomenonStatus::Conditional,
        &codes::PHENOMENON_CONDITIONS,
        || "the phenomenon is conditional, and `conditions` names none".to_owned(),
    )?;
    ended_by_user(scene, body.terminal)
}

/// Where gates prompt, the user ends the round by asking to terminate.
fn ended_by_user(scene: &Scene<'_>, terminal: bool) -> Ruling {
    if !terminal || scene.round.settings.auto_proceed {
        return Ok(());
    }
    let overrides = scene.program.overrides(scene.number);
    let asked = overrides
        .requests
        .iter()
        .any(|(_, request)| request.trim().to_ascii_lowercase().starts_with("terminate"));
    hold(asked, &codes::GATE_OPEN, || {
        "the user was not asked, or did not answer `terminate`".to_owned()
    })
}

pub(super) fn reviewed(scene: &Scene<'_>, body: &CodeReviewed) -> Ruling {
    let works =
        |stage: StageName| scene.at.holds(&format!("{stage}-agent")) && scene.round.is_live(stage);
    if !works(StageName::Verify) {
        scene.live(StageName::Experiment)?;
    }
    let verdicts = ["no-critical", "critical", "skipped", "reviewer-unavailable"];
    word(&body.verdict, "verdict", &verdicts)?;
    hold(body.rounds <= RESUBMISSIONS_MAX, &codes::RETRY_BUDGET, || {
        format!(
            "a unit is submitted again at most {RESUBMISSIONS_MAX} times; found {}",
            body.rounds
        )
    })
}

pub(super) fn piloted(scene: &Scene<'_>, _: &ScorerPiloted) -> Ruling {
    scene.live(StageName::Experiment)
}

pub(super) fn sanity(scene: &Scene<'_>, body: &SanityRecorded) -> Ruling {
    let works = |stage: StageName| scene.round.is_live(stage);
    if !works(StageName::Verify) {
        scene.live(StageName::Experiment)?;
    }
    let within = (1..=SANITY_TRIES_MAX).contains(&body.attempt);
    hold(within, &codes::RETRY_BUDGET, || {
        format!("a sanity run is tried at most {SANITY_TRIES_MAX} times; found {}", body.attempt)
    })
}
