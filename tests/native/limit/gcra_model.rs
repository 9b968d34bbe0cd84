//! Random requests, met both by GCRA and by the bucket it stands for: one that holds tokens, and is refilled.

use super::gcra_laws::any_rate;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;

/// A token bucket as one would first write it, in exact arithmetic: a token is `scale` parts, and each nanosecond
/// brings one part.
struct Naive {
    scale: u128,
    burst: u128,
    parts: u128,
    seen: u128,
}

impl Naive {
    fn full(gcra: Gcra, now: Time) -> Naive {
        let scale = u128::from(gcra.interval().as_nanos());
        let burst = u128::from(gcra.burst());
        Naive { scale, burst, parts: burst * scale, seen: now.as_nanos().into() }
    }

    fn refill(&mut self, now: Time) {
        let now = u128::from(now.as_nanos());
        self.parts = (self.parts + (now - self.seen)).min(self.burst * self.scale);
        self.seen = now;
    }

    /// `Ok`, or the nanoseconds that the missing parts take to come.
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
    /// Nothing happens for so many thousandths of an interval.
    Pause(u64),
    /// Nothing happens for so many thousandths of the time that an empty bucket takes to fill.
    Idle(u64),
    /// So many requests of one token at once.
    Burst(u64),
    /// One request for so many thousandths of the burst.
    Ask(u64),
    /// One request for exactly what is there, or for one token more.
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

fn thousandths(of: u64, many: u64) -> u64 {
    u64::try_from(u128::from(of) * u128::from(many) / 1_000).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn gcra_and_a_token_bucket_agree(rate in any_rate(), steps in prop::collection::vec(any_step(), 1..80)) {
        let gcra = rate.gcra();
        let mut now = Time::from_millis(1_795_000_000_000);
        let mut tat = Time::default();
        let mut naive = Naive::full(gcra, now);
        for step in steps {
            let (pause, asks) = match step {
                Step::Pause(part) => (thousandths(gcra.interval().as_nanos(), part), vec![]),
                Step::Idle(part) => (thousandths(gcra.capacity().as_nanos(), part), vec![]),
                Step::Burst(many) => (0, vec![1; many as usize]),
                Step::Ask(part) => (0, vec![thousandths(gcra.burst(), part).max(1)]),
                Step::Edge(more) => (0, vec![(gcra.available(tat, now) + more).max(1)]),
            };
            now = now.plus(Span::from_nanos(pause));
            // Well before the end of time, where GCRA turns strict and the naive bucket does not.
            if now > Time::from_nanos(u64::MAX / 4 * 3) {
                break;
            }
            naive.refill(now);
            for cost in asks {
                let answer = gcra.take(tat, now, cost);
                let wait = answer.map(|_| ()).map_err(|no| u128::from(no.wait.as_nanos()));
                prop_assert_eq!(wait, naive.take(cost), "{} tokens at {}", cost, rate);
                tat = answer.unwrap_or(tat);
            }
            prop_assert_eq!(u128::from(gcra.available(tat, now)), naive.parts / naive.scale);
        }
    }
}
