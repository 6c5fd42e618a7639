//! The strict reader: one value, no duplicate key, nothing non-finite, at most [`DEPTH_MAX`] deep.

use super::{Map, Number, Value, number::DIGITS_MAX};

/// Deepest nesting that is read (`domains/run.md` L2); the reference dies near a thousand.
pub const DEPTH_MAX: usize = 128;

/// Why bytes are no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The byte where it was seen.
    pub offset: usize,
}

/// The sorts of faults, as the rules of J.1 tell them apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// The bytes begin with a byte order mark.
    Bom,
    /// The bytes are not UTF-8.
    Encoding,
    /// A syntax error, or something after the value.
    Syntax(&'static str),
    /// An object has this key twice.
    Duplicate(String),
    /// `NaN` or an infinity as a literal.
    NonFinite,
    /// A number beyond the doubles.
    Overflow,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            FaultKind::Bom => write!(f, "it begins with a byte order mark")?,
            FaultKind::Encoding => write!(f, "it is not UTF-8")?,
            FaultKind::Syntax(what) => write!(f, "{what}")?,
            FaultKind::Duplicate(key) => write!(f, "the key `{key}` comes twice")?,
            FaultKind::NonFinite => write!(f, "a number must be finite")?,
            FaultKind::Overflow => write!(f, "a number is beyond the range of doubles")?,
        }
        write!(f, " (byte {})", self.offset)
    }
}

/// Reads one value that fills the bytes.
///
/// # Errors
///
/// The first fault.
pub fn parse(bytes: &[u8]) -> Result<Value, Fault> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(Fault { kind: FaultKind::Bom, offset: 0 });
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Fault { kind: FaultKind::Encoding, offset: error.valid_up_to() })?;
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.syntax("something follows the value"));
    }
    Ok(value)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, kind: FaultKind) -> Fault {
        Fault { kind, offset: self.at }
    }

    fn syntax(&self, what: &'static str) -> Fault {
        self.fault(FaultKind::Syntax(what))
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> bool {
        let bytes = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let found = bytes.starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        self.skip_space();
        match self.peek() {
            None => Err(self.syntax("it ends where a value is due")),
            Some(b'{') => self.map(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) if self.word("null") => Ok(Value::Null),
            Some(_) if self.word("true") => Ok(Value::Bool(true)),
            Some(_) if self.word("false") => Ok(Value::Bool(false)),
            Some(_) if self.rest().starts_with("NaN") || self.rest().starts_with("Infinity") => {
                Err(self.fault(FaultKind::NonFinite))
            }
            Some(_) => Err(self.syntax("this begins no value")),
        }
    }

    fn deeper(&self, depth: usize) -> Result<usize, Fault> {
        if depth >= DEPTH_MAX {
            return Err(self.syntax("it is nested more than 128 deep"));
        }
        Ok(depth + 1)
    }

    fn map(&mut self, depth: usize) -> Result<Value, Fault> {
        let depth = self.deeper(depth)?;
        self.at += 1;
        let mut map = Map::new();
        self.skip_space();
        if self.take(b'}') {
            return Ok(Value::Map(map));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.syntax("a key is due"));
            }
            let key_at = self.at;
            let key = self.string()?;
            self.skip_space();
            if !self.take(b':') {
                return Err(self.syntax("a colon is due"));
            }
            let value = self.value(depth)?;
            if map.contains_key(&key) {
                return Err(Fault { kind: FaultKind::Duplicate(key), offset: key_at });
            }
            map.insert(key, value);
            self.skip_space();
            if self.take(b'}') {
                return Ok(Value::Map(map));
            }
            if !self.take(b',') {
                return Err(self.syntax("a comma or the end of the object is due"));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, Fault> {
        let depth = self.deeper(depth)?;
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.take(b']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.skip_space();
            if self.take(b']') {
                return Ok(Value::List(items));
            }
            if !self.take(b',') {
                return Err(self.syntax("a comma or the end of the array is due"));
            }
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.at += 1;
        let mut out = String::new();
        loop {
            // Quotes, escapes and control characters are ASCII, so that bytes can be looked at.
            let bytes = self.text.as_bytes().get(self.at..).unwrap_or_default();
            let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
            let plain = bytes.iter().position(ends).unwrap_or(bytes.len());
            out.push_str(self.text.get(self.at..self.at + plain).unwrap_or_default());
            self.at += plain;
            match self.peek() {
                None => return Err(self.syntax("a string does not end")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return Err(self.syntax("a control character stands raw in a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        self.at += 1;
        let escaped = self.peek();
        let plain = match escaped {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.syntax("an escape that JSON does not know")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode(&mut self) -> Result<char, Fault> {
        let high = self.unit()?;
        if let Some(c) = char::from_u32(high) {
            return Ok(c);
        }
        if (0xdc00..0xe000).contains(&high) || !self.rest().starts_with("\\u") {
            return Err(self.syntax("a lone surrogate"));
        }
        self.at += 1;
        let low = self.unit()?;
        if !(0xdc00..0xe000).contains(&low) {
            return Err(self.syntax("a lone surrogate"));
        }
        let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        char::from_u32(code).ok_or_else(|| self.syntax("a lone surrogate"))
    }

    /// The four digits after `u`, on which the reader stands.
    fn unit(&mut self) -> Result<u32, Fault> {
        self.at += 1;
        let digits = self.rest().get(..4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.syntax("four hexadecimal digits are due"))?;
        self.at += 4;
        Ok(unit)
    }

    fn digits(&mut self) -> usize {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - from
    }

    fn number(&mut self) -> Result<Value, Fault> {
        let from = self.at;
        let negative = self.take(b'-');
        if negative && self.rest().starts_with("Infinity") {
            return Err(self.fault(FaultKind::NonFinite));
        }
        if !self.take(b'0') && self.digits() == 0 {
            return Err(self.syntax("digits are due"));
        }
        let whole_end = self.at;
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.syntax("digits are due after the point"));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            let _sign = self.take(b'+') || self.take(b'-');
            if self.digits() == 0 {
                return Err(self.syntax("digits are due in the exponent"));
            }
        }
        let text = self.text.get(from..self.at).unwrap_or_default();
        if self.at == whole_end { self.integer(text) } else { self.double(text) }
    }

    fn integer(&self, text: &str) -> Result<Value, Fault> {
        if text.trim_start_matches('-').len() > DIGITS_MAX {
            return Err(self.syntax("an integer has more than 4300 digits"));
        }
        Ok(Value::Number(match text.parse::<i128>() {
            Ok(number) => Number::Int(number),
            Err(_) => Number::Long(text.to_owned()),
        }))
    }

    fn double(&self, text: &str) -> Result<Value, Fault> {
        let double: f64 = text.parse().map_err(|_| self.syntax("this is no number"))?;
        if !double.is_finite() {
            return Err(self.fault(FaultKind::Overflow));
        }
        Ok(Value::Number(Number::Double(double)))
    }
}
