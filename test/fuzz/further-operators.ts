/** How to make nodes of operators that no pass rewrites, but that passes have to see through, fold, share or leave alone. */
import { attr, type DType, Tensor } from "../../src/ir/index.js";
import { type GraphBuilder, type Known, type NodeSpec, rankOf, staticDims } from "./graph-builder.js";
import { randomTensor } from "./session.js";

type Maker = (b: GraphBuilder) => NodeSpec | null;

const choose = (b: GraphBuilder, fits: (known: Known) => boolean): Known | null => {
  const list = b.known.filter(fits);
  return list.length === 0 ? null : b.chance.pick(list);
};

const isF32 = ({ dtype }: Known): boolean => dtype === "f32";
const image = (b: GraphBuilder): Known | null =>
  choose(b, (k) => isF32(k) && rankOf(k) === 4 && staticDims(k).every((dim) => dim !== null && dim > 0));

const tensor = (b: GraphBuilder, dtype: DType, dims: readonly number[]) =>
  b.constant(randomTensor(dtype, dims, b.chance.random));
const scale = (b: GraphBuilder) => b.constant(Tensor.f32([], [0.05]));
const zero = (b: GraphBuilder) => b.constant(Tensor.ofArray("u8", [], Uint8Array.of(128)));
const index = (b: GraphBuilder, value: number) => b.constant(Tensor.i64([], [value]));

/** A sequence of a value and of others like it. */
function sequence(
  b: GraphBuilder,
): { readonly spec: NodeSpec; readonly length: number; readonly element: Known } | null {
  const element = choose(b, (k) => rankOf(k) >= 1 && (k.dtype === "f32" || k.dtype === "i64"));
  if (!element) return null;
  const parts = b.known.filter(({ dtype, dims }) => dtype === element.dtype && String(dims) === String(element.dims));
  const length = b.chance.between(1, 3);
  const inputs = Array.from({ length }, () => b.chance.pick(parts).value);
  inputs[0] = element.value;
  return { spec: { op: "SequenceConstruct", inputs }, length, element };
}

/** A sequence with an element more or less, and its length. */
function changed(
  b: GraphBuilder,
): { readonly spec: NodeSpec; readonly length: number; readonly element: Known } | null {
  const made = sequence(b);
  if (!made) return null;
  const { spec, length, element } = made;
  const { chance } = b;
  if (chance.one(0.3)) {
    const at = chance.one(0.5) ? [index(b, chance.between(-length, length))] : [];
    return { element, length: length + 1, spec: { op: "SequenceInsert", inputs: [spec, element.value, ...at] } };
  }
  if (length > 1 && chance.one(0.3)) {
    const at = chance.one(0.5) ? [index(b, chance.between(-length, length - 1))] : [];
    return { element, length: length - 1, spec: { op: "SequenceErase", inputs: [spec, ...at] } };
  }
  if (element.dtype === "f32" && chance.one(0.2)) {
    return {
      element,
      length: 1,
      spec: { op: "SequenceInsert", inputs: [{ op: "SequenceEmpty", inputs: [] }, element.value] },
    };
  }
  return made;
}

/** A value cut along an axis, as a sequence of slices. */
function cut(b: GraphBuilder): { readonly spec: NodeSpec; readonly axis: number } | null {
  const x = choose(b, (k) => isF32(k) && staticDims(k).some((dim) => dim !== null && dim > 0));
  if (!x || b.opset < 11) return null;
  const dims = staticDims(x);
  const axis = b.chance.pick([...dims.keys()].filter((i) => (dims[i] ?? 0) > 0));
  const parts = b.chance.pick([[], [index(b, b.chance.between(1, dims[axis]!))]]);
  const keepdims = parts.length === 0 && b.chance.one(0.5) ? { keepdims: attr.int(0) } : {};
  return {
    axis,
    spec: { op: "SplitToSequence", inputs: [x.value, ...parts], attributes: { axis: attr.int(axis), ...keepdims } },
  };
}

const optional = (b: GraphBuilder): NodeSpec | null => {
  const x = choose(b, isF32);
  return x && b.opset >= 15 ? { op: "Optional", inputs: [x.value] } : null;
};

const loss =
  (op: string): Maker =>
  (b) => {
    const x = choose(
      b,
      (k) => isF32(k) && [2, 3].includes(rankOf(k)) && staticDims(k).every((dim) => dim !== null && dim > 1),
    );
    if (!x || b.opset < 12) return null;
    const [batch, , ...rest] = staticDims(x) as number[];
    const reduction = attr.string(b.chance.pick(["mean", "sum", "none"]));
    return {
      op,
      inputs: [x.value, tensor(b, "i64", [batch!, ...rest])],
      attributes: { reduction },
      outputs: op === "SoftmaxCrossEntropyLoss" && b.chance.one(0.3) ? 2 : 1,
    };
  };

const random =
  (op: string): Maker =>
  (b) => {
    const x = choose(b, (k) => isF32(k) && (op !== "Multinomial" || rankOf(k) === 2));
    if (!x || (op === "Bernoulli" && b.opset < 15)) return null;
    const seed = attr.float(b.chance.between(1, 9));
    if (op === "RandomUniform") return { op, inputs: [], attributes: { seed, shape: attr.ints([2, 3]) } };
    // Probabilities lie between 0 and 1.
    const input = op === "Bernoulli" ? { op: "Sigmoid", inputs: [x.value] } : x.value;
    return { op, inputs: [input], attributes: { seed } };
  };

export const furtherMakers: Readonly<Record<string, Maker>> = {
  SequenceAt: (b) => {
    const made = b.opset >= 11 ? changed(b) : null;
    return made && { op: "SequenceAt", inputs: [made.spec, index(b, b.chance.between(-made.length, made.length - 1))] };
  },
  SequenceLength: (b) => {
    const made = b.opset >= 11 ? (b.chance.one(0.6) ? changed(b)?.spec : cut(b)?.spec) : null;
    return made ? { op: "SequenceLength", inputs: [made] } : null;
  },
  ConcatFromSequence: (b) => {
    const made = b.opset >= 11 ? changed(b) : null;
    if (!made) return null;
    const isNew = b.chance.one(0.3);
    const axis = b.chance.below(rankOf(made.element) + (isNew ? 1 : 0));
    return {
      op: "ConcatFromSequence",
      inputs: [made.spec],
      attributes: { axis: attr.int(axis), ...(isNew && { new_axis: attr.int(1) }) },
    };
  },
  SplitToSequence: (b) => {
    const made = cut(b);
    return made && { op: "SequenceAt", inputs: [made.spec, index(b, 0)] };
  },
  "ConcatFromSequence of slices": (b) => {
    const made = cut(b);
    return made && { op: "ConcatFromSequence", inputs: [made.spec], attributes: { axis: attr.int(made.axis) } };
  },
  OptionalHasElement: (b) => {
    const made = optional(b);
    return made && { op: "OptionalHasElement", inputs: [made] };
  },
  OptionalGetElement: (b) => {
    const made = optional(b);
    return made && { op: "OptionalGetElement", inputs: [made] };
  },
  AffineGrid: (b) => {
    if (b.opset < 20) return null;
    const attributes = b.chance.one(0.5) ? { align_corners: attr.int(1) } : {};
    return { op: "AffineGrid", inputs: [b.floats([2, 2, 3]), b.ints([2, 1, 3, 2])], attributes };
  },
  Col2Im: (b) => {
    const x = choose(b, (k) => isF32(k) && rankOf(k) === 3 && staticDims(k).every((dim) => dim !== null && dim > 0));
    if (!x || b.opset < 18) return null;
    return { op: "Col2Im", inputs: [x.value, b.ints([1, staticDims(x)[2]!]), b.ints([1, 1])] };
  },
  ConvInteger: (b) => {
    const x = choose(b, (k) => k.dtype === "u8" && rankOf(k) === 4 && staticDims(k)[1] !== null);
    if (!x || b.opset < 10) return null;
    return { op: "ConvInteger", inputs: [x.value, tensor(b, "u8", [2, staticDims(x)[1]!, 1, 1]), zero(b)] };
  },
  DFT: (b) => {
    const x = choose(b, (k) => isF32(k) && rankOf(k) === 3 && [1, 2].includes(staticDims(k)[2] ?? 0));
    return x && b.opset >= 17
      ? { op: "DFT", inputs: [x.value], attributes: b.opset < 20 ? { axis: attr.int(1) } : {} }
      : null;
  },
  DeformConv: (b) => {
    const x = image(b);
    if (!x || b.opset < 19) return null;
    const [batch, channels, height, width] = staticDims(x) as number[];
    return {
      op: "DeformConv",
      inputs: [x.value, b.floats([2, channels!, 1, 1]), b.floats([batch!, 2, height!, width!])],
    };
  },
  MaxRoiPool: (b) => {
    const x = image(b);
    return (
      x && {
        op: "MaxRoiPool",
        inputs: [x.value, b.constant(Tensor.f32([1, 5], [0, 0, 0, 1, 1]))],
        attributes: { pooled_shape: attr.ints([2, 2]) },
      }
    );
  },
  MaxUnpool: (b) => {
    const x = image(b);
    if (!x || b.opset < 9) return null;
    const dims = staticDims(x) as number[];
    const attributes = { kernel_shape: attr.ints([2, 2]), strides: attr.ints([2, 2]) };
    return { op: "MaxUnpool", inputs: [x.value, tensor(b, "i64", dims)], attributes };
  },
  MelWeightMatrix: (b) =>
    b.opset >= 17
      ? {
          op: "MelWeightMatrix",
          inputs: [index(b, 4), index(b, 8), index(b, 8000), b.floats([]), b.constant(Tensor.f32([], [4000]))],
        }
      : null,
  NegativeLogLikelihoodLoss: loss("NegativeLogLikelihoodLoss"),
  SoftmaxCrossEntropyLoss: loss("SoftmaxCrossEntropyLoss"),
  NonMaxSuppression: (b) => {
    const x = choose(
      b,
      (k) =>
        isF32(k) && rankOf(k) === 3 && staticDims(k)[2] === 4 && staticDims(k).every((dim) => dim !== null && dim > 0),
    );
    if (!x || b.opset < 10) return null;
    const [batch, boxes] = staticDims(x) as number[];
    const inputs = [x.value, b.floats([batch!, 1, boxes!]), b.ints([2], [1]), b.constant(Tensor.f32([1], [0.5]))];
    return { op: "NonMaxSuppression", inputs };
  },
  QLinearMatMul: (b) => {
    const x = choose(b, (k) => k.dtype === "u8" && rankOf(k) >= 2 && staticDims(k).at(-1) !== null);
    if (!x || b.opset < 10) return null;
    const weights = tensor(b, "u8", [staticDims(x).at(-1)!, 2]);
    return { op: "QLinearMatMul", inputs: [x.value, scale(b), zero(b), weights, scale(b), zero(b), scale(b), zero(b)] };
  },
  QLinearConv: (b) => {
    const x = choose(b, (k) => k.dtype === "u8" && rankOf(k) === 4 && staticDims(k)[1] !== null);
    if (!x || b.opset < 10) return null;
    const weights = tensor(b, "u8", [2, staticDims(x)[1]!, 1, 1]);
    return { op: "QLinearConv", inputs: [x.value, scale(b), zero(b), weights, scale(b), zero(b), scale(b), zero(b)] };
  },
  STFT: (b) => {
    const x = choose(b, (k) => isF32(k) && rankOf(k) === 3 && staticDims(k)[2] === 1 && (staticDims(k)[1] ?? 0) >= 2);
    return x && b.opset >= 17 ? { op: "STFT", inputs: [x.value, index(b, 1), null, index(b, 2)] } : null;
  },
  TensorScatter: (b) => {
    const x = choose(b, (k) => isF32(k) && rankOf(k) >= 3 && staticDims(k).every((dim) => dim !== null && dim > 0));
    if (!x || b.opset < 24) return null;
    const dims = [...(staticDims(x) as number[])];
    dims[dims.length - 2] = 1;
    return { op: "TensorScatter", inputs: [x.value, b.floats(dims)] };
  },
  Bernoulli: random("Bernoulli"),
  Multinomial: random("Multinomial"),
  RandomUniform: random("RandomUniform"),
  RandomUniformLike: random("RandomUniformLike"),
};
