//! Runs the scenarios and says how many hold.

use super::{
    super::{
        Git, Inquiry, Question,
        closure::Demand,
        verdict::{Class, Verdict},
    },
    script::{Built, build},
};

/// The scenarios of the protocol's self-test.
const SCENARIOS: &str = include_str!("k.txt");

/// At least one for every line of the checklist.
const CASES: &str = include_str!("j.txt");

/// What a scenario must come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// The class.
    pub class: Option<Class>,
    /// Whether a marker stands.
    pub closed: Option<bool>,
    /// A code among the errors.
    pub code: Option<String>,
    /// The next step.
    pub action: Option<String>,
    /// The phase.
    pub phase: Option<String>,
}

/// A scenario.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its number: of the scenario, or of the line of the checklist.
    pub number: u16,
    /// Its name, or the code.
    pub name: String,
    /// How it is made.
    pub script: String,
    /// What it must come to.
    pub expected: Expected,
    /// What it must come to in `rp`'s own version, and why, where that is different.
    pub own: Option<(Expected, String)>,
}

/// What became of a scenario.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The scenario.
    pub case: Case,
    /// The verdict's word.
    pub verdict: &'static str,
    /// What is not as it must be; empty if all is.
    pub differs: String,
}

/// The scenarios of the protocol's self-test (`domains/run.md` K).
pub fn scenarios() -> Vec<Case> {
    SCENARIOS.lines().filter_map(scenario).collect()
}

/// `N NAME | SCRIPT => DUE [|| OWN: WHY]`
fn scenario(line: &str) -> Option<Case> {
    let (head, rest) = line.split_once(" | ")?;
    let (number, name) = head.split_once(' ')?;
    let (script, due) = rest.split_once(" => ")?;
    let (due, own) = due.split_once(" || ").map_or((due, None), |(due, own)| (due, Some(own)));
    let own =
        own.and_then(|own| own.split_once(": ")).map(|(own, why)| (expected(own), why.to_owned()));
    Some(Case {
        number: number.parse().ok()?,
        name: name.to_owned(),
        script: script.to_owned(),
        expected: expected(due),
        own,
    })
}

fn expected(text: &str) -> Expected {
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let mut expected = Expected::default();
    match words.next() {
        Some("valid") => {
            expected.class = Some(Class::Valid);
            expected.closed = Some(words.next() == Some("closed"));
        }
        Some("recoverable") => {
            expected.class = Some(Class::Recoverable);
            expected.action = words.next().map(str::to_owned);
            expected.phase = words.next().map(str::to_owned);
        }
        _ => {
            expected.class = Some(Class::Invalid);
            expected.code = words.next().map(str::to_owned);
        }
    }
    expected
}

/// The cases of the checklist: `N CODE | SCRIPT`, each with at least that finding.
pub fn cases() -> Vec<Case> {
    CASES
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let (head, script) = line.split_once(" | ")?;
            let (number, name) = head.split_once(' ')?;
            let expected = Expected { code: Some(name.to_owned()), ..Expected::default() };
            Some(Case {
                number: number.parse().ok()?,
                name: name.to_owned(),
                script: script.to_owned(),
                expected,
                own: None,
            })
        })
        .collect()
}

/// Judges what a script made.
pub fn judge(built: &Built) -> Verdict {
    let accepted = "f".repeat(64);
    let validator =
        (!built.asked.foreign && !built.world.setup.profile.is_own()).then_some(accepted.as_str());
    let directory = built.world.ground.run();
    let question = Question {
        directory: &directory,
        trusted_root: built.asked.trusted.as_deref(),
        git_root: None,
        validator,
        demand: Demand {
            allow_incomplete: !built.asked.strict,
            require_finalized: built.asked.require_finalized,
        },
    };
    let inquiry = Inquiry::open(&built.world.disk, question);
    let git = if built.asked.git { Git::Asked(&built.world.facts) } else { Git::Ignored };
    inquiry.judge(git)
}

/// Runs one scenario in the profile that its script asks for.
pub(super) fn run(case: &Case, script: &str, expected: &Expected) -> Ran {
    let failed = |differs: String| Ran { case: case.clone(), verdict: "none", differs };
    let built = match build(script) {
        Ok(built) => built,
        Err(why) => return failed(why),
    };
    let verdict = judge(&built);
    Ran { case: case.clone(), verdict: verdict.word(), differs: differs(&verdict, expected) }
}

fn differs(verdict: &Verdict, expected: &Expected) -> String {
    let mut out = Vec::new();
    if expected.class.is_some_and(|class| class != verdict.class) {
        let codes: Vec<String> = verdict
            .errors
            .iter()
            .map(|error| {
                format!(
                    "{} {}:{} {}",
                    error.code,
                    error.path,
                    error.line.unwrap_or(0),
                    error.message
                )
            })
            .collect();
        out.push(format!("it is {}: {}", verdict.class.name(), codes.join("; ")));
    }
    if expected.closed.is_some_and(|closed| closed != verdict.closed) {
        out.push(format!("closed is {}", verdict.closed));
    }
    if let Some(code) = &expected.code
        && !verdict.errors.iter().any(|error| error.code == code)
    {
        let codes: Vec<&str> = verdict.errors.iter().map(|error| error.code).collect();
        out.push(format!("`{code}` is not among {codes:?}"));
    }
    if expected.action.is_some() && expected.action.as_deref() != verdict.resume_action {
        out.push(format!("the action is {:?}", verdict.resume_action));
    }
    if expected.phase.is_some() && expected.phase.as_deref() != verdict.last_durable_phase {
        out.push(format!("the phase is {:?}", verdict.last_durable_phase));
    }
    out.join(", ")
}

/// Runs all scenarios, each in both profiles, and all cases of the checklist.
pub fn self_test() -> Vec<Ran> {
    let mut ran = Vec::new();
    for case in scenarios() {
        ran.push(run(&case, &case.script, &case.expected));
        let due = case.own.as_ref().map_or(&case.expected, |(own, _)| own);
        ran.push(run(&case, &format!("own ; {}", case.script), due));
    }
    for case in cases() {
        ran.push(finding(&case));
    }
    ran
}

/// Runs a case of the checklist: its line and code must be found.
pub(super) fn finding(case: &Case) -> Ran {
    let built = match build(&case.script) {
        Ok(built) => built,
        Err(why) => return Ran { case: case.clone(), verdict: "none", differs: why },
    };
    let verdict = judge(&built);
    let found = verdict.errors.iter().chain(&verdict.warnings);
    let right = found
        .clone()
        .any(|finding| finding.rules.contains(&case.number) && finding.code == case.name);
    let differs = if right {
        String::new()
    } else {
        let all: Vec<String> = found
            .map(|finding| format!("{:?} {} {}", finding.rules, finding.code, finding.message))
            .collect();
        format!("line {} `{}` is not found, but {all:?}", case.number, case.name)
    };
    Ran { case: case.clone(), verdict: verdict.word(), differs }
}
