//! A contended rate: callers that want less than the others get it, and no token is left unused.

use crate::gate::askers::{Asker, ask, asker, part, passed, settled};
use crate::gate::support::Deployment;
use penstock::gate::decision::Reason;
use penstock::limit::time::Span;

mod contended_rate;
mod shares;

#[test]
fn greedy_caller_leaves_modest_callers_all_they_ask_for() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "1000/s burst 200"}}"#);
    let mut askers: Vec<Asker> = (1..=20).map(|ip| asker(ip, "/", 20.0)).collect();
    askers.push(asker(100, "/", 1_000.0));
    ask(&deployment, &mut askers, 23);
    let (modest, greedy) = askers.split_at(20);
    let least = modest.iter().map(|one| f64::from(one.passed) / f64::from(one.asked)).fold(1.0, f64::min);
    println!(
        "modest {:.1} % (least {:.1} %), greedy {:.0}/s, limit used {:.1} %",
        100.0 * part(modest),
        100.0 * least,
        passed(greedy) / 20.0,
        passed(&askers) / 200.0
    );
    assert!(least >= 0.95, "{least}");
    assert!(passed(&askers) >= 0.95 * 20.0 * 1_000.0, "{}", passed(&askers));
}

#[test]
fn scarce_rate_is_divided_evenly() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "400/s burst 80"}}"#);
    let mut askers: Vec<Asker> = (1..=8).map(|ip| asker(ip, "/", 40.0 * f64::from(ip))).collect();
    ask(&deployment, &mut askers, 43);
    for one in &askers {
        println!("{:>4} a second wanted, {:.1} given", one.per_second, f64::from(one.passed) / 40.0);
    }
    // The first caller gets its 40, and the other seven 51.4 each.
    assert!(part(&askers[..1]) > 0.93);
    for one in &askers[1..] {
        let given = f64::from(one.passed) / 40.0;
        assert!((given / 51.4 - 1.0).abs() < 0.15, "{given}");
    }
    assert!(passed(&askers) > 0.95 * 400.0 * 40.0, "{}", passed(&askers));
}

#[test]
fn priority_is_a_weight() {
    let vars = r#"{"LIMIT_BASE": {"global": "350/s burst 70"}, "LIMIT_H": {"route": "/high", "priority": "high", "per_ip": "1000000/s"},
        "LIMIT_L": {"route": "/low", "priority": "low", "per_ip": "1000000/s"}}"#;
    let deployment = Deployment::new(vars);
    let mut askers = [asker(1, "/high", 400.0), asker(2, "/", 400.0), asker(3, "/low", 400.0)];
    ask(&deployment, &mut askers, 43);
    let given = askers.map(|one| f64::from(one.passed) / 40.0);
    println!("{given:?}");
    for (given, expected) in given.iter().zip([200.0, 100.0, 50.0]) {
        assert!((given / expected - 1.0).abs() < 0.15, "{given} of {expected}");
    }
}

#[test]
fn weight_follows_the_requests_of_the_tick_and_not_the_first_one() {
    let vars = r#"{"LIMIT_BASE": {"global": "300/s burst 60"}, "LIMIT_H": {"route": "/high", "priority": "high", "per_ip": "1000000/s"},
        "LIMIT_L": {"route": "/low", "priority": "low", "per_ip": "1000000/s"}}"#;
    for [first, other, much] in [["/low", "/high", "/high"], ["/high", "/low", "/low"]] {
        let deployment = Deployment::new(vars);
        // The rate is contended, and each caller has asked with another priority.
        deployment.passing(100, "/", 3, None);
        deployment.passes(first, 1, None);
        deployment.passes(other, 2, None);
        let mut askers = [asker(1, much, 400.0), asker(2, much, 400.0)];
        ask(&deployment, &mut askers, 23);
        let [one, two] = askers.map(|one| f64::from(one.passed) / 20.0);
        assert!((one / two - 1.0).abs() < 0.15, "{one} and {two} a second");
    }
}

#[test]
fn lone_caller_takes_all() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "500/s burst 100"}}"#);
    let mut alone = [asker(1, "/", 900.0)];
    ask(&deployment, &mut alone, 13);
    assert!(passed(&alone) > 0.97 * 5_000.0, "{}", passed(&alone));
    // A caller that comes then need not wait until the first one has repaid its tokens.
    let mut both = [alone[0], asker(2, "/", 400.0)].map(|one| asker(one.ip, "/", one.per_second));
    ask(&deployment, &mut both, 13);
    println!("{:?}", both.map(|one| one.passed));
    assert!((passed(&both[1..]) / 2_500.0 - 1.0).abs() < 0.15, "{}", passed(&both[1..]));
}

#[test]
fn share_of_a_leaving_caller_goes_to_the_others_in_two_seconds() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "500/s burst 100"}}"#);
    settled(&deployment, [asker(1, "/", 20.0), asker(2, "/", 900.0), asker(3, "/", 900.0)]);
    let mut askers = [asker(1, "/", 20.0), asker(2, "/", 900.0)];
    ask(&deployment, &mut askers, 8);
    println!("{} in five seconds", passed(&askers));
    assert!(passed(&askers) > 0.95 * 2_500.0, "{}", passed(&askers));
}

#[test]
fn caller_over_its_share_is_told_when_it_has_room() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "100/s burst 20"}}"#);
    let mut askers = [asker(1, "/", 20.0), asker(2, "/", 900.0)];
    ask(&deployment, &mut askers, 5);
    let mut shares = 0;
    for _ in 0..2_000 {
        deployment.forward(Span::from_millis(1));
        deployment.passes("/", 1, None);
        let calls = deployment.calls.get();
        let decision = deployment.request("/", 2, None);
        if let Some(refusal) = decision.refusal {
            assert_eq!(refusal.reason, Reason::OverCapacity);
            assert_eq!(refusal.limit.name, "base/global");
            let wait = refusal.wait.max(decision.min_wait);
            assert!(wait > Span::ZERO && wait < Span::from_secs(3), "{wait:?}");
            shares += u32::from(deployment.calls.get() == calls);
        }
    }
    assert!(shares > 1_000, "{shares}");
}
