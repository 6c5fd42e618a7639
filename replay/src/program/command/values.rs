//! What each option of the line takes (C.2 of the domain text).

use rp_events::{
    ClaimId, Decimal,
    program::{CountOrAuto, Flags, GpuId, GpuPin, Switch},
};

use super::{Stop, not_an_alias};
use crate::program::constants::{Axis, MODEL_ALIASES};

/// The word of each vocabulary that stands in for an unknown one, first.
const BATCH_DISPATCH: &[&str] = &["auto", "queue", "direct"];
const BEHAVIOR_SOURCE: &[&str] = &["given", "given-validation", "discovery"];
/// Shown in the order of the text; the default is the second.
const MECHANISM: &[&str] = &["given", "discovery"];
const UNDERPOWER: &[&str] = &["tag", "stop", "off"];
const LEDGER_FIGURES: &[&str] = &["auto", "true", "false"];

/// Sets a flag by its name; false if there is none of that name.
pub(super) fn set(
    flags: &mut Flags,
    key: &str,
    value: &str,
    notes: &mut Vec<String>,
) -> Result<bool, Stop> {
    let mut of = |words: &[&str], default: &str| one_of(key, value, words, default, notes);
    match key {
        "AUTO_PROCEED" => flags.auto_proceed = Some(switch(key, value)?),
        "RESUME" => flags.resume = Some(switch(key, value)?),
        "REVIEW_LOOP" => flags.review_loop = Some(switch(key, value)?),
        "COMPACT" => flags.compact = Some(switch(key, value)?),
        "CODE_REVIEW" => flags.code_review = Some(switch(key, value)?),
        "SANITY_FIRST" => flags.sanity_first = Some(switch(key, value)?),
        "AUTO_DEPLOY" => flags.auto_deploy = Some(switch(key, value)?),
        "MODEL" => flags.model = Some(alias(key, value)?),
        "CLAIM_MODEL" => flags.claim_model = Some(alias(key, value)?),
        "EXPERIMENT_MODEL" => flags.experiment_model = Some(alias(key, value)?),
        "VERIFY_MODEL" => flags.verify_model = Some(alias(key, value)?),
        "ITERATION_MODEL" => flags.iteration_model = Some(alias(key, value)?),
        "DIMENSIONS" => flags.dimensions = Some(axes(key, value)?),
        "TARGET_CLAIMS" => flags.target_claims = Some(target(key, value, notes)),
        "MAX_VERIFY_CLAIMS" => flags.max_verify_claims = Some(count(key, value, 1)?),
        "MIN_VARIANTS_FOR_VERDICT" => flags.min_variants_for_verdict = Some(count(key, value, 1)?),
        "MAX_PARALLEL_RUNS" => flags.max_parallel_runs = Some(count(key, value, 1)?),
        "MAX_ITERATIONS" => flags.max_iterations = Some(count(key, value, 0)?),
        "MAX_CLAIM_REENTRIES" => flags.max_claim_reentries = Some(count(key, value, 0)?),
        "ROBUSTNESS_THRESHOLD" => flags.robustness_threshold = Some(share(key, value)?),
        "TARGET_SCORE" => flags.target_score = Some(decimal(key, value)?),
        "BASE_REPO" => flags.base_repo = Some(absent_or(value)),
        "REF_PAPER" => flags.ref_paper = Some(absent_or(value)),
        "RESEARCH_DOMAIN" => flags.research_domain = Some(value.to_owned()),
        "GPU_ID" => flags.gpu_id = Some(devices(key, value)?),
        "OOM_MAX_GPUS" => flags.oom_max_gpus = Some(count_or_auto(key, value)?),
        "BATCH_DISPATCH" => flags.batch_dispatch = Some(of(BATCH_DISPATCH, "auto")),
        "BEHAVIOR_SOURCE" => flags.behavior_source = Some(of(BEHAVIOR_SOURCE, "given")),
        "MECHANISM" => flags.mechanism = Some(of(MECHANISM, "discovery")),
        "UNDERPOWER" => flags.underpower = Some(of(UNDERPOWER, "tag")),
        "LEDGER_FIGURES" => flags.ledger_figures = Some(figures(&of(LEDGER_FIGURES, "auto"))),
        _ => return Ok(false),
    }
    Ok(true)
}

fn stop(reason: &'static str, key: &str, value: &str, due: &str) -> Stop {
    Stop { reason, message: format!("[arg-parse] {key}: \"{value}\" is not {due}") }
}

fn switch(key: &str, value: &str) -> Result<Switch, Stop> {
    match value.to_lowercase().as_str() {
        "true" | "1" | "yes" => Ok(Switch::Is(true)),
        "false" | "0" | "no" => Ok(Switch::Is(false)),
        _ => Err(stop("bad-bool", key, value, "a boolean (true|false|1|0|yes|no)")),
    }
}

fn alias(key: &str, value: &str) -> Result<String, Stop> {
    let lower = value.to_lowercase();
    if MODEL_ALIASES.contains(&lower.as_str()) {
        return Ok(lower);
    }
    Err(Stop { reason: "bad-model-alias", message: not_an_alias(key, value) })
}

fn axes(key: &str, value: &str) -> Result<Vec<String>, Stop> {
    let mut axes: Vec<String> = Vec::new();
    for axis in value.split(',').map(str::trim).filter(|axis| !axis.is_empty()) {
        let lower = axis.to_lowercase();
        if Axis::parse(&lower).is_none() {
            let due = format!("a list of axes ({})", Axis::WORDS.join("|"));
            return Err(stop("bad-axis", key, axis, &due));
        }
        if !axes.contains(&lower) {
            axes.push(lower);
        }
    }
    Ok(if axes.is_empty() { vec![Axis::Model.to_string()] } else { axes })
}

/// One of three words, or a claim's id, whose case counts.
fn target(key: &str, value: &str, notes: &mut Vec<String>) -> String {
    let lower = value.to_lowercase();
    if ["all", "passed", "failed"].contains(&lower.as_str()) {
        return lower;
    }
    if ClaimId::parse(value).is_ok() {
        return value.to_owned();
    }
    notes.push(fallback(key, value, "all, passed, failed, a claim id", "all"));
    "all".to_owned()
}

fn one_of(
    key: &str,
    value: &str,
    words: &[&str],
    default: &str,
    notes: &mut Vec<String>,
) -> String {
    let lower = value.to_lowercase();
    if words.contains(&lower.as_str()) {
        return lower;
    }
    notes.push(fallback(key, value, &words.join(", "), default));
    default.to_owned()
}

fn fallback(key: &str, value: &str, words: &str, default: &str) -> String {
    format!(
        "[arg-parse] {key}: \"{value}\" not in {{{words}}} \u{2014} falling back to default '{default}'"
    )
}

fn count(key: &str, value: &str, least: u64) -> Result<u64, Stop> {
    let due = || format!("a whole number of at least {least}");
    let found = value.parse().ok().filter(|n: &u64| *n >= least && !value.starts_with('+'));
    found.ok_or_else(|| stop("bad-number", key, value, &due()))
}

fn decimal(key: &str, value: &str) -> Result<Decimal, Stop> {
    Decimal::parse(value).map_err(|_| stop("bad-number", key, value, "a number"))
}

fn share(key: &str, value: &str) -> Result<Decimal, Stop> {
    let (none, all) = (Decimal::parse("0"), Decimal::parse("1"));
    let within = |share: &Decimal| {
        none.as_ref().is_ok_and(|none| share.compare(none).is_ge())
            && all.as_ref().is_ok_and(|all| share.compare(all).is_le())
    };
    Some(decimal(key, value)?)
        .filter(within)
        .ok_or_else(|| stop("bad-number", key, value, "between 0 and 1"))
}

/// A path or an address, or nothing.
fn absent_or(value: &str) -> Switch {
    match value.to_lowercase().as_str() {
        "" | "false" | "none" => Switch::Is(false),
        _ => Switch::Text(value.to_owned()),
    }
}

fn figures(word: &str) -> Switch {
    match word {
        "true" => Switch::Is(true),
        "false" => Switch::Is(false),
        _ => Switch::Text(word.to_owned()),
    }
}

fn count_or_auto(key: &str, value: &str) -> Result<CountOrAuto, Stop> {
    if value.eq_ignore_ascii_case("auto") {
        return Ok(CountOrAuto::Word("auto".to_owned()));
    }
    count(key, value, 0)
        .map(CountOrAuto::Count)
        .map_err(|_| stop("bad-number", key, value, "a whole number or auto"))
}

/// `auto`, a device, or a list of devices; a name that is no number is a provider's tier.
fn devices(key: &str, value: &str) -> Result<GpuPin, Stop> {
    if value.eq_ignore_ascii_case("auto") {
        return Ok(GpuPin::Word("auto".to_owned()));
    }
    let bare = value.trim_start_matches('[').trim_end_matches(']');
    let mut devices = Vec::new();
    for device in bare.split(',').map(str::trim).filter(|device| !device.is_empty()) {
        let digits = device.bytes().all(|b| b.is_ascii_digit());
        let tier = device.starts_with(|c: char| c.is_ascii_alphabetic())
            && device.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c));
        let device = match (digits, device.parse()) {
            (true, Ok(n)) => GpuId::Number(n),
            (false, _) if tier && !device.eq_ignore_ascii_case("auto") => {
                GpuId::Tier(device.to_owned())
            }
            _ => return Err(stop("bad-number", key, device, "a device, a list of them or auto")),
        };
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    match devices.as_slice() {
        [] => Err(stop("bad-number", key, value, "a device, a list of them or auto")),
        [GpuId::Number(one)] => Ok(GpuPin::One(*one)),
        _ => Ok(GpuPin::Several(devices)),
    }
}
