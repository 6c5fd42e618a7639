//! Repetitions of a row: each is a launch that published (J.32, E.9).

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{
        artifacts::{
            Arm, Phase, Role,
            evidence::{self, MEASURED, REFERENCES, measured, repetition},
            stage,
        },
        bytes::{Map, Value, canonical, object_digest},
        fields::{Due, Reference, field, finite, is_pair, oid, reference, safe_id},
        findings::Findings,
        journal::{Attempt, Launch},
        scalar::is_unit,
    },
    Reading,
};

/// Judges all repetitions; answers with the commits and trees that their snapshots name.
pub(super) fn repetitions(
    out: &mut Findings,
    row: &Reading<'_>,
    known: &mut BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let mut trees = Vec::new();
    let items = row.get("repetitions").list();
    out.due(items.is_some(), 669, "invalid_repetitions", "`repetitions` is not an array");
    let mut ids = BTreeSet::new();
    for item in items.into_iter().flatten() {
        let Some(map) = item.map() else {
            out.find(670, "invalid_repetition", "a repetition is not an object");
            continue;
        };
        let id = out.within(671, |out| safe_id(out, map, "result_id")).unwrap_or_default();
        out.due(ids.insert(id), 672, "duplicate_result_id", format!("`{id}` comes twice"));
        fields(out, row, map);
        trees.extend(artifacts(out, row, map, id));
        if let Some(attempt) = row.attempt {
            launch(out, row, attempt, map, id);
        }
        conflict(out, row, map, id, known);
    }
    if let Some(attempt) = row.attempt {
        let due = attempt.evaluated.clone().unwrap_or_default();
        let found = row.repetitions().into_iter().map(|map| field(map, "result_id").text());
        let same = found.eq(due.iter().map(|id| Some(id.as_str())));
        out.due(
            same,
            700,
            "result_repetition_ids",
            "the repetitions are not those that were evaluated, in order",
        );
    }
    trees
}

/// The fields by themselves (673 to 684, 688).
fn fields(out: &mut Findings, row: &Reading<'_>, map: &Map) {
    let word = |key: &str| field(map, key).text().unwrap_or_default();
    let arm = Arm::of(word("arm"));
    out.due(arm.is_some(), 673, "invalid_arm", "`arm` is unknown");
    let foreign = row.role != Role::Candidate && arm == Some(Arm::Candidate);
    out.due(!foreign, 674, "invalid_arm", "only a candidate attempt has a candidate arm");
    out.due(
        is_pair(field(map, "pair_id")),
        675,
        "invalid_pair_id",
        "`pair_id` is neither null nor an id",
    );
    out.due(Phase::of(word("phase")).is_some(), 676, "invalid_phase", "`phase` is unknown");
    out.due(is_unit(word("stage")), 677, "invalid_stage", "`stage` names no stage");
    if let Some(commit) = out.within(678, |out| oid(out, map, "evaluated_commit")) {
        let (incumbent, own) = (row.get("incumbent_commit").text(), row.get("commit").text());
        let known = incumbent == Some(commit) || own == Some(commit);
        out.due(
            known,
            679,
            "unexpected_evaluated_commit",
            "the commit is neither incumbent nor the row's",
        );
        let due = if arm == Some(Arm::Candidate) { own } else { incumbent };
        out.due(
            arm.is_none() || due == Some(commit),
            680,
            "arm_commit_mismatch",
            "the commit is not that of the arm",
        );
    }
    let (value, metrics) = (field(map, "primary_value"), field(map, "metrics"));
    let typed = (value.is_null() || value.finite().is_some()) && metrics.map().is_some();
    out.due(typed, 681, "invalid_metric", "`primary_value` or `metrics` are of another type");
    out.within(682, |out| finite(out, metrics, "metrics"));
    let metric = metrics.field(&row.case.contract.objective.primary_metric);
    let same = metric.finite().is_some() && row.case.equality().holds(metric, value);
    out.due(
        same,
        683,
        "primary_metric_value_mismatch",
        "the primary metric is missing or not `primary_value`",
    );
    let duration = field(map, "duration_seconds").finite().is_some_and(|seconds| seconds >= 0.0);
    out.due(
        duration,
        684,
        "invalid_duration",
        "`duration_seconds` is negative or no finite number",
    );
    let evaluator = word("evaluator_sha256") == row.case.contract.evaluation.evaluator_sha256;
    out.due(
        evaluator,
        688,
        "evaluator_digest_mismatch",
        "the evaluator is not that of the contract",
    );
}

/// The five artifacts, looked at again (685 to 687).
fn artifacts(
    out: &mut Findings,
    row: &Reading<'_>,
    map: &Map,
    id: &str,
) -> Option<(String, String)> {
    let exact = [format!("evidence/{id}.json"), format!("logs/{id}.log")];
    let [evidence_path, log_path] = &exact;
    let dues = [
        Due::Exact(evidence_path),
        Due::Exact(log_path),
        Due::In("snapshots"),
        Due::In("snapshots"),
        Due::In("snapshots"),
    ];
    let mut found: Vec<Option<Reference>> = Vec::new();
    for (key, due) in REFERENCES.iter().zip(dues) {
        found
            .push(out.within(685, |out| reference(out, row.case.shelf, field(map, key), key, due)));
    }
    let paths: BTreeSet<&str> =
        found.iter().flatten().map(|reference| reference.path.as_str()).collect();
    let distinct = paths.len() == found.iter().flatten().count();
    out.due(distinct, 687, "artifact_role_collision", "two references share a path");
    let [evidence, log, config, _, tree] = found.as_slice() else { return None };
    let commit = field(map, "evaluated_commit").text().unwrap_or_default();
    let stage = field(map, "stage").text().unwrap_or_default();
    out.within(686, |out| {
        if let Some(evidence) = evidence {
            raw(out, row, evidence, map);
        }
        if let Some(log) = log {
            log.object(out, row.case.shelf);
        }
        if let Some(config) = config {
            stage::config(out, row.case, config, stage);
        }
        let named = tree.as_ref().and_then(|tree| stage::tree(out, row.case, tree, id, commit));
        named.map(|named| (commit.to_owned(), named))
    })
}

fn raw(out: &mut Findings, row: &Reading<'_>, reference: &Reference, map: &Map) {
    let Some(object) = reference.object(out, row.case.shelf) else { return };
    evidence::evidence(out, row.case, &reference.path, &object);
    for key in MEASURED {
        let same = row.case.equality().holds(field(map, key), field(object.map(), key));
        out.due(
            same,
            369,
            "evidence_content_mismatch",
            format!("`{key}` is not that of the evidence"),
        );
    }
}

/// The launch that the repetition is of (689 to 698).
fn launch(out: &mut Findings, row: &Reading<'_>, attempt: &Attempt, map: &Map, id: &str) {
    let Some(launch) = attempt.launches.iter().find(|launch| launch.result_id == id) else {
        return out.find(689, "result_without_launch", format!("no launch has the result `{id}`"));
    };
    let rules = [
        (690, "config_digest_mismatch", "effective_config"),
        (691, "generated_state_digest_mismatch", "generated_state"),
        (692, "evaluated_tree_digest_mismatch", "evaluated_tree_snapshot"),
    ];
    for ((rule, code, key), (due, stated)) in
        rules.into_iter().zip(launch.references.iter().zip(&launch.digests))
    {
        let found = field(map, key);
        out.due(
            found.field("sha256").text() == Some(stated),
            rule,
            code,
            format!("`{key}` has not the digest of the intent"),
        );
        out.due(
            row.case.equality().holds(found, due),
            695,
            "launch_artifact_reference_mismatch",
            format!("`{key}` is not the reference of the intent"),
        );
    }
    let repeats = |key: &str| {
        launch.identity.get(key).is_none_or(|due| row.case.equality().holds(field(map, key), due))
    };
    out.due(repeats("stage"), 693, "stage_binding_mismatch", "the stage is not that of the intent");
    for key in ["arm", "phase", "pair_id", "seed", "input_id"] {
        out.due(
            repeats(key),
            694,
            "launch_evidence_identity_mismatch",
            format!("`{key}` is not that of the intent"),
        );
    }
    publication(out, row, launch, map);
}

fn publication(out: &mut Findings, row: &Reading<'_>, launch: &Launch, map: &Map) {
    let Some(published) = &launch.published else {
        return out.find(696, "missing_evidence_publication", "the launch published nothing");
    };
    let same = row.case.equality().holds(field(map, "result_artifact"), &published.evidence)
        && row.case.equality().holds(field(map, "log"), &published.log);
    out.due(
        same,
        697,
        "published_evidence_reference_mismatch",
        "evidence or log are not those published",
    );
    let references: [&Value; 5] = REFERENCES.map(|key| field(map, key));
    let digest = object_digest(&repetition(map, references));
    out.due(
        digest == published.repetition,
        698,
        "published_repetition_digest_mismatch",
        format!("the repetition hashes to {digest}"),
    );
}

/// A result id means one measurement in the whole run (699).
fn conflict(
    out: &mut Findings,
    row: &Reading<'_>,
    map: &Map,
    id: &str,
    known: &mut BTreeMap<String, String>,
) {
    let mut identity = measured(map);
    identity.insert("attempt_id".to_owned(), row.get("attempt_id").clone());
    let identity = object_digest(&Value::of(canonical(&Value::Map(identity))));
    let first = known.entry(id.to_owned()).or_insert_with(|| identity.clone());
    out.due(
        *first == identity,
        699,
        "result_id_conflict",
        format!("`{id}` is another measurement too"),
    );
}
