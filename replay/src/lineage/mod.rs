//! Lineage: what every event rests on, and what rests on it. Specified in `spec/record.md`.
//!
//! An event rests on what it cites, and on what its domain knows it to be made from: a verdict on the audits
//! and variants that were judged, an experiment's record on the runs that measured it, a run on its plan.
//! Links lead to earlier entries only, so there are no cycles. The fold is of the entries alone and is built
//! by who asks for it; appending pays nothing for it.

mod marks;
mod trace;

use std::collections::BTreeMap;

use rp_events::{
    ArtifactName, Digest, Event, EventId, Kid, Kind, Seq, Stamp, artifact::ArtifactName as Name,
    entry::Envelope,
};

pub use marks::{Cause, Marks};
pub use trace::{Step, What};

use crate::{Address, program, relation::RELATIONS, trust};

/// What an event rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// What the target is to the event: a relation's name, or a word of the domain.
    pub word: &'static str,
    /// The target, as it stood before the event.
    pub to: Address,
    /// Whether the event's signer cited it; the domain knows the others.
    pub is_cited: bool,
    /// Whether a fault of the target reaches the event.
    pub rests: bool,
}

/// A file that an event names and whose bytes are not on record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileRef {
    /// Its path in the workspace.
    pub path: String,
    /// Its SHA-256, if the event states one.
    pub sha256: Option<String>,
}

/// An event with its place in the lineage.
#[derive(Debug, Clone)]
pub struct Fact {
    /// Its name.
    pub id: EventId,
    /// The table row of its kind.
    pub kind: &'static Kind,
    /// The signing key.
    pub kid: Kid,
    /// When it happened: the claimed time if there is one.
    pub time: Stamp,
    /// What it says, in a few words; empty where the kind says it all.
    pub gist: String,
    /// What it says something of.
    pub about: Vec<Address>,
    /// What it rests on.
    pub links: Vec<Link>,
    /// Files that it names without bytes on record.
    pub files: Vec<FileRef>,
}

/// Someone that a link leads from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// The event that rests on the target.
    pub seq: Seq,
    /// What the target is to it.
    pub word: &'static str,
    /// Whether its signer cited the target.
    pub is_cited: bool,
    /// Whether a fault of the target reaches it.
    pub rests: bool,
}

/// The lineage of a journal's first entries.
#[derive(Debug, Clone, Default)]
pub struct Lineage {
    facts: Vec<Fact>,
    /// The events that say something of an entity, in order.
    about: BTreeMap<Address, Vec<Seq>>,
    /// The reverse index.
    users: BTreeMap<Address, Vec<User>>,
    ids: BTreeMap<EventId, Seq>,
    /// The BLAKE3 of artifacts, by their SHA-256.
    sums: BTreeMap<Digest, Digest>,
    /// The artifact that was last recorded under a path.
    paths: BTreeMap<String, Digest>,
    known: Known,
}

/// What domains remember while the lineage is folded: the events at a place, and words.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    events: BTreeMap<String, Vec<Seq>>,
    words: BTreeMap<String, Vec<String>>,
}

impl Known {
    /// The last event at a place.
    pub(crate) fn last(&self, place: &str) -> Option<Seq> {
        self.events.get(place)?.last().copied()
    }

    /// Every event at a place, in order.
    pub(crate) fn all(&self, place: &str) -> &[Seq] {
        self.events.get(place).map_or(&[], Vec::as_slice)
    }

    /// The last event at each place that begins with `prefix`.
    pub(crate) fn last_of_each(&self, prefix: &str) -> Vec<Seq> {
        let under = self.events.range(prefix.to_owned()..);
        let under = under.take_while(|(place, _)| place.starts_with(prefix));
        under.filter_map(|(_, events)| events.last().copied()).collect()
    }

    /// The words at a place.
    pub(crate) fn words(&self, place: &str) -> &[String] {
        self.words.get(place).map_or(&[], Vec::as_slice)
    }
}

/// What a domain says of one event.
#[derive(Debug, Default)]
pub(crate) struct Ties {
    gist: String,
    about: Vec<Address>,
    links: Vec<(&'static str, Address)>,
    files: Vec<FileRef>,
    /// Places that the event takes.
    places: Vec<String>,
    /// Words that are put at a place in the stead of those there.
    set: Vec<(String, Vec<String>)>,
    /// Words that are added at a place.
    add: Vec<(String, String)>,
    /// An artifact that the event records.
    artifact: Option<(Digest, Digest, Option<String>)>,
}

impl Ties {
    /// Says in a few words what the event says.
    pub(crate) fn gist(&mut self, gist: impl Into<String>) {
        self.gist = gist.into();
    }

    /// The event says something of an entity.
    pub(crate) fn about(&mut self, entity: Address) {
        self.about.push(entity);
    }

    /// The event rests on an entity as it stands.
    pub(crate) fn on(&mut self, word: &'static str, entity: Address) {
        self.links.push((word, entity));
    }

    /// The event rests on earlier events.
    pub(crate) fn after(&mut self, word: &'static str, events: impl IntoIterator<Item = Seq>) {
        self.links.extend(events.into_iter().map(|seq| (word, Address::Event(seq))));
    }

    /// The event names a file or a folder.
    pub(crate) fn file(&mut self, path: &str, sha256: Option<&str>) {
        self.files.push(FileRef { path: path.to_owned(), sha256: sha256.map(str::to_owned) });
    }

    /// The event takes a place where later ones look for it.
    pub(crate) fn takes(&mut self, place: impl Into<String>) {
        self.places.push(place.into());
    }

    /// Puts words at a place.
    pub(crate) fn set(&mut self, place: impl Into<String>, words: Vec<String>) {
        self.set.push((place.into(), words));
    }

    /// Adds a word at a place, once.
    pub(crate) fn add(&mut self, place: impl Into<String>, word: impl Into<String>) {
        self.add.push((place.into(), word.into()));
    }

    /// The event records an artifact.
    pub(crate) fn records(&mut self, b3: Digest, sha256: Digest, path: Option<String>) {
        self.artifact = Some((b3, sha256, path));
    }
}

/// The word of a link from an event that is made from several claims, such as the ledger and the memory. Within
/// the lineage of one claim the others are named and not opened, since each has a trace of its own.
pub(crate) const TOGETHER: &str = "claim";

/// The word of a link from an event that chooses among claims or lists them without being made from them: a
/// fault of one does not reach the others that way.
pub(crate) const REGARDS: &str = "regards";

/// Longest gist, in characters.
const GIST_CHARS_MAX: usize = 160;

impl Lineage {
    /// Takes the next entry.
    pub fn take(&mut self, id: EventId, envelope: &Envelope, event: &Event) {
        let mut ties = Ties::default();
        match event {
            Event::Trust(event) => trust::lineage::tie(&self.known, event, &mut ties),
            Event::Program(event) => {
                let stream = envelope.stream.as_deref().unwrap_or_default();
                let round = stream.strip_prefix("round/").and_then(|n| n.parse().ok()).unwrap_or(0);
                program::lineage::tie(&self.known, round, event, &mut ties);
            }
        }
        let seq = envelope.seq;
        let fact = Fact {
            id,
            kind: event.kind(),
            kid: envelope.kid,
            time: envelope.at.unwrap_or(envelope.time),
            gist: shortened(&ties.gist),
            about: std::mem::take(&mut ties.about),
            links: self.links(envelope, &mut ties),
            files: std::mem::take(&mut ties.files),
        };
        for link in &fact.links {
            let Link { word, is_cited, rests, .. } = *link;
            let user = User { seq, word, is_cited, rests };
            self.users.entry(link.to.clone()).or_default().push(user);
        }
        for entity in &fact.about {
            self.about.entry(entity.clone()).or_default().push(seq);
        }
        self.ids.insert(id, seq);
        self.facts.push(fact);
        self.remember(seq, ties);
    }

    /// The links of an event: its citations first, then what its domain knows, then the files with bytes on
    /// record. A target stands once.
    fn links(&self, envelope: &Envelope, ties: &mut Ties) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        let mut push = |link: Link| {
            // What was cited may be cited by another relation as well; what a domain knows is told once.
            let same =
                |known: &Link| known.to == link.to && (!link.is_cited || known.word == link.word);
            if !links.iter().any(same) {
                links.push(link);
            }
        };
        for citation in &envelope.cause {
            let relation = RELATIONS.iter().find(|known| known.name == citation.relation);
            if let (Some(relation), Some(to)) = (relation, self.target(&citation.target)) {
                push(Link { word: relation.name, to, is_cited: true, rests: relation.rests });
            }
        }
        for (word, to) in ties.links.drain(..) {
            push(Link { word, to, is_cited: false, rests: word != REGARDS });
        }
        let mut unknown = Vec::new();
        for file in ties.files.drain(..) {
            let found = self.bytes_of(&file);
            if found.is_empty() {
                unknown.push(file);
            }
            for b3 in found {
                let to = Address::Artifact(Name::Blake3(b3));
                push(Link { word: "file", to, is_cited: false, rests: true });
            }
        }
        ties.files = unknown;
        links
    }

    /// What a citation leads to.
    fn target(&self, text: &str) -> Option<Address> {
        match ArtifactName::parse(text) {
            Some(name) => Some(Address::Artifact(self.canonical(name))),
            None => self.ids.get(&EventId::parse(text)?).copied().map(Address::Event),
        }
    }

    /// The artifacts that a file is, or that lie in a folder: by digest where one is stated, else those last
    /// recorded under the path.
    fn bytes_of(&self, file: &FileRef) -> Vec<Digest> {
        if let Some(sum) = file.sha256.as_deref() {
            return Digest::parse(sum)
                .and_then(|s| self.sums.get(&s))
                .copied()
                .into_iter()
                .collect();
        }
        if let Some(b3) = self.paths.get(&file.path) {
            return vec![*b3];
        }
        if file.path.is_empty() {
            return Vec::new();
        }
        let folder = format!("{}/", file.path.trim_end_matches('/'));
        let under = self.paths.range(folder.clone()..);
        under.take_while(|(path, _)| path.starts_with(&folder)).map(|(_, b3)| *b3).collect()
    }

    fn remember(&mut self, seq: Seq, ties: Ties) {
        for place in ties.places {
            self.known.events.entry(place).or_default().push(seq);
        }
        for (place, words) in ties.set {
            self.known.words.insert(place, words);
        }
        for (place, word) in ties.add {
            let words = self.known.words.entry(place).or_default();
            if !words.contains(&word) {
                words.push(word);
            }
        }
        if let Some((b3, sha256, path)) = ties.artifact {
            self.sums.insert(sha256, b3);
            if let Some(path) = path {
                self.paths.insert(path, b3);
            }
        }
    }

    fn canonical(&self, name: ArtifactName) -> ArtifactName {
        match name {
            ArtifactName::Sha256(sum) => {
                self.sums.get(&sum).map_or(name, |b3| ArtifactName::Blake3(*b3))
            }
            ArtifactName::Blake3(_) => name,
        }
    }

    /// The event at a position.
    pub fn fact(&self, seq: Seq) -> Option<&Fact> {
        self.facts.get(usize::try_from(seq.0).ok()?)
    }

    /// The events that say something of an entity, in order; an event says itself.
    pub fn history(&self, entity: &Address) -> &[Seq] {
        self.about.get(entity).map_or(&[], Vec::as_slice)
    }

    /// Who rests on an entity: on it as a whole, or on an event that says something of it. Events that say
    /// something of the same entity are part of it and do not count.
    pub fn users(&self, entity: &Address) -> Vec<User> {
        let direct = self.users.get(entity).into_iter().flatten();
        let history = self.history(entity).iter();
        let through = history.filter_map(|seq| self.users.get(&Address::Event(*seq))).flatten();
        let mut users: Vec<User> = direct.chain(through).copied().collect();
        users.retain(|user| self.fact(user.seq).is_some_and(|fact| !fact.about.contains(entity)));
        users.sort_by_key(|user| (user.seq, user.word));
        users.dedup();
        users
    }
}

/// A text cut to the length of a gist, which three dots then say.
fn shortened(text: &str) -> String {
    let line = text.replace('\n', " ");
    match line.char_indices().nth(GIST_CHARS_MAX) {
        None => line,
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default()),
    }
}
