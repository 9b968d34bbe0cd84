// Tries real applications behind ORIGIN, with a real browser where one is meant to use them: Django's admin, a server action of
// Next.js, WebDAV with WsgiDAV. Each is tried behind Penstock, once more below a path of its own, and behind a proxy that changes the
// host and says nothing, where it must fail: else the application would not be a test of anything. Writes docs/applications.md.
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import { start as startEdge } from "../../tests/edge/harness/index.mjs";
import { openBrowser, PUBLIC } from "./applications/front.mjs";
import { next, start } from "./applications/programs.mjs";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = join(ROOT, "docs/applications.md");

/** The path of ORIGIN, where it has one. */
const PATH = "/secret-7f3";

const vars = { LIMIT_BASE: { per_ip: "100000/min" } };
const ip = { "cf-connecting-ip": "203.0.113.7" };

/** Whether any header of the answers told the origin, and how many answers there were. */
class Watch {
  answers = 0;
  told = [];

  constructor(url) {
    this.secrets = [new URL(url).host, ...(url.endsWith(PATH) ? [`${PATH}/`] : [])];
  }

  /** Looks at the header lines of one answer. A query is the application's own text. */
  see(lines) {
    this.answers += 1;
    for (const [name, value] of lines) {
      const text = value.replace(/\?[^\s>"]*/g, "");
      if (name !== "content-security-policy" && this.secrets.some((secret) => text.includes(secret))) this.told.push(`${name}: ${value}`);
    }
  }
}

/** Logs in to Django's admin as a person does; returns the status and the heading that it ends with. */
async function login({ edge, watch }) {
  return inBrowser(edge, watch, {}, async (page) => {
    await page.goto(`${PUBLIC}/admin/`);
    await page.fill("#id_username", "ada");
    await page.fill("#id_password", "lovelace");
    const [posted] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === "POST"),
      page.click("[type=submit]"),
    ]);
    await page.waitForLoadState();
    if (posted.status() >= 400) return String(posted.status());
    const place = new URL(page.url());
    return `${posted.status()}, then ${place.pathname} “${(await page.textContent("#content h1")).trim()}”`;
  });
}

/** Sends the form of the Next.js page, with and without scripts; returns what the visitor sees in the end. */
async function act({ edge, watch }) {
  const ends = [];
  for (const javaScriptEnabled of [true, false]) {
    const end = await inBrowser(edge, watch, { javaScriptEnabled }, async (page) => {
      await page.goto(`${PUBLIC}/`);
      await page.fill("[name=name]", "Ada");
      const [posted] = await Promise.all([
        page.waitForResponse((response) => response.request().method() === "POST"),
        page.click("[type=submit]"),
      ]);
      if (posted.status() >= 400) return String(posted.status());
      const told = await page.waitForSelector("#done");
      return `${posted.status()}, then ${new URL(page.url()).pathname} “${(await told.innerText()).trim()}”`;
    });
    ends.push(`${end} ${javaScriptEnabled ? "with scripts" : "without"}`);
  }
  return ends.join("; ");
}

/** Writes, moves and copies a file, and writes it again under a lock; returns the statuses. */
async function move({ ask, watch }) {
  const send = async (method, path, headers = {}, body) => {
    const answer = await ask(method, path, headers, body);
    watch?.see([...answer.headers]);
    return { status: answer.status, text: await answer.text(), token: answer.headers.get("lock-token") };
  };
  const lock = '<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>';
  const steps = {
    PUT: await send("PUT", "/a.txt", {}, "text"),
    MOVE: await send("MOVE", "/a.txt", { destination: `${PUBLIC}/b%20c.txt` }),
  };
  if (steps.MOVE.status >= 400) return String(steps.MOVE.status);
  steps.COPY = await send("COPY", "/b%20c.txt", { destination: `${PUBLIC}/d.txt`, overwrite: "F" });
  steps.LOCK = await send("LOCK", "/d.txt", { timeout: "Second-60", "content-type": "text/xml" }, lock);
  steps["PUT under the lock"] = await send("PUT", "/d.txt", { if: `<${PUBLIC}/d.txt> (${steps.LOCK.token})` }, "more");
  const [moved, gone] = [await send("GET", "/b%20c.txt"), await send("GET", "/a.txt")];
  if (moved.text !== "text" || gone.status !== 404) return `moved “${moved.text}”, left ${gone.status}`;
  return Object.entries(steps).map(([name, { status }]) => `${name} ${status}`).join(", ");
}

/** Runs `go` in a tab of a browser in front of the edge, and has `watch` see all answers. */
async function inBrowser(edge, watch, options, go) {
  const browser = await openBrowser(edge);
  try {
    const page = await browser.visit(options);
    const seen = [];
    page.on("response", (response) => seen.push(response.headersArray()));
    const end = await go(page);
    for (const lines of await Promise.all(seen)) watch.see(lines.map(({ name, value }) => [name.toLowerCase(), value]));
    return end;
  } finally {
    await browser.close();
  }
}

/** The applications: what is done, what it is told, and what must come of it. */
const APPLICATIONS = {
  django: {
    name: "Django",
    package: "Django",
    does: "a person logs in to the admin",
    told: "`USE_X_FORWARDED_HOST`, `SECURE_PROXY_SSL_HEADER`, `ALLOWED_HOSTS`",
    use: login,
    works: /^302, then \/admin\/ “Site administration”$/,
    fails: /^403$/,
  },
  next: {
    name: "Next.js",
    package: "next",
    does: "a form calls a server action, which sets a cookie and redirects",
    told: "nothing",
    use: act,
    works: /^(200|303), then \/done “Saved for Ada” with scripts; 303, then \/done “Saved for Ada” without$/,
    fails: /^500 with scripts; 500 without$/,
  },
  wsgidav: {
    name: "WsgiDAV",
    package: "wsgidav",
    does: "`PUT`, `MOVE`, `COPY`, `LOCK`, and `PUT` with the lock",
    told: "nothing; a path is its `mount_path`",
    use: move,
    works: /^PUT 201, MOVE 201, COPY 201, LOCK 200, PUT under the lock 204$/,
    fails: /^502$/,
  },
};

/** Uses an application; an error is what came of it. */
const used = (key, ways) => APPLICATIONS[key].use(ways).catch((error) => String(error.message).split("\n")[0]);

/** Uses an application behind Penstock, with ORIGIN below `path`; returns what came of it. */
async function behindPenstock(key, path, more = {}, args = []) {
  const ends = [];
  const app = await start(key, path, args);
  const origin = app.url + path;
  try {
    const edge = await startEdge({ after: (end) => ends.push(end) }, { vars: { ...vars, ...more }, origin: () => origin });
    const watch = new Watch(origin);
    const ask = (method, place, headers, body) => edge.dispatch(PUBLIC + place, { method, headers: { ...ip, ...headers }, body });
    return { end: await used(key, { edge, watch, ask }), watch };
  } finally {
    for (const end of ends) await end();
    await app.stop();
  }
}

/** Uses an application behind a proxy that changes the host of a request and nothing else. */
async function behindSilentProxy(key) {
  // WebDAV's Destination is mapped with any FORWARDED, so the request goes to the application as it is.
  // Django would redirect to https for ever, since it is not told that the visitor is there.
  if (key !== "wsgidav") return (await behindPenstock(key, "", { FORWARDED: "none" }, ["no-redirect"])).end;
  const app = await start(key, "");
  try {
    const ask = (method, place, headers, body) => fetch(app.url + place, { method, headers, body });
    return await used(key, { ask });
  } finally {
    await app.stop();
  }
}

/** The version of an application, as its package is pinned. */
async function version(name) {
  const [pins, manifest] = await Promise.all(
    ["requirements.txt", "next/package.json"].map((file) => readFile(join(import.meta.dirname, "applications", file), "utf8")),
  );
  return new RegExp(`^${name}==(\\S+)`, "m").exec(pins)?.[1] ?? JSON.parse(manifest).dependencies[name];
}

const rows = [];
let faults = 0;

/** Holds a result against what must come of it; returns it for the page. */
function hold(what, end, pattern) {
  const holds = pattern.test(end);
  if (!holds) faults += 1;
  console.log(`${holds ? "ok    " : "FAILED"} ${what}: ${end}`);
  return end;
}

console.log("Downloading and building the applications (a few minutes, the first time).");
await next();
for (const [key, { name, package: pinned, does, told, works, fails }] of Object.entries(APPLICATIONS)) {
  const silent = hold(`${name} behind a proxy that says nothing`, await behindSilentProxy(key), fails);
  const results = [];
  for (const path of ["", PATH]) {
    const { end, watch } = await behindPenstock(key, path);
    results.push(hold(`${name} behind ORIGIN${path}`, end, works));
    hold(`${name} behind ORIGIN${path}: headers of ${watch.answers} answers tell`, watch.told.join(" | ") || "nothing", /^nothing$/);
  }
  rows.push({ name: `${name} ${await version(pinned)}`, does, told, silent, results });
}

const table = rows.map(({ name, does, told, silent, results }) => {
  const [root, below] = results;
  return `| ${name} | ${does} | ${told} | ${silent} | ${root} | ${below === root ? "the same" : below} |`;
});
const page = `# Applications behind ORIGIN

This page answers: do real applications work behind \`ORIGIN\`, and what must they be told? It is
written by \`make clients\`, which downloads these applications, starts them, and uses them through
the built Worker in the real runtime. A real browser (Chromium) asks for \`${PUBLIC}\`.
The settings are those of [In front of your origin](origin.md#how-the-client-asked-forwarded).

| application | what is done | what it is told | behind a proxy that changes the host and says nothing | behind \`ORIGIN\` | \`ORIGIN\` with a path |
|---|---|---|---|---|---|
${table.join("\n")}

In the last two columns no header of any answer named the origin's host or its path. WsgiDAV has the
path in its own addresses; before Django and Next.js a proxy takes it off, since the pages of an
application that knows its path lead there.
`;
if (faults === 0) await writeFile(PAGE, page);
console.log(faults === 0 ? `\nAll as expected; written to ${PAGE.slice(ROOT.length + 1)}.` : `\n${faults} not as expected.`);
process.exitCode = faults === 0 ? 0 : 1;
