// The results as a chart: requests per second at 16 connections, the range over the rounds, and the
// price.
import { dollars } from "../prices.mjs";
import { escape } from "./svg.mjs";
import { baseOf, over, ratio } from "./speed.mjs";

const [WIDTH, LEFT, RIGHT, ROW, BAR] = [900, 330, 150, 30, 16];
const CONNECTIONS = 16;
const COLOURS = { penstock: "#0b6e8f", bare: "#8a939b", peer: "#c3a15a" };

function colour({ id, role }) {
  if (id.startsWith("penstock")) return COLOURS.penstock;
  return role === "pass" || role === "refuse" ? COLOURS.bare : COLOURS.peer;
}

/** One group of bars on a scale of its own. */
function group(results, title, variants, top) {
  const most = Math.max(...variants.map(({ id }) => over(results, id, CONNECTIONS, "rps").high));
  const x = (rps) => LEFT + ((WIDTH - LEFT - RIGHT) * rps) / most;
  const rows = variants.map((variant, index) => {
    const { median, low, high } = over(results, variant.id, CONNECTIONS, "rps");
    const y = top + 34 + index * ROW;
    const middle = y + BAR / 2;
    const share = ratio(results, variant.id, baseOf(variant), CONNECTIONS).toFixed(2);
    const weight = variant.id.startsWith("penstock") ? ' font-weight="600"' : "";
    return `
  <text x="${LEFT - 10}" y="${middle + 4}" text-anchor="end"${weight}>${escape(variant.name)}</text>
  <rect x="${LEFT}" y="${y}" width="${(x(median) - LEFT).toFixed(1)}" height="${BAR}" rx="2" fill="${colour(variant)}"/>
  <path d="M${x(low).toFixed(1)} ${middle}H${x(high).toFixed(1)}" stroke="#22272b" stroke-width="1.5"/>
  <text x="${(x(high) + 8).toFixed(1)}" y="${middle + 4}"${weight}>${Math.round(median).toLocaleString("en")} · ${share} · $${dollars(results.cost[variant.id]).toFixed(2)}</text>`;
  });
  return { text: `\n  <text x="20" y="${top + 18}" font-size="14" font-weight="600">${title}</text>${rows.join("")}`, bottom: top + 44 + variants.length * ROW };
}

export function speedChart(results) {
  const refuses = ({ role }) => role === "refuse" || role === "refusing";
  const allowed = group(results, "Requests passed on", results.variants.filter((variant) => !refuses(variant)), 52);
  const refused = group(results, "Requests refused", results.variants.filter(refuses), allowed.bottom + 8);
  const height = refused.bottom + 10;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#22272b" role="img" aria-label="Requests per second of each variant at ${CONNECTIONS} connections">
  <rect width="${WIDTH}" height="${height}" rx="6" fill="#ffffff"/>
  <text x="20" y="28" font-size="16" font-weight="600">Requests per second at ${CONNECTIONS} connections, on local workerd</text>
  <text x="20" y="46" fill="#5b646b">median, with the lowest and highest round · share of the bare Rust Worker · list price of a million requests</text>${allowed.text}${refused.text}
</svg>
`;
}
