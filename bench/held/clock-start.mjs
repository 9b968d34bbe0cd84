// Where the held clock stands at first.

/** Noon in UTC, years ahead of the machine's clock: the runtime runs no alarm by itself. */
export const START = Date.parse("2031-01-15T12:00:00Z");
