//! The log lines of one request. A request that passes, and meets no trouble, logs nothing.

use crate::concurrency::lease_table::PermitGuard;
use crate::gate::decision::{CapDecision, Decision};
use crate::http::incoming::Incoming;
use crate::http::isolate::{Isolate, LoadedPolicy};
use crate::http::problem::{Failure, Problem};
use crate::http::target::Target;
use crate::identity::Subject;
use crate::limit::time::Span;
use crate::log;
use crate::log::lines::{Effect, LoggedRequest, RefusalKey};
use crate::log::refusal_sampler::LogAction;
use crate::policy::AddressVerdict;
use crate::runtime::clock;
use crate::runtime::promise::sleep;
use crate::runtime::sync_first::after_response;
use std::collections::BTreeMap;
use std::rc::Rc;
use worker::worker_sys::Context;
use worker::{console_log, console_warn};

/// The wait after which counted refusals are logged: a little longer than they are counted for.
const COUNTS_AFTER: Span = Span::from_millis(1_100);

/// Logs for one request.
pub struct RequestLog<'a> {
    /// The isolate, which limits how much is logged.
    pub isolate: &'a Rc<Isolate>,
    /// Its configuration.
    pub loaded: &'a LoadedPolicy,
    /// The runtime's context, in which a count is logged after the response.
    pub context: &'a Context,
    /// The request.
    pub incoming: &'a Incoming<'a>,
}

impl RequestLog<'_> {
    /// Logs an address that `BLOCK` refuses, or would refuse.
    pub fn address(&self, verdict: &AddressVerdict<'_>, ip: Subject) {
        let refused = verdict.blocked.map(|block| (block, Effect::Refused));
        let shadow = verdict.shadow.map(|block| (block, Effect::Shadow));
        for (block, effect) in refused.into_iter().chain(shadow) {
            let key = || RefusalKey::Block(block.binding.map(|binding| binding.name.clone()), effect);
            self.refusal(key, |request| log::blocked(block, ip, effect, request));
        }
    }

    /// Logs what the limits and caps refused or would have refused, what could not be checked, and
    /// what is checked again. `permits` are the request's own.
    pub fn decision(&self, decision: &Decision<'_>, caller: Subject, permits: &[PermitGuard]) {
        let refusals = decision.refusal.iter().map(|refusal| (refusal, Effect::Refused));
        let shadows = decision.shadows.iter().map(|refusal| (refusal, Effect::Shadow));
        for (refusal, effect) in refusals.chain(shadows) {
            let key = || RefusalKey::Limit(refusal.limit.number, refusal.reason, effect);
            self.refusal(key, |request| log::refusal(refusal, effect, request));
        }
        for unchecked in &decision.unchecked {
            if let Some(line) = self.isolate.recent_warnings.borrow_mut().unchecked(unchecked, clock::now()) {
                console_warn!("{line}");
            }
        }
        if let Some(stage) = self.isolate.gate.call_budget.borrow_mut().stage_change(clock::now()) {
            log::warning("BUDGET", stage.words());
        }
        decision.restored.iter().for_each(|limit| self.restored(&limit.name));
        self.cap_decision(&decision.caps, caller, permits);
    }

    /// Logs the same of the caps, and where an adaptive cap has moved.
    fn cap_decision(&self, decision: &CapDecision<'_>, caller: Subject, permits: &[PermitGuard]) {
        let refused = decision.refusal.iter().map(|refusal| (refusal, Effect::Refused));
        let shadows = decision.shadows.iter().map(|refusal| (refusal, Effect::Shadow));
        for (refusal, effect) in refused.chain(shadows) {
            let key = || RefusalKey::Cap {
                name: refusal.cap.name.clone(),
                binding: refusal.binding.name.clone(),
                reason: refusal.reason,
                effect,
            };
            self.refusal(key, |request| log::cap_refusal(refusal, caller, effect, request));
        }
        for permit in permits {
            if let Some((was, is)) = permit.size_change(clock::now()) {
                log::cap_resized(&permit.cap().name, was, is);
            }
        }
        for (cap, error) in &decision.unchecked {
            if let Some(line) = self.isolate.recent_warnings.borrow_mut().unchecked_cap(cap, error, clock::now()) {
                console_warn!("{line}");
            }
        }
        decision.restored.iter().for_each(|cap| self.restored(&cap.name));
    }

    /// Logs that the origin did not answer: `problem` is a sentence.
    pub fn origin_failed(&self, failure: Failure, problem: &str) {
        let reason = Problem::failure(failure).kind.as_str();
        let origin = self.loaded.policy.settings.origin.as_deref();
        let host = origin.map_or(self.incoming.target.authority, |origin| Target::parse(origin).authority);
        self.refusal(|| RefusalKey::Origin(reason), |request| log::origin_failed(reason, host, problem, request));
    }

    /// Logs that the client at the address `caller` brought its body too slowly.
    pub fn upload_timed_out(&self, caller: Subject) {
        let reason = Problem::failure(Failure::UploadTimeout).kind.as_str();
        self.refusal(|| RefusalKey::Upload(reason), |request| log::upload_timed_out(reason, caller, request));
    }

    fn restored(&self, name: &str) {
        if let Some(line) = self.isolate.recent_warnings.borrow_mut().restored(name, clock::now()) {
            console_log!("{line}");
        }
    }

    /// Logs a refusal, or counts it where there are too many.
    fn refusal(&self, key: impl FnOnce() -> RefusalKey, line: impl FnOnce(LoggedRequest<'_>)) {
        let before = self.isolate.refusal_sampler.borrow_mut().take(clock::now());
        log_counts(before, self.loaded);
        let action = self.isolate.refusal_sampler.borrow_mut().record(key, clock::now());
        match action {
            LogAction::Line => line(self.incoming.logged()),
            LogAction::CountFirst => after_response(self.context, log_counts_soon(Rc::clone(self.isolate))),
            LogAction::Count => {}
        }
    }
}

/// Logs the counts a little later. Should the runtime end this work first, the next refusal logs
/// them.
async fn log_counts_soon(isolate: Rc<Isolate>) {
    sleep(COUNTS_AFTER).await;
    if let Some(loaded) = &isolate.loaded {
        let counted = isolate.refusal_sampler.borrow_mut().drain();
        log_counts(counted, loaded);
    }
}

fn log_counts(counted: BTreeMap<RefusalKey, u64>, loaded: &LoadedPolicy) {
    for (key, count) in counted {
        log::counted(&key, count, &loaded.policy);
    }
}
