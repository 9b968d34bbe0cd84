// The clients in examples/ against a running edge: they wait, send the whole body again, and give
// up where a retry is of no use.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, test } from "node:test";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT, start } from "./harness/index.mjs";

const run = promisify(execFile);
const clients = {
  "fetch.mjs": [process.execPath, join(ROOT, "examples/fetch.mjs")],
  "client.py": ["python3", join(ROOT, "examples/client.py")],
  "client.rs": ["cargo", "run", "--quiet", "--manifest-path", join(ROOT, "Cargo.toml"), "--example", "client", "--"],
};

const vars = {};
for (const name of Object.keys(clients)) {
  const path = name.replace(".", "-");
  const binding = path.toUpperCase().replace("-", "_");
  vars[`LIMIT_${binding}`] = { route: `/${path}`, per_ip: "1/3s" };
  vars[`LIMIT_${binding}_DAY`] = { route: `/${path}/day`, per_ip: "1/day" };
  vars[`LIMIT_${binding}_LONG`] = { route: `/${path}/long`, per_ip: "1/75s" };
}
const edge = await start({ after }, { vars });
await edge.run();
await run(clients["client.rs"][0], ["build", "--quiet", "--manifest-path", join(ROOT, "Cargo.toml"), "--example", "client"]);

for (const [name, [command, ...first]] of Object.entries(clients)) {
  test(`${name} waits, retries with its whole body, and gives up where the wait is too long`, async () => {
    const path = `/${name.replace(".", "-")}`;
    const client = async (of, ...rest) => {
      const began = performance.now();
      const { stdout } = await run(command, [...first, new URL(of, edge.url()).href, ...rest]);
      return { status: Number(stdout.slice(0, 3)), text: stdout.slice(4), took: performance.now() - began };
    };
    for (const of of [path, `${path}/day`, `${path}/long`]) assert.equal((await edge.post(of)).status, 200);
    edge.origin.forget();

    const body = `{"text":"${"水".repeat(2_000)}"}`;
    const waited = await client(`${path}?as=echo`, "30", body);
    assert.deepEqual([waited.status, waited.text.trim()], [200, body]);
    assert.equal(edge.origin.count, 1, "refused at the edge, then let through once");
    assert.ok(waited.took > 1_000 && waited.took < 20_000, `${Math.round(waited.took)} ms`);

    for (const [of, reason] of [[`${path}/day`, "quota_exhausted"], [`${path}/long`, "rate_limited"]]) {
      const refused = await client(of, "20");
      assert.equal(refused.status, 429);
      assert.equal(JSON.parse(refused.text).reason, reason);
      assert.ok(refused.took < 5_000, `${Math.round(refused.took)} ms`);
    }
    assert.equal(edge.origin.count, 1);
  });
}
