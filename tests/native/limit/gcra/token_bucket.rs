//! Random requests, decided by GCRA and by a token bucket in exact arithmetic.

use super::super::{any_rate, at};
use super::thousandths;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;

/// The simplest token bucket: a token is `scale` parts, and each nanosecond brings one part.
struct TokenBucket {
    scale: u128,
    burst: u128,
    parts: u128,
    seen: u128,
}

impl TokenBucket {
    fn full(gcra: Gcra, now: Time) -> TokenBucket {
        let scale = u128::from(gcra.interval().as_nanos());
        let burst = u128::from(gcra.burst());
        TokenBucket { scale, burst, parts: burst * scale, seen: now.as_nanos().into() }
    }

    fn refill(&mut self, now: Time) {
        let now = u128::from(now.as_nanos());
        self.parts = (self.parts + (now - self.seen)).min(self.burst * self.scale);
        self.seen = now;
    }

    /// Takes `cost` tokens; the error is the time in nanoseconds until the missing parts are there.
    fn take(&mut self, cost: u64) -> Result<(), u128> {
        let price = u128::from(cost) * self.scale;
        match self.parts.checked_sub(price) {
            Some(rest) => {
                self.parts = rest;
                Ok(())
            }
            None => Err(price - self.parts),
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// No request for this many thousandths of an interval.
    Pause(u64),
    /// No request for this many thousandths of the time in which an empty bucket fills up.
    Idle(u64),
    /// This many requests of one token at once.
    Burst(u64),
    /// One request for this many thousandths of the burst.
    Ask(u64),
    /// One request for all tokens in the bucket (0), or for one more (1).
    Edge(u64),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0_u64..=2_500).prop_map(Step::Pause),
        (0_u64..=3_000).prop_map(Step::Idle),
        (1_u64..=40).prop_map(Step::Burst),
        (0_u64..=1_050).prop_map(Step::Ask),
        (0_u64..=1).prop_map(Step::Edge),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn gcra_agrees_with_a_token_bucket(rate in any_rate(), steps in prop::collection::vec(any_step(), 1..80)) {
        let gcra = rate.gcra();
        let mut now = at(0);
        let mut tat = Time::default();
        let mut model = TokenBucket::full(gcra, now);
        for step in steps {
            let (pause, asks) = match step {
                Step::Pause(part) => (thousandths(gcra.interval().as_nanos(), part), vec![]),
                Step::Idle(part) => (thousandths(gcra.capacity().as_nanos(), part), vec![]),
                Step::Burst(many) => (0, vec![1; many as usize]),
                Step::Ask(part) => (0, vec![thousandths(gcra.burst(), part).max(1)]),
                Step::Edge(more) => (0, vec![(gcra.available(tat, now) + more).max(1)]),
            };
            now = now.plus(Span::from_nanos(pause));
            // Stop well before the end of time, where GCRA is strict and the model is not.
            if now > Time::from_nanos(u64::MAX / 4 * 3) {
                break;
            }
            model.refill(now);
            for cost in asks {
                let answer = gcra.take(tat, now, cost);
                let wait = answer.map(|_| ()).map_err(|no| u128::from(no.wait.as_nanos()));
                prop_assert_eq!(wait, model.take(cost), "{} tokens at {}", cost, rate);
                tat = answer.unwrap_or(tat);
            }
            prop_assert_eq!(u128::from(gcra.available(tat, now)), model.parts / model.scale);
        }
    }
}
