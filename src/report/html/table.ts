/** Tables of a page. Those of many rows can be sorted by clicking a heading, and filtered. */
import { html, type Markup } from "./markup.js";

export interface Column<Row> {
  readonly title: string;
  /** What is shown. */
  readonly cell: (row: Row) => string | Markup;
  /** What rows are sorted by; a number stands to the right. null comes last. */
  readonly value: (row: Row) => number | string | null;
  readonly isNumber?: boolean;
}

/** Headings of tables with fewer rows are not worth a click. */
const SORTED_FROM = 3;
const FILTERED_FROM = 12;

export function table<Row>(caption: string, rows: readonly Row[], columns: readonly Column<Row>[]): Markup {
  const isSorted = rows.length >= SORTED_FROM;
  const head = columns.map(({ title, isNumber }) =>
    isSorted
      ? html`<th scope="col" aria-sort="none"${side(isNumber)}><button type="button">${title}</button></th>`
      : html`<th scope="col"${side(isNumber)}>${title}</th>`,
  );
  const body = rows.map((row) => {
    const cells = columns.map(({ cell, value, isNumber }) => {
      const key = value(row);
      return html`<td${side(isNumber)} data-v="${key === null ? "" : key}">${cell(row)}</td>`;
    });
    return html`<tr>${cells}</tr>\n`;
  });
  const filter =
    rows.length >= FILTERED_FROM
      ? html`<label class="filter">Filter <input type="search" placeholder="any cell"> <output></output></label>`
      : null;
  return html`<div class="table">${filter}<table${isSorted ? html` class="sorted"` : null}><caption>${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>${body}</tbody></table></div>`;
}

const side = (isNumber = false): Markup | null => (isNumber ? html` class="n"` : null);

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
