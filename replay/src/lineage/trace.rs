//! Traces: the lineage of one entity as a tree, told as steps with a depth.
//!
//! Downward it is what the entity rests on, to the bytes; upward, what rests on it. An event is opened once;
//! where it comes again, it is named and said to stand above.

use std::collections::BTreeSet;

use rp_events::Seq;

use super::{FileRef, Lineage};
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
}

/// A step that waits for its turn; `until` is the entry before which an entity is seen.
struct Due {
    depth: usize,
    word: &'static str,
    what: What,
    until: Seq,
}

impl Lineage {
    /// What an entity rests on, the newest first, at most so many levels deep.
    pub fn down(&self, entity: &Address, depth_max: Option<usize>) -> Vec<Step> {
        let until = Seq(u64::MAX);
        self.walk(entity, until, depth_max, |lineage, due, opened| lineage.below(due, opened))
    }

    /// What rests on an entity, the oldest first, at most so many levels high.
    pub fn up(&self, entity: &Address, depth_max: Option<usize>) -> Vec<Step> {
        self.walk(entity, Seq(0), depth_max, |lineage, due, _| lineage.above(due))
    }

    fn walk(
        &self,
        entity: &Address,
        until: Seq,
        depth_max: Option<usize>,
        next: impl Fn(&Self, &Due, &BTreeSet<Address>) -> Vec<Due>,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut opened: BTreeSet<Address> = BTreeSet::new();
        let first = Due { depth: 0, word: "", what: What::At(entity.clone()), until };
        let mut waiting = vec![first];
        while let Some(due) = waiting.pop() {
            let is_event = matches!(&due.what, What::At(Address::Event(_)));
            let is_above = match &due.what {
                What::At(address) if is_event => !opened.insert(address.clone()),
                What::At(_) | What::File(_) => false,
            };
            let children = if is_above { Vec::new() } else { next(self, &due, &opened) };
            // An entity whose every event was opened before has nothing left to show.
            let is_spent = !is_event && !children.is_empty() && self.is_spent(&children, &opened);
            let is_cut = !is_spent
                && !children.is_empty()
                && depth_max.is_some_and(|depth_max| due.depth >= depth_max);
            if !is_cut && !is_spent {
                waiting.extend(children.into_iter().rev());
            }
            let Due { depth, word, what, .. } = due;
            steps.push(Step { depth, word, what, is_above: is_above || is_spent, is_cut });
        }
        steps
    }

    fn is_spent(&self, children: &[Due], opened: &BTreeSet<Address>) -> bool {
        children.iter().all(|due| match &due.what {
            What::At(address) => opened.contains(address),
            What::File(_) => false,
        })
    }

    /// What stands below a step: an event's links and files, an entity's events before the one that leads here.
    fn below(&self, due: &Due, opened: &BTreeSet<Address>) -> Vec<Due> {
        let What::At(address) = &due.what else { return Vec::new() };
        let depth = due.depth + 1;
        if let Address::Event(seq) = address {
            let Some(fact) = self.fact(*seq) else { return Vec::new() };
            let links = fact.links.iter().map(|link| Due {
                depth,
                word: link.word,
                what: What::At(link.to.clone()),
                until: *seq,
            });
            let files = fact.files.iter().map(|file| Due {
                depth,
                word: "file",
                what: What::File(file.clone()),
                until: *seq,
            });
            return links.chain(files).collect();
        }
        let events = self.history(address).iter().rev().filter(|seq| **seq < due.until);
        let dues = events.map(|seq| Due {
            depth,
            word: "by",
            what: What::At(Address::Event(*seq)),
            until: *seq,
        });
        let dues: Vec<Due> = dues.collect();
        // Where some of an entity's events stand above, only the others are told.
        if due.depth == 0 || self.is_spent(&dues, opened) {
            return dues;
        }
        let is_new = |due: &Due| match &due.what {
            What::At(address) => !opened.contains(address),
            What::File(_) => true,
        };
        dues.into_iter().filter(is_new).collect()
    }

    /// What stands above a step: who rests on an entity, or on what an event says of its entities.
    fn above(&self, due: &Due) -> Vec<Due> {
        let What::At(address) = &due.what else { return Vec::new() };
        let mut users = self.users(address);
        if let Address::Event(seq) = address
            && let Some(fact) = self.fact(*seq)
        {
            let through = fact.about.iter().filter_map(|entity| self.users.get(entity));
            users.extend(through.flatten().filter(|user| user.seq > *seq));
            users.sort_by_key(|user| (user.seq, user.word));
        }
        users.dedup_by_key(|user| user.seq);
        let step = |user: super::User| Due {
            depth: due.depth + 1,
            word: user.word,
            what: What::At(Address::Event(user.seq)),
            until: due.until,
        };
        users.into_iter().map(step).collect()
    }
}
