//! The contract of a made-up run, and the world around it: one immutable evaluator, one writable file, one
//! generated path (`domains/run.md` K).

use std::collections::BTreeMap;

use super::super::{
    bytes::{Map, Value, canonical, file_digest, object_digest, parse},
    contract::EMPTY_STATE_SHA256,
    disk::{Memory, Node},
    profile::{Profile, rules_digest},
};

/// Where a made-up run stands: in memory, or in places and commits that are really there.
#[derive(Debug, Clone)]
pub struct Ground {
    /// The supervisor's worktree.
    pub root: String,
    /// The folder of the worktrees that launches run in.
    pub workspaces: String,
    /// The evaluator's executable.
    pub program: String,
    /// Commits and their trees, the baseline first; more are made up when they run out.
    pub commits: Vec<(String, String)>,
    /// The digests of directories that are really there.
    pub identities: BTreeMap<String, String>,
}

impl Default for Ground {
    fn default() -> Self {
        Self {
            root: "/repo".to_owned(),
            workspaces: "/ws".to_owned(),
            program: "/opt/evaluate".to_owned(),
            commits: vec![("00000000000000000000000000000000000000c0".to_owned(), "a".repeat(40))],
            identities: BTreeMap::new(),
        }
    }
}

impl Ground {
    /// The run directory.
    pub fn run(&self) -> String {
        format!("{}/.research-loop/run", self.root)
    }

    /// The commit that runs start from.
    pub fn baseline(&self) -> &str {
        self.commits.first().map_or("", |(commit, _)| commit)
    }
}

/// What a contract is made from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The profile.
    pub profile: Profile,
    /// Whether arms are paired.
    pub noisy: bool,
    /// Whether there is a final test.
    pub final_test: bool,
    /// Whether less is better.
    pub minimize: bool,
    /// The required stages.
    pub stages: Vec<String>,
    /// Launches of the acceptance stage per arm.
    pub repetitions: usize,
    /// Attempts that the budget must cover; the protocol's own scenarios have few.
    pub attempts: usize,
    /// The time that all times count from.
    pub deadline: Option<String>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            profile: Profile::Reference,
            noisy: false,
            final_test: false,
            minimize: false,
            stages: vec!["development".to_owned(), "validation".to_owned()],
            repetitions: 2,
            attempts: 0,
            deadline: None,
        }
    }
}

/// Reads JSON that this domain wrote itself.
pub(super) fn json(text: &str) -> Value {
    parse(text.as_bytes()).unwrap_or(Value::Null)
}

/// Bytes as they are stored: canonical, with LF.
pub(super) fn stored(value: &Value) -> Vec<u8> {
    let mut text = canonical(value);
    text.push('\n');
    text.into_bytes()
}

/// Puts a value into an object.
pub(super) fn put(value: &mut Value, key: &str, new: Value) {
    if let Value::Map(map) = value {
        map.insert(key.to_owned(), new);
    }
}

impl Setup {
    /// All stages.
    pub fn all_stages(&self) -> Vec<String> {
        let last = self.final_test.then(|| "final_test".to_owned());
        self.stages.iter().cloned().chain(last).collect()
    }

    /// The stage whose values decide.
    pub fn acceptance(&self) -> &str {
        self.stages.get(1).or(self.stages.first()).map_or("", String::as_str)
    }

    /// The contract before digests are derived.
    pub fn contract(&self, ground: &Ground) -> Value {
        let validator = match self.profile {
            Profile::Reference => "f".repeat(64),
            Profile::Own => rules_digest(),
        };
        let (direction, stages) =
            (if self.minimize { "minimize" } else { "maximize" }, texts(&self.stages));
        let last = match (self.final_test, self.minimize) {
            (false, _) => "null".to_owned(),
            (true, false) => final_test("1.0", "null"),
            (true, true) => final_test("null", "1.0"),
        };
        let deadline =
            self.deadline.as_ref().map_or("null".to_owned(), |text| format!("\"{text}\""));
        let parts = [
            format!("\"schema_version\":2,\"protocol\":{{\"version\":\"{}\",\"validator_sha256\":\"{validator}\"}}", self.profile.version()),
            format!("\"run_tag\":\"run\",\"feedback_mode\":\"sealed_gate\",\"baseline_commit\":\"{}\",\"deadline_at\":{deadline}", ground.baseline()),
            format!("\"objective\":{{\"goal\":\"raise the score\",\"intended_population\":\"inputs to come\",\"primary_metric\":\"score\",\"direction\":\"{direction}\",\"target\":null,\"minimum_delta\":0.05,\"acceptance_split\":\"{}\",\"hard_constraints\":[\"integrity\"]}}", self.acceptance()),
            self.measurement(),
            "\"scope\":{\"writable_paths\":[\"candidate.txt\",\"src\"],\"immutable_paths\":[\"eval.py\"],\"generated_paths\":[\"runtime-state\"]}".to_owned(),
            format!("\"generated_state_policy\":{{\"mode\":\"reset_each_launch\",\"initial_state_sha256\":\"{EMPTY_STATE_SHA256}\"}}"),
            "\"control_policy\":{\"authorization\":\"bounded\",\"stop_conditions\":[\"budget\"],\"plateau_trigger\":{\"consecutive_non_improvements\":3,\"action\":\"stop\"},\"counterexamples\":{\"fixture_integrity\":\"fixtures stay\"},\"cleanup_grace_seconds\":30,\"actual_usage_sources\":{\"evaluator_calls\":\"receipts\",\"validation_queries\":\"receipts\"},\"hard_constraint_rules\":{\"integrity\":\"nothing else changes\"}}".to_owned(),
            evaluation(&ground.program),
            format!("\"immutable_files\":[{{\"path\":\"eval.py\",\"sha256\":\"{}\"}}]", file_digest(EVALUATOR)),
            self.budgets(),
            format!("\"promotion\":{{\"required_stages\":{stages},\"required_telemetry\":{},\"acceptance_rule\":\"better by the delta\"}}", keyed(&self.stages, "[\"score\"]")),
            "\"stage_resources\":{},\"stage_access_sha256\":{},\"stage_config_sha256\":{}".to_owned(),
            format!("\"final_test\":{last}"),
        ];
        let mut contract = json(&format!("{{{}}}", parts.join(",")));
        put(&mut contract, "stage_resources", self.resources());
        contract
    }

    fn measurement(&self) -> String {
        let (mode, aggregation, rule) = if self.noisy {
            ("noisy", "mean", "paired_mean_delta")
        } else {
            ("deterministic", "single", "none")
        };
        let minimum = if self.noisy { self.repetitions } else { 1 };
        let phases = usize::from(self.noisy);
        format!(
            "\"measurement\":{{\"mode\":\"{mode}\",\"aggregation\":\"{aggregation}\",\"minimum_repetitions\":{minimum},\"exploration_repetitions\":{phases},\"confirmation_repetitions\":{phases},\"uncertainty_rule\":\"{rule}\"}}"
        )
    }

    fn budgets(&self) -> String {
        let others = self.stages.len().saturating_sub(1);
        let paired = if self.noisy { self.repetitions * 2 } else { 1 };
        let reserve = match (self.final_test, self.noisy) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => self.repetitions,
        };
        let (calls, queries) = if self.noisy { (30, 20) } else { (10, 10) };
        let total = |least: usize| least.max(self.attempts * (others + paired) + 10);
        let unit = |name: &str, total: usize| {
            format!(
                "\"{name}\":{{\"total\":{total},\"operational_reserve\":1,\"final_test_reserve\":{reserve}}}"
            )
        };
        format!(
            "\"budgets\":{{{},{}}},\"per_attempt_max\":{{\"evaluator_calls\":{},\"validation_queries\":{}}}",
            unit("evaluator_calls", total(calls)),
            unit("validation_queries", total(queries)),
            others + paired,
            (others + paired).saturating_sub(1),
        )
    }

    fn resources(&self) -> Value {
        let mut map = Map::new();
        for (index, stage) in self.all_stages().iter().enumerate() {
            let visibility = if index == 0 { "visible" } else { "protected" };
            let resource = format!(
                "{{\"resource_manifest_sha256\":\"{}\",\"capability_sha256\":\"{}\",\"visibility\":\"{visibility}\"}}",
                file_digest(format!("manifest of {stage}").as_bytes()),
                file_digest(format!("capability of {stage}").as_bytes())
            );
            map.insert(stage.clone(), json(&resource));
        }
        Value::Map(map)
    }
}

/// The evaluator's bytes.
pub const EVALUATOR: &[u8] = b"print(1.0)\n";
/// The executable's bytes.
pub const EXECUTABLE: &[u8] = b"#!evaluate\n";

fn evaluation(program: &str) -> String {
    format!(
        "\"evaluation\":{{\"argv\":[\"{program}\",\"eval.py\"],\"cwd\":\".\",\"extractor_path\":\"eval.py\",\"executable_path\":\"{program}\",\"executable_sha256\":\"{}\",\"environment\":{{\"inherit_parent\":false,\"variables\":{{\"LANG\":\"C.UTF-8\"}},\"secret_variable_names\":[\"BROKER_TOKEN\"],\"dependency_fingerprints\":{{\"lockfile\":\"{}\"}}}},\"environment_sha256\":\"\",\"timeout_seconds\":10,\"invocation_sha256\":\"\",\"evaluator_sha256\":\"\"}}",
        file_digest(EXECUTABLE),
        "b".repeat(64)
    )
}

fn final_test(minimum: &str, maximum: &str) -> String {
    format!(
        "{{\"stage\":\"final_test\",\"required_telemetry\":[\"score\"],\"minimum_value\":{minimum},\"maximum_value\":{maximum},\"comparable_to_acceptance_split\":false,\"maximum_regression\":null}}"
    )
}

fn texts(items: &[String]) -> String {
    canonical(&Value::List(items.iter().map(Value::of).collect()))
}

fn keyed(stages: &[String], text: &str) -> String {
    let map = stages.iter().map(|stage| (stage.clone(), json(text))).collect();
    canonical(&Value::Map(map))
}

/// The effective configuration of a stage.
pub(super) fn config(contract: &Value, stage: &str) -> Value {
    let access = contract.field("stage_access_sha256").field(stage).clone();
    Value::Map(Map::from([
        ("schema_version".to_owned(), Value::from(1)),
        ("stage".to_owned(), Value::of(stage)),
        ("stage_access_sha256".to_owned(), access),
        ("settings".to_owned(), Value::Map(Map::new())),
    ]))
}

/// Fills in all digests that follow from the rest.
pub(super) fn derive(contract: &mut Value) {
    let mut evaluation = contract.field("evaluation").clone();
    let environment = object_digest(evaluation.field("environment"));
    put(&mut evaluation, "environment_sha256", Value::of(environment));
    let parts = [
        "argv",
        "cwd",
        "extractor_path",
        "executable_path",
        "executable_sha256",
        "environment_sha256",
        "timeout_seconds",
    ];
    let preimage: Map =
        parts.iter().map(|key| ((*key).to_owned(), evaluation.field(key).clone())).collect();
    let invocation = Value::of(object_digest(&Value::Map(preimage)));
    let evaluator = Map::from([
        ("invocation_sha256".to_owned(), invocation.clone()),
        ("immutable_files".to_owned(), contract.field("immutable_files").clone()),
    ]);
    put(&mut evaluation, "invocation_sha256", invocation);
    put(&mut evaluation, "evaluator_sha256", Value::of(object_digest(&Value::Map(evaluator))));
    if evaluation.map().is_some() {
        put(contract, "evaluation", evaluation);
    }
    let resources = contract.field("stage_resources").clone();
    let each = |digest: &dyn Fn(&str, &Value) -> String| {
        let map = resources.map().into_iter().flatten();
        Value::Map(
            map.map(|(stage, resource)| (stage.clone(), Value::of(digest(stage, resource))))
                .collect(),
        )
    };
    let access = each(&|_, resource| object_digest(resource));
    put(contract, "stage_access_sha256", access);
    let configs = {
        let contract = &*contract;
        each(&|stage, _| file_digest(&stored(&config(contract, stage))))
    };
    put(contract, "stage_config_sha256", configs);
}

/// The files around a run.
pub(super) fn surroundings(ground: &Ground) -> Memory {
    let mut disk = Memory::default();
    for folder in ["boundaries", "designs", "evidence", "logs", "snapshots", "quarantine"] {
        disk.put(&format!("{}/{folder}", ground.run()), Node::Folder);
    }
    disk.put(&ground.program, Node::Program(EXECUTABLE.to_vec()));
    disk.put(&format!("{}/.git", ground.root), Node::Folder);
    checkout(&mut disk, &ground.root);
    disk
}

/// A worktree's files.
pub(super) fn checkout(disk: &mut Memory, root: &str) {
    disk.put(&format!("{root}/eval.py"), Node::File(EVALUATOR.to_vec()));
    disk.put(&format!("{root}/candidate.txt"), Node::File(b"text\n".to_vec()));
}
