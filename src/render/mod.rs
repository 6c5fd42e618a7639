//! Draws documents: a short file a form, and no domain names in them.

pub mod html;
pub mod json;
pub mod markdown;
pub mod text;
