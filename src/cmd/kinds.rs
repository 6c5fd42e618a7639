//! `rp kinds` and `rp schema`: the vocabulary.

use rp_events::{DOMAINS, Event, refusal::general, trust::ROLES};
use rp_replay::relation::{self, RELATIONS};
use serde_json::{Value, json};

use crate::{error::Failure, exit::Exit, out::Out};

/// `rp kinds`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only kinds that begin with this.
    prefix: Option<String>,
}

/// `rp schema`
#[derive(Debug, clap::Args)]
pub struct SchemaArgs {
    /// The kind.
    kind: String,
}

/// Lists the kinds.
pub(crate) fn run(args: &Args, out: &Out) -> Result<Exit, Failure> {
    let prefix = args.prefix.as_deref().unwrap_or_default();
    if out.json {
        out.document(&catalogue(prefix))?;
        return Ok(Exit::DONE);
    }
    let mut domain = "";
    for kind in
        DOMAINS.iter().flat_map(|kinds| kinds.iter()).filter(|kind| kind.name.starts_with(prefix))
    {
        if kind.domain != domain {
            domain = kind.domain;
            out.data(&format!("{domain}\n"))?;
        }
        let about = kind.about.trim_end_matches('.');
        out.data(&format!("  {:32} {} ({})\n", kind.name, about, kind.owners.join(", ")))?;
    }
    out.data("relations\n")?;
    for relation in RELATIONS {
        out.data(&format!("  {:32} {}\n", relation.name, relation.about))?;
        for row in relation::table().filter(|row| row.relation == relation.name) {
            let (from, to) = (row.from.join(", "), row.to.join(", "));
            out.data(&format!("  {:32}   {from} -> {to}\n", ""))?;
        }
    }
    Ok(Exit::DONE)
}

/// The catalogue of kinds, roles and relations, as `spec/kinds.json` holds it.
pub(crate) fn catalogue(prefix: &str) -> Value {
    let kinds: Vec<Value> = DOMAINS
        .iter()
        .flat_map(|kinds| kinds.iter())
        .filter(|kind| kind.name.starts_with(prefix))
        .map(|kind| {
            json!({
                "kind": kind.name,
                "version": kind.version,
                "domain": kind.domain,
                "owners": kind.owners,
                "owner_code": kind.owner_code,
                "about": kind.about,
            })
        })
        .collect();
    let pairs = |table: &[(&str, &str)]| {
        table
            .iter()
            .map(|(name, about)| json!({ "name": name, "about": about }))
            .collect::<Vec<_>>()
    };
    json!({
        "schema": "rp.kinds/1",
        "kinds": kinds,
        "roles": pairs(ROLES),
        "relations": relations(),
    })
}

/// The relations with the kinds between which each exists.
fn relations() -> Vec<Value> {
    let between = |name: &str| {
        let rows = relation::table().filter(|row| row.relation == name);
        rows.map(|row| json!({ "from": row.from, "to": row.to })).collect::<Vec<_>>()
    };
    let record = |relation: &relation::Relation| {
        json!({
            "name": relation.name,
            "about": relation.about,
            "rests": relation.rests,
            "between": between(relation.name),
        })
    };
    RELATIONS.iter().map(record).collect()
}

/// Prints a kind's JSON Schema.
pub(crate) fn schema(args: &SchemaArgs, out: &Out) -> Result<Exit, Failure> {
    let schema = Event::schema(&args.kind).ok_or_else(|| {
        let failure = Failure::new(
            Exit::REFUSED,
            general::UNKNOWN_KIND.name,
            format!("no kind is named `{}`", rp_events::text::shown(&args.kind)),
        );
        failure.hint("`rp kinds` lists the names")
    })?;
    let schema = serde_json::to_value(&schema).expect("a schema is JSON");
    if out.json {
        out.document(
            &json!({ "schema": "rp.schema/1", "kind": args.kind, "json_schema": schema }),
        )?;
    } else {
        out.data(&format!("{schema:#}\n"))?;
    }
    Ok(Exit::DONE)
}
