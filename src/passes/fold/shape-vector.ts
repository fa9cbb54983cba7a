/**
 * Arithmetic on shapes, exact and symbolic: what is known of a small integer vector
 * that was computed from the shapes of other tensors.
 */
import { dtypeOfCode, type Node, type Value } from "../../ir/index.js";
import { constantIntegers, givenAxes } from "../../rewrite/match.js";
import { add, areSame, derived, divide, isNonNegative, multiply, type Size, subtract } from "./size.js";
import type { SizeFacts } from "./size-rules.js";

/** One element; null when it is not known. */
export type Element = Size | null;

/** A scalar has rank 0 and one element. */
export interface ShapeVector {
  readonly rank: 0 | 1;
  readonly dtype: "i64" | "i32" | "bool";
  readonly elements: readonly Element[];
}

const MAX_ELEMENTS = 64;

type Rule = (
  node: Node,
  of: (value: Value | null | undefined) => ShapeVector | null,
  facts: SizeFacts,
  output: number,
) => ShapeVector | null;

const arithmetic =
  (apply: (a: Element, b: Element) => Element, result?: "bool"): Rule =>
  (node, of) => {
    const [a, b] = [of(node.inputs[0]), of(node.inputs[1])];
    if (!a || !b || node.inputs.length !== 2 || node.attributes.has("axis")) return null;
    const count = a.elements.length === 1 ? b.elements.length : a.elements.length;
    if (![1, count].includes(b.elements.length) || a.dtype !== b.dtype) return null;
    const at = ({ elements }: ShapeVector, i: number): Element => elements[elements.length === 1 ? 0 : i]!;
    const elements = Array.from({ length: count }, (_, i) => inRange(apply(at(a, i), at(b, i)), a.dtype));
    return { rank: a.rank || b.rank ? 1 : 0, dtype: result ?? a.dtype, elements };
  };

const sameAsInput: Rule = (node, of) => of(node.inputs[0]);

const rules: Readonly<Record<string, Rule>> = {
  Identity: sameAsInput,
  Shape: (node, _, { shapeOf }) => {
    const shape = shapeOf(node.inputs[0]);
    return shape && vector("i64", shape.slice(node.int("start", 0), node.int("end", shape.length)));
  },
  Size: (node, _, { shapeOf }) => {
    const shape = shapeOf(node.inputs[0]);
    return shape && scalar("i64", product(shape));
  },
  Gather: (node, of) => {
    const data = of(node.inputs[0]);
    const indices = of(node.inputs[1]);
    if (data?.rank !== 1 || !indices || node.int("axis", 0) !== 0) return null;
    const count = data.elements.length;
    const elements = indices.elements.map((index): Element | undefined =>
      typeof index === "number" ? data.elements[index < 0 ? index + count : index] : null,
    );
    return elements.includes(undefined) ? null : { ...data, rank: indices.rank, elements: elements as Element[] };
  },
  Slice: (node, of) => {
    const data = of(node.inputs[0]);
    const read = (input: number, name: string, absent: number | null): number | null => {
      const value = node.inputs[input];
      if (!value) return node.ints(name)?.[0] ?? absent;
      const numbers = value.constant?.bigints();
      if (numbers?.length === 1) return clampToInt32(numbers[0]!);
      const only = of(value)?.elements;
      return only?.length === 1 && typeof only[0] === "number" ? only[0] : null;
    };
    if (data?.rank !== 1) return null;
    const [start, end, step] = [read(1, "starts", null), read(2, "ends", null), read(4, "steps", 1)];
    const axis = read(3, "axes", 0);
    if (start === null || end === null || step !== 1 || (axis !== 0 && axis !== -1)) return null;
    return vector(data.dtype, data.elements.slice(start, end));
  },
  Concat: (node, of) => {
    const parts = node.inputs.map(of);
    const dtype = parts[0]?.dtype;
    if (!dtype || parts.some((part) => part?.rank !== 1 || part.dtype !== dtype)) return null;
    return vector(
      dtype,
      parts.flatMap((part) => part!.elements),
    );
  },
  Squeeze: (node, of) => {
    const data = of(node.inputs[0]);
    return data?.elements.length === 1 ? { ...data, rank: 0 } : null;
  },
  Unsqueeze: (node, of) => {
    const data = of(node.inputs[0]);
    const axes = givenAxes(node);
    return data?.rank === 0 && axes?.length === 1 ? { ...data, rank: 1 } : null;
  },
  Reshape: (node, of) => {
    const shape = constantIntegers(node.inputs[1]);
    const data = of(node.inputs[0]) ?? swappedPairs(node.inputs[0], of);
    if (!data || !shape || shape.length > 1 || shape[0] === 0) return null;
    if (shape.length === 0 && data.elements.length !== 1) return null;
    return { ...data, rank: shape.length as 0 | 1 };
  },
  Cast: (node, of) => {
    const data = of(node.inputs[0]);
    const to = dtypeOfCode(node.int("to", 0));
    if (!data || (to !== "i64" && to !== "i32") || !data.elements.every((e) => e === null || inRange(e, to) !== null))
      return null;
    return { ...data, dtype: to };
  },
  Add: arithmetic((a, b) => both(a, b, add)),
  Sub: arithmetic((a, b) => both(a, b, subtract)),
  Mul: arithmetic((a, b) => (a === 0 || b === 0 ? 0 : both(a, b, multiply))),
  // Division of integers rounds towards zero.
  Div: (node, of, facts, output) => {
    const floors = facts.floorsFor(node);
    const quotient = (a: Size, b: Size): Size | null =>
      divide(a, b, true, floors) ?? (b === 0 ? null : derived("quotient", a, b));
    return arithmetic((a, b) => both(a, b, quotient))(node, of, facts, output);
  },
  Mod: arithmetic((a, b) => numbers(a, b, (x, y) => (x >= 0 && y > 0 ? x % y : null))),
  Max: arithmetic(
    (a, b) => numbers(a, b, Math.max) ?? both(a, b, (x, y) => (areSame(x, y) ? x : derived("max", x, y))),
  ),
  Min: arithmetic(
    (a, b) => numbers(a, b, Math.min) ?? both(a, b, (x, y) => (areSame(x, y) ? x : derived("min", x, y))),
  ),
  Equal: arithmetic(areEqual, "bool"),
  ConstantOfShape: (node, of) => {
    const value = node.attributes.get("value");
    const [element] = (value?.type === "tensor" && value.value.integers()) || [];
    const [count, ...more] = of(node.inputs[0])?.elements ?? [];
    if (value?.type !== "tensor" || value.value.dtype !== "i64" || element === undefined) return null;
    if (typeof count !== "number" || more.length > 0 || count < 0 || count > MAX_ELEMENTS) return null;
    return vector("i64", Array<number>(count).fill(element));
  },
  Where: (node, of) => {
    const [condition, a, b] = [of(node.inputs[0]), of(node.inputs[1]), of(node.inputs[2])];
    if (!condition || !a || !b || a.dtype !== b.dtype) return null;
    const count = Math.max(...[condition, a, b].map(({ elements }) => elements.length));
    if ([condition, a, b].some(({ elements }) => elements.length !== 1 && elements.length !== count)) return null;
    const at = ({ elements }: ShapeVector, i: number): Element => elements[elements.length === 1 ? 0 : i]!;
    const elements = Array.from({ length: count }, (_, i): Element => {
      const chosen = at(condition, i);
      return chosen === 1 ? at(a, i) : chosen === 0 ? at(b, i) : null;
    });
    return { rank: condition.rank || a.rank || b.rank ? 1 : 0, dtype: a.dtype, elements };
  },
  Split: (node, of, _, output) => {
    const data = of(node.inputs[0]);
    if (data?.rank !== 1) return null;
    const count = node.outputs.length;
    const given = node.inputs[1] ? constantIntegers(node.inputs[1]) : node.ints("split");
    if (!given && (node.inputs[1] || data.elements.length % count !== 0)) return null;
    const sizes = given ?? Array<number>(count).fill(data.elements.length / count);
    const start = sizes.slice(0, output).reduce((sum, size) => sum + size, 0);
    return { ...data, elements: data.elements.slice(start, start + sizes[output]!) };
  },
  ReduceProd: (node, of) => {
    const data = of(node.inputs[0]);
    if (data?.rank !== 1) return null;
    // Without axes it reduces all of them, unless it is told not to.
    if (node.int("noop_with_empty_axes", 0) !== 0) return null;
    const all = inRange(product(data.elements), data.dtype);
    return { ...data, rank: node.int("keepdims", 1) === 1 ? 1 : 0, elements: [all] };
  },
};

export const shapeOps: readonly string[] = Object.keys(rules);

/**
 * Pairs [a, b, c, d, ...] as all firsts and then all seconds, last pair first: so exporters turn the
 * padding that PyTorch counts from the last axis into that of ONNX.
 *
 *   Transpose(Slice(Reshape(v, [-1, 2]), backwards))
 */
function swappedPairs(
  value: Value | null | undefined,
  of: (value: Value | null | undefined) => ShapeVector | null,
): ShapeVector | null {
  const transpose = value?.producer;
  const slice = transpose?.is("Transpose") ? transpose.inputs[0]?.producer : null;
  const pairs = slice?.is("Slice") ? slice.inputs[0]?.producer : null;
  const vector = pairs?.is("Reshape") ? of(pairs.inputs[0]) : null;
  const perm = transpose?.ints("perm") ?? [1, 0];
  if (!slice || !pairs || vector?.rank !== 1 || perm.join() !== "1,0") return null;
  const { elements } = vector;
  const shape = constantIntegers(pairs.inputs[1]);
  if (shape?.length !== 2 || shape[0] !== -1 || shape[1] !== 2 || elements.length % 2 !== 0) return null;
  const read = (input: number): bigint | null => {
    const numbers = slice.inputs[input]?.constant?.bigints();
    return numbers?.length === 1 ? numbers[0]! : null;
  };
  const [start, end, axis, step] = [read(1), read(2), read(3), read(4)];
  if (start !== -1n || end === null || end > -BigInt(elements.length) || axis !== 0n || step !== -1n) return null;
  const rows = Array.from({ length: elements.length / 2 }, (_, i) => elements.slice(2 * i, 2 * i + 2)).reverse();
  return { ...vector, elements: [...rows.map(([first]) => first!), ...rows.map(([, second]) => second!)] };
}

/** What output `output` of a node of ai.onnx is; null where no rule knows it. */
export function vectorByRule(node: Node, output: number, facts: SizeFacts): ShapeVector | null {
  if (node.domain !== "" || (output > 0 && node.op !== "Split")) return null;
  const result = Object.hasOwn(rules, node.op) ? rules[node.op]!(node, facts.vectorOf, facts, output) : null;
  return result && result.elements.length <= MAX_ELEMENTS ? result : null;
}

export function vectorOfConstant(value: Value): ShapeVector | null {
  const tensor = value.constant!;
  const { dtype, dims } = tensor;
  if ((dtype !== "i64" && dtype !== "i32" && dtype !== "bool") || dims.length > 1 || tensor.elementCount > MAX_ELEMENTS)
    return null;
  const elements = tensor.integers();
  return elements && { rank: dims.length as 0 | 1, dtype, elements };
}

const vector = (dtype: ShapeVector["dtype"], elements: readonly Element[]): ShapeVector => ({
  rank: 1,
  dtype,
  elements,
});
const scalar = (dtype: ShapeVector["dtype"], element: Element): ShapeVector => ({
  rank: 0,
  dtype,
  elements: [element],
});

function numbers(a: Element, b: Element, apply: (a: number, b: number) => number | null): Element {
  return typeof a === "number" && typeof b === "number" ? apply(a, b) : null;
}

function both(a: Element, b: Element, apply: (a: Size, b: Size) => Size | null): Element {
  return a === null || b === null ? null : apply(a, b);
}

const product = (elements: readonly Element[]): Element =>
  elements.reduce((all, size) => (all === 0 || size === 0 ? 0 : both(all, size, multiply)), 1);

function areEqual(a: Element, b: Element): Element {
  if (typeof a === "number" && typeof b === "number") return a === b ? 1 : 0;
  if (areSame(a, b)) return 1;
  // A size is never negative.
  const isOther = (size: Element, number: Element): boolean =>
    size !== null && typeof number === "number" && number < 0 && isNonNegative(size);
  return isOther(a, b) || isOther(b, a) ? 0 : null;
}

/** Results that would wrap around are not ours to tell. */
function inRange(element: Element, dtype: ShapeVector["dtype"]): Element {
  if (typeof element !== "number") return element;
  const limit = dtype === "i64" ? Number.MAX_SAFE_INTEGER : 2 ** 31 - 1;
  return Math.abs(element) <= limit ? element : null;
}

export const clampToInt32 = (value: bigint): number =>
  Number(value > 2n ** 31n - 1n ? 2n ** 31n - 1n : value < -(2n ** 31n) ? -(2n ** 31n) : value);
