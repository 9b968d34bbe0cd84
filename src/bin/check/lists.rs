//! The addresses that meet no limit, and those that are not let in.

use penstock::policy::{Access, Policy};

/// One line for each list that has anything in it.
pub fn lists(policy: &Policy) -> String {
    let named = |prefix: &str, allow: &str, block: &str, access: &Access| {
        let lists = [(allow, &access.allow), (block, &access.block)];
        let filled = lists.into_iter().filter(|(_, nets)| !nets.0.is_empty());
        filled.map(|(name, nets)| format!("{prefix}{name}: {nets}\n")).collect::<String>()
    };
    let mut text = named("", "ALLOW", "BLOCK", &policy.settings.access);
    for binding in policy.base.iter().chain(&policy.bindings) {
        let var = binding.name.to_ascii_uppercase().replace('-', "_");
        text += &named(&format!("LIMIT_{var}."), "allow", "block", &binding.access);
    }
    text
}
