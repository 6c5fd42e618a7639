//! The frozen artifacts of an attempt (`domains/run.md` E), typed, with the rules that hold for each.

pub mod admission;
pub mod design;
pub mod evidence;
mod noise;
pub mod plan;
pub mod stage;
pub mod workspace;

use super::{bytes::Equality, contract::Contract, profile::Profile, shelf::Shelf};

/// What every rule about a run may ask.
#[derive(Clone, Copy)]
pub struct Case<'c> {
    /// The files of the run directory.
    pub shelf: &'c Shelf<'c>,
    /// The contract.
    pub contract: &'c Contract,
}

impl Case<'_> {
    /// Whose semantics hold.
    pub fn profile(&self) -> Profile {
        self.contract.profile
    }

    /// Whether the fixes of part L hold.
    pub fn is_own(&self) -> bool {
        self.contract.profile.is_own()
    }

    /// How values are compared.
    pub fn equality(&self) -> Equality {
        self.contract.profile.equality()
    }

    /// The stages of a role, in sealed order.
    pub fn stages(&self, role: Role) -> Vec<String> {
        match role {
            Role::Final => self.contract.final_test.iter().map(|test| test.stage.clone()).collect(),
            Role::Baseline | Role::Candidate => self.contract.stages.clone(),
        }
    }

    /// The stage whose values decide for a role.
    pub fn deciding_stage(&self, role: Role) -> &str {
        match (role, &self.contract.final_test) {
            (Role::Final, Some(test)) => &test.stage,
            (Role::Final, None) => "",
            (Role::Baseline | Role::Candidate, _) => &self.contract.objective.acceptance,
        }
    }

    /// The metrics that a stage must give.
    pub fn telemetry(&self, stage: &str) -> &[String] {
        match &self.contract.final_test {
            Some(test) if test.stage == stage => &test.telemetry,
            _ => self.contract.telemetry.get(stage).map_or(&[], Vec::as_slice),
        }
    }
}

/// What an attempt is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The unchanged code.
    Baseline,
    /// One commit over the head before it.
    Candidate,
    /// The incumbent, on the final stage.
    Final,
}

impl Role {
    /// The protocol's word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Candidate => "candidate",
            Self::Final => "final",
        }
    }

    /// The role of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Baseline, Self::Candidate, Self::Final].into_iter().find(|role| role.name() == word)
    }

    /// The arm whose values count for it.
    pub fn target(self) -> Arm {
        if self == Self::Candidate { Arm::Candidate } else { Arm::Incumbent }
    }
}

/// Which code a launch evaluates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arm {
    /// That of the incumbent.
    Incumbent,
    /// That of the candidate.
    Candidate,
}

impl Arm {
    /// The arm of a word.
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "incumbent" => Some(Self::Incumbent),
            "candidate" => Some(Self::Candidate),
            _ => None,
        }
    }
}

/// What a launch is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The only one of a stage.
    Deterministic,
    /// One that explores.
    Exploration,
    /// One that confirms.
    Confirmation,
}

impl Phase {
    /// The phase of a word.
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "deterministic" => Some(Self::Deterministic),
            "exploration" => Some(Self::Exploration),
            "confirmation" => Some(Self::Confirmation),
            _ => None,
        }
    }
}
