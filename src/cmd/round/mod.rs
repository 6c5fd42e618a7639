//! `rp round`: the verbs of a round, from the line that asks for a run to the report after its archive.

mod archive;
mod begin;
mod between;
mod budget;
mod notify;
mod overrule;
mod query;

use crate::{error::Failure, exit::Exit, out::Out, workspace::Settings};

/// `rp round`
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: RoundVerb,
}

#[derive(Debug, clap::Subcommand)]
enum RoundVerb {
    /// Read an `/auto` line: direction, flags, notes, or what stops the run.
    ParseArgs(begin::ParseArgs),
    /// Open the next round: the request, its flags and the round, recorded together.
    Open(begin::OpenArgs),
    /// Continue the latest round where the record says it stopped.
    Resume(begin::OpenArgs),
    /// Give up the latest round; its number stays used, and its files may be overwritten.
    Discard(begin::DiscardArgs),
    /// Move the latest round's files into `rounds/round_N/`; an interrupted move is gone on with.
    Archive(archive::Args),
    /// Draft the next round's `task.md`.
    Draft(between::DraftArgs),
    /// Say what the passage to the next round did.
    Report(between::ReportArgs),
    /// Ask whether a behavior, direction or family is settled, and what becomes of a pin on it.
    Settled(query::SettledArgs),
    /// Sum the round's GPU-hours, reviews and charged actions.
    Budget(budget::Args),
    /// Record that the user overrides something; a contradiction is logged in `task.md`.
    Override(overrule::Args),
    /// Print a progress briefing; sending it is up to you.
    Notify(notify::Args),
}

/// Does what the verb says.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    match &args.verb {
        RoundVerb::ParseArgs(args) => begin::parse_args(args, settings, out),
        RoundVerb::Open(args) => begin::open(args, settings, out),
        RoundVerb::Resume(args) => begin::resume(args, settings, out),
        RoundVerb::Discard(args) => begin::discard(args, settings, out),
        RoundVerb::Archive(args) => archive::run(args, settings, out),
        RoundVerb::Draft(args) => between::draft(args, settings, out),
        RoundVerb::Report(args) => between::report(args, settings, out),
        RoundVerb::Settled(args) => query::settled(args, settings, out),
        RoundVerb::Budget(args) => budget::run(args, settings, out),
        RoundVerb::Override(args) => overrule::run(args, settings, out),
        RoundVerb::Notify(args) => notify::run(args, settings, out),
    }
}
