//! Which object holds whose bucket.
//!
//! Callers share objects. One object per caller would let a botnet, or one client with random keys, wake any number of
//! objects, which the platform limits for the whole account; and a warm object answers sooner than a new one.

use crate::protocol::rates::{ActorKey, SHARDS};
use cf_colo_hint::{Colo, LocationHint};

/// The part of the world that a request arrived in; by default the unknown one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region(Option<LocationHint>);

impl Region {
    /// The region of a Cloudflare data centre, by its code (`LAX`); the unknown region for an unknown one.
    pub fn of_colo(code: &str) -> Region {
        Region(Colo::from_code(code).and_then(|colo| colo.location_hint()))
    }

    /// Where the platform is asked to put an address's object.
    pub fn hint(self) -> Option<&'static str> {
        self.0.map(|hint| hint.as_str())
    }
}

/// The name of the object at `actor`, for a request that arrived in `region`.
pub fn object_name(actor: &ActorKey<'_>, region: Region) -> String {
    match actor {
        ActorKey::Ip(subject) => format!("ip/{}/{}", region.hint().unwrap_or("any"), subject.shard(SHARDS)),
        ActorKey::Key(subject) => format!("key/{}", subject.shard(SHARDS)),
        ActorKey::Shared(limit) => format!("shared/{limit}"),
    }
}
