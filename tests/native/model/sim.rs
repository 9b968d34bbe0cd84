//! Two parts of every simulation: a wall clock to set, and a value that arrives later. The fleet in
//! `bench/fleet` uses this file as well.

use core::cell::{Cell, RefCell};
use core::pin::Pin;
use core::task::{Context, Poll};
use penstock::limit::time::Time;
use std::rc::Rc;

thread_local! {
    static WALL: Cell<Time> = const { Cell::new(Time::MAX) };
}

/// Reads the wall clock of the isolate or actor that runs now.
pub fn wall() -> Time {
    WALL.get()
}

/// Sets the wall clock before an isolate or actor runs.
pub fn set_wall(time: Time) {
    WALL.set(time);
}

/// A value that arrives once. The sender keeps one clone, and the receiver awaits another.
pub struct OneShot<T>(Rc<RefCell<Option<T>>>);

impl<T> OneShot<T> {
    pub fn new() -> OneShot<T> {
        OneShot(Rc::new(RefCell::new(None)))
    }

    /// Sends the value. The receiver sees it when it is polled next.
    pub fn put(&self, value: T) {
        *self.0.borrow_mut() = Some(value);
    }

    /// Whether there is another clone, so the receiver may still be waiting.
    #[allow(dead_code, reason = "the fleet has no use for it")]
    pub fn is_awaited(&self) -> bool {
        Rc::strong_count(&self.0) > 1
    }

    /// Whether the value has been received, or not been sent.
    #[allow(dead_code, reason = "the fleet has no use for it")]
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_none()
    }
}

impl<T> Clone for OneShot<T> {
    fn clone(&self) -> OneShot<T> {
        OneShot(Rc::clone(&self.0))
    }
}

impl<T> Future for OneShot<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        self.0.borrow_mut().take().map_or(Poll::Pending, Poll::Ready)
    }
}
