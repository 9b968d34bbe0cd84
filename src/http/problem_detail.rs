//! The explanation of a refusal, in one or two English sentences: the member `detail` of a problem,
//! and its form in plain text.

use crate::gate::decision::{CapRefusal, Reason, Refusal};
use crate::policy::{Cap, Limit, Scope, Size};

/// Explains a refusal by a limit. `retry_after` is in seconds, and `retry_at` is the same moment in
/// RFC 3339.
pub fn limit_refused(refusal: &Refusal<'_>, retry_after: u64, retry_at: &str) -> String {
    let Limit { name, allowance, scope, .. } = refusal.limit;
    let wait = seconds(retry_after);
    let caller = match scope {
        Scope::Ip => "this address",
        Scope::Key => "this key",
        Scope::Global => "everyone together",
    };
    match refusal.reason {
        Reason::RateLimited => {
            format!("Too many requests from {caller}: {name} allows {allowance}. There is room again in {wait}.")
        }
        Reason::QuotaExhausted => {
            // A client that also has to wait for other limits may come back later than at midnight.
            let again = if refusal.until.is_some() { "The next day begins at" } else { "There is room again at" };
            format!("The day's quota of {caller} is used up: {name} allows {allowance}. {again} {retry_at}.")
        }
        Reason::OverCapacity if *scope == Scope::Global => {
            format!("It is crowded: {name} allows {allowance} for {caller}. There is room again in {wait}.")
        }
        Reason::OverCapacity => {
            format!("It is crowded: {name} counts as many callers as it can. There is room again in {wait}.")
        }
        Reason::LimiterUnavailable => unchecked(name, &wait),
    }
}

/// Explains a refusal by a cap, which is full or could not be checked.
pub fn cap_refused(refusal: &CapRefusal<'_>) -> String {
    let Cap { name, size, .. } = &**refusal.cap;
    let wait = seconds(refusal.wait.as_secs_up());
    if refusal.reason == Reason::LimiterUnavailable {
        return unchecked(name, &wait);
    }
    let counted = if name.ends_with("/sockets") { "open WebSockets" } else { "requests" };
    let most = match size {
        Size::Fixed(most) => format!("{most} {counted} at once"),
        Size::Auto { .. } => format!("as many {counted} at once as the origin can do with"),
    };
    format!("It is full: {name} allows {most} for everyone together. Try again in {wait}.")
}

/// Explains a refusal by a limit or cap that could not be checked.
fn unchecked(name: &str, wait: &str) -> String {
    format!("The limit {name} cannot be checked now, and nothing may pass it unchecked. Try again in {wait}.")
}

/// A number of seconds in English.
fn seconds(count: u64) -> String {
    if count == 1 { "1 second".to_string() } else { format!("{count} seconds") }
}
