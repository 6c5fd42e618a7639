//! The verbs: a file each, one match, one way to end.

pub mod append;
pub mod artifact;
pub mod claim;
pub mod doctor;
pub mod fold;
pub mod gate;
pub mod head;
pub mod help;
pub mod import;
pub mod init;
mod interface;
pub mod key;
pub mod kinds;
pub mod log;
pub mod quickstart;
pub mod round;
pub mod show;
pub mod stage;
pub mod sync;
pub mod trace;
pub mod validate;
pub mod validate_run;
pub mod verify;

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

use crate::{
    cli::{Cli, Environment, wants_json},
    error::Failure,
    exit::Exit,
    out::{Color, Out},
    workspace::Settings,
};

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Make a workspace here: `.rp/`, the keys root, log, owner and recorder, the first entries.
    Init(init::Args),
    /// Make, show, grant, rotate and revoke keys.
    Key(key::Args),
    /// Record one event, or a batch of them.
    Append(append::Args),
    /// Print a receipt of the journal's head.
    Head(head::Args),
    /// Print a view of the record.
    Fold(fold::Args),
    /// Take over what was kept in files before.
    Import(import::Args),
    /// Write the file views where their readers expect them.
    Sync(sync::Args),
    /// List events, newest last.
    Log(log::Args),
    /// Show everything about one thing.
    Show(show::Args),
    /// Begin, end and leave rounds: open, resume, discard, archive, draft, report.
    Round(round::Args),
    /// List and show claims, and what happened to them.
    Claim(claim::Args),
    /// What a stage is told, and what its runs used.
    Stage(stage::Args),
    /// The gates of a round.
    Gate(gate::Args),
    /// Show what a thing rests on, down to bytes, and what rests on it.
    Trace(trace::Args),
    /// Store files beside the journal, to be cited by their digests.
    Artifact(artifact::Args),
    /// Say where things stand.
    Status(fold::PageArgs),
    /// Say the same in at most 4,000 characters, ending in what may come next.
    Brief(fold::PageArgs),
    /// List the event kinds, their owners and the relations.
    Kinds(kinds::Args),
    /// Print the JSON Schema of a kind's payload.
    Schema(kinds::SchemaArgs),
    /// Check everything: chain, signatures, authority, rules, derived files.
    Validate(validate::Args),
    /// Check the cryptographic part alone.
    Verify(verify::Args),
    /// Check machine, keys and workspace, and really verify.
    Doctor(doctor::Args),
    /// Record a whole sample program from scratch, fold it, validate it.
    Quickstart(quickstart::Args),
    /// Print a completion script for a shell.
    Completions(help::CompletionsArgs),
    /// Print the manual page.
    Man(help::ManArgs),
    /// Explain a verb, or `exit-codes`, `environment`.
    Help(help::Args),
}

/// Runs the command line and says how it ended.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    let environment = Environment::read();
    let mut cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return misused(&error, &Out::new(wants_json(&args), Color::Auto, true)),
    };
    start_log(environment.log.as_deref());
    let out = cli.global.out(&environment);
    // `-C` is as if started there: files named by other flags are looked for there as well.
    if let Err(error) = std::env::set_current_dir(&cli.global.dir) {
        let failure = Failure::io("enter", &cli.global.dir, &error);
        out.failure(&failure);
        return failure.exit;
    }
    cli.global.dir = ".".into();
    let settings = cli.global.settings(&environment);
    match dispatch(cli.verb, &settings, &out) {
        Ok(exit) => exit,
        Err(failure) => {
            out.failure(&failure);
            failure.exit
        }
    }
}

fn dispatch(verb: Verb, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    match verb {
        Verb::Init(args) => init::run(&args, settings, out),
        Verb::Key(args) => key::run(args, settings, out),
        Verb::Append(args) => append::run(&args, settings, out),
        Verb::Head(args) => head::run(&args, settings, out),
        Verb::Fold(args) => fold::run(&args, settings, out),
        Verb::Import(args) => import::run(&args, settings, out),
        Verb::Sync(args) => sync::run(&args, settings, out),
        Verb::Log(args) => log::run(&args, settings, out),
        Verb::Show(args) => show::run(&args, settings, out),
        Verb::Round(args) => round::run(&args, settings, out),
        Verb::Claim(args) => claim::run(&args, settings, out),
        Verb::Stage(args) => stage::run(&args, settings, out),
        Verb::Gate(args) => gate::run(&args, settings, out),
        Verb::Trace(args) => trace::run(&args, settings, out),
        Verb::Artifact(args) => artifact::run(&args, settings, out),
        Verb::Status(args) => fold::page("status", &args, settings, out),
        Verb::Brief(args) => fold::page("brief", &args, settings, out),
        Verb::Kinds(args) => kinds::run(&args, out),
        Verb::Schema(args) => kinds::schema(&args, out),
        Verb::Validate(args) => validate::run(&args, settings, out),
        Verb::Verify(args) => verify::run(&args, settings, out),
        Verb::Doctor(args) => doctor::run(&args, settings, out),
        Verb::Quickstart(args) => quickstart::run(&args, settings, out),
        Verb::Completions(args) => help::completions(&args, out),
        Verb::Man(args) => help::man(&args, out),
        Verb::Help(args) => help::run(&args, out),
    }
}

/// Help and version are answers; everything else is misuse.
fn misused(error: &clap::Error, out: &Out) -> Exit {
    if !error.use_stderr() {
        drop(out.data(&error.render().to_string()));
        return Exit::DONE;
    }
    let text = error.render().to_string();
    if out.json {
        let first = text.lines().next().unwrap_or_default();
        let message = first.strip_prefix("error: ").unwrap_or(first);
        out.failure(&Failure::usage(message).hint("`rp help` lists the verbs"));
    } else {
        out.talk(text.trim_end());
    }
    Exit::USAGE
}

fn start_log(level: Option<&str>) {
    let Some(level) = level.and_then(|level| level.parse::<tracing::Level>().ok()) else { return };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr);
    // A second call in one process (tests) keeps the first log.
    drop(log.try_init());
}

/// The command tree, for help, completions and the manual.
fn command() -> clap::Command {
    Cli::command()
}
