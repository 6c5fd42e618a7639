//! The strict MessagePack profile of everything that is signed.
//!
//! nil, booleans, integers in their shortest form, text, bytes, arrays, and maps whose keys are texts,
//! unique and sorted by their bytes; no floats, no extension types; at most 16 containers deep; no
//! trailing bytes; no forbidden characters in any text. One value has exactly one encoding, so bytes
//! are compared and hashed as they are read and never written again.

use std::{collections::BTreeMap, fmt};

use crate::text;

/// How many containers may stand inside one another, the outermost counted.
pub const DEPTH_MAX: usize = 16;

/// A decoded value, for the few places that must treat a payload without knowing its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Nil,
    /// A truth value.
    Bool(bool),
    /// An integer of -2^63 to 2^64-1.
    Int(i128),
    /// Text.
    Str(String),
    /// Bytes.
    Bin(Vec<u8>),
    /// A list.
    Array(Vec<Self>),
    /// A map with sorted text keys.
    Map(BTreeMap<String, Self>),
}

/// Where bytes leave the profile, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileError {
    /// Offset of the offending value.
    pub offset: usize,
    /// What is wrong there.
    pub what: &'static str,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.what)
    }
}

impl std::error::Error for ProfileError {}

/// What stands at the reader's position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// Nothing.
    Nil,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// Text.
    Str(&'a str),
    /// Bytes.
    Bin(&'a [u8]),
    /// A list of so many values, which follow.
    Array(usize),
    /// A map of so many entries, which follow.
    Map(usize),
}

/// Reads tokens, holding each to the profile. Nesting and key order are the caller's: see [`check`].
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The offset of the next byte.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Whether every byte was read.
    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], ProfileError> {
        let end = self.at.checked_add(n).filter(|&end| end <= self.bytes.len());
        match end.and_then(|end| self.bytes.get(self.at..end)) {
            Some(slice) => {
                self.at += n;
                Ok(slice)
            }
            None => fail(self.at, "the bytes end inside a value"),
        }
    }

    fn uint(&mut self, width: usize) -> Result<u64, ProfileError> {
        Ok(self.take(width)?.iter().fold(0, |n, &b| (n << 8) | u64::from(b)))
    }

    fn length(&mut self, start: usize, width: usize, least: u64) -> Result<usize, ProfileError> {
        let n = self.uint(width)?;
        if n < least {
            return fail(start, "a length is not in its shortest form");
        }
        usize::try_from(n).or_else(|_| fail(start, "a length is beyond this machine"))
    }

    /// Reads the next token.
    ///
    /// # Errors
    ///
    /// A value that the profile does not have, or not in this form.
    pub fn token(&mut self) -> Result<Token<'a>, ProfileError> {
        let start = self.at;
        let [first] = *self.take(1)? else { return fail(start, "the bytes end") };
        Ok(match first {
            0x00..=0x7f => Token::Int(i128::from(first)),
            0xe0..=0xff => Token::Int(i128::from(first) - 256),
            0xc0 => Token::Nil,
            0xc2 => Token::Bool(false),
            0xc3 => Token::Bool(true),
            0xcc => Token::Int(self.unsigned(start, 1, 0x80)?),
            0xcd => Token::Int(self.unsigned(start, 2, 1 << 8)?),
            0xce => Token::Int(self.unsigned(start, 4, 1 << 16)?),
            0xcf => Token::Int(self.unsigned(start, 8, 1 << 32)?),
            0xd0 => Token::Int(self.signed(start, 1, -33)?),
            0xd1 => Token::Int(self.signed(start, 2, -129)?),
            0xd2 => Token::Int(self.signed(start, 4, -32_769)?),
            0xd3 => Token::Int(self.signed(start, 8, -2_147_483_649)?),
            0xa0..=0xbf => self.text(start, usize::from(first & 0x1f))?,
            0xd9 => {
                let n = self.length(start, 1, 32)?;
                self.text(start, n)?
            }
            0xda => {
                let n = self.length(start, 2, 1 << 8)?;
                self.text(start, n)?
            }
            0xdb => {
                let n = self.length(start, 4, 1 << 16)?;
                self.text(start, n)?
            }
            0xc4 => {
                let n = self.length(start, 1, 0)?;
                Token::Bin(self.take(n)?)
            }
            0xc5 => {
                let n = self.length(start, 2, 1 << 8)?;
                Token::Bin(self.take(n)?)
            }
            0xc6 => {
                let n = self.length(start, 4, 1 << 16)?;
                Token::Bin(self.take(n)?)
            }
            0x90..=0x9f => Token::Array(usize::from(first & 0x0f)),
            0xdc => Token::Array(self.length(start, 2, 16)?),
            0xdd => Token::Array(self.length(start, 4, 1 << 16)?),
            0x80..=0x8f => Token::Map(usize::from(first & 0x0f)),
            0xde => Token::Map(self.length(start, 2, 16)?),
            0xdf => Token::Map(self.length(start, 4, 1 << 16)?),
            0xca | 0xcb => return fail(start, "a float"),
            0xc1 | 0xc7..=0xc9 | 0xd4..=0xd8 => return fail(start, "an extension type"),
        })
    }

    fn unsigned(&mut self, start: usize, width: usize, least: u64) -> Result<i128, ProfileError> {
        let n = self.uint(width)?;
        if n < least {
            return fail(start, "an integer is not in its shortest form");
        }
        Ok(i128::from(n))
    }

    fn signed(&mut self, start: usize, width: usize, most: i128) -> Result<i128, ProfileError> {
        let raw = i128::from(self.uint(width)?);
        let bits = 8 * width;
        let n = if raw >> (bits - 1) == 1 { raw - (1 << bits) } else { raw };
        if n > most {
            return fail(start, "an integer is not in its shortest form");
        }
        Ok(n)
    }

    fn text(&mut self, start: usize, n: usize) -> Result<Token<'a>, ProfileError> {
        match std::str::from_utf8(self.take(n)?) {
            Ok(text) => Ok(Token::Str(text)),
            Err(_) => fail(start, "a text is not UTF-8"),
        }
    }

    /// Reads past one whole value, holding it to the profile; `depth` containers stand around it.
    ///
    /// # Errors
    ///
    /// The first place that leaves the profile.
    pub fn skip(&mut self, depth: usize) -> Result<(), ProfileError> {
        let start = self.at;
        match self.token()? {
            Token::Nil | Token::Bool(_) | Token::Int(_) | Token::Bin(_) => Ok(()),
            Token::Str(text) => allowed(start, text),
            Token::Array(n) => {
                deeper(start, depth)?;
                (0..n).try_for_each(|_| self.skip(depth + 1))
            }
            Token::Map(n) => {
                deeper(start, depth)?;
                let mut last = None;
                (0..n).try_for_each(|_| {
                    last = Some(self.key(last)?);
                    self.skip(depth + 1)
                })
            }
        }
    }

    /// Reads a map's key, which must come after `last` in byte order.
    ///
    /// # Errors
    ///
    /// A key that is no text, or not after `last`.
    pub fn key(&mut self, last: Option<&'a str>) -> Result<&'a str, ProfileError> {
        let start = self.at;
        let Token::Str(key) = self.token()? else {
            return fail(start, "a map key is not a text");
        };
        if last.is_some_and(|last| last.as_bytes() >= key.as_bytes()) {
            return fail(start, "map keys are not unique and sorted by their bytes");
        }
        allowed(start, key)?;
        Ok(key)
    }
}

fn fail<T>(offset: usize, what: &'static str) -> Result<T, ProfileError> {
    Err(ProfileError { offset, what })
}

fn deeper(start: usize, depth: usize) -> Result<(), ProfileError> {
    if depth >= DEPTH_MAX {
        return fail(start, "nested deeper than 16 containers");
    }
    Ok(())
}

/// Holds bytes to be exactly one value of the profile.
///
/// # Errors
///
/// The first place that leaves the profile.
pub fn check(bytes: &[u8]) -> Result<(), ProfileError> {
    let mut reader = Reader::new(bytes);
    reader.skip(0)?;
    if reader.is_at_end() { Ok(()) } else { fail(reader.at, "bytes follow the value") }
}

/// Decodes exactly one value of the profile.
///
/// # Errors
///
/// The first place that leaves the profile.
pub fn decode(bytes: &[u8]) -> Result<Value, ProfileError> {
    check(bytes)?;
    read(&mut Reader::new(bytes))
}

/// Reads a value with its map keys in any order; those of signed bytes were held to theirs by [`check`].
fn read(reader: &mut Reader<'_>) -> Result<Value, ProfileError> {
    Ok(match reader.token()? {
        Token::Nil => Value::Nil,
        Token::Bool(b) => Value::Bool(b),
        Token::Int(n) => Value::Int(n),
        Token::Str(text) => Value::Str(text.to_owned()),
        Token::Bin(bytes) => Value::Bin(bytes.to_vec()),
        Token::Array(n) => Value::Array((0..n).map(|_| read(reader)).collect::<Result<_, _>>()?),
        Token::Map(n) => {
            let mut map = BTreeMap::new();
            for _ in 0..n {
                let start = reader.at;
                let key = reader.key(None)?.to_owned();
                if map.insert(key, read(reader)?).is_some() {
                    return fail(start, "a map names one key twice");
                }
            }
            Value::Map(map)
        }
    })
}

/// Encodes a value; the result passes [`check`] if its depth and characters do.
pub fn encode(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

/// Encodes what serde makes of a typed payload: the only door from a typed payload to signed bytes.
///
/// # Errors
///
/// A value outside the profile, which for our own types only depth or characters can cause.
pub fn encode_typed<T: serde::Serialize>(value: &T) -> Result<Vec<u8>, ProfileError> {
    let named = rmp_serde::to_vec_named(value).expect("our payload types serialize");
    // serde writes struct fields in the order they are declared; the profile wants them sorted.
    let mut sorted = Vec::with_capacity(named.len());
    sort(&named, &mut Reader::new(&named), 0, &mut sorted)?;
    Ok(sorted)
}

/// Copies one value with the keys of its maps in order, holding it to the profile; `depth` containers stand
/// around it.
fn sort<'a>(
    bytes: &'a [u8],
    reader: &mut Reader<'a>,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), ProfileError> {
    let start = reader.at;
    let token = reader.token()?;
    out.extend_from_slice(bytes.get(start..reader.at).unwrap_or_default());
    match token {
        Token::Nil | Token::Bool(_) | Token::Int(_) | Token::Bin(_) => Ok(()),
        Token::Str(text) => allowed(start, text),
        Token::Array(n) => {
            deeper(start, depth)?;
            (0..n).try_for_each(|_| sort(bytes, reader, depth + 1, out))
        }
        Token::Map(n) => {
            deeper(start, depth)?;
            let mut pairs = Vec::with_capacity(n);
            for _ in 0..n {
                let at = reader.at;
                let Token::Str(key) = reader.token()? else {
                    return fail(at, "a map key is not a text");
                };
                allowed(at, key)?;
                let mut pair = bytes.get(at..reader.at).unwrap_or_default().to_vec();
                sort(bytes, reader, depth + 1, &mut pair)?;
                pairs.push((key, pair));
            }
            pairs.sort_by_key(|(key, _)| *key);
            if pairs.windows(2).any(|pair| matches!(pair, [(a, _), (b, _)] if a == b)) {
                return fail(start, "a map names one key twice");
            }
            for (_, pair) in &pairs {
                out.extend_from_slice(pair);
            }
            Ok(())
        }
    }
}

fn allowed(start: usize, text: &str) -> Result<(), ProfileError> {
    if text::forbidden(text).is_some() {
        return fail(start, "a text holds a forbidden character");
    }
    Ok(())
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Nil => out.push(0xc0),
        Value::Bool(b) => out.push(if *b { 0xc3 } else { 0xc2 }),
        Value::Int(n) => write_int(*n, out),
        Value::Str(text) => {
            write_length(text.len(), Some((0xa0, 32)), [Some(0xd9), Some(0xda), Some(0xdb)], out);
            out.extend_from_slice(text.as_bytes());
        }
        Value::Bin(bytes) => {
            write_length(bytes.len(), None, [Some(0xc4), Some(0xc5), Some(0xc6)], out);
            out.extend_from_slice(bytes);
        }
        Value::Array(items) => {
            write_length(items.len(), Some((0x90, 16)), [None, Some(0xdc), Some(0xdd)], out);
            for item in items {
                write(item, out);
            }
        }
        Value::Map(map) => {
            write_length(map.len(), Some((0x80, 16)), [None, Some(0xde), Some(0xdf)], out);
            for (key, item) in map {
                write_length(
                    key.len(),
                    Some((0xa0, 32)),
                    [Some(0xd9), Some(0xda), Some(0xdb)],
                    out,
                );
                out.extend_from_slice(key.as_bytes());
                write(item, out);
            }
        }
    }
}

/// Writes a length in the shortest of: within the tag, one, two, four bytes.
fn write_length(n: usize, inline: Option<(u8, usize)>, tags: [Option<u8>; 3], out: &mut Vec<u8>) {
    if let Some((tag, limit)) = inline
        && n < limit
    {
        out.push(tag | u8::try_from(n).expect("inline lengths are below 32"));
        return;
    }
    match (tags, u8::try_from(n), u16::try_from(n)) {
        ([Some(tag), _, _], Ok(n), _) => out.extend_from_slice(&[tag, n]),
        ([_, Some(tag), _], _, Ok(n)) => {
            out.push(tag);
            out.extend_from_slice(&n.to_be_bytes());
        }
        ([_, _, tag], _, _) => {
            out.push(tag.expect("every family has a four-byte length"));
            let n = u32::try_from(n).expect("a record is far below 4 GiB");
            out.extend_from_slice(&n.to_be_bytes());
        }
    }
}

fn write_int(n: i128, out: &mut Vec<u8>) {
    let (tag, width) = match n {
        -32..=0x7f => (None, 1),
        0x80..=0xff => (Some(0xcc), 1),
        0x100..=0xffff => (Some(0xcd), 2),
        0x1_0000..=0xffff_ffff => (Some(0xce), 4),
        0x1_0000_0000.. => (Some(0xcf), 8),
        -128..=-33 => (Some(0xd0), 1),
        -32_768..=-129 => (Some(0xd1), 2),
        -2_147_483_648..=-32_769 => (Some(0xd2), 4),
        _ => (Some(0xd3), 8),
    };
    out.extend(tag);
    let bytes = n.to_be_bytes();
    out.extend_from_slice(bytes.get(bytes.len() - width..).expect("widths are at most 8"));
}

/// Finds a text directly under a map's key, without decoding the rest.
pub fn text_at<'a>(map: &'a [u8], wanted: &str) -> Option<&'a str> {
    let mut reader = Reader::new(map);
    let Ok(Token::Map(n)) = reader.token() else { return None };
    for _ in 0..n {
        let key = reader.key(None).ok()?;
        if key == wanted {
            return match reader.token() {
                Ok(Token::Str(text)) => Some(text),
                _ => None,
            };
        }
        reader.skip(0).ok()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(bytes: &[u8]) -> &'static str {
        check(bytes).unwrap_err().what
    }

    #[test]
    fn only_the_shortest_form_passes() {
        for good in
            [&[0x7f][..], &[0xcc, 0x80], &[0xcd, 1, 0], &[0xe0], &[0xd0, 0xdf], &[0xc4, 0], &[0xc0]]
        {
            assert_eq!(check(good), Ok(()), "{good:x?}");
        }
        for long in [
            &[0xcc, 0x7f][..],
            &[0xcd, 0, 0xff],
            &[0xce, 0, 0, 0xff, 0xff],
            &[0xd0, 0xe0],
            &[0xd0, 1],
            &[0xd1, 0xff, 0x80],
        ] {
            assert_eq!(what(long), "an integer is not in its shortest form", "{long:x?}");
        }
        for long in [
            &[0xd9, 1, b'a'][..],
            &[0xda, 0, 1, b'a'],
            &[0xc5, 0, 1, 0],
            &[0xdc, 0, 1, 0xc0],
            &[0xde, 0, 0],
        ] {
            assert_eq!(what(long), "a length is not in its shortest form", "{long:x?}");
        }
    }

    #[test]
    fn floats_extensions_and_leftovers_are_refused() {
        assert_eq!(what(&[0xca, 0, 0, 0, 0]), "a float");
        assert_eq!(what(&[0xcb, 0, 0, 0, 0, 0, 0, 0, 0]), "a float");
        assert_eq!(what(&[0xd4, 0, 0]), "an extension type");
        assert_eq!(what(&[0xc1]), "an extension type");
        assert_eq!(what(&[0xc0, 0xc0]), "bytes follow the value");
        assert_eq!(what(&[0xa2, b'a']), "the bytes end inside a value");
        assert_eq!(what(&[0xa1, 0xff]), "a text is not UTF-8");
        assert_eq!(what(&[0xa1, 0x0d]), "a text holds a forbidden character");
    }

    #[test]
    fn map_keys_are_unique_sorted_texts() {
        assert_eq!(check(&[0x82, 0xa1, b'a', 1, 0xa1, b'b', 2]), Ok(()));
        let order = "map keys are not unique and sorted by their bytes";
        assert_eq!(what(&[0x82, 0xa1, b'b', 1, 0xa1, b'a', 2]), order);
        assert_eq!(what(&[0x82, 0xa1, b'a', 1, 0xa1, b'a', 2]), order);
        assert_eq!(what(&[0x81, 1, 1]), "a map key is not a text");
    }

    #[test]
    fn sixteen_containers_pass_and_seventeen_do_not() {
        let nested = |n| std::iter::repeat_n(0x91, n).chain([0xc0]).collect::<Vec<u8>>();
        assert_eq!(check(&nested(16)), Ok(()));
        assert_eq!(what(&nested(17)), "nested deeper than 16 containers");
        assert!(check(&nested(60_000)).is_err());
    }

    #[test]
    fn integers_take_the_forms_of_the_specification() {
        for (n, bytes) in [
            (0, &[0][..]),
            (127, &[0x7f]),
            (128, &[0xcc, 0x80]),
            (65_536, &[0xce, 0, 1, 0, 0]),
            (i128::from(u64::MAX), &[0xcf, 255, 255, 255, 255, 255, 255, 255, 255]),
            (-1, &[0xff]),
            (-33, &[0xd0, 0xdf]),
            (-129, &[0xd1, 0xff, 0x7f]),
            (i128::from(i64::MIN), &[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            assert_eq!(encode(&Value::Int(n)), bytes);
            assert_eq!(decode(bytes), Ok(Value::Int(n)));
        }
    }

    #[test]
    fn a_text_directly_under_a_key_is_found() {
        let bytes = encode_typed(&BTreeMap::from([("stage", "claim"), ("attempt", "x")])).unwrap();
        assert_eq!(text_at(&bytes, "stage"), Some("claim"));
        assert_eq!(text_at(&bytes, "gate"), None);
    }
}
