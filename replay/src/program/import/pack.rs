//! Cuts what is taken over into events that fit into entries (`decisions` of the domain: one for each behavior
//! and each archived round, one for a live ledger; what is larger goes on in the next).

use rp_events::{
    Event,
    program::{
        self, ImportedClaim, ImportedFile, ImportedHeader, ImportedLedger, ImportedMemory,
        ProgramImported, Unverified,
    },
};

use super::{MEMORY, ledger_file::LedgerFile, lenient::Doubts};
use crate::program::constants::StageName;

/// Most bytes of a payload; an entry of 65,535 bytes has an envelope as well.
const PAYLOAD_MAX: usize = 60_000;

/// Everything of an older project.
pub(super) struct Old {
    pub(super) memory: Option<ImportedMemory>,
    pub(super) archived: Vec<OldRound>,
    pub(super) live: Option<OldRound>,
    pub(super) highest_round: u64,
    /// The files that belong to no round.
    pub(super) files: Vec<ImportedFile>,
    /// The doubts that belong to no round.
    pub(super) doubts: Vec<Unverified>,
}

/// A round of an older project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OldRound {
    pub(super) number: u64,
    /// `rounds/round_N/`, or empty for the root.
    pub(super) folder: String,
    pub(super) ledger: Option<LedgerFile>,
    pub(super) files: Vec<ImportedFile>,
    pub(super) doubts: Vec<Unverified>,
    pub(super) complete: Vec<StageName>,
    pub(super) reentries: Option<u64>,
    pub(super) is_live: bool,
}

impl OldRound {
    pub(super) fn header(&self) -> Option<&ImportedHeader> {
        self.ledger.as_ref().map(|ledger| &ledger.header)
    }

    pub(super) fn claim_ids(&self) -> Vec<String> {
        let claims = self.ledger.iter().flat_map(|ledger| &ledger.claims);
        claims.map(|claim| claim.id.to_string()).collect()
    }
}

impl Old {
    pub(super) fn rounds(&self) -> impl Iterator<Item = &OldRound> {
        self.archived.iter().chain(&self.live)
    }
}

/// What an event may take more of while it has room.
enum Item {
    Claim(Box<ImportedClaim>),
    File(ImportedFile),
    Doubt(Unverified),
    Untried(String),
}

/// Makes the events, in order.
///
/// # Errors
///
/// A behavior, or a claim of the round at the root, that fits into no entry.
pub(super) fn events(old: Old) -> Result<Vec<ProgramImported>, Unverified> {
    let highest = old.highest_round;
    let mut events = Vec::new();
    let first = match old.memory {
        None => blank(highest),
        Some(memory) => {
            let mut rest = Vec::new();
            let (direction, behaviors) = (memory.direction, memory.behaviors);
            let part = |direction: String, behaviors| ProgramImported {
                memory: Some(ImportedMemory {
                    direction,
                    behaviors,
                    untried_behavior_directions: Vec::new(),
                }),
                ..blank(highest)
            };
            for behavior in behaviors {
                let id = behavior.id.to_string();
                let event = part(String::new(), vec![behavior]);
                if size(&event) > PAYLOAD_MAX {
                    return Err(too_large(MEMORY, &id, size(&event)));
                }
                rest.push(event);
            }
            let mut first =
                if rest.is_empty() { part(String::new(), Vec::new()) } else { rest.remove(0) };
            if let Some(memory) = &mut first.memory {
                memory.direction = direction;
            }
            let untried =
                memory.untried_behavior_directions.into_iter().map(Item::Untried).collect();
            let next = || part(String::new(), Vec::new());
            events.extend(filled(first, untried, next)?);
            events.extend(rest);
            blank(highest)
        }
    };
    let mut items: Vec<Item> = old.files.into_iter().map(Item::File).collect();
    items.extend(old.doubts.into_iter().map(Item::Doubt));
    if !items.is_empty() {
        events.extend(filled(first, items, || blank(highest))?);
    }
    for round in old.archived.into_iter().chain(old.live) {
        events.extend(round_events(round, highest)?);
    }
    Ok(events)
}

fn blank(highest_round: u64) -> ProgramImported {
    ProgramImported {
        archives: Vec::new(),
        memory: None,
        highest_round,
        live_round: None,
        ledger: None,
        files: None,
        unverified: None,
    }
}

fn round_events(round: OldRound, highest: u64) -> Result<Vec<ProgramImported>, Unverified> {
    let OldRound { number, folder, ledger, files, mut doubts, complete, reentries, is_live } =
        round;
    let path = format!("{folder}{}", super::LEDGER);
    let (header, claims, mut left_out) = match ledger {
        Some(LedgerFile { header, claims, left_out }) => (Some(header), claims, left_out),
        None => (None, Vec::new(), 0),
    };
    let next = ImportedLedger {
        round: number,
        folder,
        header: None,
        claims: Vec::new(),
        left_out: None,
        complete: None,
        claim_reentries: None,
    };
    let begin = |header, left_out: u64| ImportedLedger {
        header,
        left_out: (left_out > 0).then_some(left_out),
        complete: is_live.then(|| complete.iter().map(|name| name.as_str().to_owned()).collect()),
        claim_reentries: reentries,
        ..next.clone()
    };
    let event = |ledger| ProgramImported {
        archives: if is_live { Vec::new() } else { vec![number] },
        live_round: is_live.then_some(number),
        ledger: Some(ledger),
        ..blank(highest)
    };
    let mut items = Vec::new();
    for claim in claims {
        let id = claim.id.to_string();
        let alone = continued(&next, highest, Some(claim.clone()));
        if size(&alone) <= PAYLOAD_MAX {
            items.push(Item::Claim(Box::new(claim)));
            continue;
        }
        let doubt = too_large(&path, &id, size(&alone));
        if is_live {
            return Err(doubt);
        }
        doubts.push(doubt);
        left_out += 1;
    }
    let mut first = event(begin(header, left_out));
    if size(&first) > PAYLOAD_MAX {
        let doubt = too_large(&path, "everything but the claims", size(&first));
        if is_live {
            return Err(doubt);
        }
        doubts.push(doubt);
        first = event(begin(None, left_out + 1));
    }
    items.extend(files.into_iter().map(Item::File));
    items.extend(doubts.into_iter().map(Item::Doubt));
    filled(first, items, || continued(&next, highest, None))
}

fn continued(part: &ImportedLedger, highest: u64, claim: Option<ImportedClaim>) -> ProgramImported {
    let ledger = ImportedLedger { claims: claim.into_iter().collect(), ..part.clone() };
    ProgramImported { ledger: Some(ledger), ..blank(highest) }
}

/// Fills events with items, beginning a new one whenever the next item does not fit.
fn filled(
    first: ProgramImported,
    items: Vec<Item>,
    next: impl Fn() -> ProgramImported,
) -> Result<Vec<ProgramImported>, Unverified> {
    let base = size(&next());
    let mut event = first;
    let mut used = size(&event);
    let mut events = Vec::new();
    for item in items {
        let mut alone = next();
        let what = put(&mut alone, item);
        let own = size(&alone) - base;
        if base + own > PAYLOAD_MAX {
            return Err(too_large(&what.0, &what.1, own));
        }
        if used + own > PAYLOAD_MAX {
            events.push(std::mem::replace(&mut event, next()));
            used = base;
        }
        merge(&mut event, alone);
        used += own;
    }
    events.push(event);
    Ok(events)
}

/// Puts an item into an event; says what it is, for the case that it is too large: its file and its name.
fn put(event: &mut ProgramImported, item: Item) -> (String, String) {
    match item {
        Item::Claim(claim) => {
            let id = claim.id.to_string();
            if let Some(ledger) = &mut event.ledger {
                ledger.claims.push(*claim);
            }
            (super::LEDGER.to_owned(), id)
        }
        Item::File(file) => {
            let path = file.path.clone();
            event.files.get_or_insert_default().push(file);
            (path, "its path".to_owned())
        }
        Item::Doubt(doubt) => {
            let file = doubt.file.clone();
            event.unverified.get_or_insert_default().push(doubt);
            (file, "a doubt".to_owned())
        }
        Item::Untried(text) => {
            if let Some(memory) = &mut event.memory {
                memory.untried_behavior_directions.push(text);
            }
            (MEMORY.to_owned(), "untried_behavior_directions".to_owned())
        }
    }
}

fn merge(event: &mut ProgramImported, from: ProgramImported) {
    if let (Some(ledger), Some(more)) = (&mut event.ledger, from.ledger) {
        ledger.claims.extend(more.claims);
    }
    if let (Some(memory), Some(more)) = (&mut event.memory, from.memory) {
        memory.untried_behavior_directions.extend(more.untried_behavior_directions);
    }
    if let Some(files) = from.files {
        event.files.get_or_insert_default().extend(files);
    }
    if let Some(doubts) = from.unverified {
        event.unverified.get_or_insert_default().extend(doubts);
    }
}

/// The bytes of a payload; one that cannot be encoded fits nowhere.
fn size(event: &ProgramImported) -> usize {
    let event = Event::Program(program::Event::ProgramImported(Box::new(event.clone())));
    event.encode().map_or(usize::MAX, |bytes| bytes.len())
}

fn too_large(file: &str, place: &str, bytes: usize) -> Unverified {
    let mut doubts = Doubts::of(file);
    let why = format!("an event takes at most {PAYLOAD_MAX} bytes; it stays in its file alone");
    doubts.add("too-large", place, &format!("{bytes} bytes"), why);
    doubts.into_list().pop().expect("it was just added")
}
