//! `rp round budget`: what the round has used, and the record of it.

use rp_events::{
    Decimal,
    program::{BudgetReported, Event},
};
use rp_replay::program::budget::{self, Budget, Reach};
use serde_json::{Value, json};

use crate::{
    engine::Engine,
    error::Failure,
    exit::Exit,
    out::Out,
    porcelain::{self, Signed},
    workspace::{Settings, Workspace},
};

/// `rp round budget`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rp round budget
  rp round budget --record verify")]
pub(super) struct Args {
    /// The round [default: the latest].
    #[arg(long, value_name = "N")]
    round: Option<u64>,
    /// Record the sums as the report after this stage, signed by orchestrator.
    #[arg(long, value_name = "STAGE", value_parser = ["claim", "experiment", "verify", "iteration"])]
    record: Option<String>,
    /// Your own name for this request: repeating it records nothing twice.
    #[arg(long, value_name = "TEXT", requires = "record")]
    idem: Option<String>,
}

/// Prints the sums, and records them if asked.
pub(super) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let Some(stage) = &args.record else {
        let reading = workspace.read(None)?;
        let round = porcelain::round(reading.state.program(), args.round)?;
        let used = sums(reading.state.program(), round)?;
        return answer(round, &used, &[], out);
    };
    let mut engine = Engine::open(&workspace)?;
    engine.notes.iter().for_each(|note| out.note(note));
    let round = porcelain::round(engine.state().program(), args.round)?;
    let used = sums(engine.state().program(), round)?;
    let decimal = |text: &str| {
        Decimal::parse(text)
            .map_err(|why| rp_events::Refusal::new(&rp_events::refusal::general::BAD_NUMBER, why))
    };
    let event = Event::BudgetReported(Box::new(BudgetReported {
        stage: stage.clone(),
        gpu_hours: decimal(&used.gpu_hours)?,
        limit: used.limit.as_deref().map(decimal).transpose()?,
        reviewer_calls: used.reviewer_calls,
    }));
    let key = porcelain::signer(&workspace, engine.state(), "orchestrator")?;
    let draft = porcelain::draft(&workspace, event, round, args.idem.clone(), key);
    let signed = porcelain::record(&mut engine, std::slice::from_ref(&draft))?;
    answer(round, &used, &signed, out)
}

fn sums(program: &rp_replay::program::Program, round: u64) -> Result<Budget, Failure> {
    budget::of(program, round).ok_or_else(|| {
        Failure::new(Exit::NOTHING, "nothing", format!("round {round} has no record"))
    })
}

fn answer(round: u64, used: &Budget, signed: &[Signed], out: &Out) -> Result<Exit, Failure> {
    if out.json {
        let stages: Vec<Value> = used
            .stages
            .iter()
            .map(|(stage, hours, ended, running)| {
                json!({ "stage": stage.as_str(), "gpu_hours": hours, "ended": ended, "running": running })
            })
            .collect();
        out.document(&json!({
            "schema": "rp.round.budget/1",
            "round": round,
            "gpu_hours": used.gpu_hours,
            "stages": stages,
            "reviewer_calls": used.reviewer_calls,
            "iterations": { "consumed": used.iterations.0, "cap": used.iterations.1 },
            "reentries": { "consumed": used.reentries.0, "cap": used.reentries.1 },
            "limits": used.limits,
            "limit": used.limit,
            "reach": used.reach.as_str(),
            "recorded": signed.iter().map(Signed::to_json).collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::DONE);
    }
    let limit = used.limit.as_ref().map(|limit| format!(" of {limit}")).unwrap_or_default();
    let mut text = format!("round {round}: {}{limit} GPU-hours\n", used.gpu_hours);
    for (stage, hours, ended, running) in &used.stages {
        let stage = stage.as_str();
        text.push_str(&format!(
            "  {stage:10}  {hours} GPU-hours, {ended} runs ended, {running} out\n"
        ));
    }
    text.push_str(&format!(
        "iterations {}/{}, claim rewrites {}/{}, {} reviewer calls\n",
        used.iterations.0,
        used.iterations.1,
        used.reentries.0,
        used.reentries.1,
        used.reviewer_calls
    ));
    for words in &used.limits {
        text.push_str(&format!("limit: {words}\n"));
    }
    for signed in signed {
        text.push_str(&format!("{}\n", signed.line()));
    }
    out.data(&text)?;
    match used.reach {
        Reach::Near => out.note("the limit on GPU-hours is near"),
        Reach::Over => out.note("the limit on GPU-hours is passed"),
        Reach::Within | Reach::Unlimited => {}
    }
    Ok(Exit::DONE)
}
