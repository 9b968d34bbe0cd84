//! The choice of the actor that keeps a bucket.

use crate::identity::digest::Subject;
use core::num::NonZeroU32;
use std::borrow::Cow;

/// The number of objects per region for addresses, and of objects in all for keys. One object
/// serves about 1,000 requests a second. Changing it moves subjects to other objects, where their
/// buckets are full.
pub const SHARDS: NonZeroU32 = NonZeroU32::new(32).unwrap();

/// The actor that keeps a bucket. Subjects share actors, by the shard of their digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActorKey<'a> {
    /// The actor of a client address.
    Ip(Subject),
    /// The actor of a key.
    Key(Subject),
    /// The actor of a binding's `global` limits, such as `api/global`, or of a cap, by its name.
    Shared(Cow<'a, str>),
}

impl ActorKey<'_> {
    /// A number for the actor among those that one isolate asks: equal for all subjects of a shard.
    pub fn number(&self) -> u64 {
        match self {
            ActorKey::Ip(subject) => u64::from(subject.shard(SHARDS)),
            ActorKey::Key(subject) => 1 << 32 | u64::from(subject.shard(SHARDS)),
            // FNV-1a. Two names with one number would only be left alone together after failures.
            ActorKey::Shared(limit) => limit
                .bytes()
                .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)),
        }
    }

    /// The same actor, without a borrow from the policy that named it.
    pub fn into_owned(self) -> ActorKey<'static> {
        match self {
            ActorKey::Ip(subject) => ActorKey::Ip(subject),
            ActorKey::Key(subject) => ActorKey::Key(subject),
            ActorKey::Shared(limit) => ActorKey::Shared(Cow::Owned(limit.into_owned())),
        }
    }
}
