//! Promotion, final test, and the identities of the stages (J.11).

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{
        bytes::{Map, Value, object_digest},
        fields::{Amount, digest, field, has_keys, strings, text},
        findings::Findings,
        scalar::{is_sha256, is_unit},
    },
    Objective, Reading,
};

/// The test of the incumbent at the end.
#[derive(Debug, Clone)]
pub struct FinalTest {
    /// Its stage.
    pub stage: String,
    /// The metrics that it must give.
    pub telemetry: Vec<String>,
    /// The least value that passes, where more is better.
    pub minimum: Option<f64>,
    /// The greatest value that passes, where less is better.
    pub maximum: Option<f64>,
    /// The greatest loss against the incumbent's own value, if the two may be compared.
    pub regression: Option<f64>,
}

#[derive(Default)]
pub(super) struct Promotion {
    pub(super) stages: Vec<String>,
    pub(super) telemetry: BTreeMap<String, Vec<String>>,
}

pub(super) fn promotion(out: &mut Findings, reading: &Reading<'_>) -> Promotion {
    let Some(map) = reading.part("promotion").map() else {
        out.find(176, "invalid_promotion", "`promotion` is not an object");
        return Promotion::default();
    };
    let keys = ["required_stages", "required_telemetry", "acceptance_rule"];
    out.due(
        has_keys(map, &keys),
        177,
        "invalid_promotion",
        "the keys of `promotion` are not the three",
    );
    out.within(178, |out| text(out, map, "acceptance_rule"));
    let items = field(map, "required_stages").list().unwrap_or_default();
    let names: Vec<&str> =
        items.iter().filter_map(Value::text).filter(|name| !name.is_empty()).collect();
    let whole = !items.is_empty() && names.len() == items.len();
    out.due(
        whole,
        179,
        "invalid_required_stages",
        "`required_stages` is not an array of stage names",
    );
    let mut stages: Vec<String> = Vec::new();
    for name in names {
        let new = !stages.iter().any(|known| known == name);
        out.due(
            new,
            180,
            "duplicate_required_stage",
            format!("the stage `{name}` is required twice"),
        );
        out.due(is_unit(name), 181, "invalid_required_stage", format!("`{name}` names no stage"));
        if new {
            stages.push(name.to_owned());
        }
    }
    let telemetry = telemetry(out, field(map, "required_telemetry"), &stages);
    Promotion { stages, telemetry }
}

fn telemetry(
    out: &mut Findings,
    value: &Value,
    stages: &[String],
) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    let map = value.map().filter(|map| is_keyed_by(map, stages.iter().map(String::as_str)));
    if map.is_none() {
        out.find(
            182,
            "invalid_required_telemetry",
            "`required_telemetry` is not keyed by exactly the stages",
        );
    }
    for (stage, value) in value.map().into_iter().flatten() {
        let metrics = out.within(183, |out| strings(out, value, stage, Amount::Some));
        for metric in &metrics {
            out.due(
                is_unit(metric),
                184,
                "invalid_telemetry_id",
                format!("`{metric}` names no metric"),
            );
        }
        found.insert(stage.clone(), metrics);
    }
    found
}

fn is_keyed_by<'s>(map: &Map, due: impl Iterator<Item = &'s str>) -> bool {
    map.keys().map(String::as_str).collect::<BTreeSet<_>>() == due.collect()
}

pub(super) struct Gate<'g> {
    pub(super) sealed: bool,
    pub(super) acceptance: &'g str,
}

pub(super) fn acceptance(out: &mut Findings, stages: &[String], gate: &Gate<'_>) {
    let known = stages.iter().any(|stage| stage == gate.acceptance);
    out.due(
        known,
        185,
        "acceptance_stage_missing",
        format!("`{}` is not a required stage", gate.acceptance),
    );
    let first = stages.first().is_some_and(|stage| stage == gate.acceptance);
    out.due(
        !(gate.sealed && first),
        186,
        "sealed_gate_without_development_stage",
        "a sealed gate cannot be the first stage",
    );
}

const FINAL: [&str; 6] = [
    "stage",
    "required_telemetry",
    "minimum_value",
    "maximum_value",
    "comparable_to_acceptance_split",
    "maximum_regression",
];

pub(super) fn final_test(
    out: &mut Findings,
    reading: &Reading<'_>,
    objective: &Objective,
    stages: &[String],
) -> Option<FinalTest> {
    let code = "invalid_final_test";
    let value = reading.part("final_test");
    if value.is_null() {
        return None;
    }
    let Some(map) = value.map() else {
        out.find(187, code, "`final_test` is neither null nor an object");
        return None;
    };
    out.due(has_keys(map, &FINAL), 188, code, "the keys of `final_test` are not the six");
    let stage = out.within(189, |out| text(out, map, "stage")).unwrap_or_default();
    out.due(stage.is_empty() || is_unit(stage), 190, code, format!("`{stage}` names no stage"));
    let disjoint = !stages.iter().any(|known| known == stage);
    out.due(
        disjoint,
        191,
        "final_test_not_disjoint",
        format!("the final stage `{stage}` is a required stage"),
    );
    let telemetry = out.within(192, |out| {
        strings(out, field(map, "required_telemetry"), "required_telemetry", Amount::Some)
    });
    for metric in &telemetry {
        out.due(
            is_unit(metric),
            193,
            "invalid_telemetry_id",
            format!("`{metric}` names no metric"),
        );
    }
    let (minimum, maximum) = (field(map, "minimum_value"), field(map, "maximum_value"));
    if objective.maximize {
        let right = minimum.finite().is_some() && maximum.is_null();
        out.due(
            right,
            194,
            code,
            "a maximized metric has a finite `minimum_value` and no `maximum_value`",
        );
    } else {
        let right = maximum.finite().is_some() && minimum.is_null();
        out.due(
            right,
            195,
            code,
            "a minimized metric has a finite `maximum_value` and no `minimum_value`",
        );
    }
    Some(FinalTest {
        stage: stage.to_owned(),
        telemetry,
        minimum: minimum.finite(),
        maximum: maximum.finite(),
        regression: regression(out, map),
    })
}

fn regression(out: &mut Findings, map: &Map) -> Option<f64> {
    let code = "invalid_final_test";
    let comparable = field(map, "comparable_to_acceptance_split").bool();
    out.due(comparable.is_some(), 196, code, "`comparable_to_acceptance_split` is not a boolean");
    let limit = field(map, "maximum_regression");
    if limit.is_null() {
        return None;
    }
    if comparable != Some(true) {
        out.find(198, code, "`maximum_regression` is set although the splits are not comparable");
        return None;
    }
    let found = limit.finite().filter(|limit| *limit >= 0.0);
    out.due(found.is_some(), 197, code, "`maximum_regression` is negative or not finite");
    found
}

#[derive(Default)]
pub(super) struct Maps {
    pub(super) access: BTreeMap<String, String>,
    pub(super) config: BTreeMap<String, String>,
}

pub(super) fn resources(
    out: &mut Findings,
    reading: &Reading<'_>,
    stages: &[String],
    last: Option<&FinalTest>,
) -> Maps {
    let last = last.map(|test| test.stage.as_str());
    let all: Vec<&str> = stages.iter().map(String::as_str).chain(last).collect();
    let empty = Map::new();
    let found = reading.part("stage_resources").map();
    let keyed = found.is_some_and(|map| is_keyed_by(map, all.iter().copied()));
    out.due(
        keyed,
        199,
        "invalid_stage_resources",
        "`stage_resources` is not keyed by exactly the stages",
    );
    let resources = found.unwrap_or(&empty);
    let (mut manifests, mut capabilities) = (BTreeSet::new(), BTreeSet::new());
    for (stage, value) in resources {
        let Some(map) = value.map().filter(|map| {
            has_keys(map, &["resource_manifest_sha256", "capability_sha256", "visibility"])
        }) else {
            out.find(
                200,
                "invalid_stage_resources",
                format!("the resources of `{stage}` are not the three"),
            );
            continue;
        };
        let first = all.first().is_some_and(|first| first == stage);
        let due = if first { "visible" } else { "protected" };
        let right = field(map, "visibility").text() == Some(due);
        out.due(
            right,
            202,
            "invalid_stage_visibility",
            format!("the stage `{stage}` is not `{due}`"),
        );
        for (key, rule, code, seen) in [
            (
                "resource_manifest_sha256",
                203,
                "stage_resource_manifests_not_disjoint",
                &mut manifests,
            ),
            ("capability_sha256", 204, "stage_capabilities_not_disjoint", &mut capabilities),
        ] {
            if let Some(found) = out.within(201, |out| digest(out, map, key)) {
                out.due(
                    seen.insert(found),
                    rule,
                    code,
                    format!("`{key}` of `{stage}` is another stage's too"),
                );
            }
        }
    }
    Maps { access: access(out, reading, &all, resources, last), config: config(out, reading, &all) }
}

fn access(
    out: &mut Findings,
    reading: &Reading<'_>,
    all: &[&str],
    resources: &Map,
    last: Option<&str>,
) -> BTreeMap<String, String> {
    let found =
        digests(out, reading, "stage_access_sha256", all, (205, 206, "invalid_stage_access"));
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    // In sealed order, so that the final stage comes last and is the one that repeats another's.
    for stage in all {
        let Some(access) = found.get(*stage) else { continue };
        if let Some(resource) = resources.get(*stage) {
            let derived = object_digest(resource) == *access;
            out.due(
                derived,
                207,
                "stage_access_derivation_mismatch",
                format!("the access of `{stage}` is not the digest of its resources"),
            );
        }
        if seen.insert(access, stage).is_some() {
            out.find(
                208,
                "stage_access_not_disjoint",
                format!("the access of `{stage}` is another stage's too"),
            );
            if last == Some(*stage) {
                out.find(
                    209,
                    "final_access_not_disjoint",
                    "the access of the final stage is a promotion stage's too",
                );
            }
        }
    }
    found
}

fn config(out: &mut Findings, reading: &Reading<'_>, all: &[&str]) -> BTreeMap<String, String> {
    let found =
        digests(out, reading, "stage_config_sha256", all, (210, 211, "invalid_stage_config"));
    let mut seen = BTreeSet::new();
    for (stage, config) in &found {
        out.due(
            seen.insert(config),
            212,
            "stage_config_not_disjoint",
            format!("the configuration of `{stage}` is another stage's too"),
        );
    }
    found
}

fn digests(
    out: &mut Findings,
    reading: &Reading<'_>,
    key: &str,
    all: &[&str],
    (keys, value, code): (u16, u16, &'static str),
) -> BTreeMap<String, String> {
    let map = reading.part(key).map();
    let keyed = map.is_some_and(|map| is_keyed_by(map, all.iter().copied()));
    out.due(keyed, keys, code, format!("`{key}` is not keyed by exactly the stages"));
    let mut found = BTreeMap::new();
    for (stage, item) in map.into_iter().flatten() {
        match item.text().filter(|text| is_sha256(text)) {
            Some(digest) => {
                found.insert(stage.clone(), digest.to_owned());
            }
            None => out.find(value, code, format!("`{key}.{stage}` is no SHA-256 digest")),
        }
    }
    found
}
