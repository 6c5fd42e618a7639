//! `launch_intent`: everything that must hold before a process may start (J.22, F.3).

use std::collections::BTreeMap;

use super::{
    super::{
        artifacts::{Arm, Case, Role, plan::Entry, stage, workspace},
        bytes::Value,
        contract::EMPTY_STATE_SHA256,
        fields::{self, Due, Reference, digest, field, oid, reference, safe_id, usage},
        findings::Findings,
        scalar::{DotPath, has_end, is_safe_id, is_unit},
    },
    Attempt, Journal, Launch, LaunchState, Turn,
};

/// The thirteen fields that an intent repeats from its plan.
const PLANNED: [&str; 13] = [
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

/// What evidence and rows repeat from an intent.
const IDENTITY: [&str; 8] =
    ["result_id", "pair_id", "arm", "phase", "stage", "evaluated_commit", "seed", "input_id"];

pub(super) fn intent(
    out: &mut Findings,
    case: Case<'_>,
    journal: &mut Journal,
    attempt: &mut Attempt,
    turn: &Turn<'_>,
) {
    gates(out, journal, attempt, turn);
    let ids = ids(out, case, journal, turn);
    let entry = ordinal(out, attempt, turn).cloned();
    window(out, attempt, turn);
    let (arm, commit) = commit(out, attempt, turn);
    contract(out, case, turn);
    let stage = stage_order(out, case, attempt, turn);
    let allocation = out.within(464, |out| {
        usage(
            out,
            field(turn.map, "allocation"),
            "allocation",
            &case.contract.units(),
            case.profile(),
        )
    });
    if let Some(entry) = &entry {
        repeats(out, turn, entry);
    }
    let workspace = live_workspace(out, case, attempt, turn);
    let bound = artifacts(out, case, attempt, turn, (&ids.1, &commit, &stage));
    paths(out, case, turn, workspace.as_ref());
    let text = |key: &str| field(turn.map, key).text().unwrap_or_default().to_owned();
    attempt.launches.push(Launch {
        id: ids.0,
        result_id: ids.1,
        stage,
        arm,
        commit,
        at: turn.at,
        line: turn.seq,
        ordinal: field(turn.map, "launch_ordinal").clone(),
        identity: IDENTITY
            .iter()
            .map(|key| (*key, field(turn.map, key).clone()))
            .collect::<BTreeMap<_, _>>(),
        references: ["effective_config", "generated_state", "evaluated_tree_snapshot"]
            .map(|key| field(turn.map, key).clone()),
        digests: ["effective_config_sha256", "generated_state_sha256", "evaluated_tree_sha256"]
            .map(text),
        tree: bound,
        admission_sha256: text("admission_sha256"),
        allocation: allocation.unwrap_or_default(),
        workspace,
        state: LaunchState::Intent,
        launched: None,
        finished: None,
        outcome: String::new(),
        usage: None,
        published: None,
        last: None,
    });
}

/// Stop, admission, fence, order (433 to 439).
fn gates(out: &mut Findings, journal: &Journal, attempt: &Attempt, turn: &Turn<'_>) {
    let fenced = journal.is_fenced_by_stop(attempt.role);
    out.due(
        !fenced,
        433,
        "launch_after_stop",
        "a stop was requested, and this is no final test that it allows",
    );
    out.due(
        !attempt.tail_cancelled,
        434,
        "launch_after_tail_cancellation",
        "the rest of the plan was cancelled",
    );
    let admitted = attempt.admission.as_ref();
    let allowed = admitted.is_some_and(|admission| admission.allowed && admission.fits);
    out.due(allowed, 435, "launch_without_admission", "the attempt is not admitted");
    let end = admitted.and_then(|admission| admission.worst_end);
    let inside = end.zip(turn.at).is_none_or(|(end, at)| at <= end);
    out.due(inside, 436, "launch_after_admission_window", "the admitted window has passed");
    out.due(
        !attempt.is_unresolved(),
        437,
        "launch_after_fence",
        "work of the attempt is unresolved",
    );
    let settled = attempt.launches.iter().all(|launch| launch.state.is_settled());
    out.due(
        settled,
        438,
        "overlapping_launch",
        "an earlier launch is not over, or not known to have left nothing",
    );
    let phase = attempt.phase == attempt.launching_phase();
    out.due(
        phase,
        439,
        "journal_order",
        "a baseline or final attempt launches when prepared, a candidate when committed",
    );
}

fn ids(
    out: &mut Findings,
    case: Case<'_>,
    journal: &mut Journal,
    turn: &Turn<'_>,
) -> (String, String) {
    let (launch, result) = out.within(440, |out| {
        (safe_id(out, turn.map, "launch_id"), safe_id(out, turn.map, "result_id"))
    });
    let (launch, result) =
        (launch.unwrap_or_default().to_owned(), result.unwrap_or_default().to_owned());
    out.due(
        journal.launch_ids.insert(launch.clone()),
        444,
        "duplicate_launch_id",
        format!("`{launch}` is an earlier launch"),
    );
    out.due(
        journal.result_ids.insert(result.clone()),
        445,
        "duplicate_result_id",
        format!("`{result}` is an earlier result"),
    );
    if case.is_own() {
        let workspace = field(turn.map, "workspace_id").text().unwrap_or_default();
        let prefixed = result.starts_with("r-") && workspace.starts_with("ws-");
        out.due(
            prefixed,
            908,
            "invalid_id",
            "the id of a result begins with `r-`, that of a workspace with `ws-`",
        );
    }
    (launch, result)
}

fn ordinal<'a>(out: &mut Findings, attempt: &'a Attempt, turn: &Turn<'_>) -> Option<&'a Entry> {
    let value = field(turn.map, "launch_ordinal");
    let count = attempt.launches.len();
    let next = value.is_int(i128::try_from(count).unwrap_or(i128::MAX), turn.case.equality());
    out.due(next, 441, "launch_ordinal", format!("`launch_ordinal` is not {count}"));
    let index =
        if next { Some(count) } else { value.int().and_then(|int| usize::try_from(int).ok()) };
    let entry = index.and_then(|index| attempt.plan.launches.get(index));
    if entry.is_none() {
        out.find(442, "launch_not_preregistered", "the plan has no launch of this ordinal");
    }
    entry
}

fn window(out: &mut Findings, attempt: &Attempt, turn: &Turn<'_>) {
    let end = attempt.admission.as_ref().and_then(|admission| admission.worst_end);
    let needed = attempt.plan.timeouts_from(attempt.launches.len());
    let fits = end.zip(turn.at).is_none_or(|(end, at)| at.plus(needed) <= end);
    out.due(
        fits,
        443,
        "insufficient_remaining_timeout_window",
        format!("the window does not cover {needed} s for this and the later launches"),
    );
}

fn commit(out: &mut Findings, attempt: &Attempt, turn: &Turn<'_>) -> (Option<Arm>, String) {
    let arm = field(turn.map, "arm").text().and_then(Arm::of);
    let Some(commit) = out.within(446, |out| oid(out, turn.map, "evaluated_commit")) else {
        return (arm, String::new());
    };
    let candidate = attempt.commit.as_deref();
    let known = commit == attempt.incumbent || Some(commit) == candidate;
    out.due(
        known,
        447,
        "unexpected_evaluated_commit",
        "the commit is neither incumbent nor candidate",
    );
    let right = match arm {
        Some(Arm::Candidate) => Some(commit) == candidate,
        Some(Arm::Incumbent) => commit == attempt.incumbent,
        None => true,
    };
    out.due(right, 448, "launch_arm_commit_mismatch", "the commit is not that of the arm");
    (arm, commit.to_owned())
}

/// Invocation, timeout and workspace id (449 to 451).
fn contract(out: &mut Findings, case: Case<'_>, turn: &Turn<'_>) {
    let evaluation = &case.contract.evaluation;
    let same = field(turn.map, "invocation_sha256").text() == Some(&evaluation.invocation_sha256);
    out.due(same, 449, "invocation_digest_mismatch", "the invocation is not that of the contract");
    let same = field(turn.map, "timeout_seconds").is_int(evaluation.timeout, case.equality());
    out.due(same, 450, "launch_timeout_mismatch", "the timeout is not that of the contract");
    let named = field(turn.map, "workspace_id").text().is_some_and(is_safe_id);
    out.due(named, 451, "invalid_workspace_id", "`workspace_id` is no id");
}

/// Stages come in order, each after a pass of the one before (452 to 458).
fn stage_order(out: &mut Findings, case: Case<'_>, attempt: &Attempt, turn: &Turn<'_>) -> String {
    let stage = field(turn.map, "stage").text().unwrap_or_default();
    out.due(is_unit(stage), 452, "invalid_stage", "`stage` names no stage");
    let last = case.contract.final_test.as_ref().map(|test| test.stage.as_str());
    let final_role = attempt.role == Role::Final;
    out.due(
        !final_role || Some(stage) == last,
        453,
        "invalid_final_stage",
        "a final attempt launches on the final stage",
    );
    out.due(
        final_role || Some(stage) != last,
        454,
        "premature_final_test",
        "only a final attempt launches on the final stage",
    );
    let stages = case.stages(attempt.role);
    let place = stages.iter().position(|known| known == stage);
    out.due(
        place.is_some(),
        455,
        "unexpected_stage",
        format!("`{stage}` is no stage of the attempt"),
    );
    let open = !attempt.checkpoints.contains_key(stage);
    out.due(open, 456, "launch_after_stage_completion", format!("the stage `{stage}` is over"));
    let passed = stages.iter().take(place.unwrap_or(0)).all(|earlier| {
        attempt.checkpoints.get(earlier).is_some_and(|checkpoint| checkpoint.outcome == "pass")
    });
    out.due(passed, 457, "protected_stage_without_pass", "an earlier stage has no recorded pass");
    let guarded = attempt.role == Role::Candidate && case.contract.is_protected(stage);
    out.due(
        !guarded || attempt.cleared.is_some(),
        458,
        "protected_stage_without_integrity_clearance",
        "the candidate was not cleared for protected stages",
    );
    stage.to_owned()
}

fn repeats(out: &mut Findings, turn: &Turn<'_>, entry: &Entry) {
    for key in PLANNED {
        let same = turn.case.equality().holds(field(turn.map, key), field(&entry.map, key));
        out.due(same, 465, "launch_plan_mismatch", format!("`{key}` is not as planned"));
    }
}

fn live_workspace(
    out: &mut Findings,
    case: Case<'_>,
    attempt: &Attempt,
    turn: &Turn<'_>,
) -> Option<workspace::Workspace> {
    let text = |key: &str| field(turn.map, key).text().unwrap_or_default();
    let whose = workspace::Use { attempt: &attempt.id, id: text("workspace_id"), arm: text("arm") };
    out.within(466, |out| workspace::workspace(out, case, field(turn.map, "workspace"), whose))
}

/// Digests and the three snapshots (459 to 463, 467 to 470); answers with the tree that the snapshot names.
fn artifacts(
    out: &mut Findings,
    case: Case<'_>,
    attempt: &Attempt,
    turn: &Turn<'_>,
    (result, commit, stage): (&str, &str, &str),
) -> Option<String> {
    let mut read = |key: &str| out.within(459, |out| digest(out, turn.map, key));
    let keys = [
        "stage_access_sha256",
        "effective_config_sha256",
        "generated_state_sha256",
        "evaluated_tree_sha256",
        "admission_sha256",
    ];
    let [access, config, generated, tree, admission] = keys.map(&mut read);
    let is =
        |found: Option<&str>, due: Option<&str>| found.is_none() || due.is_none() || found == due;
    let of = |map: &'_ BTreeMap<String, String>| map.get(stage).cloned();
    out.due(
        is(access, of(&case.contract.access).as_deref()),
        460,
        "stage_access_mismatch",
        "the access is not that of the contract",
    );
    out.due(
        is(config, of(&case.contract.config).as_deref()),
        461,
        "effective_config_digest_mismatch",
        "the configuration is not that of the contract",
    );
    out.due(
        is(generated, Some(EMPTY_STATE_SHA256)),
        462,
        "generated_state_policy_mismatch",
        "the state is not the empty one",
    );
    out.due(
        is(admission, Some(&attempt.admission_sha256)),
        463,
        "admission_digest_mismatch",
        "the admission is not that of the attempt",
    );
    let mut found: Vec<Option<Reference>> = Vec::new();
    for (key, role, due) in [
        ("effective_config", "config", config),
        ("generated_state", "state", generated),
        ("evaluated_tree_snapshot", "tree", tree),
    ] {
        let path = format!("snapshots/{result}-{role}.json");
        let reference = out.within(467, |out| {
            reference(out, case.shelf, field(turn.map, key), key, Due::Exact(&path))
        });
        if let Some(reference) = &reference {
            out.due(
                is(due, Some(&reference.sha256)),
                468,
                "launch_artifact_digest_mismatch",
                format!("`{key}` and its digest differ"),
            );
        }
        found.push(reference);
    }
    distinct(out, turn, 470, &["effective_config", "generated_state", "evaluated_tree_snapshot"]);
    out.within(469, |out| {
        if let Some(Some(reference)) = found.first() {
            stage::config(out, case, reference, stage);
        }
        found
            .get(2)
            .and_then(Option::as_ref)
            .and_then(|reference| stage::tree(out, case, reference, result, commit))
    })
}

fn distinct(out: &mut Findings, turn: &Turn<'_>, rule: u16, keys: &[&str]) {
    let paths: Vec<&Value> = keys.iter().map(|key| field(turn.map, key).field("path")).collect();
    let shared = paths
        .iter()
        .enumerate()
        .any(|(at, path)| !path.is_null() && paths.iter().take(at).any(|other| other == path));
    out.due(!shared, rule, "artifact_role_collision", "two references share a path");
}

fn paths(
    out: &mut Findings,
    case: Case<'_>,
    turn: &Turn<'_>,
    place: Option<&workspace::Workspace>,
) {
    let cwd = field(turn.map, "cwd");
    let found = out.within(471, |out| fields::path(out, cwd, "cwd", DotPath::Allowed));
    if let Some(found) = found {
        out.due(
            found == case.contract.evaluation.cwd,
            472,
            "launch_cwd_mismatch",
            "the working directory is not that of the contract",
        );
    }
    if let Some(place) = place.filter(|_| found.is_some()) {
        let first = case.shelf.is_first_look(&format!(
            "cwd {} {}",
            place.snapshot,
            found.unwrap_or_default()
        ));
        if first {
            workspace::cwd(out, case, place, cwd);
        }
    } else if place.is_some() {
        out.within(313, |out| fields::path(out, cwd, "cwd", DotPath::Allowed));
    }
    let partial = out.within(473, |out| {
        fields::path(
            out,
            field(turn.map, "log_partial_path"),
            "log_partial_path",
            DotPath::Forbidden,
        )
    });
    let suffixed = partial.is_none_or(|path| has_end(path, ".partial") || has_end(path, ".tmp"));
    out.due(
        suffixed,
        474,
        "invalid_partial_path",
        "the log in flight does not end in `.partial` or `.tmp`",
    );
}
