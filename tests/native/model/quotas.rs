//! Quotas: admitted ≤ counted by D1 ≤ the day's quota, and little is lost.

use super::case::{Case, Fault, Move};
use super::search::{holds, wanders};
use crate::support::EVENING;
use penstock::limit::time::{Span, Time};

/// Half a second before midnight, UTC.
pub const LATE: Time = EVENING.plus(Span::from_millis(6 * 3_600_000 - 500));

/// Moves after which an isolate has spent quickly enough to be granted slices of chunks.
pub fn warm() -> Vec<Move> {
    let spend = [Move::Serve(0), Move::Serve(0), Move::Serve(0), Move::Serve(0), Move::Tick(20)];
    [&spend[..], &spend, &[Move::Serve(0)]].concat()
}

fn quota(count: u64) -> Case {
    let case = Case::new(&format!(r#"{{"LIMIT_BASE": {{"global": "{count}/day"}}}}"#));
    Case { ticks: &[300, 1_000], ..case }
}

#[test]
fn last_tokens_of_a_day_are_admitted_once() {
    holds("last tokens", &Case { depth: 5, requests: 4, ..quota(3) });
}

#[test]
fn chunks_hold_the_quota() {
    holds("chunks", &Case { before: warm(), depth: 3, ..quota(40) });
}

#[test]
fn chunks_at_midnight_hold_the_quota() {
    holds("midnight", &Case { start: LATE, before: warm(), depth: 3, ..quota(40) });
}

#[test]
fn long_walks_hold_the_quota() {
    let case = Case { depth: 160, requests: 100, faults: 0, ticks: &[2, 40, 400], ..quota(60) };
    wanders("a quota, no faults", &case, 6);
    wanders("a quota", &Case { faults: 8, ..case.clone() }, 12);
    wanders("a quota at midnight", &Case { start: LATE, faults: 8, ..case }, 6);
}

#[test]
fn rate_and_quota_at_one_actor_both_hold() {
    let case = Case::new(r#"{"LIMIT_BASE": {"per_ip": ["50/s burst 4", "30/day"], "on_error": "closed"}}"#);
    holds("rate and quota", &Case { before: warm(), depth: 3, ticks: &[20, 1_000], ..case.clone() });
    wanders("rate and quota", &Case { depth: 160, requests: 100, faults: 6, ticks: &[5, 20, 400], ..case }, 6);
}

#[test]
fn shared_rate_and_shared_quota_both_hold() {
    let case = Case::new(r#"{"LIMIT_BASE": {"global": ["50/s burst 4", "30/day"]}}"#);
    holds("shared rate and quota", &Case { before: warm(), depth: 3, ticks: &[20, 1_000], ..case.clone() });
    let kinds = &[Fault::ReplyLost, Fault::CountLost, Fault::RestLost, Fault::ActorCrash, Fault::IsolateCrash];
    let walks = Case { depth: 160, requests: 100, faults: 6, kinds, ticks: &[5, 20, 400], ..case };
    wanders("shared rate and quota", &walks, 6);
}
