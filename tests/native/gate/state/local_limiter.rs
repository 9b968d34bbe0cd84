//! An isolate that counts for itself, in bounded memory.

use crate::support::{EVENING, quota};
use penstock::gate::state::bucket_view::StartingPoint;
use penstock::gate::state::local_limiter::LocalLimiter;
use penstock::identity::Subject;
use penstock::limit::time::Span;
use penstock::protocol::rates::{Demand, Outcome};

#[test]
fn made_up_callers_do_not_restart_a_day() {
    let mut local = LocalLimiter::default();
    let day = quota("q", 5, "+08:00");
    let subject = |number: u128| Some(Subject::from_bytes((number << 8).to_be_bytes()));
    let mut take = |demand: &Demand, number, at| {
        matches!(local.take(demand, subject(number), StartingPoint::default(), at), Outcome::Met { .. })
    };
    assert_eq!((0..9).filter(|_| take(&day, 1, EVENING)).count(), 5);
    // Other days that end earlier or later make no difference.
    let [west, east] = ["-11:00", "+13:00"].map(|zone| quota("other", 5, zone));
    for number in 0..30_000 {
        take([&day, &west, &east][number as usize % 3], 2 + number, EVENING);
    }
    assert_eq!((0..9).filter(|_| take(&day, 1, EVENING)).count(), 0);
    assert!((0..9).filter(|_| take(&day, 1 << 70, EVENING)).count() <= 5, "those who are too many share a count");
    let tomorrow = EVENING.plus(Span::from_secs(48 * 60 * 60));
    assert_eq!((0..9).filter(|_| take(&day, 1, tomorrow)).count(), 5);
    assert_eq!((0..9).filter(|_| take(&day, 1 << 70, tomorrow)).count(), 5, "and there is room again");
}
