/**
 * Nodes that float16 would harm by the values that were seen in float32, which running in
 * float16 on a CPU cannot show: its kernels compute in float32 between Casts.
 *
 *   overflow     a value beyond 65504, or a sum on the way to a mean or a norm
 *   underflow    a value that is never above 6.1e-5, where digits are lost one by one
 *   division     by, or the logarithm or root of, numbers that float16 rounds to zero
 *
 * Float16 has its largest number at 65504, its least normal one at 2^-14 and rounds to zero below 2^-25.
 */
import { elementCount, type Model, type Node, nodesWithin, type Value } from "../../ir/index.js";

/** Of the finite elements of one value, over all samples. */
export interface ValueRange {
  readonly min: number;
  readonly max: number;
  /** Elements seen. */
  readonly count: number;
}

/** Samples are few: values in use may be larger by this. */
const MARGIN = 2;
const LARGEST = 65504;
const LEAST_NORMAL = 2 ** -14;
const FLUSHED = 2 ** -25;

/**
 * The reason for each node of the main graph that should stay in float32, figures behind a colon: reports tell it once for all nodes. `ranges` goes by
 * value label; values that are absent were not seen, and nothing is said of them.
 */
export function measuredRisks({ graph }: Model, ranges: ReadonlyMap<string, ValueRange>): ReadonlyMap<Node, string> {
  const risks = new Map<Node, string>();
  const rangeOf = (value: Value | null | undefined): ValueRange | null =>
    value && !value.constant && value.dtype === "f32" ? known(ranges.get(value.label)) : null;
  for (const node of nodesWithin(graph)) {
    if (node.graph !== graph) continue;
    const reason = overflowOf(node, rangeOf) ?? divisionOf(node, rangeOf) ?? underflowOf(node, rangeOf);
    if (reason !== null) risks.set(node, reason);
  }
  return risks;
}

/** A value that had no finite element says nothing. */
const known = (range: ValueRange | undefined): ValueRange | null => (range && range.count > 0 ? range : null);

type RangeOf = (value: Value | null | undefined) => ValueRange | null;

const magnitude = ({ min, max }: ValueRange): number => Math.max(Math.abs(min), Math.abs(max));
const text = (value: number): string => (value < 1e-3 || value >= 1e5 ? value.toExponential(1) : value.toPrecision(2));

function overflowOf(node: Node, rangeOf: RangeOf): string | null {
  for (const [value, does] of [
    ...node.outputs.map((output) => [output, "makes"] as const),
    ...node.inputs.map((input) => [input, "reads"] as const),
  ]) {
    const range = rangeOf(value);
    if (range && magnitude(range) * MARGIN > LARGEST) {
      return `it ${does} values beyond float16, which ends at ${LARGEST}: ${text(magnitude(range))}`;
    }
  }
  const sum = innerSumOf(node, rangeOf);
  if (sum === null || sum * MARGIN <= LARGEST) return null;
  return `on the way it adds up to more than float16 has, which ends at ${LARGEST}: ${text(sum)}`;
}

/** The largest sum inside a reduction; null for other nodes. */
function innerSumOf(node: Node, rangeOf: RangeOf): number | null {
  const input = rangeOf(node.inputs[0]);
  const output = rangeOf(node.outputs[0]);
  if (node.domain !== "" || !input || !output) return null;
  const reduced = input.count / output.count;
  switch (node.op) {
    case "AveragePool":
      return magnitude(output) * elementCount(node.ints("kernel_shape") ?? []);
    case "GlobalAveragePool":
    case "ReduceMean":
      return magnitude(output) * reduced;
    case "ReduceL2":
      return magnitude(output) ** 2;
    default:
      return null;
  }
}

/** Which input has to stay away from zero. */
const guarded: Readonly<Record<string, number>> = { Div: 1, Log: 0, Reciprocal: 0, Sqrt: 0 };

function divisionOf(node: Node, rangeOf: RangeOf): string | null {
  const reads = (reader: Node, value: Value): boolean => {
    const slot = reader.domain === "" ? guarded[reader.op] : undefined;
    return slot !== undefined && reader.inputs[slot] === value;
  };
  const vanishes = (value: Value | null | undefined): boolean => {
    const range = rangeOf(value);
    return range !== null && range.min > 0 && range.min < FLUSHED;
  };
  for (const value of node.inputs) {
    if (value && vanishes(value) && reads(node, value)) return zeroOf(value, rangeOf);
  }
  for (const value of node.outputs) {
    if (!value || !vanishes(value)) continue;
    if (value.uses.some((use) => use.kind === "input" && reads(use.node, value))) {
      return zeroOf(value, rangeOf);
    }
  }
  return null;
}

const zeroOf = (value: Value, rangeOf: RangeOf): string =>
  `float16 makes zero of what is divided by, or of what a root or logarithm is taken of: ${text(rangeOf(value)!.min)}`;

function underflowOf(node: Node, rangeOf: RangeOf): string | null {
  for (const value of [...node.outputs, ...node.inputs]) {
    const range = rangeOf(value);
    const largest = range ? magnitude(range) : 0;
    if (largest > 0 && largest < LEAST_NORMAL) {
      return `its values are so small that float16 loses digits of them: ${text(largest)} at most`;
    }
  }
  return null;
}
