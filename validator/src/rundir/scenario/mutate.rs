//! Small changes of a directory that was written: each field taken away or of another type, each digit another,
//! lines swapped and doubled, bits flipped.

use super::super::{
    bytes::{Map, Number, Value, canonical, parse},
    disk::Node,
    scalar::has_end,
};
use super::world::World;

/// A change of one file.
#[derive(Debug, Clone)]
pub struct Mutation {
    /// What was changed, and where.
    pub what: String,
    /// The file.
    pub path: String,
    /// Its bytes after.
    pub bytes: Vec<u8>,
}

/// All changes of a directory's files; of the digits, those at every `stride`th place, and `flips` flipped bits.
pub fn mutations(world: &World, stride: usize, flips: usize) -> Vec<Mutation> {
    let prefix = format!("{}/", world.ground.run());
    let files: Vec<(&String, &Vec<u8>)> = world
        .disk
        .nodes
        .iter()
        .filter_map(|(path, node)| match node {
            Node::File(bytes) if path.starts_with(&prefix) => Some((path, bytes)),
            Node::File(_)
            | Node::Program(_)
            | Node::Unreadable
            | Node::Folder
            | Node::Link(_)
            | Node::Special => None,
        })
        .collect();
    let mut all = Vec::new();
    for (path, bytes) in &files {
        if has_end(path, ".jsonl") {
            lines(path, bytes, &mut all);
        } else if let Ok(value) = parse(bytes) {
            for (what, value) in fields(&value) {
                all.push(Mutation {
                    what,
                    path: (*path).clone(),
                    bytes: format!("{}\n", canonical(&value)).into_bytes(),
                });
            }
        }
        // What no digest covers is tried at every place.
        let stride = if path.ends_with("run.finalized.json") || path.ends_with(".sha256") {
            1
        } else {
            stride
        };
        digits(path, bytes, stride, &mut all);
    }
    flipped(&files, flips, &mut all);
    all
}

fn lines(path: &str, bytes: &[u8], all: &mut Vec<Mutation>) {
    let lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let mut push = |what: String, lines: Vec<Vec<u8>>| {
        all.push(Mutation { what, path: path.to_owned(), bytes: lines.concat() });
    };
    for (index, line) in lines.iter().enumerate() {
        let mut doubled = lines.clone();
        doubled.insert(index, line.clone());
        push(format!("line {} twice", index + 1), doubled);
        let mut without = lines.clone();
        without.remove(index);
        push(format!("line {} away", index + 1), without);
        if index > 0 {
            let mut swapped = lines.clone();
            swapped.swap(index - 1, index);
            push(format!("lines {index} and {} swapped", index + 1), swapped);
        }
        let Ok(value) = parse(line.trim_ascii_end()) else { continue };
        for (what, value) in fields(&value) {
            let mut changed = lines.clone();
            if let Some(slot) = changed.get_mut(index) {
                *slot = format!("{}\n", canonical(&value)).into_bytes();
            }
            push(format!("line {}: {what}", index + 1), changed);
        }
    }
}

/// The value with each field taken away, and with each scalar of other types.
fn fields(value: &Value) -> Vec<(String, Value)> {
    match value {
        Value::Map(map) => map
            .iter()
            .flat_map(|(key, inner)| {
                let rebuilt = |new: Option<Value>| {
                    let mut map: Map = map.clone();
                    match new {
                        Some(new) => map.insert(key.clone(), new),
                        None => map.remove(key),
                    };
                    Value::Map(map)
                };
                let inside = fields(inner)
                    .into_iter()
                    .map(|(what, new)| (format!("{key}.{what}"), rebuilt(Some(new))));
                let away = std::iter::once((format!("{key} away"), rebuilt(None)));
                away.chain(inside).collect::<Vec<_>>()
            })
            .collect(),
        Value::List(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, inner)| {
                let rebuilt = |new: Value| {
                    let mut items = items.clone();
                    if let Some(slot) = items.get_mut(index) {
                        *slot = new;
                    }
                    Value::List(items)
                };
                fields(inner)
                    .into_iter()
                    .map(move |(what, new)| (format!("{index}.{what}"), rebuilt(new)))
                    .collect::<Vec<_>>()
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => others(value),
    }
}

/// Values of other types, those that are loosely equal among them.
fn others(value: &Value) -> Vec<(String, Value)> {
    let mut others = vec![Value::List(Vec::new()), Value::Map(Map::new())];
    match value {
        Value::Null => others.push(Value::Bool(false)),
        Value::Text(_) => others.extend([Value::Null, Value::from(1)]),
        Value::Bool(flag) => {
            others.extend([Value::Null, Value::of("true"), Value::from(i128::from(*flag))]);
        }
        Value::Number(Number::Int(number)) => {
            others.extend([Value::Null, Value::of(number.to_string())]);
            others.extend(parse(format!("{number}.0").as_bytes()).ok());
        }
        Value::Number(_) => others.extend([Value::Null, Value::of("1.0")]),
        Value::List(_) | Value::Map(_) => {}
    }
    others.into_iter().map(|other| (format!("becomes {}", canonical(&other)), other)).collect()
}

fn digits(path: &str, bytes: &[u8], stride: usize, all: &mut Vec<Mutation>) {
    let places = bytes.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit());
    for (place, byte) in places.step_by(stride.max(1)) {
        let mut changed = bytes.to_vec();
        if let Some(slot) = changed.get_mut(place) {
            *slot = if *byte == b'9' { b'0' } else { byte + 1 };
        }
        all.push(Mutation {
            what: format!("digit at byte {place}"),
            path: path.to_owned(),
            bytes: changed,
        });
    }
}

/// Bits flipped at places that look random and are the same each time.
fn flipped(files: &[(&String, &Vec<u8>)], flips: usize, all: &mut Vec<Mutation>) {
    let total: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..flips {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let Ok(mut place) = usize::try_from(state >> 33) else { continue };
        place %= total.max(1);
        for (path, bytes) in files {
            if place < bytes.len() {
                let mut changed = (*bytes).clone();
                if let Some(slot) = changed.get_mut(place) {
                    *slot ^= 1 << ((state >> 29) & 7);
                }
                all.push(Mutation {
                    what: format!("a bit at byte {place}"),
                    path: (*path).clone(),
                    bytes: changed,
                });
                break;
            }
            place -= bytes.len();
        }
    }
}
