/**
 * A few lines at the end of what a terminal shows, drawn anew in place. Between frames the cursor stays where they begin:
 * whatever a terminal makes of them when its size changes, erasing from there on takes all of it away.
 */
const ESC = "\x1b[";

export interface RegionStream extends NodeJS.WritableStream {
  /** Absent where nobody knows. */
  readonly columns?: number;
  readonly rows?: number;
}

export class Region {
  #shown: readonly string[] = [];

  constructor(private readonly stream: RegionStream) {}

  get size(): { readonly columns: number; readonly rows: number } {
    return { columns: this.stream.columns || 80, rows: this.stream.rows || 24 };
  }

  /** In place of what was there. Nothing is written when nothing changed. */
  show(lines: readonly string[]): void {
    if (lines.length === this.#shown.length && lines.every((line, i) => line === this.#shown[i])) return;
    this.#draw([], lines);
  }

  /** Lines that stay, above the region. */
  above(text: readonly string[], lines: readonly string[] = this.#shown): void {
    this.#draw(text, lines);
  }

  /** The same lines again, wherever the terminal has moved what was left of them. */
  redraw(lines: readonly string[]): void {
    this.#draw([], lines);
  }

  #draw(text: readonly string[], lines: readonly string[]): void {
    const kept = text.map((line) => `${line}${ESC}K\n`).join("");
    const drawn = lines.map((line) => `${line}${ESC}0m${ESC}K`).join("\n");
    const back = lines.length > 1 ? `${ESC}${lines.length - 1}A` : "";
    this.#shown = lines;
    // Erased to the end of the screen before it is drawn: the frame comes whole, since it is one write.
    this.stream.write(`${ESC}?2026h\r${ESC}J${kept}${drawn}${back}\r${ESC}?2026l`);
  }
}
