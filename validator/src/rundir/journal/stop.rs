//! The events of the run itself (J.19).

use super::{
    super::{
        artifacts::Case,
        fields::{field, oid, text},
        findings::Findings,
    },
    Journal, Stop, StopKind, Stopped, Turn,
};

pub(super) fn requested(out: &mut Findings, journal: &mut Journal, turn: &Turn<'_>) {
    out.due(journal.stop.is_none(), 384, "duplicate_stop", "a stop was requested before");
    let source = out.within(385, |out| {
        text(out, turn.map, "reason");
        text(out, turn.map, "rule_evaluation");
        text(out, turn.map, "source")
    });
    let kind = field(turn.map, "stop_kind").text().unwrap_or_default();
    let known =
        ["user_interruption", "ordinary", "integrity", "resource_exhaustion"].contains(&kind);
    out.due(known, 386, "invalid_stop_kind", "`stop_kind` is unknown");
    let skip = field(turn.map, "final_test_skip_authorized").bool();
    let code = "invalid_final_skip_authorization";
    out.due(skip.is_some(), 387, code, "`final_test_skip_authorized` is not a boolean");
    let by_user = source == Some("user") && kind == "user_interruption";
    out.due(
        skip != Some(true) || by_user,
        388,
        code,
        "only the user's interruption skips the final test",
    );
    if journal.stop.is_none() {
        journal.stop = Some(Stop {
            at: turn.at,
            skips_final: skip == Some(true),
            kind: if by_user { StopKind::User } else { StopKind::Other },
        });
    }
}

pub(super) fn stopped(out: &mut Findings, case: Case<'_>, journal: &mut Journal, turn: &Turn<'_>) {
    out.due(journal.open().is_none(), 389, "stop_with_active_attempt", "an attempt is open");
    let empty = journal.attempts.is_empty() && journal.stop.is_none();
    out.due(
        !empty,
        390,
        "empty_run_without_stop_request",
        "nothing was attempted and nobody asked to stop",
    );
    let reason = out.within(391, |out| text(out, turn.map, "reason")).unwrap_or_default();
    let (incumbent, head) = out.within(392, |out| {
        (oid(out, turn.map, "final_incumbent_commit"), oid(out, turn.map, "final_head_commit"))
    });
    let due = journal.incumbent(&case);
    out.due(
        incumbent.is_none_or(|found| found == due),
        393,
        "final_incumbent_mismatch",
        format!("the incumbent is {due}"),
    );
    let cleanup = field(turn.map, "unresolved_cleanup").bool();
    out.due(
        cleanup.is_some(),
        394,
        "invalid_cleanup_state",
        "`unresolved_cleanup` is not a boolean",
    );
    let recovery = field(turn.map, "unresolved_recovery").bool();
    out.due(
        recovery.is_some(),
        395,
        "invalid_recovery_state",
        "`unresolved_recovery` is not a boolean",
    );
    let last = journal.attempts.last().and_then(|attempt| attempt.decided.as_ref());
    let preserved = last.is_some_and(|decided| decided.action == "preserve_and_stop");
    out.due(
        recovery.is_none_or(|flag| flag == preserved),
        396,
        "recovery_state_mismatch",
        format!("whether state was preserved is {preserved}"),
    );
    let unresolved = journal.is_unresolved();
    out.due(
        cleanup.is_none_or(|flag| flag == unresolved),
        397,
        "unresolved_cleanup_mismatch",
        format!("whether work is unresolved is {unresolved}"),
    );
    if journal.stopped.is_none() {
        journal.stopped = Some(Stopped {
            reason: reason.to_owned(),
            incumbent: incumbent.unwrap_or_default().to_owned(),
            head: head.unwrap_or_default().to_owned(),
            unresolved_cleanup: cleanup,
            unresolved_recovery: recovery,
        });
    }
}
