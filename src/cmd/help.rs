//! `rp help`, `rp completions`, `rp man`: all from one command tree.

use serde_json::json;

use crate::{cli::ENVIRONMENT, error::Failure, exit, exit::Exit, out::Out};

/// `rp help`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A verb (and its own verb), `exit-codes` or `environment`.
    topic: Vec<String>,
}

/// `rp completions`
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell.
    shell: clap_complete::Shell,
}

/// `rp man`
#[derive(Debug, clap::Args)]
pub struct ManArgs {}

/// Explains a topic.
pub(crate) fn run(args: &Args, out: &Out) -> Result<Exit, Failure> {
    let text = match args.topic.first().map(String::as_str) {
        Some("exit-codes") => exit::TABLE.to_owned(),
        Some("environment") => ENVIRONMENT.to_owned(),
        _ => of_verb(&args.topic)?,
    };
    say("help", &text, out)
}

fn of_verb(topic: &[String]) -> Result<String, Failure> {
    let mut command = super::command();
    command.build();
    for word in topic {
        command = command.find_subcommand(word).cloned().ok_or_else(|| {
            Failure::usage(format!("there is no verb `{word}`")).hint("`rp help` lists the verbs")
        })?;
    }
    Ok(command.render_long_help().to_string())
}

/// Prints a completion script.
pub(crate) fn completions(args: &CompletionsArgs, out: &Out) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "rp", &mut script);
    say("completions", &String::from_utf8_lossy(&script), out)
}

/// Prints the manual page.
pub(crate) fn man(_: &ManArgs, out: &Out) -> Result<Exit, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(super::command())
        .render(&mut page)
        .map_err(|error| Failure::new(Exit::IO, "io", error.to_string()))?;
    say("man", &String::from_utf8_lossy(&page), out)
}

fn say(verb: &str, text: &str, out: &Out) -> Result<Exit, Failure> {
    if out.json {
        out.document(&json!({ "schema": format!("rp.{verb}/1"), "text": text }))?;
    } else {
        out.data(text)?;
    }
    Ok(Exit::DONE)
}
