//! The callers of one contended rate: the tokens that each asked for, and has taken.

use crate::gate::state::fair_share::caller::Caller;
use crate::identity::digest::Subject;
use crate::limit::time::{Span, Time};
use hashbrown::HashMap;

/// Callers with a share of their own, per rate. Callers beyond them share 256 shares, by a byte of
/// their digests, so a rate keeps at most 1,000 shares.
const CAPACITY: usize = 744;

/// Keys of one address with a share of their own. All further keys of the address have one share
/// together, because a client can send a fresh key with each request.
const KEYS: usize = 4;

/// The share of one caller. A tick is the time since the share level was last set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// The time by which the share has brought all tokens that the caller has taken.
    pub paid_until: Time,
    /// Tokens asked for in this tick; a request that comes again counts again.
    pub asked: f64,
    /// The same tokens, each divided by the weight of the request that asked for it.
    pub asked_per_weight: f64,
    /// Tokens of this tick that the rate itself refused.
    pub refused: f64,
    /// The caller's weight: the harmonic mean over the tokens that it asked for in this tick, since
    /// a caller may send requests of different priorities.
    pub weight: f64,
    /// The address from which the caller first came.
    address: Subject,
}

/// The shares of one contended rate, by caller.
#[derive(Debug, Default)]
pub(super) struct Shares(HashMap<Subject, Share>);

impl Shares {
    /// Returns the number of shares.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Iterates over all shares.
    pub fn iter(&self) -> impl Iterator<Item = &Share> {
        self.0.values()
    }

    /// Returns the share of a caller, and makes one if there is none.
    pub fn of(&mut self, caller: Caller, now: Time) -> &mut Share {
        let Caller { mut subject, address, weight } = caller;
        if subject != address && !self.0.contains_key(&subject) {
            let keys = self.0.iter().filter(|(key, share)| share.address == address && **key != address);
            if keys.count() >= KEYS {
                subject = address;
            }
        }
        if self.0.len() >= CAPACITY && !self.0.contains_key(&subject) {
            subject = subject.group();
        }
        self.0.entry(subject).or_insert(Share {
            paid_until: now,
            asked: 0.0,
            asked_per_weight: 0.0,
            refused: 0.0,
            weight: f64::from(weight),
            address,
        })
    }

    /// Whether the rate itself has refused nobody in this tick.
    pub fn none_refused(&self) -> bool {
        self.iter().all(|share| share.refused == 0.0)
    }

    /// Returns the level at which the callers of this tick together get `tokens`, where each caller
    /// gets min(asked, level × weight). It is found by bisection, to a millionth of `tokens`.
    pub fn level_for(&self, tokens: f64) -> f64 {
        let given = |level: f64| -> f64 { self.iter().map(|share| share.asked.min(level * share.weight)).sum() };
        let (mut low, mut high) = (0.0, tokens);
        for _ in 0..20 {
            let middle = f64::midpoint(low, high);
            if given(middle) > tokens { high = middle } else { low = middle }
        }
        high
    }

    /// Multiplies each caller's remaining debt by `factor`.
    pub fn scale_debts(&mut self, factor: f64, now: Time) {
        for share in self.0.values_mut() {
            let debt = share.paid_until.since(now).as_nanos() as f64;
            share.paid_until = share.paid_until.min(now.plus(Span::from_nanos((debt * factor) as u64)));
        }
    }

    /// Begins a new tick. Callers that asked for nothing and owe nothing are dropped.
    pub fn begin_tick(&mut self, now: Time) {
        self.0.retain(|_, share| share.asked > 0.0 || share.paid_until > now);
        for share in self.0.values_mut() {
            (share.asked, share.asked_per_weight, share.refused) = (0.0, 0.0, 0.0);
        }
    }
}
