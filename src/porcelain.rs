//! What the verbs of the program share: which key signs, drafts in the round's stream, the receipts.

use rp_events::{Event, Refusal, entry, program, refusal::general};
use rp_replay::{
    State,
    program::{Program, codes},
};
use serde_json::{Value, json};

use crate::{
    engine::{Draft, Engine, Receipt, fresh_idem},
    error::Failure,
    exit::Exit,
    workspace::Workspace,
};

/// An event that was recorded, and who signed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// Its receipt.
    pub receipt: Receipt,
    /// The name of the key.
    pub key: String,
}

impl Signed {
    /// The receipt as a program reads it.
    pub fn to_json(&self) -> Value {
        json!({
            "seq": self.receipt.seq.0,
            "event_id": self.receipt.id.to_string(),
            "kind": self.receipt.kind,
            "stream": self.receipt.stream,
            "duplicate": self.receipt.duplicate,
            "idem": self.receipt.idem,
            "key": self.key,
        })
    }

    /// The receipt on one line.
    pub fn line(&self) -> String {
        let again = if self.receipt.duplicate { " (recorded before)" } else { "" };
        let Receipt { seq, kind, stream, .. } = &self.receipt;
        format!("entry {seq}: {kind} in {stream}, signed by {}{again}", self.key)
    }
}

/// The key that signs in a role: the caller's if it holds the role, else the one named after it, else the first
/// that holds it. Its secret must be here, and it must be allowed to sign.
///
/// A caller who names a key speaks in that key's name alone where the user's word is asked for: an agent does not
/// become the user because the user's secret is on the same machine.
///
/// # Errors
///
/// There is none.
pub fn signer(workspace: &Workspace, state: &State, role: &str) -> Result<String, Failure> {
    if let Some(named) = workspace.settings.key.as_ref().filter(|_| role == "user") {
        return Ok(named.clone());
    }
    let keyring = workspace.keyring()?;
    let caller = workspace.key_name()?;
    let mut able: Vec<String> = Vec::new();
    for key in state.trust().keys() {
        let holds = key.roles.iter().any(|held| held.as_str() == role);
        let kid = key.public.kid();
        if holds && key.ended_before(state.next()).is_none() && keyring.holds(&key.name, &kid) {
            able.push(key.name.clone());
        }
    }
    let preferred = [caller.as_str(), role];
    let named = preferred.iter().find(|name| able.iter().any(|able| able == *name));
    if let Some(name) = named.map(|name| (*name).to_owned()).or_else(|| able.first().cloned()) {
        return Ok(name);
    }
    let why =
        format!("no key whose secret is here holds the role `{role}`; the caller's is `{caller}`");
    let hint = format!("`rp key new {role} --role {role}` makes one");
    Err(Refusal::new(&general::WRONG_OWNER, why).hint(hint).into())
}

/// The round opened last.
///
/// # Errors
///
/// None was.
pub fn latest_round(program: &Program) -> Result<u64, Failure> {
    program.latest_round().ok_or_else(|| no_round(program))
}

fn no_round(program: &Program) -> Failure {
    if program.root().is_none() {
        let why = "no program was created in this journal";
        return Refusal::new(&codes::NO_PROGRAM, why).into();
    }
    Failure::new(Exit::NOTHING, "nothing", "no round was opened yet")
        .hint("`rp round open -- \"direction\"` opens one")
}

/// The round asked for, or else the latest.
///
/// # Errors
///
/// It was never opened.
pub fn round(program: &Program, asked: Option<u64>) -> Result<u64, Failure> {
    let Some(asked) = asked else { return latest_round(program) };
    let rounds = program.rounds();
    if rounds.contains(&asked) {
        return Ok(asked);
    }
    let known: Vec<String> = rounds.iter().map(u64::to_string).collect();
    let why = if known.is_empty() {
        format!("no round was opened yet; found {asked}")
    } else {
        format!("the rounds are {}; found {asked}", known.join(", "))
    };
    Err(Refusal::new(&codes::UNKNOWN_ROUND, why).into())
}

/// A draft in a round's stream; round 0 is the program's.
pub fn draft(
    workspace: &Workspace,
    event: program::Event,
    round: u64,
    idem: Option<String>,
    signer: String,
) -> Draft {
    let stream = if round == 0 { "program".to_owned() } else { format!("round/{round}") };
    Draft {
        event: Event::Program(event),
        stream: Some(stream),
        at: None,
        cause: Vec::new(),
        idem: idem.unwrap_or_else(|| fresh_idem(workspace)),
        signer,
    }
}

/// Records drafts as one group.
///
/// # Errors
///
/// One was refused, whose failure says how many before it are recorded.
pub fn record(engine: &mut Engine, drafts: &[Draft]) -> Result<Vec<Signed>, Failure> {
    let committed = engine.commit(drafts)?;
    if let Some(failure) = committed.refused {
        return Err(failure.detail("recorded_before", committed.receipts.len()));
    }
    let keys = drafts.iter().map(|draft| draft.signer.clone());
    let receipts = committed.receipts.into_iter();
    Ok(receipts.zip(keys).map(|(receipt, key)| Signed { receipt, key }).collect())
}

/// The event that was recorded under an idempotency text, with its receipt.
///
/// # Errors
///
/// There is none, or it cannot be read.
pub fn recorded(
    workspace: &Workspace,
    engine: &Engine,
    idem: &str,
) -> Result<(Signed, program::Event), Failure> {
    let unknown =
        || Failure::new(Exit::REFUSED, "no-such-entry", "nothing is recorded under that key");
    let seq = engine.state().record().recorded_under(&entry::idem(idem)).ok_or_else(unknown)?;
    let bytes = workspace.entry(seq)?;
    let parsed = entry::parse(&bytes)
        .map_err(|error| Failure::new(Exit::REFUSED, "bad-envelope", error.to_string()))?;
    let Ok(Event::Program(event)) = Event::decode(&parsed.envelope.kind, parsed.data) else {
        return Err(unknown());
    };
    let key = engine.state().trust().key(&parsed.envelope.kid);
    let receipt = Receipt {
        seq,
        id: parsed.id,
        kind: parsed.envelope.kind.clone(),
        stream: parsed.envelope.stream.clone().unwrap_or_default(),
        duplicate: true,
        idem: idem.to_owned(),
    };
    Ok((Signed { receipt, key: key.map(|key| key.name.clone()).unwrap_or_default() }, event))
}
