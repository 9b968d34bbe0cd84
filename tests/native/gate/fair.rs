//! A crowded shared rate: whoever wants less than the others gets it, and nothing is left unused.

use super::support::{Deployment, now};
use crate::support::{EVENING, run};
use penstock::gate::deadline::Deadline;
use penstock::gate::decision::{Admission, CapRefusal, Reason};
use penstock::gate::permit_port::PermitPort;
use penstock::gate::plan::Plan;
use penstock::gate::state::fair_share::{Caller, FairShares};
use penstock::gate::state::retry_spread::RetrySpread;
use penstock::identity::Subject;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::{Span, Time};
use penstock::policy::Policy;
use penstock::protocol::rates::CallError;

/// Someone who asks so many times a second, at random.
#[derive(Clone, Copy)]
struct Asker {
    ip: u8,
    path: &'static str,
    per_second: f64,
    asked: u32,
    passed: u32,
}

fn asker(ip: u8, path: &'static str, per_second: f64) -> Asker {
    Asker { ip, path, per_second, asked: 0, passed: 0 }
}

/// Lets them ask for so many seconds, of which the first three are not counted: a crowd has to be seen first.
fn ask(deployment: &Deployment, askers: &mut [Asker], seconds: u64) {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for millis in 0..seconds * 1_000 {
        for at in 0..askers.len() {
            // Nobody comes first in every millisecond.
            let place = (at + millis as usize * 7) % askers.len();
            let asker = &mut askers[place];
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let mut chance = asker.per_second / 1_000.0;
            while (random >> 11) as f64 / (1_u64 << 53) as f64 * 1.0 < chance {
                let passed = deployment.passes(asker.path, asker.ip, None);
                if millis >= 3_000 {
                    asker.asked += 1;
                    asker.passed += u32::from(passed);
                }
                chance -= 1.0;
            }
        }
        deployment.forward(Span::from_millis(1));
    }
}

fn part(askers: &[Asker]) -> f64 {
    let (passed, asked) = askers.iter().fold((0, 0), |(p, a), one| (p + one.passed, a + one.asked));
    f64::from(passed) / f64::from(asked)
}

fn passed(askers: &[Asker]) -> f64 {
    askers.iter().map(|one| f64::from(one.passed)).sum()
}

#[test]
fn one_greedy_caller_leaves_the_others_what_they_want_and_takes_the_rest() {
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
fn without_enough_for_all_everyone_gets_the_same() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "400/s burst 80"}}"#);
    let mut askers: Vec<Asker> = (1..=8).map(|ip| asker(ip, "/", 40.0 * f64::from(ip))).collect();
    ask(&deployment, &mut askers, 43);
    for one in &askers {
        println!("{:>4} a second wanted, {:.1} given", one.per_second, f64::from(one.passed) / 40.0);
    }
    // 40 and seven times the same: 51.4.
    assert!(part(&askers[..1]) > 0.93);
    for one in &askers[1..] {
        let given = f64::from(one.passed) / 40.0;
        assert!((given / 51.4 - 1.0).abs() < 0.15, "{given}");
    }
    assert!(passed(&askers) > 0.95 * 400.0 * 40.0, "{}", passed(&askers));
}

#[test]
fn a_priority_is_a_weight() {
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
fn a_caller_counts_for_what_it_asks_for_whatever_it_asked_for_first() {
    let vars = r#"{"LIMIT_BASE": {"global": "300/s burst 60"}, "LIMIT_H": {"route": "/high", "priority": "high", "per_ip": "1000000/s"},
        "LIMIT_L": {"route": "/low", "priority": "low", "per_ip": "1000000/s"}}"#;
    for [first, other, much] in [["/low", "/high", "/high"], ["/high", "/low", "/low"]] {
        let deployment = Deployment::new(vars);
        // It is crowded, and each of them has asked for something else.
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
fn who_is_alone_takes_all() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "500/s burst 100"}}"#);
    let mut alone = [asker(1, "/", 900.0)];
    ask(&deployment, &mut alone, 13);
    assert!(passed(&alone) > 0.97 * 5_000.0, "{}", passed(&alone));
    // Whoever comes then need not wait until the other has made up for it.
    let mut both = [alone[0], asker(2, "/", 400.0)].map(|one| asker(one.ip, "/", one.per_second));
    ask(&deployment, &mut both, 13);
    println!("{:?}", both.map(|one| one.passed));
    assert!((passed(&both[1..]) / 2_500.0 - 1.0).abs() < 0.15, "{}", passed(&both[1..]));
}

#[test]
fn who_has_had_its_share_is_told_when_there_is_more() {
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

#[test]
fn a_crowd_of_any_size_costs_a_bounded_memory_and_does_not_hide_the_greedy() {
    let mut fair = FairShares::default();
    let gcra = Gcra::new(Span::from_nanos(100_000), 1_000).unwrap();
    let caller = |number: u32| {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&number.wrapping_mul(0x9e37_79b9).to_be_bytes());
        Caller { subject: Subject::from_bytes(bytes), address: Subject::from_bytes(bytes), weight: 2 }
    };
    let (mut at, mut newcomer, mut greedy) = (now(), 10, 0);
    fair.refused(0, &gcra, caller(1), 1, at);
    for _ in 0..20_000 {
        at = at.plus(Span::from_millis(1));
        let mut room = 10;
        for turn in 0..20 {
            newcomer += 1;
            let who = caller(if turn % 2 == 0 { newcomer } else { 1 });
            if fair.wait_for(0, who, 1, at).is_some() {
                continue;
            }
            if room == 0 {
                fair.refused(0, &gcra, who, 1, at);
                continue;
            }
            room -= 1;
            fair.note_given(0, 1);
            greedy += turn % 2;
        }
        assert!(fair.len() <= 1_000);
    }
    println!("{greedy} of 100000");
    assert!(greedy < 20_000, "{greedy} of 100000");
    assert_eq!(fair.wait_for(0, caller(1), 1, Time::MAX), None, "forgotten when it is calm");
    assert_eq!(fair.len(), 0);
}

#[test]
fn a_small_limit_that_is_asked_by_fits_and_starts_stays_in_use() {
    for (limit, modest, per_tick) in [(20, 5, 2), (50, 10, 3), (200, 40, 5)] {
        let deployment = Deployment::new(&format!(r#"{{"LIMIT_BASE": {{"global": "{limit}/s"}}}}"#));
        let mut sums = [(0_u32, 0_u32); 2];
        for tick in 0..600_u32 {
            for turn in 0..per_tick * 8 {
                // Three that want much, and some that ask once a second.
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
fn key_01_fresh_keys_are_not_a_share_each() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_key": "100000/s", "global": "1000/s burst 200"}}"#);
    let (mut flood, mut asked, mut passed) = (0_u32, 0, 0);
    for millis in 0..10_000_u32 {
        for _ in 0..3 {
            flood += 1;
            deployment.request("/", 1, Some(u8::try_from(flood % 200).unwrap()));
        }
        if millis % 10 == 0 {
            let passes = deployment.passes("/", 2, Some(255));
            if millis >= 3_000 {
                asked += 1;
                passed += u32::from(passes);
            }
        }
        deployment.forward(Span::from_millis(1));
    }
    assert!(passed * 10 >= asked * 9, "{passed} of {asked}, a tenth of what there is");
    // Nor do they fill the memory that shares are kept in.
    let mut fair = FairShares::default();
    let gcra = Gcra::new(Span::from_millis(10), 10).unwrap();
    for key in 0..250 {
        let [subject, address] = [key, 255].map(|byte| Subject::from_bytes([byte; 16]));
        fair.refused(0, &gcra, Caller { subject, address, weight: 2 }, 1, now());
    }
    assert_eq!(fair.len(), 5, "four keys, and all the others");
}

/// So many callers that ask in turn, each every `every`, for so long: how many pass, and the longest wait that is told.
fn in_turn(deployment: &Deployment, callers: u64, every: Span, steps: u64) -> (u32, Span) {
    let (mut passed, mut longest) = (0, Span::ZERO);
    for step in 0..steps {
        for at in 0..callers {
            let ip = ((at + step * 7) % callers) as u8;
            let decision = deployment.request("/", ip, None);
            match decision.refusal {
                None => passed += 1,
                Some(refusal) => longest = longest.max(refusal.wait).max(decision.min_wait),
            }
        }
        deployment.forward(every);
    }
    (passed, longest)
}

#[test]
fn a_slow_rate_is_used_and_sends_nobody_away_for_long() {
    for (rate, all) in [("10/min", 110), ("6/min burst 1", 61), ("30/min burst 5", 305), ("2/s", 1_202)] {
        let deployment = Deployment::new(&format!(r#"{{"LIMIT_BASE": {{"global": "{rate}"}}}}"#));
        let (passed, longest) = in_turn(&deployment, 2, Span::from_millis(100), 6_000);
        assert!(longest <= Span::from_secs(60), "{rate}: {} s", longest.as_secs_up());
        assert!(passed <= all && passed * 4 >= all * 3, "{rate}: {passed} of {all}");
    }
}

#[test]
fn whoever_stays_has_all_of_a_slow_rate_when_the_others_have_left() {
    for callers in [3, 30] {
        let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "20/min burst 3"}}"#);
        in_turn(&deployment, callers, Span::from_millis(250), 1_200);
        in_turn(&deployment, 1, Span::from_millis(250), 120);
        let (passed, _) = in_turn(&deployment, 1, Span::from_millis(250), 240);
        assert_eq!(passed, 20, "of {callers}");
    }
}

#[test]
fn a_moment_in_which_nobody_is_served_leaves_no_debt() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "1000/s burst 200"}}"#);
    let served = |seconds: u64| in_turn(&deployment, 100, Span::from_millis(50), seconds * 20);
    let (before, _) = served(5);
    *deployment.error.borrow_mut() = Some(CallError::Failed("down".to_owned()));
    served(2);
    *deployment.error.borrow_mut() = None;
    served(3);
    let (after, longest) = served(5);
    assert!(after * 10 >= before * 9, "{before} before, {after} after");
    assert!(longest <= Span::from_secs(2), "{} s", longest.as_secs_up());
}

#[test]
fn a_second_in_which_others_took_nearly_all_keeps_nobody_out_for_minutes() {
    let (mut fair, gcra) = (FairShares::default(), Gcra::new(Span::from_millis(1), 200).unwrap());
    let (mut now, mut longest, mut last) = (EVENING, Span::ZERO, 0);
    for step in 0..400 {
        // In the fifth second this isolate is given five tokens, else five hundred.
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

#[test]
fn the_wait_of_a_caller_that_has_had_its_share_pushes_nobody_else_back() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "20/min burst 3"}}"#);
    in_turn(&deployment, 30, Span::from_millis(250), 1_200);
    let mut returns = RetrySpread::default();
    let mut line = |ip: u8| {
        let decision = deployment.request("/", ip, None);
        let least = decision.min_wait;
        let refusal = decision.refusal.as_ref()?;
        if ip < 30 && least < Span::from_secs(30) {
            return None;
        }
        let subject = Subject::from_bytes([ip; 16]);
        Some(returns.wait_for_turn(refusal.limit, refusal.wait, subject, now()))
    };
    (0..30).find_map(&mut line).expect("someone has had its share for long");
    let newcomer = (200..250).find_map(&mut line).expect("the rate has no room for all");
    assert!(newcomer <= Span::from_secs(10), "{} s", newcomer.as_secs_up());
}

/// What each is given a second, when the level has found its place.
fn settled<const N: usize>(deployment: &Deployment, mut askers: [Asker; N]) -> [f64; N] {
    ask(deployment, &mut askers, 20);
    let mut askers = askers.map(|one| asker(one.ip, one.path, one.per_second));
    ask(deployment, &mut askers, 23);
    let given = askers.map(|one| f64::from(one.passed) / 20.0);
    println!("{given:?} a second");
    given
}

#[test]
fn what_another_limit_refuses_takes_no_share() {
    let vars =
        r#"{"LIMIT_BASE": {"global": "500/s burst 100"}, "LIMIT_NARROW": {"route": "/narrow", "global": "50/s"}}"#;
    let deployment = Deployment::new(vars);
    let given = settled(&deployment, [asker(1, "/narrow", 900.0), asker(2, "/", 900.0)]);
    assert!(given[0] >= 45.0 && given[0] + given[1] >= 475.0, "{given:?}");
}

#[test]
fn what_passes_unchecked_is_not_shared() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "100/s burst 20", "on_error": "open"}}"#);
    let mut askers = [asker(1, "/", 300.0), asker(2, "/", 300.0)];
    ask(&deployment, &mut askers, 5);
    *deployment.error.borrow_mut() = Some(CallError::Failed("down".to_owned()));
    let mut askers = [asker(1, "/", 300.0), asker(2, "/", 300.0)];
    ask(&deployment, &mut askers, 13);
    println!("{:.3}", part(&askers));
    assert!(part(&askers) > 0.999, "{}", part(&askers));
}

/// A cap that lets a request in, or is full.
struct LetsIn<'p> {
    policy: &'p Policy,
    when: bool,
}

impl<'p> PermitPort<'p> for LetsIn<'p> {
    fn caps(&self) -> usize {
        1
    }

    async fn admit(&self, _: Deadline) -> Admission<'p> {
        let binding = self.policy.base.as_ref().unwrap();
        let cap = binding.capacity.in_flight.as_ref().unwrap();
        let refusal = CapRefusal { cap, binding, reason: Reason::OverCapacity, wait: Span::from_secs(1) };
        Admission { refusal: (!self.when).then_some(refusal), ..Admission::default() }
    }
}

#[test]
fn what_finds_no_place_takes_no_share() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "500/s burst 100", "in_flight": 9}}"#);
    ask(&deployment, &mut [asker(1, "/", 600.0), asker(2, "/", 600.0)], 5);
    let (mut asked, mut passed) = (0_u32, 0);
    for _ in 0..2_000 {
        for ip in [1, 2] {
            let plan = Plan::new(&deployment.policy, None, Subject::from_bytes([ip; 16]), |_| None);
            asked += 1;
            // A cap lets in every third.
            let cap = LetsIn { policy: &deployment.policy, when: asked % 3 == 0 };
            let decision = run(deployment.gate().decide_with(&plan, &cap));
            passed += u32::from(decision.is_allowed());
        }
        deployment.forward(Span::from_millis(10));
    }
    assert!(passed * 10 >= asked * 3, "{passed} of {asked}, and a third found a place");
}

#[test]
fn what_one_crowd_refuses_takes_no_share_of_another() {
    let vars =
        r#"{"LIMIT_BASE": {"global": "500/s burst 100"}, "LIMIT_NARROW": {"route": "/narrow", "global": "50/s"}}"#;
    let deployment = Deployment::new(vars);
    let given = settled(&deployment, [asker(1, "/narrow", 900.0), asker(2, "/narrow", 900.0), asker(3, "/", 900.0)]);
    assert!(given.iter().sum::<f64>() >= 475.0 && given[0] + given[1] >= 45.0, "{given:?}");
}

#[test]
fn what_one_leaves_is_the_others_within_a_second_or_two() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "500/s burst 100"}}"#);
    settled(&deployment, [asker(1, "/", 20.0), asker(2, "/", 900.0), asker(3, "/", 900.0)]);
    let mut askers = [asker(1, "/", 20.0), asker(2, "/", 900.0)];
    ask(&deployment, &mut askers, 8);
    println!("{} in five seconds", passed(&askers));
    assert!(passed(&askers) > 0.95 * 2_500.0, "{}", passed(&askers));
}

#[test]
fn a_rate_that_opens_is_used_as_it_opens() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "50/s burst 50", "warmup": "20s"}}"#);
    let mut askers = [asker(1, "/", 150.0), asker(2, "/", 2.0), asker(3, "/", 2.0), asker(4, "/", 2.0)];
    ask(&deployment, &mut askers, 20);
    // From 5/s to 50/s in a line: 540 after the first three seconds.
    println!("{} of 540", passed(&askers));
    assert!(passed(&askers) > 0.8 * 540.0, "{}", passed(&askers));
}
