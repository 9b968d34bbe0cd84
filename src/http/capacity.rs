//! A request's places while it is under way: at the origin, on its way back, or as a live WebSocket.
//!
//! What the runtime does when a client goes away, as experiments on workerd show, and what follows from it:
//!
//! - *Before the origin has answered, and nothing is left to `waitUntil`:* the request's context ends on the spot. Its future is never
//!   polled again, its timers do not fire, nothing is dropped, and the origin's connection is closed. So its place is kept
//!   by a sign of life from a timer in its own context: when there has been none for [`GONE`](crate::gate::slots::beats::GONE), it is free.
//! - *The same, while something is left to `waitUntil`:* all goes on as if the client were there. The origin answers, and the body is
//!   then piped to nobody, which never ends. So nothing is left to `waitUntil` before the origin has answered, but for the line that
//!   tells of a flood of refusals in shadow a second later.
//! - *While the body is passed on:* the pipe fails at once, and the place is free as soon as the origin may have heard of it too.
//! - *A client that only closes its side (FIN)* is not seen to leave before something is written to it.
//!
//! What is left to `waitUntil` runs for as long as the answer is being sent, however long that is, and for 30 seconds afterwards at most.
//! So the signs of life go on for a body that streams for hours, and a place that nobody gives back is free soon after at the latest.

use super::relay;
use crate::actor::slots_client::SlotsClient;
use crate::clock;
use crate::gate::slots::admit::{Admit, Ticket};
use crate::gate::slots::beats::BEAT;
use crate::gate::slots::book::{Fate, IDLE};
use crate::gate::slots::caps::Kind;
use crate::isolate::Isolate;
use crate::limit::time::{Span, Time};
use crate::policy::Cap;
use crate::time_out::{pause, within};
use core::pin::{Pin, pin};
use futures_util::future::{Either, select};
use std::rc::Rc;
use web_sys::{ReadableStream, Response, WritableStream};
use worker::js_sys::{Array, Function, Promise, Reflect, global};
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::wasm_bindgen_futures::JsFuture;

/// How often idle slots are looked after, once a second, before they are left to the next request: well within what the runtime lets
/// go on after an answer.
const LOOKS: u32 = 20;

/// The runtime takes no length from here on: a double does not hold them all.
const LONGEST: u64 = 1 << 53;

/// The origin hears that a request was broken off a little later, and counts it until then.
const SETTLE: Span = Span::from_millis(250);

/// The places of one request, and what it takes to keep them.
#[derive(Debug)]
pub struct Places {
    tickets: Vec<Ticket>,
    /// Their caps, known also when the tickets are gone.
    caps: Vec<Rc<Cap>>,
    isolate: Rc<Isolate>,
    client: SlotsClient,
    begun: Time,
}

/// Work that goes on when the request has its answer.
pub type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Why the origin's answer is not there.
#[derive(Debug)]
pub enum Silence {
    /// It did not begin in time.
    Late,
    /// What the runtime throws when the origin cannot be reached.
    Thrown(JsValue),
}

impl Places {
    /// What a request that was let in has, from now on.
    pub fn new(tickets: Vec<Ticket>, isolate: Rc<Isolate>, client: SlotsClient) -> Places {
        let caps = tickets.iter().map(|ticket| Rc::clone(ticket.cap())).collect();
        let begun = clock::now();
        tickets.iter().for_each(|ticket| ticket.beat(begun));
        Places { tickets, caps, isolate, client, begun }
    }

    /// Whether it has any.
    pub fn is_empty(&self) -> bool {
        self.caps.is_empty()
    }

    /// What `fetch` comes to, if it does within `timeout`; keeps the places meanwhile.
    pub async fn keep_for(&self, fetch: Promise, timeout: Option<Span>) -> Result<Response, Silence> {
        let answer = match (timeout, self.is_empty()) {
            (None, true) => Some(JsFuture::from(fetch).await),
            (None, false) => Some(self.keep_while(fetch).await),
            (Some(timeout), _) => within(timeout, self.keep_while(fetch)).await,
        };
        let answer = match answer {
            Some(answer) => answer.and_then(JsCast::dyn_into::<Response>).map_err(Silence::Thrown),
            None => Err(Silence::Late),
        };
        let fate = match &answer {
            Ok(response) if response.status() < 500 => Fate::Answered,
            _ => Fate::Failed,
        };
        let took = clock::now().since(self.begun);
        self.tickets.iter().for_each(|ticket| ticket.note(took, fate));
        answer
    }

    /// The same answer, whose end gives the places back; and what there is to be done until then, and afterwards.
    ///
    /// # Errors
    /// None that is known; the runtime's, should it not make a stream.
    pub fn follow(mut self, response: Response, kind: Kind) -> Result<(Response, Task), JsValue> {
        let (response, end) = match relay::socket(&response) {
            Some(socket) => {
                // Its request has its answer; it is a socket from now on.
                self.tickets.retain(|ticket| ticket.cap().name.ends_with("/sockets"));
                match self.tickets.is_empty() {
                    true => (response, None),
                    false => relay::relay(&response, &socket).map(|(response, end)| (response, Some(end)))?,
                }
            }
            None => {
                if kind == Kind::Socket {
                    self.tickets.retain(|ticket| !ticket.cap().name.ends_with("/sockets"));
                }
                match response.body() {
                    // Of a status past 599 nobody may make an answer, so nobody hears when that ends; see `proxy::with_headers`.
                    Some(body) if !self.tickets.is_empty() && response.status() <= 599 => {
                        let (response, end) = piped(&response, &body)?;
                        (response, Some(end))
                    }
                    _ => (response, None),
                }
            }
        };
        Ok((response, Box::pin(self.until(end))))
    }

    /// Gives the places back now, and looks after what is idle then.
    pub fn leave(mut self) -> Task {
        self.tickets.clear();
        Box::pin(self.until(None))
    }

    /// The same, when the origin's request has been broken off.
    pub fn leave_broken_off(self) -> Task {
        Box::pin(self.until(Some(Promise::reject(&JsValue::UNDEFINED))))
    }

    async fn until(mut self, end: Option<Promise>) {
        if let Some(end) = end
            && self.keep_while(end).await.is_err()
        {
            pause(SETTLE).await;
        }
        self.tickets.clear();
        let mut idle: Vec<_> = self.caps.iter().filter(|cap| self.admit().tend(cap)).collect();
        for look in (0..LOOKS).rev() {
            if idle.is_empty() {
                break;
            }
            pause(IDLE).await;
            self.tick().await;
            let admit = self.admit();
            idle.retain(|cap| admit.tend_on(cap, look));
        }
    }

    /// Renews what is held, and gives back what is not needed.
    async fn tick(&self) {
        // More than one cap is rare, and more than one with something to say rarer still.
        for cap in &self.caps {
            let spent = self.admit().tick(cap).await;
            self.isolate.circuits.borrow_mut().budget.spend(spent.into());
        }
    }

    /// Gives signs of life until `work` is done, and renews what is held.
    async fn keep_while(&self, work: Promise) -> Result<JsValue, JsValue> {
        let keeping = pin!(async {
            loop {
                pause(BEAT).await;
                self.tickets.iter().for_each(|ticket| ticket.beat(clock::now()));
                self.tick().await;
            }
        });
        match select(JsFuture::from(work), keeping).await {
            Either::Left((done, _)) => done,
            Either::Right((never, _)) => never,
        }
    }

    fn admit(&self) -> Admit<'_, SlotsClient> {
        let patience = self.client.deadline;
        Admit { keepers: &self.client, books: &self.isolate.books, patience, wall: clock::now }
    }
}

/// The same answer with its body through a pipe, and the promise of the pipe's end. The runtime pumps it by itself. The bytes were asked
/// for as they came ([`proxy`](super::proxy)), so that none is unpacked and packed again, and a length that was said stays said.
fn piped(response: &Response, body: &ReadableStream) -> Result<(Response, Promise), JsValue> {
    let length = response
        .headers()
        .get("content-length")?
        .and_then(|text| text.parse::<u64>().ok())
        .filter(|length| *length < LONGEST);
    let (class, arguments) = match length {
        Some(length) => ("FixedLengthStream", Array::of1(&(length as f64).into())),
        None => ("IdentityTransformStream", Array::new()),
    };
    let class: Function = Reflect::get(&global(), &class.into())?.dyn_into()?;
    let pipe = Reflect::construct(&class, &arguments)?;
    let readable: ReadableStream = Reflect::get(&pipe, &"readable".into())?.unchecked_into();
    let writable: WritableStream = Reflect::get(&pipe, &"writable".into())?.unchecked_into();
    let init: &web_sys::ResponseInit = response.unchecked_ref();
    let copy = Response::new_with_opt_readable_stream_and_init(Some(&readable), init)?;
    Ok((copy, body.pipe_to(&writable)))
}
