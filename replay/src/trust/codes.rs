//! The refusal codes of the trust domain.

use rp_events::codes;

codes! {
    GENESIS_MISPLACED = "genesis-misplaced", "a journal is opened once, by its first entry", "use another folder for another journal";
    BAD_GENESIS = "bad-genesis", "the genesis names a suite, profile, origin or threshold that this version does not have", "see `rp schema journal.opened`";
    KEY_EXISTS = "key-exists", "the name or the public key was admitted before", "choose another name; a key is never admitted twice";
    UNKNOWN_ROLE = "unknown-role", "no role has this name, or it may not be given", "give one of the roles that `rp key new --help` lists";
    ROLE_HELD = "role-held", "the key holds the role already", "nothing is left to do";
    WEAK_KEY = "weak-key", "the public key is of low order or not canonical", "make the key with `rp key new`";
    POSSESSION_UNPROVEN = "possession-unproven", "the proof of possession does not hold for this key, journal and entry", "let the holder of the secret make the proof for the entry that is free now";
    BAD_RANGE = "bad-range", "a bound on entries lies on the wrong side of this entry", "name an entry from this one on to end a key, and any entry up to that to begin its suspect range";
    ROOT_PROTECTED = "root-protected", "root keys are not rotated or revoked by this version", "keep the root key offline; a new journal has a new root";
    BAD_RECOVERY = "bad-recovery", "a recovery says another number of kept entries than stand before it", "see `rp validate`";
    ARTIFACT_EXISTS = "artifact-exists", "these bytes are on record under this path, or under none", "cite the artifact that is there (`rp artifact list`)";
    ARTIFACT_PATH = "artifact-path", "an artifact's path is not one of a file in the workspace", "give a relative path with `/`, without `.` and `..`, of at most 1,024 bytes";
}
