//! The arithmetic of acceptance (J.33, G.3, G.4). It is done on doubles, as the protocol defines it, and
//! without tolerance where the protocol has none (L22).

use super::{
    super::{
        artifacts::{Arm, Case, Role},
        bytes::Map,
        contract::Aggregation,
        fields::{amount, field},
        findings::Findings,
    },
    Earlier, Reading, noisy,
};

/// Judges the values of a row; answers with its own.
pub(super) fn acceptance(out: &mut Findings, row: &Reading<'_>, earlier: &Earlier) -> Option<f64> {
    let value = row.get("primary_value").finite();
    citations(out, row);
    let values = target_values(row);
    if row.case.contract.measurement.noisy {
        noisy::phases(out, row);
    }
    let improvement = if row.case.contract.measurement.noisy && row.role == Role::Candidate {
        noisy::pairs(out, row)
    } else {
        None
    };
    if row.is_keep() {
        let minimum = if row.case.contract.measurement.noisy {
            row.case.contract.measurement.minimum
        } else {
            1
        };
        let enough = i128::try_from(values.len()).unwrap_or(i128::MAX) >= minimum;
        out.due(
            enough,
            718,
            "insufficient_repetitions",
            format!("what is kept has at least {minimum} values"),
        );
    }
    aggregate(out, row, &values, value);
    if row.is_keep() {
        kept(out, row, earlier, (value, improvement));
    } else if row.case.is_own() && row.status == "discard" {
        contradicted(out, row, earlier, value);
    }
    value
}

/// The finite values of the deciding stage's target arm, in order.
fn target_values(row: &Reading<'_>) -> Vec<f64> {
    deciding(row)
        .filter(|map| field(map, "arm").text().and_then(Arm::of) == Some(row.role.target()))
        .filter_map(|map| field(map, "primary_value").finite())
        .collect()
}

/// The repetitions of the deciding stage.
pub(super) fn deciding<'r>(row: &Reading<'r>) -> impl Iterator<Item = &'r Map> {
    let stage = row.case.deciding_stage(row.role).to_owned();
    row.repetitions().into_iter().filter(move |map| field(map, "stage").text() == Some(&stage))
}

/// What conclusive stages cite (701 to 703).
fn citations(out: &mut Findings, row: &Reading<'_>) {
    let repetitions = row.repetitions();
    for stage in row.case.stages(row.role) {
        if !matches!(row.stage_result(&stage), "pass" | "fail") {
            continue;
        }
        let cited = row.cited(&stage);
        let found: Vec<&&Map> = repetitions
            .iter()
            .filter(|map| field(map, "result_id").text().is_some_and(|id| cited.contains(&id)))
            .collect();
        let telemetry = row.case.telemetry(&stage);
        let finite = found.iter().all(|map| {
            telemetry.iter().all(|name| field(map, "metrics").field(name).finite().is_some())
        });
        out.due(
            finite,
            701,
            "missing_required_telemetry",
            format!("a result of `{stage}` lacks finite telemetry"),
        );
        let own = found
            .iter()
            .any(|map| field(map, "arm").text().and_then(Arm::of) == Some(row.role.target()));
        out.due(
            own,
            702,
            "stage_arm_evidence_missing",
            format!("`{stage}` cites nothing of the arm that it is about"),
        );
        if row.is_keep() && row.case.contract.is_protected(&stage) {
            let receipted = cited.iter().all(|id| queries(row, id) >= 1);
            out.due(
                receipted,
                703,
                "unreceipted_gate_evidence",
                format!("a result of `{stage}` has no receipt of a query"),
            );
        }
    }
}

fn queries(row: &Reading<'_>, id: &str) -> i128 {
    let launch = row
        .attempt
        .and_then(|attempt| attempt.launches.iter().find(|launch| launch.result_id == id));
    launch
        .and_then(|launch| launch.usage.as_ref())
        .map_or(0, |usage| amount(usage, "validation_queries"))
}

/// The row's value is the aggregate (719 to 722).
fn aggregate(out: &mut Findings, row: &Reading<'_>, values: &[f64], found: Option<f64>) {
    let aggregation = row.case.contract.measurement.aggregation;
    let single = aggregation != Aggregation::Single || values.len() <= 1;
    out.due(
        single,
        719,
        "aggregation_input_mismatch",
        format!("{} values are aggregated as `single`", values.len()),
    );
    let code = "aggregate_metric_mismatch";
    let Some(due) = aggregated(aggregation, values) else {
        out.due(
            row.get("primary_value").is_null(),
            720,
            code,
            "there is a value and no evidence for it",
        );
        return;
    };
    out.due(
        found.is_some_and(|found| is_close(found, due)),
        721,
        code,
        format!("the aggregate is {due}"),
    );
    let stage = row.case.deciding_stage(row.role);
    let split = row.get("split_metrics").field(stage).finite();
    out.due(
        split.is_some_and(|split| is_close(split, due)),
        722,
        "split_metric_mismatch",
        format!("the entry of `{stage}` is not {due}"),
    );
}

/// One value of many; `None` of none.
fn aggregated(aggregation: Aggregation, values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match aggregation {
        Aggregation::Single => values.first().copied(),
        Aggregation::Mean => mean(values),
        Aggregation::Min => sorted.first().copied(),
        Aggregation::Max => sorted.last().copied(),
        Aggregation::Median if sorted.len() % 2 == 1 => sorted.get(middle).copied(),
        Aggregation::Median => {
            Some(f64::midpoint(*sorted.get(middle.checked_sub(1)?)?, *sorted.get(middle)?))
        }
    }
}

/// The mean, summed from left to right.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    let count = u32::try_from(values.len()).ok().filter(|count| *count > 0)?;
    Some(values.iter().fold(0.0, |sum, value| sum + value) / f64::from(count))
}

fn is_close(left: f64, right: f64) -> bool {
    (left - right).abs() <= (1e-12 * left.abs().max(right.abs())).max(1e-12)
}

/// How much better a value is than another.
pub(super) fn gain(case: Case<'_>, value: f64, than: f64) -> f64 {
    if case.contract.objective.maximize { value - than } else { than - value }
}

/// What is kept is better, or passes the final test (723 to 730).
fn kept(
    out: &mut Findings,
    row: &Reading<'_>,
    earlier: &Earlier,
    (value, improvement): (Option<f64>, Option<f64>),
) {
    match row.role {
        Role::Baseline => {}
        Role::Candidate => {
            let own =
                row.repetitions().iter().any(|map| field(map, "arm").text() == Some("candidate"));
            out.due(
                own,
                730,
                "promotion_without_candidate_evidence",
                "nothing of the candidate was measured",
            );
            candidate(out, row, earlier, (value, improvement));
        }
        Role::Final => last(out, row, earlier, value),
    }
}

fn candidate(
    out: &mut Findings,
    row: &Reading<'_>,
    earlier: &Earlier,
    (value, improvement): (Option<f64>, Option<f64>),
) {
    let code = "primary_acceptance_failed";
    let delta = row.case.contract.objective.minimum_delta;
    if row.case.contract.measurement.noisy {
        match improvement {
            None => out.find(723, code, "the pairs give no improvement"),
            Some(found) => {
                out.due(
                    found >= delta,
                    724,
                    code,
                    format!("the improvement {found} is below {delta}"),
                );
            }
        }
        return;
    }
    let Some(before) = incumbent_value(row, earlier) else {
        return out.find(725, "missing_incumbent_metric", "the incumbent has no confirmed value");
    };
    if let Some(value) = value {
        let found = gain(row.case, value, before);
        out.due(found >= delta, 726, code, format!("the improvement {found} is below {delta}"));
    }
}

fn incumbent_value(row: &Reading<'_>, earlier: &Earlier) -> Option<f64> {
    earlier.values.get(row.get("incumbent_commit").text()?).copied()
}

fn last(out: &mut Findings, row: &Reading<'_>, earlier: &Earlier, value: Option<f64>) {
    let (Some(test), Some(value)) = (&row.case.contract.final_test, value) else { return };
    let code = "final_acceptance_failed";
    let above = test.minimum.is_none_or(|minimum| value >= minimum);
    let below = test.maximum.is_none_or(|maximum| value <= maximum);
    out.due(above && below, 727, code, format!("{value} misses the threshold"));
    let Some(limit) = test.regression else { return };
    match incumbent_value(row, earlier) {
        None => out.find(728, code, "the incumbent has no value to compare with"),
        Some(before) => {
            let loss = gain(row.case, before, value);
            out.due(loss <= limit, 729, code, format!("the loss {loss} is above {limit}"));
        }
    }
}

/// A discard although the arithmetic says keep is legal, and worth a look (L23).
fn contradicted(out: &mut Findings, row: &Reading<'_>, earlier: &Earlier, value: Option<f64>) {
    let passed = row.case.stages(row.role).iter().all(|stage| row.stage_result(stage) == "pass");
    let better = value.zip(incumbent_value(row, earlier)).is_some_and(|(value, before)| {
        gain(row.case, value, before) >= row.case.contract.objective.minimum_delta
    });
    if row.role == Role::Candidate && !row.case.contract.measurement.noisy && passed && better {
        out.warn(
            907,
            "discard_contradicts_arithmetic",
            "every stage passed and the improvement suffices, and it was discarded",
        );
    }
}
