//! `rp doctor`: machine, keys and workspace; and it really verifies.

use std::fs;

use rp_replay::Scope;
use serde_json::json;

use super::validate;
use crate::{
    error::Failure,
    exit::Exit,
    journal::{disk::Space, lock},
    out::Out,
    workspace::{Settings, Workspace},
};

/// `rp doctor`
#[derive(Debug, clap::Args)]
pub struct Args {}

/// How an examination ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Good,
    Warning,
    Bad,
}

impl Sign {
    fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Warning => "warning",
            Self::Bad => "bad",
        }
    }
}

struct Examined {
    what: &'static str,
    sign: Sign,
    text: String,
}

/// Examines and reports; ends as the verification does.
pub(crate) fn run(_: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    let report = validate::check(&workspace, Scope::Whole, None);
    let class = report.class();
    let all = [
        version(),
        clock(settings),
        file_system(&workspace),
        space(&workspace),
        lock_state(&workspace),
        keys(&workspace),
        remembered(&workspace),
        Examined {
            what: "journal",
            sign: if class.exit() == 0 { Sign::Good } else { Sign::Bad },
            text: format!(
                "{}: {} entries, {} signatures, {} derived files looked at",
                class.verdict(),
                report.counts.entries,
                report.counts.signatures,
                report.counts.views
            ),
        },
    ];
    if out.json {
        let rows: Vec<_> = all
            .iter()
            .map(|e| json!({ "what": e.what, "sign": e.sign.word(), "text": e.text }))
            .collect();
        out.document(
            &json!({ "schema": "rp.doctor/1", "examined": rows, "verdict": class.verdict() }),
        )?;
    } else {
        for Examined { what, sign, text } in &all {
            out.data(&format!("{:8}  {what:12}  {text}\n", sign.word()))?;
        }
    }
    Ok(Exit(class.exit()))
}

fn version() -> Examined {
    let text = format!(
        "rp {} on {} {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    Examined { what: "version", sign: Sign::Good, text }
}

fn clock(settings: &Settings) -> Examined {
    let now = settings.clock.now();
    // A machine whose clock was never set shows its epoch or build date.
    let sane = now.to_string().as_str() >= "2025-01-01";
    let sign = if sane { Sign::Good } else { Sign::Warning };
    Examined { what: "clock", sign, text: now.to_string() }
}

/// Names of file systems whose locks or syncs do not hold across machines, by their magic number.
const UNSAFE: &[(i64, &str)] = &[
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
];

fn file_system(workspace: &Workspace) -> Examined {
    let what = "file system";
    match rustix::fs::statfs(&workspace.paths.folder) {
        Err(error) => {
            Examined { what, sign: Sign::Warning, text: format!("cannot be asked: {error}") }
        }
        Ok(stat) => {
            #[expect(clippy::useless_conversion, reason = "other machines have another width")]
            let kind = i64::from(stat.f_type);
            match UNSAFE.iter().find(|(magic, _)| *magic == kind) {
                None => Examined {
                    what,
                    sign: Sign::Good,
                    text: format!("type {kind:#x}; locks and syncs hold"),
                },
                Some((_, name)) => {
                    let text = format!(
                        "{name}: locks and syncs may not hold; keep the workspace on a local disk"
                    );
                    Examined { what, sign: Sign::Warning, text }
                }
            }
        }
    }
}

fn space(workspace: &Workspace) -> Examined {
    let what = "space";
    match workspace.settings.disk.space(&workspace.paths.folder) {
        Err(error) => {
            Examined { what, sign: Sign::Warning, text: format!("cannot be asked: {error}") }
        }
        Ok(Space { free, total }) => {
            let reserve = crate::journal::RESERVE_BYTES_MAX.min(total / 20);
            let sign = if free >= reserve { Sign::Good } else { Sign::Bad };
            let text = format!("{} MiB free, {} MiB kept in reserve", free >> 20, reserve >> 20);
            Examined { what, sign, text }
        }
    }
}

fn lock_state(workspace: &Workspace) -> Examined {
    let what = "lock";
    match lock::is_held(&workspace.paths.lock()) {
        Ok(false) => Examined { what, sign: Sign::Good, text: "free".to_owned() },
        Ok(true) => {
            let holder = fs::read_to_string(workspace.paths.lock()).unwrap_or_default();
            Examined { what, sign: Sign::Warning, text: format!("held by {}", holder.trim()) }
        }
        Err(error) => Examined { what, sign: Sign::Bad, text: error.to_string() },
    }
}

fn keys(workspace: &Workspace) -> Examined {
    let what = "keys";
    let (Ok(keyring), Ok(reading)) = (workspace.keyring(), workspace.read(None)) else {
        return Examined { what, sign: Sign::Bad, text: "the journal cannot be read".to_owned() };
    };
    let active: Vec<_> = reading
        .state
        .trust()
        .keys()
        .into_iter()
        .filter(|key| key.ended_before(reading.state.next()).is_none())
        .collect();
    let here = active.iter().filter(|key| keyring.holds(&key.name, &key.public.kid()));
    let bad: Vec<String> = here
        .clone()
        .filter_map(|key| keyring.load(&key.name, &key.public.kid()).err())
        .map(|failure| failure.message)
        .collect();
    let sign = if bad.is_empty() { Sign::Good } else { Sign::Bad };
    let text = format!(
        "{} may sign, {} secrets here in {}",
        active.len(),
        here.count(),
        keyring.folder().display()
    );
    Examined { what, sign, text: [vec![text], bad].concat().join("; ") }
}

fn remembered(workspace: &Workspace) -> Examined {
    let what = "remembered";
    let slots = workspace.log_id().ok().and_then(|log_id| workspace.paths.read_remembered(log_id));
    let Some(head) = slots.and_then(|slots| slots.head) else {
        let text = "no checkpoint is remembered on this machine; a restored older copy would not be noticed";
        return Examined { what, sign: Sign::Warning, text: text.to_owned() };
    };
    let text =
        format!("a checkpoint of {} entries in {}", head.size(), workspace.paths.known.display());
    Examined { what, sign: Sign::Good, text }
}
