//! `rp log`: events, newest last; with `--follow`, as they come.

use std::{ops::ControlFlow, time::Duration};

use rp_events::{Event, Seq, entry::Parsed};
use rp_replay::{Scope, State};
use rp_validator::{
    meaning::Fold,
    walk::{Plan, Until},
};
use serde_json::{Value, json, value::RawValue};

use crate::{
    error::Failure,
    exit::Exit,
    out::Out,
    workspace::{Moment, Settings, Workspace},
};

/// How often a following reader looks at HEAD.
const LOOK: Duration = Duration::from_millis(200);

/// `rp log`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this stream.
    #[arg(long, value_name = "S")]
    stream: Option<String>,
    /// Only this kind.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only from this entry, event or time on.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse)]
    since: Option<Moment>,
    /// Only the last N.
    #[arg(long, value_name = "N", conflicts_with = "follow")]
    last: Option<usize>,
    /// Go on printing as events are acknowledged, until interrupted.
    #[arg(long)]
    follow: bool,
    /// The state as of then: an entry's number, an event id, or a time.
    #[arg(long, value_name = "SEQ|TIME|EVENT_ID", value_parser = Moment::parse, conflicts_with = "follow")]
    at: Option<Moment>,
}

/// Lists the events.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let size = match &args.at {
        Some(at) => workspace.read(Some(at))?.chain.next().0,
        None => workspace.promised()?,
    };
    let mut lines = list(args, &workspace, 0, size, out)?;
    if let Some(last) = args.last {
        lines.drain(..lines.len().saturating_sub(last));
    }
    let mut count = lines.len();
    out.data(&lines.concat())?;
    if args.follow {
        count += follow(args, &workspace, size, out)?;
    }
    if out.json {
        out.document(&json!({ "schema": "rp.log.summary/1", "events": count, "size": size }))?;
    }
    Ok(Exit::DONE)
}

/// One line an event of positions `from` to `size` that the arguments ask for.
fn list(
    args: &Args,
    workspace: &Workspace,
    from: u64,
    size: u64,
    out: &Out,
) -> Result<Vec<String>, Failure> {
    // Names of keys, and what a later revocation made suspect, are known only after the whole record.
    let mut fold = Fold::new(State::default(), Scope::Trust);
    let plan = Plan::whole(Until::Size(size));
    workspace.each(plan.clone(), &mut |parsed, _| fold.take(parsed, &mut drop))?;
    if let Some(offence) = fold.offences.first() {
        return Err(Failure::from(offence.refusal.clone())
            .detail("seq", offence.seq.0)
            .hint("`rp validate` lists everything that does not hold"));
    }
    let mut lines = Vec::new();
    let mut begun = args.since.is_none();
    workspace.each(plan, &mut |parsed, _| {
        begun = begun || args.since.as_ref().is_some_and(|since| reaches(&parsed, since));
        let stream = parsed.envelope.stream.as_deref().unwrap_or("trust");
        let wanted = args.stream.as_deref().is_none_or(|wanted| wanted == stream)
            && args.kind.as_deref().is_none_or(|wanted| wanted == parsed.envelope.kind);
        if begun && wanted && parsed.envelope.seq.0 >= from {
            lines.push(line(&parsed, &fold.state, "rp.log.event/1", out));
        }
        ControlFlow::Continue(())
    })?;
    Ok(lines)
}

fn reaches(parsed: &Parsed<'_>, since: &Moment) -> bool {
    let envelope = &parsed.envelope;
    match since {
        Moment::Entry(seq) => envelope.seq >= *seq,
        Moment::Event(id) => parsed.id == *id,
        Moment::Time(time) => envelope.at.unwrap_or(envelope.time) >= *time,
    }
}

fn payload(parsed: &Parsed<'_>) -> Option<Box<RawValue>> {
    Event::decode(&parsed.envelope.kind, parsed.data).ok().map(|event| event.to_json())
}

/// One event on a line, as text or under a schema.
pub(crate) fn line(parsed: &Parsed<'_>, state: &State, schema: &str, out: &Out) -> String {
    if out.json {
        return format!("{}\n", record(parsed, state, schema));
    }
    let envelope = &parsed.envelope;
    let signer = state
        .trust()
        .key(&envelope.kid)
        .map_or_else(|| envelope.kid.short(), |key| key.name.clone());
    let payload = payload(parsed).map_or_else(String::new, |json| json.get().to_owned());
    let mut short: String = payload.chars().take(72).collect();
    if short.len() < payload.len() {
        short.push_str("...");
    }
    format!(
        "{:>6}  {}  {:10}  {:16}  {:28}  {short}\n",
        envelope.seq,
        envelope.at.unwrap_or(envelope.time),
        envelope.stream.as_deref().unwrap_or("trust"),
        signer,
        envelope.kind,
    )
}

/// One event as JSON, decimals as written.
pub(crate) fn record(parsed: &Parsed<'_>, state: &State, schema: &str) -> String {
    let envelope = &parsed.envelope;
    let key = state.trust().key(&envelope.kid);
    let cause: Vec<Value> = envelope.cause.iter().map(|c| json!([c.relation, c.target])).collect();
    let mut document = json!({
        "schema": schema,
        "seq": envelope.seq.0,
        "event_id": parsed.id.to_string(),
        "kind": envelope.kind,
        "version": envelope.version,
        "stream": envelope.stream.as_deref().unwrap_or("trust"),
        "time": envelope.time.to_string(),
        "at": envelope.at.map(|at| at.to_string()),
        "key": key.as_ref().map(|key| key.name.clone()),
        "kid": envelope.kid.to_string(),
        "suspect": key.is_some_and(|key| key.is_suspect_at(Seq(envelope.seq.0))),
        "idem": envelope.idem.to_string(),
        "request": envelope.req.to_string(),
        "cause": cause,
    })
    .to_string();
    // The payload is put in as text: its decimals must not pass through a float.
    if let Some(payload) = payload(parsed) {
        document.pop();
        document.push_str(&format!(",\"data\":{}}}", payload.get()));
    }
    document
}

/// Prints what is acknowledged from now on; gives how many events that were.
fn follow(args: &Args, workspace: &Workspace, size: u64, out: &Out) -> Result<usize, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::IO, "io", format!("cannot wait: {error}")))?;
    runtime.block_on(async {
        let mut printed = 0;
        let mut size = size;
        let mut ticks = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => return Ok(printed),
                _ = ticks.tick() => {}
            }
            let now = workspace.promised()?;
            if now < size {
                let message = format!("the journal went back from {size} to {now} entries");
                return Err(Failure::new(Exit::BEHIND, "rollback", message));
            }
            if now > size {
                let lines = list(args, workspace, size, now, out)?;
                printed += lines.len();
                out.data(&lines.concat())?;
                size = now;
            }
        }
    })
}
