//! What happened, entry by entry: for pages that show the way and not only where it led.
//!
//! The state forgets how it came about. Who reads a whole journal may keep a line an entry beside it, with what
//! each entry is about; [`History::about`] finds the lines of one round or claim without looking at the others.

use std::collections::BTreeMap;

use rp_events::{
    Event, EventId, Kid, Seq, Stamp, entry::Parsed, json::Json, trust::Event as TrustEvent,
};

use crate::{
    document::Address,
    program::{self, Subject},
};

/// Longest gist of an event, in characters.
const GIST_CHARS_MAX: usize = 160;

/// An entry in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its position.
    pub seq: Seq,
    /// Its name.
    pub id: EventId,
    /// When it happened: the claimed time if there is one, else the observed one.
    pub time: Stamp,
    /// Its kind.
    pub kind: String,
    /// The domain of its kind.
    pub domain: &'static str,
    /// Its stream.
    pub stream: String,
    /// The signing key.
    pub kid: Kid,
    /// What it is about.
    pub about: Vec<Address>,
    /// The short values of its payload.
    pub gist: String,
    /// What was refused, if it records a refusal.
    pub refused: Option<Refused>,
}

/// A command that a rule refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The kind that was tried.
    pub kind: String,
    /// The stream it was meant for.
    pub stream: String,
    /// The key that tried.
    pub kid: Kid,
    /// The refusal's code.
    pub code: String,
}

/// The entries seen so far.
#[derive(Debug, Clone, Default)]
pub struct History {
    lines: Vec<Line>,
    about: BTreeMap<Address, Vec<usize>>,
    /// The claims that a run names: its end names only the run.
    runs: BTreeMap<String, Vec<Address>>,
}

impl History {
    /// Notes an entry that was admitted, after all those before it.
    pub fn note(&mut self, parsed: &Parsed<'_>) {
        let envelope = &parsed.envelope;
        let stream = envelope.stream.as_deref().unwrap_or("trust");
        let event = Event::decode(&envelope.kind, parsed.data).ok();
        let about = event.as_ref().map_or_else(Vec::new, |event| self.subjects(stream, event));
        let mut keys = about.clone();
        keys.extend(round_of(stream));
        keys.sort();
        keys.dedup();
        for address in keys {
            self.about.entry(address).or_default().push(self.lines.len());
        }
        self.lines.push(Line {
            seq: envelope.seq,
            id: parsed.id,
            time: envelope.at.unwrap_or(envelope.time),
            kind: envelope.kind.clone(),
            domain: rp_events::kind(&envelope.kind).map_or("", |kind| kind.domain),
            stream: stream.to_owned(),
            kid: envelope.kid,
            about,
            gist: event.as_ref().map_or_else(String::new, gist),
            refused: event.as_ref().and_then(refused),
        });
    }

    /// Every line, oldest first.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The lines about a thing, oldest first.
    pub fn about(&self, address: &Address) -> impl Iterator<Item = &Line> {
        self.about.get(address).into_iter().flatten().filter_map(|n| self.lines.get(*n))
    }

    /// The last entry about a thing.
    pub fn last_about(&self, address: &Address) -> Option<Seq> {
        let n = self.about.get(address)?.last()?;
        self.lines.get(*n).map(|line| line.seq)
    }

    /// The last entry that fits.
    pub fn last(&self, fits: impl Fn(&Line) -> bool) -> Option<Seq> {
        self.lines.iter().rev().find(|line| fits(line)).map(|line| line.seq)
    }

    /// What an event is about beside its round.
    fn subjects(&mut self, stream: &str, event: &Event) -> Vec<Address> {
        let Event::Program(event) = event else { return Vec::new() };
        let round = round_number(stream).unwrap_or(0);
        match program::subject(event) {
            Subject::None => Vec::new(),
            Subject::Round(round) => vec![Address::round(round)],
            Subject::Claims(ids) => ids.iter().map(|id| Address::claim(round, id)).collect(),
            Subject::EveryClaim => {
                let prefix = Address::claim(round, "");
                let from = self.about.range(prefix.clone()..).map(|(address, _)| address);
                from.take_while(|address| address.as_str().starts_with(prefix.as_str()))
                    .cloned()
                    .collect()
            }
            Subject::RunStarted(run, ids) => {
                let claims: Vec<_> = ids.iter().map(|id| Address::claim(round, id)).collect();
                self.runs.insert(format!("{round}/{run}"), claims.clone());
                claims
            }
            Subject::Run(run) => {
                self.runs.get(&format!("{round}/{run}")).cloned().unwrap_or_default()
            }
        }
    }
}

fn round_number(stream: &str) -> Option<u64> {
    stream.strip_prefix("round/")?.parse().ok()
}

fn round_of(stream: &str) -> Option<Address> {
    round_number(stream).map(Address::round)
}

fn refused(event: &Event) -> Option<Refused> {
    match event {
        Event::Trust(TrustEvent::CommandRejected(body)) => Some(Refused {
            kind: body.kind.clone(),
            stream: body.stream.clone(),
            kid: body.kid,
            code: body.code.clone(),
        }),
        Event::Trust(_) | Event::Program(_) => None,
    }
}

/// The payload's own values that are short, in its order; long texts and lists are told by their size.
fn gist(event: &Event) -> String {
    let text = event.to_json();
    let Ok(Json::Object(members)) = rp_events::json::parse(text.get()) else {
        return String::new();
    };
    let mut parts = Vec::new();
    let mut room = GIST_CHARS_MAX;
    for (n, (name, value)) in members.iter().enumerate() {
        let part = match value {
            Json::Null => continue,
            Json::Bool(value) => format!("{name} {value}"),
            Json::Number(digits) => format!("{name} {digits}"),
            Json::Text(text) => format!("{name} {}", crate::document::clipped(text, 60)),
            Json::Array(items) => format!("{name} [{}]", items.len()),
            Json::Object(members) => format!("{name} {{{}}}", members.len()),
        };
        let size = part.chars().count() + 2;
        if size > room {
            parts.push(format!("and {} more", members.len() - n));
            break;
        }
        room -= size;
        parts.push(part);
    }
    parts.join(", ")
}
