//! A deadline for anything that may not answer.

use crate::limit::time::Span;
use core::pin::pin;
use core::time::Duration;
use futures_util::future::{Either, select};
use worker::Delay;

/// Waits for as long as `span`.
pub async fn pause(span: Span) {
    Delay::from(Duration::from_nanos(span.as_nanos())).await;
}

/// What `work` comes to, or `None` if it takes longer than `span`. The work is dropped then; what it has set in motion elsewhere
/// goes on, and its answer is not heard.
pub async fn within<T>(span: Span, work: impl Future<Output = T>) -> Option<T> {
    let timer = pin!(Delay::from(Duration::from_nanos(span.as_nanos())));
    match select(pin!(work), timer).await {
        Either::Left((answer, _)) => Some(answer),
        Either::Right(_) => None,
    }
}
