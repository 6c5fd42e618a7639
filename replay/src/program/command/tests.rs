//! Lines and what they mean, written down from C.1 and C.2 of the domain text.

use rp_events::{
    Decimal,
    program::{CountOrAuto, GpuId, GpuPin, Switch},
};

use super::{directed, direction, parse};

fn owned(value: &str) -> String {
    value.to_owned()
}

#[test]
fn the_three_spellings_are_one_line() {
    let lines = [
        "\"direction\" \u{2014} auto-proceed: false, claim-model: opus, verify-model: sonnet, dimensions: method,dataset",
        "\"direction\" -- auto_proceed: false, claim_model: opus, verify_model: sonnet, dimensions: method,dataset",
        "\"direction\" \u{2014} AUTO_PROCEED: false, CLAIM_MODEL: opus, VERIFY_MODEL: sonnet, DIMENSIONS: method,dataset",
        "/auto \"direction\" -- auto-proceed = no , claim-model=OPUS, verify-model=Sonnet,dimensions=method , dataset",
    ];
    for line in lines {
        let command = parse(line).unwrap();
        assert_eq!(command.direction, "direction", "{line}");
        assert_eq!(command.flags.auto_proceed, Some(Switch::Is(false)), "{line}");
        assert_eq!(command.flags.claim_model, Some(owned("opus")), "{line}");
        assert_eq!(command.flags.verify_model, Some(owned("sonnet")), "{line}");
        let axes = command.flags.dimensions.unwrap();
        assert_eq!(axes, ["method", "dataset"], "{line}");
        assert_eq!(command.notes, Vec::<String>::new(), "{line}");
    }
}

#[test]
fn the_direction_ends_at_the_first_separator_outside_quotes() {
    let cases = [
        ("", ""),
        ("how models lose negation", "how models lose negation"),
        ("\"how models lose negation\"", "how models lose negation"),
        ("-- resume: true", ""),
        ("\u{2014} resume: true", ""),
        ("  --resume: true", ""),
        ("\"a -- b \u{2014} c\" -- resume: true", "a -- b \u{2014} c"),
        ("\u{201c}a -- b\u{201d} \u{2014} resume: true", "a -- b"),
        // An em dash needs spaces around it; a double hyphen does not.
        ("a\u{2014}b \u{2014} resume: true", "a\u{2014}b"),
        ("a--resume: true", "a"),
        // An inch mark opens no quote, and neither does one that nothing closes.
        ("a 5\" disk -- resume: true", "a 5\" disk"),
        ("a \"disk -- resume: true", "a \"disk"),
        ("say \"a -- b\" aloud -- resume: true", "say \"a -- b\" aloud"),
        ("/auto -- resume: true", ""),
        ("/automatic proofs", "/automatic proofs"),
    ];
    for (line, due) in cases {
        assert_eq!(direction(line), due, "{line}");
        let resumes = line.contains("resume");
        assert_eq!(parse(line).unwrap().resumes(), resumes, "{line}");
    }
}

#[test]
fn what_is_left_out_has_its_default() {
    let flags = parse("x").unwrap().flags;
    let on = Some(Switch::Is(true));
    let off = Some(Switch::Is(false));
    assert_eq!(
        [&flags.auto_proceed, &flags.review_loop, &flags.code_review, &flags.sanity_first],
        [&on; 4]
    );
    assert_eq!([&flags.resume, &flags.compact, &flags.ref_paper], [&off; 3]);
    assert_eq!(flags.auto_deploy, on);
    assert_eq!(flags.dimensions, Some(vec!["model".to_owned()]));
    assert_eq!(flags.target_claims, Some(owned("all")));
    let counts = [flags.max_verify_claims, flags.min_variants_for_verdict];
    assert_eq!(counts, [Some(1); 2]);
    assert_eq!(flags.robustness_threshold, Decimal::parse("0.5").ok());
    assert_eq!(flags.research_domain, Some(owned("auto")));
    assert_eq!(flags.max_parallel_runs, Some(4));
    assert_eq!(flags.batch_dispatch, Some(owned("auto")));
    assert_eq!(flags.behavior_source, Some(owned("given")));
    assert_eq!(flags.mechanism, Some(owned("discovery")));
    assert_eq!((flags.max_iterations, flags.max_claim_reentries), (Some(6), Some(2)));
    assert_eq!(flags.target_score, Decimal::parse("6").ok());
    assert_eq!(flags.gpu_id, Some(GpuPin::Word("auto".to_owned())));
    assert_eq!(flags.oom_max_gpus, Some(CountOrAuto::Count(4)));
    assert_eq!(flags.underpower, Some(owned("tag")));
    assert_eq!(flags.ledger_figures, Some(Switch::Text("auto".to_owned())));
    assert_eq!([&flags.model, &flags.claim_model], [&None; 2]);
    assert_eq!(flags.base_repo, None);
}

#[test]
fn values_are_read_as_their_kind() {
    let line = "-- resume: YES, auto-deploy: 0, compact: 1, gpu-id: 0,1, oom-max-gpus: auto, \
        max-iterations: 0, target-score: 5.5, base-repo: https://example.org/a:b?c=d,e, \
        ref-paper: None, research-domain: \"safety, scaling: both\", target-claims: C4_v2, \
        ledger-figures: TRUE, underpower: Off, max-rounds: 3, mechanism: Given";
    let command = parse(line).unwrap();
    let flags = command.flags;
    assert_eq!(flags.resume, Some(Switch::Is(true)));
    assert_eq!(flags.auto_deploy, Some(Switch::Is(false)));
    assert_eq!(flags.compact, Some(Switch::Is(true)));
    let pinned = vec![GpuId::Number(0), GpuId::Number(1)];
    assert_eq!(flags.gpu_id, Some(GpuPin::Several(pinned)));
    assert_eq!(flags.oom_max_gpus, Some(CountOrAuto::Word("auto".to_owned())));
    assert_eq!(flags.target_score, Decimal::parse("5.5").ok());
    let repo = Switch::Text("https://example.org/a:b?c=d,e".to_owned());
    assert_eq!(flags.base_repo, Some(repo));
    assert_eq!(flags.ref_paper, Some(Switch::Is(false)));
    assert_eq!(flags.research_domain, Some(owned("safety, scaling: both")));
    assert_eq!(flags.target_claims, Some(owned("C4_v2")));
    assert_eq!(flags.ledger_figures, Some(Switch::Is(true)));
    assert_eq!(flags.underpower, Some(owned("off")));
    assert_eq!(flags.max_iterations, Some(3), "the older name sets the same flag");
    assert_eq!(flags.mechanism, Some(owned("given")));
    assert_eq!(command.notes, ["[arg-parse] MAX_ITERATIONS: given twice \u{2014} the last counts"]);
}

#[test]
fn a_list_of_one_device_and_tiers_are_pins_too() {
    let pin = |line: &str| parse(line).unwrap().flags.gpu_id.unwrap();
    assert_eq!(pin("-- gpu-id: 3"), GpuPin::One(3));
    assert_eq!(pin("-- gpu-id: 1,1"), GpuPin::One(1));
    assert_eq!(pin("-- gpu-id: A100-80GB"), GpuPin::Several(vec![GpuId::Tier("A100-80GB".into())]));
    assert_eq!(pin("-- gpu-id: Auto"), GpuPin::Word("auto".to_owned()));
}

#[test]
fn unknown_words_fall_back_and_unknown_keys_are_ignored() {
    let line = "d -- batch-dispatch: fast, behavior-source: guess, mechanism: both, mode: reproduction, \
        arxiv-download: true, colour: blue, green, dimensions:";
    let command = parse(line).unwrap();
    assert_eq!(
        command.notes,
        [
            "[arg-parse] BATCH_DISPATCH: \"fast\" not in {auto, queue, direct} \u{2014} falling back to default 'auto'",
            "[arg-parse] BEHAVIOR_SOURCE: \"guess\" not in {given, given-validation, discovery} \u{2014} falling back to default 'given'",
            "[arg-parse] MECHANISM: \"both\" not in {given, discovery} \u{2014} falling back to default 'discovery'",
            "[arg-parse] unknown key: mode \u{2014} ignoring",
            "[arg-parse] unknown key: arxiv-download \u{2014} ignoring",
            "[arg-parse] unknown key: colour \u{2014} ignoring",
        ]
    );
    let flags = command.flags;
    assert_eq!(flags.batch_dispatch, Some(owned("auto")));
    assert_eq!(flags.behavior_source, Some(owned("given")));
    assert_eq!(flags.mechanism, Some(owned("discovery")));
    assert_eq!(flags.dimensions, Some(vec!["model".to_owned()]), "an empty list is `model`");
    // A direction that was cut at a double hyphen of its own is at least talked about.
    let cut = parse("negation--the case").unwrap();
    assert_eq!(cut.notes, ["[arg-parse] unknown key: the case \u{2014} ignoring"]);
}

#[test]
fn values_without_a_meaning_stop_the_run() {
    let cases = [
        (
            "model: gpt",
            "bad-model-alias",
            "[arg-parse] MODEL: \"gpt\" is not a family alias (opus|sonnet|haiku) \u{2014} version pinning is managed in agents/<name>.md frontmatter, not on the CLI",
        ),
        (
            "verify-model: opus-4.1",
            "bad-model-alias",
            "[arg-parse] VERIFY_MODEL: \"opus-4.1\" is not a family alias (opus|sonnet|haiku) \u{2014} version pinning is managed in agents/<name>.md frontmatter, not on the CLI",
        ),
        (
            "resume: maybe",
            "bad-bool",
            "[arg-parse] RESUME: \"maybe\" is not a boolean (true|false|1|0|yes|no)",
        ),
        (
            "auto-proceed:",
            "bad-bool",
            "[arg-parse] AUTO_PROCEED: \"\" is not a boolean (true|false|1|0|yes|no)",
        ),
        (
            "max-iterations: many",
            "bad-number",
            "[arg-parse] MAX_ITERATIONS: \"many\" is not a whole number of at least 0",
        ),
        (
            "max-iterations: -1",
            "bad-number",
            "[arg-parse] MAX_ITERATIONS: \"-1\" is not a whole number of at least 0",
        ),
        (
            "max-verify-claims: 0",
            "bad-number",
            "[arg-parse] MAX_VERIFY_CLAIMS: \"0\" is not a whole number of at least 1",
        ),
        (
            "max-parallel-runs: 1.5",
            "bad-number",
            "[arg-parse] MAX_PARALLEL_RUNS: \"1.5\" is not a whole number of at least 1",
        ),
        (
            "robustness-threshold: 1.01",
            "bad-number",
            "[arg-parse] ROBUSTNESS_THRESHOLD: \"1.01\" is not between 0 and 1",
        ),
        ("target-score: six", "bad-number", "[arg-parse] TARGET_SCORE: \"six\" is not a number"),
        (
            "gpu-id: 0,-1",
            "bad-number",
            "[arg-parse] GPU_ID: \"-1\" is not a device, a list of them or auto",
        ),
        (
            "gpu-id: ",
            "bad-number",
            "[arg-parse] GPU_ID: \"\" is not a device, a list of them or auto",
        ),
        (
            "dimensions: method,prompt",
            "bad-axis",
            "[arg-parse] DIMENSIONS: \"prompt\" is not a list of axes (method|dataset|model)",
        ),
    ];
    for (options, reason, message) in cases {
        let stop = parse(&format!("d -- {options}")).unwrap_err();
        assert_eq!((stop.reason, stop.message.as_str()), (reason, message), "{options}");
    }
}

#[test]
fn a_direction_comes_from_the_line_or_the_task_and_is_never_invented() {
    let empty = parse("-- resume: false").unwrap();
    assert_eq!(directed(&empty, true), Ok(()));
    assert_eq!(directed(&parse("d").unwrap(), false), Ok(()));
    let stop = directed(&empty, false).unwrap_err();
    assert_eq!(stop.reason, "no-direction-input");
    assert_eq!(stop.message, "[direction] no input \u{2014} provide $ARGUMENTS or create task.md");
}
