// Spellings of a path that a router serves as one resource meet one limit. PENSTOCK_SEED repeats a
// run, PENSTOCK_FUZZ sets its length.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Lane } from "./harness/lane.mjs";
import { Random, rateHeaders, rawRequest, start } from "./harness/index.mjs";
import { DIFFERENCES } from "./differential/differences.mjs";
import { expressRouter, fastifyRouter, nginxRouter, ROUTES, served } from "./differential/routers.mjs";
import { spelling } from "./differential/spellings.mjs";

const REQUESTS = Number(process.env.PENSTOCK_FUZZ ?? 10_000);
const LANES = 8;

/** A limit of its own for every route of the origin, and some for parts of one. */
const GUARDED = [...ROUTES, ["GET", "/v1/items/mine"], ["GET", "/v1/items/@new"], ["GET", "/files/private/*"]];
const limits = () => {
  const route = ([method, path, host = ""]) => ({ route: `${method} ${host}${path}`, per_ip: "1000000/s" });
  return Object.fromEntries(GUARDED.map((guarded, index) => [`LIMIT_R${index}`, route(guarded)]));
};

/**
 * Penstock in front of routers. `send(router, request)` resolves to the resource that was served
 * and the limit that was met, or to null.
 */
async function stand(t, routers, options) {
  const edge = await start(t, { vars: limits(), ...options });
  edge.origin.handler = (request, response) => routers[request.headers["x-router"]](request, response);
  return () => {
    const lane = new Lane(edge.url());
    const send = async (router, { method, target, host }) => {
      const headers = [["CF-Connecting-IP", "203.0.113.7"], ["X-Router", router]];
      const answer = await lane.send(rawRequest({ method, target, host, headers }), method);
      assert.ok(answer.status !== 429 && answer.status < 500 || answer.status === 501, `${answer.status} ${answer.text} to ${method} ${target}`);
      const what = served(answer);
      return what && { ...what, limit: rateHeaders(answer).limits[0]?.name ?? "none" };
    };
    return { send, close: () => lane.close() };
  };
}

for (const [name, options] of [["with an ORIGIN", {}], ["without one", { outbound: true, origin: () => null }]]) {
  test(`${REQUESTS / 2} spellings meet the limit of the resource that is served, ${name}`, async (t) => {
    const seed = Random.seed();
    t.diagnostic(`PENSTOCK_SEED=${seed}`);
    const routers = { Express: expressRouter(), Fastify: await fastifyRouter(), nginx: await nginxRouter(t) };
    if (!routers.nginx) {
      t.diagnostic("nginx is left out: there is none on the PATH");
      delete routers.nginx;
    }
    const connect = await stand(t, routers, options);
    const plainly = new Map();
    const tally = { served: 0, alone: 0, unknown: 0 };
    const unexplained = [];

    /**
     * The limit that a resource meets in its plain spelling; null where it has none, as with `..`
     * in a parameter.
     */
    const due = (send, router, method, { resource, plain }) => {
      const key = `${router} ${method === "HEAD" ? "GET" : method} ${resource}`;
      const [, , host] = JSON.parse(resource);
      const ask = () => send(router, { method, target: plain, host: host ?? "shop.example" });
      if (!plainly.has(key)) plainly.set(key, ask().then((was) => (was?.resource === resource ? was.limit : null)));
      return plainly.get(key);
    };

    /**
     * The id of the documented difference that explains another limit; null where there is none.
     */
    const explain = async (send, router, request, { resource }, limit) => {
      let targets = [request.target];
      for (const { id, rewrite } of DIFFERENCES.filter(({ routers }) => routers.includes(router))) {
        targets = [...new Set(targets.flatMap((target) => [target, ...rewrite(target)]))];
        for (const target of targets) {
          const other = await send(router, { ...request, target });
          if (other?.resource === resource && other.limit === limit) return id;
        }
      }
      return null;
    };

    const probe = async (random) => {
      const { send, close } = connect();
      for (let sent = 0; sent < REQUESTS / 2 / LANES; sent++) {
        const request = spelling(random);
        for (const router of Object.keys(routers)) {
          const was = await send(router, request);
          tally[was ? "served" : "unknown"] += 1;
          if (!was) continue;
          const limit = await due(send, router, request.method, was);
          if (was.limit === limit) continue;
          if (limit === null) {
            tally.alone += 1;
            continue;
          }
          const why = await explain(send, router, request, was, limit);
          tally[why] = (tally[why] ?? 0) + 1;
          if (!why) unexplained.push({ router, ...request, ...was, due: limit });
        }
      }
      close();
    };
    await Promise.all(Array.from({ length: LANES }, (_, index) => probe(new Random(seed + index))));
    t.diagnostic(JSON.stringify(tally));
    assert.deepEqual(unexplained.slice(0, 20), []);
    for (const { id } of DIFFERENCES) assert.ok(tally[id] > 0, `${id} explains nothing`);
    assert.ok(tally.served > tally.unknown / 2, "too few of the spellings were any resource");
    assert.ok(tally.alone < tally.served / 20, "too many of the resources have no plain spelling");
  });
}
