//! Strict JSON intake: what a caller writes, before it becomes a typed payload.
//!
//! One value, no duplicate keys, numbers kept as their literals, no forbidden characters, a limit on
//! size and depth. The grammar is `serde_json`'s; what it lets pass silently is refused here.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor},
    forward_to_deserialize_any,
};
use serde_json::value::RawValue;

use crate::{
    number::{BAD_NUMBER_MARK, DECIMAL_TOKEN},
    profile::DEPTH_MAX,
    refusal::{Code, Refusal, general},
    text::{BAD_TEXT_MARK, forbidden, shown},
};

/// Largest input text, in bytes; an entry holds at most 65,535, whatever its spelling.
pub const JSON_BYTES_MAX: usize = 512 * 1024;

/// A JSON value with its numbers as written and its keys in the order written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number's literal.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    Array(Vec<Self>),
    /// An object; keys are unique.
    Object(Vec<(String, Self)>),
}

/// Parses one JSON value strictly.
///
/// # Errors
///
/// `malformed-json`, `duplicate-key`, `bad-text`, `too-deep` or `payload-too-large`, each with the
/// place and the value.
pub fn parse(text: &str) -> Result<Json, Refusal> {
    if text.len() > JSON_BYTES_MAX {
        return Err(Refusal::new(
            &general::PAYLOAD_TOO_LARGE,
            format!("the input has {} bytes, the limit is {JSON_BYTES_MAX}", text.len()),
        ));
    }
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| malformed(&error))?;
    value(raw, "", 0)
}

fn malformed(error: &serde_json::Error) -> Refusal {
    Refusal::new(&general::MALFORMED_JSON, format!("{error}"))
}

fn value(raw: &RawValue, path: &str, depth: usize) -> Result<Json, Refusal> {
    let text = raw.get();
    let first = text.bytes().next().unwrap_or(b' ');
    if matches!(first, b'{' | b'[') && depth + 1 >= DEPTH_MAX {
        return Err(Refusal::new(
            &general::TOO_DEEP,
            format!("a payload nests at most {} containers, `{path}` goes deeper", DEPTH_MAX - 1),
        ));
    }
    match first {
        b'n' => Ok(Json::Null),
        b't' => Ok(Json::Bool(true)),
        b'f' => Ok(Json::Bool(false)),
        b'"' => {
            let text: String =
                serde_json::from_str(text).map_err(|error| bad_string(&error, path))?;
            checked(text, path).map(Json::Text)
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|e| malformed(&e))?;
            let each =
                |(n, raw): (usize, &&RawValue)| value(raw, &format!("{path}[{n}]"), depth + 1);
            items.iter().enumerate().map(each).collect::<Result<_, _>>().map(Json::Array)
        }
        b'{' => object(text, path, depth),
        _ => Ok(Json::Number(text.to_owned())),
    }
}

fn object(text: &str, path: &str, depth: usize) -> Result<Json, Refusal> {
    let Pairs(pairs) = serde_json::from_str(text).map_err(|error| bad_string(&error, path))?;
    let mut out: Vec<(String, Json)> = Vec::with_capacity(pairs.len());
    let mut seen = std::collections::BTreeSet::new();
    for (key, raw) in pairs {
        let key = checked(key, path)?;
        let here = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if !seen.insert(key.clone()) {
            return Err(Refusal::new(&general::DUPLICATE_KEY, format!("`{here}` stands twice")));
        }
        out.push((key, value(raw, &here, depth + 1)?));
    }
    Ok(Json::Object(out))
}

/// A text that `serde_json` refuses to decode can, after the grammar has passed, only be a surrogate.
fn bad_string(error: &serde_json::Error, path: &str) -> Refusal {
    Refusal::new(&general::BAD_TEXT, format!("{error} in `{path}`"))
}

fn checked(text: String, path: &str) -> Result<String, Refusal> {
    match forbidden(&text) {
        None => Ok(text),
        Some(c) => Err(Refusal::new(
            &general::BAD_TEXT,
            format!("`{path}` holds the character U+{:04X} in `{}`", u32::from(c), shown(&text)),
        )),
    }
}

/// An object's members in order, duplicates included.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Pairs<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

impl Json {
    /// Reads a typed payload from this value.
    ///
    /// # Errors
    ///
    /// `unknown-field`, `missing-field`, `bad-type`, `bad-number` or `bad-text`, with the path.
    pub fn read<'de, T: Deserialize<'de>>(&'de self) -> Result<T, Refusal> {
        T::deserialize(self).map_err(|Misfit { code, path, why }| {
            // The parts were gathered from the inside out.
            let path: String = path.into_iter().rev().collect();
            let path = path.trim_start_matches('.');
            let place = if path.is_empty() { String::new() } else { format!("`{path}`: ") };
            Refusal::new(code, format!("{place}{why}"))
        })
    }

    /// The member of an object under `key`.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(pairs) => {
                pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::Array(_) => None,
        }
    }

    fn noun(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::Array(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// Why a value does not fit a type.
#[derive(Debug)]
pub struct Misfit {
    code: &'static Code,
    /// The parts of the path to the value, the innermost first.
    path: Vec<String>,
    why: String,
}

impl Misfit {
    fn new(code: &'static Code, why: String) -> Self {
        Self { code, path: Vec::new(), why }
    }

    fn number(why: String) -> Self {
        Self::new(&general::BAD_NUMBER, why)
    }

    fn within(mut self, part: String) -> Self {
        self.path.push(part);
        self
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Misfit {}

impl de::Error for Misfit {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let why = message.to_string();
        // Our own number and text types mark their messages, since serde carries nothing else.
        if let Some(why) = why.strip_prefix(BAD_NUMBER_MARK) {
            Self::new(&general::BAD_NUMBER, why.to_owned())
        } else if let Some(why) = why.strip_prefix(BAD_TEXT_MARK) {
            Self::new(&general::BAD_TEXT, why.to_owned())
        } else {
            Self::new(&general::BAD_TYPE, why)
        }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let known = expected.join("`, `");
        let why = format!("there is no field `{}`; the fields are `{known}`", shown(field));
        Self::new(&general::UNKNOWN_FIELD, why)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(&general::MISSING_FIELD, format!("the field `{field}` is required"))
    }

    fn invalid_value(found: de::Unexpected<'_>, due: &dyn de::Expected) -> Self {
        let number = matches!(found, de::Unexpected::Unsigned(_) | de::Unexpected::Signed(_));
        let code = if number { &general::BAD_NUMBER } else { &general::BAD_TYPE };
        Self::new(code, format!("expected {due}, found {found}"))
    }
}

impl<'de> IntoDeserializer<'de, Misfit> for &'de Json {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

/// Reads an integer literal of -2^63 to 2^64-1; `1.0`, `1e3` and `-0` are none.
fn integer(literal: &str) -> Result<i128, Misfit> {
    let plain = literal.strip_prefix('-').unwrap_or(literal).bytes().all(|b| b.is_ascii_digit());
    let wrong = || {
        Misfit::number(format!(
            "expected an integer of -2^63 to 2^64-1 without fraction, exponent or negative zero, found `{literal}`"
        ))
    };
    if !plain || literal == "-0" || literal.len() > 20 {
        return Err(wrong());
    }
    let n: i128 = literal.parse().map_err(|_| wrong())?;
    let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
    if range.contains(&n) { Ok(n) } else { Err(wrong()) }
}

fn visit_integer<'de, V: Visitor<'de>>(literal: &str, visitor: V) -> Result<V::Value, Misfit> {
    let n = integer(literal)?;
    match (u64::try_from(n), i64::try_from(n)) {
        (Ok(n), _) => visitor.visit_u64(n),
        (_, Ok(n)) => visitor.visit_i64(n),
        _ => Err(Misfit::number(format!("an integer lies outside 64 bits, found `{literal}`"))),
    }
}

impl<'de> Deserializer<'de> for &'de Json {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self {
            Json::Null => visitor.visit_unit(),
            Json::Bool(b) => visitor.visit_bool(*b),
            Json::Number(literal) => visit_integer(literal, visitor),
            Json::Text(text) => visitor.visit_borrowed_str(text),
            Json::Array(items) => visitor.visit_seq(Items(items.iter().enumerate())),
            Json::Object(pairs) => visitor.visit_map(Members { rest: pairs.iter(), value: None }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self {
            Json::Null => visitor.visit_none(),
            Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::Array(_) | Json::Object(_) => {
                visitor.visit_some(self)
            }
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        if name != DECIMAL_TOKEN {
            return visitor.visit_newtype_struct(self);
        }
        match self {
            Json::Number(literal) | Json::Text(literal) => visitor.visit_str(literal),
            Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => Err(Misfit::new(
                &general::BAD_TYPE,
                format!("expected a number, found {}", self.noun()),
            )),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self {
            Json::Text(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
                Err(de::Error::custom(format_args!("expected a text, found {}", self.noun())))
            }
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'de>(std::iter::Enumerate<std::slice::Iter<'de, Json>>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Misfit;
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Misfit> {
        let Some((n, item)) = self.0.next() else { return Ok(None) };
        seed.deserialize(item).map(Some).map_err(|misfit| misfit.within(format!("[{n}]")))
    }
}

struct Members<'de> {
    rest: std::slice::Iter<'de, (String, Json)>,
    value: Option<&'de (String, Json)>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Misfit> {
        self.value = self.rest.next();
        let Some((key, _)) = self.value else { return Ok(None) };
        seed.deserialize(key.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Misfit> {
        let (key, value) = self.value.take().expect("serde asks for a value after its key");
        seed.deserialize(value).map_err(|misfit| misfit.within(format!(".{key}")))
    }
}

/// Reads a field that must be present but may be null: `#[serde(deserialize_with = "nullable")]`.
///
/// # Errors
///
/// Those of the value.
pub fn nullable<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer)
}

/// Reads a field that may be absent but not null: `#[serde(default, deserialize_with = "optional")]`.
///
/// # Errors
///
/// Those of the value.
pub fn optional<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Decimal;

    fn code(text: &str) -> &'static str {
        parse(text).unwrap_err().code.name
    }

    #[test]
    fn what_json_lets_pass_is_refused_with_its_code() {
        assert_eq!(code(r#"{"a":1,"a":2}"#), "duplicate-key");
        assert_eq!(code(r#"{"a":1,"\u0061":2}"#), "duplicate-key");
        assert_eq!(code(r#"{"a":"\ud800"}"#), "bad-text");
        assert_eq!(code(r#"{"\ud800":1}"#), "bad-text");
        assert_eq!(code(r#"{"a":"\u0000"}"#), "bad-text");
        assert_eq!(code("{\"a\":\"\u{202e}\"}"), "bad-text");
        assert_eq!(code(r#"{"a":1"#), "malformed-json");
        assert_eq!(code(r#"{"a":1} x"#), "malformed-json");
        assert_eq!(code(""), "malformed-json");
        assert_eq!(code("\u{feff}{}"), "malformed-json");
        assert_eq!(code("{\"a\":01}"), "malformed-json");
        assert_eq!(code("{\"a\":NaN}"), "malformed-json");
        assert_eq!(code(&" ".repeat(JSON_BYTES_MAX + 1)), "payload-too-large");
    }

    #[test]
    fn fifteen_containers_pass_and_sixteen_do_not() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(parse(&nested(15)).is_ok());
        assert_eq!(code(&nested(16)), "too-deep");
        assert_eq!(code(&nested(100_000)), "too-deep");
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        n: u64,
        d: Decimal,
        #[serde(deserialize_with = "nullable")]
        null: Option<String>,
        #[serde(default, deserialize_with = "optional")]
        maybe: Option<i64>,
    }

    fn misfit(text: &str) -> String {
        let json = parse(text).unwrap();
        json.read::<Sample>().unwrap_err().to_string()
    }

    #[test]
    fn numbers_are_kept_or_refused_as_written() {
        let json = parse(
            r#"{"n":18446744073709551615,"d":1e-7,"null":null,"maybe":-9223372036854775808}"#,
        )
        .unwrap();
        let sample: Sample = json.read().unwrap();
        assert_eq!(sample.n, u64::MAX);
        assert_eq!(sample.d.as_str(), "1e-7");
        assert_eq!(sample.maybe, Some(i64::MIN));
        for literal in ["1.0", "1e3", "-0", "18446744073709551616", "-1"] {
            let why = misfit(&format!(r#"{{"n":{literal},"d":0,"null":null}}"#));
            assert!(why.starts_with("bad-number: `n`: "), "{why}");
        }
        assert!(misfit(r#"{"n":1,"d":1e999,"null":null}"#).starts_with("bad-number: `d`: "));
        assert!(misfit(r#"{"n":1,"d":true,"null":null}"#).starts_with("bad-type: `d`: "));
    }

    #[test]
    fn fields_are_required_nullable_or_optional_and_no_others() {
        assert_eq!(misfit(r#"{"n":1,"d":0}"#), "missing-field: the field `null` is required");
        assert!(
            misfit(r#"{"n":1,"d":0,"null":null,"maybe":null}"#).starts_with("bad-type: `maybe`: ")
        );
        assert!(misfit(r#"{"n":1,"d":0,"null":null,"x":1}"#).starts_with("unknown-field: "));
        assert!(misfit(r#"{"n":"1","d":0,"null":null}"#).starts_with("bad-type: `n`: "));
    }
}
