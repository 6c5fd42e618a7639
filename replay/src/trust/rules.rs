//! When an event about the journal itself may come next. Specified in `spec/trust.md`.

use std::sync::Arc;

use rp_events::{
    ArtifactName, Kid, PublicKey, Refusal, Role, Seq, SignatureBytes, artifact, note,
    refusal::general,
    text::shown,
    trust::{
        ArtifactAdded, Event, JournalOpened, KeyAuthorized, KeyRevoked, KeyRotated, ROLES, ROOT,
        RoleGranted, SUITE,
    },
};

use super::{
    codes,
    state::{self, KeyRecord},
};
use crate::{At, State, owned};

/// Decides whether `event` may come next. Reads every domain, changes none.
pub(super) fn admit(state: &State, at: &At<'_>, event: &Event) -> Result<(), Refusal> {
    if (at.seq == Seq(0)) != matches!(event, Event::JournalOpened(_)) {
        return Err(Refusal::new(
            &codes::GENESIS_MISPLACED,
            format!("entry {} may not be `{}`", at.seq, at.kind.name),
        ));
    }
    owned(at)?;
    match event {
        Event::JournalOpened(genesis) => opened(genesis),
        Event::KeyAuthorized(key) => authorized(state, at, key),
        Event::KeyRotated(rotation) => rotated(state, at, rotation),
        Event::KeyRevoked(revoked) => revoke(state, at, revoked),
        Event::RoleGranted(grant) => granted(state, grant),
        Event::CommandRejected(_) => Ok(()),
        Event::ArtifactAdded(artifact) => added(state, artifact),
        Event::JournalRecovered(recovery) if recovery.kept == at.seq.0 => Ok(()),
        Event::JournalRecovered(recovery) => Err(Refusal::new(
            &codes::BAD_RECOVERY,
            format!("{} entries stand before, the recovery says {}", at.seq, recovery.kept),
        )),
    }
}

/// The root key that signs the genesis.
///
/// # Errors
///
/// `unknown-key` if the genesis does not name it.
pub fn root_of(genesis: &JournalOpened, kid: Kid) -> Result<Arc<KeyRecord>, Refusal> {
    let named = genesis.root_keys.iter().find(|public| public.kid() == kid);
    named.map(|public| Arc::new(state::root(*public, ROOT.to_owned()))).ok_or_else(|| {
        Refusal::new(&general::UNKNOWN_KEY, format!("the genesis names no root key `{kid}`"))
    })
}

fn opened(genesis: &JournalOpened) -> Result<(), Refusal> {
    let bad = |why: String| Err(Refusal::new(&codes::BAD_GENESIS, why));
    if genesis.suite != SUITE {
        return bad(format!("the suite is `{SUITE}`, found `{}`", genesis.suite));
    }
    if !matches!(genesis.profile.as_str(), "compat" | "strict") {
        return bad(format!("a profile is `compat` or `strict`, found `{}`", genesis.profile));
    }
    if !note::is_origin(&genesis.origin) {
        return bad(format!(
            "an origin is 1 to 200 of `a-z 0-9 . / -` and begins with a letter or digit, found `{}`",
            genesis.origin
        ));
    }
    if genesis.threshold != 1 {
        return bad(format!("the threshold is 1, found {}", genesis.threshold));
    }
    if genesis.root_keys.is_empty() {
        return bad("a genesis names at least one root key".to_owned());
    }
    if genesis.root_keys.contains(&genesis.log_key) {
        return bad("the log key may not be a root key".to_owned());
    }
    genesis.root_keys.iter().chain([&genesis.log_key]).try_for_each(admissible)
}

fn admissible(public: &PublicKey) -> Result<(), Refusal> {
    if public.is_admissible() {
        return Ok(());
    }
    Err(Refusal::new(&codes::WEAK_KEY, format!("`{public}` may not be admitted")))
}

fn authorized(state: &State, at: &At<'_>, key: &KeyAuthorized) -> Result<(), Refusal> {
    if state.trust().named(key.name.as_str()).is_some() {
        return Err(Refusal::new(&codes::KEY_EXISTS, format!("a key is named `{}`", key.name)));
    }
    for (n, role) in key.roles.iter().enumerate() {
        grantable(role)?;
        if key.roles.iter().take(n).any(|earlier| earlier == role) {
            return Err(Refusal::new(&codes::ROLE_HELD, format!("`{role}` stands twice")));
        }
    }
    if let Some(max) = key.max_seq
        && Seq(max) <= at.seq
    {
        return Err(Refusal::new(
            &codes::BAD_RANGE,
            format!("entry {max} is not after entry {}, which would admit the key", at.seq),
        ));
    }
    new_key(state, at, &key.public, &key.pop)
}

/// What holds for every key that is admitted: it is strong, new, and proved possession of its secret.
fn new_key(
    state: &State,
    at: &At<'_>,
    public: &PublicKey,
    proof: &SignatureBytes,
) -> Result<(), Refusal> {
    admissible(public)?;
    let genesis = state.trust().genesis().expect("entry 0 is the genesis");
    if state.trust().key(&public.kid()).is_some() || genesis.log_key == *public {
        return Err(Refusal::new(&codes::KEY_EXISTS, format!("`{public}` was admitted before")));
    }
    if public.proves_possession(genesis.log_id, at.seq, proof) {
        return Ok(());
    }
    Err(Refusal::new(
        &codes::POSSESSION_UNPROVEN,
        format!("the proof is not that of `{public}` for entry {}", at.seq),
    ))
}

fn rotated(state: &State, at: &At<'_>, rotation: &KeyRotated) -> Result<(), Refusal> {
    let old = subject(state, &rotation.old)?;
    if let Some(why) = old.ended_before(at.seq) {
        return Err(Refusal::new(&general::KEY_REVOKED, format!("key `{}` {why}", old.name)));
    }
    if let Some(last) = rotation.overlap_until_seq
        && Seq(last) < at.seq
    {
        return Err(Refusal::new(
            &codes::BAD_RANGE,
            format!("the overlap would end at entry {last}, before entry {}", at.seq),
        ));
    }
    new_key(state, at, &rotation.new, &rotation.pop)
}

fn revoke(state: &State, at: &At<'_>, revoked: &KeyRevoked) -> Result<(), Refusal> {
    let key = subject(state, &revoked.kid)?;
    if key.revoked.is_some() {
        return Err(Refusal::new(
            &general::KEY_REVOKED,
            format!("key `{}` was revoked before", key.name),
        ));
    }
    if Seq(revoked.effective_seq) < at.seq {
        return Err(Refusal::new(
            &codes::BAD_RANGE,
            format!(
                "a revocation at entry {} cannot end a key at entry {}",
                at.seq, revoked.effective_seq
            ),
        ));
    }
    if revoked.suspect_from_seq > revoked.effective_seq {
        return Err(Refusal::new(
            &codes::BAD_RANGE,
            format!(
                "the suspect range would begin at entry {}, after the key ends at entry {}",
                revoked.suspect_from_seq, revoked.effective_seq
            ),
        ));
    }
    Ok(())
}

fn granted(state: &State, grant: &RoleGranted) -> Result<(), Refusal> {
    let key = subject(state, &grant.kid)?;
    grantable(&grant.role)?;
    if key.roles.contains(&grant.role) {
        return Err(Refusal::new(
            &codes::ROLE_HELD,
            format!("key `{}` holds `{}`", key.name, grant.role),
        ));
    }
    Ok(())
}

/// The key that an act is about; root keys are beyond it.
fn subject(state: &State, kid: &Kid) -> Result<Arc<KeyRecord>, Refusal> {
    let key = state.trust().key(kid).ok_or_else(|| {
        Refusal::new(&general::UNKNOWN_KEY, format!("the journal has admitted no key `{kid}`"))
    })?;
    if key.roles.iter().any(|role| role == ROOT) {
        return Err(Refusal::new(
            &codes::ROOT_PROTECTED,
            format!("key `{}` is a root key", key.name),
        ));
    }
    Ok(key)
}

fn grantable(role: &Role) -> Result<(), Refusal> {
    if ROLES.iter().any(|(name, _)| role == name) {
        return Ok(());
    }
    let known = ROLES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("`, `");
    Err(Refusal::new(&codes::UNKNOWN_ROLE, format!("the roles are `{known}`; found `{role}`")))
}

fn added(state: &State, body: &ArtifactAdded) -> Result<(), Refusal> {
    if body.bytes == 0 {
        let why = "the artifact is empty, and nothing can rest on it; found 0 bytes";
        return Err(Refusal::new(&general::ARTIFACT_MISSING, why));
    }
    if let Some(path) = body.path.as_deref().filter(|path| !artifact::is_path(path)) {
        let why = format!("a path leads to a file in the workspace, found `{}`", shown(path));
        return Err(Refusal::new(&codes::ARTIFACT_PATH, why));
    }
    let b3 = ArtifactName::Blake3(body.b3);
    let sha256 = ArtifactName::Sha256(body.sha256);
    let Some(known) = state.trust().artifact(&b3) else {
        return match state.trust().artifact(&sha256) {
            None => Ok(()),
            Some(other) => Err(Refusal::new(
                &general::ARTIFACT_MISMATCH,
                format!("`{sha256}` is on record as `b3:{}`, found `{b3}`", other.b3),
            )),
        };
    };
    if (known.sha256, known.bytes) != (body.sha256, body.bytes) {
        let why = format!(
            "`{b3}` is on record as {} bytes with `sha256:{}`, found {} bytes with `{sha256}`",
            known.bytes, known.sha256, body.bytes
        );
        return Err(Refusal::new(&general::ARTIFACT_MISMATCH, why));
    }
    let is_new = body.path.as_ref().is_some_and(|path| !known.paths.contains(path));
    if is_new {
        return Ok(());
    }
    let place = body.path.as_deref().map_or_else(String::new, |path| format!(" from `{path}`"));
    Err(Refusal::new(
        &codes::ARTIFACT_EXISTS,
        format!("entry {} recorded `{b3}`{place}", known.since),
    ))
}
