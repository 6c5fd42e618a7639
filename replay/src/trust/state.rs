//! The keys of a journal, what each may do and until when, what was refused, and the artifacts on record.

use std::sync::Arc;

use rp_events::{
    ArtifactName, Digest, EventId, Kid, PublicKey, Refusal, Role, Seq,
    refusal::general,
    trust::{ArtifactAdded, Event, JournalOpened, KeyAuthorized, KeyRotated, ROOT},
};
use serde::{Deserialize, Serialize};

use crate::{
    At,
    table::{Backing, Change, Table},
};

/// What the first entry said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Genesis {
    /// The journal: the id of its first event.
    pub log_id: EventId,
    /// Names the log in notes.
    pub origin: String,
    /// What people call the program.
    pub title: Option<String>,
    /// `compat` or `strict`.
    pub profile: String,
    /// The key that signs checkpoints.
    pub log_key: PublicKey,
}

/// A key and everything the journal says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRecord {
    /// The public key.
    pub public: PublicKey,
    /// Its name.
    pub name: String,
    /// The roles it holds.
    pub roles: Vec<Role>,
    /// The entry that admitted it.
    pub since: Seq,
    /// The last entry that it may sign, if an authorization or a rotation set one.
    pub until: Option<Seq>,
    /// The key that took its place.
    pub replaced_by: Option<Kid>,
    /// Its revocation.
    pub revoked: Option<Revocation>,
}

/// The end of a key that is no longer trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revocation {
    /// The first entry that it may no longer sign.
    pub effective: Seq,
    /// The first entry of it that is suspect.
    pub suspect_from: Seq,
    /// Why.
    pub reason: String,
}

impl KeyRecord {
    /// Why the key may not sign entry `seq`, if it may not.
    pub fn ended_before(&self, seq: Seq) -> Option<String> {
        match (&self.revoked, self.until) {
            (Some(revoked), _) if revoked.effective <= seq => Some(format!(
                "was revoked with effect from entry {}: {}",
                revoked.effective, revoked.reason
            )),
            (_, Some(until)) if until < seq => Some(match self.replaced_by {
                Some(kid) => format!("was replaced by `{}` after entry {until}", kid.short()),
                None => format!("was authorized up to entry {until}"),
            }),
            _ => None,
        }
    }

    /// Whether what the key signed at `seq` is marked as suspect.
    pub fn is_suspect_at(&self, seq: Seq) -> bool {
        self.revoked.as_ref().is_some_and(|revoked| revoked.suspect_from <= seq)
    }
}

/// Bytes stored beside the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// BLAKE3 of the bytes.
    pub b3: Digest,
    /// SHA-256 of the bytes.
    pub sha256: Digest,
    /// How many bytes there are.
    pub bytes: u64,
    /// The files of the workspace that they were read from, in the order recorded.
    pub paths: Vec<String>,
    /// The entry that recorded them first.
    pub since: Seq,
}

/// The trust part of the state.
#[derive(Debug)]
pub struct Trust {
    genesis: Table<Genesis>,
    keys: Table<KeyRecord>,
    names: Table<Kid>,
    refused: Table<u64>,
    artifacts: Table<Artifact>,
    /// The BLAKE3 of artifacts, by their SHA-256.
    sums: Table<Digest>,
}

/// The one key of tables that hold one record.
const ONE: &str = "";

impl Trust {
    pub(crate) fn new(backing: &Backing) -> Self {
        Self {
            genesis: Table::new("genesis", backing),
            keys: Table::new("keys", backing),
            names: Table::new("key-names", backing),
            refused: Table::new("refused", backing),
            artifacts: Table::new("artifacts", backing),
            sums: Table::new("artifact-sums", backing),
        }
    }

    /// What the first entry said, if there is one.
    pub fn genesis(&self) -> Option<Arc<Genesis>> {
        self.genesis.get(ONE)
    }

    /// Whether the journal is `strict`.
    pub fn is_strict(&self) -> bool {
        self.genesis().is_some_and(|genesis| genesis.profile == "strict")
    }

    /// A key by its identifier.
    pub fn key(&self, kid: &Kid) -> Option<Arc<KeyRecord>> {
        self.keys.get(&kid.to_string())
    }

    /// The key that holds a name now.
    pub fn named(&self, name: &str) -> Option<(Kid, Arc<KeyRecord>)> {
        let kid = *self.names.get(name)?;
        Some((kid, self.key(&kid)?))
    }

    /// Every key, in the order of admission.
    pub fn keys(&self) -> Vec<Arc<KeyRecord>> {
        let mut keys: Vec<_> = self.keys.scan("").into_iter().map(|(_, key)| key).collect();
        keys.sort_by(|a, b| (a.since, &a.name).cmp(&(b.since, &b.name)));
        keys
    }

    /// How often each code was refused, by code.
    pub fn refused(&self) -> Vec<(String, u64)> {
        self.refused.scan("").into_iter().map(|(code, count)| (code, *count)).collect()
    }

    /// An artifact by either of its digests.
    pub fn artifact(&self, name: &ArtifactName) -> Option<Arc<Artifact>> {
        match name {
            ArtifactName::Blake3(b3) => self.artifacts.get(&b3.to_string()),
            ArtifactName::Sha256(sum) => {
                self.artifacts.get(&self.sums.get(&sum.to_string())?.to_string())
            }
        }
    }

    /// Every artifact, in the order recorded.
    pub fn artifacts(&self) -> Vec<Arc<Artifact>> {
        let mut artifacts: Vec<_> = self.artifacts.scan("").into_iter().map(|(_, a)| a).collect();
        artifacts.sort_by_key(|artifact| artifact.since);
        artifacts
    }

    /// The key that signs entry `seq`.
    ///
    /// # Errors
    ///
    /// `unknown-key` or `key-revoked`.
    pub fn signer(&self, kid: &Kid, seq: Seq) -> Result<Arc<KeyRecord>, Refusal> {
        let key = self.key(kid).ok_or_else(|| {
            Refusal::new(&general::UNKNOWN_KEY, format!("the journal has admitted no key `{kid}`"))
        })?;
        match key.ended_before(seq) {
            None => Ok(key),
            Some(why) => {
                Err(Refusal::new(&general::KEY_REVOKED, format!("key `{}` {why}", key.name)))
            }
        }
    }

    fn put_key(&mut self, key: KeyRecord) {
        let kid = key.public.kid();
        self.names.put(&key.name, kid);
        self.keys.put(&kid.to_string(), key);
    }

    /// Records an admitted event.
    pub(super) fn record(&mut self, at: &At<'_>, event: &Event) {
        match event {
            Event::JournalOpened(genesis) => self.open(at, genesis),
            Event::KeyAuthorized(key) => self.authorize(at, key),
            Event::KeyRotated(rotation) => self.rotate(at, rotation),
            Event::KeyRevoked(revoked) => {
                let revocation = Revocation {
                    effective: Seq(revoked.effective_seq),
                    suspect_from: Seq(revoked.suspect_from_seq),
                    reason: revoked.reason.clone(),
                };
                self.keys.edit(&revoked.kid.to_string(), |key| key.revoked = Some(revocation));
            }
            Event::RoleGranted(grant) => {
                self.keys.edit(&grant.kid.to_string(), |key| key.roles.push(grant.role.clone()));
            }
            Event::CommandRejected(command) => {
                self.refused.upsert(&command.code, |count| *count += 1);
            }
            Event::ArtifactAdded(artifact) => self.add(at, artifact),
            Event::JournalRecovered(_) => {}
        }
    }

    fn open(&mut self, at: &At<'_>, genesis: &JournalOpened) {
        self.genesis.put(
            ONE,
            Genesis {
                log_id: at.id,
                origin: genesis.origin.clone(),
                title: genesis.title.clone(),
                profile: genesis.profile.clone(),
                log_key: genesis.log_key,
            },
        );
        for (n, public) in genesis.root_keys.iter().enumerate() {
            let name = if n == 0 { ROOT.to_owned() } else { format!("{ROOT}-{}", n + 1) };
            self.put_key(root(*public, name));
        }
    }

    fn authorize(&mut self, at: &At<'_>, key: &KeyAuthorized) {
        self.put_key(KeyRecord {
            public: key.public,
            name: key.name.to_string(),
            roles: key.roles.clone(),
            since: at.seq,
            until: key.max_seq.map(Seq),
            replaced_by: None,
            revoked: None,
        });
    }

    fn rotate(&mut self, at: &At<'_>, rotation: &KeyRotated) {
        let Some(old) = self.key(&rotation.old) else { return };
        self.keys.edit(&rotation.old.to_string(), |key| {
            let end = rotation.overlap_until_seq.map_or(at.seq, Seq);
            key.until = Some(key.until.map_or(end, |until| until.min(end)));
            key.replaced_by = Some(rotation.new.kid());
        });
        self.put_key(KeyRecord {
            public: rotation.new,
            since: at.seq,
            until: None,
            replaced_by: None,
            revoked: None,
            ..(*old).clone()
        });
    }

    fn add(&mut self, at: &At<'_>, artifact: &ArtifactAdded) {
        let key = artifact.b3.to_string();
        if !self.artifacts.contains(&key) {
            let ArtifactAdded { b3, sha256, bytes, .. } = *artifact;
            self.artifacts
                .put(&key, Artifact { b3, sha256, bytes, paths: Vec::new(), since: at.seq });
            self.sums.put(&sha256.to_string(), b3);
        }
        self.artifacts.edit(&key, |known| known.paths.extend(artifact.path.clone()));
    }

    pub(crate) fn changes(&mut self, out: &mut Vec<Change>) {
        self.genesis.changes(out);
        self.keys.changes(out);
        self.names.changes(out);
        self.refused.changes(out);
        self.artifacts.changes(out);
        self.sums.changes(out);
    }
}

/// The record of a key that the genesis names.
pub(super) fn root(public: PublicKey, name: String) -> KeyRecord {
    KeyRecord {
        public,
        name,
        roles: vec![Role::parse(ROOT).expect("`root` is an identifier")],
        since: Seq(0),
        until: None,
        replaced_by: None,
        revoked: None,
    }
}
