//! The effect of the address lists on one request.

use crate::identity::Address;
use crate::policy::binding::Binding;
use crate::policy::limit::Mode;
use crate::policy::model::Policy;

/// The effect of all lists that a request meets, by its address.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddressVerdict<'p> {
    /// The list that refuses the request. `None`: no list does.
    pub blocked: Option<Block<'p>>,
    /// The list that would refuse the request, if its binding were not in shadow. `None`: no list
    /// would.
    pub shadow: Option<Block<'p>>,
    /// Whether the address is on an `allow` list, so that the request meets no limit. `blocked`
    /// comes first.
    pub allow_listed: bool,
}

/// A `block` list that has an address on it.
#[derive(Clone, Copy, Debug)]
pub struct Block<'p> {
    /// The binding that the list belongs to. `None`: the list is `BLOCK`, of the whole deployment.
    pub binding: Option<&'p Binding>,
}

impl Policy {
    /// Looks `address` up in the lists of the deployment, of base and of `route`, in this order.
    /// The lists of a binding that is off count for no request.
    pub fn access_of<'p>(&'p self, route: Option<&'p Binding>, address: &Address) -> AddressVerdict<'p> {
        let mut verdict = AddressVerdict::default();
        let bindings = self.base.iter().chain(route).filter(|binding| !binding.off);
        for binding in core::iter::once(None).chain(bindings.map(Some)) {
            let (access, mode) =
                binding.map_or((&self.settings.access, Mode::Enforce), |binding| (&binding.access, binding.mode));
            if address.is_in(&access.block) {
                let found = match mode {
                    Mode::Enforce => &mut verdict.blocked,
                    Mode::Shadow => &mut verdict.shadow,
                };
                found.get_or_insert(Block { binding });
            }
            verdict.allow_listed |= address.is_in(&access.allow);
        }
        verdict
    }
}
