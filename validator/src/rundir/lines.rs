//! Files of lines (C.2, J.2): an object a line, LF alone, nothing torn.

use super::{
    bytes::{FaultKind, Value, parse},
    disk::{Disk, Kind},
    findings::Findings,
};

/// Reads a file of lines; a line that is no object is null, so that later ones keep their number. `None` if
/// there is no such file.
pub fn read(out: &mut Findings, disk: &dyn Disk, root: &str, name: &str) -> Option<Vec<u8>> {
    let path = format!("{root}/{name}");
    out.at(name, None, |out| {
        match disk.kind(&path) {
            Kind::File { .. } => {}
            Kind::Link => {
                out.find(12, "symlink_forbidden", "the file is a symbolic link");
                return None;
            }
            Kind::Missing | Kind::Folder | Kind::Special => {
                out.find(13, "missing_file", "the file is missing or not a regular one");
                return None;
            }
        }
        let bytes = match disk.read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                out.find(14, "read_failed", format!("it cannot be read: {error}"));
                return None;
            }
        };
        let bom = bytes.starts_with(b"\xef\xbb\xbf");
        out.due(!bom, 15, "invalid_encoding", "it begins with a byte order mark");
        let torn = !bytes.is_empty() && !bytes.ends_with(b"\n");
        out.due(!torn, 16, "torn_jsonl_tail", "the last line has no LF");
        Some(bytes)
    })
}

/// The whole lines of a file's bytes.
pub fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n');
    let whole = whole.and_then(|end| bytes.get(..end));
    whole.into_iter().flat_map(|whole| whole.split(|byte| *byte == b'\n'))
}

/// The object on a line, or null after findings.
pub fn object(out: &mut Findings, line: &[u8]) -> Value {
    let crlf = line.ends_with(b"\r");
    out.due(!crlf, 17, "invalid_line_ending", "the line ends with CR and LF");
    let body = line.strip_suffix(b"\r").unwrap_or(line);
    out.due(!body.contains(&b'\r'), 21, "invalid_line_ending", "a CR stands in the line");
    if body.iter().all(u8::is_ascii_whitespace) {
        out.find(18, "blank_jsonl_line", "the line is blank");
        return Value::Null;
    }
    match parse(body) {
        Ok(value @ Value::Map(_)) => value,
        Ok(_) => {
            out.find(20, "invalid_jsonl_type", "the line is not an object");
            Value::Null
        }
        // A mark at the file's beginning was named; what follows it would be named again.
        Err(fault) if fault.kind == FaultKind::Bom => Value::Null,
        Err(fault) => {
            out.find(19, "invalid_jsonl", fault.to_string());
            Value::Null
        }
    }
}
