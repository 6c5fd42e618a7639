//! Rules about overrides, notifications and the passage to the next round (E84 to E93).

use std::collections::BTreeSet;

use rp_events::{
    Refusal,
    program::{
        ApprovalNeeded, ArchivePlanned, ArchiveRefused, NotificationRecorded,
        NotificationTimerRegistered, OverrideRecorded, RoundArchived, TaskDrafted,
        TransitionReported, TransitionRequested,
    },
    refusal::general,
};

use super::{Ruling, Scene, filled, hold, word};
use crate::program::{
    codes,
    constants::{Intent, JOURNAL, KEPT, KEPT_FOR_SAME_BEHAVIOR, PhenomenonStatus, StageName},
    memory::Behavior,
    state::{Life, Passage},
};

pub(super) fn overridden(body: &OverrideRecorded) -> Ruling {
    word(&body.urgency, "urgency", &["strong", "deferrable"])?;
    filled(&body.point, "point")?;
    filled(&body.request, "request")
}

/// Holds the task to have asked for notifications: the round's, or the one that stands.
fn opted_in(scene: &Scene<'_>) -> Ruling {
    let notify = if scene.number == 0 {
        scene.program.course().task.notify
    } else {
        scene.round.task.notify
    };
    hold(notify, &codes::NOTIFY_NOT_OPTED_IN, || {
        format!("the task behind `{}` asks for no notifications", scene.at.stream)
    })
}

pub(super) fn timer(scene: &Scene<'_>, body: &NotificationTimerRegistered) -> Ruling {
    opted_in(scene)?;
    let free = body.minute < 60 && body.minute != 0 && body.minute != 30;
    hold(free, &general::BAD_NUMBER, || {
        format!("a timer's minute is 1 to 59 and not 30; found {}", body.minute)
    })?;
    hold(!scene.round.has_timer, &codes::NOTIFY_OVERWRITE, || {
        format!("round {} has a timer", scene.number)
    })
}

pub(super) fn notification(scene: &Scene<'_>, body: &NotificationRecorded) -> Ruling {
    opted_in(scene)?;
    word(&body.event, "event", &["hourly", "progress", "done", "halted", "approval-needed"])?;
    filled(&body.file, "file")?;
    hold(!scene.program.has_note(&body.file), &codes::NOTIFY_OVERWRITE, || {
        format!("a notification was saved as `{}`", body.file)
    })
}

pub(super) fn approval(body: &ApprovalNeeded) -> Ruling {
    filled(&body.blocked, "blocked")?;
    filled(&body.action, "action")
}

pub(super) fn transition(scene: &Scene<'_>, body: &TransitionRequested) -> Ruling {
    hold(!scene.round.life.is_closed(), &codes::ALREADY_ARCHIVED, || {
        format!("round {} is closed, and its passage is decided", scene.number)
    })?;
    let begun = StageName::ALL.iter().any(|name| scene.round.stages.of(*name).attempt > 0);
    // Whatever an imported live round left, it left before this journal.
    let imported = scene.program.course().imports > 0;
    hold(begun || imported, &codes::NO_OUTPUTS, || {
        format!("no stage of round {} was ever dispatched", scene.number)
    })?;
    let intent = Intent::parse(&body.intent).ok_or_else(|| {
        let words = Intent::WORDS.join("`, `");
        let why = format!("an intent is one of `{words}`; found `{}`", body.intent);
        Refusal::new(&codes::BAD_INTENT, why)
    })?;
    known(scene, intent, body.behavior.as_ref())?;
    hold(body.decided_by == "user", &codes::NOT_USER_DECIDED, || {
        format!("the user decides; found `{}`", body.decided_by)
    })?;
    let due = recommended(scene).map(Intent::as_str);
    hold(body.recommended.as_deref() == due, &codes::RECOMMENDATION_MISMATCH, || {
        let found = body.recommended.as_deref().unwrap_or("null");
        format!("the recommendation is `{}`; found `{found}`", due.unwrap_or("null"))
    })
}

/// Holds the intents that keep a behavior to name one of the memory.
fn known(scene: &Scene<'_>, intent: Intent, behavior: Option<&rp_events::BehaviorId>) -> Ruling {
    let id = behavior.map_or("null", rp_events::BehaviorId::as_str);
    let fits = match intent {
        Intent::NewBehavior => behavior.is_none() || scene.program.behavior(id).is_some(),
        Intent::NewMechanism | Intent::ReValidate => scene.program.behavior(id).is_some(),
    };
    hold(fits, &codes::UNKNOWN_BEHAVIOR, || {
        format!("`{intent}` takes up a behavior of the memory; found `{id}`")
    })
}

/// What follows from the memory of the round's behavior (G.5); nothing if it left none.
pub(super) fn recommended(scene: &Scene<'_>) -> Option<Intent> {
    let memory = scene.program.round_memory(scene.number);
    let behavior = scene.program.behavior(memory.behavior.as_deref()?)?;
    match PhenomenonStatus::parse(&behavior.status)? {
        PhenomenonStatus::NotEstablished => Some(Intent::NewBehavior),
        PhenomenonStatus::Inconclusive => Some(Intent::ReValidate),
        PhenomenonStatus::Established | PhenomenonStatus::Conditional => {
            Some(if is_open(&behavior) { Intent::NewMechanism } else { Intent::NewBehavior })
        }
    }
}

/// Whether a direction is untried, or an attempt was not read as settled.
fn is_open(behavior: &Behavior) -> bool {
    let settled =
        |reading: &Option<String>| reading.as_deref().is_some_and(|r| r.starts_with("stable"));
    !behavior.untried_mechanism_directions.is_empty()
        || behavior.mechanisms.iter().any(|attempt| !settled(&attempt.reading))
}

pub(super) fn archive_planned(scene: &Scene<'_>, body: &ArchivePlanned) -> Ruling {
    let passage = scene.program.passage(scene.number);
    let Some(intent) = passage.intent else {
        return Err(Refusal::new(
            &codes::NOT_USER_DECIDED,
            format!("the user has not said what follows round {}", scene.number),
        ));
    };
    kept(scene, intent, body)?;
    let due = format!("rounds/round_{}/", scene.number);
    hold(body.target == due, &codes::ARCHIVE_TARGET, || {
        format!("round {} is archived in `{due}`; found `{}`", scene.number, body.target)
    })
}

/// Holds what moves and what stays to the keep-list of the intent (G.2).
fn kept(scene: &Scene<'_>, intent: Intent, body: &ArchivePlanned) -> Ruling {
    let same = match intent {
        Intent::NewBehavior => false,
        Intent::NewMechanism | Intent::ReValidate => true,
    };
    let mut stays: Vec<&str> = KEPT.to_vec();
    // The keep-list of imported history does not know the journal; it must not move it either.
    let strict = scene.state.trust().is_strict();
    stays.extend(strict.then_some(JOURNAL));
    stays.extend(KEPT_FOR_SAME_BEHAVIOR.iter().filter(|_| same));
    let bare = |path: &String| path.trim_end_matches('/').to_owned();
    let moved: BTreeSet<String> = body.moved.iter().map(bare).collect();
    let keep: BTreeSet<String> = body.keep.iter().map(bare).collect();
    if let Some(path) = stays.iter().chain([&JOURNAL]).find(|path| moved.contains(**path)) {
        return Err(Refusal::new(
            &codes::KEEP_VIOLATED,
            format!("`{path}` stays; found it moving"),
        ));
    }
    if let Some(path) = stays.iter().find(|path| !keep.contains(**path)) {
        return Err(Refusal::new(&codes::KEEP_VIOLATED, format!("the keep-list lacks `{path}`")));
    }
    if let Some(path) = moved.intersection(&keep).next() {
        return Err(Refusal::new(
            &codes::KEEP_VIOLATED,
            format!("`{path}` is to move and to stay"),
        ));
    }
    let overrides = scene.program.overrides(scene.number);
    let by_user = |path: &str| overrides.requests.iter().any(|(_, request)| request.contains(path));
    let leaving = KEPT_FOR_SAME_BEHAVIOR.iter().filter(|_| !same);
    let odd =
        leaving.chain([&"mechanic_db_cache"]).find(|path| keep.contains(**path) && !by_user(path));
    hold(odd.is_none(), &codes::KEEP_VIOLATED, || {
        format!("`{}` is archived for `{intent}`, and the keep-list holds it", odd.unwrap_or(&""))
    })
}

pub(super) fn archive_refused(scene: &Scene<'_>, body: &ArchiveRefused) -> Ruling {
    let planned = scene.program.passage(scene.number).planned.is_some();
    hold(planned, &codes::ARCHIVE_PLAN, || {
        format!("no archive of round {} is planned", scene.number)
    })?;
    hold(body.code == 3, &general::BAD_NUMBER, || {
        format!("the helper refuses with code 3; found {}", body.code)
    })?;
    filled(&body.message, "message")
}

pub(super) fn archived(scene: &Scene<'_>, body: &RoundArchived) -> Ruling {
    let passage = scene.program.passage(scene.number);
    let Some(planned) = &passage.planned else {
        return Err(Refusal::new(
            &codes::ARCHIVE_PLAN,
            format!("no archive of round {} is planned", scene.number),
        ));
    };
    hold(body.target == planned.target, &codes::ARCHIVE_PLAN, || {
        format!("the plan's target is `{}`; found `{}`", planned.target, body.target)
    })?;
    let explained = body.missing.iter().flatten().filter(|missing| !missing.why.trim().is_empty());
    let missing: BTreeSet<&str> = explained.map(|missing| missing.path.as_str()).collect();
    let moved: BTreeSet<&str> = body.moved.iter().map(String::as_str).collect();
    let due: BTreeSet<&str> = planned.moved.iter().map(String::as_str).collect();
    let whole = due.iter().all(|path| moved.contains(path) != missing.contains(path))
        && moved.is_subset(&due)
        && missing.is_subset(&due);
    hold(whole, &codes::ARCHIVE_PLAN, || {
        let odd = due.symmetric_difference(&moved).next().copied().unwrap_or_default();
        format!("{} paths were to move, {} did; they differ by `{odd}`", due.len(), moved.len())
    })
}

/// The parameters recommended for an intent (G.4).
pub(super) fn parameters(intent: Intent) -> (&'static str, &'static str) {
    match intent {
        Intent::NewBehavior => ("discovery", "discovery"),
        Intent::NewMechanism => ("given", "discovery"),
        Intent::ReValidate => ("given-validation", "discovery"),
    }
}

pub(super) fn drafted(scene: &Scene<'_>, body: &TaskDrafted) -> Ruling {
    hold(scene.round.life == Life::Archived, &codes::DRAFT_BEFORE_ARCHIVE, || {
        format!("round {} is not archived", scene.number)
    })?;
    let passage = scene.program.passage(scene.number);
    let intent = Intent::parse(&body.intent).filter(|intent| passage.intent == Some(*intent));
    let Some(intent) = intent else {
        let due = passage.intent.map_or("nothing", Intent::as_str);
        return Err(Refusal::new(
            &codes::DRAFT_PARAMS,
            format!("the user decided `{due}`; found `{}`", body.intent),
        ));
    };
    known(scene, intent, body.behavior.as_ref())?;
    let behavior = body.behavior.as_ref().map(rp_events::BehaviorId::as_str);
    hold(behavior == passage.behavior.as_deref(), &codes::DRAFT_PARAMS, || {
        let due = passage.behavior.as_deref().unwrap_or("null");
        format!("the user decided on the behavior `{due}`; found `{}`", behavior.unwrap_or("null"))
    })?;
    let due = parameters(intent);
    let found = (body.behavior_source.as_str(), body.mechanism.as_str());
    hold(found == due, &codes::DRAFT_PARAMS, || {
        format!(
            "`{intent}` recommends `{}` and `{}`; found `{}` and `{}`",
            due.0, due.1, found.0, found.1
        )
    })?;
    hold(body.for_round == scene.number + 1, &codes::DRAFT_PARAMS, || {
        format!("the draft is for round {}; found {}", scene.number + 1, body.for_round)
    })
}

pub(super) fn reported(scene: &Scene<'_>, body: &TransitionReported) -> Ruling {
    let passage = scene.program.passage(scene.number);
    let due = lines(scene.number, &passage);
    hold(!due.is_empty(), &codes::DRAFT_BEFORE_ARCHIVE, || {
        format!("no task is drafted after round {}", scene.number)
    })?;
    hold(body.lines == due, &codes::DRAFT_PARAMS, || {
        let odd = due.iter().zip(&body.lines).find(|(due, found)| due != found);
        let (due, found) = odd.map_or(("", ""), |(due, found)| (due.as_str(), found.as_str()));
        format!("the report's line is `{due}`; found `{found}`")
    })
}

/// The lines of G.7; none before the task is drafted.
fn lines(round: u64, passage: &Passage) -> Vec<String> {
    let (Some(intent), Some((source, mechanism))) = (passage.intent, &passage.drafted) else {
        return Vec::new();
    };
    // Validating again keeps the behavior's files as a new mechanism does, and prints as one.
    let intent = match (intent, &passage.behavior) {
        (Intent::NewMechanism | Intent::ReValidate, Some(id)) => format!("new-mechanism {id}"),
        (Intent::NewBehavior, _) | (Intent::NewMechanism | Intent::ReValidate, None) => {
            Intent::NewBehavior.to_string()
        }
    };
    let next = round + 1;
    vec![
        format!("[next-round] archived round {round} \u{2192} rounds/round_{round}/"),
        format!("[next-round] intent: {intent}"),
        format!(
            "[next-round] drafted task.md for round {next} (recommended: /auto \u{2014} behavior-source: {source}, mechanism: {mechanism})"
        ),
        "Next: edit task.md, then run /auto.".to_owned(),
    ]
}
