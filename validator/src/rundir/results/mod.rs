//! The results (`domains/run.md` G): a row per attempt, bound to its decision, its evidence and its budget
//! (J.29 to J.33).

mod acceptance;
mod binding;
mod budget;
mod measures;
mod noisy;
mod repetitions;

use std::collections::{BTreeMap, BTreeSet};

pub use budget::overruns;

use super::{
    artifacts::{Case, Role},
    bytes::{Map, Value, object_digest},
    fields::{Usage, field},
    findings::Findings,
    journal::{Attempt, History, Journal},
    scalar::Instant,
};

/// A line of the results.
#[derive(Debug, Clone)]
pub struct Line<'l> {
    /// Its bytes; a long run has more rows than fit in memory as values.
    pub bytes: &'l [u8],
    /// The digest of the bytes up to it.
    pub prefix: String,
}

/// What stays of a row.
#[derive(Debug, Clone)]
pub struct Row {
    /// The attempt that it names.
    pub attempt: String,
    /// The digest of its value.
    pub sha256: String,
    /// The digest of the bytes up to it.
    pub prefix: String,
    /// Its role, if it has one.
    pub role: Option<Role>,
    /// Whether it is kept, and by its own words confirmed.
    pub keep: bool,
    /// Whether it is confirmed as well.
    pub confirmed: bool,
    /// Its commit.
    pub commit: String,
    /// Its value.
    pub primary: Option<f64>,
    /// Whether all its use is known.
    pub complete: bool,
    /// The evaluator calls that it used.
    pub calls: i128,
    /// The trees that its snapshots name: line of the results, commit, tree.
    pub trees: Vec<(String, String)>,
}

/// What earlier rows leave for later ones.
#[derive(Debug, Default)]
pub struct Earlier {
    /// What they used.
    pub used: Usage,
    /// Whether all of that is known.
    pub complete: bool,
    /// The incumbent after them; `None` before the first.
    pub incumbent: Option<String>,
    /// The value of each commit that was kept.
    pub values: BTreeMap<String, f64>,
    attempts: BTreeSet<String>,
    results: BTreeMap<String, String>,
}

/// A row while it is judged.
#[derive(Clone, Copy)]
pub(super) struct Reading<'r> {
    pub(super) case: Case<'r>,
    pub(super) map: &'r Map,
    pub(super) decision: &'r Map,
    pub(super) index: usize,
    pub(super) role: Role,
    pub(super) attempt: Option<&'r Attempt>,
    pub(super) history: &'r History,
    pub(super) status: &'r str,
}

impl<'r> Reading<'r> {
    pub(super) fn get(&self, key: &str) -> &'r Value {
        field(self.map, key)
    }

    pub(super) fn is_keep(&self) -> bool {
        self.status == "keep"
    }

    pub(super) fn started(&self) -> Option<Instant> {
        self.get("started_at").text().and_then(Instant::parse)
    }

    pub(super) fn ended(&self) -> Option<Instant> {
        self.get("ended_at").text().and_then(Instant::parse)
    }

    /// The repetitions that are objects.
    pub(super) fn repetitions(&self) -> Vec<&'r Map> {
        self.get("repetitions").list().into_iter().flatten().filter_map(Value::map).collect()
    }

    /// The ids that a stage's result rests on.
    pub(super) fn cited(&self, stage: &str) -> Vec<&'r str> {
        let items = field(self.decision, "stage_evidence").field(stage).list();
        items.into_iter().flatten().filter_map(Value::text).collect()
    }

    /// The result of a stage.
    pub(super) fn stage_result(&self, stage: &str) -> &'r str {
        field(self.decision, "stage_results").field(stage).text().unwrap_or_default()
    }
}

/// Takes what designs may cite of a row.
pub fn remember(history: &mut History, index: usize, row: &Value) {
    let text = |key: &str| row.field(key).text().unwrap_or_default();
    if text("status") == "keep" && text("lane") == "confirmed" && text("role") != "final" {
        history.confirmed.insert(text("attempt_id").to_owned(), (index, text("commit").to_owned()));
    }
    for repetition in row.field("repetitions").list().unwrap_or_default() {
        if let Some(id) = repetition.field("result_id").text() {
            history.results.entry(id.to_owned()).or_insert(index);
        }
    }
}

/// Judges all rows.
pub fn rows(
    out: &mut Findings,
    case: Case<'_>,
    journal: &Journal,
    lines: &[Line<'_>],
    history: &History,
) -> (Vec<Row>, Earlier) {
    let mut earlier = Earlier { complete: true, ..Earlier::default() };
    let mut rows = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let number = u64::try_from(index).unwrap_or(u64::MAX).saturating_add(1);
        let row = out.at("results.jsonl", Some(number), |out| {
            row(out, case, journal, (index, line), (history, &mut earlier))
        });
        rows.push(row);
    }
    (rows, earlier)
}

fn row(
    out: &mut Findings,
    case: Case<'_>,
    journal: &Journal,
    (index, line): (usize, &Line<'_>),
    (history, earlier): (&History, &mut Earlier),
) -> Row {
    let empty = Map::new();
    // What is no object was named when the lines were read.
    let value = super::bytes::parse(line.bytes).unwrap_or(Value::Null);
    let map = value.map().unwrap_or(&empty);
    let attempt = journal.attempts.get(index);
    let role = field(map, "role").text().and_then(Role::of);
    let status = field(map, "status").text().unwrap_or_default();
    let decision = field(map, "decision").map();
    out.due(decision.is_some(), 595, "invalid_decision", "`decision` is not an object");
    let reading = Reading {
        case,
        map,
        decision: decision.unwrap_or(&empty),
        index,
        attempt,
        history,
        status,
        role: role.or_else(|| attempt.map(|attempt| attempt.role)).unwrap_or(Role::Candidate),
    };
    binding::bound(out, &reading, earlier);
    measures::measures(out, &reading);
    budget::admission(out, &reading, earlier);
    let used = budget::budget(out, &reading, earlier);
    let trees = repetitions::repetitions(out, &reading, &mut earlier.results);
    let primary = acceptance::acceptance(out, &reading, earlier);
    let keep = reading.is_keep();
    let row = Row {
        attempt: field(map, "attempt_id").text().unwrap_or_default().to_owned(),
        sha256: object_digest(&value),
        prefix: line.prefix.clone(),
        role,
        keep,
        confirmed: keep && field(map, "lane").text() == Some("confirmed"),
        commit: field(map, "commit").text().unwrap_or_default().to_owned(),
        primary,
        complete: used.complete,
        calls: super::fields::amount(&used.actual, "evaluator_calls"),
        trees,
    };
    earlier.take(&row, &used.actual);
    row
}

impl Earlier {
    fn take(&mut self, row: &Row, used: &Usage) {
        super::fields::add(&mut self.used, used);
        self.complete &= row.complete;
        self.attempts.insert(row.attempt.clone());
        if row.keep && row.role != Some(Role::Final) {
            self.incumbent = Some(row.commit.clone());
            match row.primary {
                Some(value) => self.values.insert(row.commit.clone(), value),
                None => self.values.remove(&row.commit),
            };
        }
    }
}
