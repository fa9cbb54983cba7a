/** How to make nodes of operators that passes know but seldom meet, and of common ones with rarer types. */
import { attr, type DType, Graph, Tensor } from "../../src/ir/index.js";
import { type GraphBuilder, type Known, type NodeSpec, rankOf, staticDims } from "./graph-builder.js";
import { randomTensor } from "./session.js";

type Maker = (b: GraphBuilder) => NodeSpec | null;

function choose(b: GraphBuilder, fits: (known: Known) => boolean): Known | null {
  const list = b.known.filter(fits);
  return list.length === 0 ? null : b.chance.pick(list);
}

const ofTypes = (b: GraphBuilder, dtypes: readonly DType[], least = 0): Known | null =>
  choose(b, (k) => dtypes.includes(k.dtype) && rankOf(k) >= least);

const integers: readonly DType[] = ["i64", "i32", "u8", "i8", "i16", "u16", "u32", "u64"];

/** Reads a value and a constant of its type that broadcasts with it. */
const typedBinary =
  (op: string, dtypes: readonly DType[]): Maker =>
  (b) => {
    const x = ofTypes(b, dtypes);
    if (!x) return null;
    const dims = staticDims(x).map((dim) => (dim === null || b.chance.one(0.3) ? 1 : dim));
    const other = b.constant(randomTensor(x.dtype, b.chance.one(0.3) ? [] : dims, b.chance.random));
    const attributes = op === "BitShift" ? { direction: attr.string(b.chance.pick(["LEFT", "RIGHT"])) } : {};
    return { op, inputs: b.chance.one(0.3) ? [other, x.value] : [x.value, other], attributes };
  };

const typedUnary =
  (op: string, dtypes: readonly DType[], attributes: NodeSpec["attributes"] = {}): Maker =>
  (b) => {
    const x = ofTypes(b, dtypes);
    return x && { op, inputs: [x.value], attributes };
  };

/** A whole-number type for what was something else. */
const castInteger: Maker = (b) => {
  const x = ofTypes(b, ["f32", "i64", "bool", "i32"]);
  return (
    x && { op: "Cast", inputs: [x.value], attributes: { to: attr.int(b.chance.pick([2, 3, 5, 6, 7, 9, 12, 13])) } }
  );
};

/** Half and double precision, and bfloat16, which few kernels take. */
const castReal: Maker = (b) => {
  const x = ofTypes(b, ["f32", "f16", "f64", "bf16"]);
  return x && { op: "Cast", inputs: [x.value], attributes: { to: attr.int(b.chance.pick([1, 10, 10, 11, 16])) } };
};

const typedMatMul: Maker = (b) => {
  const x = ofTypes(b, ["f16", "f64", "i32", "i64"], 2);
  const inner = x && staticDims(x).at(-1);
  if (!x || inner === null || inner === undefined) return null;
  return {
    op: "MatMul",
    inputs: [x.value, b.constant(randomTensor(x.dtype, [inner, b.chance.between(1, 4)], b.chance.random))],
  };
};

const typedConv: Maker = (b) => {
  const x = choose(b, (k) => (k.dtype === "f16" || k.dtype === "f64") && rankOf(k) === 4 && staticDims(k)[1] !== null);
  if (!x) return null;
  const [outputs, channels] = [b.chance.between(1, 3), staticDims(x)[1]!];
  const size = b.chance.between(1, 2);
  const weights = b.constant(randomTensor(x.dtype, [outputs, channels, size, size], b.chance.random));
  const bias = b.chance.one(0.5) ? [b.constant(randomTensor(x.dtype, [outputs], b.chance.random))] : [];
  return { op: "Conv", inputs: [x.value, weights, ...bias] };
};

const typedNormalization: Maker = (b) => {
  const x = choose(b, (k) => ["f16", "f64"].includes(k.dtype) && rankOf(k) >= 2 && staticDims(k).at(-1) !== null);
  if (!x || b.opset < 17) return null;
  const scale = b.constant(randomTensor(x.dtype, [staticDims(x).at(-1)!], b.chance.random));
  return { op: "LayerNormalization", inputs: [x.value, scale] };
};

const typedReduction: Maker = (b) => {
  const x = ofTypes(b, ["i32", "i64", "f16", "f64"], 1);
  if (!x) return null;
  const op = b.chance.pick(["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceMean"]);
  const axis = b.chance.below(rankOf(x));
  const keepdims = attr.int(b.chance.below(2));
  const isInput = b.opset >= (op === "ReduceSum" ? 13 : 18);
  return isInput
    ? { op, inputs: [x.value, b.ints([axis])], attributes: { keepdims } }
    : { op, inputs: [x.value], attributes: { keepdims, axes: attr.ints([axis]) } };
};

const typedClip: Maker = (b) => {
  const x = ofTypes(b, ["i32", "i64", "u8", "i8", "f16", "f64"]);
  if (!x || b.opset < 12) return null;
  const bound = () => b.constant(randomTensor(x.dtype, [], b.chance.random));
  return { op: "Clip", inputs: b.chance.one(0.5) ? [x.value, bound()] : [x.value, null, bound()] };
};

const nearestMod: Maker = (b) => {
  const x = ofTypes(b, ["f32", "f16", "f64"]);
  return (
    (x &&
      b.opset >= 10 && {
        op: "Mod",
        inputs: [x.value, b.constant(Tensor.f32([], [1.5]))],
        attributes: { fmod: attr.int(1) },
      }) ||
    null
  );
};

/** A body over one row at a time: a running sum, and what it is made of. */
const scan: Maker = (b) => {
  const x = choose(
    b,
    (k) => k.dtype === "f32" && rankOf(k) >= 1 && staticDims(k).every((dim) => dim !== null && dim > 0),
  );
  if (!x || b.opset < 9) return null;
  const { chance } = b;
  const row = staticDims(x).slice(1) as number[];
  const body = new Graph();
  const state = body.addInput(b.label(), { dtype: "f32", shape: row });
  const part = body.addInput(b.label(), { dtype: "f32", shape: row });
  const add = (op: string, inputs: (typeof state)[]) =>
    body.addNode({ op, inputs, outputs: [{ label: b.label() }] }).output;
  const changed = chance.one(0.5) ? add(chance.pick(["Neg", "Relu", "Identity"]), [part]) : part;
  const next = add("Add", [state, changed]);
  body.addOutput(b.label(), next);
  body.addOutput(
    b.label(),
    chance.one(0.5) ? add("Mul", [next, body.addConstant(b.label(), Tensor.f32([], [2]))]) : add("Identity", [part]),
  );
  const attributes = {
    body: attr.graph(body),
    num_scan_inputs: attr.int(1),
    ...(chance.one(0.3) && { scan_input_directions: attr.ints([1]) }),
  };
  return { op: "Scan", inputs: [b.constant(randomTensor("f32", row, chance.random)), x.value], attributes, outputs: 2 };
};

const image = (b: GraphBuilder): Known | null => choose(b, (k) => k.dtype === "f32" && rankOf(k) === 4);

export const rareMakers: Readonly<Record<string, Maker>> = {
  ...Object.fromEntries(
    ["BitShift", "BitwiseOr", "BitwiseXor"].map((op) => [
      op,
      typedBinary(op, op === "BitShift" ? ["u8", "u32", "u64"] : integers),
    ]),
  ),
  "Add of integers": typedBinary("Add", integers),
  "Mul of integers": typedBinary("Mul", integers),
  "Sub of integers": typedBinary("Sub", integers),
  "Div of halves": typedBinary("Div", ["f16"]),
  "Mul of halves": typedBinary("Mul", ["f16", "f64"]),
  "Max of integers": typedBinary("Max", ["i32", "i64", "u32", "i8", "u8"]),
  "Equal of integers": typedBinary("Equal", integers),
  "Abs of integers": typedUnary("Abs", integers),
  "Neg of integers": typedUnary("Neg", ["i64", "i32", "i8", "i16"]),
  "Sign of integers": typedUnary("Sign", integers),
  "Cast to integers": castInteger,
  "Cast to reals": castReal,
  "MatMul of other types": typedMatMul,
  "Conv of other types": typedConv,
  "LayerNormalization of other types": typedNormalization,
  "reduction of other types": typedReduction,
  "Clip of other types": typedClip,
  "Mod of reals": nearestMod,
  Scan: scan,
  Compress: (b) => {
    const x = ofTypes(b, ["f32", "i64"], 1);
    if (!x || b.opset < 9) return null;
    const axis = b.chance.below(rankOf(x));
    const size = staticDims(x)[axis];
    const which = size ? b.constant(randomTensor("bool", [size], b.chance.random)) : null;
    return which && { op: "Compress", inputs: [x.value, which], attributes: { axis: attr.int(axis) } };
  },
  CenterCropPad: (b) => {
    const x = ofTypes(b, ["f32"], 1);
    return (
      x && {
        op: "CenterCropPad",
        inputs: [x.value, b.ints([b.chance.between(1, 4)])],
        attributes: { axes: attr.ints([b.chance.below(rankOf(x))]) },
      }
    );
  },
  GlobalLpPool: (b) => {
    const x = image(b);
    return x && { op: "GlobalLpPool", inputs: [x.value] };
  },
  Upsample: (b) => {
    const x = image(b);
    if (!x || b.opset > 9) return null;
    const scales = [1, 1, b.chance.between(1, 2), 2];
    return b.opset === 9
      ? { op: "Upsample", inputs: [x.value, b.constant(Tensor.f32([4], scales))] }
      : { op: "Upsample", inputs: [x.value], attributes: { scales: { type: "floats", value: scales } } };
  },
  Scatter: (b) => {
    const x = ofTypes(b, ["f32"], 1);
    if (!x || b.opset < 9 || b.opset > 10) return null;
    const dims = staticDims(x).map((dim) => Math.min(dim ?? 1, 1));
    return { op: "Scatter", inputs: [x.value, b.constant(randomTensor("i64", dims, b.chance.random)), b.floats(dims)] };
  },
  Unique: (b) => {
    const x = ofTypes(b, ["f32", "i64"], 1);
    return x && b.opset >= 11 ? { op: "Unique", inputs: [x.value], outputs: b.chance.between(1, 2) } : null;
  },
  Det: (b) => {
    const x = choose(b, (k) => k.dtype === "f32" && rankOf(k) >= 2 && staticDims(k).at(-1) === staticDims(k).at(-2));
    return x && b.opset >= 11 ? { op: "Det", inputs: [x.value] } : null;
  },
  GridSample: (b) => {
    const x = image(b);
    const batch = x && staticDims(x)[0];
    return batch && b.opset >= 16 ? { op: "GridSample", inputs: [x!.value, b.floats([batch, 2, 3, 2])] } : null;
  },
  RoiAlign: (b) => {
    const x = image(b);
    if (!x || b.opset < 10) return null;
    return {
      op: "RoiAlign",
      inputs: [x.value, b.constant(Tensor.f32([1, 4], [0, 0, 2, 2])), b.ints([0])],
      attributes: { output_height: attr.int(2), output_width: attr.int(2) },
    };
  },
  DynamicQuantizeLinear: (b) => {
    const x = ofTypes(b, ["f32"], 1);
    return x && b.opset >= 11 ? { op: "DynamicQuantizeLinear", inputs: [x.value], outputs: 3 } : null;
  },
  MatMulInteger: (b) => {
    const x = choose(b, (k) => k.dtype === "u8" && rankOf(k) >= 2 && staticDims(k).at(-1) !== null);
    return x && b.opset >= 10
      ? {
          op: "MatMulInteger",
          inputs: [x.value, b.constant(randomTensor("u8", [staticDims(x).at(-1)!, 2], b.chance.random))],
        }
      : null;
  },
};
