//! The program domain from outside.

mod records;
