//! `rp fold`: a view of the record; `rp status` is one of them.

use std::path::PathBuf;

use rp_replay::{
    VIEWS, View,
    views::{self, Build, ViewError},
};
use serde_json::json;

use crate::{
    error::Failure,
    exit::Exit,
    journal::durable,
    out::Out,
    render,
    workspace::{Moment, Reading, Settings, Workspace},
};

/// `rp fold`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The view.
    #[arg(required_unless_present = "list")]
    view: Option<String>,
    /// List the views.
    #[arg(long)]
    list: bool,
    /// The round, for views of one (else the latest).
    #[arg(long, value_name = "N")]
    round: Option<u64>,
    /// The format, where the view has several.
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Write to a file, atomically.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

/// `rp status`
#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

/// Prints a view, or the list of them.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    if args.list {
        return list(out);
    }
    let name = args.view.as_deref().unwrap_or_default();
    let view = views::view(name).ok_or_else(|| {
        let names: Vec<&str> = VIEWS.iter().map(|view| view.name).collect();
        Failure::usage(format!("there is no view `{name}`"))
            .hint(format!("the views are `{}`", names.join("`, `")))
    })?;
    let workspace = Workspace::find(settings)?;
    let reading = workspace.read(args.at.as_ref())?;
    let wanted = views::Args { round: args.round };
    let text = draw(view, &wanted, args.format.as_deref(), &reading, out.json)?;
    match &args.out {
        None => out.data(&text)?,
        Some(path) => durable::write(settings.disk.as_ref(), path, text.as_bytes())
            .map_err(|error| Failure::io("write", path, &error))?,
    }
    out.note("signatures not checked; `rp validate` checks them");
    Ok(Exit::DONE)
}

/// Prints the status.
pub(crate) fn status(args: &StatusArgs, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let reading = workspace.read(args.at.as_ref())?;
    let view = views::view("status").expect("the table of views has `status`");
    out.data(&draw(view, &views::Args::default(), None, &reading, out.json)?)?;
    out.note("signatures not checked; `rp validate` checks them");
    Ok(Exit::DONE)
}

fn draw(
    view: &View,
    args: &views::Args,
    format: Option<&str>,
    reading: &Reading,
    json: bool,
) -> Result<String, Failure> {
    let drawn = match &view.build {
        Build::Page(build) => {
            let format = format.unwrap_or(if json { "json" } else { "text" });
            if !matches!(format, "text" | "json") {
                return Err(Failure::usage(format!(
                    "`{}` has the formats text and json, found `{format}`",
                    view.name
                )));
            }
            build(&reading.state, args).map(|document| match format {
                "json" => format!("{}\n", render::json::draw(view.name, &document)),
                _ => render::text::draw(&document),
            })
        }
        Build::File { formats, render, .. } => {
            let format = format.or_else(|| formats.first().copied()).unwrap_or_default();
            if !formats.contains(&format) {
                let known = formats.join(", ");
                return Err(Failure::usage(format!(
                    "`{}` has the formats {known}, found `{format}`",
                    view.name
                )));
            }
            render(&reading.state, args, format)
        }
    };
    if let Some(why) = reading.state.failure() {
        return Err(Failure::new(Exit::IO, "cache", format!("the cache failed: {why}"))
            .hint("remove `.rp/cache` and run the command again"));
    }
    drawn.map_err(|error| match error {
        ViewError::Nothing(why) => Failure::new(Exit::NOTHING, "nothing", why),
        ViewError::Argument(why) => Failure::usage(why),
        ViewError::Refused(refusal) => refusal.into(),
    })
}

fn list(out: &Out) -> Result<Exit, Failure> {
    let formats = |view: &View| match &view.build {
        Build::Page(_) => vec!["text", "json"],
        Build::File { formats, .. } => formats.to_vec(),
    };
    if out.json {
        let rows: Vec<_> = VIEWS
            .iter()
            .map(|view| json!({ "view": view.name, "about": view.about, "formats": formats(view) }))
            .collect();
        out.document(&json!({ "schema": "rp.fold.list/1", "views": rows }))?;
        return Ok(Exit::DONE);
    }
    for view in VIEWS {
        out.data(&format!("{:10}  {:9}  {}\n", view.name, formats(view).join(","), view.about))?;
    }
    Ok(Exit::DONE)
}
