//! Documents as JSON.

use rp_replay::document::{Body, Document};
use serde_json::{Value, json};

/// Draws a document under the schema of its view.
pub fn draw(view: &str, document: &Document) -> Value {
    let sections: Vec<Value> = document
        .sections
        .iter()
        .map(|section| {
            let body = match &section.body {
                Body::Text(text) => json!({ "text": text }),
                Body::Facts(facts) => {
                    let fact = |(label, value): &(String, String)| json!({ "label": label, "value": value });
                    json!({ "facts": facts.iter().map(fact).collect::<Vec<_>>() })
                }
                Body::List(lines) => json!({ "list": lines }),
                Body::Table { columns, rows } => json!({ "table": { "columns": columns, "rows": rows } }),
            };
            json!({ "heading": section.heading, "body": body })
        })
        .collect();
    json!({ "schema": format!("rp.view.{view}/1"), "title": document.title, "sections": sections })
}
