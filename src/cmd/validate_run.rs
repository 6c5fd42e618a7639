//! `rp validate` on a research-loop run directory: the protocol's own verdict and JSON.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use rp_validator::rundir::{
    Git, Inquiry, Question,
    closure::Demand,
    disk::Machine,
    findings::Finding,
    scenario::{cases, scenarios, self_test},
    verdict::Verdict,
};
use serde_json::{Value, json};

use crate::{cli, error::Failure, exit::Exit, git, out::Out};

/// What `rp validate` says of run directories.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Run directories")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line, each on or off by itself"
)]
pub struct RunArgs {
    /// Let one legal, unfinished tail pass with code 3, its next step named.
    #[arg(long)]
    allow_incomplete: bool,
    /// Demand that the run is closed.
    #[arg(long)]
    require_run_finalized: bool,
    /// Where evaluator and immutable files are (else two above `.research-loop/TAG`).
    #[arg(long, value_name = "DIR")]
    trusted_root: Option<PathBuf>,
    /// The supervisor's worktree (else the same).
    #[arg(long, value_name = "DIR")]
    git_root: Option<PathBuf>,
    /// Do not ask Git; then nothing better than "unverifiable" is said.
    #[arg(long, conflicts_with = "git_root")]
    no_git: bool,
    /// Accept the validator with this digest, which the contract seals.
    #[arg(long, value_name = "HEX")]
    validator_sha256: Option<String>,
    /// Judge made-up directories whose verdict is known, and count.
    #[arg(long)]
    self_test: bool,
}

impl RunArgs {
    /// Whether the arguments are about a run directory, whatever stands at the path.
    fn any(&self) -> bool {
        self.allow_incomplete
            || self.require_run_finalized
            || self.trusted_root.is_some()
            || self.git_root.is_some()
            || self.no_git
            || self.validator_sha256.is_some()
    }

    /// Whether this is for here: a self-test, a run's flag, or a path that holds a run.
    pub(crate) fn concerns(&self, path: Option<&Path>) -> bool {
        self.self_test || self.any() || path.is_some_and(is_run)
    }
}

/// Whether a path looks like a run directory: it holds a contract or a journal of lines, or lies below
/// `.research-loop`.
fn is_run(path: &Path) -> bool {
    let below =
        path.parent().and_then(Path::file_name).is_some_and(|name| name == ".research-loop");
    !path.join(".rp").exists()
        && (below
            || ["contract.json", "contract.sha256", "journal.jsonl"]
                .iter()
                .any(|name| path.join(name).exists()))
}

/// Judges a run directory, or the validator itself.
pub(crate) fn run(
    path: Option<&Path>,
    format: Option<&str>,
    args: &RunArgs,
    out: &Out,
) -> Result<Exit, Failure> {
    if args.self_test {
        if path.is_some() || args.any() {
            return Err(Failure::usage("`--self-test` takes no directory and no other flag"));
        }
        return test(out);
    }
    let Some(path) = path else {
        return Err(
            Failure::usage("which run directory?").hint("rp validate DIR --allow-incomplete")
        );
    };
    if let Some(hex) = &args.validator_sha256
        && !rp_validator::rundir::scalar::is_sha256(hex)
    {
        return Err(Failure::usage(format!(
            "`--validator-sha256 {hex}` is not 64 lower-case hexadecimal digits"
        )));
    }
    let verdict = judge(path, args)?;
    match format {
        Some("text") if !out.json => out.data(&text(&verdict))?,
        Some("sarif") if !out.json => out.document(&sarif(&verdict))?,
        Some("github") if !out.json => out.data(&annotations(&verdict))?,
        _ => {
            out.data(&format!("{}\n", verdict.json()))?;
            if !out.json {
                out.talk(text(&verdict).trim_end());
            }
        }
    }
    Ok(Exit(verdict.exit()))
}

fn judge(path: &Path, args: &RunArgs) -> Result<Verdict, Failure> {
    let text = |path: &Path| -> Result<String, Failure> {
        let absolute =
            std::path::absolute(path).map_err(|error| Failure::io("name", path, &error))?;
        let text = absolute.into_os_string().into_string();
        let text = text
            .map_err(|path| Failure::usage(format!("the path {} is not UTF-8", path.display())))?;
        Ok(text.trim_end_matches('/').to_owned())
    };
    let directory = text(path)?;
    let trusted = args.trusted_root.as_deref().map(text).transpose()?;
    let root = args.git_root.as_deref().map(text).transpose()?;
    let question = Question {
        directory: &directory,
        trusted_root: trusted.as_deref(),
        git_root: root.as_deref(),
        validator: args.validator_sha256.as_deref(),
        demand: Demand {
            allow_incomplete: args.allow_incomplete,
            require_finalized: args.require_run_finalized,
        },
    };
    // A fault of ours must never read as a verdict on the directory (line 54 of the checklist).
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let inquiry = Inquiry::open(&Machine, question);
        if args.no_git {
            return inquiry.judge(Git::NotChecked);
        }
        let wanted = inquiry.wanted();
        let facts = match cli::find_program("git") {
            Some(program) => git::Git::new(&program).facts(Path::new(question.git()), &wanted),
            None => rp_validator::rundir::git::Facts {
                unavailable: Some("there is no `git` on the path".to_owned()),
                ..rp_validator::rundir::git::Facts::default()
            },
        };
        inquiry.judge(Git::Asked(&facts))
    }));
    Ok(judged.unwrap_or_else(|_| Verdict::internal("the validator failed; this is its fault")))
}

/// Runs the made-up directories.
fn test(out: &Out) -> Result<Exit, Failure> {
    let ran = self_test();
    let wrong: Vec<String> = ran
        .iter()
        .filter(|ran| !ran.differs.is_empty())
        .map(|ran| format!("{} {}: {}", ran.case.number, ran.case.name, ran.differs))
        .collect();
    let (stated, lines) = (scenarios().len(), cases().len());
    out.talk(&format!(
        "{stated} scenarios in version 1.1.0, {stated} in rp's own, {lines} cases of the checklist; {} wrong",
        wrong.len()
    ));
    if wrong.is_empty() && !ran.is_empty() {
        let cases: Vec<Value> = ran
            .iter()
            .map(|ran| json!({ "name": ran.case.name, "verdict": ran.verdict }))
            .collect();
        out.document(&json!({ "self_test": "passed", "cases": cases }))?;
        return Ok(Exit::DONE);
    }
    out.document(&json!({ "self_test": "failed", "error": wrong.join("\n") }))?;
    Ok(Exit::REFUSED)
}

fn line(finding: &Finding) -> String {
    let place = match finding.line {
        Some(line) => format!("{}:{line}", finding.path),
        None => finding.path.clone(),
    };
    format!("{}: {} ({place})", finding.code, finding.message)
}

fn text(verdict: &Verdict) -> String {
    let mut out = String::new();
    for error in &verdict.errors {
        out.push_str(&format!("{}\n", line(error)));
    }
    for warning in &verdict.warnings {
        out.push_str(&format!("warning: {}\n", line(warning)));
    }
    out.push_str(&format!(
        "looked at  {} attempts with a boundary, {} rows, {} events\n",
        verdict.finalized_attempts.len(),
        verdict.result_count,
        verdict.journal_event_count
    ));
    if !verdict.unverified.is_empty() {
        out.push_str(&format!("not checked  {}\n", verdict.unverified.join(", ")));
    }
    let closed = if verdict.closed { ", closed" } else { "" };
    out.push_str(&format!("{}{closed}", verdict.word()));
    if let Some(action) = verdict.resume_action {
        out.push_str(&format!("; next: {action}"));
    }
    out.push('\n');
    out
}

fn annotations(verdict: &Verdict) -> String {
    let escape = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let lines = verdict
        .errors
        .iter()
        .map(|error| format!("::error title={}::{}\n", error.code, escape(&line(error))));
    let mut out: String = lines.collect();
    out.push_str(&format!("::notice title=rp validate::{}\n", verdict.word()));
    out
}

fn sarif(verdict: &Verdict) -> Value {
    let result = |(finding, level): (&Finding, &str)| {
        json!({
            "ruleId": finding.code,
            "level": level,
            "message": { "text": finding.message },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": finding.path },
                "region": { "startLine": finding.line.unwrap_or(1) },
            } }],
        })
    };
    let errors = verdict.errors.iter().map(|finding| (finding, "error"));
    let found = errors.chain(verdict.warnings.iter().map(|finding| (finding, "warning")));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "rp", "version": env!("CARGO_PKG_VERSION") } },
            "results": found.map(result).collect::<Vec<_>>(),
            "properties": { "verdict": verdict.word() },
        }],
    })
}
