//! The launches of a made-up attempt, and what is decided after them.

use super::{
    super::bytes::{Map, Value, canonical, object_digest},
    attempt::{Attempt, Launched},
    setup::{config, json, put},
    world::{Made, number},
};

/// What an attempt's stage came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Go {
    On,
    End,
}

impl Attempt<'_> {
    /// Launches stage after stage until one does not pass.
    pub(super) fn launch_all(&mut self) {
        let entries: Vec<Value> = self.plan.field("launches").list().unwrap_or_default().to_vec();
        for (place, stage) in self.stages().into_iter().enumerate() {
            let protected = place > 0 || self.fate.role == "final";
            if self.fate.role == "candidate" && place == 1 {
                self.clear();
            }
            let mut go = Go::On;
            for (ordinal, entry) in entries
                .iter()
                .enumerate()
                .filter(|(_, entry)| entry.field("stage").text() == Some(&stage))
            {
                if self.fate.stop_before == Some(ordinal) {
                    self.cancel(ordinal, entries.len());
                    go = Go::End;
                }
                if go == Go::On {
                    go = self.launch(ordinal, entry, protected);
                }
            }
            let started = self
                .launches
                .iter()
                .any(|launch| launch.published.is_some() || !launch.result.is_empty());
            let go = if started { self.checkpoint(&stage, place, go) } else { Go::End };
            if go == Go::End {
                return;
            }
        }
    }

    /// A stop comes, and the rest of the plan is cancelled.
    fn cancel(&mut self, from: usize, to: usize) {
        if !self.done {
            self.world.stop("supervisor", "ordinary", false);
        }
        let ordinals = Value::List((from..to).map(number).collect());
        let mut event = json(&format!("{{\"from_ordinal\":{from},\"reason\":\"stopped\"}}"));
        put(&mut event, "cancelled_ordinals", ordinals);
        self.event("plan_tail_cancelled", event);
    }

    fn clear(&mut self) {
        self.cleared = true;
        let result = self.launches.last().map(|launch| launch.result.clone()).unwrap_or_default();
        let bytes =
            super::setup::stored(&self.world.artifact(&format!("snapshots/{result}-tree.json")));
        let tree = super::super::bytes::file_digest(&bytes);
        let constraints = self.constraints("true");
        self.event("integrity_cleared", json(&format!("{{\"candidate_commit\":\"{}\",\"evaluated_tree_sha256\":\"{tree}\",\"scope_audit\":\"pass\",\"leakage_audit\":\"pass\",\"constraint_results\":{constraints}}}", self.commit.clone().unwrap_or_default())));
    }

    fn constraints(&self, value: &str) -> String {
        let ids = self
            .world
            .contract
            .field("objective")
            .field("hard_constraints")
            .list()
            .unwrap_or_default();
        let fields: Vec<String> =
            ids.iter().filter_map(Value::text).map(|id| format!("\"{id}\":{value}")).collect();
        format!("{{{}}}", fields.join(","))
    }

    fn launch(&mut self, ordinal: usize, entry: &Value, protected: bool) -> Go {
        let result = format!("r-{:03}-{ordinal}", self.index);
        let fate = self
            .fate
            .launches
            .iter()
            .find(|(place, _)| *place == ordinal)
            .map_or("", |(_, fate)| fate.as_str())
            .to_owned();
        let commit = match entry.field("arm").text() {
            Some("candidate") => self.commit.clone().unwrap_or_default(),
            _ => self.incumbent.clone(),
        };
        let identity = format!(
            "\"launch_id\":\"l-{:03}-{ordinal}\",\"result_id\":\"{result}\",\"launch_ordinal\":{ordinal}",
            self.index
        );
        let intent = self.intent(&result, entry, (&identity, &commit));
        self.launches.push(Launched { result: result.clone(), published: None });
        match fate.as_str() {
            "abort" => {
                self.receipt(
                    "launch_aborted",
                    &format!("{{{identity},\"absence_verified\":true,\"reason\":\"never began\"}}"),
                );
                return Go::End;
            }
            "lost" => {
                self.receipt(
                    "launch_unresolved",
                    &format!("{{{identity},\"fence_applied\":true,\"reason\":\"nobody knows\"}}"),
                );
                self.world.unresolved = true;
                return Go::End;
            }
            _ => {}
        }
        let process = if fate == "external" {
            format!(
                "\"pid\":null,\"pgid\":null,\"process_start_id\":null,\"external_job_id\":\"job-{}-{ordinal}\"",
                self.index
            )
        } else {
            format!(
                "\"pid\":{0},\"pgid\":{0},\"process_start_id\":\"boot-{0}\",\"external_job_id\":null",
                100 + self.index * 20 + ordinal
            )
        };
        self.event("launched", json(&format!("{{{identity},{process}}}")));
        if fate == "vanish" {
            self.receipt(
                "launch_unresolved",
                &format!("{{{identity},\"fence_applied\":true,\"reason\":\"nobody knows\"}}"),
            );
            self.world.unresolved = true;
            return Go::End;
        }
        if !self.ended_well(&identity, &fate, usize::from(protected)) {
            return Go::End;
        }
        self.publish(&result, entry, (&identity, &commit), &intent);
        Go::On
    }

    /// The end of a process; says whether it completed and left nothing.
    fn ended_well(&mut self, identity: &str, fate: &str, queries: usize) -> bool {
        let outcome = if matches!(fate, "crash" | "timeout" | "cancelled" | "interrupted") {
            fate
        } else {
            "completed"
        };
        let clean = !matches!(fate, "unclean" | "dirty");
        let usage = if self.world.contract.field("budgets").field("validation_queries").is_null() {
            "{\"evaluator_calls\":1}".to_owned()
        } else {
            format!("{{\"evaluator_calls\":1,\"validation_queries\":{queries}}}")
        };
        let event = self.receipt("launch_finished", &format!("{{{identity},\"outcome\":\"{outcome}\",\"actual_usage\":{usage},\"cleanup_verified\":{clean}}}"));
        if !event.field("seq").is_null() {
            self.world.use_up(event.field("actual_usage"));
            for (unit, amount) in event.field("actual_usage").map().into_iter().flatten() {
                *self.used.entry(unit.clone()).or_insert(0) += amount.int().unwrap_or(0);
            }
        }
        match fate {
            "unclean" => {
                self.receipt(
                    "cleanup_confirmed",
                    &format!("{{{identity},\"verification\":\"seen empty\"}}"),
                );
            }
            "dirty" => {
                self.receipt(
                    "cleanup_unresolved",
                    &format!("{{{identity},\"fence_applied\":true,\"reason\":\"nobody knows\"}}"),
                );
                self.world.unresolved = true;
                return false;
            }
            _ => {}
        }
        outcome == "completed"
    }

    fn receipt(&mut self, name: &str, text: &str) -> Value {
        let event = self.event(name, json(text));
        if let Some(at) = event.field("at").text() {
            at.clone_into(&mut self.ended);
        }
        event
    }

    /// The three snapshots and the intent; answers with the intent.
    fn intent(&mut self, result: &str, entry: &Value, (identity, commit): (&str, &str)) -> Value {
        if self.done {
            return Value::Null;
        }
        let stage = entry.field("stage").text().unwrap_or_default();
        let config = config(&self.world.contract, stage);
        let config = self.world.publish(&format!("snapshots/{result}-config.json"), config);
        let generated = self.world.publish(
            &format!("snapshots/{result}-state.json"),
            json("{\"entries\":[],\"mode\":\"reset_each_launch\",\"schema_version\":1}"),
        );
        let tree = self.world.tree(commit);
        let tree = self.world.publish(&format!("snapshots/{result}-tree.json"), json(&format!("{{\"schema_version\":1,\"result_id\":\"{result}\",\"commit\":\"{commit}\",\"tree_oid\":\"{tree}\",\"untracked_writable_paths\":[],\"unexpected_paths\":[]}}")));
        let evaluation = self.world.contract.field("evaluation").clone();
        let mut event = json(&format!(
            "{{{identity},\"evaluated_commit\":\"{commit}\",\"invocation_sha256\":{},\"evaluated_tree_sha256\":{},\"admission_sha256\":\"{}\",\"cwd\":{},\"log_partial_path\":\"logs/{result}.log.partial\"}}",
            canonical(evaluation.field("invocation_sha256")),
            canonical(tree.field("sha256")),
            self.admission_sha256,
            canonical(evaluation.field("cwd"))
        ));
        for (key, value) in entry.map().into_iter().flatten().filter(|(key, _)| *key != "ordinal") {
            put(&mut event, key, value.clone());
        }
        put(&mut event, "effective_config", config);
        put(&mut event, "generated_state", generated);
        put(&mut event, "evaluated_tree_snapshot", tree);
        self.event("launch_intent", event)
    }

    fn score(&self, entry: &Value) -> String {
        let deciding = entry.field("stage").text() == Some(self.world.setup.acceptance());
        let candidate = entry.field("arm").text() == Some("candidate");
        let minimize = self.world.setup.minimize;
        match &self.fate.score {
            Some(score) if deciding || self.fate.role == "final" => score.clone(),
            _ if candidate && deciding && self.fate.status == "keep" => {
                if minimize { "0.9" } else { "1.1" }.to_owned()
            }
            _ if candidate && deciding => if minimize { "9.0" } else { "0.0" }.to_owned(),
            _ => "1.0".to_owned(),
        }
    }

    fn publish(
        &mut self,
        result: &str,
        entry: &Value,
        (identity, commit): (&str, &str),
        intent: &Value,
    ) {
        if self.done {
            return;
        }
        let (score, evaluator) = (
            self.score(entry),
            self.world.contract.field("evaluation").field("evaluator_sha256").clone(),
        );
        let mut evidence = json(&format!(
            "{{\"schema_version\":1,\"result_id\":\"{result}\",\"evaluated_commit\":\"{commit}\",\"metrics\":{{\"score\":{score}}},\"primary_value\":{score},\"duration_seconds\":1.0,\"evaluator_sha256\":{}}}",
            canonical(&evaluator)
        ));
        for key in ["pair_id", "arm", "phase", "stage", "seed", "input_id"] {
            put(&mut evidence, key, entry.field(key).clone());
        }
        let path = format!("evidence/{result}.json");
        let reference = self.world.publish(&path, evidence);
        let evidence = self.world.artifact(&path);
        let log = self.world.publish(&format!("logs/{result}.log"), evidence.clone());
        let references = [
            &reference,
            &log,
            intent.field("effective_config"),
            intent.field("generated_state"),
            intent.field("evaluated_tree_snapshot"),
        ];
        let empty = Map::new();
        let repetition = super::super::artifacts::evidence::repetition(
            evidence.map().unwrap_or(&empty),
            references,
        );
        let mut event = json(&format!(
            "{{{identity},\"repetition_sha256\":\"{}\"}}",
            object_digest(&repetition)
        ));
        put(&mut event, "result_artifact", reference);
        put(&mut event, "log", log);
        let event = self.event("evidence_published", event);
        if let Some(at) = event.field("at").text() {
            at.clone_into(&mut self.ended);
        }
        if let Some(launch) = self.launches.last_mut() {
            launch.published = Some(repetition);
        }
    }

    fn checkpoint(&mut self, stage: &str, place: usize, go: Go) -> Go {
        let ids = self.published_in(Some(stage));
        let outcome = match go {
            Go::End => "unknown",
            Go::On if self.fate.fails == Some(place) => "fail",
            Go::On => "pass",
        };
        let mut event = json(&format!(
            "{{\"stage\":\"{stage}\",\"outcome\":\"{outcome}\",\"rule_evaluation\":\"by the rule\"}}"
        ));
        put(&mut event, "result_ids", ids.clone());
        self.event("stage_completed", event);
        self.results.insert(stage.to_owned(), Value::of(outcome));
        self.evidence.insert(
            stage.to_owned(),
            if outcome == "unknown" { Value::List(Vec::new()) } else { ids },
        );
        if outcome == "pass" { Go::On } else { Go::End }
    }

    fn published_in(&self, stage: Option<&str>) -> Value {
        let published = self.launches.iter().filter_map(|launch| launch.published.as_ref());
        let inside = published.filter(|repetition| {
            stage.is_none_or(|stage| repetition.field("stage").text() == Some(stage))
        });
        Value::List(inside.map(|repetition| repetition.field("result_id").clone()).collect())
    }

    pub(super) fn evaluate(&mut self) {
        let mut event = json("{}");
        put(&mut event, "result_ids", self.published_in(None));
        self.event("evaluated", event);
    }

    pub(super) fn decide(&mut self) {
        let status = self.fate.status.as_str();
        let keep = status == "keep";
        let lane = match (status, self.fate.role.as_str()) {
            ("keep", _) => "confirmed",
            ("deferred", _) => "incubator",
            ("discard", "candidate" | "baseline") => "candidate",
            _ => "diagnostic",
        };
        for stage in self.stages() {
            self.results.entry(stage.clone()).or_insert(Value::of("unknown"));
            self.evidence.entry(stage).or_insert(Value::List(Vec::new()));
        }
        let whole = !self.results.values().any(|result| result.text() == Some("unknown"))
            && status != "deferred";
        let maturity = if whole { "complete" } else { "incomplete" };
        let action = match (&self.commit, self.fate.preserve) {
            (_, true) => "preserve_and_stop",
            (Some(_), false) if !keep => "revert",
            _ => "none",
        };
        let after = if keep {
            self.commit.clone().unwrap_or(self.incumbent.clone())
        } else {
            self.incumbent.clone()
        };
        let mut event = json(&format!(
            "{{\"status\":\"{status}\",\"lane\":\"{lane}\",\"evidence_maturity\":\"{maturity}\",\"accepted\":{keep},\"reason\":\"by the rule\",\"rule_evaluation\":\"by the rule\",\"incumbent_after\":\"{after}\",\"rollback_action\":\"{action}\"}}"
        ));
        put(&mut event, "stage_results", Value::Map(self.results.clone()));
        put(&mut event, "stage_evidence", Value::Map(self.evidence.clone()));
        if self.launches.is_empty() {
            put(&mut event, "no_evaluation_reason", Value::of("nothing to launch"));
        }
        let event = self.event("decided", event);
        self.finish_with(&event, action);
    }

    fn finish_with(&mut self, decided: &Value, action: &str) {
        let mut rollback = None;
        if action == "revert" && !self.done {
            let incumbent = self.world.tree(&self.incumbent);
            let commit = self.world.commit(&incumbent);
            self.event(
                "rolled_back",
                json(&format!(
                    "{{\"rollback_commit\":\"{commit}\",\"restored_incumbent_commit\":\"{}\"}}",
                    self.incumbent
                )),
            );
            rollback = Some(commit);
        }
        if self.done {
            return;
        }
        let row = self.row(decided, rollback.as_deref());
        let row = self.world.row(row);
        if self.fate.cut.as_ref().is_some_and(|(name, _)| name == "row") {
            self.done = true;
            return;
        }
        self.finalize(decided, &row);
        let keep = self.fate.status == "keep";
        self.world.preserved |= action == "preserve_and_stop";
        if keep {
            self.world.incumbent = self.commit.clone().unwrap_or(self.incumbent.clone());
        }
    }

    fn finalize(&mut self, decided: &Value, row: &Value) {
        let sha256 = object_digest(row);
        let event = self.event("finalized", json(&format!("{{\"decision_seq\":{},\"result_index\":{},\"result_sha256\":\"{sha256}\",\"boundary_path\":\"boundaries/{}.json\"}}",
            canonical(decided.field("seq")), self.index, self.id)));
        let keep = self.fate.status == "keep" && self.fate.role != "final";
        let made = Made {
            id: self.id.clone(),
            confirmed: keep,
            commit: row.field("commit").text().unwrap_or_default().to_owned(),
            finalized_seq: self.world.seq,
            result_sha256: sha256.clone(),
        };
        if !self.done {
            self.world.wait(1);
            let digest = |text: &str| super::super::bytes::file_digest(text.as_bytes());
            let boundary = json(&format!(
                "{{\"schema_version\":1,\"kind\":\"attempt-boundary\",\"attempt_id\":\"{}\",\"experiment_id\":\"{}\",\"contract_sha256\":\"{}\",\"decision_seq\":{},\"finalized_seq\":{},\"result_index\":{},\"result_sha256\":\"{sha256}\",\"journal_prefix_sha256\":\"{}\",\"results_prefix_sha256\":\"{}\",\"publication_nonce\":\"{}\",\"finalized_at\":\"{}\"}}",
                self.id,
                self.experiment,
                self.world.contract_sha256,
                canonical(decided.field("seq")),
                canonical(event.field("seq")),
                self.index,
                digest(&self.world.journal),
                digest(&self.world.results),
                digest(&self.id),
                self.world.now().print()
            ));
            self.world.publish(&format!("boundaries/{}.json", self.id), boundary);
        }
        self.world.attempts.push(made);
    }

    fn row(&self, decided: &Value, rollback: Option<&str>) -> Value {
        let status = self.fate.status.as_str();
        let keep = status == "keep";
        let actual = &self.used;
        let repetitions: Vec<Value> =
            self.launches.iter().filter_map(|launch| launch.published.clone()).collect();
        let value = self.aggregate(&repetitions);
        let deciding =
            if self.fate.role == "final" { "final_test" } else { self.world.setup.acceptance() };
        let text =
            |text: Option<&str>| text.map_or("null".to_owned(), |text| format!("\"{text}\""));
        let commit = match self.fate.role.as_str() {
            "candidate" => self.commit.clone().unwrap_or(self.head.clone()),
            _ => self.incumbent.clone(),
        };
        let design = self.world.artifact(&format!("designs/{}.json", self.experiment));
        let hypothesis =
            design.field("hypothesis").text().unwrap_or("the code as it is").to_owned();
        let queries = actual.get("validation_queries").copied().unwrap_or(0);
        let parts = [
            format!(
                "\"schema_version\":1,\"attempt_id\":\"{}\",\"experiment_id\":\"{}\",\"iteration\":{},\"role\":\"{}\"",
                self.id, self.experiment, self.index, self.fate.role
            ),
            format!(
                "\"commit\":\"{commit}\",\"incumbent_commit\":\"{}\",\"pre_attempt_head_commit\":\"{}\",\"rollback_commit\":{}",
                self.incumbent,
                self.head,
                text(rollback)
            ),
            format!(
                "\"started_at\":\"{}\",\"ended_at\":\"{}\",\"contract_sha256\":\"{}\"",
                self.prepared, self.ended, self.world.contract_sha256
            ),
            format!(
                "\"status\":{},\"lane\":{},\"evidence_maturity\":{},\"acceptance_reason\":{}",
                canonical(decided.field("status")),
                canonical(decided.field("lane")),
                canonical(decided.field("evidence_maturity")),
                canonical(decided.field("reason"))
            ),
            format!("\"decision\":{}", Self::decision(decided)),
            format!(
                "\"primary_metric\":\"score\",\"primary_value\":{value},\"split_metrics\":{{\"{deciding}\":{value}}},\"secondary_metrics\":{{}}"
            ),
            format!(
                "\"aggregation\":{},\"duration_seconds\":1.0,\"validation_queries\":{queries}",
                canonical(self.world.contract.field("measurement").field("aggregation"))
            ),
            format!(
                "\"hypothesis\":\"{hypothesis}\",\"change_summary\":\"as designed\",\"leakage_audit\":\"{}\"",
                if keep || self.cleared { "pass" } else { "not_run" }
            ),
            format!(
                "\"counterexample_results\":{{\"fixture_integrity\":{}}},\"constraint_results\":{}",
                if keep { "true" } else { "null" },
                self.row_constraints(keep)
            ),
        ];
        let mut row = json(&format!("{{{}}}", parts.join(",")));
        put(&mut row, "repetitions", Value::List(repetitions));
        put(&mut row, "design", self.design.clone());
        put(&mut row, "admission", self.admission.clone());
        put(&mut row, "budget", self.budget(actual));
        put(&mut row, "finding", self.finding(keep));
        put(&mut row, "failure", Value::Null);
        row
    }

    fn finding(&self, keep: bool) -> Value {
        json(&format!(
            "{{\"type\":\"{}\",\"summary\":\"seen\",\"scope\":\"here\",\"caveats\":\"few runs\",\"next_action\":\"archive\",\"result_ids\":{},\"revive_if\":null}}",
            if keep { "positive" } else { "negative" },
            canonical(&self.published_in(None))
        ))
    }

    /// After a clearance the row repeats it.
    fn row_constraints(&self, keep: bool) -> String {
        self.constraints(if keep || self.cleared { "true" } else { "null" })
    }

    fn decision(decided: &Value) -> String {
        let mut decision = json(&format!(
            "{{\"decision_seq\":{},\"journal_event_sha256\":\"{}\",\"rollback_required\":{}}}",
            canonical(decided.field("seq")),
            object_digest(decided),
            decided.field("rollback_action").text() == Some("revert")
        ));
        for key in
            ["accepted", "incumbent_after", "stage_results", "stage_evidence", "rule_evaluation"]
        {
            put(&mut decision, key, decided.field(key).clone());
        }
        canonical(&decision)
    }

    fn aggregate(&self, repetitions: &[Value]) -> String {
        let deciding =
            if self.fate.role == "final" { "final_test" } else { self.world.setup.acceptance() };
        let values: Vec<f64> = repetitions
            .iter()
            .filter(|repetition| {
                repetition.field("stage").text() == Some(deciding)
                    && repetition.field("arm").text() == Some(self.target())
            })
            .filter_map(|repetition| repetition.field("primary_value").finite())
            .collect();
        let count = u32::try_from(values.len()).map_or(0.0, f64::from);
        if values.is_empty() {
            "null".to_owned()
        } else {
            super::super::bytes::python_float(values.iter().sum::<f64>() / count)
        }
    }

    fn budget(&self, actual: &super::super::fields::Usage) -> Value {
        let unresolved = self
            .fate
            .launches
            .iter()
            .any(|(_, fate)| matches!(fate.as_str(), "lost" | "vanish" | "dirty"));
        let budgets = self.world.contract.field("budgets").map().cloned().unwrap_or_default();
        let mut map: Map = budgets.keys().map(|unit| (unit.clone(), Value::from(0))).collect();
        map.extend(actual.iter().map(|(unit, amount)| (unit.clone(), Value::from(*amount))));
        let remaining: Map = budgets
            .iter()
            .filter_map(|(unit, budget)| {
                let total = budget.field("total").int()?;
                let used = self.world.used.get(unit).copied().unwrap_or(0);
                Some((
                    unit.clone(),
                    if unresolved { Value::Null } else { Value::from(total - used) },
                ))
            })
            .collect();
        let mut budget = json(&format!("{{\"actual_complete\":{}}}", !unresolved));
        put(&mut budget, "actual", Value::Map(map));
        put(&mut budget, "remaining_after", Value::Map(remaining));
        budget
    }
}
