//! A program kept in files, as the originals left them: the sample's results with stage documents beside them.

use std::{collections::BTreeMap, fs, path::Path};

use rp_events::artifact::Fingerprinter;
use rp_replay::program::import::{Found, Interest, READ_MAX, Survey, interest, is_passed_over};

/// Files by their paths, with `/`.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// The memory after the sample's first round.
pub(crate) const MEMORY_1: &str =
    include_str!("../../spec/samples/program/round_1/research_memory.json");
/// The memory after both.
pub(crate) const MEMORY_2: &str = include_str!("../../spec/samples/program/research_memory.json");
pub(crate) const LEDGER_1: &str =
    include_str!("../../spec/samples/program/round_1/claims_ledger.json");
pub(crate) const LEDGER_2: &str =
    include_str!("../../spec/samples/program/round_2/claims_ledger.json");
pub(crate) const MARKDOWN_1: &str =
    include_str!("../../spec/samples/program/round_1/CLAIMS_LEDGER.md");
pub(crate) const MARKDOWN_2: &str =
    include_str!("../../spec/samples/program/round_2/CLAIMS_LEDGER.md");

/// The table of the sample's first round, as its figure skill wrote it.
const TABLE: &str = "| Filler | Slope | 95% interval |\n|---|---|---|\n| clause | -0.019 | -0.024 to -0.014 |\n| list | 0.001 | -0.003 to 0.005 |\n| parenthetical | -0.003 | -0.007 to 0.001 |\n";

/// Everything that the sample's first round left.
const ROUND_1: &[(&str, &str)] = &[
    ("claims_ledger.json", LEDGER_1),
    ("CLAIMS_LEDGER.md", MARKDOWN_1),
    ("task.md", "# Research direction\nnegation\n"),
    ("idea-stage/IDEA_REPORT.md", "# Ideas\n\nThree of them.\n"),
    ("refine-logs/FINAL_PROPOSAL.md", "# Proposal\n"),
    ("refine-logs/EXPERIMENT_PLAN.md", "mechanism_strategy: Location, Causal Intervention\n"),
    (
        "refine-logs/MECHANISM_ROUTING.md",
        "committed: false\n\ncommitted: true\nchosen_family: Representation and Parameter Analysis\n",
    ),
    ("refine-logs/EXPERIMENT_RESULTS.md", "phenomenon_status: established\n\n# Results\n"),
    ("refine-logs/EXPERIMENT_TRACKER.md", "| A1 | done |\n"),
    ("verify/VERIFY_REPORT.md", "# Verify\n"),
    (
        "verify/INTEGRITY_AUDIT.md",
        "## Main experiments (Phase 2)\nfine\n\n## Variant integrity (Phase 9)\nC3 fails\n",
    ),
    ("verify/C1_negation_scope_direction/main_experiment_audit/EXPERIMENT_AUDIT.json", "{}"),
    ("verify/C1_negation_scope_direction/ROBUSTNESS.md", "PASS\n"),
    ("verify/C2_heads_move_negator/main_experiment_audit/EXPERIMENT_AUDIT.json", "{}"),
    ("verify/C2_heads_move_negator/ROBUSTNESS.md", "INTEGRITY_ONLY\n"),
    ("verify/C3_subtraction_flips_controls/main_experiment_audit/EXPERIMENT_AUDIT.json", "{}"),
    ("verify/C3_subtraction_flips_controls/ROBUSTNESS.md", "ZERO_ELIGIBLE_VARIANTS\n"),
    ("verify/C4_distance_slope_all_fillers/main_experiment_audit/EXPERIMENT_AUDIT.json", "{}"),
    ("verify/C4_distance_slope_all_fillers/ROBUSTNESS.md", "FAIL\n"),
    ("verify/C4_v2_clause_only_slope/main_experiment_audit/EXPERIMENT_AUDIT.json", "{}"),
    ("verify/C4_v2_clause_only_slope/ROBUSTNESS.md", "PASS\n"),
    ("review-stage/AUTO_REVIEW.md", "# Cycle 1\n"),
    (
        "review-stage/REVIEW_STATE.json",
        r#"{"iterations_consumed": 3, "claim_reentries_consumed": 1, "status": "completed", "last_verdict": "almost", "last_score": 6, "pending_upstream_calls": []}"#,
    ),
    ("review-stage/AUTO_ITERATION_FINAL_REPORT.md", "# Report\n"),
    ("figures/INDEX.md", "# What the figure skill wrote\n"),
    ("figures/C1/c1_restoration_rates.png", "png"),
    ("figures/C1/c1_restoration_rates.pdf", "pdf"),
    ("figures/C4_v2/c4v2_slopes.md", TABLE),
    ("figures/C4_v2/c4v2_slopes.tex", "tex"),
    ("runs/B1_steering_dose_response/cost.json", r#"{"gpu_hours": 5.5}"#),
    ("runs/iteration_round_3/norm_matched_control/summary.json", "{}"),
    ("runs/D1_block_patching/out.txt", "d"),
    ("runs/E1_negative_sweep/out.txt", "e"),
    ("runs/F1_projection_by_distance/out.txt", "f"),
    ("runs/iteration_round_2/filler_type_slopes/summary.json", "{}"),
];

/// Everything that the sample's second round left.
const ROUND_2: &[(&str, &str)] = &[
    ("claims_ledger.json", LEDGER_2),
    ("CLAIMS_LEDGER.md", MARKDOWN_2),
    ("idea-stage/IDEA_REPORT.md", "# Idea\n"),
    ("refine-logs/FINAL_PROPOSAL.md", "# Proposal\n"),
    ("refine-logs/EXPERIMENT_PLAN.md", "mechanism_strategy: Location, Causal Intervention\n"),
    ("refine-logs/EXPERIMENT_RESULTS.md", "phenomenon_status: not-established\n\n# Results\n"),
    ("figures/INDEX.md", "# What the figure skill wrote\n"),
    ("figures/C1/c1_voice_confidence.png", "png"),
    ("figures/C1/c1_voice_confidence.pdf", "pdf"),
];

/// A round of the sample in a folder: `rounds/round_1/`, or empty for the root.
pub(crate) fn round(number: u64, folder: &str) -> Files {
    let files = if number == 1 { ROUND_1 } else { ROUND_2 };
    files.iter().map(|(path, text)| (format!("{folder}{path}"), text.as_bytes().to_vec())).collect()
}

/// The sample between its rounds: the first archived, with its memory.
pub(crate) fn between_rounds() -> Files {
    let mut files = round(1, "rounds/round_1/");
    files.insert("research_memory.json".to_owned(), MEMORY_1.as_bytes().to_vec());
    files
}

/// The sample at its end: the first round archived, the second finished and at the root.
pub(crate) fn at_the_end() -> Files {
    let mut files = round(1, "rounds/round_1/");
    files.extend(round(2, ""));
    files.insert("research_memory.json".to_owned(), MEMORY_2.as_bytes().to_vec());
    files
}

/// Puts another text in the place of one that stands in a file exactly once.
#[track_caller]
pub(crate) fn change(files: &mut Files, path: &str, from: &str, to: &str) {
    let bytes = files.get_mut(path).unwrap_or_else(|| panic!("there is no {path}"));
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from} in {path}");
    *bytes = text.replace(from, to).into_bytes();
}

/// What a walk over these files would find.
pub(crate) fn survey(files: &Files) -> Survey {
    let mut survey = Survey::default();
    for (path, bytes) in files {
        if is_passed_over(path.split('/').next().unwrap()) {
            continue;
        }
        let below = path.strip_prefix("rounds/").and_then(|rest| rest.split_once('/'));
        if let Some((folder, _)) = below.filter(|(f, _)| !survey.folders.contains(&(*f).to_owned()))
        {
            survey.folders.push(folder.to_owned());
        }
        let wanted = interest(path);
        if wanted == Interest::Name {
            survey.others.insert(path.clone(), bytes.len() as u64);
            continue;
        }
        let mut sums = Fingerprinter::default();
        sums.update(bytes);
        let sums = sums.finish();
        let keeps = wanted == Interest::Content && sums.bytes <= READ_MAX;
        survey.files.push(Found {
            path: path.clone(),
            bytes: sums.bytes,
            b3: sums.b3,
            sha256: sums.sha256,
            content: keeps.then(|| bytes.clone()),
        });
    }
    survey
}

/// Writes the files below a folder.
pub(crate) fn write(files: &Files, folder: &Path) {
    for (path, bytes) in files {
        let at = folder.join(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, bytes).unwrap();
    }
}
