/**
 * Sizes of axes where the runtime's shape inference gives up: a number, or the axis of an
 * earlier value that has the same size in every run. Exporters spell the split of [B, S, E]
 * into heads as Reshape(x, [B, S, -1, 32]) with B and S computed at run time; here that is
 * [B, S, E / 32, 32] all the same.
 */
import type { Dim, Node, Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import { constantIntegers, isSameDim, normalizeAxes } from "../../rewrite/match.js";
import type { Axis } from "../fold/axis-origin.js";
import { shapeVectors } from "../fold/shape-vector.js";

/** A symbol is the name that the model has for the size, where it has one. */
export type Size = number | (Axis & { readonly symbol: Dim });

const MAX_DEPTH = 200;

const keepsShape = new Set(
  "Cast Clip Dropout LayerNormalization LogSoftmax RMSNormalization RotaryEmbedding Softmax".split(" "),
);

export const isSameSize = (a: Size | undefined, b: Size | undefined): boolean => {
  if (a === undefined || b === undefined || typeof a === "number" || typeof b === "number") {
    return a !== undefined && a === b;
  }
  return (a.value === b.value && a.axis === b.axis) || isSameDim(a.symbol, b.symbol);
};

/** A question with a memory; valid until the graph changes. Null where even the rank is unknown. */
export function sizesReader(): (value: Value | null | undefined) => readonly Size[] | null {
  const vectorOf = shapeVectors();
  const known = new Map<Value, readonly Size[] | null>();
  const sizesOf = (value: Value | null | undefined, depth: number): readonly Size[] | null => {
    if (!value || depth > MAX_DEPTH) return null;
    const held = known.get(value);
    if (held !== undefined) return held;
    const { shape, producer } = value;
    if (shape?.every((dim) => typeof dim === "number")) return shape as number[];
    const rules: Rules = {
      of: (input) => sizesOf(input, depth + 1),
      elementsOf: (of) => vectorOf(of)?.elements ?? null,
    };
    const isFirst = producer?.outputs[0] === value || producer?.op === "Split";
    const found = producer?.domain === "" && isFirst ? sizesAfter(producer, rules) : null;
    const derived = found && (!shape || found.length === shape.length) ? found : null;
    const sizes = (shape ?? derived)?.map((_, axis): Size => {
      const dim = shape?.[axis] ?? null;
      if (typeof dim === "number") return dim;
      const from = derived?.[axis] ?? { value, axis, symbol: dim };
      return typeof from === "number" ? from : { ...from, symbol: from.symbol ?? dim };
    });
    known.set(value, sizes ?? null);
    return sizes ?? null;
  };
  return (value) => sizesOf(value, 0);
}

interface Rules {
  readonly of: (value: Value | null | undefined) => readonly Size[] | null;
  /** What is known of the elements of a vector of sizes. */
  readonly elementsOf: (value: Value) => readonly (number | { of: Value; axis: number } | null)[] | null;
}

/** Sizes of the first output, null at the axes on which no rule has a word. */
function sizesAfter(node: Node, rules: Rules): readonly (Size | null)[] | null {
  const [a, b] = node.inputs;
  const data = rules.of(a);
  if (familyOf(node) === "broadcasting") return broadcast(node, rules);
  if (!a || !data) return node.op === "Gather" && a && b ? gathered(a, b, node, rules) : null;
  if (familyOf(node) === "unary" || keepsShape.has(node.op)) return data;
  switch (node.op) {
    case "Transpose": {
      const perm = node.ints("perm");
      return perm?.length === data.length ? perm.map((axis) => data[axis] ?? null) : null;
    }
    case "Reshape":
      return reshaped(node, data, rules);
    case "Expand":
      return expanded(b, data, rules);
    case "MatMul": {
      const other = rules.of(b);
      if (!other || data.length < 2 || other.length < 2 || other.length > data.length) return null;
      // A matrix on the right leaves all axes but the last.
      return other.length === 2 ? [...data.slice(0, -1), other[1]!] : batchedProduct(data, other);
    }
    case "Gather":
      return b ? gathered(a, b, node, rules) : null;
    case "GatherND": {
      const tuples = rules.of(b);
      const taken = tuples?.at(-1);
      if (!tuples || typeof taken !== "number" || node.int("batch_dims", 0) !== 0) return null;
      return [...tuples.slice(0, -1), ...data.slice(taken)];
    }
    case "Concat":
    case "Slice":
    case "Split":
      return besides(node, data);
    case "Unsqueeze":
    case "Squeeze": {
      const given = b ? constantIntegers(b) : node.ints("axes");
      const isSqueeze = node.op === "Squeeze";
      const axes = given && normalizeAxes(given, isSqueeze ? data.length : data.length + given.length);
      if (!axes) return null;
      if (isSqueeze) return data.filter((_, axis) => !axes.includes(axis));
      const rest = [...data];
      return Array.from({ length: data.length + axes.length }, (_, axis) => (axes.includes(axis) ? 1 : rest.shift()!));
    }
    case "Attention":
      // [B, S, H * D]: the width is that of the values, times the heads that share them.
      return data.length === 3 ? [data[0]!, data[1]!, null] : null;
    default:
      return null;
  }
}

function broadcast(node: Node, { of }: Rules): readonly (Size | null)[] | null {
  const operands = node.inputs.map(of);
  if (operands.length === 0 || operands.some((sizes) => sizes === null) || node.attributes.has("axis")) return null;
  const rank = Math.max(...operands.map((sizes) => sizes!.length));
  return Array.from({ length: rank }, (_, axis) => {
    const here = operands.flatMap((sizes) => sizes![axis - (rank - sizes!.length)] ?? []).filter((size) => size !== 1);
    const [first = 1, ...others] = here;
    // A number above 1 is the result whatever the others are.
    return (
      here.find((size) => typeof size === "number") ?? (others.every((size) => isSameSize(size, first)) ? first : null)
    );
  });
}

const batchedProduct = (a: readonly Size[], b: readonly Size[]): (Size | null)[] | null =>
  a.length !== b.length
    ? null
    : a.map((size, axis) => {
        if (axis === a.length - 1) return b[axis]!;
        if (axis === a.length - 2 || b[axis] === 1 || isSameSize(size, b[axis])) return size;
        return size === 1 ? b[axis]! : null;
      });

function gathered(data: Value, indices: Value, node: Node, { of }: Rules): readonly (Size | null)[] | null {
  const [rows, at] = [of(data), of(indices)];
  if (!rows || !at || node.int("axis", 0) !== 0) return null;
  return [...at, ...rows.slice(1)];
}

/** Concat, Slice and Split leave all axes but theirs. */
function besides(node: Node, data: readonly Size[]): readonly (Size | null)[] | null {
  const given = node.op === "Slice" ? (constantIntegers(node.inputs[3]) ?? node.ints("axes")) : [node.int("axis", 0)];
  const axes = given && normalizeAxes(given, data.length);
  return axes && data.map((size, axis) => (axes.includes(axis) ? null : size));
}

function expanded(target: Value | null | undefined, data: readonly Size[], rules: Rules): (Size | null)[] | null {
  const elements = target && rules.elementsOf(target);
  if (!elements || elements.length < data.length) return null;
  return elements.map((element, i) => {
    const own = data[i - (elements.length - data.length)] ?? 1;
    if (element === 1 || (typeof own === "number" && own !== 1)) return own;
    const wanted = sizeOf(element, rules);
    return own === 1 || (wanted !== null && isSameSize(own, wanted)) ? wanted : null;
  });
}

function sizeOf(element: number | { of: Value; axis: number } | null, { of }: Rules): Size | null {
  if (element === null || typeof element === "number") return element !== null && element >= 0 ? element : null;
  return of(element.of)?.[element.axis] ?? null;
}

/** What is given, what is copied, and the one size that is left when the others are taken from both sides. */
function reshaped(node: Node, data: readonly Size[], rules: Rules): (Size | null)[] | null {
  const elements = node.inputs[1] ? rules.elementsOf(node.inputs[1]) : null;
  if (!elements) return null;
  const copies = node.int("allowzero", 0) === 0;
  const target = elements.map((element, axis) =>
    element === 0 && copies ? (data[axis] ?? null) : sizeOf(element, rules),
  );
  if (target.filter((size) => size === null).length !== 1) return target;
  const left = [...data];
  const given: Size[] = [];
  for (const size of target) {
    if (size === null) continue;
    const at = left.findIndex((other) => isSameSize(other, size));
    if (at >= 0) left.splice(at, 1);
    else given.push(size);
  }
  const numbers = (sizes: readonly Size[]): number =>
    sizes.reduce((product: number, size) => (typeof size === "number" ? product * size : product), 1);
  const symbols = left.filter((size) => typeof size !== "number");
  const quotient = numbers(left) / numbers(given);
  if (given.some((size) => typeof size !== "number") || !Number.isInteger(quotient)) return target;
  const rest = symbols.length === 0 ? quotient : symbols.length === 1 && quotient === 1 ? symbols[0]! : null;
  return target.map((size) => size ?? rest);
}
