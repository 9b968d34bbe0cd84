//! The shares of a rate are few, however many callers and keys there are.

use crate::gate::support::{Deployment, now};
use penstock::gate::state::fair_share::{Caller, FairShares};
use penstock::identity::Subject;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::{Span, Time};

#[test]
fn crowd_of_any_size_has_bounded_memory_and_hides_no_greedy_caller() {
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
fn key_01_fresh_keys_of_one_address_share_one_share() {
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
    // Fresh keys do not fill the memory of shares, either.
    let mut fair = FairShares::default();
    let gcra = Gcra::new(Span::from_millis(10), 10).unwrap();
    for key in 0..250 {
        let [subject, address] = [key, 255].map(|byte| Subject::from_bytes([byte; 16]));
        fair.refused(0, &gcra, Caller { subject, address, weight: 2 }, 1, now());
    }
    assert_eq!(fair.len(), 5, "four keys, and all the others");
}
