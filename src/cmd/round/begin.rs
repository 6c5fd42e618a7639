//! `rp round parse-args`, `open`, `resume`, `discard`: how a run begins.

use std::{fs, io, path::Path};

use rp_events::{
    Refusal,
    program::{
        Event, FlagsResolved, RoundDiscarded, RoundOpened, RoundResumed, RunRefused, RunRequested,
    },
};
use rp_replay::program::{
    Program, codes,
    command::{self, Command, Stop},
    constants::StageName,
    guard, passage, resumption, stage_files, task,
};
use serde_json::{Value, json};

use crate::{
    engine::{Draft, Engine},
    error::Failure,
    exit::Exit,
    out::Out,
    porcelain::{self, Signed},
    workspace::{Settings, Workspace, documents},
};

/// Files beside the folders of [`passage::OUTPUTS`] that show what a round left.
const LEDGERS: &[&str] = &["CLAIMS_LEDGER.md", "claims_ledger.json"];

const LINE: &str = "\
Examples:
  rp round parse-args -- '\"how models lose negation\" -- auto-proceed: false, dimensions: method,dataset'
  rp round parse-args -- -- behavior-source: discovery, gpu-id: 0,1

The line is a direction, an em dash between spaces or `--`, and `key: value` pairs between commas. A bad model
alias, boolean, number or axis stops the run; an unknown word falls back to the default and an unknown key is
ignored, each with a note.";

const OPEN: &str = "\
Examples:
  rp round open -- '\"how models lose negation\" -- max-iterations: 3'
  rp round open --dry-run -- -- behavior-source: discovery
  rp round resume

A fresh run stops while an earlier round is neither archived nor discarded. A `task.md` that differs from the one
on record is recorded first. It signs as the user and as orchestrator, with the keys that are here.";

/// `rp round parse-args`
#[derive(Debug, clap::Args)]
#[command(after_help = LINE)]
pub(super) struct ParseArgs {
    /// The line, as it stands after `/auto`.
    #[arg(last = true, value_name = "LINE")]
    line: Vec<String>,
}

/// `rp round open` and `rp round resume`
#[derive(Debug, clap::Args)]
#[command(after_help = OPEN)]
pub(super) struct OpenArgs {
    /// The line, as it stands after `/auto`.
    #[arg(last = true, value_name = "LINE")]
    line: Vec<String>,
    /// The language of `task.md` [default: that of the last task, or en].
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<String>,
    /// Say what would happen and record nothing.
    #[arg(long)]
    dry_run: bool,
    /// Your own name for this request: repeating it records nothing twice.
    #[arg(long, value_name = "TEXT")]
    idem: Option<String>,
}

/// `rp round discard`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  rp round discard --round 2

It deletes nothing: it records that the user gave the round's files up, and the next round may overwrite them.")]
pub(super) struct DiscardArgs {
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

/// Reads a line and prints what it means.
pub(super) fn parse_args(
    args: &ParseArgs,
    settings: &Settings,
    out: &Out,
) -> Result<Exit, Failure> {
    let raw = args.line.join(" ");
    let workspace = Workspace::find(settings).ok();
    let root = workspace.as_ref().map_or(settings.start.as_path(), |found| found.root.as_path());
    let recorded = |found: &Workspace| {
        let state = found.read(None).ok().map(|reading| reading.state);
        state.and_then(|state| state.program().root()).is_some_and(|root| root.task.is_some())
    };
    let has_task =
        content(&root.join("task.md"))?.is_some() || workspace.as_ref().is_some_and(recorded);
    let command = command::parse(&raw).map_err(stopped)?;
    command::directed(&command, has_task).map_err(stopped)?;
    let source = if command.direction.is_empty() { "task.md" } else { "arguments" };
    if out.json {
        let mut document = json!({
            "schema": "rp.round.parse-args/1",
            "raw": raw,
            "direction": command.direction,
            "direction_source": source,
            "resume": command.resumes(),
            "notes": command.notes,
            "models": models(&command),
        });
        add_flags(&mut document, &command);
        out.document(&document)?;
        return Ok(Exit::DONE);
    }
    command.notes.iter().for_each(|note| out.talk(note));
    let direction = if command.direction.is_empty() { "(task.md)" } else { &command.direction };
    let mut text = format!("direction: {direction}\n");
    for (name, value) in flags(&command) {
        text.push_str(&format!("{name}: {value}\n"));
    }
    out.data(&text)?;
    Ok(Exit::DONE)
}

/// The flags by name, as JSON values.
fn flags(command: &Command) -> Vec<(String, Value)> {
    match serde_json::to_value(&command.flags) {
        Ok(Value::Object(fields)) => fields.into_iter().collect(),
        Ok(_) | Err(_) => unreachable!("flags are an object of texts, lists and numbers"),
    }
}

fn add_flags(document: &mut Value, command: &Command) {
    if let Some(fields) = document.as_object_mut() {
        fields.insert("flags".to_owned(), flags(command).into_iter().collect());
    }
}

fn models(command: &Command) -> Value {
    StageName::ALL
        .iter()
        .map(|stage| {
            let (model, source) = command::model_of(&command.flags, stage.as_str())
                .map_or((None, "session"), |(model, source)| (Some(model), source));
            (stage.to_string(), json!({ "model": model, "source": source }))
        })
        .collect()
}

fn stopped(stop: Stop) -> Failure {
    let hint = if stop.reason == codes::NO_DIRECTION_INPUT.name {
        "write task.md, or put a direction before the options"
    } else {
        "mend the line; `rp round parse-args -- LINE` tries it"
    };
    Failure::new(Exit::REFUSED, stop.reason, stop.message).hint(hint)
}

/// The text of a file, unless it is empty or not there.
fn content(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read(path) {
        Ok(bytes) if bytes.is_empty() => Ok(None),
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let why = format!("`{}` is not UTF-8 from byte {at} on", path.display());
            Refusal::new(&rp_events::refusal::general::BAD_TEXT, why).into()
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::io("read", path, &error)),
    }
}

/// Opens the next round, or continues the latest if the line says so.
pub(super) fn open(args: &OpenArgs, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    begin(args, false, settings, out)
}

/// Continues the latest round.
pub(super) fn resume(args: &OpenArgs, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    begin(args, true, settings, out)
}

/// A run that is about to begin.
struct Beginning<'a> {
    args: &'a OpenArgs,
    workspace: Workspace,
    engine: Engine,
    raw: String,
}

/// What a run begins with.
struct Begun {
    round: u64,
    event: Event,
    resumes: bool,
    resumption: Option<resumption::Resumption>,
}

fn begin(args: &OpenArgs, resume: bool, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let engine = Engine::open(&workspace)?;
    engine.notes.iter().for_each(|note| out.note(note));
    let mut beginning = Beginning { args, workspace, engine, raw: args.line.join(" ") };
    if let Some(done) = beginning.repeated()? {
        return said(&done, &[], out, args.dry_run);
    }
    if beginning.program().root().is_none() {
        let why = "no program was created in this journal";
        return Err(Refusal::new(&codes::NO_PROGRAM, why).into());
    }
    let command = match command::parse(&beginning.raw) {
        Ok(command) if resume => command.resuming(),
        Ok(command) => command,
        Err(stop) => return Err(beginning.refuse(resume, stopped(stop))),
    };
    let written = content(&beginning.workspace.root.join("task.md"))?;
    let has_task =
        written.is_some() || beginning.program().root().is_some_and(|r| r.task.is_some());
    if let Err(stop) = command::directed(&command, has_task) {
        return Err(beginning.refuse(command.resumes(), stopped(stop)));
    }
    let begun = match beginning.first_event(&command) {
        Ok(begun) => begun,
        Err(failure) => return Err(beginning.refuse(command.resumes(), failure)),
    };
    let drafts = beginning.drafts(&command, written.as_deref(), &begun)?;
    if args.dry_run {
        if let Some(first) = drafts.first() {
            beginning.engine.dry_run(first)?;
        }
        return announced(&begun, &command, &[], true, out);
    }
    let signed = porcelain::record(&mut beginning.engine, &drafts)?;
    announced(&begun, &command, &signed, false, out)
}

impl Beginning<'_> {
    fn program(&self) -> &Program {
        self.engine.state().program()
    }

    fn idem(&self, what: &str) -> Option<String> {
        self.args.idem.as_ref().map(|base| format!("{base}:{what}"))
    }

    /// What an earlier run of the same request recorded last.
    fn repeated(&self) -> Result<Option<Signed>, Failure> {
        match self.idem("round") {
            Some(idem) if self.engine.knows(&idem) => {
                let (signed, _) = porcelain::recorded(&self.workspace, &self.engine, &idem)?;
                Ok(Some(signed))
            }
            _ => Ok(None),
        }
    }

    /// The event that begins the run, if nothing stands in its way.
    fn first_event(&self, command: &Command) -> Result<Begun, Failure> {
        if command.resumes() {
            return self.resumed(command);
        }
        let mut files = Vec::new();
        for name in guard::WITNESSES {
            if content(&self.workspace.root.join(name))?.is_some() {
                files.push((*name).to_owned());
            }
        }
        if let Some(halt) = guard::multi_round(self.program(), &files) {
            let mut failure =
                Failure::new(Exit::REFUSED, codes::UNARCHIVED_ROUND.name, halt.message())
                    .detail("round", halt.round)
                    .detail("files", &halt.files)
                    .detail(
                        "choices",
                        halt.choices.iter().map(|(word, _)| *word).collect::<Vec<_>>(),
                    );
            for (word, what) in &halt.choices {
                failure = failure.hint(format!("{word}: {what}"));
            }
            return Err(failure);
        }
        let word = |flag: &Option<String>| flag.clone().unwrap_or_default();
        let event = Event::RoundOpened(Box::new(RoundOpened {
            behavior_source: word(&command.flags.behavior_source),
            mechanism: word(&command.flags.mechanism),
        }));
        let round = guard::next(self.program());
        Ok(Begun { round, event, resumes: false, resumption: None })
    }

    fn resumed(&self, command: &Command) -> Result<Begun, Failure> {
        let program = self.program();
        let nothing = |why: String| Refusal::new(&codes::RESUME_NOTHING, why);
        let round =
            program.latest_round().ok_or_else(|| nothing("no round was opened yet".to_owned()))?;
        let standing = passage::standing(program, round);
        if standing.is_archived || passage::is_discarded(program, round) {
            let what = if standing.is_archived { "archived" } else { "discarded" };
            return Err(nothing(format!("round {round}, the latest, is {what}")).into());
        }
        not_moving(&standing, round)?;
        // The engine opens the same files again and puts their digests into the event.
        let found = stage_files::resume_case(
            self.engine.state(),
            round,
            &documents::listing(&self.workspace.root)?,
        );
        let found: Vec<StageName> = found.found.into_iter().map(|(stage, _)| stage).collect();
        let resumption = resumption::of(program, round, command.loops(), &found)
            .ok_or_else(|| nothing(format!("the record holds nothing of round {round}")))?;
        let event = Event::RoundResumed(Box::new(RoundResumed {
            complete: resumption.complete.iter().map(ToString::to_string).collect(),
            resume_from: resumption.from.map(|stage| stage.to_string()),
            on_disk: None,
        }));
        Ok(Begun { round, event, resumes: true, resumption: Some(resumption) })
    }

    fn request(&self, resume: bool) -> Result<Draft, Failure> {
        let body = RunRequested { raw: self.raw.clone(), resume };
        let event = Event::RunRequested(Box::new(body));
        self.draft(event, 0, "user", "request")
    }

    fn draft(&self, event: Event, round: u64, role: &str, what: &str) -> Result<Draft, Failure> {
        let key = porcelain::signer(&self.workspace, self.engine.state(), role)?;
        Ok(porcelain::draft(&self.workspace, event, round, self.idem(what), key))
    }

    fn drafts(
        &self,
        command: &Command,
        written: Option<&str>,
        begun: &Begun,
    ) -> Result<Vec<Draft>, Failure> {
        let mut drafts = Vec::new();
        if let Some(text) = written.filter(|text| !task::is_recorded(self.program(), text)) {
            let language = self.args.language.clone();
            let language = language.unwrap_or_else(|| task::language(self.program()));
            let event = Event::TaskRecorded(Box::new(task::read(text, begun.round, &language)));
            drafts.push(self.draft(event, 0, "user", "task")?);
        }
        drafts.push(self.request(begun.resumes)?);
        let flags = FlagsResolved { flags: command.flags.clone(), notes: command.notes.clone() };
        let flags = Event::FlagsResolved(Box::new(flags));
        drafts.push(self.draft(flags, 0, "orchestrator", "flags")?);
        drafts.push(self.draft(begun.event.clone(), begun.round, "orchestrator", "round")?);
        Ok(drafts)
    }

    /// Records that the request was refused, so that the stop is part of the history; gives the failure back.
    fn refuse(&mut self, resume: bool, failure: Failure) -> Failure {
        // What is no reason of the text stops the run all the same, without a record.
        if self.args.dry_run || !command::REASONS.contains(&failure.code.as_str()) {
            return failure;
        }
        let body = RunRefused { reason: failure.code.clone(), message: failure.message.clone() };
        let refused = Event::RunRefused(Box::new(body));
        let drafts = self.request(resume).and_then(|mut request| {
            // Another try of the same line may well succeed: the refusal takes no name of it.
            let mut refused = self.draft(refused, 0, "orchestrator", "refused")?;
            request.idem = crate::engine::fresh_idem(&self.workspace);
            refused.idem = crate::engine::fresh_idem(&self.workspace);
            Ok([request, refused])
        });
        let recorded = drafts.and_then(|drafts| porcelain::record(&mut self.engine, &drafts));
        failure.detail("recorded", recorded.is_ok())
    }
}

/// Holds a round's files not to be on the move.
fn not_moving(standing: &passage::Standing, round: u64) -> Result<(), Failure> {
    if standing.planned.is_none() {
        return Ok(());
    }
    let why = format!("the archive of round {round} began and is not finished");
    Err(Failure::from(Refusal::new(&codes::ARCHIVE_PLAN, why))
        .hint("`rp round archive` goes on with it"))
}

fn announced(
    begun: &Begun,
    command: &Command,
    signed: &[Signed],
    dry: bool,
    out: &Out,
) -> Result<Exit, Failure> {
    let verb = if begun.resumes { "resume" } else { "open" };
    if out.json {
        let resumption = begun.resumption.as_ref();
        let mut document = json!({
            "schema": format!("rp.round.{verb}/1"),
            "round": begun.round,
            "address": format!("round:{}", begun.round),
            "direction": command.direction,
            "notes": command.notes,
            "models": models(command),
            "complete": resumption.map(|r| r.complete.iter().map(|s| s.as_str()).collect::<Vec<_>>()),
            "resume_from": resumption.and_then(|r| r.from).map(StageName::as_str),
            "dry_run": dry,
            "recorded": signed.iter().map(Signed::to_json).collect::<Vec<_>>(),
        });
        add_flags(&mut document, command);
        out.document(&document)?;
        return Ok(Exit::DONE);
    }
    command.notes.iter().for_each(|note| out.talk(note));
    let would = if dry { "would be " } else { "is " };
    let done = if begun.resumes { "resumed" } else { "open" };
    let mut text = format!("round {} {would}{done}\n", begun.round);
    if let Some(resumption) = &begun.resumption {
        let complete: Vec<&str> = resumption.complete.iter().map(|stage| stage.as_str()).collect();
        let complete = if complete.is_empty() { "none".to_owned() } else { complete.join(", ") };
        let from = resumption.from.map_or("none", StageName::as_str);
        text.push_str(&format!("complete stages: {complete}; resumes from: {from}\n"));
    }
    for signed in signed {
        text.push_str(&format!("{}\n", signed.line()));
    }
    out.data(&text)?;
    Ok(Exit::DONE)
}

/// Prints the receipts of what was done or would be.
fn said(last: &Signed, before: &[Signed], out: &Out, dry: bool) -> Result<Exit, Failure> {
    let all: Vec<&Signed> = before.iter().chain([last]).collect();
    if out.json {
        let recorded: Vec<Value> = all.iter().map(|signed| signed.to_json()).collect();
        out.document(&json!({
            "schema": "rp.round.open/1",
            "duplicate": last.receipt.duplicate,
            "dry_run": dry,
            "recorded": recorded,
        }))?;
    } else {
        for signed in all {
            out.data(&format!("{}\n", signed.line()))?;
        }
    }
    Ok(Exit::DONE)
}

/// Records that the user gives a round up.
pub(super) fn discard(args: &DiscardArgs, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let mut engine = Engine::open(&workspace)?;
    engine.notes.iter().for_each(|note| out.note(note));
    let round = porcelain::round(engine.state().program(), args.round)?;
    not_moving(&passage::standing(engine.state().program(), round), round)?;
    let there = |name: &&&str| workspace.root.join(name).symlink_metadata().is_ok();
    let paths: Vec<String> = LEDGERS
        .iter()
        .chain(passage::OUTPUTS)
        .filter(there)
        .map(|name| (*name).to_owned())
        .collect();
    let event = Event::RoundDiscarded(Box::new(RoundDiscarded { paths: paths.clone() }));
    let key = porcelain::signer(&workspace, engine.state(), "user")?;
    let draft = porcelain::draft(&workspace, event, round, args.idem.clone(), key.clone());
    let signed = if args.dry_run {
        Signed { receipt: engine.dry_run(&draft)?, key }
    } else {
        let mut signed = porcelain::record(&mut engine, std::slice::from_ref(&draft))?;
        signed.pop().unwrap_or_else(|| unreachable!("a draft is recorded or refused"))
    };
    if out.json {
        out.document(&json!({
            "schema": "rp.round.discard/1",
            "round": round,
            "address": format!("round:{round}"),
            "paths": paths,
            "dry_run": args.dry_run,
            "recorded": [signed.to_json()],
        }))?;
        return Ok(Exit::DONE);
    }
    let would = if args.dry_run { "would be " } else { "is " };
    let files = if paths.is_empty() { "nothing".to_owned() } else { paths.join(", ") };
    out.data(&format!("round {round} {would}discarded; given up: {files}\n{}\n", signed.line()))?;
    out.talk("nothing was deleted; the next round may overwrite these files");
    Ok(Exit::DONE)
}
