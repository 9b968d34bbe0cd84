//! What is logged of one request.

use crate::concurrency::caps::Admission;
use crate::gate::decision::Decision;
use crate::http::incoming::Incoming;
use crate::http::isolate::{Isolate, LoadedPolicy};
use crate::identity::{Presented, Subject};
use crate::limit::time::Span;
use crate::log::refusal_sampler::{LogAction, RefusalKey};
use crate::log::{self, Effect};
use crate::policy::AddressVerdict;
use crate::runtime::clock;
use crate::runtime::promise::sleep;
use crate::runtime::sync_first::after_response;
use std::collections::BTreeMap;
use std::rc::Rc;
use worker::worker_sys::Context;
use worker::{console_log, console_warn};

/// A little longer than refusals are counted.
const SOON: Span = Span::from_millis(1_100);

/// Logs for one request.
pub struct Reporter<'a> {
    /// The isolate, which keeps the log short.
    pub isolate: &'a Rc<Isolate>,
    /// Its configuration.
    pub loaded: &'a LoadedPolicy,
    /// What outlives the request.
    pub context: &'a Context,
    /// The request.
    pub incoming: &'a Incoming<'a>,
}

impl Reporter<'_> {
    /// Logs what was refused, what would have been, and what could not be checked.
    pub fn decided(&self, decision: &Decision<'_>) {
        let refusals = decision.refusal.iter().map(|refusal| (refusal, Effect::Refused));
        let shadows = decision.shadows.iter().map(|refusal| (refusal, Effect::Shadow));
        for (refusal, effect) in refusals.chain(shadows) {
            let of = || RefusalKey::Limit(refusal.planned.limit.number, refusal.reason, effect);
            self.refused(of, |ray| log::refusal(refusal, effect, ray));
        }
        for unchecked in &decision.unchecked {
            if let Some(line) = self.isolate.recent_warnings.borrow_mut().unchecked(unchecked, clock::now()) {
                console_warn!("{line}");
            }
        }
        if let Some(stage) = self.isolate.actor_health.borrow_mut().budget.stage_change(clock::now()) {
            log::warning("BUDGET", stage.words());
        }
        decision.restored.iter().for_each(|met| self.restored(&met.limit.name));
    }

    /// Logs which caps had no place, and which could not be checked.
    pub fn entered(&self, entry: &Admission<'_>, caller: Subject) {
        let refused = entry.refused.iter().map(|refusal| (refusal, Effect::Refused));
        let shadows = entry.shadows.iter().map(|refusal| (refusal, Effect::Shadow));
        for (refusal, effect) in refused.chain(shadows) {
            let of = || RefusalKey::Cap {
                name: refusal.cap.name.clone(),
                binding: refusal.binding.name.clone(),
                reason: refusal.reason,
                effect,
            };
            self.refused(of, |ray| log::cap_refusal(refusal, caller, effect, ray));
        }
        for permit in &entry.permits {
            if let Some((was, is)) = permit.size_change(clock::now()) {
                log::moved(&permit.cap().name, was, is);
            }
        }
        for (cap, error) in &entry.unchecked {
            if let Some(line) = self.isolate.recent_warnings.borrow_mut().unchecked_cap(cap, error, clock::now()) {
                console_warn!("{line}");
            }
        }
        entry.restored.iter().for_each(|cap| self.restored(&cap.name));
    }

    fn restored(&self, name: &str) {
        if let Some(line) = self.isolate.recent_warnings.borrow_mut().restored(name, clock::now()) {
            console_log!("{line}");
        }
    }

    /// Logs an address that is not let in, or would not be.
    pub fn received(&self, access: &AddressVerdict<'_>, ip: Subject) {
        let refused = access.blocked.map(|block| (block, Effect::Refused));
        let shadow = access.shadow.map(|block| (block, Effect::Shadow));
        for (block, effect) in refused.into_iter().chain(shadow) {
            let of = || RefusalKey::Block(block.binding.map(|binding| binding.name.clone()), effect);
            self.refused(of, |ray| log::blocked(block, ip, effect, ray));
        }
    }

    /// Tells of a refusal, or counts it.
    fn refused(&self, of: impl FnOnce() -> RefusalKey, line: impl FnOnce(Option<&str>)) {
        let before = self.isolate.refusal_sampler.borrow_mut().take(clock::now());
        tell(before, self.loaded);
        let say = self.isolate.refusal_sampler.borrow_mut().refused(of, clock::now());
        match say {
            LogAction::Line => line(self.incoming.header("cf-ray").as_deref()),
            LogAction::First => after_response(self.context, tell_soon(Rc::clone(self.isolate))),
            LogAction::Nothing => {}
        }
    }
}

/// Should it not be run to its end, the next refusal tells instead.
async fn tell_soon(isolate: Rc<Isolate>) {
    sleep(SOON).await;
    if let Some(loaded) = &isolate.loaded {
        let counted = isolate.refusal_sampler.borrow_mut().drain();
        tell(counted, loaded);
    }
}

fn tell(counted: BTreeMap<RefusalKey, u64>, loaded: &LoadedPolicy) {
    for (of, count) in counted {
        log::counted(&of, count, &loaded.policy);
    }
}
