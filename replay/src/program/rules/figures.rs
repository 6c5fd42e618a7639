//! Rules about figures (E67, E68, E70, E71).

use std::collections::BTreeSet;

use rp_events::{
    Refusal,
    program::{
        FigureEntry, FiguresBatchFailed, FiguresFinished, FiguresPlanned, FiguresRecorded,
        FiguresSkipped,
    },
};

use super::{Ruling, Scene, filled, hold, word};
use crate::program::{
    codes,
    constants::{Ending, FIGURE_TYPES, FIGURES_PER_CLAIM_MAX},
    state::{FigurePolicy, Hook, Life},
};

pub(super) fn planned(scene: &Scene<'_>, body: &FiguresPlanned) -> Ruling {
    let known = scene.program.figure_plan(scene.number);
    hold(known.planned.is_none(), &codes::FIGURES_ONCE, || {
        format!("the figures of round {} are planned", scene.number)
    })?;
    due(scene)?;
    body.claims.iter().try_for_each(|claim| scene.work(claim.id.as_str()).map(drop))?;
    for claim in &body.claims {
        let count = claim.entries.len();
        hold(count <= FIGURES_PER_CLAIM_MAX, &codes::FIGURES_CAP, || {
            format!("`{}` has at most {FIGURES_PER_CLAIM_MAX} figures; found {count}", claim.id)
        })?;
    }
    let listed: BTreeSet<&str> = body.claims.iter().map(|claim| claim.id.as_str()).collect();
    for id in &scene.round.claims {
        let row = scene.program.row(scene.number, id);
        let decided = row.is_some_and(|row| !row.main_experiment.verdict.is_empty());
        hold(!decided || listed.contains(id.as_str()), &codes::CLAIMS_INCOMPLETE, || {
            format!("`{id}` has a verdict and is not listed")
        })?;
    }
    hold(listed.len() == body.claims.len(), &codes::FIGURES_UNPLANNED, || {
        "a claim is listed twice".to_owned()
    })
}

/// Holds the round to be at the final hook of an ending that has figures.
fn due(scene: &Scene<'_>) -> Ruling {
    let policy = scene.round.settings.figures;
    let refused = |why: &str| {
        Err(Refusal::new(&codes::FIGURES_STATE, format!("round {} {why}", scene.number)))
    };
    let hook = scene.round.hook;
    let (due, stopped) = match scene.round.life {
        Life::Ended(Ending::Completed) => (hook == Some(Hook::Final), false),
        Life::Ended(Ending::TruncatedAtVerify) => (hook == Some(Hook::Verify), false),
        Life::Ended(Ending::NotEstablished | Ending::Inconclusive) => {
            (hook == Some(Hook::Experiment), false)
        }
        Life::Ended(Ending::NeedsDecision | Ending::Halted) => (true, true),
        Life::Running | Life::Archived | Life::Discarded => (false, false),
    };
    match policy {
        FigurePolicy::Never => refused("has figures disabled"),
        FigurePolicy::Auto if stopped => refused("stopped, and figures were not asked for"),
        FigurePolicy::Auto | FigurePolicy::Always if !due => refused("is not at its final hook"),
        FigurePolicy::Auto | FigurePolicy::Always => Ok(()),
    }
}

pub(super) fn recorded(scene: &Scene<'_>, body: &FiguresRecorded) -> Ruling {
    scene.work(body.claim.as_str())?;
    let plan = scene.program.figure_plan(scene.number);
    let planned = plan.planned.as_ref().and_then(|planned| planned.get(body.claim.as_str()));
    let due: BTreeSet<&str> = planned.into_iter().flatten().map(String::as_str).collect();
    for figure in &body.figures {
        word(&figure.kind, "type", FIGURE_TYPES)?;
        word(&figure.status, "status", &["ok", "error", "skipped"])?;
    }
    let found: BTreeSet<&str> = body.figures.iter().map(|figure| figure.id.as_str()).collect();
    let once = found.len() == body.figures.len() && !found.is_empty();
    hold(found == due && once, &codes::FIGURES_UNPLANNED, || {
        let list = |ids: &BTreeSet<&str>| ids.iter().copied().collect::<Vec<_>>().join("`, `");
        format!("the figures of `{}` are `{}`; found `{}`", body.claim, list(&due), list(&found))
    })?;
    for figure in &body.figures {
        slots(figure)?;
        let table = figure.status == "ok" && figure.kind == "table";
        let with_body = body.tables.get(&figure.id).is_some_and(|text| !text.trim().is_empty());
        hold(!table || with_body, &codes::TABLE_BODY_MISSING, || {
            format!("the table `{}` has no Markdown under `tables`", figure.id)
        })?;
    }
    Ok(())
}

/// Holds the files and words of a figure to its type and status.
fn slots(figure: &FigureEntry) -> Ruling {
    let image = [figure.png.is_some(), figure.pdf.is_some()];
    let text = [figure.md.is_some(), figure.tex.is_some()];
    let files = match (figure.status.as_str(), figure.kind.as_str()) {
        ("ok", "table") => image == [false; 2] && text == [true; 2],
        ("ok", _) => image == [true; 2] && text == [false; 2],
        ("skipped", _) => image == [false; 2] && text == [false; 2],
        // A figure that failed may have left some of its files.
        (_, "table") => image == [false; 2],
        _ => text == [false; 2],
    };
    let words = match figure.status.as_str() {
        "error" => figure.error_detail.is_some() && figure.reason.is_none(),
        "skipped" => figure.reason.is_some() && figure.error_detail.is_none(),
        _ => figure.reason.is_none() && figure.error_detail.is_none(),
    };
    hold(files && words, &codes::FIGURE_SLOTS, || {
        format!(
            "the slots of figure `{}` do not fit type `{}` and status `{}`",
            figure.id, figure.kind, figure.status
        )
    })
}

pub(super) fn batch_failed(scene: &Scene<'_>, body: &FiguresBatchFailed) -> Ruling {
    filled(&body.error, "error")?;
    let planned = scene.program.figure_plan(scene.number).planned.is_some();
    hold(planned, &codes::FIGURES_UNPLANNED, || {
        format!("no figures of round {} are planned", scene.number)
    })
}

pub(super) fn finished(scene: &Scene<'_>, body: &FiguresFinished) -> Ruling {
    filled(&body.index, "index")?;
    let plan = scene.program.figure_plan(scene.number);
    let Some(planned) = &plan.planned else {
        return Err(Refusal::new(
            &codes::FIGURES_UNPLANNED,
            format!("no figures of round {} are planned", scene.number),
        ));
    };
    // After a failed batch the figures that it did not reach have no end of their own.
    for (id, entries) in planned {
        let row = scene.program.row(scene.number, id);
        let merged = row.is_some_and(|row| row.figures.len() >= entries.len());
        hold(plan.has_failed || merged, &codes::FIGURES_UNPLANNED, || {
            format!("the figures of `{id}` are planned and not recorded")
        })?;
    }
    Ok(())
}

pub(super) fn skipped(scene: &Scene<'_>, body: &FiguresSkipped) -> Ruling {
    word(&body.reason, "reason", &["disabled", "halted", "round-ended", "nothing-to-plot"])?;
    let life = scene.round.life;
    let holds = match body.reason.as_str() {
        "disabled" => scene.round.settings.figures == FigurePolicy::Never,
        "halted" => life == Life::Ended(Ending::Halted),
        "round-ended" => life == Life::Ended(Ending::NeedsDecision),
        _ => true,
    };
    hold(holds, &codes::SKIP_REASON, || {
        format!("the reason `{}` does not hold for round {}", body.reason, scene.number)
    })
}
