//! `rp verify`: the cryptographic part alone, and what it can and cannot say.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rp_replay::Scope;
use rp_validator::Receipt;

use super::validate;
use crate::{
    error::Failure,
    exit::Exit,
    out::Out,
    workspace::{Settings, Workspace},
};

/// `rp verify`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Hold the journal against a receipt that `rp head` printed.
    #[arg(long, value_name = "FILE")]
    head: Option<PathBuf>,
    /// Say what each adversary could still do.
    #[arg(long)]
    explain: bool,
}

const EXPLAIN: &str = "\
What is detected, by whom it was done:
  accident       torn write, bit rot, lost name, full disk: checksums, HEAD and hashes; named to the frame
  edits files    and has no key: signatures, and the tree's root against any anchor
  holds one key  of an agent: may act within its roles only; a revocation marks what it signed as suspect
  owns the host  all keys, HEAD and the remembered checkpoint: only a copy elsewhere shows it, such as a
                 receipt (`rp head`) that someone else keeps; the window is the time since the last one
A signature says which key, not that its holder told the truth.
";

/// Checks bytes, chain, tree, signatures and authority.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let receipt = args.head.as_deref().map(read_receipt).transpose()?;
    let report = validate::check(&workspace, Scope::Trust, receipt);
    if out.json {
        out.document(&validate::document("rp.verify/1", &report))?;
    } else {
        out.data(&validate::text(&report))?;
        if args.explain {
            out.data(EXPLAIN)?;
        }
    }
    Ok(Exit(report.class().exit()))
}

fn read_receipt(path: &Path) -> Result<Receipt, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))?;
    let parsed = match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(json) => {
            let field = |name: &str| match json.get(name) {
                Some(serde_json::Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            };
            Receipt::parse(&format!(
                "rp-head 1\nlog {}\norigin {}\nsize {}\nroot {}\nlast {}\n",
                field("log_id"),
                field("origin"),
                field("size"),
                field("root"),
                field("last")
            ))
        }
        Err(_) => Receipt::parse(&text),
    };
    parsed.map_err(|why| Failure::usage(format!("`{}` is no receipt: {why}", path.display())))
}
