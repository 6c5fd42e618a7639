//! `rp quickstart`: a whole sample program from scratch, folded and validated.

use std::path::PathBuf;

use rp_events::trust::ROLES;
use rp_replay::Scope;
use serde_json::json;

use super::{append, init, key, sync, validate};
use crate::{
    error::Failure,
    exit::Exit,
    out::Out,
    workspace::{Settings, Workspace},
};

/// The sample, as `rp append --batch` reads it.
const SAMPLE: &str = include_str!("../../spec/samples/program/events.jsonl");

/// The roles that sign it, a key each.
const ACTORS: usize = 11;

/// `rp quickstart`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder to make.
    // Not called `dir`: clap would take it for the flag `-C` of the same name.
    #[arg(value_name = "DIR", default_value = "rp-quickstart")]
    folder: PathBuf,
}

/// Records, folds, validates, and says where to look.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let root = settings.start.join(&args.folder);
    if root.exists() {
        let message = format!("`{}` exists; nothing was changed", root.display());
        return Err(Failure::new(Exit::EXISTS, "exists", message)
            .hint(format!(
                "`rp -C {} status` shows what it holds, if it was made by quickstart",
                root.display()
            ))
            .hint("name another folder: `rp quickstart DIR`"));
    }
    let settings = Settings { start: root.clone(), key: None, ..settings.clone() };
    init::make(&init::Args::sample(), &root, &settings)?;
    let workspace = Workspace::find(&settings)?;
    let mut engine = crate::engine::Engine::open(&workspace)?;
    for (role, _) in ROLES.iter().take(ACTORS) {
        key::authorize(role, &[role], &workspace, &mut engine)?;
    }
    let recorded = append::record_lines(SAMPLE, &workspace, &mut engine)?;
    drop(engine);
    let files = sync::write_all(&workspace)?;
    let report = validate::check(&workspace, Scope::Whole, None);
    if out.json {
        out.document(&json!({
            "schema": "rp.quickstart/1",
            "workspace": root.display().to_string(),
            "recorded": recorded,
            "files": files,
            "validate": validate::document("rp.validate/1", &report),
        }))?;
    } else {
        out.data(&format!("{recorded} events of two rounds recorded in {}\n", root.display()))?;
        for file in &files {
            out.data(&format!("  wrote {file}\n"))?;
        }
        out.data(&validate::text(&report))?;
        let dir = args.folder.display();
        out.data(&format!(
            "look at:\n  rp -C {dir} status                   where the program stands\n  rp -C {dir} fold ledger --round 1 --format md\n  rp -C {dir} fold next-task               the task drafted for round 3\n  rp -C {dir} log --stream round/1         what happened, who signed it\n  rp -C {dir} show claim:1/C1\n  rp -C {dir} validate                     everything, checked again\n"
        ))?;
    }
    Ok(Exit(report.class().exit()))
}
