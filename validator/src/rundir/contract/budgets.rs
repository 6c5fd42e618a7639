//! Budgets, caps, and the proofs that they cover the smallest run (J.10, D.7).

use std::collections::BTreeMap;

use super::{
    super::{
        bytes::Map,
        fields::{Usage, amount, field, has_keys, usage},
        findings::Findings,
        scalar::is_unit,
    },
    Measurement, Reading,
};

/// The budget of one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The total; `None` if unbounded.
    pub total: Option<i128>,
    /// What is kept for operation.
    pub operational: i128,
    /// What is kept for the final test.
    pub reserved: i128,
}

pub(super) fn budgets(out: &mut Findings, reading: &Reading<'_>) -> BTreeMap<String, Budget> {
    let mut found = BTreeMap::new();
    let Some(map) = reading.part("budgets").map() else {
        out.find(159, "invalid_budgets", "`budgets` is not an object");
        return found;
    };
    for (unit, value) in map {
        out.due(is_unit(unit), 160, "invalid_budget_unit", format!("`{unit}` names no unit"));
        match value.map() {
            None => {
                out.find(161, "invalid_budget", format!("the budget of `{unit}` is not an object"));
            }
            Some(spec) => {
                found.insert(unit.clone(), budget(out, reading, unit, spec));
            }
        }
    }
    found
}

fn budget(out: &mut Findings, reading: &Reading<'_>, unit: &str, spec: &Map) -> Budget {
    let code = "invalid_budget";
    let keys = ["total", "operational_reserve", "final_test_reserve"];
    out.due(
        has_keys(spec, &keys),
        162,
        code,
        format!("the keys of the budget of `{unit}` are not the three"),
    );
    let total = field(spec, "total");
    let finite = reading.profile.count(total);
    out.due(
        total.is_null() && spec.contains_key("total") || finite.is_some(),
        163,
        code,
        format!("the total of `{unit}` is neither null nor an amount"),
    );
    let mut reserve = |rule: u16, key: &str| {
        let found = reading.profile.count(field(spec, key));
        out.due(found.is_some(), rule, code, format!("`{key}` of `{unit}` is no amount"));
        found.unwrap_or(0)
    };
    let budget = Budget {
        total: finite,
        operational: reserve(164, "operational_reserve"),
        reserved: reserve(165, "final_test_reserve"),
    };
    let reserves = budget.operational.saturating_add(budget.reserved);
    out.due(
        finite.is_none_or(|total| reserves <= total),
        166,
        code,
        format!("the reserves of `{unit}` exceed its total"),
    );
    budget
}

pub(super) fn caps(
    out: &mut Findings,
    reading: &Reading<'_>,
    budgets: &BTreeMap<String, Budget>,
) -> Usage {
    let units = budgets.keys().cloned().collect();
    let value = reading.part("per_attempt_max");
    let found =
        out.within(167, |out| usage(out, value, "per_attempt_max", &units, reading.profile));
    let caps = found.unwrap_or_else(|| {
        let amounts = value.map().into_iter().flatten();
        amounts
            .filter_map(|(unit, value)| Some((unit.clone(), reading.profile.count(value)?)))
            .collect()
    });
    for (unit, cap) in &caps {
        let total = budgets.get(unit).and_then(|budget| budget.total);
        out.due(
            total.is_none_or(|total| *cap <= total),
            168,
            "invalid_budget",
            format!("the cap of `{unit}` exceeds its total"),
        );
    }
    caps
}

/// What the proofs look at.
pub(super) struct Proof<'p> {
    pub(super) budgets: &'p BTreeMap<String, Budget>,
    pub(super) caps: &'p Usage,
    pub(super) measurement: &'p Measurement,
    pub(super) acceptance: &'p str,
    pub(super) stages: &'p [String],
    pub(super) has_final: bool,
}

/// The smallest use of one unit by each role.
struct Least {
    baseline: i128,
    candidate: i128,
    last: i128,
}

pub(super) fn prove(out: &mut Findings, proof: &Proof<'_>) {
    let has_calls = proof.budgets.contains_key("evaluator_calls");
    out.due(
        has_calls,
        169,
        "missing_required_budget_unit",
        "there is no budget of `evaluator_calls`",
    );
    let gated = proof.stages.len() > 1 || proof.has_final;
    let has_queries = proof.budgets.contains_key("validation_queries");
    out.due(
        !gated || has_queries,
        170,
        "missing_required_budget_unit",
        "a stage is protected and there is no budget of `validation_queries`",
    );
    let repetitions = if proof.measurement.noisy { proof.measurement.minimum } else { 1 };
    let paired = if proof.measurement.noisy { repetitions.saturating_mul(2) } else { 1 };
    let last = if proof.has_final { repetitions } else { 0 };
    let others = i128::try_from(proof.stages.len()).unwrap_or(i128::MAX).saturating_sub(1);
    let calls = Least {
        baseline: others.saturating_add(repetitions),
        candidate: others.saturating_add(paired),
        last,
    };
    let gate = |of_acceptance: i128| {
        proof.stages.iter().skip(1).fold(0_i128, |sum, stage| {
            sum.saturating_add(if stage == proof.acceptance { of_acceptance } else { 1 })
        })
    };
    let queries = Least { baseline: gate(repetitions), candidate: gate(paired), last };
    for (unit, least, cap_rule, total_rule, counted) in [
        ("evaluator_calls", calls, 171, 174, has_calls),
        ("validation_queries", queries, 172, 175, has_queries && gated),
    ] {
        if counted {
            prove_unit(out, proof, unit, &least, (cap_rule, total_rule));
        }
    }
}

fn prove_unit(out: &mut Findings, proof: &Proof<'_>, unit: &str, least: &Least, rules: (u16, u16)) {
    let Some(budget) = proof.budgets.get(unit) else { return };
    let largest = least.baseline.max(least.candidate).max(least.last);
    out.due(
        amount(proof.caps, unit) >= largest,
        rules.0,
        "insufficient_per_attempt_budget",
        format!("the cap of `{unit}` is below {largest}, which the largest plan needs"),
    );
    out.due(
        budget.reserved >= least.last,
        173,
        "insufficient_final_test_reserve",
        format!("the final test needs {} of `{unit}`", least.last),
    );
    let needed = [least.baseline, least.candidate, budget.operational, budget.reserved]
        .into_iter()
        .fold(0_i128, i128::saturating_add);
    out.due(budget.total.is_none_or(|total| total >= needed), rules.1, "insufficient_run_budget", format!("the total of `{unit}` is below {needed}, which baseline, one candidate and the reserves need"));
}
