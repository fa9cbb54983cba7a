/** Classes of a measure by which boxes of a graph are coloured: bounds at round numbers, and what each colour means. */
import type { GraphBox } from "../../graph-boxes.js";
import { bytes } from "../../numbers.js";
import { tickText } from "../../ticks.js";
import { areaKey } from "../chart.js";
import { html, type Markup } from "../markup.js";

/** What boxes can be coloured by. */
export interface Measure {
  readonly id: string;
  readonly title: string;
  readonly of: (box: GraphBox) => number | null;
  /** In a table and beside a box. */
  readonly show: (value: number) => string;
  readonly unit: "ms" | "dB" | "bytes";
  /** Colours from bad to good around 0, or from little to much. */
  readonly isSigned?: boolean;
  /** Little is what to look at. */
  readonly isDown?: boolean;
}

export interface Scale {
  readonly measure: Measure;
  readonly classOf: (value: number | null) => string;
  /** From one class to the next. */
  readonly bounds: readonly number[];
  readonly classes: readonly string[];
}

const STEPS = 5;
const signed = ["n2", "n1", "h0", "p1", "p2"];

/** Steps of equal width that hold all but what is far out. */
export function scaleOf(measure: Measure, boxes: readonly GraphBox[]): Scale {
  const { of, isSigned, isDown } = measure;
  const values = boxes.flatMap((box) => of(box) ?? []).sort((a, b) => a - b);
  const far = (share: number): number => values[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 0;
  if (isSigned) {
    const reach = Math.max(Math.abs(far(0.02)), Math.abs(far(0.98)));
    const [near, wide] = [roundUp(reach / 10), roundUp(reach / 2)];
    return scale(measure, [-wide, -near, near, wide], signed);
  }
  const low = isDown ? far(0) : 0;
  const step = roundUp((far(0.98) - low) / STEPS);
  const from = Math.floor(low / step) * step;
  const bounds = Array.from({ length: STEPS - 1 }, (_, i) => from + step * (i + 1));
  return scale(
    measure,
    bounds,
    bounds
      .map((_, i) => i)
      .concat(STEPS - 1)
      .map((i) => `h${isDown ? STEPS - 1 - i : i}`),
  );
}

function scale(measure: Measure, bounds: readonly number[], classes: readonly string[]): Scale {
  const classOf = (value: number | null): string => {
    if (value === null) return "h-";
    const found = bounds.findIndex((bound) => value < bound);
    return classes[found < 0 ? bounds.length : found]!;
  };
  return { measure, bounds: bounds.map((bound) => Number(bound.toPrecision(6))), classes, classOf };
}

/** To 1, 2 or 5 times a power of ten; something above 0 also for nothing. */
function roundUp(value: number): number {
  if (!(value > 0)) return 1e-3;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= value * (1 - 1e-9))!;
}

const inUnit = (value: number, unit: Measure["unit"]): string =>
  unit === "bytes" ? bytes(value).replace(/\.0+(?= )/, "") : `${tickText(value)} ${unit}`;

/** The classes in words, from the first to the last. */
export function legendWords({ measure: { unit, isSigned }, bounds }: Pick<Scale, "measure" | "bounds">): string[] {
  const say = (value: number): string => inUnit(Math.abs(value), unit);
  const plain = (value: number): string => (unit === "bytes" ? say(value) : tickText(Math.abs(value)));
  if (isSigned) {
    const [near, wide] = [bounds[2]!, bounds[3]!];
    const some = `${plain(near)} to ${say(wide)}`;
    return [
      `over ${say(wide)} lost`,
      `${some} lost`,
      `within ${say(near)}`,
      `${some} saved`,
      `over ${say(wide)} saved`,
    ];
  }
  const between = bounds.slice(1).map((bound, i) => `${plain(bounds[i]!)} to ${say(bound)}`);
  return [`under ${say(bounds[0]!)}`, ...between, `${say(bounds.at(-1)!)} and more`];
}

export function legend(scale: Scale, isHidden: boolean): Markup {
  const words = legendWords(scale);
  const swatches = scale.classes.map((name, i) => areaKey(`box ${name}`, words[i]!));
  return key(scale.measure.id, isHidden, [...swatches, areaKey("box h-", "not known")]);
}

/** Of the measure with this name. */
export const key = (id: string, isHidden: boolean, swatches: readonly Markup[]): Markup =>
  html`<p class="key" data-m="${id}"${isHidden ? html` hidden` : null}>${swatches}</p>`;
