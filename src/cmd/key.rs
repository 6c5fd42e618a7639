//! `rp key`: make, list, show, grant, revoke, rotate.

use std::sync::Arc;

use rp_events::{
    Event, KeyName, Kid, Refusal, Role, SecretKey, entry,
    refusal::general,
    trust::{self, KeyAuthorized, KeyRevoked, KeyRotated, ROOT, RoleGranted},
};
use rp_replay::{State, trust::KeyRecord};
use serde_json::{Value, json};

use crate::{
    engine::{Draft, Engine, Receipt, fresh_idem},
    error::Failure,
    exit::Exit,
    out::Out,
    workspace::{Settings, Workspace},
};

/// `rp key`
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: KeyVerb,
}

#[derive(Debug, clap::Subcommand)]
enum KeyVerb {
    /// Make a key and authorize it with the root key.
    New(NewArgs),
    /// List the journal's keys.
    List,
    /// Show one key.
    Show {
        /// Its name.
        name: String,
    },
    /// Give a key one more role.
    Grant(GrantArgs),
    /// End a key and mark what it signed from an entry on as suspect.
    Revoke(RevokeArgs),
    /// Replace a key's secret by a new one; name and roles stay.
    Rotate(RotateArgs),
}

#[derive(Debug, clap::Args)]
struct NewArgs {
    /// Its name, unique in this journal.
    name: String,
    /// The roles it holds.
    #[arg(long = "role", value_name = "ROLE", long_help = role_help())]
    roles: Vec<String>,
    /// The last entry that it may sign.
    #[arg(long, value_name = "SEQ")]
    max_seq: Option<u64>,
    /// Your own name for this request: repeating it records nothing twice.
    #[arg(long, value_name = "TEXT")]
    idem: Option<String>,
}

#[derive(Debug, clap::Args)]
struct GrantArgs {
    /// The key's name.
    name: String,
    /// The role.
    #[arg(long, value_name = "ROLE", long_help = role_help())]
    role: String,
    /// Your own name for this request: repeating it records nothing twice.
    #[arg(long, value_name = "TEXT")]
    idem: Option<String>,
}

#[derive(Debug, clap::Args)]
struct RevokeArgs {
    /// The key's name.
    name: String,
    /// Why.
    #[arg(long)]
    reason: String,
    /// The first entry of it that is no longer trusted (else none of those recorded).
    #[arg(long, value_name = "SEQ")]
    suspect_from: Option<u64>,
    /// Your own name for this request: repeating it records nothing twice.
    #[arg(long, value_name = "TEXT")]
    idem: Option<String>,
}

#[derive(Debug, clap::Args)]
struct RotateArgs {
    /// The key's name.
    name: String,
    /// The last entry that the old secret may still sign.
    #[arg(long, value_name = "SEQ")]
    overlap_until: Option<u64>,
    /// Your own name for this request: repeating it records nothing twice.
    #[arg(long, value_name = "TEXT")]
    idem: Option<String>,
}

fn role_help() -> String {
    let roles = trust::ROLES.iter().map(|(name, about)| format!("  {name:16}  {about}\n"));
    format!("A role:\n{}", roles.collect::<String>())
}

/// Does what the key verb says.
pub(crate) fn run(args: Args, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let workspace = Workspace::find(settings)?;
    match args.verb {
        KeyVerb::New(args) => new(&args, &workspace, out),
        KeyVerb::List => list(&workspace, out),
        KeyVerb::Show { name } => show(&name, &workspace, out),
        KeyVerb::Grant(args) => grant(&args, &workspace, out),
        KeyVerb::Revoke(args) => revoke(&args, &workspace, out),
        KeyVerb::Rotate(args) => rotate(&args, &workspace, out),
    }
}

fn new(args: &NewArgs, workspace: &Workspace, out: &Out) -> Result<Exit, Failure> {
    let name = KeyName::parse(&args.name).map_err(|why| Refusal::new(&general::BAD_TEXT, why))?;
    let roles = args.roles.iter().map(|role| parse_role(role)).collect::<Result<Vec<_>, _>>()?;
    let mut engine = open(workspace, out)?;
    let same = |event: &trust::Event| match event {
        trust::Event::KeyAuthorized(key)
            if (&key.name, &key.roles, key.max_seq) == (&name, &roles, args.max_seq) =>
        {
            Some(key.public.kid())
        }
        _ => None,
    };
    if let Some((receipt, kid)) = repeated(args.idem.as_ref(), workspace, &engine, same)? {
        return answer("key.new", &receipt, &args.name, &kid, &engine, out);
    }
    if engine.state().trust().named(&args.name).is_some() {
        let message = format!("a key is named `{}`", args.name);
        return Err(Failure::new(Exit::EXISTS, "key-exists", message)
            .hint(format!("`rp key show {}` shows it", args.name))
            .hint(format!("`rp key rotate {}` gives it a new secret", args.name)));
    }
    let (receipt, kid) =
        admit_new(&name, roles, args.max_seq, args.idem.as_ref(), workspace, &mut engine)?;
    answer("key.new", &receipt, &args.name, &kid, &engine, out)
}

/// Makes a key and authorizes it, for a name that is free.
pub(crate) fn authorize(
    name: &str,
    roles: &[&str],
    workspace: &Workspace,
    engine: &mut Engine,
) -> Result<(), Failure> {
    let name = KeyName::parse(name).map_err(|why| Refusal::new(&general::BAD_TEXT, why))?;
    let roles = roles.iter().map(|role| parse_role(role)).collect::<Result<Vec<_>, _>>()?;
    admit_new(&name, roles, None, None, workspace, engine).map(|_| ())
}

fn admit_new(
    name: &KeyName,
    roles: Vec<Role>,
    max_seq: Option<u64>,
    idem: Option<&String>,
    workspace: &Workspace,
    engine: &mut Engine,
) -> Result<(Receipt, Kid), Failure> {
    let secret = SecretKey::from_seed(&workspace.settings.clock.random());
    let event = trust::Event::KeyAuthorized(Box::new(KeyAuthorized {
        public: secret.public(),
        roles,
        name: name.clone(),
        pop: secret.prove_possession(engine.writer().log_id(), engine.writer().chain().next()),
        max_seq,
    }));
    let receipt = admit_secret(event, name.as_str(), &secret, idem, workspace, engine)?;
    Ok((receipt, secret.public().kid()))
}

fn parse_role(text: &str) -> Result<Role, Failure> {
    let role = Role::parse(text).map_err(|why| Refusal::new(&general::BAD_TEXT, why))?;
    Ok(role)
}

/// Keeps the secret first, so that no journal ever names a key whose secret was lost in a crash.
fn admit_secret(
    event: trust::Event,
    name: &str,
    secret: &SecretKey,
    idem: Option<&String>,
    workspace: &Workspace,
    engine: &mut Engine,
) -> Result<Receipt, Failure> {
    let keyring = workspace.keyring()?;
    keyring.keep(name, secret)?;
    let outcome = record(event, idem, workspace, engine);
    match &outcome {
        // The outcome of a failed sync is unknown: the key may have been admitted, so its secret stays.
        Err(failure) if failure.code != "outcome-unknown" => {
            keyring.discard(name, &secret.public().kid());
        }
        Err(_) | Ok(_) => {}
    }
    outcome
}

fn record(
    event: trust::Event,
    idem: Option<&String>,
    workspace: &Workspace,
    engine: &mut Engine,
) -> Result<Receipt, Failure> {
    let draft = Draft {
        event: Event::Trust(event),
        stream: None,
        at: None,
        cause: Vec::new(),
        idem: idem.cloned().unwrap_or_else(|| fresh_idem(workspace)),
        signer: workspace.settings.key.clone().unwrap_or_else(|| ROOT.to_owned()),
    };
    let committed = engine.commit(&[draft])?;
    match (committed.refused, committed.receipts.into_iter().next()) {
        (Some(failure), _) => Err(failure),
        (None, Some(receipt)) => Ok(receipt),
        (None, None) => unreachable!("a draft is recorded or refused"),
    }
}

/// What an earlier run of the same request recorded, if the caller gave it a name.
///
/// A repetition draws another secret and stands at a later entry, so its payload differs; `same` compares what
/// the caller said, and gives the key that the request was about.
fn repeated(
    idem: Option<&String>,
    workspace: &Workspace,
    engine: &Engine,
    same: impl FnOnce(&trust::Event) -> Option<Kid>,
) -> Result<Option<(Receipt, Kid)>, Failure> {
    let known = |idem: &String| engine.state().record().recorded_under(&entry::idem(idem));
    let (Some(idem), Some(seq)) = (idem, idem.and_then(known)) else { return Ok(None) };
    let bytes = workspace.entry(seq)?;
    let Ok(parsed) = entry::parse(&bytes) else { return Ok(None) };
    let Ok(Event::Trust(event)) = Event::decode(&parsed.envelope.kind, parsed.data) else {
        return Ok(None);
    };
    Ok(same(&event).map(|kid| {
        let receipt = Receipt {
            seq,
            id: parsed.id,
            kind: event.kind().name.to_owned(),
            stream: "trust".to_owned(),
            duplicate: true,
            idem: idem.clone(),
        };
        (receipt, kid)
    }))
}

/// Whether a key, current or replaced, has this name.
fn is_named(engine: &Engine, kid: &Kid, name: &str) -> bool {
    engine.state().trust().key(kid).is_some_and(|key| key.name == name)
}

fn open(workspace: &Workspace, out: &Out) -> Result<Engine, Failure> {
    let engine = Engine::open(workspace)?;
    engine.notes.iter().for_each(|note| out.note(note));
    Ok(engine)
}

fn named(state: &State, name: &str) -> Result<(Kid, Arc<KeyRecord>), Failure> {
    state.trust().named(name).ok_or_else(|| {
        let why = format!("the journal knows no key `{}`", rp_events::text::shown(name));
        Failure::from(Refusal::new(&general::UNKNOWN_KEY, why))
    })
}

fn grant(args: &GrantArgs, workspace: &Workspace, out: &Out) -> Result<Exit, Failure> {
    let role = parse_role(&args.role)?;
    let mut engine = open(workspace, out)?;
    let (kid, _) = named(engine.state(), &args.name)?;
    let event = trust::Event::RoleGranted(Box::new(RoleGranted { kid, role }));
    let receipt = record(event, args.idem.as_ref(), workspace, &mut engine)?;
    answer("key.grant", &receipt, &args.name, &kid, &engine, out)
}

fn revoke(args: &RevokeArgs, workspace: &Workspace, out: &Out) -> Result<Exit, Failure> {
    let mut engine = open(workspace, out)?;
    let same = |event: &trust::Event| match event {
        trust::Event::KeyRevoked(revoked)
            if revoked.reason == args.reason
                && revoked.suspect_from_seq
                    == args.suspect_from.unwrap_or(revoked.effective_seq)
                && is_named(&engine, &revoked.kid, &args.name) =>
        {
            Some(revoked.kid)
        }
        _ => None,
    };
    if let Some((receipt, kid)) = repeated(args.idem.as_ref(), workspace, &engine, same)? {
        return answer("key.revoke", &receipt, &args.name, &kid, &engine, out);
    }
    let (kid, _) = named(engine.state(), &args.name)?;
    let seq = engine.writer().chain().next().0;
    let event = trust::Event::KeyRevoked(Box::new(KeyRevoked {
        kid,
        effective_seq: seq,
        suspect_from_seq: args.suspect_from.unwrap_or(seq),
        reason: args.reason.clone(),
    }));
    let receipt = record(event, args.idem.as_ref(), workspace, &mut engine)?;
    answer("key.revoke", &receipt, &args.name, &kid, &engine, out)
}

fn rotate(args: &RotateArgs, workspace: &Workspace, out: &Out) -> Result<Exit, Failure> {
    let mut engine = open(workspace, out)?;
    let same = |event: &trust::Event| match event {
        trust::Event::KeyRotated(rotation)
            if rotation.overlap_until_seq == args.overlap_until
                && is_named(&engine, &rotation.old, &args.name) =>
        {
            Some(rotation.new.kid())
        }
        _ => None,
    };
    if let Some((receipt, kid)) = repeated(args.idem.as_ref(), workspace, &engine, same)? {
        return answer("key.rotate", &receipt, &args.name, &kid, &engine, out);
    }
    let (old, _) = named(engine.state(), &args.name)?;
    let secret = SecretKey::from_seed(&workspace.settings.clock.random());
    let event = trust::Event::KeyRotated(Box::new(KeyRotated {
        old,
        new: secret.public(),
        pop: secret.prove_possession(engine.writer().log_id(), engine.writer().chain().next()),
        overlap_until_seq: args.overlap_until,
    }));
    let receipt =
        admit_secret(event, &args.name, &secret, args.idem.as_ref(), workspace, &mut engine)?;
    answer("key.rotate", &receipt, &args.name, &secret.public().kid(), &engine, out)
}

fn answer(
    verb: &str,
    receipt: &Receipt,
    name: &str,
    kid: &Kid,
    engine: &Engine,
    out: &Out,
) -> Result<Exit, Failure> {
    let roles: Vec<String> = engine
        .state()
        .trust()
        .key(kid)
        .map(|key| key.roles.iter().map(ToString::to_string).collect())
        .unwrap_or_default();
    if out.json {
        out.document(&json!({
            "schema": format!("rp.{verb}/1"),
            "name": name,
            "kid": kid.to_string(),
            "roles": roles,
            "seq": receipt.seq.0,
            "event_id": receipt.id.to_string(),
            "duplicate": receipt.duplicate,
            "idem": receipt.idem,
        }))?;
    } else {
        out.data(&format!(
            "entry {} recorded: {}\nkey   {name} {} ({})\n",
            receipt.seq,
            receipt.kind,
            kid.short(),
            roles.join(", ")
        ))?;
    }
    Ok(Exit::DONE)
}

fn row(key: &KeyRecord, state: &State, has_secret: bool) -> Value {
    json!({
        "name": key.name,
        "kid": key.public.kid().to_string(),
        "pub": key.public.to_string(),
        "roles": key.roles.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "since": key.since.0,
        "until": key.until.map(|seq| seq.0),
        "revoked": key.revoked.as_ref().map(|revoked| json!({
            "effective_seq": revoked.effective.0,
            "suspect_from_seq": revoked.suspect_from.0,
            "reason": revoked.reason,
        })),
        "may_sign": key.ended_before(state.next()).is_none(),
        "secret_is_here": has_secret,
    })
}

fn list(workspace: &Workspace, out: &Out) -> Result<Exit, Failure> {
    let reading = workspace.read(None)?;
    let keyring = workspace.keyring()?;
    let keys = reading.state.trust().keys();
    if out.json {
        let rows: Vec<Value> = keys
            .iter()
            .map(|key| row(key, &reading.state, keyring.holds(&key.name, &key.public.kid())))
            .collect();
        out.document(&json!({ "schema": "rp.key.list/1", "keys": rows }))?;
        return Ok(Exit::DONE);
    }
    for key in keys {
        let roles = key.roles.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let end = key.ended_before(reading.state.next()).unwrap_or_else(|| "may sign".to_owned());
        let here = if keyring.holds(&key.name, &key.public.kid()) {
            "secret here"
        } else {
            "no secret here"
        };
        out.data(&format!(
            "{:16}  {}  {here:14}  {roles}; {end}\n",
            key.name,
            key.public.kid().short()
        ))?;
    }
    Ok(Exit::DONE)
}

fn show(name: &str, workspace: &Workspace, out: &Out) -> Result<Exit, Failure> {
    let reading = workspace.read(None)?;
    let (kid, key) = named(&reading.state, name)?;
    let keyring = workspace.keyring()?;
    let mut document = row(&key, &reading.state, keyring.holds(name, &kid));
    if out.json {
        if let Some(fields) = document.as_object_mut() {
            fields.insert("schema".to_owned(), "rp.key.show/1".into());
        }
        out.document(&document)?;
    } else {
        out.data(&format!("{document:#}\n"))?;
    }
    Ok(Exit::DONE)
}
