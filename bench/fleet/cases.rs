//! The cases to simulate, and the texts of the page about them.

use super::fleet::Setup;
use super::meter::Seen;
use penstock::limit::time::Span;

pub const HEAD: &str = "\
# What a global limit costs

This page answers: how many calls to Durable Objects does a `global` limit cost where many isolates
share it, and is it exact there?

`make fleet` simulates isolates before the one actor of a `global` limit and writes this page. The
code that runs is Penstock's own: each request goes through a gate and its isolate's lease cache,
each call through the actor's buckets. Round trips take 10 ms, requests arrive at random (Poisson),
and no two clocks agree.
";

pub const MODELLED: &str = "## Up to a thousand isolates";
pub const GROWING: &str = "## Ten thousand isolates, a million requests a second";
pub const BROKEN: &str = "## Crashes, coarse clocks, and an actor that is too slow";

pub const COLUMNS: &str = "\
| case | calls per 1,000 requests | calls/s | rows/s | use | over the envelope | waited | unchecked |
|---|---:|---:|---:|---:|---:|---:|---:|";

pub const FOOT: &str = "
![Calls per second at the actor](fleet.svg)

*Use* is the number of admissions, in percent of the limit or of the demand, whichever is smaller.
*Over the envelope* is the most tokens by which any span of time saw more admissions than burst +
elapsed × rate; a request that waited for the actor counts when the actor took its token. *Waited*
is the share of requests that were not decided in the isolate at once. *Unchecked* is the share of
requests whose call was not answered in time.
";

pub struct Case {
    pub name: &'static str,
    pub setup: Setup,
}

fn case(name: &'static str, setup: Setup) -> Case {
    Case { name, setup }
}

const SKEW: &[u32] = &[64, 32, 16, 8, 4, 2, 1, 1];

pub fn modelled() -> Vec<Case> {
    let small = Setup { isolates: 8, seconds: 20.0, warm: 5.0, ..Setup::default() };
    let middle = Setup { isolates: 64, rate: 10_000, burst: 10_000, seconds: 6.0, warm: 3.0, ..Setup::default() };
    let large = Setup { isolates: 1_000, rate: 20_000, load: 2.0, ..Setup::default() };
    vec![
        case("1 isolate, 200/s of 1,000/s", Setup { load: 0.2, ..Setup::default() }),
        case("8 isolates, half of 1,000/s", Setup { load: 0.5, warm: 0.0, ..small.clone() }),
        case("8 isolates, twice 1,000/s", Setup { load: 2.0, ..small.clone() }),
        case("8 isolates, twice, skewed 64:1", Setup { load: 2.0, skew: SKEW, ..small.clone() }),
        case("8 isolates, 0.9 × 1,000/s, burst 100", Setup { load: 0.9, burst: 100, ..small.clone() }),
        case("8 isolates, 0.9 × 3,000/s, burst 100", Setup { load: 0.9, rate: 3_000, burst: 100, ..small.clone() }),
        case("8 isolates, 0.9 × 3,000/s, burst 3,000", Setup { load: 0.9, rate: 3_000, burst: 3_000, ..small }),
        case("64 isolates, 0.9 × 10,000/s", Setup { load: 0.9, ..middle.clone() }),
        case("64 isolates, three times 10,000/s", Setup { load: 3.0, ..middle }),
        case(
            "1,000 isolates, twice 20,000/s, burst of 1 s",
            Setup { burst: 20_000, seconds: 12.0, warm: 6.0, ..large.clone() },
        ),
        case(
            "1,000 isolates, twice 20,000/s, burst of 5 s",
            Setup { burst: 100_000, seconds: 20.0, warm: 12.0, ..large },
        ),
    ]
}

pub fn growing() -> Vec<Case> {
    let ten = Setup { isolates: 10_000, seconds: 8.0, warm: 5.0, ..Setup::default() };
    vec![
        case(
            "10,000 isolates, 0.9 × 100,000/s, burst of 1 s",
            Setup { rate: 100_000, burst: 100_000, load: 0.9, ..ten.clone() },
        ),
        case(
            "10,000 isolates, twice 100,000/s, burst of 1 s",
            Setup { rate: 100_000, burst: 100_000, load: 2.0, ..ten.clone() },
        ),
        case(
            "10,000 isolates, 0.9 × 1,000,000/s, burst of 1 s",
            Setup { rate: 1_000_000, burst: 1_000_000, load: 0.9, ..ten.clone() },
        ),
        case(
            "10,000 isolates, twice 500,000/s, burst of 10 s",
            Setup { rate: 500_000, burst: 5_000_000, load: 2.0, seconds: 24.0, warm: 20.0, ..ten.clone() },
        ),
        case(
            "10,000 isolates, 0.9 × 1,000,000/s, burst of 60 s",
            Setup { rate: 1_000_000, burst: 60_000_000, load: 0.9, seconds: 12.0, warm: 6.0, ..ten },
        ),
    ]
}

pub fn broken() -> Vec<Case> {
    let middle =
        Setup { isolates: 64, rate: 10_000, burst: 10_000, load: 2.0, seconds: 8.0, warm: 3.0, ..Setup::default() };
    vec![
        case("64 isolates, twice 10,000/s, clocks of whole milliseconds", Setup { coarse: true, ..middle.clone() }),
        case(
            "64 isolates, twice 10,000/s, and each isolate crashes every 2 s",
            Setup { isolate_crashes: 0.5, ..middle.clone() },
        ),
        case("64 isolates, twice 10,000/s, and the actor crashes every second", Setup { actor_crashes: 1.0, ..middle }),
        case("from cold, 1 ms a call: 50 isolates, twice 1,000/s", cold(50, 2.0, 200)),
        case("from cold, 1 ms a call: 100 isolates, twice 2,000/s", cold(100, 2.0, 200)),
        case("from cold, 1 ms a call: 300 isolates, 0.9 × 6,000/s", cold(300, 0.9, 200)),
        case("from cold, 1 ms a call: 500 isolates, 0.9 × 10,000/s", cold(500, 0.9, 200)),
        case(
            "the same with 100 isolates, twice 2,000/s, and calls that queue for longer than they are waited for",
            cold(100, 2.0, 1_000),
        ),
    ]
}

/// Twenty requests a second from each isolate, all of a sudden, at an actor that takes a
/// millisecond for each call and refuses calls once `queue` milliseconds of work wait.
fn cold(isolates: usize, load: f64, queue: u64) -> Setup {
    let rate = 20 * isolates as u64;
    let (work, queue) = (Span::from_millis(1), Span::from_millis(queue));
    Setup { isolates, rate, burst: rate, load, seconds: 12.0, warm: 6.0, work, queue, ..Setup::default() }
}

pub fn row(case: &Case, seen: &Seen) -> String {
    let share = |part: u64, digits: usize| format!("{:.digits$} %", 100.0 * part as f64 / seen.requests as f64);
    format!(
        "| {} | {:.1} | {:.0} | {:.0} | {:.1} % | {:.1} | {} | {} |",
        case.name,
        1_000.0 * seen.calls as f64 / seen.requests as f64,
        seen.calls as f64 / seen.seconds,
        seen.rows as f64 / seen.seconds,
        seen.used,
        seen.over.max(0.0),
        share(seen.waited, 1),
        share(seen.unchecked, 1),
    )
}
