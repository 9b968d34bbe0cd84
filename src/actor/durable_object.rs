//! The Durable Object itself: storage, alarm and requests around a [`Buckets`].

#![expect(missing_docs, reason = "the methods that the macro makes cannot be documented")]

use crate::actor::permits::client::HEADER;
use crate::actor::permits::lender::{PermitLender, ROW_TERM};
use crate::actor::permits::store::SqlPermitStore;
use crate::actor::rates::client::{ASK, REPLY};
use crate::actor::rates::prepaid_quota::IDLE;
use crate::actor::rates::store::SqlBucketStore;
use crate::actor::rates::{answer::answer, buckets::Buckets};
use crate::ledger::d1::D1Ledger;
use crate::ledger::{Ledger, UnusedQuota};
use crate::limit::time::{Span, Time};
use crate::log;
use crate::protocol::{permits_wire, rates_wire};
use crate::runtime::clock;
use std::cell::{Cell, RefCell};
use std::time::Duration;
use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

/// Rows are looked through at most once in this time: setting an alarm is a row written.
const SWEEP_EVERY: Span = Span::from_secs(60);

/// Lost tokens are told of at most once in this time.
const TELL_EVERY: Span = Span::from_secs(10);

/// The furthest alarm.
const LONGEST: Span = Span::from_secs(30 * 24 * 60 * 60);

/// Holds buckets in memory, and in SQLite where their debt outlives an eviction.
#[durable_object(alarm)]
pub struct BucketActor {
    state: State,
    disk: SqlBucketStore,
    ledger: D1Ledger,
    counter: RefCell<Buckets>,
    loaded: Cell<bool>,
    shelf: SqlPermitStore,
    /// Of a cap's actor; `None` until its rows are read.
    slots: RefCell<Option<PermitLender>>,
    alarm: Cell<Alarm>,
    /// When it was last told that tokens may be lost.
    told: Cell<Time>,
}

/// What is known of the object's alarm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alarm {
    /// The object has just woken up.
    Unknown,
    /// None is set.
    Off,
    /// One is set.
    At(Time),
}

impl DurableObject for BucketActor {
    fn new(state: State, env: Env) -> Self {
        let disk = SqlBucketStore::new(state.storage().sql());
        let shelf = SqlPermitStore::new(state.storage().sql());
        BucketActor {
            disk,
            ledger: D1Ledger(env.d1("DB").ok()),
            state,
            counter: RefCell::default(),
            loaded: Cell::new(false),
            shelf,
            slots: RefCell::new(None),
            alarm: Cell::new(Alarm::Unknown),
            told: Cell::default(),
        }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        if let Some(text) = request.headers().get(HEADER)? {
            return self.lend(&text).await;
        }
        let Some(text) = request.headers().get(ASK)? else { return refuse(400, "no question") };
        let ask = match rates_wire::read_ask(&text) {
            Ok(ask) => ask,
            Err(problem) => return refuse(400, &format!("unreadable question: {problem}")),
        };
        if let Err(problem) = self.load() {
            return refuse(500, &problem);
        }
        match answer(&self.counter, &ask, &self.disk, &self.ledger, clock::now).await {
            Ok(mut reply) => {
                let wanted = self.work_at(clock::now());
                if let Some(at) = wanted
                    && self.set_alarm(at).await?
                {
                    reply.rows = reply.rows.saturating_add(1);
                }
                let response = Response::empty()?;
                response.headers().set(REPLY, &rates_wire::write_reply(&reply))?;
                Ok(response)
            }
            Err(problem) => refuse(500, &problem),
        }
    }

    /// Gives idle quota back and deletes what is at rest.
    async fn alarm(&self) -> Result<Response> {
        self.alarm.set(Alarm::Off);
        loop {
            let rest = self.counter.borrow_mut().take_idle_quota(clock::now());
            let Some(rest) = rest else { break };
            if let Err(problem) = self.ledger.give_back(&rest).await {
                self.lost(&rest, &problem);
                // D1 is left alone until the next alarm: it would cost as long for each caller, and as many tokens.
                break;
            }
        }
        let now = clock::now();
        let rows = match self.disk.sweep(now) {
            Ok(earliest) => earliest.map(|earliest| earliest.max(now.plus(SWEEP_EVERY))),
            Err(problem) => {
                log::warning("actor", &problem);
                Some(now.plus(SWEEP_EVERY))
            }
        };
        let quota = self.counter.borrow().holds_quota().then(|| now.plus(IDLE));
        let slots = self.take_back(now);
        match rows.into_iter().chain(quota).chain(slots).min() {
            Some(at) => {
                self.set_alarm(at).await?;
            }
            None => {
                // Only this ends what an object's storage costs; a table without rows still has pages.
                self.disk.deleted();
                self.shelf.deleted();
                // It deletes the alarm as well, one that a request has set since this one began included.
                self.alarm.set(Alarm::Off);
                self.state.storage().delete_all().await?;
            }
        }
        Response::empty()
    }
}

impl BucketActor {
    /// Answers a question about slots.
    async fn lend(&self, text: &str) -> Result<Response> {
        let question = match permits_wire::read_ask(text) {
            Ok(question) => question,
            Err(problem) => return refuse(400, &format!("unreadable question: {problem}")),
        };
        let answer = self.with_slots(|slots| slots.answer(&question, &self.shelf, clock::now()));
        match answer {
            Ok(mut answer) => {
                if answer.rows > 0 && self.set_alarm(clock::now().plus(ROW_TERM)).await? {
                    answer.rows = answer.rows.saturating_add(1);
                }
                let response = Response::empty()?;
                response.headers().set(HEADER, &permits_wire::write_reply(&answer))?;
                Ok(response)
            }
            Err(problem) => refuse(500, &problem),
        }
    }

    /// Tells that D1 may not have taken back what it was given, if that was not said a moment ago.
    fn lost(&self, rest: &UnusedQuota, problem: &str) {
        let now = clock::now();
        if self.told.get().plus(TELL_EVERY) <= now {
            self.told.set(now);
            log::warning(&rest.limit, &format!("{} tokens of {} may be lost: {problem}", rest.tokens, rest.date));
        }
    }

    /// Takes back the slots whose term has passed; when there are more to take back.
    fn take_back(&self, now: Time) -> Option<Time> {
        match self.with_slots(|slots| slots.sweep(&self.shelf, now)) {
            Ok(next) => next.map(|next| next.max(now.plus(ROW_TERM))),
            Err(problem) => {
                log::warning("actor", &problem);
                Some(now.plus(SWEEP_EVERY))
            }
        }
    }

    /// Does `work` with what is lent, read from the disk if it has not been.
    fn with_slots<T>(
        &self,
        work: impl FnOnce(&mut PermitLender) -> std::result::Result<T, String>,
    ) -> std::result::Result<T, String> {
        let mut slots = self.slots.borrow_mut();
        if slots.is_none() {
            let mut read = PermitLender::default();
            self.shelf.load(&mut read)?;
            *slots = Some(read);
        }
        slots.as_mut().map_or_else(|| Err("nothing was read".to_owned()), work)
    }

    /// Reads the disk, once per life of the object.
    fn load(&self) -> std::result::Result<(), String> {
        if !self.loaded.get() {
            let loaded = self.disk.load(&mut self.counter.borrow_mut(), clock::now())?;
            if loaded.unreadable > 0 {
                log::warning(
                    "actor",
                    &format!("{} saved buckets cannot be read; they count as empty", loaded.unreadable),
                );
            }
            self.loaded.set(true);
        }
        Ok(())
    }

    /// When there will be something to do that no request asks for: quota to give back, or rows to delete.
    fn work_at(&self, now: Time) -> Option<Time> {
        let rows = self.disk.take_saved().then(|| now.plus(SWEEP_EVERY));
        let quota = self.counter.borrow().holds_quota().then(|| now.plus(IDLE));
        rows.into_iter().chain(quota).min()
    }

    /// Sees to it that an alarm comes at `at` or before; whether it had to set one.
    async fn set_alarm(&self, at: Time) -> Result<bool> {
        let storage = self.state.storage();
        if self.alarm.get() == Alarm::Unknown {
            self.alarm.set(match storage.get_alarm().await? {
                Some(millis) => Alarm::At(Time::from_millis(u64::try_from(millis).unwrap_or(0))),
                None => Alarm::Off,
            });
        }
        let before = self.alarm.get();
        if matches!(before, Alarm::At(set) if set <= at) {
            return Ok(false);
        }
        self.alarm.set(Alarm::At(at));
        // The platform's alarms have a range; a bucket of ten years is looked at again after a month.
        let after = at.since(clock::now()).min(LONGEST);
        let result = storage.set_alarm(Duration::from_nanos(after.as_nanos())).await;
        if result.is_err() {
            self.alarm.set(before);
        }
        result.map(|()| true)
    }
}

/// An answer that is none. It travels in a header too, shortened to what one may hold.
fn refuse(status: u16, problem: &str) -> Result<Response> {
    let text: String = problem.chars().filter(|c| (' '..='~').contains(c)).take(200).collect();
    let response = Response::empty()?.with_status(status);
    response.headers().set(REPLY, &text)?;
    response.headers().set(HEADER, &text)?;
    Ok(response)
}
