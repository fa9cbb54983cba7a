/**
 * How to make a node of each operator: loosely, with odd attributes now and then. The runtime has the last word on
 * whether it is valid (graph-builder.ts), so a maker may guess, and answers null when nothing fits.
 */
import { type Attribute, attr, type DType, Graph, Tensor, type Value } from "../../src/ir/index.js";
import type { Chance } from "./chance.js";
import { furtherMakers } from "./further-operators.js";
import { type GraphBuilder, type Known, type NodeSpec, rankOf, staticDims } from "./graph-builder.js";
import { rareMakers } from "./rare-operators.js";
import { randomTensor } from "./session.js";

export type Maker = (b: GraphBuilder) => NodeSpec | null;

const isReal = ({ dtype }: Known): boolean => dtype === "f32" || dtype === "f16" || dtype === "f64";

/** A value to read; later ones more often, so that graphs become deep. */
function choose(b: GraphBuilder, fits: (known: Known) => boolean): Known | null {
  const list = b.known.filter(fits);
  if (list.length === 0) return null;
  const late = list.slice(-3);
  return b.chance.pick(b.chance.one(0.6) ? late : list);
}

const real = (b: GraphBuilder, least = 0): Known | null => choose(b, (k) => isReal(k) && rankOf(k) >= least);
const any = (b: GraphBuilder, least = 0): Known | null => choose(b, (k) => rankOf(k) >= least);
const ofType = (b: GraphBuilder, dtype: DType): Known | null => choose(b, (k) => k.dtype === dtype);

/** The same axis, now and then counted from the back, which most operators allow since opset 11. */
const fromBack = (b: GraphBuilder, axis: number, rank: number): number =>
  b.opset >= 11 && b.chance.one(0.3) ? axis - rank : axis;

const axisOf = (b: GraphBuilder, rank: number): number => fromBack(b, b.chance.below(Math.max(rank, 1)), rank);

const specials = [0, 1, -1, 2, 0.5, 3, 6, 1e-5, 0.044715, 1.702, 0.7978845608028654, Math.SQRT1_2, Math.SQRT2];

function scalarLike(b: GraphBuilder, dtype: DType, dims: readonly number[]): Value {
  const value = b.chance.pick(specials);
  if (dtype === "f32") return b.constant(Tensor.f32(dims, [value]));
  if (dtype === "i64") return b.constant(Tensor.i64(dims, [Math.round(value)]));
  return b.constant(randomTensor(dtype, dims, b.chance.random));
}

/** Something that broadcasts with a value: itself, another value, or a constant of like shape. */
function partner(b: GraphBuilder, known: Known): Value {
  const { chance } = b;
  if (chance.one(0.3)) {
    const other = choose(b, (k) => k.dtype === known.dtype && broadcasts(k, known));
    if (other) return other.value;
  }
  if (chance.one(0.3))
    return scalarLike(b, known.dtype, chance.one(0.5) ? [] : Array(chance.between(1, rankOf(known) || 1)).fill(1));
  const dims = staticDims(known).map((dim) => (dim === null || chance.one(0.3) ? 1 : dim));
  const cut = chance.one(0.4) ? chance.below(dims.length + 1) : 0;
  const widened = chance.one(0.08) ? [chance.between(1, 2), ...dims] : dims.slice(cut);
  return b.constant(randomTensor(known.dtype, widened, chance.random));
}

const broadcasts = (a: Known, b: Known): boolean =>
  a.dims.every((dims, run) => {
    const other = b.dims[run]!;
    return dims.every((dim, i) => {
      const with_ = other[other.length - dims.length + i];
      return with_ === undefined || with_ === 1 || dim === 1 || with_ === dim;
    });
  });

const some = (
  chance: Chance,
  attributes: Record<string, () => Attribute>,
  probability = 0.5,
): Record<string, Attribute> =>
  Object.fromEntries(
    Object.entries(attributes)
      .filter(() => chance.one(probability))
      .map(([name, make]) => [name, make()]),
  );

const unary =
  (op: string, attributes?: (chance: Chance) => Record<string, Attribute>): Maker =>
  (b) => {
    const x = real(b);
    return x && { op, inputs: [x.value], attributes: attributes?.(b.chance) ?? {} };
  };

const alpha = (chance: Chance) =>
  some(chance, { alpha: () => attr.float(chance.pick([0, 0.1, 0.2, 1, 1.702, 1 / 6])) });

const binary =
  (op: string): Maker =>
  (b) => {
    const x = choose(b, (k) => isReal(k) || k.dtype === "i64");
    if (!x) return null;
    const inputs = [x.value, partner(b, x)];
    return { op, inputs: b.chance.one(0.35) ? inputs.reverse() : inputs };
  };

const logical =
  (op: string): Maker =>
  (b) => {
    const x = ofType(b, "bool");
    return x && { op, inputs: [x.value, partner(b, x)] };
  };

const variadic =
  (op: string): Maker =>
  (b) => {
    const x = real(b);
    if (!x) return null;
    const rest = Array.from({ length: b.chance.below(3) }, () => partner(b, x));
    return { op, inputs: b.chance.shuffled([x.value, ...rest]) };
  };

const reduction =
  (op: string, inputSince = 18): Maker =>
  (b) => {
    const x = real(b);
    if (!x) return null;
    const { chance } = b;
    const rank = rankOf(x);
    const axes = chance
      .shuffled(Array.from({ length: rank }, (_, i) => i))
      .slice(0, chance.between(0, Math.min(rank, 3)))
      .map((axis) => fromBack(b, axis, rank));
    const attributes: Record<string, Attribute> = some(chance, { keepdims: () => attr.int(chance.below(2)) }, 0.7);
    if (b.opset >= inputSince) {
      if (chance.one(0.15)) attributes["noop_with_empty_axes"] = attr.int(1);
      return { op, inputs: axes.length > 0 || chance.one(0.3) ? [x.value, b.ints(axes)] : [x.value], attributes };
    }
    if (axes.length > 0) attributes["axes"] = attr.ints(axes);
    return { op, inputs: [x.value], attributes };
  };

const onAxis =
  (op: string): Maker =>
  (b) => {
    const x = real(b, 1);
    if (!x) return null;
    return {
      op,
      inputs: [x.value],
      attributes: some(b.chance, { axis: () => attr.int(axisOf(b, rankOf(x))) }, 0.8),
    };
  };

/** Axes as an input since 13, as an attribute before. */
function withAxes(b: GraphBuilder, op: string, x: Value, axes: readonly number[]): NodeSpec {
  return b.opset >= 13 ? { op, inputs: [x, b.ints(axes)] } : { op, inputs: [x], attributes: { axes: attr.ints(axes) } };
}

const windowAttributes = (chance: Chance, spatial: number, kernel: readonly number[]): Record<string, Attribute> => {
  const list = (low: number, high: number): Attribute =>
    attr.ints(Array.from({ length: spatial }, () => chance.between(low, high)));
  const attributes: Record<string, Attribute> = {
    ...(chance.one(0.8) && { kernel_shape: attr.ints(kernel) }),
    ...some(chance, { strides: () => list(1, 2), dilations: () => list(1, 2) }, 0.35),
  };
  // The runtime infers a wrong shape for SAME with dilations.
  if (chance.one(0.25) && !attributes["dilations"])
    attributes["auto_pad"] = attr.string(chance.pick(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"]));
  else if (chance.one(0.5)) {
    attributes["pads"] = attr.ints(Array.from({ length: 2 * spatial }, () => chance.between(0, 1)));
  }
  return attributes;
};

const convolution =
  (op: "Conv" | "ConvTranspose"): Maker =>
  (b) => {
    const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) >= 3 && rankOf(k) <= 5 && staticDims(k)[1] !== null);
    if (!x) return null;
    const { chance } = b;
    const channels = staticDims(x)[1]!;
    const group = chance.one(0.3) ? chance.pick([1, channels, 2].filter((g) => g > 0 && channels % g === 0)) : 1;
    const outputs = group * chance.between(1, 3);
    const kernel = Array.from({ length: rankOf(x) - 2 }, () => chance.pick([1, 1, 2, 3]));
    const dims = op === "Conv" ? [outputs, channels / group, ...kernel] : [channels, outputs / group, ...kernel];
    const attributes = windowAttributes(chance, kernel.length, kernel);
    if (group !== 1 || chance.one(0.1)) attributes["group"] = attr.int(group);
    if (op === "ConvTranspose" && chance.one(0.2)) attributes["output_padding"] = attr.ints(kernel.map(() => 1));
    return { op, inputs: [x.value, b.floats(dims), ...(chance.one(0.5) ? [b.floats([outputs])] : [])], attributes };
  };

const pool =
  (op: string): Maker =>
  (b) => {
    const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) >= 3 && rankOf(k) <= 5);
    if (!x) return null;
    const { chance } = b;
    // What a window larger than its tensor gives is nowhere said, and an open axis may have one element.
    const widest = staticDims(x).slice(2);
    const kernel = widest.map((size) => chance.between(1, Math.max(1, Math.min(3, size ?? 1))));
    const attributes = windowAttributes(chance, kernel.length, kernel);
    attributes["kernel_shape"] = attr.ints(kernel);
    if (op === "AveragePool" && b.opset < 19) delete attributes["dilations"];
    if (b.opset >= 10 && chance.one(0.2)) attributes["ceil_mode"] = attr.int(1);
    if (op === "AveragePool" && chance.one(0.3)) attributes["count_include_pad"] = attr.int(1);
    return { op, inputs: [x.value], attributes, outputs: op === "MaxPool" && chance.one(0.15) ? 2 : 1 };
  };

const globalPool =
  (op: string): Maker =>
  (b) => {
    const x = real(b, 3);
    return x && { op, inputs: [x.value] };
  };

/** A body of one or two nodes that read what lies around it. */
function captureBody(b: GraphBuilder, x: Known): Graph {
  const { chance } = b;
  const body = new Graph();
  let at = x.value;
  const steps = chance.between(1, 3);
  for (let i = 0; i < steps; i++) {
    const label = b.label();
    const op = chance.pick(["Relu", "Neg", "Identity", "Add", "Mul", "Sub"]);
    const inputs = ["Add", "Mul", "Sub"].includes(op)
      ? [at, body.addConstant(`${label}_c`, randomTensor("f32", [], chance.random))]
      : [at];
    at = body.addNode({ op, inputs, outputs: [{ label }] }).output;
  }
  body.addOutput(`${b.label()}_out`, at);
  return body;
}

const makeIf: Maker = (b) => {
  const x = choose(b, (k) => k.dtype === "f32");
  if (!x) return null;
  const condition = ofType(b, "bool");
  const isScalar = condition?.dims.every((dims) => dims.length === 0);
  const test =
    condition && isScalar && b.chance.one(0.7)
      ? condition.value
      : b.constant(randomTensor("bool", [], b.chance.random));
  const attributes = { then_branch: attr.graph(captureBody(b, x)), else_branch: attr.graph(captureBody(b, x)) };
  return { op: "If", inputs: [test], attributes };
};

const makeLoop: Maker = (b) => {
  const x = choose(b, (k) => k.dtype === "f32");
  if (!x) return null;
  const { chance } = b;
  const body = new Graph();
  body.addInput(b.label(), { dtype: "i64", shape: [] });
  const condition = body.addInput(b.label(), { dtype: "bool", shape: [] });
  const carried = body.addInput(b.label(), { dtype: "f32", shape: null });
  const onward = body.addNode({ op: "Identity", inputs: [condition], outputs: [{ label: b.label() }] }).output;
  const half = body.addConstant(b.label(), Tensor.f32([], [0.5]));
  const scaled = body.addNode({ op: "Mul", inputs: [carried, half], outputs: [{ label: b.label() }] }).output;
  const next = body.addNode({ op: "Add", inputs: [scaled, x.value], outputs: [{ label: b.label() }] }).output;
  body.addOutput(b.label(), onward);
  body.addOutput(b.label(), next);
  const scans = chance.one(0.4);
  if (scans) body.addOutput(b.label(), scaled);
  const trips = b.constant(Tensor.i64([], [chance.between(0, 3)]));
  const start = chance.one(0.5) ? b.constant(Tensor.ofArray("bool", [], Uint8Array.of(chance.below(2)))) : null;
  return {
    op: "Loop",
    inputs: [trips, start, x.value],
    attributes: { body: attr.graph(body) },
    outputs: scans ? 2 : 1,
  };
};

const makeReshape: Maker = (b) => {
  const x = any(b);
  if (!x) return null;
  const { chance } = b;
  const dims = staticDims(x);
  const rank = dims.length;
  const target: number[] = [];
  const style = chance.below(4);
  if (style === 0) target.push(-1);
  else if (style === 1)
    target.push(...dims.map((dim, i) => (dim === null || chance.one(0.3) ? (i === 0 ? 0 : -1) : dim)));
  else if (style === 2)
    target.push(...dims.map((dim, i) => dim ?? (i < rank ? 0 : -1)), ...(chance.one(0.5) ? [1] : []));
  else {
    const keep = chance.below(rank + 1);
    target.push(...Array(keep).fill(0), -1, ...(chance.one(0.4) ? [1] : []));
    const last = dims.at(-1);
    if (last && last % 2 === 0 && chance.one(0.5)) target.push(2);
  }
  const attributes = b.opset >= 14 && chance.one(0.08) ? { allowzero: attr.int(1) } : {};
  return { op: "Reshape", inputs: [x.value, b.ints(target)], attributes };
};

const makeSlice: Maker = (b) => {
  const x = any(b, 1);
  if (!x) return null;
  const { chance } = b;
  const rank = rankOf(x);
  const axes = chance
    .shuffled(Array.from({ length: rank }, (_, i) => i))
    .slice(0, chance.between(1, Math.min(rank, 2)));
  const starts = axes.map(() => chance.pick([0, 0, 1, -1, -2]));
  const ends = axes.map(() => chance.pick([1, 2, -1, 2147483647, 9e15, -1000]));
  if (b.opset < 10) {
    return {
      op: "Slice",
      inputs: [x.value],
      attributes: { axes: attr.ints(axes), starts: attr.ints(starts), ends: attr.ints(ends) },
    };
  }
  const isFirst = axes.every((axis, i) => axis === i);
  const inputs: (Value | null)[] = [x.value, b.ints(starts), b.ints(ends)];
  if (!isFirst || chance.one(0.7)) inputs.push(b.ints(axes.map((axis) => fromBack(b, axis, rank))));
  if (inputs.length === 4 && chance.one(0.4)) inputs.push(b.ints(axes.map(() => chance.pick([1, 1, 2, -1]))));
  return { op: "Slice", inputs };
};

const makeConcat: Maker = (b) => {
  const x = any(b, 1);
  if (!x) return null;
  const { chance } = b;
  const axis = chance.below(rankOf(x));
  const fits = (k: Known): boolean =>
    k.dtype === x.dtype &&
    k.dims.every(
      (dims, run) => dims.length === rankOf(x) && dims.every((dim, i) => i === axis || dim === x.dims[run]![i]),
    );
  const others = Array.from({ length: chance.below(3) }, () => choose(b, fits)!.value);
  return {
    op: "Concat",
    inputs: chance.shuffled([x.value, ...others]),
    attributes: { axis: attr.int(fromBack(b, axis, rankOf(x))) },
  };
};

const makeSplit: Maker = (b) => {
  const x = choose(b, (k) => staticDims(k).some((dim) => dim !== null && dim > 1));
  if (!x) return null;
  const { chance } = b;
  const dims = staticDims(x);
  const axis = chance.pick([...dims.keys()].filter((i) => (dims[i] ?? 0) > 1));
  const size = dims[axis]!;
  const first = chance.between(1, size - 1);
  const attributes: Record<string, Attribute> = { axis: attr.int(fromBack(b, axis, dims.length)) };
  if (b.opset < 13)
    return {
      op: "Split",
      inputs: [x.value],
      attributes: { ...attributes, split: attr.ints([first, size - first]) },
      outputs: 2,
    };
  if (b.opset >= 18 && chance.one(0.3))
    return { op: "Split", inputs: [x.value], attributes: { ...attributes, num_outputs: attr.int(2) }, outputs: 2 };
  return { op: "Split", inputs: [x.value, b.ints([first, size - first])], attributes, outputs: 2 };
};

const makeTranspose: Maker = (b) => {
  const x = any(b, 1);
  if (!x) return null;
  const order = b.chance.shuffled(Array.from({ length: rankOf(x) }, (_, i) => i));
  return { op: "Transpose", inputs: [x.value], attributes: b.chance.one(0.9) ? { perm: attr.ints(order) } : {} };
};

const makeGather: Maker = (b) => {
  const x = any(b, 1);
  if (!x) return null;
  const { chance } = b;
  const axis = axisOf(b, rankOf(x));
  const smallest = Math.min(...x.dims.map((dims) => dims.at(axis)!));
  const index = (): number => chance.between(-smallest, smallest - 1);
  const indices = chance.one(0.5) ? b.ints([index()], []) : b.ints(Array.from({ length: chance.between(1, 3) }, index));
  return {
    op: "Gather",
    inputs: [x.value, indices],
    attributes: axis === 0 && chance.one(0.5) ? {} : { axis: attr.int(axis) },
  };
};

const makePad: Maker = (b) => {
  const x = real(b, 1);
  if (!x) return null;
  const { chance } = b;
  const pads = Array.from({ length: 2 * rankOf(x) }, (_, i) =>
    i % rankOf(x) >= 2 || chance.one(0.2) ? chance.pick([0, 0, 1, 2, -1]) : 0,
  );
  const mode = chance.one(0.3)
    ? { mode: attr.string(chance.pick(["constant", "reflect", "edge", ...(b.opset >= 19 ? ["wrap"] : [])])) }
    : {};
  if (b.opset < 11) return { op: "Pad", inputs: [x.value], attributes: { ...mode, pads: attr.ints(pads) } };
  const inputs: Value[] = [x.value, b.ints(pads)];
  if (chance.one(0.3)) inputs.push(scalarLike(b, x.dtype, []));
  return { op: "Pad", inputs, attributes: mode };
};

const makeMatMul: Maker = (b) => {
  const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) >= 1);
  if (!x) return null;
  const { chance } = b;
  const inner = staticDims(x).at(-1);
  const other =
    chance.one(0.3) &&
    choose(
      b,
      (k) => k.dtype === "f32" && rankOf(k) >= 2 && k.dims.every((dims, run) => dims.at(-2) === x.dims[run]!.at(-1)),
    );
  if (other) return { op: "MatMul", inputs: [x.value, other.value] };
  if (inner === null || inner === undefined) return null;
  return { op: "MatMul", inputs: [x.value, b.floats(chance.one(0.9) ? [inner, chance.between(1, 4)] : [inner])] };
};

const makeGemm: Maker = (b) => {
  const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) === 2);
  if (!x) return null;
  const { chance } = b;
  const [rows, columns] = staticDims(x);
  const transA = chance.one(0.2) && rows !== null;
  const inner = transA ? rows : columns;
  if (inner === null || inner === undefined) return null;
  const transB = chance.one(0.5);
  const outputs = chance.between(1, 4);
  const inputs = [x.value, b.floats(transB ? [outputs, inner] : [inner, outputs])];
  if (chance.one(0.7) || b.opset < 11) inputs.push(b.floats(chance.pick([[outputs], [1, outputs], [1], []])));
  const attributes = some(
    chance,
    { alpha: () => attr.float(chance.pick([1, 0.5, 2])), beta: () => attr.float(chance.pick([1, 0, 0.5])) },
    0.3,
  );
  if (transA) attributes["transA"] = attr.int(1);
  if (transB) attributes["transB"] = attr.int(1);
  return { op: "Gemm", inputs, attributes };
};

/** Statistics that are positive where they have to be. */
const positive = (b: GraphBuilder, dims: readonly number[]): Value =>
  b.constant(
    Tensor.f32(
      dims,
      Array.from({ length: dims.reduce((p, d) => p * d, 1) }, () => 0.2 + b.chance.random.next()),
    ),
  );

const makeBatchNorm: Maker = (b) => {
  const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) >= 2 && staticDims(k)[1] !== null);
  if (!x) return null;
  const c = [staticDims(x)[1]!];
  const attributes = some(
    b.chance,
    { epsilon: () => attr.float(b.chance.pick([1e-3, 0.1])), momentum: () => attr.float(0.5) },
    0.3,
  );
  return {
    op: "BatchNormalization",
    inputs: [x.value, b.floats(c), b.floats(c), b.floats(c), positive(b, c)],
    attributes,
  };
};

const makeInstanceNorm: Maker = (b) => {
  const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) >= 3 && staticDims(k)[1] !== null);
  if (!x) return null;
  const c = [staticDims(x)[1]!];
  return {
    op: "InstanceNormalization",
    inputs: [x.value, b.floats(c), b.floats(c)],
    attributes: some(b.chance, { epsilon: () => attr.float(0.01) }),
  };
};

const makeGroupNorm: Maker = (b) => {
  const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) >= 3 && (staticDims(k)[1] ?? 1) % 2 === 0);
  if (!x || b.opset < 21) return null;
  const c = [staticDims(x)[1]!];
  return {
    op: "GroupNormalization",
    inputs: [x.value, b.floats(c), b.floats(c)],
    attributes: { num_groups: attr.int(2) },
  };
};

const makeLayerNorm =
  (op: "LayerNormalization" | "RMSNormalization"): Maker =>
  (b) => {
    const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) >= 1 && staticDims(k).at(-1) !== null);
    if (!x || b.opset < (op === "LayerNormalization" ? 17 : 23)) return null;
    const last = [staticDims(x).at(-1)!];
    const inputs = [
      x.value,
      b.floats(last),
      ...(op === "LayerNormalization" && b.chance.one(0.6) ? [b.floats(last)] : []),
    ];
    return {
      op,
      inputs,
      attributes: some(b.chance, { epsilon: () => attr.float(0.01), axis: () => attr.int(-1) }, 0.4),
    };
  };

const makeCast: Maker = (b) => {
  const x = any(b);
  return (
    x && { op: "Cast", inputs: [x.value], attributes: { to: attr.int(b.chance.pick([1, 1, 1, 7, 6, 9, 10, 11])) } }
  );
};

const makeClip: Maker = (b) => {
  const x = real(b);
  if (!x) return null;
  const { chance } = b;
  const low = chance.pick([0, -1, -3, 0.5]);
  const high = chance.pick([6, 1, 3, -0.5]);
  if (b.opset < 11)
    return {
      op: "Clip",
      inputs: [x.value],
      attributes: some(chance, { min: () => attr.float(low), max: () => attr.float(high) }, 0.8),
    };
  if (x.dtype !== "f32") return null;
  const bound = (value: number): Value => b.constant(Tensor.f32([], [value]));
  return { op: "Clip", inputs: [x.value, chance.one(0.8) ? bound(low) : null, chance.one(0.8) ? bound(high) : null] };
};

const makeWhere: Maker = (b) => {
  const test = ofType(b, "bool");
  const x = test && choose(b, (k) => broadcasts(k, test));
  if (!x) return null;
  const inputs = [x.value, partner(b, x)];
  return { op: "Where", inputs: [test.value, ...(b.chance.one(0.5) ? inputs : inputs.reverse())] };
};

const makeExpand: Maker = (b) => {
  const x = any(b);
  if (!x) return null;
  const { chance } = b;
  const shape = choose(b, (k) => k.dtype === "i64" && rankOf(k) === 1 && chance.one(0.3));
  if (shape) return { op: "Expand", inputs: [x.value, shape.value] };
  const dims = staticDims(x).map((dim) =>
    dim === null || chance.one(0.4) ? 1 : dim === 1 ? chance.between(1, 3) : dim,
  );
  return { op: "Expand", inputs: [x.value, b.ints(chance.one(0.2) ? [2, ...dims] : dims)] };
};

const makeResize: Maker = (b) => {
  const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) === 4);
  if (!x || b.opset < 11) return null;
  const { chance } = b;
  const scales = b.constant(
    Tensor.f32(
      [4],
      [
        1,
        1,
        ...chance.pick([
          [1, 1],
          [2, 2],
          [0.5, 2],
          [2, 1],
        ]),
      ],
    ),
  );
  const attributes = {
    mode: attr.string(chance.pick(["nearest", "linear"])),
    ...some(chance, {
      coordinate_transformation_mode: () => attr.string(chance.pick(["asymmetric", "half_pixel", "align_corners"])),
    }),
  };
  return { op: "Resize", inputs: [x.value, b.opset >= 13 ? null : b.floats([0]), scales], attributes };
};

const makeQuantizePair: Maker = (b) => {
  const x = choose(b, (k) => k.dtype === "f32");
  if (!x || b.opset < 10) return null;
  return {
    op: "QuantizeLinear",
    inputs: [x.value, b.constant(Tensor.f32([], [0.05])), b.constant(Tensor.ofArray("u8", [], Uint8Array.of(128)))],
  };
};

const makeAttention: Maker = (b) => {
  const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) === 4);
  return x && b.opset >= 23
    ? {
        op: "Attention",
        inputs: [x.value, x.value, x.value],
        attributes: some(b.chance, { is_causal: () => attr.int(1), scale: () => attr.float(0.3) }),
      }
    : null;
};

const makeRotary: Maker = (b) => {
  const x = choose(
    b,
    (k) =>
      k.dtype === "f32" && rankOf(k) === 4 && staticDims(k).every((dim) => dim !== null) && staticDims(k)[3]! % 2 === 0,
  );
  if (!x || b.opset < 23) return null;
  const [batch, , length, size] = staticDims(x) as number[];
  const table = [batch!, length!, size! / 2];
  return {
    op: "RotaryEmbedding",
    inputs: [x.value, b.floats(table), b.floats(table)],
    attributes: some(b.chance, { interleaved: () => attr.int(1) }),
  };
};

const recurrent =
  (op: string, gates: number): Maker =>
  (b) => {
    const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) === 3 && staticDims(k)[2] !== null);
    if (!x) return null;
    const hidden = 2;
    return {
      ...{ op, outputs: b.chance.between(1, 2) },
      inputs: [x.value, b.floats([1, gates * hidden, staticDims(x)[2]!]), b.floats([1, gates * hidden, hidden])],
      attributes: { hidden_size: attr.int(hidden) },
    };
  };

const typedUnary =
  (op: string, dtype: DType): Maker =>
  (b) => {
    const x = ofType(b, dtype);
    return x && { op, inputs: [x.value] };
  };

/** Operators of another domain, which no pass of ai.onnx may touch. */
const foreign =
  (op: string): Maker =>
  (b) => {
    const x = choose(b, (k) => k.dtype === "f32");
    return x && { op, domain: "com.microsoft", inputs: [x.value] };
  };

const unaries =
  "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor HardSwish Identity IsInf IsNaN Log Mish Neg Reciprocal " +
  "Relu Round Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh Selu Dropout MeanVarianceNormalization NonZero Shape Size";

export const makers: Readonly<Record<string, Maker>> = {
  ...Object.fromEntries(unaries.split(" ").map((op) => [op, unary(op)])),
  ...Object.fromEntries(
    "Add Sub Mul Div Pow Equal Greater GreaterOrEqual Less LessOrEqual".split(" ").map((op) => [op, binary(op)]),
  ),
  ...Object.fromEntries("And Or Xor".split(" ").map((op) => [op, logical(op)])),
  ...Object.fromEntries("Max Min Mean Sum".split(" ").map((op) => [op, variadic(op)])),
  ...Object.fromEntries(
    "ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare"
      .split(" ")
      .map((op) => [op, reduction(op)]),
  ),
  ReduceSum: reduction("ReduceSum", 13),
  ...Object.fromEntries("Softmax LogSoftmax Hardmax".split(" ").map((op) => [op, onAxis(op)])),
  LpNormalization: (b) => {
    const x = real(b, 1);
    return (
      x && {
        op: "LpNormalization",
        inputs: [x.value],
        attributes: some(b.chance, {
          axis: () => attr.int(axisOf(b, rankOf(x))),
          p: () => attr.int(b.chance.between(1, 2)),
        }),
      }
    );
  },
  ArgMax: onAxis("ArgMax"),
  ArgMin: onAxis("ArgMin"),
  Flatten: onAxis("Flatten"),
  LeakyRelu: unary("LeakyRelu", alpha),
  Elu: unary("Elu", alpha),
  Celu: unary("Celu", alpha),
  ThresholdedRelu: unary("ThresholdedRelu", alpha),
  Swish: unary("Swish", alpha),
  HardSigmoid: unary("HardSigmoid", (chance) =>
    some(chance, {
      alpha: () => attr.float(chance.pick([1 / 6, 0.2])),
      beta: () => attr.float(chance.pick([0.5, 0.1])),
    }),
  ),
  Gelu: unary("Gelu", (chance) => some(chance, { approximate: () => attr.string(chance.pick(["tanh", "none"])) })),
  Shrink: unary("Shrink", (chance) => some(chance, { lambd: () => attr.float(0.3), bias: () => attr.float(0.1) })),
  LRN: (b) => {
    const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) === 4);
    return x && { op: "LRN", inputs: [x.value], attributes: { size: attr.int(3) } };
  },
  // The slope may broadcast to the input, never the other way round.
  PRelu: (b) => {
    const x = real(b, 1);
    return x && { op: "PRelu", inputs: [x.value, scalarLike(b, x.dtype, [1])] };
  },
  Not: typedUnary("Not", "bool"),
  BitwiseNot: typedUnary("BitwiseNot", "i64"),
  BitwiseAnd: (b) => {
    const x = ofType(b, "i64");
    return x && { op: "BitwiseAnd", inputs: [x.value, partner(b, x)] };
  },
  Mod: (b) => {
    const x = ofType(b, "i64");
    return x && { op: "Mod", inputs: [x.value, b.ints([b.chance.between(1, 3)], [])] };
  },
  Transpose: makeTranspose,
  Reshape: makeReshape,
  Slice: makeSlice,
  Concat: makeConcat,
  Split: makeSplit,
  Gather: makeGather,
  Squeeze: (b) => {
    const x = choose(b, (k) => staticDims(k).includes(1));
    if (!x) return null;
    const ones = [...staticDims(x).entries()].filter(([, dim]) => dim === 1).map(([axis]) => axis);
    const axes = ones.slice(0, b.chance.between(1, ones.length)).map((axis) => fromBack(b, axis, rankOf(x)));
    return b.chance.one(0.1) ? { op: "Squeeze", inputs: [x.value] } : withAxes(b, "Squeeze", x.value, axes);
  },
  Unsqueeze: (b) => {
    const x = choose(b, (k) => rankOf(k) <= 4);
    if (!x) return null;
    const count = b.chance.between(1, 2);
    const axes = b.chance.shuffled(Array.from({ length: rankOf(x) + count }, (_, i) => i)).slice(0, count);
    return withAxes(
      b,
      "Unsqueeze",
      x.value,
      axes.map((axis) => (b.opset >= 11 && b.chance.one(0.3) ? axis - rankOf(x) - count : axis)),
    );
  },
  Expand: makeExpand,
  Tile: (b) => {
    const x = any(b, 1);
    return (
      x && { op: "Tile", inputs: [x.value, b.ints(Array.from({ length: rankOf(x) }, () => b.chance.pick([1, 1, 2])))] }
    );
  },
  Pad: makePad,
  Conv: convolution("Conv"),
  ConvTranspose: convolution("ConvTranspose"),
  MaxPool: pool("MaxPool"),
  AveragePool: pool("AveragePool"),
  LpPool: pool("LpPool"),
  GlobalAveragePool: globalPool("GlobalAveragePool"),
  GlobalMaxPool: globalPool("GlobalMaxPool"),
  MatMul: makeMatMul,
  Gemm: makeGemm,
  Einsum: (b) => {
    const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) === 2);
    return (
      x && {
        op: "Einsum",
        inputs: [x.value, x.value],
        attributes: { equation: attr.string(b.chance.pick(["ij,kj->ik", "ij,ij->i", "ij,ij->ji"])) },
      }
    );
  },
  BatchNormalization: makeBatchNorm,
  InstanceNormalization: makeInstanceNorm,
  GroupNormalization: makeGroupNorm,
  LayerNormalization: makeLayerNorm("LayerNormalization"),
  RMSNormalization: makeLayerNorm("RMSNormalization"),
  Cast: makeCast,
  CastLike: (b) => {
    const [x, y] = [any(b), any(b)];
    return x && y && { op: "CastLike", inputs: [x.value, y.value] };
  },
  Clip: makeClip,
  Where: makeWhere,
  Constant: (b) => ({
    op: "Constant",
    inputs: [],
    attributes: { value: attr.tensor(randomTensor("f32", b.chance.pick([[], [1], [2, 3]]), b.chance.random)) },
  }),
  ConstantOfShape: (b) => {
    const shape = choose(b, (k) => k.dtype === "i64" && rankOf(k) === 1 && b.chance.one(0.5));
    const attributes = b.chance.one(0.6) ? { value: attr.tensor(Tensor.f32([1], [b.chance.pick([0, 1, 0.5])])) } : {};
    return { op: "ConstantOfShape", inputs: [shape?.value ?? b.ints([2, 3])], attributes };
  },
  Range: (b) => {
    const end = choose(b, (k) => k.dtype === "i64" && rankOf(k) === 0);
    const limit = end && b.chance.one(0.6) ? end.value : b.constant(Tensor.i64([], [b.chance.between(0, 4)]));
    return { op: "Range", inputs: [b.constant(Tensor.i64([], [0])), limit, b.constant(Tensor.i64([], [1]))] };
  },
  Trilu: (b) => {
    const x = real(b, 2);
    return (
      x && { op: "Trilu", inputs: [x.value], attributes: some(b.chance, { upper: () => attr.int(b.chance.below(2)) }) }
    );
  },
  CumSum: (b) => {
    const x = choose(b, (k) => (k.dtype === "f32" || k.dtype === "i64") && rankOf(k) >= 1);
    return (
      x && {
        op: "CumSum",
        inputs: [x.value, b.constant(Tensor.i64([], [axisOf(b, rankOf(x))]))],
        attributes: some(b.chance, { exclusive: () => attr.int(1), reverse: () => attr.int(1) }, 0.3),
      }
    );
  },
  TopK: (b) => {
    const x = real(b, 1);
    if (!x || b.opset < 10) return null;
    return {
      op: "TopK",
      inputs: [x.value, b.ints([1])],
      attributes: some(b.chance, { axis: () => attr.int(axisOf(b, rankOf(x))) }),
      outputs: 2,
    };
  },
  DepthToSpace: (b) => {
    const x = choose(b, (k) => rankOf(k) === 4 && (staticDims(k)[1] ?? 1) % 4 === 0);
    return (
      x && {
        op: "DepthToSpace",
        inputs: [x.value],
        attributes: { blocksize: attr.int(2), ...some(b.chance, { mode: () => attr.string("CRD") }) },
      }
    );
  },
  SpaceToDepth: (b) => {
    const x = choose(b, (k) => rankOf(k) === 4);
    return x && { op: "SpaceToDepth", inputs: [x.value], attributes: { blocksize: attr.int(b.chance.between(1, 2)) } };
  },
  GatherElements: (b) => {
    const x = real(b, 1);
    const dims = x && staticDims(x);
    return dims?.every((dim) => dim !== null)
      ? {
          op: "GatherElements",
          inputs: [x!.value, b.constant(randomTensor("i64", dims as number[], b.chance.random))],
          attributes: { axis: attr.int(axisOf(b, dims.length)) },
        }
      : null;
  },
  GatherND: (b) => {
    const x = real(b, 1);
    return x && { op: "GatherND", inputs: [x.value, b.constant(Tensor.i64([1, 1], [0]))] };
  },
  ScatterElements: (b) => {
    const x = real(b, 1);
    const dims = x && staticDims(x).map((dim) => Math.min(dim ?? 1, 1));
    return dims
      ? {
          op: "ScatterElements",
          inputs: [
            x!.value,
            b.constant(randomTensor("i64", dims, b.chance.random)),
            b.constant(randomTensor(x!.dtype, dims, b.chance.random)),
          ],
          attributes: { axis: attr.int(0) },
        }
      : null;
  },
  ScatterND: (b) => {
    const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) === 1);
    return x && { op: "ScatterND", inputs: [x.value, b.constant(Tensor.i64([1, 1], [0])), b.floats([1])] };
  },
  OneHot: (b) => {
    const x = ofType(b, "i64");
    return (
      x && {
        op: "OneHot",
        inputs: [x.value, b.ints([3]), b.constant(Tensor.f32([2], [0, 1]))],
        attributes: some(b.chance, { axis: () => attr.int(-1) }),
      }
    );
  },
  EyeLike: (b) => {
    const x = choose(b, (k) => rankOf(k) === 2);
    return x && { op: "EyeLike", inputs: [x.value] };
  },
  ReverseSequence: (b) => {
    const x = real(b, 2);
    const batch = x && staticDims(x)[1];
    return batch ? { op: "ReverseSequence", inputs: [x!.value, b.ints(Array(batch).fill(1))] } : null;
  },
  Resize: makeResize,
  QuantizeLinear: makeQuantizePair,
  DequantizeLinear: (b) => {
    const x = ofType(b, "u8");
    return (
      x && {
        op: "DequantizeLinear",
        inputs: [x.value, b.constant(Tensor.f32([], [0.05])), b.constant(Tensor.ofArray("u8", [], Uint8Array.of(128)))],
      }
    );
  },
  Attention: makeAttention,
  RotaryEmbedding: makeRotary,
  LSTM: recurrent("LSTM", 4),
  GRU: recurrent("GRU", 3),
  RNN: recurrent("RNN", 1),
  HannWindow: (b) => ({ op: "HannWindow", inputs: [b.ints([4], [])] }),
  HammingWindow: (b) => ({ op: "HammingWindow", inputs: [b.ints([4], [])] }),
  BlackmanWindow: (b) => ({ op: "BlackmanWindow", inputs: [b.ints([4], [])] }),
  If: makeIf,
  Loop: makeLoop,
  ...rareMakers,
  ...furtherMakers,
  "com.microsoft::Gelu": foreign("Gelu"),
  "com.microsoft::QuickGelu": foreign("QuickGelu"),
};

/** Operators that passes know and that no random graph has, with the reason. */
export const exempt: Readonly<Record<string, string>> = {
  BitCast: "the runtime has no kernel for it",
  CumProd: "the runtime has no kernel for it",
  ImageDecoder: "it needs a picture",
  RandomNormal: "two runs of the original differ",
  RegexFullMatch: strings(),
  SequenceMap: "text says no types of sequences in bodies",
  StringConcat: strings(),
  StringNormalizer: strings(),
  StringSplit: strings(),
  TfIdfVectorizer: strings(),
};

function strings(): string {
  return "strings are not compared";
}
