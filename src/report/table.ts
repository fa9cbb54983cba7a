/** Columns of text: no borders, numbers to the right. */

export type Align = "left" | "right";

/** One line a row. Cells must hold no escape codes: their length is their width. */
export function columns(rows: readonly (readonly string[])[], align: readonly Align[], gap = 2): string[] {
  const widths = align.map((_, i) => Math.max(0, ...rows.map((row) => (row[i] ?? "").length)));
  return rows.map((row) =>
    align
      .map((side, i) => (side === "left" ? (row[i] ?? "").padEnd(widths[i]!) : (row[i] ?? "").padStart(widths[i]!)))
      .join(" ".repeat(gap))
      .trimEnd(),
  );
}

/** Breaks at spaces so that no line is wider than `width`, unless one word is. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
