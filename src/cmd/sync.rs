//! `rp sync`: the file views where their readers expect them.

use rp_replay::{
    VIEWS,
    views::{self, Build, Place},
};
use rp_validator::derived::difference;
use serde_json::json;

use crate::{
    error::Failure,
    exit::Exit,
    journal::durable,
    out::Out,
    workspace::{Settings, Workspace},
};

/// `rp sync`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The views (else all that are kept as files).
    views: Vec<String>,
    /// Write nothing; fail if a file is stale or was edited by hand.
    #[arg(long)]
    check: bool,
}

/// A file and what it should hold.
struct Due {
    place: Place,
    text: String,
}

/// Writes or checks the files.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    for name in &args.views {
        if !views::view(name).is_some_and(|view| matches!(view.build, Build::File { .. })) {
            return Err(Failure::usage(format!("no view called `{name}` is kept as a file"))
                .hint("`rp fold --list` lists the views"));
        }
    }
    let reading = workspace.read(None)?;
    let mut differing = Vec::new();
    let (mut same, mut written) = (0_u64, 0_u64);
    for Due { place, text } in due(&args.views, &reading.state) {
        let path = workspace.root.join(&place.path);
        let found =
            workspace.file(&place.path).map_err(|error| Failure::io("read", &path, &error))?;
        if found.as_deref().is_some_and(|found| place.holds(&text, found)) {
            same += 1;
        } else if args.check {
            let how =
                found.map_or_else(|| "it is missing".to_owned(), |found| difference(&text, &found));
            differing.push((place.path, how));
        } else {
            write(&workspace, &place, &text)?;
            written += 1;
            if !out.json {
                out.talk(&format!("wrote {}", place.path));
            }
        }
    }
    answer(same, written, &differing, out)
}

/// Writes every file view; gives the paths.
pub(crate) fn write_all(workspace: &Workspace) -> Result<Vec<String>, Failure> {
    let reading = workspace.read(None)?;
    due(&[], &reading.state)
        .iter()
        .map(|Due { place, text }| write(workspace, place, text).map(|()| place.path.clone()))
        .collect()
}

fn due(wanted: &[String], state: &rp_replay::State) -> Vec<Due> {
    let mut all = Vec::new();
    for view in VIEWS {
        let Build::File { render, places, .. } = &view.build else { continue };
        if !wanted.is_empty() && !wanted.iter().any(|name| name == view.name) {
            continue;
        }
        for place in places(state) {
            // A place whose view shows nothing has no file to keep.
            if let Ok(text) = render(state, &place.args, place.format) {
                all.push(Due { place, text });
            }
        }
    }
    all
}

fn write(workspace: &Workspace, place: &Place, text: &str) -> Result<(), Failure> {
    let path = workspace.root.join(&place.path);
    let disk = workspace.settings.disk.as_ref();
    let folder = path.parent().unwrap_or(&workspace.root);
    disk.make_folder(folder)
        .and_then(|()| durable::write(disk, &path, text.as_bytes()))
        .map_err(|error| Failure::io("write", &path, &error))
}

fn answer(
    same: u64,
    written: u64,
    differing: &[(String, String)],
    out: &Out,
) -> Result<Exit, Failure> {
    let exit = if differing.is_empty() { Exit::DONE } else { Exit::REFUSED };
    if out.json {
        let rows: Vec<_> = differing
            .iter()
            .map(|(path, how)| json!({ "path": path, "difference": how }))
            .collect();
        out.document(&json!({
            "schema": "rp.sync/1",
            "same": same,
            "written": written,
            "differing": rows,
        }))?;
        return Ok(exit);
    }
    for (path, how) in differing {
        out.data(&format!("{path}: {how}\n"))?;
    }
    out.data(&format!(
        "{same} files are as folded, {written} written, {} differ\n",
        differing.len()
    ))?;
    if !differing.is_empty() {
        out.talk(
            "next: `rp sync` writes them anew; what a hand wrote into them belongs into an event",
        );
    }
    Ok(exit)
}
