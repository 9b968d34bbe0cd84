// A real browser, headless, without a network: it opens pages of the edge as a visitor would.
import chromium from "@sparticuz/chromium";
import { chromium as engine } from "playwright-core";

/** Starts a browser, and closes it after the test or suite `t`. */
export async function browser(t) {
  const started = await engine.launch({ args: ["--no-sandbox"], executablePath: await chromium.executablePath() });
  t.after(() => started.close());
  return started;
}

/**
 * A visitor with a browser tab of its own: Playwright's page, with the page's errors and warnings
 * in `complaints` and the URLs that it asked for in `requested`.
 *
 * @param {object} options Playwright's for a context; `ip` is the address that Cloudflare would
 *   vouch for
 */
export async function visitor(started, { ip, ...options } = {}) {
  const context = await started.newContext({ extraHTTPHeaders: { "cf-connecting-ip": ip }, ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.requested = [];
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("console", (message) => {
    // The browser reports the status of the refused page itself as an error.
    const isStatus = /status of (403|429|5\d\d)/.test(message.text());
    if (["error", "warning"].includes(message.type()) && !isStatus) page.complaints.push(message.text());
  });
  page.on("request", (request) => page.requested.push(request.url()));
  return page;
}
