//! Archiving a round: the plan is recorded, then the files move, then the round is recorded as archived.
//!
//! The order is what makes a crash harmless. Before the plan is recorded nothing has moved. After it, a retry goes
//! on with the recorded plan into the same folder: each path is then at the root or in the folder, and whichever
//! it is says what is left to do. The round is recorded as archived only when every path is in its place and
//! durable. All of it happens under the journal's lock, so two archives cannot mix.

pub mod moves;
mod shelf;
mod tree;

use rp_events::{
    BehaviorId,
    program::{
        ArchivePlanned, ArchiveRefused, Event, MissingPath, RoundArchived, TransitionRequested,
    },
    refusal::general,
};
use rp_replay::program::{
    codes,
    constants::Intent,
    passage::{self, Move},
};

use crate::{
    engine::Engine,
    error::Failure,
    exit::Exit,
    porcelain::{self, Signed},
    workspace::Workspace,
};
use moves::Moves;
use shelf::Shelf;

/// Where a copy stands until it is whole, under the round's folder.
const ASIDE: &str = ".rp-moving";

/// What the user asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// What follows the round, and on which behavior; needed unless a plan is recorded already.
    pub intent: Option<(Intent, Option<String>)>,
    /// Paths at the root that stay although no list keeps them.
    pub keep: Vec<String>,
    /// What the user typed, for the record.
    pub arguments: String,
    /// The caller's own name for the request.
    pub idem: Option<String>,
}

/// What an archive will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The round.
    pub round: u64,
    /// The folder that its files go to.
    pub target: String,
    /// What moves, in this order.
    pub moved: Vec<String>,
    /// What stays; empty where a recorded plan is gone on with.
    pub keep: Vec<String>,
    /// What follows the round.
    pub intent: Intent,
    /// The behavior that is taken up.
    pub behavior: Option<String>,
    /// What was recommended.
    pub recommended: Option<Intent>,
    /// Whether the plan was recorded before, and its move was interrupted.
    pub is_resumed: bool,
}

/// What an archive did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    /// The plan.
    pub plan: Plan,
    /// The paths that are in the folder now.
    pub moved: Vec<String>,
    /// What was copied and stays at the root as well.
    pub copied: Vec<String>,
    /// What was planned and was nowhere any more.
    pub missing: Vec<String>,
    /// What appeared at the root after the plan, and stays there.
    pub appeared: Vec<String>,
    /// What was recorded, and which key signed it.
    pub signed: Vec<Signed>,
    /// Whether an earlier run of the same request did all this.
    pub is_duplicate: bool,
}

/// An archive at work.
struct Archive<'a> {
    workspace: &'a Workspace,
    engine: Engine,
    shelf: Shelf<'a>,
    round: u64,
    signed: Vec<Signed>,
}

/// Archives the latest round; `announce` hears the plan before anything moves, and the notes of the opening.
///
/// # Errors
///
/// A rule or the keep-list forbids it; the folder holds something already (exit 3); a file cannot be moved. What
/// was moved until then stays moved, and the next call goes on.
pub fn run(
    workspace: &Workspace,
    request: &Request,
    moves: &dyn Moves,
    announce: &mut dyn FnMut(&Plan, &[String]),
) -> Result<Archived, Failure> {
    let (mut archive, standing) = Archive::open(workspace, moves)?;
    if let Some(done) = archive.repeated(request, &standing)? {
        return Ok(done);
    }
    archive.not_closed(&standing)?;
    let plan = match &standing.planned {
        Some(planned) => archive.resumed(request, &standing, planned)?,
        None => archive.planned(request)?,
    };
    announce(&plan, &archive.engine.notes);
    if !plan.is_resumed {
        archive.record_plan(request, &plan)?;
    }
    archive.carry_out(request, plan)
}

/// Says what [`run`] would do, and changes nothing.
///
/// # Errors
///
/// As [`run`], as far as it can be known before.
pub fn plan(workspace: &Workspace, request: &Request) -> Result<Plan, Failure> {
    let (mut archive, standing) = Archive::open(workspace, &moves::Real)?;
    archive.not_closed(&standing)?;
    if let Some(planned) = &standing.planned {
        return archive.resumed(request, &standing, planned);
    }
    let plan = archive.planned(request)?;
    archive.shelf.hold_free()?;
    let key = archive.signer("user")?;
    let draft = porcelain::draft(workspace, transition(request, &plan)?, plan.round, None, key);
    archive.engine.dry_run(&draft)?;
    Ok(plan)
}

impl<'a> Archive<'a> {
    fn open(
        workspace: &'a Workspace,
        moves: &'a dyn Moves,
    ) -> Result<(Self, passage::Standing), Failure> {
        let engine = Engine::open(workspace)?;
        let program = engine.state().program();
        let round = porcelain::latest_round(program)?;
        let standing = passage::standing(program, round);
        let shelf = Shelf { workspace, moves, round };
        Ok((Self { workspace, engine, shelf, round, signed: Vec::new() }, standing))
    }

    fn signer(&self, role: &str) -> Result<String, Failure> {
        porcelain::signer(self.workspace, self.engine.state(), role)
    }

    fn record(&mut self, drafts: Vec<(Event, &str, Option<String>)>) -> Result<(), Failure> {
        let drafts = drafts
            .into_iter()
            .map(|(event, role, idem)| {
                let signer = self.signer(role)?;
                Ok(porcelain::draft(self.workspace, event, self.round, idem, signer))
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        self.signed.extend(porcelain::record(&mut self.engine, &drafts)?);
        Ok(())
    }

    /// What an earlier run of the same request did, if it ended.
    fn repeated(
        &self,
        request: &Request,
        standing: &passage::Standing,
    ) -> Result<Option<Archived>, Failure> {
        let Some(base) = &request.idem else { return Ok(None) };
        let idem = format!("{base}:archived");
        if !standing.is_archived || !self.engine.knows(&idem) {
            return Ok(None);
        }
        let (receipt, event) = porcelain::recorded(self.workspace, &self.engine, &idem)?;
        let Event::RoundArchived(body) = event else { return Ok(None) };
        let intent = standing.intent.unwrap_or(Intent::NewBehavior);
        let missing = body.missing.iter().flatten().map(|missing| missing.path.clone()).collect();
        Ok(Some(Archived {
            plan: Plan {
                round: self.round,
                target: body.target.clone(),
                moved: body.moved.clone(),
                keep: Vec::new(),
                intent,
                behavior: standing.behavior.clone(),
                recommended: None,
                is_resumed: false,
            },
            moved: body.moved,
            copied: body.copied,
            missing,
            appeared: Vec::new(),
            signed: vec![receipt],
            is_duplicate: true,
        }))
    }

    /// Holds the round to be neither archived nor discarded.
    fn not_closed(&self, standing: &passage::Standing) -> Result<(), Failure> {
        let round = self.round;
        if standing.is_archived {
            let why = format!("round {round} is archived in {}", passage::target(round));
            return Err(rp_events::Refusal::new(&codes::ALREADY_ARCHIVED, why).into());
        }
        if passage::is_discarded(self.engine.state().program(), round) {
            let why = format!("round {round} is discarded, and takes no archive");
            return Err(rp_events::Refusal::new(&codes::ROUND_CLOSED, why).into());
        }
        Ok(())
    }

    /// The recorded plan, held to what the user says now.
    fn resumed(
        &self,
        request: &Request,
        standing: &passage::Standing,
        planned: &Move,
    ) -> Result<Plan, Failure> {
        let intent = standing.intent.unwrap_or(Intent::NewBehavior);
        let same = request.intent.as_ref().is_none_or(|(asked, behavior)| {
            *asked == intent && (behavior.is_none() || *behavior == standing.behavior)
        });
        let kept = passage::kept_by_user(self.engine.state().program(), self.round);
        let bare = |path: &String| path.trim_end_matches('/').to_owned();
        if !same || request.keep.iter().any(|path| !kept.contains(&bare(path))) {
            let behavior = standing.behavior.as_deref().unwrap_or_default();
            let why = format!(
                "the archive of round {} began for `{intent}` {behavior}and is not finished",
                self.round
            );
            return Err(Failure::from(rp_events::Refusal::new(&codes::ARCHIVE_PLAN, why))
                .hint("`rp round archive` alone goes on with it as it was planned"));
        }
        for path in &planned.moved {
            one_name(path)?;
        }
        Ok(Plan {
            round: self.round,
            target: planned.target.clone(),
            moved: planned.moved.clone(),
            keep: Vec::new(),
            intent,
            behavior: standing.behavior.clone(),
            recommended: None,
            is_resumed: true,
        })
    }

    /// A fresh plan of what is at the root now.
    fn planned(&self, request: &Request) -> Result<Plan, Failure> {
        let program = self.engine.state().program();
        let recommended = passage::recommended(program, self.round);
        let Some((intent, behavior)) = &request.intent else {
            return Err(undecided(program, self.round, recommended));
        };
        let latest = || passage::latest_behavior(program).map(|behavior| behavior.id.clone());
        let behavior = match behavior {
            Some(named) => Some(named.clone()),
            None if passage::keeps_behavior(*intent) => latest(),
            None => None,
        };
        let at_root = self.at_root()?;
        if !passage::OUTPUTS.iter().any(|name| at_root.iter().any(|found| found == name)) {
            let why = format!(
                "none of `{}` is at the root, so round {} left nothing to archive",
                passage::OUTPUTS.join("`, `"),
                self.round
            );
            return Err(rp_events::Refusal::new(&codes::NO_OUTPUTS, why).into());
        }
        let keep: Vec<String> =
            request.keep.iter().map(|path| path.trim_end_matches('/').to_owned()).collect();
        for path in &keep {
            one_name(path)?;
        }
        let ArchivePlanned { target, moved, keep } =
            passage::plan(self.round, *intent, &at_root, &keep);
        Ok(Plan {
            round: self.round,
            target,
            moved,
            keep,
            intent: *intent,
            behavior,
            recommended,
            is_resumed: false,
        })
    }

    /// The names at the root, each of which a record can hold.
    fn at_root(&self) -> Result<Vec<String>, Failure> {
        let root = &self.workspace.root;
        let names = tree::names(root).map_err(|error| Failure::io("list", root, &error))?;
        names
            .into_iter()
            .map(|name| {
                let text = name.to_str().filter(|text| rp_events::text::forbidden(text).is_none());
                text.map(str::to_owned).ok_or_else(|| {
                    let why = format!(
                        "no record can hold the name `{}`",
                        name.to_string_lossy().escape_debug()
                    );
                    Failure::from(rp_events::Refusal::new(&general::BAD_TEXT, why))
                        .hint("rename it, then archive")
                })
            })
            .collect()
    }

    /// Records what the user decided and what will move; a folder that is taken is refused, on record.
    fn record_plan(&mut self, request: &Request, plan: &Plan) -> Result<(), Failure> {
        let named = |what: &str| request.idem.as_ref().map(|base| format!("{base}:{what}"));
        let mut drafts = Vec::new();
        for (n, path) in request.keep.iter().enumerate() {
            let wish = passage::keep_wish(plan.round, path.trim_end_matches('/'));
            let idem = named(&format!("keep-{n}"));
            drafts.push((Event::OverrideRecorded(Box::new(wish)), "user", idem));
        }
        drafts.push((transition(request, plan)?, "user", named("transition")));
        let planned = ArchivePlanned {
            target: plan.target.clone(),
            moved: plan.moved.clone(),
            keep: plan.keep.clone(),
        };
        drafts.push((Event::ArchivePlanned(Box::new(planned)), "next-round", named("planned")));
        let taken = self.shelf.hold_free();
        if let Err(failure) = &taken {
            if failure.exit != Exit::CLOBBER {
                return taken;
            }
            let refused = ArchiveRefused { code: 3, message: failure.message.clone() };
            // Under a name of its own it would be given again once the folder is free.
            drafts.push((Event::ArchiveRefused(Box::new(refused)), "next-round", None));
            for (_, _, idem) in &mut drafts {
                *idem = None;
            }
            self.record(drafts)?;
            return taken;
        }
        // A folder that cannot be made is known before anything is planned; a decision that the rules refuse
        // makes none.
        let key = self.signer("user")?;
        let asked = transition(request, plan)?;
        let asked = porcelain::draft(self.workspace, asked, plan.round, None, key);
        if self.engine.dry_run(&asked).is_ok() {
            self.shelf.make_target()?;
        }
        self.record(drafts)
    }

    fn carry_out(mut self, request: &Request, plan: Plan) -> Result<Archived, Failure> {
        self.shelf.make_target()?;
        let copied = self.shelf.copy_task()?;
        let (mut moved, mut missing) = (Vec::new(), Vec::new());
        for path in &plan.moved {
            if self.shelf.shift(path.trim_end_matches('/'))? {
                moved.push(path.clone());
            } else {
                missing.push(path.clone());
            }
        }
        self.shelf.settle()?;
        let explained = missing.iter().map(|path| MissingPath {
            path: path.clone(),
            why: "it was neither at the root nor in the archive when its turn came".to_owned(),
        });
        let archived = RoundArchived {
            target: plan.target.clone(),
            moved: moved.clone(),
            copied: copied.clone(),
            missing: (!missing.is_empty()).then(|| explained.collect()),
        };
        let idem = request.idem.as_ref().map(|base| format!("{base}:archived"));
        self.record(vec![(Event::RoundArchived(Box::new(archived)), "next-round", idem)])?;
        let appeared = self.appeared(&plan)?;
        let signed = self.signed;
        Ok(Archived { plan, moved, copied, missing, appeared, signed, is_duplicate: false })
    }

    /// What is at the root now that neither the plan nor a list knows.
    fn appeared(&self, plan: &Plan) -> Result<Vec<String>, Failure> {
        if !plan.is_resumed {
            return Ok(Vec::new());
        }
        let stays = passage::stays(plan.intent);
        let overrides: Vec<String> =
            passage::kept_by_user(self.engine.state().program(), plan.round);
        let root = &self.workspace.root;
        let names = tree::names(root).map_err(|error| Failure::io("list", root, &error))?;
        let names = names.iter().map(|name| name.to_string_lossy().into_owned());
        Ok(names
            .filter(|name| !stays.contains(&name.as_str()) && !overrides.contains(name))
            .collect())
    }
}

/// What the user decided, as an event.
fn transition(request: &Request, plan: &Plan) -> Result<Event, Failure> {
    let behavior = plan.behavior.as_deref().map(BehaviorId::parse).transpose();
    let behavior =
        behavior.map_err(|why| rp_events::Refusal::new(&codes::UNKNOWN_BEHAVIOR, why))?;
    Ok(Event::TransitionRequested(Box::new(TransitionRequested {
        arguments: request.arguments.clone(),
        recommended: plan.recommended.map(|intent| intent.to_string()),
        intent: plan.intent.to_string(),
        behavior,
        decided_by: "user".to_owned(),
    })))
}

/// Holds a path to be one name at the root: a plan never reaches out of the workspace.
fn one_name(path: &str) -> Result<(), Failure> {
    let bare = path.trim_end_matches('/');
    if !bare.is_empty() && bare != "." && bare != ".." && !bare.contains('/') && bare != ASIDE {
        return Ok(());
    }
    let why = format!("a path of an archive is one name at the root; found `{path}`");
    Err(rp_events::Refusal::new(&codes::ARCHIVE_PLAN, why).into())
}

/// Nobody said what follows the round: the recommendation comes first, and the user decides.
fn undecided(
    program: &rp_replay::program::Program,
    round: u64,
    recommended: Option<Intent>,
) -> Failure {
    let behavior = passage::behavior_of(program, round).map(|behavior| behavior.id.clone());
    let line = |intent: Intent| match (&behavior, passage::keeps_behavior(intent)) {
        (Some(id), true) => format!("`rp round archive --intent {intent} {id}`"),
        (None, true) => format!("`rp round archive --intent {intent} BEHAVIOR`"),
        (_, false) => format!("`rp round archive --intent {intent}`"),
    };
    let all = [Intent::NewBehavior, Intent::NewMechanism, Intent::ReValidate];
    let rest = all.into_iter().filter(|intent| Some(*intent) != recommended);
    let why = format!("the user decides what follows round {round}");
    let mut failure = Failure::new(Exit::REFUSED, codes::NOT_USER_DECIDED.name, why)
        .detail("recommended", recommended.map(|intent| intent.to_string()))
        .detail("behavior", &behavior);
    if let Some(intent) = recommended {
        failure = failure.hint(format!("{} (recommended)", line(intent)));
    }
    rest.fold(failure, |failure, intent| failure.hint(line(intent)))
}
