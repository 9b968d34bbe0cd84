//! What becomes of a request at a limit that cannot be checked: the one place where `on_error` is decided.

use crate::policy::OnError;

/// What a request may do then.
#[derive(Clone, Copy, Debug)]
pub struct OnErrorActions<L, O, C> {
    /// Go on alone.
    pub local: L,
    /// Pass.
    pub open: O,
    /// Be refused.
    pub closed: C,
}

impl<L, O, C> OnErrorActions<L, O, C> {
    /// Goes the way that `on_error` says.
    pub fn go<T>(self, on_error: OnError) -> T
    where
        L: FnOnce() -> T,
        O: FnOnce() -> T,
        C: FnOnce() -> T,
    {
        match on_error {
            OnError::Local => (self.local)(),
            OnError::Open => (self.open)(),
            OnError::Closed => (self.closed)(),
        }
    }
}
