//! The frozen design of a candidate (J.13, E.1).

use std::collections::BTreeSet;

use super::{
    super::{
        bytes::{Map, Value},
        fields::{
            Amount, Due, field, oid, paths, reference, safe_id, schema_version, strings, text,
            time, usage,
        },
        findings::Findings,
        journal::History,
        scalar::is_safe_id,
    },
    Case,
};

/// What a design says that later records must repeat.
#[derive(Debug, Clone)]
pub struct Design {
    /// The digest that it is bound by.
    pub sha256: String,
    /// What it expects.
    pub hypothesis: String,
    /// What the candidate may change.
    pub allowed_files: Vec<String>,
}

/// What stood before a design was frozen.
#[derive(Debug, Clone, Copy)]
pub struct Before<'b> {
    /// The experiment.
    pub experiment: &'b str,
    /// The incumbent of the attempt.
    pub incumbent: &'b str,
    /// What earlier rows say.
    pub history: &'b History,
    /// How many rows are earlier.
    pub rows: usize,
}

/// The eleven descriptions.
const TEXTS: [&str; 11] = [
    "mechanism_family",
    "intervention_surface",
    "intent",
    "hypothesis",
    "general_failure_class",
    "supporting_metric_signature",
    "weakening_metric_signature",
    "predicted_unseen_behavior",
    "invariant_or_counterexample",
    "falsifier_or_ablation",
    "fail_fast_condition",
];

/// Judges the design that a reference leads to.
pub fn design(
    out: &mut Findings,
    case: Case<'_>,
    value: &Value,
    before: Before<'_>,
) -> Option<Design> {
    let path = format!("designs/{}.json", before.experiment);
    let reference =
        out.within(227, |out| reference(out, case.shelf, value, "design", Due::Exact(&path)))?;
    let object = out.within(227, |out| reference.object(out, case.shelf))?;
    out.at(&reference.path, None, |out| {
        let map = object.map();
        out.within(228, |out| schema_version(out, map, case.profile(), 1));
        if let Some(id) = out.within(229, |out| safe_id(out, map, "experiment_id")) {
            out.due(
                id == before.experiment,
                230,
                "design_identity_mismatch",
                format!("the design is that of `{id}`"),
            );
        }
        out.within(231, |out| time(out, map, "created_at"));
        parent(out, case, field(map, "implementation_parent"), before);
        sources(out, field(map, "evidence_sources"), before);
        out.within(244, |out| {
            for key in TEXTS {
                text(out, map, key);
            }
        });
        let allowed_files = scope(out, case, map);
        out.within(248, |out| {
            strings(out, field(map, "forbidden_changes"), "forbidden_changes", Amount::Some);
            strings(out, field(map, "risks"), "risks", Amount::Any);
            strings(out, field(map, "rejected_alternatives"), "rejected_alternatives", Amount::Any);
        });
        let units = case.contract.units();
        out.within(249, |out| {
            usage(out, field(map, "cost_estimate"), "cost_estimate", &units, case.profile())
        });
        amendment(out, field(map, "amendment"));
        let hypothesis = field(map, "hypothesis").text().unwrap_or_default().to_owned();
        Some(Design { sha256: reference.sha256.clone(), hypothesis, allowed_files })
    })
}

fn parent(out: &mut Findings, case: Case<'_>, value: &Value, before: Before<'_>) {
    let code = "invalid_implementation_parent";
    let Some(map) = value.map() else {
        return out.find(232, code, "`implementation_parent` is not an object");
    };
    let commit = out.within(233, |out| oid(out, map, "commit"));
    if let Some(commit) = commit {
        out.due(
            commit == before.incumbent,
            234,
            "implementation_parent_mismatch",
            "the parent is not the incumbent before the attempt",
        );
    }
    let attempt = field(map, "attempt_id");
    match field(map, "kind").text() {
        Some("baseline") => {
            out.due(attempt.is_null(), 235, code, "a baseline parent names an attempt");
            if let Some(commit) = commit {
                out.due(
                    commit == case.contract.baseline_commit,
                    236,
                    code,
                    "a baseline parent is not the sealed baseline",
                );
            }
        }
        Some("confirmed_attempt") => {
            match attempt.text().and_then(|attempt| before.history.commit_of(attempt, before.rows))
            {
                None => out.find(
                    237,
                    "unconfirmed_implementation_parent",
                    "the parent is no earlier confirmed attempt",
                ),
                Some(due) => {
                    let same = commit.is_none_or(|commit| commit == due);
                    out.due(
                        same,
                        238,
                        "implementation_parent_mismatch",
                        "the parent's commit is not that of the attempt",
                    );
                }
            }
        }
        _ => out.find(239, code, "`kind` is neither `baseline` nor `confirmed_attempt`"),
    }
}

fn sources(out: &mut Findings, value: &Value, before: Before<'_>) {
    let Some(items) = value.list() else {
        return out.find(240, "invalid_evidence_sources", "`evidence_sources` is not an array");
    };
    let mut seen = BTreeSet::new();
    for item in items {
        let Some(id) = item.text().filter(|id| is_safe_id(id)) else {
            out.find(241, "invalid_evidence_source", "an evidence source is no id");
            continue;
        };
        out.due(
            seen.insert(id),
            242,
            "duplicate_evidence_source",
            format!("`{id}` is cited twice"),
        );
        out.due(
            before.history.has_result(id, before.rows),
            243,
            "unknown_evidence_source",
            format!("`{id}` is no result of an earlier attempt"),
        );
    }
}

fn scope(out: &mut Findings, case: Case<'_>, map: &Map) -> Vec<String> {
    let files = out
        .within(246, |out| paths(out, field(map, "allowed_files"), "allowed_files", Amount::Some));
    for file in files.iter().filter(|file| !case.contract.scope.is_writable(file)) {
        out.find(247, "design_scope_mismatch", format!("`{file}` is in no writable scope"));
    }
    files
}

fn amendment(out: &mut Findings, value: &Value) {
    if value.is_null() {
        return;
    }
    let Some(map) = value.map() else {
        return out.find(250, "invalid_amendment", "`amendment` is neither null nor an object");
    };
    out.within(251, |out| {
        time(out, map, "amended_at");
        text(out, map, "reason");
        strings(out, field(map, "changed_fields"), "changed_fields", Amount::Some);
    });
}
