//! The limits of a policy as an aligned table.

use penstock::limit::rate::Allowance;
use penstock::limit::time::Span;
use penstock::policy::{Binding, Cap, Limit, Policy};

const HEADINGS: [&str; 9] = ["ROUTE", "LIMIT", "SCOPE", "RATE", "BURST", "INTERVAL", "COST", "MODE", "ON_ERROR"];

/// The cells of one line.
type Row = [String; 9];

/// The cells of one line after its route.
type LimitCells = [String; 8];

/// Returns one row for each limit, and one for each further pattern of a route. Columns are two
/// spaces apart.
pub fn table(policy: &Policy) -> String {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(policy.base.iter().chain(&policy.bindings).flat_map(binding_rows));
    let widths: Vec<usize> = (0..HEADINGS.len())
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let lines = rows.iter().map(|row| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    });
    lines.collect()
}

fn binding_rows(binding: &Binding) -> Vec<Row> {
    let mut routes: Vec<String> = binding.routes.iter().map(ToString::to_string).collect();
    if routes.is_empty() {
        routes.push("(every request)".to_owned());
    }
    let mut limits: Vec<LimitCells> = binding.limits.iter().map(limit_cells).collect();
    limits.extend(binding.capacity.in_flight.iter().chain(&binding.capacity.sockets).map(|cap| cap_cells(cap)));
    if limits.is_empty() {
        let mode = match binding {
            Binding { exempt: true, .. } => "exempt",
            Binding { off: true, .. } => "off",
            _ => "-",
        };
        limits.push([&binding.name, "-", "-", "-", "-", "-", mode, "-"].map(str::to_owned));
    }
    let count = routes.len().max(limits.len());
    let mut routes = routes.into_iter();
    let mut limits = limits.into_iter();
    let row = |_| {
        let [limit, scope, rate, burst, interval, cost, mode, on_error] = limits.next().unwrap_or_default();
        [routes.next().unwrap_or_default(), limit, scope, rate, burst, interval, cost, mode, on_error]
    };
    (0..count).map(row).collect()
}

fn limit_cells(limit: &Limit) -> LimitCells {
    let (rate, burst, interval) = match &limit.allowance {
        Allowance::Rate(rate) => {
            let gcra = rate.gcra();
            let written = rate.to_string();
            // The burst has a column of its own.
            let rate = written.split(' ').next().unwrap_or_default().to_owned();
            (rate, gcra.burst().to_string(), short(gcra.interval()))
        }
        Allowance::Quota(quota) => (quota.to_string(), "-".to_owned(), "-".to_owned()),
    };
    let [scope, cost] = [limit.scope.to_string(), limit.cost.to_string()];
    [limit.name.clone(), scope, rate, burst, interval, cost, limit.mode.to_string(), limit.on_error.to_string()]
}

fn cap_cells(cap: &Cap) -> LimitCells {
    let Cap { name, size, mode, on_error, .. } = cap;
    let [mode, on_error] = [mode.to_string(), on_error.to_string()];
    [name.clone(), "global".to_owned(), format!("{size} at once"), "-".into(), "-".into(), "1".into(), mode, on_error]
}

/// Prints a span with at most three digits after the point: `12s`, `50ms`, `16.667ms`.
fn short(span: Span) -> String {
    let nanos = span.as_nanos();
    let (unit, name) = match nanos {
        1_000_000_000.. => (1e9, "s"),
        1_000_000.. => (1e6, "ms"),
        1_000.. => (1e3, "µs"),
        _ => return format!("{nanos}ns"),
    };
    let number = format!("{:.3}", nanos as f64 / unit);
    format!("{}{name}", number.trim_end_matches('0').trim_end_matches('.'))
}
