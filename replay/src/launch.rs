//! A launch: one start of one process, the same in every domain (`decisions.md` 2).

use rp_events::Seq;
use serde::{Deserialize, Serialize};

/// One start of one process. It has one start and at most one end; until then it is open and nobody knows
/// whether the process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The entry that recorded the start, which tells it from every other start of the same name.
    pub started: Seq,
    /// The one terminal fact.
    pub end: Option<End>,
}

/// How a launch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The entry that recorded it.
    pub entry: Seq,
    /// Whether it did what it was started for.
    pub outcome: Outcome,
}

/// Whether a launch did what it was started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It did.
    Completed,
    /// It did not.
    Failed,
}

impl Launch {
    /// A launch that an entry recorded.
    pub fn started(entry: Seq) -> Self {
        Self { started: entry, end: None }
    }

    /// Whether it has no terminal fact.
    pub fn is_open(&self) -> bool {
        self.end.is_none()
    }

    /// Whether it completed.
    pub fn is_complete(&self) -> bool {
        self.end.is_some_and(|end| end.outcome == Outcome::Completed)
    }

    /// Gives it its terminal fact, unless it has one: the first stays.
    pub fn finish(&mut self, end: End) {
        self.end.get_or_insert(end);
    }

    /// How it stands, in words.
    pub fn words(&self) -> String {
        match self.end {
            None => format!("open since entry {}, liveness unknown", self.started),
            Some(End { entry, outcome: Outcome::Completed }) => {
                format!("completed at entry {entry}")
            }
            Some(End { entry, outcome: Outcome::Failed }) => format!("failed at entry {entry}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use rp_events::Seq;

    use super::{End, Launch, Outcome};

    #[test]
    fn a_launch_is_open_until_its_first_terminal_fact_and_keeps_that() {
        let mut launch = Launch::started(Seq(7));
        assert!(launch.is_open());
        assert_eq!(launch.words(), "open since entry 7, liveness unknown");
        launch.finish(End { entry: Seq(9), outcome: Outcome::Failed });
        launch.finish(End { entry: Seq(10), outcome: Outcome::Completed });
        assert_eq!((launch.is_open(), launch.is_complete()), (false, false));
        assert_eq!(launch.words(), "failed at entry 9");
    }
}
