//! `rp show`: everything about one thing.

use std::{ops::ControlFlow, sync::Arc};

use rp_events::{EventId, Seq, entry};
use rp_replay::State;
use rp_validator::walk::{Plan, Until};
use serde_json::{Value, json};

use super::log;
use crate::{
    error::Failure,
    exit::Exit,
    out::Out,
    workspace::{Moment, Settings, Workspace},
};

/// `rp show`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An entry's number, an event id, or an address: `event:SEQ`, `key:NAME`, `round:N`, `claim:N/ID`.
    entity: String,
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

/// Shows the thing.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let reading = workspace.read(args.at.as_ref())?;
    let size = reading.chain.next().0;
    let entity = args.entity.as_str();
    let text = match entity.split_once(':') {
        Some(("event", seq)) => {
            event(&workspace, &reading.state, position(seq, &reading.state)?, size)?
        }
        Some(("key", name)) => key(&reading.state, name).ok_or_else(|| unknown(entity))?,
        Some(("round", round)) => round_of(&reading.state, round).ok_or_else(|| unknown(entity))?,
        Some(("claim", path)) => claim(&reading.state, path).ok_or_else(|| unknown(entity))?,
        Some(_) => return Err(unknown(entity)),
        None => event(&workspace, &reading.state, position(entity, &reading.state)?, size)?,
    };
    if out.json {
        out.data(&format!("{text}\n"))?;
    } else {
        out.data(&format!("{}\n", pretty(&text)))?;
    }
    Ok(Exit::DONE)
}

fn unknown(entity: &str) -> Failure {
    let message = format!("the record has nothing at `{}`", rp_events::text::shown(entity));
    Failure::new(Exit::REFUSED, "unknown-entity", message)
        .hint("an address is `event:SEQ`, `key:NAME`, `round:N` or `claim:N/ID`")
        .hint("`rp log` and `rp status` show what there is")
}

fn position(text: &str, state: &State) -> Result<Seq, Failure> {
    let by_id = EventId::parse(text).and_then(|id| state.record().position(&id));
    let seq = by_id.or_else(|| text.parse().ok().map(Seq)).filter(|seq| *seq < state.next());
    seq.ok_or_else(|| unknown(text))
}

fn event(workspace: &Workspace, state: &State, seq: Seq, size: u64) -> Result<String, Failure> {
    let bytes = workspace.entry(seq)?;
    let parsed = entry::parse(&bytes)
        .map_err(|error| Failure::new(Exit::REFUSED, "bad-envelope", error.to_string()))?;
    let id = parsed.id.to_string();
    let mut cited_by: Vec<Value> = Vec::new();
    workspace.each(Plan::whole(Until::Size(size)), &mut |later, _| {
        for citation in later.envelope.cause.iter().filter(|citation| citation.target == id) {
            cited_by.push(json!({ "seq": later.envelope.seq.0, "relation": citation.relation }));
        }
        ControlFlow::Continue(())
    })?;
    let mut text = log::record(&parsed, state, "rp.show.event/1");
    text.pop();
    Ok(format!("{text},\"cited_by\":{}}}", Value::Array(cited_by)))
}

fn key(state: &State, name: &str) -> Option<String> {
    let (kid, key) = state.trust().named(name)?;
    let document = json!({
        "schema": "rp.show.key/1",
        "address": format!("key:{name}"),
        "kid": kid.to_string(),
        "pub": key.public.to_string(),
        "roles": key.roles.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "since": key.since.0,
        "state": key.ended_before(state.next()).unwrap_or_else(|| "may sign".to_owned()),
    });
    Some(document.to_string())
}

fn round_of(state: &State, round: &str) -> Option<String> {
    let round: u64 = round.parse().ok()?;
    let header = state.program().header(round)?;
    let claims: Vec<String> =
        state.program().claims(round).iter().map(|claim| claim.id.clone()).collect();
    let document = json!({
        "schema": "rp.show.round/1",
        "address": format!("round:{round}"),
        "project": header.project,
        "pipeline_status": header.pipeline_status,
        "archived": state.program().is_archived(round),
        "claims": claims.iter().map(|id| format!("claim:{round}/{id}")).collect::<Vec<_>>(),
    });
    Some(document.to_string())
}

fn claim(state: &State, path: &str) -> Option<String> {
    let (round, id) = path.split_once('/')?;
    let claims = state.program().claims(round.parse().ok()?);
    let row = claims.iter().find(|claim| claim.id == id).map(Arc::clone)?;
    let document = json!({
        "schema": "rp.show.claim/1",
        "address": format!("claim:{path}"),
        "statement": row.statement,
        "origin": row.origin,
        "main_experiment": row.main_experiment.verdict,
        "verify": row.verify.verdict,
        "final_status": row.final_status,
        "caveats": row.caveats,
        "artifacts": row.artifacts,
    });
    Some(document.to_string())
}

/// Lays a JSON text out in lines without touching its numbers.
fn pretty(text: &str) -> String {
    let mut out = String::new();
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for c in text.chars() {
        if in_text {
            out.push(c);
            in_text = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '{' | '[' => {
                depth += 1;
                out.push(c);
                new_line(&mut out, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                let empty = out.trim_end().ends_with(['{', '[']);
                out.truncate(out.trim_end().len());
                if !empty {
                    new_line(&mut out, depth);
                }
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                in_text = c == '"';
                out.push(c);
            }
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn layout_leaves_texts_and_numbers_as_they_are() {
        let text = r#"{"a":[],"b":{"c":1.0,"d":"x,{\"y\":[\\"},"e":[1e-7,-0]}"#;
        let laid = "{\n  \"a\": [],\n  \"b\": {\n    \"c\": 1.0,\n    \"d\": \"x,{\\\"y\\\":[\\\\\"\n  },\n  \"e\": [\n    1e-7,\n    -0\n  ]\n}";
        assert_eq!(pretty(text), laid);
    }
}
