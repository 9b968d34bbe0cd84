//! A fleet of isolates before one actor, in simulated time: the cost of a `global` limit, and its
//! exactness.
//!
//! The product's own gates, lease caches, background work and actor run. A queue of events stands
//! for the network and the clocks. `make fleet` writes `docs/fleet.md` and `docs/fleet.svg`.
#![allow(clippy::disallowed_methods, reason = "it prints how long each run took")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    missing_docs
)]

mod cases;
mod chart;
mod fleet;
mod meter;
mod port;
mod sim;

use fleet::{Fleet, Setup};
use meter::Seen;
use std::fmt::Write;
use std::time::Instant;

fn main() {
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let mut page = String::from(cases::HEAD);
    for (title, table) in
        [(cases::MODELLED, cases::modelled()), (cases::GROWING, cases::growing()), (cases::BROKEN, cases::broken())]
    {
        let _ = writeln!(page, "\n{title}\n\n{}", cases::COLUMNS);
        println!("\n{title}\n\n{}", cases::COLUMNS);
        for case in table.iter().filter(|case| only.as_ref().is_none_or(|only| case.name.contains(only.as_str()))) {
            let row = cases::row(case, &run(&case.setup));
            println!("{row}");
            let _ = writeln!(page, "{row}");
        }
    }
    if only.is_none() {
        let svg = chart::draw(&|setup| run(setup));
        std::fs::create_dir_all("docs").unwrap();
        std::fs::write("docs/fleet.md", page + cases::FOOT).unwrap();
        std::fs::write("docs/fleet.svg", svg).unwrap();
    }
}

fn run(setup: &Setup) -> Seen {
    let began = Instant::now();
    let seen = Fleet::new(setup).run();
    eprintln!("{} isolates, {} requests: {:.1} s", setup.isolates, seen.requests, began.elapsed().as_secs_f64());
    seen
}
