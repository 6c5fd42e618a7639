//! The scenarios of the protocol's self-test, and a case for every line of its checklist.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{
    super::{
        bytes::{Equality, Value, parse},
        disk::Node,
        profile::RULES,
        scalar::Instant,
        verdict::{Class, Verdict},
    },
    Mutation, build, cases, judge, mutations, scenarios,
    selftest::{finding, run},
};

#[test]
fn every_scenario_of_the_protocol_comes_out_as_stated() {
    let all = scenarios();
    assert_eq!(
        all.iter().map(|case| case.number).collect::<Vec<_>>(),
        (1..=124).collect::<Vec<_>>()
    );
    let ran = all.iter().map(|case| run(case, &case.script, &case.expected));
    let wrong: Vec<String> = ran
        .filter(|ran| !ran.differs.is_empty())
        .map(|ran| format!("{} {}: {}", ran.case.number, ran.case.name, ran.differs))
        .collect();
    assert!(wrong.is_empty(), "{} of 124:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_scenario_comes_out_in_our_version_as_stated() {
    let ran = scenarios().into_iter().map(|case| {
        let due = case.own.clone().map_or(case.expected.clone(), |(own, _)| own);
        run(&case, &format!("own ; {}", case.script), &due)
    });
    let wrong: Vec<String> = ran
        .filter(|ran| !ran.differs.is_empty())
        .map(|ran| format!("{} {}: {}", ran.case.number, ran.case.name, ran.differs))
        .collect();
    assert!(wrong.is_empty(), "{} of 124:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_case_of_the_checklist_is_found_under_its_line() {
    let wrong: Vec<String> = cases()
        .iter()
        .map(finding)
        .filter(|ran| !ran.differs.is_empty())
        .map(|ran| {
            format!(
                "{} {} | {}\n    {}",
                ran.case.number, ran.case.name, ran.case.script, ran.differs
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// The one change of a closed directory that nothing contradicts: a later time of the marker, which no digest
/// covers (`spec/rundir.md`).
fn is_a_later_end(before: &Value, after: &[u8]) -> bool {
    let Ok(after) = parse(after) else { return false };
    let time = |value: &Value| value.field("finalized_at").text().and_then(Instant::parse);
    let (Value::Map(mut left), Value::Map(mut right)) = (before.clone(), after.clone()) else {
        return false;
    };
    left.remove("finalized_at");
    right.remove("finalized_at");
    left == right && time(before).zip(time(&after)).is_some_and(|(before, after)| after > before)
}

/// What the reference takes for the same: a number or flag of another type in the marker (L2).
fn is_loosely_the_same(before: &Value, after: &[u8]) -> bool {
    parse(after).is_ok_and(|after| Equality::Loose.holds(before, &after))
}

fn every_change_is_rejected(script: &str) {
    let built = build(script).unwrap();
    assert_eq!(judge(&built).class, Class::Valid);
    let own = built.world.setup.profile.is_own();
    let marker = built.world.artifact("run.finalized.json");
    let mut accepted = Vec::new();
    let all = mutations(&built.world, 401, 1000);
    assert!(all.len() > 2000, "{}", all.len());
    for Mutation { what, path, bytes } in all {
        let mut changed = built.clone();
        changed.world.disk.put(&path, Node::File(bytes.clone()));
        let free = path.ends_with("/run.finalized.json")
            && (is_a_later_end(&marker, &bytes) || !own && is_loosely_the_same(&marker, &bytes));
        if judge(&changed).class != Class::Invalid && !free {
            accepted.push(format!("{path}: {what}"));
        }
    }
    assert!(accepted.is_empty(), "{} accepted:\n{}", accepted.len(), accepted.join("\n"));
}

#[test]
fn every_change_of_a_closed_directory_is_rejected() {
    every_change_is_rejected("baseline ; close");
}

#[test]
fn every_change_of_a_closed_directory_is_rejected_in_our_version() {
    every_change_is_rejected("own ; baseline ; close");
}

#[test]
fn derived_and_foreign_files_change_nothing() {
    let script = "baseline ; close ; write contract.md x ; write status.json x ; write status.final.json x ; write report.txt x ; write quarantine/late.log.partial x";
    assert_eq!(judge(&build(script).unwrap()).class, Class::Valid);
}

#[test]
fn every_line_of_the_checklist_has_a_case_and_a_row() {
    // Line 54 is the validator's own failure, which no directory brings about.
    let proven: BTreeSet<u16> = cases().iter().map(|case| case.number).chain([54, 913]).collect();
    let rules: Vec<(u16, String)> = RULES
        .lines()
        .map(|line| {
            let (number, rest) = line.split_once(' ').unwrap();
            (number.parse().unwrap(), rest.split(' ').next().unwrap().to_owned())
        })
        .collect();
    let numbers: Vec<u16> = rules.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=804).chain(901..=916).collect::<Vec<_>>());
    let missing: Vec<u16> =
        numbers.iter().copied().filter(|number| !proven.contains(number)).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
    for case in cases() {
        let (_, codes) = rules.iter().find(|(number, _)| *number == case.number).unwrap();
        let known = codes == "-" || codes.split('/').any(|code| code == case.name);
        // Where a line asks for generic rules, their codes count.
        let generic =
            rules.iter().take(49).any(|(_, codes)| codes.split('/').any(|code| code == case.name));
        assert!(known || generic || RULES.contains(&case.name), "{} {}", case.number, case.name);
    }
}

#[test]
fn a_failure_of_the_validator_is_no_verdict_on_the_directory() {
    let verdict = Verdict::internal("a fault");
    assert_eq!((verdict.exit(), verdict.last_durable_phase), (2, Some("internal_error")));
    assert!(verdict.json().contains("\"code\":\"internal_error\""));
}

#[test]
fn actions_and_phases_of_every_tail() {
    for (script, action, phase) in [
        ("baseline cut=finalized", "publish_boundary", "finalized"),
        ("baseline cut=row", "append_finalized", "result_published"),
        ("baseline ; candidate discard cut=decided", "execute_recorded_rollback", "decided"),
        ("baseline cut=decided", "append_result", "decided"),
        ("baseline ; candidate discard cut=rolled_back", "append_result", "rolled_back"),
        ("baseline cut=evaluated", "apply_contract_decision", "evaluated"),
        ("baseline cut=launched", "reclaim_or_drain_launch", "launched"),
        (
            "baseline cut=launch_intent",
            "prove_absence_or_append_launch_unresolved",
            "launch_intent",
        ),
        (
            "baseline at=0:dirty cut=launch_finished",
            "verify_cleanup_or_append_cleanup_unresolved",
            "launch_finished_cleanup_pending",
        ),
        (
            "baseline cut=launch_finished",
            "normalize_and_publish_evidence",
            "evidence_publication_pending",
        ),
        (
            "baseline cut=stage_completed ; stop user ordinary false",
            "append_plan_tail_cancelled",
            "plan_tail_cancellation_pending",
        ),
        (
            "noisy ; baseline cut=evidence_published#1",
            "append_next_launch_intent",
            "stage_launches_pending",
        ),
        ("baseline cut=evidence_published", "append_stage_completed", "stage_checkpoint_pending"),
        ("baseline cut=stage_completed", "append_next_launch_intent", "next_stage_launch_pending"),
        ("baseline cut=stage_completed#1", "append_evaluated", "launches_terminal"),
        ("baseline ; candidate cut=committed", "reconcile_committed_candidate", "committed"),
        ("baseline cut=prepared", "reconcile_prepared_attempt", "prepared"),
        ("baseline ; end", "publish_run_boundary", "run_stopped"),
        ("baseline cut=finalized ; end", "publish_boundary", "run_stopped"),
        ("baseline ; stop user ordinary false", "append_run_stopped", "attempt_boundary"),
        ("stop user ordinary false", "append_run_stopped", "contract_sealed"),
        (
            "own ; final-test ; baseline ; stop supervisor ordinary false",
            "prepare_final_attempt",
            "attempt_boundary",
        ),
        (
            "own ; final-test ; baseline ; stop supervisor ordinary false ; final cut=evidence_published",
            "append_stage_completed",
            "stage_checkpoint_pending",
        ),
        (
            "own ; noisy ; baseline at=1:lost cut=launch_unresolved",
            "append_plan_tail_cancelled",
            "plan_tail_cancellation_pending",
        ),
    ] {
        let verdict = judge(&build(script).unwrap());
        assert_eq!(
            (verdict.resume_action, verdict.last_durable_phase),
            (Some(action), Some(phase)),
            "{script}: {:?}",
            verdict.errors
        );
        assert_eq!(verdict.exit(), 3, "{script}");
    }
}

#[test]
fn honest_ends_that_the_reference_forbids_are_legal_in_our_version() {
    for (script, code) in [
        // A final attempt with unresolved work must be preserved, and must not be (L10).
        (
            "final-test ; baseline ; final interrupted preserve at=0:vanish",
            "invalid_final_rollback",
        ),
        // A crash and an abort have no common status (L9); a crash that ran over has none either.
        ("wait launch_finished#0 20 ; baseline timeout at=0:crash", "launch_outcome_mismatch"),
        // A receipt after the window makes an interrupted attempt a timeout (L18).
        (
            "wait launch_aborted 100 ; baseline cancelled at=0:abort",
            "unclassified_operational_overrun",
        ),
        // The tail of a noisy stage after a crash could only be launched (L30).
        (
            "noisy ; drop stop_requested ; baseline crash at=1:crash stop=2",
            "tail_cancel_without_stop",
        ),
        // The second arm of a pair never published (L12).
        ("noisy ; baseline ; candidate crash at=2:crash", "incomplete_pair"),
    ] {
        let reference = judge(&build(script).unwrap());
        assert!(
            reference.errors.iter().any(|error| error.code == code),
            "{script}: {:?}",
            reference.errors
        );
        let own = judge(&build(&format!("own ; {script}")).unwrap());
        assert!(own.errors.iter().all(|error| error.code != code), "{script}: {:?}", own.errors);
    }
}

#[test]
fn a_head_ahead_of_the_journal_is_recoverable_in_our_version() {
    for script in [
        "baseline ; candidate cut=prepared ; git commit b ; git diff-from baseline candidate.txt",
        "baseline ; candidate discard cut=decided ; git commit a",
    ] {
        let reference = judge(&build(&format!("git on ; {script}")).unwrap());
        assert!(
            reference.errors.iter().any(|error| error.code == "head_chain_mismatch"),
            "{script}"
        );
        let own = judge(&build(&format!("git on ; own ; {script}")).unwrap());
        assert_eq!(own.class, Class::Recoverable, "{script}: {:?}", own.errors);
        let strict = judge(&build(&format!("git on ; own ; strict ; {script}")).unwrap());
        assert_eq!(strict.class, Class::Invalid, "{script}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_in_any_file_end_in_a_verdict(bytes in prop::collection::vec(any::<u8>(), 0..400), file in 0..8_usize) {
        let path = ["contract.json", "contract.sha256", "journal.jsonl", "results.jsonl", "boundaries/a-000.json",
            "evidence/r-000-0.json", "snapshots/a-000-launch-plan.json", "run.finalized.json"][file];
        let mut built = build("baseline ; close").unwrap();
        built.world.write(path, bytes);
        prop_assert_eq!(judge(&built).class, Class::Invalid);
    }
}
