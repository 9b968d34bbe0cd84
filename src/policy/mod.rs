//! The configuration: vars → a validated, immutable [`Policy`], or all faults at once, each with
//! its location.
//!
//! ```text
//! vars ─▶ known_names ─┬─▶ settings            ─┐
//!                      └─▶ json_table ─▶ binding ─┴─▶ Policy ─▶ lookups
//! ```
//!
//! The Worker and `make check` use this one parser, so a configuration that passes the check is the
//! one that runs. Nothing ever means "unlimited": a field or a value that cannot be read is a
//! fault.
//!
//! **A new field of a binding** takes these steps:
//!
//! 1. its row in `FIELDS` of `known_names`, which says whether it contradicts `exempt`;
//! 2. the field of `Binding` in `binding`, or of `Capacity` in `capacity`, and its reader in the
//!    same file. The compiler then names the places that build the type;
//! 3. its line in `bin/check/lists.rs`, or its column in `bin/check/table.rs`;
//! 4. its row in `docs/configuration.md`. A test compares that page with `FIELDS`.
//!
//! **A new var** takes its name in `SETTINGS` of `known_names`, the field of `Settings` and its
//! reader in `settings`, and a row in `docs/configuration.md`.
//!
//! Values:
//!
//! - `model`: [`Policy`], the whole configuration;
//! - `binding`: one `LIMIT_` table, and reading it;
//! - `limit`: one limit, and its choices `scope`, `mode` and `on_error`;
//! - `counter`: the identity of what a limit counts, by which everything is stored;
//! - `capacity`: caps, waits, timeouts and warm-up of one binding, and reading them;
//! - `priority`: the order in which requests are refused when the system is full;
//! - `access`: the address lists `ALLOW` and `BLOCK`, and reading them;
//! - `printed_name`: the name of a binding's limits in refusals, headers and logs;
//! - `operator_message`: the operator's own words in refusals;
//! - `settings`: the vars that are not limits, and reading them;
//! - `cors`: the web pages that may read a refusal;
//! - `route`, `path`, `host`: route patterns, and the spelling in which requests are matched;
//! - `route_table`: all patterns in order of precedence.
//!
//! Reading:
//!
//! - `read`: all vars → a policy;
//! - `known_names`: the names of vars and fields, and guesses at misspelt ones;
//! - `edit_distance`: how far a name is from the known ones;
//! - `json_table`: one table and its lists;
//! - `allowed`: the fields that hold limits;
//! - `route_parse`: the text of a route pattern;
//! - `origin`: the URL of the origin;
//! - `value`: single values, such as a number or a duration;
//! - `deployment_mode`: the effect of `MODE` on all limits and caps;
//! - `priority_effect`: the priorities that meet each cap, and priorities without effect;
//! - `socket_idle_effect`: a `socket_idle` without effect;
//! - `fault`: the faults, and their locations.
//!
//! Asking:
//!
//! - `lookups`: the binding of a request, its timeout and priority, limits and caps by name;
//! - `address_verdict`: the effect of the address lists on a request.

pub mod access;
mod address_verdict;
mod allowed;
mod binding;
pub mod capacity;
mod cors;
pub mod counter;
mod deployment_mode;
mod edit_distance;
pub mod fault;
mod host;
mod json_table;
mod known_names;
mod limit;
mod lookups;
mod model;
mod operator_message;
mod origin;
pub mod path;
mod printed_name;
mod priority;
mod priority_effect;
mod read;
pub mod route;
mod route_parse;
mod route_table;
mod settings;
mod socket_idle_effect;
mod value;

pub use access::Access;
pub use address_verdict::{AddressVerdict, Block};
pub use binding::Binding;
pub use capacity::{Cap, Capacity, Size};
pub use cors::{Cors, Readable};
pub use fault::Fault;
pub use known_names::{has_limit_fields, is_own_var};
pub use limit::{Limit, Mode, OnError, Scope};
pub use model::Policy;
pub use operator_message::OperatorMessage;
pub use priority::Priority;
pub use read::Reading;
pub use settings::{HeaderStyle, Misconfigured, Settings};
