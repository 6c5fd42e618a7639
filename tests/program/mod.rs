//! The program domain from outside.

mod archive;
mod attribution;
mod import;
mod queries;
mod records;
mod rounds;
pub(crate) mod setup;
mod stage_files;
mod takeover;
