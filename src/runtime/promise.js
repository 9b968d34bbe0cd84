// Waits for promises and timers. `owner` is the JavaScript object that stands for a request's work
// (see `cancel_on_gc.rs`). Only callbacks that can still be called hold it, so it becomes garbage,
// and the work is dropped, once nothing can call back any more.

/** Calls `onSettled(isFulfilled, value)` once `promise` is settled. Returns the subscription. */
export function subscribe(promise, owner, onSettled) {
  const subscription = { onSettled };
  promise.then(
    (value) => settle(subscription, owner, true, value),
    (error) => settle(subscription, owner, false, error),
  );
  return subscription;
}

/** Calls `onSettled(true)` after `ms` milliseconds. Returns the subscription. */
export function startTimer(ms, owner, onSettled) {
  const subscription = { onSettled };
  const timer = setTimeout(settle, ms, subscription, owner, true);
  // Where a timer is an object it holds its callback's arguments, and so the owner: it is held
  // weakly.
  subscription.timer = typeof timer === "object" ? new WeakRef(timer) : timer;
  return subscription;
}

function settle(subscription, owner, isFulfilled, value) {
  // The callback is gone after this call. The subscription holds the owner until the module has
  // taken the value.
  subscription.owner = owner;
  subscription.onSettled?.(isFulfilled, value);
}

/** Ends a subscription: its callback is not called any more. */
export function unsubscribe(subscription) {
  subscription.onSettled = subscription.owner = undefined;
  if (subscription.timer === undefined) return;
  try {
    clearTimeout(subscription.timer instanceof WeakRef ? subscription.timer.deref() : subscription.timer);
  } catch {
    // The context of the timer's request is gone, and the timer with it.
  }
}
