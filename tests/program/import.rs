//! What is taken over of a project in files, what could not be verified of it, and what the rules refuse.

use std::collections::BTreeSet;

use rp_events::{
    Event,
    program::{self, Unverified},
};
use rp_replay::{
    VIEWS,
    program::{
        constants::StageName,
        import::{Blocked, DOUBTS, Plan, plan},
        stage_files::{Calls, ExperimentCase, IterationCase, Listing, resume_case},
    },
    views::{self, Args, Build},
};
use serde_json::{Value, json};

use crate::support::{
    project::{
        Files, LEDGER_1, LEDGER_2, MARKDOWN_1, MARKDOWN_2, MEMORY_1, MEMORY_2, at_the_end,
        between_rounds, change, round, survey,
    },
    record::Recorder,
};

fn planned(files: &Files) -> Plan {
    plan(&survey(files)).unwrap_or_else(|why| panic!("{why:?}"))
}

/// A journal that took a project over.
fn taken_over(files: &Files) -> Recorder {
    let mut recorder = Recorder::new();
    recorder.append(&created()).unwrap();
    for event in planned(files).events {
        recorder.append(&line(&event)).unwrap();
    }
    recorder
}

fn created() -> String {
    json!({ "kind": "program.created", "as": "user", "round": 0,
        "data": { "program": "P", "direction": "d" } })
    .to_string()
}

fn line(event: &program::ProgramImported) -> String {
    let event = program::Event::ProgramImported(Box::new(event.clone()));
    let data = Event::Program(event).to_json();
    // Put together as text: numbers keep their literals.
    format!(r#"{{"kind":"program.imported","as":"user","round":0,"data":{data}}}"#)
}

/// The stage documents of the round at the root.
fn listing(files: &Files) -> Listing {
    let mut listing = Listing::default();
    for (path, bytes) in files {
        listing.put(path.as_str(), bytes.len() as u64, Some(bytes.clone()));
    }
    listing
}

/// The files that the views keep, by path, with the digest that may stand in their place.
fn kept(recorder: &Recorder) -> Vec<(String, String, bool)> {
    let mut kept = Vec::new();
    for view in VIEWS {
        let Build::File { render, places, .. } = &view.build else { continue };
        for place in places(recorder.state()) {
            let text = render(recorder.state(), &place.args, place.format).unwrap();
            kept.push((place.path, text, place.as_imported.is_some()));
        }
    }
    kept.sort();
    kept
}

#[test]
fn the_sample_s_files_are_taken_over_without_a_doubt_and_fold_to_their_own_bytes() {
    let plan = planned(&at_the_end());
    assert_eq!(plan.unverified, []);
    assert_eq!((plan.archives.as_slice(), plan.live, plan.highest_round), (&[1][..], Some(2), 2));
    assert_eq!((plan.behaviors, plan.claims), (2, 6));
    assert_eq!(plan.complete, [StageName::Claim, StageName::Experiment]);
    // A behavior each, the archived round, the round at the root; the memory's files stand with no round.
    assert_eq!(plan.events.len(), 5);
    assert!(plan.direction.unwrap().starts_with("How small instruction-tuned"));
    let recorder = taken_over(&at_the_end());
    let kept = kept(&recorder);
    let paths: Vec<(&str, bool)> =
        kept.iter().map(|(path, _, old)| (path.as_str(), *old)).collect();
    assert_eq!(
        paths,
        [
            ("CLAIMS_LEDGER.md", true),
            ("claims_ledger.json", true),
            ("figures/INDEX.md", true),
            ("research_memory.json", true),
            ("rounds/round_1/CLAIMS_LEDGER.md", true),
            ("rounds/round_1/claims_ledger.json", true),
            ("rounds/round_1/figures/INDEX.md", true),
        ]
    );
    let text = |path: &str| kept.iter().find(|(p, _, _)| p == path).unwrap().1.as_str();
    assert_eq!(text("CLAIMS_LEDGER.md"), MARKDOWN_2);
    assert_eq!(text("claims_ledger.json"), LEDGER_2);
    assert_eq!(text("research_memory.json"), MEMORY_2);
    assert_eq!(text("rounds/round_1/CLAIMS_LEDGER.md"), MARKDOWN_1);
    assert_eq!(text("rounds/round_1/claims_ledger.json"), LEDGER_1);
}

#[test]
fn the_files_of_a_program_of_ten_rounds_come_back_byte_for_byte() {
    let mut native = Recorder::new();
    for line in include_str!("../../spec/samples/attribution/events.jsonl").lines() {
        native.append(line).unwrap();
    }
    let due = kept(&native);
    let mut files: Files =
        due.iter().map(|(path, text, _)| (path.clone(), text.clone().into_bytes())).collect();
    // The tables stand in files of their own.
    let program = native.state().program();
    for round in program.rounds() {
        for figure in program.claims(round).iter().flat_map(|claim| claim.figures.clone()) {
            if let (Some(path), Some(body)) = (figure.md, figure.table_body) {
                files.insert(format!("rounds/round_{round}/{path}"), body.into_bytes());
            }
        }
    }
    assert!(due.len() > 20, "{}", due.len());
    let found = kept(&taken_over(&files));
    let paths = |kept: &[(String, String, bool)]| {
        kept.iter().map(|(path, _, _)| path.clone()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&found), paths(&due));
    // Why figures could not be made stands in their index alone, which holds as it was imported.
    for ((path, found, _), (_, due, _)) in found.iter().zip(&due) {
        assert!(found == due || path.ends_with("INDEX.md"), "{path}");
    }
    let doubts = planned(&files).unverified;
    assert!(doubts.iter().all(|doubt| doubt.code != "not-rendered"), "{doubts:#?}");
}

#[test]
fn the_index_of_figures_has_a_section_for_each_claim_that_shows_any() {
    let recorder = taken_over(&between_rounds());
    let Build::File { render, .. } = &views::view("figures").unwrap().build else { panic!() };
    let text = render(recorder.state(), &Args { round: Some(1), address: None }, "md").unwrap();
    let due = "# Figures

## C1 \u{2014} A single residual-stream direction near layer 14 carries\u{2026}

![Restoration rate of steering, norm-matched random and unmatched random directions.](C1/c1_restoration_rates.png) \u{2014} vector: [C1/c1_restoration_rates.pdf](C1/c1_restoration_rates.pdf)

## C4_v2 \u{2014} ";
    assert!(text.starts_with(due), "{text}");
    let end = "
### Projection slope per token by filler type.

| Filler | Slope | 95% interval |
|---|---|---|
| clause | -0.019 | -0.024 to -0.014 |
| list | 0.001 | -0.003 to 0.005 |
| parenthetical | -0.003 | -0.007 to 0.001 |

Source `.tex`: [C4_v2/c4v2_slopes.tex](C4_v2/c4v2_slopes.tex)
";
    assert!(text.ends_with(end), "{text}");
}

/// A change of the sample's files, and the doubt that it must raise: code, file, place, value.
type Case = (fn(&mut Files), (&'static str, &'static str, &'static str, &'static str));

const L1: &str = "rounds/round_1/claims_ledger.json";
const M: &str = "research_memory.json";

fn put(files: &mut Files, path: &str, bytes: &[u8]) {
    files.insert(path.to_owned(), bytes.to_vec());
}

const CASES: &[Case] = &[
    (|f| put(f, "rounds/notes/x.md", b"x"), ("bad-folder", "rounds/notes/", "", "notes")),
    (|f| put(f, "rounds/round_0/x.md", b"x"), ("bad-folder", "rounds/round_0/", "", "round_0")),
    (
        |f| put(f, "rounds/round_99999999999999999999/x.md", b"x"),
        ("bad-folder", "rounds/round_99999999999999999999/", "", "round_99999999999999999999"),
    ),
    (|f| put(f, "rounds/round_01/x.md", b"x"), ("round-twice", "rounds/round_01/", "", "round_01")),
    (|f| put(f, "rounds/round_4/x.md", b"x"), ("round-gap", "rounds/", "", "2 to 3")),
    (|f| put(f, "rounds/round_3/x.md", b"x"), ("round-gap", "rounds/", "", "2")),
    (
        |f| put(f, "rounds/round_2/x.md", b"x"),
        (
            "missing-file",
            "rounds/round_2/claims_ledger.json",
            "",
            "rounds/round_2/claims_ledger.json",
        ),
    ),
    (|f| change(f, L1, r#""id": "C3","#, r#""id": "C 3","#), ("bad-id", L1, "claims[2].id", "C 3")),
    (
        |f| change(f, L1, r#""id": "c3_dose_response","#, r#""id": "\u00fc","#),
        ("bad-id", L1, "claims[2].figures[0].id", "\u{fc}"),
    ),
    (
        |f| change(f, L1, r#""id": "C3","#, r#""id": "C2","#),
        ("duplicate-claim", L1, "claims[2].id", "C2"),
    ),
    (
        |f| change(f, L1, r#""rounds_consumed": 3"#, r#""rounds_consumed": 3.0"#),
        ("bad-number", L1, "iteration_summary.rounds_consumed", "3.0"),
    ),
    (
        |f| change(f, L1, r#""score": 6.0"#, r#""score": "six""#),
        ("bad-number", L1, "iteration_summary.score", "six"),
    ),
    (
        |f| change(f, L1, r#""start": "2026-03-02""#, "\"start\": \"2026\\u202e-03-02\""),
        ("bad-text", L1, "date_range.start", "2026<U+202E>-03-02"),
    ),
    (
        |f| change(f, L1, r#""start": "2026-03-02""#, r#""start": "2026\ud800""#),
        ("bad-text", L1, "date_range.start", "\"2026\\ud800\""),
    ),
    (
        |f| change(f, L1, r#""used_n": "240""#, r#""used_n": 240"#),
        ("bad-type", L1, "claims[1].data.used_n", "240"),
    ),
    (
        |f| change(f, L1, r#""score": 6.0"#, r#""score": "6.0""#),
        ("bad-type", L1, "iteration_summary.score", "6.0"),
    ),
    (
        |f| change(f, L1, r#""max_rounds": 3"#, r#""max_rounds": "3""#),
        ("bad-type", L1, "iteration_summary.max_rounds", "3"),
    ),
    (
        |f| change(f, L1, r#""pipeline_status": "completed""#, r#""pipeline_status": "finished""#),
        ("bad-word", L1, "pipeline_status", "finished"),
    ),
    (
        |f| {
            change(
                f,
                L1,
                r#""updated_after_stage": "iteration:final""#,
                r#""updated_after_stage": "end""#,
            );
        },
        ("bad-word", L1, "updated_after_stage", "end"),
    ),
    (
        |f| change(f, L1, r#""type": "bar""#, r#""type": "pie""#),
        ("bad-word", L1, "claims[0].figures[0].type", "pie"),
    ),
    (
        |f| change(f, M, r#""status": "established""#, r#""status": "proven""#),
        ("bad-word", M, "behaviors[0].status", "proven"),
    ),
    (
        |f| {
            change(
                f,
                M,
                "\"family\": \"Representation and Parameter Analysis",
                "\"family\": \"Guessing",
            );
        },
        ("bad-word", M, "behaviors[0].mechanisms[0].family", "Guessing / Steering Vectors"),
    ),
    (
        |f| put(f, L1, &[b"\xef\xbb\xbf", LEDGER_1.as_bytes()].concat()),
        ("byte-order-mark", L1, "byte 0", "U+FEFF"),
    ),
    (
        |f| put(f, L1, LEDGER_1.replace('\n', "\r\n").as_bytes()),
        ("carriage-return", L1, "", "CR LF"),
    ),
    (
        |f| {
            change(
                f,
                "rounds/round_1/review-stage/REVIEW_STATE.json",
                "\"iterations_consumed\": 3",
                "\"iterations_consumed\": 2",
            );
        },
        ("disagrees", "rounds/round_1/review-stage/REVIEW_STATE.json", "iterations_consumed", "2"),
    ),
    (
        |f| {
            change(
                f,
                "rounds/round_1/review-stage/REVIEW_STATE.json",
                "\"last_score\": 6",
                "\"last_score\": 6.5",
            );
        },
        ("disagrees", "rounds/round_1/review-stage/REVIEW_STATE.json", "last_score", "6.5"),
    ),
    (
        |f| change(f, "rounds/round_1/review-stage/REVIEW_STATE.json", "almost", "ready"),
        ("disagrees", "rounds/round_1/review-stage/REVIEW_STATE.json", "last_verdict", "ready"),
    ),
    (
        |f| {
            change(
                f,
                "rounds/round_1/refine-logs/EXPERIMENT_RESULTS.md",
                "established",
                "not-established",
            );
        },
        (
            "disagrees",
            "rounds/round_1/refine-logs/EXPERIMENT_RESULTS.md",
            "phenomenon_status",
            "not-established",
        ),
    ),
    (
        |f| {
            change(
                f,
                "rounds/round_1/refine-logs/MECHANISM_ROUTING.md",
                "Representation and Parameter Analysis",
                "Probing",
            );
        },
        (
            "disagrees",
            "rounds/round_1/refine-logs/MECHANISM_ROUTING.md",
            "chosen_family",
            "Probing",
        ),
    ),
    (
        |f| change(f, L1, r#""qualifier": """#, r#""qualifier": "(claim: x)""#),
        ("disagrees", L1, "round_end.qualifier", "(claim: x)"),
    ),
    (
        |f| {
            change(
                f,
                L1,
                "\"mechanism_strategy\": \"Location \u{2192} Causal Intervention\"",
                "\"mechanism_strategy\": \"Location\"",
            );
        },
        (
            "disagrees",
            M,
            "behaviors[0].mechanisms[0].direction",
            "Location \u{2192} Causal Intervention",
        ),
    ),
    (
        |f| {
            f.remove(M);
        },
        ("disagrees", L1, "pipeline_status", "completed"),
    ),
    (
        |f| change(f, L1, r#""project": "#, r#""project": "old", "project": "#),
        ("duplicate-key", L1, "project", "\"Negation scope decays with intervening clauses\""),
    ),
    (|f| put(f, L1, b" \n"), ("empty-file", L1, "", "")),
    (
        |f| put(f, "rounds/round_1/CLAIMS_LEDGER.md", b""),
        ("empty-file", "rounds/round_1/CLAIMS_LEDGER.md", "", ""),
    ),
    (|f| put(f, L1, b"{\n  \"project\": \n}"), ("malformed-json", L1, "line 3, column 1", "}")),
    (|f| put(f, L1, b"[1]"), ("bad-type", L1, "", "[1]")),
    (
        |f| {
            change(
                f,
                L1,
                "  \"project\": \"Negation scope decays with intervening clauses\",\n",
                "",
            );
        },
        ("missing-field", L1, "project", ""),
    ),
    (
        |f| {
            f.remove("rounds/round_1/CLAIMS_LEDGER.md");
        },
        ("missing-file", "rounds/round_1/CLAIMS_LEDGER.md", "", "rounds/round_1/CLAIMS_LEDGER.md"),
    ),
    (
        |f| {
            f.remove("rounds/round_1/runs/D1_block_patching/out.txt");
        },
        ("missing-file", L1, "claims[1].artifacts[0]", "runs/D1_block_patching/"),
    ),
    (
        |f| {
            f.remove("rounds/round_1/figures/C1/c1_restoration_rates.pdf");
        },
        ("missing-file", L1, "claims[0].figures[0].pdf", "figures/C1/c1_restoration_rates.pdf"),
    ),
    (
        |f| {
            f.remove("rounds/round_1/figures/C4_v2/c4v2_slopes.md");
        },
        ("missing-file", L1, "claims[4].figures[0].md", "figures/C4_v2/c4v2_slopes.md"),
    ),
    (
        // A rewrite's audit is not its parent's (L12).
        |f| {
            f.remove("rounds/round_1/verify/C4_distance_slope_all_fillers/main_experiment_audit/EXPERIMENT_AUDIT.json");
        },
        (
            "missing-file",
            "rounds/round_1/",
            "verify",
            "verify/C4_*/main_experiment_audit/EXPERIMENT_AUDIT.json",
        ),
    ),
    (
        |f| put(f, "rounds/round_1/review-stage/AUTO_REVIEW.md", b""),
        ("missing-file", "rounds/round_1/", "iteration", "review-stage/AUTO_REVIEW.md"),
    ),
    (
        |f| change(f, M, r#""decided_in_round": 1"#, r#""decided_in_round": 7"#),
        ("missing-file", M, "behaviors[0].decided_in_round", "7"),
    ),
    (
        |f| change(f, L1, r#""robustness": 0.0"#, r#""robustness": 0.5"#),
        ("not-derived", L1, "claims[3].verify.robustness", "0.5"),
    ),
    (
        |f| {
            change(
                f,
                L1,
                r#""stage2_skip_reason": "max_verify_claims_cap""#,
                r#""stage2_skip_reason": null"#,
            );
        },
        ("not-derived", L1, "claims[1].verify.stage2_skip_reason", ""),
    ),
    (
        |f| change(f, L1, r#""max_rounds": 3"#, r#""max_rounds": 2"#),
        ("not-derived", L1, "iteration_summary.rounds_consumed", "3"),
    ),
    (
        |f| change(f, M, "        \"Formation Tracing\",\n", ""),
        (
            "not-derived",
            M,
            "behaviors[0].untried_mechanism_directions",
            "Tuning & Editing, Unit Interpretation, Decision Auditing",
        ),
    ),
    (
        |f| change(f, M, r#""archived_to": "rounds/round_1/""#, r#""archived_to": "archive/1""#),
        ("not-derived", M, "behaviors[0].mechanisms[0].archived_to", "archive/1"),
    ),
    (
        |f| change(f, "rounds/round_1/CLAIMS_LEDGER.md", "# Claim Ledger", "# The Ledger"),
        (
            "not-rendered",
            "rounds/round_1/CLAIMS_LEDGER.md",
            "line 1",
            "# The Ledger \u{2014} Negation scope decays with intervening clauses",
        ),
    ),
    (|f| put(f, L1, LEDGER_1.trim_end().as_bytes()), ("not-rendered", L1, "", "")),
    (
        |f| put(f, M, &[MEMORY_1.trim_end().as_bytes(), b"\n\n"].concat()),
        ("not-rendered", M, "line 69", ""),
    ),
    (
        |f| {
            let text = String::from_utf8(f[L1].clone()).unwrap();
            let bytes = text.replace("2026-03-02", "2026-03-0\u{1}").into_bytes();
            put(
                f,
                L1,
                &bytes.into_iter().map(|b| if b == 1 { 0xff } else { b }).collect::<Vec<_>>(),
            );
        },
        ("not-utf8", L1, "byte 242", "0xff"),
    ),
    (
        |f| {
            change(
                f,
                L1,
                "\"open_items\": [",
                &format!("\"deep\": {}{}, \"open_items\": [", "[".repeat(20), "]".repeat(20)),
            );
        },
        ("too-deep", L1, "deep[0][0][0][0][0][0][0][0][0][0][0][0][0]", "[[[[[[[]]]]]]]"),
    ),
    (
        |f| change(f, L1, r#""open_items": ["#, r#""colour": "blue", "open_items": ["#),
        ("unknown-field", L1, "colour", "blue"),
    ),
    (
        |f| change(f, L1, r#""id": "C1","#, r#""id": "C1", "colour": 1,"#),
        ("unknown-field", L1, "claims[0].colour", "1"),
    ),
];

#[test]
fn everything_that_could_not_be_verified_is_said_with_its_place_and_value() {
    let mut wrong = Vec::new();
    for (n, (mutate, due)) in CASES.iter().enumerate() {
        let mut files = between_rounds();
        mutate(&mut files);
        let found = match plan(&survey(&files)) {
            Ok(plan) => plan.unverified,
            Err(why) => panic!("case {n}: {why:?}"),
        };
        let shown =
            |d: &Unverified| (d.code.clone(), d.file.clone(), d.place.clone(), d.value.clone());
        let due = (due.0.to_owned(), due.1.to_owned(), due.2.to_owned(), due.3.to_owned());
        if !found.iter().map(shown).any(|found| found == due) {
            wrong.push(format!(
                "case {n}: {due:?} is not in {:#?}",
                found.iter().map(shown).collect::<Vec<_>>()
            ));
        }
        assert!(found.iter().all(|doubt| !doubt.why.is_empty()), "case {n}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_kind_of_doubt_is_tried() {
    let elsewhere = ["not-a-file", "too-large"];
    let tried: BTreeSet<&str> = CASES.iter().map(|(_, due)| due.0).chain(elsewhere).collect();
    let known: BTreeSet<&str> = DOUBTS.iter().map(|(code, _)| *code).collect();
    assert_eq!(tried, known);
}

#[test]
fn the_text_says_every_kind_of_doubt() {
    let text = include_str!("../../spec/program.md");
    for (code, what) in DOUBTS {
        assert!(
            text.contains(&format!("| `{code}` | {what} |")),
            "spec/program.md: no row of `{code}`"
        );
    }
}

#[test]
fn every_doubtful_project_can_be_recorded_and_its_files_hold_as_they_were() {
    for (n, (mutate, _)) in CASES.iter().enumerate() {
        let mut files = between_rounds();
        mutate(&mut files);
        let recorder = taken_over(&files);
        for view in VIEWS {
            let Build::File { render, places, .. } = &view.build else { continue };
            for place in places(recorder.state()) {
                let due = render(recorder.state(), &place.args, place.format).unwrap();
                let found = files.get(&place.path);
                assert!(
                    found.is_none_or(|found| place.holds(&due, found)),
                    "case {n}: {}",
                    place.path
                );
                assert!(!place.holds(&due, b"edited by hand"), "case {n}: {}", place.path);
            }
        }
    }
}

fn refusal(files: &Files) -> (String, String, String) {
    match plan(&survey(files)) {
        Err(Blocked::File(doubt)) => (doubt.code, doubt.file, doubt.place),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_the_next_round_writes_anew_is_taken_over_whole_or_not_at_all() {
    let triple =
        |code: &str, file: &str, place: &str| (code.to_owned(), file.to_owned(), place.to_owned());
    let of = |path: &str, bytes: &[u8]| {
        let mut files = at_the_end();
        put(&mut files, path, bytes);
        refusal(&files)
    };
    assert_eq!(of(M, b"{"), triple("malformed-json", M, "line 1, column 1"));
    assert_eq!(of(M, b""), triple("empty-file", M, ""));
    assert_eq!(of(M, b"[]"), triple("bad-type", M, ""));
    let mut files = at_the_end();
    change(&mut files, M, r#""id": "B2""#, r#""id": "B1""#);
    assert_eq!(refusal(&files), triple("duplicate-key", M, "behaviors[1]"));
    let mut files = at_the_end();
    change(&mut files, M, r#""id": "B2""#, r#""id": "B 2""#);
    assert_eq!(refusal(&files), triple("bad-id", M, "behaviors[1].id"));
    let mut files = at_the_end();
    change(&mut files, M, r#""decided_in_round": 2"#, r#""decided_in_round": 4000000000"#);
    assert_eq!(refusal(&files), triple("bad-number", M, "behaviors[1].decided_in_round"));
    let live = "claims_ledger.json";
    assert_eq!(of(live, b"nonsense"), triple("malformed-json", live, "line 1, column 2"));
    assert_eq!(of(live, b"1"), triple("bad-type", live, ""));
    let mut files = at_the_end();
    change(&mut files, live, r#""id": "C1","#, r#""id": "","#);
    assert_eq!(refusal(&files), triple("bad-id", live, "claims[0].id"));
    assert_eq!(plan(&survey(&Files::new())), Err(Blocked::Nothing));
    let mut files = Files::new();
    put(&mut files, "README.md", b"nothing of a program");
    assert_eq!(plan(&survey(&files)), Err(Blocked::Nothing));
}

#[test]
fn a_file_that_is_too_large_to_read_is_said_or_stops_the_import() {
    let without = |path: &str| {
        let mut survey = survey(&between_rounds());
        let file = survey.files.iter_mut().find(|file| file.path == path).unwrap();
        file.content = None;
        plan(&survey)
    };
    let markdown = "rounds/round_1/CLAIMS_LEDGER.md";
    for path in [L1, markdown] {
        let found = without(path).unwrap().unverified;
        assert!(
            found.iter().any(|doubt| doubt.code == "too-large" && doubt.file == path),
            "{found:?}"
        );
    }
    assert!(matches!(without(M), Err(Blocked::File(doubt)) if doubt.code == "too-large"));
}

#[test]
fn the_round_at_the_root_is_numbered_by_archives_and_memory() {
    let number = |files: &Files| planned(files).live;
    // The memory's last round is the one at the root, which wrote it.
    assert_eq!(number(&at_the_end()), Some(2));
    let mut first = round(1, "");
    assert_eq!(number(&first), Some(1));
    put(&mut first, M, MEMORY_1.as_bytes());
    assert_eq!(number(&first), Some(1));
    // It cannot have written it while it runs: the archive of round 1 is lost, and its number stays used (L7).
    change(
        &mut first,
        "claims_ledger.json",
        r#""pipeline_status": "completed""#,
        r#""pipeline_status": "running""#,
    );
    assert_eq!(number(&first), Some(2));
    // Nor with other claims.
    let mut other = round(1, "");
    put(&mut other, M, MEMORY_1.as_bytes());
    change(&mut other, "claims_ledger.json", r#""id": "C4_v2","#, r#""id": "C4_v3","#);
    assert_eq!(number(&other), Some(2));
    let mut far = round(2, "");
    far.extend(round(1, "rounds/round_007/"));
    let plan = planned(&far);
    assert_eq!((plan.live, plan.archives, plan.highest_round), (Some(8), vec![7], 8));
    // A claim stage that died early left only its folder (L11).
    let mut early = between_rounds();
    put(&mut early, "idea-stage/IDEA_REPORT.md", b"x");
    let plan = planned(&early);
    assert_eq!((plan.live, plan.complete), (Some(2), vec![]));
    assert_eq!(planned(&between_rounds()).live, None);
}

#[test]
fn a_folder_with_zeros_before_its_number_keeps_its_name() {
    let mut files = round(1, "rounds/round_08/");
    files.extend(round(2, "rounds/round_9/"));
    let recorder = taken_over(&files);
    let paths: Vec<String> = kept(&recorder).into_iter().map(|(path, _, _)| path).collect();
    assert!(paths.contains(&"rounds/round_08/claims_ledger.json".to_owned()), "{paths:?}");
    assert!(paths.contains(&"rounds/round_9/claims_ledger.json".to_owned()), "{paths:?}");
}

/// The first round with so many claims more, each as long as asked.
fn grown(count: usize, bytes: usize) -> Files {
    let mut ledger: Value = serde_json::from_str(LEDGER_1).unwrap();
    let claim = ledger["claims"][1].clone();
    for n in 0..count {
        let mut claim = claim.clone();
        claim["id"] = format!("D{n}").into();
        claim["method"] = "m".repeat(bytes).into();
        ledger["claims"].as_array_mut().unwrap().push(claim);
    }
    let mut files = round(1, "rounds/round_1/");
    put(&mut files, L1, format!("{ledger:#}\n").as_bytes());
    files
}

#[test]
fn a_large_ledger_comes_in_several_events_and_keeps_its_claims() {
    let files = grown(300, 500);
    let plan = planned(&files);
    assert_eq!(plan.claims, 305);
    assert!((4..20).contains(&plan.events.len()), "{}", plan.events.len());
    assert!(plan.events.iter().all(|event| line(event).len() < 120_000));
    let recorder = taken_over(&files);
    let claims = recorder.state().program().claims(1);
    assert_eq!(claims.len(), 305);
    assert_eq!(claims.last().unwrap().id, "D299");
}

#[test]
fn a_claim_that_fits_no_entry_stays_in_its_file_and_the_ledger_shows_nothing_less() {
    let mut files = grown(1, 70_000);
    let plan = planned(&files);
    let doubt = plan.unverified.iter().find(|doubt| doubt.code == "too-large").unwrap();
    assert_eq!((doubt.file.as_str(), doubt.place.as_str()), (L1, "D0"));
    let recorder = taken_over(&files);
    assert!(kept(&recorder).is_empty(), "a part of a ledger is not written over the whole");
    // At the root it would be written anew.
    let ledger = files.remove(L1).unwrap();
    put(&mut files, "claims_ledger.json", &ledger);
    assert_eq!(refusal(&files).0, "too-large");
}

#[test]
fn what_was_not_as_due_is_taken_over_as_the_nearest_thing() {
    let mut files = between_rounds();
    change(&mut files, L1, r#""used_n": "240""#, r#""used_n": 240"#);
    change(&mut files, L1, r#""project": "#, r#""project": "old", "project": "#);
    change(&mut files, L1, r#""score": 6.0"#, r#""score": 5.50"#);
    let recorder = taken_over(&files);
    let header = recorder.state().program().header(1).unwrap();
    assert_eq!(header.project, "Negation scope decays with intervening clauses");
    assert_eq!(header.iteration.score.as_ref().unwrap().as_str(), "5.50");
    assert_eq!(recorder.state().program().claims(1)[1].data.used_n, "240");
}

#[test]
fn imports_come_first_and_bring_each_round_once() {
    let events = planned(&at_the_end()).events;
    let refused =
        |recorder: &mut Recorder, text: &str| recorder.append(text).unwrap_err().code.name;
    let mut recorder = Recorder::new();
    assert_eq!(refused(&mut recorder, &line(&events[0])), "no-program");
    recorder.append(&created()).unwrap();
    for event in &events {
        recorder.append(&line(event)).unwrap();
    }
    assert_eq!(refused(&mut recorder, &line(&events[0])), "behavior-exists");
    let archive = events.iter().find(|event| event.archives == [1]).unwrap();
    assert_eq!(refused(&mut recorder, &line(archive)), "round-number");
    let live = events.iter().find(|event| event.live_round == Some(2)).unwrap();
    assert_eq!(refused(&mut recorder, &line(live)), "round-number");
    let with = |change: &dyn Fn(&mut Value)| {
        let mut value: Value = serde_json::from_str(&line(archive)).unwrap();
        value["data"]["archives"] = json!([]);
        value["data"]["ledger"]["header"] = Value::Null;
        change(&mut value["data"]);
        value.to_string()
    };
    // A later part of a ledger brings claims alone, each once, of a round that an import brought.
    assert_eq!(refused(&mut recorder, &with(&|_| {})), "claim-exists");
    let header =
        serde_json::from_str::<Value>(&line(archive)).unwrap()["data"]["ledger"]["header"].clone();
    assert_eq!(
        refused(&mut recorder, &with(&|data| data["ledger"]["header"] = header.clone())),
        "round-number"
    );
    assert_eq!(
        refused(&mut recorder, &with(&|data| data["ledger"]["round"] = 5.into())),
        "unknown-round"
    );
    let folder = |folder: &'static str| with(&move |data| data["ledger"]["folder"] = folder.into());
    for bad in ["", "rounds/round_2/", "rounds/round_1", "../", "rounds/round_/"] {
        assert_eq!(refused(&mut recorder, &folder(bad)), "archive-target", "{bad}");
    }
    let stage = with(&|data| {
        data["ledger"]["claims"] = json!([]);
        data["ledger"]["complete"] = json!(["nonsense"]);
    });
    assert_eq!(refused(&mut recorder, &stage), "bad-enum");
    let task = json!({ "kind": "task.recorded", "as": "user", "round": 0, "data": {
        "for_round": 3, "origin": "user", "language": "en", "body": "x", "retry_settled": false, "notify": false,
        "pins": { "behavior": null, "mechanism_direction": null, "family": null } } });
    recorder.append(&task.to_string()).unwrap();
    let late = json!({ "kind": "program.imported", "as": "user", "round": 0,
        "data": { "archives": [], "memory": null, "highest_round": 9 } });
    assert_eq!(refused(&mut recorder, &late.to_string()), "import-late");
}

#[test]
fn nothing_opens_before_the_imported_round_at_the_root_is_closed() {
    let mut recorder = taken_over(&at_the_end());
    let line = |kind: &str, signer: &str, round: u64, data: Value| {
        json!({ "kind": kind, "as": signer, "round": round, "data": data }).to_string()
    };
    let ask = |recorder: &mut Recorder, resume: bool| {
        let asked = json!({ "raw": "\"decay\"", "resume": resume });
        recorder.append(&line("run.requested", "user", 0, asked)).unwrap();
        let flags =
            json!({ "flags": { "RESUME": resume, "BEHAVIOR_SOURCE": "discovery" }, "notes": [] });
        recorder.append(&line("flags.resolved", "orchestrator", 0, flags)).unwrap();
    };
    ask(&mut recorder, false);
    let axes = json!({ "behavior_source": "discovery", "mechanism": "discovery" });
    let open = line("round.opened", "orchestrator", 3, axes);
    assert_eq!(recorder.append(&open).unwrap_err().code.name, "unarchived-round");
    // Its phenomenon was refuted, which the memory says, and so does the recommendation.
    let step = |intent: &str| json!({ "arguments": "", "recommended": intent, "intent": "new-behavior", "behavior": null, "decided_by": "user" });
    let wrong = line("transition.requested", "user", 2, step("new-mechanism"));
    assert_eq!(recorder.append(&wrong).unwrap_err().code.name, "recommendation-mismatch");
    recorder.append(&line("transition.requested", "user", 2, step("new-behavior"))).unwrap();
    // Once something is recorded in its round the files are the fold's alone.
    let place =
        kept(&recorder).into_iter().find(|(path, _, _)| path == "claims_ledger.json").unwrap();
    assert!(!place.2);
    recorder
        .append(&line("round.discarded", "user", 2, json!({ "paths": ["claims_ledger.json"] })))
        .unwrap();
    recorder.append(&open).unwrap();
    assert!(kept(&recorder).iter().all(|(path, _, _)| path != "rounds/round_2/claims_ledger.json"));
}

#[test]
fn an_imported_round_is_resumed_from_the_stages_that_its_files_complete() {
    let mut files = round(1, "");
    files.retain(|path, _| !path.starts_with("review-stage/") && !path.starts_with("verify/"));
    change(
        &mut files,
        "claims_ledger.json",
        r#""pipeline_status": "completed""#,
        r#""pipeline_status": "halted-at-verify""#,
    );
    change(
        &mut files,
        "claims_ledger.json",
        r#""updated_after_stage": "iteration:final""#,
        r#""updated_after_stage": "experiment""#,
    );
    let mut recorder = taken_over(&files);
    let line = |kind: &str, signer: &str, round: u64, data: Value| {
        json!({ "kind": kind, "as": signer, "round": round, "data": data }).to_string()
    };
    let asked = json!({ "raw": "\"decay\" -- resume: true", "resume": true });
    recorder.append(&line("run.requested", "user", 0, asked)).unwrap();
    let flags = json!({ "flags": { "RESUME": true, "BEHAVIOR_SOURCE": "discovery", "MAX_ITERATIONS": 5 }, "notes": [] });
    recorder.append(&line("flags.resolved", "orchestrator", 0, flags)).unwrap();
    let resumed = resume_case(recorder.state(), 1, &listing(&files));
    assert_eq!(resumed.complete, [StageName::Claim, StageName::Experiment]);
    assert_eq!(resumed.resume_from, Some(StageName::Verify));
    assert_eq!(
        (&resumed.experiment, &resumed.iteration),
        (&ExperimentCase::Done, &IterationCase::Dispatch)
    );
    assert_eq!((resumed.found, resumed.calls), (vec![], Calls::default()));
    let verify = &resumed.lacks[2];
    assert_eq!(
        (verify.0, verify.1.len()),
        (StageName::Verify, 2 + 5),
        "two documents and an audit a claim"
    );
    assert_eq!(
        resumed.log,
        [
            "[resume-mode] resume=true \u{2014} completed stages: claim,experiment; will resume from: verify",
            "[resume] stage=claim skipped \u{2014} artifacts present: idea-stage/IDEA_REPORT.md, refine-logs/FINAL_PROPOSAL.md, refine-logs/EXPERIMENT_PLAN.md",
            "[resume] stage=experiment skipped \u{2014} artifacts present: refine-logs/MECHANISM_ROUTING.md, refine-logs/EXPERIMENT_RESULTS.md, refine-logs/EXPERIMENT_TRACKER.md",
        ]
    );
    let resume = |complete: Value| {
        line(
            "round.resumed",
            "orchestrator",
            1,
            json!({ "complete": complete, "resume_from": "verify" }),
        )
    };
    assert_eq!(
        recorder.append(&resume(json!(["claim"]))).unwrap_err().code.name,
        "resume-mismatch"
    );
    recorder.append(&resume(json!(["claim", "experiment"]))).unwrap();
    let header = recorder.state().program().header(1).unwrap();
    assert_eq!(header.pipeline_status, "running");
    // Nothing of the budget comes back.
    assert_eq!(header.iteration.rounds_consumed, 3);
    let constraints = json!({ "items": [] });
    recorder.append(&line("constraints.extracted", "orchestrator", 1, constraints)).unwrap();
    let inject = json!({ "stage": "verify", "attempt": 1, "items": [] });
    recorder.append(&line("constraints.injected", "orchestrator", 1, inject)).unwrap();
    let dispatch = json!({ "stage": "verify", "attempt": 1, "mode": "full", "resume": true });
    recorder.append(&line("stage.dispatched", "orchestrator", 1, dispatch)).unwrap();
    let target = json!({ "target": "all", "claims": ["C1", "C2", "C3", "C4", "C4_v2"],
        "main_verdicts": { "C1": "supported", "C2": "not-supported", "C3": "supported", "C4": "supported", "C4_v2": "supported" },
        "slugs": { "C1": "a", "C2": "b", "C3": "c", "C4": "d", "C4_v2": "e" } });
    recorder.append(&line("verify.targeted", "verify-agent", 1, target)).unwrap();
}
