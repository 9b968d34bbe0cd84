//! Rates and quotas as the Durable Object serves them: an actor's memory with its stores.

use crate::actor::alarm::SWEEP_EVERY;
use crate::actor::failure::Failure;
use crate::actor::rates::answer::answer;
use crate::actor::rates::buckets::Buckets;
use crate::actor::rates::prepaid_quota::IDLE;
use crate::actor::rates::store::SqlBucketStore;
use crate::ledger::d1::D1Ledger;
use crate::ledger::{Ledger, UnusedQuota};
use crate::limit::counted::counted;
use crate::limit::time::{Span, Time};
use crate::log;
use crate::protocol::rates::Reply;
use crate::protocol::rates_wire::read_ask;
use crate::runtime::clock;
use std::cell::{Cell, RefCell};
use worker::{D1Database, SqlStorage};

/// The least time between two warnings of lost tokens.
const WARN_EVERY: Span = Span::from_secs(10);

/// The half of the object that serves rates and quotas.
#[derive(Debug)]
pub(crate) struct RateService {
    buckets: RefCell<Buckets>,
    store: SqlBucketStore,
    ledger: D1Ledger,
    /// Whether the saved buckets are in memory.
    loaded: Cell<bool>,
    /// When it last warned of lost tokens.
    warned: Cell<Time>,
}

impl RateService {
    /// The service on the object's SQLite, and on D1 if it is bound.
    pub(crate) fn new(sql: SqlStorage, database: Option<D1Database>) -> RateService {
        RateService {
            buckets: RefCell::default(),
            store: SqlBucketStore::new(sql),
            ledger: D1Ledger(database),
            loaded: Cell::new(false),
            warned: Cell::default(),
        }
    }

    /// Answers the question in `text`. Returns as well the time at which there will be work that no
    /// question asks for; `None` if this question has made none.
    ///
    /// # Errors
    /// [`Failure`], if the question cannot be read or the storage fails. Nothing was taken then.
    pub(crate) async fn answer(&self, text: &str) -> Result<(Reply, Option<Time>), Failure> {
        let ask = read_ask(text).map_err(|problem| Failure::unreadable(&problem))?;
        self.load().map_err(Failure::internal)?;
        let reply = answer(&self.buckets, &ask, &self.store, &self.ledger, clock::now).await;
        let reply = reply.map_err(Failure::internal)?;
        Ok((reply, self.work_at(clock::now())))
    }

    /// Gives idle quota tokens back to D1, and deletes the rows of buckets at rest. Returns the
    /// time of the next such work; `None` if the object has nothing left to keep.
    pub(crate) async fn tidy(&self) -> Option<Time> {
        loop {
            let unused = self.buckets.borrow_mut().take_idle_quota(clock::now());
            let Some(unused) = unused else { break };
            if let Err(problem) = self.ledger.give_back(&unused).await {
                self.warn_of_loss(&unused, &problem);
                // D1 is left alone until the next alarm: each further caller would take as long,
                // and lose as many tokens.
                break;
            }
        }
        let now = clock::now();
        let rows = match self.store.sweep(now) {
            Ok(earliest) => earliest.map(|earliest| earliest.max(now.plus(SWEEP_EVERY))),
            Err(problem) => {
                log::warning("actor", &problem);
                Some(now.plus(SWEEP_EVERY))
            }
        };
        rows.into_iter().chain(self.quota_idle_at(now)).min()
    }

    /// Notes that the object's storage was deleted, with its tables.
    pub(crate) fn storage_deleted(&self) {
        self.store.deleted();
    }

    /// Reads the saved buckets, once per life of the object.
    fn load(&self) -> Result<(), String> {
        if !self.loaded.get() {
            let report = self.store.load(&mut self.buckets.borrow_mut(), clock::now())?;
            if report.unreadable > 0 {
                let unreadable = counted(report.unreadable, "saved bucket");
                log::warning("actor", &format!("{unreadable} cannot be read, and counted as empty"));
            }
            self.loaded.set(true);
        }
        Ok(())
    }

    /// The time at which there will be quota tokens to give back, or rows to delete.
    fn work_at(&self, now: Time) -> Option<Time> {
        let rows = self.store.take_saved().then(|| now.plus(SWEEP_EVERY));
        rows.into_iter().chain(self.quota_idle_at(now)).min()
    }

    fn quota_idle_at(&self, now: Time) -> Option<Time> {
        self.buckets.borrow().holds_quota().then(|| now.plus(IDLE))
    }

    /// Warns that D1 may not have taken tokens back, unless it has warned a moment ago.
    fn warn_of_loss(&self, unused: &UnusedQuota, problem: &str) {
        let now = clock::now();
        if self.warned.get().plus(WARN_EVERY) <= now {
            self.warned.set(now);
            let tokens = counted(unused.tokens, "token");
            log::warning(&unused.limit, &format!("{tokens} of {} may be lost: {problem}", unused.date));
        }
    }
}
