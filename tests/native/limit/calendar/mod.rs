//! Time zones and local days.

mod day;
mod day_table;
mod every_zone;
mod reference;
mod zone;

use penstock::limit::calendar::Zone;
use penstock::limit::time::{Span, Time};

fn zone(text: &str) -> Zone {
    text.parse().unwrap()
}

/// `secs` seconds after the Unix epoch.
fn secs(secs: u64) -> Time {
    Time::default().plus(Span::from_secs(secs))
}
