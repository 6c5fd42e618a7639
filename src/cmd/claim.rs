//! `rp claim`: the claims of a round, one of them, and everything that happened to it.

use std::{ops::ControlFlow, sync::Arc};

use rp_events::{Event, Refusal};
use rp_replay::{
    State,
    document::{self, Body, Cell, Document},
    program::{codes, history, ledger::ClaimRow, limits, views::ledger_json},
};
use rp_validator::walk::{Plan, Until};
use serde_json::{Value, json};

use super::log;
use crate::{
    error::Failure,
    exit::Exit,
    out::Out,
    porcelain, render,
    workspace::{Moment, Settings, Workspace},
};

/// `rp claim`
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: ClaimVerb,
}

#[derive(Debug, clap::Subcommand)]
enum ClaimVerb {
    /// List the claims of a round with their verdicts.
    List(ListArgs),
    /// Show one claim whole.
    Show(OneArgs),
    /// List every event about a claim or a run that serves it, newest last.
    History(OneArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rp claim list
  rp claim list --round 1 --json")]
struct ListArgs {
    /// The round [default: the latest].
    #[arg(long, value_name = "N")]
    round: Option<u64>,
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rp claim show claim:1/C4_v2
  rp claim history C1 --round 1")]
struct OneArgs {
    /// The claim: `claim:ROUND/ID`, or an id of the round.
    claim: String,
    /// The round, for an id [default: the latest].
    #[arg(long, value_name = "N")]
    round: Option<u64>,
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

/// Does what the claim verb says.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    match &args.verb {
        ClaimVerb::List(args) => list(args, &workspace, out),
        ClaimVerb::Show(args) => show(args, &workspace, out),
        ClaimVerb::History(args) => whole_history(args, &workspace, out),
    }
}

fn address(round: u64, id: &str) -> String {
    format!("claim:{round}/{id}")
}

fn list(args: &ListArgs, workspace: &Workspace, out: &Out) -> Result<Exit, Failure> {
    let reading = workspace.read(args.at.as_ref())?;
    let program = reading.state.program();
    let round = porcelain::round(program, args.round)?;
    let claims = program.claims(round);
    if out.json {
        let rows: Vec<Value> = claims
            .iter()
            .map(|row| {
                json!({
                    "address": address(round, &row.id),
                    "id": row.id,
                    "statement": row.statement,
                    "main_experiment": row.main_experiment.verdict,
                    "verify": row.verify.verdict,
                    "post_iteration": row.iteration.final_reviewer_status,
                    "final_status": row.final_status,
                })
            })
            .collect();
        out.document(&json!({ "schema": "rp.claim.list/1", "round": round, "claims": rows }))?;
        return Ok(Exit::DONE);
    }
    let columns = ["claim", "main experiment", "verify", "final status", "statement"];
    let rows = claims.iter().map(|row| {
        let address = document::Address::claim(round, &row.id);
        let cells = [
            Cell::link(address.clone()),
            Cell::from(row.main_experiment.verdict.clone()),
            Cell::from(row.verify.verdict.clone()),
            Cell::from(row.final_status.clone()),
            Cell::from(row.statement.clone()),
        ];
        (Some(address), cells)
    });
    let body = Body::table(columns, rows);
    out.data(&render::text::draw(
        &Document::new(format!("Claims of round {round}")).with("", body),
    ))?;
    out.note("signatures not checked; `rp validate` checks them");
    Ok(Exit::DONE)
}

/// The claim that the arguments name, with its round.
fn named(args: &OneArgs, state: &State) -> Result<(u64, Arc<ClaimRow>), Failure> {
    let program = state.program();
    let unknown = |round: u64, id: &str| {
        let known: Vec<String> = program.claims(round).iter().map(|row| row.id.clone()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let id = rp_events::text::shown(id);
        Refusal::new(
            &codes::UNKNOWN_CLAIM,
            format!("the claims of round {round} are {known}; found `{id}`"),
        )
    };
    let (round, id) = match args.claim.strip_prefix("claim:").unwrap_or(&args.claim).split_once('/')
    {
        Some((round, id)) => {
            let asked = round.parse().map_err(|_| {
                Failure::usage(format!("an address is `claim:ROUND/ID`, found `{}`", args.claim))
            })?;
            (porcelain::round(program, Some(asked))?, id)
        }
        None => (porcelain::round(program, args.round)?, args.claim.as_str()),
    };
    let claims = program.claims(round);
    let row = claims.iter().find(|row| row.id == id).map(Arc::clone);
    row.map(|row| (round, row)).ok_or_else(|| unknown(round, id).into())
}

fn show(args: &OneArgs, workspace: &Workspace, out: &Out) -> Result<Exit, Failure> {
    let reading = workspace.read(args.at.as_ref())?;
    let (round, row) = named(args, &reading.state)?;
    let whole = ledger_json::one(&row);
    if out.json {
        // The row is put in as text: its numbers are those of the file.
        let mut document = json!({
            "schema": "rp.claim.show/1",
            "address": address(round, &row.id),
            "round": round,
        })
        .to_string();
        document.pop();
        out.data(&format!("{document},\"claim\":{whole}}}\n"))?;
        return Ok(Exit::DONE);
    }
    let mut facts = Vec::new();
    let parsed: Value = serde_json::from_str(&whole).unwrap_or_default();
    flat("", &parsed, &mut facts);
    let page = Document::new(address(round, &row.id)).with("", Body::Facts(facts));
    out.data(&render::text::draw(&page))?;
    out.note("signatures not checked; `rp validate` checks them");
    Ok(Exit::DONE)
}

/// The leaves of a value, each under the path of its fields; empty ones are left out.
fn flat(path: &str, value: &Value, facts: &mut Vec<(String, Cell)>) {
    let fact = |text: String| (path.trim_start_matches('.').to_owned(), Cell::from(text));
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                flat(&format!("{path}.{key}"), value, facts);
            }
        }
        Value::Array(list) if list.iter().all(Value::is_string) => {
            facts.extend(list.iter().filter_map(Value::as_str).map(|text| fact(text.to_owned())));
        }
        Value::Array(list) => {
            for (n, value) in list.iter().enumerate() {
                flat(&format!("{path}.{n}"), value, facts);
            }
        }
        Value::String(text) if text.is_empty() => {}
        Value::String(text) => facts.push(fact(text.clone())),
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => facts.push(fact(value.to_string())),
    }
}

fn whole_history(args: &OneArgs, workspace: &Workspace, out: &Out) -> Result<Exit, Failure> {
    let reading = workspace.read(args.at.as_ref())?;
    let (round, row) = named(args, &reading.state)?;
    let stream = format!("round/{round}");
    let program = reading.state.program();
    let (mut lines, mut warnings) = (Vec::new(), Vec::new());
    let plan = Plan::whole(Until::Size(reading.chain.next().0));
    workspace.each(plan, &mut |parsed, _| {
        if parsed.envelope.stream.as_deref() != Some(stream.as_str()) {
            return ControlFlow::Continue(());
        }
        if let Ok(Event::Program(event)) = Event::decode(&parsed.envelope.kind, parsed.data)
            && history::concerns(program, round, &row.id, &event)
        {
            lines.push(log::line(&parsed, &reading.state, "rp.claim.event/1", out));
            let mine = format!(" of {} ", row.id);
            warnings.extend(limits::warnings(&event).into_iter().filter(|w| w.contains(&mine)));
        }
        ControlFlow::Continue(())
    })?;
    out.data(&lines.concat())?;
    if out.json {
        out.document(&json!({
            "schema": "rp.claim.history/1",
            "address": address(round, &row.id),
            "events": lines.len(),
            "warnings": warnings,
        }))?;
        return Ok(Exit::DONE);
    }
    for warning in &warnings {
        out.note(warning);
    }
    out.note("signatures not checked; `rp validate` checks them");
    Ok(Exit::DONE)
}
