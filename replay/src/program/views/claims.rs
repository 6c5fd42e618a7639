//! The claims: all of them on a page, and a page for each.

use std::sync::Arc;

use super::{rounds, status, tone};
use crate::{
    History, State,
    document::{Address, Body, Cell, Document, Tone},
    program::{
        Program,
        ledger::{ClaimRow, Figure, Fraction, Share},
        state::{ClaimWork, VariantState},
    },
    views::{Args, ViewError},
};

pub(super) fn claims(state: &State, args: &Args) -> Result<Document, ViewError> {
    let program = state.program();
    let numbers = program.rounds();
    if let Some(number) = args.round.filter(|number| !numbers.contains(number)) {
        let known = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let why = format!("the rounds are {known}; there is no round {number}");
        return Err(ViewError::Argument(why));
    }
    let wanted = numbers.into_iter().filter(|number| args.round.is_none_or(|n| n == *number));
    let rows: Vec<(u64, Arc<ClaimRow>)> = wanted
        .flat_map(|number| program.claims(number).into_iter().map(move |row| (number, row)))
        .collect();
    if rows.is_empty() {
        return Err(ViewError::Nothing("no claim was seeded yet".to_owned()));
    }
    let title = args
        .round
        .map_or_else(|| "Claims".to_owned(), |number| format!("Claims of round {number}"));
    let each = rows.iter().map(|(number, row)| (*number, &**row));
    Ok(Document::new(title).with("", status::claims_table(each)))
}

pub(super) fn every_claim(state: &State) -> Vec<Address> {
    let program = state.program();
    let of = |number: u64| {
        let record = program.round(number);
        let ids = record.map_or_else(Vec::new, |record| record.claims.clone());
        ids.into_iter().map(move |id| Address::claim(number, &id))
    };
    program.rounds().into_iter().flat_map(of).collect()
}

pub(super) fn claim(state: &State, history: &History, args: &Args) -> Result<Document, ViewError> {
    let Some(address) = &args.address else {
        let why = "which claim? its address is `claim:ROUND/ID`, such as `claim:1/C1`";
        return Err(ViewError::Argument(why.to_owned()));
    };
    let program = state.program();
    let found = named(address).and_then(|(number, id)| {
        let row = program.row(number, id)?;
        Some((number, row, program.work(number, id).unwrap_or_default()))
    });
    let Some((number, row, work)) = found else {
        let shown = rp_events::text::shown(address.as_str());
        return Err(ViewError::Argument(format!("the record has no claim `{shown}`")));
    };
    let page = Document::of(format!("Claim {} of round {number}", row.id), address.clone())
        .with("", Body::Text(Cell::from(row.statement.clone())))
        .with("", Body::facts(standing(program, number, &row, &work)))
        .with_some("Main experiment", main(&row))
        .with_some("Verify", verify(&row, &work))
        .with_some("Variants", variants(&work))
        .with_some("Review loop", iteration(&row))
        .with_some("Data", data(&row))
        .with_some("Caveats", rounds::list(&row.caveats))
        .with_some("Artifacts (as reported)", rounds::paths(&row.artifacts))
        .with_some("Figures", figures(&row.figures));
    Ok(page.with_some("History", rounds::lines(state, history.about(address))))
}

fn named(address: &Address) -> Option<(u64, &str)> {
    let (round, id) = address.rest().split_once('/')?;
    (address.scheme() == "claim").then_some((round.parse().ok()?, id))
}

fn standing<'a>(
    program: &Program,
    number: u64,
    row: &ClaimRow,
    work: &ClaimWork,
) -> Vec<(&'a str, Cell)> {
    let mut facts = vec![
        ("round", Cell::link(Address::round(number))),
        ("final status", tone::final_status(&row.final_status, 300)),
        ("origin", Cell::from(row.origin.clone())),
        ("method", Cell::from(row.method.clone())),
        ("models", Cell::from(row.models.join(", "))),
        ("milestones", Cell::from(work.milestones.join(", "))),
    ];
    if let Some(parent) = &work.parent {
        facts.insert(2, ("rewrites", Cell::link(Address::claim(number, parent))));
    }
    let rewrites = versions(program, number, &row.id);
    if !rewrites.is_empty() {
        let links = rewrites.iter().map(|id| Cell::link(Address::claim(number, id)));
        facts.insert(2, ("rewritten as", Cell::joined(links, ", ")));
    }
    facts.retain(|(_, cell)| !cell.0.is_empty());
    facts
}

/// The claims that rewrite a claim. Rewrites are called `_v2`, `_v3` and so on, one after another.
fn versions(program: &Program, number: u64, id: &str) -> Vec<String> {
    let stem = id.rsplit_once("_v").filter(|(_, n)| n.parse::<u64>().is_ok());
    let stem = stem.map_or(id, |(stem, _)| stem);
    let versions = (2_u64..).map(|n| format!("{stem}_v{n}"));
    let known = versions.map_while(|version| {
        program.work(number, &version).map(|work| (version, work.parent.clone()))
    });
    known.filter(|(_, parent)| parent.as_deref() == Some(id)).map(|(version, _)| version).collect()
}

fn filled(facts: Vec<(&'static str, Cell)>) -> Body {
    Body::facts(facts.into_iter().filter(|(_, cell)| !cell.0.is_empty()))
}

fn main(row: &ClaimRow) -> Body {
    let main = &row.main_experiment;
    filled(vec![
        ("verdict", tone::outcome(&main.verdict, 300)),
        ("key statistics", Cell::from(main.key_stats.clone())),
        ("headline", Cell::from(main.headline.clone())),
    ])
}

fn verify(row: &ClaimRow, work: &ClaimWork) -> Body {
    let verify = &row.verify;
    let robustness = verify.robustness.as_ref().map_or_else(Cell::default, |share| match share {
        Share::Exact(Fraction { passed, eligible }) => {
            Cell::from(format!("{passed} of {eligible} clean variants agree"))
        }
        Share::Stated(share) => Cell::from(format!("{share}, as the imported file states it")),
    });
    let audit = work.audit.map_or_else(Cell::default, |audit| {
        Cell::from("experiment ")
            .and(tone::audit(audit.experiment.as_str()))
            .and(", mechanism ")
            .and(tone::audit(audit.mechanism.as_str()))
    });
    filled(vec![
        ("verdict", tone::verdict(&verify.verdict)),
        ("robustness", robustness),
        ("method swap", tone::audit(&verify.method)),
        ("data swap", tone::audit(&verify.dataset)),
        ("model swap", tone::audit(&verify.model)),
        ("integrity", Cell::from(verify.integrity.clone())),
        ("audit of the main experiment", audit),
        ("not swapped because", Cell::from(verify.stage2_skip_reason.clone().unwrap_or_default())),
    ])
}

fn variants(work: &ClaimWork) -> Body {
    let rows = work.variants.iter().map(|variant| {
        let supports = match variant.state.judgement() {
            None => Cell::status(Tone::Open, "not judged"),
            Some(judgement) if judgement.supports => Cell::status(Tone::Good, "supports the claim"),
            Some(_) => Cell::status(Tone::Bad, "does not support it"),
        };
        let integrity = match variant.state {
            VariantState::Planned | VariantState::Judged(_) => {
                Cell::status(Tone::Open, "not audited")
            }
            VariantState::Audited(_, audit) => tone::audit(audit.combined().as_str()),
        };
        let rerun = variant.state.judgement().map_or(0, |judgement| judgement.rerun);
        let axis = variant.axis.as_str();
        let tag = Cell::from(variant.tag.clone());
        (None, [tag, Cell::from(axis), supports, integrity, Cell::count(rerun)])
    });
    Body::table(["variant", "swaps", "judgement", "integrity", "re-runs"], rows)
}

fn iteration(row: &ClaimRow) -> Body {
    let iteration = &row.iteration;
    filled(vec![
        ("reviewer", Cell::from(iteration.final_reviewer_status.clone())),
        ("changed", Cell::from(iteration.changed.join("; "))),
        ("falsified", Cell::from(iteration.falsified.join("; "))),
        ("narrowed to", Cell::from(iteration.narrowed_to.clone())),
    ])
}

fn data(row: &ClaimRow) -> Body {
    let data = &row.data;
    filled(vec![
        ("source", Cell::from(data.source.clone())),
        ("provenance", Cell::from(data.provenance.clone())),
        ("available", Cell::from(data.available_n.clone())),
        ("used", Cell::from(data.used_n.clone())),
        ("subset", Cell::from(data.subset_note.clone())),
    ])
}

fn figures(figures: &[Figure]) -> Body {
    let rows = figures.iter().map(|figure| {
        let tone = match figure.status.as_str() {
            "ok" => Tone::Good,
            "error" => Tone::Bad,
            _ => Tone::Plain,
        };
        let files = [&figure.png, &figure.pdf, &figure.md, &figure.tex];
        let files = files.into_iter().flatten().map(|path| Cell::code(path.clone()));
        let cells = [
            Cell::from(figure.id.clone()),
            Cell::from(figure.kind.clone()),
            Cell::from(figure.caption.clone()),
            Cell::status(tone, figure.status.clone()),
            Cell::joined(files, ", "),
        ];
        (None, cells)
    });
    Body::table(["figure", "type", "caption", "status", "files"], rows)
}
