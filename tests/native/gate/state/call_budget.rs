//! The day's budget of calls: it is counted with few calls, and runs out in stages.

use crate::gate::support::Deployment;
use crate::support::{EVENING, run};
use penstock::gate::decision::Reason;
use penstock::gate::state::call_budget::{BudgetStage, CallBudget, SAVING_HORIZON};
use penstock::limit::time::Span;
use penstock::protocol::rates::{CallError, Outcome, Terms};

const HOUR: Span = Span::from_secs(3_600);

fn left(left: u64) -> Option<Outcome> {
    Some(Outcome::Met { left, more: HOUR.times(6), slot: Span::ZERO, until: None })
}

#[test]
fn stages_follow_in_order_and_start_again_with_the_day() {
    let mut budget = CallBudget::new(Some(1_000));
    let stages = [
        (999, BudgetStage::Plenty),
        (250, BudgetStage::Plenty),
        (249, BudgetStage::Saving),
        (99, BudgetStage::Sampling),
        (19, BudgetStage::Alone),
    ];
    for (rest, stage) in stages {
        budget.record(4, left(rest).as_ref(), EVENING);
        assert_eq!(budget.stage(EVENING), stage, "{rest} left");
    }
    assert_eq!(
        (budget.stage_change(EVENING), budget.stage_change(EVENING)),
        (Some(BudgetStage::Alone), None),
        "said once"
    );
    assert_eq!(budget.stage(EVENING.plus(HOUR.times(6))), BudgetStage::Plenty);
}

#[test]
fn each_stage_is_logged_once_a_day() {
    let mut budget = CallBudget::new(Some(1_000));
    let mut told = |rest, at| {
        budget.record(4, left(rest).as_ref(), at);
        budget.stage_change(at)
    };
    let (today, tomorrow) = (EVENING, EVENING.plus(HOUR.times(24)));
    let of_today = [999, 200, 260, 200, 50, 260, 10].map(|rest| told(rest, today));
    let [saving, plenty, sampling, alone] =
        [BudgetStage::Saving, BudgetStage::Plenty, BudgetStage::Sampling, BudgetStage::Alone].map(Some);
    assert_eq!(of_today, [None, saving, plenty, None, sampling, None, alone]);
    assert_eq!(budget.stage_change(tomorrow), plenty);
    budget.record(4, left(200).as_ref(), tomorrow);
    assert_eq!(budget.stage_change(tomorrow), saving);
}

#[test]
fn call_with_rows_or_d1_statements_counts_as_the_most_of_them() {
    let due_after = |rows, d1| {
        let mut budget = CallBudget::new(Some(1_000));
        budget.record(64, left(900).as_ref(), EVENING);
        (1..).find(|_| {
            budget.spend(1);
            budget.spend_more(rows, d1);
            budget.is_due(EVENING)
        })
    };
    assert_eq!((due_after(0, 0), due_after(1, 1)), (Some(63), Some(63)));
    assert_eq!((due_after(3, 0), due_after(1, 3)), (Some(21), Some(21)));
}

#[test]
fn spent_budget_is_named_as_the_reason_with_its_end() {
    let closed = with_calls_left(10, r#"{"LIMIT_BASE": {"global": "5/min"}}"#);
    let decision = closed.request("/", 1, None);
    let spent = CallError::OverBudget(HOUR.times(6));
    assert_eq!(decision.unchecked[0].error, Some(spent));
    assert_eq!(decision.refusal.unwrap().wait, HOUR.times(6));
    let local = with_calls_left(10, r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    let error = local.request("/", 1, None).unchecked[0].error.clone().unwrap();
    assert!(error.to_string().contains("BUDGET"), "{error}");
}

#[test]
fn used_up_day_is_asked_about_again_and_missing_count_stops_nothing() {
    let mut budget = CallBudget::new(Some(1_000));
    assert!(budget.is_due(EVENING));
    budget.question(EVENING);
    budget.record(4, Some(&Outcome::Refused { left: 0, wait: HOUR, until: None }), EVENING);
    assert_eq!((budget.stage(EVENING), budget.is_due(EVENING)), (BudgetStage::Alone, false));
    assert!(budget.is_due(EVENING.plus(Span::from_secs(60))));
    let mut away = CallBudget::new(Some(1_000));
    away.question(EVENING);
    away.record(4, None, EVENING);
    assert_eq!(away.stage(EVENING), BudgetStage::Plenty);
}

#[test]
fn credit_of_one_day_is_no_debt_of_the_next() {
    let mut budget = CallBudget::new(Some(1_000));
    budget.record(4, left(900).as_ref(), EVENING);
    budget.spend(700);
    assert_eq!(budget.question(EVENING).demands[0].cost, 8 + 700 - 4 + 1);
    budget.record(705, Some(&Outcome::Refused { left: 0, wait: HOUR.times(6), until: None }), EVENING);
    budget.spend(1_000);
    let late = EVENING.plus(HOUR.times(5));
    assert_eq!(budget.question(late).demands[0].cost, 1_000, "no more than any day has room for");
    let midnight = EVENING.plus(HOUR.times(6));
    assert!(budget.is_due(midnight));
    assert_eq!(budget.question(midnight).demands[0].cost, 8 + 1);
    assert!(!budget.is_due(midnight), "and once");
}

#[test]
fn missing_budget_counts_nothing() {
    let mut budget = CallBudget::new(None);
    (0..100).for_each(|_| budget.spend(1));
    assert!(!budget.is_due(EVENING));
}

#[test]
fn all_calls_are_counted_with_few_calls() {
    let mut budget = CallBudget::new(Some(90_000));
    let (mut calls, mut paid, mut questions) = (0_u64, 0, 0);
    for _ in 0..10_000 {
        budget.spend(1);
        calls += 1;
        if budget.is_due(EVENING) {
            let ask = budget.question(EVENING);
            calls += 1;
            questions += 1;
            paid += ask.demands[0].cost;
            assert_eq!(ask.demands[0].terms, Terms::Quota(90_000, "UTC".parse().unwrap()));
            budget.record(ask.demands[0].cost, left(90_000 - paid).as_ref(), EVENING);
        }
    }
    assert!(paid >= calls && paid <= calls + 128, "{paid} paid for {calls}");
    assert!(questions <= 250, "{questions}");
}

/// Makes a deployment with `rest` of 1,000 calls left.
fn with_calls_left(rest: u64, vars: &str) -> Deployment {
    let deployment = Deployment::new(vars);
    let mut budget = CallBudget::new(Some(1_000));
    budget.record(4, left(rest).as_ref(), EVENING);
    deployment.state.call_budget.replace(budget);
    deployment
}

#[test]
fn low_budget_samples_slow_callers_and_spent_budget_asks_nothing() {
    let vars = r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#;
    for (rest, asked) in [(900, 240..=240), (200, 240..=240), (90, 15..=45), (10, 0..=0)] {
        let deployment = with_calls_left(rest, vars);
        let passed = (0..240).filter(|ip| deployment.passes("/", *ip, None)).count();
        assert_eq!(passed, 240);
        let calls = deployment.calls.get();
        assert!(asked.contains(&calls), "{calls} with {rest} left");
        assert!(
            deployment.passing(20, "/", 7, None) <= 4,
            "and one caller still gets no more than the limit: {rest} left"
        );
    }
    let closed = with_calls_left(10, r#"{"LIMIT_BASE": {"global": "5/min"}}"#);
    let refusal = closed.request("/", 1, None).refusal.unwrap();
    assert_eq!(refusal.reason, Reason::LimiterUnavailable);
    assert_eq!(refusal.wait, HOUR.times(6), "it cannot be checked before the day's next calls");
    let sampled = with_calls_left(90, r#"{"LIMIT_BASE": {"global": "500/min"}}"#);
    assert_eq!(sampled.passing(20, "/", 1, None), 20, "what must be checked is not sampled");
}

#[test]
fn sampling_asks_about_every_limit_of_a_slow_caller() {
    let deployment = with_calls_left(90, r#"{"KEY": "bearer", "LIMIT_BASE": {"per_ip": "900/s", "per_key": "900/s"}}"#);
    assert_eq!(deployment.passing(400, "/", 1, Some(1)), 400);
    assert_eq!(deployment.actors.borrow().len(), 2, "the address's actor as well as the key's");
}

#[test]
fn saved_calls_make_leases_last_longer() {
    let calls = |rest| {
        let deployment =
            with_calls_left(rest, r#"{"LIMIT_BASE": {"global": "1000/s burst 60000", "on_error": "open"}}"#);
        for _ in 0..1_000 {
            let route = deployment.policy.route("GET", "h", "/");
            let subject = penstock::identity::Subject::from_bytes([1; 16]);
            let plan = penstock::gate::plan::Plan::new(&deployment.policy, route, subject, |_| None);
            assert!(run(deployment.gate().decide(&plan)).refusal.is_none());
            for task in deployment.gate().refill_tasks(&plan) {
                run(deployment.gate().refill(task));
            }
            deployment.forward(Span::from_millis(20));
        }
        deployment.calls.get()
    };
    let (usual, saving) = (calls(900), calls(200));
    assert!(saving * 3 < usual, "{saving} calls while saving, {usual} usually; leases last {SAVING_HORIZON}");
}

#[test]
fn calls_are_prepaid_from_one_count_of_the_deployment() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    deployment.state.call_budget.replace(CallBudget::new(Some(1_000)));
    for ip in 0..200 {
        assert!(deployment.passes("/", ip, None));
        run(deployment.gate().prepay());
    }
    let used = deployment.used("budget quota day UTC");
    assert!(
        u64::from(deployment.calls.get()) <= used && used <= 200 + 200,
        "{used} for {} calls",
        deployment.calls.get()
    );
    deployment.error.replace(Some(CallError::Late));
    assert!(deployment.passes("/", 1, None), "a count that is away takes no limit along");
}

#[test]
fn credit_beyond_one_chunk_is_paid_by_the_next() {
    let mut budget = CallBudget::new(Some(100_000));
    let asked = budget.question(EVENING).demands[0].cost;
    budget.spend(200);
    budget.record(asked, left(90_000).as_ref(), EVENING);
    let next = budget.question(EVENING).demands[0].cost;
    assert!(asked + next > 200, "{asked} and {next}");
}
