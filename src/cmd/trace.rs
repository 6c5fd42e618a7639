//! `rp trace`: the lineage of one thing, down to bytes and up to what rests on it.

use std::collections::BTreeSet;

use rp_replay::{
    Address, Lineage, State,
    address::forms,
    lineage::{Cause, Marks, Step, What},
};
use serde_json::{Value, json};

use crate::{
    error::Failure,
    exit::Exit,
    out::Out,
    workspace::{Moment, Settings, Workspace},
};

/// `rp trace`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An address such as `claim:1/C4`, an entry's number, or an event id.
    entity: String,
    /// Open at most so many levels; what is left closed is said.
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Do not read the bytes of artifacts, and say so.
    #[arg(long)]
    unread: bool,
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    at: Option<Moment>,
}

/// Prints the lineage.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let reading = workspace.read(args.at.as_ref())?;
    let state = &reading.state;
    let entity = entity(&args.entity, state)?;
    let lineage = workspace.lineage(reading.chain.next().0)?;
    let broken = if args.unread { BTreeSet::new() } else { workspace.broken_artifacts(state)? };
    let trace = Trace {
        marks: lineage.marks(state.trust(), &broken),
        down: lineage.down(&entity, args.depth),
        up: lineage.up(&entity, args.depth),
        facts: entity.facts(state),
        lineage: &lineage,
        state,
        entity,
        unread: args.unread,
    };
    if out.json {
        out.document(&trace.document())?;
    } else {
        out.data(&trace.text())?;
        if args.unread {
            out.note("the bytes of artifacts were not read");
        }
        out.note("signatures not checked; `rp validate` checks them");
    }
    Ok(Exit::DONE)
}

/// What a verb's ENTITY leads to.
///
/// # Errors
///
/// `unknown-entity`: it is no address, or the record has nothing there.
pub(crate) fn entity(text: &str, state: &State) -> Result<Address, Failure> {
    let unknown = |message: String| {
        Failure::new(Exit::REFUSED, "unknown-entity", message)
            .hint(forms())
            .hint("`rp log` and `rp status` show what there is")
    };
    let address = Address::of_entity(text, state).map_err(unknown)?;
    if !address.stands_in(state) {
        return Err(unknown(format!("the record has nothing at `{address}`")));
    }
    Ok(address.canonical(state))
}

struct Trace<'t> {
    entity: Address,
    facts: Vec<(String, String)>,
    down: Vec<Step>,
    up: Vec<Step>,
    marks: Marks,
    lineage: &'t Lineage,
    state: &'t State,
    unread: bool,
}

impl Trace<'_> {
    fn text(&self) -> String {
        let mut text = self.line(&Step {
            depth: 0,
            word: "",
            what: What::At(self.entity.clone()),
            is_above: false,
            is_cut: false,
            is_apart: false,
        });
        for (label, value) in &self.facts {
            text.push_str(&format!("  {label}: {}\n", value.replace('\n', " ")));
        }
        for (title, steps) in [("rests on", &self.down), ("what rests on it", &self.up)] {
            text.push_str(&format!("\n{title}\n"));
            if steps.len() < 2 {
                text.push_str("  nothing\n");
            }
            text.extend(steps.iter().skip(1).map(|step| self.line(step)));
        }
        text.push_str(&format!("\n{}\n", self.summary()));
        text
    }

    fn line(&self, step: &Step) -> String {
        let mut line = "  ".repeat(step.depth);
        if !step.word.is_empty() {
            line.push_str(&format!("{} ", step.word));
        }
        match &step.what {
            What::File(file) => {
                let sum = match &file.sha256 {
                    Some(sum) => format!("reported with sha256:{sum}, not on record"),
                    None => "bytes not on record".to_owned(),
                };
                line.push_str(&format!("{} ({sum})", file.path));
            }
            What::At(address) => {
                line.push_str(&address.to_string());
                line.push_str(&self.about(address, step.is_above));
            }
        }
        if step.is_above {
            line.push_str("  (above)");
        }
        if step.is_cut {
            line.push_str("  (more below: raise --depth)");
        }
        if step.is_apart {
            line.push_str("  (has a trace of its own)");
        }
        if let What::At(address) = &step.what {
            for mark in self.marks_of(address) {
                line.push_str(&format!("  [!] {mark}"));
            }
        }
        line.push('\n');
        line
    }

    /// What a line says of an event: its kind, and where it comes first, who signed it and what it says.
    fn about(&self, address: &Address, is_above: bool) -> String {
        let Some(fact) = self.fact(address) else { return String::new() };
        if is_above {
            return format!("  {}", fact.kind.name);
        }
        let gist = if fact.gist.is_empty() { String::new() } else { format!(": {}", fact.gist) };
        format!("  {} by {}, {}{gist}", fact.kind.name, self.signer(fact), fact.time)
    }

    fn fact(&self, address: &Address) -> Option<&rp_replay::lineage::Fact> {
        match address {
            Address::Event(seq) => self.lineage.fact(*seq),
            Address::Key(_)
            | Address::Artifact(_)
            | Address::Round(_)
            | Address::Claim(..)
            | Address::Run(..)
            | Address::Behavior(_) => None,
        }
    }

    fn signer(&self, fact: &rp_replay::lineage::Fact) -> String {
        let key = self.state.trust().key(&fact.kid);
        key.map_or_else(|| fact.kid.short(), |key| key.name.clone())
    }

    /// The marks of an address in words.
    fn marks_of(&self, address: &Address) -> Vec<String> {
        let causes = self.marks.of(address).into_iter().flatten();
        causes.map(|cause| self.words(cause, address)).collect()
    }

    /// A cause in words: at the fault itself, or at what rests on it.
    fn words(&self, cause: &Cause, address: &Address) -> String {
        if cause.address() == *address && matches!(cause, Cause::Artifact(_)) {
            return "its bytes are not those on record, or are gone".to_owned();
        }
        let own = match (self.fact(address), address) {
            (Some(fact), Address::Event(seq)) => {
                let key = self.state.trust().key(&fact.kid);
                key.filter(|key| key.is_suspect_at(*seq))
            }
            _ => None,
        };
        match own {
            Some(key) if cause.address() == Address::Key(key.name.clone()) => {
                format!("suspect: signed by key:{} within its suspect range", key.name)
            }
            _ => cause.words(),
        }
    }

    fn summary(&self) -> String {
        let steps = || self.down.iter().filter(|step| !step.is_above);
        let count = |is: fn(&What) -> bool| steps().filter(|step| is(&step.what)).count();
        let events = count(|what| matches!(what, What::At(Address::Event(_))));
        let files = count(|what| matches!(what, What::File(_)));
        let artifacts: BTreeSet<&Address> = self
            .down
            .iter()
            .filter_map(|step| match &step.what {
                What::At(address @ Address::Artifact(_)) => Some(address),
                What::At(_) | What::File(_) => None,
            })
            .collect();
        let broken = artifacts.iter().filter(|address| self.marks.of(address).is_some()).count();
        let depth = self.down.iter().map(|step| step.depth).max().unwrap_or(0);
        let held = match (self.unread, artifacts.len(), broken) {
            (_, 0, _) => String::new(),
            (true, _, _) => " (bytes not read)".to_owned(),
            (false, _, 0) => " (bytes hold)".to_owned(),
            (false, _, broken) => format!(" (marked: {broken})"),
        };
        format!(
            "rests on {events} entries and {} artifacts{held} over {depth} levels; {files} files are named without bytes on record",
            artifacts.len()
        )
    }

    fn document(&self) -> Value {
        let facts: Vec<Value> = self
            .facts
            .iter()
            .map(|(label, value)| json!({ "label": label, "value": value }))
            .collect();
        let steps = |steps: &[Step]| steps.iter().skip(1).map(|step| self.step(step)).collect();
        let (down, up): (Vec<Value>, Vec<Value>) = (steps(&self.down), steps(&self.up));
        json!({
            "schema": "rp.trace/1",
            "entity": self.entity.to_string(),
            "facts": facts,
            "marks": self.marks_of(&self.entity),
            "rests_on": down,
            "rested_on_by": up,
            "summary": self.summary(),
            "not_checked": self.not_checked(),
        })
    }

    fn not_checked(&self) -> Vec<&'static str> {
        let bytes = self.unread.then_some("bytes of artifacts");
        ["signatures"].into_iter().chain(bytes).collect()
    }

    fn step(&self, step: &Step) -> Value {
        let mut record = json!({
            "depth": step.depth,
            "relation": step.word,
            "above": step.is_above,
            "cut": step.is_cut,
            "apart": step.is_apart,
        });
        let more = match &step.what {
            What::File(file) => json!({ "path": file.path, "sha256": file.sha256 }),
            What::At(address) => {
                let fact = self.fact(address);
                json!({
                    "address": address.to_string(),
                    "kind": fact.map(|fact| fact.kind.name),
                    "event_id": fact.map(|fact| fact.id.to_string()),
                    "key": fact.map(|fact| self.signer(fact)),
                    "time": fact.map(|fact| fact.time.to_string()),
                    "says": fact.map(|fact| fact.gist.as_str()),
                    "marks": self.marks_of(address),
                })
            }
        };
        if let (Some(fields), Value::Object(more)) = (record.as_object_mut(), more) {
            fields.extend(more);
        }
        record
    }
}
