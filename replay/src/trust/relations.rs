//! Between which kinds about the journal itself a relation exists.

use crate::relation::Between;

/// The rows of this domain.
pub(crate) static TABLE: &[Between] = &[
    Between {
        relation: "evidences",
        from: &["*"],
        to: &["journal.*", "key.*", "role.*", "command.*", "artifact.*"],
    },
    Between { relation: "supersedes", from: &["artifact.added"], to: &["artifact"] },
    Between { relation: "supersedes", from: &["key.rotated"], to: &["key.authorized"] },
];
