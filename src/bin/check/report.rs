//! Everything printed for one file: its limits and warnings, or its faults.

use std::fmt::Write as _;

use penstock::limit::counted::counted;
use penstock::policy::{Fault, Policy, Reading};

use super::deployment::Deployment;
use super::source::Source;
use super::{advice, against, lists, misplaced, platform, reach, table};

/// Reads `file`, and returns the limits and warnings of its deployments; and what becomes of the
/// counts of the file `against`, if there is one.
///
/// # Errors
/// The reason why a file cannot be read; or all its faults, each on a line that begins with the
/// file, its line, and the deployment.
pub fn report(file: &str, against: Option<&str>) -> Result<String, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: cannot be read: {error}\n"))?;
    let named = |problem| format!("{file}: {problem}");
    let source = Source::read(file, &text).map_err(named)?;
    let deployments = Deployment::read_all(&source.root).map_err(named)?;
    let (mut understood, mut faults, mut fate) = (String::new(), Vec::new(), String::new());
    let printed = |line: Option<usize>, place: &str, fault: &Fault| {
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{file}{line}: {place}: {fault}\n")
    };
    for (path, fault) in misplaced::duplicates(&source) {
        faults.push(printed(source.line_of(&path), "whole file", &fault));
    }
    for deployment in &deployments {
        let Deployment { name, path, vars, .. } = deployment;
        let reading = vars.as_ref().map(Reading::new);
        let before = faults.len();
        let vars_path = [path.as_slice(), &["vars".to_owned()]].concat();
        for fault in reading.iter().flat_map(|reading| reading.faults.iter().chain(&reading.near_misses)) {
            faults.push(printed(source.line(&vars_path, &fault.location), name, fault));
        }
        for (path, fault) in misplaced::faults(deployment, &deployments) {
            faults.push(printed(source.line_of(&path), name, &fault));
        }
        let written = reading.as_ref().filter(|reading| reading.faults.is_empty()).map(|reading| &reading.written);
        let missing = if reading.is_some() { platform::faults(deployment, written) } else { Vec::new() };
        for fault in &missing {
            let line = source.line(&vars_path, &fault.location).or_else(|| source.line(&[], &fault.location));
            faults.push(printed(line, name, fault));
        }
        if faults.len() == before {
            describe(deployment, written, &deployments, &mut understood);
        }
        fate += &advice::fate(name, reading, !missing.is_empty());
    }
    if faults.is_empty() {
        let compared = against.map(|old| against::compare(&deployments, old)).transpose()?;
        return Ok(understood + &compared.unwrap_or_default());
    }
    Err(format!("{file}: {}\n{}{fate}", counted(faults.len(), "fault"), faults.concat()))
}

/// Appends the limits, warnings and advice of one deployment. Results of `write!` are ignored,
/// because writing to a `String` cannot fail.
fn describe(deployment: &Deployment, policy: Option<&Policy>, others: &[Deployment], text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
    let name = &deployment.name;
    let vars = deployment.heading("vars");
    let _ = match policy {
        None if vars == "vars" => writeln!(text, "{name}: no [vars], so it limits nothing"),
        None => {
            writeln!(text, "{name}: no [{vars}], and wrangler lets no environment inherit vars, so it limits nothing")
        }
        Some(policy) if policy.base.is_none() && policy.bindings.is_empty() => {
            write!(text, "{name}: no LIMIT_ in [{vars}], so it limits nothing\n{}", lists::lists(policy))
        }
        Some(policy) => write!(text, "{name}:\n{}{}", table::table(policy), lists::lists(policy)),
    };
    let of_policy = policy.map(advice::warnings).unwrap_or_default().into_iter();
    let of_routes = policy.map(|policy| reach::warnings(deployment, policy)).unwrap_or_default();
    let of_file = misplaced::missing_vars(deployment, others).into_iter();
    for warning in of_policy.chain(of_routes).chain(of_file).chain(platform::warnings(deployment, policy)) {
        let _ = writeln!(text, "{name}: warning: {warning}");
    }
    if let Some(advice) = policy.and_then(|policy| advice::origin_lock(&policy.settings)) {
        let _ = writeln!(text, "{name}: advice: {advice}");
    }
}
