import {
  fuseChannelNorm,
  fuseInstanceNorm,
  fuseLayerNorm,
  fuseRmsNorm,
} from "../../../src/passes/fuse/normalization.js";
import { fuseNormalizationAffine } from "../../../src/passes/fuse/normalization-affine.js";
import { fuseLayerNormStatistics } from "../../../src/passes/fuse/normalization-statistics.js";
import { fuseNormalizationCast, fuseNormalizationReshape } from "../../../src/passes/fuse/normalization-view.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, input = "x: f32[N,4]"): string => `(${input}) -> (y) {\n${lines}\n}`;
const IMAGE = "x: f32[N,3,4,5]";

/** Up to the sum under the root, over some axes. */
const moments = (axes: string): string => `
  m = ReduceMean<axes=[${axes}]>(x)
  d = Sub(x, m)
  p = Pow(d, $two: f32[] = {2.0})
  v = ReduceMean<axes=[${axes}]>(p)
  w = Add(v, $epsilon: f32[] = {0.001})`;
const MOMENTS = moments("-1");
const ROOT = `${MOMENTS} s = Sqrt(w)`;

const PLAIN = `${ROOT} y = Div(d, s)`;

/** A Reshape that leaves the last axis what it is. */
const COUNTED = `${ROOT} q = Div(d, s) y = Reshape(q, $out: i64[2] = {-1, 4})`;

const MAP = "x: f32[N,16,4,5]";

testRewrite(fuseChannelNorm, {
  rewrites: {
    "a map": graph(`${moments("1")} s = Sqrt(w) y = Div(d, s)`, MAP),
    "a line": graph(`${moments("1")} s = Sqrt(w) y = Div(d, s)`, "x: f32[N,20,7]"),
    "a volume of unknown size": graph(`${moments("-4")} s = Sqrt(w) y = Div(d, s)`, "x: f32[N,16,D,H,3]"),
    "a factor and an addend worked in": graph(
      `${moments("1")} s = Sqrt(w) i = Reciprocal(s) k = Mul(i, $gamma: f32[16,1,1]) a = Mul(x, k) b = Mul(m, k)
       c = Sub($beta: f32[1,16,1,1], b) y = Add(a, c)`,
      MAP,
    ),
  },
  leaves: {
    "few channels": [
      graph(`${moments("1")} s = Sqrt(w) y = Div(d, s)`, "x: f32[N,12,4,5]"),
      "fewer than 16 channels, or nobody knows how many",
    ],
    "channels that nobody knows": [
      graph(`${moments("1")} s = Sqrt(w) y = Div(d, s)`, "x: f32[N,C,4,5]"),
      "fewer than 16 channels, or nobody knows how many",
    ],
    "an older opset": [graph(`${moments("1")} s = Sqrt(w) y = Div(d, s)`, MAP), null, { opset: 16 }],
    doubles: [graph(`${moments("1")} s = Sqrt(w) y = Div(d, s)`, MAP).replaceAll("f32[", "f64["), "only f32"],
    "rows in the middle": [graph(`${moments("2")} s = Sqrt(w) y = Div(d, s)`, "x: f32[N,4,16,5]"), null],
    "the last axis": [graph(PLAIN), null],
    "places, for each channel": [graph(`${moments("2,3")} s = Sqrt(w) y = Div(d, s)`, MAP), null],
    "what runs elsewhere": [
      graph(`${moments("1")} s = Sqrt(w) y = Div(d, s)`, MAP),
      "NVIDIA TensorRT 11: its kernel for ReduceMean is slow along an axis that is not the last",
      { target: "tensorrt" },
    ],
  },
});

testRewrite(fuseLayerNorm, {
  rewrites: {
    "a quotient": graph(PLAIN),
    "axes counted from the front, d times d": graph(
      PLAIN.replaceAll("axes=[-1]", "axes=[1]").replace("Pow(d, $two: f32[] = {2.0})", "Mul(d, d)"),
    ),
    "axes as inputs": [
      graph(
        PLAIN.replace("<axes=[-1]>(x)", "(x, $axes: i64[1] = {-1})").replace(
          "<axes=[-1]>(p)",
          "(p, $axes2: i64[1] = {1})",
        ),
      ),
      { opset: 18 },
    ],
    "several last axes": graph(`${moments("2,-1,1")} s = Sqrt(w) y = Div(d, s)`, "x: f32[N,2,3,4]"),
    "a product by the Reciprocal": graph(`${ROOT} i = Reciprocal(s) y = Mul(d, i)`),
    "a product by one over the root, the other way round": graph(
      `${ROOT} i = Div($one: f32[] = {1.0}, s) y = Mul(i, d)`,
    ),
    "a product by a power": graph(`${MOMENTS} i = Pow(w, $exponent: f32[] = {-0.5}) y = Mul(d, i)`),
    "a quotient by a power": graph(`${MOMENTS} i = Pow(w, $exponent: f32[] = {0.5}) y = Div(d, i)`),
    "the mean of squares less the square of the mean": graph(`
      m = ReduceMean<axes=[-1]>(x) q = Mul(x, x) mq = ReduceMean<axes=[-1]>(q) mm = Mul(m, m) v = Sub(mq, mm)
      w = Add($epsilon: f32[] = {0.001}, v) s = Sqrt(w) d = Sub(x, m) y = Div(d, s)`),
    "the same, held above zero": graph(`
      m = ReduceMean<axes=[-1]>(x) q = Mul(x, x) mq = ReduceMean<axes=[-1]>(q) mm = Mul(m, m) v = Sub(mq, mm)
      h = Max(v, $zero: f32[] = {0.0}) w = Add($epsilon: f32[] = {0.001}, h) s = Sqrt(w) d = Sub(x, m) y = Div(d, s)`),
    "a mean of squares held above zero": graph(PLAIN.replace("Add(v,", "Add(h,").replace("w =", "h = Relu(v) w =")),
    "means as sums and quotients": graph(`
      t = ReduceSum(x, $a: i64[1] = {-1}) m = Div(t, $n: f32[] = {4.0}) d = Sub(x, m) p = Mul(d, d)
      u = ReduceSum(p, $b: i64[1] = {-1}) v = Mul(u, $k: f32[] = {0.25}) w = Add(v, $epsilon: f32[] = {0.001}) s = Sqrt(w)
      y = Div(d, s)`),
    "a sum of squares and a quotient, for two means": graph(`
      m2 = ReduceMean<axes=[-1]>(x) t = ReduceSum(x, $a: i64[1] = {-1}) m = Div(t, $n: f32[] = {4.0}) d = Sub(x, m)
      u = ReduceSumSquare<axes=[1]>(d) v = Div(u, n) w = Add(v, $epsilon: f32[] = {0.001}) s = Sqrt(w) k = Div($gamma: f32[1,4], s)
      o = Neg(m2) b = Mul(o, k) c = Mul(x, k) y = Add(c, b)`),
    "a sum of squares less the square of the mean": graph(`
      m = ReduceMean<axes=[-1]>(x) q = ReduceSumSquare<axes=[-1]>(x) mq = Mul(q, $part: f32[] = {0.25}) mm = Mul(m, m) v = Sub(mq, mm)
      w = Add($epsilon: f32[] = {0.001}, v) s = Sqrt(w) d = Sub(x, m) y = Div(d, s)`),
    "a deviation that is computed twice": graph(`${MOMENTS} s = Sqrt(w) d2 = Sub(x, m) y = Div(d2, s)`),
    "factor and addend worked in": graph(
      `${ROOT} i = Reciprocal(s) k = Mul(i, $gamma: f32[4]) a = Mul(x, k) b = Mul(m, k) c = Sub($beta: f32[4], b) y = Add(a, c)`,
    ),
    "a factor worked in, the mean negated": graph(
      `${ROOT} i = Reciprocal(s) k = Mul($gamma: f32[4], i) n = Neg(m) b = Mul(n, k) a = Mul(x, k) y = Add(b, a)`,
    ),
    "a factor divided by the root": graph(
      `${ROOT} k = Div($gamma: f32[4], s) n = Neg(m) b = Mul(n, k) a = Mul(x, k) c = Add(b, $beta: f32[4]) y = Add(a, c)`,
    ),
    "means by pools over the last of three axes": graph(
      `m = GlobalAveragePool(x) d = Sub(x, m) p = Mul(d, d) v = GlobalAveragePool(p) w = Add(v, $epsilon: f32[] = {0.001}) s = Sqrt(w)
      k = Div($gamma: f32[1,1,4], s) n = Neg(m) b = Mul(n, k) a = Mul(x, k) c = Add(b, $beta: f32[1,1,4]) y = Add(a, c)`,
      "x: f32[N,3,4]",
    ),
    "an addend to the mean negated": graph(
      `${ROOT} i = Reciprocal(s) k = Mul($gamma: f32[4], i) n = Neg(m) b = Mul(n, k) c = Add(b, $beta: f32[4]) a = Mul(x, k) y = Add(a, c)`,
    ),
    "a difference of products": graph(`${ROOT} i = Reciprocal(s) a = Mul(x, i) b = Mul(m, i) y = Sub(a, b)`),
    "a factor with what is divided": graph(`${ROOT} g = Mul($gamma: f32[4], d) y = Div(g, s)`),
    "a factor with the inverse": graph(`${ROOT} i = Reciprocal(s) g = Mul(i, $gamma: f32[4]) y = Mul(d, g)`),
    "a factor with what is multiplied by the inverse": graph(
      `${ROOT} i = Reciprocal(s) g = Mul($gamma: f32[4], d) y = Mul(i, g)`,
    ),
    "three axes of which the rows are counted otherwise": graph(COUNTED, "x: f32[N,3,4]"),
    "two means of the same": graph(`${ROOT} m2 = ReduceMean<axes=[1]>(x) d2 = Sub(x, m2) y = Div(d2, s)`),
    "three axes whose factor lies along the last": graph(
      `${ROOT} q = Div(d, s) y = Mul(q, $gamma: f32[4])`,
      "x: f32[N,3,4]",
    ),
  },
  leaves: {
    "opset 16": [graph(PLAIN), null, { opset: 16 }],
    "an axis that is not the last": [
      graph(PLAIN.replaceAll("axes=[-1]", "axes=[0]"), "x: f32[4,4]"),
      "the axes are not the last ones",
    ],
    "different axes": [graph(PLAIN.replace("axes=[-1]>(p)", "axes=[0]>(p)"), "x: f32[4,4]"), null],
    "an axis of unknown size": [graph(PLAIN, "x: f32[N,M]"), "the size of the normalized axes is not known"],
    "a mean without its axis": [graph(PLAIN.replace("axes=[-1]>(x)", "axes=[0], keepdims=0>(x)"), "x: f32[4,4]"), null],
    "a cube": [graph(PLAIN.replace("{2.0}", "{3.0}")), null],
    "an epsilon that raises the rank": [graph(PLAIN.replace("$epsilon: f32[]", "$epsilon: f32[1,1,1]")), null],
    "an epsilon per element": [graph(PLAIN.replace("$epsilon: f32[] = {0.001}", "$epsilon: f32[4]")), null],
    "an epsilon below zero": [graph(PLAIN.replace("{0.001}", "{-0.001}")), null],
    "an exponent that raises the rank": [graph(PLAIN.replace("$two: f32[]", "$two: f32[1,1,1]")), null],
    "a difference that somebody else reads": [`(x: f32[N,4]) -> (y, d) { ${PLAIN} }`, null],
    "a variance held above another number": [
      graph(PLAIN.replace("Add(v,", "Add(h,").replace("w =", "h = Max(v, $least: f32[] = {0.1}) w =")),
      null,
    ],
    "a variance held between two numbers": [
      graph(
        PLAIN.replace("Add(v,", "Add(h,").replace(
          "w =",
          "h = Clip(v, $least: f32[] = {0.0}, $most: f32[] = {0.5}) w =",
        ),
      ),
      null,
    ],
    "a variance that somebody else reads before it is held above zero": [
      `(x: f32[N,4]) -> (y, v) { ${PLAIN.replace("Add(v,", "Add(h,").replace("w =", "h = Relu(v) w =")} }`,
      null,
    ],
    "a variance that somebody else reads where it is held above zero": [
      `(x: f32[N,4]) -> (y, h) { ${PLAIN.replace("Add(v,", "Add(h,").replace("w =", "h = Relu(v) w =")} }`,
      null,
    ],
    "a root that somebody else reads": [`(x: f32[N,4]) -> (y, s) { ${PLAIN} }`, null],
    "the mean of another tensor": [
      `(x: f32[N,4], z: f32[N,4]) -> (y) { ${PLAIN.replace("ReduceMean<axes=[-1]>(x)", "ReduceMean<axes=[-1]>(z)")} }`,
      null,
    ],
    "the root over the deviation": [graph(`${ROOT} y = Div(s, d)`), null],
    "a sum of squares over another number": [
      graph(`m = ReduceMean<axes=[-1]>(x) d = Sub(x, m) u = ReduceSumSquare<axes=[1]>(d) v = Div(u, $n: f32[] = {3.0})
        w = Add(v, $epsilon: f32[] = {0.001}) s = Sqrt(w) y = Div(d, s)`),
      null,
    ],
    "a sum of squares that somebody else reads": [
      `(x: f32[N,4]) -> (y, u) { m = ReduceMean<axes=[-1]>(x) d = Sub(x, m) u = ReduceSumSquare<axes=[1]>(d) v = Div(u, $n: f32[] = {4.0})
        w = Add(v, $epsilon: f32[] = {0.001}) s = Sqrt(w) y = Div(d, s) }`,
      null,
    ],
    "sums over another number": [
      graph(`
        t = ReduceSum(x, $a: i64[1] = {-1}) m = Div(t, $n: f32[] = {3.0}) d = Sub(x, m) p = Mul(d, d)
        v = ReduceMean<axes=[-1]>(p) w = Add(v, $epsilon: f32[] = {0.001}) s = Sqrt(w) y = Div(d, s)`),
      null,
    ],
    "a factor that widens the result": [
      graph(`${ROOT} g = Mul($gamma: f32[2,1,4], d) y = Div(g, s)`),
      "the factor or the addend may widen the result",
    ],
    "a factor with what is divided that somebody else reads": [
      `(x: f32[N,4]) -> (y, g) { ${ROOT} g = Mul($gamma: f32[4], d) y = Div(g, s) }`,
      null,
    ],
    "a mean of another": [
      `(x: f32[N,4], z: f32[N,4]) -> (y) { ${ROOT} m2 = ReduceMean<axes=[1]>(z) d2 = Sub(x, m2) y = Div(d2, s) }`,
      null,
    ],
    "a factor worked in that differs": [
      graph(
        `${ROOT} i = Reciprocal(s) k = Mul(i, $gamma: f32[4]) k2 = Neg(k) a = Mul(x, k) b = Mul(m, k2) c = Sub($beta: f32[4], b) y = Add(a, c)`,
      ),
      null,
    ],
    "a factor worked in that widens the result": [
      graph(
        `${ROOT} i = Reciprocal(s) k = Mul(i, $gamma: f32[2,1,4]) a = Mul(x, k) b = Mul(m, k) c = Sub($beta: f32[4], b) y = Add(a, c)`,
      ),
      "the factor or the addend may widen the result",
    ],
    float64: [graph(PLAIN.replaceAll("f32", "f64"), "x: f64[N,4]"), "only f32 and f16"],
    "what is not centred": [
      graph("p = Mul(x, x) v = ReduceMean<axes=[-1]>(p) w = Add(v, $e: f32[] = {0.001}) s = Sqrt(w) y = Div(x, s)"),
      null,
    ],
  },
});

const SQUARES = "p = Mul(x, x) v = ReduceMean<axes=[-1]>(p) w = Add(v, $e: f32[] = {0.001}) s = Sqrt(w)";
const at23 = (lines: string, input?: string) =>
  [graph(lines, input).replaceAll("<axes=[-1]>(p)", "(p, $axes: i64[1] = {-1})"), { opset: 23 }] as const;
const leftAt23 = (lines: string, reason: string | null, input?: string) =>
  [at23(lines, input)[0], reason, { opset: 23 }] as const;

testRewrite(fuseRmsNorm, {
  rewrites: {
    "a quotient": at23(`${SQUARES} y = Div(x, s)`),
    "a product by the Reciprocal": at23(`${SQUARES} i = Reciprocal(s) y = Mul(i, x)`),
    "a factor with the inverse": at23(`${SQUARES} i = Reciprocal(s) g = Mul(i, $gamma: f32[4]) y = Mul(x, g)`),
    "squares by Pow": at23(`${SQUARES.replace("Mul(x, x)", "Pow(x, $two: i64[] = {2})")} y = Div(x, s)`),
  },
  leaves: {
    "opset 22": [at23(`${SQUARES} y = Div(x, s)`)[0], null, { opset: 22 }],
    "a division of another tensor": leftAt23(`${SQUARES} z = Abs(x) y = Div(z, s)`, null),
    "an axis of unknown size": leftAt23(
      `${SQUARES} y = Div(x, s)`,
      "the size of the normalized axes is not known",
      "x: f32[2,N]",
    ),
    "another axis": leftAt23(
      `${SQUARES} y = Div(x, s)`
        .replace("axes=[-1]>(p)", "axes=[-1]>(p)")
        .replace("ReduceMean<axes=[-1]>(p)", "ReduceMean(p, $first: i64[1] = {0})"),
      "the axes are not the last ones",
    ),
    "a factor that widens the result": leftAt23(
      `${SQUARES} g = Mul($gamma: f32[2,1,4], x) y = Div(g, s)`,
      "the factor may widen the result",
    ),
    "no mean but a sum": leftAt23(`${SQUARES} y = Div(x, s)`.replace("ReduceMean", "ReduceSum"), null),
    "an epsilon outside of the root": leftAt23(
      "p = Mul(x, x) v = ReduceMean<axes=[-1]>(p) w = Sqrt(v) s = Add(w, $e: f32[] = {0.001}) y = Div(x, s)",
      null,
    ),
  },
});

testRewrite(fuseInstanceNorm, {
  rewrites: {
    "an image": graph(`${moments("2,3")} s = Sqrt(w) y = Div(d, s)`, IMAGE),
    "an image of unknown size": graph(`${moments("-2,-1")} s = Sqrt(w) y = Div(d, s)`, "x: f32[N,3,H,W]"),
    "a group normalization": graph(
      `x = Reshape(z, $in: i64[3] = {0, 2, -1}) ${ROOT} q = Div(d, s) y = Reshape(q, $out: i64[4] = {-1, 4, 3, 5})`,
      "z: f32[N,4,3,5]",
    ),
    "groups of which nobody knows into what they are parted": `(x: f32[2,3,4], t: i64[1]) -> (y) { ${ROOT} q = Div(d, s)
      l = Mul(t, $o: i64[] = {0}) k = Sub(l, $w1: i64[] = {1}) i = Concat<axis=0>($j: i64[1] = {2}, k) r = Reshape(q, i) y = Abs(r) }`,
    "three axes whose factor lies along the channels": graph(
      `${ROOT} q = Div(d, s) y = Mul(q, $gamma: f32[3,1])`,
      "x: f32[N,3,4]",
    ),
  },
  leaves: {
    "an unknown number of channels": [graph(`${moments("2,3")} s = Sqrt(w) y = Div(d, s)`, "x: f32[N,C,4,5]"), null],
    "a factor along the image": [
      graph(`${moments("2,3")} s = Sqrt(w) q = Div(d, s) y = Mul(q, $gamma: f32[4,5])`, IMAGE),
      null,
    ],
    "three axes of which the rows are counted otherwise": [graph(COUNTED, "x: f32[N,3,4]"), null],
    "three axes with nothing else to tell": [graph(PLAIN, "x: f32[N,3,4]"), null],
    "channels too": [graph(`${moments("1,2,3")} s = Sqrt(w) y = Div(d, s)`, IMAGE), null],
  },
});

const LAYER = "n = LayerNormalization<axis=-1>(x, $ones: f32[4] = {1.0, 1.0, 1.0, 1.0})";
const INSTANCE = "n = InstanceNormalization(x, $scale: f32[3], $bias: f32[3])";

testRewrite(fuseNormalizationAffine, {
  rewrites: {
    "factor and addend": graph(`${LAYER} g = Mul(n, $gamma: f32[4]) y = Add($beta: f32[4], g)`),
    "factor and addend of other nodes": [
      `(x: f32[N,4], g: f32[4], b: f32[4]) -> (y) { ${LAYER} h = Exp(g) m = Mul(h, n) y = Add(m, b) }`,
      {},
    ],
    "one behind a view": `(x: f32[N,4], g: f32[4]) -> (y) { ${LAYER} h = Flatten<axis=0>(g) y = Mul(n, h) }`,
    "a factor on one that has its own": graph(
      "n = LayerNormalization(x, $gamma: f32[4], $beta: f32[4]) y = Mul(n, $two: f32[] = {2.0})",
    ),
    "a quotient and a difference": graph(`${LAYER} q = Div(n, $two: f32[1] = {2.0}) y = Sub(q, $beta: f32[1,4])`),
    "several axes": graph(
      "n = LayerNormalization<axis=1>(x, $gamma: f32[2,4]) y = Mul(n, $more: f32[2,1])",
      "x: f32[N,2,4]",
    ),
    "one whose mean is read":
      "(x: f32[N,4]) -> (y, m) { n, m = LayerNormalization(x, $ones: f32[4]) y = Mul(n, $gamma: f32[4]) }",
    "one whose deviation is read, with an input": `(x: f32[N,4], g: f32[4]) -> (i, y) {
      n, m, i = LayerNormalization(x, $ones: f32[4] = {1.0, 1.0, 1.0, 1.0})
      y = Mul(g, n)
    }`,
    "a flattened factor":
      "(x: f32[N,4], g: f32[2,2]) -> (y) { n = LayerNormalization(x, $ones: f32[4] = {1.0, 1.0, 1.0, 1.0}) h = Flatten<axis=0>(g) y = Mul(n, h) }",
    RMSNormalization: [
      graph("n = RMSNormalization(x, $ones: f32[4] = {1.0, 1.0, 1.0, 1.0}) y = Mul($gamma: f32[4], n)"),
      { opset: 23 },
    ],
    "factor and addend per channel": graph(
      `${INSTANCE} g = Mul(n, $gamma: f32[3,1,1]) y = Add(g, $beta: f32[1,3,1,1])`,
      IMAGE,
    ),
    "factor and addend per channel of groups": [
      `(x: f32[N,4,5]) -> (y) {
        n = GroupNormalization<num_groups=2>(x, $scale: f32[4], $bias: f32[4])
        g = Mul(n, $gamma: f32[4,1])
        y = Add(g, $beta: f32[1,4,1])
      }`,
      { opset: 21 },
    ],
  },
  leaves: {
    "a factor per channel on one with a factor per group": [
      `(x: f32[N,4,5]) -> (y) {
        n = GroupNormalization<num_groups=2>(x, $scale: f32[2], $bias: f32[2])
        y = Mul(n, $gamma: f32[4,1])
      }`,
      null,
      { opset: 18 },
    ],
    float64: [graph("n = LayerNormalization(x, $g: f64[4]) y = Mul(n, $two: f64[] = {2.0})", "x: f64[N,4]"), null],
    "a factor that raises the rank": [graph(`${LAYER} y = Mul(n, $gamma: f32[1,1,4])`), null],
    "a factor per row": [graph(`${LAYER} y = Mul(n, $gamma: f32[3,1])`, "x: f32[3,4]"), null],
    "a factor of other nodes on one that has its own": [
      "(x: f32[N,4], g: f32[4]) -> (y) { n = LayerNormalization(x, $gamma: f32[4]) y = Mul(n, g) }",
      null,
    ],
    "a factor of other nodes before an addend": [
      `(x: f32[N,4], g: f32[4], b: f32[4]) -> (y) { n = LayerNormalization(x, $ones: f32[4] = {1.0, 1.0, 1.0, 1.0}, b) y = Mul(n, g) }`,
      null,
    ],
    "a residual": [`(x: f32[N,4], z: f32[N,4]) -> (y) { ${LAYER} y = Add(n, z) }`, null],
    "a normalization over a constant": [graph(`${LAYER} y = Div($two: f32[] = {2.0}, n)`), null],
    "one that somebody else reads": [`(x: f32[N,4]) -> (y, n) { ${LAYER} y = Mul(n, $gamma: f32[4]) }`, null],
    "a computed factor where the mean is read": [
      "(x: f32[N,4], g: f32[4]) -> (y, m) { h = Exp(g) n, m = LayerNormalization(x, $ones: f32[4] = {1.0, 1.0, 1.0, 1.0}) y = Mul(n, h) }",
      null,
    ],
    "an addend after RMSNormalization": [
      graph("n = RMSNormalization(x, $g: f32[4]) y = Add(n, $beta: f32[4])"),
      null,
      { opset: 23 },
    ],
    "a factor along the image": [graph(`${INSTANCE} y = Mul(n, $gamma: f32[5])`, IMAGE), null],
    "a factor of other nodes per channel": [`(${IMAGE}, g: f32[3,1,1]) -> (y) { ${INSTANCE} y = Mul(n, g) }`, null],
    "a factor too large for its type": [
      graph(`n = LayerNormalization(x, $big: f32[4] = {3.0e38, 1.0, 1.0, 1.0}) y = Mul(n, $ten: f32[] = {10.0})`),
      null,
    ],
  },
});

testRewrite(fuseLayerNormStatistics, {
  rewrites: {
    "all three results": `(x: f32[N,4]) -> (y, m, i) { ${ROOT} y = Div(d, s) i = Reciprocal(s) }`,
    "the inverse, read before the quotient": `(x: f32[N,4]) -> (y, z) { ${ROOT} i = Reciprocal(s) z = Exp(i) y = Div(d, s) }`,
    "the mean, read before the deviation": `(x: f32[N,4]) -> (y, z, i) {
      ${ROOT.replace("d = Sub", "z = Exp(m) d = Sub")} y = Div(d, s) i = Reciprocal(s)
    }`,
  },
  leaves: {
    "one without an inverse": [`(x: f32[N,4]) -> (y, s) { ${ROOT} y = Div(d, s) }`, null],
    "a root that a third node reads": [`(x: f32[N,4]) -> (y, i, s) { ${ROOT} y = Div(d, s) i = Reciprocal(s) }`, null],
    "a division of another": [`(x: f32[N,4], z: f32[N,4]) -> (y, i) { ${ROOT} y = Div(z, s) i = Reciprocal(s) }`, null],
    "an axis of unknown size": [
      `(x: f32[N,M]) -> (y, i) { ${ROOT} y = Div(d, s) i = Reciprocal(s) }`,
      "the size of the normalized axes is not known",
    ],
  },
});

testRewrite(fuseNormalizationReshape, {
  rewrites: {
    "one whose statistics are reshaped as well": `(x: f32[2,3,4], g: f32[3,4]) -> (y, m2, i2) {
      f = Flatten<axis=1>(x) h = Reshape(g, $t: i64[1] = {12})
      n, m, i = LayerNormalization(f, h) y = Reshape(n, $s: i64[3] = {2, 3, 4})
      m2 = Reshape(m, $r: i64[3] = {2, 1, 1}) i2 = Reshape(i, r)
    }`,
    "one whose statistics have the shape": `(x: f32[2,6]) -> (y, i) {
      f = Flatten<axis=0>(x) n, m, i = LayerNormalization(f, $g: f32[12]) y = Reshape(n, $s: i64[2] = {2, 6})
    }`,
    "a factor that is reshaped": graph(
      "f = Flatten<axis=1>(x) h = Reshape(g, $t: i64[1] = {12}) n = LayerNormalization(f, h) y = Reshape(n, $s: i64[3] = {2, 3, 4})",
      "x: f32[2,3,4], g: f32[3,4]",
    ),
    "flattened axes": graph(
      "f = Flatten<axis=1>(x) n = LayerNormalization(f, $g: f32[12], $b: f32[12]) y = Reshape(n, $s: i64[3] = {2, 3, 4})",
      "x: f32[2,3,4]",
    ),
    "flattened rows": graph(
      "f = Reshape(x, $t: i64[2] = {-1, 4}) n = LayerNormalization(f, $g: f32[4]) y = Reshape(n, $s: i64[3] = {2, 3, 4})",
      "x: f32[2,3,4]",
    ),
  },
  leaves: {
    "an addend that is one number for all": [
      graph(
        "f = Flatten<axis=1>(x) n = LayerNormalization(f, $g: f32[12], $b: f32[1]) y = Reshape(n, $s: i64[3] = {2, 3, 4})",
        "x: f32[2,3,4]",
      ),
      null,
    ],
    "another shape afterwards": [
      graph(
        "f = Flatten<axis=1>(x) n = LayerNormalization(f, $g: f32[12]) y = Reshape(n, $s: i64[3] = {2, 4, 3})",
        "x: f32[2,3,4]",
      ),
      null,
    ],
    "statistics in another shape": [
      `(x: f32[2,3,4]) -> (y, i2) {
        f = Flatten<axis=1>(x) n, m, i = LayerNormalization(f, $g: f32[12]) y = Reshape(n, $s: i64[3] = {2, 3, 4})
        i2 = Reshape(i, $r: i64[1] = {2})
      }`,
      null,
    ],
    "a part of an axis": [
      graph(
        "f = Reshape(x, $t: i64[2] = {-1, 2}) n = LayerNormalization(f, $g: f32[2]) y = Reshape(n, $s: i64[3] = {2, 3, 4})",
        "x: f32[2,3,4]",
      ),
      null,
    ],
    "a factor of other nodes": [
      graph(
        "f = Flatten<axis=1>(x) n = LayerNormalization(f, g) y = Reshape(n, $s: i64[3] = {2, 3, 4})",
        "x: f32[2,3,4], g: f32[12]",
      ),
      null,
    ],
    "an unknown shape": [
      graph(
        "f = Flatten<axis=1>(x) n = LayerNormalization(f, $g: f32[12]) y = Reshape(n, $s: i64[3] = {-1, 3, 4})",
        "x: f32[N,3,4]",
      ),
      null,
    ],
  },
});

const ISLAND = "c = Cast<to=1>(h) n = LayerNormalization(c, $ones: f32[4] = {1.0, 1.0, 1.0, 1.0})";

testRewrite(fuseNormalizationCast, {
  rewrites: {
    "float16 there and back": graph(`h = Cast<to=10>(x) ${ISLAND} k = Cast<to=10>(n) y = Cast<to=1>(k)`),
  },
  leaves: {
    "another factor": [
      graph(`h = Cast<to=10>(x) ${ISLAND.replace("{1.0,", "{2.0,")} k = Cast<to=10>(n) y = Cast<to=1>(k)`),
      null,
    ],
    "another type afterwards": [graph(`h = Cast<to=10>(x) ${ISLAND} k = Cast<to=11>(n) y = Cast<to=1>(k)`), null],
    "a statistic of another type": [
      graph(
        `h = Cast<to=10>(x) ${ISLAND.replace("LayerNormalization(", "LayerNormalization<stash_type=16>(")} k = Cast<to=10>(n) y = Cast<to=1>(k)`,
      ),
      null,
    ],
  },
});
