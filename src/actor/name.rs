//! The names of objects, by the state that they keep.
//!
//! Callers share objects. With one object per caller, a botnet or a client with random keys could
//! wake any number of objects, and the platform limits their number for the whole account. A shared
//! object is also warm more often, and a warm object answers sooner than a new one.

use crate::protocol::rates::{ActorKey, SHARDS};
use cf_colo_hint::{Colo, LocationHint};

/// The part of the world that a request arrived in; by default unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region(Option<LocationHint>);

impl Region {
    /// The region of a Cloudflare data centre, by its code (`LAX`); unknown if the code is unknown.
    pub fn of_colo(code: &str) -> Region {
        Region(Colo::from_code(code).and_then(|colo| colo.location_hint()))
    }

    /// The hint for the platform where to create an object; `None` if the region is unknown.
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
