// The traffic of the benchmarks: its shape, its seed, and the reading of access logs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dollars, perThousand } from "../../bench/prices.mjs";
import { parseLine, parseLog, replay } from "../../bench/traffic/access-log.mjs";
import { heavyTailed } from "../../bench/traffic/callers.mjs";
import { CLASSES, classes } from "../../bench/traffic/classes.mjs";
import { ISOLATES, MINUTE, MIXES, SECOND, traffic } from "../../bench/traffic/mixes.mjs";
import { Random } from "../edge/harness/random.mjs";

const mix = (id) => MIXES.find((mix) => mix.id === id);
const ipOf = ({ request: [, , headers] }) => headers["cf-connecting-ip"];
const keyOf = ({ request: [, , headers] }) => headers["x-api-key"];
const rate = (id, ms = 5 * MINUTE) => traffic(mix(id), { ms, roaming: false }).length / (ms / SECOND);
const close = (is, expected, what) => assert.ok(Math.abs(is / expected - 1) < 0.1, `${what}: ${is}, not ${expected}`);

test("the same seed makes the same traffic, and another seed another", () => {
  for (const { id } of MIXES) {
    const make = (seed) => traffic(mix(id), { ms: 20 * SECOND, roaming: true, seed });
    assert.deepEqual(make(1), make(1), id);
    assert.notDeepEqual(make(1), make(2), id);
  }
});

test("traffic is in the order of time, within its span, at isolates that there are", () => {
  for (const one of MIXES) {
    for (const roaming of [false, true]) {
      const events = traffic(one, { ms: MINUTE, roaming });
      events.forEach(({ at, isolate }, n) => {
        assert.ok(at >= (events[n - 1]?.at ?? 0) && at < MINUTE && Number.isInteger(at), `${one.id}: ${at}`);
        assert.ok(isolate >= 0 && isolate < ISOLATES);
      });
    }
  }
});

test("a longer span begins with the shorter one, where all callers are there from the start", () => {
  for (const { id } of MIXES.filter(({ id }) => id !== "mix")) {
    const make = (ms) => traffic(mix(id), { ms, roaming: true });
    const short = make(30 * SECOND);
    assert.deepEqual(make(MINUTE).slice(0, short.length), short, id);
  }
});

test("each mix has the rate and the callers that its name says", () => {
  close(rate("browsers"), (100 * 12) / 15, "browsers");
  close(rate("slow"), 80 / 5.5, "slow");
  close(rate("steady"), 20, "steady");
  close(rate("heavy"), 100, "heavy");
  close(rate("crawler"), 2, "crawler");
  for (const [id, callers, keys] of [["browsers", 100, 0], ["slow", 80, 80], ["steady", 20, 20], ["heavy", 5, 5], ["crawler", 1, 0]]) {
    const events = traffic(mix(id), { ms: MINUTE, roaming: false });
    assert.equal(new Set(events.map(ipOf)).size, callers, id);
    assert.equal(new Set(events.map(keyOf).filter(Boolean)).size, keys, id);
    const paths = new Set(events.map(({ request: [, url] }) => new URL(url).pathname.startsWith("/v1/")));
    assert.deepEqual([...paths], [keys > 0], id);
  }
});

test("a browser asks for twelve things within a second, and then for nothing until its next page", () => {
  const [first] = new Set(traffic(mix("browsers"), { ms: 3 * MINUTE, roaming: false }).map(ipOf));
  const times = traffic(mix("browsers"), { ms: 3 * MINUTE, roaming: false }).filter((event) => ipOf(event) === first).map(({ at }) => at);
  for (let page = 0; page + 12 < times.length; page += 12) {
    assert.ok(times[page + 11] - times[page] <= SECOND);
    assert.ok(times[page + 12] - times[page] >= 10 * SECOND && times[page + 12] - times[page] <= 20 * SECOND);
  }
});

test("callers stay at one isolate, and roam over all where they roam, with the same requests", () => {
  for (const { id } of MIXES) {
    const [home, roaming] = [false, true].map((roaming) => traffic(mix(id), { ms: MINUTE, roaming }));
    const places = (events) => Map.groupBy(events, ipOf).values().map((all) => new Set(all.map(({ isolate }) => isolate)).size);
    assert.ok(places(home).every((n) => n === 1), id);
    assert.ok([...places(roaming)].some((n) => n > 1), id);
    const without = (events) => events.map(({ isolate, ...rest }) => rest);
    assert.deepEqual(without(home), without(roaming), id);
  }
});

test("most callers of the mix send few requests, and a few send most", () => {
  const perCaller = [...Map.groupBy(traffic(mix("mix"), { ms: 30 * MINUTE, roaming: false }), ipOf).values()].map(({ length }) => length);
  perCaller.sort((a, b) => b - a);
  const sum = (list) => list.reduce((sum, n) => sum + n, 0);
  assert.ok(perCaller.length > 1_000, `${perCaller.length} callers`);
  assert.ok(perCaller[perCaller.length >> 1] < 20, `a caller in the middle sends ${perCaller[perCaller.length >> 1]}`);
  assert.ok(sum(perCaller.slice(0, perCaller.length / 10)) > sum(perCaller) / 2, "a tenth sends more than half");
});

test("a heavy tail has its least and its most, and its exponent", () => {
  const random = new Random(1);
  const drawn = Array.from({ length: 20_000 }, () => heavyTailed(random, 10, 100_000));
  assert.ok(drawn.every((n) => n >= 10 && n <= 100_000));
  close(drawn.filter((n) => n >= 100).length, 20_000 / 10 ** 1.1, "beyond ten times the least");
});

test("each class has its callers, and the refused one is far beyond the limit", () => {
  const events = classes({ isolates: 4 });
  assert.ok(events.every(({ at }, n) => at >= (events[n - 1]?.at ?? 0)));
  for (const { id, times, newcomers } of CLASSES) {
    const own = events.filter((event) => event.class === id);
    assert.equal(own.length, times.length);
    assert.equal(new Set(own.map(ipOf)).size, newcomers ? times.length : 1, id);
  }
  assert.equal(new Set(events.map(ipOf)).size, 4 + CLASSES.find(({ newcomers }) => newcomers).times.length);
});

const NGINX = '203.0.113.9 - - [15/Jan/2031:12:00:00 +0000] "GET /v1/items?page=2 HTTP/1.1" 200 612 "-" "curl/8.0"';
const APACHE = '2001:db8::1 - alice smith [15/Jan/2031:13:00:02 +0100] "POST /login HTTP/2.0" 302 - "https://a.example/" "An \\"odd\\" [one]"';

test("a line of nginx or Apache has its time, address, method and path", () => {
  assert.deepEqual(parseLine(NGINX), { at: Date.parse("2031-01-15T12:00:00Z"), ip: "203.0.113.9", method: "GET", path: "/v1/items?page=2" });
  assert.deepEqual(parseLine(APACHE), { at: Date.parse("2031-01-15T12:00:02Z"), ip: "2001:db8::1", method: "POST", path: "/login" });
  assert.equal(parseLine(NGINX.replace("/v1/items?page=2", "http://a.example/b?c")).path, "/b?c");
  assert.equal(parseLine(NGINX.replace(/ 200.*/, "")).path, "/v1/items?page=2");
});

test("a bad line is none of the requests, and is counted", () => {
  const bad = [
    "nonsense",
    NGINX.replace("203.0.113.9", "client.example"),
    NGINX.replace("203.0.113.9", "203.0.113.999"),
    NGINX.replace("GET /v1/items?page=2 HTTP/1.1", "\\x16\\x03\\x01"),
    NGINX.replace("GET /v1/items?page=2 HTTP/1.1", "-"),
    NGINX.replace("GET /v1", "CONNECT /v1"),
    NGINX.replace("/v1/items?page=2", "*"),
    NGINX.replace("Jan", "Foo"),
    NGINX.replace("15/Jan", "32/Jan"),
    NGINX.slice(0, 60),
  ];
  for (const line of bad) assert.equal(parseLine(line), null, line);
  const { lines, bad: count, firstBad, requests } = parseLog([NGINX, ...bad, "", APACHE].join("\r\n"));
  assert.deepEqual([lines, count, firstBad, requests.length], [bad.length + 2, bad.length, "nonsense", 2]);
  assert.deepEqual(parseLog("").requests, []);
});

test("a log begins at its earliest line, and spreads a second's requests over it", () => {
  const late = NGINX.replace("12:00:00", "12:00:01").replace("203.0.113.9", "203.0.113.8");
  const { requests } = parseLog([late, NGINX, NGINX, APACHE].join("\n"));
  assert.deepEqual(requests.map(({ at, ip }) => [at, ip]), [[0, "203.0.113.9"], [500, "203.0.113.9"], [1_000, "203.0.113.8"], [2_000, "2001:db8::1"]]);
  assert.deepEqual(replay(requests, { roaming: false }).map(({ isolate }) => isolate), [0, 0, 1, 2]);
  assert.deepEqual(replay(requests, { roaming: true }).map(({ isolate }) => isolate), [0, 1, 2, 3]);
  assert.equal(replay(requests, { roaming: true })[3].request[0], "POST");
});

test("calls and rows become dollars at list prices", () => {
  assert.equal(dollars({ actors: 1_000, rows: 1_000, rowsRead: 1_000 }).toFixed(6), "1.451000", "a call, a row written and a row read each");
  assert.equal(dollars(perThousand({ actors: 0, rows: 0, rowsRead: 0 }, 0)), 0.3);
});
