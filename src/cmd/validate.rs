//! `rp validate`: chain, signatures, authority, rules, artifacts, derived files; run directories are in `validate_run`.

use std::{num::NonZero, path::PathBuf};

use rp_replay::Scope;
use rp_validator::{Class, Question, Receipt, Report, Signatures};
use serde_json::{Value, json};

use crate::{
    cmd::validate_run::{self, RunArgs},
    error::Failure,
    exit::Exit,
    journal::lock,
    out::Out,
    workspace::{Settings, Workspace},
};

/// `rp validate`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A workspace (else the nearest one), or a research-loop run directory.
    path: Option<PathBuf>,
    /// Print the report in this form (text for a workspace, the protocol's JSON for a run directory).
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "sarif", "github"])]
    format: Option<String>,
    /// Run directories.
    #[command(flatten)]
    run: RunArgs,
}

/// Checks the workspace and reports.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    if args.run.concerns(args.path.as_deref()) {
        return validate_run::run(args.path.as_deref(), args.format.as_deref(), &args.run, out);
    }
    let workspace = match &args.path {
        None => Workspace::find(settings)?,
        Some(path) => Workspace::find(&Settings { start: path.clone(), ..settings.clone() })?,
    };
    let report = check(&workspace, Scope::Whole, None);
    let format = if out.json { "json" } else { args.format.as_deref().unwrap_or("text") };
    match format {
        "json" => out.document(&document("rp.validate/1", &report))?,
        "sarif" => out.document(&sarif(&report))?,
        "github" => out.data(&annotations(&report))?,
        _ => out.data(&text(&report))?,
    }
    Ok(Exit(report.class().exit()))
}

/// Checks a workspace's journal; derived files as well if every rule is asked.
pub(crate) fn check(workspace: &Workspace, scope: Scope, receipt: Option<Receipt>) -> Report {
    let files = match scope {
        Scope::Whole => Files::Compared,
        Scope::Trust => Files::Left,
    };
    judge(workspace, scope, receipt, files)
}

/// Checks a workspace's journal by every rule, and no file beside it.
pub(crate) fn check_record(workspace: &Workspace) -> Report {
    judge(workspace, Scope::Whole, None, Files::Left)
}

/// What becomes of derived files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Files {
    Compared,
    Left,
}

fn judge(workspace: &Workspace, scope: Scope, receipt: Option<Receipt>, files: Files) -> Report {
    let cores = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let remembered = |log_id| workspace.paths.read_remembered(log_id);
    let read = |path: &str| workspace.file(path);
    let store = workspace.blobs();
    let mut question = Question {
        scope,
        signatures: Signatures::Judge(cores),
        remembered: &remembered,
        receipt,
        being_written: lock::is_held(&workspace.paths.lock()).unwrap_or(false),
        artifacts: match scope {
            Scope::Whole => Some(&store),
            Scope::Trust => None,
        },
        files: match files {
            Files::Compared => Some(&read),
            Files::Left => None,
        },
    };
    let before = workspace.paths.read_head();
    let mut report = rp_validator::check(&workspace.source(), &question);
    if report.class() != Class::Ok && workspace.paths.read_head() != before {
        // Someone began to write meanwhile: what was seen after HEAD says nothing.
        question.being_written = true;
        report = rp_validator::check(&workspace.source(), &question);
    }
    match scope {
        Scope::Trust => report.not_checked.extend(["domain rules", "artifacts"]),
        Scope::Whole if report.counts.artifacts == 0 => {
            report.not_checked.push("artifacts (none are named)");
        }
        Scope::Whole => {}
    }
    if files == Files::Left {
        report.not_checked.push("derived files");
    }
    report
}

/// The report as JSON.
pub(crate) fn document(schema: &str, report: &Report) -> Value {
    let class = report.class();
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            json!({
                "class": finding.class.name(),
                "code": finding.code,
                "seq": finding.seq.map(|seq| seq.0),
                "place": finding.place,
                "text": finding.text,
            })
        })
        .collect();
    let counts = &report.counts;
    json!({
        "schema": schema,
        "verdict": class.verdict(),
        "class": class.name(),
        "exit": class.exit(),
        "first_bad": report.first_bad().map(|seq| seq.0),
        "counts": {
            "entries": counts.entries,
            "segments": counts.segments,
            "bytes": counts.bytes,
            "signatures": counts.signatures,
            "rules": counts.rules,
            "artifacts": counts.artifacts,
            "views": counts.views,
            "unacknowledged": counts.unacknowledged,
        },
        "log_id": report.log_id.map(|id| id.to_string()),
        "root": report.root.map(|root| root.to_string()),
        "last": report.last.map(|last| last.to_string()),
        "findings": findings,
        "notes": report.notes,
        "not_checked": report.not_checked,
    })
}

/// The report for people.
pub(crate) fn text(report: &Report) -> String {
    let class = report.class();
    let mut out = String::new();
    for finding in &report.findings {
        out.push_str(&format!("{}: {finding}\n", finding.class));
    }
    for note in &report.notes {
        out.push_str(&format!("note: {note}\n"));
    }
    let counts = &report.counts;
    out.push_str(&format!(
        "looked at  {} entries in {} segments, {} signatures, {} entries by the rules, {} artifacts, {} derived files\n",
        counts.entries,
        counts.segments,
        counts.signatures,
        counts.rules,
        counts.artifacts,
        counts.views
    ));
    if counts.unacknowledged > 0 {
        out.push_str(&format!(
            "           {} entries are whole and not yet acknowledged\n",
            counts.unacknowledged
        ));
    }
    if !report.not_checked.is_empty() {
        out.push_str(&format!("not checked  {}\n", report.not_checked.join(", ")));
    }
    if let (Some(root), Class::Ok) = (report.root, class) {
        out.push_str(&format!("root       {root}\n"));
    }
    out.push_str(&format!("{}: {}\n", class.verdict(), sentence(class)));
    out
}

fn sentence(class: Class) -> &'static str {
    match class {
        Class::Ok => "everything looked at holds",
        Class::Torn => {
            "the tail was never acknowledged and is not whole; the next append sets it aside"
        }
        Class::Nothing => "there is nothing to check",
        Class::Unverifiable => {
            "not everything can be said: an anchor or the bytes of an artifact are missing"
        }
        Class::Rollback => "acknowledged entries are missing at the end",
        Class::Fork => "the journal contradicts what was promised",
        Class::Broken => {
            "acknowledged history is damaged or forged, or an artifact or a derived file was changed"
        }
        Class::Unreadable => "a file could not be read",
    }
}

/// Annotations for a workflow run: the ten worst findings, characters escaped.
fn annotations(report: &Report) -> String {
    let escape = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| escape(text).replace(':', "%3A").replace(',', "%2C");
    let mut findings: Vec<_> = report.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.class));
    let line = |finding: &&rp_validator::Finding| {
        format!("::error title={}::{}\n", property(finding.code), escape(&finding.to_string()))
    };
    let mut out: String = findings.iter().take(10).map(line).collect();
    out.push_str(&format!("::notice title=rp validate::{}\n", escape(text(report).trim_end())));
    out
}

/// The report in SARIF 2.1.0.
fn sarif(report: &Report) -> Value {
    let result = |finding: &rp_validator::Finding| {
        let identity = format!("{}:{:?}", finding.code, finding.seq.map(|seq| seq.0));
        json!({
            "ruleId": finding.code,
            "level": "error",
            "message": { "text": finding.to_string() },
            "locations": [{ "physicalLocation": { "artifactLocation": {
                "uri": format!(".rp/journal/{}", finding.place.split(' ').next().unwrap_or_default()) } } }],
            "partialFingerprints": { "rp/1": blake3::hash(identity.as_bytes()).to_hex().to_string() },
        })
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "rp", "version": env!("CARGO_PKG_VERSION") } },
            "results": report.findings.iter().map(result).collect::<Vec<_>>(),
            "properties": { "verdict": report.class().verdict() },
        }],
    })
}
