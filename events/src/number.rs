//! Exact decimals, kept as they were written.
//!
//! `30.0`, `1e-7` and `-0` stay what they are: the literal is what is signed and what is printed
//! again. Comparison and sums are exact; nothing here is ever a float.

use std::{cmp::Ordering, fmt, str::FromStr};

use bigdecimal::BigDecimal;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Longest literal, in bytes.
pub const DECIMAL_BYTES_MAX: usize = 64;
/// Largest magnitude of a written exponent.
pub const DECIMAL_EXPONENT_MAX: u32 = 400;

/// The name under which a [`Decimal`] asks a deserializer for a number's literal text.
pub(crate) const DECIMAL_TOKEN: &str = "rp::Decimal";

/// A finite decimal number as written, in the grammar of a JSON number.
///
/// Equality is of the literal (`1` and `1.0` differ); use [`Decimal::compare`] for the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal(String);

impl Decimal {
    /// Parses a literal in JSON's number grammar.
    ///
    /// # Errors
    ///
    /// A sentence that says which limit or form the literal misses.
    pub fn parse(literal: &str) -> Result<Self, String> {
        if literal.len() > DECIMAL_BYTES_MAX {
            return Err(format!(
                "a decimal has at most {DECIMAL_BYTES_MAX} characters, found {}",
                literal.len()
            ));
        }
        let exponent = split(literal)
            .ok_or_else(|| format!("expected a number, found `{}`", crate::text::shown(literal)))?;
        let digits = exponent.trim_start_matches(['+', '-']).trim_start_matches('0');
        if digits.len() > 3 || digits.parse::<u32>().unwrap_or(0) > DECIMAL_EXPONENT_MAX {
            return Err(format!(
                "an exponent lies within -{DECIMAL_EXPONENT_MAX} and {DECIMAL_EXPONENT_MAX}, found `{literal}`"
            ));
        }
        Ok(Self(literal.to_owned()))
    }

    /// The literal as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The exact value.
    pub fn value(&self) -> BigDecimal {
        BigDecimal::from_str(&self.0).expect("parse() admits a subset of what BigDecimal reads")
    }

    /// Compares exact values.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.value().cmp(&other.value())
    }
}

/// Splits off the exponent of a JSON number (empty if it has none); `None` if it is not one.
fn split(literal: &str) -> Option<&str> {
    let (mantissa, exponent) = match literal.find(['e', 'E']) {
        Some(at) => (literal.get(..at)?, literal.get(at + 1..)?),
        None => (literal, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let exponent_digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    (digits(whole) && !leading_zero && digits(fraction) && digits(exponent_digits))
        .then_some(exponent)
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Decimal {
    /// Text in the journal, the literal itself in JSON.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            let raw = serde_json::value::RawValue::from_string(self.0.clone())
                .map_err(serde::ser::Error::custom)?;
            raw.serialize(serializer)
        } else {
            serializer.serialize_str(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Literal;
        impl<'de> de::Visitor<'de> for Literal {
            type Value = Decimal;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Decimal, E> {
                Decimal::parse(text).map_err(|why| E::custom(BadNumber(why)))
            }
            fn visit_newtype_struct<D: Deserializer<'de>>(self, d: D) -> Result<Decimal, D::Error> {
                d.deserialize_str(self)
            }
        }
        deserializer.deserialize_newtype_struct(DECIMAL_TOKEN, Literal)
    }
}

impl schemars::JsonSchema for Decimal {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Decimal".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A decimal, kept as written.",
            "type": ["number", "string"]
        })
    }
}

/// Marks an error of deserialization as being about a number; see [`crate::json`].
pub(crate) struct BadNumber(pub(crate) String);

/// Begins the message of a [`BadNumber`].
pub(crate) const BAD_NUMBER_MARK: &str = "number: ";

impl fmt::Display for BadNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BAD_NUMBER_MARK}{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_that_of_json_numbers() {
        for good in ["0", "-0", "30.0", "1e-7", "1E+7", "-12.50", "9007199254740993", "1e400"] {
            assert_eq!(Decimal::parse(good).unwrap().as_str(), good);
        }
        for bad in
            ["", "-", "+1", "01", "1.", ".5", "1e", "1e+", "NaN", "1e401", "0x1", "1 ", "1e0401"]
        {
            assert!(Decimal::parse(bad).is_err(), "{bad}");
        }
        assert!(Decimal::parse(&"1".repeat(64)).is_ok());
        assert!(Decimal::parse(&"1".repeat(65)).is_err());
    }

    #[test]
    fn values_compare_exactly_whatever_their_literals() {
        let of = |text: &str| Decimal::parse(text).unwrap();
        assert_eq!(of("1").compare(&of("1.0")), Ordering::Equal);
        assert_eq!(of("0.1").compare(&of("0.10000000000000000001")), Ordering::Less);
        assert_eq!(of("9007199254740993").compare(&of("9007199254740992")), Ordering::Greater);
        assert_ne!(of("1"), of("1.0"));
    }
}
