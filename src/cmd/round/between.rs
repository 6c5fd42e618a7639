//! `rp round draft` and `rp round report`: the next task, and what was done on the way to it.

use std::{fs, io};

use rp_events::{
    BehaviorId, Refusal,
    program::{Event, TaskDrafted, TransitionReported},
};
use rp_replay::program::{Program, codes, constants::Intent, passage};
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

/// `rp round draft`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rp round draft
  rp round draft --note 'Raise the contrast of the M0 test.'

The draft takes the place of `task.md`, whose last text is in the archive. A `task.md` that was edited since the
archive is left alone unless --replace says otherwise.")]
pub(super) struct DraftArgs {
    /// One line for the notes of the draft.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Replace a `task.md` that was edited since the archive.
    #[arg(long)]
    replace: bool,
    /// Say what would happen and record nothing.
    #[arg(long)]
    dry_run: bool,
    /// Your own name for this request: repeating it records nothing twice.
    #[arg(long, value_name = "TEXT")]
    idem: Option<String>,
}

/// `rp round report`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  rp round report")]
pub(super) struct ReportArgs {
    /// The archived round [default: the latest].
    #[arg(long, value_name = "N")]
    round: Option<u64>,
    /// Print the report and record nothing.
    #[arg(long)]
    dry_run: bool,
    /// Your own name for this request: repeating it records nothing twice.
    #[arg(long, value_name = "TEXT")]
    idem: Option<String>,
}

/// Drafts the next task. A draft that was recorded and not written is written.
pub(super) fn draft(args: &DraftArgs, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let mut engine = Engine::open(&workspace)?;
    engine.notes.iter().for_each(|note| out.note(note));
    let round = porcelain::latest_round(engine.state().program())?;
    let standing = passage::standing(engine.state().program(), round);
    hold_archived(round, &standing)?;
    let recorded = drafted(engine.state().program(), round);
    hold_unedited(args, &workspace, round, recorded.as_deref())?;
    let mut signed = Vec::new();
    if recorded.is_none() || args.note.is_some() {
        let event = of(engine.state().program(), round, &standing, args.note.as_deref())?;
        let key = porcelain::signer(&workspace, engine.state(), "next-round")?;
        let draft = porcelain::draft(&workspace, event, round, args.idem.clone(), key.clone());
        if args.dry_run {
            let receipt = engine.dry_run(&draft)?;
            return said(round, &[Signed { receipt, key }], true, engine.state().program(), out);
        }
        signed = porcelain::record(&mut engine, std::slice::from_ref(&draft))?;
    }
    if !args.dry_run {
        let text = drafted(engine.state().program(), round).unwrap_or_default();
        let path = workspace.root.join("task.md");
        durable::write(settings.disk.as_ref(), &path, text.as_bytes())
            .map_err(|error| Failure::io("write", &path, &error))?;
    }
    said(round, &signed, args.dry_run, engine.state().program(), out)
}

/// The text of the draft after a round, while nobody recorded another task.
fn drafted(program: &Program, round: u64) -> Option<String> {
    let root = program.root()?;
    let task = root.task.as_ref()?;
    (task.drafted && task.for_round == round + 1).then(|| task.text.clone())
}

fn hold_archived(round: u64, standing: &passage::Standing) -> Result<(), Failure> {
    if standing.is_archived {
        return Ok(());
    }
    let why = format!("round {round} is not archived");
    Err(Failure::from(Refusal::new(&codes::DRAFT_BEFORE_ARCHIVE, why))
        .hint("`rp round archive` archives it"))
}

fn of(
    program: &Program,
    round: u64,
    standing: &passage::Standing,
    note: Option<&str>,
) -> Result<Event, Failure> {
    let intent = standing.intent.unwrap_or(Intent::NewBehavior);
    let id = standing.behavior.as_deref();
    let behaviors = program.behaviors();
    let behavior = behaviors.iter().find(|behavior| id == Some(behavior.id.as_str()));
    let (source, mechanism) = passage::parameters(intent);
    let note =
        note.map_or_else(|| passage::note(intent, behavior.map(AsRef::as_ref)), str::to_owned);
    let behavior = id.map(BehaviorId::parse).transpose();
    Ok(Event::TaskDrafted(Box::new(TaskDrafted {
        for_round: round + 1,
        intent: intent.to_string(),
        behavior: behavior.map_err(|why| Refusal::new(&codes::UNKNOWN_BEHAVIOR, why))?,
        behavior_source: source.to_owned(),
        mechanism: mechanism.to_owned(),
        note,
    })))
}

/// Holds `task.md` to be what the archive has of it, or the draft itself: nobody's words are written over.
fn hold_unedited(
    args: &DraftArgs,
    workspace: &Workspace,
    round: u64,
    draft: Option<&str>,
) -> Result<(), Failure> {
    let read = |path: &str| match fs::read(workspace.root.join(path)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::io("read", path.as_ref(), &error)),
    };
    let Some(live) = read("task.md")? else { return Ok(()) };
    let archived = read(&format!("{}task.md", passage::target(round)))?;
    let known = archived.as_ref() == Some(&live) || draft.is_some_and(|d| d.as_bytes() == live);
    if known || args.replace {
        return Ok(());
    }
    let why = format!("`task.md` was edited since round {round} was archived; it is left as it is");
    Err(Failure::new(Exit::EXISTS, "task-edited", why)
        .hint("run with it, and leave the draft: `rp round open`")
        .hint("`rp round draft --replace` replaces it"))
}

fn said(
    round: u64,
    signed: &[Signed],
    dry: bool,
    program: &Program,
    out: &Out,
) -> Result<Exit, Failure> {
    let intent = passage::standing(program, round).intent.unwrap_or(Intent::NewBehavior);
    let (source, mechanism) = passage::parameters(intent);
    let is_known = program.root().is_some_and(|root| root.has_memory);
    if !is_known {
        out.note("the memory is empty: nothing can be recommended, and nothing avoided");
    }
    if out.json {
        out.document(&json!({
            "schema": "rp.round.draft/1",
            "round": round + 1,
            "intent": intent.as_str(),
            "behavior_source": source,
            "mechanism": mechanism,
            "path": "task.md",
            "text": drafted(program, round),
            "dry_run": dry,
            "recorded": signed.iter().map(Signed::to_json).collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::DONE);
    }
    let verb = if dry { "would be drafted" } else { "is drafted" };
    let mut text = format!(
        "task.md {verb} for round {} (behavior-source: {source}, mechanism: {mechanism})\n",
        round + 1
    );
    for signed in signed {
        text.push_str(&format!("{}\n", signed.line()));
    }
    out.data(&text)?;
    if !dry {
        out.talk("next: `rp round report`, edit task.md, then `rp round open`");
    }
    Ok(Exit::DONE)
}

/// Records and prints the report.
pub(super) fn report(args: &ReportArgs, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let mut engine = Engine::open(&workspace)?;
    engine.notes.iter().for_each(|note| out.note(note));
    let round = porcelain::round(engine.state().program(), args.round)?;
    let lines = passage::report(engine.state().program(), round);
    let event = Event::TransitionReported(Box::new(TransitionReported { lines: lines.clone() }));
    let key = porcelain::signer(&workspace, engine.state(), "next-round")?;
    let draft = porcelain::draft(&workspace, event, round, args.idem.clone(), key.clone());
    let signed = if args.dry_run {
        vec![Signed { receipt: engine.dry_run(&draft)?, key }]
    } else {
        porcelain::record(&mut engine, std::slice::from_ref(&draft))?
    };
    if out.json {
        out.document(&json!({
            "schema": "rp.round.report/1",
            "round": round,
            "lines": lines,
            "dry_run": args.dry_run,
            "recorded": signed.iter().map(Signed::to_json).collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::DONE);
    }
    out.data(&format!("{}\n", lines.join("\n")))?;
    Ok(Exit::DONE)
}
