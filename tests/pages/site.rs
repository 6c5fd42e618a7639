//! The site in memory: its links, its stamps, and what hostile texts come to in it.

use std::collections::{BTreeMap, BTreeSet};

use rp::interface::{self, Material};
use rp_replay::lineage::Marks;
use serde_json::json;

use crate::{support::record::Recorder, vectors::SAMPLE};

/// The pages of a site, by file name.
pub(super) type Pages = BTreeMap<String, String>;

/// Draws the site of a record as it stands.
pub(super) fn drawn(recorder: &Recorder, banner: Option<(String, Vec<String>)>) -> Pages {
    let material = Material {
        state: recorder.state(),
        history: recorder.history(),
        root: recorder.root(),
        verdict: "Not checked.".to_owned(),
        banner,
        marks: Marks::default(),
    };
    let mut pages = Pages::new();
    interface::draw::<()>(&material, &mut |name, page| {
        let twice = pages.insert(name.to_owned(), page.to_owned());
        assert_eq!(twice, None, "`{name}` is written twice");
        Ok(())
    })
    .unwrap();
    pages
}

pub(super) fn sample() -> Recorder {
    let mut recorder = Recorder::new();
    for line in SAMPLE.lines() {
        recorder.append(line).unwrap();
    }
    recorder
}

/// The values of an attribute.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let mark = format!(" {attribute}=\"");
    page.split(&mark).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// Holds every link of a site to lead somewhere, and every page to stand alone.
pub(super) fn hold_together(pages: &Pages) {
    let ids: BTreeMap<&str, BTreeSet<&str>> = pages
        .iter()
        .map(|(name, page)| (name.as_str(), values(page, "id").into_iter().collect()))
        .collect();
    for (name, page) in pages {
        assert_eq!(
            values(page, "id").len(),
            ids[name.as_str()].len(),
            "{name}: an id stands twice"
        );
        for href in values(page, "href") {
            let (file, id) = href.split_once('#').unwrap_or((href, ""));
            let file = if file.is_empty() { name } else { file };
            let found = ids.get(file).unwrap_or_else(|| panic!("{name}: `{href}` leads nowhere"));
            assert!(id.is_empty() || found.contains(id), "{name}: `{href}` leads nowhere");
        }
        assert!(values(page, "src").is_empty(), "{name} loads something");
        assert!(!page.contains("<script") && !page.contains("<link"), "{name}");
        assert!(!page.contains("url(") && !page.contains("@import"), "{name}");
        assert_eq!(page.matches("<style>").count(), 1, "{name}");
        assert!(page.contains("content=\"default-src 'none'; style-src 'sha256-"), "{name}");
        for part in ["<html lang=\"en\">", "<main id=\"main\">", "class=\"skip\"", "<h1>"] {
            assert_eq!(page.matches(part).count(), 1, "{name}: `{part}`");
        }
    }
}

#[test]
fn the_site_of_the_sample_has_a_page_a_view_a_round_and_a_claim() {
    let pages = drawn(&sample(), None);
    let names: Vec<&str> = pages.keys().map(String::as_str).collect();
    let due = [
        "brief.html",
        "claim-1-C1.html",
        "claim-1-C2.html",
        "claim-1-C3.html",
        "claim-1-C4.html",
        "claim-1-C4_v2.html",
        "claim-2-C1.html",
        "claims.html",
        "index.html",
        "memory.html",
        "refusals.html",
        "round-1.html",
        "round-2.html",
        "rounds.html",
        "timeline.html",
        "trust.html",
    ];
    assert_eq!(names, due);
    hold_together(&pages);
    assert_eq!(pages, drawn(&sample(), None), "a second fold gave other bytes");
    // The values stand in `round_1/claims_ledger.json`.
    let claim = &pages["claim-1-C4_v2.html"];
    assert!(claim.contains("<span class=\"s good\"><bdi>\u{2713} holds</bdi></span>"), "{claim}");
    assert!(claim.contains("<a href=\"claim-1-C4.html\"><bdi>claim:1/C4</bdi></a>"), "{claim}");
    assert!(pages["claim-1-C4.html"].contains("href=\"claim-1-C4_v2.html\""));
    assert!(pages["round-1.html"].contains("Negation scope decays with intervening clauses"));
    assert!(pages["timeline.html"].contains("<time datetime=\"2026-03-02T08:00:00Z\">"));
    assert!(pages["refusals.html"].contains("nothing was refused"));
}

#[test]
fn an_append_changes_only_pages_that_it_touches_and_they_say_so() {
    let mut recorder = Recorder::new();
    let mut lines = (1..).zip(SAMPLE.lines());
    // The first event names the program, and with it every page.
    recorder.append(lines.next().unwrap().1).unwrap();
    let mut before = drawn(&recorder, None);
    let mut wrong = Vec::new();
    for (n, line) in lines {
        let seq = recorder.append(line).unwrap();
        let after = drawn(&recorder, None);
        for (name, page) in &after {
            let is_same = before.get(name) == Some(page);
            if ["index.html", "trust.html"].contains(&name.as_str()) {
                let stamp = format!("as of {} entries; root ", recorder.state().next());
                assert!(page.contains(&stamp) && page.contains(&recorder.root()), "{name}");
                continue;
            }
            assert!(!page.contains(&recorder.root()), "{name} carries the root");
            let stamp = format!("event:{seq}</bdi></a><bdi>.</bdi></p>\n</footer>");
            if is_same == page.contains(&stamp) {
                let short: String = line.chars().take(150).collect();
                wrong.push(format!("line {n}, `{name}`, the same: {is_same}: {short}"));
            }
        }
        before = after;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Texts that would be more than text if they could.
const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "\" onload=\"alert(1)",
    "' onfocus='alert(1)",
    "]]> --> </style></title><img src=x onerror=alert(1)>",
    "| a | b |\n|---|---|\n| `c` | [d](javascript:alert(1)) |",
    "\u{5d0}\u{5d1}\u{5d2} (right to left) \u{200f}x",
    "&lt;b&gt; &amp; &#39;",
    "# heading\n- item\n> quote\n```\ncode",
];

/// A round with a claim for each of the texts, which stand wherever a text may.
fn hostile() -> Recorder {
    let mut recorder = Recorder::new();
    let mut put = |round: u64, signer: &str, kind: &str, data: serde_json::Value| {
        let line = json!({ "as": signer, "kind": kind, "round": round, "data": data });
        recorder.append(&line.to_string()).unwrap_or_else(|refusal| panic!("{refusal}: {line}"));
    };
    let all = HOSTILE.join("\n");
    let claims: Vec<String> = (1..=HOSTILE.len()).map(|n| format!("C{n}")).collect();
    put(0, "user", "program.created", json!({ "program": all, "direction": all }));
    let pins = json!({ "behavior": null, "mechanism_direction": null, "family": null });
    put(
        0,
        "user",
        "task.recorded",
        json!({
            "for_round": 1, "origin": "user", "language": "en", "body": all, "pins": pins,
            "retry_settled": false, "notify": false,
        }),
    );
    begin(&mut put, &claims);
    for (id, text) in claims.iter().zip(HOSTILE) {
        put(
            1,
            "orchestrator",
            "claim.seeded",
            json!({
                "id": id, "statement": text, "origin": text, "parent": null,
            }),
        );
        put(1, "orchestrator", "caveat.added", json!({ "claim": id, "text": text }));
        put(1, "orchestrator", "claim.status_set", json!({ "claim": id, "final_status": text }));
    }
    put(1, "orchestrator", "open_item.added", json!({ "text": all, "source": all }));
    put(1, "orchestrator", "journey.set", json!({ "field": "claim", "text": all }));
    recorder
}

/// Brings a reproduction round to where claims are seeded.
#[expect(clippy::too_many_lines, reason = "one event after another")]
pub(super) fn begin(put: &mut dyn FnMut(u64, &str, &str, serde_json::Value), claims: &[String]) {
    put(0, "user", "run.requested", json!({ "raw": "x -- mechanism: given", "resume": false }));
    put(
        0,
        "orchestrator",
        "flags.resolved",
        json!({
            "flags": { "MECHANISM": "given" }, "notes": [],
        }),
    );
    put(
        1,
        "orchestrator",
        "round.opened",
        json!({
            "behavior_source": "given", "mechanism": "given",
        }),
    );
    put(
        1,
        "orchestrator",
        "comprehension.decided",
        json!({
            "concrete": true, "decision": null, "given_behavior": null, "decided_by": "auto",
        }),
    );
    put(
        1,
        "orchestrator",
        "constraints.injected",
        json!({
            "stage": "claim", "attempt": 1, "items": [],
        }),
    );
    put(
        1,
        "orchestrator",
        "stage.dispatched",
        json!({
            "stage": "claim", "attempt": 1, "mode": "full", "resume": false,
        }),
    );
    put(
        1,
        "claim-agent",
        "plan.committed",
        json!({
            "rev": 1, "editor": "claim", "resource_fidelity": "strict", "mechanism_strategy": "n/a",
            "chosen_mechanism": "Probing", "families_already_settled": [],
            "milestones": [{
                "id": "M1", "kind": "main", "claims": claims, "depends_on": [], "runs": ["A1"],
                "planned_used_n": "400", "method_sensitive": [],
            }],
        }),
    );
    let files = [
        "idea-stage/IDEA_REPORT.md",
        "refine-logs/FINAL_PROPOSAL.md",
        "refine-logs/EXPERIMENT_PLAN.md",
    ];
    let files: Vec<_> = files.iter().map(|path| json!({ "path": path, "bytes": 10 })).collect();
    put(
        1,
        "claim-agent",
        "stage.returned",
        json!({
            "stage": "claim", "attempt": 1, "outcome": "ok", "artifacts": files,
        }),
    );
    put(1, "orchestrator", "stage.accepted", json!({ "stage": "claim", "attempt": 1 }));
    put(
        1,
        "orchestrator",
        "gate.decided",
        json!({
            "gate": "claim", "mode": "auto", "decision": "approve", "choice": null, "decided_by": "auto",
        }),
    );
}

#[test]
fn hostile_texts_are_shown_as_texts() {
    let recorder = hostile();
    let pages = drawn(&recorder, None);
    hold_together(&pages);
    for (name, page) in &pages {
        for raw in ["<script", "<img", "onload=\"", "onfocus='", "<b>", "</style></title>"] {
            assert!(!page.contains(raw), "{name}: {raw}");
        }
        assert_eq!(page.matches("</title>").count(), 1, "{name}");
        assert_eq!(page.matches("</style>").count(), 1, "{name}");
    }
    // Not lost either: what was written is there, escaped.
    let claim = &pages["claim-1-C1.html"];
    assert!(claim.contains("<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>"), "{claim}");
    assert!(pages["claim-1-C7.html"].contains("<bdi>&amp;lt;b&amp;gt; &amp;amp; &amp;#39;</bdi>"));
    assert!(pages["claim-1-C6.html"].contains("<bdi>\u{5d0}\u{5d1}\u{5d2} (right to left)"));
}

#[test]
fn hostile_texts_cannot_leave_their_place_in_markdown_and_text() {
    use rp::render;
    use rp_replay::{
        document::Address,
        views::{self, Args, Build},
    };
    let recorder = hostile();
    let Build::Entity { page, .. } = views::view("claim").unwrap().build else { panic!() };
    for n in 1..=HOSTILE.len() {
        let args = Args { address: Address::parse(&format!("claim:1/C{n}")), ..Args::default() };
        let document = page(recorder.state(), recorder.history(), &args).unwrap();
        let markdown = render::markdown::draw(&document);
        for line in markdown.lines() {
            let is_row = line.starts_with("| ");
            let bars = line.replace("\\|", "").matches('|').count();
            assert!(!is_row || bars == 6, "{line}");
            let opens = line.starts_with("> quote") || line.starts_with("```");
            assert!(
                !opens && !line.replace("\\]", "").contains("](") && !line.contains(" <"),
                "{line}"
            );
        }
        let headings = markdown.lines().filter(|line| line.starts_with('#')).count();
        // The title, and the parts verify, caveats and history.
        assert_eq!(headings, 4, "{markdown}");
        let text = render::text::draw(&document);
        assert!(text.lines().all(|line| !line.starts_with("# heading")) || n == 8, "{text}");
    }
}

#[test]
fn a_banner_stands_on_every_page_of_a_journal_that_did_not_verify() {
    let banner = ("This journal did not verify.".to_owned(), vec!["<b> at entry 3".to_owned()]);
    for (name, page) in drawn(&sample(), Some(banner)) {
        assert!(
            page.contains("class=\"banner bad\" role=\"note\"><bdi>This journal did not verify."),
            "{name}"
        );
        assert!(page.contains("<li><bdi>&lt;b&gt; at entry 3</bdi></li>"), "{name}");
    }
}
