//! What Git says of a made-up repository, when a script wants it otherwise.

use super::world::{World, tree_id};

/// `git KEY ...`
pub(super) fn say(world: &mut World, words: &[&str]) -> Option<()> {
    let rest = words.get(1..)?;
    let head = world.head.clone();
    let of = |world: &World, word: &str| match word {
        "head" => world.head.clone(),
        "baseline" => world.ground.baseline().to_owned(),
        "incumbent" => world.incumbent.clone(),
        number => format!("{:040x}", 0xc0 + number.parse::<u32>().unwrap_or(0)),
    };
    match *words.first()? {
        "unavailable" => world.facts.unavailable = Some("there is no git".to_owned()),
        "outside" => world.facts.supervisor.inside = false,
        "headless" => world.facts.supervisor.head = None,
        "head" => world.facts.supervisor.head = Some(of(world, rest.first()?)),
        "forget" => {
            world.facts.commits.remove(&of(world, rest.first()?));
        }
        "tree" => {
            let id = of(world, rest.first()?);
            replace(world, &id, "tree ", &tree_id(rest.get(1)?))?;
        }
        "parent" => {
            let id = of(world, rest.first()?);
            replace(world, &id, "parent ", &of(world, rest.get(1)?))?;
        }
        "commit" => {
            world.commit(rest.first()?);
        }
        "unlisted" => {
            world.facts.listings.insert(of(world, rest.first()?), None);
        }
        "listing" => {
            let text =
                rest.get(1..)?.join(" ").replace("BLOB", &"0".repeat(40)).replace("TAB", "\t");
            world
                .facts
                .listings
                .insert(of(world, rest.first()?), Some(format!("{text}\0").into_bytes()));
        }
        "diff" => {
            let text = terminated(rest);
            world.facts.diffs.values_mut().for_each(|diff| *diff = Some(text.clone().into_bytes()));
        }
        "diff-from" => {
            let text = terminated(rest.get(1..)?);
            world.facts.diffs.insert((of(world, rest.first()?), head), Some(text.into_bytes()));
        }
        "undiffed" => world.facts.diffs.clear(),
        "alias" => {
            let known = world.facts.workspaces.values().next()?.clone();
            world.facts.workspaces.insert((*rest.first()?).to_owned(), known);
        }
        "replaced" => world.facts.replaced.push((*rest.first()?).to_owned()),
        "supervisor" => worktree(&mut world.facts.supervisor, rest)?,
        "workspace" => {
            let root = format!("{}/{}", world.ground.workspaces, rest.first()?);
            let common = format!("{}/other", world.ground.root);
            let worktree_of = world.facts.workspaces.get_mut(&root)?;
            if rest.get(1) == Some(&"foreign") {
                worktree_of.common_dir = Some(common);
            } else {
                worktree(worktree_of, rest.get(1..)?)?;
            }
        }
        _ => return None,
    }
    Some(())
}

/// Names as `-z` output has them.
fn terminated(names: &[&str]) -> String {
    if names.is_empty() { String::new() } else { format!("{}\0", names.join("\0")) }
}

fn replace(world: &mut World, id: &str, key: &str, value: &str) -> Option<()> {
    let text = String::from_utf8(world.facts.commits.get(id)?.clone()).ok()?;
    let lines = text
        .lines()
        .map(|line| if line.starts_with(key) { format!("{key}{value}") } else { line.to_owned() });
    let text: Vec<String> = lines.collect();
    world.facts.commits.insert(id.to_owned(), text.join("\n").into_bytes());
    Some(())
}

fn worktree(worktree: &mut super::super::git::Worktree, words: &[&str]) -> Option<()> {
    let text = words.get(1..)?.join(" ");
    let listing = Some(format!("{text}\0").into_bytes());
    let some = Some(text).filter(|text| !text.is_empty());
    match *words.first()? {
        "index" => worktree.index = listing,
        "unindexed" => worktree.index = None,
        "tracked" => worktree.dirty.tracked = listing,
        "staged" => worktree.dirty.staged = listing,
        "untracked" => worktree.dirty.untracked = listing,
        "ignored" => worktree.dirty.ignored = listing,
        "unlisted" => worktree.dirty.ignored = None,
        "top" => worktree.top_level = some,
        "git-dir" => worktree.git_dir = some,
        "common-dir" => worktree.common_dir = some,
        "head" => worktree.head = some,
        _ => return None,
    }
    Some(())
}
