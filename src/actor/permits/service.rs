//! Permits as the Durable Object serves them: a cap's lender with its store.

use crate::actor::alarm::SWEEP_EVERY;
use crate::actor::failure::Failure;
use crate::actor::permits::lender::{PermitLender, ROW_TERM};
use crate::actor::permits::store::SqlPermitStore;
use crate::limit::time::Time;
use crate::log;
use crate::protocol::permits::PermitReply;
use crate::protocol::permits_wire::read_ask;
use crate::runtime::clock;
use std::cell::RefCell;
use worker::SqlStorage;

/// The half of the object that serves caps.
#[derive(Debug)]
pub(crate) struct PermitService {
    /// `None` until the saved permits are read.
    lender: RefCell<Option<PermitLender>>,
    store: SqlPermitStore,
}

impl PermitService {
    /// The service on the object's SQLite.
    pub(crate) fn new(sql: SqlStorage) -> PermitService {
        PermitService { lender: RefCell::new(None), store: SqlPermitStore::new(sql) }
    }

    /// Answers the question in `text`. Returns as well the time at which there will be rows to
    /// delete; `None` if this question has written none.
    ///
    /// # Errors
    /// [`Failure`], if the question cannot be read, is out of date, or the storage fails. Nothing
    /// was lent then.
    pub(crate) fn answer(&self, text: &str) -> Result<(PermitReply, Option<Time>), Failure> {
        let ask = read_ask(text).map_err(|problem| Failure::unreadable(&problem))?;
        let reply = self.with_lender(|lender| lender.answer(&ask, &self.store, clock::now()));
        let reply = reply.map_err(Failure::internal)?;
        Ok((reply, (reply.rows > 0).then(|| clock::now().plus(ROW_TERM))))
    }

    /// Takes back the permits whose term has ended. Returns the time of the next such work; `None`
    /// if nothing is lent.
    pub(crate) fn tidy(&self, now: Time) -> Option<Time> {
        match self.with_lender(|lender| lender.sweep(&self.store, now)) {
            Ok(next) => next.map(|next| next.max(now.plus(ROW_TERM))),
            Err(problem) => {
                log::warning("actor", &problem);
                Some(now.plus(SWEEP_EVERY))
            }
        }
    }

    /// Notes that the object's storage was deleted, with its tables.
    pub(crate) fn storage_deleted(&self) {
        self.store.deleted();
    }

    /// Does `work` with the lender, and reads its saved permits before the first time.
    fn with_lender<T>(&self, work: impl FnOnce(&mut PermitLender) -> Result<T, String>) -> Result<T, String> {
        let mut lender = self.lender.borrow_mut();
        if lender.is_none() {
            let mut read = PermitLender::default();
            self.store.load(&mut read)?;
            *lender = Some(read);
        }
        lender.as_mut().map_or_else(|| Err("nothing was read".to_owned()), work)
    }
}
