//! A measurement: a number that someone stands for, the same in every domain (`decisions.md` 2).

use rp_events::{ArtifactName, Decimal, trust::SUPERVISOR};
use serde::{Deserialize, Serialize};

use crate::At;

/// A number with what it measures and who stands for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measurement {
    /// What was measured.
    pub metric: String,
    /// The number, as it was written.
    pub value: Decimal,
    /// Its unit.
    pub unit: String,
    /// On whose word.
    pub basis: Basis,
    /// The key that recorded it.
    pub by: String,
    /// The artifact that it was read from, as it was cited.
    pub source: Option<String>,
}

/// On whose word a measurement stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Basis {
    /// `rp` took it itself: recorded by a key with the role `supervisor`, and by no other.
    Measured,
    /// Someone said so.
    Reported,
}

impl Measurement {
    /// A measurement that an event states; the signing key's roles decide on whose word it stands, and the
    /// first artifact that the event cites as evidence is what it was read from.
    pub fn stated(at: &At<'_>, metric: &str, value: &Decimal, unit: &str) -> Self {
        let basis = if at.holds(SUPERVISOR) { Basis::Measured } else { Basis::Reported };
        let source = at.cause.iter().find(|citation| {
            citation.relation == "evidences" && ArtifactName::parse(&citation.target).is_some()
        });
        Self {
            metric: metric.to_owned(),
            value: value.clone(),
            unit: unit.to_owned(),
            basis,
            by: at.signer.to_owned(),
            source: source.map(|citation| citation.target.clone()),
        }
    }

    /// The measurement in words: `gpu_hours 1.20 h, reported by monitor`.
    pub fn words(&self) -> String {
        let Self { metric, value, unit, basis, by, source } = self;
        let basis = match basis {
            Basis::Measured => "measured by rp".to_owned(),
            Basis::Reported => format!("reported by {by}"),
        };
        let source = source.as_ref().map_or_else(String::new, |name| format!(" from {name}"));
        format!("{metric} {value} {unit}, {basis}{source}")
    }
}
