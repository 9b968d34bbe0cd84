//! Questions that the rest of Penstock asks a policy.

use std::rc::Rc;

use crate::identity::KeySource;
use crate::limit::rate::Allowance;
use crate::limit::time::Span;
use crate::policy::binding::Binding;
use crate::policy::capacity::Cap;
use crate::policy::limit::{Limit, Scope};
use crate::policy::model::Policy;
use crate::policy::priority::Priority;
use crate::policy::route::RouteTarget;

impl Policy {
    /// Returns the one binding of a request: the binding of the most specific pattern that matches
    /// (see [`route`](crate::policy::route)). `None`: no pattern matches, and the request meets
    /// [`Policy::base`] alone.
    ///
    /// A request of an exempt binding meets no limit. All other requests meet base as well. A path
    /// that some origins may resolve to a place outside its prefix is never exempt.
    ///
    /// `method` is taken as sent, because methods are case-sensitive (RFC 9110 §9.1). `host` may
    /// have a port, and `path` a query. The time is linear in the length of the path, and in the
    /// number of patterns.
    pub fn route(&self, method: &str, host: &str, path: &str) -> Option<&Binding> {
        let target = RouteTarget::read(method, host, path);
        let mut matching = self.routes.matching(&target).filter_map(|index| self.bindings.get(index));
        matching.find(|binding| !binding.exempt || !target.hides_parent_segment())
    }

    /// Returns the binding called `name`, such as `login`. `None`: there is no such binding.
    pub fn binding(&self, name: &str) -> Option<&Binding> {
        self.all_bindings().find(|binding| binding.name == name)
    }

    /// Returns the limit with this [`number`](Limit::number), and its binding. `None`: there is no
    /// such limit.
    pub fn limit(&self, number: u64) -> Option<(&Binding, &Limit)> {
        self.all_bindings().find_map(|binding| {
            let mut limits = binding.limits.iter();
            limits.find(|limit| limit.number == number).map(|limit| (binding, limit))
        })
    }

    /// All caps of all bindings.
    pub fn caps(&self) -> impl Iterator<Item = &Rc<Cap>> {
        let capacities = self.all_bindings().map(|binding| &binding.capacity);
        capacities.flat_map(|capacity| [&capacity.in_flight, &capacity.sockets]).flatten()
    }

    /// Returns the cap whose actor is called so, such as `api/in-flight`. `None`: there is no such
    /// cap.
    pub fn cap(&self, actor: &str) -> Option<&Rc<Cap>> {
        self.caps().find(|cap| cap.actor == actor)
    }

    /// Returns the priority of a request for `route`: that of its binding, or that of base if it
    /// has no binding.
    pub fn priority(&self, route: Option<&Binding>) -> Priority {
        route.or(self.base.as_ref()).map(|binding| binding.capacity.priority).unwrap_or_default()
    }

    /// Returns how long the origin may take until its answer to a request for `route` begins: the
    /// `timeout` of the binding, or else of base. A request of an exempt binding does not meet
    /// base. `None`: the time is not bounded.
    pub fn timeout(&self, route: Option<&Binding>) -> Option<Span> {
        self.own_or_base(route, |binding| binding.capacity.timeout)
    }

    /// Returns how long the client of a request for `route` may bring nothing of its body, as
    /// [`Policy::timeout`] does. `None`: neither the binding nor base says it.
    pub fn upload(&self, route: Option<&Binding>) -> Option<Span> {
        self.own_or_base(route, |binding| binding.capacity.upload)
    }

    /// Returns how long nothing may pass through a live WebSocket of a request for `route`, as
    /// [`Policy::timeout`] does. `None`: the time is not bounded.
    pub fn socket_idle(&self, route: Option<&Binding>) -> Option<Span> {
        self.own_or_base(route, |binding| binding.capacity.socket_idle)
    }

    /// Returns a field of the binding, or else of base, unless the binding is exempt.
    fn own_or_base<T>(&self, route: Option<&Binding>, field: impl Fn(&Binding) -> Option<T>) -> Option<T> {
        let base = self.base.as_ref().filter(|_| !route.is_some_and(|binding| binding.exempt));
        route.and_then(&field).or_else(|| base.and_then(&field))
    }

    /// Whether any limit is a daily quota, which needs D1.
    pub fn has_quota(&self) -> bool {
        let mut limits = self.all_bindings().flat_map(|binding| &binding.limits);
        limits.any(|limit| matches!(limit.allowance, Allowance::Quota(_)))
    }

    /// The names of the headers that hold the keys of bindings with a `per_key` limit. A name may
    /// come more than once.
    pub fn key_headers(&self) -> impl Iterator<Item = &str> {
        let counts_keys = |binding: &&Binding| binding.limits.iter().any(|limit| limit.scope == Scope::Key);
        self.all_bindings().filter(counts_keys).flat_map(|binding| binding.key.iter().filter_map(KeySource::header))
    }
}
