//! Permits of a cap: at most `cap` requests at the origin, or live WebSockets, at once, over all
//! isolates.
//!
//! An actor per cap lends permits to isolates for a term. An isolate uses a permit for request
//! after request without asking, and renews it before the term ends if it still needs it. The
//! isolate counts the term from when it asks, the actor from when it reads the question: so the
//! isolate's term ends first. Only the isolate itself can make its holding smaller, or end its term
//! early.
//!
//! **Invariant:** `requests in flight ≤ permits held ≤ cap`, each summed over all isolates. A crash
//! or a lost connection costs permits until their term ends, and admits nothing more.
//!
//! A request with a [`Reserve`] leaves a part of the cap to requests of a higher priority. It
//! starts only if all requests that its isolate has in flight fit below that part, even if other
//! isolates use all permits that they hold. The actor's answer says how much that is. Permits
//! beyond it are for requests of a higher priority alone.
//!
//! **Invariant:** `requests in flight with reserve r or a larger one ≤ cap − r.of_cap(cap)`, over
//! all isolates.
//!
//! Among the requests of one isolate, one with a reserve does not start while a request of a higher
//! priority waits, or found no permit a moment ago. High requests therefore take over the permits
//! of low ones as these end.
//!
//! When an instance of an isolate's module fails, the next one takes over its permits and the
//! requests that are still in flight; see [`Holder`].
//!
//! One gap cannot be closed by lending: an isolate that cannot reach the actor for a whole term
//! starts nothing more, but its requests in flight stay in flight.

use crate::limit::time::Span;
use crate::policy::{Priority, Size};
use crate::protocol::rates::CallError;

/// The term of permits, 10 s. A crash makes permits useless for that long, and a holder that has
/// lost its way to the actor can start requests for that long.
pub const TERM: Span = Span::from_secs(10);

/// Bounds of an actor's answer: no actor lends for a shorter time, or has a holder wait longer
/// before it asks again.
const ONE_SECOND: Span = Span::from_secs(1);

/// The most rows that an actor writes for one question: one for each holder whose term has ended,
/// of which there are at most 20,000, and a few.
const MOST_ROWS: u32 = 20_010;

/// The isolate, as a holder of permits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// A number that an isolate draws at random when it starts.
    pub id: u64,
    /// The number of earlier instances of the module that used permits in this isolate, from 0.
    /// Their requests stay in flight, so a later instance holds the same permits, and uses higher
    /// numbers than they did.
    pub life: u64,
}

impl Holder {
    /// The numbers of this life's questions and requests are higher than this one. Each life has
    /// 2^32 numbers. They stay below 2^52, exact in a double, since no isolate sees a million
    /// lives.
    pub(crate) fn numbers(self) -> u64 {
        (self.life % (1 << 20)) << 32
    }
}

/// An isolate's question to the actor of one cap. Until it has the answer, the isolate uses at most
/// `keeps` permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermitAsk {
    /// The holder's id.
    pub holder: u64,
    /// The number of the question. Each of a holder's questions has a higher one than the last, so
    /// that the actor can tell a question that arrives late.
    pub number: u64,
    /// The size of the cap, from the configuration.
    pub size: Size,
    /// Permits that the isolate has and keeps.
    pub keeps: u64,
    /// Permits that it could use now, at least `keeps`.
    pub wants: u64,
    /// The part of the cap that the requests it asks for leave to others.
    pub reserve: Reserve,
    /// The origin's behaviour since its last question; `None` if there is nothing to report.
    pub sample: Option<OriginSample>,
}

/// The part of a cap that a request leaves to those of a higher priority. The order is part of the
/// protocol: a larger reserve is a lower priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reserve {
    /// Nothing: no request has a higher priority.
    #[default]
    Nothing,
    /// A tenth: a request of priority `normal`, if there are `high` ones.
    Tenth,
    /// A fifth: a request of priority `low`, if there are higher ones.
    Fifth,
}

impl Reserve {
    /// All reserves, in their order.
    pub const ALL: [Reserve; 3] = [Reserve::Nothing, Reserve::Tenth, Reserve::Fifth];

    /// The reserve of a request of this `priority`, if `highest` is the highest that meets the cap.
    pub fn of(priority: Priority, highest: Priority) -> Reserve {
        match priority {
            _ if priority >= highest => Reserve::Nothing,
            Priority::Low => Reserve::Fifth,
            Priority::Normal | Priority::High => Reserve::Tenth,
        }
    }

    /// The number of permits of `cap` that are left to others, rounded down. A tenth of a cap below
    /// 10 is 0, and so is a fifth of a cap below 5.
    pub fn of_cap(self, cap: u64) -> u64 {
        match self {
            Reserve::Nothing => 0,
            Reserve::Tenth => cap / 10,
            Reserve::Fifth => cap / 5,
        }
    }
}

/// The behaviour of the origin, as one isolate saw it since its last question. An adaptive cap
/// finds its size from these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OriginSample {
    /// Requests that were answered or failed.
    pub ended: u64,
    /// The sum of the times until an answer began, in milliseconds, over the requests that did not
    /// fail.
    pub sum_ms: u64,
    /// The shortest time until an answer began, in milliseconds.
    pub min_ms: u64,
    /// Requests that failed: a 5xx, no answer in time, or no answer at all.
    pub errors: u64,
    /// The most requests that were in flight at once.
    pub peak: u64,
}

/// An actor's answer about the permits of one cap. Times are spans, so that clocks need not agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PermitReply {
    /// Permits that the isolate holds from now on, for `term`.
    pub permits: u64,
    /// The isolate's fair share while other isolates want permits too, from 1. The isolate starts
    /// no request beyond it.
    pub share: u64,
    /// The size of the cap now, within the bounds of the question's `size`.
    pub cap: u64,
    /// Permits that no isolate holds, from 0.
    pub free: u64,
    /// The term of the permits, counted from the question: 1 to 10 s.
    pub term: Span,
    /// An isolate that got too few permits asks again after this time, at most 1 s.
    pub again: Span,
    /// Rows that the actor has written.
    pub rows: u32,
}

impl PermitReply {
    /// Whether an actor can have given this answer.
    ///
    /// An isolate may keep `keeps` permits, also where the cap is smaller now. Beyond these the
    /// actor lends at most the permits that the question wants, and at most the cap. The cap is as
    /// large as the question allows. No actor has an isolate wait for longer than 1 s, or renew
    /// within less than 1 s.
    pub fn is_possible(&self, ask: &PermitAsk) -> bool {
        let PermitReply { permits, share, cap, free, term, again, rows } = *self;
        let (least, most) = match ask.size {
            Size::Fixed(most) => (most, most),
            Size::Auto { least, most } => (least, most),
        };
        permits <= ask.wants.min(cap).max(ask.keeps)
            && share > 0
            && (least..=most).contains(&cap)
            // After the cap became smaller, more permits may be lent than it has.
            && free <= cap.saturating_sub(permits)
            && term >= ONE_SECOND
            && again <= ONE_SECOND
            && rows <= MOST_ROWS
    }
}

/// The actors of caps, as the isolate asks them. The Worker calls Durable Objects, tests use fakes.
pub trait PermitActors {
    /// Asks the actor of the cap called `cap`. Answers, or fails, within `patience`.
    ///
    /// # Errors
    /// [`CallError`], if there is no answer that an actor can have given.
    fn ask(&self, cap: &str, ask: &PermitAsk, patience: Span) -> impl Future<Output = Result<PermitReply, CallError>>;

    /// Waits for `span`.
    fn sleep(&self, span: Span) -> impl Future<Output = ()>;
}
