//! Plans of noisy measurements: phases, pairs, and who goes first (J.14, E.2).

use std::collections::BTreeSet;

use super::{
    super::{bytes::canonical, fields::field, findings::Findings},
    Arm, Case, Phase, Role,
    plan::{Entry, Plan, planned},
};

pub(super) fn noisy(out: &mut Findings, case: Case<'_>, role: Role, plan: &Plan) {
    if role == Role::Candidate {
        let has = |arm: Arm| {
            plan.launches.iter().any(|entry| entry.arm == Some(arm) && entry.workspace.is_some())
        };
        let both = has(Arm::Incumbent) && has(Arm::Candidate);
        out.due(both, 286, "missing_isolated_arm_workspace", "an arm has no workspace of its own");
    }
    let deciding = case.deciding_stage(role);
    for stage in case.stages(role) {
        let entries: Vec<&Entry> =
            plan.launches.iter().filter(|entry| entry.stage == stage).collect();
        if stage == deciding {
            acceptance(out, case, role, &entries);
        } else {
            single(out, role, &stage, &entries);
        }
    }
}

fn single(out: &mut Findings, role: Role, stage: &str, entries: &[&Entry]) {
    let code = "invalid_noisy_plan";
    out.due(
        entries.len() == 1,
        289,
        code,
        format!("the stage `{stage}` is not launched exactly once"),
    );
    for entry in entries {
        let right = entry.arm == Some(role.target())
            && entry.phase == Some(Phase::Exploration)
            && planned(entry, "pair_id").is_null()
            && identity(entry).is_some();
        out.due(
            right,
            290,
            code,
            format!("the launch of `{stage}` has another arm, phase or pair, or no seed or input"),
        );
    }
}

/// Seed and input, unless both are null.
fn identity(entry: &Entry) -> Option<String> {
    let (seed, input) = (planned(entry, "seed"), planned(entry, "input_id"));
    (!seed.is_null() || !input.is_null())
        .then(|| format!("{} {}", canonical(seed), canonical(input)))
}

fn acceptance(out: &mut Findings, case: Case<'_>, role: Role, entries: &[&Entry]) {
    let measurement = &case.contract.measurement;
    let targets: Vec<&&Entry> =
        entries.iter().filter(|entry| entry.arm == Some(role.target())).collect();
    let count =
        |phase: Phase| as_count(targets.iter().filter(|entry| entry.phase == Some(phase)).count());
    let enough = as_count(targets.len()) >= measurement.minimum
        && count(Phase::Exploration) >= measurement.exploration
        && count(Phase::Confirmation) >= measurement.confirmation;
    out.due(
        enough,
        291,
        "insufficient_noisy_launch_plan",
        "the acceptance stage is launched less often than the contract asks",
    );
    if role == Role::Candidate { pairs(out, entries) } else { alone(out, entries) }
}

fn as_count(count: usize) -> i128 {
    i128::try_from(count).unwrap_or(i128::MAX)
}

fn pairs(out: &mut Findings, entries: &[&Entry]) {
    out.due(
        entries.len().is_multiple_of(2),
        292,
        "invalid_noisy_pair_plan",
        "the acceptance launches do not come in pairs",
    );
    let (mut ids, mut identities) = (BTreeSet::new(), BTreeSet::new());
    let mut firsts: Vec<(Option<Phase>, Option<Arm>)> = Vec::new();
    for pair in entries.chunks_exact(2) {
        let [first, second] = pair else { continue };
        let same = [
            "pair_id",
            "phase",
            "seed",
            "input_id",
            "effective_config_sha256",
            "generated_state_sha256",
        ]
        .iter()
        .all(|key| field(&first.map, key) == field(&second.map, key));
        let matched = same
            && first.arm != second.arm
            && !planned(first, "pair_id").is_null()
            && identity(first).is_some();
        if !out.due(
            matched,
            293,
            "invalid_noisy_pair_plan",
            "neighbouring launches are not one arm each of a pair",
        ) {
            continue;
        }
        let id = planned(first, "pair_id").text().unwrap_or_default();
        out.due(
            ids.insert(id),
            294,
            "duplicate_noisy_pair_plan",
            format!("the pair `{id}` comes twice"),
        );
        out.due(
            identities.insert(identity(first)),
            295,
            "reused_noisy_plan_identity",
            format!("the seed and input of pair `{id}` come twice"),
        );
        firsts.push((first.phase, first.arm));
    }
    let code = "uncounterbalanced_arm_order";
    out.due(is_balanced(&firsts), 296, code, "one arm goes first too often");
    for phase in [Phase::Exploration, Phase::Confirmation] {
        let inside: Vec<_> =
            firsts.iter().copied().filter(|(found, _)| *found == Some(phase)).collect();
        out.due(
            inside.len() < 2 || is_balanced(&inside),
            297,
            code,
            "one arm goes first too often within a phase",
        );
    }
}

fn is_balanced(firsts: &[(Option<Phase>, Option<Arm>)]) -> bool {
    let incumbents = firsts.iter().filter(|(_, arm)| *arm == Some(Arm::Incumbent)).count();
    incumbents.abs_diff(firsts.len() - incumbents) <= 1
}

fn alone(out: &mut Findings, entries: &[&Entry]) {
    let mut identities = BTreeSet::new();
    for entry in entries {
        let found = identity(entry);
        let right = entry.arm == Some(Arm::Incumbent)
            && planned(entry, "pair_id").is_null()
            && matches!(entry.phase, Some(Phase::Exploration | Phase::Confirmation))
            && found.is_some();
        out.due(
            right,
            298,
            "invalid_noisy_plan",
            "a launch is not that of the incumbent, unpaired, in a phase and with a seed or input",
        );
        if found.is_some() {
            out.due(
                identities.insert(found),
                299,
                "reused_noisy_plan_identity",
                "a seed and input come twice",
            );
        }
    }
}
