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
      const shown = cell(row);
      const key = value(row) ?? "";
      // Where the two are one, as most texts are, it stands there once.
      const sortedBy = isSorted && key !== shown ? html` data-v="${key}"` : null;
      return html`<td${side(isNumber)}${sortedBy}>${shown}</td>`;
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

/** A table that nobody sorts, of texts alone: what stands behind a small chart. */
export const plainTable = (caption: string, heads: readonly string[], rows: readonly (readonly string[])[]): Markup =>
  html`<div class="table"><table><caption>${caption}</caption><thead><tr>${heads.map((head) => html`<th scope="col" class="n">${head}</th>`)}</tr></thead><tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td class="n">${cell}</td>`)}</tr>`)}</tbody></table></div>`;

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
