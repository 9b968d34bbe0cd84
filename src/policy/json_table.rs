//! One `LIMIT_` table on its way in: a plain object, or a JSON text of one.

use core::fmt;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::policy::fault::{Faults, shown};

/// The fields of the table at `place`; nothing and a fault where it is no table.
pub(super) fn fields(place: &str, value: &Value, faults: &mut Faults) -> Option<Map<String, Value>> {
    let read = match value {
        Value::Object(fields) => Ok(fields.clone()),
        Value::String(text) => serde_json::from_str(text)
            .map(|Fields(fields)| fields)
            .map_err(|error| format!("{}: not the JSON text of a table: {error}", shown(value))),
        _ => Err(format!("{}: not a table, expected fields such as per_ip = \"5/min\"", shown(value))),
    };
    faults.keep(place, read)
}

/// The texts at `place`, one or a list of them, each with its own place.
pub(super) fn texts<'a>(place: &str, value: &'a Value, example: &str, faults: &mut Faults) -> Vec<(String, &'a str)> {
    let items = match value {
        Value::Array(items) if items.is_empty() => {
            faults.add(place, format!("[]: an empty list, expected {example}"));
            return Vec::new();
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (format!("{place}[{index}]"), item)).collect()
        }
        _ => vec![(place.to_owned(), value)],
    };
    let mut texts = Vec::with_capacity(items.len());
    for (place, item) in items {
        match item.as_str() {
            Some(text) => texts.push((place, text)),
            None => faults.add(place, format!("{}: not a text, expected {example}", shown(item))),
        }
    }
    texts
}

/// The items at `place`: of a list, or of a text with commas.
pub(super) fn list<'a>(place: &str, value: &'a Value, example: &str, faults: &mut Faults) -> Vec<(String, &'a str)> {
    match value {
        Value::String(text) => text.split(',').map(|item| (place.to_owned(), item.trim())).collect(),
        _ => texts(place, value, example, faults),
    }
}

/// A JSON object in which no field is there twice: plain JSON readers let the last one win without a word.
struct Fields(Map<String, Value>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Fields, A::Error> {
        let mut fields = Map::new();
        while let Some((name, value)) = entries.next_entry::<String, Value>()? {
            if fields.contains_key(&name) {
                return Err(Error::custom(format_args!("the field `{name}` is there twice")));
            }
            fields.insert(name, value);
        }
        Ok(Fields(fields))
    }
}
