//! Closed events, in `rp`'s own version (L5).

use super::{super::findings::Findings, Turn};

const ENVELOPE: [&str; 5] = ["schema_version", "seq", "at", "event", "contract_sha256"];
const ATTEMPT: [&str; 4] = ["attempt_id", "experiment_id", "iteration", "role"];
const LAUNCH: [&str; 3] = ["launch_id", "result_id", "launch_ordinal"];

const INTENT: [&str; 22] = [
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
    "evaluated_commit",
    "invocation_sha256",
    "evaluated_tree_sha256",
    "effective_config",
    "generated_state",
    "evaluated_tree_snapshot",
    "admission_sha256",
    "cwd",
    "log_partial_path",
];
const DECIDED: [&str; 11] = [
    "status",
    "lane",
    "evidence_maturity",
    "accepted",
    "stage_results",
    "stage_evidence",
    "reason",
    "rule_evaluation",
    "incumbent_after",
    "rollback_action",
    "no_evaluation_reason",
];

/// The events of an attempt that are about a launch.
fn is_about_launch(name: &str) -> bool {
    name.starts_with("launch") || name.starts_with("cleanup") || name == "evidence_published"
}

/// The fields of an event beyond envelope, attempt and launch.
fn own_fields(name: &str) -> &'static [&'static str] {
    match name {
        "stop_requested" => {
            &["source", "reason", "rule_evaluation", "stop_kind", "final_test_skip_authorized"]
        }
        "run_stopped" => &[
            "reason",
            "final_incumbent_commit",
            "final_head_commit",
            "unresolved_cleanup",
            "unresolved_recovery",
        ],
        "prepared" => &[
            "incumbent_commit",
            "pre_attempt_head_commit",
            "design",
            "launch_plan",
            "admission",
            "prior_boundary",
        ],
        "committed" => &["candidate_commit"],
        "integrity_cleared" => &[
            "candidate_commit",
            "evaluated_tree_sha256",
            "scope_audit",
            "leakage_audit",
            "constraint_results",
        ],
        "launch_intent" => &INTENT,
        "launched" => &["pid", "pgid", "process_start_id", "external_job_id"],
        "launch_aborted" => &["absence_verified", "reason"],
        "launch_unresolved" | "cleanup_unresolved" => &["fence_applied", "reason"],
        "launch_finished" => &["outcome", "actual_usage", "cleanup_verified"],
        "cleanup_confirmed" => &["verification"],
        "evidence_published" => &["result_artifact", "log", "repetition_sha256"],
        "stage_completed" => &["stage", "outcome", "result_ids", "rule_evaluation"],
        "plan_tail_cancelled" => &["from_ordinal", "cancelled_ordinals", "reason"],
        "evaluated" => &["result_ids"],
        "decided" => &DECIDED,
        "rolled_back" => &["rollback_commit", "restored_incumbent_commit"],
        "finalized" => &["decision_seq", "result_index", "result_sha256", "boundary_path"],
        _ => &[],
    }
}

/// An event has exactly its fields; only the reason for not evaluating may be absent.
pub(super) fn closed(out: &mut Findings, turn: &Turn<'_>) {
    let run = matches!(turn.name, "stop_requested" | "run_stopped");
    let mut due: Vec<&str> = ENVELOPE.to_vec();
    if !run {
        due.extend(ATTEMPT);
    }
    if is_about_launch(turn.name) {
        due.extend(LAUNCH);
    }
    due.extend(own_fields(turn.name));
    let missing =
        due.iter().find(|key| **key != "no_evaluation_reason" && !turn.map.contains_key(**key));
    let extra = turn.map.keys().find(|key| !due.contains(&key.as_str()));
    if let Some(key) = missing {
        out.find(901, "event_schema_mismatch", format!("`{}` lacks `{key}`", turn.name));
    }
    if let Some(key) = extra {
        out.find(901, "event_schema_mismatch", format!("`{}` has no field `{key}`", turn.name));
    }
}
