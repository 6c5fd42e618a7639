//! What the tests share: a hermetic place to run the binary in, a disk that fails, bytes made by hand.

pub(crate) mod env;
pub(crate) mod faulty;
pub(crate) mod tail;
