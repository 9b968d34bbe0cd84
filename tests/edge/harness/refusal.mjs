// Assertions that hold for every refusal.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv/dist/2020.js";
import { parseList, Token } from "structured-headers";
import { ROOT } from "./edge.mjs";

/** Whether a body is as `docs/problem.schema.json` says. Ajv knows no formats by itself. */
const fits = new Ajv({
  strict: true,
  strictRequired: false, // the branches by reason build on the members above them
  allErrors: true,
  formats: { "date-time": (text) => !Number.isNaN(Date.parse(text)), uri: (text) => URL.canParse(text) },
}).compile(JSON.parse(readFileSync(join(ROOT, "docs/problem.schema.json"), "utf8")));

const TYPES = {
  rate_limited: "https://iana.org/assignments/http-problem-types#quota-exceeded",
  quota_exhausted: "https://iana.org/assignments/http-problem-types#quota-exceeded",
};

const STATUS = {
  rate_limited: 429,
  quota_exhausted: 429,
  over_capacity: 429,
  limiter_unavailable: 503,
  blocked: 403,
  origin_unreachable: 502,
  origin_timeout: 504,
  upload_timeout: 408,
  misconfigured: 500,
};

/**
 * `RateLimit` and `RateLimit-Policy` of an answer, each as `[{ name, … }]`. Fails where RFC 9651 or
 * the draft forbids their form.
 */
export function rateHeaders(answer) {
  const read = (header, required) => {
    const text = answer.headers[header];
    if (text === undefined) return [];
    return parseList(text).map(([name, parameters]) => {
      assert.equal(typeof name, "string", `${header}: a quoted string, not ${String(name)} in ${text}`);
      assert.ok(!(name instanceof Token), `${header}: a string, not a token`);
      const values = Object.fromEntries(parameters);
      for (const parameter of required) assert.ok(Number.isSafeInteger(values[parameter]), `${header}: ${parameter} in ${text}`);
      for (const value of Object.values(values)) if (typeof value === "number") assert.ok(value >= 0, text);
      return { name, ...values };
    });
  };
  return { policies: read("ratelimit-policy", ["q"]), limits: read("ratelimit", ["r"]) };
}

/**
 * The members of a problem document, which must not be cached. `wanted` are members that must have
 * these values.
 */
export function problem(answer, wanted = {}) {
  const status = wanted.status ?? STATUS[wanted.reason];
  if (status !== undefined) assert.equal(answer.status, status, answer.text.slice(0, 500));
  assert.match(answer.headers["content-type"] ?? "", /^application\/problem\+json\b/);
  assert.equal(answer.headers["cache-control"], "no-store");
  const body = answer.json;
  assert.ok(fits(body), `${answer.text}: ${JSON.stringify(fits.errors)}`);
  for (const member of ["type", "title", "reason", "detail"]) {
    assert.equal(typeof body[member], "string", `${member} in ${answer.text}`);
    assert.notEqual(body[member], "", member);
  }
  assert.equal(body.status, answer.status);
  if (TYPES[body.reason]) assert.equal(body.type, TYPES[body.reason]);
  for (const [member, value] of Object.entries(wanted)) assert.deepEqual(body[member], value, `${member} in ${answer.text}`);
  return body;
}

/**
 * A refusal by a limit: status, headers and body, each by itself and all of them agreeing.
 *
 * @param {number} at the time of the clock, where it stood still
 */
export function refusal(answer, wanted = {}, at) {
  const body = problem(answer, { reason: "rate_limited", ...wanted });
  assert.match(answer.headers["retry-after"], /^[1-9][0-9]*$/);
  assert.equal(body.retry_after, Number(answer.headers["retry-after"]));
  assert.match(body.limit, /^[ !#-[\]-~]+\/((ip|key|global)(-[1-9][0-9]*)?|in-flight|sockets)$/);
  assert.equal(body.scope, /\/(ip|key|global)(-\d+)?$/.exec(body.limit)?.[1] ?? "global");
  const { policies, limits } = rateHeaders(answer);
  if (body.reason === "limiter_unavailable") return body;
  assert.match(body.retry_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
  if (at !== undefined) {
    const away = Date.parse(body.retry_at) - (at + body.retry_after * 1000);
    assert.ok(Math.abs(away) <= 1000, `retry_at ${body.retry_at} is ${away} ms from Retry-After ${body.retry_after}`);
  }
  assert.ok(body["violated-policies"].includes(body.limit), answer.text);
  assert.equal(policies[0]?.name, body.limit, "the refusing limit's policy first");
  assert.equal(limits[0]?.name, body.limit, "RateLimit speaks of the limit that refused");
  assert.ok(limits[0].t >= 1 && limits[0].t <= body.retry_after, answer.headers.ratelimit);
  for (const { name } of limits) assert.ok(policies.some((policy) => policy.name === name), `${name} has a policy`);
  for (const { q, w } of policies) assert.ok(q >= 1 && (w === undefined || w >= 1));
  return body;
}
