//! A made-up run while it is written: files, journal, results, commits. Everything is published before what
//! refers to it, and changes are made on the way in, so that what comes later is bound to them.

use std::collections::BTreeMap;

use super::{
    super::{
        bytes::{Map, Value, canonical, file_digest, object_digest},
        disk::{Disk as _, Memory, Node},
        fields::{Usage, add},
        git::{Dirty, Facts, Worktree},
        scalar::Instant,
    },
    edit::{Edit, Target},
    setup::{Ground, Setup, checkout, derive, json, put, stored, surroundings},
};

/// A run being written.
#[derive(Debug, Clone)]
pub struct World {
    /// All files.
    pub disk: Memory,
    /// Where it stands.
    pub ground: Ground,
    /// What its contract is made from.
    pub setup: Setup,
    /// Changes to make on the way.
    pub edits: Vec<Edit>,
    /// Seconds to wait before an event: name, place, seconds.
    pub waits: Vec<(String, usize, i128)>,
    /// Events that are never written: name and place.
    pub drops: Vec<(String, usize)>,
    /// Seconds of an admitted window.
    pub window: i128,
    /// The contract as sealed.
    pub contract: Value,
    /// Its digest.
    pub contract_sha256: String,
    /// The attempts so far.
    pub attempts: Vec<Made>,
    /// The incumbent.
    pub incumbent: String,
    /// The head.
    pub head: String,
    /// What Git says.
    pub facts: Facts,
    /// What receipts used.
    pub used: Usage,
    /// Whether unresolved work was recorded.
    pub unresolved: bool,
    /// Whether state was preserved.
    pub preserved: bool,
    /// The journal's bytes.
    pub journal: String,
    /// The results' bytes.
    pub results: String,
    clock: i128,
    pub(super) seq: usize,
    counts: BTreeMap<String, usize>,
    commits: u32,
}

/// What is kept of an attempt that was written.
#[derive(Debug, Clone, Default)]
pub struct Made {
    /// Its id.
    pub id: String,
    /// Whether it was kept, as no final attempt.
    pub confirmed: bool,
    /// Its commit.
    pub commit: String,
    /// The number of `finalized`.
    pub finalized_seq: usize,
    /// The digest of its row.
    pub result_sha256: String,
}

impl World {
    /// A run with nothing written yet.
    pub fn new(setup: Setup, ground: Ground) -> Self {
        let baseline = ground.baseline().to_owned();
        let mut world = Self {
            disk: surroundings(&ground),
            setup,
            edits: Vec::new(),
            waits: Vec::new(),
            drops: Vec::new(),
            window: 60,
            contract: Value::Null,
            contract_sha256: String::new(),
            attempts: Vec::new(),
            incumbent: baseline.clone(),
            head: baseline.clone(),
            facts: Facts::default(),
            used: Usage::new(),
            unresolved: false,
            preserved: false,
            journal: String::new(),
            results: String::new(),
            clock: 0,
            seq: 0,
            counts: BTreeMap::new(),
            commits: 0,
            ground,
        };
        let (root, git) = (world.ground.root.clone(), format!("{}/.git", world.ground.root));
        world.facts.supervisor = Worktree {
            inside: true,
            top_level: Some(root),
            git_dir: Some(git.clone()),
            common_dir: Some(git),
            head: Some(baseline.clone()),
            index: Some(b"H candidate.txt\0H eval.py\0".to_vec()),
            dirty: clean(),
        };
        let tree = world.ground.commits.first().map_or_else(String::new, |(_, tree)| tree.clone());
        world.commit_object(&baseline, &tree, None);
        world
    }

    /// Writes contract and seal.
    pub fn seal(&mut self) {
        let mut contract = self.setup.contract(&self.ground);
        self.change(&Target::Contract, &mut contract);
        derive(&mut contract);
        self.change(&Target::Sealed, &mut contract);
        let bytes = stored(&contract);
        self.contract_sha256 = file_digest(&bytes);
        self.contract = contract;
        self.write("contract.json", bytes);
        self.write("contract.sha256", format!("{}\n", self.contract_sha256).into_bytes());
    }

    /// Makes the changes of a record.
    pub fn change(&self, target: &Target, value: &mut Value) {
        for edit in self.edits.iter().filter(|edit| edit.target == *target) {
            edit.apply(value);
        }
    }

    /// Writes a file of the run directory.
    pub fn write(&mut self, path: &str, bytes: Vec<u8>) {
        self.disk.put(&format!("{}/{path}", self.ground.run()), Node::File(bytes));
    }

    /// Publishes an artifact; answers with its reference.
    pub fn publish(&mut self, path: &str, mut value: Value) -> Value {
        self.change(&Target::Artifact(path.to_owned()), &mut value);
        let bytes = stored(&value);
        let sha256 = file_digest(&bytes);
        self.write(path, bytes);
        json(&format!("{{\"path\":\"{path}\",\"sha256\":\"{sha256}\"}}"))
    }

    /// What an artifact holds.
    pub fn artifact(&self, path: &str) -> Value {
        self.disk
            .read(&format!("{}/{path}", self.ground.run()))
            .ok()
            .and_then(|bytes| super::super::bytes::parse(&bytes).ok())
            .unwrap_or(Value::Null)
    }

    /// The time now.
    pub fn now(&self) -> Instant {
        self.later(0)
    }

    /// The time that many seconds later.
    pub fn later(&self, seconds: i128) -> Instant {
        Instant::START.plus(self.clock + seconds)
    }

    /// Lets time pass.
    pub fn wait(&mut self, seconds: i128) {
        self.clock += seconds;
    }

    /// Appends an event, unless it is to be dropped; answers with it.
    pub fn event(&mut self, name: &str, mut event: Value) -> Value {
        let count = self.counts.entry(name.to_owned()).or_insert(0);
        let place = *count;
        *count += 1;
        let waits: i128 = self
            .waits
            .iter()
            .filter(|(due, at, _)| due == name && *at == place)
            .map(|(_, _, seconds)| seconds)
            .sum();
        self.clock += 1 + waits;
        if self.drops.iter().any(|(due, at)| due == name && *at == place) {
            return event;
        }
        self.seq += 1;
        put(&mut event, "schema_version", Value::from(1));
        put(&mut event, "seq", number(self.seq));
        put(&mut event, "at", Value::of(self.now().print()));
        put(&mut event, "event", Value::of(name));
        put(&mut event, "contract_sha256", Value::of(&self.contract_sha256));
        let attempt = self.attempts.len();
        for edit in &self.edits {
            let Target::Event(due, at, of) = &edit.target else { continue };
            if due == name && at.is_none_or(|at| at == place) && of.is_none_or(|of| of == attempt) {
                edit.apply(&mut event);
            }
        }
        self.journal.push_str(&canonical(&event));
        self.journal.push('\n');
        event
    }

    /// How often an event was written.
    pub fn count(&self, name: &str) -> usize {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Appends a row; answers with it.
    pub fn row(&mut self, mut row: Value) -> Value {
        self.change(&Target::Row(self.attempts.len()), &mut row);
        self.results.push_str(&canonical(&row));
        self.results.push('\n');
        row
    }

    /// Makes a commit over the head.
    pub fn commit(&mut self, tree: &str) -> String {
        self.commits += 1;
        let made = usize::try_from(self.commits)
            .ok()
            .and_then(|place| self.ground.commits.get(place))
            .cloned();
        let (id, tree) =
            made.unwrap_or_else(|| (format!("{:040x}", 0xc0 + self.commits), tree_id(tree)));
        let parent = self.head.clone();
        self.commit_object(&id, &tree, Some(&parent));
        self.head.clone_from(&id);
        self.facts.supervisor.head = Some(id.clone());
        id
    }

    fn commit_object(&mut self, id: &str, tree: &str, parent: Option<&str>) {
        let parent = parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
        self.facts
            .commits
            .insert(id.to_owned(), format!("tree {tree}\n{parent}author a\n\ntext\n").into_bytes());
        let blob = "0".repeat(40);
        let listing = format!("100644 blob {blob}\tcandidate.txt\0100644 blob {blob}\teval.py\0");
        self.facts.listings.insert(id.to_owned(), Some(listing.into_bytes()));
    }

    /// The tree of a commit.
    pub fn tree(&self, commit: &str) -> String {
        self.facts.commit(commit).map(|commit| commit.tree).unwrap_or_default()
    }

    /// Where an attempt's worktree of an arm is.
    pub fn place_of(&self, attempt: &str, arm: &str) -> String {
        format!("{}/{attempt}-{arm}", self.ground.workspaces)
    }

    /// Makes a worktree; answers with its snapshot.
    pub fn workspace(&mut self, attempt: &str, arm: &str, commit: &str) -> Value {
        let root = self.place_of(attempt, arm);
        let common = format!("{}/.git", self.ground.root);
        let git_dir = format!("{common}/worktrees/{attempt}-{arm}");
        checkout(&mut self.disk, &root);
        self.disk.put(&git_dir, Node::Folder);
        self.facts.workspaces.insert(
            root.clone(),
            Worktree {
                inside: true,
                top_level: Some(root.clone()),
                git_dir: Some(git_dir.clone()),
                common_dir: Some(common.clone()),
                head: Some(commit.to_owned()),
                index: Some(b"H candidate.txt\0H eval.py\0".to_vec()),
                dirty: clean(),
            },
        );
        let identity = |path: &str| match self.ground.identities.get(path) {
            Some(real) => real.clone(),
            None => super::super::artifacts::workspace::directory_identity(&self.disk, path)
                .unwrap_or_default(),
        };
        let text = format!(
            "{{\"schema_version\":1,\"workspace_id\":\"ws-{arm}\",\"arm\":\"{arm}\",\"isolation_mode\":\"dedicated_git_worktree\",\"root_path\":\"{root}\",\"root_identity_sha256\":\"{}\",\"git_dir_identity_sha256\":\"{}\",\"git_common_dir_identity_sha256\":\"{}\"}}",
            identity(&root),
            identity(&git_dir),
            identity(&common)
        );
        json(&text)
    }

    /// Adds to what was used.
    pub fn use_up(&mut self, usage: &Value) {
        let amounts = usage.map().into_iter().flatten();
        let usage: Usage =
            amounts.filter_map(|(unit, value)| Some((unit.clone(), value.int()?))).collect();
        add(&mut self.used, &usage);
    }

    /// What was used, with every unit of the contract.
    pub fn used_value(&self) -> Value {
        let mut map: Map = self
            .contract
            .field("budgets")
            .map()
            .into_iter()
            .flatten()
            .map(|(unit, _)| (unit.clone(), Value::from(0)))
            .collect();
        map.extend(self.used.iter().map(|(unit, used)| (unit.clone(), Value::from(*used))));
        Value::Map(map)
    }

    /// Puts journal and results on the disk.
    pub fn flush(&mut self) {
        let (journal, results) =
            (self.journal.clone().into_bytes(), self.results.clone().into_bytes());
        self.write("journal.jsonl", journal);
        self.write("results.jsonl", results);
    }

    /// Asks to stop.
    pub fn stop(&mut self, source: &str, kind: &str, skip: bool) {
        self.event("stop_requested", json(&format!("{{\"source\":\"{source}\",\"reason\":\"enough\",\"rule_evaluation\":\"asked\",\"stop_kind\":\"{kind}\",\"final_test_skip_authorized\":{skip}}}")));
    }

    /// Ends the run.
    pub fn end(&mut self) {
        self.event("run_stopped", json(&format!("{{\"reason\":\"done\",\"final_incumbent_commit\":\"{}\",\"final_head_commit\":\"{}\",\"unresolved_cleanup\":{},\"unresolved_recovery\":{}}}",
            self.incumbent, self.head, self.unresolved, self.preserved)));
    }

    /// Writes the marker.
    pub fn close(&mut self) {
        self.flush();
        self.clock += 1;
        let artifacts = self.manifest();
        let best =
            self.attempts.iter().rev().find(|made| made.confirmed && made.commit == self.incumbent);
        let (attempt, commit) = best.map_or(("null".to_owned(), "null".to_owned()), |made| {
            (format!("\"{}\"", made.id), format!("\"{}\"", made.commit))
        });
        let last = self.attempts.last().map(|made| format!("boundaries/{}.json", made.id));
        let last = last
            .and_then(|path| self.disk.read(&format!("{}/{path}", self.ground.run())).ok())
            .map_or("null".to_owned(), |bytes| format!("\"{}\"", file_digest(&bytes)));
        let text = [
            format!(
                "\"schema_version\":1,\"kind\":\"run-boundary\",\"run_tag\":\"run\",\"contract_sha256\":\"{}\"",
                self.contract_sha256
            ),
            format!(
                "\"final_incumbent_commit\":\"{}\",\"final_head_commit\":\"{}\"",
                self.incumbent, self.head
            ),
            format!("\"best_confirmed_attempt\":{attempt},\"best_confirmed_commit\":{commit}"),
            format!(
                "\"result_count\":{},\"last_journal_seq\":{}",
                self.results.lines().count(),
                self.seq
            ),
            format!(
                "\"results_sha256\":\"{}\",\"journal_sha256\":\"{}\"",
                file_digest(self.results.as_bytes()),
                file_digest(self.journal.as_bytes())
            ),
            format!(
                "\"last_attempt_boundary_sha256\":{last},\"canonical_artifacts_sha256\":\"{}\"",
                object_digest(&artifacts)
            ),
            format!("\"canonical_artifacts\":{}", canonical(&artifacts)),
            format!(
                "\"actual_budget\":{},\"actual_budget_complete\":{}",
                canonical(&self.used_value()),
                !self.unresolved
            ),
            format!(
                "\"unresolved_cleanup\":{},\"unresolved_recovery\":{}",
                self.unresolved, self.preserved
            ),
            format!("\"stop_reason\":\"done\",\"finalized_at\":\"{}\"", self.now().print()),
        ];
        self.publish("run.finalized.json", json(&format!("{{{}}}", text.join(","))));
    }

    fn manifest(&self) -> Value {
        let prefix = format!("{}/", self.ground.run());
        let files = self.disk.nodes.iter().filter_map(|(path, node)| {
            let path = path.strip_prefix(&prefix)?;
            let Node::File(bytes) = node else { return None };
            let inside = super::super::canonical_set::NAMESPACES
                .iter()
                .any(|folder| path.starts_with(&format!("{folder}/")));
            inside.then(|| {
                json(&format!("{{\"path\":\"{path}\",\"sha256\":\"{}\"}}", file_digest(bytes)))
            })
        });
        Value::List(files.collect())
    }
}

/// Four empty listings.
pub(super) fn clean() -> Dirty {
    Dirty {
        tracked: Some(Vec::new()),
        staged: Some(Vec::new()),
        untracked: Some(Vec::new()),
        ignored: Some(Vec::new()),
    }
}

/// The id of a tree by a letter.
pub(super) fn tree_id(letter: &str) -> String {
    letter.chars().cycle().take(40).collect()
}

/// A count as a value.
pub(super) fn number(count: usize) -> Value {
    Value::from(i128::try_from(count).unwrap_or(i128::MAX))
}
