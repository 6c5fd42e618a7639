//! The frozen launch plan of an attempt (J.14, E.2).

use std::collections::BTreeMap;

use super::{
    super::{
        bytes::{Map, Value},
        contract::Contract,
        fields::{
            Due, Usage, add, amount, digest, field, has_keys, is_input, is_pair, is_seed,
            reference, schema_version, usage,
        },
        findings::Findings,
        scalar::{is_safe_id, is_unit, is_within},
    },
    Arm, Case, Phase, Role, noise,
    workspace::{self, Workspace},
};

/// A plan.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The launches in order.
    pub launches: Vec<Entry>,
}

/// A planned launch.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its stage.
    pub stage: String,
    /// Its arm.
    pub arm: Option<Arm>,
    /// Its phase.
    pub phase: Option<Phase>,
    /// What it may use.
    pub allocation: Usage,
    /// Seconds it may take.
    pub timeout: i128,
    /// Its workspace.
    pub workspace: Option<Workspace>,
    /// All its fields, for the intent to repeat.
    pub map: Map,
}

const KEYS: [&str; 14] = [
    "ordinal",
    "stage",
    "arm",
    "phase",
    "pair_id",
    "seed",
    "input_id",
    "workspace_id",
    "workspace",
    "allocation",
    "timeout_seconds",
    "stage_access_sha256",
    "effective_config_sha256",
    "generated_state_sha256",
];

impl Plan {
    /// The sum of all allocations.
    pub fn requested(&self) -> Usage {
        let mut sum = Usage::new();
        self.launches.iter().for_each(|entry| add(&mut sum, &entry.allocation));
        sum
    }

    /// The sum of the timeouts from a launch on.
    pub fn timeouts_from(&self, ordinal: usize) -> i128 {
        self.launches
            .iter()
            .skip(ordinal)
            .fold(0_i128, |sum, entry| sum.saturating_add(entry.timeout))
    }

    /// How many launches a stage has.
    pub fn count(&self, stage: &str) -> usize {
        self.launches.iter().filter(|entry| entry.stage == stage).count()
    }
}

/// Whose plan it is.
#[derive(Debug, Clone, Copy)]
pub struct Whose<'w> {
    /// The attempt.
    pub attempt: &'w str,
    /// Its role.
    pub role: Role,
}

/// Judges the plan that a reference leads to.
pub fn plan(out: &mut Findings, case: Case<'_>, value: &Value, whose: Whose<'_>) -> Option<Plan> {
    let path = format!("snapshots/{}-launch-plan.json", whose.attempt);
    let reference =
        out.within(253, |out| reference(out, case.shelf, value, "launch_plan", Due::Exact(&path)))?;
    let object = out.within(253, |out| reference.object(out, case.shelf))?;
    out.at(&reference.path, None, |out| {
        let map = object.map();
        let code = "invalid_launch_plan";
        out.due(
            has_keys(map, &["schema_version", "attempt_id", "launches"]),
            254,
            code,
            "the keys of the plan are not the three",
        );
        out.within(255, |out| schema_version(out, map, case.profile(), 1));
        let same = field(map, "attempt_id").text() == Some(whose.attempt);
        out.due(
            same,
            256,
            "launch_plan_attempt_mismatch",
            format!("the plan is not that of `{}`", whose.attempt),
        );
        let items = field(map, "launches").list().unwrap_or_default();
        out.due(!items.is_empty(), 257, code, "`launches` is not a non-empty array");
        let mut launches = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.map() {
                Some(map) => launches.push(entry(out, case, whose, index, map)),
                None => out.find(258, code, format!("launch {index} is not an object")),
            }
        }
        let plan = Plan { launches };
        whole(out, case, whose.role, &plan);
        Some(plan)
    })
}

fn entry(out: &mut Findings, case: Case<'_>, whose: Whose<'_>, index: usize, map: &Map) -> Entry {
    let code = "invalid_launch_plan";
    out.due(
        has_keys(map, &KEYS),
        259,
        code,
        format!("the keys of launch {index} are not the fourteen"),
    );
    let ordinal = i128::try_from(index).unwrap_or(i128::MAX);
    out.due(
        field(map, "ordinal").is_int(ordinal, case.equality()),
        260,
        code,
        format!("the ordinal of launch {index} is not {index}"),
    );
    let stage = field(map, "stage").text().unwrap_or_default();
    out.due(is_unit(stage), 261, code, format!("`stage` of launch {index} names no stage"));
    let arm = field(map, "arm").text().and_then(Arm::of);
    out.due(arm.is_some(), 262, code, format!("`arm` of launch {index} is unknown"));
    let phase = field(map, "phase").text().and_then(Phase::of);
    out.due(phase.is_some(), 263, code, format!("`phase` of launch {index} is unknown"));
    sampling(out, index, map);
    let id = field(map, "workspace_id").text().filter(|id| is_safe_id(id));
    out.due(id.is_some(), 267, code, format!("`workspace_id` of launch {index} is no id"));
    let workspace = id.and_then(|id| {
        let use_ = workspace::Use {
            attempt: whose.attempt,
            id,
            arm: field(map, "arm").text().unwrap_or_default(),
        };
        out.within(268, |out| workspace::workspace(out, case, field(map, "workspace"), use_))
    });
    let units = case.contract.units();
    let allocation = out.within(269, |out| {
        usage(out, field(map, "allocation"), "allocation", &units, case.profile())
    });
    let timeout = case.profile().positive(field(map, "timeout_seconds"));
    out.due(
        timeout.is_some(),
        271,
        "invalid_launch_timeout",
        format!("`timeout_seconds` of launch {index} is not a positive integer"),
    );
    bindings(out, case.contract, stage, map);
    out.due(
        timeout.is_none_or(|timeout| timeout == case.contract.evaluation.timeout),
        275,
        "launch_plan_contract_mismatch",
        "the timeout is not that of the contract",
    );
    let calls = allocation.as_ref().map(|allocation| amount(allocation, "evaluator_calls"));
    let enough = calls.is_none_or(|calls| if case.is_own() { calls == 1 } else { calls >= 1 });
    out.due(
        enough,
        276,
        "invalid_launch_plan_allocation",
        format!("launch {index} is not given its evaluator call"),
    );
    Entry {
        stage: stage.to_owned(),
        arm,
        phase,
        allocation: allocation.unwrap_or_default(),
        timeout: timeout.unwrap_or(0),
        workspace,
        map: map.clone(),
    }
}

/// Pair, seed and input of a launch (264 to 266).
fn sampling(out: &mut Findings, index: usize, map: &Map) {
    let code = "invalid_launch_plan";
    out.due(
        is_pair(field(map, "pair_id")),
        264,
        code,
        format!("`pair_id` of launch {index} is neither null nor an id"),
    );
    out.due(is_seed(field(map, "seed")), 265, code, format!("`seed` of launch {index} is no seed"));
    out.due(
        is_input(field(map, "input_id")),
        266,
        code,
        format!("`input_id` of launch {index} is no input"),
    );
}

/// The digests of a launch are the contract's (270, 272 to 274).
fn bindings(out: &mut Findings, contract: &Contract, stage: &str, map: &Map) {
    let empty = super::super::contract::EMPTY_STATE_SHA256.to_owned();
    for (rule, key, due) in [
        (272, "stage_access_sha256", contract.access.get(stage)),
        (273, "effective_config_sha256", contract.config.get(stage)),
        (274, "generated_state_sha256", Some(&empty)),
    ] {
        let Some(found) = out.within(270, |out| digest(out, map, key)) else { continue };
        out.due(
            due.is_none_or(|due| due == found),
            rule,
            "launch_plan_contract_mismatch",
            format!("`{key}` is not that of the contract"),
        );
    }
}

/// The plan as a whole.
fn whole(out: &mut Findings, case: Case<'_>, role: Role, plan: &Plan) {
    for (unit, total) in plan.requested() {
        let cap = amount(&case.contract.caps, &unit);
        out.due(
            total <= cap,
            277,
            "launch_plan_exceeds_cap",
            format!("the plan takes {total} of `{unit}`, the cap is {cap}"),
        );
    }
    coverage(out, &case.stages(role), plan);
    if case.contract.counts_queries() {
        for entry in &plan.launches {
            let queries = amount(&entry.allocation, "validation_queries");
            if case.contract.is_protected(&entry.stage) {
                out.due(
                    queries >= 1,
                    280,
                    "launch_plan_missing_gate_use",
                    format!("a launch of `{}` is given no query", entry.stage),
                );
            } else {
                out.due(
                    queries == 0,
                    281,
                    "launch_plan_unexpected_gate_use",
                    format!("a launch of `{}` is given queries", entry.stage),
                );
            }
        }
    }
    arms(out, plan);
    if case.contract.measurement.noisy {
        noise::noisy(out, case, role, plan);
    } else {
        deterministic(out, &case.stages(role), role, plan);
    }
}

fn coverage(out: &mut Findings, stages: &[String], plan: &Plan) {
    let mut order: Vec<&str> = Vec::new();
    let mut grouped = true;
    for entry in &plan.launches {
        if order.last() != Some(&entry.stage.as_str()) {
            grouped &= !order.contains(&entry.stage.as_str());
            order.push(&entry.stage);
        }
    }
    let covered = stages.iter().all(|stage| order.contains(&stage.as_str()))
        && order.iter().all(|stage| stages.iter().any(|known| known == stage));
    if out.due(
        covered,
        278,
        "launch_plan_stage_coverage",
        "the plan does not cover exactly the stages of the role",
    ) {
        let sealed = grouped && order.iter().zip(stages).all(|(found, due)| found == due);
        out.due(
            sealed,
            279,
            "launch_plan_stage_order",
            "the launches are not grouped in the sealed order of stages",
        );
    }
}

fn deterministic(out: &mut Findings, stages: &[String], role: Role, plan: &Plan) {
    let code = "invalid_deterministic_plan";
    for stage in stages {
        out.due(
            plan.count(stage) == 1,
            287,
            code,
            format!("the stage `{stage}` is not launched exactly once"),
        );
    }
    for entry in &plan.launches {
        let unsampled =
            ["pair_id", "seed", "input_id"].iter().all(|key| field(&entry.map, key).is_null());
        let right = entry.arm == Some(role.target())
            && entry.phase == Some(Phase::Deterministic)
            && unsampled;
        out.due(
            right,
            288,
            code,
            format!(
                "the launch of `{}` has another arm or phase, or a sampling identity",
                entry.stage
            ),
        );
    }
}

/// The two arms share nothing (282 to 285).
fn arms(out: &mut Findings, plan: &Plan) {
    // One look per workspace, not per launch: a long noisy plan has two.
    let mut distinct: BTreeMap<(Option<Arm>, &str), &Workspace> = BTreeMap::new();
    for entry in &plan.launches {
        if let Some(workspace) = &entry.workspace {
            distinct.insert((entry.arm, &workspace.id), workspace);
        }
    }
    let of = |arm: Arm| {
        distinct
            .iter()
            .filter(move |((found, _), _)| *found == Some(arm))
            .map(|(_, workspace)| *workspace)
    };
    for incumbent in of(Arm::Incumbent) {
        for candidate in of(Arm::Candidate) {
            pair(out, incumbent, candidate);
        }
    }
}

fn pair(out: &mut Findings, incumbent: &Workspace, candidate: &Workspace) {
    let shared_id = incumbent.id == candidate.id;
    out.due(
        !shared_id,
        282,
        "shared_arm_workspace",
        format!("both arms use the workspace `{}`", incumbent.id),
    );
    let same_root =
        incumbent.root == candidate.root || incumbent.root_identity == candidate.root_identity;
    out.due(
        !same_root,
        283,
        "shared_arm_workspace_root",
        "both arms are evaluated in one directory",
    );
    let same_git = incumbent.git_dir_identity == candidate.git_dir_identity;
    out.due(
        !same_git,
        284,
        "shared_arm_workspace_git_dir",
        "both arms share one administrative directory of Git",
    );
    let nested = !same_root
        && (is_within(&incumbent.root, &candidate.root)
            || is_within(&candidate.root, &incumbent.root));
    out.due(
        !nested,
        285,
        "nested_arm_workspace_roots",
        "the directory of one arm lies in that of the other",
    );
}

/// The value that a planned launch gives a field.
pub fn planned<'e>(entry: &'e Entry, key: &str) -> &'e Value {
    field(&entry.map, key)
}
