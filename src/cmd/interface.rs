//! `rp fold interface`: verifies the journal, folds it as far as it holds, and writes the pages.

use std::path::Path;

use rp_replay::{document::clipped, lineage::Marks};
use rp_validator::{Class, Report};
use serde_json::json;

use super::{fold, validate};
use crate::{
    error::Failure,
    exit::Exit,
    interface::{self, Material, Trouble, folder::Folder},
    out::Out,
    workspace::{Moment, Reading, Told, Workspace},
};

/// The most findings that a page's banner names.
const FINDINGS_MAX: usize = 5;

/// Writes the pages of a workspace into a folder.
///
/// The pages are written whatever the verification says, with a banner on each if it does not hold; the exit code is
/// that of the verification, so that nobody takes a marked site for a good one.
pub(crate) fn write(
    workspace: &Workspace,
    at: Option<&Moment>,
    path: &Path,
    out: &Out,
) -> Result<Exit, Failure> {
    let report = validate::check_record(workspace);
    let told = told(workspace, at, &report)?;
    let Told { reading, history, broken } = &told;
    if reading.state.next().0 == 0 {
        return Err(Failure::new(Exit::NOTHING, "nothing", "no entry of the journal holds")
            .hint("`rp validate` says what is there"));
    }
    let root = match broken {
        None => reading.chain.frontier().root().to_string(),
        Some(_) => "none, since not all entries hold".to_owned(),
    };
    let material = Material {
        state: &reading.state,
        history,
        root,
        verdict: verdict(&report),
        banner: banner(&report, &told),
        marks: marks(workspace, reading)?,
    };
    let mut folder = Folder::open(workspace.settings.disk.as_ref(), path)?;
    let pages = interface::draw(&material, &mut |name, page| folder.put(name, page)).map_err(
        |trouble| match trouble {
            Trouble::View(error) => fold::failed(error),
            Trouble::Sink(failure) => failure,
        },
    )?;
    let (written, same) = (folder.written, folder.same);
    let removed = folder.finish()?;
    answer(&report, broken.as_ref(), path, out, [pages, written, same, removed])
}

/// Folds the record to a moment, or as far as it holds where it does not hold whole.
fn told(workspace: &Workspace, at: Option<&Moment>, report: &Report) -> Result<Told, Failure> {
    match workspace.tell(at) {
        Ok(told) => Ok(told),
        // A moment that is not there is a fault of the question.
        Err(failure) if at.is_some() && failure.code == "no-such-moment" => Err(failure),
        Err(failure) => {
            let size = workspace.promised().unwrap_or(report.counts.entries);
            let told = workspace.tell_to(size)?;
            Ok(Told { broken: told.broken.or(Some(failure)), ..told })
        }
    }
}

/// What of the state shown rests on something that does not hold.
fn marks(workspace: &Workspace, reading: &Reading) -> Result<Marks, Failure> {
    let broken = workspace.broken_artifacts(&reading.state)?;
    let lineage = workspace.lineage(reading.state.next().0)?;
    Ok(lineage.marks(reading.state.trust(), &broken))
}

fn verdict(report: &Report) -> String {
    let counts = &report.counts;
    format!(
        "Verified when these pages were made: {}; looked at {} entries, {} signatures, {} entries by the rules; not checked: {}.",
        report.class().verdict(),
        counts.entries,
        counts.signatures,
        counts.rules,
        report.not_checked.join(", "),
    )
}

/// What every page says first if the journal does not hold.
fn banner(report: &Report, told: &Told) -> Option<(String, Vec<String>)> {
    let class = report.class();
    if class == Class::Ok && told.broken.is_none() {
        return None;
    }
    let mut details: Vec<String> = report
        .findings
        .iter()
        .take(FINDINGS_MAX)
        .map(|finding| clipped(&finding.to_string(), 300))
        .collect();
    let more = report.findings.len().saturating_sub(FINDINGS_MAX);
    if more > 0 {
        details.push(format!("and {more} more; `rp validate` lists all"));
    }
    if let Some(broken) = &told.broken {
        let size = told.reading.state.next();
        details.push(format!(
            "These pages show the {size} entries before that: {}",
            clipped(&broken.message, 300)
        ));
    }
    let sentence = format!(
        "This journal did not verify ({}, {}). What stands here may be wrong or incomplete.",
        class.verdict(),
        class.name()
    );
    Some((sentence, details))
}

fn answer(
    report: &Report,
    broken: Option<&Failure>,
    path: &Path,
    out: &Out,
    [pages, written, same, removed]: [u64; 4],
) -> Result<Exit, Failure> {
    let class = report.class();
    let exit = match broken {
        Some(failure) if class == Class::Ok => failure.exit,
        Some(_) | None => Exit(class.exit()),
    };
    if out.json {
        out.document(&json!({
            "schema": "rp.fold.interface/1",
            "out": path.display().to_string(),
            "pages": pages,
            "written": written,
            "same": same,
            "removed": removed,
            "verdict": class.verdict(),
            "class": class.name(),
            "exit": exit.0,
            "entries": report.counts.entries,
            "signatures": report.counts.signatures,
            "root": report.root.map(|root| root.to_string()),
            "not_checked": report.not_checked,
        }))?;
    } else {
        out.data(&format!("{}\n", path.join("index.html").display()))?;
        out.note(&format!(
            "{pages} pages: {written} written, {same} as they were; {removed} removed"
        ));
        out.note(&verdict(report));
    }
    if exit != Exit::DONE && !out.json {
        out.talk("every page says that the journal did not verify; `rp validate` says why");
    }
    Ok(exit)
}
