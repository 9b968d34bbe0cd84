//! Simulated callers that ask a deployment at random or in turn.

use super::support::Deployment;
use penstock::limit::time::Span;

/// A caller that sends requests at random times, and the counts of them.
#[derive(Clone, Copy)]
pub struct Asker {
    /// The number of its address.
    pub ip: u8,
    pub path: &'static str,
    /// Requests per second, on average.
    pub per_second: f64,
    pub asked: u32,
    pub passed: u32,
}

pub fn asker(ip: u8, path: &'static str, per_second: f64) -> Asker {
    Asker { ip, path, per_second, asked: 0, passed: 0 }
}

/// Lets the callers ask for `seconds`. The first three are not counted, because contention must be
/// noticed first.
pub fn ask(deployment: &Deployment, askers: &mut [Asker], seconds: u64) {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for millis in 0..seconds * 1_000 {
        for at in 0..askers.len() {
            // Another caller comes first in each millisecond.
            let index = (at + millis as usize * 7) % askers.len();
            let asker = &mut askers[index];
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

/// Returns the fraction of the requests that passed.
pub fn part(askers: &[Asker]) -> f64 {
    let (passed, asked) = askers.iter().fold((0, 0), |(p, a), one| (p + one.passed, a + one.asked));
    f64::from(passed) / f64::from(asked)
}

/// Returns the number of requests that passed.
pub fn passed(askers: &[Asker]) -> f64 {
    askers.iter().map(|one| f64::from(one.passed)).sum()
}

/// Lets `callers` ask in turn, each once in `every`, `steps` times. Returns the number of requests
/// that pass, and the longest wait that is told.
pub fn in_turn(deployment: &Deployment, callers: u64, every: Span, steps: u64) -> (u32, Span) {
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

/// Returns the requests per second that pass of each caller, once the share level has settled.
pub fn settled<const N: usize>(deployment: &Deployment, mut askers: [Asker; N]) -> [f64; N] {
    ask(deployment, &mut askers, 20);
    let mut askers = askers.map(|one| asker(one.ip, one.path, one.per_second));
    ask(deployment, &mut askers, 23);
    let given = askers.map(|one| f64::from(one.passed) / 20.0);
    println!("{given:?} a second");
    given
}
