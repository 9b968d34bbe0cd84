//! One contended rate: its supply, and the share level that divides it among the callers.

use crate::gate::state::fair_share::caller::Caller;
use crate::gate::state::fair_share::shares::{Share, Shares};
use crate::limit::gcra::Gcra;
use crate::limit::time::{Span, Time};

/// A rate is contended for this long after it refused a request, or after a share did.
const CONTENDED_FOR: Span = Span::from_secs(2);

/// The time between two settings of the share level. An isolate that lives on leases serves its
/// callers in bursts of up to half a second, and a shorter tick would measure the bursts.
const TICK: Span = Span::from_secs(1);

/// The longest tick in which no token is given out, in intervals of the rate. A slow rate gives out
/// no token in most seconds, and that says nothing about its supply.
const IDLE_TICK_INTERVALS: f64 = 4.0;

/// The time whose tokens a caller may take of its share at once. A larger one lets a greedy caller
/// take more before it waits; a smaller one makes callers wait that ask in bursts.
const SHARE_BURST: Span = Span::from_millis(500);

/// The probe while callers that want less than their share lose tokens to the rate. The probe is
/// how much more than in the last tick is let through, as a fraction, to find out whether there is
/// more.
const PROBE_AT_LOSS: f64 = 0.005;

/// The probe while callers that want less than their share lose at most [`TOLERATED_LOSS`].
const PROBE: f64 = 0.03;

/// The probe while every caller wants more than its share, so that no modest caller loses by it.
const PROBE_ALL_OVER: f64 = 0.06;

/// The largest probe, however much it has grown.
const LARGEST_PROBE: f64 = 0.5;

/// The tokens that the rate may refuse to callers that want less than their share, as a fraction of
/// the tokens that they ask for, before the probe is reduced.
const TOLERATED_LOSS: f64 = 0.005;

/// The growth of the probe when the rate begins to refuse nobody. It doubles from tick to tick, and
/// from 1 on the probe is multiplied by it. The rate may be opening, or a caller that took much of
/// it in other isolates may have left.
const FIRST_GROWTH: f64 = 0.125;

/// A rate that refused a request in this isolate lately.
#[derive(Debug)]
pub(super) struct ContendedRate {
    /// When the contention ends.
    until: Time,
    /// The share of a caller of weight 1, in tokens per nanosecond.
    share_level: f64,
    /// The rate itself, in tokens per nanosecond. No share level lies above it.
    rate: f64,
    /// When this tick began.
    tick_start: Time,
    /// Tokens given out in this tick.
    given: f64,
    /// The supply of all callers of this isolate, in tokens per nanosecond.
    supply: f64,
    /// The factor by which the probe has grown; it counts from 1 on.
    growth: f64,
    /// Whether every caller wanted more than its share in the last tick. A caller is then not
    /// charged for tokens that the rate itself refuses. Otherwise all callers that come together
    /// would be held back together until their next turn, and the rate would lie unused until then.
    all_over_share: bool,
    shares: Shares,
}

impl ContendedRate {
    /// Makes the record of a rate that has just refused a request.
    pub fn new(gcra: &Gcra, now: Time) -> ContendedRate {
        let rate = 1.0 / gcra.interval().as_nanos().max(1) as f64;
        ContendedRate {
            until: now,
            share_level: rate,
            rate,
            tick_start: now,
            given: 0.0,
            supply: 0.0,
            growth: FIRST_GROWTH,
            all_over_share: false,
            shares: Shares::default(),
        }
    }

    /// Whether the contention is over.
    pub fn is_over(&self, now: Time) -> bool {
        self.until <= now
    }

    /// Ends the contention.
    pub fn end(&mut self, now: Time) {
        self.until = now;
    }

    /// Returns the number of shares.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// See [`FairShares::wait_for`](super::FairShares::wait_for).
    pub fn wait_for(&mut self, caller: Caller, cost: u64, now: Time) -> Option<Span> {
        self.tick(now);
        // A caller that is alone takes nothing from another one.
        let alone = self.shares.len() < 2;
        let per_weight = cost as f64 / f64::from(caller.weight);
        let charge = Span::from_nanos((per_weight / self.share_level) as u64);
        let share = self.shares.of(caller, now);
        share.asked += cost as f64;
        share.asked_per_weight += per_weight;
        share.weight = share.asked / share.asked_per_weight;
        let wait = share.paid_until.since(now).saturating_sub(SHARE_BURST);
        if !alone && wait > Span::ZERO {
            // Shares that work leave the rate nothing to refuse, and it is contended all the same.
            self.until = now.plus(CONTENDED_FOR);
            return Some(wait);
        }
        // The caller is charged whether or not the rate has room (but see `all_over_share`).
        // Otherwise a caller that comes again and again would lose nothing by being refused, and
        // modest callers would lose instead. A caller that was alone owes no more than a burst.
        share.paid_until = share.paid_until.max(now).min(now.plus(SHARE_BURST)).plus(charge);
        None
    }

    /// Counts `cost` tokens that the rate gave out.
    pub fn note_given(&mut self, cost: u64) {
        self.given += cost as f64;
    }

    /// Notes that the rate itself refused `caller`.
    pub fn refused(&mut self, caller: Caller, cost: u64, now: Time) {
        self.until = now.plus(CONTENDED_FOR);
        if self.all_over_share {
            self.take_back_charge(caller, cost, now);
        }
        self.shares.of(caller, now).refused += cost as f64;
    }

    /// Takes back the charge of a request that something else refused, and its demand as well.
    ///
    /// Demand that takes no token would lower the supply, because less would be given out than is
    /// asked for.
    pub fn refund(&mut self, caller: Caller, cost: u64, now: Time) {
        let share = self.take_back_charge(caller, cost, now);
        share.asked = (share.asked - cost as f64).max(0.0);
        share.asked_per_weight = (share.asked_per_weight - cost as f64 / f64::from(caller.weight)).max(0.0);
    }

    fn take_back_charge(&mut self, caller: Caller, cost: u64, now: Time) -> &mut Share {
        let charge = Span::from_nanos((cost as f64 / (self.share_level * f64::from(caller.weight))) as u64);
        let share = self.shares.of(caller, now);
        share.paid_until = share.paid_until.minus(charge);
        share
    }

    /// Ends the tick if it is over: sets the share level by the tokens that were asked for and
    /// given out in it.
    fn tick(&mut self, now: Time) {
        let elapsed = now.since(self.tick_start);
        let longest_idle = Span::from_nanos((IDLE_TICK_INTERVALS / self.rate) as u64);
        if elapsed < TICK || self.given == 0.0 && elapsed < longest_idle {
            return;
        }
        let before = self.share_level;
        let none_refused = self.shares.none_refused();
        if self.given > 0.0 {
            self.set_share_level(elapsed.as_nanos() as f64, none_refused);
        }
        // Debt takes less time to repay from a larger share. It is forgiven if no token was given
        // out though the rate refused nobody: only shares held the callers back.
        let in_vain = self.given == 0.0 && none_refused;
        let factor = if in_vain { 0.0 } else { before / self.share_level };
        if factor < 0.5 {
            self.shares.scale_debts(factor, now);
        }
        self.shares.begin_tick(now);
        (self.tick_start, self.given) = (now, 0.0);
    }

    /// Sets the supply and the share level after a tick of `elapsed` nanoseconds.
    ///
    /// While the rate refuses nobody, the supply does not sink: a caller has left or wants less
    /// now, and the others may have its tokens.
    fn set_share_level(&mut self, elapsed: f64, none_refused: bool) {
        let probe = self.probe();
        if !none_refused {
            (self.supply, self.growth) = (0.0, FIRST_GROWTH);
        }
        let probe = (probe * self.growth.max(1.0)).min(LARGEST_PROBE);
        self.supply = self.supply.max(self.given * (1.0 + probe) / elapsed);
        self.growth *= if none_refused { 2.0 } else { 1.0 };
        self.share_level = self.shares.level_for(self.supply * elapsed) / elapsed;
        self.share_level = self.share_level.clamp(self.rate / 1e6, self.rate);
    }

    /// Returns the probe for the next tick, and notes whether every caller wanted more than its
    /// share.
    fn probe(&mut self) -> f64 {
        let level = self.shares.level_for(self.given);
        let modest = self.shares.iter().filter(|share| share.asked <= level * share.weight);
        let (asked, refused) =
            modest.fold((0.0, 0.0), |(asked, refused), share| (asked + share.asked, refused + share.refused));
        self.all_over_share = asked == 0.0;
        if self.all_over_share {
            PROBE_ALL_OVER
        } else if refused > asked * TOLERATED_LOSS {
            PROBE_AT_LOSS
        } else {
            PROBE
        }
    }
}
