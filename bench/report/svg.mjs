// Parts of charts: bars on a common scale, in groups.

export const INK = "#22272b";
export const COLOURS = { penstock: "#0b6e8f", roaming: "#6db3c9", bare: "#8a939b", peer: "#c3a15a" };

/** Markdown's text as text of an SVG. */
export const escape = (text) => text.replaceAll("**", "").replaceAll("`", "").replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const [WIDTH, LEFT, RIGHT, ROW, BAR] = [900, 400, 110, 22, 14];

/**
 * A chart of groups of bars: `{ title, bars: [{ name, value, label, colour }] }`, all on one scale
 * of which the end is `most`, with a line at `mark` (`{ value, label }`).
 */
export function barChart({ title, subtitle, groups, most, mark }) {
  const x = (value) => LEFT + ((WIDTH - LEFT - RIGHT) * Math.min(value, most)) / most;
  const top = mark ? 76 : 62;
  let y = top;
  const parts = groups.map((group) => {
    const head = `\n  <text x="20" y="${y + 14}" font-size="13" font-weight="600">${escape(group.title)}</text>`;
    y += 24;
    const bars = group.bars.map((bar) => {
      const at = y;
      y += ROW;
      return `
  <text x="${LEFT - 10}" y="${at + 11}" text-anchor="end">${escape(bar.name)}</text>
  <rect x="${LEFT}" y="${at}" width="${Math.max(1, x(bar.value) - LEFT).toFixed(1)}" height="${BAR}" rx="2" fill="${bar.colour}"/>
  <text x="${(x(bar.value) + 8).toFixed(1)}" y="${at + 11}">${escape(bar.label)}</text>`;
    });
    y += 10;
    return head + bars.join("");
  });
  const line = mark
    ? `\n  <path d="M${x(mark.value).toFixed(1)} ${top - 4}V${y - 6}" stroke="${COLOURS.bare}" stroke-dasharray="4 3"/>\n  <text x="${x(mark.value).toFixed(1)}" y="${top - 8}" text-anchor="middle" fill="#5b646b">${escape(mark.label)}</text>`
    : "";
  const height = y + 4;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="${INK}" role="img" aria-label="${escape(title)}">
  <rect width="${WIDTH}" height="${height}" rx="6" fill="#ffffff"/>
  <text x="20" y="26" font-size="16" font-weight="600">${escape(title)}</text>
  <text x="20" y="43" fill="#5b646b">${escape(subtitle)}</text>${line}${parts.join("")}
</svg>
`;
}
