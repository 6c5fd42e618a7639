//! The program domain from outside.

mod attribution;
mod import;
mod records;
mod stage_files;
mod takeover;
