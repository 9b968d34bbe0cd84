//! `ALLOW` and `BLOCK`: who meets no limit, and who is not let in.

use serde_json::Value;

use super::fault::Faults;
use super::{Binding, Mode, Policy, table};
use crate::identity::{Address, Nets};

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
pub struct Reception<'p> {
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
    pub fn receive<'p>(&'p self, route: Option<&'p Binding>, address: &Address) -> Reception<'p> {
        let bindings = || self.base.iter().chain(route).filter(|binding| !binding.off);
        let block = |mode| {
            let blocks = |binding: &&Binding| binding.mode == mode && address.is_in(&binding.access.block);
            bindings().find(blocks).map(|binding| Block { binding: Some(binding) })
        };
        let everywhere = &self.settings.access;
        let blocked = address.is_in(&everywhere.block).then_some(Block { binding: None });
        Reception {
            blocked: blocked.or_else(|| block(Mode::Enforce)),
            shadow: block(Mode::Shadow),
            free: address.is_in(&everywhere.allow) || bindings().any(|binding| address.is_in(&binding.access.allow)),
        }
    }
}

/// The networks at `place`.
pub(super) fn nets(place: &str, value: &Value, faults: &mut Faults) -> Nets {
    let example = "an address such as \"203.0.113.7\", a network such as \"2001:db8::/32\", or a list of them";
    let items = table::list(place, value, example, faults);
    let read = items.into_iter().filter_map(|(place, text)| {
        let net = text.parse().map_err(|problem| format!("{text:?}: {problem}"));
        faults.keep(&place, net)
    });
    Nets(read.collect())
}
