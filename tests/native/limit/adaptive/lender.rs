//! An adaptive cap at the actor that lends its permits.

use crate::support::EVENING;
use penstock::actor::permits::lender::{PermitLender, PermitRow, PermitStore};
use penstock::limit::adaptive::SavedCap;
use penstock::limit::time::{Span, Time};
use penstock::policy::Size;
use penstock::protocol::permits::{OriginSample, PermitAsk, Reserve};
use std::cell::RefCell;

#[derive(Default)]
struct SavedCaps(RefCell<Vec<SavedCap>>);

impl PermitStore for SavedCaps {
    fn save(&self, _: PermitRow) -> Result<u32, String> {
        Ok(1)
    }

    fn delete(&self, _: u64) -> Result<u32, String> {
        Ok(1)
    }

    fn save_cap(&self, found: &SavedCap) -> Result<u32, String> {
        self.0.borrow_mut().push(*found);
        Ok(1)
    }
}

/// Two isolates that use every permit they get, and an origin that takes 100 ms for a request while
/// there is no queue.
struct Fleet {
    lender: PermitLender,
    disk: SavedCaps,
    now: Time,
    number: u64,
    held: [u64; 2],
    size: Size,
}

impl Fleet {
    fn new(size: Size) -> Fleet {
        Fleet {
            lender: PermitLender::default(),
            disk: SavedCaps::default(),
            now: EVENING,
            number: 0,
            held: [0; 2],
            size,
        }
    }

    /// Lets the isolates use and renew their permits for `seconds`, while the origin serves
    /// `servers` requests at once. Returns the cap at the end.
    fn run(&mut self, seconds: u64, servers: u64) -> u64 {
        let mut cap = 0;
        for _ in 0..seconds * 4 / 5 {
            for holder in [0, 1] {
                self.now = self.now.plus(Span::from_millis(625));
                let all: u64 = self.held.iter().sum();
                let keeps = self.held[holder];
                let latency = 100 * all.max(servers) / servers;
                // An isolate reports every 1.25 s.
                let ended = keeps * 1_250 / latency;
                let sample = OriginSample { ended, sum_ms: ended * latency, min_ms: latency, errors: 0, peak: keeps };
                self.number += 1;
                let question = PermitAsk {
                    holder: holder as u64,
                    number: self.number,
                    size: self.size,
                    keeps,
                    wants: 1_000,
                    reserve: Reserve::Nothing,
                    sample: Some(sample).filter(|sample| sample.ended > 0),
                };
                let answer = self.lender.answer(&question, &self.disk, self.now).unwrap();
                self.held[holder] = answer.permits.min(answer.share);
                cap = answer.cap;
            }
        }
        cap
    }
}

#[test]
fn permits_are_lent_up_to_the_capacity_of_the_origin() {
    let mut fleet = Fleet::new(Size::Auto { least: 10, most: 1_000 });
    let found = [fleet.run(60, 80), fleet.run(60, 40), fleet.run(120, 80)];
    println!("caps for 80, 40 and 80 servers: {found:?}");
    for (cap, servers) in found.iter().zip([80.0, 40.0, 80.0]) {
        assert!((*cap as f64 / servers - 1.0).abs() <= 0.2, "{cap} for {servers}");
    }
    let rows = fleet.disk.0.borrow().len();
    assert!(rows < 20, "{rows} rows");
}

#[test]
fn cap_goes_on_from_the_saved_one_after_a_deploy() {
    let size = Size::Auto { least: 10, most: 1_000 };
    let mut fleet = Fleet::new(size);
    let before = fleet.run(60, 80);
    let kept = *fleet.disk.0.borrow().last().unwrap();
    assert_eq!(SavedCap::read(&kept.write()), Some(kept));
    assert!(before.abs_diff(kept.cap) <= kept.cap / 4, "{before} found, {} kept", kept.cap);
    let mut after = Fleet::new(size);
    after.lender.restore_cap(kept);
    assert!(after.run(2, 80) >= kept.cap / 2);
    let mut smaller = Fleet::new(Size::Auto { least: 10, most: 30 });
    smaller.lender.restore_cap(kept);
    assert_eq!(smaller.run(2, 80), 30, "under a lower ceiling");
}
