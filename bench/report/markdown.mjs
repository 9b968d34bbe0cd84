// Numbers and tables in Markdown.

export const whole = (n) => Math.round(n).toLocaleString("en");
export const short = (n) => (n === 0 ? "0" : n < 10 ? n.toFixed(1) : whole(n));
export const table = (head, rows) => [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
