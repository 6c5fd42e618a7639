//! How events about the journal itself hang together.

use rp_events::{ArtifactName, trust::Event};

use crate::{
    Address,
    lineage::{Known, Ties},
};

/// Says what an event is about and what it rests on.
pub(crate) fn tie(known: &Known, event: &Event, ties: &mut Ties) {
    let name_of = |kid: &rp_events::Kid| known.words(&name_place(kid)).first().cloned();
    match event {
        Event::JournalOpened(genesis) => {
            let roots = genesis.root_keys.iter().zip(1..);
            for (public, n) in roots {
                let name = if n == 1 { "root".to_owned() } else { format!("root-{n}") };
                ties.set(name_place(&public.kid()), vec![name.clone()]);
                ties.about(Address::Key(name));
            }
        }
        Event::KeyAuthorized(key) => {
            ties.set(name_place(&key.public.kid()), vec![key.name.to_string()]);
            ties.about(Address::Key(key.name.to_string()));
        }
        Event::KeyRotated(rotation) => {
            if let Some(name) = name_of(&rotation.old) {
                ties.set(name_place(&rotation.new.kid()), vec![name.clone()]);
                ties.about(Address::Key(name));
            }
        }
        Event::KeyRevoked(revoked) => {
            ties.gist(revoked.reason.as_str());
            if let Some(name) = name_of(&revoked.kid) {
                ties.about(Address::Key(name));
            }
        }
        Event::RoleGranted(grant) => {
            ties.gist(grant.role.to_string());
            if let Some(name) = name_of(&grant.kid) {
                ties.about(Address::Key(name));
            }
        }
        Event::ArtifactAdded(artifact) => {
            let place = artifact.path.as_ref().map_or_else(String::new, |path| format!(" {path}"));
            ties.gist(format!("{} bytes{place}", artifact.bytes));
            ties.about(Address::Artifact(ArtifactName::Blake3(artifact.b3)));
            ties.records(artifact.b3, artifact.sha256, artifact.path.clone());
        }
        Event::CommandRejected(command) => ties.gist(format!("{}: {}", command.kind, command.code)),
        Event::JournalRecovered(recovery) => ties.gist(recovery.cause.as_str()),
    }
}

fn name_place(kid: &rp_events::Kid) -> String {
    format!("name/{kid}")
}
