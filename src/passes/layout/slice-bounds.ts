/** What a Slice takes, where that is the same in every run. */
import { type Node, Tensor, type Value } from "../../ir/index.js";
import { normalizeAxes } from "../../rewrite/match.js";

export interface Bounds {
  readonly starts: readonly bigint[];
  readonly ends: readonly bigint[];
  readonly axes: readonly number[];
  readonly steps: readonly bigint[];
}

/** No tensor has an axis as long as this: exporters write an end at or beyond it for "to the end". */
export const TO_THE_END = 2n ** 31n - 1n;

/** The bounds of a Slice, from inputs (opset 10) or attributes; null when they are computed at run time. */
export function boundsOf(slice: Node): Bounds | null {
  const read = (index: number, name: string): bigint[] | null => {
    const input = slice.inputs[index];
    return input ? (input.constant?.bigints() ?? null) : (slice.ints(name)?.map(BigInt) ?? null);
  };
  const starts = read(1, "starts");
  const ends = read(2, "ends");
  if (!starts || !ends || starts.length !== ends.length) return null;
  const axes = slice.inputs[3] || slice.attributes.has("axes") ? read(3, "axes")?.map(Number) : starts.map((_, i) => i);
  const steps = slice.inputs[4] ? read(4, "steps") : starts.map(() => 1n);
  return axes && steps && axes.length === starts.length && steps.length === starts.length
    ? { starts, ends, axes, steps }
    : null;
}

/** Elements `start`, `start + step`, ... below `end` of one axis. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** The bounds on one axis of known size, forwards and within it; null for a slice that runs backwards. */
export function stretchOf(start: bigint, end: bigint, step: bigint, size: number): Stretch | null {
  if (step < 1n || step > BigInt(size) + 1n) return null;
  const clamp = (at: bigint): number => {
    const counted = at < 0n ? at + BigInt(size) : at;
    return counted < 0n ? 0 : counted > BigInt(size) ? size : Number(counted);
  };
  const from = clamp(start);
  return { start: from, end: Math.max(from, clamp(end)), step: Number(step) };
}

/** The one axis that a Slice cuts, and what it takes of it; null when it cuts more or the size is not known. */
export function onlyStretch(slice: Node): (Stretch & { readonly axis: number; readonly size: number }) | null {
  const bounds = boundsOf(slice);
  const shape = slice.inputs[0]?.shape;
  const [axis] = (shape && bounds && normalizeAxes(bounds.axes, shape.length)) ?? [];
  const size = axis === undefined ? null : shape![axis];
  if (bounds?.axes.length !== 1 || axis === undefined || typeof size !== "number") return null;
  const stretch = stretchOf(bounds.starts[0]!, bounds.ends[0]!, bounds.steps[0]!, size);
  return stretch && { ...stretch, axis, size };
}

/** Bounds as the inputs of a Slice after its data. */
export function boundInputs(bounds: Bounds, constant: (label: string, tensor: Tensor) => Value): Value[] {
  const vector = (label: string, values: readonly (number | bigint)[]): Value =>
    constant(label, Tensor.i64([values.length], values));
  const inputs = [vector("starts", bounds.starts), vector("ends", bounds.ends), vector("axes", bounds.axes)];
  return bounds.steps.every((step) => step === 1n) ? inputs : [...inputs, vector("steps", bounds.steps)];
}
