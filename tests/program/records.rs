//! What the sample leaves: its result files, byte for byte, folded from its journal.

use rp_replay::views::{self, Args, Build};

use crate::{support::record::Recorder, vectors::SAMPLE};

/// A file of a view, as the state shows it now.
pub(super) fn shown(recorder: &Recorder, view: &str, round: Option<u64>, format: &str) -> String {
    let Build::File { render, .. } = views::view(view).unwrap().build else {
        panic!("`{view}` keeps no file")
    };
    render(recorder.state(), &Args { round, ..Args::default() }, format).unwrap()
}

#[test]
fn the_sample_leaves_its_files_byte_for_byte() {
    let mut recorder = Recorder::new();
    for (n, line) in (1..).zip(SAMPLE.lines()) {
        recorder.append(line).unwrap();
        if n == 199 {
            let memory = include_str!("../../spec/samples/program/round_1/research_memory.json");
            assert_eq!(shown(&recorder, "memory", None, "json"), memory);
        }
        if n == 200 {
            let draft = include_str!("../../spec/samples/program/round_1/drafted_task.md");
            assert_eq!(shown(&recorder, "next-task", None, "md"), draft);
        }
    }
    let files = [
        (
            "ledger",
            Some(1),
            "json",
            include_str!("../../spec/samples/program/round_1/claims_ledger.json"),
        ),
        (
            "ledger",
            Some(1),
            "md",
            include_str!("../../spec/samples/program/round_1/CLAIMS_LEDGER.md"),
        ),
        (
            "ledger",
            Some(2),
            "json",
            include_str!("../../spec/samples/program/round_2/claims_ledger.json"),
        ),
        (
            "ledger",
            Some(2),
            "md",
            include_str!("../../spec/samples/program/round_2/CLAIMS_LEDGER.md"),
        ),
        ("memory", None, "json", include_str!("../../spec/samples/program/research_memory.json")),
        (
            "next-task",
            None,
            "md",
            include_str!("../../spec/samples/program/round_2/drafted_task.md"),
        ),
    ];
    for (view, round, format, due) in files {
        assert_eq!(shown(&recorder, view, round, format), due, "{view} {round:?} {format}");
    }
}
