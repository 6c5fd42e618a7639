//! `rp round settled`: is it settled, and what becomes of a pin on it.

use rp_replay::program::settled::{self, Question};
use serde_json::json;

use crate::{
    error::Failure,
    exit::Exit,
    out::Out,
    workspace::{Moment, Settings, Workspace},
};

/// `rp round settled`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rp round settled --behavior B1
  rp round settled --behavior B1 --direction Location --family 'Causal Attribution' --retry-settled

A behavior is settled by its status, an attempt by the latest reading of it. Where direction and family are asked,
it is the pair that is or is not settled. A pin on something settled is honoured only with retry-settled; else it
yields to a fresh pick, or you are asked if gates prompt.")]
pub(super) struct SettledArgs {
    /// The behavior, by its id or its whole statement.
    #[arg(long, value_name = "BEHAVIOR")]
    behavior: String,
    /// A direction, or a chain of them.
    #[arg(long, value_name = "DIRECTION")]
    direction: Option<String>,
    /// A family of methods, or one of its submethods.
    #[arg(long, value_name = "FAMILY")]
    family: Option<String>,
    /// Where the behavior comes from.
    #[arg(long, value_name = "SOURCE", default_value = "given", value_parser = ["given", "given-validation", "discovery"])]
    behavior_source: String,
    /// The task says `retry-settled: true`.
    #[arg(long)]
    retry_settled: bool,
    /// Gates prompt (`AUTO_PROCEED` is false).
    #[arg(long)]
    interactive: bool,
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

/// Answers the question.
pub(super) fn settled(args: &SettledArgs, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let reading = workspace.read(args.at.as_ref())?;
    let answer = settled::ask(
        reading.state.program(),
        &Question {
            behavior: args.behavior.clone(),
            direction: args.direction.clone(),
            family: args.family.clone(),
            source: args.behavior_source.clone(),
            retry_settled: args.retry_settled,
            auto_proceed: !args.interactive,
        },
    )?;
    if out.json {
        let rows: Vec<_> = answer
            .rows
            .iter()
            .map(|row| {
                json!({
                    "level": row.level,
                    "item": row.item,
                    "settled": row.settled_in.is_some(),
                    "settled_in_round": row.settled_in,
                    "pin_resolution": row.decision,
                })
            })
            .collect();
        out.document(&json!({
            "schema": "rp.round.settled/1",
            "behavior": answer.behavior,
            "status": answer.status,
            "levels": rows,
        }))?;
        return Ok(Exit::DONE);
    }
    let mut text = String::new();
    for row in &answer.rows {
        let state = match (row.settled_in, row.decision) {
            (Some(round), Some(decision)) => format!("settled in round {round}; a pin: {decision}"),
            (Some(round), None) => format!("settled in round {round}"),
            (None, _) => "open; a pin is honoured".to_owned(),
        };
        text.push_str(&format!("{} {}: {state}\n", row.level, row.item));
    }
    out.data(&text)?;
    out.note("signatures not checked; `rp validate` checks them");
    Ok(Exit::DONE)
}
