//! File names of pages: the same for the same thing whatever else there is, and safe on every file system.

use std::collections::{BTreeMap, BTreeSet};

use rp_replay::document::Address;

/// The names given so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// In lower case: some file systems do not tell the cases apart.
    taken: BTreeSet<String>,
    /// Parts are asked for more than once.
    parts: BTreeMap<(String, String, usize), String>,
}

impl Names {
    /// The name of a page of the table of views.
    pub(super) fn page(&mut self, name: &str) -> String {
        self.take(name.to_owned(), name)
    }

    /// The name of a thing's page.
    pub(super) fn entity(&mut self, address: &Address) -> String {
        self.take(safe(address.as_str()), address.as_str())
    }

    /// The name of a part of a long table, counted from 1; the heading tells tables of a page apart.
    pub(super) fn part(&mut self, stem: &str, heading: &str, part: usize) -> String {
        let key = (stem.to_owned(), heading.to_owned(), part);
        if let Some(name) = self.parts.get(&key) {
            return name.clone();
        }
        let slug = safe(&heading.to_lowercase());
        let name = self.take(format!("{stem}~{slug}{part}"), &format!("{stem} {heading} {part}"));
        self.parts.insert(key, name.clone());
        name
    }

    /// Takes a name, or one made longer by a digest of what it stands for if another has it.
    fn take(&mut self, name: String, of: &str) -> String {
        let name = if self.taken.contains(&name.to_lowercase()) {
            let digest = blake3::hash(of.as_bytes()).to_hex();
            format!("{name}~~{}", digest.get(..16).unwrap_or_default())
        } else {
            name
        };
        self.taken.insert(name.to_lowercase());
        name
    }
}

/// Letters, digits, `_` and `.` as they are; what separates the parts of an address as `-`; all else by its code
/// point. `~` stands in no name but those of parts.
fn safe(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '_' | '.' if !out.is_empty() => out.push(c),
            ':' | '/' | ' ' | '-' => out.push('-'),
            c if c.is_ascii_alphanumeric() => out.push(c),
            c => out.push_str(&format!("--{:x}-", u32::from(c))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_told_apart_without_their_case() {
        let mut names = Names::default();
        let mut of = |text: &str| names.entity(&Address::parse(text).unwrap());
        assert_eq!(of("claim:1/C4_v2"), "claim-1-C4_v2");
        let other = of("claim:1/c4_V2");
        assert!(other.starts_with("claim-1-c4_V2~~") && other.len() == 31, "{other}");
        assert_eq!(of("key:../\u{e9}"), "key-..---e9-");
    }

    #[test]
    fn a_part_has_one_name() {
        let mut names = Names::default();
        assert_eq!(names.page("claims"), "claims");
        assert_eq!(names.part("claims", "", 2), "claims~2");
        assert_eq!(names.part("claims", "", 2), "claims~2");
        assert_eq!(names.part("round-1", "Open items", 3), "round-1~open-items3");
    }
}
