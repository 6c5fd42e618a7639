//! Pages: what they hold, that they are bounded, linked, the same twice, and that no text escapes from them.

mod brief;
mod browser;
mod folder;
mod large;
mod site;
