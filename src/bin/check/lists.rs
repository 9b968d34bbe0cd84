//! The lines below the table: address lists, and the fields of bindings that are not in the table.

use penstock::limit::time::Span;
use penstock::policy::{Access, Capacity, Policy, Priority};

/// Returns one line for each address list with entries, and for each such field with a value.
pub fn lists(policy: &Policy) -> String {
    let access = |prefix: &str, allow: &str, block: &str, access: &Access| {
        let lists = [(allow, &access.allow), (block, &access.block)];
        let filled = lists.into_iter().filter(|(_, nets)| !nets.0.is_empty());
        filled.map(|(name, nets)| format!("{prefix}{name}: {nets}\n")).collect::<String>()
    };
    let mut text = access("", "ALLOW", "BLOCK", &policy.settings.access);
    for binding in policy.base.iter().chain(&policy.bindings) {
        let var = binding.name.to_ascii_uppercase().replace('-', "_");
        let prefix = format!("LIMIT_{var}.");
        text += &access(&prefix, "allow", "block", &binding.access);
        text += &capacity(&prefix, &binding.capacity);
    }
    text
}

fn capacity(prefix: &str, capacity: &Capacity) -> String {
    // Caps have rows in the table. A new field of `Capacity` has to be named here, and printed.
    let Capacity { in_flight: _, sockets: _, wait, timeout, upload, socket_idle, priority, warmup } = capacity;
    let span = |name: &str, span: Option<&Span>| span.map(|span| format!("{prefix}{name}: {span}\n"));
    let priority = (*priority != Priority::default()).then(|| format!("{prefix}priority: {priority}\n"));
    let waits = (*wait > Span::ZERO).then_some(wait);
    let bounds = [("timeout", timeout), ("upload", upload), ("socket_idle", socket_idle)];
    let bounds = bounds.map(|(name, bound)| span(name, bound.as_ref()));
    let lines = [span("wait", waits)].into_iter().chain(bounds).chain([priority, span("warmup", warmup.as_ref())]);
    lines.flatten().collect()
}
