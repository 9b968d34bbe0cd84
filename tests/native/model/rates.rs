//! Rates: admissions stay within burst + elapsed / interval, and callers that wait as told pass.

use super::case::{Case, Fault, Move};
use super::search::{holds, wanders};
use penstock::limit::time::Span;

/// Ten milliseconds a token; leases lie for up to forty.
const GLOBAL: &str = r#"{"LIMIT_BASE": {"global": "100/s burst 9"}}"#;

/// Moves after which an isolate has spent quickly enough to be granted leases.
pub fn warm() -> Vec<Move> {
    let spend = [Move::Serve(0), Move::Serve(0), Move::Serve(0), Move::Tick(20)];
    [&spend[..], &spend, &[Move::Serve(0)]].concat()
}

/// Buckets large enough that a share of half of one is a lease.
pub const CONTENDED: &str = r#"{"LIMIT_BASE": {"global": "400/s burst 40"}}"#;

/// Moves in which two isolates want more than the limit for so long that slots are leased beyond a
/// full debt.
pub fn contention() -> Vec<Move> {
    let serve = [Move::Serve(0), Move::Serve(1), Move::Serve(0), Move::Serve(1), Move::Serve(0), Move::Tick(5)];
    serve.repeat(14)
}

/// Moves in which two isolates want twice the limit.
pub fn hot() -> Vec<Move> {
    [Move::Serve(0), Move::Serve(1), Move::Serve(0), Move::Tick(10), Move::Serve(1), Move::Tick(5)].repeat(8)
}

#[test]
fn rate_without_leases_holds() {
    // One token at once: τ is nothing, and every request asks.
    holds("one by one", &Case { depth: 5, requests: 4, ..Case::new(r#"{"LIMIT_BASE": {"global": "100/s burst 2"}}"#) });
}

#[test]
fn leases_of_one_isolate_hold_the_rate() {
    holds("leased", &Case { before: warm(), depth: 4, ..Case::new(GLOBAL) });
}

#[test]
fn leases_beyond_a_full_debt_hold_the_rate() {
    let case = Case { before: contention(), ticks: &[2], ..Case::new(CONTENDED) };
    holds("contended", &Case { depth: 3, ..case.clone() });
    wanders("contended", &Case { depth: 160, requests: 120, faults: 8, ticks: &[1, 2, 5], ..case }, 12);
}

#[test]
fn requests_of_two_tokens_hold_the_rate() {
    let vars = r#"{"LIMIT_BASE": {"global": "200/s burst 18", "cost": 2}}"#;
    holds("cost of two", &Case { before: hot(), depth: 3, ..Case::new(vars) });
}

#[test]
fn warm_up_holds_the_rate() {
    let vars = r#"{"LIMIT_BASE": {"global": "400/s burst 40", "warmup": "1s"}}"#;
    let case = Case { ends: false, ..Case::new(vars) };
    holds("warming up", &Case { before: hot(), depth: 3, ..case.clone() });
    wanders("warming up", &Case { depth: 160, requests: 120, faults: 8, ticks: &[2, 10, 100], ..case }, 12);
}

#[test]
fn long_walks_without_faults_hold_the_rate() {
    let case = Case { depth: 160, requests: 120, faults: 0, ticks: &[2, 10], ..Case::new(GLOBAL) };
    wanders("a global rate, no faults", &case, 12);
}

#[test]
fn long_walks_hold_the_rate() {
    let case = Case { depth: 160, requests: 120, faults: 8, ticks: &[2, 10], back: 5, ..Case::new(GLOBAL) };
    wanders("a global rate", &case, 12);
    let vars = r#"{"LIMIT_BASE": {"global": "1000/s burst 100", "cost": 3}}"#;
    wanders("a global rate, cost of three", &Case { ticks: &[1, 3], ..case.with(vars) }, 6);
}

/// A crash may forgive a caller a debt shorter than `DURABLE_AFTER`, once.
#[test]
fn crash_forgives_only_short_debts() {
    let vars = r#"{"LIMIT_BASE": {"per_ip": "100/s burst 9", "on_error": "closed"}}"#;
    let case =
        Case { durable_after: Span::from_millis(40), kinds: &[Fault::ActorCrash, Fault::ReplyLost], ..Case::new(vars) };
    holds("short debts", &Case { before: warm(), depth: 4, faults: 2, ..case.clone() });
    wanders("short debts", &Case { depth: 160, requests: 120, faults: 8, ticks: &[2, 10], ..case }, 12);
}

#[test]
fn two_rates_at_one_actor_both_hold() {
    let vars = r#"{"LIMIT_BASE": {"per_ip": ["100/s burst 9", "200/s burst 5"], "on_error": "closed"}}"#;
    holds("two rates", &Case { before: hot(), depth: 3, ..Case::new(vars) });
    wanders("two rates", &Case { depth: 160, requests: 120, faults: 8, ticks: &[2, 10], ..Case::new(vars) }, 6);
}

#[test]
fn rates_at_three_actors_all_hold() {
    let vars = r#"{"LIMIT_BASE": {"per_ip": "200/s burst 12", "global": ["100/s burst 9", "300/s burst 15"], "on_error": "closed"}}"#;
    holds("three actors", &Case { before: hot(), depth: 2, ..Case::new(vars) });
    wanders("three actors", &Case { depth: 200, requests: 120, faults: 8, ticks: &[2, 10], ..Case::new(vars) }, 6);
}
