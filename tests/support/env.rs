//! A hermetic place to run `rp` in: a folder of its own, a cleared environment, keys inside.

#![expect(
    clippy::disallowed_methods,
    reason = "these helpers stand outside the program: they start it and damage its files"
)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rp::{
    clock::Clock,
    journal::{Knobs, Paths, disk::Disk},
    workspace::{Settings, Workspace},
};
use rp_events::EventId;
use serde_json::{Value, json};

/// How many folders this process made; part of their names.
static MADE: AtomicU64 = AtomicU64::new(0);

/// The allocation step of tests: small, so that a journal is small.
pub(crate) const STEP: u64 = 4096;

/// A folder that is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Temp(PathBuf);

impl Temp {
    pub(crate) fn new() -> Self {
        let n = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("rp-test-{}-{n}", std::process::id()));
        // A folder of that name is what an earlier process with the same id left behind.
        drop(fs::remove_dir_all(&path));
        fs::create_dir(&path).unwrap();
        Self(fs::canonicalize(path).unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// A workspace folder, a folder of keys, and the variables that `rp` is started with.
#[derive(Debug)]
pub(crate) struct Env {
    temp: Temp,
    vars: BTreeMap<String, String>,
}

/// How a run of `rp` ended.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Env {
    /// A place without a workspace.
    pub(crate) fn empty() -> Self {
        let temp = Temp::new();
        fs::create_dir(temp.path().join("work")).unwrap();
        let home = temp.path().join("home");
        let vars = [
            ("RP_HOME", home.to_str().unwrap()),
            ("RP_ALLOCATION_STEP", &STEP.to_string()),
            ("NO_COLOR", "1"),
        ];
        let vars = vars.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self { temp, vars: BTreeMap::from(vars) }
    }

    /// A place with a workspace of three entries: genesis, owner, recorder.
    pub(crate) fn new() -> Self {
        let env = Self::empty();
        env.rp(&["init"]).ok();
        env
    }

    /// Sets a variable for every run from now on.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.vars.insert(name.to_owned(), value.to_owned());
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.vars.remove(name);
    }

    /// The folder that holds `.rp`.
    pub(crate) fn work(&self) -> PathBuf {
        self.temp.path().join("work")
    }

    /// The folder of keys and remembered checkpoints.
    pub(crate) fn home(&self) -> PathBuf {
        self.temp.path().join("home")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.work().join(".rp/journal")
    }

    /// The segment that begins with an entry.
    pub(crate) fn segment(&self, first: u64) -> PathBuf {
        self.journal().join(format!("{first:020}.rpj"))
    }

    pub(crate) fn log_id(&self) -> EventId {
        self.workspace(Arc::new(rp::journal::disk::Real)).log_id().unwrap()
    }

    /// The file of the remembered checkpoint.
    pub(crate) fn remembered(&self) -> PathBuf {
        self.home().join("known").join(self.log_id().to_string())
    }

    /// The files of the secret of a key with this name.
    pub(crate) fn key_files(&self, name: &str) -> Vec<PathBuf> {
        let folder = self.home().join("keys").join(self.log_id().to_string());
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let prefix = format!("{name}.");
        files
            .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(&prefix))
            .collect()
    }

    /// The command, ready to be started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rp"));
        command
            .args(args)
            .current_dir(self.work())
            .env_clear()
            .envs(&self.vars)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs `rp` to its end.
    pub(crate) fn rp(&self, args: &[&str]) -> Answer {
        Answer::of(self.command(args).spawn().unwrap())
    }

    /// Runs `rp` with a text on standard input.
    pub(crate) fn rp_reading(&self, args: &[&str], input: &str) -> Answer {
        use std::io::Write as _;
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let input = input.to_owned();
        // A thread of its own, since a child that answers much would wait for a reader.
        let writer = std::thread::spawn(move || drop(pipe.write_all(input.as_bytes())));
        let answer = Answer::of(child);
        writer.join().unwrap();
        answer
    }

    /// Records one event that may be recorded any number of times, with a text in it.
    pub(crate) fn append(&self, text: &str) -> Answer {
        let data = rejected(text);
        self.rp(&["append", "command.rejected", "--as", "recorder", "--data", &data, "--json"])
    }

    /// The number of entries that HEAD promises.
    pub(crate) fn size(&self) -> u64 {
        self.rp(&["head", "--json"]).ok().json()["size"].as_u64().unwrap()
    }

    /// The events of the journal, oldest first.
    pub(crate) fn events(&self) -> Vec<Value> {
        let mut lines = self.rp(&["log", "--json"]).ok().lines();
        lines.pop();
        lines
    }

    /// Every file of the journal but its lock, with its bytes.
    pub(crate) fn bytes(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.journal(), "", &mut files);
        files.remove("LOCK");
        files
    }

    /// The exit code of `rp validate`, and its report.
    pub(crate) fn validate(&self) -> (i32, Value) {
        let answer = self.rp(&["validate", "--json"]);
        (answer.code, answer.json())
    }

    /// What a command in this process would bring, with a disk of choice.
    pub(crate) fn settings(&self, disk: Arc<dyn Disk>) -> Settings {
        Settings {
            start: self.work(),
            keys: self.home().join("keys"),
            known: self.home().join("known"),
            key: None,
            wait: Duration::from_secs(10),
            knobs: Knobs { allocation_step_bytes: STEP, ..Knobs::default() },
            cache_threshold: 4000,
            clock: Arc::new(Clock::default()),
            disk,
        }
    }

    pub(crate) fn workspace(&self, disk: Arc<dyn Disk>) -> Workspace {
        Workspace::find(&self.settings(disk)).unwrap()
    }

    pub(crate) fn paths(&self) -> Paths {
        Paths { folder: self.journal(), known: self.home().join("known") }
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
}

impl Answer {
    /// Waits for a child and takes what it said.
    pub(crate) fn of(child: Child) -> Self {
        let output = child.wait_with_output().unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Holds the run to have succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// Standard output as exactly one JSON document on one line.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.out.matches('\n').count(), 1, "one line is due: {self:?}");
        assert!(self.out.ends_with('\n'), "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Standard output as NDJSON.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let parse =
            |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.out.lines().map(parse).collect()
    }

    /// Holds the run to have been refused with a code, an exit code, a sentence and a next step; gives the
    /// document.
    #[track_caller]
    pub(crate) fn refused(&self, exit: i32, code: &str) -> Value {
        let last = self.out.lines().last().unwrap_or_default();
        let error: Value = serde_json::from_str(last).unwrap_or_else(|e| panic!("{e}: {self:?}"));
        assert_eq!(error["schema"], "rp.error/1", "{self:?}");
        assert_eq!((self.code, error["code"].as_str()), (exit, Some(code)), "{self:?}");
        assert!(!error["message"].as_str().unwrap().is_empty(), "{self:?}");
        let has_next = !error["next"].as_array().unwrap().is_empty();
        assert!(has_next || exit == 64 || code == "io", "no next step: {self:?}");
        error
    }
}

/// The payload of an event that may be recorded any number of times.
pub(crate) fn rejected(text: &str) -> String {
    let digits = "0".repeat(64);
    json!({ "kind": "x", "stream": "program", "kid": digits, "code": text, "request": digits })
        .to_string()
}

/// A line of a batch that records it.
pub(crate) fn rejected_line(text: &str, idem: Option<&str>) -> String {
    let data: Value = serde_json::from_str(&rejected(text)).unwrap();
    let mut line = json!({ "kind": "command.rejected", "data": data, "as": "recorder" });
    if let Some(idem) = idem {
        line["idem"] = idem.into();
    }
    format!("{line}\n")
}
