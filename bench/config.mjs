// The example configuration, as wrangler.toml has it.
import { join } from "node:path";
import { unstable_readConfig as readConfig } from "wrangler";
import { ROOT } from "./modules.mjs";

/** The vars of wrangler.toml without the origin, which each run has its own of. */
export function exampleVars() {
  const { ORIGIN, ...vars } = structuredClone(readConfig({ config: join(ROOT, "wrangler.toml") }).vars);
  return vars;
}

/**
 * The limit of each address for the peers, who have no other: `LIMIT` in `PERIOD` seconds, from the
 * first rate of `per_ip` for every request.
 */
export function addressLimit({ LIMIT_BASE: { per_ip } = {} }) {
  const [, limit, unit] = /^(\d+)\/(s|min|h)\b/.exec([per_ip].flat()[0]) ?? [null, "1200", "min"];
  return { LIMIT: Number(limit), PERIOD: { s: 1, min: 60, h: 3_600 }[unit] };
}
