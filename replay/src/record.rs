//! What holds for events of every domain: streams and their times, idempotency keys, citations.

use rp_events::{
    ArtifactName, DOMAINS, EventId, Idem, Kind, Refusal, Seq, Stamp, Verified,
    entry::{Citation, Envelope},
    refusal::general,
};
use serde::{Deserialize, Serialize};

use crate::{
    relation::{self, Target},
    table::{Backing, Change, Index, Table},
    trust::Trust,
};

/// How far a claimed time may lie ahead of the clock, in milliseconds.
pub const FUTURE_MS_MAX: u64 = 5 * 60 * 1000;

/// A stream: the events of one round, of the program, of the journal itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// How many events it has.
    pub version: u64,
    /// The last time claimed in it.
    pub claimed: Option<Stamp>,
}

/// The part of the state that no domain owns.
#[derive(Debug)]
pub struct Record {
    streams: Table<Stream>,
    idems: Index<16>,
    /// The position of each event, with its kind: see [`pack`].
    ids: Index<32>,
}

impl Record {
    pub(crate) fn new(backing: &Backing) -> Self {
        Self {
            streams: Table::new("streams", backing),
            idems: Index::new("idems", backing),
            ids: Index::new("ids", backing),
        }
    }

    /// A stream; empty if nothing was recorded in it.
    pub fn stream(&self, name: &str) -> Stream {
        self.streams.get(name).map_or_else(Stream::default, |stream| (*stream).clone())
    }

    /// Every stream with events.
    pub fn streams(&self) -> Vec<(String, Stream)> {
        self.streams.scan("").into_iter().map(|(name, stream)| (name, (*stream).clone())).collect()
    }

    /// The event that was recorded under an idempotency key.
    pub fn recorded_under(&self, idem: &Idem) -> Option<Seq> {
        self.idems.get(&idem.0).map(Seq)
    }

    /// The position of an event.
    pub fn position(&self, id: &EventId) -> Option<Seq> {
        self.ids.get(&id.0).map(unpack)
    }

    /// The kind of an event.
    fn kind(&self, id: &EventId) -> Option<&'static Kind> {
        let tag = self.ids.get(&id.0)? >> SEQ_BITS;
        DOMAINS.iter().flat_map(|kinds| kinds.iter()).find(|kind| tag_of(kind.name) == tag)
    }

    pub(crate) fn admit(
        &self,
        envelope: &Envelope,
        stream: &str,
        trust: &Trust,
    ) -> Result<(), Refusal> {
        if let Some(first) = self.recorded_under(&envelope.idem) {
            return Err(Refusal::new(
                &general::IDEMPOTENCY_CONFLICT,
                format!("idempotency key `{}` was used by entry {first}", envelope.idem),
            ));
        }
        if let Some(at) = envelope.at {
            self.admit_time(at, envelope.time, stream)?;
        }
        let each = |citation| self.admit_citation(citation, &envelope.kind, trust);
        envelope.cause.iter().try_for_each(each)
    }

    fn admit_time(&self, at: Stamp, clock: Stamp, stream: &str) -> Result<(), Refusal> {
        if at.millis() > clock.millis() + FUTURE_MS_MAX {
            return Err(Refusal::new(
                &general::TIME_IN_FUTURE,
                format!("the clock says {clock}, the claimed time is {at}"),
            ));
        }
        match self.stream(stream).claimed {
            Some(last) if at < last => Err(Refusal::new(
                &general::TIME_REGRESSION,
                format!("the last time claimed in `{stream}` is {last}, this one is {at}"),
            )),
            _ => Ok(()),
        }
    }

    /// Holds a citation to lead to an earlier event or an artifact on record, by a relation that exists
    /// between the two.
    fn admit_citation(
        &self,
        citation: &Citation,
        source: &str,
        trust: &Trust,
    ) -> Result<(), Refusal> {
        relation::known(citation)?;
        let text = &citation.target;
        let unknown = |code, what| Refusal::new(code, format!("{what} `{text}`"));
        let target = if text.contains(':') {
            let what = "this journal holds no artifact";
            let name = ArtifactName::parse(text)
                .ok_or_else(|| unknown(&general::CITATION_UNKNOWN, what))?;
            trust.artifact(&name).ok_or_else(|| unknown(&general::ARTIFACT_MISSING, what))?;
            Target::Artifact
        } else {
            let kind = EventId::parse(text).and_then(|id| self.kind(&id));
            let what = "no earlier event of this journal has the id";
            Target::Event(kind.ok_or_else(|| unknown(&general::CITATION_UNKNOWN, what))?)
        };
        relation::between(citation, source, target)
    }

    pub(crate) fn apply(&mut self, entry: &Verified, stream: &str) {
        let envelope = entry.envelope();
        self.idems.put(envelope.idem.0, envelope.seq.0);
        self.ids.put(entry.id().0, pack(envelope.seq, &envelope.kind));
        self.streams.upsert(stream, |stream| {
            stream.version += 1;
            stream.claimed = envelope.at.or(stream.claimed);
        });
    }

    pub(crate) fn changes(&mut self, out: &mut Vec<Change>) {
        self.streams.changes(out);
        self.idems.changes(out);
        self.ids.changes(out);
    }
}

/// How many bits of an index value are the position; the kind's tag stands above them.
const SEQ_BITS: u32 = 40;

/// A position and the tag of a kind in one number, so that knowing what a citation leads to costs no table.
fn pack(seq: Seq, kind: &str) -> u64 {
    (tag_of(kind) << SEQ_BITS) | seq.0
}

fn unpack(packed: u64) -> Seq {
    Seq(packed & ((1 << SEQ_BITS) - 1))
}

/// 24 bits of the FNV-1a hash of a kind's name; a test holds them to differ.
fn tag_of(kind: &str) -> u64 {
    let hash = kind.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash >> SEQ_BITS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rp_events::{DOMAINS, Seq};

    use super::{pack, tag_of, unpack};

    #[test]
    fn a_tag_tells_every_kind_from_every_other() {
        let kinds: Vec<&str> = DOMAINS.iter().flat_map(|k| k.iter()).map(|k| k.name).collect();
        let tags: BTreeSet<u64> = kinds.iter().map(|kind| tag_of(kind)).collect();
        assert_eq!(tags.len(), kinds.len());
    }

    #[test]
    fn a_position_keeps_its_number_beside_the_tag() {
        for seq in [0, 1, 10_000_000, (1 << 40) - 1] {
            assert_eq!(unpack(pack(Seq(seq), "claim.seeded")), Seq(seq));
        }
    }
}
