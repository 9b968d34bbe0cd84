//! A cap's actor, without isolates: each test plays the holders' questions.

mod isolate_shares;
mod lender;

use core::cell::{Cell, RefCell};
use penstock::actor::permits::lender::{PermitRow, PermitStore};
use penstock::policy::Size;
use penstock::protocol::permits::{PermitAsk, Reserve};
use std::collections::BTreeMap;

/// A store in memory, which refuses to save while `full`.
#[derive(Default)]
struct FakeStore {
    rows: RefCell<BTreeMap<u64, PermitRow>>,
    full: Cell<bool>,
    /// Rows saved so far.
    written: Cell<u32>,
}

impl PermitStore for FakeStore {
    fn save(&self, row: PermitRow) -> Result<u32, String> {
        if self.full.get() {
            return Err("SQLITE_FULL".into());
        }
        self.written.set(self.written.get() + 1);
        self.rows.borrow_mut().insert(row.holder, row);
        Ok(1)
    }

    fn delete(&self, holder: u64) -> Result<u32, String> {
        self.rows.borrow_mut().remove(&holder);
        Ok(1)
    }
}

/// Question `number` of `holder`, which keeps `keeps` permits of a cap of `cap` and wants `wants`.
fn question(holder: u64, number: u64, cap: u64, keeps: u64, wants: u64) -> PermitAsk {
    PermitAsk { holder, number, size: Size::Fixed(cap), keeps, wants, reserve: Reserve::Nothing, sample: None }
}
