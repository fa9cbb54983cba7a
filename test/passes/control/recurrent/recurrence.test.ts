import { fuseRecurrence } from "../../../../src/passes/control/recurrent/recurrence.js";
import { testRewrite } from "../../../support/test-rewrite.js";

const HIDDEN = 4;

/** What a loop that does not run collects has no certain shape in the runtime: cases of which nobody knows collect nothing. */
interface Parts {
  /** Of the inputs, the types of x and the first state. */
  inputs?: string;
  state?: string;
  before?: string;
  limit?: string;
  starts?: string;
  goesOn?: string;
  body?: string;
  outputs?: string;
  collected?: string;
}

/** The gates of Keras, of which each product holds three: z, r and h. */
const split = `
  xs = MatMul(row, $w: f32[3,${3 * HIDDEN}])
  xb = Add(xs, $bx: f32[${3 * HIDDEN}])
  hs = MatMul(h, $u: f32[${HIDDEN},${3 * HIDDEN}])
  hb = Add($bh: f32[${3 * HIDDEN}], hs)
  xz, xr, xh = Split<axis=-1>(xb, $t: i64[3] = {4, 4, 4})
  hz = Slice(hb, $s0: i64[2] = {0, 0}, $e0: i64[2] = {2147483647, 4}, $a: i64[2] = {0, 1})
  hr = Slice(hb, $s1: i64[1] = {4}, $e1: i64[1] = {8}, $a1: i64[1] = {1})
  hh = Slice(hb, $s2: i64[1] = {8}, $e2: i64[1] = {2147483647}, $a2: i64[1] = {-1})`;

const cell = (activation = "Tanh", scaled = "r, hh"): string => `
  zs = Add(xz, hz)
  z = Sigmoid(zs)
  rs = Add(hr, xr)
  r = Sigmoid(rs)
  rh = Mul(${scaled})
  cs = Add(xh, rh)
  c = ${activation}(cs)
  rest = Sub($one: f32[] = {1}, z)
  new = Mul(rest, c)
  kept = Mul(z, h)
  n = Add(kept, new)`;

const counted = `
  row = Gather<axis=0>(x, i)
  j = Add(i, $step: i32[] = {1})`;

/** As Keras has it: a state that counts, h, and what is collected of h. */
const loop = ({
  inputs = `x: f32[6,N,3], h0: f32[N,${HIDDEN}]`,
  before = "",
  state = "h0",
  limit = "$m: i64[] = {6}",
  starts = "$on: bool[] = {1}",
  goesOn = "k",
  body = counted + split + cell(),
  outputs = "y, z",
  collected = "e",
}: Parts = {}): string => `(${inputs}) -> (${outputs}) {${before}
  count, y, z = Loop<body=(turn: i64[], k: bool[], i: i32[], h: f32[N,${HIDDEN}]) -> (${goesOn}, j, n, ${collected}) {${body}
    e = Identity(n)
  }>(${limit}, ${starts}, $zero: i32[] = {0}, ${state})
}`;

const float = (value: string, name: string): string => `\n  ${name} = Cast<to=1>(${value})`;
/** As tf2onnx writes the condition of a while loop. */
const compared = (next: string, turn = next): string =>
  `${float("j", "jf")}${float("turn", "tf")}\n  l = Less(jf, ${next})\n  g = Less(tf, ${turn})\n  on = And(g, l)`;
const constants = (bound: number): [string, string] => [`$l6: f32[] = {${bound}}`, `$t6: f32[] = {${bound}}`];

testRewrite(fuseRecurrence, {
  rewrites: {
    "one that starts from a state": loop(),
    "one that starts from zeros": loop({
      inputs: "x: f32[6,N,3]",
      before:
        "\n  s = Shape<start=1, end=2>(x)\n  f = Concat<axis=0>(s, $w4: i64[1] = {4})\n  h0 = Expand($no: f32[] = {0}, f)",
    }),
    "its last state alone": loop({ outputs: "y" }),
    "what it collects alone": loop({ outputs: "z" }),
    "a candidate by Relu, the other way around": loop({ body: counted + split + cell("Relu", "hh, r") }),
    "one that a condition on the next turn ends": loop({
      limit: "$m: i64[] = {9223372036854775807}",
      goesOn: "on",
      body: counted + compared(...constants(6)) + split + cell(),
    }),
    "as many steps as there are": loop({
      inputs: `x: f32[T,N,3], h0: f32[N,${HIDDEN}]`,
      before: `
  s = Shape(x)
  l0 = Gather<axis=0>(s, $first: i64[] = {0})
  most = Cast<to=1>(l0)
  begun = Less($none: f32[] = {0}, most)`,
      limit: "l0",
      starts: "begun",
      goesOn: "on",
      body: counted + compared("most") + split + cell(),
    }),
    "products that are Gemm": loop({
      body: `${counted}
  xb = Gemm(row, $w: f32[3,12], $bx: f32[12])
  hb = Gemm(h, $u: f32[4,12], $bh: f32[1,12])
  xz, xr, xh = Split<axis=-1>(xb)
  hz, hr, hh = Split<axis=-1>(hb)${cell()}`,
    }),
    "an input as wide as the state": `(x: f32[5,2,4], h0: f32[2,4]) -> (y) {
      y, z = Loop<body=(i: i64[], k: bool[], h: f32[2,4]) -> (k, n, e) {
        row = Gather<axis=0>(x, i)
        xb = MatMul(row, $w: f32[4,12])
        hb = MatMul(h, $u: f32[4,12])
        hz, hr, hh = Split<axis=1>(hb)
        xz, xr, xh = Split<axis=1>(xb)
        zs = Add(hz, xz)
        z1 = Sigmoid(zs)
        rs = Add(xr, hr)
        r = Sigmoid(rs)
        rh = Mul(hh, r)
        cs = Add(rh, xh)
        c = Tanh(cs)
        rest = Sub($one: f32[1] = {1}, z1)
        new = Mul(c, rest)
        kept = Mul(h, z1)
        n = Add(new, kept)
        e = Identity(n)
      }>($m: i64[] = {5}, _, h0)
    }`,
    "turns that the loop itself counts, and no biases": `(x: f32[5,2,3], h0: f32[2,4]) -> (y, z) {
      y, z = Loop<body=(i: i64[], k: bool[], h: f32[2,4]) -> (k, n, e) {
        row = Gather<axis=0>(x, i)
        xb = MatMul(row, $w: f32[3,12])
        hb = MatMul(h, $u: f32[4,12])
        hh, hz, hr = Split<axis=1>(hb)
        xz, xr, xh = Split<axis=1>(xb)${cell()}
        e = Identity(n)
      }>($m: i64[] = {5}, _, h0)
    }`,
  },
  leaves: {
    "rows along another axis": [
      loop({ inputs: "x: f32[6,6,3], h0: f32[6,4]", body: counted.replace("axis=0", "axis=1") + split + cell() }),
      null,
    ],
    "rows of what it makes in each turn": [
      loop({ body: `\n  made = Neg(x)${counted.replace("(x, i)", "(made, i)")}${split}${cell()}` }),
      null,
    ],
    "what is renewed by another gate": [
      loop({ body: counted + split + cell().replace("Sub($one: f32[] = {1}, z)", "Sub($one: f32[] = {1}, r)") }),
      null,
    ],
    "a one that has more axes than the state": [
      `(x: f32[6,N,3], h0: f32[N,4]) -> (y) {
        y, z = Loop<body=(i: i64[], k: bool[], h: f32) -> (k, n, e) {
          row = Gather<axis=0>(x, i)
          xb = MatMul(row, $w: f32[3,12])
          hb = MatMul(h, $u: f32[4,12])
          hh, hz, hr = Split<axis=-1>(hb)
          xz, xr, xh = Split<axis=-1>(xb)${cell().replace("$one: f32[] = {1}", "$one: f32[1,1,1] = {1}")}
          e = Identity(n)
        }>($m: i64[] = {6}, _, h0)
      }`,
      null,
    ],
    "a turn after the last step": [
      loop({
        limit: "$m: i64[] = {9223372036854775807}",
        goesOn: "on",
        outputs: "y",
        body: `${counted}${float("turn", "tf")}\n  on = Less(tf, $t6: f32[] = {6})${split}${cell()}`,
      }),
      null,
    ],
    "a start that compares something else": [
      loop({
        inputs: `x: f32[T,N,3], h0: f32[N,${HIDDEN}], f: f32[]`,
        before:
          "\n  s = Shape(x)\n  l0 = Gather<axis=0>(s, $first: i64[] = {0})\n  most = Cast<to=1>(l0)\n  begun = Less(f, most)",
        limit: "l0",
        starts: "begun",
        outputs: "y",
      }),
      null,
    ],
    "a condition on a number of turns that wraps around": [
      loop({
        goesOn: "on",
        body: `${counted}\n  tf = Cast<to=3>(turn)\n  on = Less(tf, $t6: i8[] = {6})${split}${cell()}`,
      }),
      null,
    ],
    "fewer turns than steps": [loop({ limit: "$m: i64[] = {5}" }), null],
    "a limit that is an input": [
      loop({ inputs: "x: f32[6,N,3], h0: f32[N,4], m: i64[]", limit: "m", outputs: "y" }),
      null,
    ],
    "a condition that ends it early": [
      loop({ goesOn: "on", body: counted + compared(...constants(5)) + split + cell() }),
      null,
    ],
    "a condition that lets it go on for a turn too many": [
      loop({
        limit: "_",
        goesOn: "on",
        body: `${counted}${float("turn", "tf")}\n  on = Less(tf, $t6: f32[] = {6})${split}${cell()}`,
      }),
      null,
    ],
    "a condition on what it computes": [
      loop({
        goesOn: "on",
        body: `${counted}${split}${cell()}\n  m = ReduceMax<keepdims=0>(n)\n  on = Less(m, $t6: f32[] = {6})`,
      }),
      null,
    ],
    "a loop that may not begin": [
      loop({ inputs: "x: f32[6,N,3], h0: f32[N,4], on: bool[]", starts: "on", outputs: "y" }),
      null,
    ],
    "one row that starts for all samples": [loop({ inputs: "x: f32[6,N,3], h0: f32[1,4]" }), null],
    "the number of turns, which is read": [loop({ outputs: "y, count" }), null],
    "something else that is collected": [loop({ collected: "c" }), null],
    "a count that begins before the first row": [loop().replace("$zero: i32[] = {0}", "$zero: i32[] = {-1}"), null],
    "every other row": [loop({ body: counted.replace("{1}", "{2}") + split + cell() }), null],
    "rows from the end": [
      loop({
        body: `\n  i2 = Sub($last: i32[] = {5}, i)\n  row = Gather<axis=0>(x, i2)\n  j = Add(i, $step: i32[] = {1})${split}${cell()}`,
      }),
      null,
    ],
    "another factor beside the state": [
      loop({ body: counted + split + cell().replace("Sub($one: f32[] = {1}, z)", "Sub($one: f32[] = {2}, z)") }),
      null,
    ],
    "a gate of more columns than the others": [
      loop({ body: counted + split.replace("{4}, $e1: i64[1] = {8}", "{3}, $e1: i64[1] = {8}") + cell() }),
      null,
    ],
    "a gate of another activation": [
      loop({ body: counted + split + cell().replace("r = Sigmoid", "r = HardSigmoid") }),
      null,
    ],
    "a product that is scaled": [
      loop({
        body:
          counted +
          split.replace(
            "xs = MatMul(row, $w: f32[3,12])\n  xb = Add(xs, $bx: f32[12])",
            "xb = Gemm<alpha=0.5>(row, $w: f32[3,12], $bx: f32[12])",
          ) +
          cell(),
      }),
      null,
    ],
    "weights that are computed": [
      loop({
        inputs: "x: f32[6,N,3], h0: f32[N,4], v: f32[3,12]",
        body: counted + split.replace("$w: f32[3,12]", "v") + cell(),
      }),
      null,
    ],
    "an opset in which Squeeze names its axes otherwise": [
      loop({ inputs: "x: f32[6,N,3], h0: f32[N,4]" }),
      null,
      { opset: 12 },
    ],
  },
});
