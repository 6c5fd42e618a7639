//! Which stages are complete by their files, and how a resumption goes on: each case of H.1 to H.4 by hand.

use rp_events::Decimal;
use rp_replay::program::{
    constants::{PhenomenonStatus, StageName},
    stage_files::{
        Claims, ExperimentCase, IterationCase, Listing, LoopLimits, Over, PhenomenonLine,
        RoutingFile, experiment_case, iteration_case, lacks, phenomenon,
    },
};

const ROUTING: &str = "refine-logs/MECHANISM_ROUTING.md";
const RESULTS: &str = "refine-logs/EXPERIMENT_RESULTS.md";
const TRACKER: &str = "refine-logs/EXPERIMENT_TRACKER.md";
const AUDIT: &str = "verify/INTEGRITY_AUDIT.md";
const STATE: &str = "review-stage/REVIEW_STATE.json";
const REPORT: &str = "review-stage/AUTO_ITERATION_FINAL_REPORT.md";

fn listing(files: &[(&str, &str)]) -> Listing {
    let mut listing = Listing::default();
    for (path, text) in files {
        listing.put(*path, text.len() as u64, Some(text.as_bytes().to_vec()));
    }
    listing
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_claim_stage_leaves_three_documents_with_content() {
    let files = [
        ("idea-stage/IDEA_REPORT.md", "x"),
        ("refine-logs/FINAL_PROPOSAL.md", "x"),
        ("refine-logs/EXPERIMENT_PLAN.md", ""),
    ];
    let none = Claims::default();
    let lack = lacks(StageName::Claim, &listing(&files), none, false);
    assert_eq!(lack, ["refine-logs/EXPERIMENT_PLAN.md"]);
    let lack = lacks(StageName::Claim, &listing(&files[..1]), none, false);
    assert_eq!(lack, ["refine-logs/FINAL_PROPOSAL.md", "refine-logs/EXPERIMENT_PLAN.md"]);
}

#[test]
fn the_experiment_stage_is_complete_with_a_committed_method_or_a_terminal_verdict() {
    let none = Claims::default();
    let lack =
        |files: &[(&str, &str)], ended| lacks(StageName::Experiment, &listing(files), none, ended);
    let whole = [(ROUTING, "committed: true"), (RESULTS, "x"), (TRACKER, "x")];
    assert_eq!(lack(&whole, false), names(&[]));
    let open = [(ROUTING, "committed: false"), (RESULTS, "x"), (TRACKER, "x")];
    assert_eq!(lack(&open, false), ["refine-logs/MECHANISM_ROUTING.md (committed: true)"]);
    let refuted = [(RESULTS, "phenomenon_status: not-established\n")];
    assert_eq!(lack(&refuted, false), names(&[]));
    let undecided = [(RESULTS, "phenomenon_status: inconclusive\n")];
    assert_eq!(lack(&undecided, false), [ROUTING, TRACKER]);
    assert_eq!(lack(&undecided, true), names(&[]));
}

#[test]
fn verify_needs_the_section_on_variants_and_each_target_s_own_audit() {
    let known = names(&["C1", "C1_v2"]);
    let claims = Claims { known: &known, targets: &known };
    let audit =
        "## Main\nx\n\n## Variant integrity (Phase 9)\n[skipped \u{2014} SWAP_VARIANTS=false]\n";
    let of_rewrite = "verify/C1_v2_scope/main_experiment_audit/EXPERIMENT_AUDIT.json";
    let files = [("verify/VERIFY_REPORT.md", "x"), (AUDIT, audit), (of_rewrite, "{}")];
    let lack = |files: &[(&str, &str)]| lacks(StageName::Verify, &listing(files), claims, false);
    // The rewrite's audit does not complete its parent (L12).
    assert_eq!(lack(&files), ["verify/C1_*/main_experiment_audit/EXPERIMENT_AUDIT.json"]);
    let own = "verify/C1_scope/main_experiment_audit/EXPERIMENT_AUDIT.json";
    assert_eq!(lack(&[&files[..], &[(own, "{}")]].concat()), names(&[]));
    assert_eq!(lack(&[&files[..], &[(own, "")]].concat()).len(), 1);
    let bare = "verify/C1/main_experiment_audit/EXPERIMENT_AUDIT.json";
    assert_eq!(
        lack(&[&files[..], &[(bare, "{}")]].concat()).len(),
        1,
        "the old layout does not count"
    );
    for unfinished in ["## Main\nx\n", "## Variant integrity (Phase 9)\n\n \n## Next\nx\n"] {
        let files = [files[0], (AUDIT, unfinished), files[2], (own, "{}")];
        assert_eq!(lack(&files), ["verify/INTEGRITY_AUDIT.md (## Variant integrity (Phase 9))"]);
    }
    let nobody = lacks(StageName::Verify, &listing(&files), Claims::default(), false);
    assert_eq!(nobody, ["verify/ (a claim under verification)"]);
}

#[test]
fn routing_takes_the_last_line_of_a_name_and_no_remark() {
    let read = RoutingFile::read(
        "committed: false\ncommitted: true # set by build\nchosen_family: Probing\n",
    );
    assert_eq!((read.is_committed, read.build_family()), (true, Some("Probing")));
    let read = RoutingFile::read("committed: true\r\nchosen_family: Probing\r\n");
    assert_eq!((read.is_committed, read.build_family()), (true, Some("Probing")));
    let read =
        RoutingFile::read("routing:  not-applicable\ncommitted: true\nchosen_family: Probing\n");
    assert_eq!(read.build_family(), Some("not-applicable"));
    for malformed in [
        "committed: true\n",
        "committed: true\nchosen_family: none\n",
        "committed: true\nchosen_family:\n",
    ] {
        assert_eq!(RoutingFile::read(malformed).build_family(), None, "{malformed}");
    }
    assert!(!RoutingFile::read("  committed: true\n").is_committed, "an indented line is prose");
}

#[test]
fn the_verdict_on_the_phenomenon_stands_at_the_head_of_the_results() {
    use PhenomenonStatus::{Conditional, Inconclusive, NotEstablished};

    let line = |status, is_terminal| Some(PhenomenonLine { status, is_terminal });
    assert_eq!(
        phenomenon("phenomenon_status: not-established\n"),
        line(NotEstablished, Some(true))
    );
    assert_eq!(phenomenon("# R\nphenomenon_status: conditional\n"), line(Conditional, Some(false)));
    assert_eq!(phenomenon("phenomenon_status: inconclusive\n"), line(Inconclusive, None));
    assert_eq!(
        phenomenon("phenomenon_status: inconclusive (terminal)\n"),
        line(Inconclusive, Some(true))
    );
    let said = "phenomenon_status: inconclusive\nterminal: false\n";
    assert_eq!(phenomenon(said), line(Inconclusive, Some(false)));
    assert_eq!(phenomenon("## Later\nphenomenon_status: not-established\n"), None);
    assert_eq!(phenomenon("phenomenon_status: refuted\n"), None);
    assert_eq!(phenomenon(""), None);
}

#[test]
fn each_case_of_the_experiment_stage_is_told_apart() {
    let case = |files: &[(&str, &str)]| experiment_case(&listing(files), None);
    let committed = (ROUTING, "committed: true\nchosen_family: Probing\n");
    assert_eq!(
        case(&[committed, (RESULTS, "phenomenon_status: not-established"), (TRACKER, "x")]),
        ExperimentCase::Ended(PhenomenonStatus::NotEstablished)
    );
    assert_eq!(case(&[committed, (RESULTS, "x"), (TRACKER, "x")]), ExperimentCase::Done);
    let build = |family: &str| ExperimentCase::Build { family: family.to_owned() };
    assert_eq!(case(&[committed, (RESULTS, ""), (TRACKER, "x")]), build("Probing"));
    assert_eq!(
        case(&[(ROUTING, "routing: not-applicable\ncommitted: true\n")]),
        build("not-applicable")
    );
    assert_eq!(
        case(&[(ROUTING, "committed: false\n")]),
        ExperimentCase::Route { is_malformed: false }
    );
    assert_eq!(
        case(&[(ROUTING, "committed: true\n")]),
        ExperimentCase::Route { is_malformed: true }
    );
    assert_eq!(case(&[]), ExperimentCase::Fresh);
    // The record knows what the file leaves open (L22).
    let open = listing(&[(RESULTS, "phenomenon_status: inconclusive")]);
    assert_eq!(experiment_case(&open, None), ExperimentCase::Fresh);
    let known = Some(PhenomenonStatus::Inconclusive);
    assert_eq!(
        experiment_case(&open, known),
        ExperimentCase::Ended(PhenomenonStatus::Inconclusive)
    );
}

#[test]
fn each_case_of_the_review_loop_is_told_apart() {
    let limits = |only_rewrites_left| LoopLimits {
        target_score: Decimal::parse("6").unwrap(),
        max_iterations: 3,
        max_reentries: 1,
        only_rewrites_left,
    };
    let state = |status: &str, verdict: &str, score: &str, consumed: u64, reentries: u64| {
        format!(
            r#"{{"iterations_consumed":{consumed},"claim_reentries_consumed":{reentries},"status":"{status}","last_verdict":"{verdict}","last_score":{score},"pending_upstream_calls":[{{"skill":"auto-claim","args":{{}}}},{{"skill":"auto-verify"}}],"threadId":"t"}}"#
        )
    };
    let case =
        |text: &str, only| iteration_case(&listing(&[(STATE, text), (REPORT, "x")]), &limits(only));
    let skip = |because| IterationCase::Skip { because };
    assert_eq!(case(&state("completed", "almost", "6.0", 1, 0), false), skip(Over::Verdict));
    assert_eq!(case(&state("completed", "ready", "5.9", 1, 0), false), IterationCase::Dispatch);
    assert_eq!(case(&state("completed", "not ready", "9", 1, 0), false), IterationCase::Dispatch);
    assert_eq!(case(&state("completed", "not ready", "2", 3, 0), false), skip(Over::Budget));
    assert_eq!(case(&state("completed", "not ready", "2", 2, 1), true), skip(Over::Budget));
    assert_eq!(case(&state("completed", "not ready", "2", 2, 1), false), IterationCase::Dispatch);
    assert_eq!(case(&state("in_progress", "ready", "9", 3, 1), true), IterationCase::Dispatch);
    let calls = names(&["auto-claim", "auto-verify"]);
    assert_eq!(
        case(&state("awaiting_upstream", "not ready", "4", 2, 1), false),
        IterationCase::Handoff { calls }
    );
    for unreadable in ["", "{", "[]"] {
        assert_eq!(case(unreadable, true), IterationCase::Dispatch, "{unreadable}");
    }
    let over = listing(&[(STATE, &state("completed", "ready", "7", 1, 0))]);
    assert_eq!(
        iteration_case(&over, &limits(false)),
        IterationCase::Assemble { because: Over::Verdict }
    );
    assert_eq!(iteration_case(&listing(&[]), &limits(false)), IterationCase::Dispatch);
}
