//! The zones as the crate `jiff` knows them, from the database that it carries. `make check` and
//! the native tests use them; the Worker asks its runtime.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::cell::RefCell;

thread_local! {
    /// The zone that was asked last. `None` before the first question, and when there is no zone of
    /// that name. Questions come in rows, and finding a zone takes longer than asking it.
    static LAST: RefCell<Option<TimeZone>> = const { RefCell::new(None) };
}

/// See [`ZoneSource::name_of`](crate::limit::calendar::ZoneSource::name_of).
pub(super) fn name_of(text: &str) -> Option<String> {
    TimeZone::get(text).ok()?.iana_name().map(str::to_owned)
}

/// See [`ZoneSource::offset_at`](crate::limit::calendar::ZoneSource::offset_at).
pub(super) fn offset_at(name: &str, at: i64) -> Option<i32> {
    let at = Timestamp::from_second(at).ok()?;
    LAST.with_borrow_mut(|last| {
        if last.as_ref().and_then(TimeZone::iana_name) != Some(name) {
            *last = TimeZone::get(name).ok();
        }
        Some(last.as_ref()?.to_offset(at).seconds())
    })
}
