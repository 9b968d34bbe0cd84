//! Slots of a cap: so many requests at the origin, or live WebSockets, at once, everywhere together.
//!
//! An actor per cap lends slots to isolates for a term; an isolate uses them for request after request without asking, and says again
//! and again that it still needs them. It counts the term from when it asked, the actor from when it heard, so the isolate's ends
//! first. Only the isolate itself can make its holding smaller, or the end of its term. *So what all hold together, and with it what
//! is under way, is never more than the cap; what a crash or a silent disappearance costs is slots, until the term ends.*
//!
//! A request that leaves something to others ([`Reserve`]) goes on only where all that its isolate has under way stays within what is
//! known to leave as much: what the others leave of the cap but for that, even if they use all that they hold, as the actor's answer shows it.
//! What is held beyond that is for those above alone. So this too grows by the actor's word, by no more than what nobody can have, and
//! shrinks by the holder's. *What such requests have under way, all together, is never more than the cap without what they leave.*
//! Nor does one go on before those above that wait, or found no slot a moment ago: *those above take the places of those below as these end.*
//!
//! An instance of an isolate's module that fails leaves all this to the next one, and what goes on without it ([`Holder`]).
//!
//! The one gap that no lease can close: an isolate that lives and cannot reach the actor for a whole term takes nothing more, but the
//! requests that it has under way then stay under way.

use crate::limit::time::Span;
use crate::policy::{Priority, Size};
use crate::protocol::rates::CallError;

/// How long slots are lent. A crash costs slots for as long; a holder that has lost its way to the actor has it for as long.
pub const TERM: Span = Span::from_secs(10);

/// No actor lends for a shorter time than this, or puts anybody off for longer.
const LATEST: Span = Span::from_secs(1);

/// No actor writes more rows for one question: one for each holder whose term has ended, and a few.
const ROWS: u32 = 20_010;

/// Who holds slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// A number that an isolate draws for itself.
    pub id: u64,
    /// How many instances of its module have come to their end: what they had under way goes on, so a later one holds the same slots,
    /// and numbers what it does higher than they did.
    pub life: u64,
}

impl Holder {
    /// Numbers of this life are higher than this. They stay exact in a double (below 2^53); nobody sees a million lives.
    pub(crate) fn numbers(self) -> u64 {
        (self.life % (1 << 20)) << 32
    }
}

/// What an isolate asks a cap's actor. It never uses more than it says it keeps, until it hears the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermitAsk {
    /// Who asks: a number that an isolate draws for itself.
    pub holder: u64,
    /// Its questions are numbered, so that one that comes late is not taken for the latest.
    pub number: u64,
    /// How large the cap is.
    pub size: Size,
    /// Slots that the isolate has and keeps.
    pub keeps: u64,
    /// Slots that it could use now, those included.
    pub wants: u64,
    /// What it must leave to others; see [`Reserve`].
    pub reserve: Reserve,
    /// What became of its requests since the last question.
    pub sample: Option<OriginSample>,
}

/// What of a cap is left to requests of a higher priority: one part in so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reserve {
    /// Nothing: nobody is above.
    #[default]
    Nothing,
    /// The last tenth: a normal request, where there are high ones.
    Tenth,
    /// The last fifth: a low request, where there are others.
    Fifth,
}

impl Reserve {
    /// All of them.
    pub const ALL: [Reserve; 3] = [Reserve::Nothing, Reserve::Tenth, Reserve::Fifth];

    /// What a request of this `priority` leaves, where `highest` is the highest that meets the cap.
    pub fn of(priority: Priority, highest: Priority) -> Reserve {
        match priority {
            _ if priority >= highest => Reserve::Nothing,
            Priority::Low => Reserve::Fifth,
            Priority::Normal | Priority::High => Reserve::Tenth,
        }
    }

    /// How many slots of `cap` that is, rounded down: a cap of less than five or ten leaves none.
    pub fn of_cap(self, cap: u64) -> u64 {
        match self {
            Reserve::Nothing => 0,
            Reserve::Tenth => cap / 10,
            Reserve::Fifth => cap / 5,
        }
    }
}

/// How the origin has done, for a cap that is found out from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OriginSample {
    /// Requests that were answered or failed.
    pub ended: u64,
    /// The sum of the times until the answer began, in milliseconds, of those that did not fail.
    pub sum_ms: u64,
    /// The shortest of them.
    pub min_ms: u64,
    /// How many failed: a 5xx, no answer in time, none at all.
    pub errors: u64,
    /// The most that were under way at once.
    pub peak: u64,
}

/// What the actor answers. Times are spans from its now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PermitReply {
    /// Slots that the isolate has from now on, for `term`.
    pub slots: u64,
    /// Its fair share while others want some as well: it uses no more than this once what it has under way has ended.
    pub share: u64,
    /// How large the cap is now.
    pub cap: u64,
    /// How many slots nobody holds.
    pub free: u64,
    /// How long they are lent.
    pub term: Span,
    /// Whoever was given too few asks again after this time.
    pub again: Span,
    /// Rows written.
    pub rows: u32,
}

impl PermitReply {
    /// Whether an actor can have answered this: it takes nothing from who asks, and lends neither more than was asked for nor more
    /// than the cap, which is as large as the question allows. Nor does it put anybody off for long, or make anybody ask all the time.
    pub fn is_possible(&self, question: &PermitAsk) -> bool {
        let PermitReply { slots, share, cap, free, term, again, rows } = *self;
        let (least, most) = match question.size {
            Size::Fixed(most) => (most, most),
            Size::Auto { least, most } => (least, most),
        };
        slots <= question.wants.min(cap).max(question.keeps)
            && share > 0
            && (least..=most).contains(&cap)
            // Where the cap was made smaller, more may be lent than it has.
            && free <= cap.saturating_sub(slots)
            && term >= LATEST
            && again <= LATEST
            && rows <= ROWS
    }
}

/// Those who keep count of caps.
pub trait PermitActors {
    /// Asks the actor of the cap called `cap`. Made to answer, or to fail, within `patience`.
    fn ask(
        &self,
        cap: &str,
        question: &PermitAsk,
        patience: Span,
    ) -> impl Future<Output = Result<PermitReply, CallError>>;

    /// Waits.
    fn sleep(&self, span: Span) -> impl Future<Output = ()>;
}
