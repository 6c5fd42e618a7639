//! Ten thousand claims and texts as long as an entry may hold.

use std::collections::BTreeSet;

use rp::render;
use rp_replay::views::{self, Args, Build};
use serde_json::json;

use super::site::{begin, drawn, hold_together};
use crate::support::record::Recorder;

/// How many claims: the short names of all of them still fit into one plan.
const CLAIMS: usize = 10_000;

#[test]
fn ten_thousand_claims_have_their_pages_and_nothing_is_left_out() {
    let mut recorder = Recorder::new();
    let mut put = |round: u64, signer: &str, kind: &str, data: serde_json::Value| {
        let line = json!({ "as": signer, "kind": kind, "round": round, "data": data });
        recorder.append(&line.to_string()).unwrap_or_else(|refusal| panic!("{refusal}: {kind}"));
    };
    let claims: Vec<String> = (0..CLAIMS).map(|n| n.to_string()).collect();
    let long = "sixty thousand characters ".repeat(2310);
    put(0, "user", "program.created", json!({ "program": "large", "direction": long }));
    begin(&mut put, &claims);
    for (n, id) in claims.iter().enumerate() {
        let statement = if n == 7 { long.clone() } else { format!("Statement number {n} holds.") };
        put(
            1,
            "orchestrator",
            "claim.seeded",
            json!({
                "id": id, "statement": statement, "origin": "plan", "parent": null,
            }),
        );
    }
    let pages = drawn(&recorder, None);
    hold_together(&pages);
    // Each claim once: 500 rows a page, so 20 pages of the view, 20 of the round, and one each.
    let parts = |stem: &str| {
        let is_part = |name: &&String| {
            **name == format!("{stem}.html") || name.starts_with(&format!("{stem}~"))
        };
        pages.iter().filter(|(name, _)| is_part(name)).collect::<Vec<_>>()
    };
    assert_eq!((parts("claims").len(), parts("round-1").len()), (20, 20));
    assert_eq!(pages.keys().filter(|name| name.starts_with("claim-1-")).count(), CLAIMS);
    let listed: BTreeSet<&str> = parts("claims")
        .into_iter()
        .flat_map(|(_, page)| page.split("href=\"claim-1-").skip(1))
        .map(|rest| rest.split('.').next().unwrap())
        .collect();
    assert_eq!(listed.len(), CLAIMS);
    // The long statement is whole on its own page, behind its beginning, and counted where it is cut.
    let own = &pages["claim-1-7.html"];
    assert!(own.contains(long.trim_end()) && own.contains("<details>"));
    assert!(pages["claims.html"].contains("characters)"));
    let largest = pages.values().map(String::len).max().unwrap();
    assert!(largest < 1_000_000, "a page of {largest} bytes is not read by anybody");
    // The terminal's pages say what they leave out.
    let Build::Page(brief) = views::view("brief").unwrap().build else { panic!() };
    let brief = render::text::draw(&brief(recorder.state(), &Args::default()).unwrap());
    assert!(brief.len() <= 4000 && brief.contains("10000 claims"), "{brief}");
    assert!(brief.contains("more: rp fold claims --round 1"), "{brief}");
    let Build::Page(status) = views::view("status").unwrap().build else { panic!() };
    let status = render::text::draw(&status(recorder.state(), &Args::default()).unwrap());
    assert!(status.contains("50 of 10000 are shown; all: rp fold claims --round 1"), "{status}");
}
