//! `rp append`: one event, or a batch of them, through the single door.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::PathBuf,
};

use rp_events::{
    Event, Refusal, Stamp,
    entry::Citation,
    json::{self, JSON_BYTES_MAX, Json},
    refusal::general,
};
use serde_json::{Value, json};

use crate::{
    engine::{Draft, Engine, Expected, Receipt, fresh_idem},
    error::Failure,
    exit::Exit,
    out::Out,
    workspace::{Settings, Workspace},
};

/// `rp append`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The event's kind, from `rp kinds`.
    #[arg(required_unless_present = "batch")]
    kind: Option<String>,
    /// `-` reads the payload from standard input.
    #[arg(value_name = "-", value_parser = ["-"], conflicts_with_all = ["data", "file", "batch"])]
    stdin: Option<String>,
    /// The payload.
    #[arg(long, value_name = "JSON", conflicts_with_all = ["file", "batch"])]
    data: Option<String>,
    /// A file with the payload or the batch; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Record NDJSON lines: `kind`, `data`, and as needed `at`, `as`, `idem`, `round` or `stream`, `cause`, `line`.
    #[arg(long)]
    batch: bool,
    /// Lines of a batch that are recorded together or not at all [default: 256].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    group: Option<u16>,
    /// The round: the stream `round/N`, or `program` for 0.
    #[arg(long, value_name = "N", conflicts_with = "stream")]
    round: Option<u64>,
    /// The stream.
    #[arg(long, value_name = "S")]
    stream: Option<String>,
    /// When it happened, if that is another time than now.
    #[arg(long, value_name = "TIME", conflicts_with = "batch")]
    claimed_at: Option<String>,
    /// Cite an earlier event or an artifact.
    #[arg(long = "cite", value_name = "RELATION=TARGET", conflicts_with = "batch")]
    cite: Vec<String>,
    /// Your own name for this request: repeating it records nothing twice. A batch numbers it by line.
    #[arg(long, value_name = "TEXT")]
    idem: Option<String>,
    /// Refuse unless the journal has N entries.
    #[arg(long, value_name = "N")]
    expect_size: Option<u64>,
    /// Refuse unless a stream has so many events.
    #[arg(long, value_name = "STREAM=VERSION")]
    expect_stream: Vec<String>,
    /// Say what would happen and record nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Records what the arguments say.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let expected = args.expected()?;
    args.shaped()?;
    if args.batch {
        return batch(args, &workspace, &expected, out);
    }
    let draft = args.draft(&workspace)?;
    let mut engine = Engine::open(&workspace)?;
    engine.notes.iter().for_each(|note| out.note(note));
    // A retry is answered first: its caller expects what was true before the event was recorded.
    if !engine.knows(&draft.idem) {
        engine.expect(&expected)?;
    }
    if args.dry_run {
        let receipt = engine.dry_run(&draft)?;
        return answer(&receipt, &engine, true, out);
    }
    let committed = engine.commit(std::slice::from_ref(&draft))?;
    if let Some(failure) = committed.refused {
        return Err(failure);
    }
    if let Event::Program(event) = &draft.event {
        for warning in rp_replay::program::limits::warnings(event) {
            out.note(&warning);
        }
    }
    match committed.receipts.first() {
        Some(receipt) => answer(receipt, &engine, false, out),
        None => unreachable!("a draft is recorded or refused"),
    }
}

impl Args {
    fn expected(&self) -> Result<Expected, Failure> {
        let stream = |text: &String| {
            let (stream, version) = text.rsplit_once('=')?;
            Some((stream.to_owned(), version.parse().ok()?))
        };
        let streams = self.expect_stream.iter().map(|text| {
            stream(text).ok_or_else(|| {
                Failure::usage(format!("`--expect-stream` takes STREAM=VERSION, found `{text}`"))
            })
        });
        Ok(Expected { size: self.expect_size, streams: streams.collect::<Result<_, _>>()? })
    }

    /// What clap cannot say: in a batch the place of the kind may hold `-`, for standard input, alone.
    fn shaped(&self) -> Result<(), Failure> {
        match &self.kind {
            Some(kind) if self.batch && (kind != "-" || self.file.is_some()) => {
                Err(Failure::usage(format!("each line of a batch names its kind, found `{kind}`"))
                    .hint("`rp append --batch --file FILE`, or `-` for standard input"))
            }
            _ if self.group.is_some() && !self.batch => {
                Err(Failure::usage("`--group` is for a batch")
                    .hint("add `--batch`, or leave `--group` out"))
            }
            _ => Ok(()),
        }
    }

    fn defaults(&self) -> Defaults<'_> {
        Defaults { idem: self.idem.as_deref(), round: self.round, stream: self.stream.as_deref() }
    }

    fn draft(&self, workspace: &Workspace) -> Result<Draft, Failure> {
        let kind = self.kind.as_deref().unwrap_or_default();
        let text = self.payload()?;
        let event = Event::read(kind, &json::parse(&text)?)?;
        let at = self.claimed_at.as_deref().map(claimed).transpose()?;
        let cause = self.cite.iter().map(|text| citation(text)).collect::<Result<_, _>>()?;
        Ok(Draft {
            stream: stream(&event, self.round, self.stream.clone()),
            event,
            at,
            cause,
            idem: self.idem.clone().unwrap_or_else(|| fresh_idem(workspace)),
            signer: workspace.key_name()?,
        })
    }

    fn payload(&self) -> Result<String, Failure> {
        let from = match (&self.data, &self.file, &self.stdin) {
            (Some(data), _, _) => return Ok(data.clone()),
            (None, Some(file), _) if file.as_os_str() != "-" => Some(file),
            (None, Some(_), _) | (None, None, Some(_)) => None,
            (None, None, None) => return Ok("{}".to_owned()),
        };
        let mut bytes = Vec::new();
        let limit = u64::try_from(JSON_BYTES_MAX + 1).unwrap_or(u64::MAX);
        let read =
            |reader: &mut dyn Read, bytes: &mut Vec<u8>| reader.take(limit).read_to_end(bytes);
        match from {
            Some(path) => File::open(path)
                .and_then(|mut file| read(&mut file, &mut bytes))
                .map_err(|error| Failure::io("read", path, &error))?,
            None => read(&mut io::stdin().lock(), &mut bytes)
                .map_err(|error| Failure::io("read", "standard input".as_ref(), &error))?,
        };
        text(bytes).map_err(Failure::from)
    }
}

fn text(bytes: Vec<u8>) -> Result<String, Refusal> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Refusal::new(&general::MALFORMED_JSON, format!("the input is not UTF-8 from byte {at} on"))
    })
}

fn claimed(text: &str) -> Result<Stamp, Failure> {
    Stamp::parse(text)
        .map_err(|why| Refusal::new(&general::BAD_TEXT, format!("claimed time: {why}")).into())
}

fn citation(text: &str) -> Result<Citation, Failure> {
    let (relation, target) = text
        .split_once('=')
        .ok_or_else(|| Failure::usage(format!("`--cite` takes RELATION=TARGET, found `{text}`")))?;
    // An artifact may be named by its address as well.
    let target = target.strip_prefix("artifact:").unwrap_or(target);
    Ok(Citation { relation: relation.to_owned(), target: target.to_owned() })
}

/// The stream of an event: as said, else the program's own for its kinds, else implied.
fn stream(event: &Event, round: Option<u64>, said: Option<String>) -> Option<String> {
    match (said, round) {
        (Some(stream), _) => Some(stream),
        (None, Some(0)) => Some("program".to_owned()),
        (None, Some(round)) => Some(format!("round/{round}")),
        (None, None) => match event {
            Event::Trust(_) => None,
            Event::Program(_) => Some("program".to_owned()),
        },
    }
}

fn record(receipt: &Receipt, engine: &Engine) -> Value {
    let head = engine.writer().head();
    json!({
        "schema": "rp.append/1",
        "seq": receipt.seq.0,
        "event_id": receipt.id.to_string(),
        "kind": receipt.kind,
        "stream": receipt.stream,
        "stream_version": engine.state().record().stream(&receipt.stream).version,
        "duplicate": receipt.duplicate,
        "idem": receipt.idem,
        "size": head.size(),
        "root": head.root().to_string(),
    })
}

fn answer(receipt: &Receipt, engine: &Engine, dry: bool, out: &Out) -> Result<Exit, Failure> {
    if out.json {
        let mut document = record(receipt, engine);
        if dry && let Some(fields) = document.as_object_mut() {
            fields.insert("dry_run".to_owned(), true.into());
        }
        out.document(&document)?;
        return Ok(Exit::DONE);
    }
    let what = match (dry, receipt.duplicate) {
        (_, true) => "was recorded before",
        (true, false) => "would be recorded",
        (false, false) => "recorded",
    };
    out.data(&format!(
        "entry {} {what}: {} in {}\nevent {}\nidem  {}\n",
        receipt.seq, receipt.kind, receipt.stream, receipt.id, receipt.idem
    ))?;
    Ok(Exit::DONE)
}

/// A line of a batch that became a draft.
struct Line {
    /// The physical line of the input, from 1.
    physical: u64,
    /// The caller's own number, echoed.
    own: Option<Json>,
    draft: Draft,
}

/// Records the lines of a batch that is known to be good; gives how many they are.
pub(crate) fn record_lines(
    lines: &str,
    workspace: &Workspace,
    engine: &mut Engine,
) -> Result<usize, Failure> {
    let mut drafts = Vec::new();
    for (line, physical) in lines.lines().zip(1..) {
        drafts.push(
            draft_of(&Defaults::default(), workspace, line.as_bytes().to_vec(), physical)?.draft,
        );
    }
    for group in drafts.chunks(256) {
        if let Some(failure) = engine.commit(group)?.refused {
            return Err(failure);
        }
    }
    Ok(drafts.len())
}

fn batch(
    args: &Args,
    workspace: &Workspace,
    expected: &Expected,
    out: &Out,
) -> Result<Exit, Failure> {
    let mut input = open_input(args)?;
    let mut engine = Engine::open(workspace)?;
    engine.notes.iter().for_each(|note| out.note(note));
    if args.idem.is_none() {
        out.note("without `--idem` only lines with an `idem` of their own can be repeated safely");
    }
    let mut tally = Tally::default();
    let mut physical = 0;
    let mut expected = Some(expected);
    loop {
        let (lines, ended) = next_group(args, workspace, &mut input, &mut physical)?;
        if let Some(expected) = expected.take()
            && !lines.first().is_some_and(|line| engine.knows(&line.draft.idem))
        {
            engine.expect(expected)?;
        }
        let drafts: Vec<Draft> = lines.iter().map(|line| line.draft.clone()).collect();
        if args.dry_run {
            return dry_batch(&mut engine, &lines, ended, out);
        }
        if !drafts.is_empty() {
            let committed = engine.commit(&drafts)?;
            report(&committed.receipts, &lines, &engine, &mut tally, out)?;
            if let Some(failure) = committed.refused {
                let line = lines.get(committed.receipts.len());
                return stopped(failure, line.map_or(physical, |line| line.physical), &tally, out);
            }
        }
        match ended {
            Ended::Open => {}
            Ended::Finished => break,
            Ended::Refused(failure) => return stopped(failure, physical, &tally, out),
        }
    }
    tally.summary(&engine, out)?;
    Ok(Exit::DONE)
}

/// What a batch did so far.
#[derive(Debug, Default)]
struct Tally {
    recorded: u64,
    duplicates: u64,
}

impl Tally {
    fn summary(&self, engine: &Engine, out: &Out) -> Result<(), Failure> {
        let head = engine.writer().head();
        if out.json {
            return out.document(&json!({
                "schema": "rp.append.summary/1",
                "recorded": self.recorded,
                "duplicates": self.duplicates,
                "size": head.size(),
                "root": head.root().to_string(),
            }));
        }
        let before = match self.duplicates {
            0 => String::new(),
            n => format!(", {n} were recorded before"),
        };
        out.data(&format!(
            "{} events recorded{before}; the journal has {} entries\n",
            self.recorded,
            head.size()
        ))
    }
}

/// Whether more of a batch follows a group.
enum Ended {
    Open,
    Finished,
    Refused(Failure),
}

fn open_input(args: &Args) -> Result<Box<dyn BufRead>, Failure> {
    match &args.file {
        Some(path) if path.as_os_str() != "-" => {
            let file = File::open(path).map_err(|error| Failure::io("read", path, &error))?;
            Ok(Box::new(BufReader::new(file)))
        }
        _ => Ok(Box::new(BufReader::new(io::stdin()))),
    }
}

/// Reads lines up to the group's size, the end, or the first that is no draft.
fn next_group(
    args: &Args,
    workspace: &Workspace,
    input: &mut dyn BufRead,
    physical: &mut u64,
) -> Result<(Vec<Line>, Ended), Failure> {
    let mut lines = Vec::new();
    while lines.len() < usize::from(args.group.unwrap_or(256)) {
        let Some(bytes) = read_line(input)? else { return Ok((lines, Ended::Finished)) };
        *physical += 1;
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        match draft_of(&args.defaults(), workspace, bytes, *physical) {
            Ok(line) => lines.push(line),
            Err(failure) => return Ok((lines, Ended::Refused(failure))),
        }
    }
    Ok((lines, Ended::Open))
}

fn read_line(input: &mut dyn BufRead) -> Result<Option<Vec<u8>>, Failure> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(2 * JSON_BYTES_MAX).unwrap_or(u64::MAX);
    let read = input
        .take(limit)
        .read_until(b'\n', &mut bytes)
        .map_err(|error| Failure::io("read", "the batch".as_ref(), &error))?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    Ok((read > 0).then_some(bytes))
}

/// What the command line says for every line that does not say it itself.
#[derive(Debug, Default)]
struct Defaults<'a> {
    idem: Option<&'a str>,
    round: Option<u64>,
    stream: Option<&'a str>,
}

/// What a line of a batch may say.
const KEYS: [&str; 9] = ["kind", "data", "at", "as", "idem", "round", "stream", "cause", "line"];

fn draft_of(
    defaults: &Defaults<'_>,
    workspace: &Workspace,
    bytes: Vec<u8>,
    physical: u64,
) -> Result<Line, Failure> {
    let json = json::parse(&text(bytes)?)?;
    let Json::Object(pairs) = &json else {
        return Err(Refusal::new(&general::BAD_TYPE, "a line of a batch is an object").into());
    };
    if let Some((key, _)) = pairs.iter().find(|(key, _)| !KEYS.contains(&key.as_str())) {
        let why = format!("a line has the keys `{}`; found `{key}`", KEYS.join("`, `"));
        return Err(Refusal::new(&general::UNKNOWN_FIELD, why).into());
    }
    let need = |key: &str| {
        json.get(key)
            .ok_or_else(|| Refusal::new(&general::MISSING_FIELD, format!("a line needs `{key}`")))
    };
    let word = |key: &str| {
        json.get(key).map(|value| value.read::<String>().map_err(within(key))).transpose()
    };
    let kind: String = need("kind")?.read().map_err(within("kind"))?;
    let event = Event::read(&kind, need("data")?)?;
    let round =
        json.get("round").map(|value| value.read::<u64>().map_err(within("round"))).transpose()?;
    let pairs = json
        .get("cause")
        .map(|value| value.read::<Vec<(String, String)>>().map_err(within("cause")));
    let cause = pairs.transpose()?.unwrap_or_default();
    let signer = match word("as")? {
        Some(name) => name,
        None => workspace.key_name()?,
    };
    let idem = match (word("idem")?, defaults.idem) {
        (Some(own), _) => own,
        (None, Some(base)) => format!("{base}:{physical}"),
        (None, None) => fresh_idem(workspace),
    };
    let draft = Draft {
        stream: stream(
            &event,
            round.or(defaults.round),
            word("stream")?.or_else(|| defaults.stream.map(str::to_owned)),
        ),
        event,
        at: word("at")?.as_deref().map(claimed).transpose()?,
        cause: cause.into_iter().map(|(relation, target)| Citation { relation, target }).collect(),
        idem,
        signer,
    };
    Ok(Line { physical, own: json.get("line").cloned(), draft })
}

fn within(key: &str) -> impl Fn(Refusal) -> Refusal + '_ {
    move |refusal| Refusal { why: format!("`{key}`: {}", refusal.why), ..refusal }
}

fn report(
    receipts: &[Receipt],
    lines: &[Line],
    engine: &Engine,
    tally: &mut Tally,
    out: &Out,
) -> Result<(), Failure> {
    let mut text = String::new();
    for (receipt, line) in receipts.iter().zip(lines) {
        if receipt.duplicate {
            tally.duplicates += 1;
        } else {
            tally.recorded += 1;
        }
        if out.json {
            let mut document = record(receipt, engine);
            if let Some(fields) = document.as_object_mut() {
                fields.insert("input_line".to_owned(), line.physical.into());
                fields.insert("line".to_owned(), own_number(line.own.as_ref()));
            }
            text.push_str(&format!("{document}\n"));
        }
    }
    out.data(&text)
}

fn own_number(own: Option<&Json>) -> Value {
    match own {
        Some(Json::Number(literal) | Json::Text(literal)) => {
            literal.parse::<u64>().map_or_else(|_| Value::String(literal.clone()), Value::from)
        }
        Some(Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_)) | None => Value::Null,
    }
}

fn stopped(failure: Failure, line: u64, tally: &Tally, out: &Out) -> Result<Exit, Failure> {
    let failure = failure
        .detail("input_line", line)
        .detail("recorded_before", tally.recorded)
        .detail("duplicates_before", tally.duplicates);
    if !out.json {
        out.talk(&format!(
            "line {line} of the batch was refused; {} events before it are recorded",
            tally.recorded
        ));
    }
    Err(failure)
}

fn dry_batch(
    engine: &mut Engine,
    lines: &[Line],
    ended: Ended,
    out: &Out,
) -> Result<Exit, Failure> {
    if let Ended::Refused(failure) = ended {
        return Err(failure);
    }
    // Later lines rest on earlier ones, which a dry run does not record: only the first can be judged.
    match lines.first() {
        None => Err(Failure::usage("the batch is empty")),
        Some(line) if lines.len() == 1 => {
            let receipt = engine.dry_run(&line.draft)?;
            answer(&receipt, engine, true, out)
        }
        Some(_) => {
            Err(Failure::usage("`--dry-run` judges one event; a batch of several rests on itself")
                .hint("try the batch in a copy of the workspace"))
        }
    }
}
