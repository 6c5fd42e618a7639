//! The GPU pin (J.5 of the domain text): what ran is read from the witness on the disk, `cost.json`, and held to
//! what was asked for and to what the record says was started.

use std::collections::{BTreeMap, BTreeSet};

use rp_events::{
    Refusal, RunId,
    program::{GpuId, GpuPinChecked},
    refusal::general,
};

use super::{Program, codes, constants::StageName};

/// A run whose witness is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The run.
    pub run: String,
    /// The folder that its `cost.json` is in.
    pub path: String,
}

/// A check of a stage's devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The event that records it.
    pub event: GpuPinChecked,
    /// The devices that ran something and were not asked for.
    pub outside: Vec<GpuId>,
    /// The line of a violation; none where the pin held.
    pub violation: Option<String>,
}

/// The devices that a round is pinned to; none where the launcher chooses.
pub fn pinned(program: &Program, round: u64) -> Option<BTreeSet<GpuId>> {
    program.round(round)?.settings.gpus.clone()
}

/// The runs that a stage started since its last fresh dispatch, each with the folder of its witness.
pub fn due(program: &Program, round: u64, stage: StageName) -> Vec<Due> {
    let Some(record) = program.round(round) else { return Vec::new() };
    let runs = record.stages.of(stage).runs.iter();
    runs.filter_map(|run| {
        let path = program.run(round, run)?.path.clone();
        Some(Due { run: run.clone(), path })
    })
    .collect()
}

/// Checks what the witnesses say. An empty list of devices is a run that used none, and holds.
///
/// # Errors
///
/// The round is pinned to nothing; a witness is missing; a witness names other devices than the run was started
/// on, by the record.
pub fn check(
    program: &Program,
    round: u64,
    stage: StageName,
    witnesses: &BTreeMap<String, BTreeSet<GpuId>>,
) -> Result<Check, Refusal> {
    let requested = pinned(program, round).ok_or_else(|| {
        let why = format!("round {round} is pinned to no devices");
        Refusal::new(&codes::GPU_PIN_MISMATCH, why)
    })?;
    let mut observed = BTreeSet::new();
    let mut runs = Vec::new();
    for Due { run, path } in due(program, round, stage) {
        let found = witnesses.get(&run).ok_or_else(|| {
            let why = format!("run `{run}` left no `{path}/cost.json`");
            Refusal::new(&general::ARTIFACT_MISSING, why)
        })?;
        let started = program.run(round, &run).map(|run| run.gpus.clone()).unwrap_or_default();
        if *found != started {
            let why = format!(
                "run `{run}` was started on {}; its `cost.json` says {}",
                shown(&started),
                shown(found)
            );
            return Err(Refusal::new(&codes::GPU_PIN_MISMATCH, why));
        }
        observed.extend(found.iter().cloned());
        runs.push(RunId::parse(&run).map_err(|why| Refusal::new(&codes::RUN_UNKNOWN, why))?);
    }
    let outside: Vec<GpuId> = observed.difference(&requested).cloned().collect();
    let violation = (!outside.is_empty()).then(|| {
        format!(
            "[gpu-pin] stage={stage} requested={} but ran on {} \u{2014} pin did not propagate",
            shown(&requested),
            shown(&observed)
        )
    });
    let event = GpuPinChecked {
        stage: stage.to_string(),
        requested: requested.into_iter().collect(),
        observed: observed.into_iter().collect(),
        runs,
    };
    Ok(Check { event, outside, violation })
}

/// Devices between braces.
pub fn shown(devices: &BTreeSet<GpuId>) -> String {
    let each = |device: &GpuId| match device {
        GpuId::Number(n) => n.to_string(),
        GpuId::Tier(name) => name.clone(),
    };
    format!("{{{}}}", devices.iter().map(each).collect::<Vec<_>>().join(","))
}
