//! The identity of a counter: a text that says what a limit counts.
//!
//! A counter is known by its binding, the parts of a request that it tells apart, whether it is a
//! rate or a quota, its period or calendar, its algorithm, and among limits that agree in all of
//! these its ordinal. Count, burst, cost, mode, the place in a list and the printed name are no
//! part of it, so an edit of them leaves the counter, and all that it has counted, as it is.
//!
//! ```text
//! api ip rate 60s              per_ip = "5/min" of LIMIT_API
//! api ip rate 60s #2           the second rate per minute and address
//! api key quota day Asia/Shanghai
//! base global rate 1s
//! ```
//!
//! The fields are words. The parts are joined by `+`, in alphabetical order. Further facts follow
//! the period as further words, and the ordinal is the last one. Everything that is stored about a
//! limit is stored under this text or a digest of it, so the text of an existing limit never
//! changes. No printed name of an earlier version reads like it, since none has a space.

use crate::limit::rate::Allowance;
use crate::policy::limit::Limit;
use core::fmt::Write;

/// Gives each limit of one binding its counter, and the number that follows from it.
pub(super) fn name_counters(limits: &mut [Limit]) {
    let mut seen: Vec<String> = Vec::with_capacity(limits.len());
    for limit in limits {
        let mut counter = counter(&limit.binding, &[limit.scope.as_str()], &limit.allowance);
        let ordinal = seen.iter().filter(|other| **other == counter).count().saturating_add(1);
        seen.push(counter.clone());
        if ordinal > 1 {
            // Writing to a string cannot fail.
            let _ = write!(counter, " #{ordinal}");
        }
        limit.number = number(&counter);
        limit.counter = counter;
    }
}

/// Returns the counter of the first limit of a binding with this allowance and these `parts`, such
/// as `ip`, `ip/48`, `:id` or `header:x-tenant`. Without parts everyone is counted together.
pub fn counter(binding: &str, parts: &[&str], allowance: &Allowance) -> String {
    let mut text = binding.to_owned();
    let mut last: Option<&str> = None;
    // The next part in alphabetical order. There are few, and a sort would be a larger module.
    while let Some(part) = parts.iter().filter(|part| last.is_none_or(|last| last < **part)).min() {
        text.push(if last.is_none() { ' ' } else { '+' });
        push_escaped(&mut text, part);
        last = Some(part);
    }
    if last.is_none() {
        text.push_str(" global");
    }
    // Writing to a string cannot fail.
    let _ = match allowance {
        Allowance::Rate(rate) => write!(text, " rate {}s", rate.period().as_secs_up()),
        Allowance::Quota(quota) => write!(text, " quota day {}", quota.zone()),
    };
    text
}

/// Appends `part`, with `%`, `+`, `#` and every byte that is no visible ASCII as `%XX`.
fn push_escaped(text: &mut String, part: &str) {
    for byte in part.bytes() {
        if byte.is_ascii_graphic() && !b"%+#".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
}

/// Returns the number by which an isolate knows the counter: a digest of its text.
fn number(counter: &str) -> u64 {
    let mut bytes = [0; 8];
    blake3::Hasher::new().update(counter.as_bytes()).finalize_xof().fill(&mut bytes);
    u64::from_be_bytes(bytes)
}
