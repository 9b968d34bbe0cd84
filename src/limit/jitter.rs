//! Spreads events over time, so that isolates or clients that failed together do not return
//! together.
//!
//! [`SplitMix64`] draws a new number each time. [`whole_seconds`] gives one client the same delay
//! each time, so asking again brings no better one.

use crate::limit::time::Span;

/// A pseudo-random generator: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators", 2014). It is no source of secrets.
#[derive(Clone, Copy, Debug, Default)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator whose numbers follow from `seed` alone.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// Draws the next number; all values are equally likely.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws a number from 0 to 255.
    pub fn draw_byte(&mut self) -> u8 {
        (self.draw() >> 56) as u8
    }
}

/// Returns the delay of the client with this `digest`: a whole number of seconds, from zero to less
/// than `below`, which counts as rounded up to a second. Digests spread evenly over the seconds.
pub fn whole_seconds(digest: [u8; 16], below: Span) -> Span {
    let [a, b, c, d, ..] = digest;
    let fraction = u64::from(u32::from_be_bytes([a, b, c, d]));
    let secs = below.as_secs_up().saturating_mul(fraction).checked_shr(32).unwrap_or(0);
    Span::from_secs(secs)
}
