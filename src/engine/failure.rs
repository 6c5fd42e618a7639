//! What a user is told when the journal cannot be opened or appended to.

use rp_events::{Refusal, refusal::general, trust::RECORDER};
use rp_validator::Finding;

use crate::{
    error::Failure,
    exit::Exit,
    journal::{AppendError, OpenError, lock::LockError},
    workspace::{Workspace, found},
};

pub(super) fn append_failure(error: AppendError, idem: &str) -> Failure {
    match error {
        AppendError::Full(space) => Failure::from(Refusal::new(
            &general::DISK_FULL,
            format!(
                "{} of {} bytes are free, the reserve is kept for recovery; nothing was recorded",
                space.free, space.total
            ),
        )),
        AppendError::NotWritten(error) if error.kind() == std::io::ErrorKind::StorageFull => {
            Failure::from(Refusal::new(
                &general::DISK_FULL,
                format!("{error}; nothing was recorded"),
            ))
        }
        AppendError::NotWritten(error) => Failure::new(
            Exit::IO,
            "io",
            format!("cannot write the journal: {error}; nothing was recorded"),
        ),
        AppendError::Unknown(error) => Failure::new(
            Exit::IO,
            "outcome-unknown",
            format!("outcome unknown: {error}; the next opening finds out"),
        )
        .detail("idem", idem)
        .hint(format!("retry with the same key: `--idem {idem}`")),
    }
}

pub(super) fn open_failure(error: OpenError, workspace: &Workspace) -> Failure {
    match error {
        OpenError::Lock(LockError::Held(holder)) => Failure::from(Refusal::new(
            &general::LOCK_HELD,
            format!("the journal is locked by {holder}"),
        ))
        .detail("holder", holder),
        OpenError::Lock(LockError::Io(error)) => {
            Failure::io("lock", &workspace.paths.lock(), &error)
        }
        OpenError::Io(error) => Failure::io("open", &workspace.paths.folder, &error),
        OpenError::ReadOnly(finding) => read_only(&finding),
        OpenError::TornTail(finding) => {
            let mut failure = read_only(&finding);
            failure.next.insert(0, format!("bring the secret of key `{RECORDER}` to this machine, so that setting the tail aside can be recorded"));
            failure
        }
    }
}

fn read_only(finding: &Finding) -> Failure {
    let found = found(finding);
    let message = format!("the journal is read-only: {}", found.message);
    Failure { code: general::READ_ONLY.name.to_owned(), message, ..found }
}
