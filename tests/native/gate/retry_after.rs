//! The wait that is told covers all limits that the isolate knows, not only the one that refused.

use super::support::{Deployment, now};
use crate::support::run;
use penstock::gate::decision::Decision;
use penstock::gate::plan::Plan;
use penstock::gate::retry_after::set_wait;
use penstock::gate::state::retry_spread::RetrySpread;
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};

/// Returns the limit that refuses, and the wait that is told.
fn told<'p>(decision: &Decision<'p>) -> Option<(&'p str, Span)> {
    let refusal = decision.refusal.as_ref()?;
    Some((refusal.limit.name.as_str(), refusal.wait.max(decision.min_wait)))
}

const fn secs(count: u64) -> Span {
    Span::from_secs(count)
}

#[test]
fn wait_covers_another_limit_that_is_used_up() {
    let deployment = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "1/s", "global": "3/min"}}"#);
    for _ in 0..2 {
        assert!(deployment.passes("/x", 1, None));
        assert_eq!(told(&deployment.request("/x", 1, None)), Some(("x/ip", secs(1))));
        deployment.forward(secs(1));
    }
    assert!(deployment.passes("/x", 1, None));
    assert_eq!(told(&deployment.request("/x", 1, None)), Some(("x/ip", secs(18))), "the shared one has room then");
    deployment.forward(secs(18));
    assert!(deployment.passes("/x", 1, None));
}

#[test]
fn wait_covers_the_limit_that_the_refused_request_emptied() {
    let limits = r#""per_ip": "3/min", "per_key": "6/min burst 1""#;
    let deployment = Deployment::new(&format!(r#"{{"LIMIT_X": {{"route": "/x", {limits}}}}}"#));
    assert!(deployment.passes("/x", 1, Some(1)));
    assert_eq!(told(&deployment.request("/x", 1, Some(1))), Some(("x/key", secs(10))));
    assert_eq!(
        told(&deployment.request("/x", 1, Some(1))),
        Some(("x/key", secs(20))),
        "the address has paid its last token"
    );
    deployment.forward(secs(20));
    assert!(deployment.passes("/x", 1, Some(1)));
    // The same where a shared limit refuses, and the token that came back lapses before that has room.
    let deployment = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "1/min", "global": "6/min burst 1"}}"#);
    assert!(deployment.passes("/x", 1, None));
    assert_eq!(told(&deployment.request("/x", 2, None)), Some(("x/global", secs(60))));
    deployment.forward(secs(60));
    assert!(deployment.passes("/x", 2, None));
}

#[test]
fn partial_token_shortens_the_wait() {
    let deployment = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "2/h", "per_key": "60/min burst 1"}}"#);
    assert!(deployment.passes("/x", 1, Some(1)));
    deployment.forward(secs(29 * 60));
    assert!(deployment.passes("/x", 1, Some(1)));
    assert_eq!(
        told(&deployment.request("/x", 1, Some(1))),
        Some(("x/ip", secs(60))),
        "but for a minute it has another one"
    );
}

#[test]
fn used_up_day_waits_for_a_limit_that_lasts_longer() {
    let deployment = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "1/day", "global": "1/30d"}}"#);
    assert!(deployment.passes("/x", 1, None));
    let mut refused = deployment.request("/x", 1, None);
    assert_eq!(told(&refused), Some(("x/ip", secs(30 * 86_400))));
    let refusal = refused.refusal.as_mut().unwrap();
    assert!(refusal.until.is_some());
    refusal.wait_at_least(refused.min_wait);
    assert_eq!((refusal.wait, refusal.until), (secs(30 * 86_400), None), "it is not the next day that is waited for");
}

#[test]
fn shadow_limits_and_tokens_in_hand_add_no_wait() {
    let vars = r#"{"LIMIT_BASE": {"per_ip": "1/h", "mode": "shadow"}, "LIMIT_X": {"route": "/x", "per_ip": "1/min"}}"#;
    let deployment = Deployment::new(vars);
    assert!(deployment.passes("/x", 1, None));
    assert_eq!(told(&deployment.request("/x", 1, None)), Some(("x/ip", secs(60))));
}

#[test]
fn passing_request_has_no_wait() {
    let deployment = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "1/h"}}"#);
    assert_eq!(deployment.request("/x", 1, None).min_wait, Span::ZERO);
}

#[test]
fn wait_covers_a_used_up_day_and_a_warming_rate() {
    let hours = |limits: &str| {
        let deployment = Deployment::new(&format!(r#"{{"LIMIT_X": {{"route": "/x", "per_ip": "1/s", {limits}}}}}"#));
        assert!(deployment.passes("/x", 1, None));
        let (limit, wait) = told(&deployment.request("/x", 1, None)).unwrap();
        assert_eq!(limit, "x/ip");
        deployment.forward(wait);
        assert!(deployment.passes("/x", 1, None), "{wait}");
        wait
    };
    assert!(hours(r#""global": "1/day""#) > secs(60));
    assert!(hours(r#""global": "20/min burst 10", "warmup": "30s""#) > secs(3));
}

#[test]
fn returned_last_token_of_a_day_adds_no_wait() {
    let limits = r#""per_ip": "10/min burst 1", "per_key": "2/day""#;
    let deployment = Deployment::new(&format!(r#"{{"KEY": "bearer", "LIMIT_X": {{"route": "/x", {limits}}}}}"#));
    assert!(deployment.passes("/x", 1, Some(1)));
    assert_eq!(
        told(&deployment.request("/x", 1, Some(1))),
        Some(("x/ip", secs(6))),
        "its key's last token was not needed"
    );
    let route = deployment.policy.route("GET", "example.com", "/x");
    let plan =
        Plan::new(&deployment.policy, route, Subject::from_bytes([1; 16]), |_| Some(Subject::from_bytes([1; 16])));
    for task in deployment.gate().idle_quota_tasks(&plan) {
        run(deployment.gate().return_idle_quota(task));
    }
    assert_eq!(told(&deployment.request("/x", 1, Some(1))).map(|(limit, _)| limit), Some("x/ip"));
    let wait = told(&deployment.request("/x", 1, Some(1))).unwrap().1;
    assert!(wait <= secs(6), "{} s", wait.as_secs_up());
    deployment.forward(wait);
    assert!(deployment.passes("/x", 1, Some(1)));
}

/// A client of one address that sends requests to `/x`, and repeats each of them when it is told.
struct Client<'d> {
    deployment: &'d Deployment,
    spread: RetrySpread,
}

impl<'d> Client<'d> {
    fn of(deployment: &'d Deployment) -> Client<'d> {
        Client { deployment, spread: RetrySpread::default() }
    }

    /// Returns the whole seconds that a request is told to wait; zero if it passes.
    fn wait(&mut self) -> u64 {
        let mut decision = self.deployment.request("/x", 1, Some(1));
        set_wait(&mut decision, &mut self.spread, Subject::from_bytes([1; 16]), now());
        decision.refusal.map_or(0, |refusal| refusal.wait.as_secs_up().max(1))
    }

    /// Repeats `count` requests until all have passed, and returns the most tries of one of them.
    fn tries_until_all_pass(&mut self, count: usize) -> u32 {
        let mut due: Vec<(Time, u32)> = vec![(now(), 1); count];
        let mut most = 0;
        while let Some(next) = (0..due.len()).min_by_key(|index| due[*index].0) {
            let (at, tries) = due.remove(next);
            self.deployment.forward(at.since(now()));
            match self.wait() {
                0 => most = most.max(tries),
                secs => due.push((now().plus(Span::from_secs(secs)), tries + 1)),
            }
            assert!(tries < 20, "never through");
        }
        most
    }
}

#[test]
fn sdk_11_requests_refused_at_once_are_told_different_waits() {
    let table: &[(&str, usize, &[u64])] = &[
        (r#""per_ip": "20/min burst 3""#, 3, &[3, 6, 9, 9, 9, 9]),
        (r#""per_key": "20/min burst 3", "cost": 2"#, 1, &[3, 3, 3]),
        (r#""per_ip": ["10/s burst 3", "6/min burst 6"]"#, 3, &[1, 1, 1]),
        (r#""global": "20/min burst 4""#, 4, &[3, 6, 9, 12, 12]),
        // The waits of both limits, whichever refuses.
        (r#""per_ip": "30/min burst 4", "per_key": "6/min burst 4""#, 4, &[10, 20, 30, 40, 40]),
    ];
    for (limits, passing, waits) in table {
        let deployment = Deployment::new(&format!(r#"{{"LIMIT_X": {{"route": "/x", {limits}}}}}"#));
        let mut client = Client::of(&deployment);
        assert_eq!((0..*passing).map(|_| client.wait()).max(), Some(0), "{limits}");
        assert_eq!(waits.iter().map(|_| client.wait()).collect::<Vec<_>>(), *waits, "{limits}");
    }
}

#[test]
fn sdk_11_requests_refused_at_once_all_pass_with_two_retries() {
    for limits in [
        r#""per_ip": "20/min burst 3""#,
        r#""per_key": "20/min burst 3""#,
        r#""global": "20/min burst 3""#,
        r#""per_ip": "20/min burst 3", "per_key": "30/min burst 3", "global": "100/s""#,
    ] {
        let deployment = Deployment::new(&format!(r#"{{"LIMIT_X": {{"route": "/x", {limits}}}}}"#));
        assert_eq!(deployment.passing(3, "/x", 1, Some(1)), 3);
        let tries = Client::of(&deployment).tries_until_all_pass(6);
        assert!(tries <= 3, "{limits}: {tries} tries");
    }
}

#[test]
fn hdr_03_single_request_is_told_its_own_wait_again_when_it_comes_early() {
    let deployment = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "10/min"}}"#);
    assert_eq!(deployment.passing(10, "/x", 1, None), 10);
    let mut client = Client::of(&deployment);
    let mut told = Vec::new();
    for pause in [0, 2, 4] {
        deployment.forward(secs(pause));
        told.push(client.wait());
    }
    assert_eq!(told, [6, 4, 0]);
}

#[test]
fn requests_that_a_used_up_day_refuses_at_once_all_wait_for_the_next() {
    let deployment = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "3/day"}}"#);
    assert_eq!(deployment.passing(3, "/x", 1, None), 3);
    let mut client = Client::of(&deployment);
    let waits = [(); 4].map(|()| client.wait());
    assert_eq!(waits, [waits[0]; 4]);
}
