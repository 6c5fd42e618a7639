//! `rp round override`: the user's word against what stands, and the log of it in `task.md`.

use std::{fs, io};

use rp_events::{
    ConstraintId, Refusal,
    program::{Event, OverrideRecorded},
};
use rp_replay::program::{codes, task};
use serde_json::json;

use crate::{
    engine::Engine,
    error::Failure,
    exit::Exit,
    journal::durable,
    out::Out,
    porcelain::{self, Signed},
    workspace::{Settings, Workspace},
};

/// `rp round override`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  rp round override --point 'round 1 verify gate' --request 'raise the GPU budget to 45 hours' \\
      --overrides 'At most 30 GPU-hours in total.' --constraint H1

With --overrides, one line is appended to `## User Overrides (log)` at the end of task.md; without a contradiction
nothing is written there. Nothing above the log is ever touched.")]
pub(super) struct Args {
    /// When in the round.
    #[arg(long, value_name = "POINT")]
    point: String,
    /// What you ask for.
    #[arg(long, value_name = "TEXT")]
    request: String,
    /// The words that it contradicts, if it contradicts any.
    #[arg(long, value_name = "TEXT")]
    overrides: Option<String>,
    /// The constraint that it changes.
    #[arg(long, value_name = "ID")]
    constraint: Option<String>,
    /// It cannot wait for the next boundary.
    #[arg(long)]
    strong: bool,
    /// The round [default: the latest].
    #[arg(long, value_name = "N")]
    round: Option<u64>,
    /// Say what would happen and record nothing.
    #[arg(long)]
    dry_run: bool,
    /// Your own name for this request: repeating it records nothing twice.
    #[arg(long, value_name = "TEXT")]
    idem: Option<String>,
}

/// Records the override and brings the log up to date.
pub(super) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let mut engine = Engine::open(&workspace)?;
    engine.notes.iter().for_each(|note| out.note(note));
    let round = porcelain::round(engine.state().program(), args.round)?;
    let constraint = args.constraint.as_deref().map(ConstraintId::parse).transpose();
    let event = Event::OverrideRecorded(Box::new(OverrideRecorded {
        point: args.point.clone(),
        request: args.request.clone(),
        overrides: args.overrides.clone(),
        urgency: if args.strong { "strong" } else { "deferrable" }.to_owned(),
        constraint: constraint.map_err(|why| Refusal::new(&codes::CONSTRAINT_SCOPE, why))?,
    }));
    let key = porcelain::signer(&workspace, engine.state(), "user")?;
    let draft = porcelain::draft(&workspace, event, round, args.idem.clone(), key.clone());
    let (signed, logged) = if args.dry_run {
        (vec![Signed { receipt: engine.dry_run(&draft)?, key }], Logged::Nothing)
    } else {
        let signed = porcelain::record(&mut engine, std::slice::from_ref(&draft))?;
        (signed, log(&workspace, &task::log(engine.state().program()))?)
    };
    answer(args, round, &signed, &logged, out)
}

/// What became of the log.
enum Logged {
    /// No line was due.
    Nothing,
    /// Lines were appended.
    Written,
    /// There is no `task.md` to append to.
    NoTask,
}

/// Appends what the log of `task.md` lacks. A line that an interrupted call left out comes with the next.
fn log(workspace: &Workspace, lines: &[String]) -> Result<Logged, Failure> {
    let path = workspace.root.join("task.md");
    let text = match fs::read(&path) {
        Ok(bytes) => String::from_utf8(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(if lines.is_empty() { Logged::Nothing } else { Logged::NoTask });
        }
        Err(error) => return Err(Failure::io("read", &path, &error)),
    };
    let text = text.map_err(|error| {
        let why =
            format!("`task.md` is not UTF-8 from byte {} on", error.utf8_error().valid_up_to());
        Refusal::new(&rp_events::refusal::general::BAD_TEXT, why)
    })?;
    let longer = task::with_log(&text, lines);
    if longer == text {
        return Ok(Logged::Nothing);
    }
    // A link keeps leading where it leads; what it names gets the line.
    let real = fs::canonicalize(&path).map_err(|error| Failure::io("find", &path, &error))?;
    if !real.starts_with(&workspace.root) {
        let why = format!("`task.md` leads to `{}`, outside the workspace", real.display());
        return Err(Failure::new(Exit::REFUSED, "outside", why)
            .hint("the override is recorded; append its line by hand"));
    }
    durable::write(workspace.settings.disk.as_ref(), &real, longer.as_bytes())
        .map_err(|error| Failure::io("write", &path, &error))?;
    Ok(Logged::Written)
}

fn answer(
    args: &Args,
    round: u64,
    signed: &[Signed],
    logged: &Logged,
    out: &Out,
) -> Result<Exit, Failure> {
    let said = match logged {
        Logged::Nothing => "nothing",
        Logged::Written => "task.md",
        Logged::NoTask => "no task.md",
    };
    if out.json {
        out.document(&json!({
            "schema": "rp.round.override/1",
            "round": round,
            "logged": said,
            "dry_run": args.dry_run,
            "recorded": signed.iter().map(Signed::to_json).collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::DONE);
    }
    for signed in signed {
        out.data(&format!("{}\n", signed.line()))?;
    }
    match logged {
        Logged::Nothing => {}
        Logged::Written => out.talk("logged in task.md"),
        Logged::NoTask => out.note("there is no task.md; the record alone holds the override"),
    }
    Ok(Exit::DONE)
}
