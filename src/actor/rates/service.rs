//! Rates and quotas as the Durable Object serves them: an actor's memory with its stores.

use crate::actor::alarm::SWEEP_EVERY;
use crate::actor::call::call;
use crate::actor::failure::Failure;
use crate::actor::name::{Region, object_name};
use crate::actor::rates::answer::answer;
use crate::actor::rates::buckets::Buckets;
use crate::actor::rates::calls::{ASK, REPLY};
use crate::actor::rates::moved_state;
use crate::actor::rates::prepaid_quota::IDLE;
use crate::actor::rates::store::SqlBucketStore;
use crate::ledger::d1::D1Ledger;
use crate::ledger::{Ledger, UnusedQuota};
use crate::limit::counted::counted;
use crate::limit::time::{Span, Time};
use crate::log;
use crate::protocol::rates::{ActorKey, Ask, Demand, Reply};
use crate::protocol::rates_wire::{read_ask, read_reply, write_ask};
use crate::runtime::clock;
use crate::runtime::timeout::with_timeout;
use std::cell::{Cell, RefCell};
use worker::{Env, SqlStorage};

/// The least time between two warnings of lost tokens.
const WARN_EVERY: Span = Span::from_secs(10);

/// How often an object that has kept a shared rate before is asked for its debt. It has a debt to
/// tell of once, after an upgrade; should it never answer, the rate begins anew.
const TRIES: u32 = 3;

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
    env: Env,
    /// Questions for moved state that got no answer.
    failed_tries: Cell<u32>,
}

impl RateService {
    /// The service on the object's SQLite, and on D1 if it is bound in `env`.
    pub(crate) fn new(sql: SqlStorage, env: Env) -> RateService {
        RateService {
            buckets: RefCell::default(),
            store: SqlBucketStore::new(sql),
            ledger: D1Ledger(env.d1("DB").ok()),
            loaded: Cell::new(false),
            warned: Cell::default(),
            env,
            failed_tries: Cell::default(),
        }
    }

    /// Answers the question in `text`. Returns as well the time at which there will be work that no
    /// question asks for; `None` if this question has made none.
    ///
    /// # Errors
    /// [`Failure`], if the question cannot be read or the storage fails. Nothing was taken then.
    pub(crate) async fn answer(&self, text: &str) -> Result<(Reply, Option<Time>), Failure> {
        let ask = read_ask(text).map_err(|problem| Failure::unreadable(&problem))?;
        if let Some(home) = moved_state::hand_on_to(&ask) {
            let reply = self.ask_other(home, &moved_state::handed_on(&ask)).await.map_err(Failure::internal)?;
            return Ok((reply, None));
        }
        self.load().map_err(Failure::internal)?;
        for demand in &ask.demands {
            self.fetch_moved(&ask, demand).await.map_err(Failure::internal)?;
        }
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
        // The disk must have what parts have taken before their rows go.
        let settled = self.load().and_then(|()| self.buckets.borrow_mut().settle_cuts(&self.store, now));
        let rows = match settled.and_then(|()| self.store.sweep(now)) {
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

    /// Fetches the debt of a shared rate that an earlier version has kept in another object, unless
    /// that is done.
    async fn fetch_moved(&self, ask: &Ask, demand: &Demand) -> Result<(), String> {
        if !moved_state::is_to_be_fetched(ask, demand) || self.buckets.borrow().has_arrived(&demand.limit) {
            return Ok(());
        }
        let reply = self.ask_other(&demand.limit, &moved_state::question(demand, ask.patience)).await;
        let debt = reply.and_then(|reply| {
            let outcome = reply.outcomes.first();
            outcome
                .and_then(|outcome| moved_state::debt(&demand.terms, outcome))
                .ok_or("it tells of no debt".to_owned())
        });
        let failed = self.failed_tries.get().saturating_add(1);
        match debt {
            Ok(debt) => self.buckets.borrow_mut().arrive(&demand.limit, debt, clock::now()),
            Err(problem) if failed < TRIES => {
                self.failed_tries.set(failed);
                return Err(format!("the debt of {} is not here yet: {problem}", demand.limit));
            }
            Err(problem) => {
                log::warning(
                    &demand.limit,
                    &format!("begins anew, since its earlier object does not answer: {problem}"),
                );
                self.buckets.borrow_mut().arrive(&demand.limit, Span::ZERO, clock::now());
            }
        }
        Ok(())
    }

    /// Asks the object of another shared actor.
    async fn ask_other(&self, actor: &str, ask: &Ask) -> Result<Reply, String> {
        let name = object_name(&ActorKey::Shared(actor.into()), Region::default());
        let text = write_ask(ask);
        let said = with_timeout(ask.patience, call(&self.env, (&name, Region::default()), (ASK, &text), REPLY)).await;
        let said = said.ok_or("it did not answer in time")?.map_err(|error| error.to_string())?;
        read_reply(&said, ask.demands.len())
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
