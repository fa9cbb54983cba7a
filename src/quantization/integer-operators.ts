/**
 * Q/DQ pairs around nodes turned into the integer operators of ai.onnx (`--format qoperator`):
 *
 *   Q(Conv(DQ(x), DQ(w), DQ(b)))  =>  QLinearConv(x, w, b)     also with a Relu or Clip before the Q that Q's saturation is
 *   Q(MatMul(DQ(a), DQ(b)))       =>  QLinearMatMul(a, b)
 *   MatMul(DQ(a), DQ(w))          =>  Mul(Cast(MatMulInteger(a, w)), scale of a * scales of w)    and Gemm, plus its bias
 *   Q(MaxPool(DQ(x)))             =>  MaxPool(x), as all that only moves elements, where both scales are the same
 *
 * The integers are the same, rounded once in the same place. What has no integer operator in ai.onnx
 * (Add, Mul, Concat, Sigmoid, a Gemm whose result is quantized, ...) keeps its pairs.
 */
import { attr, type Model, type Node, Tensor, type Value } from "../ir/index.js";
import { removeUnreadConstants } from "./dead-constants.js";
import { isTurnedGemm, whyNotPlainGemm } from "./gemm.js";

/** Moves elements of 8 bits as it does floats, since opset 13. */
const movers = new Set([
  "Reshape",
  "Transpose",
  "Squeeze",
  "Unsqueeze",
  "Flatten",
  "Slice",
  "Gather",
  "Tile",
  "MaxPool",
]);

/** Returns how many nodes compute on integers without pairs now. */
export function toIntegerOperators(model: Model): number {
  let made = 0;
  for (const node of [...model.graph.nodes()]) {
    if (node.domain === "" && convert(node)) made++;
  }
  removeUnreadConstants(model.graph);
  return made;
}

function convert(node: Node): boolean {
  if (node.op === "Conv") return convertConv(node);
  if (node.op === "MatMul") return convertMatMul(node);
  if (node.op === "Gemm") return convertGemm(node);
  return movers.has(node.op) && convertMover(node);
}

/** What a DequantizeLinear widens. */
interface Widened {
  readonly integers: Value;
  readonly scale: Value;
  readonly zeroPoint: Value;
}

/** Null for a value that is no integers, and for blocks of them, which no operator takes. */
function widened(value: Value | null | undefined): Widened | null {
  const node = value?.producer;
  if (!node?.is("DequantizeLinear") || node.int("block_size", 0) !== 0) return null;
  const [integers, scale, zeroPoint] = node.inputs;
  return integers && scale && zeroPoint ? { integers, scale, zeroPoint } : null;
}

/** The only reader, where that is a QuantizeLinear, behind an activation that its saturation is. */
function quantizedBy(value: Value): Node | null {
  const only = soleReaderOf(value);
  if (only?.is("QuantizeLinear")) return only;
  const isClamp = only?.is("Relu") || only?.is("Clip");
  const behind = isClamp ? soleReaderOf(only!.output) : null;
  return behind?.is("QuantizeLinear") && saturatesAlike(only!, behind) ? behind : null;
}

function soleReaderOf(value: Value): Node | null {
  const [use] = value.uses;
  return value.useCount === 1 && use?.kind === "input" && use.index === 0 ? use.node : null;
}

/** Whether no integer stands for more than the clamp lets through. */
function saturatesAlike(clamp: Node, quantize: Node): boolean {
  const [, scale, zeroPoint] = quantize.inputs;
  const step = scale?.constant?.toF32()?.[0];
  const zero = zeroPoint?.constant;
  if (step === undefined || zero?.dtype !== "u8" || zero.bytes()[0] !== 0) return false;
  if (clamp.is("Relu")) return true;
  const [low, high] = [1, 2].map((index) => clamp.inputs[index]?.constant?.toF32()?.[0]);
  return low === 0 && (!clamp.inputs[2] || (high !== undefined && Math.fround(step * 255) <= high));
}

function convertConv(node: Node): boolean {
  const [x, w, b] = node.inputs.map(widened);
  const quantize = quantizedBy(node.output);
  const isBiased = Boolean(node.inputs[2]);
  if (!x || !w || !quantize || (isBiased && b?.integers.dtype !== "i32")) return false;
  const biases = isBiased ? [b!.integers] : [];
  replaceQuantized(node, quantize, "QLinearConv", [...partsOf(x), ...partsOf(w), ...resultOf(quantize), ...biases]);
  return true;
}

const partsOf = ({ integers, scale, zeroPoint }: Widened): Value[] => [integers, scale, zeroPoint];

/** Scale and zero point of what a QuantizeLinear makes. */
const resultOf = ({ inputs: [, scale, zeroPoint] }: Node): Value[] => [scale!, zeroPoint!];

function convertMatMul(node: Node): boolean {
  const [a, b] = node.inputs.map(widened);
  if (!a || !b) return false;
  const quantize = quantizedBy(node.output);
  if (!quantize) return convertToFloatResult(node, a, b, null);
  replaceQuantized(node, quantize, "QLinearMatMul", [...partsOf(a), ...partsOf(b), ...resultOf(quantize)]);
  return true;
}

/** With constant weights and bias, and nothing but those two done to the product. */
function convertGemm(node: Node): boolean {
  const [a, b, c] = node.inputs.map(widened);
  if (!a || !b?.integers.constant || whyNotPlainGemm(node) !== null || quantizedBy(node.output)) return false;
  if (!node.inputs[2]) return convertToFloatResult(node, a, turned(node, b), null);
  const [biases, scales] = [c?.integers.constant, c?.scale.constant?.toF32()];
  if (biases?.dtype !== "i32" || !scales) return false;
  const values = biases.bigints()!.map((bias, i) => Number(bias) * (scales[i] ?? scales[0]!));
  const bias = node.graph.addConstant(node.inputs[2].label, Tensor.f32([values.length], values));
  return convertToFloatResult(node, a, turned(node, b), bias);
}

/** The weights as rows of inputs and columns of outputs. */
function turned(node: Node, weight: Widened): Widened {
  if (!isTurnedGemm(node)) return weight;
  const { dims } = weight.integers.constant!;
  const [outputs, inputs] = dims as [number, number];
  const bytes = weight.integers.constant!.bytes();
  const columns = new Uint8Array(bytes.length);
  for (let o = 0; o < outputs; o++) for (let i = 0; i < inputs; i++) columns[i * outputs + o] = bytes[o * inputs + i]!;
  const tensor = Tensor.fromBytes(weight.integers.constant!.dtype, [inputs, outputs], columns);
  return { ...weight, integers: node.graph.addConstant(weight.integers.label, tensor) };
}

/** The runtime makes one kernel of it, as it does of the pairs. */
function convertToFloatResult(node: Node, a: Widened, b: Widened, bias: Value | null): boolean {
  const scales = b.scale.constant?.toF32();
  const [step] = a.scale.constant?.toF32() ?? [];
  if (!scales || step === undefined || !b.integers.constant) return false;
  const { graph, output } = node;
  const { label, shape } = output;
  const combined = graph.addConstant(
    `${label}/scale`,
    Tensor.f32(
      b.scale.constant!.dims,
      scales.map((s) => s * step),
    ),
  );
  const add = (op: string, inputs: Value[], dtype: "i32" | "f32", attributes = {}): Value =>
    graph.addNode(
      {
        op,
        name: op === "MatMulInteger" ? node.name : `${node.name}/${op}`,
        inputs,
        attributes,
        outputs: [{ label: `${label}/${op}`, type: { dtype, shape } }],
        provenance: node.provenance,
      },
      node,
    ).output;
  const sum = add("MatMulInteger", [a.integers, b.integers, a.zeroPoint, b.zeroPoint], "i32");
  const product = add("Mul", [add("Cast", [sum], "f32", { to: attr.int(1) }), combined], "f32");
  const real = bias ? add("Add", [product, bias], "f32") : product;
  const feeders = feedersOf(node);
  graph.replaceUses(output, real);
  graph.removeNode(node);
  real.label = label;
  sweep(feeders);
  return true;
}

/** Only where both ends stand for the same numbers. */
function convertMover(node: Node): boolean {
  const x = widened(node.inputs[0]);
  const quantize = node.outputs.length === 1 ? quantizedBy(node.output) : null;
  if (!x || !quantize || quantize.inputs[0] !== node.output || x.integers.constant) return false;
  if (!isSame(x.scale, quantize.inputs[1]) || !isSame(x.zeroPoint, quantize.inputs[2])) return false;
  replaceQuantized(node, quantize, node.op, [x.integers, ...node.inputs.slice(1)]);
  return true;
}

function isSame(a: Value, b: Value | null | undefined): boolean {
  const [one, other] = [a.constant, b?.constant];
  if (!one || !other || one.dtype !== other.dtype || one.elementCount !== 1 || other.elementCount !== 1) return false;
  return Buffer.compare(one.bytes(), other.bytes()) === 0;
}

/** Puts an operator on integers in the place of a node, what reads its float result, and the QuantizeLinear in the end. */
function replaceQuantized(node: Node, quantize: Node, op: string, inputs: (Value | null)[]): void {
  const { graph, name, attributes, provenance } = node;
  const { label, type } = quantize.output;
  const made = graph.addNode({ op, name, inputs, attributes, outputs: [{ label, type }], provenance }, quantize).output;
  graph.replaceUses(quantize.output, made);
  const between = quantize.inputs[0]!.producer!;
  graph.removeNode(quantize);
  if (between !== node) graph.removeNode(between);
  const feeders = feedersOf(node);
  graph.removeNode(node);
  made.label = label;
  sweep(feeders);
}

const feedersOf = (node: Node): Node[] => node.inputs.flatMap((value) => value?.producer ?? []);

/** DequantizeLinear that nobody reads any longer. */
function sweep(nodes: readonly Node[]): void {
  for (const node of new Set(nodes)) {
    if (node.is("DequantizeLinear") && node.output.useCount === 0) node.graph.removeNode(node);
  }
}
