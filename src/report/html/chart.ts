/** Charts as SVG: scales, axes, marks. Colours come from the page's style, so that they follow light and dark. */
import { groupBy } from "../../base/group-by.js";
import { roundNumbers, roundRatios, tickText } from "../ticks.js";
import { html, type Markup } from "./markup.js";

export const WIDTH = 640;
const HEIGHT = 290;
/** Numbers of seven digits have room on the left, also as large as they are on a narrow screen. */
const margin = { left: 84, right: 16, top: 30, bottom: 52 };

export interface Scale {
  /** Pixels of a value. */
  (value: number): number;
  readonly ticks: readonly number[];
}

/** From `low` to `high`, a little more on either side, ticks at round numbers. */
export function linear(low: number, high: number, from: number, to: number): Scale {
  const room = high > low ? (high - low) * 0.04 : Math.abs(low) * 0.1 || 1;
  const [first, last] = [low - room, high + room];
  const at = (value: number): number => from + ((value - first) / (last - first)) * (to - from);
  // Along the page numbers need more room than up it.
  const most = to < from ? MOST_TICKS + 2 : MOST_TICKS;
  return Object.assign(at, { ticks: roundNumbers(first, last, most) });
}

/** The same for positive values that span powers of ten: equal ratios are equally far apart. */
export function logarithmic(low: number, high: number, from: number, to: number): Scale {
  // What is 0 or less has no logarithm: it stands at the least.
  const least = low > 0 ? low : high > 0 ? Math.min(high, 1) / 1000 : 1;
  const scale = linear(Math.log10(least), Math.log10(Math.max(least, high)), from, to);
  const at = (value: number): number => scale(Math.log10(Math.max(least, value)));
  const ticks = roundRatios(least, high, MOST_TICKS + 2);
  // Within less than a factor of three round numbers are near enough to even.
  return Object.assign(at, {
    ticks: ticks.length > 3 ? ticks : roundNumbers(least, Math.max(1.2 * least, high), MOST_TICKS),
  });
}

const MOST_TICKS = 6;

export interface Axes {
  readonly x: Scale;
  readonly y: Scale;
}

/** Room for marks of all these values; for logarithmic scales all of them are above 0. */
export function axesFor(xs: readonly number[], ys: readonly number[], along = linear, up = linear): Axes {
  const [left, right] = extent(xs);
  const [low, high] = extent(ys);
  return { x: along(left, right, margin.left, WIDTH - margin.right), y: up(low, high, BOTTOM, margin.top) };
}

/** Where the x axis is, and the upper end of the y axis. */
export const BOTTOM = HEIGHT - margin.bottom;
export const TOP = margin.top;
export const [LEFT, RIGHT] = [margin.left, WIDTH - margin.right];

const extent = (values: readonly number[]): [number, number] =>
  values.reduce<[number, number]>(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );

export const px = (value: number): string => value.toFixed(1);

/** `description`: the sentence that stands for the chart where it is not seen. */
export function chart(
  description: string,
  { x, y }: Axes,
  titles: readonly [string, string],
  marks: readonly Markup[],
): Markup {
  const columns = x.ticks.map(
    (tick) =>
      html`<line class="grid" x1="${px(x(tick))}" x2="${px(x(tick))}" y1="${margin.top}" y2="${BOTTOM}"/><text class="tick" x="${px(x(tick))}" y="${BOTTOM + 20}" text-anchor="middle">${tickText(tick)}</text>`,
  );
  const rows = y.ticks.map(
    (tick) =>
      html`<line class="grid" x1="${margin.left}" x2="${WIDTH - margin.right}" y1="${px(y(tick))}" y2="${px(y(tick))}"/><text class="tick" x="${margin.left - 6}" y="${px(y(tick) + 4)}" text-anchor="end">${tickText(tick)}</text>`,
  );
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${description}">${columns}${rows}<text class="axis" x="${WIDTH - margin.right}" y="${HEIGHT - 6}" text-anchor="end">${titles[0]}</text><text class="axis" x="4" y="16">${titles[1]}</text>${marks}</svg>`;
}

/** What a colour means, as a line. */
export const lineKey = (className: string, words: string): Markup =>
  html`<span><svg viewBox="0 0 28 12" aria-hidden="true"><line class="${className}" x1="0" x2="28" y1="6" y2="6"/></svg>${words}</span>`;

/** What a colour means, as a dot. */
export const dotKey = (className: string, words: string): Markup =>
  html`<span><svg viewBox="0 0 28 12" aria-hidden="true"><circle class="${className}" cx="14" cy="6" r="4"/></svg>${words}</span>`;

/** What a colour means, as an area. */
export const areaKey = (className: string, words: string): Markup =>
  html`<span><svg viewBox="0 0 28 12" aria-hidden="true"><g class="${className}"><rect width="28" height="12"/></g></svg>${words}</span>`;

/** More than this many marks, and what each says is left to the table, of which the script tells the row: a browser makes two elements of every one. */
const MOST_TOLD = 200;

export interface Mark {
  readonly className: string;
  readonly at: readonly [x: number, y: number];
  readonly radius: number;
  readonly title: string;
}

/** Dots that tell what they are; where there are many, one path for all of a kind, with the rows of the table that follows the chart. */
export function marks(all: readonly Mark[]): Markup[] {
  if (all.length <= MOST_TOLD) {
    return all.map(
      ({ className, at: [x, y], radius, title }) =>
        html`<circle class="${className}" cx="${px(x)}" cy="${px(y)}" r="${px(radius)}"><title>${title}</title></circle>`,
    );
  }
  return [...groupBy([...all.entries()], ([, { className }]) => className)].map(
    ([className, kind]) =>
      html`<path class="${className}" data-rows="${kind.map(([row]) => row).join(" ")}" d="${kind.map(([, mark]) => circle(mark)).join("")}"/>`,
  );
}

const circle = ({ at: [x, y], radius }: Mark): string => {
  const r = px(radius);
  const [across, back] = [px(2 * radius), px(-2 * radius)];
  return `M${px(x - radius)} ${px(y)}a${r} ${r} 0 1 0 ${across} 0a${r} ${r} 0 1 0 ${back} 0`;
};

export const line = (className: string, points: readonly (readonly [number, number])[]): Markup =>
  html`<polyline class="${className}" points="${points.map(([x, y]) => `${px(x)},${px(y)}`).join(" ")}"/>`;
