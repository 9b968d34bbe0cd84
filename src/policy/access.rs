//! `ALLOW` and `BLOCK`: who meets no limit, and who is not let in.

use serde_json::Value;

use crate::identity::{Address, Nets};
use crate::policy::fault::Faults;
use crate::policy::{Binding, Mode, Policy, json_table};

/// Addresses that stand apart. `block` beats `allow`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// They meet no limit at all.
    pub allow: Nets,
    /// They are refused.
    pub block: Nets,
}

/// How a request is received, by its address.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddressVerdict<'p> {
    /// It is refused by this list.
    pub blocked: Option<Block<'p>>,
    /// It would be refused by this list, which is in shadow.
    pub shadow: Option<Block<'p>>,
    /// It meets no limit.
    pub free: bool,
}

/// The list that an address was found in.
#[derive(Clone, Copy, Debug)]
pub struct Block<'p> {
    /// The binding whose `block` it is; `None` for `BLOCK`, which is the whole deployment's.
    pub binding: Option<&'p Binding>,
}

impl Policy {
    /// How a request for `route` from `address` is received. Base's lists are for every request, as its limits are, and those of a
    /// binding that is off for none.
    pub fn access_of<'p>(&'p self, route: Option<&'p Binding>, address: &Address) -> AddressVerdict<'p> {
        let mut reception = AddressVerdict::default();
        let bindings = self.base.iter().chain(route).filter(|binding| !binding.off);
        for binding in core::iter::once(None).chain(bindings.map(Some)) {
            let (access, mode) =
                binding.map_or((&self.settings.access, Mode::Enforce), |binding| (&binding.access, binding.mode));
            if address.is_in(&access.block) {
                let found = match mode {
                    Mode::Enforce => &mut reception.blocked,
                    Mode::Shadow => &mut reception.shadow,
                };
                found.get_or_insert(Block { binding });
            }
            reception.free |= address.is_in(&access.allow);
        }
        reception
    }
}

/// The networks at `place`.
pub(super) fn nets(place: &str, value: &Value, faults: &mut Faults) -> Nets {
    let example = "an address such as \"203.0.113.7\", a network such as \"2001:db8::/32\", or a list of them";
    let items = json_table::list(place, value, example, faults);
    let read = items.into_iter().filter_map(|(place, text)| {
        let net = text.parse().map_err(|problem| format!("{text:?}: {problem}"));
        faults.keep(&place, net)
    });
    Nets(read.collect())
}
