//! Questions of an isolate about rates and quotas, and an actor's answers.
//!
//! - [`ActorKey`] (`actor_key`): the choice of the actor that keeps a bucket
//! - [`CallError`] (`call_error`): the reasons why a call has no usable answer
//!
//! The Worker sends them to Durable Objects (`actor::rates::calls`); tests send them to fakes.

mod actor_key;
mod call_error;

pub use actor_key::{ActorKey, SHARDS};
pub use call_error::CallError;

use crate::identity::digest::Subject;
use crate::limit::bucket_table::BucketId;
use crate::limit::calendar::Zone;
use crate::limit::gcra::Gcra;
use crate::limit::lease::Wish;
use crate::limit::rate::Allowance;
use crate::limit::share::{Part, Question};
use crate::limit::time::Span;
use crate::policy::{Limit, Mode};

/// Whether the actor hands out tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Take the request's tokens from every limit, or from no limit if one refuses.
    Take,
    /// Say which limits would refuse, and take nothing.
    Peek,
}

/// One question to one actor: the limits of one subject that this actor keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Whether the actor hands out tokens.
    pub intent: Intent,
    /// The caller; `None` for a `global` limit.
    pub subject: Option<Subject>,
    /// The limits, in the order in which the request meets them; at least one.
    pub demands: Vec<Demand>,
    /// A bucket whose debt is shorter than this may live in the actor's memory alone. Zero for a
    /// `global` limit, which is always saved.
    pub durable_after: Span,
    /// The time that the actor may spend on D1.
    pub patience: Span,
    /// The least time that the actor's grants should last; zero to leave it to the actor.
    pub horizon: Span,
}

/// The part of a question about one limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The limit's printed name, such as `login/ip`.
    pub limit: String,
    /// The limit's counter, such as `login ip rate 60s`. `None` in the question of an earlier
    /// version, which knows the printed name alone.
    pub counter: Option<String>,
    /// The rate or the quota.
    pub terms: Terms,
    /// Tokens that the request takes, at most the burst or the day's count; 0 if the question is
    /// about the wish alone.
    pub cost: u64,
    /// Tokens that each request takes, from 1.
    pub per_request: u64,
    /// Tokens that the isolate would like to hold beyond `cost`.
    pub wish: Wish,
    /// Tokens that the caller has used up and the isolate has not reported yet. The actor takes
    /// them first, as far as the bucket has them.
    pub unreported: u64,
    /// Quota tokens that the isolate held and gives back; `None` for a rate, or if it held none.
    pub unused: Option<UnusedTokens>,
    /// The question for a part of the bucket; `None` where the isolate asks for no part.
    pub part: Option<PartAsk>,
    /// Whether a refusal of this limit keeps the others from taking.
    pub enforcement: Enforcement,
    /// The time in which a `global` rate opens after a cold start; zero if it is open at once.
    pub warmup: Span,
}

impl Ask {
    /// The same question for a second try, after the answer to the first may have been lost. It
    /// gives no quota tokens back: twice given back, they would be spent twice. It reports
    /// unreported tokens again: taken twice they cost the caller, and never taken they would be
    /// given away.
    pub fn repeated(&self) -> Ask {
        let mut ask = self.clone();
        for demand in &mut ask.demands {
            demand.unused = None;
        }
        ask
    }
}

impl Terms {
    /// The terms of `limit`.
    pub fn of(limit: &Limit) -> Terms {
        match &limit.allowance {
            Allowance::Rate(rate) => Terms::Rate(rate.gcra()),
            Allowance::Quota(quota) => Terms::Quota(quota.count(), quota.zone().clone()),
        }
    }
}

impl Demand {
    /// The demand for `cost` tokens of `limit`, 0 where only the `wish` is asked for, with the
    /// tokens that are `unreported` so far.
    pub fn of(limit: &Limit, cost: u64, wish: Wish, unreported: u64) -> Demand {
        Demand {
            limit: limit.name.clone(),
            counter: Some(limit.counter.clone()),
            terms: Terms::of(limit),
            cost,
            per_request: limit.cost,
            wish,
            unreported,
            unused: None,
            part: None,
            enforcement: match limit.mode {
                Mode::Enforce => Enforcement::Enforced,
                Mode::Shadow => Enforcement::Shadow,
            },
            warmup: limit.warmup,
        }
    }

    /// The counter that the question names; `None` if it means the state that is kept under the
    /// printed name.
    pub fn known_counter(&self) -> Option<&str> {
        self.counter.as_deref().filter(|counter| *counter != self.limit)
    }

    /// The name of the counter's bucket for `subject`.
    pub fn bucket(&self, subject: Option<Subject>) -> BucketId {
        bucket_id(self.counter.as_deref().unwrap_or(&self.limit), subject)
    }
}

/// The name of the bucket that is kept under `name` (a counter, or a limit's printed name) for
/// `subject`: a digest of both.
pub fn bucket_id(name: &str, subject: Option<Subject>) -> BucketId {
    let mut hasher = blake3::Hasher::new();
    hasher.update(name.as_bytes());
    if let Some(subject) = subject {
        hasher.update(&[0]);
        hasher.update(&subject.to_bytes());
    }
    let mut id = [0; 16];
    hasher.finalize_xof().fill(&mut id);
    BucketId::from_be_bytes(id)
}

/// Quota tokens that an isolate gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusedTokens {
    /// The number of tokens.
    pub tokens: u64,
    /// The end of the day that they belong to, in Unix seconds. On another day they are worth
    /// nothing.
    pub until: u64,
}

/// The rate or the quota of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terms {
    /// A rate over a rolling period.
    Rate(Gcra),
    /// A quota: a number of tokens per calendar day of a time zone.
    Quota(u64, Zone),
}

/// Whether the refusal of a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforcement {
    /// If the limit refuses, nothing is taken from any limit of the question.
    Enforced,
    /// The limit is in shadow: it takes its tokens if it has them, and stops no request.
    Shadow,
}

/// An actor's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// One outcome per demand, in their order.
    pub outcomes: Vec<Outcome>,
    /// The grant for each wish, in the demands' order; `None` if nothing was granted. A rate may
    /// grant a wish even if the request itself is refused.
    pub grants: Vec<Option<Grant>>,
    /// The answer to each question for a part, in the demands' order; `None` if no part was asked
    /// for, or the actor has nothing to say of it.
    pub parts: Vec<Option<PartReply>>,
    /// The time that the actor would like its grants to last, 0.5 to 10 s.
    pub horizon: Span,
    /// Statements that the actor has sent to D1, at most two per demand.
    pub d1: u32,
    /// Rows that the actor has written, to its storage and to D1.
    pub rows: u32,
}

/// The result of one demand. Times are spans from the actor's now, so that clocks need not agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There were enough tokens. They were taken, unless another limit of the question refused or
    /// the intent was [`Intent::Peek`].
    Met {
        /// Whole tokens left, from 0 to the burst or the day's count.
        left: u64,
        /// The time until there is one more; zero if the bucket is full. For a quota: the time
        /// until its day ends.
        more: Span,
        /// For a rate: how far the first of the taken slots lies ahead. Zero for a quota, whose
        /// tokens are good until its day ends.
        slot: Span,
        /// For a quota: the end of its day, in Unix seconds. `None` for a rate.
        until: Option<u64>,
    },
    /// There were too few tokens.
    Refused {
        /// Whole tokens there, from 0.
        left: u64,
        /// The time until there are enough.
        wait: Span,
        /// For a quota: the end of its day, in Unix seconds, which is one instant on every clock.
        /// `None` for a rate.
        until: Option<u64>,
    },
    /// The actor keeps as many buckets as it can, all of them in debt.
    Full {
        /// The time until one may be at rest, from 1 s.
        wait: Span,
    },
    /// The limit could not be checked, because D1 failed or is left alone.
    Unknown,
}

/// Tokens for an isolate to hold, and to spend without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The number of tokens, at most the wish.
    pub count: u64,
    /// For a rate: how far the first slot lies ahead. Zero for a quota.
    pub first: Span,
}

/// An isolate's question for a part of a bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartAsk {
    /// The part that the isolate has, and what it keeps of it.
    pub question: Question,
    /// The tokens per second that the isolate is asked for.
    pub demand: f64,
}

/// Two demands are equal if they ask for the same; a rate that is no number equals none.
impl Eq for PartAsk {}

/// An actor's answer to a question for a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartReply {
    /// The part that takes the place of the one that the isolate has; `None` if it keeps that one.
    pub part: Option<Part>,
    /// The isolate should not ask for more before this time has passed.
    pub again: Span,
}

/// The actors of rates and quotas, as the isolate asks them.
pub trait Actors {
    /// Asks an actor. Answers, or fails, within `patience`, a second try included.
    ///
    /// # Errors
    /// [`CallError`], if there is no readable answer.
    fn ask(&self, actor: &ActorKey<'_>, ask: &Ask, patience: Span) -> impl Future<Output = Result<Reply, CallError>>;

    /// Waits for `span`.
    fn sleep(&self, span: Span) -> impl Future<Output = ()>;
}
