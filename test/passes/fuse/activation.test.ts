import { fuseClip } from "../../../src/passes/fuse/clip.js";
import { fuseHardSigmoid, fuseHardSwish } from "../../../src/passes/fuse/hard-activation.js";
import { fusePad } from "../../../src/passes/fuse/pad.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, input = "x: f32[N,4]"): string => `(${input}) -> (y) {\n${lines}\n}`;
const RAMP = "a = Add(x, $three: f32[] = {3.0}) c = Clip(a, $lo: f32[] = {0.0}, $hi: f32[] = {6.0})";

testRewrite(fuseClip, {
  rewrites: {
    "Min of Max": graph("a = Max(x, $lo: f32[] = {-1.0}) y = Min(a, $hi: f32[] = {1.0})"),
    "a Clip from zero up": graph("y = Clip(x, $lo: f32[] = {0.0})"),
    "a Max with zero": graph("y = Max($lo: f32[1] = {0.0}, x)"),
    "Relu and a Clip": graph("a = Relu(x) y = Clip(a, $lo: f32[] = {-2.0}, $hi: f32[] = {6.0})"),
    "the attributes of opset 9": [graph("a = Relu(x) y = Clip<min=0.0, max=6.0>(a)"), { opset: 9 }],
    "a Clip without bounds": graph("a = Neg(x) b = Clip(a) y = Abs(b)"),
  },
  leaves: {
    "one Clip": [graph("y = Clip(x, $lo: f32[] = {0.0}, $hi: f32[] = {6.0})"), null],
    "bounds that are computed": ["(x: f32[N,4], lo: f32[]) -> (y) { y = Clip(x, lo) }", null],
    "a Max that adds an axis": [graph("y = Max(x, $lo: f32[1,1,1] = {0.0})"), null],
    "a Relu that somebody else reads": [
      "(x: f32[N,4]) -> (a, y) { a = Relu(x) y = Clip(a, $lo: f32[] = {0.0}, $hi: f32[] = {6.0}) }",
      null,
    ],
    integers: [graph("y = Max(x, $lo: i64[] = {0})", "x: i64[N,4]"), null],
  },
});

testRewrite(fuseHardSwish, {
  rewrites: {
    "the product, then the division": graph(`${RAMP} p = Mul(x, c) y = Div(p, $six: f32[] = {6.0})`),
    "a product by one sixth": graph(`${RAMP} p = Mul(c, x) y = Mul($sixth: f32[] = {0.16666667}, p)`),
    "the division first": graph(`${RAMP} p = Div(x, $six: f32[] = {6.0}) y = Mul(p, c)`),
    "x times HardSigmoid": graph("g = HardSigmoid<alpha=0.16666667, beta=0.5>(x) y = Mul(x, g)"),
    "an old opset, which has no HardSwish": [
      graph(
        "a = Add(x, $three: f32[] = {3.0}) c = Clip<min=0.0, max=6.0>(a) p = Mul(x, c) y = Div(p, $six: f32[] = {6.0})",
      ),
      { opset: 9 },
    ],
  },
  leaves: {
    "a product with another tensor": [
      `(x: f32[N,4], z: f32[N,4]) -> (y) { ${RAMP} p = Mul(z, c) y = Div(p, $six: f32[] = {6.0}) }`,
      null,
    ],
    "a division by another number": [graph(`${RAMP} p = Mul(x, c) y = Div(p, $six: f32[] = {5.0})`), null],
    "HardSigmoid of another slope": [graph("g = HardSigmoid<alpha=0.2, beta=0.5>(x) y = Mul(x, g)"), null],
    "a Clip that somebody else reads": [
      `(x: f32[N,4]) -> (y, c) { ${RAMP} p = Mul(x, c) y = Div(p, $six: f32[] = {6.0}) }`,
      null,
    ],
    "a constant that adds an axis": [graph(`${RAMP} p = Mul(x, c) y = Div(p, $six: f32[1,1,1] = {6.0})`), null],
  },
});

testRewrite(fuseHardSigmoid, {
  rewrites: {
    "Add, Clip, Div": graph(`${RAMP} y = Div(c, $six: f32[] = {6.0})`),
    "a line in another order": graph(
      "a = Add(x, $one: f32[] = {1.0}) d = Div(a, $two: f32[] = {2.0}) y = Clip(d, $lo: f32[] = {0.0}, $hi: f32[] = {1.0})",
    ),
    "a line, Clip and a product": graph(
      "a = Sub($one: f32[] = {1.0}, x) c = Clip(a, $lo: f32[] = {0.0}, $hi: f32[] = {2.0}) y = Mul(c, $half: f32[] = {0.5})",
    ),
    "Mul, Add, Clip": graph(
      "m = Mul(x, $slope: f32[] = {0.2}) a = Add(m, $half: f32[] = {0.5}) y = Clip(a, $lo: f32[] = {0.0}, $hi: f32[] = {1.0})",
    ),
  },
  leaves: {
    "a height that the divisor does not undo": [graph(`${RAMP} y = Div(c, $six: f32[] = {3.0})`), null],
    "a Clip of x itself": [graph("y = Clip(x, $lo: f32[] = {0.0}, $hi: f32[] = {1.0})"), null],
    float64: [
      graph("a = Add(x, $one: f64[] = {1.0}) y = Clip(a, $lo: f64[] = {0.0}, $hi: f64[] = {1.0})", "x: f64[N,4]"),
      null,
    ],
    "a Clip from one half": [
      graph(
        "a = Add(x, $three: f32[] = {3.0}) c = Clip(a, $lo: f32[] = {0.5}, $hi: f32[] = {6.0}) y = Div(c, $six: f32[] = {6.0})",
      ),
      null,
    ],
  },
});

const IMAGE = "x: f32[N,3,6,6]";
const PAD = "p = Pad(x, $pads: i64[8] = {0, 0, 1, 2, 0, 0, 0, 1})";

testRewrite(fusePad, {
  rewrites: {
    "a Pad before a Conv": graph(`${PAD} y = Conv(p, $w: f32[4,3,3,3])`, IMAGE),
    "a Pad before a Conv that pads": graph(`${PAD} y = Conv<pads=[1,0,1,0]>(p, $w: f32[4,3,3,3])`, IMAGE),
    "a Pad of some axes": [
      graph(
        "p = Pad(x, $pads: i64[4] = {1, 2, 1, 2}, _, $axes: i64[2] = {2, -1}) y = Conv(p, $w: f32[4,3,3,3])",
        IMAGE,
      ),
      { opset: 18 },
    ],
    "a Pad before an AveragePool that counts padding": graph(
      `${PAD} y = AveragePool<kernel_shape=[3,3], count_include_pad=1>(p)`,
      IMAGE,
    ),
    "a Pad before an AveragePool that pads nothing itself": graph(
      `${PAD} y = AveragePool<kernel_shape=[3,3], strides=[2,2], pads=[0,0,0,0]>(p)`,
      IMAGE,
    ),
    "a Pad by zeros before a MaxPool of what is never negative": graph(
      `r = Relu(x) ${PAD.replace("(x,", "(r,")} y = MaxPool<kernel_shape=[3,3], strides=[2,2]>(p)`,
      IMAGE,
    ),
    "the attributes of opset 10": [
      graph('p = Pad<pads=[0,0,1,1,0,0,1,1]>(x) y = Conv<auto_pad="VALID">(p, $w: f32[4,3,3,3])', IMAGE),
      { opset: 10 },
    ],
  },
  leaves: {
    "padding by one": [
      graph(`${PAD.slice(0, -1)}, $fill: f32[] = {1.0}) y = Conv(p, $w: f32[4,3,3,3])`, IMAGE),
      "the padding is not zero",
    ],
    "padding by reflection": [
      graph(`${PAD.replace("Pad(", 'Pad<mode="reflect">(')} y = Conv(p, $w: f32[4,3,3,3])`, IMAGE),
      "only padding by a constant can move",
    ],
    "padded channels": [
      graph("p = Pad(x, $pads: i64[8] = {0, 1, 0, 0, 0, 0, 0, 0}) y = Conv(p, $w: f32[4,4,3,3])", IMAGE),
      "the batch or channel axis is padded",
    ],
    cropping: [
      graph("p = Pad(x, $pads: i64[8] = {0, 0, -1, 0, 0, 0, 0, 0}) y = Conv(p, $w: f32[4,3,3,3])", IMAGE),
      "the padding crops",
    ],
    "a Conv that pads by itself": [
      graph(`${PAD} y = Conv<auto_pad="SAME_UPPER">(p, $w: f32[4,3,3,3])`, IMAGE),
      "auto_pad is SAME_UPPER",
    ],
    "a MaxPool of what may be negative": [
      graph(`${PAD} y = MaxPool<kernel_shape=[3,3]>(p)`, IMAGE),
      "the padding may be the largest of a window",
    ],
    "a MaxPool smaller than the padding": [
      graph(`r = Relu(x) ${PAD.replace("(x,", "(r,")} y = MaxPool<kernel_shape=[2,2]>(p)`, IMAGE),
      "MaxPool pads less than its kernel",
    ],
    "a MaxPool whose last window may reach beyond": [
      graph(`r = Relu(x) ${PAD.replace("(x,", "(r,")} y = MaxPool<kernel_shape=[3,3], ceil_mode=1>(p)`, IMAGE),
      "windows may reach beyond the padding",
    ],
    "an AveragePool that leaves its own padding out": [
      graph(`${PAD} y = AveragePool<kernel_shape=[5,5], pads=[1,0,0,0]>(p)`, IMAGE),
      "AveragePool does not count padding",
    ],
    "an AveragePool that cannot count padding": [
      graph("p = Pad<pads=[0,0,1,1,0,0,1,1]>(x) y = AveragePool<kernel_shape=[3,3]>(p)", IMAGE),
      "AveragePool does not count padding",
      { opset: 6 },
    ],
  },
});
