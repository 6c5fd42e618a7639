//! `rp round archive`: the latest round's files into their folder.

use rp_events::Refusal;
use rp_replay::program::{codes, constants::Intent};
use serde_json::{Value, json};

use crate::{
    archive::{self, Archived, Plan, Request, moves},
    error::Failure,
    exit::Exit,
    out::Out,
    workspace::{Settings, Workspace},
};

const EXAMPLES: &str = "\
Examples:
  rp round archive --intent new-behavior --dry-run
  rp round archive --intent new-mechanism B1
  rp round archive --intent re-validate --keep literature
  rp round archive                              goes on with an interrupted archive

Everything at the root moves but .rp, .git, .gitignore, .mcp.json, the agents' settings, task.md (copied),
research_memory.json, rounds, notification and what --keep names; with new-mechanism and re-validate also data and
cache stay. Nothing is overwritten: a folder that holds something already ends the verb with code 3.

Links move as links and are never followed. A path on another file system is copied, the copy made durable, and
only then the original removed. It signs as the user and as next-round, with the keys that are here.";

/// `rp round archive`
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// What follows: `new-behavior`, `new-mechanism [B]` or `re-validate [B]`; left out, B is the latest behavior.
    #[arg(long, num_args = 1..=2, value_names = ["INTENT", "B"])]
    intent: Vec<String>,
    /// A path at the root that stays, on your wish, which is recorded. May be given several times.
    #[arg(long, value_name = "PATH")]
    keep: Vec<String>,
    /// Print the plan, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Your own name for this request: repeating it does nothing twice.
    #[arg(long, value_name = "TEXT")]
    idem: Option<String>,
}

impl Args {
    fn request(&self) -> Result<Request, Failure> {
        let intent = match self.intent.as_slice() {
            [] => None,
            [word, behavior @ ..] => {
                let intent = Intent::parse(word).ok_or_else(|| {
                    let words = Intent::WORDS.join("`, `");
                    let why = format!("an intent is one of `{words}`; found `{word}`");
                    Refusal::new(&codes::BAD_INTENT, why)
                })?;
                Some((intent, behavior.first().cloned()))
            }
        };
        let mut arguments = self.intent.join(" ");
        for path in &self.keep {
            arguments.push_str(&format!(" --keep {path}"));
        }
        let arguments = arguments.trim_start().to_owned();
        Ok(Request { intent, keep: self.keep.clone(), arguments, idem: self.idem.clone() })
    }
}

/// Archives, or says what would be archived.
pub(super) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let request = args.request()?;
    if args.dry_run {
        let plan = archive::plan(&workspace, &request)?;
        if out.json {
            let mut document = of_plan(&plan);
            add(&mut document, "dry_run", true.into());
            out.document(&document)?;
        } else {
            out.data(&text(&plan, "would archive"))?;
        }
        return Ok(Exit::DONE);
    }
    let mut announce = |plan: &Plan, notes: &[String]| {
        for note in notes {
            out.note(note);
        }
        let verb = if plan.is_resumed { "goes on to archive" } else { "will archive" };
        out.talk(text(plan, verb).trim_end());
    };
    let done = archive::run(&workspace, &request, &moves::Real, &mut announce)?;
    answer(&done, out)
}

fn add(document: &mut Value, key: &str, value: Value) {
    if let Some(fields) = document.as_object_mut() {
        fields.insert(key.to_owned(), value);
    }
}

fn of_plan(plan: &Plan) -> Value {
    json!({
        "schema": "rp.round.archive/1",
        "round": plan.round,
        "address": format!("round:{}", plan.round),
        "target": plan.target,
        "move": plan.moved,
        "keep": plan.keep,
        "intent": plan.intent.as_str(),
        "behavior": plan.behavior,
        "recommended": plan.recommended.map(Intent::as_str),
        "resumed": plan.is_resumed,
    })
}

fn text(plan: &Plan, verb: &str) -> String {
    let mut text = format!("{verb} round {} into {}:\n", plan.round, plan.target);
    for path in &plan.moved {
        text.push_str(&format!("    {}\n", path.escape_debug()));
    }
    if !plan.keep.is_empty() {
        let keep: Vec<String> =
            plan.keep.iter().map(|path| path.escape_debug().to_string()).collect();
        text.push_str(&format!("stays at the root: {}\n", keep.join(" ")));
    }
    let behavior = plan.behavior.as_deref().map(|id| format!(" {id}")).unwrap_or_default();
    text.push_str(&format!("next: {}{behavior}\n", plan.intent));
    text
}

fn answer(done: &Archived, out: &Out) -> Result<Exit, Failure> {
    if out.json {
        let mut document = of_plan(&done.plan);
        for (key, value) in [
            ("moved", json!(done.moved)),
            ("copied", json!(done.copied)),
            ("missing", json!(done.missing)),
            ("appeared", json!(done.appeared)),
            ("duplicate", done.is_duplicate.into()),
            ("recorded", done.signed.iter().map(crate::porcelain::Signed::to_json).collect()),
        ] {
            add(&mut document, key, value);
        }
        out.document(&document)?;
        return Ok(Exit::DONE);
    }
    for path in &done.missing {
        out.note(&format!(
            "`{}` was planned and is nowhere; the record says so",
            path.escape_debug()
        ));
    }
    for path in &done.appeared {
        out.note(&format!(
            "`{}` appeared after the plan and stays at the root",
            path.escape_debug()
        ));
    }
    let Plan { round, target, .. } = &done.plan;
    let mut text = format!(
        "round {round} is archived in {target}: {} moved, {} copied, {} missing\n",
        done.moved.len(),
        done.copied.len(),
        done.missing.len()
    );
    for signed in &done.signed {
        text.push_str(&format!("{}\n", signed.line()));
    }
    out.data(&text)?;
    out.talk("next: `rp round draft` drafts the next task.md");
    Ok(Exit::DONE)
}
