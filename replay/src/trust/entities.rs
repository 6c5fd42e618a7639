//! What the journal says of its keys and artifacts, by address.

use crate::{Address, State};

/// Whether a key or an artifact is on record.
pub(crate) fn stands(address: &Address, state: &State) -> bool {
    match address {
        Address::Key(name) => state.trust().named(name).is_some(),
        Address::Artifact(name) => state.trust().artifact(name).is_some(),
        Address::Event(_)
        | Address::Round(_)
        | Address::Claim(..)
        | Address::Run(..)
        | Address::Behavior(_) => false,
    }
}

/// What is on record of a key or an artifact.
pub(crate) fn facts(address: &Address, state: &State) -> Vec<(String, String)> {
    let fact = |label: &str, value: String| (label.to_owned(), value);
    match address {
        Address::Key(name) => state.trust().named(name).map_or_else(Vec::new, |(kid, key)| {
            let roles = key.roles.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let end = key.ended_before(state.next()).unwrap_or_else(|| "may sign".to_owned());
            vec![fact("key id", kid.to_string()), fact("roles", roles), fact("state", end)]
        }),
        Address::Artifact(name) => state.trust().artifact(name).map_or_else(Vec::new, |artifact| {
            let mut facts = vec![
                fact("sha256", artifact.sha256.to_string()),
                fact("bytes", artifact.bytes.to_string()),
            ];
            facts.extend(artifact.paths.iter().map(|path| fact("path", path.clone())));
            facts
        }),
        Address::Event(_)
        | Address::Round(_)
        | Address::Claim(..)
        | Address::Run(..)
        | Address::Behavior(_) => Vec::new(),
    }
}
