//! The verdict, its exit code, and the protocol's own JSON (I.2).

use super::{
    bytes::{Map, Value, canonical},
    findings::Finding,
};

/// What a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Whole: at a boundary, or closed.
    Valid,
    /// One legal tail is open.
    Recoverable,
    /// Corrupt, or in a state that the protocol has not.
    Invalid,
}

impl Class {
    /// The protocol's word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Recoverable => "recoverable",
            Self::Invalid => "invalid",
        }
    }
}

/// The outcome of a validation.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// What the structure is.
    pub class: Class,
    /// What nobody could check, so that nothing better than "unverifiable" is said; empty if all was checked.
    pub unverified: Vec<&'static str>,
    /// Whether a readable marker stands.
    pub closed: bool,
    /// The digest of the contract's bytes.
    pub contract_sha256: Option<String>,
    /// The attempts with a boundary that holds.
    pub finalized_attempts: Vec<String>,
    /// The attempt that is open.
    pub active_attempt: Option<String>,
    /// How far the directory is.
    pub last_durable_phase: Option<&'static str>,
    /// What may be done next.
    pub resume_action: Option<&'static str>,
    /// Rows.
    pub result_count: usize,
    /// Events.
    pub journal_event_count: u64,
    /// What all rows used.
    pub actual_budget: Vec<(String, i128)>,
    /// Whether that is all.
    pub actual_budget_complete: bool,
    /// What rejects.
    pub errors: Vec<Finding>,
    /// What does not.
    pub warnings: Vec<Finding>,
}

impl Verdict {
    /// The word of the output: the protocol's three, and `unverifiable`.
    pub fn word(&self) -> &'static str {
        match self.class {
            Class::Invalid => "invalid",
            Class::Valid | Class::Recoverable if !self.unverified.is_empty() => "unverifiable",
            Class::Valid | Class::Recoverable => self.class.name(),
        }
    }

    /// The exit code.
    pub fn exit(&self) -> u8 {
        match self.word() {
            "valid" => 0,
            "recoverable" => 3,
            "unverifiable" => 5,
            _ => 2,
        }
    }

    /// The verdict when the validator itself failed (line 54): never valid, never recoverable.
    pub fn internal(what: &str) -> Self {
        let finding = Finding {
            code: "internal_error",
            path: String::new(),
            message: what.to_owned(),
            line: None,
            rules: vec![54],
        };
        Self {
            class: Class::Invalid,
            unverified: Vec::new(),
            closed: false,
            contract_sha256: None,
            finalized_attempts: Vec::new(),
            active_attempt: None,
            last_durable_phase: Some("internal_error"),
            resume_action: None,
            result_count: 0,
            journal_event_count: 0,
            actual_budget: Vec::new(),
            actual_budget_complete: true,
            errors: vec![finding],
            warnings: Vec::new(),
        }
    }

    /// The protocol's line of JSON, without LF.
    pub fn json(&self) -> String {
        let text = |text: Option<&str>| text.map_or(Value::Null, Value::of);
        let count = |count: u64| Value::from(i128::from(count));
        let map = Map::from(
            [
                ("verdict", Value::of(self.word())),
                ("closed", Value::Bool(self.closed)),
                ("contract_sha256", text(self.contract_sha256.as_deref())),
                (
                    "finalized_attempts",
                    Value::List(self.finalized_attempts.iter().map(Value::of).collect()),
                ),
                ("active_attempt", text(self.active_attempt.as_deref())),
                ("last_durable_phase", text(self.last_durable_phase)),
                ("resume_action", text(self.resume_action)),
                ("result_count", count(u64::try_from(self.result_count).unwrap_or(u64::MAX))),
                ("journal_event_count", count(self.journal_event_count)),
                (
                    "actual_budget",
                    Value::Map(
                        self.actual_budget
                            .iter()
                            .map(|(unit, used)| (unit.clone(), Value::from(*used)))
                            .collect(),
                    ),
                ),
                ("actual_budget_complete", Value::Bool(self.actual_budget_complete)),
                ("errors", Value::List(self.errors.iter().map(finding).collect())),
                ("warnings", Value::List(self.warnings.iter().map(finding).collect())),
            ]
            .map(|(key, value)| (key.to_owned(), value)),
        );
        canonical(&Value::Map(map))
    }
}

fn finding(finding: &Finding) -> Value {
    let mut map = Map::from([
        ("code".to_owned(), Value::of(finding.code)),
        ("path".to_owned(), Value::of(&finding.path)),
        ("message".to_owned(), Value::of(&finding.message)),
    ]);
    if let Some(line) = finding.line {
        map.insert("line".to_owned(), Value::from(i128::from(line)));
    }
    Value::Map(map)
}
