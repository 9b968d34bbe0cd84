//! Calendar days: the local day of a time zone, and its end. Most days have 23, 24 or 25 hours, and
//! a few have other lengths, so each end comes from the zone's offsets.
//!
//! - `zone`: [`Zone`] and [`Day`], as the rest of the crate uses them.
//! - `offsets`: a zone's offsets from UTC in the days around one day, and that day's end.
//! - `civil_date`: a date, counted in days and printed as `YYYY-MM-DD`.
//! - `named_zone`: the zones with a name, each with the offsets that were asked last.
//! - `zone_source`: [`ZoneSource`], the port through which the offsets come in.
//! - `host_zones`: the source on the developer's machine, a database that the program carries.

mod civil_date;
#[cfg(not(target_arch = "wasm32"))]
mod host_zones;
mod named_zone;
mod offsets;
mod zone;
mod zone_source;

pub use zone::{Day, Zone};
pub use zone_source::ZoneSource;
