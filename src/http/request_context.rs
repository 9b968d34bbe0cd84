//! One request with everything that its stages share: the isolate, the policy, the runtime's
//! context.

use crate::actor::permits::calls::PermitObjects;
use crate::actor::rates::calls::RateObjects;
use crate::concurrency::caps::Caps;
use crate::concurrency::permit_calls::PermitCalls;
use crate::concurrency::plan::{RequestKind, planned_caps};
use crate::gate::background::Background;
use crate::gate::day_tokens::DayTokens;
use crate::gate::decide::Gate;
use crate::gate::decision::{Decision, Refusal};
use crate::gate::plan::{Plan, Timing};
use crate::http::incoming::Incoming;
use crate::http::isolate::{Isolate, LoadedPolicy};
use crate::http::loop_detection;
use crate::http::permit_heartbeat;
use crate::http::preflight::is_preflight;
use crate::http::problem::Problem;
use crate::http::rate_headers::{Header, RateHeaders};
use crate::http::request_log::RequestLog;
use crate::http::respond::{respond, trace};
use crate::identity::{HeadersAndQuery, Subject};
use crate::limit::time::Time;
use crate::policy::{AddressVerdict, Binding, Block};
use crate::runtime::clock;
use crate::runtime::sync_first::after_response;
use std::cell::RefCell;
use std::rc::Rc;
use worker::wasm_bindgen::JsValue;
use worker::worker_sys::Context;

/// One request on its way through the stages of [`serve`](crate::http::serve).
pub struct RequestContext<'a> {
    /// The request.
    pub incoming: &'a Incoming<'a>,
    /// The runtime's context, in which work may outlive the request.
    pub context: &'a Context,
    /// The isolate.
    pub isolate: &'a Rc<Isolate>,
    /// Its configuration.
    pub loaded: &'a LoadedPolicy,
    /// When the request arrived.
    pub began: Time,
    /// The actors of rates and quotas.
    pub actors: &'a RateObjects,
    /// The actors of caps.
    pub permit_actors: &'a PermitObjects,
}

impl<'a> RequestContext<'a> {
    /// Whether this deployment has sent the request itself: the origin leads back here.
    pub fn is_our_own(&self, hop: &str) -> bool {
        self.incoming.header(loop_detection::HEADER).is_some_and(|marks| loop_detection::contains(&marks, hop))
    }

    /// The binding that the request's route matches; `None` where only base's limits apply.
    pub fn route(&self) -> Option<&'a Binding> {
        let target = &self.incoming.target;
        self.loaded.policy.route(self.incoming.method, target.authority, target.path())
    }

    /// The limits that the request meets, for the caller at the address `ip`.
    pub fn plan(&self, route: Option<&'a Binding>, ip: Subject, verdict: &AddressVerdict<'_>) -> Plan<'a> {
        if verdict.allow_listed {
            return Plan::default();
        }
        let LoadedPolicy { policy, digester, .. } = self.loaded;
        let mut plan = Plan::new(policy, route, ip, |sources| Some(sources.read(self.incoming)?.subject(digester)));
        if is_preflight(self.incoming.method, |name| self.incoming.header(name)) {
            // A browser sends a preflight by itself, so it is not counted against its caller. It
            // meets the shared limits, and shares them as its address: no browser would have sent a
            // key.
            plan.caller_limits.clear();
            plan.caller.iter_mut().for_each(|caller| caller.subject = ip);
        }
        plan
    }

    /// The protocol that the request asks for.
    pub fn kind(&self) -> RequestKind {
        match self.incoming.header("upgrade") {
            Some(upgrade) if upgrade.eq_ignore_ascii_case("websocket") => RequestKind::Socket,
            _ => RequestKind::Plain,
        }
    }

    /// The caps that the request meets.
    pub fn caps(
        &self,
        route: Option<&'a Binding>,
        address: Subject,
        verdict: &AddressVerdict<'_>,
    ) -> Caps<'_, 'a, PermitObjects> {
        let policy = &self.loaded.policy;
        let planned = if verdict.allow_listed { Vec::new() } else { planned_caps(policy, route, self.kind()) };
        if !planned.is_empty() {
            permit_heartbeat::set_holder(self.isolate);
        }
        let (actors, leases) = (self.permit_actors, &self.isolate.permit_leases);
        let calls = PermitCalls { actors, leases, deadline: policy.settings.deadline, wall: clock::now };
        Caps { calls, planned, address, permits: RefCell::default() }
    }

    /// The gate, with this isolate's memory.
    pub fn gate(&self) -> Gate<'_, RateObjects> {
        Gate { actors: self.actors, state: &self.isolate.gate, timing: self.timing(), wall: clock::now }
    }

    /// Takes back the quota tokens of a request that did not reach the origin, and has them
    /// returned once they lie idle.
    pub fn take_back(&self, plan: &Plan<'_>, day_tokens: &[DayTokens]) {
        if !day_tokens.is_empty() {
            let gate = self.gate();
            gate.take_back_day(plan, day_tokens);
            self.start(gate.background(plan, false));
        }
    }

    /// Has the runtime do `background` work after the response.
    pub fn start(&self, background: Option<Background>) {
        let Some(background) = background else { return };
        let (isolate, actors, timing) = (Rc::clone(self.isolate), self.actors.again(), self.timing());
        after_response(self.context, async move {
            let gate = Gate { actors: &actors, state: &isolate.gate, timing, wall: clock::now };
            gate.run(background).await;
        });
    }

    /// The log of this request.
    pub fn log(&self) -> RequestLog<'_> {
        let Self { isolate, loaded, context, incoming, .. } = *self;
        RequestLog { isolate, loaded, context, incoming }
    }

    /// The `Penstock-Trace` header, where `TRACE` asks for it.
    pub fn trace(&self, decision: &Decision<'_>, decided: Time) -> Option<Header> {
        let trace = || trace(&decision.spent, decision.unchecked_count(), self.began, decided);
        self.loaded.policy.settings.trace.then(trace)
    }

    /// Answers with `problem` in place of the origin.
    ///
    /// # Errors
    /// The runtime's error, if it rejects a response that Penstock makes.
    pub fn refuse(&self, problem: &Problem<'_>, trace: Option<Header>) -> Result<JsValue, JsValue> {
        respond(self.incoming, problem, &self.loaded.policy.settings, trace).map(JsValue::from)
    }

    /// The refusal of an address that `block` lists.
    pub fn blocked(&self, block: Block<'a>) -> Problem<'a> {
        let binding = block.binding.or(self.loaded.policy.base.as_ref());
        Problem::blocked(binding.map(Binding::operator_message).unwrap_or_default())
    }

    /// The rate headers of the answer, once the request is decided.
    pub fn rate_headers<'d, 'p>(
        &self,
        plan: &'d Plan<'p>,
        decision: &'d Decision<'p>,
        decided: Time,
    ) -> RateHeaders<'d, 'p> {
        let style = self.loaded.policy.settings.headers;
        RateHeaders { style, plan, usages: &decision.usages, now: decided }
    }

    /// The refusal by a limit.
    pub fn limited<'p>(&self, refusal: &Refusal<'p>, told: &RateHeaders<'_, 'p>) -> Problem<'p>
    where
        'a: 'p,
    {
        let binding = self.loaded.policy.binding(&refusal.limit.binding);
        Problem::refusal(refusal, binding.map(Binding::operator_message).unwrap_or_default(), told)
    }

    fn timing(&self) -> Timing {
        let settings = &self.loaded.policy.settings;
        Timing { durable_after: settings.durable_after, deadline: settings.deadline }
    }
}
