//! `rp round archive`: what moves and what stays, what is never overwritten, and that a process killed at any step
//! leaves a round that the next call finishes.

use std::{
    fs, io,
    os::unix::{fs::symlink, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rp::{
    archive::{
        self, Request,
        moves::{self, Moves},
    },
    clock::Clock,
    journal::{
        Knobs,
        disk::{self, Disk, Handle, Space},
    },
    workspace::{Settings, Workspace},
};
use rp_replay::program::constants::Intent;
use serde_json::json;

use super::setup::{copy, kinds, live, outputs, payloads, tree, write};
use crate::support::env::{Env, STEP};

/// The command that most tests give.
const ARCHIVE: &[&str] = &["round", "archive", "--intent", "new-behavior", "--json"];

/// A disk and a mover that count their calls together and end the process at one of them, or fail one kind.
#[derive(Debug, Clone, Default)]
struct Seam(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    calls: AtomicU64,
    /// The call that ends the process; 0 for none. Counts from 1.
    kill_at: u64,
    /// Whether the archive stands on another file system than the root.
    across: Option<PathBuf>,
    /// The error that making a folder gives.
    folders: Option<io::ErrorKind>,
}

impl Seam {
    fn step(&self) {
        let n = self.0.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if n == self.0.kill_at {
            let pid = std::process::id().to_string();
            Command::new("kill").args(["-KILL", &pid]).status().unwrap();
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
    }
}

impl Moves for Seam {
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.step();
        match self.0.folders {
            Some(kind) => Err(kind.into()),
            None => moves::Real.make_folder(path),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step();
        if self.0.across.as_deref() == from.parent() {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        moves::Real.rename(from, to)
    }

    fn copy_file(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step();
        moves::Real.copy_file(from, to)
    }

    fn copy_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step();
        moves::Real.copy_link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.step();
        moves::Real.remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.step();
        moves::Real.remove_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.step();
        moves::Real.sync_folder(path)
    }
}

/// An open file of the counting disk.
#[derive(Debug)]
struct Counted(Seam, Box<dyn Handle>);

impl Disk for Seam {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        self.step();
        Ok(Box::new(Counted(self.clone(), disk::Real.open(path)?)))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        self.step();
        Ok(Box::new(Counted(self.clone(), disk::Real.create(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step();
        disk::Real.rename(from, to)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.step();
        disk::Real.sync_folder(path)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.step();
        disk::Real.make_folder(path)
    }

    fn protect(&self, path: &Path) -> io::Result<()> {
        self.step();
        disk::Real.protect(path)
    }

    fn space(&self, path: &Path) -> io::Result<Space> {
        disk::Real.space(path)
    }
}

impl Handle for Counted {
    fn len(&self) -> io::Result<u64> {
        self.1.len()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.1.read_exact_at(buffer, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.step();
        self.1.write_all_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.step();
        self.1.sync()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.step();
        self.1.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.0.step();
        self.1.allocate(len)
    }
}

fn settings(work: &Path, home: &Path, seam: &Seam) -> Settings {
    Settings {
        start: work.to_owned(),
        keys: home.join("keys"),
        known: home.join("known"),
        key: None,
        wait: Duration::from_secs(10),
        knobs: Knobs { allocation_step_bytes: STEP, ..Knobs::default() },
        cache_threshold: 4000,
        clock: Arc::new(Clock::default()),
        disk: Arc::new(seam.clone()),
    }
}

fn seam(kill_at: u64, across: Option<&Path>) -> Seam {
    let shared = Shared { kill_at, across: across.map(Path::to_owned), ..Shared::default() };
    Seam(Arc::new(shared))
}

/// Archives round 1 in this process; gives how many steps there were.
fn steps(work: &Path, home: &Path, seam: &Seam) -> u64 {
    let workspace = Workspace::find(&settings(work, home, seam)).unwrap();
    let request = Request { intent: Some((Intent::NewBehavior, None)), ..Request::default() };
    archive::run(&workspace, &request, seam, &mut |_, _| {}).unwrap();
    seam.0.calls.load(Ordering::Relaxed)
}

/// A prepared workspace: round 1 is live and has left its outputs.
fn prepared() -> Env {
    let env = live();
    outputs(&env);
    env
}

/// Where everything of [`outputs`] is after the archive.
fn moved(path: &str) -> String {
    let stays = ["task.md", "notification", "research_memory.json", ".gitignore"];
    let first = path.split('/').next().unwrap();
    if stays.contains(&first) { path.to_owned() } else { format!("rounds/round_1/{path}") }
}

/// The tree that is due after the archive of a tree.
fn due(
    before: &std::collections::BTreeMap<String, String>,
) -> std::collections::BTreeMap<String, String> {
    let mut due: std::collections::BTreeMap<String, String> =
        before.iter().map(|(path, text)| (moved(path), text.clone())).collect();
    due.insert("rounds/".to_owned(), String::new());
    due.insert("rounds/round_1/".to_owned(), String::new());
    due.insert("rounds/round_1/task.md".to_owned(), before["task.md"].clone());
    due
}

/// Begins as a child of [`killed_at_each_step`]; on its own it has nothing to do.
#[test]
fn child() {
    let var = |name: &str| std::env::var(name).ok();
    let Some(kill_at) = var("RP_TEST_KILL_AT") else { return };
    let (work, home) = (var("RP_TEST_WORK").unwrap(), var("RP_TEST_HOME").unwrap());
    let work = PathBuf::from(work);
    let across = var("RP_TEST_ACROSS").map(|_| work.as_path());
    steps(&work, Path::new(&home), &seam(kill_at.parse().unwrap(), across));
}

/// Kills the archive at each of its steps, finishes it with the program, and holds every file to its place.
fn killed_at_each_step(is_across: bool) {
    let start = prepared();
    let before = tree(&start.work());
    let due = due(&before);
    let whole = copy(&start);
    let across = is_across.then(|| whole.work());
    let steps = steps(&whole.work(), &whole.home(), &seam(0, across.as_deref()));
    assert_eq!(tree(&whole.work()), due, "without a kill");
    assert!(steps > 30, "too few steps to be all of them: {steps}");
    let mut finished_before = 0;
    // Each step has a place of its own, and mostly waits for the disk.
    let next = AtomicU64::new(1);
    let tally = std::sync::Mutex::new(&mut finished_before);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let step = next.fetch_add(1, Ordering::Relaxed);
                    if step > steps {
                        return;
                    }
                    let was_done = killed_at(&copy(&start), step, is_across, &due);
                    **tally.lock().unwrap() += u64::from(was_done);
                }
            });
        }
    });
    assert!(finished_before < steps / 4, "of {steps} kills {finished_before} came after the end");
}

/// One kill and the call after it; gives whether the round was recorded as archived by then.
fn killed_at(
    env: &Env,
    step: u64,
    is_across: bool,
    due: &std::collections::BTreeMap<String, String>,
) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "program::archive::child", "--nocapture"])
        .env("RP_TEST_KILL_AT", step.to_string())
        .env("RP_TEST_WORK", env.work())
        .env("RP_TEST_HOME", env.home());
    if is_across {
        child.env("RP_TEST_ACROSS", "1");
    }
    let ended = child.output().unwrap();
    assert_eq!(ended.status.signal(), Some(9), "step {step}: {ended:?}");
    let archived = ["round", "archive", "--intent", "new-behavior", "--json"];
    let again = env.rp(&archived);
    let was_done = again.code != 0;
    if was_done {
        again.refused(2, "already-archived");
    } else {
        assert_eq!(again.json()["target"], "rounds/round_1/", "step {step}");
        assert_eq!(again.json()["missing"], json!([]), "step {step}");
    }
    assert_eq!(&tree(&env.work()), due, "step {step}");
    let kinds = kinds(env);
    for kind in ["transition.requested", "archive.planned", "round.archived"] {
        assert_eq!(kinds.iter().filter(|found| *found == kind).count(), 1, "step {step}: {kind}");
    }
    let planned = &payloads(env, "archive.planned")[0]["move"];
    assert_eq!(&payloads(env, "round.archived")[0]["moved"], planned, "step {step}");
    assert_eq!(env.validate().0, 0, "step {step}");
    was_done
}

#[test]
fn a_kill_at_any_step_is_finished_into_the_same_round() {
    killed_at_each_step(false);
}

#[test]
fn a_kill_at_any_step_of_a_move_between_file_systems_is_finished_too() {
    killed_at_each_step(true);
}

#[test]
fn the_plan_is_shown_then_everything_moves_and_the_record_says_what_did() {
    let env = prepared();
    let before = tree(&env.work());
    let plan = env.rp(&["round", "archive", "--intent", "new-behavior", "--dry-run", "--json"]);
    let plan = plan.ok().json();
    let move_due = json!([
        "broken",
        "cache",
        "data",
        "idea-stage",
        "latest",
        "line\nbreak",
        "logs",
        "refine-logs",
        "runs",
        "two words \u{e9}",
        ".mechanist"
    ]);
    assert_eq!((&plan["move"], &plan["dry_run"]), (&move_due, &json!(true)));
    assert_eq!(tree(&env.work()), before, "a dry run changes nothing");
    assert_eq!(kinds(&env), ["program.created", "program.imported"]);

    let answer = env.rp(&["round", "archive", "--intent", "new-behavior"]).ok();
    assert!(answer.err.contains("will archive round 1 into rounds/round_1/:"), "{answer:?}");
    assert!(answer.err.contains("    line\\nbreak\n"), "an odd name stays on its line: {answer:?}");
    assert_eq!(tree(&env.work()), due(&before));
    let events = env.events();
    let last: Vec<(&str, &str)> = events[events.len() - 3..]
        .iter()
        .map(|event| (event["kind"].as_str().unwrap(), event["key"].as_str().unwrap()))
        .collect();
    assert_eq!(
        last,
        [
            ("transition.requested", "owner"),
            ("archive.planned", "owner"),
            ("round.archived", "owner")
        ]
    );
    let archived = &payloads(&env, "round.archived")[0];
    assert_eq!(
        archived,
        &json!({ "target": "rounds/round_1/", "moved": move_due, "copied": ["task.md"] })
    );
    let transition = &payloads(&env, "transition.requested")[0];
    assert_eq!(
        transition,
        &json!({
            "arguments": "new-behavior", "recommended": "re-validate", "intent": "new-behavior",
            "behavior": null, "decided_by": "user"
        })
    );
    let before = tree(&env.work());
    env.rp(ARCHIVE).refused(2, "already-archived");
    assert_eq!(tree(&env.work()), before);
}

#[test]
fn the_same_behavior_keeps_its_data_and_a_wish_keeps_what_it_names() {
    let env = prepared();
    let args = ["round", "archive", "--intent", "re-validate", "--keep", "logs/", "--json"];
    let done = env.rp(&args).ok().json();
    assert_eq!((&done["intent"], &done["behavior"]), (&json!("re-validate"), &json!("B2")));
    for kept in ["data/d.bin", "cache/c.bin", "logs"] {
        assert!(env.work().join(kept).exists(), "{kept}");
    }
    assert!(env.work().join("rounds/round_1/runs/A1_probe/cost.json").exists());
    let wish = &payloads(&env, "override.recorded")[0];
    assert_eq!(wish["request"], "keep logs at the root");
    assert_eq!(wish["overrides"], json!(null), "it contradicts nothing, so task.md has no line");
    assert!(!fs::read_to_string(env.work().join("task.md")).unwrap().contains("User Overrides"));
    assert_eq!(payloads(&env, "transition.requested")[0]["behavior"], "B2");
    let keep = payloads(&env, "archive.planned")[0]["keep"].clone();
    assert_eq!(
        keep,
        json!([
            ".claude",
            ".mcp.json",
            ".git",
            ".gitignore",
            "task.md",
            "research_memory.json",
            "rounds",
            "notification",
            "data",
            "cache",
            ".rp",
            "logs"
        ])
    );
}

#[test]
fn a_folder_that_holds_something_ends_it_with_code_3_and_changes_nothing() {
    let env = prepared();
    write(&env, "rounds/round_1/older.md", "older\n");
    let before = tree(&env.work());
    let error = env.rp(ARCHIVE).refused(3, "archive-clobber");
    assert_eq!(error["details"]["holds"], json!(["older.md"]));
    assert_eq!(tree(&env.work()), before);
    let refused = payloads(&env, "archive.refused");
    assert_eq!((refused.len(), &refused[0]["code"]), (1, &json!(3)));
    // A refused plan is no torn archive: the next call looks at the folder again.
    env.rp(ARCHIVE).refused(3, "archive-clobber");
    env.rp(&["round", "archive", "--json"]).refused(2, "not-user-decided");
    env.rp(&["round", "draft", "--json"]).refused(2, "draft-before-archive");
    assert_eq!(tree(&env.work()), before);
    fs::remove_file(env.work().join("rounds/round_1/older.md")).unwrap();
    env.rp(ARCHIVE).ok();
    assert_eq!(kinds(&env).iter().filter(|kind| *kind == "round.archived").count(), 1);
    assert_eq!(env.validate().0, 0);
}

/// Records a plan by hand, as a crash right after it would leave it.
fn planned(env: &Env, paths: &[&str]) {
    let transition = json!({
        "arguments": "", "recommended": "re-validate", "intent": "new-behavior", "behavior": null,
        "decided_by": "user"
    });
    let keep = [
        ".claude",
        ".mcp.json",
        ".git",
        ".gitignore",
        "task.md",
        "research_memory.json",
        "rounds",
        "notification",
        ".rp",
    ];
    let plan = json!({ "target": "rounds/round_1/", "move": paths, "keep": keep });
    for (kind, data) in [("transition.requested", transition), ("archive.planned", plan)] {
        env.rp(&["append", kind, "--round", "1", "--data", &data.to_string()]).ok();
    }
}

#[test]
fn what_vanished_is_explained_and_what_appeared_stays() {
    let env = prepared();
    planned(&env, &["gone", "idea-stage", "runs/"]);
    write(&env, "fresh.txt", "after the plan\n");
    let done = env.rp(&["round", "archive", "--json"]).ok().json();
    assert_eq!(done["resumed"], true);
    assert_eq!(
        (&done["moved"], &done["missing"]),
        (&json!(["idea-stage", "runs/"]), &json!(["gone"]))
    );
    let appeared = done["appeared"].as_array().unwrap();
    assert!(appeared.contains(&json!("fresh.txt")), "{done}");
    assert!(env.work().join("fresh.txt").exists());
    assert!(env.work().join("rounds/round_1/runs/A1_probe/cost.json").exists());
    let missing = payloads(&env, "round.archived")[0]["missing"].clone();
    assert_eq!(missing[0]["path"], "gone");
    assert!(!missing[0]["why"].as_str().unwrap().is_empty());
}

#[test]
fn a_torn_archive_goes_on_only_as_it_was_planned() {
    let env = prepared();
    planned(&env, &["idea-stage", "runs"]);
    for args in [&["--intent", "re-validate"][..], &["--keep", "logs"]] {
        let args = [&["round", "archive", "--json"], args].concat();
        env.rp(&args).refused(2, "archive-plan");
    }
    env.rp(&["round", "resume", "--json", "--", "x"]).refused(2, "archive-plan");
    env.rp(&["round", "discard", "--json"]).refused(2, "archive-plan");
    env.rp(ARCHIVE).ok();
}

#[test]
fn a_path_that_was_made_again_costs_neither_copy() {
    let env = prepared();
    planned(&env, &["idea-stage", "runs"]);
    // The run folder was moved; then a process made it again, with something else in it.
    fs::create_dir_all(env.work().join("rounds/round_1")).unwrap();
    fs::rename(env.work().join("runs"), env.work().join("rounds/round_1/runs")).unwrap();
    write(&env, "runs/A2/cost.json", "new\n");
    let error = env.rp(&["round", "archive", "--json"]).refused(3, "archive-clobber");
    assert_eq!(error["details"]["differs"], "runs/A2");
    assert_eq!(fs::read_to_string(env.work().join("runs/A2/cost.json")).unwrap(), "new\n");
    assert!(env.work().join("rounds/round_1/runs/A1_probe/cost.json").exists());
    fs::rename(env.work().join("runs"), env.work().join("rounds/later")).unwrap();
    env.rp(&["round", "archive", "--json"]).ok();
}

#[test]
fn a_plan_never_reaches_out_of_the_workspace() {
    for path in ["../outside", "/etc/hostname", "runs/A1_probe", "..", "."] {
        let env = prepared();
        planned(&env, &["idea-stage", path]);
        let before = tree(&env.work());
        let error = env.rp(&["round", "archive", "--json"]).refused(2, "archive-plan");
        assert!(error["message"].as_str().unwrap().contains(path), "{error}");
        assert_eq!(tree(&env.work()), before, "{path}");
    }
}

#[test]
fn links_lead_nothing_out_of_the_workspace() {
    let env = prepared();
    let outside = env.home().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, env.work().join("rounds")).unwrap();
    env.rp(ARCHIVE).refused(2, "archive-target");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    fs::remove_file(env.work().join("rounds")).unwrap();

    // A link to a folder outside moves as a link; what it names stays whole.
    fs::write(outside.join("precious"), "p").unwrap();
    symlink(&outside, env.work().join("weights")).unwrap();
    fs::remove_file(env.work().join("task.md")).unwrap();
    symlink(outside.join("precious"), env.work().join("task.md")).unwrap();
    env.rp(ARCHIVE).refused(2, "archive-plan");
    fs::remove_file(env.work().join("task.md")).unwrap();
    env.rp(ARCHIVE).ok();
    assert_eq!(fs::read_link(env.work().join("rounds/round_1/weights")).unwrap(), outside);
    assert_eq!(fs::read_to_string(outside.join("precious")).unwrap(), "p");
    assert_eq!(payloads(&env, "round.archived")[0]["copied"], json!([]));
}

#[test]
fn a_folder_that_cannot_be_made_is_known_before_anything_is_planned() {
    let env = prepared();
    let before = tree(&env.work());
    let failing = Shared { folders: Some(io::ErrorKind::ReadOnlyFilesystem), ..Shared::default() };
    let failing = Seam(Arc::new(failing));
    let workspace = Workspace::find(&settings(&env.work(), &env.home(), &failing)).unwrap();
    let request = Request { intent: Some((Intent::NewBehavior, None)), ..Request::default() };
    let failure = archive::run(&workspace, &request, &failing, &mut |_, _| {}).unwrap_err();
    assert_eq!((failure.exit.0, failure.code.as_str()), (74, "io"));
    assert!(failure.message.contains("rounds"), "{failure}");
    assert_eq!(kinds(&env), ["program.created", "program.imported"]);
    assert_eq!(tree(&env.work()), before);
}

#[test]
fn the_user_decides_and_something_must_be_there() {
    let env = live();
    env.rp(ARCHIVE).refused(2, "no-outputs");
    outputs(&env);
    let error = env.rp(&["round", "archive", "--json"]).refused(2, "not-user-decided");
    assert_eq!(
        error["details"]["recommended"], "re-validate",
        "the import brought what the round found out"
    );
    let with =
        |intent: &[&str]| env.rp(&[&["round", "archive", "--json", "--intent"], intent].concat());
    with(&["new-everything"]).refused(2, "bad-intent");
    with(&["new-mechanism", "B7"]).refused(2, "unknown-behavior");
    with(&["new-behavior", "B7"]).refused(2, "unknown-behavior");
    assert!(!env.work().join("rounds").exists());
    with(&["new-mechanism", "B1"]).ok();
    assert_eq!(payloads(&env, "transition.requested")[0]["behavior"], "B1");
}

#[test]
fn a_repeated_request_is_answered_and_not_done_again() {
    let env = prepared();
    let args = [ARCHIVE, &["--idem", "once"]].concat();
    let first = env.rp(&args).ok().json();
    let second = env.rp(&args).ok().json();
    assert_eq!((&first["duplicate"], &second["duplicate"]), (&json!(false), &json!(true)));
    assert_eq!(first["moved"], second["moved"]);
    assert_eq!(kinds(&env).iter().filter(|kind| *kind == "round.archived").count(), 1);
}

#[test]
fn another_signer_is_found_by_role_and_an_agent_is_not_taken_for_the_user() {
    let env = Env::new();
    env.rp(&["key", "new", "helper", "--role", "next-round"]).ok();
    let data = json!({ "program": "p", "direction": "d" }).to_string();
    env.rp(&["append", "program.created", "--data", &data]).ok();
    let data = json!({ "archives": [], "memory": null, "highest_round": 4, "live_round": 4 });
    env.rp(&["append", "program.imported", "--data", &data.to_string()]).ok();
    outputs(&env);
    env.rp(&["round", "discard", "--as", "helper", "--json"]).refused(2, "wrong-owner");
    let answer = env.rp(ARCHIVE).ok().json();
    let signed: Vec<&str> =
        answer["recorded"].as_array().unwrap().iter().map(|r| r["key"].as_str().unwrap()).collect();
    assert_eq!(signed, ["owner", "helper", "helper"]);
    assert_eq!(answer["target"], "rounds/round_4/");
}
