//! What the module does for a request's places while it is under way, when the lines of JavaScript beside this file say so. They go on
//! when an instance of the module fails, and say it to the next one, which knows of the places then before it looks at their caps.

use crate::actor::permits::client::PermitClient;
use crate::concurrency::heartbeats::Id;
use crate::concurrency::permit_calls::PermitCalls;
use crate::http::isolate::Isolate;
use crate::limit::time::Span;
use crate::policy::{Cap, Policy};
use crate::protocol::permits::Holder;
use crate::runtime::clock;
use crate::runtime::sync_first::value_or_promise;
use core::fmt::Write;
use std::rc::Rc;
use worker::js_sys::{Function, Promise};
use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::{Env, worker_sys::Context};

#[wasm_bindgen(module = "/src/http/permit_heartbeat.js")]
extern "C" {
    /// Says how [`beat`] and [`leave`] are called in whichever instance is there.
    pub fn drive(beat: &Function, leave: &Function);
    fn standing() -> String;
    /// Keeps `permits` from now on; see [`line`].
    pub fn begin(env: &Env, permits: &str) -> JsValue;
    /// Keeps them until `ended`, or what they have become by now.
    pub fn end(stay: &JsValue, context: &Context, permits: Option<&str>, ended: Option<&Promise>);
}

/// Adds a place to `lines`: its cap and its number there, or none.
pub fn line(lines: &mut String, cap: &Cap, id: Option<Id>) {
    // A string takes all that is written to it.
    let _ = writeln!(lines, "{} {}", cap.name, id.unwrap_or_default());
}

fn words(line: &str) -> Option<(&str, u64)> {
    let (first, second) = line.split_once(' ')?;
    Some((first, second.parse().ok()?))
}

fn read<'t>(policy: &'t Policy, lines: impl Iterator<Item = &'t str> + 't) -> impl Iterator<Item = (Rc<Cap>, Id)> + 't {
    lines.filter_map(words).filter_map(|(name, id)| Some((Rc::clone(policy.cap(name)?), id)))
}

/// Tells the isolate's books whose they are, and what is under way from before its module failed.
pub fn name_holder(isolate: &Isolate) {
    let mut leases = isolate.permit_leases.borrow_mut();
    let Some(loaded) = isolate.loaded.as_ref().filter(|_| !leases.has_holder()) else { return };
    let standing = standing();
    let mut lines = standing.lines();
    let (id, life) = lines.next().and_then(words).unwrap_or_default();
    leases.set_holder(Holder { id: id.parse().unwrap_or_default(), life });
    for (cap, id) in read(&loaded.policy, lines) {
        leases.heartbeat(&cap, id, clock::now());
    }
}

/// Places, and what it takes to keep them.
struct KeptPermits {
    isolate: Rc<Isolate>,
    client: PermitClient,
    patience: Span,
    permits: Vec<(Rc<Cap>, Id)>,
}

impl KeptPermits {
    fn new(env: &Env, lines: &str) -> Option<KeptPermits> {
        let isolate = Isolate::get(env);
        let policy = &isolate.loaded.as_ref()?.policy;
        name_holder(&isolate);
        let permits = read(policy, lines.lines()).collect();
        let (client, patience) = (PermitClient { env: env.clone() }, policy.settings.deadline);
        Some(KeptPermits { isolate, client, patience, permits })
    }

    /// Renews what is held, and gives back what is not needed.
    async fn tick(&self) {
        // More than one cap is rare, and more than one with something to say rarer still.
        for (cap, _) in &self.permits {
            let spent = self.admit().tick(cap).await;
            self.isolate.actor_health.borrow_mut().budget.spend(spent.into());
        }
    }

    /// The caps whose idle slots are still to be looked after.
    fn idle(&self, tends: impl Fn(&PermitCalls<'_, PermitClient>, &Rc<Cap>) -> bool) -> String {
        let admit = self.admit();
        let mut lines = String::new();
        self.permits.iter().filter(|(cap, _)| tends(&admit, cap)).for_each(|(cap, _)| line(&mut lines, cap, None));
        lines
    }

    fn admit(&self) -> PermitCalls<'_, PermitClient> {
        PermitCalls {
            actors: &self.client,
            leases: &self.isolate.permit_leases,
            patience: self.patience,
            wall: clock::now,
        }
    }
}

/// What has a number is still under way. Renews what is held, and gives back what is not needed. Whoever looks after what is idle, and has
/// so many looks left, is told what it has to go on with, in lines; by a promise where somebody has to be asked.
pub fn heartbeat(env: &Env, lines: &str, looks: Option<u32>) -> JsValue {
    let Some(stay) = KeptPermits::new(env, lines) else { return JsValue::from_str("") };
    for (cap, id) in &stay.permits {
        stay.isolate.permit_leases.borrow_mut().heartbeat(cap, *id, clock::now());
    }
    value_or_promise(async move {
        stay.tick().await;
        Ok(stay.idle(|admit, cap| looks.is_some_and(|looks| admit.keeps_returning(cap, looks))).into())
    })
}

/// They have ended. Whoever asks has to look after what is idle then: that is what it is told.
pub fn release(env: &Env, lines: &str) -> String {
    let Some(stay) = KeptPermits::new(env, lines) else { return String::new() };
    for (cap, id) in &stay.permits {
        stay.isolate.permit_leases.borrow_mut().end(cap, *id);
    }
    stay.idle(|admit, cap| admit.claim_return(cap))
}
