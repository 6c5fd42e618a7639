//! What a resumed round goes on with (H.1 of the domain text).

use super::{Program, constants::StageName, rules, state::Round};

/// What need not run again, and what must first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumption {
    /// The stages whose files are all there.
    pub complete: Vec<StageName>,
    /// The first stage that must run; none if none must.
    pub from: Option<StageName>,
}

/// What a round goes on with, as the journal knows it and by the stages that were `found` to have left their
/// files when they were interrupted. `loops` says whether the run asks for the review loop.
pub fn of(program: &Program, number: u64, loops: bool, found: &[StageName]) -> Option<Resumption> {
    let round = program.round(number)?;
    let is_complete =
        |name: StageName| found.contains(&name) || rules::is_complete(program, number, name);
    Some(resumption(&round, loops, is_complete))
}

/// What a round goes on with if these of its stages are complete.
pub(super) fn resumption(
    round: &Round,
    loops: bool,
    is_complete: impl Fn(StageName) -> bool,
) -> Resumption {
    let is_left_out = |name: StageName| match name {
        StageName::Verify | StageName::Iteration if round.phenomenon_ended() => true,
        StageName::Iteration => !loops,
        StageName::Claim | StageName::Experiment | StageName::Verify => false,
    };
    Resumption {
        complete: StageName::ALL.into_iter().filter(|name| is_complete(*name)).collect(),
        from: StageName::ALL.into_iter().find(|name| !is_left_out(*name) && !is_complete(*name)),
    }
}
