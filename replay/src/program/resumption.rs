//! What a resumed round goes on with, as the journal knows it (H.1 of the domain text).

use super::{Program, constants::StageName, rules::stages, state::Round};

/// What need not run again, and what must first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumption {
    /// The stages whose files are all there.
    pub complete: Vec<StageName>,
    /// The first stage that must run; none if none must.
    pub from: Option<StageName>,
}

/// What a round goes on with. `loops` says whether the run asks for the review loop.
pub fn of(program: &Program, number: u64, loops: bool) -> Option<Resumption> {
    let round = program.round(number)?;
    Some(resumption(program, number, &round, loops))
}

pub(super) fn resumption(program: &Program, number: u64, round: &Round, loops: bool) -> Resumption {
    let is_complete = |name: &StageName| stages::is_complete(program, number, round, *name);
    let is_left_out = |name: &StageName| match name {
        StageName::Verify | StageName::Iteration if round.phenomenon_ended() => true,
        StageName::Iteration => !loops,
        StageName::Claim | StageName::Experiment | StageName::Verify => false,
    };
    Resumption {
        complete: StageName::ALL.into_iter().filter(is_complete).collect(),
        from: StageName::ALL.into_iter().find(|name| !is_left_out(name) && !is_complete(name)),
    }
}
