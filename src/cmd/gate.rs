//! `rp gate`: the gates of a round.

use rp_replay::{
    document::{Body, Cell, Document},
    program::gates,
};
use serde_json::json;

use crate::{
    error::Failure,
    exit::Exit,
    out::Out,
    porcelain, render,
    workspace::{Moment, Settings, Workspace},
};

/// `rp gate`
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: GateVerb,
}

#[derive(Debug, clap::Subcommand)]
enum GateVerb {
    /// List the gates: where each stands, how it is decided, which answers it takes.
    List(ListArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rp gate list
  rp gate list --round 1 --json")]
struct ListArgs {
    /// The round [default: the latest].
    #[arg(long, value_name = "N")]
    round: Option<u64>,
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

/// Does what the gate verb says.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let GateVerb::List(args) = &args.verb;
    let workspace = Workspace::find(settings)?;
    let reading = workspace.read(args.at.as_ref())?;
    let program = reading.state.program();
    let round = porcelain::round(program, args.round)?;
    let gates = gates::list(program, round);
    if out.json {
        let rows: Vec<_> = gates
            .iter()
            .map(|gate| {
                json!({
                    "gate": gate.name,
                    "state": gate.state.as_str(),
                    "mode": gate.mode,
                    "answers": gate.answers,
                    "waits_for_a_person": gate.waits(),
                    "note": gate.note,
                })
            })
            .collect();
        out.document(&json!({ "schema": "rp.gate.list/1", "round": round, "gates": rows }))?;
        return Ok(Exit::DONE);
    }
    let columns = ["gate", "state", "mode", "answers", "note"];
    let rows = gates.iter().map(|gate| {
        let cells = [
            Cell::from(gate.name),
            Cell::from(gate.state.as_str()),
            Cell::from(gate.mode),
            Cell::from(gate.answers.join(", ")),
            Cell::from(gate.note.clone()),
        ];
        (None, cells)
    });
    let body = Body::table(columns, rows);
    out.data(&render::text::draw(
        &Document::new(format!("Gates of round {round}")).with("", body),
    ))?;
    out.note("signatures not checked; `rp validate` checks them");
    Ok(Exit::DONE)
}
