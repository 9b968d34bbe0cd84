// Answers under a cap: a permit is held until the last byte, and the body arrives unchanged.
import assert from "node:assert/strict";
import http from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { BROTLI, count, GZIP, HOST, parallel, start, TEXT, until } from "./harness/index.mjs";

const ALL = { route: "/*" };
const ip = "203.0.113.7";
const slow = (ms, more = "") => `/x?as=slow&ms=${ms}${more}`;

test("an answer that streams holds its permit until its end and arrives whole", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "1" } } });
  await edge.run();
  const streaming = edge.get(slow(0, "&parts=60&bytes=1000&every=100"), { ip });
  await until(() => edge.origin.under === 1);
  let others = 0;
  while (edge.origin.under === 1 && others < 200) {
    const answer = await edge.get(slow(0), { ip });
    if (edge.origin.under === 1) assert.equal(answer.status, 503, `after ${others} others`);
    others++;
    await sleep(50);
  }
  assert.equal((await streaming).body.length, 60 * 1000 + 3);
  assert.equal(edge.origin.most, 1);
  assert.ok(others > 60, `${others}`);
  await edge.untilAdmitted("/x", { ip });
});

test("an answer under a cap arrives unchanged to the byte", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { ...ALL, in_flight: "5", per_ip: "1000/s" } } });
  await edge.run();
  for (const [as, bytes] of [["gzip", GZIP], ["br", BROTLI]]) {
    const answer = await edge.get(`/x?as=${as}`, { ip, headers: [["accept-encoding", "gzip, br"]] });
    assert.equal(answer.headers["content-encoding"], as === "br" ? "br" : "gzip");
    assert.ok(answer.body.equals(bytes), as);
    assert.equal(answer.headers["content-length"], String(bytes.length));
    assert.ok(answer.headers.ratelimit);
  }
  const plain = await edge.get("/x?as=range", { ip });
  assert.equal(plain.text, TEXT);
  const head = await edge.send({ method: "HEAD", path: "/x?as=gzip", ip });
  assert.equal(head.headers["content-length"], String(GZIP.length));
  for (const status of [204, 304]) assert.equal((await edge.get(`/x?as=status&status=${status}`, { ip })).status, status);
  const big = await edge.get(`/x?as=big&bytes=${5 * 2 ** 20}`, { ip });
  assert.equal(big.body.length, 5 * 2 ** 20);
  assert.equal(count(await parallel(5, () => edge.get(slow(50), { ip })), 200), 5, "none of the answers above keeps a permit");
});

test("an answer to HEAD frees its permit with its head", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "1" } } });
  await edge.run();
  for (let round = 0; round < 5; round++) {
    assert.equal((await edge.send({ method: "HEAD", path: "/x?as=stalled", ip })).status, 200);
    await sleep(20);
  }
});

test("an answer with a status above 599 holds its permit until its last byte", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "1" } } });
  await edge.run();
  await parallel(4, async (index) => {
    await sleep(index * 200);
    await edge.get("/x?as=slow&ms=0&status=999&parts=20&bytes=100&every=100", { ip });
  });
  assert.equal(edge.origin.most, 1);
  await until(() => edge.origin.under === 0);
  const took = await edge.untilAdmitted("/x", { ip });
  assert.ok(took < 1_000, `the permit is free soon after: ${took} ms`);
});

test("a long answer with a status above 599 arrives whole at a slow client", async (t) => {
  const edge = await start(t, { vars: { LIMIT_ALL: { route: "/*", in_flight: "1" } } });
  await edge.run();
  const bytes = 8_000_000;
  const { hostname: host, port } = edge.url();
  const headers = { host: HOST, "cf-connecting-ip": ip };
  const received = await new Promise((resolve, reject) => {
    const path = `/x?as=slow&ms=0&status=999&parts=8&bytes=${bytes / 8}&every=0`;
    const request = http.get({ host, port, path, headers, agent: false }, async (response) => {
      await sleep(1_000);
      let length = 0;
      response.on("data", (data) => (length += data.length));
      response.on("end", () => resolve({ status: response.statusCode, length }));
    });
    request.on("error", reject);
  });
  assert.deepEqual(received, { status: 999, length: bytes + "end".length });
});
