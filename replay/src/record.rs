//! What holds for events of every domain: streams and their times, idempotency keys, citations.

use rp_events::{
    Digest, EventId, Idem, Refusal, Seq, Stamp, Verified,
    entry::{Citation, Envelope},
    refusal::general,
};
use serde::{Deserialize, Serialize};

use crate::table::{Backing, Change, Index, Table};

/// How far a claimed time may lie ahead of the clock, in milliseconds.
pub const FUTURE_MS_MAX: u64 = 5 * 60 * 1000;

/// The relations by which an event may cite an earlier event or an artifact.
pub static RELATIONS: &[(&str, &str)] = &[
    ("evidences", "the target is evidence for this"),
    ("supersedes", "this takes the place of the target"),
    ("answers", "this answers what the target asked"),
    ("witnesses", "this confirms that the target was seen"),
    ("carries", "this takes unfinished work over from the target"),
    ("quotes", "this repeats a part of the target"),
];

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
        self.ids.get(&id.0).map(Seq)
    }

    pub(crate) fn admit(&self, envelope: &Envelope, stream: &str) -> Result<(), Refusal> {
        if let Some(first) = self.recorded_under(&envelope.idem) {
            return Err(Refusal::new(
                &general::IDEMPOTENCY_CONFLICT,
                format!("idempotency key `{}` was used by entry {first}", envelope.idem),
            ));
        }
        if let Some(at) = envelope.at {
            self.admit_time(at, envelope.time, stream)?;
        }
        envelope.cause.iter().try_for_each(|citation| self.admit_citation(citation))
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

    fn admit_citation(&self, citation: &Citation) -> Result<(), Refusal> {
        let Citation { relation, target } = citation;
        if !RELATIONS.iter().any(|(name, _)| name == relation) {
            return Err(Refusal::new(
                &general::CITATION_KIND,
                format!("there is no relation `{relation}`"),
            )
            .hint(format!("the relations are `{}`", RELATIONS.map_names())));
        }
        if let Some((scheme, digits)) = target.split_once(':') {
            let known = matches!(scheme, "b3" | "sha256") && Digest::parse(digits).is_some();
            let code = if known { &general::ARTIFACT_MISSING } else { &general::CITATION_UNKNOWN };
            return Err(Refusal::new(code, format!("this journal holds no artifact `{target}`")));
        }
        EventId::parse(target).and_then(|id| self.position(&id)).map(|_| ()).ok_or_else(|| {
            Refusal::new(
                &general::CITATION_UNKNOWN,
                format!("no earlier event of this journal has the id `{target}`"),
            )
        })
    }

    pub(crate) fn apply(&mut self, entry: &Verified, stream: &str) {
        let envelope = entry.envelope();
        self.idems.put(envelope.idem.0, envelope.seq.0);
        self.ids.put(entry.id().0, envelope.seq.0);
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

/// Names joined for a message.
trait Names {
    fn map_names(&self) -> String;
}

impl Names for [(&str, &str)] {
    fn map_names(&self) -> String {
        self.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("`, `")
    }
}
