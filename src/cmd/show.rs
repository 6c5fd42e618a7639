//! `rp show`: everything about one thing.

use std::collections::BTreeSet;

use rp_events::{ArtifactName, Seq, entry};
use rp_replay::{Address, Lineage, State, lineage::Cause};
use serde_json::{Value, json};

use super::{log, trace};
use crate::{
    error::Failure,
    exit::Exit,
    out::Out,
    workspace::{Moment, Settings, Workspace},
};

/// `rp show`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An entry's number, an event id, or an address such as `claim:1/C4`, `run:1/A1`, `key:NAME`.
    entity: String,
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

/// Shows the thing.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let reading = workspace.read(args.at.as_ref())?;
    let state = &reading.state;
    let address = trace::entity(&args.entity, state)?;
    let lineage = workspace.lineage(reading.chain.next().0)?;
    let text = match &address {
        Address::Event(seq) => event(&workspace, state, *seq)?,
        Address::Key(name) => key(state, name),
        Address::Round(round) => round_of(state, *round),
        Address::Claim(round, id) => claim(state, *round, id),
        Address::Artifact(name) => artifact(state, name),
        Address::Run(..) => with_facts("run", &address, state),
        Address::Behavior(_) => with_facts("behavior", &address, state),
    };
    let text = with_users(text, &address, &lineage, state);
    if out.json {
        out.data(&format!("{text}\n"))?;
    } else {
        out.data(&format!("{}\n", pretty(&text)))?;
    }
    Ok(Exit::DONE)
}

/// Adds to a document who cites the thing, who else rests on it, and what a revoked key makes of it.
fn with_users(mut text: String, address: &Address, lineage: &Lineage, state: &State) -> String {
    let users = lineage.users(address);
    let list = |is_cited: bool| -> Vec<Value> {
        let own = users.iter().filter(|user| user.is_cited == is_cited);
        own.map(|user| json!({ "seq": user.seq.0, "relation": user.word })).collect()
    };
    let marks = lineage.marks(state.trust(), &BTreeSet::new());
    let marks: Vec<String> = marks.of(address).into_iter().flatten().map(Cause::words).collect();
    text.pop();
    format!(
        "{text},\"cited_by\":{},\"used_by\":{},\"marks\":{}}}",
        Value::from(list(true)),
        Value::from(list(false)),
        Value::from(marks)
    )
}

fn event(workspace: &Workspace, state: &State, seq: Seq) -> Result<String, Failure> {
    let bytes = workspace.entry(seq)?;
    let parsed = entry::parse(&bytes)
        .map_err(|error| Failure::new(Exit::REFUSED, "bad-envelope", error.to_string()))?;
    Ok(log::record(&parsed, state, "rp.show.event/1"))
}

/// What is on record of a thing, as labels with values.
fn with_facts(what: &str, address: &Address, state: &State) -> String {
    let facts = address.facts(state).into_iter();
    let facts: Vec<Value> =
        facts.map(|(label, value)| json!({ "label": label, "value": value })).collect();
    json!({
        "schema": format!("rp.show.{what}/1"),
        "address": address.to_string(),
        "facts": facts,
    })
    .to_string()
}

fn artifact(state: &State, name: &ArtifactName) -> String {
    let artifact = state.trust().artifact(name).expect("trace::entity() found it");
    json!({
        "schema": "rp.show.artifact/1",
        "address": Address::Artifact(*name).to_string(),
        "b3": artifact.b3.to_string(),
        "sha256": artifact.sha256.to_string(),
        "bytes": artifact.bytes,
        "paths": artifact.paths,
        "since": artifact.since.0,
    })
    .to_string()
}

fn key(state: &State, name: &str) -> String {
    let (kid, key) = state.trust().named(name).expect("trace::entity() found it");
    json!({
        "schema": "rp.show.key/1",
        "address": format!("key:{name}"),
        "kid": kid.to_string(),
        "pub": key.public.to_string(),
        "roles": key.roles.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "since": key.since.0,
        "state": key.ended_before(state.next()).unwrap_or_else(|| "may sign".to_owned()),
    })
    .to_string()
}

fn round_of(state: &State, round: u64) -> String {
    let header = state.program().header(round).unwrap_or_default();
    let claims: Vec<String> =
        state.program().claims(round).iter().map(|claim| claim.id.clone()).collect();
    json!({
        "schema": "rp.show.round/1",
        "address": format!("round:{round}"),
        "project": header.project,
        "pipeline_status": header.pipeline_status,
        "archived": state.program().is_archived(round),
        "claims": claims.iter().map(|id| format!("claim:{round}/{id}")).collect::<Vec<_>>(),
    })
    .to_string()
}

fn claim(state: &State, round: u64, id: &str) -> String {
    let claims = state.program().claims(round);
    let row = claims.iter().find(|claim| claim.id == id).expect("trace::entity() found it");
    json!({
        "schema": "rp.show.claim/1",
        "address": format!("claim:{round}/{id}"),
        "statement": row.statement,
        "origin": row.origin,
        "main_experiment": row.main_experiment.verdict,
        "verify": row.verify.verdict,
        "final_status": row.final_status,
        "caveats": row.caveats,
        "artifacts": row.artifacts,
    })
    .to_string()
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
