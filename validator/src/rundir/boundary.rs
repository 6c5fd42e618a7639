//! The boundaries of attempts, and what journal, results and boundaries say of one another (J.35, H.1).

use std::collections::BTreeSet;

use super::{
    artifacts::Case,
    bytes::Value,
    fields::{digest, field, has_keys, time},
    findings::Findings,
    journal::{Attempt, Finalized, Journal},
    results::Row,
    scalar::{Instant, has_end},
    shelf::{Object, Presence},
};

const KEYS: [&str; 13] = [
    "schema_version",
    "kind",
    "attempt_id",
    "experiment_id",
    "contract_sha256",
    "decision_seq",
    "finalized_seq",
    "result_index",
    "result_sha256",
    "journal_prefix_sha256",
    "results_prefix_sha256",
    "publication_nonce",
    "finalized_at",
];

/// What the boundaries say.
#[derive(Debug, Default)]
pub struct Boundaries {
    /// The attempts with a boundary that holds.
    pub whole: Vec<String>,
    /// The attempts without a boundary.
    pub incomplete: Vec<usize>,
    /// When the last boundary was written.
    pub last_at: Option<Instant>,
    /// The digest of the last row's boundary.
    pub last_sha256: Option<String>,
}

/// Judges all boundaries.
pub fn boundaries(
    out: &mut Findings,
    case: Case<'_>,
    journal: &Journal,
    rows: &[Row],
) -> Boundaries {
    let mut found = Boundaries::default();
    let mut nonces = BTreeSet::new();
    for (index, attempt) in journal.attempts.iter().enumerate() {
        let errors = out.errors.len();
        let path = format!("boundaries/{}.json", attempt.id);
        let row = rows.get(index);
        if let Some(finalized) = &attempt.finalized {
            out.at("journal.jsonl", Some(finalized.seq), |out| {
                result(out, case, finalized, (index, row));
            });
        }
        let exists = !matches!(case.shelf.get(&path), super::shelf::Found::Missing);
        let object = out.within(759, |out| case.shelf.object(out, &path, Presence::Optional));
        found.last_sha256 = object.as_ref().map(|object| object.sha256.to_string());
        if let Some(object) = &object {
            out.at(&path, None, |out| one(out, case, attempt, (index, row), object));
            let at = object.value().field("finalized_at").text().and_then(Instant::parse);
            found.last_at = found.last_at.max(at);
            let nonce = object.value().field("publication_nonce").text().unwrap_or_default();
            let fresh = nonces.insert(nonce.to_owned());
            if case.is_own() {
                out.at(&path, None, |out| {
                    out.due(
                        fresh,
                        909,
                        "reused_publication_nonce",
                        "another boundary has this nonce",
                    )
                });
            }
        }
        if !exists {
            found.incomplete.push(index);
        } else if object.is_some() && attempt.finalized.is_some() && out.is_clean_since(errors) {
            found.whole.push(attempt.id.clone());
        }
    }
    if rows.len() < journal.attempts.len() {
        found.last_sha256 = rows.len().checked_sub(1).and_then(|last| {
            let attempt = journal.attempts.get(last)?;
            super::fields::stored_digest(case.shelf, &format!("boundaries/{}.json", attempt.id))
                .map(|sha256| sha256.to_string())
        });
    }
    orphans(out, case, journal);
    found
}

/// A finalized attempt has its row (760, 761).
fn result(
    out: &mut Findings,
    case: Case<'_>,
    finalized: &Finalized,
    (index, row): (usize, Option<&Row>),
) {
    let Some(row) = row else {
        return out.find(760, "finalized_without_result", "the attempt has no row");
    };
    let place = i128::try_from(index).unwrap_or(i128::MAX);
    let same =
        finalized.index.is_int(place, case.equality()) && finalized.result_sha256 == row.sha256;
    out.due(
        same,
        761,
        "finalized_result_mismatch",
        format!("row {index} hashes to {}", row.sha256),
    );
}

fn one(
    out: &mut Findings,
    case: Case<'_>,
    attempt: &Attempt,
    (index, row): (usize, Option<&Row>),
    object: &Object,
) {
    let map = object.map();
    let Some(finalized) = &attempt.finalized else {
        return out.find(767, "boundary_without_finalization", "the attempt is not finalized");
    };
    out.due(has_keys(map, &KEYS), 762, "boundary_schema_mismatch", "the keys are not the thirteen");
    let number = |number: u64| Value::from(i128::from(number));
    let text = |text: Option<&str>| text.map_or(Value::Null, Value::of);
    let place = Value::from(i128::try_from(index).unwrap_or(i128::MAX));
    let decision = attempt.decided.as_ref().map_or(Value::Null, |decided| number(decided.seq));
    for (key, due) in [
        ("schema_version", number(1)),
        ("kind", Value::of("attempt-boundary")),
        ("attempt_id", Value::of(&attempt.id)),
        ("experiment_id", Value::of(&attempt.experiment)),
        ("contract_sha256", Value::of(case.contract.sha256.as_ref())),
        ("decision_seq", decision),
        ("finalized_seq", number(finalized.seq)),
        ("result_index", place),
        ("result_sha256", text(row.map(|row| row.sha256.as_str()))),
        ("journal_prefix_sha256", Value::of(&finalized.prefix)),
        ("results_prefix_sha256", text(row.map(|row| row.prefix.as_str()))),
    ] {
        let same = case.equality().holds(field(map, key), &due);
        out.due(
            same,
            763,
            "boundary_mismatch",
            format!("`{key}` is not what journal and results say"),
        );
    }
    out.within(764, |out| digest(out, map, "publication_nonce"));
    let at = out.within(765, |out| time(out, map, "finalized_at"));
    let after = at.zip(finalized.at).is_none_or(|(at, finalized)| at >= finalized);
    out.due(
        after,
        766,
        "boundary_time_regression",
        "it was written before the attempt was finalized",
    );
}

/// Boundaries of attempts that nobody knows (771).
fn orphans(out: &mut Findings, case: Case<'_>, journal: &Journal) {
    let names =
        case.shelf.disk().names(&format!("{}/boundaries", case.shelf.root())).unwrap_or_default();
    let known: BTreeSet<String> =
        journal.attempts.iter().map(|attempt| format!("{}.json", attempt.id)).collect();
    for name in names.iter().filter(|name| has_end(name, ".json") && !known.contains(*name)) {
        out.at(&format!("boundaries/{name}"), None, |out| {
            out.find(771, "orphan_boundary", "the journal has no such attempt");
        });
    }
}

/// At most one attempt is incomplete, and it is the last (772 to 774).
pub fn incomplete(out: &mut Findings, journal: &Journal, found: &Boundaries, allowed: bool) {
    out.at("journal.jsonl", None, |out| {
        let count = found.incomplete.len();
        out.due(
            count <= 1,
            772,
            "multiple_incomplete_attempts",
            format!("{count} attempts have no boundary"),
        );
        let last = journal.attempts.len().saturating_sub(1);
        let trailing = found.incomplete.iter().all(|index| *index == last);
        out.due(
            trailing,
            773,
            "nontrailing_incomplete",
            "an attempt without boundary is not the last",
        );
        out.due(
            count == 0 || allowed,
            774,
            "incomplete_not_allowed",
            "the last attempt has no boundary",
        );
    });
}
