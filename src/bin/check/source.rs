//! The text of a wrangler.toml, wrangler.jsonc or wrangler.json → its values, and their lines.

use std::collections::BTreeMap;

use jsonc_parser::ParseOptions;
use jsonc_parser::ast;
use serde_json::{Map, Value as Json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A file as wrangler reads it.
pub struct Source {
    /// Its values, as wrangler would hand them to the Worker.
    pub root: Map<String, Json>,
    /// The line of each key and item, from 1, by the path to it.
    lines: BTreeMap<Vec<String>, usize>,
    /// The paths of keys that are there twice. Wrangler takes the last of them.
    pub duplicates: Vec<Vec<String>>,
}

/// Collects lines on the way through a file.
struct Walk<'t> {
    text: &'t str,
    path: Vec<String>,
    lines: BTreeMap<Vec<String>, usize>,
    duplicates: Vec<Vec<String>>,
}

impl Source {
    /// Reads the text of `file`, whose name says its form.
    ///
    /// # Errors
    /// The first problem of the text as TOML or JSON, with its line and column.
    pub fn read(file: &str, text: &str) -> Result<Source, String> {
        let mut walk = Walk { text, path: Vec::new(), lines: BTreeMap::new(), duplicates: Vec::new() };
        let root = if file.ends_with(".json") || file.ends_with(".jsonc") {
            match walk.jsonc()? {
                Json::Object(root) => root,
                _ => return Err("not an object, expected { \"name\": …, \"vars\": … }\n".to_owned()),
            }
        } else {
            let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
            walk.toml_table(DeTable::parse(text).map_err(|error| error.to_string())?.get_ref());
            table.iter().map(|(name, value)| (name.clone(), json(value))).collect()
        };
        Ok(Source { root, lines: walk.lines, duplicates: walk.duplicates })
    }

    /// Returns the line of the part at `location` (`LIMIT_API.route[1]`) below `within`, or of the
    /// nearest part around it. `None`: the file has no such part.
    pub fn line(&self, within: &[String], location: &str) -> Option<usize> {
        let parts = location.split(['.', '[']).map(|part| part.trim_end_matches(']').to_owned());
        let mut path: Vec<String> = within.iter().cloned().chain(parts).collect();
        while path.len() > within.len() {
            if let Some(line) = self.lines.get(&path) {
                return Some(*line);
            }
            path.pop();
        }
        None
    }

    /// Returns the line of the key at exactly this `path`.
    pub fn line_of(&self, path: &[String]) -> Option<usize> {
        self.lines.get(path).copied()
    }
}

impl Walk<'_> {
    /// Walks through a part called `name` that begins at the byte `at`.
    fn within<T>(&mut self, name: String, at: usize, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.text.as_bytes().iter().take(at);
        let line = before.filter(|byte| **byte == b'\n').count().saturating_add(1);
        self.path.push(name);
        self.lines.entry(self.path.clone()).or_insert(line);
        let walked = walk(self);
        self.path.pop();
        walked
    }

    fn toml_table(&mut self, table: &DeTable<'_>) {
        for (name, value) in table.iter() {
            self.within(name.get_ref().to_string(), name.span().start, |walk| walk.toml(value));
        }
    }

    fn toml(&mut self, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) => self.toml_table(table),
            DeValue::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.within(index.to_string(), item.span().start, |walk| walk.toml(item));
                }
            }
            _ => {}
        }
    }

    /// Reads JSON with comments and trailing commas, the form that wrangler reads.
    fn jsonc(&mut self) -> Result<Json, String> {
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = jsonc_parser::parse_to_ast(self.text, &Default::default(), &options);
        let parsed = parsed.map_err(|error| format!("{error}\n"))?;
        Ok(parsed.value.map_or(Json::Null, |value| self.json(&value)))
    }

    fn json(&mut self, value: &ast::Value<'_>) -> Json {
        match value {
            ast::Value::Object(object) => {
                let mut fields = Map::new();
                for property in &object.properties {
                    let name = property.name.as_str().to_owned();
                    let read = self.within(name.clone(), property.range.start, |walk| {
                        if fields.contains_key(&name) {
                            walk.duplicates.push(walk.path.clone());
                        }
                        walk.json(&property.value)
                    });
                    fields.insert(name, read);
                }
                Json::Object(fields)
            }
            ast::Value::Array(array) => {
                let items = array.elements.iter().enumerate();
                let read =
                    items.map(|(index, item)| self.within(index.to_string(), ast_start(item), |walk| walk.json(item)));
                read.collect()
            }
            ast::Value::StringLit(text) => Json::from(text.value.as_ref()),
            ast::Value::NumberLit(number) => serde_json::from_str(number.value).unwrap_or(Json::Null),
            ast::Value::BooleanLit(flag) => Json::from(flag.value),
            ast::Value::NullKeyword(_) => Json::Null,
        }
    }
}

fn ast_start(value: &ast::Value<'_>) -> usize {
    use jsonc_parser::common::Ranged;
    value.range().start
}

/// Returns the value as wrangler would hand it to the Worker. A value without a form in JSON (a
/// date, `nan`) becomes a text, which is then a fault where a number was expected.
fn json(value: &toml::Value) -> Json {
    use toml::Value;
    match value {
        Value::String(text) => Json::from(text.as_str()),
        Value::Integer(number) => Json::from(*number),
        Value::Float(number) => {
            serde_json::Number::from_f64(*number).map_or_else(|| number.to_string().into(), Json::from)
        }
        Value::Boolean(flag) => Json::from(*flag),
        Value::Datetime(time) => time.to_string().into(),
        Value::Array(items) => items.iter().map(json).collect(),
        Value::Table(fields) => fields.iter().map(|(name, value)| (name.clone(), json(value))).collect(),
    }
}
