//! Reading JSON that others wrote: whatever can be read is, and whatever was not as it should be is said.
//!
//! Where strict intake refuses, this reader notes a doubt with its place and value and goes on: the last of two
//! equal keys counts, a forbidden character is written out, a value of another type becomes the nearest text.

use std::fmt::Write as _;

use rp_events::{
    Decimal,
    json::Json,
    program::Unverified,
    text::{forbidden, shown},
};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// Most characters of a value that a doubt shows.
const SHOWN_MAX: usize = 160;
/// Most containers inside one another; the files of the originals have seven.
const DEPTH_MAX: usize = 14;

/// What is doubtful of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubts {
    file: String,
    list: Vec<Unverified>,
}

impl Doubts {
    /// No doubt yet about a file.
    pub fn of(file: impl Into<String>) -> Self {
        Self { file: file.into(), list: Vec::new() }
    }

    /// Adds a doubt.
    pub fn add(
        &mut self,
        code: &str,
        place: impl Into<String>,
        value: &str,
        why: impl Into<String>,
    ) {
        self.list.push(Unverified {
            code: code.to_owned(),
            file: clean(&self.file),
            place: clean(&place.into()),
            value: clipped(value),
            why: clean(&why.into()),
        });
    }

    /// Takes the doubts out.
    pub fn into_list(self) -> Vec<Unverified> {
        self.list
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// A value on one line, its beginning only where it is long; how long it is then stands behind it.
fn clipped(value: &str) -> String {
    let count = value.chars().count();
    let mut text = clean(&value.chars().take(SHOWN_MAX).collect::<String>()).replace('\n', "\\n");
    if count > SHOWN_MAX {
        let _infallible = write!(text, "\u{2026} ({count} characters)");
    }
    text
}

/// A text with what no record may hold written out as code points.
pub fn clean(text: &str) -> String {
    if forbidden(text).is_none() {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        let one = c.to_string();
        out.push_str(&if forbidden(&one).is_some() { shown(&one) } else { one });
    }
    out
}

/// The text of a file; `None` if it is empty.
pub fn text(bytes: &[u8], doubts: &mut Doubts) -> Option<String> {
    if bytes.trim_ascii().is_empty() {
        doubts.add("empty-file", "", "", "it has no content");
        return None;
    }
    let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        None => bytes,
        Some(rest) => {
            doubts.add("byte-order-mark", "byte 0", "U+FEFF", "it was passed over");
            rest
        }
    };
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(error) => {
            let at = error.valid_up_to();
            let byte = bytes.get(at).map_or_else(String::new, |byte| format!("0x{byte:02x}"));
            let why = "it is not UTF-8 there; what could not be read is U+FFFD";
            doubts.add("not-utf8", format!("byte {at}"), &byte, why);
            String::from_utf8_lossy(bytes).into_owned()
        }
    };
    let count = text.matches("\r\n").count();
    if count > 0 {
        let why = format!("{count} lines end with CR and LF; files of a program end them with LF");
        doubts.add("carriage-return", "", "CR LF", why);
    }
    Some(text)
}

/// The JSON value of a file; `None` if there is none that could be read.
pub fn json(bytes: &[u8], doubts: &mut Doubts) -> Option<Json> {
    let text = text(bytes, doubts)?;
    match serde_json::from_str::<&RawValue>(&text) {
        Ok(raw) => Some(value(raw, "", 0, doubts)),
        Err(error) => {
            let place = format!("line {}, column {}", error.line(), error.column());
            let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
            doubts.add("malformed-json", place, line, format!("{error}"));
            None
        }
    }
}

fn value(raw: &RawValue, path: &str, depth: usize, doubts: &mut Doubts) -> Json {
    let text = raw.get();
    match text.bytes().next().unwrap_or(b' ') {
        b'{' | b'[' if depth >= DEPTH_MAX => {
            doubts.add("too-deep", path, text, "it nests too deep and was left out");
            Json::Null
        }
        b'n' => Json::Null,
        b't' => Json::Bool(true),
        b'f' => Json::Bool(false),
        b'"' => Json::Text(string(text, path, doubts)),
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
            let items = items.iter().enumerate();
            Json::Array(
                items
                    .map(|(n, raw)| value(raw, &format!("{path}[{n}]"), depth + 1, doubts))
                    .collect(),
            )
        }
        b'{' => object(text, path, depth, doubts),
        _ => Json::Number(text.to_owned()),
    }
}

/// A string's text. After the grammar has passed, only a lone surrogate cannot be decoded: its escapes stay.
fn string(literal: &str, path: &str, doubts: &mut Doubts) -> String {
    let text: String = serde_json::from_str(literal).unwrap_or_else(|_| {
        doubts.add(
            "bad-text",
            path,
            literal,
            "it has half a surrogate pair; its escapes were kept",
        );
        literal.trim_matches('"').to_owned()
    });
    if let Some(c) = forbidden(&text) {
        let why = format!(
            "it holds U+{:04X}, which no record may hold; it was written out",
            u32::from(c)
        );
        doubts.add("bad-text", path, &text, why);
    }
    clean(&text)
}

fn object(text: &str, path: &str, depth: usize, doubts: &mut Doubts) -> Json {
    let Ok(Pairs(pairs)) = serde_json::from_str(text) else {
        doubts.add(
            "bad-text",
            path,
            text,
            "a key has half a surrogate pair; the object was left out",
        );
        return Json::Null;
    };
    let mut out: Vec<(String, Json)> = Vec::with_capacity(pairs.len());
    for (key, raw) in pairs {
        let key = clean(&key);
        let here = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let value = value(raw, &here, depth + 1, doubts);
        match out.iter_mut().find(|(known, _)| *known == key) {
            None => out.push((key, value)),
            Some((_, old)) => {
                doubts.add(
                    "duplicate-key",
                    here,
                    raw.get(),
                    "it stands twice; the last one counts",
                );
                *old = value;
            }
        }
    }
    Json::Object(out)
}

/// An object's members in order, duplicates included.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Pairs<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// An object's members by name, each asked for once; what nobody asked for is a doubt.
pub struct Fields<'j> {
    path: String,
    pairs: &'j [(String, Json)],
    asked: Vec<&'static str>,
    /// Whether the object itself is missing, so that its members need not be missed one by one.
    is_absent: bool,
}

impl<'j> Fields<'j> {
    /// The members of a value that should be an object.
    pub fn of(json: Option<&'j Json>, path: &str, doubts: &mut Doubts) -> Self {
        let (pairs, is_absent) = match json {
            Some(Json::Object(pairs)) => (pairs.as_slice(), false),
            other => {
                match other {
                    Some(json) => doubts.add("bad-type", path, &literal(json), "an object was due"),
                    None => doubts.add("missing-field", path, "", "an object was due"),
                }
                (&[][..], true)
            }
        };
        Self { path: path.to_owned(), pairs, asked: Vec::new(), is_absent }
    }

    /// The path of a member.
    pub fn place(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// A member; none is no doubt.
    pub fn optional(&mut self, key: &'static str) -> Option<&'j Json> {
        self.asked.push(key);
        self.pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn required(&mut self, key: &'static str, due: &str, doubts: &mut Doubts) -> Option<&'j Json> {
        let found = self.optional(key);
        if found.is_none() && !self.is_absent {
            doubts.add("missing-field", self.place(key), "", format!("{due} was due"));
        }
        found
    }

    /// A text; one that is missing is empty, and another type is taken as it is written.
    pub fn text(&mut self, key: &'static str, doubts: &mut Doubts) -> String {
        let found = self.required(key, "a text", doubts);
        found.map_or_else(String::new, |json| as_text(json, &self.place(key), doubts))
    }

    /// A text or null.
    pub fn text_or_null(&mut self, key: &'static str, doubts: &mut Doubts) -> Option<String> {
        let json = self.required(key, "a text or null", doubts)?;
        (*json != Json::Null).then(|| as_text(json, &self.place(key), doubts))
    }

    /// A text that may be missing.
    pub fn optional_text(&mut self, key: &'static str, doubts: &mut Doubts) -> Option<String> {
        let json = self.optional(key)?;
        (*json != Json::Null).then(|| as_text(json, &self.place(key), doubts))
    }

    /// The items of a list.
    pub fn items(&mut self, key: &'static str, doubts: &mut Doubts) -> Vec<(String, &'j Json)> {
        let found = self.required(key, "a list", doubts);
        let place = self.place(key);
        match found {
            None => Vec::new(),
            Some(Json::Array(items)) => {
                items.iter().enumerate().map(|(n, item)| (format!("{place}[{n}]"), item)).collect()
            }
            Some(json) => {
                doubts.add("bad-type", &place, &literal(json), "a list was due");
                if *json == Json::Null { Vec::new() } else { vec![(place, json)] }
            }
        }
    }

    /// A list of texts.
    pub fn texts(&mut self, key: &'static str, doubts: &mut Doubts) -> Vec<String> {
        let items = self.items(key, doubts);
        items.into_iter().map(|(place, json)| as_text(json, &place, doubts)).collect()
    }

    /// A count; 0 where there is none.
    pub fn count(&mut self, key: &'static str, doubts: &mut Doubts) -> u64 {
        let found = self.required(key, "an integer", doubts);
        found.map_or(0, |json| as_count(json, &self.place(key), doubts))
    }

    /// A count or null.
    pub fn count_or_null(&mut self, key: &'static str, doubts: &mut Doubts) -> Option<u64> {
        let json = self.required(key, "an integer or null", doubts)?;
        (*json != Json::Null).then(|| as_count(json, &self.place(key), doubts))
    }

    /// A decimal or null.
    pub fn decimal_or_null(&mut self, key: &'static str, doubts: &mut Doubts) -> Option<Decimal> {
        let json = self.required(key, "a number or null", doubts)?;
        let (written, is_number) = match json {
            Json::Null => return None,
            Json::Number(written) => (written.clone(), true),
            Json::Bool(_) | Json::Text(_) | Json::Array(_) | Json::Object(_) => {
                (literal(json), false)
            }
        };
        match Decimal::parse(&written) {
            Ok(decimal) => {
                if !is_number {
                    doubts.add(
                        "bad-type",
                        self.place(key),
                        &written,
                        "a number was due; it was read as one",
                    );
                }
                Some(decimal)
            }
            Err(why) => {
                doubts.add(
                    "bad-number",
                    self.place(key),
                    &written,
                    format!("{why}; taken as null"),
                );
                None
            }
        }
    }

    /// The members of a member.
    #[must_use]
    pub fn object(&mut self, key: &'static str, doubts: &mut Doubts) -> Self {
        let found = self.optional(key);
        if found.is_none() && self.is_absent {
            let path = self.place(key);
            return Self { path, pairs: &[], asked: Vec::new(), is_absent: true };
        }
        Self::of(found, &self.place(key), doubts)
    }

    /// Doubts every member that nobody asked for.
    pub fn finish(self, doubts: &mut Doubts) {
        for (key, json) in self.pairs {
            if !self.asked.contains(&key.as_str()) {
                let why = "the file's format has no such field; it was not taken over";
                doubts.add("unknown-field", self.place(key), &literal(json), why);
            }
        }
    }
}

fn as_text(json: &Json, place: &str, doubts: &mut Doubts) -> String {
    match json {
        Json::Text(text) => text.clone(),
        Json::Null => {
            doubts.add("bad-type", place, "null", "a text was due; it was taken as empty");
            String::new()
        }
        Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
            let text = literal(json);
            doubts.add("bad-type", place, &text, "a text was due; it was taken as it is written");
            text
        }
    }
}

fn as_count(json: &Json, place: &str, doubts: &mut Doubts) -> u64 {
    let written = literal(json);
    let Ok(count) = written.parse() else {
        doubts.add("bad-number", place, &written, "an integer from 0 was due; taken as 0");
        return 0;
    };
    if !matches!(json, Json::Number(_)) {
        doubts.add("bad-type", place, &written, "an integer was due; it was read as one");
    }
    count
}

/// A value as it could be written, a text without its quotes.
pub fn literal(json: &Json) -> String {
    match json {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(text) | Json::Text(text) => text.clone(),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Json::Object(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| format!("{key}: {}", literal(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}
