//! Addresses: one grammar for everything of the record that can be named (`decisions.md` 4).
//!
//! Every verb that takes an entity reads them, and every page and JSON answer prints them. What an address
//! leads to is said by the domain that owns its first word.

use std::fmt;

use rp_events::{ArtifactName, BehaviorId, ClaimId, EventId, KeyName, RunId, Seq};

use crate::{State, program, trust};

/// The name of something in the record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// `event:SEQ`: an entry.
    Event(Seq),
    /// `key:NAME`: the key that holds a name.
    Key(String),
    /// `artifact:b3:DIGEST` or `artifact:sha256:DIGEST`: bytes on record.
    Artifact(ArtifactName),
    /// `round:N`.
    Round(u64),
    /// `claim:N/ID`: a claim of a round.
    Claim(u64, String),
    /// `run:N/ID`: an experiment run of a round.
    Run(u64, String),
    /// `behavior:ID`: a behavior of the research memory.
    Behavior(String),
}

/// The forms of an address with what each names, in the order of their listing.
pub static GRAMMAR: &[(&str, &str)] = &[
    ("event:SEQ", "an entry"),
    ("key:NAME", "a key"),
    ("artifact:b3:DIGEST", "bytes on record; `sha256:DIGEST` as well"),
    ("round:N", "a round"),
    ("claim:N/ID", "a claim of a round"),
    ("run:N/ID", "an experiment run of a round"),
    ("behavior:ID", "a behavior of the research memory"),
];

/// The forms of an address in one line.
pub fn forms() -> String {
    let forms: Vec<&str> = GRAMMAR.iter().map(|(form, _)| *form).collect();
    format!("an address is one of `{}`", forms.join("`, `"))
}

impl Address {
    /// Parses an address.
    ///
    /// # Errors
    ///
    /// A sentence that names the grammar.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::read(text)
            .ok_or_else(|| format!("{}; found `{}`", forms(), rp_events::text::shown(text)))
    }

    fn read(text: &str) -> Option<Self> {
        let (word, rest) = text.split_once(':')?;
        let id = |rest: &str, ok: bool| ok.then(|| rest.to_owned());
        match word {
            "event" => number(rest).map(Seq).map(Self::Event),
            "key" => id(rest, KeyName::parse(rest).is_ok()).map(Self::Key),
            "artifact" => ArtifactName::parse(rest).map(Self::Artifact),
            // Digests stand alone as well, the way a citation writes them.
            "b3" | "sha256" => ArtifactName::parse(text).map(Self::Artifact),
            "round" => number(rest).map(Self::Round),
            "claim" => {
                let (round, claim) = rest.split_once('/')?;
                Some(Self::Claim(number(round)?, id(claim, ClaimId::parse(claim).is_ok())?))
            }
            "run" => {
                let (round, run) = rest.split_once('/')?;
                Some(Self::Run(number(round)?, id(run, RunId::parse(run).is_ok())?))
            }
            "behavior" => id(rest, BehaviorId::parse(rest).is_ok()).map(Self::Behavior),
            _ => None,
        }
    }

    /// Parses what a verb takes for an entity: an address, an entry's number, or an event id.
    ///
    /// # Errors
    ///
    /// As [`Address::parse`]; an event id that is not in this journal is named.
    pub fn of_entity(text: &str, state: &State) -> Result<Self, String> {
        if let Some(seq) = number(text) {
            return Ok(Self::Event(Seq(seq)));
        }
        match EventId::parse(text) {
            Some(id) => {
                let seq = state.record().position(&id);
                seq.map(Self::Event).ok_or_else(|| format!("no event has the id `{text}`"))
            }
            None => Self::parse(text),
        }
    }

    /// Whether the record has what the address names.
    pub fn stands_in(&self, state: &State) -> bool {
        match self {
            Self::Event(seq) => *seq < state.next(),
            Self::Key(_) | Self::Artifact(_) => trust::entities::stands(self, state),
            Self::Round(_) | Self::Claim(..) | Self::Run(..) | Self::Behavior(_) => {
                program::entities::stands(self, state)
            }
        }
    }

    /// What the record says of it now, as labels with values.
    pub fn facts(&self, state: &State) -> Vec<(String, String)> {
        match self {
            Self::Event(_) => Vec::new(),
            Self::Key(_) | Self::Artifact(_) => trust::entities::facts(self, state),
            Self::Round(_) | Self::Claim(..) | Self::Run(..) | Self::Behavior(_) => {
                program::entities::facts(self, state)
            }
        }
    }

    /// The one address of what has several: an artifact's is that of its BLAKE3.
    #[must_use]
    pub fn canonical(self, state: &State) -> Self {
        match &self {
            Self::Artifact(name) => match state.trust().artifact(name) {
                Some(artifact) => Self::Artifact(ArtifactName::Blake3(artifact.b3)),
                None => self,
            },
            Self::Event(_)
            | Self::Key(_)
            | Self::Round(_)
            | Self::Claim(..)
            | Self::Run(..)
            | Self::Behavior(_) => self,
        }
    }
}

/// A number without a sign or leading zeros.
fn number(text: &str) -> Option<u64> {
    let plain = text == "0" || !text.starts_with('0');
    (plain && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(seq) => write!(f, "event:{seq}"),
            Self::Key(name) => write!(f, "key:{name}"),
            Self::Artifact(name) => write!(f, "artifact:{name}"),
            Self::Round(round) => write!(f, "round:{round}"),
            Self::Claim(round, id) => write!(f, "claim:{round}/{id}"),
            Self::Run(round, id) => write!(f, "run:{round}/{id}"),
            Self::Behavior(id) => write!(f, "behavior:{id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use rp_events::Seq;

    use super::Address;

    #[test]
    fn what_is_parsed_prints_the_same() {
        let digest = format!("artifact:b3:{}", "0a".repeat(32));
        let sum = format!("artifact:sha256:{}", "0b".repeat(32));
        let plain =
            ["event:12", "key:verify-agent", "round:2", "claim:1/C4_v2", "run:1/I3", "behavior:B1"];
        for text in plain.into_iter().chain([digest.as_str(), sum.as_str()]) {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
        let bare = format!("b3:{}", "0a".repeat(32));
        assert_eq!(Address::parse(&bare).unwrap().to_string(), digest);
        assert_eq!(Address::parse("event:0"), Ok(Address::Event(Seq(0))));
    }

    #[test]
    fn what_is_none_is_answered_with_the_grammar() {
        for text in [
            "",
            "C1",
            "claim:C1",
            "claim:01/C1",
            "claim:1/C\u{e9}",
            "round:+1",
            "loop",
            "artifact:b3:ab",
        ] {
            let why = Address::parse(text).unwrap_err();
            assert!(why.contains("`claim:N/ID`"), "{why}");
            assert!(why.contains(&rp_events::text::shown(text)), "{why}");
        }
    }
}
