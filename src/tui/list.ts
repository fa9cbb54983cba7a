/** Tables of which a window is seen: columns that fit, a cursor, and never a line too many. */
import { middles } from "../report/escape.js";
import { clip, padLeft, padRight, shorten, shortenEnd, widthOf } from "./cells.js";
import type { Look } from "./look.js";

export interface ListColumn<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  readonly isNumber?: boolean;
  /** The first to go where there is no room is the one with the highest number; 0 never goes. */
  readonly rank: number;
  /** A sentence, which is cut at its end; names are cut in the middle. */
  readonly isText?: boolean;
  /** Takes what room is left, down to this; others have the width of their widest cell. */
  readonly least?: number;
}

/** The first row seen, so that the cursor is, and as few rows move as can be. */
export function windowTop(top: number, cursor: number, height: number, count: number): number {
  const lowest = Math.max(0, count - height);
  return Math.max(0, Math.min(lowest, cursor, Math.max(top, cursor - height + 1)));
}

export interface ListView {
  readonly cursor: number;
  readonly top: number;
}

/** A heading and up to `height - 1` rows. */
export function list<Row>(
  rows: readonly Row[],
  columns: readonly ListColumn<Row>[],
  { cursor, top }: ListView,
  { width, height, look }: { readonly width: number; readonly height: number; readonly look: Look },
): string[] {
  const laid = layOut(rows, columns, width - 2);
  const until = top + Math.max(0, height - 1);
  const cells = laid.map((each) => cellsOfColumn(rows, each, top, until));
  const line = (of: (column: number) => string): string =>
    laid.map(({ column, wide }, i) => (column.isNumber ? padLeft(of(i), wide) : padRight(of(i), wide))).join("  ");
  return [
    look.faint(clip(`  ${line((column) => shorten(laid[column]!.column.title, laid[column]!.wide))}`, width)),
    ...rows.slice(top, until).map((_, i) => {
      const text = line((column) => cells[column]![i]!);
      if (top + i !== cursor) return clip(`  ${text}`, width);
      return look.chosen(padRight(clip(`> ${text}`, width), width));
    }),
  ];
}

/** What was worked out of rows, by what it is: a frame for each key looks at the same ones. Cells of a column with the same title say the same of a row. */
const worked = new WeakMap<readonly unknown[], Map<string, unknown>>();

function ofRows<Answer>(rows: readonly unknown[], what: string, work: () => Answer): Answer {
  const known = worked.get(rows) ?? new Map<string, unknown>();
  worked.set(rows, known);
  if (!known.has(what)) known.set(what, work());
  return known.get(what) as Answer;
}

/** Of the rows from `top` on. Names are cut with all rows in view, so that those which look alike are told apart, and stay the same when rows move. */
function cellsOfColumn<Row>(
  rows: readonly Row[],
  { column, wide, natural }: Laid<Row>,
  top: number,
  until: number,
): string[] {
  if (!column.isText && !column.isNumber && wide < natural) {
    const names = ofRows(rows, `${column.title} in ${wide}`, () => middles(rows.map(column.cell), wide, shorten));
    return names.slice(top, until);
  }
  return rows.slice(top, until).map((row) => (column.isText ? shortenEnd : shorten)(column.cell(row), wide));
}

interface Laid<Row> {
  readonly column: ListColumn<Row>;
  readonly wide: number;
  /** Of its widest cell. */
  readonly natural: number;
}

function layOut<Row>(rows: readonly Row[], columns: readonly ListColumn<Row>[], width: number): Laid<Row>[] {
  const natural = columns.map((column) =>
    ofRows(rows, column.title, () =>
      rows.reduce((most, row) => Math.max(most, widthOf(column.cell(row))), widthOf(column.title)),
    ),
  );
  let kept = columns.map((column, i) => ({ column, wide: natural[i]!, natural: natural[i]! }));
  const needed = (): number =>
    kept.reduce((sum, { column, wide }) => sum + Math.min(wide, column.least ?? wide) + 2, -2);
  while (needed() > width) {
    const worst = kept.reduce((a, b) => (b.column.rank > a.column.rank ? b : a));
    if (worst.column.rank === 0) break;
    kept = kept.filter((each) => each !== worst);
  }
  const flexible = kept.filter(({ column, wide }) => column.least !== undefined && wide > column.least);
  const given = new Map(flexible.map(({ column }) => [column, column.least!]));
  // The room that is left goes to all of them alike, as far as they can use it.
  let spare = width - needed();
  for (let open = flexible; spare > 0 && open.length > 0; ) {
    const each = Math.max(1, Math.floor(spare / open.length));
    for (const { column, wide } of open) {
      const more = Math.min(each, spare, wide - given.get(column)!);
      given.set(column, given.get(column)! + more);
      spare -= more;
    }
    open = open.filter(({ column, wide }) => given.get(column)! < wide);
  }
  return kept.map((each) => ({ ...each, wide: given.get(each.column) ?? each.wide }));
}
