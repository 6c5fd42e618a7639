//! Changes to values on their way into a directory: set, take away, wherever a path of fields leads.

use super::super::bytes::Value;

/// A change of one record.
#[derive(Debug, Clone)]
pub struct Edit {
    /// What is changed.
    pub target: Target,
    /// The fields on the way, `*` for each item of an array.
    pub path: Vec<String>,
    /// The new value; `None` takes the field away.
    pub value: Option<Value>,
}

/// The record that a change is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The contract before its digests are derived.
    Contract,
    /// The contract before it is sealed.
    Sealed,
    /// An event by name, its place among those of its name in the attempt, and the attempt.
    Event(String, Option<usize>, Option<usize>),
    /// A stored file by its path.
    Artifact(String),
    /// A row.
    Row(usize),
}

impl Edit {
    /// Changes a value.
    pub fn apply(&self, value: &mut Value) {
        set(value, &self.path, self.value.as_ref());
    }
}

fn set(value: &mut Value, path: &[String], new: Option<&Value>) {
    let Some((first, rest)) = path.split_first() else {
        if let Some(new) = new {
            *value = new.clone();
        }
        return;
    };
    match value {
        Value::List(items) if first == "*" => {
            for item in items {
                set(item, rest, new);
            }
        }
        Value::List(items) => {
            let Ok(index) = first.parse::<usize>() else { return };
            if rest.is_empty() && new.is_none() && index < items.len() {
                items.remove(index);
            } else if let Some(item) = items.get_mut(index) {
                set(item, rest, new);
            } else if let Some(new) = new {
                items.push(new.clone());
            }
        }
        Value::Map(map) if first == "*" => map.values_mut().for_each(|item| set(item, rest, new)),
        Value::Map(map) if rest.is_empty() && new.is_none() => {
            map.remove(first);
        }
        Value::Map(map) => set(map.entry(first.clone()).or_insert(Value::Null), rest, new),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
            if let (true, Some(new)) = (rest.is_empty(), new) {
                *value = Value::Map([(first.clone(), new.clone())].into());
            }
        }
    }
}
