//! Shares: a bucket that is cut into parts, which its holders spend for a term without asking.
//!
//! - `fraction`: [`Fraction`], a fraction of a rate.
//! - `cut_bucket`: [`CutBucket`], the actor's side: the rest of a bucket, and the parts out.
//! - `outstanding`: the parts that are out, by holder, and what they sum up to.
//! - `question`: [`Question`] and [`PartAnswer`], as they go between holder and actor.
//! - `held_part`: [`HeldPart`], the holder's side of one part: a bucket of its own until its term
//!   ends.
//! - `holder`: [`PartHolder`], a part with the questions that renew it.
//! - `refill`: how long until the rest of a cut bucket has enough tokens.
//! - `demand_meter`: [`DemandMeter`], the tokens per second that a holder is asked for.
//! - `renewal`: [`Renewal`], when a holder asks for its part again.
//! - `sizes`: [`Sizes`], how large a part a holder gets, and for how long.
//!
//! A lease ([`lease`](crate::limit::lease)) is a run of slots that pass within seconds. A caller
//! that is far below its limit lets most of them pass, and asks again with nearly each request. A
//! part does not pass: it regains its fraction of the rate for minutes.
//!
//! # The rule
//!
//! A limit is a token bucket: one token per interval T, at most B of them. A part is a fraction pᵢ
//! of the rate, room for βᵢ tokens, and αᵢ tokens to begin with, for a term. With P = Σpᵢ and
//! R = Σβᵢ, the rest is one time, its TAT, and the moment `at` for which it holds:
//!
//! > TAT(t) = max( TAT(at) + P × (t − at), t + R × T )
//!
//! and a request of `cost` tokens passes at the actor if TAT + cost × T ≤ now + B × T, as ever. The
//! parts' slots move the TAT on, and their room holds it up. A new part adds α × T to the TAT. When
//! a term ends, P and R become smaller and the TAT stays. Tokens that come back in time take their
//! T each off it. While nothing is out this is GCRA.
//!
//! # Why this is exact
//!
//! Let D = (TAT − now) / T be the debt, and P* the tokens in all parts. After every step
//! D ≥ R ≥ P*, by the second half of the maximum. Time adds P per T to P* and as much to D; an
//! admission, a new part, a spent token, a returned token and the end of a term change both sides
//! alike, or D by more. The tokens that could be spent at once are (B − D) + P* ≤ B, and they grow
//! by one per T, for rest and parts share the rate. Within a span d, at most B + d / T pass.
//!
//! Slots beside parts keep it too: a lease begins no earlier than now + R × T, lies within a full
//! debt, and lapses R × T earlier than without parts.
//!
//! # The protocol
//!
//! Losses, delays and crashes only make fewer pass, since no holder has more than is counted:
//!
//! 1. A holder makes its part smaller *before* it asks, and the actor counts more *before* it
//!    answers. A [`Question`] names the part that the holder has (by the number of the question
//!    that brought it), the room that it keeps until it hears, and the tokens that it gives up.
//! 2. The actor counts, for each holder, the larger of the old part and the new one. The holder's
//!    next question says which of them it has.
//! 3. A question whose number is not above the last one's is repeated or overtaken, and gets no
//!    answer. A holder hears the answer to its latest question alone.
//! 4. A term counts from when the holder asked, by its own clock. The holder makes it shorter by a
//!    64th and its interval longer by a 64th, since clocks may run apart by 1 %. A holder whose
//!    clock steps back drops its part.
//! 5. Parts with longer terms than a bucket's `short_term` are on the actor's disk before they are
//!    handed out. Of shorter ones at most an eighth is out, and an actor that wakes holds back a
//!    quarter for a short term, which covers two lives.
//! 6. Where the limit changes, the debt keeps its tokens, and parts keep their tokens per second
//!    until their terms end.

mod cut_bucket;
mod demand_meter;
mod fraction;
mod held_part;
mod holder;
mod outstanding;
mod question;
mod refill;
mod renewal;
mod sizes;

pub use cut_bucket::{CutBucket, Saved};
pub use demand_meter::DemandMeter;
pub use fraction::Fraction;
pub use held_part::{HeldPart, SLACK, Tokens};
pub use holder::PartHolder;
pub use outstanding::{Entry, HolderId, Way};
pub use question::{Part, PartAnswer, PartSize, Question};
pub use renewal::Renewal;
pub use sizes::{LEAST_BURST, Sizes, is_cut};
