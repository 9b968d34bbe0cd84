//! The port through which a zone's name and offsets come in. The rules of all zones fill about
//! 100 KiB, which the Worker's module leaves to the runtime.

use std::sync::OnceLock;

/// The source of all facts about zones with a name. Fixed offsets and UTC need no source.
#[derive(Clone, Copy, Debug)]
pub struct ZoneSource {
    /// The name of a zone as IANA spells it, from that name in any case. An alias keeps its own
    /// name. `None` when there is no such zone. `Etc/Unknown` and `Factory` may be returned or not.
    pub name_of: fn(&str) -> Option<String>,
    /// The offset of a zone in seconds east of UTC, at an instant in seconds since the Unix epoch.
    /// The name is one that `name_of` has returned; `None` for any other.
    pub offset_at: fn(&str, i64) -> Option<i32>,
}

static INSTALLED: OnceLock<ZoneSource> = OnceLock::new();

impl ZoneSource {
    /// Makes this the source of all zones, before any zone is read. A second source is ignored.
    pub fn install(self) {
        let _ = INSTALLED.set(self);
    }

    /// The source that was installed. Without one the host uses its own database, and the Worker's
    /// module knows no zone.
    pub(super) fn installed() -> Option<ZoneSource> {
        INSTALLED.get().copied().or_else(default_source)
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn default_source() -> Option<ZoneSource> {
    use crate::limit::calendar::host_zones::{name_of, offset_at};
    Some(ZoneSource { name_of, offset_at })
}

#[cfg(target_arch = "wasm32")]
fn default_source() -> Option<ZoneSource> {
    None
}
