/** A declared limit as a line, what was measured as a dot, and the interval around it as a bar: an interval that reaches over the line is a question. */
import type { VerdictReason } from "../../../pipeline/result.js";
import { px } from "../chart.js";
import { html, type Markup } from "../markup.js";

const WIDE = 200;
const HIGH = 22;
const EDGE = 8;

/** Nothing where there are no numbers to draw. The figures stand beside it. */
export function limitBar({ limit, wanted, got, interval, status, unit }: VerdictReason): Markup | null {
  // How many requests happened to arrive is no figure to hold against a line.
  if (unit === undefined || unit === "a second") return null;
  if (got === null || got === undefined || !Number.isFinite(got) || !Number.isFinite(wanted)) return null;
  const [low, high] = interval ?? [null, null];
  const known = [wanted, got, ...(low === null ? [] : [low]), ...(high === null ? [] : [high])];
  const [from, to] = [Math.min(...known), Math.max(...known)];
  if (from === to) return null;
  const x = (value: number): number => EDGE + ((value - from) / (to - from)) * (WIDE - 2 * EDGE);
  // An end that nobody knows is as far as the drawing goes.
  const [left, right] = [low === null ? 0 : x(low), high === null ? WIDE : x(high)];
  const bar = interval ? html`<line class="span ${status}" x1="${px(left)}" x2="${px(right)}" y1="11" y2="11"/>` : null;
  return html`<svg class="limit-bar" viewBox="0 0 ${WIDE} ${HIGH}" aria-hidden="true"><title>${limit}: the line is the limit, the bar the interval</title>${bar}<line class="limit" x1="${px(x(wanted))}" x2="${px(x(wanted))}" y1="2" y2="20"/><circle class="point ${status}" cx="${px(x(got))}" cy="11" r="4"/></svg>`;
}
