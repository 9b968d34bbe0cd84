//! Those who want something of one crowded rate, and the level that lets everyone have the same.

use crate::gate::state::fair_share::Caller;
use crate::identity::digest::Subject;
use crate::limit::gcra::Gcra;
use crate::limit::time::{Span, Time};
use hashbrown::HashMap;

/// A rate is crowded for so long after somebody was refused.
const CROWDED: Span = Span::from_secs(2);

/// How often the level is set. An isolate that lives on leases is served by fits and starts, each up to half a second.
const TICK: Span = Span::from_secs(1);

/// So many intervals of a rate a tick lasts at most where nothing was given out.
const SLOW: f64 = 4.0;

/// So much of its share a caller may take at once.
const AT_ONCE: Span = Span::from_millis(500);

/// Callers kept in mind each for itself, per rate. Those beyond them share 256 shares, by a byte of their digests.
const CAPACITY: usize = 744;

/// Keys of one address that have a share each. Those beyond them have one together, the address's: anyone can send a fresh key with each request.
const KEYS: usize = 4;

/// How much more than what was given out is let through, to find out whether there is more: this where those who want less than their
/// share were refused a part of it, ...
const MORE: f64 = 0.005;

/// ... this where they were not (up to a [`LOSS`]), ...
const MUCH_MORE: f64 = 0.03;
const LOSS: f64 = 0.005;

/// ... and this where everyone wants more than its share: there is nobody to lose by it.
const ALL: f64 = 0.06;

/// While the rate refuses nobody, the search for more begins so timid and is twice as bold from tick to tick; from one on, that is how many
/// times the above is let through, up to [`MOST`]. A rate may open, and who took much of it elsewhere may leave.
const TIMID: f64 = 0.125;
const MOST: f64 = 0.5;

/// Those who want something of one rate.
#[derive(Debug)]
pub(crate) struct ContendedRate {
    until: Time,
    /// Tokens per nanosecond for a caller that counts for one.
    level: f64,
    /// The rate's own, beyond which a level says nothing.
    whole: f64,
    ticked: Time,
    /// Tokens that were given out in this tick.
    passed: f64,
    /// How much there is for all, as far as is known: tokens per nanosecond.
    room: f64,
    /// How many times more than at first is tried, where that is above one.
    growth: f64,
    /// Whether everyone wants more than its share. Then nobody is charged for what the rate had no room for: whoever comes together with all
    /// the others would be held back for the next time, together with them, and the rate left unused until then.
    all_over_share: bool,
    callers: HashMap<Subject, Share>,
}

/// What one caller has had.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Until when it has taken its share.
    until: Time,
    /// Tokens that it has asked for in this tick, each time that it did.
    asked: f64,
    /// The same in parts: each token by what the request that asked for it counts for.
    parts: f64,
    /// Those of them that the rate had no room for.
    refused: f64,
    /// What it counts for, by what it has asked for in this tick: a caller may ask here and there.
    weight: f64,
    /// Where it came from first.
    address: Subject,
}

impl ContendedRate {
    /// The crowd of a rate that has just refused somebody, who is not in it yet.
    pub(crate) fn new(gcra: &Gcra, now: Time) -> ContendedRate {
        let whole = 1.0 / gcra.interval().as_nanos().max(1) as f64;
        let callers = HashMap::new();
        ContendedRate {
            until: now,
            level: whole,
            whole,
            ticked: now,
            passed: 0.0,
            room: 0.0,
            growth: TIMID,
            all_over_share: false,
            callers,
        }
    }

    /// Whether it is no crowd any more.
    pub(crate) fn is_over(&self, now: Time) -> bool {
        self.until <= now
    }

    /// Ends it.
    pub(crate) fn end(&mut self, now: Time) {
        self.until = now;
    }

    /// How many callers are kept in mind.
    pub(crate) fn len(&self) -> usize {
        self.callers.len()
    }

    /// Notes that the caller asks for `cost` tokens; how long until its share has room, if it has to wait.
    pub(crate) fn wait_for(&mut self, caller: Caller, cost: u64, now: Time) -> Option<Span> {
        self.tick(now);
        // Who is alone takes nothing from anybody.
        let alone = self.callers.len() < 2;
        let parts = cost as f64 / f64::from(caller.weight);
        let needs = Span::from_nanos((parts / self.level) as u64);
        let share = self.enter(caller, now);
        share.asked += cost as f64;
        share.parts += parts;
        share.weight = share.asked / share.parts;
        let wait = share.until.since(now).saturating_sub(AT_ONCE);
        if !alone && wait > Span::ZERO {
            // A level that works leaves the rate nothing to refuse; it is crowded all the same.
            self.until = now.plus(CROWDED);
            return Some(wait);
        }
        // What it asks for counts, whether or not the rate has room (but see `all_over_share`). Else who comes again and again would lose nothing by being
        // refused, and those who do not would lose for all. Who was alone owes no more than what may be taken at once.
        share.until = share.until.max(now).min(now.plus(AT_ONCE)).plus(needs);
        None
    }

    /// Notes that `cost` tokens were given out.
    pub(crate) fn note_given(&mut self, cost: u64) {
        self.passed += cost as f64;
    }

    /// Notes that the rate had no room for the caller.
    pub(crate) fn refused(&mut self, caller: Caller, cost: u64, now: Time) {
        self.until = now.plus(CROWDED);
        if self.all_over_share {
            self.repay(caller, cost, now);
        }
        self.enter(caller, now).refused += cost as f64;
    }

    /// Notes that something else refused the caller, which has taken nothing of this rate. What was shared out otherwise would be too little,
    /// since less is given out than is asked for and there is.
    pub(crate) fn refund(&mut self, caller: Caller, cost: u64, now: Time) {
        let share = self.repay(caller, cost, now);
        share.asked = (share.asked - cost as f64).max(0.0);
        share.parts = (share.parts - cost as f64 / f64::from(caller.weight)).max(0.0);
    }

    /// Gives a caller's share back what it was charged.
    fn repay(&mut self, caller: Caller, cost: u64, now: Time) -> &mut Share {
        let needs = Span::from_nanos((cost as f64 / (self.level * f64::from(caller.weight))) as u64);
        let share = self.enter(caller, now);
        share.until = share.until.minus(needs);
        share
    }

    /// A caller's share.
    fn enter(&mut self, caller: Caller, now: Time) -> &mut Share {
        let Caller { mut subject, address, weight } = caller;
        if subject != address && !self.callers.contains_key(&subject) {
            let keys = self.callers.iter().filter(|(key, share)| share.address == address && **key != address);
            if keys.count() >= KEYS {
                subject = address;
            }
        }
        if self.callers.len() >= CAPACITY && !self.callers.contains_key(&subject) {
            subject = subject.group();
        }
        let weight = f64::from(weight);
        self.callers.entry(subject).or_insert(Share {
            until: now,
            asked: 0.0,
            parts: 0.0,
            refused: 0.0,
            weight,
            address,
        })
    }

    /// Sets the level by what was asked for and given out.
    fn tick(&mut self, now: Time) {
        let elapsed = now.since(self.ticked);
        // A slow rate gives out nothing in most seconds, which says nothing of how much there is: who was charged by that would wait for weeks.
        let slow = Span::from_nanos((SLOW / self.whole) as u64);
        if elapsed < TICK || self.passed == 0.0 && elapsed < slow {
            return;
        }
        let level = self.level_for(self.passed);
        let modest = self.callers.values().filter(|share| share.asked <= level * share.weight);
        let (asked, refused) =
            modest.fold((0.0, 0.0), |(asked, refused), share| (asked + share.asked, refused + share.refused));
        let more = if asked == 0.0 {
            ALL
        } else if refused > asked * LOSS {
            MORE
        } else {
            MUCH_MORE
        };
        let before = self.level;
        let free = self.callers.values().all(|share| share.refused == 0.0);
        if self.passed > 0.0 {
            self.all_over_share = asked == 0.0;
            // Where the rate has refused nobody there is as much as there was: someone has left, or wants less now, and it is the others'.
            let elapsed = elapsed.as_nanos() as f64;
            if !free {
                (self.room, self.growth) = (0.0, TIMID);
            }
            self.room = self.room.max(self.passed * (1.0 + (more * self.growth.max(1.0)).min(MOST)) / elapsed);
            self.growth *= if free { 2.0 } else { 1.0 };
            self.level = self.level_for(self.room * elapsed) / elapsed;
            self.level = self.level.clamp(self.whole / 1e6, self.whole);
        }
        // What a caller has had takes less time to be repaid of a share twice as large; and none where it was shares alone that held everyone back.
        let in_vain = self.passed == 0.0 && free;
        let shorter = if in_vain { 0.0 } else { before / self.level };
        if shorter < 0.5 {
            for share in self.callers.values_mut() {
                let debt = share.until.since(now).as_nanos() as f64;
                share.until = share.until.min(now.plus(Span::from_nanos((debt * shorter) as u64)));
            }
        }
        self.callers.retain(|_, share| share.asked > 0.0 || share.until > now);
        self.callers.values_mut().for_each(|share| (share.asked, share.parts, share.refused) = (0.0, 0.0, 0.0));
        (self.ticked, self.passed) = (now, 0.0);
    }

    /// The level at which the callers of this tick would have been given `tokens` together: nobody more than it asked for, and by
    /// weight what those who ask for less have left. Found by halving, as far as matters.
    fn level_for(&self, tokens: f64) -> f64 {
        let given =
            |level: f64| -> f64 { self.callers.values().map(|share| share.asked.min(level * share.weight)).sum() };
        let (mut low, mut high) = (0.0, tokens);
        for _ in 0..20 {
            let middle = f64::midpoint(low, high);
            if given(middle) > tokens { high = middle } else { low = middle }
        }
        high
    }
}
