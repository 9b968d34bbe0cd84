// A configuration with a fault forwards nothing, and says where the fault is.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { parallel, problem, ROOT, start, until } from "./harness/index.mjs";

/** Starts an edge with these vars and checks that it refuses to work and that its logs name each of `places`. */
async function misconfigured(t, vars, places) {
  const edge = await start(t, { vars });
  for (const answer of await parallel(3, (index) => edge.get(["/login", "/", "/healthz"][index], { ip: "203.0.113.7" }))) {
    problem(answer, { status: 500, reason: "misconfigured" });
  }
  assert.equal(edge.origin.count, 0, "nothing is forwarded");
  assert.equal((await edge.asked()).calls, 0);
  const said = () => edge.logs.map(({ message }) => message).join("\n");
  for (const place of places) await until(() => said().includes(place)).catch(() => assert.fail(`${place} is not in:\n${said()}`));
}

const login = (fields) => ({ LIMIT_LOGIN: { route: "POST /login", per_ip: "5/min", ...fields } });

const faulty = {
  "cfg_01_an_unknown_field": [login({ limt: 5 }), ["LIMIT_LOGIN.limt"]],
  "cfg_01_a_field_in_another_case": [login({ Per_ip: "5/min" }), ["LIMIT_LOGIN.Per_ip"]],
  "cfg_01_a_unit_that_is_none": [login({ per_ip: "5/minn" }), ["LIMIT_LOGIN.per_ip"]],
  "cfg_03_one_route_in_two_bindings": [{ ...login(), LIMIT_OTHER: { route: "POST /login", per_ip: "9/min" } }, ["POST /login"]],
  "cfg_03_one_route_in_two_spellings": [{ ...login(), LIMIT_OTHER: { route: "POST /%6Cogin/", per_ip: "9/min" } }, ["LIMIT_OTHER"]],
  "cfg_04_a_route_that_can_match_nothing": [login({ route: "^/api" }), ["LIMIT_LOGIN.route"]],
  "cfg_04_a_key_without_a_name": [{ ...login(), KEY: "header:" }, ["KEY"]],
  "cfg_04_a_binding_without_a_route": [{ LIMIT_LOGIN: { per_ip: "5/min" } }, ["LIMIT_LOGIN.route"]],
  "gcr_02_a_burst_of_nothing": [login({ per_ip: "5/min burst 0" }), ["LIMIT_LOGIN.per_ip"]],
  "gcr_02_a_limit_of_nothing": [login({ per_ip: "0/min" }), ["LIMIT_LOGIN.per_ip"]],
  "gcr_02_a_period_of_nothing": [login({ per_ip: "5/0s" }), ["LIMIT_LOGIN.per_ip"]],
  "gcr_02_a_negative_limit": [login({ per_ip: "-5/min" }), ["LIMIT_LOGIN.per_ip"]],
  "gcr_02_a_limit_that_is_no_number": [login({ per_ip: "NaN/min" }), ["LIMIT_LOGIN.per_ip"]],
  "gcr_02_a_day_of_nothing": [login({ per_ip: "0/day" }), ["LIMIT_LOGIN.per_ip"]],
  "gcr_03_a_cost_above_the_burst": [login({ per_ip: "10/min", cost: 11 }), ["LIMIT_LOGIN"]],
  "a_cost_of_nothing": [login({ cost: 0 }), ["LIMIT_LOGIN.cost"]],
  "a_mode_that_is_none": [login({ mode: "shaddow" }), ["LIMIT_LOGIN.mode"]],
  "an_on_error_that_is_none": [login({ on_error: "ignore" }), ["LIMIT_LOGIN.on_error"]],
  "a_zone_that_is_none": [login({ per_ip: "5/day Europe/Atlantis" }), ["LIMIT_LOGIN.per_ip"]],
  "a_limit_that_is_no_table": [{ LIMIT_LOGIN: "5/min" }, ["LIMIT_LOGIN"]],
  "an_ORIGIN_that_is_no_url": [{ ...login(), ORIGIN: "origin.example.com" }, ["ORIGIN"]],
  "a_HEADERS_that_is_none": [{ ...login(), HEADERS: "draft-99" }, ["HEADERS"]],
  "several_faults_together": [
    { ...login({ limt: 5, per_ip: "5/minn" }), LIMIT_OTHER: { route: "/x", cost: 0 }, KEY: "header:" },
    ["LIMIT_LOGIN.limt", "LIMIT_LOGIN.per_ip", "LIMIT_OTHER.cost", "KEY"],
  ],
};

for (const [name, [vars, places]] of Object.entries(faulty)) {
  test(name, (t) => misconfigured(t, vars, places));
}

test("a limit may be a JSON text, as a dashboard or a secret would hold it", async (t) => {
  const edge = await start(t, { vars: { LIMIT_LOGIN: JSON.stringify({ route: "/login", per_ip: "1/min" }) } });
  assert.equal((await edge.get("/login", { ip: "203.0.113.7" })).status, 200);
  assert.equal((await edge.get("/login", { ip: "203.0.113.7" })).status, 429);
});

test("no limits at all is a proxy", async (t) => {
  const edge = await start(t);
  assert.equal((await edge.get("/", { ip: "203.0.113.7" })).status, 200);
  assert.equal((await edge.asked()).calls, 0);
});

test("cf_01_as_shipped_no_second_door_is_open", async () => {
  const shipped = await readFile(`${ROOT}/wrangler.toml`, "utf8");
  assert.match(shipped, /^workers_dev = false$/m);
  assert.match(shipped, /^preview_urls = false$/m);
});
