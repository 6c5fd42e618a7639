//! Rules about the program, its tasks, runs and rounds (E1 to E10, E14, E15).

use bigdecimal::BigDecimal;
use rp_events::{
    Refusal,
    program::{
        BudgetReported, CountOrAuto, Flags, FlagsResolved, GpuPin, MemoryRead, ModelsResolved,
        ProgramCreated, ProgramImported, RoundOpened, RoundResumed, RunRefused, StageModel, Switch,
        TaskRecorded,
    },
    refusal::general,
};

use super::{Ruling, Scene, filled, hold, stage, stages, word};
use crate::program::{
    Program, codes,
    constants::{Axis, MODEL_ALIASES, StageName},
    state::{Life, exact},
};

/// The reasons for which a run is refused before anything begins.
const REFUSALS: &[&str] = &[
    "no-direction-input",
    "bad-model-alias",
    "bad-bool",
    "bad-number",
    "bad-axis",
    "unarchived-round",
    "resume-nothing",
    "mechanism-not-named",
    "reviewer-not-configured",
];

/// Holds the journal to have no program yet.
pub(super) fn none_created(program: &Program) -> Ruling {
    match program.root() {
        None => Ok(()),
        Some(root) => Err(Refusal::new(
            &codes::PROGRAM_EXISTS,
            format!("this journal records the program `{}`", root.name),
        )),
    }
}

pub(super) fn created(body: &ProgramCreated) -> Ruling {
    filled(&body.program, "program")?;
    filled(&body.direction, "direction")
}

pub(super) fn imported(scene: &Scene<'_>, body: &ProgramImported) -> Ruling {
    let course = scene.program.course();
    let recorded = scene.state.record().stream("program").version;
    hold(recorded == 1 + course.imports, &codes::IMPORT_LATE, || {
        format!("an import follows the program's creation; {recorded} events stand already")
    })?;
    let memory = body.memory.iter();
    let named = memory.clone().flat_map(|memory| &memory.behaviors).flat_map(|behavior| {
        let attempts = behavior.mechanisms.iter().map(|attempt| attempt.round);
        attempts.chain([behavior.decided_in_round])
    });
    let highest = named.chain(body.archives.iter().copied()).chain(body.live_round).max();
    hold(highest.is_none_or(|n| n <= body.highest_round), &codes::ROUND_NUMBER, || {
        let highest = highest.unwrap_or(0);
        format!("`highest_round` is {}, the import names round {highest}", body.highest_round)
    })?;
    for behavior in memory.flat_map(|memory| &memory.behaviors) {
        let id = behavior.id.as_str();
        hold(scene.program.behavior(id).is_none(), &codes::BEHAVIOR_EXISTS, || {
            format!("the memory holds `{id}` already")
        })?;
    }
    Ok(())
}

pub(super) fn task(scene: &Scene<'_>, body: &TaskRecorded) -> Ruling {
    let course = scene.program.course();
    let current = course.latest_round;
    let next = course.highest_round + 1;
    let fits = body.for_round == next || Some(body.for_round) == current;
    hold(fits, &codes::ROUND_NUMBER, || {
        format!("a task is for the current round or for round {next}; found {}", body.for_round)
    })
}

pub(super) fn run_refused(body: &RunRefused) -> Ruling {
    word(&body.reason, "reason", REFUSALS)
}

pub(super) fn flags(scene: &Scene<'_>, body: &FlagsResolved) -> Ruling {
    let course = scene.program.course();
    let Some(request) = &course.request else {
        return Err(Refusal::new(
            &codes::FLAGS_MISSING,
            "no run is requested that these flags could be of",
        ));
    };
    let has_task = scene.program.root().is_some_and(|root| root.task.is_some());
    hold(request.has_direction || has_task, &codes::NO_DIRECTION_INPUT, || {
        "the request gives no direction, and no task is recorded".to_owned()
    })?;
    aliases(&body.flags)?;
    switches(&body.flags)?;
    numbers(&body.flags)?;
    axes(&body.flags)?;
    words(&body.flags)
}

fn aliases(flags: &Flags) -> Ruling {
    let models = [
        &flags.model,
        &flags.claim_model,
        &flags.experiment_model,
        &flags.verify_model,
        &flags.iteration_model,
    ];
    models.into_iter().flatten().try_for_each(|model| alias(model))
}

fn alias(model: &str) -> Ruling {
    hold(MODEL_ALIASES.contains(&model), &codes::BAD_MODEL_ALIAS, || {
        format!("a model is one of `{}`; found `{model}`", MODEL_ALIASES.join("`, `"))
    })
}

fn switches(flags: &Flags) -> Ruling {
    let switches = [
        ("AUTO_PROCEED", &flags.auto_proceed),
        ("RESUME", &flags.resume),
        ("REVIEW_LOOP", &flags.review_loop),
        ("COMPACT", &flags.compact),
        ("CODE_REVIEW", &flags.code_review),
        ("SANITY_FIRST", &flags.sanity_first),
        ("AUTO_DEPLOY", &flags.auto_deploy),
    ];
    switches.into_iter().try_for_each(|(name, switch)| match switch {
        Some(Switch::Text(text)) => Err(Refusal::new(
            &codes::BAD_BOOL,
            format!("`{name}` is `true` or `false`; found `{text}`"),
        )),
        Some(Switch::Is(_)) | None => Ok(()),
    })
}

fn numbers(flags: &Flags) -> Ruling {
    let least_one = [
        ("MAX_VERIFY_CLAIMS", flags.max_verify_claims),
        ("MIN_VARIANTS_FOR_VERDICT", flags.min_variants_for_verdict),
        ("MAX_PARALLEL_RUNS", flags.max_parallel_runs),
    ];
    for (name, n) in least_one {
        hold(n != Some(0), &general::BAD_NUMBER, || format!("`{name}` is at least 1; found 0"))?;
    }
    let Some(threshold) = &flags.robustness_threshold else { return Ok(()) };
    let within = BigDecimal::from(0)..=BigDecimal::from(1);
    hold(within.contains(&threshold.value()), &general::BAD_NUMBER, || {
        format!("`ROBUSTNESS_THRESHOLD` lies between 0 and 1; found {threshold}")
    })
}

fn axes(flags: &Flags) -> Ruling {
    let Some(axes) = &flags.dimensions else { return Ok(()) };
    hold(!axes.is_empty(), &codes::BAD_AXIS, || {
        "`DIMENSIONS` is empty, which resolves to `model`".to_owned()
    })?;
    axes.iter().try_for_each(|axis| {
        hold(Axis::parse(axis).is_some(), &codes::BAD_AXIS, || {
            format!("an axis is one of `{}`; found `{axis}`", Axis::WORDS.join("`, `"))
        })
    })
}

fn words(flags: &Flags) -> Ruling {
    let enums: [(&str, &Option<String>, &[&str]); 4] = [
        ("BEHAVIOR_SOURCE", &flags.behavior_source, &["given", "given-validation", "discovery"]),
        ("MECHANISM", &flags.mechanism, &["given", "discovery"]),
        ("BATCH_DISPATCH", &flags.batch_dispatch, &["auto", "queue", "direct"]),
        ("UNDERPOWER", &flags.underpower, &["tag", "stop", "off"]),
    ];
    for (name, value, allowed) in enums {
        value.as_deref().map_or(Ok(()), |value| word(value, name, allowed))?;
    }
    if let Some(Switch::Text(text)) = &flags.ledger_figures {
        word(text, "LEDGER_FIGURES", &["auto", "true", "false"])?;
    }
    if let Some(GpuPin::Word(text)) = &flags.gpu_id {
        word(text, "GPU_ID", &["auto"])?;
    }
    if let Some(CountOrAuto::Word(text)) = &flags.oom_max_gpus {
        word(text, "OOM_MAX_GPUS", &["auto"])?;
    }
    let target = flags.target_claims.as_deref().unwrap_or("all");
    hold(rp_events::ClaimId::parse(target).is_ok(), &codes::BAD_ENUM, || {
        format!("`TARGET_CLAIMS` is `all`, `passed`, `failed` or a claim; found `{target}`")
    })
}

pub(super) fn opened(scene: &Scene<'_>, body: &RoundOpened) -> Ruling {
    let course = scene.program.course();
    if let Some(latest) = course.latest_round {
        let life = scene.program.round(latest).map_or(Life::Running, |round| round.life);
        hold(life.is_closed(), &codes::UNARCHIVED_ROUND, || {
            format!("round {latest} is neither archived nor discarded")
        })?;
    }
    let due = course.highest_round + 1;
    hold(scene.number == due, &codes::ROUND_NUMBER, || {
        format!("the next round is {due}, the stream is `{}`", scene.at.stream)
    })?;
    let Some(flags) = &course.flags else {
        return Err(Refusal::new(
            &codes::FLAGS_MISSING,
            format!("no flags are resolved that round {due} could run under"),
        ));
    };
    hold(!flags.resume, &codes::FLAGS_MISSING, || {
        "the flags ask to resume a round, not to open one".to_owned()
    })?;
    let said = (&body.behavior_source, &body.mechanism);
    hold(said == (&flags.behavior_source, &flags.mechanism), &codes::FLAGS_MISSING, || {
        format!(
            "the flags say `{}` and `{}`, the round `{}` and `{}`",
            flags.behavior_source, flags.mechanism, body.behavior_source, body.mechanism
        )
    })
}

pub(super) fn resumed(scene: &Scene<'_>, body: &RoundResumed) -> Ruling {
    let course = scene.program.course();
    hold(course.latest_round == Some(scene.number), &codes::RESUME_NOTHING, || {
        format!("round {} is not the latest", scene.number)
    })?;
    let resume = course.flags.as_ref().is_some_and(|flags| flags.resume);
    hold(resume, &codes::FLAGS_MISSING, || "no flags are resolved that ask to resume".to_owned())?;
    let complete = |name: &StageName| stages::is_complete(scene, *name);
    let due: Vec<&str> =
        StageName::ALL.iter().filter(|name| complete(name)).map(|name| name.as_str()).collect();
    hold(body.complete == due, &codes::RESUME_MISMATCH, || {
        format!(
            "the complete stages are `{}`; found `{}`",
            due.join("`, `"),
            body.complete.join("`, `")
        )
    })?;
    let loops = course.flags.as_ref().is_none_or(|flags| flags.review_loop);
    let next = first_incomplete(scene, loops).map(StageName::as_str);
    hold(body.resume_from.as_deref() == next, &codes::RESUME_MISMATCH, || {
        let found = body.resume_from.as_deref().unwrap_or("null");
        format!("the stage to resume from is `{}`; found `{found}`", next.unwrap_or("null"))
    })
}

pub(super) fn first_incomplete(scene: &Scene<'_>, loops: bool) -> Option<StageName> {
    let is_left_out = |name: StageName| match name {
        StageName::Verify | StageName::Iteration if scene.round.phenomenon_ended() => true,
        StageName::Iteration => !loops,
        StageName::Claim | StageName::Experiment | StageName::Verify => false,
    };
    StageName::ALL
        .into_iter()
        .find(|name| !is_left_out(*name) && !stages::is_complete(scene, *name))
}

pub(super) fn models(scene: &Scene<'_>, body: &ModelsResolved) -> Ruling {
    let each: [(StageName, &StageModel); 4] = [
        (StageName::Claim, &body.claim),
        (StageName::Experiment, &body.experiment),
        (StageName::Verify, &body.verify),
        (StageName::Iteration, &body.iteration),
    ];
    for (name, StageModel { model, source }) in each {
        word(source, "source", &["CLI-stage", "CLI-global", "frontmatter-pin", "session"])?;
        let flag = scene.round.settings.model_of(name);
        let fits = match flag {
            Some(due) => due == (model, source),
            None => source == "session" || source == "frontmatter-pin",
        };
        hold(fits && !model.is_empty(), &codes::BAD_MODEL_ALIAS, || {
            let (due, from) = flag.unwrap_or(("any", "session"));
            format!(
                "stage `{name}` has the model `{due}` from `{from}`; found `{model}` from `{source}`"
            )
        })?;
    }
    Ok(())
}

pub(super) fn budget(scene: &Scene<'_>, body: &BudgetReported) -> Ruling {
    stage(&body.stage)?;
    let sum = scene.round.gpu_hours.as_deref().map_or_else(BigDecimal::default, exact);
    hold(sum == body.gpu_hours.value(), &codes::BUDGET_MISMATCH, || {
        format!(
            "the finished runs of round {} took {sum} GPU-hours; found {}",
            scene.number, body.gpu_hours
        )
    })
}

pub(super) fn memory_read(scene: &Scene<'_>, body: &MemoryRead) -> Ruling {
    hold(!(body.used && scene.round.is_reproduction()), &codes::REPRODUCTION_NO_MEMORY, || {
        format!("round {} only reproduces and reads no memory", scene.number)
    })?;
    body.behaviors.iter().try_for_each(|id| {
        hold(scene.program.behavior(id.as_str()).is_some(), &codes::UNKNOWN_BEHAVIOR, || {
            format!("the memory holds no behavior `{id}`")
        })
    })
}
