//! How closely and how fast the cap follows the knee of a simulated origin.

use super::simulation::{Era, History, Row, Simulation, Spread};

const SEEDS: [u64; 4] = [1, 2, 3, 4];

/// Origin and traffic from the start on: `servers` that take `service` seconds for a request, and
/// `load` times the arrivals that they can serve.
fn era(servers: usize, service: f64, load: f64) -> Era {
    Era { from: 0.0, servers, service, arrivals: load * servers as f64 / service, failing: 0.0 }
}

fn simulation(eras: Vec<Era>, spread: Spread, shares: &[f64], seed: u64) -> Simulation {
    Simulation { eras, spread, shares: shares.to_vec(), bounds: (10, 1_000), seed }
}

/// The rows of the seconds after `from`, up to `to`.
fn between(history: &History, from: f64, to: f64) -> Vec<Row> {
    history.iter().copied().filter(|row| row.second > from && row.second <= to).collect()
}

/// The mean of the caps.
fn cap(rows: &[Row]) -> f64 {
    rows.iter().map(|row| row.cap as f64).sum::<f64>() / rows.len() as f64
}

/// Requests served per second.
fn served(rows: &[Row]) -> f64 {
    rows.iter().map(|row| row.served as f64).sum::<f64>() / (rows.len() as f64 * 2.5)
}

fn print(title: &str, history: &History) {
    println!("{title}");
    for chunk in history.chunks(4) {
        println!(
            "  {:>5.0} s  caps {:?}  {:>6.0}/s  {:>5} refused/s  {:>6.0} ms",
            chunk[chunk.len() - 1].second,
            chunk.iter().map(|row| row.cap).collect::<Vec<_>>(),
            served(chunk),
            chunk.iter().map(|row| row.refused).sum::<u64>() / 10,
            1000.0 * chunk.iter().map(|row| row.latency).sum::<f64>() / chunk.len() as f64,
        );
    }
}

/// The mean number of requests at the origin, by Little's law.
fn in_flight(rows: &[Row]) -> f64 {
    rows.iter().map(|row| row.served as f64 * row.latency).sum::<f64>() / (rows.len() as f64 * 2.5)
}

/// The part of all requests that was refused.
fn refused(rows: &[Row]) -> f64 {
    let (refused, all) = rows.iter().fold((0, 0), |(r, a), row| (r + row.refused, a + row.refused + row.served));
    refused as f64 / all as f64
}

#[track_caller]
fn near(title: &str, found: f64, expected: f64, off: f64) {
    assert!((found / expected - 1.0).abs() <= off, "{title}: {found:.1}, expected {expected} within {off}");
}

#[test]
fn twice_the_load_settles_within_a_fifth_of_the_knee() {
    // The last origin serves 60 requests per second, so few that the mean of a few seconds is less
    // exact.
    for (servers, service, off) in [(20, 0.1, 0.2), (50, 0.1, 0.2), (200, 0.2, 0.2), (30, 0.5, 0.3)] {
        for shares in [&[1.0][..], &[1.0; 4], &[8.0, 4.0, 2.0, 1.0, 1.0]] {
            for seed in SEEDS {
                let case = format!("{servers} servers, {service} s, {} isolates", shares.len());
                let history =
                    simulation(vec![era(servers, service, 2.0)], Spread::Exponential, shares, seed).run(240.0);
                if seed == 1 {
                    print(&case, &history);
                }
                let settled = between(&history, 60.0, 240.0);
                near(&case, in_flight(&settled), servers as f64, off);
                assert!(
                    served(&settled) * service / servers as f64 > 0.95 - off / 2.0,
                    "{case}: {} served",
                    served(&settled)
                );
            }
        }
    }
}

#[test]
fn halved_capacity_is_followed_within_30_seconds_and_back() {
    for shares in [&[1.0][..], &[1.0; 4], &[4.0, 1.0, 1.0]] {
        for seed in SEEDS {
            let whole = Era { arrivals: 1_000.0, ..era(60, 0.1, 1.0) };
            let eras = vec![whole, Era { from: 120.0, servers: 30, ..whole }, Era { from: 240.0, ..whole }];
            let history = simulation(eras, Spread::Exponential, shares, seed).run(400.0);
            if seed == 1 {
                print("60 servers, from 120 s to 240 s only 30", &history);
            }
            near("before", in_flight(&between(&history, 60.0, 120.0)), 60.0, 0.2);
            near("after 30 s", in_flight(&between(&history, 147.5, 160.0)), 30.0, 0.2);
            near("halved", in_flight(&between(&history, 150.0, 240.0)), 30.0, 0.2);
            near("whole again", in_flight(&between(&history, 285.0, 400.0)), 60.0, 0.2);
        }
    }
}

#[test]
fn changed_capacity_is_followed_within_30_seconds_for_any_load_and_spread() {
    let cases = [
        (60, Spread::Constant, 0.5, 1.2),
        (60, Spread::Constant, 0.5, 10.0),
        (60, Spread::Exponential, 0.5, 1.2),
        (60, Spread::Exponential, 0.5, 10.0),
        (400, Spread::Constant, 1.0 / 3.0, 2.0),
        (400, Spread::Exponential, 0.5, 1.2),
        (400, Spread::Exponential, 1.0 / 3.0, 2.0),
        (400, Spread::Exponential, 2.0, 2.0),
        (400, Spread::Heavy(2.0), 0.5, 2.0),
    ];
    for (servers, spread, factor, load) in cases {
        for shares in [&[1.0][..], &[1.0; 4]] {
            // Large origins take long to simulate, so they get fewer seeds.
            for seed in SEEDS.into_iter().take(if servers < 100 { 4 } else { 2 }) {
                let change = 100.0 + (seed * 37 % 60) as f64;
                let after = (servers as f64 * factor).round() as usize;
                let before = Era { arrivals: load * servers.max(after) as f64 / 0.1, ..era(servers, 0.1, 1.0) };
                let eras = vec![before, Era { from: change, servers: after, ..before }];
                let history = simulation(eras, spread, shares, seed).run(change + 40.0);
                let case = format!("{servers} to {after}, load {load}, {} isolates, seed {seed}", shares.len());
                let [settled, changed] = [(60.0, change), (change + 27.5, change + 37.5)];
                near(&case, in_flight(&between(&history, settled.0, settled.1)), servers as f64, 0.2);
                near(&case, in_flight(&between(&history, changed.0, changed.1)), after as f64, 0.2);
            }
        }
    }
}

#[test]
fn origin_that_becomes_slower_without_a_queue_keeps_its_cap() {
    for seed in SEEDS {
        let quick = Era { arrivals: 800.0, ..era(40, 0.1, 1.0) };
        let eras = vec![quick, Era { from: 120.0, service: 0.2, ..quick }, Era { from: 300.0, ..quick }];
        let history = simulation(eras, Spread::Exponential, &[1.0; 3], seed).run(420.0);
        if seed == 1 {
            print("40 servers, from 120 s to 300 s twice as slow", &history);
        }
        near("slow", in_flight(&between(&history, 200.0, 300.0)), 40.0, 0.2);
        near("quick again", in_flight(&between(&history, 360.0, 420.0)), 40.0, 0.2);
    }
}

#[test]
fn idle_cap_neither_drifts_up_nor_forgets() {
    for seed in SEEDS {
        let busy = era(50, 0.1, 2.0);
        let eras = vec![busy, Era { from: 100.0, arrivals: 25.0, ..busy }, Era { from: 900.0, ..busy }];
        let history = simulation(eras, Spread::Exponential, &[1.0; 4], seed).run(1_080.0);
        if seed == 1 {
            print("50 servers, idle from 100 s to 900 s", &history);
        }
        let before = cap(&between(&history, 60.0, 100.0));
        for row in between(&history, 110.0, 900.0) {
            near("idle", row.cap as f64, before, 0.25);
        }
        near("busy again", in_flight(&between(&history, 905.0, 960.0)), 50.0, 0.3);
        near("settled again", in_flight(&between(&history, 980.0, 1_080.0)), 50.0, 0.2);
    }
}

#[test]
fn naturally_variable_service_is_not_cut() {
    for (case, spread) in [
        ("exponential", Spread::Exponential),
        ("log-normal, twice as variable as long", Spread::Heavy(2.0)),
        ("one in ten takes twenty times as long", Spread::TwoKinds),
    ] {
        for load in [0.3, 0.7] {
            for seed in SEEDS {
                let history = simulation(vec![era(100, 0.1, load)], spread, &[1.0; 4], seed).run(400.0);
                if seed == 1 {
                    print(&format!("100 servers, {case}, load {load}"), &history);
                }
                let part = refused(&between(&history, 60.0, 400.0));
                assert!(part < 0.01, "{case}, load {load}: {part} refused");
            }
        }
    }
}

#[test]
fn failures_lower_the_cap_and_their_end_restores_it() {
    for seed in SEEDS {
        let good = era(50, 0.1, 2.0);
        let eras = vec![good, Era { from: 100.0, failing: 0.5, ..good }, Era { from: 140.0, ..good }];
        let history = simulation(eras, Spread::Exponential, &[1.0; 3], seed).run(260.0);
        if seed == 1 {
            print("50 servers, from 100 s to 140 s half of all fails", &history);
        }
        assert!(cap(&between(&history, 125.0, 140.0)) < 20.0);
        near("again", in_flight(&between(&history, 200.0, 260.0)), 50.0, 0.2);
    }
}

#[test]
fn few_failures_do_not_lower_the_cap() {
    let history =
        simulation(vec![Era { failing: 0.03, ..era(50, 0.1, 2.0) }], Spread::Exponential, &[1.0; 3], 1).run(200.0);
    near("settled", in_flight(&between(&history, 60.0, 200.0)), 50.0, 0.2);
}
