//! `rp stage`: what a stage is told, and what its runs leave behind.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
};

use rp_events::{
    Refusal,
    program::{Event, GpuId},
    refusal::general,
};
use rp_replay::program::{codes, constants::StageName, devices, injection};
use serde_json::{Value, json};

use crate::{
    engine::Engine,
    error::Failure,
    exit::Exit,
    out::Out,
    porcelain::{self, Signed},
    workspace::{Moment, Settings, Workspace},
};

/// `rp stage`
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: StageVerb,
}

#[derive(Debug, clap::Subcommand)]
enum StageVerb {
    /// Print the two blocks that open the dispatch of a stage: what binds it, what it should know.
    Brief(BriefArgs),
    /// Hold the devices that a stage's runs used to the pin, by their `cost.json`, and record it.
    Pin(PinArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rp stage brief verify
  rp stage brief claim --round 2

The words are the task's own. A stage gets the items routed to it, the claim stage all of them. Words that the user
overrode are the newer ones, stamped with the point of the request.")]
struct BriefArgs {
    /// The stage.
    #[arg(value_name = "STAGE", value_parser = ["claim", "experiment", "verify", "iteration"])]
    stage: String,
    /// The round [default: the latest].
    #[arg(long, value_name = "N")]
    round: Option<u64>,
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  rp stage pin experiment

It reads RUN/cost.json of every run that the stage started. An empty list of devices is a run that used none. A
device that was not asked for is recorded and refused: the pipeline must halt.")]
struct PinArgs {
    /// The stage.
    #[arg(value_name = "STAGE", value_parser = ["experiment", "verify", "iteration"])]
    stage: String,
    /// The round [default: the latest].
    #[arg(long, value_name = "N")]
    round: Option<u64>,
    /// Say what would be recorded and record nothing.
    #[arg(long)]
    dry_run: bool,
    /// Your own name for this request: repeating it records nothing twice.
    #[arg(long, value_name = "TEXT")]
    idem: Option<String>,
}

/// Does what the stage verb says.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    match &args.verb {
        StageVerb::Brief(args) => brief(args, settings, out),
        StageVerb::Pin(args) => pin(args, settings, out),
    }
}

fn stage(name: &str) -> Result<StageName, Failure> {
    StageName::parse(name).ok_or_else(|| {
        let words = StageName::WORDS.join("`, `");
        Refusal::new(&codes::BAD_ENUM, format!("a stage is one of `{words}`; found `{name}`"))
            .into()
    })
}

fn brief(args: &BriefArgs, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let stage = stage(&args.stage)?;
    let reading = workspace.read(args.at.as_ref())?;
    let program = reading.state.program();
    let round = porcelain::round(program, args.round)?;
    let blocks = injection::blocks(program, round, stage);
    if out.json {
        let item = |item: &injection::Item| {
            json!({
                "id": item.id,
                "kind": item.kind,
                "text": item.text,
                "stages": item.stages,
                "claims": item.claims,
                "per_user_request": item.point,
            })
        };
        out.document(&json!({
            "schema": "rp.stage.brief/1",
            "round": round,
            "stage": stage.as_str(),
            "hard": blocks.hard.iter().map(item).collect::<Vec<_>>(),
            "notice": blocks.notice.iter().map(item).collect::<Vec<_>>(),
            "text": blocks.text(),
        }))?;
        return Ok(Exit::DONE);
    }
    out.data(&blocks.text())?;
    out.note("signatures not checked; `rp validate` checks them");
    Ok(Exit::DONE)
}

fn pin(args: &PinArgs, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let stage = stage(&args.stage)?;
    let mut engine = Engine::open(&workspace)?;
    engine.notes.iter().for_each(|note| out.note(note));
    let round = porcelain::round(engine.state().program(), args.round)?;
    if devices::pinned(engine.state().program(), round).is_none() {
        return unpinned(round, stage, out);
    }
    let due = devices::due(engine.state().program(), round, stage);
    let mut witnesses = BTreeMap::new();
    for devices::Due { run, path } in due {
        if let Some(found) = witness(&workspace, &path)? {
            witnesses.insert(run, found);
        }
    }
    let check = devices::check(engine.state().program(), round, stage, &witnesses)?;
    let event = Event::GpuPinChecked(Box::new(check.event.clone()));
    let key = porcelain::signer(&workspace, engine.state(), "orchestrator")?;
    let draft = porcelain::draft(&workspace, event, round, args.idem.clone(), key.clone());
    let signed = if args.dry_run {
        vec![Signed { receipt: engine.dry_run(&draft)?, key }]
    } else {
        porcelain::record(&mut engine, std::slice::from_ref(&draft))?
    };
    let shown = |list: &[GpuId]| devices::shown(&list.iter().cloned().collect());
    if let Some(violation) = check.violation {
        return Err(Failure::new(Exit::REFUSED, codes::GPU_PIN_VIOLATION.name, violation)
            .detail("outside", shown(&check.outside))
            .detail("recorded", !args.dry_run)
            .hint(format!(
                "halt: `rp append pipeline.halted --round {round}` with stage `{stage}` and this line as the cause"
            )));
    }
    if out.json {
        out.document(&json!({
            "schema": "rp.stage.pin/1",
            "round": round,
            "stage": stage.as_str(),
            "requested": check.event.requested,
            "observed": check.event.observed,
            "runs": check.event.runs.iter().map(rp_events::RunId::as_str).collect::<Vec<_>>(),
            "dry_run": args.dry_run,
            "recorded": signed.iter().map(Signed::to_json).collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::DONE);
    }
    out.data(&format!(
        "stage {stage} ran on {}, asked for {}: the pin held over {} runs\n",
        shown(&check.event.observed),
        shown(&check.event.requested),
        check.event.runs.len()
    ))?;
    for signed in signed {
        out.data(&format!("{}\n", signed.line()))?;
    }
    Ok(Exit::DONE)
}

fn unpinned(round: u64, stage: StageName, out: &Out) -> Result<Exit, Failure> {
    if out.json {
        out.document(&json!({
            "schema": "rp.stage.pin/1",
            "round": round,
            "stage": stage.as_str(),
            "requested": Value::Null,
        }))?;
    } else {
        out.data(&format!("round {round} is pinned to no devices; nothing is checked\n"))?;
    }
    Ok(Exit::DONE)
}

/// The devices that a run's `cost.json` names; none if there is no such file.
fn witness(workspace: &Workspace, folder: &str) -> Result<Option<BTreeSet<GpuId>>, Failure> {
    let path = workspace.root.join(folder).join("cost.json");
    let real = match fs::canonicalize(&path) {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::io("read", &path, &error)),
    };
    if !real.starts_with(&workspace.root) {
        let why = format!("`{folder}/cost.json` leads out of the workspace");
        return Err(Refusal::new(&general::ARTIFACT_MISMATCH, why).into());
    }
    let bytes = fs::read(&real).map_err(|error| Failure::io("read", &path, &error))?;
    devices_of(&bytes).map(Some).map_err(|why| unreadable(&path, &why))
}

fn unreadable(path: &Path, why: &str) -> Failure {
    let message = format!("`{}`: {why}", path.display());
    Failure::from(Refusal::new(&general::ARTIFACT_MISMATCH, message))
        .hint("the launcher writes `gpu_ids` as a list of numbers, or of a tier's name")
}

fn devices_of(bytes: &[u8]) -> Result<BTreeSet<GpuId>, String> {
    let document: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let list = document.get("gpu_ids").and_then(Value::as_array);
    let list = list.ok_or_else(|| "it has no list `gpu_ids`".to_owned())?;
    let device = |value: &Value| match value {
        Value::Number(n) => n.as_u64().map(GpuId::Number),
        // Some launchers quote the numbers of `CUDA_VISIBLE_DEVICES`.
        Value::String(text) => {
            Some(text.parse().map_or_else(|_| GpuId::Tier(text.clone()), GpuId::Number))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    list.iter()
        .map(|value| device(value).ok_or_else(|| format!("`gpu_ids` holds `{value}`")))
        .collect()
}
