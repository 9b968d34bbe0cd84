//! The limits of a policy as an aligned table.

use penstock::limit::rate::Allowance;
use penstock::limit::time::Span;
use penstock::policy::{Binding, Cap, Limit, Mode, Policy};

const HEADINGS: [&str; 8] = ["LIMIT", "SCOPE", "RATE", "BURST", "INTERVAL", "COST", "MODE", "ON_ERROR"];

/// The cells of one limit.
type Cells = [String; 8];

/// One binding in the table: its routes, then the limits that requests for any of them meet.
struct Group {
    routes: Vec<String>,
    limits: Vec<Cells>,
}

/// Returns the bindings, each with its routes on lines of their own and its limits below them.
/// Columns are two spaces apart. The mode is the one that holds in the end, by `MODE` too.
pub fn table(policy: &Policy) -> String {
    let bindings = policy.base.iter().chain(&policy.bindings);
    let groups: Vec<Group> = bindings.map(|binding| group(binding, policy.settings.mode)).collect();
    let mut headings = HEADINGS.map(str::to_owned);
    indent(&mut headings);
    let rows = || core::iter::once(&headings).chain(groups.iter().flat_map(|group| &group.limits));
    let widths: Vec<usize> = (0..HEADINGS.len())
        .map(|column| rows().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &Cells| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    let mut text = line(&headings);
    for Group { routes, limits } in &groups {
        text.extend(routes.iter().map(|route| format!("{route}\n")));
        text.extend(limits.iter().map(line));
    }
    text
}

fn group(binding: &Binding, deployment: Option<Mode>) -> Group {
    let mut routes: Vec<String> = binding.routes.iter().map(ToString::to_string).collect();
    if routes.is_empty() {
        routes.push("every request".to_owned());
    }
    let mut limits: Vec<Cells> = binding.limits.iter().map(limit_cells).collect();
    limits.extend(binding.capacity.in_flight.iter().chain(&binding.capacity.sockets).map(|cap| cap_cells(cap)));
    if deployment != Some(Mode::Enforce) {
        let effective = deployment.map_or("off".to_owned(), |mode| mode.to_string());
        for [.., mode, _] in &mut limits {
            mode.clone_from(&effective);
        }
    }
    if limits.is_empty() {
        let mode = match binding {
            Binding { exempt: true, .. } => "exempt",
            Binding { off: true, .. } => "off",
            _ => "-",
        };
        limits.push([&binding.name, "-", "-", "-", "-", "-", mode, "-"].map(str::to_owned));
    }
    limits.iter_mut().for_each(indent);
    Group { routes, limits }
}

fn indent([name, ..]: &mut Cells) {
    name.insert_str(0, "  ");
}

fn limit_cells(limit: &Limit) -> Cells {
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

fn cap_cells(cap: &Cap) -> Cells {
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
