//! `rp import`: takes over what was kept in files before. Nothing of the files is changed.

use std::path::{Path, PathBuf};

use rp_events::{
    Digest, Event,
    program::{self, ProgramCreated, Unverified},
};
use rp_replay::program::import::{
    self, ARCHIVES, Blocked, Found, Interest, Plan, READ_MAX, Survey, interest, is_passed_over,
};
use serde_json::{Value, json};

use crate::{
    engine::{Draft, Engine, Receipt},
    error::Failure,
    exit::Exit,
    out::Out,
    workspace::{
        Settings, Workspace,
        documents::{self, Contents},
    },
};

/// Events that are recorded together or not at all; a project of fewer is taken over whole or not.
const GROUP: usize = 1024;

/// `rp import`
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Take over a program of rounds: `rounds/`, `research_memory.json`, a round at the root.
    Program(ProgramArgs),
}

#[derive(Debug, clap::Args)]
struct ProgramArgs {
    /// The project's folder.
    // Not called `dir`: clap would take it for the flag `-C` of the same name.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The program's name, where none is created yet [default: the folder's name].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Its direction, where none is created yet [default: as the files say it].
    #[arg(long, value_name = "TEXT")]
    direction: Option<String>,
    /// Say what would be taken over and what could not be verified, and record nothing.
    #[arg(long)]
    dry_run: bool,
    /// Your own name for this request: repeating it records nothing twice [default: the content's digest].
    #[arg(long, value_name = "TEXT")]
    idem: Option<String>,
}

/// Takes over what the arguments name.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    match &args.what {
        What::Program(args) => program(args, settings, out),
    }
}

fn program(args: &ProgramArgs, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let survey = survey(&args.folder)?;
    let plan = import::plan(&survey).map_err(|why| blocked(why, &args.folder))?;
    if args.dry_run {
        return answer(&plan, None, out);
    }
    let mut engine = Engine::open(&workspace)?;
    engine.notes.iter().for_each(|note| out.note(note));
    let drafts = drafts(args, &plan, &workspace, &engine)?;
    let begun = drafts.iter().any(|draft| engine.knows(&draft.idem));
    if !begun && engine.state().program().imports() > 0 {
        let message =
            "this journal took over a project before, from other files or before they changed";
        return Err(Failure::new(Exit::EXISTS, "imported", message)
            .hint("`rp log --kind program.imported` shows what it took over")
            .hint("another project is taken over in a workspace of its own"));
    }
    let mut receipts = Vec::new();
    for group in drafts.chunks(GROUP) {
        let committed = engine.commit(group)?;
        receipts.extend(committed.receipts);
        if let Some(failure) = committed.refused {
            return Err(failure.detail("recorded_before", receipts.len()));
        }
    }
    answer(&plan, Some((&receipts, &engine)), out)
}

fn blocked(why: Blocked, folder: &Path) -> Failure {
    match why {
        Blocked::Nothing => {
            let message = format!("`{}` holds no program of rounds", folder.display());
            Failure::new(Exit::NOTHING, "nothing", message).hint(
                "a program has `rounds/round_1/`, `research_memory.json`, or a round's files at its root",
            )
        }
        Blocked::File(doubt) => {
            let Unverified { code, file, place, value, why } = *doubt;
            let at = if place.is_empty() { String::new() } else { format!(" at {place}") };
            let message = format!("`{file}`{at}: {why}; found `{value}`; nothing was recorded");
            Failure::new(Exit::REFUSED, &code, message)
                .detail("file", file)
                .detail("place", place)
                .detail("value", value)
                .hint("the next round would write this file anew, so it is taken over whole or not at all; correct it and import again")
        }
    }
}

fn drafts(
    args: &ProgramArgs,
    plan: &Plan,
    workspace: &Workspace,
    engine: &Engine,
) -> Result<Vec<Draft>, Failure> {
    let imports = plan
        .events
        .iter()
        .map(|event| Event::Program(program::Event::ProgramImported(Box::new(event.clone()))));
    let imports: Vec<Event> = imports.collect();
    let base = if let Some(idem) = &args.idem {
        idem.clone()
    } else {
        let bytes = imports.iter().map(Event::encode).collect::<Result<Vec<_>, _>>()?;
        format!("import-program:{}", Digest::b3(&bytes.concat()))
    };
    let signer = workspace.key_name()?;
    let draft = |(n, event): (usize, Event)| Draft {
        event,
        stream: Some("program".to_owned()),
        at: None,
        cause: Vec::new(),
        idem: format!("{base}:{n}"),
        signer: signer.clone(),
    };
    let mut drafts: Vec<Draft> = (1..).zip(imports).map(draft).collect();
    // A first try that got no further than this event made the program itself.
    if engine.state().program().root().is_none() {
        let created =
            Event::Program(program::Event::ProgramCreated(Box::new(created(args, plan)?)));
        drafts.insert(0, draft((0, created)));
    }
    Ok(drafts)
}

fn created(args: &ProgramArgs, plan: &Plan) -> Result<ProgramCreated, Failure> {
    let folder = std::path::absolute(&args.folder).unwrap_or_else(|_| args.folder.clone());
    let name = folder.file_name().map(|name| import::lenient::clean(&name.to_string_lossy()));
    let name = args.name.clone().or(name).ok_or_else(|| {
        Failure::usage("the folder has no name that the program could take")
            .hint("add `--name NAME`")
    })?;
    let direction = args.direction.clone().or_else(|| plan.direction.clone()).ok_or_else(|| {
        Failure::usage("no file says the program's direction").hint("add `--direction TEXT`")
    })?;
    Ok(ProgramCreated { program: name, direction })
}

/// Walks a project: names, sizes, and of the files that are asked for digests and content.
fn survey(root: &Path) -> Result<Survey, Failure> {
    if !root.is_dir() {
        let error = std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such folder");
        return Err(
            Failure::io("read", root, &error).hint("`rp import program DIR` takes a folder")
        );
    }
    let mut survey = Survey::default();
    let mut open = vec![String::new()];
    while let Some(folder) = open.pop() {
        let Contents { mut files, mut folders, mut strange } =
            documents::contents(&root.join(&folder))?;
        if folder.is_empty() {
            files.retain(|name, _| !is_passed_over(name));
            folders.retain(|name| !is_passed_over(name));
            strange.retain(|name, _| !is_passed_over(name));
        }
        let path = |name: &str| {
            if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
        };
        if folder == ARCHIVES {
            survey.folders.clone_from(&folders);
        }
        for (name, bytes) in files {
            take(root, path(&name), bytes, &mut survey)?;
        }
        survey.strange.extend(strange.into_iter().map(|(name, what)| (path(&name), what)));
        open.extend(folders.iter().map(|name| path(name)));
    }
    survey.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(survey)
}

fn take(root: &Path, path: String, bytes: u64, survey: &mut Survey) -> Result<(), Failure> {
    let keep = match interest(&path) {
        Interest::Name => {
            survey.others.insert(path, bytes);
            return Ok(());
        }
        Interest::Digest => None,
        Interest::Content => Some(READ_MAX),
    };
    let (sums, content) = documents::read(&root.join(&path), keep)?;
    survey.files.push(Found { path, bytes: sums.bytes, b3: sums.b3, sha256: sums.sha256, content });
    Ok(())
}

fn answer(plan: &Plan, done: Option<(&[Receipt], &Engine)>, out: &Out) -> Result<Exit, Failure> {
    if out.json {
        out.document(&document(plan, done))?;
        return Ok(Exit::DONE);
    }
    out.data(&text(plan, done))?;
    let next = match (done, plan.live) {
        (None, _) => "the same without `--dry-run` records it".to_owned(),
        (Some(_), None) => {
            format!("record the task of round {} and open it", plan.highest_round + 1)
        }
        (Some(_), Some(live)) => {
            format!("round {live} lies at the root: go on with it, archive it, or discard it")
        }
    };
    out.talk(&format!("next: {next}"));
    Ok(Exit::DONE)
}

fn document(plan: &Plan, done: Option<(&[Receipt], &Engine)>) -> Value {
    let complete: Vec<&str> = plan.complete.iter().map(|name| name.as_str()).collect();
    let mut document = json!({
        "schema": "rp.import.program/1",
        "archives": plan.archives,
        "live_round": plan.live,
        "complete": complete,
        "highest_round": plan.highest_round,
        "behaviors": plan.behaviors,
        "claims": plan.claims,
        "files": plan.files,
        "others": { "files": plan.others.0, "bytes": plan.others.1 },
        "unverified": plan.unverified,
        "events": plan.events.len(),
        "dry_run": done.is_none(),
    });
    if let (Some((receipts, engine)), Some(fields)) = (done, document.as_object_mut()) {
        let duplicates = receipts.iter().filter(|receipt| receipt.duplicate).count();
        let head = engine.writer().head();
        fields.insert("recorded".to_owned(), (receipts.len() - duplicates).into());
        fields.insert("duplicate".to_owned(), (duplicates == receipts.len()).into());
        fields.insert("first_seq".to_owned(), json!(receipts.first().map(|receipt| receipt.seq.0)));
        fields.insert("last_seq".to_owned(), json!(receipts.last().map(|receipt| receipt.seq.0)));
        fields.insert("size".to_owned(), head.size().into());
        fields.insert("root".to_owned(), head.root().to_string().into());
    }
    document
}

fn text(plan: &Plan, done: Option<(&[Receipt], &Engine)>) -> String {
    let numbers =
        |list: &[u64]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "archived rounds  {}\nround at root    {}\n",
        if plan.archives.is_empty() { "none".to_owned() } else { numbers(&plan.archives) },
        plan.live.map_or("none".to_owned(), |live| live.to_string()),
    );
    if plan.live.is_some() {
        let names: Vec<&str> = plan.complete.iter().map(|name| name.as_str()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        text.push_str(&format!("complete stages  {names}\n"));
    }
    text.push_str(&format!(
        "behaviors        {}\nclaims           {}\nfiles by digest  {}\nleft unrecorded  {} files of {} bytes\n",
        plan.behaviors, plan.claims, plan.files, plan.others.0, plan.others.1
    ));
    if plan.unverified.is_empty() {
        text.push_str(
            "everything that can be derived from the files agrees; who wrote them is not known\n",
        );
    } else {
        text.push_str(&format!("could not verify ({}):\n", plan.unverified.len()));
    }
    for Unverified { code, file, place, value, why } in &plan.unverified {
        let place = if place.is_empty() { String::new() } else { format!(" {place}") };
        text.push_str(&format!("  {code:15}  {file}{place}: `{value}`: {why}\n"));
    }
    let Some((receipts, _)) = done else {
        text.push_str(&format!("{} events would be recorded\n", plan.events.len()));
        return text;
    };
    let fresh = receipts.iter().filter(|receipt| !receipt.duplicate).count();
    let place = match (receipts.first(), receipts.last()) {
        (Some(first), Some(last)) => format!(", entries {} to {}", first.seq, last.seq),
        _ => String::new(),
    };
    let verb = if fresh == 0 { "were recorded before" } else { "recorded" };
    let count = if fresh == 0 { receipts.len() } else { fresh };
    text.push_str(&format!("{count} events {verb}{place}\n"));
    text
}
