//! Traces: the lineage of one entity as a tree, told as steps with a depth.
//!
//! Downward it is what the entity rests on, to the bytes; upward, what rests on it. An event is opened once;
//! where it comes again, it is named and said to stand above.

use std::collections::BTreeSet;

use rp_events::Seq;

use super::{FileRef, Lineage, REGARDS, TOGETHER};
use crate::Address;

/// What a step shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Something with an address.
    At(Address),
    /// A file whose bytes are not on record.
    File(FileRef),
}

/// A line of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// How many steps lead to it; the entity asked for is at 0.
    pub depth: usize,
    /// What it is to the step above it: a relation, or a word of the domain.
    pub word: &'static str,
    /// What it is.
    pub what: What,
    /// Whether it was opened further up.
    pub is_above: bool,
    /// Whether it was left closed although it has more below, because the depth asked for was reached.
    pub is_cut: bool,
    /// Whether it is another claim within the lineage of one, which has a trace of its own.
    pub is_apart: bool,
}

/// A step that waits for its turn; `until` is the entry before which an entity is seen.
struct Due {
    depth: usize,
    word: &'static str,
    what: What,
    until: Seq,
    /// Whether a claim stands above it.
    in_claim: bool,
}

impl Due {
    fn child(&self, word: &'static str, what: What, until: Seq) -> Self {
        let in_claim = self.in_claim || matches!(self.what, What::At(Address::Claim(..)));
        Self { depth: self.depth + 1, word, what, until, in_claim }
    }

    fn is_claim(&self) -> bool {
        matches!(self.what, What::At(Address::Claim(..)))
    }

    fn is_event(&self) -> bool {
        matches!(self.what, What::At(Address::Event(_)))
    }
}

/// The word of a step from an entity to an event that says something of it.
const BY: &str = "by";

impl Lineage {
    /// What an entity rests on, the newest first, at most so many levels deep.
    pub fn down(&self, entity: &Address, depth_max: Option<usize>) -> Vec<Step> {
        walk(entity, depth_max, |due| self.below(due))
    }

    /// What rests on an entity, the oldest first, at most so many levels high.
    pub fn up(&self, entity: &Address, depth_max: Option<usize>) -> Vec<Step> {
        walk(entity, depth_max, |due| self.above(due, entity))
    }

    /// What stands below a step: an event's links and files, or an entity's events before the one that leads
    /// here, the newest first.
    fn below(&self, due: &Due) -> Vec<Due> {
        let What::At(address) = &due.what else { return Vec::new() };
        if let Address::Event(seq) = address {
            let Some(fact) = self.fact(*seq) else { return Vec::new() };
            let at = |to: &Address| What::At(to.clone());
            let links = fact.links.iter().map(|link| due.child(link.word, at(&link.to), *seq));
            let file = |file: &FileRef| due.child("file", What::File(file.clone()), *seq);
            return links.chain(fact.files.iter().map(file)).collect();
        }
        let events = self.history(address).iter().rev().filter(|seq| **seq < due.until);
        events.map(|seq| due.child(BY, What::At(Address::Event(*seq)), *seq)).collect()
    }

    /// What stands above a step: who rests on it, and on the entities that an event says something of. Events
    /// about the entity asked for are its own and stand below it.
    fn above(&self, due: &Due, asked: &Address) -> Vec<Due> {
        let What::At(address) = &due.what else { return Vec::new() };
        let mut users = self.users(address);
        if let Address::Event(seq) = address
            && let Some(fact) = self.fact(*seq)
        {
            let through = fact.about.iter().filter_map(|entity| self.users.get(entity));
            users.extend(through.flatten().filter(|user| user.seq > *seq));
        }
        users.retain(|user| {
            user.rests && !self.fact(user.seq).is_some_and(|fact| fact.about.contains(asked))
        });
        users.sort_by_key(|user| (user.seq, user.word));
        users.dedup_by_key(|user| user.seq);
        let at = |user: super::User| What::At(Address::Event(user.seq));
        users.into_iter().map(|user| due.child(user.word, at(user), due.until)).collect()
    }
}

/// Opens one step after another, each event once.
fn walk(entity: &Address, depth_max: Option<usize>, next: impl Fn(&Due) -> Vec<Due>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut opened: BTreeSet<Address> = BTreeSet::new();
    let what = What::At(entity.clone());
    let mut waiting = vec![Due { depth: 0, word: "", what, until: Seq(u64::MAX), in_claim: false }];
    while let Some(due) = waiting.pop() {
        let was_opened = match &due.what {
            What::At(address) => opened.contains(address),
            What::File(_) => false,
        };
        // What an entity's later events led to needs no line of its own.
        if was_opened && due.word == BY {
            continue;
        }
        let is_apart = matches!(due.word, TOGETHER | REGARDS) && due.in_claim && due.is_claim();
        let mut children =
            if is_apart || (was_opened && due.is_event()) { Vec::new() } else { next(&due) };
        let is_new = |child: &Due| match &child.what {
            What::At(address) => !opened.contains(address),
            What::File(_) => true,
        };
        if !due.is_event() {
            children.retain(is_new);
        }
        // An entity whose every event was opened before has nothing left to show.
        let is_above = was_opened && children.is_empty() && !is_apart;
        let is_cut =
            !children.is_empty() && depth_max.is_some_and(|depth_max| due.depth >= depth_max);
        if let What::At(address) = &due.what
            && !is_cut
            && !is_apart
        {
            opened.insert(address.clone());
        }
        if !is_cut {
            waiting.extend(children.into_iter().rev());
        }
        let Due { depth, word, what, .. } = due;
        steps.push(Step { depth, word, what, is_above, is_cut, is_apart });
    }
    steps
}
