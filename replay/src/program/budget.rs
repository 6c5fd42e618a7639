//! What a round has used (J.6 of the domain text): the exact sums that `budget.reported` is held to.

use bigdecimal::BigDecimal;

use super::{Program, constants::StageName, state::exact};

/// What a round has used, against what it may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// The GPU-hours of all finished runs.
    pub gpu_hours: String,
    /// By stage: the hours, and how many runs ended and are still out.
    pub stages: Vec<(StageName, String, u64, u64)>,
    /// How often the external reviewer was asked in the loop.
    pub reviewer_calls: u64,
    /// Charged actions of the loop, and the cap.
    pub iterations: (u64, u64),
    /// Claim rewrites, and the cap.
    pub reentries: (u64, u64),
    /// The words of the task's budgets that bind the round now.
    pub limits: Vec<String>,
    /// The lowest limit on GPU-hours that those words name outright.
    pub limit: Option<String>,
    /// How the hours stand to the limit.
    pub reach: Reach,
}

/// How near a limit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// No limit on GPU-hours is known.
    Unlimited,
    /// Under four fifths of it.
    Within,
    /// Four fifths of it or more.
    Near,
    /// More than it.
    Over,
}

impl Reach {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unlimited => "unlimited",
            Self::Within => "within",
            Self::Near => "near",
            Self::Over => "over",
        }
    }
}

/// Sums what a round has used.
pub fn of(program: &Program, number: u64) -> Option<Budget> {
    let round = program.round(number)?;
    let runs = program.runs(number);
    let stages = StageName::ALL.into_iter().map(|stage| {
        let own = runs.iter().filter(|(_, run)| run.stage == stage);
        let hours = own.clone().filter_map(|(_, run)| run.gpu_hours.as_deref()).map(exact);
        let sum: BigDecimal = hours.sum();
        let total = own.clone().count();
        let out = own.filter(|(_, run)| run.launch.is_open()).count();
        (stage, plain(&sum), count(total - out), count(out))
    });
    let sum = round.gpu_hours.as_deref().map_or_else(BigDecimal::default, exact);
    let review = program.review_loop(number);
    let constraints = program.constraints(number);
    let budgets = constraints.items.iter().filter(|item| item.kind == "budget");
    let limits: Vec<String> = budgets.map(|item| item.text.clone()).collect();
    let limit = limits.iter().filter_map(|words| named_hours(words)).min();
    let reach = limit.as_ref().map_or(Reach::Unlimited, |limit| reach(&sum, limit));
    Some(Budget {
        gpu_hours: plain(&sum),
        stages: stages.collect(),
        reviewer_calls: review.cycle,
        iterations: (review.consumed, round.settings.max_iterations),
        reentries: (review.reentries, round.settings.max_reentries),
        limits,
        limit: limit.as_ref().map(plain),
        reach,
    })
}

fn reach(used: &BigDecimal, limit: &BigDecimal) -> Reach {
    if used > limit {
        return Reach::Over;
    }
    if used * BigDecimal::from(5) >= limit * BigDecimal::from(4) {
        Reach::Near
    } else {
        Reach::Within
    }
}

/// The number directly before `GPU-hours` or `GPU hours` in a text.
fn named_hours(words: &str) -> Option<BigDecimal> {
    let lower = words.to_lowercase();
    let at = lower.find("gpu-hour").or_else(|| lower.find("gpu hour"))?;
    let before = lower.get(..at)?.trim_end();
    let digit = |c: char| c.is_ascii_digit() || c == '.';
    let start = before.rfind(|c: char| !digit(c)).map_or(0, |at| {
        at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    });
    before.get(start..)?.parse().ok()
}

fn plain(sum: &BigDecimal) -> String {
    sum.normalized().to_plain_string()
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Reach, named_hours, plain, reach};

    #[test]
    fn a_limit_is_a_number_before_the_unit_and_nothing_else() {
        let of = |words: &str| named_hours(words).map(|hours| plain(&hours));
        assert_eq!(of("At most 30 GPU-hours in total.").as_deref(), Some("30"));
        assert_eq!(of("No more than 7.50 GPU hours").as_deref(), Some("7.5"));
        assert_eq!(of("Use only GPUs 0 and 1."), None);
        assert_eq!(of("Spend few GPU-hours."), None);
    }

    #[test]
    fn four_fifths_of_a_limit_are_near_it() {
        let of = |used: &str, limit: &str| reach(&used.parse().unwrap(), &limit.parse().unwrap());
        assert_eq!(of("23.99", "30"), Reach::Within);
        assert_eq!(of("24", "30"), Reach::Near);
        assert_eq!(of("30", "30"), Reach::Near);
        assert_eq!(of("30.01", "30"), Reach::Over);
    }
}
