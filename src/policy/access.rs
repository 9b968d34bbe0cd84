//! `ALLOW` and `BLOCK`: the addresses that meet no limit, and the addresses that are refused.

use serde_json::Value;

use crate::identity::Nets;
use crate::policy::fault::Faults;
use crate::policy::json_table;

/// The two address lists of a deployment or of a binding. An address on both is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// `allow`: requests from these addresses meet no limit.
    pub allow: Nets,
    /// `block`: requests from these addresses are refused.
    pub block: Nets,
}

/// Reads the networks at `location`. A network that is at fault is recorded and left out.
pub(super) fn nets(location: &str, value: &Value, faults: &mut Faults) -> Nets {
    let example = "an address such as \"203.0.113.7\", a network such as \"2001:db8::/32\", or a list of them";
    let items = json_table::list(location, value, example, faults);
    let read = items.into_iter().filter_map(|(location, text)| {
        let net = text.parse().map_err(|problem| format!("{text:?}: {problem}"));
        faults.value_or_record(&location, net)
    });
    Nets(read.collect())
}
