//! Rows of noisy measurements: phases, and pairs of arms (J.33, G.3).

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{
        artifacts::{Arm, Phase},
        bytes::{Map, canonical},
        fields::field,
        findings::Findings,
    },
    Reading,
    acceptance::{deciding, gain, mean},
};

fn phase(map: &Map) -> Option<Phase> {
    field(map, "phase").text().and_then(Phase::of)
}

fn arm(map: &Map) -> Option<Arm> {
    field(map, "arm").text().and_then(Arm::of)
}

/// Seed and input, unless both are null.
fn identity(map: &Map) -> Option<String> {
    let (seed, input) = (field(map, "seed"), field(map, "input_id"));
    (!seed.is_null() || !input.is_null())
        .then(|| format!("{} {}", canonical(seed), canonical(input)))
}

fn as_count(count: usize) -> i128 {
    i128::try_from(count).unwrap_or(i128::MAX)
}

/// What is kept explored and confirmed enough, with fresh identities (704 to 706).
pub(super) fn phases(out: &mut Findings, row: &Reading<'_>) {
    if !row.is_keep() {
        return;
    }
    let measurement = &row.case.contract.measurement;
    let own: Vec<&Map> = deciding(row).filter(|map| arm(map) == Some(row.role.target())).collect();
    let count = |due: Phase| as_count(own.iter().filter(|map| phase(map) == Some(due)).count());
    let enough = count(Phase::Exploration) >= measurement.exploration
        && count(Phase::Confirmation) >= measurement.confirmation
        && own
            .iter()
            .all(|map| matches!(phase(map), Some(Phase::Exploration | Phase::Confirmation)));
    out.due(
        enough,
        704,
        "insufficient_noisy_phases",
        "the phases are not those that the contract asks",
    );
    let mut seen = BTreeSet::new();
    for map in own {
        match identity(map) {
            None => {
                out.find(705, "missing_noisy_identity", "a repetition has neither seed nor input");
            }
            Some(identity) => {
                out.due(
                    seen.insert(identity),
                    706,
                    "reused_noisy_identity",
                    "a seed and input come twice",
                );
            }
        }
    }
}

/// Judges the pairs; answers with the smaller of the two phases' mean gains, if both have one.
pub(super) fn pairs(out: &mut Findings, row: &Reading<'_>) -> Option<f64> {
    let stage = row.case.deciding_stage(row.role);
    let mut pairs: BTreeMap<&str, Vec<&Map>> = BTreeMap::new();
    for map in deciding(row) {
        match field(map, "pair_id").text() {
            Some(id) => pairs.entry(id).or_default().push(map),
            None => out.find(
                707,
                "unpaired_noisy_evidence",
                "a repetition of the acceptance stage has no pair",
            ),
        }
    }
    // A pair whose other arm never published is no fault of an attempt that concludes nothing (L12).
    let concluded = row.is_keep() || matches!(row.stage_result(stage), "pass" | "fail");
    let demand = !row.case.is_own() || concluded;
    let mut seen = BTreeSet::new();
    let mut gains: BTreeMap<Phase, Vec<f64>> = BTreeMap::new();
    for (id, arms) in &pairs {
        if let Some((phase, found)) = pair(out, row, (id, arms, demand), &mut seen) {
            gains.entry(phase).or_default().push(found);
        }
    }
    let of = |phase: Phase| gains.get(&phase).map(Vec::as_slice).unwrap_or_default();
    if row.is_keep() {
        let measurement = &row.case.contract.measurement;
        let enough = as_count(of(Phase::Exploration).len()) >= measurement.exploration
            && as_count(of(Phase::Confirmation).len()) >= measurement.confirmation;
        out.due(
            enough,
            716,
            "insufficient_noisy_pairs",
            "there are fewer pairs than the contract asks",
        );
        let cited = row.cited(stage);
        let all = pairs
            .values()
            .flatten()
            .all(|map| field(map, "result_id").text().is_some_and(|id| cited.contains(&id)));
        out.due(all, 717, "missing_pair_evidence", "an arm of a pair is not cited");
    }
    Some(mean(of(Phase::Exploration))?.min(mean(of(Phase::Confirmation))?))
}

fn pair(
    out: &mut Findings,
    row: &Reading<'_>,
    (id, arms, demand): (&str, &[&Map], bool),
    seen: &mut BTreeSet<String>,
) -> Option<(Phase, f64)> {
    let of =
        |due: Arm| arms.iter().filter(|map| arm(map) == Some(due)).copied().collect::<Vec<&Map>>();
    let (incumbents, candidates) = (of(Arm::Incumbent), of(Arm::Candidate));
    let single = incumbents.len() <= 1 && candidates.len() <= 1;
    out.due(single, 708, "duplicate_pair_arm", format!("an arm comes twice in pair `{id}`"));
    let (Some(incumbent), Some(candidate)) = (incumbents.first(), candidates.first()) else {
        out.due(!demand, 709, "incomplete_pair", format!("pair `{id}` lacks an arm"));
        return None;
    };
    let same = |key: &str| row.case.equality().holds(field(incumbent, key), field(candidate, key));
    let digest =
        |key: &str| field(incumbent, key).field("sha256") == field(candidate, key).field("sha256");
    let context = digest("effective_config") && digest("generated_state");
    out.due(
        context,
        710,
        "pair_context_mismatch",
        format!("configuration or state differ in pair `{id}`"),
    );
    let alike = same("seed") && same("input_id") && same("phase");
    out.due(
        alike,
        711,
        "pair_identity_mismatch",
        format!("seed, input or phase differ in pair `{id}`"),
    );
    let phase = phase(incumbent).filter(|phase| *phase != Phase::Deterministic);
    out.due(
        phase.is_some(),
        712,
        "invalid_noisy_phase",
        format!("pair `{id}` neither explores nor confirms"),
    );
    match identity(incumbent) {
        None => out.find(
            713,
            "missing_pair_identity",
            format!("pair `{id}` has neither seed nor input"),
        ),
        Some(identity) => {
            out.due(
                seen.insert(identity),
                714,
                "reused_pair_identity",
                format!("the seed and input of pair `{id}` come twice"),
            );
        }
    }
    let value = |map: &Map| field(map, "primary_value").finite();
    let values = value(incumbent).zip(value(candidate));
    out.due(
        values.is_some(),
        715,
        "invalid_pair_metric",
        format!("a value of pair `{id}` is not finite"),
    );
    let (before, after) = values?;
    Some((phase?, gain(row.case, after, before)))
}
