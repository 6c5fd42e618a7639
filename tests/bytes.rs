//! The bytes of the format: every value of the golden vectors, and what must hold for all bytes.

use data_encoding::HEXLOWER;
use proptest::prelude::*;
use rp_events::{
    Digest, EventId, PublicKey, SecretKey, Seq, SignatureBytes, entry, frame,
    note::{self, Checkpoint},
    profile::{self, Value},
    sign::{EVENT_TYPE, pae},
    tree,
};
use serde_json::Value as Json;

const VECTORS: &str = include_str!("../spec/samples/journal-vectors.json");

fn vectors() -> Json {
    serde_json::from_str(VECTORS).unwrap()
}

fn hex(json: &Json) -> Vec<u8> {
    HEXLOWER.decode(json.as_str().unwrap().as_bytes()).unwrap()
}

fn digests(json: &Json) -> Vec<Digest> {
    json.as_array().unwrap().iter().map(|hash| Digest::from_slice(&hex(hash)).unwrap()).collect()
}

/// Keys 01..01 (root), 02..02 (runner), 03..03 (log), as the vectors say.
fn secret(n: u8) -> SecretKey {
    SecretKey::from_seed(&[n; 32])
}

/// The whole entries of the vectors.
fn entries() -> Vec<Vec<u8>> {
    let all = vectors();
    let whole =
        |one: &Json| entry::assemble(&hex(&one["body"]), &hex(&one["sig"]).try_into().unwrap());
    all["entries"].as_array().unwrap().iter().map(whole).collect()
}

fn leaves() -> Vec<Digest> {
    entries().iter().map(|bytes| tree::leaf(bytes)).collect()
}

#[test]
fn every_entry_of_the_vectors_has_its_length_id_leaf_and_signature() {
    let signers = [1, 1, 2, 2, 1];
    let all = vectors();
    for ((one, bytes), signer) in
        all["entries"].as_array().unwrap().iter().zip(entries()).zip(signers)
    {
        assert_eq!(bytes.len() as u64, one["entry_len"].as_u64().unwrap());
        let parsed = entry::parse(&bytes).unwrap();
        assert_eq!(parsed.id, EventId::from_slice(&hex(&one["event_id"])).unwrap());
        assert_eq!(tree::leaf(&bytes), Digest::from_slice(&hex(&one["leaf"])).unwrap());
        let signature = SignatureBytes(parsed.signature);
        assert!(secret(signer).public().verifies(&pae(EVENT_TYPE, parsed.body), &signature));
        assert_eq!(secret(signer).sign_event(parsed.body), parsed.signature);
        assert_eq!(parsed.envelope.kid, secret(signer).public().kid());
        // Written again from its parts, the body is the same to the byte.
        assert_eq!(entry::encode_body(&parsed.envelope, parsed.data), parsed.body);
    }
}

#[test]
fn the_proof_of_possession_holds_for_its_key_journal_and_entry_alone() {
    let all = vectors();
    let log = EventId::from_slice(&hex(&all["entries"][0]["event_id"])).unwrap();
    let public = PublicKey::from_slice(&hex(&all["pop_of_entry_1"]["pub"])).unwrap();
    let proof = SignatureBytes::from_slice(&hex(&all["pop_of_entry_1"]["sig"])).unwrap();
    assert!(public.proves_possession(log, Seq(1), &proof));
    assert!(!public.proves_possession(log, Seq(2), &proof));
    assert!(!public.proves_possession(EventId([0; 32]), Seq(1), &proof));
    assert_eq!(secret(2).prove_possession(log, Seq(1)), proof);
}

#[test]
fn roots_and_proofs_are_those_of_the_vectors() {
    let (all, leaves) = (vectors(), leaves());
    let roots = digests(&all["roots"]);
    for (n, root) in roots.iter().enumerate() {
        assert_eq!(tree::root_of(&leaves[..n]), *root, "{n} leaves");
    }
    let path = digests(&all["inclusion_2_of_5"]);
    assert_eq!(tree::inclusion(2, &leaves), path);
    assert!(tree::includes(leaves[2], 2, 5, &path, roots[5]));
    let proof = digests(&all["consistency_3_to_5"]);
    assert_eq!(tree::consistency(3, &leaves), proof);
    assert!(tree::extends(3, roots[3], 5, roots[5], &proof));
}

#[test]
fn the_note_and_the_proof_file_are_those_of_the_vectors() {
    let all = vectors();
    let checkpoint = Checkpoint {
        origin: all["origin"].as_str().unwrap().to_owned(),
        size: 5,
        root: tree::root_of(&leaves()),
    };
    let signed = checkpoint.sign(&secret(3));
    assert_eq!(signed, all["checkpoint"].as_str().unwrap());
    assert_eq!(
        note::verifier_key(&checkpoint.origin, &secret(3).public()),
        all["vkey"].as_str().unwrap()
    );
    assert_eq!(Checkpoint::open(&signed, &secret(3).public()), Ok(checkpoint));
    assert!(Checkpoint::open(&signed, &secret(1).public()).is_err());
    assert!(Checkpoint::open(&signed.replace("\n5\n", "\n6\n"), &secret(3).public()).is_err());
    let proof = note::inclusion_proof(2, &tree::inclusion(2, &leaves()), &signed);
    assert_eq!(proof, all["tlog_proof_index2"].as_str().unwrap());
}

#[test]
fn frame_zero_is_that_of_the_vectors_but_for_its_two_checksums() {
    let mut due = hex(&vectors()["frame_0_salt_1122334455667788"]);
    // The vectors have CRC-32C there; the format has CRC-32.
    due[28..32].copy_from_slice(&[0xd2, 0xd8, 0x84, 0x09]);
    due[36..40].copy_from_slice(&[0x18, 0x8d, 0x99, 0x7e]);
    let mut ours = Vec::new();
    let kind = frame::FrameKind::Entry { more: false };
    frame::encode(kind, Seq(0), 0, 0x1122_3344_5566_7788, &entries()[0], &mut ours);
    assert_eq!(ours, due);
}

#[test]
fn no_bit_of_an_entry_may_flip() {
    let bytes = &entries()[1];
    let root = secret(1).public();
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let holds = entry::parse(&damaged).is_ok_and(|parsed| {
            root.verifies(&pae(EVENT_TYPE, parsed.body), &SignatureBytes(parsed.signature))
        });
        assert!(!holds, "bit {bit}");
    }
}

/// Any value of the profile, nested a few levels.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::Bool),
        (i64::MIN..=i64::MAX).prop_map(|n| Value::Int(n.into())),
        any::<u64>().prop_map(|n| Value::Int(n.into())),
        "[ -~\u{e9}\u{2192}]{0,40}".prop_map(Value::Str),
        proptest::collection::vec(any::<u8>(), 0..300).prop_map(Value::Bin),
    ];
    leaf.prop_recursive(4, 64, 20, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..20).prop_map(Value::Array),
            proptest::collection::btree_map("[a-z]{0,6}", inner, 0..20).prop_map(Value::Map),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_encoded_is_strict_and_comes_back(value in value()) {
        let bytes = profile::encode(&value);
        prop_assert_eq!(profile::check(&bytes), Ok(()));
        prop_assert_eq!(profile::decode(&bytes), Ok(value));
    }

    #[test]
    fn strict_bytes_are_the_only_encoding_of_their_value(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(value) = profile::decode(&bytes) {
            prop_assert_eq!(profile::encode(&value), bytes);
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        drop(entry::parse(&bytes));
        let _frame = frame::decode(&bytes, 7);
        drop(rp_events::head::Slots::read(&bytes));
        let _tail = rp_events::recovery::judge(&bytes, Seq(0), 7, 0);
        let text = String::from_utf8_lossy(&bytes);
        drop(rp_events::json::parse(&text));
        drop(Checkpoint::open(&text, &secret(3).public()));
    }
}
