//! Draws documents. Three short files at most, and no domain names in them.

pub mod json;
pub mod text;
