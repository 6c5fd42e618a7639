//! Asks the user's own `git`, read-only, about what a run directory names: with a cleared environment, no
//! replacements, no renames, no filters of the repository, and each question once (`domains/run.md` L32).

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use rp_validator::rundir::git::{Dirty, Facts, Wanted, Worktree};

/// What no repository may configure while it is being asked.
const SETTINGS: [&str; 14] = [
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "diff.external=",
    "-c",
    "core.quotePath=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "safe.directory=*",
];

/// A `git` that was found.
#[derive(Debug, Clone)]
pub struct Git<'g> {
    program: &'g Path,
}

impl<'g> Git<'g> {
    /// The `git` at an absolute path.
    pub fn new(program: &'g Path) -> Self {
        Self { program }
    }

    /// Answers all questions about a worktree and what it names.
    pub fn facts(&self, root: &Path, wanted: &Wanted) -> Facts {
        if let Err(why) = self.command(root, &["--version"]).output() {
            return Facts {
                unavailable: Some(format!("`{}` cannot run: {why}", self.program.display())),
                ..Facts::default()
            };
        }
        let supervisor = self.worktree(root);
        if !supervisor.inside {
            return Facts { supervisor, ..Facts::default() };
        }
        let mut commits = wanted.commits.clone();
        commits.extend(supervisor.head.clone());
        let mut diffs = wanted.diffs.clone();
        // A head ahead of the journal may be a commit that was made and not yet recorded.
        diffs.extend(wanted.before_head.clone().zip(supervisor.head.clone()));
        Facts {
            unavailable: None,
            commits: self.commits(root, &commits),
            listings: wanted
                .listings
                .iter()
                .map(|commit| (commit.clone(), self.listing(root, commit, &wanted.scopes)))
                .collect(),
            diffs: diffs.into_iter().map(|pair| (pair.clone(), self.diff(root, &pair))).collect(),
            workspaces: wanted
                .workspaces
                .iter()
                .map(|path| (path.clone(), self.worktree(Path::new(path))))
                .collect(),
            replaced: self.replaced(root),
            supervisor,
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "asking git is the one thing that this file is for"
    )]
    fn command(&self, at: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command.env_clear().current_dir(at);
        for (name, value) in [
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_LITERAL_PATHSPECS", "1"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("LC_ALL", "C"),
        ] {
            command.env(name, value);
        }
        command.args(SETTINGS).args(args).stdin(Stdio::null());
        command
    }

    fn ask(&self, at: &Path, args: &[&str]) -> Option<Vec<u8>> {
        let Output { status, stdout, .. } = self.command(at, args).output().ok()?;
        status.success().then_some(stdout)
    }

    fn line(&self, at: &Path, args: &[&str]) -> Option<String> {
        let text = String::from_utf8(self.ask(at, args)?).ok()?;
        let line = text.strip_suffix('\n').unwrap_or(&text);
        (!line.is_empty()).then(|| line.to_owned())
    }

    fn worktree(&self, at: &Path) -> Worktree {
        if !at.is_dir() {
            return Worktree::default();
        }
        let place = |what: &str| self.line(at, &["rev-parse", "--path-format=absolute", what]);
        let inside =
            self.line(at, &["rev-parse", "--is-inside-work-tree"]).as_deref() == Some("true");
        if !inside {
            return Worktree::default();
        }
        Worktree {
            inside,
            top_level: place("--show-toplevel"),
            git_dir: place("--absolute-git-dir"),
            common_dir: place("--git-common-dir"),
            head: self.line(at, &["rev-parse", "--verify", "HEAD"]),
            index: self.ask(at, &["ls-files", "-v", "-z"]),
            dirty: Dirty {
                tracked: self.ask(
                    at,
                    &[
                        "diff",
                        "--no-ext-diff",
                        "--no-textconv",
                        "--no-renames",
                        "--ignore-submodules=none",
                        "--name-only",
                        "-z",
                    ],
                ),
                staged: self.ask(
                    at,
                    &[
                        "diff",
                        "--cached",
                        "--no-ext-diff",
                        "--no-textconv",
                        "--no-renames",
                        "--ignore-submodules=none",
                        "--name-only",
                        "-z",
                    ],
                ),
                untracked: self.ask(at, &["ls-files", "--others", "--exclude-standard", "-z"]),
                ignored: self
                    .ask(at, &["ls-files", "--others", "--ignored", "--exclude-standard", "-z"]),
            },
        }
    }

    /// The commit objects, all in one process.
    fn commits(&self, root: &Path, ids: &BTreeSet<String>) -> BTreeMap<String, Vec<u8>> {
        let Some(bytes) = self.batch(root, ids) else { return BTreeMap::new() };
        let mut found = BTreeMap::new();
        let mut rest = bytes.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (head, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            let head = String::from_utf8_lossy(head).into_owned();
            let words: Vec<&str> = head.split(' ').collect();
            let [id, kind, size] = words.as_slice() else { continue };
            let Ok(size) = size.parse::<usize>() else { continue };
            let (content, after) = rest.split_at(size.min(rest.len()));
            rest = after.get(1..).unwrap_or_default();
            if *kind == "commit" {
                found.insert((*id).to_owned(), content.to_vec());
            }
        }
        found
    }

    fn batch(&self, root: &Path, ids: &BTreeSet<String>) -> Option<Vec<u8>> {
        let mut child = self
            .command(root, &["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut input = child.stdin.take()?;
        let mut names = ids.iter().cloned().collect::<Vec<_>>().join("\n");
        names.push('\n');
        // The ids are written beside the reading, or both sides could wait for each other.
        let writer = std::thread::spawn(move || input.write_all(names.as_bytes()));
        let output = child.wait_with_output().ok()?;
        writer.join().ok()?.ok()?;
        Some(output.stdout)
    }

    fn listing(&self, root: &Path, commit: &str, scopes: &[String]) -> Option<Vec<u8>> {
        let mut args = vec!["ls-tree", "-r", "-z", "--full-tree", commit, "--"];
        args.extend(scopes.iter().map(String::as_str));
        self.ask(root, &args)
    }

    fn diff(&self, root: &Path, (from, to): &(String, String)) -> Option<Vec<u8>> {
        self.ask(
            root,
            &[
                "diff",
                "--no-ext-diff",
                "--no-textconv",
                "--no-renames",
                "--ignore-submodules=none",
                "--name-only",
                "-z",
                from,
                to,
                "--",
            ],
        )
    }

    fn replaced(&self, root: &Path) -> Vec<String> {
        let names = self
            .ask(root, &["for-each-ref", "--format=%(refname:lstrip=2)", "refs/replace/"])
            .unwrap_or_default();
        String::from_utf8_lossy(&names).lines().map(str::to_owned).collect()
    }
}
