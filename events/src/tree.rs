//! The Merkle tree of RFC 6962 over SHA-256: frontier, roots, inclusion and consistency proofs.
//!
//! The frontier computes a root while entries arrive; [`root_of`] computes it by the recursive definition.
//! Tests hold the two against each other and against the vectors.

use sha2::{Digest as _, Sha256};

use crate::id::Digest;

/// Hashes an entry's bytes to its leaf.
pub fn leaf(entry: &[u8]) -> Digest {
    Digest(Sha256::new().chain_update([0]).chain_update(entry).finalize().into())
}

fn node(left: &Digest, right: &Digest) -> Digest {
    Digest(
        Sha256::new()
            .chain_update([1])
            .chain_update(left.0)
            .chain_update(right.0)
            .finalize()
            .into(),
    )
}

fn empty_root() -> Digest {
    Digest(Sha256::digest([]).into())
}

/// The roots of the perfect subtrees that make up a tree, the largest first: one for each bit of its size.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frontier {
    size: u64,
    peaks: Vec<Digest>,
}

impl Frontier {
    /// Takes the parts of a stored frontier; `None` if their number does not fit the size.
    pub fn from_parts(size: u64, peaks: Vec<Digest>) -> Option<Self> {
        (usize::try_from(size.count_ones()).ok()? == peaks.len()).then_some(Self { size, peaks })
    }

    /// The number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The subtree roots, the largest subtree first.
    pub fn peaks(&self) -> &[Digest] {
        &self.peaks
    }

    /// Adds a leaf at the right.
    pub fn push(&mut self, leaf: Digest) {
        let mut joined = leaf;
        // One subtree is completed for each trailing one bit of the old size.
        for _ in 0..self.size.trailing_ones() {
            let left = self.peaks.pop().expect("a peak stands for each one bit of the size");
            joined = node(&left, &joined);
        }
        self.peaks.push(joined);
        self.size += 1;
    }

    /// The root of the whole tree.
    pub fn root(&self) -> Digest {
        let mut peaks = self.peaks.iter().rev();
        let Some(last) = peaks.next() else { return empty_root() };
        peaks.fold(*last, |right, left| node(left, &right))
    }
}

/// The largest power of two below `n`, for `n` of at least 2.
fn split(n: usize) -> usize {
    n.next_power_of_two() / 2
}

/// The root over leaves by the recursive definition.
pub fn root_of(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => empty_root(),
        [one] => *one,
        _ => {
            let (left, right) = leaves.split_at(split(leaves.len()));
            node(&root_of(left), &root_of(right))
        }
    }
}

/// The audit path of leaf `index`, from the leaf up. Empty if there is no such leaf.
pub fn inclusion(index: usize, leaves: &[Digest]) -> Vec<Digest> {
    if leaves.len() < 2 || index >= leaves.len() {
        return Vec::new();
    }
    let k = split(leaves.len());
    let (left, right) = leaves.split_at(k);
    let (mut path, other) = if index < k {
        (inclusion(index, left), root_of(right))
    } else {
        (inclusion(index - k, right), root_of(left))
    };
    path.push(other);
    path
}

/// The proof that the tree over the first `old` leaves is a prefix of the tree over all of them.
pub fn consistency(old: usize, leaves: &[Digest]) -> Vec<Digest> {
    if old == 0 || old >= leaves.len() { Vec::new() } else { subproof(old, leaves, true) }
}

fn subproof(m: usize, leaves: &[Digest], whole: bool) -> Vec<Digest> {
    if m == leaves.len() {
        return if whole { Vec::new() } else { vec![root_of(leaves)] };
    }
    let k = split(leaves.len());
    let (left, right) = leaves.split_at(k);
    let (mut proof, other) = if m <= k {
        (subproof(m, left, whole), root_of(right))
    } else {
        (subproof(m - k, right, false), root_of(left))
    };
    proof.push(other);
    proof
}

/// Holds an audit path against a root (RFC 9162, 2.1.3.2).
pub fn includes(leaf: Digest, index: u64, size: u64, path: &[Digest], root: Digest) -> bool {
    if index >= size {
        return false;
    }
    let (mut fn_, mut sn, mut hash) = (index, size - 1, leaf);
    for sibling in path {
        if sn == 0 {
            return false;
        }
        if fn_ & 1 == 1 || fn_ == sn {
            hash = node(sibling, &hash);
            while fn_ & 1 == 0 && fn_ != 0 {
                fn_ >>= 1;
                sn >>= 1;
            }
        } else {
            hash = node(&hash, sibling);
        }
        fn_ >>= 1;
        sn >>= 1;
    }
    sn == 0 && hash == root
}

/// Holds a consistency proof against two roots (RFC 9162, 2.1.4.2).
pub fn extends(old: u64, old_root: Digest, new: u64, new_root: Digest, proof: &[Digest]) -> bool {
    if old == new {
        return proof.is_empty() && old_root == new_root;
    }
    if old == 0 || old > new {
        return old == 0 && proof.is_empty();
    }
    let seed = [old_root];
    let mut path =
        if old.is_power_of_two() { seed.iter().chain(proof) } else { [].iter().chain(proof) };
    let Some(first) = path.next() else { return false };
    let (mut fn_, mut sn) = (old - 1, new - 1);
    while fn_ & 1 == 1 {
        fn_ >>= 1;
        sn >>= 1;
    }
    let (mut old_hash, mut new_hash) = (*first, *first);
    for sibling in path {
        if sn == 0 {
            return false;
        }
        if fn_ & 1 == 1 || fn_ == sn {
            old_hash = node(sibling, &old_hash);
            new_hash = node(sibling, &new_hash);
            while fn_ & 1 == 0 && fn_ != 0 {
                fn_ >>= 1;
                sn >>= 1;
            }
        } else {
            new_hash = node(&new_hash, sibling);
        }
        fn_ >>= 1;
        sn >>= 1;
    }
    sn == 0 && old_hash == old_root && new_hash == new_root
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(n: usize) -> Vec<Digest> {
        (0..n).map(|i| leaf(&i.to_be_bytes())).collect()
    }

    #[test]
    fn the_empty_tree_has_the_hash_of_nothing() {
        assert_eq!(
            Frontier::default().root().to_string(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn frontier_and_recursion_agree_up_to_257_leaves() {
        let all = leaves(257);
        let mut frontier = Frontier::default();
        for n in 0..=257 {
            assert_eq!(frontier.root(), root_of(&all[..n]), "{n} leaves");
            assert_eq!(
                Frontier::from_parts(frontier.size(), frontier.peaks().to_vec()),
                Some(frontier.clone())
            );
            if let Some(next) = all.get(n) {
                frontier.push(*next);
            }
        }
    }

    fn long(n: usize) -> u64 {
        u64::try_from(n).unwrap()
    }

    #[test]
    fn every_leaf_of_every_tree_up_to_64_is_included_and_no_other() {
        let all = leaves(64);
        for n in 1..=64 {
            let root = root_of(&all[..n]);
            for m in 0..n {
                let path = inclusion(m, &all[..n]);
                let (index, size) = (long(m), long(n));
                assert!(includes(all[m], index, size, &path, root), "{m} of {n}");
                assert!(!includes(all[(m + 1) % 64], index, size, &path, root));
                assert!(
                    !includes(all[m], index, size, &path[..path.len().saturating_sub(1)], root)
                        || n == 1
                );
                assert!(!includes(all[m], size, size, &path, root));
            }
        }
    }

    #[test]
    fn every_tree_up_to_257_extends_every_smaller_one_and_no_forged_one() {
        let all = leaves(257);
        let roots: Vec<Digest> = (0..=257).map(|n| root_of(&all[..n])).collect();
        for n in 1..=257 {
            for m in 1..=n {
                let proof = consistency(m, &all[..n]);
                let (old, new) = (long(m), long(n));
                assert!(extends(old, roots[m], new, roots[n], &proof), "{m} to {n}");
                let forged = Digest([7; 32]);
                assert!(!extends(old, forged, new, roots[n], &proof), "{m} to {n}");
                assert!(!extends(old, roots[m], new, forged, &proof), "{m} to {n}");
            }
        }
    }
}
