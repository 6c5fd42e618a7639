//! What the tests share: a hermetic place to run the binary in, a disk that fails, journals made by hand.

pub(crate) mod corpus;
pub(crate) mod env;
pub(crate) mod faulty;
pub(crate) mod project;
pub(crate) mod record;
pub(crate) mod tail;
pub(crate) mod vector;
