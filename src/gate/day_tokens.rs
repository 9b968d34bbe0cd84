//! The quota tokens of a request that went on to the origin, until it is known whether it got
//! there.
//!
//! A request that never reached the origin costs nothing of the day. The list goes with the request
//! as a text, since a request is forwarded without another call of the module, and a later instance
//! of the module may have to give the tokens back.

use crate::limit::time::Time;
use core::fmt::Write;

/// Tokens that a request has taken of one quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayTokens {
    /// The limit's number in the policy.
    pub limit: u64,
    /// The number of tokens.
    pub tokens: u64,
    /// The end of their day, in Unix seconds; `None` where the isolate has counted them alone.
    pub until: Option<u64>,
    /// The end of their day, in the isolate's time; or when the isolate counted them, by the wall
    /// clock.
    pub at: Time,
}

/// Writes a list into one line: four numbers for each item, and a semicolon behind it. An empty
/// list is an empty line.
pub fn write(list: &[DayTokens], line: &mut String) {
    for DayTokens { limit, tokens, until, at } in list {
        // Writing to a string cannot fail.
        let _ = write!(line, "{limit} {tokens} {} {};", until.unwrap_or(0), at.as_nanos());
    }
}

/// Reads a list that [`write`] has written. An item that is not readable is left out: its tokens
/// count as used.
pub fn read(line: &str) -> Vec<DayTokens> {
    let item = |text: &str| {
        let mut numbers = text.split(' ').map(|number| number.parse().ok());
        let mut next = || -> Option<u64> { numbers.next()? };
        let (limit, tokens, until, at) = (next()?, next()?, next()?, next()?);
        Some(DayTokens { limit, tokens, until: (until > 0).then_some(until), at: Time::from_nanos(at) })
    };
    line.split(';').filter_map(item).collect()
}
