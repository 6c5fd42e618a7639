//! Documents as JSON: the shape of `spec/views.md`, the same for every view.

use rp_replay::document::{Body, Cell, Document, Piece, Row};
use serde_json::{Value, json};

/// Draws a document under the schema of its view.
pub fn draw(view: &str, document: &Document) -> Value {
    let sections: Vec<Value> = document
        .sections
        .iter()
        .map(|section| json!({ "heading": section.heading, "body": body(&section.body) }))
        .collect();
    json!({
        "schema": format!("rp.view.{view}/1"),
        "title": document.title,
        "address": document.address.as_ref().map(ToString::to_string),
        "sections": sections,
    })
}

fn body(body: &Body) -> Value {
    match body {
        Body::Text(value) => json!({ "text": cell(value) }),
        Body::Note(tone, value) => {
            json!({ "note": { "tone": tone.as_str(), "text": cell(value) } })
        }
        Body::Facts(facts) => {
            let fact =
                |(label, value): &(String, Cell)| json!({ "label": label, "value": cell(value) });
            json!({ "facts": facts.iter().map(fact).collect::<Vec<_>>() })
        }
        Body::List(items) => json!({ "list": items.iter().map(cell).collect::<Vec<_>>() }),
        Body::Code(text) => json!({ "code": text }),
        Body::Table { columns, rows } => {
            let row = |row: &Row| {
                json!({
                    "address": row.address.as_ref().map(ToString::to_string),
                    "cells": row.cells.iter().map(cell).collect::<Vec<_>>(),
                })
            };
            json!({ "table": { "columns": columns, "rows": rows.iter().map(row).collect::<Vec<_>>() } })
        }
    }
}

/// A value as its pieces, in order.
fn cell(cell: &Cell) -> Value {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => json!({ "text": text }),
        Piece::Code(text) => json!({ "code": text }),
        Piece::Time(text) => json!({ "time": text }),
        Piece::Link(address) => json!({ "link": address.as_str() }),
        Piece::Status(tone, text) => json!({ "status": text, "tone": tone.as_str() }),
    };
    Value::Array(cell.0.iter().map(piece).collect())
}
