// Caps when the Worker's module fails and a new instance takes over: requests at the origin,
// streams and live WebSockets keep their permits. Permits are lent for ten seconds, so each test
// lasts more than twice as long; the tests run side by side.
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { open, openSocket, problem, SECOND, start, until, untilAdmitted } from "./harness/index.mjs";

const ip = "203.0.113.7";
const HELD = "/x?as=held";
const BUSY = "/x?as=slow&parts=1000&bytes=20000&every=20";
const LONG = 21 * SECOND;

/** An edge of two isolates: the first will fail, the second wants the same permits. */
async function edges(t, cap) {
  const edge = await start(t, { vars: { LIMIT_X: { route: "/x", ...cap }, LIMIT_NO: { route: "/no", block: [ip] } }, isolates: 2 });
  await edge.run();
  return edge;
}

const failures = (edge) => edge.records.filter(({ place }) => place === "module").length;

/** Makes the first isolate's module fail, under a blocked request or under a heartbeat. */
async function fail(edge) {
  const before = failures(edge);
  await edge.trip("trap");
  await edge.get("/no", { ip });
  await edge.trip("trap", { times: 0 });
  await edge.get("/no", { ip });
  assert.equal(failures(edge), before + 1);
}

/** An admitted stream that goes on until it is released, or its client leaves. */
async function stream(edge, path = HELD) {
  let request, response;
  await until(async () => {
    ({ request, response } = await open(edge.url(), { path, ip }));
    response.on("error", () => {});
    return response.statusCode === 200 || void response.resume();
  });
  return { request, whole: response.toArray().then((parts) => Buffer.concat(parts).toString()) };
}

/** Asserts for `ms` that these isolates refuse every request. */
async function stays(ms, get, isolates) {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(150)) {
    for (const isolate of isolates) {
      const answer = await get(isolate);
      assert.equal(answer.status, 503, `isolate ${isolate}`);
    }
  }
}

/** Asks at one isolate until a request is admitted; returns how many milliseconds that took. */
const free = (get, isolate = 0) => untilAdmitted(() => get(isolate));

/** Asserts that in the end no permit is lent, and the actor sleeps. */
async function rests(edge) {
  const cap = async () => (await edge.objects()).find(({ name }) => name.startsWith("shared/x/"));
  await until(async () => (await cap()).tables.holder?.length === 0 || void (await sleep(100)));
  await edge.alarms();
  const { tables, alarmAt } = await cap();
  assert.deepEqual([tables, alarmAt], [{}, null]);
}

describe("when the module fails", { concurrency: true }, () => {
  test("a stream keeps its permit though all requests come to the other isolate, and then returns it", async (t) => {
    const edge = await edges(t, { in_flight: "1" });
    const get = (isolate) => edge.get("/x", { ip, isolate });
    const { whole } = await stream(edge);
    await fail(edge);
    await stays(LONG, get, [1]);
    assert.equal(edge.origin.most, 1);
    edge.origin.release();
    assert.equal(await whole, "first second");
    const took = await free(get);
    t.diagnostic(`free after ${Math.round(took)} ms`);
    assert.ok(took < 1_000, `${took} ms`);
    await free(get, 1);
    await rests(edge);
  });

  test("streams keep their permits though the module fails twice, with requests at both isolates", async (t) => {
    const edge = await edges(t, { in_flight: "3" });
    const streams = [await stream(edge), await stream(edge)];
    const end = performance.now() + LONG;
    const passed = [0, 0];
    const traffic = [0, 1, 0, 1].map(async (isolate) => {
      while (performance.now() < end) {
        const answer = await edge.get("/x?as=slow&ms=50", { ip, isolate });
        if (answer.status === 200) passed[isolate] += 1;
        await sleep(30);
      }
    });
    await sleep(1 * SECOND);
    await fail(edge);
    await sleep(5 * SECOND);
    await fail(edge);
    await Promise.all(traffic);
    t.diagnostic(`${passed} passed, at most ${edge.origin.most} at once`);
    assert.ok(edge.origin.most <= 3, `${edge.origin.most} at once`);
    assert.ok(passed[0] + passed[1] > 100, "the third permit is in use all the time");
    edge.origin.release();
    for (const { whole } of streams) assert.equal(await whole, "first second");
    await rests(edge);
  });

  test("a WebSocket keeps its permit until it ends", async (t) => {
    const edge = await edges(t, { sockets: "1" });
    const sockets = [];
    t.after(() => sockets.forEach((socket) => socket.terminate()));
    const get = async (isolate) => {
      const answer = await openSocket(edge.url(isolate), { path: "/x", ip });
      if (answer.client) sockets.push(answer.client);
      return answer;
    };
    const { client: socket } = await get(0);
    await fail(edge);
    await stays(LONG, get, [0, 1]);
    assert.equal(edge.origin.sockets, 1);
    socket.send("still there");
    assert.equal(String((await once(socket, "message"))[0]), "still there");
    socket.close();
    const took = await free(get);
    t.diagnostic(`free after ${Math.round(took)} ms`);
    assert.ok(took < 1_000, `${took} ms`);
  });

  test("a request at the origin is answered with 503, broken off there, and keeps its permit until then", async (t) => {
    const edge = await edges(t, { in_flight: "1" });
    const waits = edge.get("/x?as=slow&ms=20000", { ip });
    await until(() => edge.origin.under === 1);
    await fail(edge);
    problem(await waits, { reason: "limiter_unavailable", status: 503 });
    const told = performance.now();
    await until(() => edge.origin.under === 0);
    t.diagnostic(`broken off after ${Math.round(performance.now() - told)} ms`);
    const took = await free((isolate) => edge.get("/x", { ip, isolate }));
    t.diagnostic(`free after ${Math.round(took)} ms`);
    assert.equal(edge.origin.most, 1);
    assert.ok(took < 4_500, `${took} ms`);
  });

  test("a client that leaves after one failure, or before another, frees its permit", async (t) => {
    const edge = await edges(t, { in_flight: "1" });
    const get = (isolate) => edge.get("/x", { ip, isolate });
    for (const again of [false, true]) {
      const { request, whole } = await stream(edge, BUSY);
      whole.catch(() => {});
      await fail(edge);
      await sleep(1_500);
      request.socket.resetAndDestroy();
      if (again) await fail(edge);
      const took = await free(get, 1);
      t.diagnostic(`free for the other isolate after ${Math.round(took)} ms`);
      assert.ok(took < 4_500, `${took} ms`);
      assert.equal(edge.origin.most, 1);
    }
    await rests(edge);
  });

  test("a stream keeps its permit though its heartbeats fail for a while", async (t) => {
    const edge = await edges(t, { in_flight: "1" });
    const { whole } = await stream(edge);
    // Only heartbeats read the first isolate's clock here.
    for (let failure = 1; failure <= 3; failure++) {
      await edge.trip("trap");
      await until(() => failures(edge) === failure);
    }
    await stays(LONG - 3 * SECOND, (isolate) => edge.get("/x", { ip, isolate }), [0, 1]);
    edge.origin.release();
    assert.equal(await whole, "first second");
  });

  test("heartbeats that fail each time are given up, and other requests go on", async (t) => {
    const edge = await edges(t, { in_flight: "1" });
    const { whole } = await stream(edge);
    await edge.trip("trap", { times: 1_000 });
    // The runtime's own log reads the clock as well, and then says this. The next request logs the
    // last failure.
    const logged = () => edge.logs.filter(({ message }) => message.includes("Formatting threw")).length;
    await until(() => logged() === 4);
    await sleep(2_500);
    assert.equal(logged(), 4);
    await edge.trip("trap", { times: 0 });
    assert.equal((await edge.get("/no", { ip })).status, 403);
    assert.equal(failures(edge), 1);
    edge.origin.release();
    assert.equal(await whole, "first second", "the stream itself goes on");
    await free((isolate) => edge.get("/x", { ip, isolate }));
  });
});
