//! The values of a configuration file → its deployments: the top level, and one for each
//! environment (`[env.NAME]`).

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

/// One deployment of a configuration file.
pub struct Deployment {
    /// `top level`, or `env.NAME`.
    pub name: String,
    /// The path to it in the file: empty, or `env` and its name.
    pub path: Vec<String>,
    /// Its own vars, since wrangler lets no environment inherit them. `None`: it has no such table.
    pub vars: Option<BTreeMap<String, Json>>,
    /// The part of the file for this deployment alone.
    pub part: Map<String, Json>,
    /// The top level of the file.
    top: Map<String, Json>,
}

impl Deployment {
    /// Returns all deployments of a file, the top level first.
    ///
    /// # Errors
    /// A part that should be a table.
    pub fn read_all(root: &Map<String, Json>) -> Result<Vec<Deployment>, String> {
        let mut deployments = vec![Deployment::new(None, root, root)?];
        match root.get("env") {
            None => {}
            Some(Json::Object(environments)) => {
                for (name, part) in environments {
                    let part = part.as_object().ok_or_else(|| format!("env.{name}: not a table\n"))?;
                    deployments.push(Deployment::new(Some(name), part, root)?);
                }
            }
            Some(_) => return Err("env: not a table, expected [env.NAME]\n".to_owned()),
        }
        Ok(deployments)
    }

    fn new(environment: Option<&str>, part: &Map<String, Json>, top: &Map<String, Json>) -> Result<Deployment, String> {
        let name = environment.map_or("top level".to_owned(), |name| format!("env.{name}"));
        let vars = match part.get("vars") {
            None => None,
            Some(Json::Object(vars)) => Some(vars.clone().into_iter().collect()),
            Some(_) => return Err(format!("{name}: vars: not a table, expected [vars]\n")),
        };
        let path = environment.map_or(Vec::new(), |name| vec!["env".to_owned(), name.to_owned()]);
        Ok(Deployment { name, path, vars, part: part.clone(), top: top.clone() })
    }

    /// Returns a key that wrangler does not hand down (`vars`, `durable_objects`, `d1_databases`).
    /// `None`: the deployment does not have it.
    pub fn own(&self, key: &str) -> Option<&Json> {
        self.part.get(key)
    }

    /// Returns a key that wrangler hands down (`migrations`, `workers_dev`): the deployment's own,
    /// or else that of the top level. `None`: neither has it.
    pub fn inherited(&self, key: &str) -> Option<&Json> {
        self.part.get(key).or_else(|| self.top.get(key))
    }

    /// Returns the name under which the file has a table of this deployment: `env.staging.vars`.
    pub fn heading(&self, table: &str) -> String {
        self.path.iter().map(|part| format!("{part}.")).collect::<String>() + table
    }

    /// Whether the deployment is an environment.
    pub fn is_environment(&self) -> bool {
        !self.path.is_empty()
    }

    /// Whether any of its vars is a limit.
    pub fn has_limits(&self) -> bool {
        self.vars.iter().flatten().any(|(name, _)| name.starts_with("LIMIT_"))
    }
}
