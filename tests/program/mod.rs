//! The program domain from outside.

mod attribution;
mod records;
