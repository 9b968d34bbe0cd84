//! Permits: what the actor of a cap lends, and the text form of its messages.

mod lending;
mod wire;

use core::cell::{Cell, RefCell};
use penstock::actor::permits::lender::{PermitRow, PermitStore};
use penstock::policy::Size;
use penstock::protocol::permits::{PermitAsk, Reserve};
use std::collections::BTreeMap;

/// A shelf that remembers, or refuses.
#[derive(Default)]
struct FakeShelf {
    rows: RefCell<BTreeMap<u64, PermitRow>>,
    full: Cell<bool>,
    written: Cell<u32>,
}

impl PermitStore for FakeShelf {
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

/// A question for more.
fn question(holder: u64, number: u64, cap: u64, keeps: u64, wants: u64) -> PermitAsk {
    PermitAsk { holder, number, size: Size::Fixed(cap), keeps, wants, reserve: Reserve::Nothing, sample: None }
}
