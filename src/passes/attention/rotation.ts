/**
 * The rotation of a vector's halves by an angle, as exporters write it:
 *
 *   x * cos + Concat(-x2, x1) * sin                        with [x1, x2] = x, cos and sin twice as wide
 *   Concat(x1 * cos - x2 * sin, x1 * sin + x2 * cos)       with [x1, x2] = x
 *   Reshape(Concat(Unsqueeze(x1 * cos - x2 * sin), ...))   with x1, x2 the even and odd elements
 */
import type { Node, Value } from "../../ir/index.js";
import { givenAxes, producerOf, soleProducer } from "../../rewrite/match.js";
import type { SizesOf } from "./heads.js";

export interface Rotation {
  readonly x: Value;
  readonly cos: Value;
  readonly sin: Value;
  /** Whether cos and sin are as wide as x: both halves hold the same numbers. */
  readonly isDoubled: boolean;
  readonly isInterleaved: boolean;
  /** What the root puts behind the rotated elements along the last axis. */
  readonly rest: readonly (Value | null)[];
}

export function rotationAt(root: Node, sizesOf: SizesOf): Rotation | null {
  if (root.op === "Add") return doubled(root, sizesOf);
  const isInterleaved = root.op === "Reshape";
  const concat = isInterleaved ? soleProducer(root.inputs[0], "Concat") : root;
  // Before anybody asks for sizes, which takes much longer.
  if (!isDifference(concat?.inputs[0], isInterleaved)) return null;
  const sizes = sizesOf(root.output);
  if (!concat || !isLastAxis(concat, (sizes?.length ?? 0) + (isInterleaved ? 1 : 0))) return null;
  const rest = concat.inputs.slice(2);
  if (isInterleaved && rest.length > 0) return null;
  const [real, imaginary] = isInterleaved
    ? concat.inputs.map((part) => beforeUnsqueeze(part, sizes?.length))
    : concat.inputs;
  if (!real || !imaginary) return null;
  for (const { x1, x2, cos, sin } of factorsOf(real, imaginary)) {
    const x = wholeOf(x1, x2, isInterleaved, sizesOf);
    const whole = sizesOf(x);
    const isComplete = rest.length > 0 || whole?.at(-1) === sizes?.at(-1);
    if (!x || whole?.length !== sizes?.length || !isComplete) continue;
    return { x, cos, sin, isDoubled: false, isInterleaved, rest };
  }
  return null;
}

function doubled(sum: Node, sizesOf: SizesOf): Rotation | null {
  for (const index of [0, 1]) {
    const [kept, turned] = [soleProducer(sum.inputs[index], "Mul"), soleProducer(sum.inputs[1 - index], "Mul")];
    if (!kept || !turned) return null;
    for (const side of [0, 1]) {
      const rotated = soleProducer(turned.inputs[side], "Concat");
      const x = rotated && rotatedHalves(rotated, sizesOf);
      const sin = turned.inputs[1 - side];
      const cos = x && (kept.inputs[0] === x ? kept.inputs[1] : kept.inputs[1] === x ? kept.inputs[0] : null);
      if (x && cos && sin) return { x, cos, sin, isDoubled: true, isInterleaved: false, rest: [] };
    }
  }
  return null;
}

/** x of Concat(-x2, x1). */
function rotatedHalves(concat: Node, sizesOf: SizesOf): Value | null {
  const negative = soleProducer(concat.inputs[0], "Neg");
  const [x2, x1] = [negative?.inputs[0], concat.inputs[1]];
  if (!x1 || !x2 || concat.inputs.length !== 2) return null;
  const x = wholeOf(x1, x2, false, sizesOf);
  return x && isLastAxis(concat, sizesOf(x)?.length ?? 0) ? x : null;
}

/** Whether what is put together begins with x1 * cos - x2 * sin. */
const isDifference = (part: Value | null | undefined, isInterleaved: boolean): boolean =>
  soleProducer(isInterleaved ? soleProducer(part, "Unsqueeze")?.inputs[0] : part, "Sub") !== null;

const isLastAxis = (node: Node, rank: number): boolean => [-1, rank - 1].includes(node.int("axis", 0)) && rank > 0;

/** The input of Unsqueeze at the end, of a tensor of `rank` axes. */
function beforeUnsqueeze(value: Value | null, rank: number | undefined): Value | null {
  const node = soleProducer(value, "Unsqueeze");
  const axes = node && givenAxes(node);
  return axes?.length === 1 && rank !== undefined && [-1, rank].includes(axes[0]!) ? node!.inputs[0]! : null;
}

interface Factors {
  readonly x1: Value;
  readonly x2: Value;
  readonly cos: Value;
  readonly sin: Value;
}

/** The ways to read x1 * cos - x2 * sin and x1 * sin + x2 * cos: which of the factors are the angles, they do not say. */
function factorsOf(real: Value, imaginary: Value): Factors[] {
  const [difference, sum] = [soleProducer(real, "Sub"), soleProducer(imaginary, "Add")];
  const products = [...(difference?.inputs ?? []), ...(sum?.inputs ?? [])].map((value) => soleProducer(value, "Mul"));
  const [first, second, third, fourth] = products.map((product) => product?.inputs ?? []);
  if (products.length !== 4 || products.includes(null)) return [];
  const isProduct = (factors: readonly (Value | null)[], a: Value, b: Value): boolean =>
    (factors[0] === a && factors[1] === b) || (factors[0] === b && factors[1] === a);
  return [0, 1].flatMap((i) =>
    [0, 1].flatMap((j): Factors[] => {
      const [x1, cos, x2, sin] = [first![i]!, first![1 - i]!, second![j]!, second![1 - j]!];
      const fits =
        (isProduct(third!, x1, sin) && isProduct(fourth!, x2, cos)) ||
        (isProduct(third!, x2, cos) && isProduct(fourth!, x1, sin));
      return fits ? [{ x1, x2, cos, sin }] : [];
    }),
  );
}

/** The tensor of which two values are the halves of the last axis, or its even and odd elements. */
function wholeOf(x1: Value, x2: Value, isInterleaved: boolean, sizesOf: SizesOf): Value | null {
  const split = x1.producer;
  if (split?.is("Split") && split === x2.producer && !isInterleaved) {
    const x = split.inputs[0]!;
    const rank = sizesOf(x)?.length ?? 0;
    const isHalved = split.outputs.length === 2 && split.outputs[0] === x1 && split.outputs[1] === x2;
    const widths = split.outputs.map((output) => sizesOf(output)?.at(-1));
    const isEven = split.inputs[1] || split.attributes.has("split") ? widths[0] === widths[1] : true;
    return isHalved && isEven && isLastAxis(split, rank) && split.graph === x.graph ? x : null;
  }
  const [one, other] = [producerOf(x1, "Slice", x1.graph), producerOf(x2, "Slice", x1.graph)];
  const x = one?.inputs[0];
  const sizes = sizesOf(x);
  const width = sizes?.at(-1);
  if (!one || !other || !x || other.inputs[0] !== x || !sizes || typeof width !== "number" || width % 2 !== 0)
    return null;
  const [a, b] = [rangeOf(one, sizes.length, width), rangeOf(other, sizes.length, width)];
  const half = width / 2;
  const wanted = isInterleaved ? [`0:${width}:2`, `1:${width}:2`] : [`0:${half}:1`, `${half}:${width}:1`];
  return a === wanted[0] && b === wanted[1] ? x : null;
}

/** `start:end:step` of a Slice along the last axis alone. */
function rangeOf(slice: Node, rank: number, width: number): string | null {
  const read = (input: number, name: string): number[] | null =>
    slice.inputs[input] ? wholeNumbers(slice.inputs[input]) : slice.ints(name);
  const [starts, ends, axes] = [read(1, "starts"), read(2, "ends"), read(3, "axes")];
  const steps = slice.inputs[4] ? wholeNumbers(slice.inputs[4]) : [1];
  if (starts?.length !== 1 || ends?.length !== 1 || axes?.length !== 1 || steps?.length !== 1) return null;
  if (axes[0] !== -1 && axes[0] !== rank - 1) return null;
  const place = (at: number): number => Math.min(Math.max(at < 0 ? at + width : at, 0), width);
  return `${place(starts[0]!)}:${place(ends[0]!)}:${steps[0]}`;
}

/** Integers of a constant; INT64_MAX, which says "to the end", loses its last bits and means the same. */
const wholeNumbers = (value: Value | null | undefined): number[] | null =>
  value?.constant?.bigints()?.map(Number) ?? null;
