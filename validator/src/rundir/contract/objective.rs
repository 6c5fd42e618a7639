//! Objective and measurement (J.6).

use super::{
    super::{
        bytes::Map,
        fields::{Amount, field, has_keys, strings, text},
        findings::Findings,
        scalar::is_unit,
    },
    Reading,
};

/// What is improved, and by how much.
#[derive(Debug, Clone, Default)]
pub struct Objective {
    /// The metric.
    pub primary_metric: String,
    /// Whether more is better.
    pub maximize: bool,
    /// The least improvement that counts.
    pub minimum_delta: f64,
    /// The stage whose values decide.
    pub acceptance: String,
    /// The ids of the hard constraints.
    pub hard_constraints: Vec<String>,
}

/// How values of repetitions become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregation {
    /// There is one.
    Single,
    /// Their mean.
    Mean,
    /// Their median.
    Median,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

impl Aggregation {
    /// The protocol's word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// How often a stage is measured.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Whether values vary, so that arms are paired.
    pub noisy: bool,
    /// How values become one.
    pub aggregation: Aggregation,
    /// Least repetitions.
    pub minimum: i128,
    /// Least of them that explore.
    pub exploration: i128,
    /// Least of them that confirm.
    pub confirmation: i128,
}

const OBJECTIVE: [&str; 8] = [
    "goal",
    "intended_population",
    "primary_metric",
    "direction",
    "target",
    "minimum_delta",
    "acceptance_split",
    "hard_constraints",
];

pub(super) fn objective(out: &mut Findings, reading: &Reading<'_>) -> Objective {
    let Some(map) = reading.part("objective").map() else {
        out.find(71, "invalid_objective", "`objective` is not an object");
        return Objective::default();
    };
    out.due(
        has_keys(map, &OBJECTIVE),
        72,
        "invalid_objective",
        "the keys of `objective` are not the eight",
    );
    let mut words = out.within(73, |out| {
        ["goal", "intended_population", "primary_metric", "acceptance_split"]
            .map(|key| text(out, map, key).unwrap_or_default().to_owned())
    });
    let direction = field(map, "direction").text().unwrap_or_default();
    out.due(
        matches!(direction, "maximize" | "minimize"),
        74,
        "invalid_direction",
        "`direction` is neither `maximize` nor `minimize`",
    );
    let target = field(map, "target");
    out.due(
        target.is_null() || target.finite().is_some(),
        75,
        "invalid_target",
        "`target` is neither null nor a finite number",
    );
    let delta = field(map, "minimum_delta").finite().filter(|delta| *delta > 0.0);
    out.due(
        delta.is_some(),
        76,
        "invalid_minimum_delta",
        "`minimum_delta` is not a finite number above zero",
    );
    let [_, _, primary_metric, acceptance] = &mut words;
    Objective {
        primary_metric: std::mem::take(primary_metric),
        maximize: direction != "minimize",
        minimum_delta: delta.unwrap_or_default(),
        acceptance: std::mem::take(acceptance),
        hard_constraints: hard_constraints(out, map),
    }
}

fn hard_constraints(out: &mut Findings, map: &Map) -> Vec<String> {
    let value = field(map, "hard_constraints");
    let doubled = value.list().is_some_and(|items| {
        items.iter().enumerate().any(|(at, item)| items.iter().take(at).any(|other| other == item))
    });
    let rule = if doubled { 78 } else { 77 };
    let ids = out.within(rule, |out| strings(out, value, "hard_constraints", Amount::Any));
    for id in &ids {
        out.due(
            is_unit(id),
            79,
            "invalid_constraint_id",
            format!("the hard constraint `{id}` is no id"),
        );
    }
    ids
}

const MEASUREMENT: [&str; 6] = [
    "mode",
    "aggregation",
    "minimum_repetitions",
    "exploration_repetitions",
    "confirmation_repetitions",
    "uncertainty_rule",
];

pub(super) fn measurement(out: &mut Findings, reading: &Reading<'_>) -> Measurement {
    let nothing = Map::new();
    let map = reading.part("measurement").map();
    out.due(map.is_some(), 80, "invalid_measurement", "`measurement` is not an object");
    let Some(map) = map else { return numbers(reading, &nothing) };
    out.due(
        has_keys(map, &MEASUREMENT),
        81,
        "invalid_measurement",
        "the keys of `measurement` are not the six",
    );
    let mode = field(map, "mode").text().unwrap_or_default();
    out.due(
        matches!(mode, "deterministic" | "noisy"),
        82,
        "invalid_measurement",
        "`mode` is neither `deterministic` nor `noisy`",
    );
    let known = aggregation(map).is_some();
    out.due(
        known,
        83,
        "invalid_aggregation",
        "`aggregation` is none of single, mean, median, min, max",
    );
    let positive = reading.profile.positive(field(map, "minimum_repetitions")).is_some();
    out.due(positive, 84, "invalid_measurement", "`minimum_repetitions` is not a positive integer");
    for (rule, key) in [(86, "confirmation_repetitions"), (87, "exploration_repetitions")] {
        let count = reading.profile.count(field(map, key)).is_some();
        out.due(
            count,
            rule,
            "invalid_measurement",
            format!("`{key}` is not a non-negative integer"),
        );
    }
    let rule = out.within(88, |out| text(out, map, "uncertainty_rule").unwrap_or_default());
    let found = numbers(reading, map);
    match mode {
        "deterministic" => {
            out.due(
                found.minimum == 1,
                85,
                "invalid_measurement",
                "a deterministic measurement is repeated once",
            );
            let plain = found.exploration == 0 && found.confirmation == 0 && rule == "none";
            out.due(
                plain,
                89,
                "invalid_measurement",
                "a deterministic measurement has no phases and the rule `none`",
            );
        }
        "noisy" => {
            let averaged = matches!(found.aggregation, Aggregation::Mean | Aggregation::Median);
            out.due(
                !known || averaged,
                90,
                "invalid_measurement",
                "a noisy measurement is aggregated by mean or median",
            );
            let phased = found.exploration >= 1
                && found.confirmation >= 1
                && found.exploration.saturating_add(found.confirmation) <= found.minimum
                && rule == "paired_mean_delta";
            out.due(phased, 91, "invalid_measurement", "a noisy measurement has both phases within the minimum and the rule `paired_mean_delta`");
        }
        _ => {}
    }
    found
}

fn aggregation(map: &Map) -> Option<Aggregation> {
    use Aggregation::{Max, Mean, Median, Min, Single};
    let name = field(map, "aggregation").text()?;
    [Single, Mean, Median, Min, Max].into_iter().find(|aggregation| aggregation.name() == name)
}

fn numbers(reading: &Reading<'_>, map: &Map) -> Measurement {
    let count = |key: &str| reading.profile.count(field(map, key));
    Measurement {
        noisy: field(map, "mode").text() == Some("noisy"),
        aggregation: aggregation(map).unwrap_or(Aggregation::Single),
        minimum: count("minimum_repetitions").unwrap_or(1),
        exploration: count("exploration_repetitions").unwrap_or(0),
        confirmation: count("confirmation_repetitions").unwrap_or(0),
    }
}
