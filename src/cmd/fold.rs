//! `rp fold`: a view of the record; `rp status` and `rp brief` are two of them.

use std::path::PathBuf;

use rp_replay::{
    VIEWS, View,
    document::{Address, Document},
    views::{self, Build, ViewError},
};
use serde_json::json;

use super::interface;
use crate::{
    error::Failure,
    exit::Exit,
    journal::durable,
    out::Out,
    render,
    workspace::{Moment, Settings, Told, Workspace},
};

/// The forms in which every page can be had.
const FORMS: [&str; 4] = ["text", "json", "markdown", "html"];

/// What every reading verb says of the signatures.
const UNSIGNED: &str = "signatures not checked; `rp validate` checks them";

/// `rp fold`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The view.
    #[arg(required_unless_present = "list")]
    view: Option<String>,
    /// The thing, for views of one thing: `round:N`, `claim:N/ID`.
    #[arg(value_name = "ADDRESS")]
    address: Option<String>,
    /// List the views.
    #[arg(long)]
    list: bool,
    /// The round, for views of one (else the latest, or all).
    #[arg(long, value_name = "N")]
    round: Option<u64>,
    /// The form: text, json, markdown or html for pages; `rp fold --list` names those of files.
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Write to a file, atomically; for `interface` the folder of pages.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

/// `rp status`, `rp brief`
#[derive(Debug, clap::Args)]
pub struct PageArgs {
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

/// Prints a view, or the list of them.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    if args.list {
        return list(out);
    }
    let view = named(args.view.as_deref().unwrap_or_default())?;
    let workspace = Workspace::find(settings)?;
    if matches!(view.build, Build::Site) {
        let folder = args.out.as_deref().ok_or_else(|| {
            Failure::usage("`interface` is a folder of pages, and none is named")
                .hint("`rp fold interface --out DIR`")
        })?;
        if let Some(format) = args.format.as_deref().filter(|format| *format != "html") {
            return Err(Failure::usage(format!("`interface` is html, found `{format}`")));
        }
        return interface::write(&workspace, args.at.as_ref(), folder, out);
    }
    let wanted = views::Args { round: args.round, address: address(args)? };
    let drawn = draw(view, &wanted, args.format.as_deref(), &workspace, args.at.as_ref(), out)?;
    match &args.out {
        None => out.data(&drawn)?,
        Some(path) => durable::write(settings.disk.as_ref(), path, drawn.as_bytes())
            .map_err(|error| Failure::io("write", path, &error))?,
    }
    out.note(UNSIGNED);
    Ok(Exit::DONE)
}

/// Prints a page that has a verb of its own.
pub(crate) fn page(
    name: &str,
    args: &PageArgs,
    settings: &Settings,
    out: &Out,
) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let wanted = views::Args::default();
    out.data(&draw(named(name)?, &wanted, None, &workspace, args.at.as_ref(), out)?)?;
    out.note(UNSIGNED);
    Ok(Exit::DONE)
}

fn named(name: &str) -> Result<&'static View, Failure> {
    views::view(name).ok_or_else(|| {
        let names: Vec<&str> = VIEWS.iter().map(|view| view.name).collect();
        Failure::usage(format!("there is no view `{name}`"))
            .hint(format!("the views are `{}`", names.join("`, `")))
    })
}

fn address(args: &Args) -> Result<Option<Address>, Failure> {
    let Some(text) = args.address.as_deref() else { return Ok(None) };
    let address = Address::parse(text).ok_or_else(|| {
        Failure::usage(format!("`{}` is no address", rp_events::text::shown(text)))
            .hint("an address is `round:N` or `claim:N/ID`")
    })?;
    Ok(Some(address))
}

/// What a view shows: a page, or the bytes of a file in one of its formats.
enum Shown {
    Page(Document),
    File { format: &'static str, text: String },
}

fn draw(
    view: &View,
    args: &views::Args,
    format: Option<&str>,
    workspace: &Workspace,
    at: Option<&Moment>,
    out: &Out,
) -> Result<String, Failure> {
    let asked = format.map(|format| if format == "md" { "markdown" } else { format });
    let form = asked.unwrap_or(if out.json { "json" } else { "text" });
    let file = file_format(view, format)?;
    if file.is_none() && !FORMS.contains(&form) {
        let known = formats(view).join(", ");
        return Err(Failure::usage(format!(
            "`{}` has the formats {known}, found `{form}`",
            view.name
        )));
    }
    match build(view, args, file, workspace, at)? {
        Shown::Page(document) => Ok(match form {
            "json" => format!("{}\n", render::json::draw(view.name, &document)),
            "markdown" => render::markdown::draw(&document),
            "html" => render::html::draw(&document, UNSIGNED),
            _ => render::text::draw(&document),
        }),
        // One document with a schema, whatever the file is.
        Shown::File { format, text } if out.json => Ok(enveloped(view, format, &text)),
        Shown::File { text, .. } => Ok(text),
    }
}

/// The format of a file that is asked for; none where a page is.
fn file_format(view: &View, asked: Option<&str>) -> Result<Option<&'static str>, Failure> {
    let Build::File { formats, page, .. } = &view.build else { return Ok(None) };
    let Some(asked) = asked else { return Ok(formats.first().copied()) };
    let own = formats.iter().copied().find(|format| *format == asked);
    if own.is_none() && page.is_none() {
        let known = formats.join(", ");
        return Err(Failure::usage(format!(
            "`{}` has the formats {known}, found `{asked}`",
            view.name
        )));
    }
    Ok(own)
}

fn build(
    view: &View,
    args: &views::Args,
    file: Option<&'static str>,
    workspace: &Workspace,
    at: Option<&Moment>,
) -> Result<Shown, Failure> {
    let shown = match &view.build {
        Build::Story(story) | Build::Entity { page: story, .. } => {
            let Told { reading, history, .. } = workspace.tell(at)?;
            story(&reading.state, &history, args).map(Shown::Page)
        }
        Build::Page(_) | Build::File { .. } | Build::Site => {
            let reading = workspace.read(at)?;
            let shown = match (&view.build, file) {
                (Build::File { render, .. }, Some(format)) => {
                    render(&reading.state, args, format).map(|text| Shown::File { format, text })
                }
                (Build::Page(page) | Build::File { page: Some(page), .. }, _) => {
                    page(&reading.state, args).map(Shown::Page)
                }
                _ => Err(ViewError::Argument(format!("`{}` is no page", view.name))),
            };
            if let Some(why) = reading.state.failure() {
                return Err(Failure::new(Exit::IO, "cache", format!("the cache failed: {why}"))
                    .hint("remove `.rp/cache` and run the command again"));
            }
            shown
        }
    };
    shown.map_err(failed)
}

pub(crate) fn failed(error: ViewError) -> Failure {
    match error {
        ViewError::Nothing(why) => {
            Failure::new(Exit::NOTHING, "nothing", why).hint("`rp brief` says what may come next")
        }
        ViewError::Argument(why) => Failure::usage(why),
        ViewError::Refused(refusal) => refusal.into(),
    }
}

/// A file as one JSON document on one line: a JSON file's own members behind the schema, any other as a text.
fn enveloped(view: &View, format: &str, text: &str) -> String {
    let schema = json!(format!("rp.view.{}/1", view.name));
    match one_line(text).strip_prefix('{').filter(|_| format == "json") {
        Some(members) => format!("{{\"schema\":{schema},{members}\n"),
        None => {
            format!("{}\n", json!({ "schema": schema, "format": format, "text": text }))
        }
    }
}

/// A JSON text without the white space between its values; its numbers stay as they are written.
fn one_line(text: &str) -> String {
    let (mut in_text, mut escaped) = (false, false);
    let keep = |c: &char| {
        if in_text {
            in_text = escaped || *c != '"';
            escaped = !escaped && *c == '\\';
            return true;
        }
        in_text = *c == '"';
        !c.is_whitespace()
    };
    text.chars().filter(keep).collect()
}

/// The formats of a view, the default first.
fn formats(view: &View) -> Vec<&'static str> {
    match &view.build {
        Build::Page(_) | Build::Story(_) | Build::Entity { .. } => FORMS.to_vec(),
        Build::File { formats, page, .. } => {
            let others = FORMS.iter().filter(|form| page.is_some() && !formats.contains(form));
            formats.iter().chain(others).copied().collect()
        }
        Build::Site => vec!["html"],
    }
}

fn list(out: &Out) -> Result<Exit, Failure> {
    if out.json {
        let rows: Vec<_> = VIEWS
            .iter()
            .map(|view| json!({ "view": view.name, "about": view.about, "formats": formats(view) }))
            .collect();
        out.document(&json!({ "schema": "rp.fold.list/1", "views": rows }))?;
        return Ok(Exit::DONE);
    }
    for view in VIEWS {
        out.data(&format!("{:10}  {:24}  {}\n", view.name, formats(view).join(","), view.about))?;
    }
    Ok(Exit::DONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_goes_only_between_values() {
        let text = "{\n  \"a b\": 6.0,\n  \"c\": [\n    \"\\\" \\\\\"\n  ]\n}\n";
        assert_eq!(one_line(text), "{\"a b\":6.0,\"c\":[\"\\\" \\\\\"]}");
    }
}
