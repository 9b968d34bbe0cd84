// Limits that cannot be checked: `on_error` decides, within the deadline, and the logs stay short.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { count, HOUR, inTurn, MINUTE, parallel, problem, start, until } from "./harness/index.mjs";

const vars = {
  DEADLINE: null, // the default
  LIMIT_OPEN: { route: "/open", per_ip: "5/min", on_error: "open" },
  LIMIT_CLOSED: { route: "/closed", per_ip: "5/min", on_error: "closed" },
  LIMIT_LOCAL: { route: "/local", per_ip: "5/min", on_error: "local" },
  LIMIT_DEFAULT: { route: "/default", per_ip: "5/min", global: "5/min" },
  LIMIT_ALL: { route: "/all", global: "5/min" },
};
const edge = await start({ after }, { vars });

const warnings = () => edge.logs.filter(({ level }) => level !== "log" && level !== "info");
const unavailable = (answer, limit) => {
  const { retry_after } = problem(answer, { reason: "limiter_unavailable", status: 503, limit });
  assert.match(answer.headers["retry-after"], /^[1-9][0-9]*$/);
  assert.equal(retry_after, Number(answer.headers["retry-after"]));
};

const faults = {
  overloaded: { kind: "throw", flags: { overloaded: true, remote: true } },
  disconnected: { kind: "throw", message: "Network connection lost.", flags: { retryable: true, remote: true } },
  "broken in an unknown way": { kind: "throw", message: "internal error; reference = 0123", flags: { remote: true } },
  "hanging for a minute": { kind: "hang", ms: 60_000 },
  "answering a minute after it committed": { kind: "late", ms: 60_000 },
  "losing its replies": { kind: "lost", flags: { retryable: true } },
  "answering 500": { kind: "reply", status: 500 },
  "answering nothing": { kind: "reply", status: 200 },
  "answering with a page": { kind: "reply", status: 200, headers: { "content-type": "text/html", "penstock-reply": "<html>" }, body: "<html>" },
  "answering with numbers": { kind: "reply", status: 200, headers: { "penstock-reply": "1 1 18446744073709551616 -1" }, body: "[1e400,-1]" },
};

for (const [name, actor] of Object.entries(faults)) {
  test(`STO-01: an actor that is ${name} leaves the decision to on_error, within the deadline`, async () => {
    const who = await edge.newCaller();
    await edge.fail({ actor });
    const began = performance.now();
    const [open, closed, local, shared] = await Promise.all(
      ["/open", "/closed", "/local", "/all"].map((path) => parallel(8, () => edge.get(path, who))),
    );
    const took = performance.now() - began;
    await edge.fail({ actor: null });
    assert.ok(took < 3_000, `${Math.round(took)} ms for a deadline of 250`);
    assert.equal(count(open, 200), 8);
    for (const answer of closed) unavailable(answer, "closed/ip");
    for (const answer of shared) unavailable(answer, "all/global");
    assert.equal(count(local, 200), 5, "no caller gets more than the limit from one isolate");
    assert.equal(count(local, 429), 3);
    assert.equal(edge.origin.count, 13);
    await edge.advance(HOUR);
    for (const path of ["/open", "/closed", "/local", "/all"]) assert.equal((await edge.get(path, who)).status, 200, `${path} after it`);
  });
}

test("STO-01: an overloaded actor is not called again", async () => {
  const who = await edge.newCaller();
  await edge.fail({ actor: { kind: "throw", flags: { overloaded: true, retryable: true } } });
  for (const path of ["/open", "/closed", "/local", "/all"]) {
    const before = (await edge.asked()).calls;
    await inTurn(5, () => edge.get(path, who));
    assert.equal((await edge.asked()).calls - before, 1, `${path}: one call, and then none`);
    await edge.advance(MINUTE);
  }
  await edge.fail({ actor: null });
});

test("a disconnected actor is called at most once more, and the second call may be answered", async () => {
  const who = await edge.newCaller();
  const disconnected = { kind: "throw", message: "Network connection lost.", flags: { retryable: true } };
  await edge.fail({ actor: disconnected });
  const before = (await edge.asked()).calls;
  await edge.get("/closed", who);
  assert.ok((await edge.asked()).calls - before <= 2);
  await edge.fail({ actor: { ...disconnected, times: 1 } });
  assert.equal((await edge.get("/closed", who)).status, 200);
  await edge.fail({ actor: null });
});

test("STO-04: with every actor down, ten thousand requests are decided by on_error and logged four times", async () => {
  const who = await edge.newCaller();
  await edge.fail({ actor: { kind: "throw", flags: { overloaded: true } } });
  const paths = ["/open", "/closed", "/local", "/all"];
  const statuses = Object.fromEntries(paths.map((path) => [path, { 200: 0, 429: 0, 503: 0 }]));
  for (let wave = 0; wave < 100; wave++) {
    await parallel(100, async (index) => {
      const path = paths[index % 4];
      const { status } = await edge.get(path, { ip: path === "/local" ? who.ip : `198.51.100.${index}` });
      statuses[path][status] += 1;
    });
  }
  await edge.fail({ actor: null });
  assert.deepEqual(statuses["/open"], { 200: 2500, 429: 0, 503: 0 });
  assert.deepEqual(statuses["/closed"], { 200: 0, 429: 0, 503: 2500 });
  assert.deepEqual(statuses["/all"], { 200: 0, 429: 0, 503: 2500 });
  assert.deepEqual(statuses["/local"], { 200: 5, 429: 2495, 503: 0 });
  await until(() => warnings().length >= 4);
  const limits = warnings().map(({ message }) => /(open|closed|local|all)\/(ip|global)/.exec(message)?.[0]);
  assert.deepEqual([...limits].sort(), ["all/global", "closed/ip", "local/ip", "open/ip"], "one warning per limit and interval");
});

test("STO-04: an outage that goes on is logged again an hour later", async () => {
  const who = await edge.newCaller();
  await edge.fail({ actor: { kind: "throw", flags: { overloaded: true } } });
  await inTurn(3, () => edge.get("/open", who));
  await edge.advance(HOUR);
  await inTurn(3, () => edge.get("/open", who));
  await edge.fail({ actor: null });
  await until(() => warnings().length >= 2);
  assert.equal(warnings().length, 2);
});

test("without on_error, an isolate counts callers' limits by itself and refuses for shared ones", async () => {
  const who = await edge.newCaller();
  await edge.fail({ actor: { kind: "throw", match: "ip/" } });
  const answers = await inTurn(7, () => edge.get("/default", who));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200, 200, 429, 429]);
  await edge.fail({ actor: { kind: "throw", match: "shared/" } });
  unavailable(await edge.get("/default", { ip: "203.0.113.250" }), "default/global");
  await edge.fail({ actor: null });
});

test("a request that is refused during an outage uses up none of its caller's day", async (t) => {
  const vars = {
    LIMIT_BOTH: { route: "/both", per_ip: "3/min", per_key: "12/day" },
    LIMIT_KEY: { route: "/key", per_key: ["3/min", "12/day"] },
  };
  const edge = await start(t, { vars });
  await edge.fail({ actor: { kind: "throw", flags: { overloaded: true } } });
  for (let minute = 0; minute < 4; minute++) {
    for (const path of ["/both", "/key"]) {
      const answers = await inTurn(30, () => edge.get(path, { ip: "203.0.113.7", key: "k" }));
      assert.equal(count(answers, 200), 3, `${path}, minute ${minute}`);
    }
    await edge.advance(MINUTE);
  }
  assert.equal((await edge.get("/key", { ip: "203.0.113.7", key: "k" })).json.reason, "quota_exhausted", "admitted requests are counted");
});

test("an actor that hangs delays two requests by DEADLINE, and the next ones not at all", async (t) => {
  const vars = { DEADLINE: "50ms", LIMIT_X: { route: "/*", per_ip: "5/min", on_error: "open" } };
  const edge = await start(t, { vars });
  await edge.get("/", { ip: "203.0.113.7" });
  await edge.fail({ actor: { kind: "hang", ms: 60_000 } });
  const times = [];
  for (let time = 0; time < 5; time++) {
    const began = performance.now();
    assert.equal((await edge.get("/", { ip: "203.0.113.7" })).status, 200);
    times.push(performance.now() - began);
  }
  const [first, second, ...rest] = times;
  assert.ok([first, second].every((time) => time >= 45 && time < 200), `${times.map(Math.round)} ms`);
  assert.ok(rest.sort((a, b) => a - b)[1] < 40, `${times.map(Math.round)} ms: no request waits any more`);
});

test("a cap that cannot be checked is counted in the trace", async (t) => {
  const vars = { TRACE: "header", DEADLINE: "200ms", LIMIT_ALL: { route: "/*", in_flight: "5", per_ip: "5/min", on_error: "open" } };
  const edge = await start(t, { vars });
  await edge.fail({ actor: { kind: "throw" } });
  const answer = await edge.get("/x", { ip: "203.0.113.7" });
  assert.equal(answer.status, 200);
  assert.match(answer.headers["penstock-trace"], /unchecked=2/);
});

test("several caps whose actors hang delay a request by DEADLINE in all", async (t) => {
  const vars = {
    DEADLINE: "300ms",
    LIMIT_BASE: { in_flight: "10", global: "1000/s", per_ip: "100/s", on_error: "local" },
    LIMIT_X: { route: "/x", in_flight: "5", on_error: "local" },
  };
  const edge = await start(t, { vars });
  await edge.run();
  for (const match of ["", "shared"]) {
    await edge.fail({ actor: { kind: "hang", ms: 5_000, match } });
    const begun = performance.now();
    assert.equal((await edge.get("/x", { ip: "203.0.113.7" })).status, 200);
    const took = Math.round(performance.now() - begun);
    assert.ok(took < 450, `${took} ms`);
    await edge.fail({ actor: null });
    await sleep(1_000);
  }
});

test("a cap's actor that hangs gets fewer and fewer calls, and requests stop waiting for it", async (t) => {
  const edge = await start(t, { vars: { DEADLINE: "300ms", LIMIT_ALL: { route: "/*", in_flight: "5", on_error: "open" } } });
  await edge.run();
  await edge.fail({ actor: { kind: "hang", ms: 5_000 } });
  let waited = 0;
  const end = performance.now() + 6_000;
  while (performance.now() < end) {
    await parallel(3, async () => {
      const begun = performance.now();
      assert.equal((await edge.get("/x", { ip: "203.0.113.7" })).status, 200);
      if (performance.now() - begun > 290) waited++;
    });
    await sleep(20);
  }
  const { calls } = await edge.asked();
  t.diagnostic(`${calls} calls in 6 s, and ${waited} waited`);
  // Two calls 300 ms apart, then one after each pause: 250, 500, 1,000 and 2,000 ms, each by up to
  // half of it longer or shorter.
  assert.ok(calls <= 7, `${calls} calls`);
  assert.ok(waited <= 2 * 3 + calls - 2, `${waited} waited`);
});

test("a cap's actor that is overloaded gets fewer and fewer calls", async (t) => {
  const edge = await start(t, { vars: { DEADLINE: "300ms", LIMIT_ALL: { route: "/*", in_flight: "5", on_error: "open" } } });
  await edge.run();
  await edge.fail({ actor: { kind: "throw", flags: { overloaded: true } } });
  const end = performance.now() + 8_000;
  while (performance.now() < end) {
    await edge.get("/x", { ip: "203.0.113.7" });
    await sleep(20);
  }
  const { calls } = await edge.asked();
  assert.ok(calls <= 7, `${calls} calls in 8 s`);
});

test("a cap that is checked again is logged", async (t) => {
  const edge = await start(t, { vars: { DEADLINE: "200ms", LIMIT_ALL: { route: "/*", in_flight: "5", on_error: "open" } } });
  await edge.run();
  await edge.fail({ actor: { kind: "throw" } });
  await edge.get("/x", { ip: "203.0.113.7" });
  await edge.fail({ actor: null });
  await sleep(1_000);
  await edge.get("/x", { ip: "203.0.113.7" });
  assert.deepEqual(edge.records.map(({ event, place }) => `${event} ${place}`), ["warning all/in-flight", "restored all/in-flight"]);
});
