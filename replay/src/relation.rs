//! Citations: the relations by which an event may cite an earlier event or an artifact, and between which
//! kinds each exists. Specified in `spec/record.md`.
//!
//! What holds between all kinds stands here; a domain declares the rest beside its own rules.

use rp_events::{Kind, Refusal, entry::Citation, refusal::general};

use crate::{program, trust};

/// A relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relation {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub about: &'static str,
    /// Whether the citing event rests on the target, so that a fault of the target reaches it.
    pub rests: bool,
}

/// The relations.
pub static RELATIONS: &[Relation] = &[
    Relation { name: "evidences", about: "the target is evidence for this", rests: true },
    Relation { name: "supersedes", about: "this takes the place of the target", rests: false },
    Relation { name: "answers", about: "this answers what the target asked", rests: true },
    Relation { name: "witnesses", about: "this confirms that the target was seen", rests: false },
    Relation {
        name: "carries",
        about: "this takes unfinished work over from the target",
        rests: true,
    },
    Relation { name: "quotes", about: "this repeats a part of the target", rests: true },
];

/// Kinds between which a relation exists. A kind is meant by its name, by its segment and `.*`, or by `*`;
/// among the targets `artifact` means an artifact and `=` the source's own kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Between {
    /// The relation.
    pub relation: &'static str,
    /// The kinds that may cite.
    pub from: &'static [&'static str],
    /// What they may cite.
    pub to: &'static [&'static str],
}

/// What holds between the kinds of every domain.
static EVERYWHERE: &[Between] = &[
    Between { relation: "evidences", from: &["*"], to: &["artifact"] },
    Between { relation: "supersedes", from: &["*"], to: &["="] },
    Between { relation: "witnesses", from: &["*"], to: &["artifact", "*"] },
    Between { relation: "quotes", from: &["*"], to: &["artifact", "*"] },
];

/// Every row of the table, those of all domains together.
pub fn table() -> impl Iterator<Item = &'static Between> {
    [EVERYWHERE, trust::relations::TABLE, program::relations::TABLE].into_iter().flatten()
}

/// What a citation leads to, once it is found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    /// An event of a kind.
    Event(&'static Kind),
    /// An artifact.
    Artifact,
}

impl Between {
    fn allows(&self, source: &str, target: Target) -> bool {
        self.from.iter().any(|pattern| means(pattern, source))
            && self.to.iter().any(|pattern| match (target, *pattern) {
                (Target::Artifact, pattern) => pattern == "artifact",
                (Target::Event(kind), "=") => kind.name == source,
                (Target::Event(kind), pattern) => means(pattern, kind.name),
            })
    }
}

fn means(pattern: &str, kind: &str) -> bool {
    pattern == "*"
        || pattern == kind
        || pattern.strip_suffix('*').is_some_and(|segment| kind.starts_with(segment))
}

/// Holds a relation to exist.
///
/// # Errors
///
/// `citation-kind` with the relations there are.
pub(crate) fn known(citation: &Citation) -> Result<(), Refusal> {
    if RELATIONS.iter().any(|relation| relation.name == citation.relation) {
        return Ok(());
    }
    let names: Vec<&str> = RELATIONS.iter().map(|relation| relation.name).collect();
    let why = format!("there is no relation `{}`", citation.relation);
    Err(Refusal::new(&general::CITATION_KIND, why)
        .hint(format!("the relations are `{}`", names.join("`, `"))))
}

/// Holds a relation to exist between a source and its target.
///
/// # Errors
///
/// `citation-kind` with what the source may cite by this relation.
pub(crate) fn between(citation: &Citation, source: &str, target: Target) -> Result<(), Refusal> {
    let rows = || table().filter(|row| row.relation == citation.relation);
    if rows().any(|row| row.allows(source, target)) {
        return Ok(());
    }
    let found = match target {
        Target::Event(kind) => kind.name,
        Target::Artifact => "an artifact",
    };
    let why = format!("`{source}` may not cite `{found}` by `{}`", citation.relation);
    let refusal = Refusal::new(&general::CITATION_KIND, why);
    let own = rows().filter(|row| row.from.iter().any(|pattern| means(pattern, source)));
    let to: Vec<&str> = own.flat_map(|row| row.to.iter().copied()).collect();
    if to.is_empty() {
        return Err(refusal);
    }
    Err(refusal.hint(format!("by `{}` it may cite `{}`", citation.relation, to.join("`, `"))))
}

#[cfg(test)]
mod tests {
    use rp_events::{DOMAINS, entry::Citation, kind};

    use super::{RELATIONS, Target, between, table};

    fn allowed(relation: &str, source: &str, target: Option<&str>) -> bool {
        let citation = Citation { relation: relation.to_owned(), target: String::new() };
        let target = target.map_or(Target::Artifact, |name| Target::Event(kind(name).unwrap()));
        between(&citation, source, target).is_ok()
    }

    #[test]
    fn every_row_names_relations_and_kinds_that_exist() {
        let kinds: Vec<&str> = DOMAINS.iter().flat_map(|k| k.iter()).map(|k| k.name).collect();
        for row in table() {
            assert!(RELATIONS.iter().any(|relation| relation.name == row.relation), "{row:?}");
            for pattern in row.from.iter().chain(row.to) {
                let known = matches!(*pattern, "artifact" | "=")
                    || kinds.iter().any(|kind| super::means(pattern, kind));
                assert!(known, "{pattern} in {row:?}");
            }
        }
    }

    #[test]
    fn a_relation_exists_between_some_kinds_only() {
        assert!(allowed("evidences", "verify.decided", None));
        assert!(allowed("evidences", "experiment.recorded", Some("run.finished")));
        // E42: the smallest run is no result and backs nothing.
        assert!(!allowed("evidences", "experiment.recorded", Some("sanity.recorded")));
        assert!(allowed("supersedes", "plan.revised", Some("plan.committed")));
        assert!(!allowed("supersedes", "plan.committed", Some("claim.seeded")));
        assert!(allowed("answers", "gate.decided", Some("stage.accepted")));
        assert!(!allowed("answers", "gate.decided", None));
        assert!(!allowed("carries", "run.finished", Some("round_end.decided")));
        assert!(allowed("supersedes", "artifact.added", None));
    }
}
