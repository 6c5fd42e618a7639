//! Raw evidence, its log, and the repetition that rows repeat (J.17, E.8, E.9).

use super::{
    super::{
        bytes::{Map, Value},
        fields::{
            digest, field, finite, has_keys, is_input, is_pair, is_seed, oid, safe_id,
            schema_version,
        },
        findings::Findings,
        scalar::is_unit,
        shelf::Object,
    },
    Arm, Case, Phase,
};

/// The twelve fields that evidence measures and a repetition repeats.
pub const MEASURED: [&str; 12] = [
    "result_id",
    "pair_id",
    "arm",
    "phase",
    "stage",
    "evaluated_commit",
    "seed",
    "input_id",
    "metrics",
    "primary_value",
    "duration_seconds",
    "evaluator_sha256",
];

/// The five references that a repetition adds.
pub const REFERENCES: [&str; 5] =
    ["result_artifact", "log", "effective_config", "generated_state", "evaluated_tree_snapshot"];

/// Judges the fields of raw evidence.
pub fn evidence(out: &mut Findings, case: Case<'_>, path: &str, object: &Object) {
    out.at(path, None, |out| {
        let map = object.map();
        let keys: Vec<&str> = MEASURED.iter().copied().chain(["schema_version"]).collect();
        out.due(
            has_keys(map, &keys),
            355,
            "invalid_raw_evidence",
            "the keys of the evidence are not the thirteen",
        );
        out.within(356, |out| schema_version(out, map, case.profile(), 1));
        out.within(357, |out| safe_id(out, map, "result_id"));
        out.due(
            is_pair(field(map, "pair_id")),
            358,
            "invalid_pair_id",
            "`pair_id` is neither null nor an id",
        );
        out.within(359, |out| {
            oid(out, map, "evaluated_commit");
            digest(out, map, "evaluator_sha256");
        });
        let word = |key: &str| field(map, key).text().unwrap_or_default();
        out.due(Arm::of(word("arm")).is_some(), 360, "invalid_arm", "`arm` is unknown");
        out.due(Phase::of(word("phase")).is_some(), 361, "invalid_phase", "`phase` is unknown");
        out.due(is_unit(word("stage")), 362, "invalid_stage", "`stage` names no stage");
        out.due(
            field(map, "metrics").map().is_some(),
            363,
            "invalid_metric",
            "`metrics` is not an object",
        );
        out.within(364, |out| finite(out, field(map, "metrics"), "metrics"));
        let value = field(map, "primary_value");
        out.due(
            value.is_null() || value.finite().is_some(),
            365,
            "invalid_metric",
            "`primary_value` is neither null nor finite",
        );
        let duration =
            field(map, "duration_seconds").finite().is_some_and(|seconds| seconds >= 0.0);
        out.due(
            duration,
            366,
            "invalid_duration",
            "`duration_seconds` is negative or no finite number",
        );
        out.due(
            is_input(field(map, "input_id")),
            367,
            "invalid_input_id",
            "`input_id` is neither null nor a non-empty string",
        );
        out.due(is_seed(field(map, "seed")), 368, "invalid_seed", "`seed` is no seed");
    });
}

/// The measured fields of an object.
pub fn measured(map: &Map) -> Map {
    MEASURED.iter().map(|key| ((*key).to_owned(), field(map, key).clone())).collect()
}

/// The repetition of E.9: what was measured, and the five references.
pub fn repetition(evidence: &Map, references: [&Value; 5]) -> Value {
    let mut map = measured(evidence);
    for (key, value) in REFERENCES.iter().zip(references) {
        map.insert((*key).to_owned(), value.clone());
    }
    Value::Map(map)
}
