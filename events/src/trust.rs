//! Events about the journal itself: its genesis, keys, roles, refused commands, recovery, artifacts.
//! Specified in `spec/trust.md`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    id::{Digest, KeyName, Kid, PublicKey, Role, SignatureBytes},
    json::{nullable, optional},
    kinds::kinds,
};

/// The suite of algorithms that this version writes and reads.
pub const SUITE: &str = "rp1:b3+sha256-rfc6962+ed25519";

/// The role of the keys that the genesis names; it alone may change keys and roles.
pub const ROOT: &str = "root";
/// The role that records refusals and recoveries and nothing else.
pub const RECORDER: &str = "recorder";
/// The role that launches evaluators; it alone writes what counts as measured by `rp`.
pub const SUPERVISOR: &str = "supervisor";

/// Every role that a key may be given, with what it is for. `root` comes from the genesis alone.
pub static ROLES: &[(&str, &str)] = &[
    ("user", "the person whose program it is: starts runs, answers gates, overrides"),
    ("orchestrator", "dispatches stages, keeps ledger and memory"),
    ("claim-agent", "literature, ideas, proposal, plan"),
    ("experiment-agent", "phenomenon gate, routing, code, runs, results"),
    ("verify-agent", "integrity audits, swap variants, verdicts"),
    ("iteration-agent", "external review, repairs, final report"),
    ("launcher", "starts experiment runs"),
    ("monitor", "finishes experiment runs"),
    ("paper-figure", "figures of claims"),
    ("notify", "briefings"),
    ("next-round", "archive and draft between rounds"),
    (SUPERVISOR, "launches evaluators and reports what it measured"),
    (RECORDER, "records refused commands and recoveries, nothing else"),
];

kinds! {
    #![doc = "An event about the journal itself."]
    domain "trust";

    /// The journal was opened: its origin, profile, suite, root keys and log key. Always entry 0.
    JournalOpened(JournalOpened) = "journal.opened" v 1 by ["root"] else "role-missing";
    /// A torn, never acknowledged tail was set aside before this entry was written.
    JournalRecovered(JournalRecovered) = "journal.recovered" v 1 by ["recorder", "root"] else "role-missing";
    /// A key was admitted with its name and roles; it proved possession of its secret.
    KeyAuthorized(KeyAuthorized) = "key.authorized" v 1 by ["root"] else "role-missing";
    /// A key was replaced by another that takes over its name and roles.
    KeyRotated(KeyRotated) = "key.rotated" v 1 by ["root"] else "role-missing";
    /// A key may no longer sign; what it signed from the suspect entry on is marked.
    KeyRevoked(KeyRevoked) = "key.revoked" v 1 by ["root"] else "role-missing";
    /// A key was given one more role.
    RoleGranted(RoleGranted) = "role.granted" v 1 by ["root"] else "role-missing";
    /// A command was refused; only its kind, code and digest are kept.
    CommandRejected(CommandRejected) = "command.rejected" v 1 by ["recorder"] else "role-missing";
    /// Bytes were stored beside the journal; from here on they can be cited by their digests.
    ArtifactAdded(ArtifactAdded) = "artifact.added" v 1 by ["user", "orchestrator", "claim-agent", "experiment-agent", "verify-agent", "iteration-agent", "launcher", "monitor", "paper-figure", "notify", "next-round", "supervisor"] else "role-missing";
}

/// The payload of `journal.opened`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JournalOpened {
    /// Names the log in notes; `a-z 0-9 . / -`, at most 200 bytes.
    pub origin: String,
    /// What people call the program.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `compat` or `strict`.
    pub profile: String,
    /// The suite of algorithms.
    pub suite: String,
    /// The public keys that hold the role `root` from the start.
    pub root_keys: Vec<PublicKey>,
    /// How many root keys an act of theirs needs; 1 in this version.
    pub threshold: u64,
    /// The public key that signs checkpoints, and never events.
    pub log_key: PublicKey,
}

/// The payload of `journal.recovered`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JournalRecovered {
    /// How many entries were kept.
    pub kept: u64,
    /// How many bytes were set aside.
    pub cut_bytes: u64,
    /// BLAKE3 of the bytes set aside.
    pub cut_blake3: Digest,
    /// What was found.
    pub cause: String,
}

/// The payload of `key.authorized`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyAuthorized {
    /// The new public key.
    #[serde(rename = "pub")]
    pub public: PublicKey,
    /// The roles that it holds from the next entry on; never `root`.
    pub roles: Vec<Role>,
    /// Its name, unique in this journal.
    pub name: KeyName,
    /// Its signature over log id, public key and the sequence number of this entry.
    pub pop: SignatureBytes,
    /// The last entry that it may sign.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub max_seq: Option<u64>,
}

/// The payload of `key.rotated`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRotated {
    /// The key that is replaced.
    pub old: Kid,
    /// The public key that takes over its name and roles.
    pub new: PublicKey,
    /// The new key's signature over log id, public key and the sequence number of this entry.
    pub pop: SignatureBytes,
    /// The last entry that the old key may still sign; null ends it with this entry.
    #[serde(deserialize_with = "nullable")]
    pub overlap_until_seq: Option<u64>,
}

/// The payload of `key.revoked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRevoked {
    /// The key.
    pub kid: Kid,
    /// The first entry that it may no longer sign: this entry's own number or a later one.
    pub effective_seq: u64,
    /// The first entry by this key that is no longer trusted; it stays in the record, marked.
    pub suspect_from_seq: u64,
    /// Why.
    pub reason: String,
}

/// The payload of `role.granted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleGranted {
    /// The key.
    pub kid: Kid,
    /// The role that it holds from the next entry on; never `root`.
    pub role: Role,
}

/// The payload of `command.rejected`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandRejected {
    /// The kind that was tried.
    pub kind: String,
    /// The stream it was meant for.
    pub stream: String,
    /// The key that tried.
    pub kid: Kid,
    /// The refusal's code.
    pub code: String,
    /// The request digest of what was tried; the payload itself is not kept.
    pub request: Digest,
}

/// The payload of `artifact.added`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactAdded {
    /// BLAKE3 of the bytes, which names them in the store.
    pub b3: Digest,
    /// SHA-256 of the bytes.
    pub sha256: Digest,
    /// How many bytes there are; at least one.
    pub bytes: u64,
    /// The file in the workspace that they were read from.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}
