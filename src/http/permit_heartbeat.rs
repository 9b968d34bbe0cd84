//! Heartbeats for the permits of requests at the origin: the module's side.
//!
//! `permit_heartbeat.js` keeps the list of permits and the timers, outside of the module. They go
//! on when an instance of the module fails, and tell the next instance about the permits before it
//! looks at a cap. The list crosses the border as text: one line per cap, its name and the id of
//! the permit, `0` for none.

use crate::actor::permits::calls::PermitObjects;
use crate::concurrency::heartbeats::Id;
use crate::concurrency::permit_calls::PermitCalls;
use crate::http::isolate::Isolate;
use crate::limit::time::Span;
use crate::policy::{Cap, Mode, Policy};
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
    /// Sets how JavaScript calls [`heartbeat`], [`release`] and [`crowded`] of the instance that is
    /// there.
    pub fn connect(heartbeat: &Function, release: &Function, crowded: &Function);
    /// The isolate's holder id, its life, and the lines of all permits in use.
    #[wasm_bindgen(js_name = permitsInUse)]
    fn permits_in_use() -> String;
    /// Starts the heartbeats of the permits in `lines`; see [`line`].
    pub fn begin(env: &Env, lines: &str) -> JsValue;
    /// Ends the heartbeats when `ended` settles, and then releases the permits. `lines` replaces
    /// the permits, where some were given back early.
    pub fn end(heartbeat: &JsValue, context: &Context, lines: Option<&str>, ended: Option<&Promise>);
}

/// Adds the line of one cap to `lines`: its actor's name, and the id of the request's permit if it
/// has one.
pub fn line(lines: &mut String, cap: &Cap, id: Option<Id>) {
    // Writing to a String cannot fail.
    let _ = writeln!(lines, "{} {}", cap.actor, id.unwrap_or_default());
}

fn words(line: &str) -> Option<(&str, u64)> {
    let (first, second) = line.split_once(' ')?;
    Some((first, second.parse().ok()?))
}

fn read<'t>(policy: &'t Policy, lines: impl Iterator<Item = &'t str> + 't) -> impl Iterator<Item = (Rc<Cap>, Id)> + 't {
    lines.filter_map(words).filter_map(|(name, id)| Some((Rc::clone(policy.cap(name)?), id)))
}

/// Tells the isolate's permit leases its holder id, and which permits earlier instances of the
/// module have left in use. Has to be called before the first permit lease is used; later calls do
/// nothing.
pub fn set_holder(isolate: &Isolate) {
    let mut leases = isolate.permit_leases.borrow_mut();
    let Some(loaded) = isolate.loaded.as_ref().filter(|_| !leases.has_holder()) else { return };
    let text = permits_in_use();
    let mut lines = text.lines();
    let (id, life) = lines.next().and_then(words).unwrap_or_default();
    leases.set_holder(Holder { id: id.parse().unwrap_or_default(), life });
    for (cap, id) in read(&loaded.policy, lines) {
        leases.heartbeat(&cap, id, clock::now());
    }
}

/// The permits of one heartbeat, and everything that a call about them needs.
struct Permits {
    isolate: Rc<Isolate>,
    actors: PermitObjects,
    deadline: Span,
    permits: Vec<(Rc<Cap>, Id)>,
}

impl Permits {
    /// Reads `lines`; `None` where the configuration has faults.
    fn read(env: &Env, lines: &str) -> Option<Permits> {
        let isolate = Isolate::get(env);
        let policy = &isolate.loaded.as_ref()?.policy;
        set_holder(&isolate);
        let permits = read(policy, lines.lines()).collect();
        let (actors, deadline) = (PermitObjects { env: env.clone() }, policy.settings.deadline);
        Some(Permits { isolate, actors, deadline, permits })
    }

    /// Renews the permits that are in use, and gives back idle ones, where that is due.
    async fn tick(&self) {
        // One after the other: several caps are rare, and several that are due rarer still.
        for (cap, _) in &self.permits {
            let spent = self.calls().tick(cap).await;
            self.isolate.gate.call_budget.borrow_mut().spend(spent.into());
        }
    }

    /// Lines of the caps for which `returns` says that idle permits have to be given back.
    fn idle(&self, returns: impl Fn(&PermitCalls<'_, PermitObjects>, &Rc<Cap>) -> bool) -> String {
        let calls = self.calls();
        let mut lines = String::new();
        self.permits.iter().filter(|(cap, _)| returns(&calls, cap)).for_each(|(cap, _)| line(&mut lines, cap, None));
        lines
    }

    fn calls(&self) -> PermitCalls<'_, PermitObjects> {
        let leases = &self.isolate.permit_leases;
        PermitCalls { actors: &self.actors, leases, deadline: self.deadline, wall: clock::now }
    }
}

/// Records a heartbeat of each permit in `lines`, renews permits, and gives back idle ones. A task
/// that gives back idle permits passes its `checks_left`, and is answered with the lines that it
/// still has to look after. The answer is a text, or the promise of one where an actor has to be
/// asked.
pub fn heartbeat(env: &Env, lines: &str, checks_left: Option<u32>) -> JsValue {
    let Some(permits) = Permits::read(env, lines) else { return JsValue::from_str("") };
    for (cap, id) in &permits.permits {
        permits.isolate.permit_leases.borrow_mut().heartbeat(cap, *id, clock::now());
    }
    value_or_promise(async move {
        permits.tick().await;
        let returns = |calls: &PermitCalls<'_, _>, cap: &_| {
            checks_left.is_some_and(|checks_left| calls.keeps_returning(cap, checks_left))
        };
        Ok(permits.idle(returns).into())
    })
}

/// Releases the permits in `lines`: their requests have ended. Returns the lines of the caps of
/// which idle permits have to be given back from now on.
pub fn release(env: &Env, lines: &str) -> String {
    let Some(permits) = Permits::read(env, lines) else { return String::new() };
    for (cap, id) in &permits.permits {
        permits.isolate.permit_leases.borrow_mut().end(cap, *id);
    }
    permits.idle(|calls, cap| calls.claim_return(cap))
}

/// Whether an enforced cap of the permits in `lines` is full, and others wait for one.
pub fn crowded(env: &Env, lines: &str) -> bool {
    Permits::read(env, lines).is_some_and(|permits| {
        let calls = permits.calls();
        permits.permits.iter().any(|(cap, id)| *id > 0 && cap.mode == Mode::Enforce && calls.is_crowded(cap))
    })
}
