//! Warnings about a policy that has no fault, and a word on the fate of requests where it has one.

use penstock::limit::counted::counted;
use penstock::limit::lease::PREPAY_DIVISOR;
use penstock::limit::rate::Allowance;
use penstock::limit::time::Span;
use penstock::policy::{Binding, Capacity, Limit, Misconfigured, Mode, Policy, Reading, Scope, Settings};

/// More requests than this in a second, each with a call, are worth a warning.
const MANY_CALLS: u64 = 25;

/// A lease that is spent in less than this is spent before a call for the next one returns.
const ROUND_TRIP: Span = Span::from_millis(20);

/// A name in a path with as many changes from letters to digits or back is no word.
const RANDOM_TURNS: usize = 4;

/// Returns all warnings about `policy`, as it is written.
pub fn warnings(policy: &Policy) -> Vec<String> {
    let settings = &policy.settings;
    let mut warnings: Vec<String> = mode(settings.mode).into_iter().collect();
    if settings.misconfigured == Misconfigured::Open {
        warnings
            .push("MISCONFIGURED is \"open\": should the configuration be broken, requests pass without limits".into());
    }
    warnings.extend(settings.weak_secrets().into_iter().map(|(name, weakness)| format!("{name} {weakness}")));
    warnings.extend(settings.origin.as_deref().and_then(path_as_lock));
    warnings.extend(keys_alone(policy));
    let limits = policy.base.iter().chain(&policy.bindings).flat_map(|binding| &binding.limits);
    warnings.extend(limits.filter_map(small_burst));
    warnings.extend(policy.base.iter().chain(&policy.bindings).flat_map(|binding| unbounded(policy, binding)));
    warnings
}

fn mode(mode: Option<Mode>) -> Option<String> {
    let effect = match mode {
        Some(Mode::Enforce) => return None,
        Some(Mode::Shadow) => "MODE is \"shadow\": limits and caps decide, count and log",
        None => "MODE is \"off\": limits and caps are not asked",
    };
    Some(format!("NOTHING IS ENFORCED: {effect}, and refuse nobody; BLOCK, timeout and upload hold"))
}

/// Returns the line about the lock of an origin that anyone may reach, if there is an `ORIGIN`.
/// Secrets are not in the file, so it is no warning: the lock may be there.
pub fn origin_lock(settings: &Settings) -> Option<&'static str> {
    (settings.origin.is_some() && settings.origin_secret.is_none()).then_some(
        "if others can reach ORIGIN, let it refuse requests without the right Penstock-Origin-Secret; \
         `wrangler secret put ORIGIN_SECRET` makes Penstock send it (docs/origin.md)",
    )
}

/// Warns of an `ORIGIN` whose path is most likely there to be known by nobody.
fn path_as_lock(origin: &str) -> Option<String> {
    let (_, path) = origin.split_once("://")?.1.split_once('/')?;
    let looks_random = |segment: &str| {
        let mut marks = segment.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.is_ascii_digit());
        let mut last = marks.next();
        let turns = marks.filter(|mark| last.replace(*mark) != Some(*mark));
        segment.to_ascii_lowercase().contains("secret") || turns.count() >= RANDOM_TURNS
    };
    path.split('/').any(looks_random).then(|| {
        "the path of ORIGIN looks like a lock, but the origin tells it wherever it writes its own addresses into a page; \
         `wrangler secret put ORIGIN_SECRET` makes a lock of a header, which no answer holds"
            .to_owned()
    })
}

/// Warns of bindings that count keys and no addresses. A key is a claim: a client that sends a new
/// one with each request meets no such limit.
fn keys_alone(policy: &Policy) -> Vec<String> {
    let counts = |binding: &Binding, scope| {
        binding.limits.iter().any(|limit| limit.scope == scope && limit.mode == Mode::Enforce)
    };
    let base = policy.base.as_ref().is_some_and(|base| counts(base, Scope::Ip));
    let alone = policy
        .base
        .iter()
        .chain(&policy.bindings)
        .filter(|binding| !base && counts(binding, Scope::Key) && !counts(binding, Scope::Ip));
    alone
        .map(|binding| {
            format!(
                "{} counts keys alone: who sends none, or a new one each time, meets no limit of its own; \
                 add per_ip there or to LIMIT_BASE",
                binding.name
            )
        })
        .collect()
}

/// Warns of a fast rate whose burst is small. A lease is at most a part of the tokens that are
/// left, so one of a small burst is spent before the next one is there. The simulation of `make
/// fleet` has 1,000 calls per 1,000 requests at `3000/s burst 100`, and 6 at a burst of 3,000.
fn small_burst(limit: &Limit) -> Option<String> {
    let Allowance::Rate(rate) = &limit.allowance else { return None };
    let (burst, per_second) = (rate.gcra().burst(), rate.count().div_ceil(rate.period().as_secs_up().max(1)));
    let lease = burst.checked_div(PREPAY_DIVISOR)?.max(1);
    let is_short = rate.gcra().interval().times(lease) < ROUND_TRIP;
    let calls = per_second.checked_div(limit.cost)?;
    (is_short && calls > MANY_CALLS && burst < per_second).then(|| {
        format!(
            "{} has a small burst: an isolate takes {} ahead at most, and has nothing left before more is there, so \
             nearly every request costs a call to its object, {calls} in a second; burst {per_second} makes that a \
             few per 1,000 requests",
            limit.name,
            counted(lease, "token")
        )
    })
}

/// Warns of caps whose permits a single client or a silent origin may keep for as long as it likes.
fn unbounded(policy: &Policy, binding: &Binding) -> Vec<String> {
    let is_base = binding.routes.is_empty();
    let route = Some(binding).filter(|_| !is_base);
    let Capacity { in_flight, sockets, .. } = &binding.capacity;
    let at = if is_base { "" } else { " there or in LIMIT_BASE" };
    let mut warnings = Vec::new();
    if let Some(cap) = in_flight.as_ref().filter(|cap| cap.mode == Mode::Enforce && policy.timeout(route).is_none()) {
        let body = match policy.upload(route) {
            Some(_) => "",
            None => ", and upload says how long a client's body may stand still, 30s if it is left out",
        };
        warnings.push(format!(
            "{} has no timeout: requests that the origin never answers keep its permits; set timeout{at}{body}",
            cap.name
        ));
    }
    if let Some(cap) = sockets.as_ref().filter(|cap| cap.mode == Mode::Enforce && policy.socket_idle(route).is_none()) {
        warnings.push(format!(
            "{} has no socket_idle: the runtime answers an origin's pings for a client that is gone, and its slot \
             stays taken; set socket_idle{at}",
            cap.name
        ));
    }
    warnings
}

/// Says what would happen to requests of a deployment with faults, where `MISCONFIGURED` is
/// `open`. Empty: it is not, or there are no faults that the Worker would find.
pub fn fate(name: &str, reading: Option<Reading>, lacks_bindings: bool) -> String {
    let Some(reading) = reading.filter(|reading| reading.written.settings.misconfigured == Misconfigured::Open) else {
        return String::new();
    };
    let (policy, faults) = reading.into_policy();
    let fate = match policy {
        Some(_) if faults.is_empty() && !lacks_bindings => return String::new(),
        Some(_) => "requests would pass without limits",
        None => "requests would be answered with 500 all the same, since ORIGIN cannot be read",
    };
    format!("{name}: MISCONFIGURED is \"open\": deployed like this, {fate}\n")
}
