//! The rounds: all of them on a page, and a page for each.

use rp_events::program::Constraint;

use super::{status, tone};
use crate::{
    History, State,
    document::{Address, Body, Cell, Document, Tone},
    history::Line,
    program::{
        Program,
        constants::StageName,
        ledger::Header,
        state::{Answer, Life, Method, Plan, Round, Routing, Run, Stage, StageState},
    },
    views::{Args, ViewError},
};

/// The kinds that a round's course is told by; what happened within a stage stands in the timeline.
const COURSE: &[&str] = &[
    "round.",
    "stage.",
    "gate.",
    "pipeline.",
    "round_end.",
    "ledger.hooked",
    "phenomenon.decided",
    "routing.committed",
    "routing.not_applicable",
    "iteration.reviewed",
    "iteration.terminated",
    "override.",
    "approval.",
    "transition.",
    "archive.",
    "task.",
    "memory.",
];

pub(super) fn rounds(state: &State, _: &Args) -> Result<Document, ViewError> {
    let program = state.program();
    let numbers = program.rounds();
    if numbers.is_empty() {
        return Err(ViewError::Nothing("no round was opened yet".to_owned()));
    }
    let rounds = numbers.iter().map(|number| status::Round {
        number: *number,
        is_archived: program.is_archived(*number),
        header: program.header(*number),
        claims: program.claims(*number),
    });
    let rounds: Vec<_> = rounds.collect();
    Ok(Document::new("Rounds").with("", status::rounds_table(rounds.iter(), rounds.last())))
}

pub(super) fn every_round(state: &State) -> Vec<Address> {
    state.program().rounds().into_iter().map(Address::round).collect()
}

pub(super) fn round(state: &State, history: &History, args: &Args) -> Result<Document, ViewError> {
    let program = state.program();
    let number = asked(program, args)?;
    let record = program.round(number);
    let (Some(record), Some(header)) = (record, program.header(number)) else {
        return Err(unknown(program, &number.to_string()));
    };
    let address = Address::round(number);
    let claims = program.claims(number);
    let rows = claims.iter().map(|claim| (number, &**claim));
    let overrides = program.overrides(number);
    let said = overrides
        .requests
        .iter()
        .map(|(point, request)| (None, [Cell::from(point.clone()), Cell::from(request.clone())]));
    let page = Document::of(format!("Round {number}"), address.clone())
        .with("", Body::Facts(facts(&record, &header)));
    let page = decision(page, &header)
        .with("Stages", stages_table(&record))
        .with_some("Claims", status::claims_table(rows))
        .with_some("Open items", list(&header.open_items))
        .with_some("Journey", journey(&header))
        .with_some("Plan", plan_table(number, program.plan(number).as_deref()))
        .with_some("Runs", runs_table(number, &program.runs(number)))
        .with_some("Constraints", constraints_table(&program.constraints(number).items))
        .with_some("Overrides", Body::table(["at", "the user's request"], said));
    let course = history
        .about(&address)
        .filter(|line| COURSE.iter().any(|kind| line.kind.starts_with(kind)));
    Ok(page.with_some("Course", lines(state, course)))
}

/// The round asked for by number or address, or the latest.
fn asked(program: &Program, args: &Args) -> Result<u64, ViewError> {
    let named = match &args.address {
        Some(address) if address.scheme() != "round" => {
            return Err(ViewError::Argument(format!("`{address}` is no round")));
        }
        Some(address) => {
            Some(address.rest().parse().map_err(|_| unknown(program, address.rest()))?)
        }
        None => args.round,
    };
    match named.or_else(|| program.latest_round()) {
        Some(number) if program.header(number).is_some() => Ok(number),
        Some(number) => Err(unknown(program, &number.to_string())),
        None => Err(ViewError::Nothing("no round was opened yet".to_owned())),
    }
}

fn unknown(program: &Program, found: &str) -> ViewError {
    let numbers = program.rounds();
    let known = match (numbers.first(), numbers.last()) {
        (Some(first), Some(last)) => format!("the rounds are {first} to {last}"),
        _ => "no round was opened yet".to_owned(),
    };
    ViewError::Argument(format!("{known}; there is no round `{}`", rp_events::text::shown(found)))
}

fn facts(round: &Round, header: &Header) -> Vec<(String, Cell)> {
    let life = match round.life {
        Life::Running | Life::Ended(_) => Cell::status(Tone::Open, "open"),
        Life::Archived => Cell::status(Tone::Plain, "archived"),
        Life::Discarded => Cell::status(Tone::Plain, "discarded"),
    };
    let models = &header.models;
    let iteration = &header.iteration;
    let score = iteration.score.as_ref().map_or_else(String::new, |score| {
        format!(
            "{score}/10 \"{}\", {} of {} actions",
            iteration.verdict, iteration.rounds_consumed, iteration.max_rounds
        )
    });
    let names = [&models.claim, &models.experiment, &models.verify, &models.iteration];
    let used = StageName::WORDS.iter().zip(names).filter(|(_, model)| !model.is_empty());
    let used: Vec<String> = used.map(|(stage, model)| format!("{stage} {model}")).collect();
    let dates = [header.start.as_str(), header.end.as_str()].join(" \u{2192} ");
    let dates =
        if header.start.is_empty() && header.end.is_empty() { String::new() } else { dates };
    let facts = [
        ("life", life),
        ("pipeline", tone::pipeline(&header.pipeline_status, 300)),
        ("project", Cell::from(header.project.clone())),
        ("direction", Cell::from(header.direction.clone())),
        ("dates", Cell::from(dates)),
        ("behavior source", Cell::from(round.behavior_source.clone())),
        ("mechanism", Cell::from(round.mechanism.clone())),
        ("method", method(&round.routing)),
        ("models", Cell::from(used.join(", "))),
        ("review loop", Cell::from(score)),
        ("GPU-hours", Cell::from(round.gpu_hours.clone().unwrap_or_default())),
        ("ledger after", Cell::from(header.updated_after_stage.clone())),
    ];
    let kept = facts.into_iter().filter(|(_, cell)| !cell.0.is_empty());
    kept.map(|(label, cell)| (label.to_owned(), cell)).collect()
}

fn method(routing: &Routing) -> Cell {
    match routing {
        Routing::Open => Cell::default(),
        Routing::Proposed { candidates, .. } => {
            let names: Vec<String> = candidates.iter().map(Method::full).collect();
            Cell::from(format!("proposed: {}", names.join("; ")))
        }
        Routing::Committed(method) => Cell::from(method.full()),
        Routing::NotApplicable => Cell::from("not applicable: behavioral only"),
    }
}

/// What the user has to decide, where a round ended for that.
fn decision(page: Document, header: &Header) -> Document {
    let end = &header.round_end;
    if end.qualifier.is_empty() {
        return page;
    }
    let facts = [
        ("what happened", Cell::from(end.detail.clone())),
        ("remedy", Cell::from(end.remedy.clone())),
        ("see", Cell::code(end.see.clone())),
    ];
    let title = format!("To decide {}", end.qualifier);
    page.with(title, Body::facts(facts))
        .with_some("Options", list(&end.next_round_options))
        .with_some("Partial artifacts", paths(&end.partial_artifacts))
}

fn stages_table(round: &Round) -> Body {
    let rows = StageName::ALL.into_iter().map(|name| {
        let stage = round.stages.of(name);
        let gate = match (name, round.gates.of(name)) {
            // The review loop has no gate after it.
            (StageName::Iteration, _) => Cell::default(),
            (_, Some(Answer::Go)) => Cell::status(Tone::Good, "passed"),
            (_, Some(Answer::Stop)) => Cell::status(Tone::Bad, "stopped"),
            (_, None) => Cell::status(Tone::Open, "open"),
        };
        let cells = [
            Cell::from(name.as_str()),
            stage_state(stage),
            Cell::count(stage.attempt),
            Cell::count(stage.rejections),
            gate,
        ];
        (None, cells)
    });
    Body::table(["stage", "state", "attempts", "rejections", "gate after it"], rows)
}

fn stage_state(stage: &Stage) -> Cell {
    match &stage.state {
        StageState::Pending => Cell::status(Tone::Open, "pending"),
        StageState::Running { routes_only: true } => {
            Cell::status(Tone::Open, "running, to route only")
        }
        StageState::Running { routes_only: false } => Cell::status(Tone::Open, "running"),
        StageState::Returned { .. } => Cell::status(Tone::Open, "returned"),
        StageState::Accepted => Cell::status(Tone::Good, "accepted"),
        StageState::Skipped => Cell::status(Tone::Plain, "skipped"),
        StageState::Waiting => Cell::status(Tone::Open, "waiting for earlier stages"),
        StageState::Stopped { qualifier } => {
            let why = qualifier.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            Cell::status(Tone::Caution, format!("stopped for a decision{why}"))
        }
        StageState::Crashed => Cell::status(Tone::Bad, "crashed"),
    }
}

fn journey(header: &Header) -> Body {
    let journey = &header.journey;
    let fields = [
        ("claim", &journey.claim),
        ("mechanism strategy", &journey.mechanism_strategy),
        ("mechanism routing", &journey.mechanism_routing),
        ("experiment", &journey.experiment),
        ("verify", &journey.verify),
        ("iteration", &journey.iteration),
        ("figures", &journey.figures),
    ];
    let kept = fields.into_iter().filter(|(_, text)| !text.is_empty());
    Body::facts(kept.map(|(label, text)| (label, Cell::from(text.clone()))))
}

fn plan_table(round: u64, plan: Option<&Plan>) -> Body {
    let milestones = plan.into_iter().flat_map(|plan| &plan.milestones);
    let rows = milestones.map(|milestone| {
        let purpose = if milestone.tests_phenomenon { "tests the phenomenon" } else { "" };
        let cells = [
            Cell::from(milestone.id.clone()),
            Cell::from(purpose),
            claims(round, &milestone.claims),
            Cell::from(milestone.depends_on.join(", ")),
            Cell::from(milestone.runs.join(", ")),
            Cell::clipped(&milestone.planned_used_n, 60),
        ];
        (None, cells)
    });
    Body::table(["milestone", "purpose", "claims", "depends on", "runs", "planned n"], rows)
}

fn runs_table(round: u64, runs: &[(String, std::sync::Arc<Run>)]) -> Body {
    let rows = runs.iter().map(|(id, run)| {
        let state = if run.launch.is_open() {
            Cell::status(Tone::Open, "no end recorded")
        } else if run.launch.is_complete() {
            Cell::status(Tone::Good, "completed")
        } else {
            Cell::status(Tone::Bad, "failed")
        };
        let cells = [
            Cell::from(id.clone()),
            Cell::from(run.stage.as_str()),
            Cell::from(run.milestone.clone().unwrap_or_default()),
            claims(round, &run.claims),
            state,
            Cell::clipped(&run.used_n, 60),
        ];
        (None, cells)
    });
    Body::table(["run", "stage", "milestone", "claims", "state", "used n"], rows)
}

fn constraints_table(items: &[Constraint]) -> Body {
    let rows = items.iter().map(|item| {
        let cells = [
            Cell::from(item.id.to_string()),
            Cell::from(format!("{}, {}", item.block, item.kind)),
            Cell::from(item.text.clone()),
            Cell::from(item.stages.join(", ")),
        ];
        (None, cells)
    });
    Body::table(["constraint", "kind", "text", "stages"], rows)
}

/// The most claims that a cell names.
const NAMED_MAX: usize = 12;

fn claims(round: u64, ids: &[String]) -> Cell {
    let links = ids.iter().take(NAMED_MAX).map(|id| Cell::link(Address::claim(round, id)));
    let cell = Cell::joined(links, ", ");
    match ids.len().saturating_sub(NAMED_MAX) {
        0 => cell,
        more => cell.and(format!(" and {more} more").as_str()),
    }
}

/// Entries as a table.
pub(super) fn lines<'a>(state: &State, lines: impl Iterator<Item = &'a Line>) -> Body {
    let rows = lines.map(|line| {
        let signer = state.trust().key(&line.kid);
        let signer = signer.map_or_else(
            || Cell::code(line.kid.short()),
            |key| Cell::link(Address::key(&key.name)),
        );
        let cells = [
            Cell::link(Address::event(line.seq)),
            Cell::time(line.time),
            Cell::code(line.kind.clone()),
            signer,
            Cell::from(line.gist.clone()),
        ];
        (None, cells)
    });
    Body::table(["entry", "time", "kind", "key", "what"], rows)
}

pub(super) fn list(items: &[String]) -> Body {
    Body::List(items.iter().map(|item| Cell::from(item.clone())).collect())
}

pub(super) fn paths(items: &[String]) -> Body {
    Body::List(items.iter().map(|item| Cell::code(item.clone())).collect())
}
