//! The sample's files are rebuilt byte for byte from records, and the rules it does not reach are tried by hand.

use std::sync::Arc;

use rp_events::Decimal;
use serde_json::Value;

use super::{
    LEDGER, MEMORY, NEXT_TASK, STATUS, folder, ledger_json,
    ledger_markdown::{self, short},
    memory,
    next_task::{self, Draft},
    one_line,
    status::{self, Round},
};
use crate::{
    State,
    document::{Body, Cell},
    program::{
        Root, Task,
        constants::Ending,
        ledger::{
            ClaimIteration, ClaimRow, DataUse, Figure, Fraction, Header, IterationSummary, Journey,
            MainExperiment, RoundEnd, Share, StageModels, Verify,
        },
        memory::{Behavior, Impact, Mechanism, MechanismClaim},
        state::Life,
    },
    views::{Args, Build, ViewError},
};

macro_rules! sample {
    ($path:literal) => {
        include_str!(concat!("../../../../spec/samples/program/", $path))
    };
}

const LEDGER_1: &str = sample!("round_1/claims_ledger.json");
const LEDGER_2: &str = sample!("round_2/claims_ledger.json");
const MEMORY_1: &str = sample!("round_1/research_memory.json");
const MEMORY_2: &str = sample!("research_memory.json");

// The sample.

#[test]
fn the_ledgers_of_the_sample_are_reproduced() {
    let (header, claims) = read_ledger(LEDGER_1);
    assert_eq!(ledger_json::render(&header, &claims), LEDGER_1);
    assert_eq!(ledger_markdown::render(&header, &claims), sample!("round_1/CLAIMS_LEDGER.md"));
    let (header, claims) = read_ledger(LEDGER_2);
    assert_eq!(ledger_json::render(&header, &claims), LEDGER_2);
    assert_eq!(ledger_markdown::render(&header, &claims), sample!("round_2/CLAIMS_LEDGER.md"));
}

#[test]
fn the_memory_of_the_sample_is_reproduced() {
    for file in [MEMORY_1, MEMORY_2] {
        let (root, behaviors) = read_memory(file);
        assert_eq!(memory::render(&root, &behaviors), file);
    }
}

#[test]
fn the_drafts_of_the_sample_are_reproduced() {
    let draft = |for_round, note: &str| Draft {
        for_round,
        intent: "new-behavior".to_owned(),
        behavior: None,
        behavior_source: "discovery".to_owned(),
        mechanism: "discovery".to_owned(),
        note: note.to_owned(),
    };
    let note =
        "Move to a fresh phenomenon; the negation read-out stays open for a later mechanism round.";
    let (root, behaviors) = read_memory(MEMORY_1);
    let drafted = next_task::render_draft(&root, &behaviors, &draft(2, note));
    assert_eq!(drafted, sample!("round_1/drafted_task.md"));
    let note = "The passive-voice phenomenon was refuted; pick a different phenomenon.";
    let (root, behaviors) = read_memory(MEMORY_2);
    let drafted = next_task::render_draft(&root, &behaviors, &draft(3, note));
    assert_eq!(drafted, sample!("round_2/drafted_task.md"));
}

// The ledger as JSON.

#[test]
fn an_untouched_ledger_has_every_key() {
    let header = Header { pipeline_status: "running".to_owned(), ..Header::default() };
    let expected = r#"{
  "project": "",
  "direction": "",
  "date_range": {
    "start": "",
    "end": ""
  },
  "models": {
    "claim": "",
    "experiment": "",
    "verify": "",
    "iteration": ""
  },
  "pipeline_status": "running",
  "round_end": {
    "qualifier": "",
    "detail": "",
    "remedy": "",
    "see": "",
    "partial_artifacts": [],
    "next_round_options": []
  },
  "journey_summary": {
    "claim": "",
    "mechanism_strategy": "",
    "mechanism_routing": "",
    "experiment": "",
    "verify": "",
    "iteration": "",
    "figures": ""
  },
  "open_items": [],
  "iteration_summary": {
    "score": null,
    "verdict": "",
    "rounds_consumed": 0,
    "max_rounds": 0
  },
  "updated_after_stage": "",
  "claims": []
}
"#;
    assert_eq!(ledger_json::render(&header, &[]), expected);
}

#[test]
fn scores_are_printed_in_plain_notation_without_floats() {
    let cases = [
        ("6", "6.0", "6"),
        ("6.0", "6.0", "6"),
        ("5.50", "5.5", "5.5"),
        ("10", "10.0", "10"),
        ("1e1", "10.0", "10"),
        ("0", "0.0", "0"),
        ("-0", "0.0", "0"),
        ("75E-1", "7.5", "7.5"),
        ("1e-7", "0.0000001", "0.0000001"),
        ("7.00000000000000000001", "7.00000000000000000001", "7.00000000000000000001"),
    ];
    for (literal, in_json, in_markdown) in cases {
        let score = Decimal::parse(literal).unwrap();
        assert_eq!(ledger_json::fractional(&score), in_json, "{literal}");
        assert_eq!(ledger_json::shortest(&score), in_markdown, "{literal}");
    }
}

#[test]
fn robustness_is_rounded_half_up_to_two_places() {
    let cases = [
        (0, 3, "0.0", "0.00"),
        (1, 3, "0.33", "0.33"),
        (1, 2, "0.5", "0.50"),
        (2, 3, "0.67", "0.67"),
        (3, 3, "1.0", "1.00"),
        // Ties and near ties, which three axes cannot give.
        (1, 8, "0.13", "0.13"),
        (1, 200, "0.01", "0.01"),
        (1, 201, "0.0", "0.00"),
        (199, 200, "1.0", "1.00"),
    ];
    for (passed, eligible, in_json, in_markdown) in cases {
        let mut claim = ClaimRow { id: "C1".to_owned(), ..ClaimRow::default() };
        claim.verify.robustness = Some(Share::Exact(Fraction { passed, eligible }));
        let claims = [Arc::new(claim)];
        let file = ledger_json::render(&Header::default(), &claims);
        let line = format!("\n        \"robustness\": {in_json},\n");
        assert!(file.contains(&line), "{passed}/{eligible}: {file}");
        let file = ledger_markdown::render(&Header::default(), &claims);
        assert!(file.contains(&format!("robustness={in_markdown} ")), "{passed}/{eligible}");
    }
}

#[test]
fn a_figure_explains_itself_only_where_it_failed_or_was_skipped() {
    let figure = |status: &str| Figure {
        id: "f".to_owned(),
        kind: "bar".to_owned(),
        status: status.to_owned(),
        error_detail: Some("no space".to_owned()),
        reason: Some("no data".to_owned()),
        table_body: Some("| a |".to_owned()),
        ..Figure::default()
    };
    let figures = vec![figure("ok"), figure("error"), figure("skipped")];
    let file = ledger_json::render(&Header::default(), &[Arc::new(claim_with(figures))]);
    let head = r#"        {
          "id": "f",
          "type": "bar",
          "caption": "",
          "png": null,
          "pdf": null,
          "md": null,
          "tex": null,
          "source_data": "",
"#;
    let expected = [
        "      \"figures\": [\n",
        head,
        "          \"status\": \"ok\"\n        },\n",
        head,
        "          \"status\": \"error\",\n          \"error_detail\": \"no space\"\n        },\n",
        head,
        "          \"status\": \"skipped\",\n          \"reason\": \"no data\"\n        }\n      ]\n",
    ];
    assert!(file.contains(&expected.concat()), "{file}");
}

// The ledger as Markdown.

#[test]
fn an_untouched_ledger_has_one_block() {
    let header = Header { pipeline_status: "running".to_owned(), ..Header::default() };
    let expected = "\
# Claim Ledger \u{2014} \u{2014}

**Direction**: \u{2014}
**Date**: \u{2014} \u{2192} \u{2014}
**Pipeline**: running | **Iteration**: \u{2014}/10 \"\u{2014}\" (0/0)
**Models**: claim=\u{2014}, experiment=\u{2014}, verify=\u{2014}, iteration=\u{2014}
**Updated after**: \u{2014}

| Claim | Main experiment | Verify | Post-Iteration | Final |
|-------|-----------------|--------|----------------|-------|
";
    assert_eq!(ledger_markdown::render(&header, &[]), expected);
}

#[test]
fn an_untouched_claim_shows_dashes() {
    let claim = ClaimRow { id: "C1".to_owned(), ..ClaimRow::default() };
    let file = ledger_markdown::render(&Header::default(), &[Arc::new(claim)]);
    let (_, rest) = file.split_once("|-------|\n").unwrap();
    let expected = "\
| C1 \u{2014} | \u{2014} | n/a \u{2014} | \u{2014} | \u{2014} |

---
## C1 \u{2014} \u{2014}
- **Statement**: \u{2014}
- **Origin**: \u{2014}
- **Data**: \u{2014} \u{2014} provenance=\u{2014}; available=\u{2014}, used=\u{2014}
- **Models**: none
- **Method**: \u{2014}
- **Main experiment**: \u{2014} \u{2014} \u{2014}
- **Verify**: robustness=\u{2014} \u{2014} method n/a / dataset n/a / model n/a; integrity=\u{2014}; verdict=n/a
- **Iteration**: \u{2014}; falsified: none; narrowed_to: \u{2014}
- **Final**: \u{2014}
- **Caveats**: none
- **Artifacts**: none
";
    assert_eq!(rest, expected);
}

#[test]
fn a_bar_is_escaped_in_the_grid_alone() {
    let mut claim = ClaimRow {
        id: "C1".to_owned(),
        statement: "p(a|b) falls".to_owned(),
        final_status: "a|b\\|c".to_owned(),
        ..ClaimRow::default()
    };
    claim.main_experiment.verdict = "|".to_owned();
    let file = ledger_markdown::render(&Header::default(), &[Arc::new(claim)]);
    let row = "| C1 p(a\\|b) falls | \\| | n/a \u{2014} | \u{2014} | a\\|b\\\\|c |\n";
    assert!(file.contains(row), "{file}");
    assert!(file.contains("## C1 \u{2014} p(a|b) falls\n"));
    assert!(file.contains("- **Final**: a|b\\|c\n"));
}

#[test]
fn line_breaks_become_one_space() {
    assert_eq!(one_line("a\nb"), "a b");
    assert_eq!(one_line("a\n\n\nb\nc"), "a b c");
    assert_eq!(one_line("a \n b"), "a   b");
    assert_eq!(one_line("a\n"), "a ");
    assert_eq!(one_line("\n\n"), " ");
    assert_eq!(one_line(""), "");
    let header = Header {
        project: "two\nlines".to_owned(),
        open_items: vec!["first\nsecond".to_owned()],
        ..Header::default()
    };
    let file = ledger_markdown::render(&header, &[]);
    assert!(file.starts_with("# Claim Ledger \u{2014} two lines\n"));
    assert!(file.ends_with("|-------|\n\n## Open Items\n- first second\n"));
}

#[test]
fn a_heading_has_at_most_sixty_characters() {
    let sixty = "twelve chars twelve chars twelve chars twelve chars 12345678";
    assert_eq!(sixty.chars().count(), 60);
    assert_eq!(short(sixty), sixty);
    // One full stop goes first, so this one fits too; a second one stays and is counted.
    assert_eq!(short(&format!("{sixty}.")), sixty);
    let cut = "twelve chars twelve chars twelve chars twelve chars\u{2026}";
    assert_eq!(short(&format!("{sixty}..")), cut);
    assert_eq!(short(&format!("{sixty}9")), cut);
    assert_eq!(short("a b."), "a b");
    assert_eq!(short("a b.."), "a b.");
    assert_eq!(short("  a \n\t b  "), "a b");
    assert_eq!(short(""), "");
    // Fifty-nine characters and the ellipsis are sixty.
    let fifty_nine = "twelve chars twelve chars twelve chars twelve chars 1234567";
    assert_eq!(short(&format!("{fifty_nine} x")), format!("{fifty_nine}\u{2026}"));
    // Characters are counted, not bytes.
    let umlauts = "\u{e4}".repeat(60);
    assert_eq!(short(&umlauts), umlauts);
    assert_eq!(short(&"\u{e4}".repeat(61)), "\u{2026}");
}

#[test]
fn a_table_figure_is_indented_and_its_empty_lines_are_not() {
    let table = Figure {
        kind: "table".to_owned(),
        caption: "Two parts.".to_owned(),
        status: "ok".to_owned(),
        md: Some("t.md".to_owned()),
        tex: Some("t.tex".to_owned()),
        table_body: Some("| a | b |\n|---|---|\n\n  note\n\n\n".to_owned()),
        ..Figure::default()
    };
    let image = Figure {
        kind: "bar".to_owned(),
        caption: "Bars.".to_owned(),
        status: "ok".to_owned(),
        png: Some("b.png".to_owned()),
        ..Figure::default()
    };
    let failed = Figure { status: "error".to_owned(), ..image.clone() };
    let claim = claim_with(vec![table, failed.clone(), image]);
    let file = ledger_markdown::render(&Header::default(), &[Arc::new(claim)]);
    let expected = "\
- **Artifacts**: none
- **Figures**:
  - #### Two parts.

    | a | b |
    |---|---|

      note

    Source `.tex`: `t.tex`
  - ![Bars.](b.png) \u{2014} vector: \u{2014}
";
    assert!(file.ends_with(expected), "{file}");
    let claim = claim_with(vec![failed]);
    let file = ledger_markdown::render(&Header::default(), &[Arc::new(claim)]);
    assert!(file.ends_with("- **Artifacts**: none\n"), "{file}");
}

#[test]
fn a_round_that_ends_for_a_decision_says_what_to_decide() {
    let mut header = Header {
        pipeline_status: "ended-needs-decision (experiment: plan-reconciliation-conflict)"
            .to_owned(),
        round_end: RoundEnd {
            qualifier: "(experiment: plan-reconciliation-conflict)".to_owned(),
            detail: "M1 plans the metric \"probe accuracy\"; the committed submethod (patching) \
                     yields no probe."
                .to_owned(),
            remedy: "change M1's metric to a logit difference, or pick a probing submethod."
                .to_owned(),
            see: "refine-logs/MECHANISM_ROUTING.md \u{2192} ## Plan reconciliation".to_owned(),
            partial_artifacts: vec!["refine-logs/MECHANISM_ROUTING.md".to_owned()],
            next_round_options: vec![
                "fix M1's metric in EXPERIMENT_PLAN.md and re-run".to_owned(),
                "pick a submethod that can measure probe accuracy".to_owned(),
                "re-scope the claim".to_owned(),
            ],
        },
        ..Header::default()
    };
    let expected = "|-------|

## Round-End Decision \u{2014} (experiment: plan-reconciliation-conflict)
- **What happened**: M1 plans the metric \"probe accuracy\"; the committed submethod (patching) yields no probe.
- **Fix**: change M1's metric to a logit difference, or pick a probing submethod.
- **See**: refine-logs/MECHANISM_ROUTING.md \u{2192} ## Plan reconciliation
- **Partial artifacts to inspect**:
  - refine-logs/MECHANISM_ROUTING.md
- **Next-round options** (you decide \u{2014} the pipeline will not auto-pick):
  1. fix M1's metric in EXPERIMENT_PLAN.md and re-run
  2. pick a submethod that can measure probe accuracy
  3. re-scope the claim
";
    let file = ledger_markdown::render(&header, &[]);
    assert!(file.ends_with(expected), "{file}");
    header.round_end.partial_artifacts.clear();
    let file = ledger_markdown::render(&header, &[]);
    assert!(file.contains("inspect**:\n  - none\n- **Next-round options**"), "{file}");
    // Any other status, or the bare word without a qualifier, has no such block.
    "halted-at-experiment".clone_into(&mut header.pipeline_status);
    assert!(!ledger_markdown::render(&header, &[]).contains("Round-End"));
    "ended-needs-decision".clone_into(&mut header.pipeline_status);
    assert!(ledger_markdown::render(&header, &[]).contains("Round-End"));
    header.round_end.qualifier.clear();
    assert!(!ledger_markdown::render(&header, &[]).contains("Round-End"));
}

#[test]
fn more_than_ten_claims_keep_their_order() {
    let ids = (1..=12).map(|n| format!("C{n}")).collect::<Vec<_>>();
    let claims = ids.iter().map(|id| ClaimRow { id: id.clone(), ..ClaimRow::default() });
    let claims = claims.map(Arc::new).collect::<Vec<_>>();
    let file = ledger_markdown::render(&Header::default(), &claims);
    let shown = file.lines().filter_map(|line| line.strip_prefix("## "));
    let shown = shown.filter_map(|line| line.split(' ').next()).collect::<Vec<_>>();
    assert_eq!(shown, ids);
    assert_eq!(file.matches("\n---\n").count(), 1);
}

// Drafts.

#[test]
fn a_new_mechanism_is_drafted_around_its_behavior() {
    let (root, behaviors) = known();
    let drafted =
        next_task::render_draft(&root, &behaviors, &same_behavior("new-mechanism", "given"));
    let expected = "\
<!-- DRAFT for round 5 \u{2014} generated by /next-round. EDIT before running /auto. -->
<!-- Recommended: /auto \u{2014} behavior-source: given, mechanism: discovery -->

# Research direction
where it goes

## Behavior to investigate (this round)
It decays.

## Already explored (for reference \u{2014} /auto will avoid re-doing these)
- Behavior B1 \"It decays.\" \u{2014} status: established
  - Conclusion: It was seen twice.
  - Impact: Matters to many.; recommendation: PROCEED
  - Mechanisms tried: Location (behavioral-only) \u{2014} Nobody has read this one.
    - Claims:
      - C1 \u{2014} It sits in layer three. \u{2014} It was found in layer three.
  - Mechanisms tried: Unit Interpretation (Probing / Residual Stream States) \u{2014} Half of it held.
    - Claims: none
  - Mechanisms settled and left out: 2
- Behavior B2 \"It grows.\" \u{2014} status: inconclusive
  - Conclusion: The test was too small.
  - Impact: not assessed
  - Mechanisms tried: none
- Suggested mechanism directions for B1: Tuning & Editing, Formation Tracing
- Open attempts that may be retried: Location (behavioral-only); Unit Interpretation (Probing / Residual Stream States)

## Notes
Try another family.
";
    assert_eq!(drafted, expected);
}

#[test]
fn a_re_validation_has_the_same_shape() {
    let (root, behaviors) = known();
    let mut asked = same_behavior("re-validate", "given-validation");
    asked.behavior = Some("B2".to_owned());
    let drafted = next_task::render_draft(&root, &behaviors, &asked);
    assert!(drafted.contains("behavior-source: given-validation, mechanism: discovery -->\n"));
    assert!(drafted.contains("\n## Behavior to investigate (this round)\nIt grows.\n\n## Already"));
    let end = "\
  - Mechanisms tried: none
- Suggested mechanism directions for B2: none
- Open attempts that may be retried: none

## Notes
Try another family.
";
    assert!(drafted.ends_with(end), "{drafted}");
    assert!(!drafted.contains("set to avoid"));
}

#[test]
fn settled_attempts_are_counted_only() {
    let (root, mut behaviors) = known();
    let first = Arc::make_mut(&mut behaviors[0]);
    first.mechanisms.retain(|attempt| attempt.reading.as_deref() != Some("open"));
    first.mechanisms.retain(|attempt| attempt.reading.is_some());
    let drafted =
        next_task::render_draft(&root, &behaviors, &same_behavior("new-mechanism", "given"));
    let expected = "PROCEED\n  - Mechanisms settled and left out: 2\n- Behavior B2";
    assert!(drafted.contains(expected), "{drafted}");
    assert!(drafted.contains("\n- Open attempts that may be retried: none\n"));
}

#[test]
fn a_draft_without_memory_has_nothing_to_avoid() {
    let root = Root { direction: "where it goes".to_owned(), ..Root::default() };
    let asked = Draft {
        for_round: 2,
        intent: "new-behavior".to_owned(),
        behavior: None,
        behavior_source: "discovery".to_owned(),
        mechanism: "discovery".to_owned(),
        note: "Start again\nafter the crash.".to_owned(),
    };
    let expected = "\
<!-- DRAFT for round 2 \u{2014} generated by /next-round. EDIT before running /auto. -->
<!-- Recommended: /auto \u{2014} behavior-source: discovery, mechanism: discovery -->

# Research direction
where it goes

## Already explored (for reference \u{2014} /auto will avoid re-doing these)
- none recorded
<!-- new-behavior: this list is the set to avoid; consider untried_behavior_directions: none recorded -->

## Notes
Start again after the crash.
";
    assert_eq!(next_task::render_draft(&root, &[], &asked), expected);
}

#[test]
fn an_untried_entry_cannot_end_the_comment() {
    let entries = ["a --> b", "c -->> d", "e ---> f", "g -- > h", "two\nlines"];
    let root = Root {
        has_memory: true,
        untried_behavior_directions: entries.map(str::to_owned).to_vec(),
        ..Root::default()
    };
    let asked = Draft { intent: "new-behavior".to_owned(), ..Draft::default() };
    let drafted = next_task::render_draft(&root, &[], &asked);
    let expected = "\n<!-- new-behavior: this list is the set to avoid; consider \
                    untried_behavior_directions: a -- b; c -- d; e --- f; g -- > h; two lines -->\n";
    assert!(drafted.contains(expected), "{drafted}");
}

#[test]
fn a_task_shows_the_overrides_logged_in_it() {
    let task = |text: &str, log: &[&str]| {
        let log = log.iter().map(|line| (*line).to_owned()).collect();
        next_task::render(&Task { text: text.to_owned(), log, ..Task::default() })
    };
    assert_eq!(task("# T\n", &[]), "# T\n");
    assert_eq!(task("# T", &[]), "# T\n");
    assert_eq!(task("", &[]), "");
    let line = "@round 1 verify gate: raise it (overrides: At most 30.)";
    let section = format!("## User Overrides (log)\n- {line}\n");
    assert_eq!(task("# T", &[line]), format!("# T\n\n{section}"));
    assert_eq!(task("# T\n", &[line, "b\nc"]), format!("# T\n\n{section}- b c\n"));
    assert_eq!(task("# T\n\n", &[line]), format!("# T\n\n{section}"));
    assert_eq!(task("", &[line]), section);
}

// What there is to show, and where.

#[test]
fn an_empty_journal_shows_nothing_and_keeps_no_file() {
    let state = State::default();
    for view in [&LEDGER, &MEMORY, &NEXT_TASK, &STATUS] {
        let shown = match &view.build {
            Build::Page(page) => page(&state, &Args::default()).map(|page| page.title),
            Build::Story(_) | Build::Entity { .. } | Build::Site => continue,
            Build::File { formats, render, places, .. } => {
                assert_eq!(places(&state), [], "{}", view.name);
                render(&state, &Args::default(), formats[0])
            }
        };
        assert!(matches!(shown, Err(ViewError::Nothing(_))), "{}: {shown:?}", view.name);
    }
}

#[test]
fn the_live_round_is_at_the_root_and_archived_ones_in_their_folders() {
    let completed = Life::Ended(Ending::Completed);
    assert_eq!(folder(3, Life::Running, true, "").as_deref(), Some(""));
    assert_eq!(folder(3, completed, true, "").as_deref(), Some(""));
    assert_eq!(folder(3, Life::Archived, true, "").as_deref(), Some("rounds/round_3/"));
    assert_eq!(folder(2, Life::Archived, false, "").as_deref(), Some("rounds/round_2/"));
    let old = "rounds/round_02/";
    assert_eq!(folder(2, Life::Archived, false, old).as_deref(), Some(old));
    assert_eq!(folder(2, Life::Discarded, false, ""), None);
    // The latest one as well: what lies at the root then is nobody's.
    assert_eq!(folder(3, Life::Discarded, true, ""), None);
}

#[test]
fn the_status_page_shows_the_latest_round() {
    let (header, claims) = read_ledger(LEDGER_2);
    let (mut root, behaviors) = read_memory(MEMORY_2);
    "decay".clone_into(&mut root.name);
    root.task = Some(Task { for_round: 3, drafted: true, ..Task::default() });
    let round = |number, is_archived, claims| Round {
        number,
        is_archived,
        header: Some(Arc::new(header.clone())),
        claims,
    };
    let rounds = [round(1, true, vec![]), round(2, false, vec![]), round(3, false, claims)];
    let page = status::page(&root, 257, &rounds, &behaviors, (None, &[]));
    let headings = page.sections.iter().map(|section| section.heading.as_str());
    let expected = ["", "Rounds", "Claims of round 3", "Open items", "Behaviors"];
    assert_eq!(headings.collect::<Vec<_>>(), expected);
    let Body::Facts(facts) = &page.sections[0].body else { panic!("{page:?}") };
    let fact = |label: &str| facts.iter().find(|(l, _)| l == label).map(|(_, v)| v.plain());
    assert_eq!(fact("program").as_deref(), Some("decay"));
    assert_eq!(fact("entries in the journal").as_deref(), Some("257"));
    assert_eq!(fact("pipeline").as_deref(), Some("ended-phenomenon-not-established"));
    assert_eq!(fact("last stage merged").as_deref(), Some("experiment"));
    assert_eq!(fact("task").as_deref(), Some("for round 3, drafted"));
    assert_eq!(fact("to decide"), None);
    let states = rows(&page.sections[1].body).into_iter().map(|row| row[1].clone());
    assert_eq!(states.collect::<Vec<_>>(), ["archived", "discarded", "live"]);
    let claim = &rows(&page.sections[2].body)[0];
    assert_eq!(claim[0], "claim:3/C1");
    assert_eq!(claim[4], "\u{2717} phenomenon not established");
    let known = rows(&page.sections[4].body);
    let known = known.iter().map(|row| (row[0].as_str(), row[4].as_str()));
    assert_eq!(known.collect::<Vec<_>>(), [("B1", "1"), ("B2", "0")]);
    // Every row has a cell for each column.
    for section in &page.sections {
        if let Body::Table { columns, rows } = &section.body {
            assert!(rows.iter().all(|row| row.cells.len() == columns.len()), "{}", section.heading);
        }
    }
}

fn rows(body: &Body) -> Vec<Vec<String>> {
    match body {
        Body::Table { rows, .. } => {
            rows.iter().map(|row| row.cells.iter().map(Cell::plain).collect()).collect()
        }
        Body::Text(_) | Body::Note(..) | Body::Facts(_) | Body::List(_) | Body::Code(_) => {
            panic!("{body:?}")
        }
    }
}

// Records by hand.

fn claim_with(figures: Vec<Figure>) -> ClaimRow {
    ClaimRow { id: "C1".to_owned(), figures, ..ClaimRow::default() }
}

fn same_behavior(intent: &str, source: &str) -> Draft {
    Draft {
        for_round: 5,
        intent: intent.to_owned(),
        behavior: Some("B1".to_owned()),
        behavior_source: source.to_owned(),
        mechanism: "discovery".to_owned(),
        note: "Try another family.".to_owned(),
    }
}

/// Two behaviors; the first has one attempt of each reading and one that nobody read.
fn known() -> (Root, Vec<Arc<Behavior>>) {
    let root = Root {
        direction: "where it goes".to_owned(),
        has_memory: true,
        untried_behavior_directions: vec!["Another one.".to_owned()],
        ..Root::default()
    };
    let attempt = |direction: &str, headline: &str, reading: Option<&str>| Mechanism {
        direction: direction.to_owned(),
        headline: headline.to_owned(),
        reading: reading.map(str::to_owned),
        ..Mechanism::default()
    };
    let mut unread = attempt("Location", "Nobody has read this one.", None);
    unread.claims = vec![MechanismClaim {
        id: "C1".to_owned(),
        statement: "It sits in\nlayer three.".to_owned(),
        method: "It was looked for.".to_owned(),
        conclusion: "It was found in layer three.".to_owned(),
    }];
    let mut mixed = attempt("Unit Interpretation", "Half of it held.", Some("open"));
    mixed.family = Some("Probing / Residual Stream States".to_owned());
    let first = Behavior {
        id: "B1".to_owned(),
        statement: "It decays.".to_owned(),
        status: "established".to_owned(),
        behavior_conclusion: "It was seen twice.".to_owned(),
        impact: Impact {
            assessment: "Matters to many.".to_owned(),
            recommendation: "PROCEED".to_owned(),
            assessed_in_round: Some(1),
        },
        mechanisms: vec![
            unread,
            attempt("Causal Intervention", "It holds firmly.", Some("stable-positive")),
            mixed,
            attempt("Decision Auditing", "It is a firm null.", Some("stable-negative")),
        ],
        untried_mechanism_directions: ["Tuning & Editing", "Formation Tracing"]
            .map(str::to_owned)
            .to_vec(),
        ..Behavior::default()
    };
    let second = Behavior {
        id: "B2".to_owned(),
        statement: "It grows.".to_owned(),
        status: "inconclusive".to_owned(),
        behavior_conclusion: "The test was too small.".to_owned(),
        ..Behavior::default()
    };
    (root, vec![Arc::new(first), Arc::new(second)])
}

// Records from the sample's files.

fn read_ledger(file: &str) -> (Header, Vec<Arc<ClaimRow>>) {
    let file: Value = serde_json::from_str(file).unwrap();
    let (models, end, journey) = (&file["models"], &file["round_end"], &file["journey_summary"]);
    let iteration = &file["iteration_summary"];
    let header = Header {
        project: text(&file["project"]),
        direction: text(&file["direction"]),
        start: text(&file["date_range"]["start"]),
        end: text(&file["date_range"]["end"]),
        models: StageModels {
            claim: text(&models["claim"]),
            experiment: text(&models["experiment"]),
            verify: text(&models["verify"]),
            iteration: text(&models["iteration"]),
        },
        pipeline_status: text(&file["pipeline_status"]),
        round_end: RoundEnd {
            qualifier: text(&end["qualifier"]),
            detail: text(&end["detail"]),
            remedy: text(&end["remedy"]),
            see: text(&end["see"]),
            partial_artifacts: texts(&end["partial_artifacts"]),
            next_round_options: texts(&end["next_round_options"]),
        },
        journey: Journey {
            claim: text(&journey["claim"]),
            mechanism_strategy: text(&journey["mechanism_strategy"]),
            mechanism_routing: text(&journey["mechanism_routing"]),
            experiment: text(&journey["experiment"]),
            verify: text(&journey["verify"]),
            iteration: text(&journey["iteration"]),
            figures: text(&journey["figures"]),
        },
        open_items: texts(&file["open_items"]),
        iteration: IterationSummary {
            // The journal has the score as it was written: `6`.
            score: (!iteration["score"].is_null()).then(|| {
                let literal = iteration["score"].to_string();
                Decimal::parse(literal.strip_suffix(".0").unwrap_or(&literal)).unwrap()
            }),
            verdict: text(&iteration["verdict"]),
            rounds_consumed: iteration["rounds_consumed"].as_u64().unwrap(),
            max_rounds: iteration["max_rounds"].as_u64().unwrap(),
        },
        updated_after_stage: text(&file["updated_after_stage"]),
    };
    (header, list(&file["claims"]).iter().map(|claim| Arc::new(read_claim(claim))).collect())
}

fn read_claim(claim: &Value) -> ClaimRow {
    let (data, main, verify) = (&claim["data"], &claim["main_experiment"], &claim["verify"]);
    let iteration = &claim["iteration"];
    // Both swaps of a verified claim agree in the sample, so each ratio is 0 or 1.
    let fraction = |ratio: &Value| match ratio.to_string().as_str() {
        "null" => None,
        "1.0" => Some(Share::Exact(Fraction { passed: 2, eligible: 2 })),
        "0.0" => Some(Share::Exact(Fraction { passed: 0, eligible: 2 })),
        other => panic!("{other}"),
    };
    ClaimRow {
        id: text(&claim["id"]),
        statement: text(&claim["statement"]),
        origin: text(&claim["origin"]),
        data: DataUse {
            provenance: text(&data["provenance"]),
            source: text(&data["source"]),
            available_n: text(&data["available_n"]),
            used_n: text(&data["used_n"]),
            subset_note: text(&data["subset_note"]),
        },
        models: texts(&claim["models"]),
        method: text(&claim["method"]),
        main_experiment: MainExperiment {
            verdict: text(&main["verdict"]),
            key_stats: text(&main["key_stats"]),
            headline: text(&main["headline"]),
        },
        verify: Verify {
            robustness: fraction(&verify["robustness"]),
            method: text(&verify["axes"]["method"]),
            dataset: text(&verify["axes"]["dataset"]),
            model: text(&verify["axes"]["model"]),
            integrity: text(&verify["integrity"]),
            verdict: text(&verify["verdict"]),
            stage2_skip_reason: maybe(&verify["stage2_skip_reason"]),
        },
        iteration: ClaimIteration {
            final_reviewer_status: text(&iteration["final_reviewer_status"]),
            changed: texts(&iteration["changed"]),
            falsified: texts(&iteration["falsified"]),
            narrowed_to: text(&iteration["narrowed_to"]),
        },
        final_status: text(&claim["final_status"]),
        caveats: texts(&claim["caveats"]),
        artifacts: texts(&claim["artifacts"]),
        figures: list(&claim["figures"]).iter().map(read_figure).collect(),
    }
}

fn read_figure(figure: &Value) -> Figure {
    let kind = text(&figure["type"]);
    // The only table of the sample; its body stands in no JSON.
    let body = "\
| Filler | Slope | 95% interval |
|---|---|---|
| clause | -0.019 | -0.024 to -0.014 |
| list | 0.001 | -0.003 to 0.005 |
| parenthetical | -0.003 | -0.007 to 0.001 |
";
    Figure {
        id: text(&figure["id"]),
        caption: text(&figure["caption"]),
        png: maybe(&figure["png"]),
        pdf: maybe(&figure["pdf"]),
        md: maybe(&figure["md"]),
        tex: maybe(&figure["tex"]),
        source_data: text(&figure["source_data"]),
        status: text(&figure["status"]),
        error_detail: maybe(&figure["error_detail"]),
        reason: maybe(&figure["reason"]),
        table_body: (kind == "table").then(|| body.to_owned()),
        kind,
    }
}

fn read_memory(file: &str) -> (Root, Vec<Arc<Behavior>>) {
    let file: Value = serde_json::from_str(file).unwrap();
    let root = Root {
        direction: text(&file["direction"]),
        untried_behavior_directions: texts(&file["untried_behavior_directions"]),
        has_memory: true,
        ..Root::default()
    };
    let behavior = |entry: &Value| Behavior {
        id: text(&entry["id"]),
        statement: text(&entry["statement"]),
        status: text(&entry["status"]),
        behavior_conclusion: text(&entry["behavior_conclusion"]),
        impact: Impact {
            assessment: text(&entry["impact"]["assessment"]),
            recommendation: text(&entry["impact"]["recommendation"]),
            assessed_in_round: entry["impact"]["assessed_in_round"].as_u64(),
        },
        decided_in_round: entry["decided_in_round"].as_u64().unwrap(),
        mechanisms: list(&entry["mechanisms"]).iter().map(read_mechanism).collect(),
        untried_mechanism_directions: texts(&entry["untried_mechanism_directions"]),
        ..Behavior::default()
    };
    (root, list(&file["behaviors"]).iter().map(|entry| Arc::new(behavior(entry))).collect())
}

fn read_mechanism(attempt: &Value) -> Mechanism {
    let claim = |claim: &Value| MechanismClaim {
        id: text(&claim["id"]),
        statement: text(&claim["statement"]),
        method: text(&claim["method"]),
        conclusion: text(&claim["conclusion"]),
    };
    Mechanism {
        round: attempt["round"].as_u64().unwrap(),
        direction: text(&attempt["direction"]),
        family: maybe(&attempt["family"]),
        headline: text(&attempt["headline"]),
        claims: list(&attempt["claims"]).iter().map(claim).collect(),
        archived_to: text(&attempt["archived_to"]),
        reading: None,
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn maybe(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn texts(value: &Value) -> Vec<String> {
    list(value).iter().map(text).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}
