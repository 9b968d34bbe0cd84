//! The time of one decision, divided among its stages.

use crate::limit::time::{Span, Time};

/// How often a request looks whether the answer that another request waits for has come. Promises
/// must not be shared between requests, so a request polls plain data. Longer adds as much to its
/// latency.
pub const POLL_EVERY: Span = Span::from_millis(2);

/// The time by which a decision, or one stage of it, has to be made.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    due: Time,
}

/// Whether another stage follows that needs time of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Later {
    /// This stage is the last one.
    Nothing,
    /// More stages follow.
    Stages,
}

impl Deadline {
    /// The deadline `span` after `now`.
    pub fn after(now: Time, span: Span) -> Deadline {
        Deadline { due: now.plus(span) }
    }

    /// The time left at `now`; zero once the deadline has passed.
    pub fn left(self, now: Time) -> Span {
        self.due.since(now)
    }

    /// The deadline of a stage that begins at `now`. A quarter of the time left is kept for the
    /// stages that follow, so that one actor that hangs cannot starve them.
    pub fn for_stage(self, now: Time, later: Later) -> Deadline {
        let kept = match later {
            Later::Nothing => Span::ZERO,
            Later::Stages => self.left(now).half().half(),
        };
        Deadline { due: self.due.minus(kept) }
    }

    /// The deadline of a stage that begins at `now` and leaves as much time to one that follows.
    pub fn half(self, now: Time) -> Deadline {
        Deadline::after(now, self.left(now).half())
    }

    /// A deadline later by `waited`: a wait for a permit is not part of the decision's time.
    pub fn later_by(self, waited: Span) -> Deadline {
        Deadline { due: self.due.plus(waited) }
    }
}

impl Later {
    /// [`Later::Stages`] if `follow`.
    pub fn when(follow: bool) -> Later {
        if follow { Later::Stages } else { Later::Nothing }
    }
}

/// Whether `patience` is under a quarter of a decision's `whole` time. An answer that comes later
/// than this may be late without any fault of its actor.
pub fn is_short(patience: Span, whole: Span) -> bool {
    patience.times(4) < whole
}
