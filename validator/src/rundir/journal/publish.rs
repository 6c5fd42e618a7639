//! `evidence_published`: what a launch measured becomes evidence (J.24).

use super::{
    super::{
        artifacts::{
            Case,
            evidence::{self, repetition},
        },
        bytes::{Value, object_digest},
        fields::{Due, digest, field, reference},
        findings::Findings,
        shelf::Object,
    },
    Attempt, Launch, Phase, Published, Turn,
    receipts::find,
};

pub(super) fn published(
    out: &mut Findings,
    case: Case<'_>,
    attempt: &mut Attempt,
    turn: &Turn<'_>,
) {
    let open = matches!(attempt.phase, Phase::Prepared | Phase::Committed);
    let over: Vec<String> = attempt.checkpoints.keys().cloned().collect();
    let Some(launch) = find(out, attempt, turn) else { return };
    let legal = launch.is_complete() && launch.published.is_none();
    out.due(
        legal,
        501,
        "journal_order",
        "the launch did not complete and leave nothing, or was published before",
    );
    let in_time = open && !over.contains(&launch.stage);
    out.due(
        in_time,
        502,
        "late_evidence_publication",
        "the attempt was evaluated, or the stage is over",
    );
    let (evidence, log) = (field(turn.map, "result_artifact"), field(turn.map, "log"));
    let repeated = out.within(504, |out| digest(out, turn.map, "repetition_sha256"));
    if let Some(object) = artifacts(out, case, launch, (evidence, log)) {
        content(out, case, launch, &object);
        if let Some(repeated) = repeated {
            let [config, state, tree] = &launch.references;
            let due =
                object_digest(&repetition(object.map(), [evidence, log, config, state, tree]));
            out.due(
                due == repeated,
                512,
                "published_repetition_digest_mismatch",
                format!("the repetition hashes to {due}"),
            );
        }
    }
    if legal {
        launch.published = Some(Published {
            evidence: evidence.clone(),
            log: log.clone(),
            repetition: repeated.unwrap_or_default().to_owned(),
        });
        launch.last = launch.last.max(turn.at);
    }
}

/// Evidence and log, which hold the same value (503, 505, 506).
fn artifacts(
    out: &mut Findings,
    case: Case<'_>,
    launch: &Launch,
    (evidence, log): (&Value, &Value),
) -> Option<Object> {
    let paths =
        [format!("evidence/{}.json", launch.result_id), format!("logs/{}.log", launch.result_id)];
    let [evidence_path, log_path] = &paths;
    let (evidence, log) = out.within(503, |out| {
        (
            reference(out, case.shelf, evidence, "result_artifact", Due::Exact(evidence_path)),
            reference(out, case.shelf, log, "log", Due::Exact(log_path)),
        )
    });
    let object = evidence.and_then(|reference| {
        let object = out.within(507, |out| reference.object(out, case.shelf))?;
        out.within(507, |out| evidence::evidence(out, case, &reference.path, &object));
        Some(object)
    });
    let log = log.and_then(|reference| out.within(505, |out| reference.object(out, case.shelf)));
    if let (Some(object), Some(log)) = (&object, &log) {
        let same = case.equality().holds(object.value(), log.value());
        out.due(
            same,
            506,
            "extractor_output_mismatch",
            "the log does not hold the value of the evidence",
        );
    }
    object
}

/// What was measured is what was launched (508 to 511).
fn content(out: &mut Findings, case: Case<'_>, launch: &Launch, object: &Object) {
    let map = object.map();
    for (key, due) in &launch.identity {
        let same = case.equality().holds(field(map, key), due);
        out.due(
            same,
            508,
            "published_evidence_identity_mismatch",
            format!("`{key}` is not that of the intent"),
        );
    }
    let evaluator =
        field(map, "evaluator_sha256").text() == Some(&case.contract.evaluation.evaluator_sha256);
    out.due(
        evaluator,
        509,
        "evaluator_digest_mismatch",
        "the evaluator is not that of the contract",
    );
    let metrics = field(map, "metrics");
    let metric = metrics.field(&case.contract.objective.primary_metric);
    let value = field(map, "primary_value");
    let same = metric.finite().is_some() && case.equality().holds(metric, value);
    out.due(
        same,
        510,
        "published_primary_metric_mismatch",
        "the primary metric is missing or not `primary_value`",
    );
    for name in case.telemetry(&launch.stage) {
        let finite = metrics.field(name).finite().is_some();
        out.due(
            finite,
            511,
            "missing_published_telemetry",
            format!("the stage requires a finite `{name}`"),
        );
    }
}
