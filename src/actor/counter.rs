//! What an actor does with a question: look, prepay quotas from D1, look again and take.
//!
//! Only D1 makes it wait, and while it waits other questions are served. So nothing is taken before the last wait
//! is over: what D1 has already counted stays in the asker's hand, and goes to the purse if a limit refuses after all.

use super::purse::Purse;
use crate::gate::ports::{Ask, Demand, Intent, Outcome, Reply, Terms, Weight};
use crate::ledger::{Added, Entry, Ledger};
use crate::limit::day::Day;
use crate::limit::gcra::Gcra;
use crate::limit::steady::Steady;
use crate::limit::table::{BucketId, Full, Table};
use crate::limit::time::{Span, Time};
use std::cell::RefCell;

/// How many buckets one actor keeps: about 5 MB of memory, a small part of what its isolate may use.
pub const CAPACITY: usize = 100_000;

/// The actor's storage.
pub trait Disk {
    /// Saves a bucket's TAT before its tokens are handed out; returns the rows written.
    ///
    /// # Errors
    /// A sentence, where the storage refuses. Nothing may be handed out then.
    fn save(&self, id: BucketId, tat: Time) -> Result<u32, String>;
}

/// Everything an actor keeps in memory.
#[derive(Debug)]
pub struct Counter {
    table: Table,
    purse: Purse,
    clock: Steady,
}

/// Quota tokens that D1 has counted for this question.
struct InHand<'a> {
    id: BucketId,
    day: &'a Day,
    cost: u64,
    left: u64,
}

impl Default for Counter {
    fn default() -> Counter {
        Counter::with_capacity(CAPACITY)
    }
}

impl Counter {
    /// A counter without any debt, for at most `capacity` buckets.
    pub fn with_capacity(capacity: usize) -> Counter {
        Counter { table: Table::new(capacity), purse: Purse::default(), clock: Steady::default() }
    }

    /// Takes over a bucket that an earlier life of the actor saved.
    pub fn restore(&mut self, id: BucketId, tat: Time) {
        self.table.put(id, tat);
    }
}

/// Answers `ask`. `wall` reads the wall clock.
///
/// # Errors
/// A sentence, where the storage fails; then nothing was taken.
pub async fn answer(
    counter: &RefCell<Counter>,
    ask: &Ask,
    disk: &impl Disk,
    ledger: &impl Ledger,
    wall: impl Fn() -> Time,
) -> Result<Reply, String> {
    let begun = wall();
    let places: Vec<Place> = ask.demands.iter().map(|demand| Place::of(ask, demand, begun)).collect();
    let rows = counter.borrow_mut().settle(&places, disk, begun)?;
    let outcomes = counter.borrow_mut().look(&places, begun);
    let mut reply = Reply { outcomes, d1: 0, rows };
    if ask.intent == Intent::Peek || refuses(&places, &reply.outcomes) {
        return Ok(reply);
    }

    let mut hand = Vec::new();
    for (place, outcome) in places.iter().zip(reply.outcomes.iter_mut()) {
        let (Some(day), Terms::Quota(count, _)) = (&place.day, &place.demand.terms) else { continue };
        if matches!(outcome, Outcome::Refused { .. }) {
            continue;
        }
        let cost = place.demand.cost;
        let drawn = counter.borrow_mut().purse.draw(place.id, day, cost);
        let left = match drawn {
            Some(left) => left,
            None => {
                let entry = Entry { day, limit: &place.demand.limit, subject: ask.subject, cost, count: *count };
                let patience = ask.patience.over(wall().since(begun));
                reply.d1 = reply.d1.saturating_add(1);
                match ledger.add(entry, patience).await {
                    Ok(Added::Counted { used }) => {
                        reply.rows = reply.rows.saturating_add(1);
                        count.saturating_sub(used)
                    }
                    Ok(Added::Exhausted) => {
                        let now = counter.borrow_mut().clock.read(wall());
                        counter.borrow_mut().purse.remember_exhausted(place.id, day, *count, cost, now);
                        *outcome = exhausted(day, wall());
                        continue;
                    }
                    Err(_) => {
                        *outcome = Outcome::Unknown;
                        continue;
                    }
                }
            }
        };
        *outcome = Outcome::Met { left, more: day.end.since(wall()) };
        hand.push(InHand { id: place.id, day, cost, left });
    }

    let mut counter = counter.borrow_mut();
    let taken = if refuses(&places, &reply.outcomes) {
        Ok(Taken::Nothing)
    } else {
        counter.take(&places, ask.durable_after, disk, &mut reply, wall())
    };
    if !matches!(taken, Ok(Taken::All)) {
        for InHand { id, day, cost, left } in hand {
            counter.purse.deposit(id, day, cost, left);
        }
    }
    taken.map(|_| reply)
}

/// A demand, and where its state is kept.
struct Place<'a> {
    demand: &'a Demand,
    id: BucketId,
    day: Option<Day>,
}

/// Whether a question's tokens were taken.
enum Taken {
    All,
    Nothing,
}

impl<'a> Place<'a> {
    fn of(ask: &Ask, demand: &'a Demand, wall: Time) -> Place<'a> {
        let day = match &demand.terms {
            Terms::Rate(_) => None,
            Terms::Quota(_, zone) => Some(zone.day(wall)),
        };
        Place { demand, id: demand.bucket(ask.subject), day }
    }

    fn rate(&self) -> Option<Gcra> {
        match self.demand.terms {
            Terms::Rate(gcra) => Some(gcra),
            Terms::Quota(..) => None,
        }
    }
}

impl Counter {
    /// Cuts down what no take can have left behind: a TAT further ahead than a full debt comes from a clock that
    /// stepped, a limit that shrank or a damaged row. It counts as a full debt from now on, on the disk too, so that nobody is
    /// locked out for longer than burst × interval.
    fn settle(&mut self, places: &[Place<'_>], disk: &impl Disk, wall: Time) -> Result<u32, String> {
        let now = self.clock.read(wall);
        let mut rows: u32 = 0;
        for place in places {
            let Some(gcra) = place.rate() else { continue };
            let tat = self.table.tat(place.id);
            let settled = gcra.settle(tat, now);
            if settled < tat {
                rows = rows.saturating_add(disk.save(place.id, settled)?);
                self.table.put(place.id, settled);
            }
        }
        Ok(rows)
    }

    /// What each limit would say now, with nothing taken. A quota not known to be used up counts as met.
    fn look(&mut self, places: &[Place<'_>], wall: Time) -> Vec<Outcome> {
        let now = self.clock.read(wall);
        if let Err(Full { wait }) = self.reserve(places, now) {
            return places.iter().map(|_| Outcome::Full { wait }).collect();
        }
        places.iter().map(|place| self.look_at(place, now, wall)).collect()
    }

    fn look_at(&self, place: &Place<'_>, now: Time, wall: Time) -> Outcome {
        let cost = place.demand.cost;
        match (&place.demand.terms, &place.day) {
            (Terms::Rate(gcra), _) => {
                let tat = self.table.tat(place.id);
                match gcra.take(tat, now, cost) {
                    Ok(_) => met(gcra, tat, now),
                    Err(no) => Outcome::Refused { left: gcra.available(tat, now), wait: no.wait, until: None },
                }
            }
            (Terms::Quota(count, _), Some(day)) if self.purse.exhausted(place.id, day, *count, cost, now) => {
                exhausted(day, wall)
            }
            (Terms::Quota(..), _) => Outcome::Met { left: 0, more: Span::ZERO },
        }
    }

    /// Takes from every rate that has enough, if no binding one refuses; saves before it takes.
    fn take(
        &mut self,
        places: &[Place<'_>],
        durable_after: Span,
        disk: &impl Disk,
        reply: &mut Reply,
        wall: Time,
    ) -> Result<Taken, String> {
        let now = self.clock.read(wall);
        let reserved = self.reserve(places, now);
        for (place, outcome) in places.iter().zip(reply.outcomes.iter_mut()) {
            if place.rate().is_some() {
                *outcome = match reserved {
                    Ok(()) => self.look_at(place, now, wall),
                    Err(Full { wait }) => Outcome::Full { wait },
                };
            }
        }
        if refuses(places, &reply.outcomes) {
            return Ok(Taken::Nothing);
        }
        let taken: Vec<(BucketId, Time)> = places
            .iter()
            .filter_map(|place| {
                let tat = place.rate()?.take(self.table.tat(place.id), now, place.demand.cost).ok()?;
                Some((place.id, tat))
            })
            .collect();
        for (id, tat) in &taken {
            if tat.since(now) >= durable_after {
                reply.rows = reply.rows.saturating_add(disk.save(*id, *tat)?);
            }
        }
        for (id, tat) in taken {
            self.table.put(id, tat);
        }
        for (place, outcome) in places.iter().zip(reply.outcomes.iter_mut()) {
            if let (Some(gcra), Outcome::Met { .. }) = (place.rate(), &outcome) {
                *outcome = met(&gcra, self.table.tat(place.id), now);
            }
        }
        Ok(Taken::All)
    }

    fn reserve(&mut self, places: &[Place<'_>], now: Time) -> Result<(), Full> {
        self.table.reserve(places.iter().filter(|place| place.rate().is_some()).map(|place| place.id), now)
    }
}

fn met(gcra: &Gcra, tat: Time, now: Time) -> Outcome {
    Outcome::Met { left: gcra.available(tat, now), more: gcra.until_more(tat, now) }
}

fn exhausted(day: &Day, wall: Time) -> Outcome {
    Outcome::Refused { left: 0, wait: day.end.since(wall), until: Some(day.end.as_secs()) }
}

/// Whether an outcome of a binding limit stops the request.
fn refuses(places: &[Place<'_>], outcomes: &[Outcome]) -> bool {
    places.iter().zip(outcomes).any(|(place, outcome)| {
        place.demand.weight == Weight::Binding && matches!(outcome, Outcome::Refused { .. } | Outcome::Full { .. })
    })
}
