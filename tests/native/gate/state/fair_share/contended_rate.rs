//! The supply of a contended rate: slow rates, bursts, rates that open, and seconds with little to
//! give.

use crate::gate::askers::{ask, asker, in_turn, passed};
use crate::gate::support::Deployment;
use crate::support::EVENING;
use penstock::gate::state::fair_share::{Caller, FairShares};
use penstock::identity::Subject;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::Span;
use penstock::protocol::rates::CallError;

#[test]
fn slow_rate_is_used_and_waits_stay_short() {
    for (rate, all) in [("10/min", 110), ("6/min burst 1", 61), ("30/min burst 5", 305), ("2/s", 1_202)] {
        let deployment = Deployment::new(&format!(r#"{{"LIMIT_BASE": {{"global": "{rate}"}}}}"#));
        let (passed, longest) = in_turn(&deployment, 2, Span::from_millis(100), 6_000);
        assert!(longest <= Span::from_secs(60), "{rate}: {} s", longest.as_secs_up());
        assert!(passed <= all && passed * 4 >= all * 3, "{rate}: {passed} of {all}");
    }
}

#[test]
fn remaining_caller_gets_all_of_a_slow_rate() {
    for callers in [3, 30] {
        let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "20/min burst 3"}}"#);
        in_turn(&deployment, callers, Span::from_millis(250), 1_200);
        in_turn(&deployment, 1, Span::from_millis(250), 120);
        let (passed, _) = in_turn(&deployment, 1, Span::from_millis(250), 240);
        assert_eq!(passed, 20, "of {callers}");
    }
}

#[test]
fn small_rate_asked_in_bursts_stays_in_use() {
    for (limit, modest, per_tick) in [(20, 5, 2), (50, 10, 3), (200, 40, 5)] {
        let deployment = Deployment::new(&format!(r#"{{"LIMIT_BASE": {{"global": "{limit}/s"}}}}"#));
        let mut sums = [(0_u32, 0_u32); 2];
        for tick in 0..600_u32 {
            for turn in 0..per_tick * 8 {
                // Three callers want much, and some ask once a second.
                let passed = deployment.passes("/", 200 + turn % 3, None);
                if tick > 100 {
                    sums[0] = (sums[0].0 + 1, sums[0].1 + u32::from(passed));
                }
            }
            for ip in (0..modest).filter(|ip| tick % 10 == u32::from(*ip) % 10) {
                let passed = deployment.passes("/", ip, None);
                if tick > 100 {
                    sums[1] = (sums[1].0 + 1, sums[1].1 + u32::from(passed));
                }
            }
            deployment.forward(Span::from_millis(100));
        }
        let used = f64::from(sums[0].1 + sums[1].1) / 49.9 / f64::from(limit);
        let part = f64::from(sums[1].1) / f64::from(sums[1].0);
        println!("{limit}/s: {:.1} % used, {:.1} % of what the modest want", 100.0 * used, 100.0 * part);
        assert!(used > 0.9 && part > 0.85, "{used} {part}");
    }
}

#[test]
fn warming_rate_is_used_as_it_opens() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "50/s burst 50", "warmup": "20s"}}"#);
    let mut askers = [asker(1, "/", 150.0), asker(2, "/", 2.0), asker(3, "/", 2.0), asker(4, "/", 2.0)];
    ask(&deployment, &mut askers, 20);
    // The rate grows from 5/s to 50/s in a line: 540 after the first three seconds.
    println!("{} of 540", passed(&askers));
    assert!(passed(&askers) > 0.8 * 540.0, "{}", passed(&askers));
}

#[test]
fn moment_without_service_leaves_no_debt() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "1000/s burst 200"}}"#);
    let served = |seconds: u64| in_turn(&deployment, 100, Span::from_millis(50), seconds * 20);
    let (before, _) = served(5);
    deployment.error.replace(Some(CallError::Failed("down".to_owned())));
    served(2);
    deployment.error.replace(None);
    served(3);
    let (after, longest) = served(5);
    assert!(after * 10 >= before * 9, "{before} before, {after} after");
    assert!(longest <= Span::from_secs(2), "{} s", longest.as_secs_up());
}

#[test]
fn second_with_little_supply_makes_no_wait_of_minutes() {
    let (mut fair, gcra) = (FairShares::default(), Gcra::new(Span::from_millis(1), 200).unwrap());
    let (mut now, mut longest, mut last) = (EVENING, Span::ZERO, 0);
    for step in 0..400 {
        // In the fifth second this isolate is given five tokens, in the others five hundred.
        let mut left = if (80..100).contains(&step) { i32::from(step < 85) } else { 25 };
        for ip in 0..200 {
            let subject = Subject::from_bytes([ip; 16]);
            let caller = Caller { subject, address: subject, weight: 2 };
            if let Some(wait) = fair.wait_for(0, caller, 1, now) {
                longest = longest.max(if step >= 120 { wait } else { Span::ZERO });
            } else if left > 0 {
                left -= 1;
                last += u32::from(step >= 200);
                fair.note_given(0, 1);
            } else {
                fair.refused(0, &gcra, caller, 1, now);
            }
        }
        now = now.plus(Span::from_millis(50));
    }
    assert!(longest <= Span::from_secs(5), "{} s", longest.as_secs_up());
    assert!(last >= 1_500, "{last} passed in the last ten seconds");
}
