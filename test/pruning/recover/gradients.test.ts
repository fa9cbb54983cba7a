/** Every rule against the difference quotient of the runtime, along a random direction of each float32 input by itself. */
import { describe, expect, it } from "vitest";
import { type Random, seededRandom } from "../../../src/base/random.js";
import { elementCount, type Model, parseModel, Tensor, type Value } from "../../../src/ir/index.js";
import { backpropagate } from "../../../src/pruning/recover/backpropagate.js";
import { Formula } from "../../../src/pruning/recover/formula.js";
import { gradientRules } from "../../../src/pruning/recover/gradients/index.js";
import { annotateTypes } from "../../../src/rewrite/index.js";
import { describeModel } from "../../support/ask-runtime.js";
import { type Feeds, runModel } from "../../support/run-model.js";

const OPSET = 20;
/** That of Attention and RMSNormalization. */
const NEWEST = 23;

/** A slope that is flatter would hide errors. */
const STEEP = 0.2;

/** One or more per operator: inputs by name and sizes, then the nodes. */
const cases: readonly (readonly [string, string])[] = [
  ["Add, both repeated", "(x: f32[2,3,1], w: f32[3,4]) -> (y) { y = Add(x, w) }"],
  ["Sub", "(x: f32[2,3], w: f32[3]) -> (y) { y = Sub(x, w) }"],
  ["Mul, both repeated", "(x: f32[2,1,4], w: f32[3,1]) -> (y) { y = Mul(x, w) }"],
  ["Mul of one by itself", "(x: f32[2,4]) -> (y) { y = Mul(x, x) }"],
  ["Div", "(x: f32[2,3], w: f32[3]) -> (y) { e = Exp(w) y = Div(x, e) }"],
  ["Sum of three", "(x: f32[2,3], w: f32[3], v: f32[2,1]) -> (y) { y = Sum(x, w, v) }"],
  ["Neg, Identity, Dropout", "(x: f32[2,3]) -> (y) { a = Neg(x) b = Identity(a) y = Dropout(b) }"],
  ["Exp", "(x: f32[2,3]) -> (y) { y = Exp(x) }"],
  ["Log", "(x: f32[2,3]) -> (y) { e = Exp(x) y = Log(e) }"],
  ["Sqrt", "(x: f32[2,3]) -> (y) { e = Exp(x) y = Sqrt(e) }"],
  ["Reciprocal", "(x: f32[2,3]) -> (y) { e = Exp(x) y = Reciprocal(e) }"],
  ["Pow 2", "(x: f32[2,3]) -> (y) { y = Pow(x, $p: f32[] = {2.0}) }"],
  ["Pow 1.5", "(x: f32[2,3]) -> (y) { e = Exp(x) y = Pow(e, $p: f32[] = {1.5}) }"],
  ["Abs", "(x: f32[4,5]) -> (y) { y = Abs(x) }"],
  ["Relu", "(x: f32[4,5]) -> (y) { y = Relu(x) }"],
  ["LeakyRelu", "(x: f32[4,5]) -> (y) { y = LeakyRelu<alpha=0.3>(x) }"],
  ["PRelu", "(x: f32[2,3,4], w: f32[3,1]) -> (y) { y = PRelu(x, w) }"],
  ["Elu", "(x: f32[4,5]) -> (y) { y = Elu<alpha=0.7>(x) }"],
  ["Clip", "(x: f32[4,5]) -> (y) { y = Clip(x, $a: f32[] = {-0.4}, $b: f32[] = {0.6}) }"],
  ["HardSigmoid", "(x: f32[4,5]) -> (y) { y = HardSigmoid<alpha=0.4, beta=0.5>(x) }"],
  ["HardSwish", "(x: f32[4,5]) -> (y) { a = Mul(x, $k: f32[] = {3.0}) y = HardSwish(a) }"],
  ["Sigmoid", "(x: f32[4,5]) -> (y) { y = Sigmoid(x) }"],
  ["Tanh", "(x: f32[4,5]) -> (y) { y = Tanh(x) }"],
  ["Erf", "(x: f32[4,5]) -> (y) { y = Erf(x) }"],
  ["Softplus", "(x: f32[4,5]) -> (y) { y = Softplus(x) }"],
  ["Gelu", "(x: f32[4,5]) -> (y) { y = Gelu(x) }"],
  ["Gelu, tanh", '(x: f32[4,5]) -> (y) { y = Gelu<approximate="tanh">(x) }'],
  ["Max", "(x: f32[4,5], w: f32[5]) -> (y) { y = Max(x, w) }"],
  ["Min", "(x: f32[4,5], w: f32[5]) -> (y) { y = Min(x, w) }"],
  ["Where", "(x: f32[4,5], w: f32[5]) -> (y) { c = Greater(x, w) y = Where(c, x, w) }"],
  ["Reshape, Flatten", "(x: f32[2,3,4]) -> (y) { a = Reshape(x, $s: i64[2] = {4, 6}) y = Flatten<axis=0>(a) }"],
  ["Squeeze, Unsqueeze", "(x: f32[2,1,4]) -> (y) { s = Squeeze(x, $a: i64[1] = {1}) y = Unsqueeze(s, a) }"],
  ["Transpose", "(x: f32[2,3,4]) -> (y) { a = Transpose<perm=[1, 2, 0]>(x) y = Transpose(a) }"],
  ["Concat", "(x: f32[2,3], w: f32[2,2]) -> (y) { y = Concat<axis=-1>(x, w, x) }"],
  ["Split, one part unread", "(x: f32[2,6]) -> (y) { a, b, c = Split<axis=1, num_outputs=3>(x) y = Mul(a, c) }"],
  ["Slice", "(x: f32[4,6]) -> (y) { y = Slice(x, $s: i64[2] = {1, -3}, $e: i64[2] = {9223372036854775807, -1}) }"],
  ["Pad", "(x: f32[2,3]) -> (y) { y = Pad(x, $p: i64[4] = {1, 0, 0, 2}) }"],
  ["Expand", "(x: f32[2,1]) -> (y) { y = Expand(x, $s: i64[3] = {3, 1, 4}) }"],
  ["Gather, one row twice", "(x: f32[2,4,3]) -> (y) { y = Gather<axis=1>(x, $i: i64[2,2] = {0, -1, 3, 1}) }"],
  ["ReduceSum", "(x: f32[2,3,4]) -> (y) { y = ReduceSum<keepdims=0>(x, $a: i64[2] = {0, -1}) }"],
  ["ReduceMean", "(x: f32[2,3,4]) -> (y) { y = ReduceMean(x, $a: i64[1] = {1}) }"],
  ["ReduceMean of all", "(x: f32[2,3,4]) -> (y) { y = ReduceMean(x) }"],
  ["ReduceL2", "(x: f32[2,3,4]) -> (y) { y = ReduceL2<keepdims=0>(x, $a: i64[1] = {1}) }"],
  [
    "Resize, each element four times",
    '(x: f32[1,2,3,4]) -> (y) { y = Resize<mode="nearest">(x, _, $s: f32[4] = {1.0, 1.0, 2.0, 2.0}) }',
  ],
  [
    "Resize, floor",
    '(x: f32[1,2,3]) -> (y) { y = Resize<mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor">(x, _, _, $s: i64[3] = {1, 2, 9}) }',
  ],
  ["GlobalAveragePool", "(x: f32[2,3,4,5]) -> (y) { y = GlobalAveragePool(x) }"],
  ["MatMul", "(x: f32[3,4], w: f32[4,5]) -> (y) { y = MatMul(x, w) }"],
  ["MatMul, a batch and a matrix", "(x: f32[2,3,4], w: f32[4,5]) -> (y) { y = MatMul(x, w) }"],
  ["MatMul, both batches, repeated", "(x: f32[2,1,3,4], w: f32[3,4,5]) -> (y) { y = MatMul(x, w) }"],
  ["Gemm", "(x: f32[3,4], w: f32[4,5], b: f32[5]) -> (y) { y = Gemm<alpha=0.5, beta=2.0>(x, w, b) }"],
  ["Gemm, both turned", "(x: f32[4,3], w: f32[5,4], b: f32[3,1]) -> (y) { y = Gemm<transA=1, transB=1>(x, w, b) }"],
  ["Gemm, second turned", "(x: f32[3,4], w: f32[5,4]) -> (y) { y = Gemm<transB=1, alpha=1.5>(x, w) }"],
  ["Conv 3x3", "(x: f32[2,3,5,6], w: f32[4,3,3,3], b: f32[4]) -> (y) { y = Conv<pads=[1, 1, 1, 1]>(x, w, b) }"],
  ["Conv 1x1", "(x: f32[2,3,4,4], w: f32[5,3,1,1]) -> (y) { y = Conv(x, w) }"],
  [
    "Conv, strides leave a rest",
    "(x: f32[1,2,8,7], w: f32[3,2,3,2]) -> (y) { y = Conv<strides=[2, 3], pads=[1, 0, 0, 1]>(x, w) }",
  ],
  [
    "Conv, dilated",
    "(x: f32[1,2,8,8], w: f32[3,2,3,3]) -> (y) { y = Conv<dilations=[2, 2], pads=[1, 2, 2, 1]>(x, w) }",
  ],
  [
    "Conv, depthwise",
    "(x: f32[2,4,6,6], w: f32[4,1,3,3], b: f32[4]) -> (y) { y = Conv<group=4, strides=[2, 2], pads=[1, 1, 1, 1]>(x, w, b) }",
  ],
  [
    "Conv, depthwise, 5x5 one by one",
    "(x: f32[2,3,6,7], w: f32[3,1,5,5]) -> (y) { y = Conv<group=3, pads=[2, 2, 2, 2]>(x, w) }",
  ],
  [
    "Conv, depthwise, dilated, strides leave a rest",
    "(x: f32[2,3,9,8], w: f32[3,1,3,2]) -> (y) { y = Conv<group=3, strides=[2, 3], dilations=[3, 1], pads=[1, 0, 2, 1]>(x, w) }",
  ],
  [
    "Conv, depthwise, one axis",
    "(x: f32[2,3,9], w: f32[3,1,3]) -> (y) { y = Conv<group=3, strides=[2], pads=[1, 1]>(x, w) }",
  ],
  [
    "Conv, depthwise, three axes",
    "(x: f32[1,2,4,5,6], w: f32[2,1,2,3,2]) -> (y) { y = Conv<group=2, pads=[0, 1, 0, 1, 1, 0]>(x, w) }",
  ],
  [
    "Conv, many weights beside few places",
    "(x: f32[3,9,3,3], w: f32[8,9,3,3]) -> (y) { y = Conv<pads=[0, 1, 0, 0]>(x, w) }",
  ],
  [
    "Conv behind Conv",
    "(x: f32[2,3,6,6], w: f32[3,1,3,3], v: f32[4,3,1,1], u: f32[8,4,3,3]) -> (y) { a = Conv<group=3, pads=[1, 1, 1, 1]>(x, w) b = Conv(a, v) y = Conv<strides=[2, 2]>(b, u) }",
  ],
  [
    "ConvTranspose, depthwise",
    "(x: f32[2,3,4,4], w: f32[3,1,3,3]) -> (y) { y = ConvTranspose<group=3, strides=[2, 2], pads=[1, 0, 1, 0]>(x, w) }",
  ],
  ["Conv, groups of two", "(x: f32[2,4,5,5], w: f32[6,2,3,3]) -> (y) { y = Conv<group=2>(x, w) }"],
  [
    "Conv, SAME_UPPER",
    '(x: f32[1,2,7,7], w: f32[3,2,3,3]) -> (y) { y = Conv<auto_pad="SAME_UPPER", strides=[2, 2]>(x, w) }',
  ],
  ["Conv of one axis", "(x: f32[2,3,9], w: f32[4,3,3]) -> (y) { y = Conv<pads=[2, 0]>(x, w) }"],
  ["Conv of three axes", "(x: f32[1,2,3,4,5], w: f32[2,2,2,2,2]) -> (y) { y = Conv(x, w) }"],
  [
    "ConvTranspose",
    "(x: f32[2,3,4,4], w: f32[3,2,3,3], b: f32[2]) -> (y) { y = ConvTranspose<strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 0]>(x, w, b) }",
  ],
  [
    "ConvTranspose, groups",
    "(x: f32[1,4,3,3], w: f32[4,3,2,2]) -> (y) { y = ConvTranspose<group=2, strides=[2, 2]>(x, w) }",
  ],
  [
    "ConvTranspose, output_shape",
    "(x: f32[1,2,3,3], w: f32[2,3,3,3]) -> (y) { y = ConvTranspose<strides=[2, 2], output_shape=[6, 6]>(x, w) }",
  ],
  [
    "AveragePool, padding counted out",
    "(x: f32[1,2,6,6]) -> (y) { y = AveragePool<kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]>(x) }",
  ],
  [
    "AveragePool, padding counted in",
    "(x: f32[1,2,6,5]) -> (y) { y = AveragePool<kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], count_include_pad=1>(x) }",
  ],
  [
    "MaxPool, windows overlap",
    "(x: f32[2,3,6,6]) -> (y) { y = MaxPool<kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]>(x) }",
  ],
  ["Softmax", "(x: f32[2,3,4]) -> (y) { y = Softmax<axis=1>(x) }"],
  ["LogSoftmax", "(x: f32[2,3,4]) -> (y) { y = LogSoftmax(x) }"],
  ["LayerNormalization", "(x: f32[2,3,4], w: f32[4], b: f32[4]) -> (y) { y = LayerNormalization(x, w, b) }"],
  ["LayerNormalization of two axes", "(x: f32[2,3,4], w: f32[3,4]) -> (y) { y = LayerNormalization<axis=1>(x, w) }"],
  ["InstanceNormalization", "(x: f32[2,3,4,4], w: f32[3], b: f32[3]) -> (y) { y = InstanceNormalization(x, w, b) }"],
  [
    "BatchNormalization",
    "(x: f32[2,3,4,4], w: f32[3], b: f32[3]) -> (y) { y = BatchNormalization(x, w, b, $m: f32[3] = {0.1, -0.2, 0.3}, $v: f32[3] = {0.5, 1.5, 2.0}) }",
  ],
];

const ATTENTION = `<q_num_heads=2, kv_num_heads=2>`;

const newest: readonly (readonly [string, string])[] = [
  ["RMSNormalization", "(x: f32[2,3,4], w: f32[4]) -> (y) { y = RMSNormalization(x, w) }"],
  [
    "Attention, heads together",
    `(q: f32[2,3,4], k: f32[2,5,4], v: f32[2,5,6]) -> (y) { y = Attention${ATTENTION}(q, k, v) }`,
  ],
  [
    "Attention, heads apart, a mask and a scale",
    "(q: f32[2,2,3,4], k: f32[2,2,5,4], v: f32[2,2,5,4]) -> (y) { y = Attention<scale=0.3>(q, k, v, $m: f32[3,5]) }",
  ],
];

describe("gradients", () => {
  it.each([
    ...newest.map(([name, text]) => [name, text, NEWEST] as const),
    ...cases.map(([name, text]) => [name, text, OPSET] as const),
  ])("%s", async (_, text, opset) => {
    for (const slope of await slopes(text, opset)) expect(slope.analytic).toSatisfy(isNear(slope), described(slope));
  });

  it("has a case for each rule", () => {
    const text = [...cases, ...newest].map(([, each]) => each).join(" ");
    const tested = [...gradientRules.keys()].filter((op) => RegExp(`= ${op}[(<]`).test(text));
    expect([...gradientRules.keys()].filter((op) => !tested.includes(op))).toEqual([]);
  });

  it("adds up what reaches a value by several ways", async () => {
    const [slope] = await slopes("(x: f32[2,3]) -> (y, z) { a = Tanh(x) b = Mul(a, x) y = Add(a, b) z = Sigmoid(a) }");
    expect(slope!.analytic).toSatisfy(isNear(slope!), described(slope!));
  });

  it("names the node that no gradient passes, and goes on elsewhere", async () => {
    const model = parseModel("(x: f32[2,3], w: f32[2,3]) -> (y) { a = Round(x) b = Mul(w, w) y = Add(a, b) }", {
      opset: OPSET,
    });
    const { gradients, blocked } = await differentiate(model);
    expect([...gradients.keys()].map(({ label }) => label)).toEqual(["w"]);
    expect([...blocked.values()]).toEqual(["Round has no gradient here"]);
  });
});

const numbers = (count: number, random: Random): Float32Array =>
  Float32Array.from({ length: count }, () => (random.next() - 0.5) * 3);

async function differentiate(model: Model): Promise<ReturnType<typeof backpropagate>> {
  const { problem } = await annotateTypes(model, describeModel);
  expect(problem).toBeNull();
  const random = seededRandom(11);
  const f = new Formula(model.graph, "test/");
  const seeds = new Map<Value, Value>();
  for (const { value } of model.graph.outputs) {
    const dims = value.shape as number[];
    seeds.set(value, f.tensor(Tensor.f32(dims, numbers(elementCount(dims), random))));
  }
  const wanted = new Set(model.graph.inputs.filter(({ dtype }) => dtype === "f32"));
  return backpropagate(model.graph, seeds, wanted, f);
}

interface Slope {
  readonly input: string;
  readonly analytic: number;
  readonly measured: number;
}

/** One in a hundred; numbers of the runtime are good for a few in ten thousand of slopes about 1. */
const isNear =
  ({ measured }: Slope) =>
  (analytic: number): boolean =>
    Math.abs(measured) > STEEP && Math.abs(analytic - measured) < 0.01 * Math.abs(measured) + 0.001;

const described = ({ input, analytic, measured }: Slope): string =>
  `along ${input} the gradient says ${analytic}, and the difference quotient ${measured}`;

/** The slope of sum(seed * outputs) along a direction of each input: by the gradients, and by two runs on either side. */
async function slopes(text: string, opset = OPSET): Promise<Slope[]> {
  const model = parseModel(text, { opset });
  const { gradients, blocked } = await differentiate(model);
  expect([...blocked.values()]).toEqual([]);
  const { graph } = model;
  const seeds = graph.outputs.map(({ name }) => name);
  for (const [value, gradient] of gradients) graph.addOutput(`d ${value.label}`, gradient);
  expect(gradients.size).toBe(graph.inputs.length);
  const random = seededRandom(5);
  const at = new Map(graph.inputs.map(({ label, shape }) => [label, numbers(elementCount(shape as number[]), random)]));
  const feeds = (moved: string | null, by: (i: number) => number): Feeds =>
    Object.fromEntries(
      graph.inputs.map(({ label, shape }) => {
        const values = at.get(label)!.map((value, i) => (label === moved ? value + by(i) : value));
        return [label, Tensor.f32(shape as number[], values)];
      }),
    );
  const seedRandom = seededRandom(11);
  const weights = new Map<string, Float32Array>();
  const value = (outputs: Readonly<Record<string, Tensor>>): number =>
    seeds.reduce((sum, name) => {
      const result = outputs[name]!.f32();
      if (!weights.has(name)) weights.set(name, numbers(result.length, seedRandom));
      return sum + dot(result, weights.get(name)!);
    }, 0);
  const here = await runModel(
    model,
    feeds(null, () => 0),
  );
  const found: Slope[] = [];
  for (const { label } of graph.inputs) {
    const gradient = here[`d ${label}`]!.f32();
    // Uphill by different amounts, so that slopes of elements do not cancel; where the gradient says 0, any way.
    const direction = gradient.map((each) => (0.25 + 1.5 * random.next()) * (each < 0 ? -1 : 1));
    const step = 1e-3;
    const above = await runModel(
      model,
      feeds(label, (i) => step * direction[i]!),
    );
    const below = await runModel(
      model,
      feeds(label, (i) => -step * direction[i]!),
    );
    const measured = (value(above) - value(below)) / (2 * step);
    found.push({ input: label, analytic: dot(gradient, direction), measured });
  }
  return found;
}

const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((sum, each, i) => sum + each * b[i]!, 0);
