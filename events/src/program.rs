//! Events of the program of rounds. Specified in `spec/program.md`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kinds::kinds;

kinds! {
    #![doc = "An event of the program."]
    domain "program";

    /// The program was created, with its name and overarching direction.
    ProgramCreated(ProgramCreated) = "program.created" v 1 by ["user"] else "wrong-owner";
}

/// The payload of `program.created`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramCreated {
    /// The program's name.
    pub program: String,
    /// What it is about.
    pub direction: String,
}
