//! What the gate asks of the world, and what it may be told. The Worker answers with Durable Objects
//! (`actor::client`), tests with fakes.

use crate::identity::digest::Subject;
use crate::limit::bucket_table::BucketId;
use crate::limit::calendar::Zone;
use crate::limit::gcra::Gcra;
use crate::limit::lease::Wish;
use crate::limit::time::Span;
use core::fmt;
use core::num::NonZeroU32;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Whether tokens change hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Intent {
    /// Take from every limit, or from none if one refuses.
    Take,
    /// Only say what would be refused.
    Peek,
}

/// One question to one actor: all the limits of one subject that it keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Whether tokens change hands.
    pub intent: Intent,
    /// Whose buckets they are; nobody's in particular for a shared limit.
    pub subject: Option<Subject>,
    /// The limits, in the order in which they are met.
    pub demands: Vec<Demand>,
    /// A debt shorter than this may live in the actor's memory alone.
    pub durable_after: Span,
    /// How long the actor may spend on D1.
    pub patience: Span,
    /// How long its grants should last at least.
    pub horizon: Span,
}

/// What is asked of one limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The limit's name.
    pub limit: String,
    /// What it allows.
    pub terms: Terms,
    /// Tokens that the request takes; none when it is only the wish that is asked for.
    pub cost: u64,
    /// Tokens that each request takes.
    pub per_request: u64,
    /// How many tokens more the asker would like to hold.
    pub wish: Wish,
    /// Tokens that the caller has used up already and the asker has not told of: of a request that was refused from memory.
    pub unreported: u64,
    /// Tokens of a quota that the asker held and does not use, for the day that ends then.
    pub unused: Option<UnusedTokens>,
    /// Whether its refusal counts against the others.
    pub enforcement: Enforcement,
    /// How long a shared rate takes to open after a cold start; zero for one that is open at once.
    pub warmup: Span,
}

impl Ask {
    /// The same question for a second time, when the answer to the first may have been lost: what it gives to the actor is left
    /// out, or it would be given twice. What is owed is told again: paid twice it costs the caller tokens, and never told it would
    /// give some away.
    pub fn repeated(&self) -> Ask {
        let mut ask = self.clone();
        for demand in &mut ask.demands {
            demand.unused = None;
        }
        ask
    }
}

impl Demand {
    /// The name of the limit's bucket for `subject`. A limit that changes keeps its buckets: a TAT is a time, whatever
    /// the rate.
    pub fn bucket(&self, subject: Option<Subject>) -> BucketId {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.limit.as_bytes());
        if let Some(subject) = subject {
            hasher.update(&[0]);
            hasher.update(&subject.to_bytes());
        }
        let mut id = [0; 16];
        hasher.finalize_xof().fill(&mut id);
        BucketId::from_be_bytes(id)
    }
}

/// Quota tokens on their way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnusedTokens {
    /// How many.
    pub tokens: u64,
    /// The end of the day that they belong to, in Unix seconds.
    pub until: u64,
}

/// What a limit allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terms {
    /// A rolling rate.
    Rate(Gcra),
    /// So many per local day.
    Quota(u64, Zone),
}

/// Whether a limit's refusal counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforcement {
    /// If it refuses, nothing is taken from any limit of the ask.
    Enforced,
    /// It is in shadow: it takes if it can, and stops nobody.
    Shadow,
}

/// An actor's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// One outcome per demand, in their order.
    pub outcomes: Vec<Outcome>,
    /// What was granted of each wish, in their order; also where the request itself was refused.
    pub grants: Vec<Option<Grant>>,
    /// How long the actor would like its grants to last.
    pub horizon: Span,
    /// Statements sent to D1.
    pub d1: u32,
    /// Rows written to the actor's storage and to D1.
    pub rows: u32,
}

/// What became of one demand. Times are spans from the actor's now, so that clocks need not agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Enough tokens: taken, or there to be taken when another limit of the ask refused or the intent was a peek.
    Met {
        /// Whole tokens left.
        left: u64,
        /// How long until there is one more; zero when full.
        more: Span,
        /// For a rate: how far ahead the slots that were taken begin. A quota's tokens are good until its day ends.
        #[serde(default)]
        slot: Span,
        /// For a quota: when its day ends, in Unix seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
    },
    /// Not now.
    Refused {
        /// Whole tokens there.
        left: u64,
        /// How long until there are enough.
        wait: Span,
        /// For a quota: when its day ends, in Unix seconds. A calendar's instant is the same on every clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
    },
    /// The actor keeps as many buckets as it can, all of them in use.
    Full {
        /// How long until one may be free.
        wait: Span,
    },
    /// The limit could not be checked (D1 is away).
    Unknown,
}

/// Tokens to hold and spend without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// How many.
    pub count: u64,
    /// For a rate: how far ahead the first slot lies.
    #[serde(default)]
    pub first: Span,
}

/// Why an actor gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// It did not answer within the deadline.
    Late,
    /// It has too much to do, and must not be asked again now.
    Overloaded,
    /// The way to it broke.
    Disconnected,
    /// It answered what cannot be read.
    Nonsense(String),
    /// Anything else.
    Failed(String),
    /// It was not asked: it was in trouble a moment ago, or there was no time left.
    NotAsked,
    /// It was not asked, to save calls: `BUDGET` is spent for so long, or nearly spent, where that is zero.
    OverBudget(Span),
}

impl CallError {
    /// Whether there was no call.
    pub fn is_unasked(&self) -> bool {
        matches!(self, CallError::NotAsked | CallError::OverBudget(_))
    }
}

/// Objects per region for addresses, and in all for keys. One object serves about 1,000 requests a second.
pub const SHARDS: NonZeroU32 = NonZeroU32::new(32).unwrap();

impl ActorKey<'_> {
    /// A number for the actor among those that one isolate asks: the same for all subjects of a shard.
    pub fn number(&self) -> u64 {
        match self {
            ActorKey::Ip(subject) => u64::from(subject.shard(SHARDS)),
            ActorKey::Key(subject) => 1 << 32 | u64::from(subject.shard(SHARDS)),
            // FNV-1a; two shared limits that met in one number would only be left alone together.
            ActorKey::Shared(limit) => limit
                .bytes()
                .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)),
        }
    }

    /// The same seat, for longer than the policy that named it is at hand.
    pub fn into_owned(self) -> ActorKey<'static> {
        match self {
            ActorKey::Ip(subject) => ActorKey::Ip(subject),
            ActorKey::Key(subject) => ActorKey::Key(subject),
            ActorKey::Shared(limit) => ActorKey::Shared(Cow::Owned(limit.into_owned())),
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Late => f.write_str("its actor does not answer in time"),
            CallError::Overloaded => f.write_str("its actor is overloaded"),
            CallError::Disconnected => f.write_str("the way to its actor is broken"),
            CallError::Nonsense(said) => write!(f, "its actor's answer cannot be read: {said}"),
            CallError::Failed(problem) => write!(f, "its actor failed: {problem}"),
            CallError::OverBudget(_) => f.write_str("BUDGET: calls are saved, so its actor is not asked"),
            CallError::NotAsked => {
                f.write_str("its actor is left alone for a while, or there was no time left to ask it")
            }
        }
    }
}

/// Which actor holds a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActorKey<'a> {
    /// A client address's.
    Ip(Subject),
    /// A key's.
    Key(Subject),
    /// A shared limit's, by the limit's name.
    Shared(Cow<'a, str>),
}

/// Those who hold the state.
pub trait Actors {
    /// Asks the actor at `actor`. Made to answer, or to fail, within `patience`, a second try included.
    fn ask(&self, actor: &ActorKey<'_>, ask: &Ask, patience: Span) -> impl Future<Output = Result<Reply, CallError>>;

    /// Waits.
    fn sleep(&self, span: Span) -> impl Future<Output = ()>;
}
