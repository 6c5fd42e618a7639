//! Run directories made up from short scripts, in memory: those of the protocol's own self-test (`k.txt`), and
//! one or more for every line of its checklist (`j.txt`). Tests build from them; `rp validate --self-test` runs
//! them.

mod attempt;
mod edit;
mod git;
mod launches;
mod mutate;
mod script;
mod selftest;
mod setup;
#[cfg(test)]
mod tests;
mod world;

pub use attempt::{Fate, attempt};
pub use edit::{Edit, Target};
pub use mutate::{Mutation, mutations};
pub use script::{Asked, Built, build, build_on, value};
pub use selftest::{Case, Expected, Ran, cases, judge, scenarios, self_test};
pub use setup::{EVALUATOR, EXECUTABLE, Ground, Setup};
pub use world::{Made, World};
