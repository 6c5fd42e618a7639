//! Rules about an older project's files (E2): they come first, each round and each behavior once.

use std::collections::BTreeSet;

use rp_events::program::{ImportedLedger, ProgramImported};

use super::{Ruling, Scene, filled, hold, stage};
use crate::program::{codes, state::ROUNDS};

pub(super) fn imported(scene: &Scene<'_>, body: &ProgramImported) -> Ruling {
    let course = scene.program.course();
    let recorded = scene.state.record().stream("program").version;
    hold(recorded == 1 + course.imports, &codes::IMPORT_LATE, || {
        format!("an import follows the program's creation; {recorded} events stand already")
    })?;
    numbers(scene, body)?;
    let memory = body.memory.iter();
    for behavior in memory.flat_map(|memory| &memory.behaviors) {
        let id = behavior.id.as_str();
        hold(scene.program.behavior(id).is_none(), &codes::BEHAVIOR_EXISTS, || {
            format!("the memory holds `{id}` already")
        })?;
    }
    for file in body.files.iter().flatten() {
        filled(&file.path, "path")?;
    }
    body.ledger.as_ref().map_or(Ok(()), |ledger| self::ledger(scene, body, ledger))
}

/// Holds round numbers to be below the highest, and each round to be new (G.1, L7).
fn numbers(scene: &Scene<'_>, body: &ProgramImported) -> Ruling {
    let named = body.memory.iter().flat_map(|memory| &memory.behaviors).flat_map(|behavior| {
        let attempts = behavior.mechanisms.iter().map(|attempt| attempt.round);
        attempts.chain([behavior.decided_in_round])
    });
    let brought = body.archives.iter().copied().chain(body.live_round);
    let highest = named.chain(brought.clone()).max();
    hold(highest.is_none_or(|n| n <= body.highest_round), &codes::ROUND_NUMBER, || {
        let highest = highest.unwrap_or(0);
        format!("`highest_round` is {}, the import names round {highest}", body.highest_round)
    })?;
    let mut seen = BTreeSet::new();
    for number in brought {
        let known = scene.program.round(number).is_some() || !seen.insert(number);
        hold(!known && number > 0, &codes::ROUND_NUMBER, || {
            format!("rounds count from 1 and are imported once; found {number}")
        })?;
    }
    let latest = scene.program.latest_round();
    hold(body.live_round.is_none() || latest.is_none(), &codes::ROUND_NUMBER, || {
        format!("round {} lies at the root already", latest.unwrap_or(0))
    })
}

/// Holds a ledger to its round: brought by this event, or begun by an earlier one that this continues.
fn ledger(scene: &Scene<'_>, body: &ProgramImported, ledger: &ImportedLedger) -> Ruling {
    let round = ledger.round;
    let is_new = body.archives.contains(&round) || body.live_round == Some(round);
    let before = scene.program.round(round).filter(|record| record.imported.is_some());
    hold(is_new || before.is_some(), &codes::UNKNOWN_ROUND, || {
        format!("the ledger is of round {round}, which no import brings")
    })?;
    hold(is_new || ledger.header.is_none(), &codes::ROUND_NUMBER, || {
        format!("the ledger of round {round} is imported; a later part brings claims alone")
    })?;
    let live = body.live_round.or_else(|| scene.program.latest_round());
    let fits = match ledger.folder.strip_prefix(ROUNDS) {
        Some(rest) => {
            let digits = rest.strip_suffix('/').filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
            live != Some(round) && digits.and_then(|n| n.parse().ok()) == Some(round)
        }
        None => live == Some(round) && ledger.folder.is_empty(),
    };
    hold(fits, &codes::ARCHIVE_TARGET, || {
        format!("the folder of round {round} is not `{}`", ledger.folder)
    })?;
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for claim in &ledger.claims {
        let id = claim.id.as_str();
        let known = scene.program.work(round, id).is_some() || !seen.insert(id);
        hold(!known, &codes::CLAIM_EXISTS, || format!("round {round} has a claim `{id}`"))?;
    }
    ledger.complete.iter().flatten().try_for_each(|name| stage(name).map(drop))
}
