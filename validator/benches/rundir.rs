//! How long run directories take, on a real disk: `cargo bench -p rp-validator --bench rundir -- MODE`.
//!
//! `sizes` (the default): closed directories of 1,000, 3,000 and 10,000 launches, Git not asked.
//! `mutations FLIPS`: every digit of a closed directory changed, and so many bits flipped, in memory.
//! `fuzz SECONDS`: bytes and directories at random, in memory; ends with a panic or with the count.

#![expect(
    clippy::disallowed_methods,
    reason = "a measurement looks at the clock, and makes what it measures"
)]
#![expect(clippy::unwrap_used, reason = "a measurement that cannot be made fails")]
#![expect(clippy::print_stdout, reason = "figures are what this is for")]
#![expect(
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "figures for people, chosen at random"
)]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use rp_validator::rundir::{
    Git, Inquiry, Question,
    artifacts::workspace::directory_identity,
    bytes::parse,
    closure::Demand,
    disk::{Machine, Node},
    scenario::{EVALUATOR, EXECUTABLE, Fate, Ground, attempt, build, build_on, judge, mutations},
    verdict::Class,
};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    match args.first().map(String::as_str) {
        Some("judge") => judge_one(Path::new(&args[1])),
        Some("mutations") => {
            change_all(args.get(1).and_then(|flips| flips.parse().ok()).unwrap_or(1000));
        }
        Some("fuzz") => fuzz(Duration::from_secs(args[1].parse().unwrap())),
        _ => [100, 300, 1000].into_iter().for_each(size),
    }
}

/// Writes a closed directory of so many attempts of ten launches, and judges it in a process of its own.
fn size(attempts: usize) {
    let base = std::env::temp_dir().join(format!("rp-bench-{}-{attempts}", std::process::id()));
    fs::create_dir_all(&base).unwrap();
    let base = fs::canonicalize(base).unwrap();
    let ground = ground(&base, attempts);
    let stages = "noisy ; repetitions 4 ; stages development validation robustness";
    let mut built =
        build_on(&format!("{stages} ; attempts {attempts} ; window 400 ; baseline"), ground)
            .unwrap();
    let fate =
        Fate { role: "candidate".to_owned(), status: "discard".to_owned(), ..Fate::default() };
    for _ in 1..attempts {
        attempt(&mut built.world, &fate);
    }
    built.world.end();
    built.world.close();
    for (path, node) in &built.world.disk.nodes {
        match node {
            Node::File(bytes) => {
                fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
            Node::Folder => fs::create_dir_all(path).unwrap(),
            Node::Program(_) | Node::Unreadable | Node::Link(_) | Node::Special => {}
        }
    }
    let output =
        Command::new(std::env::current_exe().unwrap()).arg("judge").arg(&base).output().unwrap();
    print!("{attempts} attempts: {}", String::from_utf8_lossy(&output.stdout));
    fs::remove_dir_all(base).unwrap();
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// The places of a run, with the identities of the directories that its worktrees would have.
fn ground(base: &Path, attempts: usize) -> Ground {
    let program = base.join("evaluate");
    fs::write(&program, EXECUTABLE).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut identities = BTreeMap::new();
    let mut remember = |path: PathBuf| {
        fs::create_dir_all(&path).unwrap();
        let path = text(&path);
        identities.insert(path.clone(), directory_identity(&Machine, &path).unwrap());
    };
    remember(base.join("repo/.git"));
    for index in 0..attempts {
        for arm in ["incumbent", "candidate"] {
            let place = base.join(format!("ws/a-{index:03}-{arm}"));
            remember(place.clone());
            fs::write(place.join("eval.py"), EVALUATOR).unwrap();
            remember(base.join(format!("repo/.git/worktrees/a-{index:03}-{arm}")));
        }
    }
    Ground {
        root: text(&base.join("repo")),
        workspaces: text(&base.join("ws")),
        program: text(&program),
        identities,
        ..Ground::default()
    }
}

fn judge_one(base: &Path) {
    let directory = text(&base.join("repo/.research-loop/run"));
    let accepted = "f".repeat(64);
    let question = Question {
        directory: &directory,
        trusted_root: None,
        git_root: None,
        validator: Some(&accepted),
        demand: Demand { allow_incomplete: false, require_finalized: true },
    };
    let start = Instant::now();
    let inquiry = Inquiry::open(&Machine, question);
    let verdict = inquiry.judge(Git::NotChecked);
    let taken = start.elapsed();
    let line = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks: u64 =
        line.split(' ').skip(13).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: not known here");
    let launches = fs::read_dir(base.join("repo/.research-loop/run/evidence")).unwrap().count();
    println!(
        "{launches} launches, {} events, {:.2} s ({}.{:02} s of a core), {}, {} ({} errors)",
        verdict.journal_event_count,
        taken.as_secs_f64(),
        ticks / 100,
        ticks % 100,
        peak.split_whitespace().collect::<Vec<_>>().join(" "),
        verdict.word(),
        verdict.errors.len()
    );
    for error in verdict.errors.iter().take(3) {
        println!("  {} {} {:?} {}", error.code, error.path, error.line, error.message);
    }
}

/// Every digit of every file, not a sample of them.
fn change_all(flips: usize) {
    for script in ["baseline ; close", "own ; baseline ; close"] {
        let built = build(script).unwrap();
        let all = mutations(&built.world, 1, flips);
        let total = all.len();
        let accepted = all.into_iter().filter(|mutation| {
            let mut changed = built.clone();
            changed.world.disk.put(&mutation.path, Node::File(mutation.bytes.clone()));
            judge(&changed).class != Class::Invalid
        });
        let accepted: Vec<String> =
            accepted.map(|mutation| format!("{}: {}", mutation.path, mutation.what)).collect();
        println!("{script}: {total} changes, {} accepted", accepted.len());
        for what in accepted {
            println!("  {what}");
        }
    }
}

/// Numbers that look random and are the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }
}

/// What JSON and its faults are made of.
const PIECES: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "\\u",
    "d800",
    "1e999",
    "-",
    "0",
    ".5",
    "e+",
    "null",
    "true",
    "\u{1f600}",
    "\r",
    "\n",
    " ",
    "\"a\"",
    "NaN",
    "\u{0}",
    "\u{feff}",
];

/// Bytes at random through the reader, and files at random through the whole validator.
fn fuzz(time: Duration) {
    let start = Instant::now();
    let mut draw = Draw(0x2545_f491_4f6c_dd1d);
    let script = "final-test ; baseline ; candidate ; candidate discard ; final ; close";
    let built = build(script).unwrap();
    let nodes = built.world.disk.nodes.keys();
    let files: Vec<String> =
        nodes.filter(|path| path.contains("/run/") && path.contains('.')).cloned().collect();
    let (mut read, mut judged) = (0_u64, 0_u64);
    while start.elapsed() < time {
        for _ in 0..200 {
            drop(parse(&noise(&mut draw)));
            read += 1;
        }
        let mut changed = built.clone();
        for _ in 0..=draw.below(3) {
            let path = &files[draw.below(files.len())];
            let Some(Node::File(bytes)) = changed.world.disk.nodes.get(path) else { continue };
            let bytes = damaged(bytes, &mut draw);
            changed.world.disk.put(path, Node::File(bytes));
        }
        assert!([0, 2, 3].contains(&judge(&changed).exit()));
        judged += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{read} inputs of the reader, {judged} directories, {seconds:.0} s, no panic");
}

fn noise(draw: &mut Draw) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..draw.below(400) {
        if draw.below(4) == 0 {
            bytes.push(draw.below(256) as u8);
        } else {
            bytes.extend(PIECES[draw.below(PIECES.len())].bytes());
        }
    }
    bytes
}

fn damaged(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=draw.below(6) {
        let place = draw.below(bytes.len() + 1);
        match draw.below(4) {
            0 if place < bytes.len() => bytes[place] = draw.below(256) as u8,
            1 => bytes.truncate(place),
            2 => drop(bytes.splice(place..place, PIECES[draw.below(PIECES.len())].bytes())),
            _ => {
                let end = (place + draw.below(64)).min(bytes.len());
                drop(bytes.splice(place..end, []));
            }
        }
    }
    bytes
}
