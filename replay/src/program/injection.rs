//! The two blocks that open every dispatch of a stage (J.3 of the domain text): what binds it, and what it should
//! know. The words are the task's; a stage gets only the items that are routed to it, the claim stage all.

use super::{Program, constants::StageName};

/// The heading of what binds.
const HARD: &str = "## HARD CONSTRAINTS (from task.md \u{2014} non-negotiable)";
/// The heading of what informs.
const NOTICE: &str = "## NOTICE (from task.md \u{2014} informational)";

/// The blocks of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// The round.
    pub round: u64,
    /// The stage.
    pub stage: StageName,
    /// What binds: budgets, prohibitions, emphatic choices.
    pub hard: Vec<Item>,
    /// What informs.
    pub notice: Vec<Item>,
}

/// An item of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its name.
    pub id: String,
    /// `budget`, `prohibition`, `emphatic` or `preference`.
    pub kind: String,
    /// The task's words, or those of the user who overrode them.
    pub text: String,
    /// The stages that it binds.
    pub stages: Vec<String>,
    /// The claims that it is limited to.
    pub claims: Vec<String>,
    /// Where the user asked for these words, if they replace the task's.
    pub point: Option<String>,
}

/// The blocks that a stage of a round is given now.
pub fn blocks(program: &Program, round: u64, stage: StageName) -> Blocks {
    let constraints = program.constraints(round);
    let mut blocks = Blocks { round, stage, hard: Vec::new(), notice: Vec::new() };
    for item in &constraints.items {
        let routed =
            stage == StageName::Claim || item.stages.iter().any(|name| name == stage.as_str());
        if !routed {
            continue;
        }
        let block = if item.block == "hard" { &mut blocks.hard } else { &mut blocks.notice };
        block.push(Item {
            id: item.id.to_string(),
            kind: item.kind.clone(),
            text: item.text.clone(),
            stages: item.stages.clone(),
            claims: item.claims.iter().map(ToString::to_string).collect(),
            point: constraints.stamps.get(item.id.as_str()).cloned(),
        });
    }
    blocks
}

impl Blocks {
    /// The blocks as they open the dispatch.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.block(HARD, &self.hard), self.block(NOTICE, &self.notice))
    }

    fn block(&self, heading: &str, items: &[Item]) -> String {
        let mut lines = vec![heading.to_owned()];
        if items.is_empty() {
            lines.push("- none".to_owned());
        }
        lines.extend(items.iter().map(|item| self.line(item)));
        lines.join("\n") + "\n"
    }

    /// The words, then the qualifiers that they do not carry themselves, then the user's stamp.
    fn line(&self, item: &Item) -> String {
        // Words over several lines stay one item of the list.
        let mut line = format!("- {}", item.text.replace('\n', "\n  "));
        // Who writes the plan for every stage must see which of them an item binds.
        let everywhere = StageName::WORDS.iter().all(|name| item.stages.iter().any(|s| s == name));
        let others: Vec<&str> =
            item.stages.iter().map(String::as_str).filter(|name| *name != "claim").collect();
        if self.stage == StageName::Claim && !everywhere && !others.is_empty() {
            line.push_str(&format!(" [{}]", others.join(", ")));
        }
        let unnamed: Vec<&str> = item
            .claims
            .iter()
            .map(String::as_str)
            .filter(|claim| !names(&item.text, claim))
            .collect();
        if !unnamed.is_empty() {
            line.push_str(&format!(" [{}]", unnamed.join(", ")));
        }
        if let Some(point) = &item.point {
            line.push_str(&format!(" \u{2014} per user request @ {point}"));
        }
        line
    }
}

/// Whether a text holds a claim's id as a word of its own: `C1` is not named by `C10`.
fn names(text: &str, claim: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.split(|c: char| !word(c)).any(|found| found == claim)
}
