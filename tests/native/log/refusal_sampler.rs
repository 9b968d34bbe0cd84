//! Counting refusals in place of logging each of them.

use penstock::gate::decision::Reason;
use penstock::limit::time::{Span, Time};
use penstock::log::lines::{Effect, RefusalKey};
use penstock::log::refusal_sampler::{LogAction, RefusalSampler};

#[test]
fn flood_gets_a_hundred_lines_per_second_and_counts_for_the_rest() {
    let mut sampler = RefusalSampler::default();
    let key = |number| move || RefusalKey::Limit(number, Reason::RateLimited, Effect::Refused);
    let at = |millis| Time::from_millis(1_000_000).plus(Span::from_millis(millis));
    let lines = (0..100).filter(|n| sampler.record(key(0), at(n * 5)) == LogAction::Line).count();
    assert_eq!(lines, 100);
    assert_eq!(sampler.record(key(1), at(600)), LogAction::CountFirst);
    assert_eq!(sampler.record(key(1), at(999)), LogAction::Count);
    assert_eq!(sampler.record(key(0), at(999)), LogAction::Count);
    assert!(sampler.take(at(999)).is_empty(), "the second is not over");
    let counted = sampler.take(at(1_000));
    assert_eq!(counted.into_iter().collect::<Vec<_>>(), [(key(0)(), 1), (key(1)(), 2)]);
    assert!(sampler.take(at(1_000)).is_empty(), "a count is taken once");
    assert_eq!(sampler.record(key(0), at(1_000)), LogAction::Line, "another second");
    assert_eq!(sampler.record(key(0), at(10)), LogAction::Line, "a clock that steps back");
}
