//! Reads `claims_ledger.json` of an older project (E.1) into the payload that takes it over.

use std::collections::{BTreeMap, BTreeSet};

use rp_events::{
    ClaimId, FigureId,
    json::Json,
    program::{
        FigureEntry, ImportedAxes, ImportedClaim, ImportedData, ImportedDates, ImportedExperiment,
        ImportedHeader, ImportedIteration, ImportedIterationSummary, ImportedJourney,
        ImportedModels, ImportedRoundEnd, ImportedVerify,
    },
};

use super::lenient::{self, Doubts, Fields};

/// A ledger as its file had it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LedgerFile {
    /// Everything but the claims.
    pub(super) header: ImportedHeader,
    /// The claims, in the order of the file.
    pub(super) claims: Vec<ImportedClaim>,
    /// How many claims and figures could not be taken over.
    pub(super) left_out: u64,
}

/// Reads a ledger; `None` if the file holds no object. The Markdown of tables is read from the files that the
/// figures name, which `table` gives by their path from the round's folder.
pub(super) fn read(
    bytes: &[u8],
    table: &dyn Fn(&str) -> Option<Vec<u8>>,
    doubts: &mut Doubts,
) -> Option<LedgerFile> {
    let json = lenient::json(bytes, doubts)?;
    if !matches!(json, Json::Object(_)) {
        doubts.add("bad-type", "", &lenient::literal(&json), "an object was due");
        return None;
    }
    let mut fields = Fields::of(Some(&json), "", doubts);
    let header = header(&mut fields, doubts);
    let mut claims = Vec::new();
    let mut left_out = 0;
    let mut seen = BTreeSet::new();
    for (place, json) in fields.items("claims", doubts) {
        match claim(json, &place, table, &mut left_out, doubts) {
            Some(claim) if !seen.insert(claim.id.clone()) => {
                let why = "the claim stands twice; the first one counts";
                doubts.add("duplicate-claim", format!("{place}.id"), claim.id.as_str(), why);
                left_out += 1;
            }
            Some(claim) => claims.push(claim),
            None => left_out += 1,
        }
    }
    fields.finish(doubts);
    Some(LedgerFile { header, claims, left_out })
}

fn header(fields: &mut Fields<'_>, doubts: &mut Doubts) -> ImportedHeader {
    ImportedHeader {
        project: fields.text("project", doubts),
        direction: fields.text("direction", doubts),
        date_range: {
            let mut dates = fields.object("date_range", doubts);
            let range = ImportedDates {
                start: dates.text("start", doubts),
                end: dates.text("end", doubts),
            };
            dates.finish(doubts);
            range
        },
        models: {
            let mut models = fields.object("models", doubts);
            let each = ImportedModels {
                claim: models.text("claim", doubts),
                experiment: models.text("experiment", doubts),
                verify: models.text("verify", doubts),
                iteration: models.text("iteration", doubts),
            };
            models.finish(doubts);
            each
        },
        pipeline_status: fields.text("pipeline_status", doubts),
        round_end: round_end(fields, doubts),
        journey_summary: journey(fields, doubts),
        // The originals may leave the key out.
        open_items: match fields.optional("open_items") {
            None => Vec::new(),
            Some(_) => fields.texts("open_items", doubts),
        },
        iteration_summary: {
            let mut summary = fields.object("iteration_summary", doubts);
            let last = ImportedIterationSummary {
                score: summary.decimal_or_null("score", doubts),
                verdict: summary.text("verdict", doubts),
                rounds_consumed: summary.count("rounds_consumed", doubts),
                max_rounds: summary.count("max_rounds", doubts),
            };
            summary.finish(doubts);
            last
        },
        updated_after_stage: fields.text("updated_after_stage", doubts),
    }
}

fn round_end(fields: &mut Fields<'_>, doubts: &mut Doubts) -> ImportedRoundEnd {
    let mut end = fields.object("round_end", doubts);
    let round_end = ImportedRoundEnd {
        qualifier: end.text("qualifier", doubts),
        detail: end.text("detail", doubts),
        remedy: end.text("remedy", doubts),
        see: end.text("see", doubts),
        partial_artifacts: end.texts("partial_artifacts", doubts),
        next_round_options: end.texts("next_round_options", doubts),
    };
    end.finish(doubts);
    round_end
}

fn journey(fields: &mut Fields<'_>, doubts: &mut Doubts) -> ImportedJourney {
    let mut journey = fields.object("journey_summary", doubts);
    let lines = ImportedJourney {
        claim: journey.text("claim", doubts),
        mechanism_strategy: journey.text("mechanism_strategy", doubts),
        mechanism_routing: journey.text("mechanism_routing", doubts),
        experiment: journey.text("experiment", doubts),
        verify: journey.text("verify", doubts),
        iteration: journey.text("iteration", doubts),
        figures: journey.text("figures", doubts),
    };
    journey.finish(doubts);
    lines
}

fn claim(
    json: &Json,
    place: &str,
    table: &dyn Fn(&str) -> Option<Vec<u8>>,
    left_out: &mut u64,
    doubts: &mut Doubts,
) -> Option<ImportedClaim> {
    let mut fields = Fields::of(Some(json), place, doubts);
    let id = fields.text("id", doubts);
    let id = match ClaimId::parse(&id) {
        Ok(id) => id,
        Err(why) => {
            doubts.add("bad-id", fields.place("id"), &id, format!("{why}; the claim was left out"));
            return None;
        }
    };
    let statement = fields.text("statement", doubts);
    let origin = fields.text("origin", doubts);
    let data = data(&mut fields, doubts);
    let models = fields.texts("models", doubts);
    let method = fields.text("method", doubts);
    let main_experiment = experiment(&mut fields, doubts);
    let verify = verify(&mut fields, doubts);
    let iteration = iteration(&mut fields, doubts);
    let final_status = fields.text("final_status", doubts);
    let caveats = fields.texts("caveats", doubts);
    let artifacts = fields.texts("artifacts", doubts);
    let mut figures = Vec::new();
    let mut tables = BTreeMap::new();
    for (place, json) in fields.items("figures", doubts) {
        let Some(figure) = figure(json, &place, doubts) else {
            *left_out += 1;
            continue;
        };
        if let Some(body) = body(&figure, &place, table, doubts) {
            tables.insert(figure.id.clone(), body);
        }
        figures.push(figure);
    }
    fields.finish(doubts);
    Some(ImportedClaim {
        id,
        statement,
        origin,
        data,
        models,
        method,
        main_experiment,
        verify,
        iteration,
        final_status,
        caveats,
        artifacts,
        figures,
        tables,
    })
}

fn data(fields: &mut Fields<'_>, doubts: &mut Doubts) -> ImportedData {
    let mut data = fields.object("data", doubts);
    let used = ImportedData {
        provenance: data.text("provenance", doubts),
        source: data.text("source", doubts),
        available_n: data.text("available_n", doubts),
        used_n: data.text("used_n", doubts),
        subset_note: data.text("subset_note", doubts),
    };
    data.finish(doubts);
    used
}

fn experiment(fields: &mut Fields<'_>, doubts: &mut Doubts) -> ImportedExperiment {
    let mut main = fields.object("main_experiment", doubts);
    let outcome = ImportedExperiment {
        verdict: main.text("verdict", doubts),
        key_stats: main.text("key_stats", doubts),
        headline: main.text("headline", doubts),
    };
    main.finish(doubts);
    outcome
}

fn verify(fields: &mut Fields<'_>, doubts: &mut Doubts) -> ImportedVerify {
    let mut verify = fields.object("verify", doubts);
    let robustness = verify.decimal_or_null("robustness", doubts);
    let mut axes = verify.object("axes", doubts);
    let by_axis = ImportedAxes {
        method: axes.text("method", doubts),
        dataset: axes.text("dataset", doubts),
        model: axes.text("model", doubts),
    };
    axes.finish(doubts);
    let outcome = ImportedVerify {
        robustness,
        axes: by_axis,
        integrity: verify.text("integrity", doubts),
        verdict: verify.text("verdict", doubts),
        stage2_skip_reason: verify.text_or_null("stage2_skip_reason", doubts),
    };
    verify.finish(doubts);
    outcome
}

fn iteration(fields: &mut Fields<'_>, doubts: &mut Doubts) -> ImportedIteration {
    let mut iteration = fields.object("iteration", doubts);
    let outcome = ImportedIteration {
        final_reviewer_status: iteration.text("final_reviewer_status", doubts),
        changed: iteration.texts("changed", doubts),
        falsified: iteration.texts("falsified", doubts),
        narrowed_to: iteration.text("narrowed_to", doubts),
    };
    iteration.finish(doubts);
    outcome
}

fn figure(json: &Json, place: &str, doubts: &mut Doubts) -> Option<FigureEntry> {
    let mut fields = Fields::of(Some(json), place, doubts);
    let id = fields.text("id", doubts);
    let id = match FigureId::parse(&id) {
        Ok(id) => id,
        Err(why) => {
            doubts.add(
                "bad-id",
                fields.place("id"),
                &id,
                format!("{why}; the figure was left out"),
            );
            return None;
        }
    };
    let entry = FigureEntry {
        id,
        kind: fields.text("type", doubts),
        caption: fields.text("caption", doubts),
        png: fields.text_or_null("png", doubts),
        pdf: fields.text_or_null("pdf", doubts),
        md: fields.text_or_null("md", doubts),
        tex: fields.text_or_null("tex", doubts),
        source_data: fields.text("source_data", doubts),
        status: fields.text("status", doubts),
        error_detail: fields.optional_text("error_detail", doubts),
        reason: fields.optional_text("reason", doubts),
    };
    fields.finish(doubts);
    Some(entry)
}

/// A table's Markdown, which stands in a file of its own.
fn body(
    figure: &FigureEntry,
    place: &str,
    table: &dyn Fn(&str) -> Option<Vec<u8>>,
    doubts: &mut Doubts,
) -> Option<String> {
    if figure.kind != "table" || figure.status != "ok" {
        return None;
    }
    let path = figure.md.as_deref()?;
    let Some(bytes) = table(path) else {
        doubts.add(
            "missing-file",
            format!("{place}.md"),
            path,
            "the table's Markdown is not there",
        );
        return None;
    };
    let mut own = Doubts::of(path);
    let text = lenient::text(&bytes, &mut own)?;
    for doubt in own.into_list() {
        doubts.add(&doubt.code, format!("{place}.md {}", doubt.place), &doubt.value, doubt.why);
    }
    Some(lenient::clean(&text.replace("\r\n", "\n")))
}
