//! The explanation of a refusal, in one or two English sentences: the member `detail` of a problem,
//! and its form in plain text.

use crate::gate::decision::{CapRefusal, Reason, Refusal};
use crate::limit::counted::counted;
use crate::policy::{Cap, Limit, Scope, Size};

/// Explains a refusal by a limit. `retry_after` is in seconds, and `retry_at` is the same moment in
/// RFC 3339.
pub fn limit_refused(refusal: &Refusal<'_>, retry_after: u64, retry_at: &str) -> String {
    let Limit { name, allowance, scope, .. } = refusal.limit;
    let wait = counted(retry_after, "second");
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
            format!("It is crowded: {name} allows {allowance} for {caller}. There may be room again in {wait}.")
        }
        Reason::OverCapacity => {
            format!("It is crowded: {name} counts as many callers as it can. There may be room in {wait}.")
        }
        Reason::LimiterUnavailable => unchecked(name, &wait),
    }
}

/// Explains a refusal by a cap, which is full or could not be checked.
pub fn cap_refused(refusal: &CapRefusal<'_>) -> String {
    let Cap { name, size, .. } = &**refusal.cap;
    let wait = counted(refusal.wait.as_secs_up(), "second");
    if refusal.reason == Reason::LimiterUnavailable {
        return unchecked(name, &wait);
    }
    let noun = if name.ends_with("/sockets") { "open WebSocket" } else { "request" };
    let most = match size {
        Size::Fixed(most) => counted(*most, noun) + " at once",
        Size::Auto { .. } => format!("as many {noun}s at once as the origin can do with"),
    };
    format!("It is full: {name} allows {most} for everyone together. Try again in {wait}.")
}

/// Explains a refusal by a limit or cap that could not be checked.
fn unchecked(name: &str, wait: &str) -> String {
    format!("The limit {name} cannot be checked now, and nothing may pass it unchecked. Try again in {wait}.")
}
