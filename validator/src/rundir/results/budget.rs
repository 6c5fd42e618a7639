//! Admission and budget of a row (J.31, G.5).

use super::{
    super::{
        artifacts::{
            Case,
            admission::{self, Admission, Lines},
        },
        bytes::Value,
        fields::{Usage, add, amount, field, is_same, usage},
        findings::Findings,
        journal::Attempt,
        scalar::Instant,
    },
    Earlier, Reading,
};

/// What a row says that it used.
pub(super) struct Used {
    pub(super) actual: Usage,
    pub(super) complete: bool,
}

pub(super) fn admission(out: &mut Findings, row: &Reading<'_>, earlier: &Earlier) {
    let Some(map) = row.get("admission").map() else {
        return out.find(643, "invalid_admission", "`admission` is not an object");
    };
    let admission =
        admission::read(out, row.case, map, Lines { flags: 643, times: 644, usage: 644 });
    times(out, row, &admission);
    let fit = admission.computed_fit(row.case);
    out.due(
        fit.is_none_or(|fit| fit == admission.fits),
        648,
        "deadline_fit_mismatch",
        "`deadline_fit` is not what the times say",
    );
    let before = admission.before.as_ref().is_none_or(|before| is_same(before, &earlier.used));
    out.due(
        before,
        649,
        "cumulative_before_mismatch",
        "`cumulative_before` is not what earlier rows used",
    );
    let timeouts = row.attempt.map(|attempt| attempt.plan.timeouts_from(0));
    let window = timeouts.and_then(|timeouts| admission.window_covers(timeouts));
    if let (Some(fit), Some(amounts)) =
        (fit, admission.computed_amounts(row.case, row.role, &earlier.used))
    {
        // The reference leaves the timeouts out here, so that some denials cannot be recorded (L13).
        let due = fit && amounts && (!row.case.is_own() || window != Some(false));
        out.due(
            admission.allowed == due,
            650,
            "admission_decision_mismatch",
            format!("`allowed` is not {due}, which amounts and times say"),
        );
    }
    out.due(
        !admission.allowed || window != Some(false),
        654,
        "admission_timeout_window_too_short",
        "the window is shorter than the timeouts of the plan",
    );
    if let Some(attempt) = row.attempt {
        against(out, row, &admission, attempt);
    }
}

fn times(out: &mut Findings, row: &Reading<'_>, admission: &Admission) {
    let Some(checked) = admission.checked else { return };
    let before = |time: Option<Instant>| time.is_none_or(|time| checked <= time);
    out.due(
        before(row.started()),
        645,
        "admission_time_mismatch",
        "it was decided after the attempt began",
    );
    let first =
        row.attempt.and_then(|attempt| attempt.launches.first()).and_then(|launch| launch.at);
    out.due(
        before(first),
        646,
        "admission_after_launch_intent",
        "it was decided after the first intent",
    );
    out.due(
        before(admission.worst_end),
        647,
        "invalid_admission_window",
        "the window ends before it begins",
    );
}

/// The row's admission is the attempt's (651 to 653, 655, 656).
fn against(out: &mut Findings, row: &Reading<'_>, admission: &Admission, attempt: &Attempt) {
    let same = row.case.equality().holds(row.get("admission"), &attempt.admission_value);
    out.due(
        same,
        651,
        "admission_snapshot_mismatch",
        "the admission is not the one that was frozen",
    );
    let bound =
        attempt.launches.iter().all(|launch| launch.admission_sha256 == attempt.admission_sha256);
    out.due(bound, 652, "admission_digest_mismatch", "an intent is bound to another admission");
    if let Some(requested) = &admission.requested {
        let planned = attempt.plan.requested();
        out.due(
            is_same(requested, &planned),
            653,
            "admission_plan_mismatch",
            "what is requested is not the sum of the plan",
        );
        let mut allocated = Usage::new();
        attempt.launches.iter().for_each(|launch| add(&mut allocated, &launch.allocation));
        let within = allocated.iter().all(|(unit, sum)| *sum <= amount(requested, unit));
        out.due(
            within,
            655,
            "allocation_exceeds_admission",
            "the intents were given more than was requested",
        );
    }
    let allowed = attempt.launches.is_empty() || admission.allowed && admission.fits;
    out.due(allowed, 656, "launch_without_admission", "there are launches and no admission");
}

pub(super) fn budget(out: &mut Findings, row: &Reading<'_>, earlier: &Earlier) -> Used {
    let Some(map) = row.get("budget").map() else {
        out.find(657, "invalid_budget", "`budget` is not an object");
        return Used { actual: Usage::new(), complete: false };
    };
    let unresolved = row.attempt.is_some_and(Attempt::is_unresolved);
    let complete = field(map, "actual_complete").bool();
    out.due(
        complete == Some(!unresolved),
        658,
        "budget_completeness_mismatch",
        format!("whether all use is known is {}", !unresolved),
    );
    let units = row.case.contract.units();
    let actual = out
        .within(659, |out| usage(out, field(map, "actual"), "actual", &units, row.case.profile()));
    let actual = actual.unwrap_or_default();
    let mut total = earlier.used.clone();
    add(&mut total, &actual);
    remaining(out, row, field(map, "remaining_after"), &total, unresolved);
    receipts(out, row, &actual, unresolved);
    overrun(out, row, &actual, &total);
    Used { actual, complete: complete == Some(true) }
}

/// What stays of each finite unit (659 to 662).
fn remaining(out: &mut Findings, row: &Reading<'_>, value: &Value, used: &Usage, unresolved: bool) {
    let finite: Vec<(&String, i128)> = row
        .case
        .contract
        .budgets
        .iter()
        .filter_map(|(unit, budget)| Some((unit, budget.total?)))
        .collect();
    let keyed = value.map().is_some_and(|map| {
        map.len() == finite.len() && finite.iter().all(|(unit, _)| map.contains_key(*unit))
    });
    out.due(
        keyed,
        659,
        "budget_units_mismatch",
        "`remaining_after` does not have exactly the finite units",
    );
    for (unit, total) in finite {
        let Some(found) = value.map().and_then(|map| map.get(unit)) else { continue };
        let code = "unknown_budget_remaining";
        if unresolved {
            out.due(found.is_null(), 660, code, format!("what remains of `{unit}` is not known"));
        } else if found.is_null() {
            out.find(661, code, format!("what remains of `{unit}` is known"));
        } else {
            let due = total - amount(used, unit);
            out.due(
                found.is_int(due, row.case.equality()),
                662,
                "budget_remaining_mismatch",
                format!("{due} of `{unit}` remains"),
            );
        }
    }
}

/// The row's use is that of the receipts (663 to 666).
fn receipts(out: &mut Findings, row: &Reading<'_>, actual: &Usage, unresolved: bool) {
    let queries = "validation_queries";
    let said = row.case.profile().count(row.get(queries));
    if row.case.contract.budgets.contains_key(queries) {
        let same = said.is_none_or(|said| said == amount(actual, queries));
        out.due(same, 663, "query_usage_mismatch", "`validation_queries` is not the budget's");
    }
    let Some(attempt) = row.attempt else { return };
    let launched = attempt.launches.iter().filter(|launch| launch.launched.is_some()).count();
    let calls = i128::try_from(launched).unwrap_or(i128::MAX);
    out.due(
        unresolved || amount(actual, "evaluator_calls") == calls,
        664,
        "call_usage_mismatch",
        format!("{launched} launches began"),
    );
    out.due(
        is_same(actual, &attempt.used()),
        665,
        "usage_receipt_mismatch",
        "`actual` is not the sum of the receipts",
    );
    let asked = |protected: bool| {
        attempt
            .launches
            .iter()
            .filter(|launch| row.case.contract.is_protected(&launch.stage) == protected)
            .filter_map(|launch| launch.usage.as_ref())
            .fold(0_i128, |sum, usage| sum.saturating_add(amount(usage, queries)))
    };
    let gated = asked(false) == 0 && said.is_none_or(|said| said == asked(true));
    out.due(
        gated,
        666,
        "gate_usage_mismatch",
        "queries were receipted by a visible stage, or are not those of the protected ones",
    );
}

/// What overruns are measured by.
struct Measured<'m> {
    actual: &'m Usage,
    ended: Option<Instant>,
    total: &'m Usage,
}

/// Overruns as the journal alone tells them: `rp`'s version counts real execution only (L18).
pub fn overruns(case: Case<'_>, attempt: &Attempt) -> Vec<String> {
    let actual = attempt.used();
    let mut total = attempt
        .admission
        .as_ref()
        .and_then(|admission| admission.before.clone())
        .unwrap_or_default();
    add(&mut total, &actual);
    let ended = attempt.launches.iter().filter_map(|launch| launch.finished).max().or(attempt.at);
    measured(case, attempt, &Measured { actual: &actual, ended, total: &total })
}

/// The seven kinds of overrun (G.5).
fn measured(case: Case<'_>, attempt: &Attempt, found: &Measured<'_>) -> Vec<String> {
    let mut overruns = Vec::new();
    let admission = attempt.admission.as_ref();
    let requested = admission.and_then(|admission| admission.requested.as_ref());
    for (unit, used) in found.actual {
        if requested.is_some_and(|requested| *used > amount(requested, unit)) {
            overruns.push(format!("{used} of `{unit}` is more than was admitted"));
        }
        if *used > amount(&case.contract.caps, unit) {
            overruns.push(format!("{used} of `{unit}` is more than the cap"));
        }
        let total = case.contract.budgets.get(unit).and_then(|budget| budget.total);
        if total.is_some_and(|total| amount(found.total, unit) > total) {
            overruns.push(format!("the total of `{unit}` is exceeded"));
        }
    }
    for launch in &attempt.launches {
        let over = launch
            .usage
            .iter()
            .flatten()
            .any(|(unit, used)| *used > amount(&launch.allocation, unit));
        if over {
            overruns.push(format!("`{}` used more than it was given", launch.id));
        }
        let timeout = case.contract.evaluation.timeout.saturating_mul(1_000_000);
        if launch.launched.zip(launch.finished).is_some_and(|(from, to)| to.since(from) > timeout) {
            overruns.push(format!("`{}` took longer than its timeout", launch.id));
        }
    }
    let window = admission.and_then(|admission| admission.worst_end);
    for (limit, what) in [(window, "admitted window"), (case.contract.deadline, "deadline")] {
        if found.ended.zip(limit).is_some_and(|(ended, limit)| ended > limit) {
            overruns.push(format!("it ended after the {what}"));
        }
    }
    overruns
}

/// An overrun makes the status `timeout`, and nothing else does (667, 668, 803).
fn overrun(out: &mut Findings, row: &Reading<'_>, actual: &Usage, total: &Usage) {
    let Some(attempt) = row.attempt else { return };
    let found = if row.case.is_own() {
        overruns(row.case, attempt)
    } else {
        measured(row.case, attempt, &Measured { actual, ended: row.ended(), total })
    };
    for overrun in &found {
        out.warn(803, "operational_overrun", overrun);
    }
    let timeout = row.status == "timeout";
    // Unresolved work outranks an overrun in `rp`'s version (L9).
    let excused = row.case.is_own() && attempt.is_unresolved();
    out.due(
        found.is_empty() || timeout || excused,
        667,
        "unclassified_operational_overrun",
        found.join("; "),
    );
    let received = attempt.launches.iter().any(|launch| launch.outcome == "timeout");
    out.due(
        !timeout || received || !found.is_empty(),
        668,
        "unsupported_timeout_status",
        "nothing ran over",
    );
}
