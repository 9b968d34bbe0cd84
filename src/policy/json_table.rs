//! One `LIMIT_` table as JSON: its fields, and the lists in them.
//!
//! A table is a plain object, or the JSON text of one, as a dashboard variable holds it.

use core::fmt;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::policy::fault::{Faults, excerpt};

/// The fields of one var that holds a table.
#[derive(Clone, Copy)]
pub(super) struct TableFields<'a> {
    pub(super) var: &'a str,
    pub(super) fields: &'a Map<String, Value>,
}

impl<'a> TableFields<'a> {
    /// Returns the location of a field in messages: `LIMIT_LOGIN.per_ip`.
    pub(super) fn location(&self, field: &str) -> String {
        format!("{}.{field}", self.var)
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.fields.contains_key(field)
    }

    pub(super) fn get(&self, field: &str) -> Option<&'a Value> {
        self.fields.get(field)
    }

    /// Reads a field. `None`: the field is not there, or it is at fault, and the fault is recorded.
    pub(super) fn read<T>(
        &self,
        field: &str,
        faults: &mut Faults,
        reader: impl Fn(&Value) -> Result<T, String>,
    ) -> Option<T> {
        faults.value_or_record(&self.location(field), reader(self.get(field)?))
    }
}

/// Reads the table in the var `var`. `None`: it is not a table, and the fault is recorded.
pub(super) fn fields(var: &str, value: &Value, faults: &mut Faults) -> Option<Map<String, Value>> {
    let read = match value {
        Value::Object(fields) => Ok(fields.clone()),
        Value::String(text) => serde_json::from_str(text)
            .map(|UniqueFields(fields)| fields)
            .map_err(|error| format!("{}: not the JSON text of a table: {error}", excerpt(value))),
        _ => Err(format!("{}: not a table, expected fields such as per_ip = \"5/min\"", excerpt(value))),
    };
    faults.value_or_record(var, read)
}

/// Reads a text or a list of texts at `location`. Returns each text with a location of its own.
pub(super) fn texts<'a>(
    location: &str,
    value: &'a Value,
    example: &str,
    faults: &mut Faults,
) -> Vec<(String, &'a str)> {
    let items = match value {
        Value::Array(items) if items.is_empty() => {
            faults.add(location, format!("[]: an empty list, expected {example}"));
            return Vec::new();
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (format!("{location}[{index}]"), item)).collect()
        }
        _ => vec![(location.to_owned(), value)],
    };
    let mut texts = Vec::with_capacity(items.len());
    for (location, item) in items {
        match item.as_str() {
            Some(text) => texts.push((location, text)),
            None => faults.add(location, format!("{}: not a text, expected {example}", excerpt(item))),
        }
    }
    texts
}

/// Reads the items at `location`: a list of texts, or one text with commas.
pub(super) fn list<'a>(location: &str, value: &'a Value, example: &str, faults: &mut Faults) -> Vec<(String, &'a str)> {
    match value {
        Value::String(text) => text.split(',').map(|item| (location.to_owned(), item.trim())).collect(),
        _ => texts(location, value, example, faults),
    }
}

/// The fields of a JSON object in which no name is there twice. Plain JSON readers silently let the
/// last one win.
struct UniqueFields(Map<String, Value>);

impl<'de> Deserialize<'de> for UniqueFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<UniqueFields, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = UniqueFields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<UniqueFields, A::Error> {
        let mut fields = Map::new();
        while let Some((name, value)) = entries.next_entry::<String, Value>()? {
            if fields.contains_key(&name) {
                return Err(Error::custom(format_args!("the field `{name}` is there twice")));
            }
            fields.insert(name, value);
        }
        Ok(UniqueFields(fields))
    }
}
