//! Metrics, constraints, audit and finding of a row (J.30).

use std::collections::BTreeSet;

use super::{
    super::{
        bytes::{Map, Value},
        fields::{finite, text},
        findings::Findings,
    },
    Reading,
};

pub(super) fn measures(out: &mut Findings, row: &Reading<'_>) {
    let contract = row.case.contract;
    let metric = row.get("primary_metric").text() == Some(&contract.objective.primary_metric);
    out.due(metric, 615, "primary_metric_mismatch", "the metric is not that of the contract");
    let value = row.get("primary_value");
    out.due(
        value.is_null() || value.finite().is_some(),
        616,
        "invalid_metric",
        "`primary_value` is neither null nor finite",
    );
    for key in
        ["split_metrics", "secondary_metrics", "counterexample_results", "constraint_results"]
    {
        out.due(
            row.get(key).map().is_some(),
            617,
            "invalid_field",
            format!("`{key}` is not an object"),
        );
        out.within(618, |out| finite(out, row.get(key), key));
    }
    let counterexamples = row.get("counterexample_results");
    let ids = contract.counterexamples.iter().map(String::as_str).collect();
    verdicts(
        out,
        counterexamples,
        &ids,
        [
            (619, "missing_counterexample_result"),
            (620, "unexpected_counterexample_result"),
            (621, "invalid_counterexample_result"),
        ],
    );
    let constraints = row.get("constraint_results");
    let ids = contract.objective.hard_constraints.iter().map(String::as_str).collect();
    verdicts(
        out,
        constraints,
        &ids,
        [
            (622, "missing_constraint_result"),
            (623, "unexpected_constraint_result"),
            (624, "invalid_constraint_result"),
        ],
    );
    promotion(out, row);
    let same = row.get("aggregation").text() == Some(contract.measurement.aggregation.name());
    out.due(same, 629, "aggregation_mismatch", "the aggregation is not that of the contract");
    let duration = row.get("duration_seconds").finite().is_some_and(|seconds| seconds >= 0.0);
    out.due(
        duration,
        630,
        "invalid_duration",
        "`duration_seconds` is negative or no finite number",
    );
    queries(out, row);
    clearance(out, row);
    finding(out, row);
    let failure = row.get("failure");
    out.due(
        failure.is_null() || failure.map().is_some(),
        642,
        "invalid_failure",
        "`failure` is neither null nor an object",
    );
}

/// What is kept has a value, and holds in all that was looked at (625 to 628, 635).
fn promotion(out: &mut Findings, row: &Reading<'_>) {
    let audit = row.get("leakage_audit").text().unwrap_or_default();
    let known = matches!(audit, "pass" | "fail" | "not_run");
    out.due(known, 635, "invalid_leakage_audit", "`leakage_audit` is unknown");
    if !row.is_keep() {
        return;
    }
    let code = "illegal_promotion";
    let value = row.get("primary_value").finite();
    out.due(value.is_some(), 625, code, "what is kept has a finite value");
    let constraints = are_true(row.get("constraint_results"));
    out.due(constraints, 626, code, "a constraint does not hold");
    let counterexamples = are_true(row.get("counterexample_results"));
    out.due(counterexamples, 627, code, "a counterexample does not hold");
    out.due(audit == "pass", 628, code, "the leakage audit did not pass");
}

fn verdicts(
    out: &mut Findings,
    value: &Value,
    ids: &BTreeSet<&str>,
    rules: [(u16, &'static str); 3],
) {
    let empty = Map::new();
    let map = value.map().unwrap_or(&empty);
    let [missing, unexpected, invalid] = rules;
    for id in ids {
        out.due(map.contains_key(*id), missing.0, missing.1, format!("`{id}` has no result"));
    }
    for (id, value) in map {
        out.due(
            ids.contains(id.as_str()),
            unexpected.0,
            unexpected.1,
            format!("`{id}` is not sealed"),
        );
        let known = value.is_null() || value.bool().is_some();
        out.due(
            known,
            invalid.0,
            invalid.1,
            format!("the result of `{id}` is none of true, false, null"),
        );
    }
}

fn are_true(value: &Value) -> bool {
    value.map().is_some_and(|map| map.values().all(|value| value == &Value::Bool(true)))
}

fn queries(out: &mut Findings, row: &Reading<'_>) {
    let queries = row.case.profile().count(row.get("validation_queries"));
    out.due(
        queries.is_some(),
        631,
        "invalid_query_count",
        "`validation_queries` is not a non-negative integer",
    );
    let gated = row.case.stages(row.role).iter().any(|stage| row.case.contract.is_protected(stage));
    if row.is_keep() && gated {
        out.due(
            queries != Some(0),
            632,
            "missing_gate_evidence",
            "what is kept over a protected stage has asked it",
        );
    }
}

/// The row repeats the clearance (636); in `rp`'s version a constraint may fail later unless the row is kept (L29).
fn clearance(out: &mut Findings, row: &Reading<'_>) {
    let Some(cleared) = row.attempt.and_then(|attempt| attempt.cleared.as_ref()) else { return };
    if row.case.is_own() && !row.is_keep() {
        return;
    }
    let same = row.get("leakage_audit").text() == Some("pass")
        && row.case.equality().holds(row.get("constraint_results"), &cleared.constraints);
    out.due(
        same,
        636,
        "integrity_summary_mismatch",
        "audit or constraints are not those of the clearance",
    );
}

fn finding(out: &mut Findings, row: &Reading<'_>) {
    let code = "invalid_finding";
    let Some(map) = row.get("finding").map() else {
        return out.find(637, code, "`finding` is not an object");
    };
    let word = |key: &str| super::super::fields::field(map, key).text().unwrap_or_default();
    let types = ["positive", "negative", "diagnostic", "uncertain", "procedural"];
    out.due(types.contains(&word("type")), 638, code, "`type` is unknown");
    out.within(639, |out| {
        for key in ["summary", "scope", "caveats"] {
            text(out, map, key);
        }
    });
    let actions = ["reuse", "validate", "avoid", "diagnose", "preserve", "archive"];
    out.due(actions.contains(&word("next_action")), 640, code, "`next_action` is unknown");
    let local: BTreeSet<&str> = row
        .repetitions()
        .into_iter()
        .filter_map(|repetition| super::super::fields::field(repetition, "result_id").text())
        .collect();
    let cited = super::super::fields::field(map, "result_ids").list();
    let known = cited
        .is_some_and(|ids| ids.iter().all(|id| id.text().is_some_and(|id| local.contains(id))));
    out.due(known, 641, code, "`result_ids` are not all of this row's repetitions");
}
