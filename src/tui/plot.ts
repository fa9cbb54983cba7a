/** Charts of characters: curves in Braille dots or in ASCII, bars in eighths or in ASCII; axes with round numbers. */
import { type Range, share, ticksOf } from "../report/range.js";
import { tickText } from "../report/ticks.js";
import { clip, padLeft, widthOf } from "./cells.js";
import type { Look } from "./look.js";

export interface Series {
  readonly points: readonly (readonly [x: number, y: number])[];
  /** `curve`: joined; `dashed`: joined with gaps; `dots`: each point as `mark`. */
  readonly kind: "curve" | "dashed" | "dots";
  /** Of a point, and of a curve in ASCII. */
  readonly mark: string;
  readonly paint: (text: string) => string;
}

export interface PlotOptions {
  readonly width: number;
  /** Lines, the axis among them. */
  readonly height: number;
  readonly x: Range;
  readonly y: Range;
  readonly xTitle: string;
  readonly showY: (value: number) => string;
  readonly series: readonly Series[];
  readonly look: Look;
}

/** Later series lie on top of earlier ones. Exactly `height` lines, none wider than `width`. */
export function plot({ width, height, x, y, xTitle, showY, series, look }: PlotOptions): string[] {
  const rows = Math.max(1, height - 2);
  const yTicks = ticksOf(y, Math.max(3, Math.floor(rows / 3)));
  const labels = yTicks.map(showY);
  const gutter = Math.max(...labels.map(widthOf), 1);
  const columns = Math.max(4, width - gutter - 2);
  const canvas = new Canvas(columns, rows, look.isUnicode);
  const place = ([px, py]: readonly [number, number]): [number, number] => [share(px, x), share(py, y)];
  for (const { points, kind, mark, paint } of series) {
    if (kind === "dots") for (const point of points) canvas.put(...place(point), mark, paint);
    else canvas.join(points.map(place), kind === "dashed", mark, paint);
  }
  const rowOf = (value: number): number => Math.round((1 - share(value, y)) * (rows - 1));
  const [wall, corner, floor] = look.isUnicode ? ["│", "└", "─"] : ["|", "+", "-"];
  const lines = canvas.lines().map((line, row) => {
    const tick = yTicks.findIndex((value) => rowOf(value) === row);
    return `${look.faint(`${padLeft(tick < 0 ? "" : labels[tick]!, gutter)} ${wall}`)}${line}`;
  });
  return [
    ...lines,
    look.faint(`${" ".repeat(gutter)} ${corner}${floor.repeat(columns)}`),
    look.faint(clip(`${" ".repeat(gutter + 2)}${xLabels(x, columns, xTitle)}`, width)),
  ];
}

/** Round numbers below the places they stand for, as many as there is room for, and the unit at the end. */
export function xLabels(x: Range, columns: number, title: string): string {
  let line = "";
  const room = columns - widthOf(title) - 1;
  for (const value of ticksOf(x, Math.max(2, Math.floor(columns / 10)))) {
    const label = tickText(value);
    const at = Math.round(share(value, x) * (columns - 1) - label.length / 2);
    const from = Math.max(0, at);
    if ((line !== "" && from < line.length + 2) || from + label.length > room) continue;
    line = line.padEnd(from) + label;
  }
  return `${line.padEnd(columns - widthOf(title))}${title}`;
}

/** Dots of Braille, by column and row within a character. */
const braille = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

interface Cell {
  dots: number;
  mark: string | null;
  paint: (text: string) => string;
}

/** Shares of a straight way, from and to, between which it is on the canvas; the first is the larger where it never is. */
function insideOf(...axes: readonly (readonly [from: number, way: number, size: number])[]): readonly [number, number] {
  let [begin, end] = [0, 1];
  for (const [from, way, size] of axes) {
    if (way === 0) {
      if (from < -1 || from > size) return [1, 0];
      continue;
    }
    const [one, other] = [(-1 - from) / way, (size - from) / way];
    begin = Math.max(begin, Math.min(one, other));
    end = Math.min(end, Math.max(one, other));
  }
  return [begin, end];
}

/** Takes places as shares of its size, (0, 0) at the lower left. */
class Canvas {
  readonly #cells: (Cell | undefined)[][];
  readonly #fine: readonly [number, number];

  constructor(
    readonly columns: number,
    readonly rows: number,
    readonly isUnicode: boolean,
  ) {
    this.#cells = Array.from({ length: rows }, () => Array.from({ length: columns }, () => undefined));
    this.#fine = isUnicode ? [columns * 2, rows * 4] : [columns, rows];
  }

  put(x: number, y: number, mark: string, paint: Cell["paint"]): void {
    const column = Math.round(x * (this.columns - 1));
    const row = Math.round((1 - y) * (this.rows - 1));
    const cells = this.#cells[row];
    if (cells && column >= 0 && column < this.columns) cells[column] = { dots: 0, mark, paint };
  }

  join(points: readonly (readonly [number, number])[], isDashed: boolean, mark: string, paint: Cell["paint"]): void {
    const [wide, high] = this.#fine;
    const at = points.map(([x, y]) => [x * (wide - 1), (1 - y) * (high - 1)] as const);
    let drawn = 0;
    for (const [i, [x, y]] of at.entries()) {
      const [fromX, fromY] = at[Math.max(0, i - 1)]!;
      const [wayX, wayY] = [x - fromX, y - fromY];
      // What lies outside takes no time, however far away it is.
      const [begin, end] = insideOf([fromX, wayX, wide], [fromY, wayY, high]);
      const steps = Math.max(1, Math.ceil(Math.max(Math.abs(wayX), Math.abs(wayY)) * (end - begin)));
      if (!(begin <= end) || !Number.isFinite(steps)) continue;
      for (let step = 1; step <= steps; step++, drawn++) {
        if (isDashed && drawn % 6 >= 3) continue;
        const part = begin + ((end - begin) * step) / steps;
        this.#dot(fromX + wayX * part, fromY + wayY * part, mark, paint);
      }
    }
  }

  #dot(fineX: number, fineY: number, mark: string, paint: Cell["paint"]): void {
    const [x, y] = [Math.round(fineX), Math.round(fineY)];
    const [perColumn, perRow] = this.isUnicode ? [2, 4] : [1, 1];
    const [column, row] = [Math.floor(x / perColumn), Math.floor(y / perRow)];
    const cells = this.#cells[row];
    if (!cells || column < 0 || column >= this.columns) return;
    const before = cells[column];
    const dots = this.isUnicode ? (before?.dots ?? 0) | braille[x % 2]![y % 4]! : 0;
    cells[column] = { dots, mark: this.isUnicode ? null : mark, paint };
  }

  lines(): string[] {
    return this.#cells.map((cells) => {
      let line = "";
      for (const cell of cells) {
        line += cell ? cell.paint(cell.mark ?? String.fromCharCode(0x2800 + cell.dots)) : " ";
      }
      return line;
    });
  }
}

const eighths = [..." ▁▂▃▄▅▆▇█"];
const shades = [..." .:#"];

/** Bars side by side, one a column: `values` from 0 to 1. Exactly `height` lines. */
export function bars(values: readonly number[], height: number, { isUnicode }: Look): string[] {
  const levels = isUnicode ? eighths : shades;
  const full = levels.length - 1;
  return Array.from({ length: height }, (_, line) => {
    const below = (height - 1 - line) * full;
    return values
      .map((value) => {
        // What is there at all is seen.
        const filled = value > 0 ? Math.max(1, Math.round(value * height * full)) : 0;
        return levels[Math.min(full, Math.max(0, filled - below))]!;
      })
      .join("");
  });
}

/** A bar of a share from 0 to 1. */
export function bar(value: number, width: number, { isUnicode }: Look): string {
  const filled = Math.round(Math.min(1, Math.max(0, value)) * width);
  return isUnicode ? "█".repeat(filled) + "░".repeat(width - filled) : "#".repeat(filled) + ".".repeat(width - filled);
}
