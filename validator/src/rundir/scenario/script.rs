//! The language of scenarios: statements between ` ; `, then ` => ` and what is due.
//!
//! `noisy`, `final-test`, `minimize`, `own`, `stages A B C`, `deadline T`, `window N`: what the contract says.
//! `contract P = J`, `seal P = J`: changes of the contract before its digests are derived, or after.
//! `event NAME[#K][@A] P = J`, `artifact PATH P = J`, `row K P = J`: changes on the way in; `P -` takes away.
//! `wait NAME#K N`, `drop NAME#K`: time before an event, an event that is never written.
//! `baseline`, `candidate`, `final`, each with a status and `at=N:FATE`, `cut=NAME#K`, `fail=N`, `stop=N`,
//! `score=X`, `idle`, `preserve`: attempts. `stop SOURCE KIND BOOL`, `end`, `close`: the end.
//! `write`, `append`, `put`, `rewrite`, `remove`, `link`, `folder`, `special`, `unreadable`, `cr`, `reseal`: damage.
//! `git KEY ...`: what Git says otherwise. `git on`, `strict`, `closed`, `foreign`, `trusted`: how it is asked.

use super::{
    super::{
        bytes::{Value, file_digest, parse},
        disk::{Disk as _, Node},
        profile::Profile,
    },
    attempt::{Fate, attempt},
    edit::{Edit, Target},
    git,
    setup::{Ground, Setup},
    world::World,
};

/// How a made-up directory is asked about.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four flags of a command line, each on or off by itself"
)]
pub struct Asked {
    /// Whether Git is asked.
    pub git: bool,
    /// Whether no tail may be open.
    pub strict: bool,
    /// Whether the run must be closed.
    pub require_finalized: bool,
    /// Whether the contract's validator is not accepted.
    pub foreign: bool,
    /// The trusted root, if it is not inferred.
    pub trusted: Option<String>,
}

/// A directory that a script made.
#[derive(Debug, Clone)]
pub struct Built {
    /// The world.
    pub world: World,
    /// How it is asked about.
    pub asked: Asked,
}

/// Makes the directory of a script.
///
/// # Errors
///
/// A statement that means nothing.
pub fn build(script: &str) -> Result<Built, String> {
    build_on(script, Ground::default())
}

/// Makes the directory of a script at a place.
///
/// # Errors
///
/// A statement that means nothing.
pub fn build_on(script: &str, ground: Ground) -> Result<Built, String> {
    let statements: Vec<&str> =
        script.split(" ; ").map(str::trim).filter(|statement| !statement.is_empty()).collect();
    let mut setup = Setup::default();
    let mut asked = Asked::default();
    let mut rest = Vec::new();
    for statement in &statements {
        if !set_up(&mut setup, &mut asked, statement) {
            rest.push(*statement);
        }
    }
    let mut world = World::new(setup, ground);
    let (changes, deeds): (Vec<&str>, Vec<&str>) =
        rest.into_iter().partition(|statement| is_change(statement));
    for change in changes {
        prepare(&mut world, change).ok_or_else(|| format!("`{change}` is no change"))?;
    }
    world.seal();
    let mut written = false;
    for deed in deeds {
        if is_damage(deed) && !written {
            world.flush();
            written = true;
        }
        act(&mut world, deed).ok_or_else(|| format!("`{deed}` is no deed"))?;
    }
    if !written {
        world.flush();
    }
    Ok(Built { world, asked })
}

fn set_up(setup: &mut Setup, asked: &mut Asked, statement: &str) -> bool {
    let mut words = statement.split(' ');
    match words.next() {
        Some("noisy") => setup.noisy = true,
        Some("final-test") => setup.final_test = true,
        Some("minimize") => setup.minimize = true,
        Some("own") => setup.profile = Profile::Own,
        Some("stages") => setup.stages = words.map(str::to_owned).collect(),
        Some("deadline") => setup.deadline = words.next().map(str::to_owned),
        Some("attempts") => {
            setup.attempts = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        }
        Some("repetitions") => {
            setup.repetitions = words.next().and_then(|word| word.parse().ok()).unwrap_or(2);
        }
        Some("git") if statement == "git on" => asked.git = true,
        Some("strict") => asked.strict = true,
        Some("closed") => asked.require_finalized = true,
        Some("foreign") => asked.foreign = true,
        Some("trusted") => asked.trusted = words.next().map(str::to_owned),
        _ => return false,
    }
    true
}

fn is_change(statement: &str) -> bool {
    let first = statement.split(' ').next().unwrap_or_default();
    matches!(first, "contract" | "seal" | "event" | "artifact" | "row" | "wait" | "drop" | "window")
}

fn is_damage(statement: &str) -> bool {
    let first = statement.split(' ').next().unwrap_or_default();
    matches!(
        first,
        "write"
            | "append"
            | "remove"
            | "link"
            | "folder"
            | "special"
            | "unreadable"
            | "rewrite"
            | "reseal"
            | "cr"
            | "put"
    )
}

fn prepare(world: &mut World, statement: &str) -> Option<()> {
    let (kind, rest) = statement.split_once(' ')?;
    match kind {
        "window" => world.window = rest.parse().ok()?,
        "wait" => {
            let (event, seconds) = rest.split_once(' ')?;
            let (name, place, _) = event_name(event);
            world.waits.push((name, place.unwrap_or(0), seconds.parse().ok()?));
        }
        "drop" => {
            let (name, place, _) = event_name(rest);
            world.drops.push((name, place.unwrap_or(0)));
        }
        "contract" => world.edits.push(edit(Target::Contract, rest)?),
        "seal" => world.edits.push(edit(Target::Sealed, rest)?),
        _ => {
            let (target, rest) = rest.split_once(' ')?;
            let target = match kind {
                "event" => {
                    let (name, place, of) = event_name(target);
                    Target::Event(name, place, of)
                }
                "artifact" => Target::Artifact(target.to_owned()),
                _ => Target::Row(target.parse().ok()?),
            };
            world.edits.push(edit(target, rest)?);
        }
    }
    Some(())
}

/// `NAME#K@A`
fn event_name(text: &str) -> (String, Option<usize>, Option<usize>) {
    let (text, of) =
        text.split_once('@').map_or((text, None), |(text, of)| (text, of.parse().ok()));
    let (name, place) =
        text.split_once('#').map_or((text, None), |(name, place)| (name, place.parse().ok()));
    (name.to_owned(), place, of)
}

fn edit(target: Target, text: &str) -> Option<Edit> {
    if let Some(path) = text.strip_suffix(" -") {
        return Some(Edit { target, path: fields(path), value: None });
    }
    let (path, value) = text.split_once(" = ")?;
    let path = if path == "." { Vec::new() } else { fields(path) };
    Some(Edit { target, path, value: Some(parse(expand(value).as_bytes()).ok()?) })
}

fn fields(path: &str) -> Vec<String> {
    path.split('.').map(str::to_owned).collect()
}

/// Short forms of digests and commits.
fn expand(text: &str) -> String {
    let digest = format!("\"{}\"", "0".repeat(64));
    let oid = format!("\"{}\"", "9".repeat(40));
    let long = "9".repeat(400);
    text.replace("ZERO", &digest).replace("OID", &oid).replace("LONG", &long)
}

fn act(world: &mut World, deed: &str) -> Option<()> {
    let words: Vec<&str> = deed.split(' ').collect();
    match *words.first()? {
        "baseline" | "candidate" | "final" => attempt(world, &fate(&words)?),
        "stop" => world.stop(words.get(1)?, words.get(2)?, *words.get(3)? == "true"),
        "end" => world.end(),
        "close" => {
            world.end();
            world.close();
        }
        "mark" => world.close(),
        "wait-for" => world.wait(words.get(1)?.parse().ok()?),
        "git" => git::say(world, words.get(1..)?)?,
        "emit" => emit(world, words.get(1)?, deed)?,
        _ => damage(world, &words, deed)?,
    }
    Some(())
}

/// `emit NAME JSON`: an event as it stands, for what no supervisor writes.
fn emit(world: &mut World, name: &str, deed: &str) -> Option<()> {
    let text = deed.splitn(3, ' ').nth(2)?;
    world.event(name, parse(expand(text).as_bytes()).ok()?);
    Some(())
}

fn fate(words: &[&str]) -> Option<Fate> {
    let mut fate =
        Fate { role: (*words.first()?).to_owned(), status: "keep".to_owned(), ..Fate::default() };
    for word in words.get(1..)? {
        match word.split_once('=') {
            Some(("at", value)) => {
                let (place, kind) = value.split_once(':')?;
                fate.launches.push((place.parse().ok()?, kind.to_owned()));
            }
            Some(("cut", value)) => {
                let (name, place, _) = event_name(value);
                fate.cut = Some((name, place.unwrap_or(0)));
            }
            Some(("fail", value)) => fate.fails = Some(value.parse().ok()?),
            Some(("stop", value)) => fate.stop_before = Some(value.parse().ok()?),
            Some(("score", value)) => fate.score = Some(value.to_owned()),
            Some(_) => return None,
            None if *word == "idle" => fate.idle = true,
            None if *word == "preserve" => fate.preserve = true,
            None => (*word).clone_into(&mut fate.status),
        }
    }
    Some(fate)
}

/// A path in a script: in the run directory unless it is absolute or in the repository.
fn place(ground: &Ground, path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(rest) => format!("{}/{rest}", ground.root),
        None if path.starts_with('/') => path.to_owned(),
        None => format!("{}/{path}", ground.run()),
    }
}

fn damage(world: &mut World, words: &[&str], deed: &str) -> Option<()> {
    if *words.first()? == "reseal" {
        let contract = world.disk.read(&place(&world.ground, "contract.json")).ok()?;
        let seal = format!("{}\n", file_digest(&contract));
        world.write("contract.sha256", seal.into_bytes());
        return Some(());
    }
    let path = place(&world.ground, words.get(1)?);
    let text = deed
        .splitn(3, ' ')
        .nth(2)
        .unwrap_or_default()
        .replace("\\r", "\r")
        .replace("\\n", "\n")
        .replace("BOM", "\u{feff}");
    let bytes = world.disk.read(&path).unwrap_or_default();
    match *words.first()? {
        "write" => world.disk.put(&path, Node::File(unescape(&text))),
        "append" => world.disk.put(&path, Node::File([bytes, unescape(&text)].concat())),
        "put" => world.disk.put(&path, Node::File([unescape(&text), bytes].concat())),
        "remove" => {
            let below = format!("{path}/");
            world.disk.nodes.retain(|known, _| *known != path && !known.starts_with(&below));
        }
        "link" => {
            damage(world, &["remove", words.get(1)?], "")?;
            let target = place(&world.ground, words.get(2)?);
            world.disk.put(&path, Node::Link(target));
        }
        "folder" => world.disk.put(&path, Node::Folder),
        "special" => world.disk.put(&path, Node::Special),
        "unreadable" => world.disk.put(&path, Node::Unreadable),
        "rewrite" => {
            let (from, to) = text.split_once(' ')?;
            let text = String::from_utf8(bytes).ok()?.replacen(from, to, 1);
            world.disk.put(&path, Node::File(text.into_bytes()));
        }
        "cr" => world.disk.put(
            &path,
            Node::File(
                bytes
                    .iter()
                    .flat_map(|byte| if *byte == b'\n' { vec![b'\r', b'\n'] } else { vec![*byte] })
                    .collect(),
            ),
        ),
        _ => return None,
    }
    Some(())
}

/// `\xHH` in a script is one byte; `DEEP` is two hundred brackets.
fn unescape(text: &str) -> Vec<u8> {
    let text = text.replace("DEEP", &format!("{}{}", "[".repeat(200), "]".repeat(200)));
    let mut out = Vec::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("\\x") {
        out.extend(before.bytes());
        out.extend(after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()));
        rest = after.get(2..).unwrap_or_default();
    }
    out.extend(rest.bytes());
    out
}

/// The value of a stored file, for tests that look.
pub fn value(world: &World, path: &str) -> Value {
    world.artifact(path)
}
