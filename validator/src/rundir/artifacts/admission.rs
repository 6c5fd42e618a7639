//! The admission of an attempt (J.16, E.4), and the arithmetic that a row repeats (J.31).

use super::{
    super::{
        bytes::{Map, Value},
        fields::{Usage, amount, field, has_keys, is_same, time, usage},
        findings::Findings,
        scalar::Instant,
    },
    Case, Role,
};

/// An admission.
#[derive(Debug, Clone)]
pub struct Admission {
    /// Whether launches may be made.
    pub allowed: bool,
    /// Whether the deadline allows them.
    pub fits: bool,
    /// When it was decided.
    pub checked: Option<Instant>,
    /// When the worst case ends.
    pub worst_end: Option<Instant>,
    /// What was used before.
    pub before: Option<Usage>,
    /// What the plan may use.
    pub requested: Option<Usage>,
    /// What stays untouched.
    pub protected: Option<Usage>,
}

/// The seven keys.
pub const KEYS: [&str; 7] = [
    "allowed",
    "deadline_fit",
    "checked_at",
    "worst_case_end_at",
    "cumulative_before",
    "requested_worst_case",
    "protected_after_launch",
];

/// Which lines of the checklist a reading stands for: those of the artifact, or those of a row.
#[derive(Debug, Clone, Copy)]
pub struct Lines {
    /// Flags.
    pub flags: u16,
    /// Time stamps.
    pub times: u16,
    /// Usage maps.
    pub usage: u16,
}

/// Reads the fields.
pub fn read(out: &mut Findings, case: Case<'_>, map: &Map, lines: Lines) -> Admission {
    let (allowed, fits) = (field(map, "allowed").bool(), field(map, "deadline_fit").bool());
    let flags = allowed.is_some() && fits.is_some();
    out.due(
        flags,
        lines.flags,
        "invalid_admission",
        "`allowed` and `deadline_fit` are not booleans",
    );
    let checked = out.within(lines.times, |out| time(out, map, "checked_at"));
    let worst_end = out.within(lines.times, |out| time(out, map, "worst_case_end_at"));
    let units = case.contract.units();
    let mut amounts = |key: &str| {
        out.within(lines.usage, |out| usage(out, field(map, key), key, &units, case.profile()))
    };
    Admission {
        allowed: allowed.unwrap_or(false),
        fits: fits.unwrap_or(false),
        checked,
        worst_end,
        before: amounts("cumulative_before"),
        requested: amounts("requested_worst_case"),
        protected: amounts("protected_after_launch"),
    }
}

/// Whether the keys are exactly those of an admission.
pub fn has_all_keys(map: &Map) -> bool {
    has_keys(map, &KEYS)
}

impl Admission {
    /// Whether the deadline allows the worst case (E.4).
    pub fn computed_fit(&self, case: Case<'_>) -> Option<bool> {
        let (checked, end) = (self.checked?, self.worst_end?);
        Some(checked <= end && case.contract.deadline.is_none_or(|deadline| end <= deadline))
    }

    /// Seconds' worth of microseconds between decision and worst end.
    pub fn window_covers(&self, seconds: i128) -> Option<bool> {
        Some(self.worst_end?.since(self.checked?) >= seconds.saturating_mul(1_000_000))
    }

    /// Whether every amount allows the plan, `prior` being what was used before.
    pub fn computed_amounts(&self, case: Case<'_>, role: Role, prior: &Usage) -> Option<bool> {
        let (before, requested, protected) =
            (self.before.as_ref()?, self.requested.as_ref()?, self.protected.as_ref()?);
        Some(case.contract.budgets.iter().all(|(unit, budget)| {
            let used = amount(prior, unit);
            let (asked, kept) = (amount(requested, unit), amount(protected, unit));
            let due = match role {
                Role::Final => budget.operational,
                Role::Baseline | Role::Candidate => {
                    budget.operational.saturating_add(budget.reserved)
                }
            };
            amount(before, unit) == used
                && asked <= amount(&case.contract.caps, unit)
                && kept >= due
                && (role != Role::Final || asked <= budget.reserved)
                && budget.total.is_none_or(|total| asked.saturating_add(kept) <= total - used)
        }))
    }
}

/// What an admission is held against.
pub struct Against<'a> {
    /// The role.
    pub role: Role,
    /// When the attempt was prepared.
    pub prepared: Option<Instant>,
    /// What earlier receipts used.
    pub prior: &'a Usage,
    /// What the plan requests, if there is one.
    pub requested: Option<Usage>,
    /// The sum of the plan's timeouts.
    pub timeouts: i128,
}

/// Judges the artifact.
pub fn artifact(
    out: &mut Findings,
    case: Case<'_>,
    value: &Value,
    against: &Against<'_>,
) -> Option<Admission> {
    let map = value.map()?;
    out.due(
        has_all_keys(map),
        331,
        "invalid_admission",
        "the keys of the admission are not the seven",
    );
    let admission = read(out, case, map, Lines { flags: 332, times: 333, usage: 337 });
    if let (Some(checked), Some(prepared)) = (admission.checked, against.prepared) {
        out.due(
            checked <= prepared,
            334,
            "admission_after_prepared",
            "it was decided after the attempt was prepared",
        );
    }
    if let (Some(end), Some(prepared)) = (admission.worst_end, against.prepared) {
        out.due(
            prepared <= end,
            335,
            "prepared_after_admission_window",
            "the attempt was prepared after its window",
        );
    }
    let fit = admission.computed_fit(case);
    out.due(
        fit.is_none_or(|fit| fit == admission.fits),
        336,
        "deadline_fit_mismatch",
        "`deadline_fit` is not what the times say",
    );
    if let (Some(requested), Some(due)) = (&admission.requested, &against.requested) {
        out.due(
            is_same(requested, due),
            338,
            "admission_plan_mismatch",
            "what is requested is not the sum of the plan",
        );
    }
    let window = admission.window_covers(against.timeouts);
    out.due(
        !admission.allowed || window != Some(false),
        339,
        "admission_timeout_window_too_short",
        "the window is shorter than the timeouts of the plan",
    );
    let before = admission.before.as_ref().is_none_or(|before| is_same(before, against.prior));
    out.due(
        before,
        340,
        "cumulative_before_mismatch",
        "`cumulative_before` is not what earlier receipts used",
    );
    let amounts = admission.computed_amounts(case, against.role, against.prior);
    if let (Some(fit), Some(window), Some(amounts)) = (fit, window, amounts) {
        let due = fit && window && amounts;
        out.due(
            admission.allowed == due,
            341,
            "admission_decision_mismatch",
            format!("`allowed` is not {due}, which the amounts and times say"),
        );
    }
    Some(admission)
}
