//! The text of a wrangler.toml → its deployments: the top level, and one for each `[env.NAME]`.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use toml::{Table, Value};

/// One deployment of a wrangler.toml.
pub struct Deployment {
    /// `top level`, or `env.NAME`.
    pub name: String,
    /// Its own vars, since wrangler lets no environment inherit them. `None`: it has no such table.
    pub vars: Option<BTreeMap<String, Json>>,
    /// The part of the file for this deployment alone.
    own: Table,
    /// The top level of the file.
    top: Table,
}

impl Deployment {
    /// Reads all deployments from the text of a file, the top level first.
    ///
    /// # Errors
    /// The first problem of the text as TOML, with its line and column; or a part that should be a
    /// table.
    pub fn read_all(text: &str) -> Result<Vec<Deployment>, String> {
        let top: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let mut deployments = vec![Deployment::new("top level".to_owned(), top.clone(), top.clone())?];
        match top.get("env") {
            None => {}
            Some(Value::Table(environments)) => {
                for (name, own) in environments {
                    let name = format!("env.{name}");
                    let own = own.as_table().ok_or_else(|| format!("{name}: not a table\n"))?;
                    deployments.push(Deployment::new(name, own.clone(), top.clone())?);
                }
            }
            Some(_) => return Err("env: not a table, expected [env.NAME]\n".to_owned()),
        }
        Ok(deployments)
    }

    fn new(name: String, own: Table, top: Table) -> Result<Deployment, String> {
        let vars = match own.get("vars") {
            None => None,
            Some(Value::Table(vars)) => Some(vars.iter().map(|(name, value)| (name.clone(), json(value))).collect()),
            Some(_) => return Err(format!("{name}: vars: not a table, expected [vars]\n")),
        };
        Ok(Deployment { name, vars, own, top })
    }

    /// Returns a key that wrangler does not hand down (`vars`, `durable_objects`, `d1_databases`).
    /// `None`: the deployment does not have it.
    pub fn own(&self, key: &str) -> Option<&Value> {
        self.own.get(key)
    }

    /// Returns a key that wrangler hands down (`migrations`, `workers_dev`): the deployment's own,
    /// or else that of the top level. `None`: neither has it.
    pub fn inherited(&self, key: &str) -> Option<&Value> {
        self.own.get(key).or_else(|| self.top.get(key))
    }

    /// Returns the name under which the file has a table of this deployment: `env.staging.vars`.
    pub fn heading(&self, table: &str) -> String {
        match self.name.strip_prefix("env.") {
            Some(name) => format!("env.{name}.{table}"),
            None => table.to_owned(),
        }
    }
}

/// Returns the value as wrangler would hand it to the Worker. A value without a form in JSON (a
/// date, `nan`) becomes a text, which is then a fault where a number was expected.
fn json(value: &Value) -> Json {
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
