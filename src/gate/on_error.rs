//! The one place that decides by `on_error`: a request at a limit or cap that cannot be checked.

use crate::policy::OnError;

/// The three ways that a request can go, one per value of `on_error`.
#[derive(Clone, Copy, Debug)]
pub struct OnErrorActions<L, O, C> {
    /// `local`: the isolate counts alone.
    pub local: L,
    /// `open`: the request passes uncounted.
    pub open: O,
    /// `closed`: the request is refused.
    pub closed: C,
}

impl<L, O, C> OnErrorActions<L, O, C> {
    /// Runs the action that `on_error` names.
    pub fn run<T>(self, on_error: OnError) -> T
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

/// Whether a request may pass a limit that was not checked, counted or not.
pub fn may_pass(on_error: OnError) -> bool {
    OnErrorActions { local: || true, open: || true, closed: || false }.run(on_error)
}

/// Whether a request passes a limit that was not checked without being counted anywhere.
pub fn passes_uncounted(on_error: OnError) -> bool {
    OnErrorActions { local: || false, open: || true, closed: || false }.run(on_error)
}
