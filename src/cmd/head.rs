//! `rp head`: a receipt of the journal's head, for someone to keep.

use rp_validator::Receipt;
use serde_json::{Value, json};

use crate::{
    error::Failure,
    exit::Exit,
    out::Out,
    workspace::{Moment, Settings, Workspace},
};

/// `rp head`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

/// Prints the receipt.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let reading = workspace.read(args.at.as_ref())?;
    let genesis = reading
        .state
        .trust()
        .genesis()
        .ok_or_else(|| Failure::new(Exit::NOTHING, "nothing", "the journal has no entries"))?;
    let receipt = Receipt {
        log_id: genesis.log_id,
        origin: genesis.origin.clone(),
        size: reading.chain.next().0,
        root: reading.chain.frontier().root(),
        last: reading.chain.last(),
    };
    if out.json {
        out.document(&document(&receipt))?;
    } else {
        out.data(&receipt.to_text())?;
    }
    out.note("signatures not checked; `rp validate` checks them");
    Ok(Exit::DONE)
}

/// The receipt as `--json` prints it.
pub(crate) fn document(receipt: &Receipt) -> Value {
    json!({
        "schema": "rp.head/1",
        "log_id": receipt.log_id.to_string(),
        "origin": receipt.origin,
        "size": receipt.size,
        "root": receipt.root.to_string(),
        "last": receipt.last.to_string(),
    })
}
