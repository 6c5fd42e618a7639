//! The bytes of the run-state protocol: strict JSON, lines of it, the canonical form, digests
//! (`domains/run.md` C.1 to C.3).
//!
//! The journal's own bytes are elsewhere (`rp_events`); nothing is shared but the hash function.

mod canon;
mod number;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

pub use canon::canonical;
pub use number::{Number, python_float};
pub use read::{DEPTH_MAX, Fault, FaultKind, parse};

/// An object, in the order of its keys' bytes, which is the order of their code points.
pub type Map = BTreeMap<String, Value>;

/// A JSON value as the protocol tells them apart: `1` is not `1.0`.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, integer or not.
    Number(Number),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Self>),
    /// An object.
    Map(Map),
}

impl Value {
    /// The string, if it is one.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The object, if it is one.
    pub fn map(&self) -> Option<&Map> {
        if let Self::Map(map) = self { Some(map) } else { None }
    }

    /// The items, if it is an array.
    pub fn list(&self) -> Option<&[Self]> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    /// The flag, if it is one.
    pub fn bool(&self) -> Option<bool> {
        if let Self::Bool(flag) = self { Some(*flag) } else { None }
    }

    /// The integer, if it is one of at most 38 digits.
    pub fn int(&self) -> Option<i128> {
        if let Self::Number(Number::Int(number)) = self { Some(*number) } else { None }
    }

    /// The number as a double, if it is a finite one.
    pub fn finite(&self) -> Option<f64> {
        if let Self::Number(number) = self {
            number.double().filter(|double| double.is_finite())
        } else {
            None
        }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether this is the integer, told apart as the profile does (`domains/run.md` L2).
    pub fn is_int(&self, due: i128, equality: Equality) -> bool {
        equality.holds(self, &Self::Number(Number::Int(due)))
    }

    /// The field of an object; `null` if there is none, which is what the reference takes it for (L5).
    pub fn field(&self, key: &str) -> &Self {
        self.map().and_then(|map| map.get(key)).unwrap_or(&Self::Null)
    }

    /// A text value.
    pub fn of(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

impl From<i128> for Value {
    fn from(number: i128) -> Self {
        Self::Number(Number::Int(number))
    }
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Equality {
    /// `true`, `1` and `1.0` are one value, as in the reference.
    Loose,
    /// They are three.
    Strict,
}

impl Equality {
    /// Whether two values are equal.
    pub fn holds(self, left: &Value, right: &Value) -> bool {
        match (left, right) {
            (Value::List(left), Value::List(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| self.holds(left, right))
            }
            (Value::Map(left), Value::Map(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|((left_key, left), (right_key, right))| {
                        left_key == right_key && self.holds(left, right)
                    })
            }
            (left, right) if self == Self::Loose => match (as_number(left), as_number(right)) {
                (Some(left), Some(right)) => left.equals(&right),
                _ => left == right,
            },
            (left, right) => left == right,
        }
    }
}

fn as_number(value: &Value) -> Option<Number> {
    match value {
        Value::Bool(flag) => Some(Number::Int(i128::from(*flag))),
        Value::Number(number) => Some(number.clone()),
        Value::Null | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
    }
}

/// The digest of stored bytes (C.3, first kind), in lower-case hexadecimal.
pub fn file_digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The digest of a value's canonical form (C.3, second kind).
pub fn object_digest(value: &Value) -> String {
    file_digest(canonical(value).as_bytes())
}

/// The digests of a file's prefixes: fed with whole lines, asked between them.
#[derive(Debug, Clone, Default)]
pub struct Prefix(Sha256);

impl Prefix {
    /// Takes a line with its LF.
    pub fn line(&mut self, line: &[u8]) {
        self.0.update(line);
        self.0.update(b"\n");
    }

    /// The digest of the lines so far.
    pub fn digest(&self) -> String {
        hex(&self.0.clone().finalize())
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}
