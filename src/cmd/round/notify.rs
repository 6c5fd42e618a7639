//! `rp round notify`: the briefing, for the user's own command to send.

use std::{fs, io};

use rp_events::{
    Refusal,
    program::{Event, NotificationRecorded},
};
use rp_replay::program::{codes, notification};
use serde_json::json;

use crate::{
    engine::Engine,
    error::Failure,
    exit::Exit,
    out::Out,
    porcelain::{self, Signed},
    workspace::{Settings, Workspace},
};

/// `rp round notify`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rp round notify progress | mail -s progress me@example.org
  rp round notify halted --save --dispatched
  rp round notify approval-needed --reason 'the disk is full \u{2014} action required: free 200 GB'

Nothing is printed, saved or recorded unless the round's task asks for notifications. With --save the briefing is
kept under notification/, where nothing is ever overwritten, and recorded with the key of notify.")]
pub(super) struct Args {
    /// The touchpoint.
    #[arg(value_name = "EVENT", value_parser = ["hourly", "progress", "done", "halted", "approval-needed"])]
    event: String,
    /// Why, in one line [default: what the record says].
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Keep the briefing under `notification/` and record it.
    #[arg(long)]
    save: bool,
    /// With --save: it was sent.
    #[arg(long, requires = "save")]
    dispatched: bool,
    /// The round [default: the latest].
    #[arg(long, value_name = "N")]
    round: Option<u64>,
    /// Your own name for this request: repeating it records nothing twice.
    #[arg(long, value_name = "TEXT", requires = "save")]
    idem: Option<String>,
}

/// A briefing that may be sent.
struct Briefing {
    round: u64,
    reason: String,
    text: String,
}

/// Prints the briefing, and saves it if asked. Without an opt-in it is a silent no-op.
pub(super) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    if !args.save {
        let reading = workspace.read(None)?;
        return match of(args, reading.state.program())? {
            None => quiet(out),
            Some(briefing) => said(&briefing, args, None, &[], out),
        };
    }
    let mut engine = Engine::open(&workspace)?;
    engine.notes.iter().for_each(|note| out.note(note));
    let Some(briefing) = of(args, engine.state().program())? else { return quiet(out) };
    if let Some(idem) = args.idem.as_deref().filter(|idem| engine.knows(idem)) {
        let (signed, event) = porcelain::recorded(&workspace, &engine, idem)?;
        let Event::NotificationRecorded(body) = event else {
            let why = format!(
                "key `{idem}` was used by entry {} for another request",
                signed.receipt.seq
            );
            return Err(
                Refusal::new(&rp_events::refusal::general::IDEMPOTENCY_CONFLICT, why).into()
            );
        };
        return said(&briefing, args, Some(&body.file), &[signed], out);
    }
    let file = notification::file(settings.clock.now(), &args.event);
    let body = NotificationRecorded {
        event: args.event.clone(),
        reason: briefing.reason.clone(),
        file: file.clone(),
        dispatched: args.dispatched,
    };
    let event = Event::NotificationRecorded(Box::new(body));
    let key = porcelain::signer(&workspace, engine.state(), "notify")?;
    let draft = porcelain::draft(&workspace, event, briefing.round, args.idem.clone(), key);
    engine.dry_run(&draft)?;
    save(&workspace, &file, &briefing.text)?;
    let signed = porcelain::record(&mut engine, std::slice::from_ref(&draft))?;
    said(&briefing, args, Some(&file), &signed, out)
}

fn of(args: &Args, program: &rp_replay::program::Program) -> Result<Option<Briefing>, Failure> {
    if !notification::is_wanted(program, args.round.or_else(|| program.latest_round())) {
        return Ok(None);
    }
    let round = porcelain::round(program, args.round)?;
    let found = args.reason.clone().or_else(|| notification::reason(program, round, &args.event));
    let reason = found.ok_or_else(|| {
        let why = format!("the record of round {round} gives no reason for `{}` yet", args.event);
        Failure::new(Exit::NOTHING, "nothing", why).hint("say it: `--reason TEXT`")
    })?;
    let text = notification::briefing(program, round, &args.event, &reason);
    Ok(Some(Briefing { round, reason, text }))
}

/// Keeps a briefing under a name that is free.
fn save(workspace: &Workspace, file: &str, text: &str) -> Result<(), Failure> {
    let path = workspace.root.join(file);
    let disk = workspace.settings.disk.as_ref();
    let folder = path.parent().unwrap_or(&workspace.root).to_owned();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            let why = format!("`{file}` is there already; nothing is overwritten");
            Failure::from(Refusal::new(&codes::NOTIFY_OVERWRITE, why))
        }
        _ => Failure::io("write", &path, &error),
    };
    if fs::symlink_metadata(&folder).is_ok_and(|facts| !facts.is_dir()) {
        let why = "`notification` is no folder of the workspace";
        return Err(
            Failure::new(Exit::REFUSED, "outside", why).hint("put a real folder in its place")
        );
    }
    disk.make_folder(&folder).map_err(failed)?;
    let handle = disk.create(&path).map_err(failed)?;
    handle.write_all_at(text.as_bytes(), 0).and_then(|()| handle.sync()).map_err(failed)?;
    disk.sync_folder(&folder).map_err(failed)
}

fn quiet(out: &Out) -> Result<Exit, Failure> {
    if out.json {
        out.document(&json!({ "schema": "rp.round.notify/1", "opted_in": false }))?;
    }
    Ok(Exit::DONE)
}

fn said(
    briefing: &Briefing,
    args: &Args,
    file: Option<&str>,
    signed: &[Signed],
    out: &Out,
) -> Result<Exit, Failure> {
    if out.json {
        out.document(&json!({
            "schema": "rp.round.notify/1",
            "opted_in": true,
            "round": briefing.round,
            "event": args.event,
            "reason": briefing.reason,
            "text": briefing.text,
            "file": file,
            "recorded": signed.iter().map(Signed::to_json).collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::DONE);
    }
    out.data(&briefing.text)?;
    if let Some(file) = file {
        out.talk(&format!("kept in {file}"));
    }
    Ok(Exit::DONE)
}
