/** One near miss each: exactly that node is listed, with the reason. And graphs in which nobody misses anything. */
import { describe, expect, it } from "vitest";
import { check, parseModel } from "../../../src/ir/index.js";
import { catalog, recipes } from "../../../src/passes/catalog.js";
import { opsetRaiser } from "../../../src/pipeline/prepare/raise-opset.js";
import { findUnfused, type UnfusedNode } from "../../../src/pipeline/unfused/find-unfused.js";
import { type AnyPass, annotateTypes, runPasses } from "../../../src/rewrite/index.js";
import { describeModel, evaluate } from "../../support/ask-runtime.js";

interface Options {
  readonly opset?: number;
  readonly passes?: readonly AnyPass[];
  readonly raiseOpset?: () => string;
  /** The runtime cannot load it. */
  readonly isUntyped?: boolean;
}

async function unfusedIn(text: string, options: Options = {}): Promise<readonly UnfusedNode[]> {
  const { opset = 17, passes = catalog, raiseOpset = opsetRaiser() } = options;
  const model = parseModel(text, { opset });
  check(model.graph);
  if (!options.isUntyped) await annotateTypes(model, describeModel);
  const annotate = (each: typeof model) => annotateTypes(each, describeModel, { isRepeated: true });
  const reports = await runPasses(model, passes, { evaluate, annotate, raiseOpset });
  return findUnfused(model, reports);
}

const line = ({ node, op, reason }: UnfusedNode): string => `${op} ${node}: ${reason}`;

const image = "x: f32[1,3,8,8]";
const w = "$w: f32[4,3,3,3]";
const statistics = "$g: f32[4], $b: f32[4], $m: f32[4], $v: f32[4] = {1,1,1,1}";

/** What is listed, by a near miss: the graph, the node and the start of the reason. */
const misses: Readonly<Record<string, readonly [text: string, expected: readonly string[], options?: Options]>> = {
  "a BatchNormalization whose Conv others read": [
    `(${image}) -> (y, z) { c = Conv(x, ${w})  y = BatchNormalization(c, ${statistics})  z = Relu(c) }`,
    ["BatchNormalization BatchNormalization:y: other nodes read the Conv too"],
  ],
  "a BatchNormalization behind a Relu": [
    `(x: f32[1,4,8,8]) -> (y) { r = Relu(x)  y = BatchNormalization(r, ${statistics}) }`,
    [
      "BatchNormalization BatchNormalization:y: no Conv, ConvTranspose, Gemm or MatMul before it: a Relu; an output of the graph behind it",
    ],
  ],
  "a BatchNormalization in training mode": [
    `(${image}) -> (y) { c = Conv(x, ${w})  y = BatchNormalization<training_mode=1>(c, ${statistics}) }`,
    ["BatchNormalization BatchNormalization:y: BatchNormalization is in training mode"],
  ],
  "a BatchNormalization whose Conv has computed weights": [
    `(${image}, k: f32[4,3,3,3]) -> (y) { c = Conv(x, k)  y = BatchNormalization(c, ${statistics}) }`,
    ["BatchNormalization BatchNormalization:y: the weight is no constant"],
  ],
  "a factor behind a Conv that others read": [
    `(${image}) -> (y, z) { c = Conv(x, ${w})  y = Mul(c, $f: f32[] = {2.0})  z = Relu(c) }`,
    ["Mul Mul:y: other nodes read the Conv too"],
  ],
  "a factor behind a Conv that differs along the width": [
    `(${image}) -> (y) { c = Conv(x, ${w})  y = Mul(c, $f: f32[6] = {1,2,3,4,5,6}) }`,
    ["Mul Mul:y: the constant is not one number per channel"],
  ],
  "an addend before a Conv that pads": [
    `(${image}) -> (y) { a = Add(x, $f: f32[1,3,1,1] = {1,2,3})  r = Conv<pads=[1,1,1,1]>(a, ${w})  y = Relu(r) }`,
    ["Add Add:a: the Conv pads, and the border would lack the addend"],
  ],
  "an addend behind a MatMul of three axes": [
    "(x: f32[2,5,3]) -> (y) { m = MatMul(x, $w: f32[3,4])  y = Add(m, $b: f32[4]) }",
    ["Add Add:y: Gemm multiplies matrices, and a factor has 3 axes"],
  ],
  "a Pad that reflects": [
    `(${image}) -> (y) { p = Pad<mode="reflect">(x, $pads: i64[8] = {0,0,1,1,0,0,1,1})  y = Conv(p, ${w}) }`,
    ["Pad Pad:p: only padding by a constant can move"],
  ],
  "a Pad that others read": [
    `(${image}) -> (y, z) { p = Pad(x, $pads: i64[8] = {0,0,1,1,0,0,1,1})  y = Conv(p, ${w})  z = Relu(p) }`,
    ["Pad Pad:p: other nodes read the padded tensor too"],
  ],
  "a Pad before a MaxPool": [
    `(${image}) -> (y) {
      p = Pad(x, $pads: i64[8] = {0,0,1,1,0,0,1,1}, $two: f32[] = {2.0})
      y = MaxPool<kernel_shape=[2,2]>(p)
    }`,
    ["Pad Pad:p: the padding may be the largest of a window"],
  ],
  "a Gelu with another factor": [
    `(x: f32[2,3]) -> (y) {
      a = Mul(x, $f: f32[] = {0.7})  e = Erf(a)  s = Add(e, $one: f32[] = {1.0})
      h = Mul(x, $half: f32[] = {0.5})  y = Mul(h, s)
    }`,
    ["Erf Erf:e: the factor before the Erf is not 1 / sqrt(2): 0.7"],
  ],
  "a Gelu whose Erf others read": [
    `(x: f32[2,3]) -> (y, z) {
      a = Div(x, $f: f32[] = {1.4142135})  e = Erf(a)  s = Add(e, $one: f32[] = {1.0})
      h = Mul(x, $half: f32[] = {0.5})  y = Mul(h, s)  z = Relu(e)
    }`,
    ["Erf Erf:e: other nodes read the Erf too"],
  ],
  "a Gelu in an opset that stays": [
    `(x: f32[2,3]) -> (y) {
      a = Div(x, $f: f32[] = {1.4142135})  e = Erf(a)  s = Add(e, $one: f32[] = {1.0})
      h = Mul(x, $half: f32[] = {0.5})  y = Mul(h, s)
    }`,
    ["Erf Erf:e: needs opset 20: --keep-opset was given"],
    { raiseOpset: () => "--keep-opset was given" },
  ],
  "a hard swish by another number": [
    `(x: f32[2,3]) -> (y) {
      a = Add(x, $three: f32[] = {3.0})  c = Clip(a, $lo: f32[] = {0.0}, $hi: f32[] = {6.0})
      m = Mul(x, c)  y = Div(m, $five: f32[] = {5.0})
    }`,
    ["Clip Clip:c: what is clipped to 0..6 is not divided by 6"],
  ],
  "a gate that is no HardSwish": [
    "(x: f32[2,3]) -> (y) { g = HardSigmoid<alpha=0.2>(x)  y = Mul(x, g) }",
    ["HardSigmoid HardSigmoid:g: HardSwish has alpha 1/6 and beta 1/2, and this gate others"],
  ],
  "x * Sigmoid(x)": [
    "(x: f32[2,3]) -> (y) { s = Sigmoid(x)  y = Mul(x, s) }",
    ["Sigmoid Sigmoid:s: x * Sigmoid(x) is an operator, Swish, from opset 24 on"],
  ],
  "an attention on three axes": [
    `(q: f32[2,5,4], k: f32[2,4,6], v: f32[2,6,4]) -> (y) {
      a = MatMul(q, k)  b = Mul(a, $scale: f32[] = {0.5})  p = Softmax<axis=-1>(b)  y = MatMul(p, v)
    }`,
    ["MatMul MatMul:y: query, key and value have 3 axes, and Attention tells heads by four"],
  ],
  "a LayerNormalization without an epsilon": [
    `(x: f32[2,8]) -> (y) {
      m = ReduceMean<axes=[-1]>(x)  d = Sub(x, m)  q = Mul(d, d)  v = ReduceMean<axes=[-1]>(q)
      s = Sqrt(v)  y = Div(d, s)
    }`,
    ["Sqrt Sqrt:s: no epsilon is added before the root"],
  ],
  "a LayerNormalization whose distance from the mean others read": [
    `(x: f32[2,8]) -> (y, z) {
      m = ReduceMean<axes=[-1]>(x)  d = Sub(x, m)  q = Mul(d, d)  v = ReduceMean<axes=[-1]>(q)
      e = Add(v, $eps: f32[] = {0.001})  s = Sqrt(e)  y = Div(d, s)  z = Relu(d)
    }`,
    ["Sqrt Sqrt:s: the distance from the mean is read elsewhere, or is not what is divided"],
  ],
  "a LayerNormalization whose variance others read": [
    `(x: f32[2,8]) -> (y, z) {
      m = ReduceMean<axes=[-1]>(x)  d = Sub(x, m)  q = Mul(d, d)  v = ReduceMean<axes=[-1]>(q)
      e = Add(v, $eps: f32[] = {0.001})  s = Sqrt(e)  y = Div(d, s)  z = Relu(v)
    }`,
    ["Sqrt Sqrt:s: other nodes read the variance too"],
  ],
  "a LayerNormalization over axes that are not the last": [
    `(x: f32[2,8,3,5]) -> (y) {
      m = ReduceMean<axes=[2]>(x)  d = Sub(x, m)  q = Mul(d, d)  v = ReduceMean<axes=[2]>(q)
      e = Add(v, $eps: f32[] = {0.001})  s = Sqrt(e)  y = Div(d, s)
    }`,
    ["Sqrt Sqrt:s: the axes are not the last ones"],
  ],
  "a LayerNormalization of few channels": [
    `(x: f32[2,8,3]) -> (y) {
      m = ReduceMean<axes=[1]>(x)  d = Sub(x, m)  q = Mul(d, d)  v = ReduceMean<axes=[1]>(q)
      e = Add(v, $eps: f32[] = {0.001})  s = Sqrt(e)  y = Div(d, s)
    }`,
    ["Sqrt Sqrt:s: fewer than 16 channels, or nobody knows how many"],
  ],
  "a Softmax over an axis before the last": [
    `(x: f32[2,8,3]) -> (y) { e = Exp(x)  s = ReduceSum(e, $axis: i64[1] = {1})  y = Div(e, s) }`,
    ["Exp Exp:e: over an axis before the last one, the operators written out are faster"],
  ],
  "a Transpose of an input": [
    "(x: f32[2,3,4,4]) -> (y) { t = Transpose<perm=[0,2,3,1]>(x)  y = Softmax(t) }",
    ["Transpose Transpose:t: it turns an input, whose layout stays"],
  ],
  "a Transpose before a MatMul": [
    "(x: f32[2,5,3], z: f32[2,4,3]) -> (y) { r = Relu(z)  t = Transpose<perm=[0,2,1]>(r)  y = MatMul(x, t) }",
    ["Transpose Transpose:t: the MatMul behind it wants its factor in this order"],
  ],
  "a Reshape of a Reshape that others read": [
    `(x: f32[2,6]) -> (y, z) {
      e = Exp(x)  a = Reshape(e, $s: i64[2] = {3,4})  y = Reshape(a, $t: i64[2] = {4,3})  z = Relu(a)
    }`,
    ["Reshape Reshape:y: other nodes read the Reshape before it too"],
  ],
  "sizes of an input that are open": [
    "(x: f32[N,3]) -> (y) { y = Shape(x) }",
    ["Shape Shape:y: sizes are known at run time only (N)"],
  ],
  "two Casts in a row that lose digits": [
    "(x: f32[3]) -> (y) { a = Cast<to=6>(x)  y = Cast<to=1>(a) }",
    ["Cast Cast:y: the first Cast can lose what the second cannot bring back: f32 to i32 to f32"],
  ],
  "an Identity between an input and an output": [
    "(x: f32[3]) -> (y) { y = Identity(x) }",
    ["Identity Identity:y: it hands an input to an output, and both keep their names"],
  ],
  "a Dropout whose mask is read": [
    "(x: f32[3]) -> (y, z) { y, m = Dropout(x)  z = Not(m) }",
    ["Dropout Dropout:y: the mask is read"],
  ],
  "a Loop that each iteration may end": [
    `(x: f32[]) -> (y) {
      y = Loop<body=(i: i64[], c: bool[], s: f32[]) -> (k, t) { t = Add(s, s)  k = Less(t, $most: f32[] = {9.0}) }>(
        $n: i64[] = {9}, $go: bool[] = {1}, x)
    }`,
    ["Loop Loop:y: each iteration decides whether another follows"],
  ],
  "a Loop that is too long to write out": [
    `(x: f32[]) -> (y) {
      y = Loop<body=(i: i64[], c: bool[], s: f32[]) -> (k, t) { k = Identity(c)  t = Mul(s, s) }>(
        $n: i64[] = {90}, $go: bool[] = {1}, x)
    }`,
    ["Loop Loop:y: 90 iterations of about 66 bytes are too many to write out"],
  ],
  "constants that the runtime of the model alone can compute": [
    `(x: f32[3]) -> (y) {
      c = com.example::Table($t: f32[3] = {1,2,3})
      y = Add(x, c)
    }`,
    ["com.example::Table Table:c: what operators of com.example compute is not known here"],
    { isUntyped: true },
  ],
  "two calls of an operator that nobody knows": [
    `(x: f32[3]) -> (y, z) {
      y = com.example::Odd<k=1>(x)
      z = com.example::Odd<k=1>(x)
    }`,
    ["com.example::Odd Odd:z: whether two calls of com.example::Odd may be merged is not known"],
    { isUntyped: true },
  ],
  "one value that becomes two outputs": [
    "(x: f32[3]) -> (y, z) { y = Relu(x)  z = Relu(x) }",
    ["Relu Relu:z: it gives an output the same as another node, and both keep their names"],
  ],
  "a Dropout in training mode": [
    "(x: f32[3], t: bool[]) -> (y) { y = Dropout(x, $r: f32[] = {0.5}, t) }",
    ["Dropout Dropout:y: Dropout may be in training mode"],
  ],
  "an Expand before an operand that is not as large": [
    `(x: f32[1,3], s: i64[2], z: f32[1,3]) -> (y) { e = Expand(x, s)  y = Add(e, z) }`,
    ["Expand Expand:e: whether the other operand of the Add has the size that it is expanded to is not known"],
  ],
};

describe("findUnfused", () => {
  for (const [name, [text, expected, options]] of Object.entries(misses)) {
    it(`lists ${name}`, async () => {
      const lines = (await unfusedIn(text, options)).map(line);
      expect(lines).toEqual(expected.map((start) => expect.stringContaining(start)));
    });
  }

  it.each([
    [
      "a Conv with its BatchNormalization",
      `(${image}) -> (y) { c = Conv(x, ${w})  y = BatchNormalization(c, ${statistics}) }`,
    ],
    ["a residual", `(${image}) -> (y) { c = Conv<pads=[1,1,1,1]>(x, $v: f32[3,3,3,3])  r = Relu(c)  y = Add(x, r) }`],
    ["arithmetic by constants on its own", "(x: f32[2,3]) -> (y) { a = Mul(x, $f: f32[] = {2.0})  y = Relu(a) }"],
    ["a product of activations", "(x: f32[2,3], z: f32[3,4]) -> (y) { y = MatMul(x, z) }"],
    [
      "a Gelu",
      `(x: f32[2,3]) -> (y) {
        a = Div(x, $f: f32[] = {1.4142135})  e = Erf(a)  s = Add(e, $one: f32[] = {1.0})
        h = Mul(x, $half: f32[] = {0.5})  y = Mul(h, s)
      }`,
    ],
    [
      "a table of positions that is added before a MatMul",
      "(x: f32[2,5,3]) -> (y) { a = Add(x, $p: f32[1,5,3])  y = MatMul(a, $w: f32[3,4]) }",
    ],
    ["a gate by another tensor", `(x: f32[2,3], z: f32[2,3]) -> (y) { s = Sigmoid(z)  y = Mul(x, s) }`],
  ])("lists nothing for %s", async (_, text) => {
    expect((await unfusedIn(text)).map(line)).toEqual([]);
  });

  it("expects of a recipe what its passes do", async () => {
    const text = `(${image}) -> (y) { r = Relu(x)  c = Conv(r, ${w})  y = BatchNormalization(c, ${statistics}) }`;
    expect(await unfusedIn(text, { passes: recipes.fold })).toEqual([]);
  });

  it("names who else reads a node, and the flag that would help", async () => {
    const [shared] = await unfusedIn(`(${image}) -> (y, z) {
      c = Conv(x, ${w})  y = BatchNormalization(c, ${statistics})  z = Relu(c)
    }`);
    expect(shared).toMatchObject({ pass: "fuse-conv-batch-norm", detail: "Relu Relu:z reads it too" });
    const [open] = await unfusedIn("(x: f32[N,3]) -> (y) { y = Shape(x) }");
    expect(open).toMatchObject({ help: "--shape fixes sizes of inputs" });
  });

  it("says of a pass that did not run why that is", () => {
    const model = parseModel(`(${image}) -> (y) { c = Conv(x, ${w})  y = BatchNormalization(c, ${statistics}) }`);
    const [entry] = findUnfused(model, [{ name: "fuse-conv-batch-norm", skipped: [], absent: "it was left out" }]);
    expect(entry!.reason).toBe("fuse-conv-batch-norm: it was left out");
  });
});
