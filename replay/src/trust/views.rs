//! Pages about the journal itself.

use crate::{
    State, View,
    document::{Body, Document},
    views::{Args, Build, ViewError},
};

/// Keys, roles, and what was refused.
pub static TRUST: View = View {
    name: "trust",
    about: "the journal's keys with their roles and ends, and how often which code was refused",
    build: Build::Page(trust),
};

fn trust(state: &State, _: &Args) -> Result<Document, ViewError> {
    let Some(genesis) = state.trust().genesis() else {
        return Err(ViewError::Nothing("the journal has no entries".to_owned()));
    };
    let facts = vec![
        ("origin".to_owned(), genesis.origin.clone()),
        ("title".to_owned(), genesis.title.clone().unwrap_or_else(|| "none".to_owned())),
        ("profile".to_owned(), genesis.profile.clone()),
        ("log id".to_owned(), genesis.log_id.to_string()),
    ];
    let keys = state.trust().keys();
    let row = |key: &std::sync::Arc<super::KeyRecord>| {
        let roles = key.roles.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let end = key.ended_before(state.next()).unwrap_or_else(|| "may sign".to_owned());
        vec![key.name.clone(), key.public.kid().short(), roles, key.since.to_string(), end]
    };
    let columns = ["name", "key", "roles", "since entry", "state"].map(str::to_owned).to_vec();
    let refused = state.trust().refused();
    let count = |(code, n): &(String, u64)| vec![code.clone(), n.to_string()];
    let mut page = Document::new("Trust")
        .with("", Body::Facts(facts))
        .with("Keys", Body::Table { columns, rows: keys.iter().map(row).collect() });
    if !refused.is_empty() {
        let columns = ["code", "times"].map(str::to_owned).to_vec();
        let rows = refused.iter().map(count).collect();
        page = page.with("Refused", Body::Table { columns, rows });
    }
    Ok(page)
}
