//! How long the texts of a finding should be (F.2 of the domain text). These are targets: what misses one is said,
//! never refused.

use rp_events::program::{Event, MechanismClaim};

/// Most words of a claim's statement in the memory.
pub const STATEMENT_WORDS_MAX: usize = 35;
/// Most words of its method.
pub const METHOD_WORDS_MAX: usize = 30;
/// Fewest and most words of its conclusion.
pub const CONCLUSION_WORDS: (usize, usize) = (30, 55);

/// What an event's texts miss, a sentence each.
pub fn warnings(event: &Event) -> Vec<String> {
    let Event::MemoryMechanismRecorded(body) = event else { return Vec::new() };
    body.claims.iter().flat_map(finding).collect()
}

fn finding(claim: &MechanismClaim) -> Vec<String> {
    let words = |text: &str| text.split_whitespace().count();
    let at_most = |field: &str, text: &str, max: usize| {
        let found = words(text);
        (found > max).then(|| {
            format!("`{field}` of {} has {found} words; the target is at most {max}", claim.id)
        })
    };
    let (least, most) = CONCLUSION_WORDS;
    let conclusion = words(&claim.conclusion);
    let off = (conclusion < least || conclusion > most).then(|| {
        format!(
            "`conclusion` of {} has {conclusion} words; the target is {least} to {most}",
            claim.id
        )
    });
    [
        at_most("statement", &claim.statement, STATEMENT_WORDS_MAX),
        at_most("method", &claim.method, METHOD_WORDS_MAX),
        off,
    ]
    .into_iter()
    .flatten()
    .collect()
}
