//! The sealed contract (`domains/run.md` D): read into types as far as it can be, with every fault found on
//! the way (J.5 to J.12). What is at fault is left out or empty, so that the rest is judged all the same.

mod budgets;
mod control;
mod evaluation;
mod immutable;
mod objective;
mod scope;
mod stages;

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

pub use budgets::Budget;
pub use evaluation::Evaluation;
pub use objective::{Aggregation, Measurement, Objective};
pub use scope::Scope;
pub use stages::FinalTest;

use super::{
    bytes::{Map, Value},
    disk::{Disk, Kind},
    fields::{Usage, digest, field, has_keys, oid},
    findings::Findings,
    profile::{Profile, rules_digest},
    scalar::{Instant, is_sha256, is_slug},
    shelf::{Presence, Shelf},
};

/// The bytes of the one state that a launch may begin with.
pub const EMPTY_STATE: &[u8] =
    b"{\"entries\":[],\"mode\":\"reset_each_launch\",\"schema_version\":1}\n";

/// Their digest.
pub const EMPTY_STATE_SHA256: &str =
    "0a13bb4464a37bbf23eab1f2ceaa00b9e3058c4d2463bd823d44fd033dd0bc0f";

const KEYS: [&str; 20] = [
    "schema_version",
    "protocol",
    "run_tag",
    "feedback_mode",
    "baseline_commit",
    "deadline_at",
    "objective",
    "measurement",
    "scope",
    "generated_state_policy",
    "control_policy",
    "evaluation",
    "immutable_files",
    "budgets",
    "per_attempt_max",
    "promotion",
    "stage_resources",
    "stage_access_sha256",
    "stage_config_sha256",
    "final_test",
];

/// A contract as far as it could be read.
#[derive(Debug, Clone)]
pub struct Contract {
    /// The digest of its bytes, which every event and row repeats.
    pub sha256: Rc<str>,
    /// Whose semantics it asks for.
    pub profile: Profile,
    /// The digest of the validator that it seals.
    pub validator_sha256: Option<String>,
    /// The tag.
    pub run_tag: String,
    /// The commit that the run starts from.
    pub baseline_commit: String,
    /// When the run must have ended.
    pub deadline: Option<Instant>,
    /// What is improved.
    pub objective: Objective,
    /// How often it is measured.
    pub measurement: Measurement,
    /// What may be written.
    pub scope: Scope,
    /// Seconds that work may take to end after a stop.
    pub grace: i128,
    /// The ids of the sealed counterexamples.
    pub counterexamples: BTreeSet<String>,
    /// How it is evaluated.
    pub evaluation: Evaluation,
    /// The budgets by unit.
    pub budgets: BTreeMap<String, Budget>,
    /// The caps of one attempt.
    pub caps: Usage,
    /// The stages that a promotion needs, in order.
    pub stages: Vec<String>,
    /// The metrics that each stage must give.
    pub telemetry: BTreeMap<String, Vec<String>>,
    /// The final test.
    pub final_test: Option<FinalTest>,
    /// The access digest of each stage.
    pub access: BTreeMap<String, String>,
    /// The digest of each stage's configuration.
    pub config: BTreeMap<String, String>,
}

impl Contract {
    /// The units of all budgets.
    pub fn units(&self) -> BTreeSet<String> {
        self.budgets.keys().cloned().collect()
    }

    /// Whether a stage is behind the gate: all but the first.
    pub fn is_protected(&self, stage: &str) -> bool {
        self.stages.first().is_none_or(|first| first != stage)
    }

    /// Whether `validation_queries` are counted.
    pub fn counts_queries(&self) -> bool {
        self.stages.len() > 1 || self.final_test.is_some()
    }

    /// The stages and the final one.
    pub fn all_stages(&self) -> Vec<&str> {
        let last = self.final_test.as_ref().map(|test| test.stage.as_str());
        self.stages.iter().map(String::as_str).chain(last).collect()
    }
}

/// What the reader of the contract has seen and may ask.
pub(super) struct Reading<'r> {
    pub(super) map: &'r Map,
    pub(super) disk: &'r dyn Disk,
    pub(super) trusted: &'r str,
    pub(super) profile: Profile,
}

impl Reading<'_> {
    pub(super) fn part<'m>(&'m self, key: &str) -> &'m Value {
        field(self.map, key)
    }
}

/// Which validators a reader accepts besides this one.
#[derive(Debug, Clone, Copy)]
pub struct Trust<'t> {
    /// The directory that cwd, extractor and immutable files are looked up in.
    pub trusted: &'t str,
    /// The name of the run directory.
    pub directory: &'t str,
    /// A validator that the reader has accepted.
    pub validator: Option<&'t str>,
}

/// Reads and judges contract and seal; `None` if there is no object to judge. The flag says whether the
/// sealed validator is another than this one and was not accepted.
pub fn read(out: &mut Findings, shelf: &Shelf<'_>, trust: Trust<'_>) -> Option<(Contract, bool)> {
    let object = out.within(60, |out| shelf.object(out, "contract.json", Presence::Required));
    seal(out, shelf, super::fields::stored_digest(shelf, "contract.json").as_deref());
    let object = object?;
    out.at("contract.json", None, |out| {
        let map = object.map();
        out.due(
            has_keys(map, &KEYS),
            61,
            "contract_schema_mismatch",
            "the keys are not exactly the twenty of a contract",
        );
        let (profile, validator, foreign) = protocol(out, map, trust);
        let schema = field(map, "schema_version").is_int(2, profile.equality());
        out.due(schema, 62, "schema_version", "`schema_version` is not 2");
        let reading = Reading { map, disk: shelf.disk(), trusted: trust.trusted, profile };
        let contract = parts(out, &reading, object.sha256.clone(), validator, trust.directory);
        Some((contract, foreign))
    })
}

/// `contract.sha256` holds the digest and nothing else.
fn seal(out: &mut Findings, shelf: &Shelf<'_>, due: Option<&str>) {
    let path = format!("{}/contract.sha256", shelf.root());
    out.at("contract.sha256", None, |out| {
        match shelf.disk().kind(&path) {
            Kind::Missing => return out.find(55, "missing_file", "the seal is missing"),
            Kind::Link => return out.find(56, "symlink_forbidden", "the seal is a symbolic link"),
            Kind::File { .. } | Kind::Folder | Kind::Special => {}
        }
        let bytes = match shelf.disk().read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                return out.find(57, "read_failed", format!("the seal cannot be read: {error}"));
            }
        };
        let text = std::str::from_utf8(&bytes).ok().and_then(|text| text.strip_suffix('\n'));
        match text.filter(|text| is_sha256(text)) {
            None => out.find(
                58,
                "invalid_contract_seal",
                "the seal is not 64 lower-case hexadecimal digits and LF",
            ),
            Some(sealed) => {
                if let Some(due) = due {
                    out.due(
                        sealed == due,
                        59,
                        "contract_hash_mismatch",
                        format!("the contract hashes to {due}"),
                    );
                }
            }
        }
    });
}

/// Version and validator (63 to 65).
fn protocol(out: &mut Findings, map: &Map, trust: Trust<'_>) -> (Profile, Option<String>, bool) {
    let Some(protocol) =
        field(map, "protocol").map().filter(|map| has_keys(map, &["version", "validator_sha256"]))
    else {
        out.find(
            63,
            "invalid_protocol_identity",
            "`protocol` has not exactly `version` and `validator_sha256`",
        );
        return (Profile::Reference, None, false);
    };
    let profile = field(protocol, "version").text().and_then(Profile::of);
    if profile.is_none() {
        out.find(
            64,
            "protocol_version_mismatch",
            format!(
                "the version is neither {} nor {}",
                Profile::Reference.version(),
                Profile::Own.version()
            ),
        );
    }
    let profile = profile.unwrap_or(Profile::Reference);
    let Some(sealed) = field(protocol, "validator_sha256").text().filter(|text| is_sha256(text))
    else {
        out.find(65, "validator_version_mismatch", "`protocol.validator_sha256` is no digest");
        return (profile, None, false);
    };
    let accepted = match (profile, trust.validator) {
        (Profile::Own, None) => Some(rules_digest()),
        (_, accepted) => accepted.map(str::to_owned),
    };
    if let Some(accepted) = &accepted {
        out.due(
            sealed == accepted,
            65,
            "validator_version_mismatch",
            format!("the contract seals validator {sealed}; accepted is {accepted}"),
        );
    }
    (profile, Some(sealed.to_owned()), accepted.is_none())
}

fn parts(
    out: &mut Findings,
    reading: &Reading<'_>,
    sha256: Rc<str>,
    validator_sha256: Option<String>,
    directory: &str,
) -> Contract {
    let map = reading.map;
    let run_tag = field(map, "run_tag").text().unwrap_or_default().to_owned();
    out.due(is_slug(&run_tag), 66, "invalid_run_tag", "`run_tag` is no slug");
    out.due(
        run_tag == directory,
        67,
        "run_tag_mismatch",
        format!("`run_tag` is `{run_tag}`, the directory `{directory}`"),
    );
    let baseline =
        out.within(68, |out| oid(out, map, "baseline_commit").unwrap_or_default().to_owned());
    let mode = field(map, "feedback_mode").text().unwrap_or_default();
    out.due(
        matches!(mode, "sealed_gate" | "visible_only"),
        69,
        "invalid_feedback_mode",
        "`feedback_mode` is neither `sealed_gate` nor `visible_only`",
    );
    let deadline = if field(map, "deadline_at").is_null() {
        None
    } else {
        out.within(70, |out| super::fields::time(out, map, "deadline_at"))
    };
    let objective = objective::objective(out, reading);
    let measurement = objective::measurement(out, reading);
    let scope = scope::scope(out, reading);
    scope::generated_state(out, reading);
    let evaluation = evaluation::evaluation(out, reading);
    immutable::immutable(out, reading, &scope, &evaluation);
    let budgets = budgets::budgets(out, reading);
    let promotion = stages::promotion(out, reading);
    let final_test = stages::final_test(out, reading, &objective, &promotion.stages);
    let gate = stages::Gate { sealed: mode == "sealed_gate", acceptance: &objective.acceptance };
    stages::acceptance(out, &promotion.stages, &gate);
    let maps = stages::resources(out, reading, &promotion.stages, final_test.as_ref());
    let caps = budgets::caps(out, reading, &budgets);
    let proof = budgets::Proof {
        budgets: &budgets,
        caps: &caps,
        measurement: &measurement,
        acceptance: &objective.acceptance,
        stages: &promotion.stages,
        has_final: final_test.is_some(),
    };
    budgets::prove(out, &proof);
    let control = control::control(out, reading, &objective, &budgets, deadline.is_some());
    if reading.profile.is_own() {
        own(out, &objective, &measurement, &promotion);
    }
    Contract {
        sha256,
        profile: reading.profile,
        validator_sha256,
        run_tag,
        baseline_commit: baseline,
        deadline,
        objective,
        measurement,
        scope,
        grace: control.grace,
        counterexamples: control.counterexamples,
        evaluation,
        budgets,
        caps,
        stages: promotion.stages,
        telemetry: promotion.telemetry,
        final_test,
        access: maps.access,
        config: maps.config,
    }
}

/// What `rp`'s own version demands on top (L21).
fn own(
    out: &mut Findings,
    objective: &Objective,
    measurement: &Measurement,
    promotion: &stages::Promotion,
) {
    if !measurement.noisy {
        let single = measurement.aggregation == Aggregation::Single;
        out.due(
            single,
            83,
            "invalid_aggregation",
            "a deterministic measurement is aggregated as `single`",
        );
    }
    let metric = &objective.primary_metric;
    let required = promotion
        .telemetry
        .get(&objective.acceptance)
        .is_none_or(|metrics| metrics.contains(metric));
    out.due(
        required,
        184,
        "invalid_telemetry_id",
        format!("the acceptance stage does not require the primary metric `{metric}`"),
    );
}

/// A digest field under a line of the checklist.
pub(super) fn digest_within<'v>(
    out: &mut Findings,
    rule: u16,
    map: &'v Map,
    key: &str,
) -> Option<&'v str> {
    out.within(rule, |out| digest(out, map, key))
}
