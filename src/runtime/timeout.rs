//! A deadline for work that may never end.

use crate::limit::time::Span;
use crate::runtime::promise::sleep;
use core::pin::pin;
use futures_util::future::{Either, select};

/// Waits for `work`; `None` when it takes longer than `span`. Then `work` is dropped. A call that
/// it has made to an actor, D1 or the origin goes on there, and its result is lost.
pub async fn with_timeout<T>(span: Span, work: impl Future<Output = T>) -> Option<T> {
    match select(pin!(work), pin!(sleep(span))).await {
        Either::Left((result, _)) => Some(result),
        Either::Right(_) => None,
    }
}
