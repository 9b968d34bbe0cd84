//! What an actor holds of the day's quotas: tokens already counted in D1 and not yet used, and the knowledge that a
//! quota is used up. Both are conveniences: what falls out of here costs a statement or a token, never correctness.

use crate::limit::day::Day;
use crate::limit::table::BucketId;
use crate::limit::time::{Span, Time};
use hashbrown::HashMap;

/// How long "used up" is believed without asking D1 again. The truth may change: an operator may give quota back.
const BELIEVE: Span = Span::from_secs(60);

/// How many quotas are held; at about 100 bytes each.
const CAPACITY: usize = 10_000;

/// One quota's state for one subject and day.
#[derive(Clone, Debug, Default)]
struct Held {
    date: String,
    /// Tokens that D1 counts as used and that no request has used.
    prepaid: u64,
    /// What was left of the day when D1 last said so.
    left: u64,
    exhausted: Option<Exhausted>,
}

#[derive(Clone, Copy, Debug)]
struct Exhausted {
    count: u64,
    cost: u64,
    until: Time,
}

/// Every quota that an actor holds something of.
#[derive(Debug, Default)]
pub struct Purse {
    held: HashMap<BucketId, Held>,
}

impl Purse {
    /// Whether D1 has lately said that `cost` more would go beyond `count` on that day.
    pub fn exhausted(&self, id: BucketId, day: &Day, count: u64, cost: u64, now: Time) -> bool {
        self.today(id, day)
            .and_then(|held| held.exhausted)
            .is_some_and(|known| known.count == count && known.cost == cost && now < known.until)
    }

    /// Takes `cost` prepaid tokens out, if so many are there; says what is left of the day beside them.
    pub fn draw(&mut self, id: BucketId, day: &Day, cost: u64) -> Option<u64> {
        let held = self.held.get_mut(&id).filter(|held| held.date == day.date)?;
        held.prepaid = held.prepaid.checked_sub(cost)?;
        Some(held.left)
    }

    /// Puts back `cost` tokens that D1 has counted and the request did not use.
    pub fn deposit(&mut self, id: BucketId, day: &Day, cost: u64, left: u64) {
        let held = self.enter(id, day);
        held.prepaid = held.prepaid.saturating_add(cost);
        held.left = left;
    }

    /// Remembers that D1 refused.
    pub fn remember_exhausted(&mut self, id: BucketId, day: &Day, count: u64, cost: u64, now: Time) {
        let until = now.plus(BELIEVE);
        self.enter(id, day).exhausted = Some(Exhausted { count, cost, until });
    }

    fn today(&self, id: BucketId, day: &Day) -> Option<&Held> {
        self.held.get(&id).filter(|held| held.date == day.date)
    }

    fn enter(&mut self, id: BucketId, day: &Day) -> &mut Held {
        if self.held.len() >= CAPACITY {
            self.held.retain(|_, held| held.prepaid > 0);
            if self.held.len() >= CAPACITY {
                self.held.clear();
            }
        }
        let held = self.held.entry(id).or_default();
        if held.date != day.date {
            *held = Held { date: day.date.clone(), ..Held::default() };
        }
        held
    }
}
