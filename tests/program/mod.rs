//! The program domain from outside.

mod archive;
mod attribution;
mod queries;
mod records;
mod rounds;
pub(crate) mod setup;
