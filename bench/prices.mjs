// Money at the platform's list prices: the one place where calls become dollars.

/**
 * Dollars per million: a Worker's request, a Durable Object's request, a row written, a row read.
 */
const PRICE = { request: 0.3, actor: 0.15, row: 1, rowRead: 0.001 };

/** The list price of a million requests, from the counts of a thousand. */
export function dollars({ actors, rows, rowsRead }) {
  return PRICE.request + (PRICE.actor * actors + PRICE.row * rows + PRICE.rowRead * rowsRead) / 1000;
}

/** Counts of `requests` requests, for a thousand. */
export function perThousand(counts, requests) {
  return Object.fromEntries(Object.entries(counts).map(([name, n]) => [name, requests > 0 ? (n * 1000) / requests : 0]));
}
