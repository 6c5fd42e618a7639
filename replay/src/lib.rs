//! What the journal means: the state it establishes, the rules for what may come next, the views of it.
//!
//! A fold is a pure function of the events before it. This crate opens no file, reads no clock, draws no
//! random numbers, and holds no float and no hash map. The engine appends by [`State::admit`] and then
//! [`State::apply`]; an auditor replays by the same two functions, so nothing is recorded that a replay would
//! refuse, and nothing refused that a replay would accept.

#![deny(clippy::wildcard_enum_match_arm)]
#![deny(clippy::float_arithmetic)]

pub mod address;
pub mod document;
mod domain;
pub mod history;
pub mod launch;
pub mod lineage;
pub mod measurement;
pub mod program;
pub mod record;
pub mod relation;
pub mod table;
pub mod trust;
pub mod views;

pub use address::Address;
pub use domain::{At, Domain};
pub use history::History;
pub use lineage::Lineage;
pub use views::{VIEWS, View};

use std::sync::Arc;

use rp_events::{
    Code, Event, Keys, Kid, PublicKey, Refusal, Seq, Verified, entry::Envelope, refusal::general,
};

use crate::{
    record::Record,
    table::{Backing, Change},
    trust::KeyRecord,
};

/// Everything the journal has established so far.
#[derive(Debug)]
pub struct State {
    next: Seq,
    backing: Backing,
    record: Record,
    trust: trust::Trust,
    program: program::Program,
}

impl Default for State {
    fn default() -> Self {
        Self::new(Backing::default(), Seq(0))
    }
}

/// An event that the rules accepted as the next one.
///
/// Only [`State::admit`] makes one, so nothing can be appended or applied without it.
///
/// ```compile_fail,E0451
/// fn forge(entry: rp_events::Verified, other: rp_replay::Admitted) -> rp_replay::Admitted {
///     rp_replay::Admitted { entry, ..other }
/// }
/// ```
#[derive(Debug)]
pub struct Admitted {
    entry: Verified,
    signer: Arc<KeyRecord>,
}

impl Admitted {
    /// The event.
    pub fn entry(&self) -> &Verified {
        &self.entry
    }
}

/// Which rules [`State::admit`] asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every rule of every domain.
    Whole,
    /// Keys, roles and what holds for every event; the rules of the other domains are not asked.
    Trust,
}

impl State {
    /// The state of an empty journal, or the one that a store holds for its first `next` entries.
    pub fn new(backing: Backing, next: Seq) -> Self {
        Self {
            next,
            record: Record::new(&backing),
            trust: trust::Trust::new(&backing),
            program: program::Program::new(&backing),
            backing,
        }
    }

    /// The position the next entry must have.
    pub fn next(&self) -> Seq {
        self.next
    }

    /// Streams, idempotency keys and event ids.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Genesis, keys, roles, refused commands.
    pub fn trust(&self) -> &trust::Trust {
        &self.trust
    }

    /// Rounds, claims, memory.
    pub fn program(&self) -> &program::Program {
        &self.program
    }

    /// The first failure of the store behind the tables. Ask after `admit` and after a view: what was
    /// decided or shown since may rest on missing records.
    pub fn failure(&self) -> Option<String> {
        self.backing.failure()
    }

    /// Decides whether an entry may come next, by every rule.
    ///
    /// # Errors
    ///
    /// The first rule that it breaks: key, envelope, then its domain's in the order of that domain's text.
    pub fn admit(&self, entry: Verified) -> Result<Admitted, Refusal> {
        self.admit_within(entry, Scope::Whole)
    }

    /// Decides as [`State::admit`], asking only the rules within a scope.
    ///
    /// # Errors
    ///
    /// As [`State::admit`]; within [`Scope::Trust`], an owner's code where the roles do not fit.
    pub fn admit_within(&self, entry: Verified, scope: Scope) -> Result<Admitted, Refusal> {
        let envelope = entry.envelope();
        if envelope.seq != self.next {
            return Err(Refusal::new(
                &general::BAD_ORDER,
                format!("position {} is free, the entry says {}", self.next, envelope.seq),
            ));
        }
        let signer = self.signer(&entry)?;
        let stream = stream_of(&entry)?;
        self.record.admit(envelope, stream, &self.trust)?;
        let at = at(&entry, &signer, stream);
        match (entry.event(), scope) {
            (Event::Trust(event), _) => trust::Trust::admit(self, &at, event)?,
            (Event::Program(event), Scope::Whole) => program::Program::admit(self, &at, event)?,
            (Event::Program(_), Scope::Trust) => owned(&at)?,
        }
        Ok(Admitted { entry, signer })
    }

    fn signer(&self, entry: &Verified) -> Result<Arc<KeyRecord>, Refusal> {
        if let Event::Trust(rp_events::trust::Event::JournalOpened(genesis)) = entry.event()
            && self.next == Seq(0)
        {
            return trust::root_of(genesis, entry.envelope().kid);
        }
        self.trust.signer(&entry.envelope().kid, self.next)
    }

    /// Records an admitted entry in every domain.
    ///
    /// # Panics
    ///
    /// If the entry was admitted at another position, which is a bug of the caller.
    pub fn apply(&mut self, admitted: &Admitted) {
        self.apply_within(admitted, Scope::Whole);
    }

    /// Records an admitted entry in the domains within a scope.
    ///
    /// # Panics
    ///
    /// As [`State::apply`].
    pub fn apply_within(&mut self, Admitted { entry, signer }: &Admitted, scope: Scope) {
        assert_eq!(entry.envelope().seq, self.next, "BUG: applied elsewhere than admitted");
        let stream = stream_of(entry).expect("admit() held the stream to its form");
        self.record.apply(entry, stream);
        let at = at(entry, signer, stream);
        match (entry.event(), scope) {
            (Event::Trust(event), _) => self.trust.apply(&at, event),
            (Event::Program(event), Scope::Whole) => self.program.apply(&at, event),
            (Event::Program(_), Scope::Trust) => {}
        }
        self.next = self.next.next();
    }

    /// Hands out the records changed since the last call, for the store.
    pub fn changes(&mut self) -> Vec<Change> {
        let mut out = Vec::new();
        self.record.changes(&mut out);
        self.trust.changes(&mut out);
        self.program.changes(&mut out);
        out
    }
}

impl Keys for State {
    fn public(&self, kid: &Kid) -> Option<PublicKey> {
        self.trust.key(kid).map(|key| key.public)
    }
}

fn at<'a>(entry: &'a Verified, signer: &'a KeyRecord, stream: &'a str) -> At<'a> {
    let Envelope { seq, time, at, kid, cause, .. } = entry.envelope();
    At {
        seq: *seq,
        id: entry.id(),
        time: at.unwrap_or(*time),
        kind: entry.kind(),
        kid: *kid,
        signer: &signer.name,
        roles: &signer.roles,
        stage: entry.stage(),
        stream,
        cause,
    }
}

/// The stream of an event: said by the envelope, or implied by the domain.
fn stream_of(entry: &Verified) -> Result<&str, Refusal> {
    let said = entry.envelope().stream.as_deref();
    let domain = entry.kind().domain;
    let fits = match domain {
        "trust" => said.is_none(),
        _ => said.is_some_and(program::is_stream),
    };
    if !fits {
        let said = said.unwrap_or("none");
        return Err(Refusal::new(
            &general::BAD_STREAM,
            format!("`{}` may not stand in stream `{said}`", entry.kind().name),
        ));
    }
    Ok(said.unwrap_or("trust"))
}

/// Holds the signing key to a role that owns the event, with the owner code of its kind.
///
/// # Errors
///
/// The code that the kind's table row names.
pub fn owned(at: &At<'_>) -> Result<(), Refusal> {
    if at.is_owner() {
        return Ok(());
    }
    let roles = at.roles.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Err(Refusal::new(
        code(at.kind.owner_code),
        format!(
            "`{}` is signed by {}; key `{}` holds {}",
            at.kind.name,
            at.kind.owners_text(),
            at.signer,
            if roles.is_empty() { "no role" } else { &roles }
        ),
    ))
}

/// Every refusal code, general first, then a domain at a time.
pub fn codes() -> impl Iterator<Item = &'static Code> {
    let tables = [general::ALL, trust::codes::ALL, program::codes::ALL];
    tables.into_iter().flat_map(|table| table.iter().copied())
}

fn code(name: &str) -> &'static Code {
    codes().find(|code| code.name == name).expect("the tables of kinds name codes that exist")
}
