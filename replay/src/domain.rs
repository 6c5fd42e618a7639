//! What a domain must have: rules that decide, and a fold that records.

use rp_events::{EventId, Kid, Kind, Refusal, Role, Seq, Stamp, entry::Citation};

use crate::State;

/// Where and by whom an event stands.
#[derive(Debug, Clone)]
pub struct At<'a> {
    /// Its position.
    pub seq: Seq,
    /// Its name.
    pub id: EventId,
    /// When it happened: the claimed time if there is one, else the observed one.
    pub time: Stamp,
    /// The table row of its kind.
    pub kind: &'static Kind,
    /// The signing key.
    pub kid: Kid,
    /// The signing key's name.
    pub signer: &'a str,
    /// The roles that the signing key holds at this position.
    pub roles: &'a [Role],
    /// The stage that the payload names, where its owner depends on it.
    pub stage: Option<&'a str>,
    /// The stream: `trust`, `program`, `round/N`.
    pub stream: &'a str,
    /// What it cites.
    pub cause: &'a [Citation],
}

impl At<'_> {
    /// Whether the signing key holds a role that owns this kind with this payload.
    pub fn is_owner(&self) -> bool {
        self.kind.may_be_signed_by(self.roles, self.stage)
    }

    /// Whether the signing key holds a role.
    pub fn holds(&self, role: &str) -> bool {
        self.roles.iter().any(|held| held.as_str() == role)
    }

    /// The number in a stream called `round/N`; 0 for the stream `program`.
    pub fn round(&self) -> u64 {
        self.stream.strip_prefix("round/").and_then(|n| n.parse().ok()).unwrap_or(0)
    }
}

/// A domain of the record.
pub trait Domain {
    /// The domain's events.
    type Event;

    /// Decides whether `event` may come next. Reads every domain, changes none.
    ///
    /// # Errors
    ///
    /// The first rule that it breaks, in the order of the domain's text.
    fn admit(state: &State, at: &At<'_>, event: &Self::Event) -> Result<(), Refusal>;

    /// Records an admitted event. Changes its own domain, cannot fail.
    fn apply(&mut self, at: &At<'_>, event: &Self::Event);
}
