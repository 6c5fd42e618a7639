//! The folder of a round, and how files get into it: nothing is followed out of the workspace, nothing is written
//! over, and an original goes only when its copy is whole.

use std::{fs, io, path::PathBuf};

use rp_events::Refusal;
use rp_replay::program::{codes, passage};

use super::{ASIDE, moves::Moves, tree};
use crate::{error::Failure, exit::Exit, journal::durable, workspace::Workspace};

/// The folder of a round in a workspace.
pub(super) struct Shelf<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) moves: &'a dyn Moves,
    pub(super) round: u64,
}

impl Shelf<'_> {
    fn target(&self) -> PathBuf {
        self.workspace.root.join(format!("rounds/round_{}", self.round))
    }

    /// Holds the round's folder to be the workspace's own: no link may lead the files elsewhere.
    fn hold_inside(&self) -> Result<(), Failure> {
        for folder in [self.workspace.root.join("rounds"), self.target()] {
            match fs::symlink_metadata(&folder) {
                Ok(facts) if facts.is_dir() => {}
                Ok(_) => {
                    let why = format!("`{}` is no folder of the workspace", folder.display());
                    return Err(Failure::from(Refusal::new(&codes::ARCHIVE_TARGET, why))
                        .hint("put a real folder in the place of the link or file"));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Failure::io("look at", &folder, &error)),
            }
        }
        Ok(())
    }

    /// Holds the round's folder to be empty or not there.
    pub(super) fn hold_free(&self) -> Result<(), Failure> {
        self.hold_inside()?;
        let target = self.target();
        match tree::names(&target) {
            Ok(names) if names.is_empty() => Ok(()),
            Ok(names) => {
                Err(Failure::new(Exit::CLOBBER, "archive-clobber", passage::clobber(self.round))
                    .detail("target", passage::target(self.round))
                    .detail(
                        "holds",
                        names.iter().map(|name| name.to_string_lossy()).collect::<Vec<_>>(),
                    )
                    .hint(format!(
                        "look through {}; move aside what does not belong there",
                        passage::target(self.round)
                    )))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Failure::io("list", &target, &error)),
        }
    }

    pub(super) fn make_target(&self) -> Result<(), Failure> {
        self.hold_inside()?;
        let rounds = self.workspace.root.join("rounds");
        for folder in [rounds, self.target()] {
            self.moves
                .make_folder(&folder)
                .map_err(|error| Failure::io("make", &folder, &error))?;
        }
        Ok(())
    }

    /// Copies the task into the archive; a copy made before an interruption stays, since the live file may have
    /// been edited since.
    pub(super) fn copy_task(&self) -> Result<Vec<String>, Failure> {
        let (from, to) = (self.workspace.root.join("task.md"), self.target().join("task.md"));
        let copied = || vec!["task.md".to_owned()];
        let failed = |error: io::Error| Failure::io("copy", &from, &error);
        if tree::is_there(&to).map_err(failed)? {
            return Ok(copied());
        }
        if !tree::is_there(&from).map_err(failed)? {
            return Ok(Vec::new());
        }
        let real = fs::canonicalize(&from).map_err(failed)?;
        if !real.starts_with(&self.workspace.root) {
            let why = format!("`task.md` leads to `{}`, outside the workspace", real.display());
            return Err(Failure::from(Refusal::new(&codes::ARCHIVE_PLAN, why))
                .hint("put the text itself in the place of the link, then archive"));
        }
        let bytes = fs::read(&from).map_err(failed)?;
        let disk = self.workspace.settings.disk.as_ref();
        durable::write(disk, &to, &bytes).map_err(failed)?;
        Ok(copied())
    }

    /// Brings a path into the archive; false if it is nowhere.
    pub(super) fn shift(&self, name: &str) -> Result<bool, Failure> {
        let (from, to) = (self.workspace.root.join(name), self.target().join(name));
        let failed = |error: io::Error| {
            Failure::io("archive", &from, &error).hint(format!(
                "everything before `{name}` is archived; `rp round archive` goes on once this is mended"
            ))
        };
        match (tree::is_there(&from).map_err(failed)?, tree::is_there(&to).map_err(failed)?) {
            (false, is_moved) => Ok(is_moved),
            (true, true) => self.finish_copy(name).map(|()| true),
            (true, false) => match self.moves.rename(&from, &to) {
                Ok(()) => Ok(true),
                // It went away, or something took its name, between the look and the move.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    tree::is_there(&to).map_err(failed)
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.finish_copy(name).map(|()| true)
                }
                Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                    self.carry_across(name).map_err(failed)?;
                    Ok(true)
                }
                Err(error) => Err(failed(error)),
            },
        }
    }

    /// Moves to another file system: a copy aside, made whole and durable, gets the name; then the original goes.
    fn carry_across(&self, name: &str) -> io::Result<()> {
        let (from, target) = (self.workspace.root.join(name), self.target());
        let aside = target.join(ASIDE);
        if tree::is_there(&aside)? {
            tree::remove(self.moves, &aside)?;
        }
        tree::copy(self.moves, &from, &aside)?;
        self.moves.rename(&aside, &target.join(name))?;
        self.moves.sync_folder(&target)?;
        tree::remove(self.moves, &from)
    }

    /// Removes an original whose copy is in the archive, if the copy holds all of it.
    ///
    /// Both are there when a move to another file system was interrupted after the copy was whole, or when
    /// something made the path again. Only the first may cost the original anything.
    fn finish_copy(&self, name: &str) -> Result<(), Failure> {
        let (from, to) = (self.workspace.root.join(name), self.target().join(name));
        let failed = |error: io::Error| Failure::io("archive", &from, &error);
        match tree::lacking(&from, &to).map_err(failed)? {
            None => tree::remove(self.moves, &from).map_err(failed),
            Some(odd) => {
                let odd = odd.strip_prefix(&self.workspace.root).unwrap_or(&odd).to_owned();
                let message = format!(
                    "`{name}` is at the root and in {}, and `{}` differs; neither is overwritten",
                    passage::target(self.round),
                    odd.display()
                );
                Err(Failure::new(Exit::CLOBBER, "archive-clobber", message)
                    .detail("path", name)
                    .detail("differs", odd.display().to_string())
                    .hint("move one of the two aside; `rp round archive` then goes on"))
            }
        }
    }

    /// Makes everything durable that moved.
    pub(super) fn settle(&self) -> Result<(), Failure> {
        let target = self.target();
        let aside = target.join(ASIDE);
        let failed = |error: io::Error| Failure::io("archive into", &target, &error);
        if tree::is_there(&aside).map_err(failed)? {
            tree::remove(self.moves, &aside).map_err(failed)?;
        }
        for folder in [&target, &self.workspace.root.join("rounds"), &self.workspace.root] {
            self.moves.sync_folder(folder).map_err(failed)?;
        }
        Ok(())
    }
}
