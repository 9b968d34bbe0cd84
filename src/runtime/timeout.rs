//! A deadline for anything that may not answer.

use crate::limit::time::Span;
use crate::runtime::promise::sleep;
use core::pin::pin;
use futures_util::future::{Either, select};

/// What `work` comes to, or `None` if it takes longer than `span`. The work is dropped then; what it has set in motion elsewhere
/// goes on, and its answer is not heard.
pub async fn with_timeout<T>(span: Span, work: impl Future<Output = T>) -> Option<T> {
    match select(pin!(work), pin!(sleep(span))).await {
        Either::Left((answer, _)) => Some(answer),
        Either::Right(_) => None,
    }
}
