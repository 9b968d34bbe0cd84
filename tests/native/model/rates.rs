//! Rates: what is admitted lies within the envelope, and whoever waits gets in.

use super::case::{Case, Fault, Move};
use super::search::{holds, wanders};
use penstock::limit::time::Span;

/// Ten milliseconds a token; leases lie for up to forty.
const GLOBAL: &str = r#"{"LIMIT_BASE": {"global": "100/s burst 9"}}"#;

/// An isolate that has spent quickly enough to be given leases.
pub fn warm() -> Vec<Move> {
    let spend = [Move::Serve(0), Move::Serve(0), Move::Serve(0), Move::Tick(20)];
    [&spend[..], &spend, &[Move::Serve(0)]].concat()
}

/// Buckets large enough that a share of half of one is a lease.
pub const CROWDED: &str = r#"{"LIMIT_BASE": {"global": "400/s burst 40"}}"#;

/// Two isolates that want more than the limit allows, for long enough that slots are leased beyond a full debt.
pub fn crowd() -> Vec<Move> {
    let serve = [Move::Serve(0), Move::Serve(1), Move::Serve(0), Move::Serve(1), Move::Serve(0), Move::Tick(5)];
    serve.repeat(14)
}

/// Two isolates that want twice what the limit allows.
pub fn hot() -> Vec<Move> {
    [Move::Serve(0), Move::Serve(1), Move::Serve(0), Move::Tick(10), Move::Serve(1), Move::Tick(5)].repeat(8)
}

#[test]
fn without_leases() {
    // One token at once: τ is nothing, and every request asks.
    holds("one by one", &Case { depth: 5, requests: 4, ..Case::new(r#"{"LIMIT_BASE": {"global": "100/s burst 2"}}"#) });
}

#[test]
fn leases_of_one_isolate() {
    holds("leased", &Case { before: warm(), depth: 4, ..Case::new(GLOBAL) });
}

#[test]
fn leases_beyond_a_full_debt() {
    let case = Case { before: crowd(), ticks: &[2], ..Case::new(CROWDED) };
    holds("crowded", &Case { depth: 3, ..case.clone() });
    wanders("crowded", &Case { depth: 160, requests: 120, faults: 8, ticks: &[1, 2, 5], ..case }, 12);
}

#[test]
fn leases_that_a_request_takes_two_tokens_of() {
    let vars = r#"{"LIMIT_BASE": {"global": "200/s burst 18", "cost": 2}}"#;
    holds("cost of two", &Case { before: hot(), depth: 3, ..Case::new(vars) });
}

#[test]
fn a_rate_that_warms_up() {
    let vars = r#"{"LIMIT_BASE": {"global": "400/s burst 40", "warmup": "1s"}}"#;
    let case = Case { ends: false, ..Case::new(vars) };
    holds("warming up", &Case { before: hot(), depth: 3, ..case.clone() });
    wanders("warming up", &Case { depth: 160, requests: 120, faults: 8, ticks: &[2, 10, 100], ..case }, 12);
}

#[test]
fn long_walks_without_faults() {
    let case = Case { depth: 160, requests: 120, faults: 0, ticks: &[2, 10], ..Case::new(GLOBAL) };
    wanders("a global rate, no faults", &case, 12);
}

#[test]
fn long_walks() {
    let case = Case { depth: 160, requests: 120, faults: 8, ticks: &[2, 10], back: 5, ..Case::new(GLOBAL) };
    wanders("a global rate", &case, 12);
    let vars = r#"{"LIMIT_BASE": {"global": "1000/s burst 100", "cost": 3}}"#;
    wanders("a global rate, cost of three", &Case { ticks: &[1, 3], ..case.with(vars) }, 6);
}

/// What a caller may be forgiven by a crash is a debt shorter than `DURABLE_AFTER`, once.
#[test]
fn short_debts_in_memory() {
    let vars = r#"{"LIMIT_BASE": {"per_ip": "100/s burst 9", "on_error": "closed"}}"#;
    let case =
        Case { durable_after: Span::from_millis(40), kinds: &[Fault::ActorCrash, Fault::ReplyLost], ..Case::new(vars) };
    holds("short debts", &Case { before: warm(), depth: 4, faults: 2, ..case.clone() });
    wanders("short debts", &Case { depth: 160, requests: 120, faults: 8, ticks: &[2, 10], ..case }, 12);
}

#[test]
fn two_rates_at_one_actor() {
    let vars = r#"{"LIMIT_BASE": {"per_ip": ["100/s burst 9", "200/s burst 5"], "on_error": "closed"}}"#;
    holds("two rates", &Case { before: hot(), depth: 3, ..Case::new(vars) });
    wanders("two rates", &Case { depth: 160, requests: 120, faults: 8, ticks: &[2, 10], ..Case::new(vars) }, 6);
}

#[test]
fn rates_at_three_actors() {
    let vars = r#"{"LIMIT_BASE": {"per_ip": "200/s burst 12", "global": ["100/s burst 9", "300/s burst 15"], "on_error": "closed"}}"#;
    holds("three actors", &Case { before: hot(), depth: 2, ..Case::new(vars) });
    wanders("three actors", &Case { depth: 200, requests: 120, faults: 8, ticks: &[2, 10], ..Case::new(vars) }, 6);
}
