//! The command line and the only read of the environment.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::{Args, Parser};
use rp_events::Stamp;

use crate::{
    clock::Clock,
    cmd::Verb,
    journal::{Knobs, disk::Real},
    out::{Color, Out},
    workspace::Settings,
};

/// The signed, append-only record of an autonomous research program.
#[derive(Debug, Parser)]
#[command(name = "rp", version, disable_help_subcommand = true, max_term_width = 100)]
pub struct Cli {
    /// Flags of every verb.
    #[command(flatten)]
    pub global: Global,
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Flags of every verb.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Run as if started in DIR.
    #[arg(
        short = 'C',
        value_name = "DIR",
        global = true,
        default_value = ".",
        hide_default_value = true
    )]
    pub dir: PathBuf,
    /// Print one JSON document (NDJSON for streams) on standard output.
    #[arg(long, global = true)]
    pub json: bool,
    /// Sign with this key (else `RP_KEY`, else the workspace's default).
    #[arg(long = "as", value_name = "KEY", global = true)]
    pub key: Option<String>,
    /// Wait so many seconds for another process to release the journal.
    #[arg(
        long,
        value_name = "SECONDS",
        global = true,
        default_value_t = 10,
        hide_default_value = true
    )]
    pub wait: u64,
    /// Use colour.
    #[arg(
        long,
        value_name = "WHEN",
        global = true,
        default_value = "auto",
        hide_default_value = true
    )]
    pub color: Color,
}

/// What the environment says, as far as `rp` listens.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    home: Option<PathBuf>,
    rp_home: Option<PathBuf>,
    data: Option<PathBuf>,
    state: Option<PathBuf>,
    key: Option<String>,
    plain: bool,
    segment_bytes: Option<u64>,
    segment_entries: Option<u64>,
    allocation_step: Option<u64>,
    cache_threshold: Option<u64>,
    clock: Option<String>,
    /// What `RP_LOG` asks to be logged to standard error.
    pub log: Option<String>,
}

/// The variables, as people read them.
pub const ENVIRONMENT: &str = "\
RP_KEY                the key to sign with, where `--as` names none
RP_HOME               the folder of keys and remembered checkpoints, in the place of the XDG folders
XDG_DATA_HOME         keys are kept in its folder `rp` (else `~/.local/share/rp`)
XDG_STATE_HOME        remembered checkpoints are kept in its folder `rp` (else `~/.local/state/rp`)
NO_COLOR, TERM=dumb   no colour
RP_LOG                error, warn, info, debug or trace: what is logged to standard error
RP_CACHE_THRESHOLD    entries above which folded records are cached (4000)
RP_SEGMENT_BYTES      size at which a segment is finished (67108864)
RP_SEGMENT_ENTRIES    entries at which a segment is finished (100000)
RP_ALLOCATION_STEP    bytes by which a segment grows (1048576)
RP_CLOCK              a time that the clock shows in the place of the machine's, for tests
";

impl Environment {
    /// Reads the process environment.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the environment"
    )]
    pub fn read() -> Self {
        let path = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let absolute = |name: &str| path(name).filter(|path| path.is_absolute());
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let number = |name: &str| text(name).and_then(|value| value.parse().ok());
        Self {
            home: absolute("HOME"),
            rp_home: path("RP_HOME"),
            data: absolute("XDG_DATA_HOME"),
            state: absolute("XDG_STATE_HOME"),
            key: text("RP_KEY"),
            plain: text("NO_COLOR").is_some() || text("TERM").is_some_and(|term| term == "dumb"),
            segment_bytes: number("RP_SEGMENT_BYTES"),
            segment_entries: number("RP_SEGMENT_ENTRIES"),
            allocation_step: number("RP_ALLOCATION_STEP"),
            cache_threshold: number("RP_CACHE_THRESHOLD"),
            clock: text("RP_CLOCK"),
            log: text("RP_LOG"),
        }
    }

    fn folder(&self, xdg: Option<&PathBuf>, fallback: &str) -> PathBuf {
        let home = self.home.clone().unwrap_or_else(|| PathBuf::from("."));
        match (&self.rp_home, xdg) {
            (Some(rp_home), _) => rp_home.clone(),
            (None, Some(xdg)) => xdg.join("rp"),
            (None, None) => home.join(fallback),
        }
    }

    fn knobs(&self) -> Knobs {
        let default = Knobs::default();
        Knobs {
            segment_bytes_max: self.segment_bytes.unwrap_or(default.segment_bytes_max),
            segment_entries_max: self.segment_entries.unwrap_or(default.segment_entries_max),
            allocation_step_bytes: self.allocation_step.unwrap_or(default.allocation_step_bytes),
        }
    }
}

impl Global {
    /// The channels that these flags ask for.
    pub fn out(&self, environment: &Environment) -> Out {
        Out::new(self.json, self.color, environment.plain)
    }

    /// Everything that a verb needs of flags and environment.
    pub fn settings(&self, environment: &Environment) -> Settings {
        let clock = environment.clock.as_deref().and_then(|text| Stamp::parse(text).ok());
        Settings {
            start: self.dir.clone(),
            keys: absolute(&environment.folder(environment.data.as_ref(), ".local/share/rp"))
                .join("keys"),
            known: absolute(&environment.folder(environment.state.as_ref(), ".local/state/rp"))
                .join("known"),
            key: self.key.clone().or_else(|| environment.key.clone()),
            wait: Duration::from_secs(self.wait),
            knobs: environment.knobs(),
            cache_threshold: environment.cache_threshold.unwrap_or(4000),
            clock: Arc::new(clock.map_or_else(Clock::default, Clock::fixed)),
            disk: Arc::new(Real),
        }
    }
}

/// Where a program is, by the path of the environment or the usual one; only absolute folders of it count.
#[expect(clippy::disallowed_methods, reason = "this file is the one that reads the environment")]
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let places = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    places.map(|folder| folder.join(name)).find(|place| place.is_file())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether the arguments ask for JSON, even where they do not parse.
pub fn wants_json(args: &[OsString]) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json")
}
