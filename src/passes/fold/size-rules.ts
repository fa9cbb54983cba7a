/** The shape of what an operator makes, from the shapes and the small integers that it reads. */
import type { Node, Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import { givenAxes, normalizeAxes } from "../../rewrite/match.js";
import { permutationOf } from "../layout/permutation.js";
import { imageRules } from "./image-size-rules.js";
import { partRules, withSize } from "./part-size-rules.js";
import type { ShapeVector } from "./shape-vector.js";
import { add, areSame, divide, endOfTable, leastOf, multiply, type Size } from "./size.js";

type MaybeValue = Value | null | undefined;

/** What the rules may ask. */
export interface SizeFacts {
  readonly shapeOf: (value: MaybeValue) => readonly Size[] | null;
  readonly vectorOf: (value: MaybeValue) => ShapeVector | null;
  /** How large sizes with a name are at least in the model that `node` is part of, where that is more than 0. */
  readonly floorsFor: (node: Node) => ReadonlyMap<string, number>;
}

/** A size that no rule knows is null. */
export type PartialShape = readonly (Size | null)[];

export type Rule = (node: Node, facts: SizeFacts, output: number) => PartialShape | null;

/** Operators whose results have the shape of their first input. */
const sameAsFirst = new Set(
  (
    "BatchNormalization Cast CastLike Clip CumSum DequantizeLinear Dropout GroupNormalization Hardmax " +
    "InstanceNormalization IsInf IsNaN LRN LayerNormalization LogSoftmax LpNormalization MeanVarianceNormalization " +
    "QuantizeLinear RMSNormalization RotaryEmbedding ScatterElements ScatterND Softmax Trilu"
  ).split(" "),
);

/** The shape of one output of a node of ai.onnx; null where no rule knows it. */
export function shapeByRule(node: Node, output: number, facts: SizeFacts): PartialShape | null {
  if (node.domain === "com.microsoft") return runtimeShape(node, output, facts);
  if (node.domain !== "") return null;
  const family = familyOf(node);
  if (output === 0 && (family === "unary" || sameAsFirst.has(node.op))) return facts.shapeOf(node.inputs[0]);
  if (output === 0 && family === "broadcasting") return node.attributes.has("axis") ? null : broadcast(node, facts);
  if (output === 0 && node.op.startsWith("Reduce")) return reduced(node, facts);
  const rule = Object.hasOwn(rules, node.op) ? rules[node.op]! : null;
  return rule && (output === 0 || manyOutputs.has(node.op)) ? rule(node, facts, output) : null;
}

/** Of ONNX Runtime's own operators, which the runtime-specific passes make. */
function runtimeShape(node: Node, output: number, facts: SizeFacts): PartialShape | null {
  // The fourth output of the normalizations is the sum that they normalize.
  const isSum = output === 3 && node.op.startsWith("Skip");
  if (isSum || (output === 0 && sameAsFirstInRuntime.has(node.op))) return facts.shapeOf(node.inputs[0]);
  if (output !== 0) return null;
  if (node.op === "FusedConv") return rules["Conv"]!(node, facts, output);
  return node.op === "FusedGemm" ? gemm(node, facts, output) : null;
}

const sameAsFirstInRuntime = new Set(
  "BiasGelu FastGelu Gelu QuickGelu SkipLayerNormalization SkipSimplifiedLayerNormalization".split(" "),
);

const manyOutputs = new Set(["Split", "TopK"]);

function broadcast(node: Node, { shapeOf }: SizeFacts): PartialShape | null {
  const shapes = node.inputs.map(shapeOf);
  if (shapes.some((shape) => shape === null)) return null;
  const rank = Math.max(...shapes.map((shape) => shape!.length));
  return Array.from({ length: rank }, (_, axis) => {
    const sizes = shapes.flatMap((shape) => {
      const at = axis - (rank - shape!.length);
      return at < 0 || shape![at] === 1 ? [] : [shape![at]!];
    });
    return broadcastSize(sizes);
  });
}

/** Of sizes that are not 1: a number says it all, since the others are that or 1. */
function broadcastSize(sizes: readonly Size[]): Size | null {
  const [first, ...others] = sizes;
  if (first === undefined) return 1;
  if (sizes.some((size) => typeof size === "number" && size < 0)) return null;
  const known = sizes.find((size) => typeof size === "number");
  if (known !== undefined) return known;
  // Beside axes of size n, the first n elements of a table are all n of them, or there is no result.
  const [whole, ...more] = sizes.filter((size) => !sizes.some((other) => areSame(endOfTable(size), other)));
  const same = whole === undefined ? [first, ...others] : [whole, ...more];
  return same.every((size) => areSame(size, same[0])) ? same[0]! : null;
}

function reduced(node: Node, { shapeOf }: SizeFacts): PartialShape | null {
  const shape = shapeOf(node.inputs[0]);
  const keeps = node.int("keepdims", 1) === 1;
  if (!shape) return null;
  const isGiven = node.inputs[1] || node.attributes.has("axes");
  const given = givenAxes(node);
  if (isGiven && !given) return keeps ? shape.map(() => null) : null;
  if (!given || given.length === 0) {
    if (node.int("noop_with_empty_axes", 0) !== 0) return shape;
    return keeps ? shape.map(() => 1) : [];
  }
  return withoutAxes(shape, given, keeps);
}

function withoutAxes(shape: readonly Size[], given: readonly number[], keeps: boolean): PartialShape | null {
  const axes = normalizeAxes(given, shape.length);
  if (!axes) return null;
  return shape.flatMap((size, axis) => (axes.includes(axis) ? (keeps ? [1] : []) : [size]));
}

const argReduced: Rule = (node, { shapeOf }) => {
  const shape = shapeOf(node.inputs[0]);
  return shape && withoutAxes(shape, [node.int("axis", 0)], node.int("keepdims", 1) === 1);
};

const concat: Rule = (node, { shapeOf }) => {
  const shapes = node.inputs.map(shapeOf);
  const [first] = shapes;
  const axis = node.int("axis", 0);
  if (!first || shapes.some((shape) => shape?.length !== first.length)) return null;
  const at = axis < 0 ? axis + first.length : axis;
  return first.map((_, i) => {
    const sizes = shapes.map((shape) => shape![i]!);
    // Apart from the axis, all are the same: the one that says most.
    if (i !== at) return sizes.find((size) => typeof size === "number") ?? sizes[0]!;
    return sizes.reduce<Size | null>((sum, size) => (sum === null ? null : add(sum, size)), 0);
  });
};

const gather: Rule = (node, { shapeOf }) => {
  const [data, indices] = [shapeOf(node.inputs[0]), shapeOf(node.inputs[1])];
  if (!data || !indices) return null;
  const axis = node.int("axis", 0);
  const at = axis < 0 ? axis + data.length : axis;
  return [...data.slice(0, at), ...indices, ...data.slice(at + 1)];
};

const matMul: Rule = (node, { shapeOf }) => {
  const [a, b] = [shapeOf(node.inputs[0]), shapeOf(node.inputs[1])];
  if (!a || !b || a.length < 2 || b.length < 2) return null;
  const [batch, other] = [a.slice(0, -2), b.slice(0, -2)];
  const rank = Math.max(batch.length, other.length);
  const at = (shape: readonly Size[], axis: number): Size[] => {
    const size = shape[axis - (rank - shape.length)];
    return size === undefined || size === 1 ? [] : [size];
  };
  const outer = Array.from({ length: rank }, (_, axis) => broadcastSize([...at(batch, axis), ...at(other, axis)]));
  return [...outer, a.at(-2)!, b.at(-1)!];
};

const gemm: Rule = (node, { shapeOf }) => {
  const [a, b] = [shapeOf(node.inputs[0]), shapeOf(node.inputs[1])];
  if (a?.length !== 2 || b?.length !== 2) return null;
  return [a[node.int("transA", 0) ? 1 : 0]!, b[node.int("transB", 0) ? 0 : 1]!];
};

const reshape: Rule = (node, facts) => {
  const data = facts.shapeOf(node.inputs[0]);
  const target = facts.vectorOf(node.inputs[1]);
  if (target?.rank !== 1) return null;
  const sizes = target.elements.map((size, axis) =>
    size === 0 && node.int("allowzero", 0) === 0 ? (data?.[axis] ?? null) : size,
  );
  const at = sizes.indexOf(-1);
  if (at < 0) return sizes;
  const product = (all: readonly (Size | null)[]): Size | null =>
    all.reduce((total, size) => (total === null || size === null ? null : multiply(total, size)), 1);
  const [total, others] = [data && product(data), product(sizes.filter((_, axis) => axis !== at))];
  const rest = total == null || others === null || others === 0 ? null : divide(total, others);
  return sizes.map((size, axis) => (axis === at ? rest : size));
};

const flatten: Rule = (node, { shapeOf }) => {
  const shape = shapeOf(node.inputs[0]);
  if (!shape) return null;
  const axis = node.int("axis", 1);
  const at = axis < 0 ? axis + shape.length : axis;
  const product = (sizes: readonly Size[]): Size | null =>
    sizes.reduce<Size | null>((total, size) => (total === null ? null : multiply(total, size)), 1);
  return [product(shape.slice(0, at)), product(shape.slice(at))];
};

const squeeze: Rule = (node, { shapeOf }) => {
  const shape = shapeOf(node.inputs[0]);
  const given = givenAxes(node);
  return shape && given && withoutAxes(shape, given, false);
};

const unsqueeze: Rule = (node, { shapeOf }) => {
  const shape = shapeOf(node.inputs[0]);
  const given = givenAxes(node);
  const axes = shape && given && normalizeAxes(given, shape.length + given.length);
  if (!axes) return null;
  const rest = [...shape];
  return Array.from({ length: shape.length + axes.length }, (_, axis) => (axes.includes(axis) ? 1 : rest.shift()!));
};

const expand: Rule = (node, { shapeOf, vectorOf }) => {
  const [shape, target] = [shapeOf(node.inputs[0]), vectorOf(node.inputs[1])];
  if (!shape || target?.rank !== 1) return null;
  const rank = Math.max(shape.length, target.elements.length);
  return Array.from({ length: rank }, (_, axis) => {
    const own = shape[axis - (rank - shape.length)] ?? 1;
    const wanted = axis < rank - target.elements.length ? 1 : target.elements[axis - (rank - target.elements.length)]!;
    if (wanted === null) return typeof own === "number" && own !== 1 ? own : null;
    return broadcastSize([own, wanted].filter((size) => size !== 1));
  });
};

const rules: Readonly<Record<string, Rule>> = {
  ...imageRules,
  ...partRules,
  ArgMax: argReduced,
  ArgMin: argReduced,
  Concat: concat,
  ConstantOfShape: (node, { vectorOf }) => vectorOf(node.inputs[0])?.elements ?? null,
  Expand: expand,
  // Without a cache, as wide as the values of all heads.
  Attention: (node, { shapeOf }) => {
    const shape = shapeOf(node.inputs[0]);
    const values = shapeOf(node.inputs[2]);
    if (!shape || !values) return null;
    if (shape.length === 4) return [...shape.slice(0, 3), values[3] ?? null];
    const all = values[2] ? multiply(values[2], node.int("q_num_heads", 1)) : null;
    return [shape[0]!, shape[1]!, all && divide(all, node.int("kv_num_heads", 1))];
  },
  Flatten: flatten,
  Gather: gather,
  GatherElements: (node, { shapeOf }) => shapeOf(node.inputs[1]),
  GatherND: (node, { shapeOf }) => {
    const [data, tuples] = [shapeOf(node.inputs[0]), shapeOf(node.inputs[1])];
    const taken = tuples?.at(-1);
    if (!data || !tuples || typeof taken !== "number" || node.int("batch_dims", 0) !== 0) return null;
    return [...tuples.slice(0, -1), ...data.slice(taken)];
  },
  Gemm: gemm,
  MatMul: matMul,
  Range: (node, { vectorOf, floorsFor }) => {
    const [start, limit, delta] = node.inputs.map((input) => vectorOf(input)?.elements[0] ?? null);
    const isCount = start === 0 && delta === 1 && limit != null && (leastOf(limit, floorsFor(node)) ?? -1) >= 0;
    return isCount ? [limit] : null;
  },
  Reshape: reshape,
  Shape: (node, { vectorOf }) => {
    const count = vectorOf(node.output)?.elements.length;
    return count === undefined ? null : [count];
  },
  Squeeze: squeeze,
  TopK: (node, { shapeOf, vectorOf }) => {
    const shape = shapeOf(node.inputs[0]);
    return shape && withSize(shape, node.int("axis", -1), vectorOf(node.inputs[1])?.elements[0] ?? null);
  },
  Transpose: (node, { shapeOf }) => {
    const shape = shapeOf(node.inputs[0]);
    const perm = shape && permutationOf(node);
    return perm?.length === shape?.length ? (perm?.map((axis) => shape![axis]!) ?? null) : null;
  },
  Unsqueeze: unsqueeze,
};
