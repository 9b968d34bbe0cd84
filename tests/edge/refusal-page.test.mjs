// The page of a refusal, in a real browser: it counts down, tries again by itself, and stops in
// time.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, test } from "node:test";
import { browser, visitor } from "./harness/browser.mjs";
import { SECOND, start, until } from "./harness/index.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core");
const vars = {
  LIMIT_SHORT: { route: "/short", per_ip: "1/2s" },
  LIMIT_LONG: { route: "/long", per_ip: "1/75s", message: "Ask for more: <api@example.com>", docs: "https://example.com/limits" },
  LIMIT_DAY: { route: "/day", per_ip: "1/day Asia/Shanghai" },
  LIMIT_NEVER: { route: "/never", per_ip: "1/2s" },
  LIMIT_CROWD: { route: "/crowd", global: "1/75s" },
  LIMIT_BLOCKED: { route: "/blocked", block: "0.0.0.0/0" },
};
const chrome = await browser({ after });
const edge = await start({ after }, { vars });
const began = performance.now();
await edge.run();
let callers = 0;

/** A visitor that is refused at `path`. */
async function refusedAt(path, options = {}) {
  callers += 1;
  const ip = `203.0.113.${callers}`;
  const page = await visitor(chrome, { ip, locale: "en-US", ...options });
  page.ip = ip;
  await edge.get(path, { ip });
  const answer = await page.goto(new URL(path, edge.url()).href);
  assert.ok([429, 403].includes(answer.status()), `${answer.status()}`);
  return page;
}

const heading = (page) => page.textContent("h1");

test("the page counts down and tries again by itself", async () => {
  const page = await refusedAt("/short");
  assert.equal(await heading(page), "Too many requests");
  assert.match(await page.textContent("#clock"), /^0:0[12]$/);
  assert.equal(await page.textContent("#when"), "This page tries again by itself when the time is up.");
  await page.waitForFunction(() => document.body.textContent === "ok", null, { timeout: 15_000 });
  assert.equal(page.requested.length, 2, `the page, and once more: ${page.requested}`);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test("the page stops after three tries, says so, and offers a link", async () => {
  const page = await refusedAt("/never");
  // Another client behind the same address is always a moment earlier.
  await page.route("**/never", async (route) => {
    await until(async () => (await edge.get("/never", { ip: page.ip })).status === 200);
    await route.continue();
  });
  await page.waitForFunction(() => document.querySelector("#when")?.textContent.endsWith("You can try again now."), null, { timeout: 60_000 });
  assert.equal(page.requested.length, 4, "once by hand and three times by itself");
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  assert.equal(page.requested.length, 4, "no further try");
  await page.click(".again");
  await until(() => page.requested.length === 5);
  await page.unrouteAll({ behavior: "wait" });
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test("a refused form is not sent again by itself", async () => {
  const page = await refusedAt("/short");
  await page.goto(new URL("/free", edge.url()).href);
  await edge.post("/short", { ip: page.ip });
  await page.setContent(`<form method="post" action="${new URL("/short", edge.url())}"><button>send</button></form>`);
  await page.click("button");
  await page.waitForSelector("h1");
  assert.match(await page.textContent("main"), /not taken in/);
  await page.waitForFunction(() => document.querySelector("#when").textContent === "You can try again now.", null, { timeout: 10_000 });
  const before = page.requested.length;
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  assert.equal(page.requested.length, before);
  assert.equal(await page.$(".again"), null, "a link would lose the form");
  await page.context().close();
});

test("a hidden tab tries again once it is visible", async () => {
  const page = await visitor(chrome, { ip: "203.0.113.250", locale: "en-US" });
  await page.addInitScript(() => {
    window.seen = false;
    Object.defineProperty(document, "hidden", { get: () => !window.seen });
  });
  await edge.get("/short", { ip: "203.0.113.250" });
  await page.goto(new URL("/short", edge.url()).href);
  await page.waitForFunction(() => document.querySelector("#clock").textContent === "0:00", null, { timeout: 10_000 });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  assert.equal(page.requested.length, 1);
  await page.evaluate(() => {
    window.seen = true;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await page.waitForFunction(() => document.body.textContent === "ok", null, { timeout: 10_000 });
  await page.context().close();
});

test("a tab without storage does not try again by itself, as it could not count its tries", async () => {
  const page = await visitor(chrome, { ip: "203.0.113.251", locale: "en-US" });
  await page.addInitScript(() => Object.defineProperty(window, "sessionStorage", { get: () => { throw new DOMException("no", "SecurityError"); } }));
  await edge.get("/short", { ip: "203.0.113.251" });
  await page.goto(new URL("/short", edge.url()).href);
  await page.waitForFunction(() => document.querySelector("#when").textContent === "You can try again now.", null, { timeout: 10_000 });
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  assert.equal(page.requested.length, 1);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test("a quota's reset is shown in the visitor's time zone, and without scripts in the quota's", async () => {
  const berlin = await refusedAt("/day", { timezoneId: "Europe/Berlin" });
  const noon = edge.at; // 12:00 UTC; midnight in Shanghai is at 16:00 UTC
  assert.match(await berlin.textContent("#time"), /^Wednesday, January 15 at 5:00\sPM GMT\+1$/);
  const [hours, minutes, seconds] = (await berlin.textContent("#clock")).split(":").map(Number);
  const left = hours * 3600 + minutes * 60 + seconds;
  const wanted = 4 * 3600 - (performance.now() - began) / SECOND;
  assert.ok(Math.abs(left - wanted) <= 3, `${left} s, ${wanted} expected`);
  await berlin.context().close();
  const plain = await refusedAt("/day", { javaScriptEnabled: false, locale: "zh-CN" });
  assert.equal(await plain.textContent("#time"), "2031-01-16 00:00 (Asia/Shanghai)");
  assert.equal(Date.parse(await plain.getAttribute("#time", "datetime")), noon + 4 * 3600 * SECOND);
  assert.equal(await plain.isVisible("#clock"), false);
  assert.equal(await plain.isVisible(".again"), true);
  await plain.context().close();
});

test("a screen reader is told the time now and then, not every second", async () => {
  const page = await refusedAt("/long");
  await page.evaluate(() => {
    window.heard = [];
    const live = document.querySelector("#live");
    const observer = new MutationObserver(() => window.heard.push(live.textContent));
    observer.observe(live, { childList: true, characterData: true, subtree: true });
  });
  await page.waitForFunction(() => document.querySelector("#clock").textContent === "0:59", null, { timeout: 30_000 });
  assert.deepEqual(await page.evaluate(() => window.heard), ["60 seconds left."]);
  assert.equal(await page.getAttribute("#live", "role"), "status");
  await page.context().close();
});

for (const colorScheme of ["light", "dark"]) {
  for (const [locale, width] of [["en-US", 1280], ["zh-CN", 320]]) {
    test(`the page has no accessibility violation in ${locale}, ${colorScheme}, ${width} pixels wide`, async () => {
      for (const path of ["/long", "/day", "/blocked", "/crowd"]) {
        // The page's own security policy would not let the checker in.
        const page = await refusedAt(path, { locale, colorScheme, bypassCSP: true, viewport: { width, height: 700 } });
        assert.equal(await page.getAttribute("html", "lang"), locale === "en-US" ? "en" : "zh-Hans");
        await page.addScriptTag({ path: AXE });
        const { violations } = await page.evaluate(() => window.axe.run());
        assert.deepEqual(violations.map(({ id, impact, nodes }) => `${impact}: ${id} at ${nodes.map(({ html }) => html)}`), [], path);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
        assert.equal(overflow, false, "the page does not scroll sideways");
        assert.equal(page.requested.filter((url) => !url.startsWith(edge.url().href)).length, 0);
        assert.deepEqual(page.complaints, []);
        await page.context().close();
      }
    });
  }
}
