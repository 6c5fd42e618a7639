//! `rp validate` on run directories on a real disk, in a real repository with real worktrees.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use rp_validator::rundir::{
    artifacts::workspace::directory_identity,
    disk::{Machine, Node},
    scenario::{EVALUATOR, EXECUTABLE, Ground, build_on},
};
use serde_json::Value;

use crate::support::env::{Answer, Env, Temp};

/// The validator that made-up contracts of version 1.1.0 seal.
const ACCEPTED: &str = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

/// A repository with a run in it.
struct Repository {
    temp: Temp,
    commits: Vec<(String, String)>,
    identities: BTreeMap<String, String>,
}

impl Repository {
    /// One commit: evaluator, text, and a file outside every scope.
    fn new() -> Self {
        let temp = Temp::new();
        let mut repository = Self { temp, commits: Vec::new(), identities: BTreeMap::new() };
        fs::create_dir(repository.root()).unwrap();
        let program = repository.path("evaluate");
        fs::write(&program, EXECUTABLE).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        repository.git(&["init", "-q", "-b", "main"]);
        repository.write("eval.py", EVALUATOR);
        repository.write("candidate.txt", b"text\n");
        repository
            .write("notes.txt", b"a line that is long enough to be seen as the same file again\n");
        repository.commit();
        repository
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    fn root(&self) -> PathBuf {
        self.path("repo")
    }

    fn run(&self) -> String {
        self.root().join(".research-loop/run").to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.root().join(name), bytes).unwrap();
    }

    fn git(&self, args: &[&str]) -> String {
        Self::git_at(&self.root(), args)
    }

    fn git_at(at: &Path, args: &[&str]) -> String {
        let identity =
            ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let output = Command::new("git")
            .current_dir(at)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .args(identity)
            .args(args)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Commits everything that is not so yet, and remembers the commit.
    fn commit(&mut self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "a change"]);
        self.remember();
    }

    fn remember(&mut self) {
        let id = self.git(&["rev-parse", "HEAD"]);
        let tree = self.git(&["rev-parse", "HEAD^{tree}"]);
        self.commits.push((id, tree));
    }

    /// A worktree of an attempt's arm, at one of the commits.
    fn worktree(&mut self, name: &str, commit: usize) -> PathBuf {
        let place = self.path("ws").join(name);
        let commit = self.commits[commit].0.clone();
        self.git(&["worktree", "add", "-q", "--detach", place.to_str().unwrap(), &commit]);
        for path in
            [place.clone(), self.root().join(".git"), self.root().join(".git/worktrees").join(name)]
        {
            let path = path.to_str().unwrap().to_owned();
            let identity = directory_identity(&Machine, &path).unwrap();
            self.identities.insert(path, identity);
        }
        place
    }

    /// Writes the run that a script makes of the commits and worktrees.
    fn record(&self, script: &str) {
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let ground = Ground {
            root: text(self.root()),
            workspaces: text(self.path("ws")),
            program: text(self.path("evaluate")),
            commits: self.commits.clone(),
            identities: self.identities.clone(),
        };
        let built = build_on(script, ground).unwrap();
        for (path, node) in built
            .world
            .disk
            .nodes
            .range(self.run()..)
            .filter(|(path, _)| path.starts_with(&self.run()))
        {
            match node {
                Node::File(bytes) => {
                    fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
                    fs::write(path, bytes).unwrap();
                }
                Node::Folder => fs::create_dir_all(path).unwrap(),
                other => panic!("a script for a real disk makes no {other:?}"),
            }
        }
    }

    fn validate(&self, flags: &[&str]) -> (Answer, Value) {
        let run = self.run();
        let args: Vec<&str> = ["validate", run.as_str(), "--validator-sha256", ACCEPTED]
            .into_iter()
            .chain(flags.iter().copied())
            .collect();
        let answer = Env::empty().rp(&args);
        let verdict = serde_json::from_str(&answer.out).unwrap_or(Value::Null);
        (answer, verdict)
    }

    /// The codes of a closed run that does not hold.
    fn faults(&self) -> Vec<String> {
        let (answer, verdict) = self.validate(&["--require-run-finalized"]);
        assert_eq!(answer.code, 2, "{}\n{}", answer.out, answer.err);
        verdict["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["code"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// A baseline, a candidate that was kept, one that was reverted, a final test; closed.
fn whole_run() -> Repository {
    let mut repository = Repository::new();
    repository.write("candidate.txt", b"better\n");
    repository.commit();
    repository.write("candidate.txt", b"worse\n");
    repository.commit();
    repository.git(&["revert", "--no-edit", "HEAD"]);
    repository.remember();
    for (name, commit) in [
        ("a-000-incumbent", 0),
        ("a-001-candidate", 1),
        ("a-002-candidate", 2),
        ("a-003-incumbent", 1),
    ] {
        repository.worktree(name, commit);
    }
    repository.record("final-test ; baseline ; candidate ; candidate discard ; final ; close");
    repository
}

fn has(faults: &[String], code: &str) {
    assert!(faults.iter().any(|fault| fault == code), "{code} is not among {faults:?}");
}

#[test]
fn a_closed_run_in_a_real_repository_is_valid() {
    let repository = whole_run();
    let (answer, verdict) = repository.validate(&["--require-run-finalized"]);
    assert_eq!(answer.code, 0, "{}\n{}", answer.out, answer.err);
    assert_eq!(verdict["verdict"], "valid");
    assert_eq!(verdict["closed"], true);
    assert_eq!(
        verdict["finalized_attempts"],
        serde_json::json!(["a-000", "a-001", "a-002", "a-003"])
    );
    assert_eq!(answer.out.lines().count(), 1);
}

#[test]
fn what_was_done_to_worktrees_is_named() {
    let repository = whole_run();
    let place = repository.path("ws/a-001-candidate");

    fs::write(place.join("candidate.txt"), b"edited\n").unwrap();
    has(&repository.faults(), "dirty_evaluation_workspace");
    Repository::git_at(&place, &["update-index", "--assume-unchanged", "candidate.txt"]);
    has(&repository.faults(), "unsafe_workspace_index_flags");
    Repository::git_at(&place, &["update-index", "--no-assume-unchanged", "candidate.txt"]);
    Repository::git_at(&place, &["checkout", "-q", "candidate.txt"]);
    assert_eq!(repository.validate(&[]).0.code, 0);

    fs::create_dir(place.join("runtime-state")).unwrap();
    has(&repository.faults(), "generated_state_not_reset");
    fs::remove_dir(place.join("runtime-state")).unwrap();

    repository.git(&[
        "worktree",
        "move",
        place.to_str().unwrap(),
        repository.path("ws/moved").to_str().unwrap(),
    ]);
    has(&repository.faults(), "missing_workspace_root");
}

#[test]
fn a_rename_into_scope_is_named() {
    let mut repository = Repository::new();
    repository.git(&["mv", "-f", "notes.txt", "candidate.txt"]);
    repository.commit();
    repository.worktree("a-000-incumbent", 0);
    repository.worktree("a-001-candidate", 1);
    repository.record("baseline ; candidate ; close");
    let (_, verdict) = repository.validate(&[]);
    let named = verdict["errors"].as_array().unwrap().iter().any(|error| {
        error["code"] == "candidate_scope_violation"
            && error["message"].as_str().unwrap().contains("`notes.txt`")
    });
    assert!(named, "{verdict}");
}

#[test]
fn a_replaced_object_hides_nothing() {
    let repository = whole_run();
    let (kept, baseline) = (repository.commits[1].0.clone(), repository.commits[0].0.clone());
    repository.git(&["replace", &kept, &baseline]);
    let (answer, verdict) = repository.validate(&["--require-run-finalized"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let named = verdict["warnings"].as_array().unwrap().iter().any(|warning| {
        warning["code"] == "replaced_git_object"
            && warning["message"].as_str().unwrap().contains(&kept)
    });
    assert!(named, "{verdict}");

    let mut repository = Repository::new();
    repository.write("eval.py", b"print(9.9)\n");
    repository.commit();
    repository.git(&["replace", &repository.commits[1].0, &repository.commits[0].0]);
    repository.write("eval.py", EVALUATOR);
    repository.worktree("a-000-incumbent", 0);
    repository.record("baseline ; candidate invalid preserve ; close");
    has(&repository.faults(), "candidate_scope_violation");
}

#[test]
fn exit_codes_and_words() {
    let repository = whole_run();
    let run = repository.run();
    let rp = |args: &[&str]| Env::empty().rp(args);

    let foreign = rp(&["validate", &run, "--require-run-finalized"]);
    assert_eq!(foreign.code, 5, "{}", foreign.err);
    assert!(
        foreign.out.contains("\"foreign_validator\"")
            && foreign.out.contains("\"verdict\":\"unverifiable\"")
    );
    let unasked = repository.validate(&["--no-git"]);
    assert_eq!((unasked.0.code, &unasked.1["verdict"]), (5, &Value::from("unverifiable")));
    assert_eq!(unasked.1["warnings"][0]["code"], "git_not_checked");

    fs::remove_file(Path::new(&run).join("run.finalized.json")).unwrap();
    has(&repository.faults(), "missing_run_boundary");
    let (open, verdict) = repository.validate(&["--allow-incomplete"]);
    assert_eq!(open.code, 3);
    assert_eq!(verdict["resume_action"], "publish_run_boundary");
    assert_eq!(verdict["last_durable_phase"], "run_stopped");
    let (closed, _) = repository.validate(&[]);
    assert_eq!(closed.code, 2);

    for misuse in [
        &["validate", "--self-test", run.as_str()][..],
        &["validate", "--self-test", "--no-git"],
        &["validate", &run, "--validator-sha256", "abc"],
        &["validate", &run, "--allow-incomplet"],
        &["validate", "--allow-incomplete"],
    ] {
        let answer = rp(misuse);
        assert_eq!((answer.code, answer.out.as_str()), (64, ""), "{misuse:?}");
    }
}

#[test]
fn the_self_test_passes_and_counts() {
    let answer = Env::empty().rp(&["validate", "--self-test"]);
    assert_eq!(answer.code, 0, "{}", answer.out);
    assert!(
        answer.err.contains("124 scenarios in version 1.1.0, 124 in rp's own"),
        "{}",
        answer.err
    );
    let report: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(report["self_test"], "passed");
    assert!(report["cases"].as_array().unwrap().len() > 900);
}

#[test]
fn every_line_of_the_checklist_has_a_row_that_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(root.join("spec/conformance/run.md")).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split(" | ").collect::<Vec<_>>())
        .filter(|cells| cells[0].strip_prefix("| ").is_some_and(|line| line.parse::<u16>().is_ok()))
        .collect();
    let lines: Vec<u16> = rows.iter().map(|cells| cells[0][2..].parse().unwrap()).collect();
    assert_eq!(lines, (1..=804).chain(901..=916).collect::<Vec<_>>());
    for cells in rows {
        let [line, _, rules, proofs] = cells[..] else { panic!("a row has {} cells", cells.len()) };
        for place in rules
            .split('`')
            .chain(proofs.split('`'))
            .skip(1)
            .step_by(2)
            .filter(|place| place.contains("::"))
        {
            let (path, name) = place.split_once("::").unwrap();
            let text = fs::read_to_string(root.join(path)).unwrap_or_default();
            assert!(
                text.contains(&format!("fn {name}(")) || text.contains(&format!("fn {name}<")),
                "{line}: `{place}` names nothing"
            );
        }
        assert!(rules.contains("::") && proofs.contains("::"), "{line}");
    }
}

#[test]
fn several_kept_candidates_in_a_row_are_valid() {
    let mut repository = Repository::new();
    repository.worktree("a-000-incumbent", 0);
    for index in 1..4 {
        repository.write("candidate.txt", format!("{index}\n").as_bytes());
        repository.commit();
        repository.worktree(&format!("a-{index:03}-candidate"), index);
    }
    repository.record(
        "attempts 9 ; baseline ; candidate ; candidate score=1.2 ; candidate score=1.3 ; close",
    );
    let (answer, _) = repository.validate(&["--require-run-finalized"]);
    assert_eq!(answer.code, 0, "{}\n{}", answer.out, answer.err);
}
