//! Times one decision, natively, beside the `governor` crate's direct check, and shows that it allocates nothing: what is
//! left of a limiter's cost when every call and write is taken away.
#![allow(clippy::disallowed_methods, reason = "a benchmark is about real time")]
#![allow(clippy::expect_used, clippy::arithmetic_side_effects)]
#![allow(unsafe_code, reason = "a global allocator is unsafe by its trait; this one only counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use governor::clock::{Clock, FakeRelativeClock, QuantaClock};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use penstock::limit::gcra::Gcra;
use penstock::limit::time::{Span, Time};

const DECISIONS: u64 = 5_000_000;
const ROUNDS: usize = 9;

/// The limit of both: 100 a second, 200 at once.
const INTERVAL: Duration = Duration::from_millis(10);
const BURST: u32 = 200;

/// Counts what is asked of the system's allocator.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is the system allocator's own, with the caller's arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Something that decides about one request more, which came `gap` after the last one.
type Decide = Box<dyn FnMut(Duration) -> bool>;

/// Penstock, its clock a variable.
fn penstock() -> Decide {
    let gcra = Gcra::new(Span::from_nanos(nanos(INTERVAL)), u64::from(BURST)).expect("100/s burst 200");
    let (mut now, mut tat) = (Time::from_millis(1_764_439_200_000), Time::from_nanos(0));
    Box::new(move |gap| {
        now = now.plus(Span::from_nanos(nanos(gap)));
        match black_box(gcra).take(tat, black_box(now), 1) {
            Ok(later) => {
                tat = later;
                true
            }
            Err(_) => false,
        }
    })
}

/// `governor`, on a clock that costs as little to read as one can.
fn governor() -> Decide {
    let clock = FakeRelativeClock::default();
    let limiter = limiter(clock.clone());
    Box::new(move |gap| {
        clock.advance(gap);
        black_box(&limiter).check().is_ok()
    })
}

/// `governor` as it comes, on its default clock.
fn governor_quanta() -> Decide {
    let limiter = limiter(QuantaClock::default());
    Box::new(move |_| black_box(&limiter).check().is_ok())
}

fn limiter<C: Clock>(clock: C) -> RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<C::Instant>> {
    let burst = NonZeroU32::new(BURST).expect("not zero");
    let quota = Quota::with_period(INTERVAL).expect("not zero").allow_burst(burst);
    RateLimiter::direct_with_clock(quota, clock)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("short")
}

/// Nanoseconds per decision for callers that come every `gap`, the share that is admitted, and allocations in all.
fn round(make: fn() -> Decide, gap: Duration) -> (f64, f64, u64) {
    let mut decide = make();
    let mut admitted = 0_u64;
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let began = Instant::now();
    for _ in 0..DECISIONS {
        admitted += u64::from(decide(gap));
    }
    let took = began.elapsed();
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    (took.as_nanos() as f64 / DECISIONS as f64, admitted as f64 / DECISIONS as f64, allocations)
}

/// What is measured: makes a bucket, and what decides about a request to it.
type Subject = fn() -> Decide;

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() {
    println!(
        "One decision, 100/s burst 200: ns, median (lowest to highest) of {ROUNDS} rounds of {DECISIONS}, in turn"
    );
    for (traffic, gap) in [("all admitted", 12), ("nine in ten refused", 1)] {
        let subjects: [(&str, Subject); 3] =
            [("penstock", penstock), ("governor, same clock", governor), ("governor, own clock", governor_quanta)];
        let mut times: [Vec<f64>; 3] = Default::default();
        let mut admitted = [0.0; 3];
        let mut allocations = [0; 3];
        for _ in 0..ROUNDS {
            for (index, (_, make)) in subjects.iter().enumerate() {
                let (took, share, allocated) = round(*make, Duration::from_millis(gap));
                if let (Some(times), Some(at), Some(sum)) =
                    (times.get_mut(index), admitted.get_mut(index), allocations.get_mut(index))
                {
                    times.push(took);
                    *at = share;
                    *sum += allocated;
                }
            }
        }
        println!("\n{traffic}");
        let mut ours = None;
        for (((name, _), times), (share, allocated)) in
            subjects.iter().zip(&mut times).zip(admitted.iter().zip(allocations))
        {
            let middle = median(times);
            let (low, high) = (times.first().copied().unwrap_or(middle), times.last().copied().unwrap_or(middle));
            let ratio = middle / *ours.get_or_insert(middle);
            println!(
                "  {name:<21} {middle:6.2} ({low:.2} to {high:.2})  × {ratio:5.2}  admitted {:5.1} %  allocations {allocated}",
                share * 100.0
            );
        }
    }
    println!("\ngovernor's own clock runs at the real speed, so nearly everything is refused there.");
}
