//! The briefing of a notification (J.4 of the domain text): why it is sent, and where the round stands. Sending is
//! the user's command; nothing here waits for it.

use bigdecimal::BigDecimal;
use rp_events::Stamp;

use super::{
    Program,
    constants::{BaseVerdict, Ending, StageName, Verdict},
    gates,
    state::{Life, Round, StageState, exact},
};

/// The touchpoints.
pub static EVENTS: &[&str] = &["hourly", "progress", "done", "halted", "approval-needed"];

/// Whether the task behind a round, or the one that stands before any round, asks for notifications.
pub fn is_wanted(program: &Program, round: Option<u64>) -> bool {
    match round.and_then(|round| program.round(round)) {
        Some(round) => round.task.notify,
        None => program.course().task.notify,
    }
}

/// The file of a briefing; its stamp makes the name new.
pub fn file(now: Stamp, event: &str) -> String {
    let text = now.to_string();
    let seconds = text.split('.').next().unwrap_or_default().trim_end_matches('Z');
    let stamp: String = seconds.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    format!("notification/{stamp}Z_{event}.md")
}

/// Why a briefing is sent, in the words of the text; nothing where the record does not say it.
pub fn reason(program: &Program, number: u64, event: &str) -> Option<String> {
    let round = program.round(number)?;
    match event {
        "progress" => progress(program, number, &round),
        "done" => {
            let header = program.header(number)?;
            let ended = matches!(round.life, Life::Ended(_) | Life::Archived);
            let status = &header.pipeline_status;
            ended.then(|| format!("pipeline {status} \u{2014} final state in CLAIMS_LEDGER.md"))
        }
        "halted" => halted(program, number, &round),
        "approval-needed" => round
            .approval
            .as_ref()
            .map(|asked| format!("{} \u{2014} action required: {}", asked.blocked, asked.action)),
        "hourly" => Some(format!("hourly \u{2014} {}", standing(&round))),
        _ => None,
    }
}

/// After the verify gate its counts, else after the experiment gate its runs.
fn progress(program: &Program, number: u64, round: &Round) -> Option<String> {
    let came_back = |stage: StageName| {
        !matches!(
            round.stages.of(stage).state,
            StageState::Pending | StageState::Running { .. } | StageState::Skipped
        )
    };
    if came_back(StageName::Verify) {
        let verdicts: Vec<Verdict> =
            round.claims.iter().filter_map(|claim| program.work(number, claim)?.verdict).collect();
        let count = |due: Verdict| verdicts.iter().filter(|verdict| **verdict == due).count();
        return Some(format!(
            "verify \u{2014} {} PASS / {} FAIL / {} INCONCLUSIVE / {} ZERO_ELIGIBLE",
            count(Verdict::Pass),
            count(Verdict::Fail),
            count(Verdict::Inconclusive),
            count(Verdict::ZeroEligible)
        ));
    }
    came_back(StageName::Experiment).then(|| {
        let runs = program.runs(number);
        let own = runs.iter().filter(|(_, run)| run.stage == StageName::Experiment);
        let hours: BigDecimal =
            own.clone().filter_map(|(_, run)| run.gpu_hours.as_deref()).map(exact).sum();
        format!(
            "experiment done \u{2014} {} runs, ~{} GPU-hours, headline: {}",
            own.count(),
            hours.normalized().to_plain_string(),
            headline(program, number, round)
        )
    })
}

/// What the main experiments say together: positive if any supports its claim, negative if none even partly does.
fn headline(program: &Program, number: u64, round: &Round) -> &'static str {
    if let Some(verdict) = round.phenomenon.verdict.filter(|verdict| verdict.terminal) {
        return if verdict.status.is_settled() { "negative" } else { "inconclusive" };
    }
    let bases: Vec<BaseVerdict> =
        round.claims.iter().filter_map(|claim| program.work(number, claim)?.base).collect();
    if bases.contains(&BaseVerdict::Supported) {
        "positive"
    } else if bases.is_empty() || bases.contains(&BaseVerdict::Partial) {
        "inconclusive"
    } else {
        "negative"
    }
}

fn halted(program: &Program, number: u64, round: &Round) -> Option<String> {
    let header = program.header(number)?;
    match round.life {
        Life::Ended(Ending::NeedsDecision) => {
            let end = &header.round_end;
            let stage = end.qualifier.trim_start_matches('(').split(':').next().unwrap_or_default();
            Some(format!("halted at {stage} \u{2014} {} Remedy: {}", end.detail, end.remedy))
        }
        Life::Ended(Ending::Halted) => {
            let stage = header.pipeline_status.trim_start_matches("halted-at-");
            let cause = header.open_items.last().map_or("see the ledger", String::as_str);
            Some(format!("halted at {stage} \u{2014} {cause}"))
        }
        Life::Running | Life::Ended(_) | Life::Archived | Life::Discarded => None,
    }
}

/// Where a round stands, in a few words.
fn standing(round: &Round) -> String {
    match (round.life, round.stages.running()) {
        (Life::Running, Some(stage)) => {
            format!("stage {stage}, attempt {}, is running", round.stages.of(stage).attempt)
        }
        (Life::Running, None) => "no stage is running".to_owned(),
        (Life::Ended(ending), _) => format!("ended: {ending}"),
        (Life::Archived, _) => "archived".to_owned(),
        (Life::Discarded, _) => "discarded".to_owned(),
    }
}

/// The briefing: progress, plan, tasks in flight, what comes next, what is blocked.
pub fn briefing(program: &Program, number: u64, event: &str, reason: &str) -> String {
    let round = program.round(number).unwrap_or_default();
    let header = program.header(number).unwrap_or_default();
    let project = if header.project.is_empty() { "no project yet" } else { &header.project };
    let parts = [
        ("Progress", progress_lines(program, number, &round)),
        ("Plan", plan_lines(program, number)),
        ("In-flight tasks", flying_lines(program, number, &round)),
        ("Next", next_lines(program, number, &round)),
        ("Blocked / needs manual approval", blocked_lines(&round, &header.open_items)),
    ];
    let mut text =
        format!("# Round {number} \u{2014} {} \u{2014} {event}\n\n{reason}\n", line(project));
    for (heading, lines) in parts {
        text.push_str(&format!("\n## {heading}\n"));
        if lines.is_empty() {
            text.push_str("- none\n");
        }
        for item in lines {
            text.push_str(&format!("- {}\n", line(&item)));
        }
    }
    text
}

fn line(text: &str) -> String {
    text.split('\n').collect::<Vec<_>>().join(" ")
}

fn progress_lines(program: &Program, number: u64, round: &Round) -> Vec<String> {
    let mut lines = vec![standing(round)];
    for stage in StageName::ALL {
        let own = round.stages.of(stage);
        let state = match &own.state {
            StageState::Pending => "pending",
            StageState::Running { .. } => "running",
            StageState::Returned { .. } => "returned",
            StageState::Accepted => "accepted",
            StageState::Skipped => "skipped",
            StageState::Waiting => "waiting for earlier stages",
            StageState::Stopped { .. } => "stopped for a decision",
            StageState::Crashed => "crashed",
        };
        let attempt =
            if own.attempt > 1 { format!(" (attempt {})", own.attempt) } else { String::new() };
        lines.push(format!("{stage}: {state}{attempt}"));
    }
    lines.extend(
        program.claims(number).iter().map(|row| format!("{}: {}", row.id, row.final_status)),
    );
    if let Some(hours) = &round.gpu_hours {
        let hours = exact(hours).normalized().to_plain_string();
        lines.push(format!("{hours} GPU-hours used"));
    }
    lines
}

fn plan_lines(program: &Program, number: u64) -> Vec<String> {
    let Some(plan) = program.plan(number) else { return Vec::new() };
    let runs = program.runs(number);
    let ended = |name: &String| {
        let run = runs.iter().find(|(id, _)| id == name);
        run.is_some_and(|(_, run)| !run.launch.is_open())
    };
    plan.milestones
        .iter()
        .map(|milestone| {
            let done = milestone.runs.iter().filter(|run| ended(run)).count();
            let claims = milestone.claims.join(", ");
            let claims = if claims.is_empty() { claims } else { format!(" for {claims}") };
            format!("{}{claims}: {done} of {} runs ended", milestone.id, milestone.runs.len())
        })
        .collect()
}

fn flying_lines(program: &Program, number: u64, round: &Round) -> Vec<String> {
    let stage = round.stages.running().filter(|_| round.life == Life::Running);
    let agent = stage.map(|stage| format!("stage {stage}: its agent is out"));
    let runs = program.runs(number);
    let out = runs.iter().filter(|(_, run)| run.launch.is_open());
    agent
        .into_iter()
        .chain(out.map(|(id, run)| format!("run {id} of stage {}, in {}", run.stage, run.path)))
        .collect()
}

fn next_lines(program: &Program, number: u64, round: &Round) -> Vec<String> {
    match round.life {
        Life::Running => {
            let waits = gates::list(program, number).into_iter().filter(gates::Gate::waits);
            let gates =
                waits.map(|gate| format!("gate {}: {}", gate.name, gate.answers.join(", ")));
            let stage = StageName::ALL.into_iter().find(|stage| !round.stages.of(*stage).is_done());
            gates.chain(stage.map(|stage| format!("stage {stage}"))).collect()
        }
        Life::Ended(Ending::NeedsDecision) => {
            program.header(number).map_or_else(Vec::new, |h| h.round_end.next_round_options.clone())
        }
        Life::Ended(_) => vec!["archive the round, then draft the next task".to_owned()],
        Life::Archived | Life::Discarded => vec!["edit task.md and run again".to_owned()],
    }
}

fn blocked_lines(round: &Round, open: &[String]) -> Vec<String> {
    let asked = round.approval.as_ref();
    let asked = asked.map(|asked| format!("{}: {}", asked.blocked, asked.action));
    asked.into_iter().chain(open.iter().cloned()).collect()
}
