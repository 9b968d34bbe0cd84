// `make bench LOG=access.log`: what the traffic of an access log costs with the configuration of
// wrangler.toml, beside other limiters.
import { readFile } from "node:fs/promises";
import { COARSE, NEAR, run, together } from "./held-run.mjs";
import { figures, variants, WAYS } from "./real.mjs";
import { short, table, whole } from "./report/markdown.mjs";
import { parseLog, replay } from "./traffic/access-log.mjs";
import { ISOLATES } from "./traffic/mixes.mjs";

/** Measures the log in `path`, and returns it as Markdown. */
export async function replayed(path, { installed, say }) {
  const { lines, bad, firstBad, requests } = parseLog(await readFile(path, "utf8"));
  say(`${whole(lines)} lines, ${whole(bad)} of them bad${bad > 0 ? `, the first: ${firstBad.slice(0, 120)}` : ""}`);
  if (requests.length === 0) throw new Error(`${path} has no request in the combined form`);
  const seconds = requests.at(-1).at / 1_000;
  const callers = new Set(requests.map(({ ip }) => ip)).size;
  say(`${whole(requests.length)} requests of ${whole(callers)} addresses in ${whole(seconds)} seconds; a few minutes for each hundred thousand`);
  const jobs = variants().filter(installed).flatMap((variant) => WAYS.map((way) => ({ variant, way })));
  const rows = await together(
    jobs.map(({ variant, way }) => async () => {
      const { answers, counts } = await run(variant, replay(requests, way), { isolates: ISOLATES, distance: NEAR, tick: COARSE });
      const { statuses, actors, d1, rows, dollars } = figures(answers, counts);
      say(`${variant.id}, ${way.name}: $${dollars.toFixed(2)}`);
      const share = (100 * (statuses[429] ?? 0)) / answers.length;
      return [variant.name, way.name, short(actors), short(d1), short(rows), dollars.toFixed(2), `${share.toFixed(1)} %`];
    }),
  );
  return `${whole(requests.length)} requests of ${whole(callers)} addresses in ${whole(seconds)} seconds, from ${whole(lines)} lines, of which ${whole(bad)} were bad.
A log has no keys, so limits by key are met by nobody here. Per 1,000 requests:

${table(["", "", "actor calls", "D1 statements", "rows written", "$ per million", "refused"], rows)}
`;
}
