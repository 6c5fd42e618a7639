//! An attempt of a made-up run, written as a supervisor writes it (F, G, H), with the fates that were asked.

use super::{
    super::bytes::{Map, Value, canonical, file_digest},
    setup::{json, put},
    world::{World, number},
};

/// What becomes of an attempt.
#[derive(Debug, Clone, Default)]
pub struct Fate {
    /// `baseline`, `candidate` or `final`.
    pub role: String,
    /// The status that is decided.
    pub status: String,
    /// What happens to launches: place and fate.
    pub launches: Vec<(usize, String)>,
    /// The event after which nothing more is written: name and place in the attempt.
    pub cut: Option<(String, usize)>,
    /// The stage that fails, by place.
    pub fails: Option<usize>,
    /// The launch before which a stop comes and the rest is cancelled.
    pub stop_before: Option<usize>,
    /// Whether a candidate never commits, or nothing is ever launched.
    pub idle: bool,
    /// Whether a candidate's commit stays although it is not kept.
    pub preserve: bool,
    /// What the deciding stage measures, if not the usual.
    pub score: Option<String>,
}

/// A planned launch.
pub(super) struct Entry {
    stage: String,
    arm: &'static str,
    phase: &'static str,
    pair: Option<String>,
    seed: Option<usize>,
}

/// An attempt while it is written.
pub(super) struct Attempt<'w> {
    pub(super) world: &'w mut World,
    pub(super) fate: &'w Fate,
    pub(super) id: String,
    pub(super) experiment: String,
    pub(super) index: usize,
    pub(super) incumbent: String,
    pub(super) head: String,
    pub(super) commit: Option<String>,
    pub(super) admission: Value,
    pub(super) admission_sha256: String,
    pub(super) plan: Value,
    pub(super) design: Value,
    pub(super) launches: Vec<Launched>,
    pub(super) results: Map,
    pub(super) evidence: Map,
    pub(super) prepared: String,
    pub(super) ended: String,
    pub(super) before: Vec<(String, usize)>,
    pub(super) done: bool,
    pub(super) cleared: bool,
    pub(super) used: super::super::fields::Usage,
}

/// A launch that was written.
pub(super) struct Launched {
    pub(super) result: String,
    pub(super) published: Option<Value>,
}

/// Writes an attempt.
pub fn attempt(world: &mut World, fate: &Fate) {
    let index = world.attempts.len();
    let names = [
        "prepared",
        "committed",
        "launch_intent",
        "launched",
        "launch_finished",
        "evidence_published",
        "stage_completed",
        "integrity_cleared",
        "evaluated",
        "decided",
        "rolled_back",
        "finalized",
        "launch_aborted",
        "cleanup_confirmed",
    ];
    let before = names.iter().map(|name| ((*name).to_owned(), world.count(name))).collect();
    let (incumbent, head) = (world.incumbent.clone(), world.head.clone());
    let mut attempt = Attempt {
        world,
        fate,
        id: format!("a-{index:03}"),
        experiment: format!("x-{index:03}"),
        index,
        incumbent,
        head,
        commit: None,
        admission: Value::Null,
        admission_sha256: String::new(),
        plan: Value::Null,
        design: Value::Null,
        launches: Vec::new(),
        results: Map::new(),
        evidence: Map::new(),
        prepared: String::new(),
        ended: String::new(),
        before,
        done: false,
        cleared: false,
        used: super::super::fields::Usage::new(),
    };
    attempt.write();
}

impl Attempt<'_> {
    fn write(&mut self) {
        self.prepare();
        if self.fate.role == "candidate" && !self.fate.idle && !self.done {
            let tree = ["b", "d", "e", "f", "1", "2", "3", "4"]
                .get(self.index % 8)
                .copied()
                .unwrap_or("b");
            let commit = self.world.commit(tree);
            self.world.facts.diffs.insert(
                (self.incumbent.clone(), commit.clone()),
                Some(b"candidate.txt\0".to_vec()),
            );
            self.commit = Some(commit.clone());
            let place = self.world.place_of(&self.id, "candidate");
            if let Some(worktree) = self.world.facts.workspaces.get_mut(&place) {
                worktree.head = Some(commit.clone());
            }
            self.event("committed", json(&format!("{{\"candidate_commit\":\"{commit}\"}}")));
        }
        if !self.fate.idle {
            self.launch_all();
            self.evaluate();
        }
        self.decide();
    }

    /// Appends an event of the attempt; nothing more after the one that is cut at.
    pub(super) fn event(&mut self, name: &str, mut event: Value) -> Value {
        if self.done {
            return event;
        }
        for (key, value) in [
            ("attempt_id", Value::of(&self.id)),
            ("experiment_id", Value::of(&self.experiment)),
            ("iteration", number(self.index)),
            ("role", Value::of(&self.fate.role)),
        ] {
            put(&mut event, key, value);
        }
        let event = self.world.event(name, event);
        if let Some((cut, place)) = &self.fate.cut {
            let before =
                self.before.iter().find(|(known, _)| known == cut).map_or(0, |(_, count)| *count);
            self.done = cut == name && self.world.count(name) == before + place + 1;
        }
        event
    }

    pub(super) fn stages(&self) -> Vec<String> {
        if self.fate.role == "final" {
            vec!["final_test".to_owned()]
        } else {
            self.world.setup.stages.clone()
        }
    }

    pub(super) fn target(&self) -> &'static str {
        if self.fate.role == "candidate" { "candidate" } else { "incumbent" }
    }

    fn entries(&self) -> Vec<Entry> {
        let setup = &self.world.setup;
        let mut entries = Vec::new();
        for stage in self.stages() {
            let deciding = stage == setup.acceptance() || stage == "final_test";
            let entry = |arm, phase, pair: Option<String>, seed| Entry {
                stage: stage.clone(),
                arm,
                phase,
                pair,
                seed,
            };
            if !setup.noisy {
                entries.push(entry(self.target(), "deterministic", None, None));
            } else if !deciding {
                entries.push(entry(self.target(), "exploration", None, Some(1)));
            } else {
                for repetition in 0..setup.repetitions {
                    let phase = if repetition * 2 < setup.repetitions {
                        "exploration"
                    } else {
                        "confirmation"
                    };
                    let seed = Some(10 + repetition);
                    if self.fate.role == "candidate" {
                        let pair = Some(format!("p-{repetition}"));
                        let arms = if repetition % 2 == 0 {
                            ["incumbent", "candidate"]
                        } else {
                            ["candidate", "incumbent"]
                        };
                        entries.extend(arms.map(|arm| entry(arm, phase, pair.clone(), seed)));
                    } else {
                        entries.push(entry("incumbent", phase, None, seed));
                    }
                }
            }
        }
        entries
    }

    fn prepare(&mut self) {
        let entries = self.entries();
        let arms: std::collections::BTreeSet<&str> =
            entries.iter().map(|entry| entry.arm).collect();
        let mut workspaces = Map::new();
        for arm in arms {
            let commit = self.incumbent.clone();
            let snapshot = self.world.workspace(&self.id, arm, &commit);
            let reference =
                self.world.publish(&format!("snapshots/{}-ws-{arm}.json", self.id), snapshot);
            workspaces.insert(arm.to_owned(), reference);
        }
        let launches = entries
            .iter()
            .enumerate()
            .map(|(ordinal, entry)| self.planned(ordinal, entry, &workspaces))
            .collect();
        let mut plan = json(&format!("{{\"schema_version\":1,\"attempt_id\":\"{}\"}}", self.id));
        put(&mut plan, "launches", Value::List(launches));
        let plan_path = format!("snapshots/{}-launch-plan.json", self.id);
        let plan = self.world.publish(&plan_path, plan);
        self.plan = self.world.artifact(&plan_path);
        let admission_path = format!("snapshots/{}-admission.json", self.id);
        let admission = self.admission(entries.len());
        let admission = self.world.publish(&admission_path, admission);
        self.admission = self.world.artifact(&admission_path);
        admission.field("sha256").text().unwrap_or_default().clone_into(&mut self.admission_sha256);
        if self.fate.role == "candidate" {
            let design = self.design();
            self.design = self.world.publish(&format!("designs/{}.json", self.experiment), design);
        }
        let mut event = json(&format!(
            "{{\"incumbent_commit\":\"{}\",\"pre_attempt_head_commit\":\"{}\"}}",
            self.incumbent, self.head
        ));
        put(&mut event, "design", self.design.clone());
        put(&mut event, "launch_plan", plan);
        put(&mut event, "admission", admission);
        put(&mut event, "prior_boundary", self.prior());
        let event = self.event("prepared", event);
        event.field("at").text().unwrap_or_default().clone_into(&mut self.prepared);
        self.ended.clone_from(&self.prepared);
    }

    fn prior(&self) -> Value {
        let Some(prior) = self.world.attempts.last() else { return Value::Null };
        let path = format!("boundaries/{}.json", prior.id);
        let bytes = canonical(&self.world.artifact(&path));
        json(&format!(
            "{{\"path\":\"{path}\",\"sha256\":\"{}\",\"attempt_id\":\"{}\",\"finalized_seq\":{},\"result_sha256\":\"{}\"}}",
            file_digest(format!("{bytes}\n").as_bytes()),
            prior.id,
            prior.finalized_seq,
            prior.result_sha256
        ))
    }

    fn planned(&self, ordinal: usize, entry: &Entry, workspaces: &Map) -> Value {
        let contract = &self.world.contract;
        let digest = |key: &str| canonical(contract.field(key).field(&entry.stage));
        let queries = usize::from(
            contract.field("stage_resources").field(&entry.stage).field("visibility").text()
                == Some("protected"),
        );
        let text = |text: &Option<String>| {
            text.as_ref().map_or("null".to_owned(), |text| format!("\"{text}\""))
        };
        let mut value = json(&format!(
            "{{\"ordinal\":{ordinal},\"stage\":\"{}\",\"arm\":\"{}\",\"phase\":\"{}\",\"pair_id\":{},\"seed\":{},\"input_id\":null,\"workspace_id\":\"ws-{}\",\"allocation\":{{\"evaluator_calls\":1,\"validation_queries\":{queries}}},\"timeout_seconds\":{},\"stage_access_sha256\":{},\"effective_config_sha256\":{},\"generated_state_sha256\":{}}}",
            entry.stage,
            entry.arm,
            entry.phase,
            text(&entry.pair),
            entry.seed.map_or("null".to_owned(), |seed| seed.to_string()),
            entry.arm,
            canonical(contract.field("evaluation").field("timeout_seconds")),
            digest("stage_access_sha256"),
            digest("stage_config_sha256"),
            canonical(contract.field("generated_state_policy").field("initial_state_sha256")),
        ));
        put(&mut value, "workspace", workspaces.get(entry.arm).cloned().unwrap_or(Value::Null));
        if contract.field("budgets").field("validation_queries").is_null() {
            put(&mut value, "allocation", json("{\"evaluator_calls\":1}"));
        }
        value
    }

    fn admission(&self, launches: usize) -> Value {
        let mut requested = super::super::fields::Usage::new();
        for entry in self.plan.field("launches").list().unwrap_or_default() {
            for (unit, amount) in entry.field("allocation").map().into_iter().flatten() {
                *requested.entry(unit.clone()).or_insert(0) += amount.int().unwrap_or(0);
            }
        }
        let protected: Map = self
            .world
            .contract
            .field("budgets")
            .map()
            .into_iter()
            .flatten()
            .map(|(unit, budget)| {
                let kept = budget.field("operational_reserve").int().unwrap_or(0);
                let reserved = budget.field("final_test_reserve").int().unwrap_or(0);
                (
                    unit.clone(),
                    Value::from(if self.fate.role == "final" { kept } else { kept + reserved }),
                )
            })
            .collect();
        let requested: Map =
            requested.into_iter().map(|(unit, amount)| (unit, Value::from(amount))).collect();
        let seconds = self.world.window
            + if launches > 8 { i128::try_from(launches).unwrap_or(0) * 20 } else { 0 };
        let fits = self
            .world
            .contract
            .field("deadline_at")
            .text()
            .and_then(super::super::scalar::Instant::parse)
            .is_none_or(|deadline| self.world.later(seconds) <= deadline);
        let mut value = json(&format!(
            "{{\"allowed\":{fits},\"deadline_fit\":{fits},\"checked_at\":\"{}\",\"worst_case_end_at\":\"{}\"}}",
            self.world.now().print(),
            self.world.later(seconds).print()
        ));
        put(&mut value, "cumulative_before", self.world.used_value());
        put(&mut value, "requested_worst_case", Value::Map(requested));
        put(&mut value, "protected_after_launch", Value::Map(protected));
        value
    }

    fn design(&self) -> Value {
        let parent = self
            .world
            .attempts
            .iter()
            .rev()
            .find(|made| made.confirmed && made.commit == self.incumbent);
        let parent = match parent.filter(|made| made.id != "a-000") {
            Some(made) => format!(
                "{{\"kind\":\"confirmed_attempt\",\"attempt_id\":\"{}\",\"commit\":\"{}\"}}",
                made.id, made.commit
            ),
            None => format!(
                "{{\"kind\":\"baseline\",\"attempt_id\":null,\"commit\":\"{}\"}}",
                self.incumbent
            ),
        };
        let mut value = json(&format!(
            "{{\"schema_version\":1,\"experiment_id\":\"{}\",\"created_at\":\"{}\",\"implementation_parent\":{parent},\"evidence_sources\":[\"r-000-0\"],\"allowed_files\":[\"candidate.txt\"],\"forbidden_changes\":[\"the evaluator\"],\"cost_estimate\":{{\"evaluator_calls\":2,\"validation_queries\":1}},\"risks\":[],\"rejected_alternatives\":[],\"amendment\":null}}",
            self.experiment,
            self.world.now().print()
        ));
        for key in [
            "mechanism_family",
            "intervention_surface",
            "intent",
            "hypothesis",
            "general_failure_class",
            "supporting_metric_signature",
            "weakening_metric_signature",
            "predicted_unseen_behavior",
            "invariant_or_counterexample",
            "falsifier_or_ablation",
            "fail_fast_condition",
        ] {
            put(&mut value, key, Value::of(format!("the {}", key.replace('_', " "))));
        }
        value
    }
}
