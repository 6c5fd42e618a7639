//! The scenarios of the protocol's self-test, and a case for every line of its checklist.

use super::{
    cases, scenarios,
    selftest::{finding, run},
};

#[test]
fn every_scenario_of_the_protocol_comes_out_as_stated() {
    let all = scenarios();
    assert_eq!(all.iter().map(|case| case.number).collect::<Vec<_>>(), (1..=124).collect::<Vec<_>>());
    let ran = all.iter().map(|case| run(case, &case.script, &case.expected));
    let wrong: Vec<String> = ran.filter(|ran| !ran.differs.is_empty())
        .map(|ran| format!("{} {}: {}", ran.case.number, ran.case.name, ran.differs)).collect();
    assert!(wrong.is_empty(), "{} of 124:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_scenario_comes_out_in_our_version_as_stated() {
    let ran = scenarios().into_iter().map(|case| {
        let due = case.own.clone().map_or(case.expected.clone(), |(own, _)| own);
        run(&case, &format!("own ; {}", case.script), &due)
    });
    let wrong: Vec<String> = ran.filter(|ran| !ran.differs.is_empty())
        .map(|ran| format!("{} {}: {}", ran.case.number, ran.case.name, ran.differs)).collect();
    assert!(wrong.is_empty(), "{} of 124:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_case_of_the_checklist_is_found_under_its_line() {
    let wrong: Vec<String> = cases().iter().map(finding).filter(|ran| !ran.differs.is_empty())
        .map(|ran| format!("{} {} | {}\n    {}", ran.case.number, ran.case.name, ran.case.script, ran.differs)).collect();
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}
