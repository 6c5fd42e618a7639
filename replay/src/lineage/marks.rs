//! Marks: what a revoked key or a changed artifact reaches.

use std::collections::{BTreeMap, BTreeSet};

use rp_events::{ArtifactName, Digest, Seq};

use super::{Fact, Lineage};
use crate::{
    Address,
    document::{self, Body, Cell, Document, Section, Tone},
    trust::Trust,
};

/// Why something is marked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// An event was signed by a key within its suspect range.
    Key(String),
    /// The bytes of an artifact are not those on record, or are gone.
    Artifact(Digest),
}

impl Cause {
    /// The address of what is at fault.
    pub fn address(&self) -> Address {
        match self {
            Self::Key(name) => Address::Key(name.clone()),
            Self::Artifact(b3) => Address::Artifact(ArtifactName::Blake3(*b3)),
        }
    }

    /// The cause in words, for something that rests on it.
    pub fn words(&self) -> String {
        match self {
            Self::Key(name) => format!("rests on what key:{name} signed when it was suspect"),
            Self::Artifact(b3) => format!("rests on artifact:b3:{b3}, whose bytes do not hold"),
        }
    }
}

/// Everything that a fault reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// The events, with why.
    pub events: BTreeMap<Seq, BTreeSet<Cause>>,
    /// The entities of which a marked event says something, and the artifacts that do not hold, with why.
    pub entities: BTreeMap<Address, BTreeSet<Cause>>,
}

impl Marks {
    /// Why an address is marked; nothing if it is not.
    pub fn of(&self, address: &Address) -> Option<&BTreeSet<Cause>> {
        match address {
            Address::Event(seq) => self.events.get(seq),
            Address::Key(_)
            | Address::Artifact(_)
            | Address::Round(_)
            | Address::Claim(..)
            | Address::Run(..)
            | Address::Behavior(_) => self.entities.get(address),
        }
    }
}

impl Marks {
    /// Says on a page what it rests on that does not hold: first of all for the thing that it is the page of, and
    /// in each row about a marked thing.
    pub fn draw_on(&self, document: &mut Document) {
        for section in &mut document.sections {
            let Body::Table { rows, .. } = &mut section.body else { continue };
            for row in rows {
                let linked = row.cells.first().and_then(Cell::linked);
                if self.about(row.address.as_ref().or(linked)).is_some()
                    && let Some(first) = row.cells.first_mut()
                {
                    let mark =
                        Cell::from(" ").and(Cell::status(Tone::Bad, "rests on what does not hold"));
                    *first = std::mem::take(first).and(mark);
                }
            }
        }
        if let Some(causes) = self.about(document.address.as_ref()) {
            let words: Vec<String> = causes.iter().map(Cause::words).collect();
            let note = Body::Note(Tone::Bad, Cell::from(format!("This {}.", words.join("; it "))));
            document.sections.insert(0, Section { heading: String::new(), body: note });
        }
    }

    fn about(&self, shown: Option<&document::Address>) -> Option<&BTreeSet<Cause>> {
        self.of(&Address::parse(shown?.as_str()).ok()?)
    }
}

impl Lineage {
    /// Marks everything that rests on an event signed within a key's suspect range, or on an artifact whose
    /// bytes were found not to hold. One pass: an event rests on earlier ones only.
    pub fn marks(&self, trust: &Trust, broken: &BTreeSet<Digest>) -> Marks {
        let mut marks = Marks::default();
        for b3 in broken {
            let artifact = Address::Artifact(ArtifactName::Blake3(*b3));
            marks.entities.insert(artifact, BTreeSet::from([Cause::Artifact(*b3)]));
        }
        for (fact, seq) in self.facts.iter().zip(0..) {
            let seq = Seq(seq);
            let causes = reaching(fact, seq, trust, &marks);
            if causes.is_empty() {
                continue;
            }
            for entity in &fact.about {
                marks.entities.entry(entity.clone()).or_default().extend(causes.iter().cloned());
            }
            marks.events.insert(seq, causes);
        }
        marks
    }
}

/// The causes that reach an event, given what they reached before it.
fn reaching(fact: &Fact, seq: Seq, trust: &Trust, before: &Marks) -> BTreeSet<Cause> {
    let links = fact.links.iter().filter(|link| link.rests);
    let mut causes: BTreeSet<Cause> =
        links.filter_map(|link| before.of(&link.to)).flatten().cloned().collect();
    if let Some(key) = trust.key(&fact.kid).filter(|key| key.is_suspect_at(seq)) {
        causes.insert(Cause::Key(key.name.clone()));
    }
    causes
}
