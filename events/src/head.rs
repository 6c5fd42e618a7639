//! The head of a journal: how far it is acknowledged, in two slots that are written in turn.
//!
//! The same layout serves `HEAD` in the journal and the remembered checkpoint outside it. It is unsigned
//! and guards against accidents only.

use crate::{
    id::{Digest, EventId, Seq},
    tree::Frontier,
};

/// Bytes of one slot.
pub const SLOT_BYTES: usize = 4096;
/// Bytes of the file: two slots.
pub const HEAD_BYTES: usize = 2 * SLOT_BYTES;

const MAGIC: &[u8; 8] = b"RPHEAD01";
const FIXED_BYTES: usize = 8 + 8 + 8 + 8 + 8 + 32 + 32;

/// An acknowledged position: everything below `size` is durable and was promised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Counts the writes; the valid slot with the higher generation holds.
    pub generation: u64,
    /// The first entry of the segment in which the last entry stands.
    pub segment: Seq,
    /// Where that segment's frames end.
    pub end: u64,
    /// The last event.
    pub last: EventId,
    /// The tree, from which size and root follow.
    pub frontier: Frontier,
}

impl Head {
    /// The number of entries.
    pub fn size(&self) -> u64 {
        self.frontier.size()
    }

    /// The root of the tree.
    pub fn root(&self) -> Digest {
        self.frontier.root()
    }

    /// The slot that this generation is written to: 0 or 1.
    pub fn slot(&self) -> u64 {
        self.generation % 2
    }

    /// Writes the slot.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SLOT_BYTES);
        bytes.extend_from_slice(MAGIC);
        for field in [self.generation, self.size(), self.segment.0, self.end] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        bytes.extend_from_slice(&self.root().0);
        bytes.extend_from_slice(&self.last.0);
        for peak in self.frontier.peaks() {
            bytes.extend_from_slice(&peak.0);
        }
        bytes.resize(SLOT_BYTES - 4, 0);
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads a slot; `None` if any of its bytes is not as written, or its frontier has another root.
    pub fn decode(slot: &[u8]) -> Option<Self> {
        let field =
            |n: usize| Some(u64::from_le_bytes(slot.get(8 * n..8 * n + 8)?.try_into().ok()?));
        let digest = |at: usize| Some(Digest(slot.get(at..at + 32)?.try_into().ok()?));
        let size = field(2)?;
        let count = usize::try_from(size.count_ones()).ok()?;
        let peaks = (0..count).map(|n| digest(FIXED_BYTES + 32 * n)).collect::<Option<Vec<_>>>()?;
        let head = Self {
            generation: field(1)?,
            segment: Seq(field(3)?),
            end: field(4)?,
            last: EventId(digest(72)?.0),
            frontier: Frontier::from_parts(size, peaks)?,
        };
        // Writing it again compares magic, root, padding and checksum at once.
        (head.encode() == slot).then_some(head)
    }
}

/// What a file of two slots says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slots {
    /// The valid slot with the higher generation.
    pub head: Option<Head>,
    /// How many of the two slots are damaged; a slot of zeros was never written and is not.
    pub damaged: usize,
}

impl Slots {
    /// Reads both slots; bytes missing at the end count as damage of the slot they belong to.
    pub fn read(file: &[u8]) -> Self {
        let mut head: Option<Head> = None;
        let mut damaged = 0;
        for n in 0..2 {
            let slot = file.get(n * SLOT_BYTES..(n + 1) * SLOT_BYTES).unwrap_or_default();
            match Head::decode(slot) {
                Some(read) if usize::try_from(read.slot()) != Ok(n) => damaged += 1,
                Some(read) => {
                    if head.as_ref().is_none_or(|best| best.generation < read.generation) {
                        head = Some(read);
                    }
                }
                None => {
                    let unused = slot.len() == SLOT_BYTES && slot.iter().all(|&b| b == 0);
                    damaged += usize::from(!unused);
                }
            }
        }
        if file.len() > HEAD_BYTES {
            damaged += 1;
        }
        Self { head, damaged }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(generation: u64, size: u64) -> Head {
        let mut frontier = Frontier::default();
        (0..size).for_each(|n| frontier.push(crate::tree::leaf(&n.to_le_bytes())));
        Head { generation, segment: Seq(0), end: 128, last: EventId([8; 32]), frontier }
    }

    #[test]
    fn the_younger_of_two_valid_slots_holds() {
        let file = [head(4, 9).encode(), head(3, 7).encode()].concat();
        assert_eq!(Slots::read(&file), Slots { head: Some(head(4, 9)), damaged: 0 });
        let file = [vec![0; SLOT_BYTES], head(1, 1).encode()].concat();
        assert_eq!(Slots::read(&file), Slots { head: Some(head(1, 1)), damaged: 0 });
    }

    #[test]
    fn no_bit_of_a_slot_may_flip() {
        let slot = head(2, 7).encode();
        assert_eq!(Head::decode(&slot), Some(head(2, 7)));
        for bit in 0..slot.len() * 8 {
            let mut damaged = slot.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Head::decode(&damaged), None, "bit {bit}");
        }
    }

    #[test]
    fn a_damaged_or_cut_slot_leaves_the_other() {
        let mut file = [head(4, 9).encode(), head(3, 7).encode()].concat();
        file[50] ^= 1;
        assert_eq!(Slots::read(&file), Slots { head: Some(head(3, 7)), damaged: 1 });
        assert_eq!(Slots::read(&file[..5000]), Slots { head: None, damaged: 2 });
        assert_eq!(Slots::read(&[]), Slots { head: None, damaged: 2 });
        let swapped = [head(3, 7).encode(), head(4, 9).encode()].concat();
        assert_eq!(Slots::read(&swapped), Slots { head: None, damaged: 2 });
    }
}
