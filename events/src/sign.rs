//! Signatures: what is signed, under which key, and the one judgement of it.
//!
//! Every signature is Ed25519 over the pre-authentication encoding of DSSE, so that bytes signed for one
//! purpose never pass for another. The normative verdict is `verify_strict`; keys that are of low order or
//! not canonical are refused before they are admitted, and then every implementation agrees.

use std::collections::BTreeMap;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};

use crate::{
    Event,
    entry::{Envelope, Parsed},
    id::{EventId, Kid, PublicKey, Seq, SignatureBytes},
    kinds::Kind,
    refusal::{Refusal, general},
    tree, trust,
};

/// The payload type of events in the pre-authentication encoding.
pub const EVENT_TYPE: &str = "application/vnd.rp.event.v1+msgpack";
/// The payload type of proofs of possession.
pub const POSSESSION_TYPE: &str = "application/vnd.rp.key-pop.v1";

/// The pre-authentication encoding of DSSE version 1.
pub fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

impl PublicKey {
    /// The name of this key.
    pub fn kid(&self) -> Kid {
        Kid(Sha256::new().chain_update(b"rp-key/1\n").chain_update(self.0).finalize().into())
    }

    /// Whether the key may be admitted: a canonical point that is not of low order.
    pub fn is_admissible(&self) -> bool {
        // Points that decompress but are written another way would make one key have two names.
        VerifyingKey::from_bytes(&self.0)
            .is_ok_and(|key| !key.is_weak() && key.to_edwards().compress().to_bytes() == self.0)
    }

    /// Whether `signature` is this key's over `message`, by the strict rule.
    pub fn verifies(&self, message: &[u8], signature: &SignatureBytes) -> bool {
        VerifyingKey::from_bytes(&self.0).is_ok_and(|key| {
            key.verify_strict(message, &Signature::from_bytes(&signature.0)).is_ok()
        })
    }

    /// Whether the key proved possession of its secret for this journal and entry.
    pub fn proves_possession(&self, log: EventId, seq: Seq, proof: &SignatureBytes) -> bool {
        self.verifies(&possession(log, *self, seq), proof)
    }
}

fn possession(log: EventId, public: PublicKey, seq: Seq) -> Vec<u8> {
    pae(POSSESSION_TYPE, &[&log.0[..], &public.0, &seq.0.to_be_bytes()].concat())
}

/// A secret key. Its bytes are wiped when it is dropped; it is never printed.
pub struct SecretKey(SigningKey);

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretKey({})", self.public().kid())
    }
}

impl SecretKey {
    /// Takes a 32-byte seed.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// The seed, for the keyring alone.
    pub fn seed(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    /// Signs an event's body.
    pub fn sign_event(&self, body: &[u8]) -> [u8; 64] {
        self.sign(&pae(EVENT_TYPE, body)).0
    }

    /// Proves possession of this key for entry `seq` of journal `log`.
    pub fn prove_possession(&self, log: EventId, seq: Seq) -> SignatureBytes {
        self.sign(&possession(log, self.public(), seq))
    }

    /// Signs bytes that carry their own separation: a note's text.
    pub fn sign(&self, message: &[u8]) -> SignatureBytes {
        SignatureBytes(self.0.sign(message).to_bytes())
    }
}

/// Where [`verify`] finds the public key that an entry names.
pub trait Keys {
    /// The public key with this name, whether or not it may still sign.
    fn public(&self, kid: &Kid) -> Option<PublicKey>;
}

/// An event whose shape, key and signature hold, or whose signature is being judged elsewhere.
///
/// Made by [`verify`] and [`Verified::pending`] alone.
///
/// ```compile_fail,E0451
/// fn forge(event: rp_events::Event, other: rp_events::Verified) -> rp_events::Verified {
///     rp_events::Verified { event, ..other }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Verified {
    envelope: Envelope,
    id: EventId,
    kind: &'static Kind,
    event: Event,
    stage: Option<String>,
}

impl Verified {
    /// The envelope.
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// The event's name.
    pub fn id(&self) -> EventId {
        self.id
    }

    /// The table row of its kind.
    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// The payload.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// The stage that the payload names, where its owner depends on it.
    pub fn stage(&self) -> Option<&str> {
        self.stage.as_deref()
    }

    /// Checks everything but the signature, and hands out the job of judging it.
    ///
    /// No verdict may be given, and nothing published as verified, until the job has answered yes. A reader
    /// that drops the job must say "signatures not checked".
    ///
    /// # Errors
    ///
    /// As [`verify`], except `bad-signature`.
    pub fn pending(parsed: Parsed<'_>, keys: &impl Keys) -> Result<(Self, SignatureJob), Refusal> {
        let name = &parsed.envelope.kind;
        let kind = crate::kind(name).ok_or_else(|| {
            Refusal::new(&general::UNKNOWN_KIND, format!("no kind is named `{name}`"))
        })?;
        if parsed.envelope.version != kind.version {
            return Err(Refusal::new(
                &general::UNKNOWN_KIND,
                format!(
                    "`{name}` has no version {}, only {}",
                    parsed.envelope.version, kind.version
                ),
            ));
        }
        let event = Event::decode(name, parsed.data).map_err(|why| {
            Refusal::new(&general::BAD_TYPE, format!("the payload is no `{name}`: {why}"))
        })?;
        let public = public_key(&parsed, &event, keys)?;
        let job = SignatureJob {
            seq: parsed.envelope.seq,
            public,
            body: parsed.body.to_vec(),
            signature: SignatureBytes(parsed.signature),
        };
        let stage = kind
            .stage_field()
            .and_then(|field| crate::profile::text_at(parsed.data, field))
            .map(str::to_owned);
        let verified = Self { id: parsed.id, envelope: parsed.envelope, kind, event, stage };
        Ok((verified, job))
    }
}

/// Judges an entry: its kind is known, its payload fits, its key is known and signed exactly these bytes.
///
/// # Errors
///
/// `unknown-kind`, `bad-type`, `unknown-key` or `bad-signature`.
pub fn verify(parsed: Parsed<'_>, keys: &impl Keys) -> Result<Verified, Refusal> {
    let (verified, job) = Verified::pending(parsed, keys)?;
    job.judge(&mut KeyCache::default())?;
    Ok(verified)
}

/// The genesis brings its own keys; every other entry names one that the journal has admitted.
fn public_key(parsed: &Parsed<'_>, event: &Event, keys: &impl Keys) -> Result<PublicKey, Refusal> {
    let kid = parsed.envelope.kid;
    let own = match event {
        Event::Trust(trust::Event::JournalOpened(genesis)) if parsed.envelope.seq == Seq(0) => {
            genesis.root_keys.iter().find(|key| key.kid() == kid).copied()
        }
        Event::Trust(_) | Event::Program(_) => None,
    };
    own.or_else(|| keys.public(&kid)).ok_or_else(|| {
        Refusal::new(&general::UNKNOWN_KEY, format!("the journal has admitted no key `{kid}`"))
    })
}

/// A signature still to be judged.
#[derive(Debug)]
#[must_use = "an event is not verified before its signature was judged"]
pub struct SignatureJob {
    seq: Seq,
    public: PublicKey,
    body: Vec<u8>,
    signature: SignatureBytes,
}

impl SignatureJob {
    /// The entry that it belongs to.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// Judges the signature by the strict rule.
    ///
    /// # Errors
    ///
    /// `bad-signature`.
    pub fn judge(&self, cache: &mut KeyCache) -> Result<(), Refusal> {
        let message = pae(EVENT_TYPE, &self.body);
        let signature = Signature::from_bytes(&self.signature.0);
        let holds = cache
            .key(&self.public)
            .is_some_and(|key| key.verify_strict(&message, &signature).is_ok());
        if holds {
            return Ok(());
        }
        Err(Refusal::new(
            &general::BAD_SIGNATURE,
            format!(
                "the signature of entry {} is not that of key `{}`",
                self.seq,
                self.public.kid()
            ),
        ))
    }
}

/// Judges signatures that this process has just made, together: a fault of the machine is found at a third of
/// the cost of judging each. Signatures of others are judged one by one, since only then does every
/// implementation agree on each.
///
/// # Errors
///
/// `bad-signature` of the first that the strict rule refuses.
pub fn judge_own(jobs: &[SignatureJob]) -> Result<(), Refusal> {
    let mut cache = KeyCache::default();
    let keys: Option<Vec<VerifyingKey>> =
        jobs.iter().map(|job| cache.key(&job.public).copied()).collect();
    let messages: Vec<Vec<u8>> = jobs.iter().map(|job| pae(EVENT_TYPE, &job.body)).collect();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let signatures: Vec<Signature> =
        jobs.iter().map(|job| Signature::from_bytes(&job.signature.0)).collect();
    let hold = jobs.len() > 1
        && keys
            .is_some_and(|keys| ed25519_dalek::verify_batch(&messages, &signatures, &keys).is_ok());
    if hold { Ok(()) } else { jobs.iter().try_for_each(|job| job.judge(&mut cache)) }
}

/// Public keys already decompressed, which is a tenth of judging a signature. One a thread.
#[derive(Debug, Default)]
pub struct KeyCache(BTreeMap<PublicKey, Option<VerifyingKey>>);

impl KeyCache {
    fn key(&mut self, public: &PublicKey) -> Option<&VerifyingKey> {
        self.0.entry(*public).or_insert_with(|| VerifyingKey::from_bytes(&public.0).ok()).as_ref()
    }
}

/// The chain and the tree over the entries read so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chain {
    last: Option<EventId>,
    frontier: tree::Frontier,
}

impl Chain {
    /// Takes the parts of a stored position; `None` if an id is missing or too many.
    pub fn from_parts(last: Option<EventId>, frontier: tree::Frontier) -> Option<Self> {
        (last.is_some() == (frontier.size() > 0)).then_some(Self { last, frontier })
    }

    /// The position that is free.
    pub fn next(&self) -> Seq {
        Seq(self.frontier.size())
    }

    /// The last event, which the next one must name; all zero before the first.
    pub fn last(&self) -> EventId {
        self.last.unwrap_or(EventId::ZERO)
    }

    /// The tree.
    pub fn frontier(&self) -> &tree::Frontier {
        &self.frontier
    }

    /// Holds an entry to follow the last one.
    ///
    /// # Errors
    ///
    /// `bad-order`.
    pub fn admit(&self, parsed: &Parsed<'_>) -> Result<(), Refusal> {
        let Envelope { seq, prev, .. } = &parsed.envelope;
        if *seq != self.next() {
            return Err(Refusal::new(
                &general::BAD_ORDER,
                format!("position {} holds an entry that says {seq}", self.next()),
            ));
        }
        if *prev != self.last() {
            return Err(Refusal::new(
                &general::BAD_ORDER,
                format!(
                    "entry {seq} follows `{}`, but names `{prev}` as the one before",
                    self.last()
                ),
            ));
        }
        Ok(())
    }

    /// Takes an entry that [`Chain::admit`] let pass; `entry` are its whole bytes.
    pub fn push(&mut self, id: EventId, entry: &[u8]) {
        self.last = Some(id);
        self.frontier.push(tree::leaf(entry));
    }
}
