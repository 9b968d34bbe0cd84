//! The whole configuration of one deployment, as the rest of Penstock sees it.

use crate::policy::binding::Binding;
use crate::policy::route_table::RouteTable;
use crate::policy::settings::Settings;

/// The whole configuration, validated. An isolate reads it once, and it never changes afterwards.
#[derive(Clone, Debug)]
pub struct Policy {
    /// `LIMIT_BASE`, which every request meets unless its route is exempt. `None`: there is no such
    /// var.
    pub base: Option<Binding>,
    /// The other `LIMIT_*` bindings, by name. [`Policy::route`] finds the one of a request.
    pub bindings: Vec<Binding>,
    /// The vars that are not limits.
    pub settings: Settings,
    pub(super) routes: RouteTable,
}

impl Policy {
    /// All bindings, base first.
    pub(super) fn all_bindings(&self) -> impl Iterator<Item = &Binding> {
        self.base.iter().chain(&self.bindings)
    }
}
