/**
 * Gemm(Gemm(x, V, a), W, b)        =>  Gemm(x, V W, a W + b)          MatMul alike, without bias
 * Conv(Conv(x, V, a), W, b)        =>  Conv(x, W V, W a + b)          W of kernel 1
 * Conv(Conv(x, V), W, b)           =>  Conv(x, W V, b)                V of kernel 1
 *
 * Nothing stands between the two, and the one weight is no larger than the two were, so
 * that neither arithmetic nor memory grows. Where V has kernel 1 and W pads, V has no
 * bias: the border would lack it.
 *
 * As integers more arithmetic pays: what stands between two products is rounded to 8 bits,
 * which is where narrow tensors near the inputs lose most (the 16 channels between the first
 * two blocks of MobileNetV2), and it is converted and written besides.
 */
import { type Attribute, attr, elementCount, type Node } from "../../ir/index.js";
import { type Answer, defineRewrite, type Rewrite, type RewriteContext } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";
import { tensorLike } from "../fuse/computed-tensor.js";
import { doesNotPad } from "../fuse/input-affine.js";
import { floatsOf, type Linear, linearOf } from "../fuse/linear.js";

/** Multiplications that are done at once; about a second. */
const MOST_MULTIPLICATIONS = 1e9;

/** Of the weights, and with them of the arithmetic, where the products are integers: about what the tensor between them takes. */
const GROWTH_OF_INTEGERS = 1.6;

/** @param growth what the product of the weights may have, of the elements of the two */
const linearChain = (name: string, summary: string, growth: number): Rewrite =>
  defineRewrite({
    name,
    summary,
    numerics: "rounding",
    roots: ["Conv", "Gemm", "MatMul"],
    minOpset: 7,
    rewrite(root, context) {
      const ops = root.op === "Conv" ? ["Conv"] : ["Gemm", "MatMul"];
      const first = ops.map((op) => soleProducer(root.inputs[0], op)).find((node) => node !== null);
      if (!first?.inputs[1]?.constant || !root.inputs[1]?.constant) return null;
      const [inner, outer] = [linearOf(first), linearOf(root)];
      if (typeof inner === "string") return context.skip(inner);
      if (typeof outer === "string") return context.skip(outer);
      if (inner.weightTensor.dtype !== outer.weightTensor.dtype) return null;
      const fuse = root.op === "Conv" ? fuseConvs : fuseMatrices;
      return fuse(inner, outer, growth, context);
    },
  });

export const fuseLinearChain = linearChain(
  "fuse-linear-chain",
  "Multiply the weights of two Conv, Gemm or MatMul in a row where the product is no larger",
  1,
);

export const joinLinearChain = linearChain(
  "join-linear-chain",
  "Multiply the weights of two integer Conv, Gemm or MatMul in a row also where the product is a little larger",
  GROWTH_OF_INTEGERS,
);

const GROWS = "the product of the weights would be larger than the two";

function fuseMatrices(inner: Linear, outer: Linear, growth: number, context: RewriteContext): Answer {
  const { node: second } = outer;
  if (inner.node.int("transA", 0) !== 0 || second.int("transA", 0) !== 0) return context.skip("an input is transposed");
  const rows = inner.weightTensor.elementCount / inner.channels;
  const fault = sizeFault(rows * outer.channels, growth, inner, outer, rows * inner.channels * outer.channels);
  if (fault) return fault === GROWS ? null : context.skip(fault);
  const [v, w] = [matrixOf(inner), matrixOf(outer)];
  const weight = product(v, w);
  const bias = product({ rows: 1, columns: inner.channels, data: inner.bias }, w);
  const { dtype } = outer.weightTensor;
  const newWeight = tensorLike(dtype, [v.rows, w.columns], weight);
  const newBias = tensorLike(
    dtype,
    [w.columns],
    bias.map((value, j) => value + outer.bias[j]!),
  );
  if (!newWeight || !newBias) return context.skip("the product of the weights leaves the range of its type");
  const inputs = [inner.node.inputs[0]!, context.constant(outer.weight.label, newWeight)];
  const options = { like: second, types: [second.output.type] };
  const hasBias = [inner, outer].some(({ bias: own }) => own.some((value) => value !== 0));
  if (!hasBias && (inner.node.op === "MatMul" || second.op === "MatMul")) {
    return context.create("MatMul", inputs, {}, options);
  }
  // A bias says that one of them is a Gemm, and then x is a matrix.
  inputs.push(context.constant(outer.biasLabel, newBias));
  return context.create("Gemm", inputs, {}, options);
}

interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly data: Float64Array;
}

/** The weight as y = x V has it, alpha included. */
function matrixOf({ node, weightTensor }: Linear): Matrix {
  const from = floatsOf(weightTensor)!;
  const [rows = 0, columns = 0] = weightTensor.dims;
  const alpha = node.op === "Gemm" ? node.float("alpha", 1) : 1;
  if (node.op === "MatMul" || node.int("transB", 0) === 0) {
    const data = new Float64Array(from);
    if (alpha !== 1) for (let i = 0; i < data.length; i++) data[i]! *= alpha;
    return { rows, columns, data };
  }
  const data = Float64Array.from(from, (_, i) => alpha * from[(i % rows) * columns + Math.floor(i / rows)]!);
  return { rows: columns, columns: rows, data };
}

function product({ rows, columns: middle, data: a }: Matrix, { columns, data: b }: Matrix): Float64Array {
  const result = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++) {
    const row = i * columns;
    let k = 0;
    // Four at a time, in the same order: the sums lie in memory and are fetched once for all four.
    for (; k + 3 < middle; k += 4) {
      const at = i * middle + k;
      const [p, q, r, s] = [a[at]!, a[at + 1]!, a[at + 2]!, a[at + 3]!];
      const first = k * columns;
      const second = first + columns;
      const third = second + columns;
      const fourth = third + columns;
      for (let j = 0; j < columns; j++) {
        result[row + j] =
          result[row + j]! + p * b[first + j]! + q * b[second + j]! + r * b[third + j]! + s * b[fourth + j]!;
      }
    }
    for (; k < middle; k++) {
      const factor = a[i * middle + k]!;
      for (let j = 0; j < columns; j++) result[row + j]! += factor * b[k * columns + j]!;
    }
  }
  return result;
}

/** [count, rows, columns] with the last two axes in each other's place. */
function swapped(data: Float64Array, count: number, rows: number, columns: number): Float64Array {
  const result = new Float64Array(data.length);
  let at = 0;
  for (let block = 0; block < count; block++) {
    const start = block * rows * columns;
    for (let j = 0; j < columns; j++) {
      for (let i = 0; i < rows; i++) result[at++] = data[start + i * columns + j]!;
    }
  }
  return result;
}

function sizeFault(
  elements: number,
  growth: number,
  inner: Linear,
  outer: Linear,
  multiplications: number,
): string | null {
  // A weight that others read stays where it is.
  const gone = [inner, outer].reduce((sum, { weight, weightTensor }) => {
    return weight.useCount > 1 ? sum : sum + weightTensor.elementCount;
  }, 0);
  if (elements > growth * gone) return GROWS;
  return multiplications > MOST_MULTIPLICATIONS ? "the weights are too large to multiply here" : null;
}

function fuseConvs(inner: Linear, outer: Linear, growth: number, context: RewriteContext): Answer {
  const { skip } = context;
  const [first, second] = [inner.node, outer.node];
  const [middle = 0, channels = 0, ...kernel] = inner.weightTensor.dims;
  const [results = 0, , ...outerKernel] = outer.weightTensor.dims;
  if (first.int("group", 1) !== 1 || second.int("group", 1) !== 1) return null;
  const isPointAfter = isPoint(outer);
  if (!isPointAfter && !(isPoint(inner) && isDense(first))) return null;
  if (!isPointAfter && !doesNotPad(outer) && inner.bias.some((value) => value !== 0)) {
    return skip("the second Conv pads, and the border would lack the bias of the first");
  }
  const strides = second.ints("strides") ?? outerKernel.map(() => 1);
  const steps = first.ints("strides") ?? kernel.map(() => 1);
  const autoPad = first.string("auto_pad", "NOTSET");
  // SAME counts from the stride.
  if (isPointAfter && autoPad !== "NOTSET" && autoPad !== "VALID" && !isDense(second)) {
    return skip(`auto_pad is ${autoPad}`);
  }
  const window = isPointAfter ? kernel : outerKernel;
  const volume = elementCount(window);
  const elements = results * channels * volume;
  const fault = sizeFault(elements, growth, inner, outer, elements * middle);
  if (fault) return fault === GROWS ? null : skip(fault);

  const v = new Float64Array(floatsOf(inner.weightTensor)!);
  const w = new Float64Array(floatsOf(outer.weightTensor)!);
  const row = channels * volume;
  let weight: Float64Array;
  if (isPointAfter) {
    weight = product({ rows: results, columns: middle, data: w }, { rows: middle, columns: row, data: v });
  } else {
    // With the channels last, so that what is added up lies side by side.
    const turned = swapped(w, results, middle, volume);
    const inner = { rows: middle, columns: channels, data: v };
    const last = product({ rows: results * volume, columns: middle, data: turned }, inner);
    weight = swapped(last, results, volume, channels);
  }
  const bias = Float64Array.from(outer.bias);
  const reach = isPointAfter ? 1 : volume;
  for (let m = 0; m < results; m++) {
    for (let k = 0; k < middle; k++) {
      const at = (m * middle + k) * reach;
      for (let p = 0; p < reach; p++) bias[m]! += w[at + p]! * inner.bias[k]!;
    }
  }
  const { dtype } = outer.weightTensor;
  const newWeight = tensorLike(dtype, [results, channels, ...window], weight);
  const newBias = tensorLike(dtype, [results], bias);
  if (!newWeight || !newBias) return skip("the product of the weights leaves the range of its type");
  const attributes = new Map<string, Attribute>((isPointAfter ? first : second).attributes);
  if (isPointAfter) attributes.set("strides", attr.ints(strides.map((stride, i) => stride * steps[i]!)));
  attributes.set("kernel_shape", attr.ints(window));
  const inputs = [first.inputs[0]!, context.constant(outer.weight.label, newWeight)];
  if (bias.some((value) => value !== 0)) inputs.push(context.constant(outer.biasLabel, newBias));
  return context.create("Conv", inputs, attributes, { like: second, types: [second.output.type] });
}

/** A kernel of one element that sees no padding. */
const isPoint = (linear: Linear): boolean =>
  linear.weightTensor.dims.slice(2).every((size) => size === 1) && (doesNotPad(linear) || seesNoPadding(linear.node));

/** SAME pads nothing where kernel and stride are 1. */
const seesNoPadding = (conv: Node): boolean => conv.string("auto_pad", "NOTSET").startsWith("SAME") && isDense(conv);

const isDense = (conv: Node): boolean => (conv.ints("strides") ?? []).every((stride) => stride === 1);
