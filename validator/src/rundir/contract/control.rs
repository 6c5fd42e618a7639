//! The control policy (J.12, D.6).

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{
        bytes::{Map, Value},
        fields::{Amount, field, has_keys, strings},
        findings::Findings,
        scalar::is_safe_id,
    },
    Budget, Objective, Reading,
};

#[derive(Default)]
pub(super) struct Control {
    pub(super) grace: i128,
    pub(super) counterexamples: BTreeSet<String>,
}

const KEYS: [&str; 7] = [
    "authorization",
    "stop_conditions",
    "plateau_trigger",
    "counterexamples",
    "cleanup_grace_seconds",
    "actual_usage_sources",
    "hard_constraint_rules",
];

pub(super) fn control(
    out: &mut Findings,
    reading: &Reading<'_>,
    objective: &Objective,
    budgets: &BTreeMap<String, Budget>,
    has_deadline: bool,
) -> Control {
    let Some(map) = reading.part("control_policy").map() else {
        out.find(213, "invalid_control_policy", "`control_policy` is not an object");
        return Control::default();
    };
    out.due(
        has_keys(map, &KEYS),
        214,
        "invalid_control_policy",
        "the keys of `control_policy` are not the seven",
    );
    let authorization = field(map, "authorization").text().unwrap_or_default();
    let known = matches!(authorization, "bounded" | "run_until_interrupted");
    out.due(
        known,
        215,
        "invalid_control_authorization",
        "`authorization` is neither `bounded` nor `run_until_interrupted`",
    );
    out.within(216, |out| {
        strings(out, field(map, "stop_conditions"), "stop_conditions", Amount::Some)
    });
    plateau(out, reading, field(map, "plateau_trigger"));
    let counterexamples = counterexamples(out, field(map, "counterexamples"));
    let grace = reading.profile.positive(field(map, "cleanup_grace_seconds"));
    out.due(
        grace.is_some(),
        221,
        "invalid_cleanup_grace",
        "`cleanup_grace_seconds` is not a positive integer",
    );
    let units = budgets.keys().map(String::as_str);
    rules(
        out,
        field(map, "actual_usage_sources"),
        &units.collect(),
        (222, 223, "invalid_actual_usage_sources"),
    );
    let constraints = objective.hard_constraints.iter().map(String::as_str);
    rules(
        out,
        field(map, "hard_constraint_rules"),
        &constraints.collect(),
        (224, 225, "invalid_hard_constraint_rules"),
    );
    let bounded =
        has_deadline || budgets.get("evaluator_calls").is_none_or(|budget| budget.total.is_some());
    out.due(
        bounded || authorization == "run_until_interrupted",
        226,
        "missing_open_ended_authorization",
        "nothing bounds the run and it is not authorized to go on until interrupted",
    );
    Control { grace: grace.unwrap_or(0), counterexamples }
}

fn plateau(out: &mut Findings, reading: &Reading<'_>, value: &Value) {
    let code = "invalid_plateau_trigger";
    let Some(map) =
        value.map().filter(|map| has_keys(map, &["consecutive_non_improvements", "action"]))
    else {
        return out.find(
            217,
            code,
            "`plateau_trigger` has not exactly `consecutive_non_improvements` and `action`",
        );
    };
    let count = reading.profile.positive(field(map, "consecutive_non_improvements"));
    out.due(count.is_some(), 218, code, "`consecutive_non_improvements` is not a positive integer");
    let action = field(map, "action").text().unwrap_or_default();
    out.due(
        matches!(action, "refresh_candidate_pool" | "stop"),
        219,
        code,
        "`action` is neither `refresh_candidate_pool` nor `stop`",
    );
}

fn is_filled(value: &Value) -> bool {
    value.text().is_some_and(|text| !text.trim().is_empty())
}

fn counterexamples(out: &mut Findings, value: &Value) -> BTreeSet<String> {
    let empty = Map::new();
    let map = value.map().unwrap_or(&empty);
    let good = !map.is_empty() && map.iter().all(|(id, rule)| is_safe_id(id) && is_filled(rule));
    out.due(
        good,
        220,
        "invalid_counterexamples",
        "`counterexamples` is not a non-empty map of ids to rules",
    );
    map.keys().cloned().collect()
}

fn rules(
    out: &mut Findings,
    value: &Value,
    due: &BTreeSet<&str>,
    (keys, blank, code): (u16, u16, &'static str),
) {
    let map = value.map();
    let same =
        map.is_some_and(|map| map.keys().map(String::as_str).collect::<BTreeSet<_>>() == *due);
    out.due(same, keys, code, "the keys are not exactly those that the contract names");
    for (key, text) in map.into_iter().flatten() {
        out.due(is_filled(text), blank, code, format!("the text of `{key}` is blank"));
    }
}
