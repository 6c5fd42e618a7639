//! What the tests share.

pub(crate) mod corpus;
pub(crate) mod record;
