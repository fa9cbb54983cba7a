/**
 * A few lines at the end of what a terminal shows, drawn anew in place. Between frames the cursor stays where they begin.
 * Terminals that become narrower break lines anew, and differ in where they leave the cursor then: where a line of ours
 * no longer fits, all that is seen is drawn again.
 */
import { clip, widthOf } from "../cells.js";

const ESC = "\x1b[";

/** As many lines as a terminal may have to show again. */
const KEPT = 200;

export interface RegionStream extends NodeJS.WritableStream {
  /** Absent where nobody knows. */
  readonly columns?: number;
  readonly rows?: number;
}

export class Region {
  #shown: readonly string[] = [];
  #above: string[] = [];

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

  /** After the size of the terminal changed. */
  resized(lines: readonly string[]): void {
    const { columns, rows } = this.size;
    if (![...this.#shown, ...this.#above.slice(-rows)].some((line) => widthOf(line) > columns)) {
      this.#draw([], lines);
      return;
    }
    const seen = this.#above.slice(-Math.max(1, rows - lines.length)).map((line) => clip(line, columns - 1));
    this.stream.write(`${ESC}H`);
    this.#draw(seen, lines, false);
  }

  #draw(text: readonly string[], lines: readonly string[], isNew = true): void {
    if (isNew && text.length > 0) this.#above = [...this.#above, ...text].slice(-KEPT);
    const kept = text.map((line) => `${line}${ESC}K\n`).join("");
    const drawn = lines.map((line) => `${line}${ESC}0m${ESC}K`).join("\n");
    const back = lines.length > 1 ? `${ESC}${lines.length - 1}A` : "";
    this.#shown = lines;
    // Erased to the end of the screen before it is drawn: the frame comes whole, since it is one write.
    this.stream.write(`${ESC}?2026h\r${ESC}J${kept}${drawn}${back}\r${ESC}?2026l`);
  }
}
