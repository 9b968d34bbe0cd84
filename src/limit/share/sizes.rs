//! How large a part a holder gets, and for how long.
//!
//! - **Never**: a burst below [`LEAST_BURST`], or a request of more than a quarter of the burst.
//!   Such a bucket is counted one by one.
//! - **Far from the limit** (all holders together ask for less than half of the rate) room is
//!   parked rather than rate: room to meet what comes at once, a little more rate than is asked
//!   for, and ten minutes. At most a quarter of the burst lies with holders that do not use it.
//! - **Near the limit** a busy holder gets its demand or a fair share of the rate (max-min fair),
//!   and a small room, for seconds.
//!
//! The numbers are those of a simulation; each says what gets worse where it is larger or smaller.

use crate::limit::gcra::Gcra;
use crate::limit::share::cut_bucket::CutBucket;
use crate::limit::share::demand_meter::seconds;
use crate::limit::share::fraction::Fraction;
use crate::limit::share::outstanding::HolderId;
use crate::limit::share::question::{PartSize, Question};
use crate::limit::time::{Span, Time};
use std::collections::BTreeMap;

/// The least burst of a bucket that is cut. Parts of a smaller one would be of a few tokens, and
/// what is parked a large piece of it.
pub const LEAST_BURST: u64 = 32;

/// A request may cost one part in so many of the burst of a bucket that is cut.
const LEAST_REQUESTS: u64 = 4;

/// The term far from the limit. A longer one parks for longer what a holder has stopped using; a
/// shorter one costs more calls and rows.
const LONG: f64 = 600.0;
/// The term of a larger part, up to an eighth of the rate.
const MEDIUM: f64 = 60.0;
/// The term of a part whose holder is not known yet, and near the limit.
const CALM: f64 = 10.0;
/// The fraction of the rate that fair shares hand out; the rest is lost to rounding.
const TAKEN: f64 = 0.99;
/// The part of a burst that a slow holder may park.
const PARKED: f64 = 1.0 / 32.0;
/// The calls per second that one actor should have. It can serve about 1,000.
const CEILING: f64 = 500.0;
/// How often the load is summed up anew.
const LOOK_EVERY: Span = Span::from_millis(250);
/// A crowd: with so many holders each gets by its demand alone.
const CROWD: usize = 8;

/// Whether a bucket is cut for requests of `cost` tokens.
pub fn is_cut(gcra: &Gcra, cost: u64) -> bool {
    gcra.burst() >= LEAST_BURST && cost.saturating_mul(LEAST_REQUESTS) <= gcra.burst()
}

/// A holder's demand, as it said last.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Demand {
    /// Tokens per second.
    rate: f64,
    asked: Time,
    since: Time,
}

/// The demands of a bucket's holders.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    demands: BTreeMap<HolderId, Demand>,
    /// The sum of all demands, in tokens per second.
    load: f64,
    /// The tokens per second up to which each holder gets all that it asks for.
    level: f64,
    looked: Time,
    /// Calls of the last second or so.
    calls: f64,
    called: Time,
}

impl Default for Sizes {
    fn default() -> Sizes {
        let (demands, at) = (BTreeMap::new(), Time::default());
        Sizes { demands, load: 0.0, level: f64::MAX, looked: at, calls: 0.0, called: at }
    }
}

/// The part that a holder should have, in tokens and seconds.
struct Wanted {
    rate: f64,
    room: f64,
    term: f64,
    /// The most tokens that it gets now.
    tokens: f64,
}

/// The bucket as a holder's question finds it, without that holder's own part.
struct Found {
    burst: f64,
    /// The rate of the limit, in tokens per second.
    rate: f64,
    /// Tokens per second in others' parts.
    rate_out: f64,
    /// Room in others' parts, in tokens.
    room_out: f64,
    /// Tokens of the rest.
    free: f64,
    /// The holder's demand, in tokens per second.
    demand: f64,
    /// For how long the actor has known the holder, in seconds.
    known: f64,
    holders: f64,
    /// The holders, in units of what one actor can serve; at least 1.
    busy: f64,
}

impl Sizes {
    /// The part that the holder of `question` should get, which asks for `demand` tokens per
    /// second, and the time before which it should not ask again if it has too few tokens. `None`
    /// if it should have none.
    pub fn size(
        &mut self,
        bucket: &CutBucket,
        now: Time,
        question: &Question,
        demand: f64,
    ) -> (Option<PartSize>, Span) {
        let demand = if demand.is_finite() { demand.clamp(0.0, 1e9) } else { 0.0 };
        self.count_call(now);
        let known = self.note(now, question.holder, demand);
        self.look(now, bucket);
        let found = self.find(bucket, question.holder, demand, known);
        let again = self.again(&found);
        let wanted = if self.load < found.rate / 2.0 { far(&found, self.load) } else { self.near(&found) };
        (part(bucket, &found, wanted, question), Span::from_nanos((again * 1e9) as u64))
    }

    /// When a holder last asked; the epoch before the first question.
    pub fn last_asked(&self) -> Time {
        self.called
    }

    fn count_call(&mut self, now: Time) {
        let x = seconds(now.since(self.called));
        self.calls = self.calls / (1.0 + x + x * x / 2.0) + 1.0;
        self.called = self.called.max(now);
    }

    /// Notes a holder's demand; returns for how long the actor has known it, in seconds.
    fn note(&mut self, now: Time, holder: HolderId, rate: f64) -> f64 {
        let old = self.demands.get(&holder).copied();
        let since = old.map_or(now, |old| old.since);
        self.load += rate - old.map_or(0.0, |old| old.rate);
        self.demands.insert(holder, Demand { rate, asked: now, since });
        seconds(now.since(since))
    }

    /// Sums the demands up, forgets holders that ask no more, and finds the fair level.
    fn look(&mut self, now: Time, bucket: &CutBucket) {
        if now.since(self.looked) < LOOK_EVERY {
            return;
        }
        self.looked = now;
        let age = 2.5 * (self.demands.len() as f64 / CEILING).max(1.0);
        self.demands.retain(|holder, demand| seconds(now.since(demand.asked)) <= age || bucket.has_part(*holder));
        self.load = self.demands.values().map(|demand| demand.rate).sum();
        self.level = f64::MAX;
        let mut left = TAKEN * bucket.rate_per_second();
        if self.load > left {
            let mut rates: Vec<f64> = self.demands.values().map(|demand| demand.rate).collect();
            rates.sort_by(f64::total_cmp);
            let mut others = rates.len() as f64;
            for rate in rates {
                if rate * others >= left {
                    self.level = left / others;
                    break;
                }
                left -= rate;
                others -= 1.0;
            }
        }
    }

    fn find(&self, bucket: &CutBucket, holder: HolderId, demand: f64, known: f64) -> Found {
        let (rate, holders) = (bucket.rate_per_second(), self.demands.len() as f64);
        let (fraction, room) = bucket.out_beside(holder);
        // A newcomer in a crowd is taken for one of it.
        let is_lost_in_it = self.demands.len() >= 32 && known < 20.0;
        let demand = if is_lost_in_it { (demand * known + 2.0 * self.load / holders) / (known + 2.0) } else { demand };
        Found {
            burst: bucket.burst() as f64,
            rate,
            rate_out: fraction.parts() as f64 / Fraction::ONE.parts() as f64 * rate,
            room_out: room as f64,
            free: bucket.free() as f64,
            demand,
            known,
            holders,
            busy: (holders / CEILING).max(1.0),
        }
    }

    /// The seconds before which a holder should not ask again.
    fn again(&self, found: &Found) -> f64 {
        let again = 0.1 + found.busy * (self.calls / CEILING - 0.5).clamp(0.0, 2.0);
        if found.free < 1.0 { again.max(found.busy.max(0.25)) } else { again }
    }

    /// The part of a holder near the limit.
    fn near(&self, found: &Found) -> Wanted {
        let Found { burst, rate, free, demand, known, busy, .. } = *found;
        let load = self.load / rate;
        let is_alone = self.demands.len() <= 1;
        let by_demand = (2.0 + 5.0 * demand.sqrt()).min(0.85 * burst * demand.min(self.level) / rate);
        let room = if is_alone { 0.75 * burst } else { by_demand };
        // A small room spills what comes while it is full: below the limit it gets less rate, and
        // is topped up.
        let spare = match load {
            load if load < 0.75 => 1.25,
            load if load < 1.0 => 1.0 - 1.0 / room.max(3.0),
            _ => TAKEN,
        };
        let term = match (load < 0.8, known > 5.0) {
            (true, true) => CALM,
            (false, true) => 2.0_f64.max(2.0 * busy),
            (_, false) => busy,
        };
        Wanted {
            rate: (demand * spare).min(self.level),
            room,
            term,
            tokens: if is_alone { free / 2.0 } else { free / 4.0 },
        }
    }
}

/// The part of a holder far from the limit.
fn far(found: &Found, load: f64) -> Wanted {
    let Found { burst, rate, rate_out, room_out, free, demand, known, holders, busy } = *found;
    let is_crowd = holders >= CROWD as f64;
    let own = 1.25 * demand + PARKED * burst / LONG;
    let by_demand = 2.0 + 5.0 * demand.sqrt();
    let parked = if room_out < burst / 4.0 && !is_crowd { PARKED * burst } else { 0.0 };
    let room = if is_crowd {
        by_demand.min(0.85 * burst * (demand / load.max(rate / 2.0)).max(0.25 / holders))
    } else {
        by_demand.max(parked)
    };
    let out = rate_out + own;
    let term = match () {
        () if known < 5.0 && load > rate / 16.0 && holders > 1.0 => busy,
        () if known < 1.0 || out > rate / 2.0 => CALM,
        () if own <= rate / 16.0 && out <= rate / 4.0 => LONG,
        () if own <= rate / 8.0 => MEDIUM,
        () => CALM,
    };
    Wanted {
        rate: own,
        room,
        term: term.max(2.0 * busy),
        tokens: if demand * 4.0 > rate { free / 2.0 } else { free / 4.0 },
    }
}

/// The part that is wanted, within what there is.
fn part(bucket: &CutBucket, found: &Found, wanted: Wanted, question: &Question) -> Option<PartSize> {
    let Found { burst, rate, rate_out, room_out, free, .. } = *found;
    // Few holders leave the rest an eighth of the rate, so that nobody else waits eight times
    // longer.
    let most = if found.holders < CROWD as f64 { rate * 7.0 / 8.0 } else { rate };
    let own = wanted.rate.min(most - rate_out).max(0.0);
    let keep = question.keep as f64;
    let room = wanted.room.max(1.0).min(burst - room_out);
    let tokens = if free >= 1.0 { (room - keep).min(wanted.tokens).max(0.0) } else { 0.0 };
    // Room that neither tokens nor the debt fill would hold the TAT up, and be lost to everyone.
    let filled = (burst - free + tokens - room_out).max(keep + tokens).max(1.0);
    let room = room.min(filled);
    if own <= 0.0 || room < 1.0 || tokens < 1.0 && keep < 1.0 && free < 1.0 {
        return None;
    }
    let mut size = PartSize {
        fraction: Fraction::from_f64(own / rate),
        room: room as u64,
        tokens: tokens as u64,
        term: Span::from_nanos((wanted.term * 1e9) as u64),
        written: false,
    };
    if found.known < 1.0 && found.holders < 2.0 {
        // The first part of a caller costs no row: it fits into the eighth that may stay unwritten.
        size.fraction = size.fraction.min(Fraction::one_in(8));
        size.room = size.room.min((burst / 8.0) as u64).saturating_sub(question.keep).max(1);
        size.tokens = size.tokens.min(size.room);
    }
    let most = size.room.max(question.keep.saturating_add(size.tokens)).saturating_add(question.keep);
    size.written = !bucket.may_stay_unwritten(size.term, size.fraction, most);
    Some(size)
}
