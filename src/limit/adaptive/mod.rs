//! A cap that finds its own size (`in_flight = "auto"`), from the latency of requests at the origin
//! and from how many of them fail.
//!
//! - `state`: the cap, and how far it is in finding its size.
//! - `follow`: records samples, and resizes the cap after each window.
//! - `base_latency`: learns the latency without a queue.
//! - `window`: adds up the reports of all isolates over a few seconds.
//! - `saved`: the part of the state that an actor keeps on disk.
//!
//! **The idea.** An origin that serves c requests at once takes the same time for each while there
//! are fewer. With more, the rest queue, and the mean latency grows in proportion. Wherever the cap
//! is reached, therefore:
//!
//! > c = cap × base latency / latency
//!
//! The base latency is the mean latency without a queue, and c is called the knee. TCP Vegas
//! (Brakmo and Peterson, 1994) and the gradient limiters after it use the same idea. The cap is
//! kept `ROOM` above the knee, since a cap at the knee would never notice that the origin can
//! take more.
//!
//! **Where such limiters go wrong, and the remedy here:**
//!
//! - *The base latency is a minimum.* If requests differ by nature, the quickest one says nothing
//!   about the others. Here it is a mean, measured while there can be no queue: while the cap is
//!   not used, and in a probe, which lowers the cap a little for two windows after a minute of use.
//! - *The base latency changes.* An origin may become slower without a queue. Latency that stays
//!   the same when fewer requests are at the origin does not come from a queue.
//! - *An idle cap drifts up.* The cap grows only while at least half of it is in use, or while
//!   requests are refused. Latency does not lower a cap that is not in use either.
//! - *The start is slow.* The cap doubles with each window in which it is used, until the first
//!   signs of a queue. Later it grows faster the longer there is no queue.
//! - *The cap oscillates.* Isolates report every few seconds, so the effect of a change shows late.
//!   Latency is compared with the cap that its isolate knew then, and small differences are
//!   followed only in part.
//! - *The cap wanders down.* Below the knee, latency says nothing about the cap. A base latency
//!   that is too low would therefore lower the cap for ever. A measurement counts even if it is
//!   high, unless it is higher than chance explains.

mod base_latency;
mod follow;
mod saved;
mod state;
mod window;

pub use saved::SavedCap;
pub use state::AdaptiveCap;
pub use window::Sample;
