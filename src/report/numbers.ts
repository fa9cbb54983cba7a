/** Numbers as people read them: few digits, grouped, the unit where the caller does not put it in a heading. */
import { percentileNames, percentileText } from "../base/percentiles.js";
import type { Percentiles } from "../pipeline/result.js";

/** Three significant digits without an exponent; integers keep all of theirs: 0.0123, 1.23, 12.3, 1,234. */
export function significant(value: number | null, digits = 3): string {
  // JSON has no infinity: what was not finite comes back as null.
  if (value === null) return "-";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  // What is not finite on one side only, which results write as the largest number there is.
  if (Math.abs(value) === Number.MAX_VALUE) return "not finite";
  if (value === 0) return "0";
  // Rounding may carry: 0.9996 has the digits of 1.00.
  const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits)))));
  if (magnitude < -6 || magnitude > 20) return value.toExponential(digits - 1);
  return grouped(value.toFixed(Math.max(0, digits - 1 - magnitude)));
}

/** "-" for what is not known. */
export const optional = (value: number | null | undefined, show: (value: number) => string): string =>
  value === null || value === undefined ? "-" : show(value);

/** Of a share. */
export const percent = (share: number, digits = share < 0.1 ? 2 : 3): string => `${significant(100 * share, digits)} %`;

/** A part of a whole, which may be nothing. */
export const percentOf = (part: number, whole: number): string => percent(part / Math.max(whole, Number.MIN_VALUE), 2);

/** Below this there is nothing but what a difference of equal times leaves, in ms. */
const NO_TIME = 1e-9;

/** Milliseconds, without the unit; "-" for what could not be measured. */
export const milliseconds = (value: number | null): string =>
  value === null ? "-" : significant(Math.abs(value) < NO_TIME ? 0 : value);

/** "p50", ..., "p99.9": above what `percentileCells` gives. */
export const percentileHeads: readonly string[] = percentileNames.map(percentileText);

/** All of them, in the order of their names. */
export const percentileCells = (times: Percentiles): string[] =>
  percentileNames.map((name) => milliseconds(times[`${name}Ms`] ?? null));

/** Of two, one row each: "p50 ms", before, after; without what neither has. */
export const percentileRows = (before: Percentiles, after: Percentiles): [string, string, string][] =>
  percentileNames.flatMap((name): [string, string, string][] => {
    const [was, now] = [before[`${name}Ms`] ?? null, after[`${name}Ms`] ?? null];
    if (was === null && now === null) return [];
    return [[`${percentileText(name)} ms`, milliseconds(was), milliseconds(now)]];
  });

/** 1,234,567 */
export const count = (value: number): string => grouped(String(Math.round(value)));

/** Decimal units, as file managers and `--max-size 10MB` have them. */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let scaled = value;
  let unit = 0;
  // 999.5 would be shown as 1000.
  while (scaled >= 999.5 && unit < units.length - 1) {
    scaled /= 1000;
    unit++;
  }
  return `${unit === 0 ? count(scaled) : significant(scaled)} ${units[unit]}`;
}

/** Old over new: 2.14x. */
export const ratio = (value: number): string => `${value.toFixed(2)}x`;

/** A metric's value: four decimals in -1..1, where rates and cosines live, four significant digits elsewhere. */
export const score = (value: number): string =>
  Math.abs(value) < 1.00005 ? value.toFixed(4).replace(/^-(?=0\.0000$)/, "") : significant(value, 4);

/** The same with its sign, where anything is left of it. */
export function change(value: number): string {
  const text = score(value);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
}

export const interval = ([low, high]: readonly [number, number], show: (value: number) => string): string =>
  `${show(low)} .. ${show(high)}`;

/** 0.5 s, 12 s, 3 min 20 s. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** "1 node", "2 nodes", "2 boxes". */
export const plural = (many: number, thing: string): string =>
  `${count(many)} ${thing}${many === 1 ? "" : /[sx]$/.test(thing) ? "es" : "s"}`;

function grouped(digits: string): string {
  const [whole, fraction] = digits.split(".");
  const spaced = whole!.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? spaced : `${spaced}.${fraction}`;
}

/** Five decimals: quantization shows in the third and later ones. */
export const cosineText = (value: number | null): string => (value === null ? "-" : value.toFixed(5));
