//! `rp init`: a workspace with its keys and its first entries.

use std::{
    fs, io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use rp_events::{
    Event, EventId, KeyName, Role, SecretKey, Seq, Stamp,
    entry::{self, Envelope},
    note,
    refusal::general,
    trust::{self, JournalOpened, KeyAuthorized, RECORDER, ROOT, SUITE},
};
use rp_replay::State;
use serde_json::json;

use crate::{
    error::Failure,
    exit::Exit,
    journal::{self, Item, OpenError, Paths},
    keyring::Keyring,
    out::Out,
    workspace::{Config, Settings},
};

/// The name of the key that signs when no other is named.
const OWNER: &str = "owner";

/// `rp init`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What people call the program.
    #[arg(long)]
    title: Option<String>,
    /// Names the log in notes: `a-z 0-9 . / -` (else `rp.local/` and 16 random digits).
    #[arg(long)]
    origin: Option<String>,
    /// `strict`, or `compat` for imported history and the samples.
    #[arg(long, default_value = "strict", value_parser = ["strict", "compat"])]
    profile: String,
}

/// A workspace that was made.
#[derive(Debug)]
pub(crate) struct Made {
    /// The journal's id.
    pub(crate) log_id: EventId,
    /// Its origin.
    pub(crate) origin: String,
    /// Where the keys are.
    pub(crate) keys: PathBuf,
}

/// Makes the workspace and says what it made.
pub(crate) fn run(args: &Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let root = settings.start.clone();
    let made = make(args, &root, settings)?;
    let names = [ROOT, "log", OWNER, RECORDER];
    if out.json {
        out.document(&json!({
            "schema": "rp.init/1",
            "workspace": fs::canonicalize(&root).unwrap_or(root).display().to_string(),
            "log_id": made.log_id.to_string(),
            "origin": made.origin,
            "profile": args.profile,
            "keys": names,
            "keys_folder": made.keys.display().to_string(),
            "default_key": OWNER,
        }))?;
    } else {
        out.data(&format!(
            "workspace  {}\njournal    {} ({})\nprofile    {}\nkeys       {} in {}\nsigns      {OWNER}, where no other key is named\n",
            fs::canonicalize(&root).unwrap_or(root).display(),
            made.origin,
            made.log_id.short(),
            args.profile,
            names.join(", "),
            made.keys.display(),
        ))?;
        out.talk(
            "next: `rp key new NAME --role ROLE` for each agent, then `rp append program.created`",
        );
    }
    Ok(Exit::DONE)
}

impl Args {
    /// What `rp quickstart` asks for.
    pub(crate) fn sample() -> Self {
        Self {
            title: Some("Sample program".to_owned()),
            origin: None,
            profile: "compat".to_owned(),
        }
    }
}

/// Makes a workspace in `root`, whole or not at all.
pub(crate) fn make(args: &Args, root: &Path, settings: &Settings) -> Result<Made, Failure> {
    fs::create_dir_all(root).map_err(|error| Failure::io("make", root, &error))?;
    let target = root.join(".rp");
    if target.exists() {
        let message = format!("`{}` exists", target.display());
        return Err(
            Failure::new(Exit::EXISTS, "exists", message).hint("`rp status` shows what is there")
        );
    }
    let secrets = Secrets::draw(settings);
    let origin = match &args.origin {
        Some(origin) => origin.clone(),
        None => {
            format!("rp.local/{}", data_encoding::HEXLOWER.encode(&settings.clock.random::<8>()))
        }
    };
    if !note::is_origin(&origin) {
        return Err(Failure::usage(format!(
            "an origin is 1 to 200 of `a-z 0-9 . / -` and begins with a letter or digit, found `{origin}`"
        )));
    }
    let items = first_entries(args, &origin, &secrets, settings)?;
    let log_id = items.first().map_or(EventId::ZERO, |item| item.id);
    let keyring = Keyring::new(&settings.keys, log_id);
    secrets.keep(&keyring)?;
    // Everything is made aside and gets its name last, so that a crash leaves no half workspace.
    let aside = root.join(format!(".rp-{}.new", log_id.short()));
    place(&aside, &items, log_id, settings)
        .and_then(|()| {
            settings
                .disk
                .rename(&aside, &target)
                .map_err(|error| Failure::io("name", &target, &error))
        })
        .and_then(|()| {
            settings.disk.sync_folder(root).map_err(|error| Failure::io("sync", root, &error))
        })?;
    Ok(Made { log_id, origin, keys: keyring.folder().to_owned() })
}

struct Secrets {
    root: SecretKey,
    log: SecretKey,
    owner: SecretKey,
    recorder: SecretKey,
}

impl Secrets {
    fn draw(settings: &Settings) -> Self {
        let key = || SecretKey::from_seed(&settings.clock.random());
        Self { root: key(), log: key(), owner: key(), recorder: key() }
    }

    fn keep(&self, keyring: &Keyring) -> Result<(), Failure> {
        let named = [
            (ROOT, &self.root),
            ("log", &self.log),
            (OWNER, &self.owner),
            (RECORDER, &self.recorder),
        ];
        named.into_iter().try_for_each(|(name, key)| keyring.keep(name, key).map(|_| ()))
    }
}

/// The genesis and the two authorizations, each admitted by the rules like any other event.
fn first_entries(
    args: &Args,
    origin: &str,
    secrets: &Secrets,
    settings: &Settings,
) -> Result<Vec<Item>, Failure> {
    let mut state = State::default();
    let mut items: Vec<Item> = Vec::new();
    let genesis = Event::Trust(trust::Event::JournalOpened(Box::new(JournalOpened {
        origin: origin.to_owned(),
        title: args.title.clone(),
        profile: args.profile.clone(),
        suite: SUITE.to_owned(),
        root_keys: vec![secrets.root.public()],
        threshold: 1,
        log_key: secrets.log.public(),
    })));
    admit(&genesis, secrets, settings, &mut state, &mut items)?;
    let log_id = items.first().map_or(EventId::ZERO, |item| item.id);
    for (name, role, key) in
        [(OWNER, "user", &secrets.owner), (RECORDER, RECORDER, &secrets.recorder)]
    {
        let event = Event::Trust(trust::Event::KeyAuthorized(Box::new(KeyAuthorized {
            public: key.public(),
            roles: vec![Role::parse(role).expect("our roles are identifiers")],
            name: KeyName::parse(name).expect("our names are identifiers"),
            pop: key.prove_possession(log_id, state.next()),
            max_seq: None,
        })));
        admit(&event, secrets, settings, &mut state, &mut items)?;
    }
    Ok(items)
}

fn admit(
    event: &Event,
    secrets: &Secrets,
    settings: &Settings,
    state: &mut State,
    items: &mut Vec<Item>,
) -> Result<(), Failure> {
    let data = event.encode()?;
    let kind = event.kind();
    let now: Stamp = settings.clock.now();
    let envelope = Envelope {
        seq: Seq(state.next().0),
        prev: items.last().map_or(EventId::ZERO, |item| item.id),
        kind: kind.name.to_owned(),
        version: kind.version,
        kid: secrets.root.public().kid(),
        time: now,
        at: None,
        idem: rp_events::Idem(settings.clock.random()),
        req: entry::request(kind.name, kind.version, &data),
        nonce: settings.clock.random(),
        stream: None,
        cause: Vec::new(),
    };
    let body = entry::encode_body(&envelope, &data);
    let entry = entry::assemble(&body, &secrets.root.sign_event(&body));
    let parsed = entry::parse(&entry).map_err(|error| {
        Failure::new(Exit::REFUSED, general::BAD_ENVELOPE.name, error.to_string())
    })?;
    let admitted = rp_events::verify(parsed, state).and_then(|verified| state.admit(verified))?;
    let id = admitted.entry().id();
    state.apply(&admitted);
    items.push(Item { id, entry });
    Ok(())
}

fn place(
    aside: &Path,
    items: &[Item],
    log_id: EventId,
    settings: &Settings,
) -> Result<(), Failure> {
    let paths = Paths { folder: aside.join("journal"), known: settings.known.clone() };
    journal::create(&settings.disk, &paths, settings.knobs, log_id, items, &settings.clock)
        .map_err(|error| match error {
            OpenError::Io(error) => Failure::io("make the journal in", aside, &error),
            OpenError::Lock(_) | OpenError::ReadOnly(_) | OpenError::TornTail(_) => Failure::new(
                Exit::IO,
                "io",
                format!("cannot make the journal in `{}`", aside.display()),
            ),
        })?;
    let config = Config { default_key: OWNER.to_owned() };
    let config =
        format!("{}\n", serde_json::to_string_pretty(&config).expect("the configuration is plain"));
    let ignore = "cache/\njournal/LOCK\nblobs/LOCK\nblobs/aside/\ntiles/\n";
    [("config.json", config.as_str()), (".gitignore", ignore)].into_iter().try_for_each(
        |(name, text)| {
            let path = aside.join(name);
            write_new(&path, text).map_err(|error| Failure::io("write", &path, &error))
        },
    )
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    use io::Write as _;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?;
    file.write_all(text.as_bytes())
}
