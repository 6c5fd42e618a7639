//! What the fold knows of attempts and launches.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{
    artifacts::{
        Arm, Role, admission::Admission, design::Design, plan::Plan, workspace::Workspace,
    },
    bytes::Value,
    fields::Usage,
    scalar::Instant,
};

/// How far an attempt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Its plan is frozen.
    Prepared,
    /// Its commit is made.
    Committed,
    /// Its launches are over.
    Evaluated,
    /// It was decided.
    Decided,
    /// Its commit was reverted.
    RolledBack,
    /// It is over.
    Finalized,
}

/// How far a launch is (`domains/run.md` F.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchState {
    /// It may begin.
    Intent,
    /// It began.
    Launched,
    /// It ended and left nothing.
    Clean,
    /// It ended; what it left is not known.
    Pending,
    /// It ended; later it was seen that it left nothing.
    Confirmed,
    /// It ended; nobody can say what it left.
    CleanupUnresolved,
    /// It never began.
    Aborted,
    /// Nobody can say what became of it.
    Unresolved,
}

impl LaunchState {
    /// Whether nothing more is to happen before the next launch may be looked at.
    pub fn is_settled(self) -> bool {
        !matches!(self, Self::Intent | Self::Launched | Self::Pending)
    }

    /// Whether it is a fence: nobody knows what still runs.
    pub fn is_unresolved(self) -> bool {
        matches!(self, Self::Unresolved | Self::CleanupUnresolved)
    }

    /// Whether it ended and is known to have left nothing.
    pub fn is_clean(self) -> bool {
        matches!(self, Self::Clean | Self::Confirmed)
    }
}

/// One start of one process.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Its id.
    pub id: String,
    /// The id of its result.
    pub result_id: String,
    /// Its stage.
    pub stage: String,
    /// Its arm.
    pub arm: Option<Arm>,
    /// The commit that it evaluates.
    pub commit: String,
    /// When it was intended.
    pub at: Option<Instant>,
    /// The line of its intent.
    pub line: u64,
    /// Its ordinal, as the intent writes it.
    pub ordinal: Value,
    /// What identifies the evidence: the fields of the intent that evidence and rows repeat.
    pub identity: BTreeMap<&'static str, Value>,
    /// The references to configuration, state and tree.
    pub references: [Value; 3],
    /// The digests of configuration, state and tree that the intent states beside the references.
    pub digests: [String; 3],
    /// The tree that the snapshot names.
    pub tree: Option<String>,
    /// The digest of the admission that it is bound to.
    pub admission_sha256: String,
    /// What it may use.
    pub allocation: Usage,
    /// Where it runs.
    pub workspace: Option<Workspace>,
    /// How far it is.
    pub state: LaunchState,
    /// When it began.
    pub launched: Option<Instant>,
    /// When it ended.
    pub finished: Option<Instant>,
    /// How it ended.
    pub outcome: String,
    /// What it used.
    pub usage: Option<Usage>,
    /// What it published.
    pub published: Option<Published>,
    /// The time of its last receipt that ends or publishes something.
    pub last: Option<Instant>,
}

impl Launch {
    /// The digest of the tree snapshot.
    pub fn tree_sha256(&self) -> &str {
        let [_, _, tree] = &self.digests;
        tree
    }

    /// Whether its evidence may be used.
    pub fn is_admissible(&self) -> bool {
        self.is_complete() && self.published.is_some()
    }

    /// Whether it completed and left nothing.
    pub fn is_complete(&self) -> bool {
        self.outcome == "completed" && self.state.is_clean()
    }
}

/// A publication.
#[derive(Debug, Clone)]
pub struct Published {
    /// The reference to the evidence.
    pub evidence: Value,
    /// The reference to the log.
    pub log: Value,
    /// The digest of the repetition.
    pub repetition: String,
}

/// The end of a stage.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// `pass`, `fail` or `unknown`.
    pub outcome: String,
    /// The results that it rests on.
    pub results: Vec<String>,
}

/// A decision.
#[derive(Debug, Clone)]
pub struct Decided {
    /// Its event, for rows to repeat.
    pub event: Value,
    /// Its number.
    pub seq: u64,
    /// The status.
    pub status: String,
    /// The incumbent after it.
    pub incumbent_after: String,
    /// What happens to the commit.
    pub action: String,
    /// Whether the attempt was kept.
    pub keep: bool,
}

/// The end of an attempt.
#[derive(Debug, Clone)]
pub struct Finalized {
    /// The number of its event.
    pub seq: u64,
    /// Its time.
    pub at: Option<Instant>,
    /// The row that it names.
    pub index: Value,
    /// The digest of that row.
    pub result_sha256: String,
    /// The digest of the journal's lines up to it.
    pub prefix: String,
}

/// A clearance for protected stages.
#[derive(Debug, Clone)]
pub struct Cleared {
    /// The constraints as they were.
    pub constraints: Value,
}

/// One execution of an experiment.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Its id.
    pub id: String,
    /// Its experiment.
    pub experiment: String,
    /// Its number, as written.
    pub iteration: Value,
    /// Its role.
    pub role: Role,
    /// The role as it was written.
    pub role_word: String,
    /// The line of `prepared`.
    pub line: u64,
    /// When it was prepared.
    pub at: Option<Instant>,
    /// That time as it was written.
    pub at_text: Value,
    /// The incumbent before it.
    pub incumbent: String,
    /// The head before it.
    pub head: String,
    /// The reference to its design.
    pub design_reference: Value,
    /// Its design.
    pub design: Option<Design>,
    /// Its plan.
    pub plan: Plan,
    /// Its admission.
    pub admission: Option<Admission>,
    /// The admission's value.
    pub admission_value: Value,
    /// The admission's digest.
    pub admission_sha256: String,
    /// How far it is.
    pub phase: Phase,
    /// The candidate's commit.
    pub commit: Option<String>,
    /// The clearance.
    pub cleared: Option<Cleared>,
    /// The launches in order.
    pub launches: Vec<Launch>,
    /// The stages that are over.
    pub checkpoints: BTreeMap<String, Checkpoint>,
    /// Whether the rest of the plan was cancelled.
    pub tail_cancelled: bool,
    /// The results that were evaluated.
    pub evaluated: Option<Vec<String>>,
    /// The decision.
    pub decided: Option<Decided>,
    /// The inverse commit.
    pub rollback: Option<String>,
    /// The end.
    pub finalized: Option<Finalized>,
}

impl Attempt {
    /// Whether some of its work is unresolved.
    pub fn is_unresolved(&self) -> bool {
        self.launches.iter().any(|launch| launch.state.is_unresolved())
    }

    /// The results whose evidence may be used, in order.
    pub fn admissible(&self) -> Vec<&str> {
        self.admissible_in(None)
    }

    /// The same of one stage.
    pub fn admissible_in(&self, stage: Option<&str>) -> Vec<&str> {
        let inside = |launch: &&Launch| stage.is_none_or(|stage| launch.stage == stage);
        self.launches
            .iter()
            .filter(inside)
            .filter(|launch| launch.is_admissible())
            .map(|launch| launch.result_id.as_str())
            .collect()
    }

    /// The phase in which launches are made.
    pub fn launching_phase(&self) -> Phase {
        if self.role == Role::Candidate { Phase::Committed } else { Phase::Prepared }
    }

    /// The commit whose evidence the attempt is about.
    pub fn evaluated_commit(&self) -> &str {
        match self.role {
            Role::Candidate => self.commit.as_deref().unwrap_or(&self.head),
            Role::Baseline | Role::Final => &self.incumbent,
        }
    }

    /// The outcomes of launches that ended otherwise than well.
    pub fn failures(&self) -> BTreeSet<&str> {
        let outcomes = self.launches.iter().map(|launch| launch.outcome.as_str());
        outcomes.filter(|outcome| !matches!(*outcome, "" | "completed")).collect()
    }

    /// Whether a launch was aborted.
    pub fn has_aborted(&self) -> bool {
        self.launches.iter().any(|launch| launch.state == LaunchState::Aborted)
    }

    /// What all its receipts used.
    pub fn used(&self) -> Usage {
        let mut sum = Usage::new();
        for usage in self.launches.iter().filter_map(|launch| launch.usage.as_ref()) {
            super::super::fields::add(&mut sum, usage);
        }
        sum
    }
}

/// A request to stop.
#[derive(Debug, Clone)]
pub struct Stop {
    /// When.
    pub at: Option<Instant>,
    /// Whether the user allowed to skip the final test.
    pub skips_final: bool,
    /// Whose wish it was, and of which kind.
    pub kind: StopKind,
}

/// What kind of stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// The user interrupted.
    User,
    /// Any other.
    Other,
}

/// The end of a run.
#[derive(Debug, Clone)]
pub struct Stopped {
    /// Its reason.
    pub reason: String,
    /// The incumbent that it names.
    pub incumbent: String,
    /// The head that it names.
    pub head: String,
    /// Whether cleanup is unresolved.
    pub unresolved_cleanup: Option<bool>,
    /// Whether recovery is.
    pub unresolved_recovery: Option<bool>,
}
