// What the module waits for. `owner` is held by whatever can still call, and by nothing else: see `owner.rs`.

/** Tells what `promise` comes to, once: `tell(well, value)`. */
export function hear(promise, owner, tell) {
  const ear = { tell };
  promise.then(
    (value) => told(ear, owner, true, value),
    (error) => told(ear, owner, false, error),
  );
  return ear;
}

/** Tells when `ms` milliseconds have passed. */
export function ring(ms, owner, tell) {
  const ear = { tell };
  const timer = setTimeout(told, ms, ear, owner, true);
  // A timer that is an object holds what it calls.
  ear.timer = typeof timer === "object" ? new WeakRef(timer) : timer;
  return ear;
}

function told(ear, owner, well, value) {
  // Until the module takes it, the owner is held by what it is for.
  ear.owner = owner;
  ear.tell?.(well, value);
}

/** Nobody waits for it any more. */
export function forget(ear) {
  ear.tell = ear.owner = undefined;
  if (ear.timer === undefined) return;
  try {
    clearTimeout(ear.timer instanceof WeakRef ? ear.timer.deref() : ear.timer);
  } catch {
    // Its context is gone, and the timer with it.
  }
}
