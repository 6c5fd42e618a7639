//! What the sample leaves in the state, field by field, against its result files.

use rp_events::json::{self, Json};
use rp_replay::program::{
    Program,
    ledger::{ClaimRow, Figure, Header},
    memory::Behavior,
};

use crate::{support::record::Recorder, vectors::SAMPLE};

fn text(value: &str) -> Json {
    Json::Text(value.to_owned())
}

fn texts(values: &[String]) -> Json {
    Json::Array(values.iter().map(|value| text(value)).collect())
}

fn maybe(value: Option<&str>) -> Json {
    value.map_or(Json::Null, text)
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn integer(n: u64) -> Json {
    Json::Number(n.to_string())
}

fn ledger(program: &Program, round: u64) -> Json {
    let header: &Header = &program.header(round).unwrap();
    let end = &header.round_end;
    let journey = &header.journey;
    object([
        ("project", text(&header.project)),
        ("direction", text(&header.direction)),
        ("date_range", object([("start", text(&header.start)), ("end", text(&header.end))])),
        (
            "models",
            object([
                ("claim", text(&header.models.claim)),
                ("experiment", text(&header.models.experiment)),
                ("verify", text(&header.models.verify)),
                ("iteration", text(&header.models.iteration)),
            ]),
        ),
        ("pipeline_status", text(&header.pipeline_status)),
        (
            "round_end",
            object([
                ("qualifier", text(&end.qualifier)),
                ("detail", text(&end.detail)),
                ("remedy", text(&end.remedy)),
                ("see", text(&end.see)),
                ("partial_artifacts", texts(&end.partial_artifacts)),
                ("next_round_options", texts(&end.next_round_options)),
            ]),
        ),
        (
            "journey_summary",
            object([
                ("claim", text(&journey.claim)),
                ("mechanism_strategy", text(&journey.mechanism_strategy)),
                ("mechanism_routing", text(&journey.mechanism_routing)),
                ("experiment", text(&journey.experiment)),
                ("verify", text(&journey.verify)),
                ("iteration", text(&journey.iteration)),
                ("figures", text(&journey.figures)),
            ]),
        ),
        ("open_items", texts(&header.open_items)),
        (
            "iteration_summary",
            object([
                (
                    "score",
                    header
                        .iteration
                        .score
                        .as_ref()
                        .map_or(Json::Null, |score| Json::Number(score.to_string())),
                ),
                ("verdict", text(&header.iteration.verdict)),
                ("rounds_consumed", integer(header.iteration.rounds_consumed)),
                ("max_rounds", integer(header.iteration.max_rounds)),
            ]),
        ),
        ("updated_after_stage", text(&header.updated_after_stage)),
        ("claims", Json::Array(program.claims(round).iter().map(|row| claim(row)).collect())),
    ])
}

fn claim(row: &ClaimRow) -> Json {
    // The sample's shares are whole numbers, so that their printed form needs no division here.
    let share = |share: rp_replay::program::ledger::Fraction| {
        Json::Number(format!("{}.0", share.passed / share.eligible))
    };
    object([
        ("id", text(&row.id)),
        ("statement", text(&row.statement)),
        ("origin", text(&row.origin)),
        (
            "data",
            object([
                ("provenance", text(&row.data.provenance)),
                ("source", text(&row.data.source)),
                ("available_n", text(&row.data.available_n)),
                ("used_n", text(&row.data.used_n)),
                ("subset_note", text(&row.data.subset_note)),
            ]),
        ),
        ("models", texts(&row.models)),
        ("method", text(&row.method)),
        (
            "main_experiment",
            object([
                ("verdict", text(&row.main_experiment.verdict)),
                ("key_stats", text(&row.main_experiment.key_stats)),
                ("headline", text(&row.main_experiment.headline)),
            ]),
        ),
        (
            "verify",
            object([
                ("robustness", row.verify.robustness.map_or(Json::Null, share)),
                (
                    "axes",
                    object([
                        ("method", text(&row.verify.method)),
                        ("dataset", text(&row.verify.dataset)),
                        ("model", text(&row.verify.model)),
                    ]),
                ),
                ("integrity", text(&row.verify.integrity)),
                ("verdict", text(&row.verify.verdict)),
                ("stage2_skip_reason", maybe(row.verify.stage2_skip_reason.as_deref())),
            ]),
        ),
        (
            "iteration",
            object([
                ("final_reviewer_status", text(&row.iteration.final_reviewer_status)),
                ("changed", texts(&row.iteration.changed)),
                ("falsified", texts(&row.iteration.falsified)),
                ("narrowed_to", text(&row.iteration.narrowed_to)),
            ]),
        ),
        ("final_status", text(&row.final_status)),
        ("caveats", texts(&row.caveats)),
        ("artifacts", texts(&row.artifacts)),
        ("figures", Json::Array(row.figures.iter().map(figure).collect())),
    ])
}

fn figure(figure: &Figure) -> Json {
    let mut members = vec![
        ("id", text(&figure.id)),
        ("type", text(&figure.kind)),
        ("caption", text(&figure.caption)),
        ("png", maybe(figure.png.as_deref())),
        ("pdf", maybe(figure.pdf.as_deref())),
        ("md", maybe(figure.md.as_deref())),
        ("tex", maybe(figure.tex.as_deref())),
        ("source_data", text(&figure.source_data)),
        ("status", text(&figure.status)),
    ];
    members.extend(figure.error_detail.as_deref().map(|detail| ("error_detail", text(detail))));
    members.extend(figure.reason.as_deref().map(|reason| ("reason", text(reason))));
    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn memory(program: &Program) -> Json {
    let root = program.root().unwrap();
    let behaviors = program.behaviors();
    object([
        ("direction", text(&root.direction)),
        ("behaviors", Json::Array(behaviors.iter().map(|each| behavior(each)).collect())),
        ("untried_behavior_directions", texts(&root.untried_behavior_directions)),
    ])
}

fn behavior(behavior: &Behavior) -> Json {
    let finding = |claim: &rp_replay::program::memory::MechanismClaim| {
        object([
            ("id", text(&claim.id)),
            ("statement", text(&claim.statement)),
            ("method", text(&claim.method)),
            ("conclusion", text(&claim.conclusion)),
        ])
    };
    let attempt = |attempt: &rp_replay::program::memory::Mechanism| {
        object([
            ("round", integer(attempt.round)),
            ("direction", text(&attempt.direction)),
            ("family", maybe(attempt.family.as_deref())),
            ("headline", text(&attempt.headline)),
            ("claims", Json::Array(attempt.claims.iter().map(finding).collect())),
            ("archived_to", text(&attempt.archived_to)),
        ])
    };
    let impact = &behavior.impact;
    object([
        ("id", text(&behavior.id)),
        ("statement", text(&behavior.statement)),
        ("status", text(&behavior.status)),
        ("behavior_conclusion", text(&behavior.behavior_conclusion)),
        (
            "impact",
            object([
                ("assessment", text(&impact.assessment)),
                ("recommendation", text(&impact.recommendation)),
                ("assessed_in_round", impact.assessed_in_round.map_or(Json::Null, integer)),
            ]),
        ),
        ("decided_in_round", integer(behavior.decided_in_round)),
        ("mechanisms", Json::Array(behavior.mechanisms.iter().map(attempt).collect())),
        ("untried_mechanism_directions", texts(&behavior.untried_mechanism_directions)),
    ])
}

#[test]
fn the_sample_leaves_its_ledgers_and_its_memory() {
    let sample = |file: &str| json::parse(file).unwrap();
    let mut recorder = Recorder::new();
    for (n, line) in SAMPLE.lines().enumerate() {
        recorder.append(line).unwrap();
        if n + 1 == 199 {
            let due =
                sample(include_str!("../../spec/samples/program/round_1/research_memory.json"));
            assert_eq!(memory(recorder.state().program()), due);
        }
    }
    let program = recorder.state().program();
    let first = sample(include_str!("../../spec/samples/program/round_1/claims_ledger.json"));
    assert_eq!(ledger(program, 1), first);
    let second = sample(include_str!("../../spec/samples/program/round_2/claims_ledger.json"));
    assert_eq!(ledger(program, 2), second);
    assert_eq!(
        memory(program),
        sample(include_str!("../../spec/samples/program/research_memory.json"))
    );
}
