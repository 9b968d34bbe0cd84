// Passes on the body of an answer where Penstock has to know when it ends. This is JavaScript and
// not part of the module, so that it goes on when the module fails.

/** No length from here on is known exactly: a double cannot represent all greater integers. */
const FIRST_INEXACT_LENGTH = 2 ** 53;

/**
 * The highest status that a script may give a response. Some origins send 999, which the runtime
 * passes on.
 */
const HIGHEST_STATUS = 599;

/**
 * The most bytes of a copied body to read. The runtime buffers this much for a slow client, since
 * the copy is ahead of it; beyond this the end of the body is not watched.
 */
const MOST_WATCHED_BYTES = 1 << 20;

/**
 * The longest time that a copied body is read, in milliseconds. After it the platform ends the work
 * that goes on after a response.
 */
const LONGEST_WATCH = 30_000;

/**
 * Returns the response with its body through a pipe, which the runtime pumps by itself, and the
 * promise of the pipe's end; `undefined` when it has no body. A length that the origin has stated
 * stays stated.
 *
 * The pipe notices that the client has left when it writes. While the origin sends nothing, only
 * the request's signal tells, and only with the compatibility flag `enable_request_signal`.
 */
export function pipeBody(response, { signal }) {
  if (!response.body) return undefined;
  if (response.status > HIGHEST_STATUS) return [response, endOfCopy(response.clone().body)];
  const { readable, writable } = passage(response.headers.get("content-length"));
  return [new Response(readable, response), response.body.pipeTo(writable, { signal })];
}

/** Makes a stream for a body to pass through. A length that was `stated` stays stated. */
export function passage(stated) {
  const length = /^\d+$/.test(stated ?? "") ? Number(stated) : FIRST_INEXACT_LENGTH;
  return length < FIRST_INEXACT_LENGTH ? new FixedLengthStream(length) : new IdentityTransformStream();
}

/**
 * Returns the promise of the end of the body that `copy` is a copy of. The runtime keeps all that
 * the client has not read yet, and does not tell when the client has left. So the copy is read for
 * at most `MOST_WATCHED_BYTES` and `LONGEST_WATCH`; the promise rejects beyond either.
 */
function endOfCopy(copy) {
  let bytes = 0;
  const write = ({ length }) => {
    bytes += length;
    if (bytes > MOST_WATCHED_BYTES) throw new RangeError();
  };
  return copy.pipeTo(new WritableStream({ write }), { signal: AbortSignal.timeout(LONGEST_WATCH) });
}
