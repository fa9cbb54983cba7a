/**
 * Tables of a page: sorted by a click on a heading, filtered, and long ones in pieces. The first rows are markup and can be
 * read without a script; the others are texts beside it, which the script makes rows of when somebody asks for them: a
 * browser takes longer over ten thousand cells than a reader has patience.
 */
import { data, html, type Markup } from "./markup.js";

export interface Column<Row> {
  readonly title: string;
  /** What is shown. */
  readonly cell: (row: Row) => string;
  /** What rows are sorted by; a number stands to the right. null comes last. */
  readonly value: (row: Row) => number | string | null;
  readonly isNumber?: boolean;
  /** Told apart from the other rows. */
  readonly isMarked?: (row: Row) => boolean;
}

/** Headings of tables with fewer rows are not worth a click. */
const SORTED_FROM = 3;
const FILTERED_FROM = 12;
/** Rows that stand there at first: in the open, and where somebody has to unfold them. */
const OPEN_ROWS = 50;
const FOLDED_ROWS = 10;
/** A table that is hardly longer is shown as a whole. */
const HARDLY_LONGER = 1.2;

export const table = <Row>(caption: string, rows: readonly Row[], columns: readonly Column<Row>[]): Markup =>
  tableOf(caption, rows, columns, OPEN_ROWS);

/** The twin of a chart, or what only some want to read. */
export const folded = <Row>(
  summary: string,
  caption: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): Markup => html`<details><summary>${summary}</summary>${tableOf(caption, rows, columns, FOLDED_ROWS)}</details>`;

/** The same for what hardly anybody opens: no element is made of it before. Without a script it is there. */
export const packed = <Row>(
  summary: string,
  caption: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): Markup =>
  html`<details><summary>${summary}</summary><noscript>${tableOf(caption, rows, columns, FOLDED_ROWS)}</noscript></details>`;

function tableOf<Row>(caption: string, rows: readonly Row[], columns: readonly Column<Row>[], most: number): Markup {
  const isSorted = rows.length >= SORTED_FROM;
  const sides = columns.map((column) => side(column, rows));
  const head = columns.map((column, i) => {
    const { title } = column;
    const shape = sides[i] ?? width(column, rows);
    return isSorted
      ? html`<th scope="col" aria-sort="none"${shape}><button type="button">${title}</button></th>`
      : html`<th scope="col"${shape}>${title}</th>`;
  });
  const first = rows.length > most * HARDLY_LONGER ? rows.slice(0, most) : rows;
  const body = first.map((row) => {
    const cells = columns.map((column, i) => {
      const { shown, key } = cellOf(column, row);
      const told = column.isMarked?.(row) ? html`<strong>* ${shown}</strong>` : shown;
      return html`<td${sides[i]!}${key !== undefined && isSorted ? html` data-v="${key}"` : null}>${told}</td>`;
    });
    return html`<tr>${cells}</tr>\n`;
  });
  const filter =
    rows.length >= FILTERED_FROM
      ? html`<label class="filter">Filter <input type="search" placeholder="any cell"> <output></output></label>`
      : null;
  return html`<div class="table">${filter}<table${isSorted ? html` class="sorted"` : null}><caption>${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>${body}</tbody></table>${rest(rows.slice(first.length), columns, rows.length)}</div>`;
}

/** A text for each cell; where it is not sorted by its text, text and key; and whether it is marked. */
function rest<Row>(rows: readonly Row[], columns: readonly Column<Row>[], all: number): Markup | null {
  if (rows.length === 0) return null;
  const cells = rows.map((row) =>
    columns.map((column) => {
      const { shown, key } = cellOf(column, row);
      if (column.isMarked?.(row)) return [shown, key ?? shown, 1];
      return key === undefined ? shown : [shown, key];
    }),
  );
  return html`<p class="more">The first ${all - rows.length} of ${all} rows. <button type="button">Show all ${all}</button></p><script type="application/json" class="rest">${data(cells)}</script>`;
}

/** `key`: what the row is sorted by where that is not what the text says. */
function cellOf<Row>({ cell, value, isNumber }: Column<Row>, row: Row): { shown: string; key?: string | number } {
  const shown = cell(row);
  const key = value(row);
  if (key === null) return shown === "" || shown === "-" ? { shown } : { shown, key: "" };
  if (!isNumber || typeof key === "string") return key === shown ? { shown } : { shown, key };
  // A unit or a factor stands between what is read and what is meant; rounding does not change the order.
  const read = Number.parseFloat(shown.replaceAll(",", ""));
  const isSaid = Math.abs(read - key) <= ROUNDED * Math.abs(key);
  return isSaid ? { shown } : { shown, key: Number(key.toPrecision(6)) };
}

/** What three significant digits may be off. */
const ROUNDED = 0.0051;

/** Room for its texts: a browser breaks names of nodes to pieces before it makes numbers narrower. */
const width = <Row>(column: Column<Row>, rows: readonly Row[]): Markup =>
  html` class="${longestOf(column, rows) > 32 ? "w3" : "w2"}"`;

/** Numbers stand to the right; neither they nor names of operators are broken. */
const side = <Row>(column: Column<Row>, rows: readonly Row[]): Markup | null =>
  column.isNumber ? html` class="n"` : isWord(column, rows) ? html` class="s"` : null;

const LONGEST_WORD = 20;

const isWord = <Row>(column: Column<Row>, rows: readonly Row[]): boolean => longestOf(column, rows) <= LONGEST_WORD;

const longestOf = <Row>({ cell }: Column<Row>, rows: readonly Row[]): number =>
  rows.slice(0, OPEN_ROWS).reduce((most, row) => Math.max(most, cell(row).length), 0);

export const text = <Row>(title: string, value: (row: Row) => string): Column<Row> => ({ title, cell: value, value });

/** A number and how it is written. */
export const number = <Row>(
  title: string,
  value: (row: Row) => number | null,
  show: (value: number) => string,
): Column<Row> => ({
  title,
  value,
  isNumber: true,
  cell: (row) => {
    const found = value(row);
    return found === null ? "-" : show(found);
  },
});
