import { fuseStackedRows } from "../../../src/passes/layout/stacked-rows.js";
import { testRewrite } from "../../support/test-rewrite.js";

const places = [0, 1, 2];

const rows = (x = "x", axis = 0, label = "r", order = places): string =>
  order
    .map((place, at) => `\n  ${label}${at} = Gather<axis=${axis}>(${x}, $${label}i${at}: i64[] = {${place}})`)
    .join("");

/** Each row by a step: `#` is its number, and what it makes is `y#`. Constants are told in the first. */
const each = (step: string): string =>
  places
    .map((at) =>
      (at === 0 ? step : step.replace(/\$(\w+): \w+\[[\d,]*\](?: = \{[^}]*\})?/g, "$1")).replaceAll("#", `${at}`),
    )
    .map((line) => `\n  ${line}`)
    .join("");

const stack = (axis: number, from = "y"): string =>
  `${each(`u# = Unsqueeze(${from}#, $axis: i64[1] = {${axis}})`)}\n  y = Concat<axis=${axis}>(u0, u1, u2)`;

const of = (body: string, inputs = "x: f32[3,N,4]", outputs = "y"): string => `(${inputs}) -> (${outputs}) {${body}\n}`;

testRewrite(fuseStackedRows, {
  rewrites: {
    "rows as they are": of(rows() + stack(0, "r")),
    "rows that get another axis": of(rows() + stack(1, "r")),
    "rows of the second axis": of(rows("x", 1) + stack(1, "r"), "x: f32[N,3,4]"),
    "some of the rows": of(rows() + stack(1, "r"), "x: f32[5,N,4]"),
    "rows in another order": of(rows("x", 0, "r", [2, 0, 1]) + stack(0, "r")),
    "rows that are joined behind each other": of(`${rows()}\n  y = Concat<axis=1>(r0, r1, r2)`),
    "rows that are joined below each other": of(`${rows()}\n  y = Concat<axis=0>(r0, r1, r2)`),
    "no samples, behind each other": of(`${rows()}\n  y = Concat<axis=1>(r0, r1, r2)`, "x: f32[3,0,4]"),
    "activations one behind the other": of(
      `${rows()}${each("a# = Relu(r#)")}${each("b# = Neg(a#)")}${each("c# = Tanh(b#)")}${each("y# = Abs(c#)")}${stack(1)}`,
    ),
    "products of each row": of(rows() + each("y# = MatMul(r#, $w: f32[4,2])") + stack(1)),
    "products and activations of each row": of(
      rows() + each("p# = Gemm<transB=1>(r#, $w: f32[2,4], $b: f32[2])") + each("y# = Relu(p#)") + stack(0),
    ),
    "products without an addend": of(rows() + each("y# = Gemm(r#, $w: f32[4,2])") + stack(0)),
    "what is scaled and moved alike": of(
      rows() + each("s# = Mul(r#, $s: f32[1,4])") + each("y# = Sub($one: f32[] = {1}, s#)") + stack(1),
    ),
    "rows of two tensors beside each other": of(
      rows() + rows("z", 0, "q") + each("y# = Concat<axis=-1>(r#, q#)") + stack(1),
      "x: f32[3,N,4], z: f32[3,N,2]",
    ),
    "rows of two tensors from other axes": of(
      rows() + rows("z", 1, "q") + each("y# = Add(r#, q#)") + stack(1),
      "x: f32[3,N,4], z: f32[N,3,4]",
    ),
    "sums of the rows of two tensors": of(
      rows() + rows("z", 0, "q", [2, 1, 0]) + each("y# = Add(r#, q#)") + stack(1),
      "x: f32[3,N,4], z: f32[3,N,4]",
    ),
    "normalized rows": of(
      rows() +
        each("l# = LayerNormalization<axis=1>(r#, $s: f32[4], $b: f32[4])") +
        each("y# = Softmax<axis=1>(l#)") +
        stack(0),
    ),
    "clipped rows": of(rows() + each("y# = Clip(r#, $low: f32[] = {-0.5}, $high: f32[] = {0.5})") + stack(1)),
    "rows of other numbers than floats": of(rows() + each("y# = Cast<to=7>(r#)") + stack(0)),
  },
  leaves: {
    "rows that are normalized by factors of each sample": [
      of(rows("x", 1) + each("y# = LayerNormalization<axis=1>(r#, $s: f32[3,4])") + stack(1), "x: f32[3,3,4]"),
      null,
    ],
    "parts whose sizes are computed": [
      `(x: f32[3,N,4], sizes: i64[3]) -> (y) {
  t0, t1, t2 = Split<axis=0>(x, sizes)${each("r# = Squeeze(t#, $first: i64[1] = {0})")}${stack(1, "r")}
}`,
      null,
    ],
    "products that others read behind their new axis": [
      of(`${rows() + each("y# = MatMul(r#, $w: f32[4,2])") + stack(1)}\n  e = Relu(u1)`, "x: f32[3,N,4]", "y, e"),
      null,
    ],
    "numbers of which nobody knows how many, behind each other": [
      of(`${rows()}\n  y = Concat<axis=1>(r0, r1, r2)`, "x: f32[3,N,M]"),
      null,
    ],
    "products of which one adds something": [
      of(rows() + each("y# = Gemm(r#, $w: f32[4,2])").replace("(r1, w)", "(r1, w, $b: f32[2])") + stack(1)),
      null,
    ],
    "products of which one adds twice as much": [
      of(rows() + each("y# = Gemm<beta=2.0>(r#, $w: f32[4,2], $b: f32[2])") + stack(1)),
      null,
    ],
    "activations of which one is steeper": [
      of(rows() + each("y# = LeakyRelu(r#)").replace("LeakyRelu(r1)", "LeakyRelu<alpha=0.5>(r1)") + stack(1)),
      null,
    ],
    "products of two rows": [
      of(rows() + rows("z", 0, "q") + each("y# = MatMul(r#, q#)") + stack(1), "x: f32[3,4,4], z: f32[3,4,4]"),
      null,
    ],
    "products by a vector": [
      of(rows() + each("m# = MatMul(r#, $w: f32[4])") + each("y# = Unsqueeze(m#, $last: i64[1] = {1})") + stack(1)),
      null,
    ],
    "weights by rows": [of(rows() + each("y# = MatMul($w: f32[5,4], r#)") + stack(1), "x: f32[3,4,4]"), null],
    "rows beside constants": [
      of(rows() + each("y# = Concat<axis=1>(r#, $c: f32[2,2])") + stack(1), "x: f32[3,2,4]"),
      null,
    ],
    "the second of two results": [
      of(rows() + each("a#, y# = LayerNormalization<axis=1>(r#, $s: f32[4])") + stack(1)),
      null,
    ],
    "parts of two rows": [
      `(x: f32[6,N,4]) -> (y) {
  t0, t1, t2, t3 = Split<axis=0>(x, $sizes: i64[4] = {1, 1, 1, 3})${each("r# = Squeeze(t#, $first: i64[1] = {0})")}${stack(1, "r")}
}`,
      null,
    ],
    "rows of two tensors in turn": [
      of(
        `${rows()}\n  q = Gather<axis=0>(z, $qi: i64[] = {1})${stack(0, "r").replace("(r1,", "(q,")}`,
        "x: f32[3,N,4], z: f32[3,N,4]",
      ),
      null,
    ],
    "places that are computed": [
      of(`${rows()}\n  q = Gather<axis=0>(x, i)${stack(0, "r").replace("(r1,", "(q,")}`, "x: f32[3,N,4], i: i64[]"),
      null,
    ],
    "axes other than the one that they are stacked along": [
      of(`${rows()}${stack(0, "r").replace("Concat<axis=0>", "Concat<axis=1>")}`),
      null,
    ],
    "a stack behind the elements": [of(rows() + stack(2, "r")), null],
    "products by other weights": [of(rows() + each("y# = MatMul(r#, $w#: f32[4,2])") + stack(1)), null],
    "products that others read": [
      of(rows() + each("y# = MatMul(r#, $w: f32[4,2])") + stack(1), "x: f32[3,N,4]", "y, y1"),
      null,
    ],
    "scaled products": [of(rows() + each("y# = Gemm<alpha=2.0>(r#, $w: f32[4,2])") + stack(1)), null],
    "transposed rows": [of(rows() + each("y# = Gemm<transA=1>(r#, $w: f32[4,2])") + stack(1), "x: f32[3,4,4]"), null],
    "an addend of each sample": [of(rows() + each("y# = Add(r#, $b: f32[2,4])") + stack(1), "x: f32[3,2,4]"), null],
    "a softmax over the samples": [of(rows() + each("y# = Softmax<axis=0>(r#)") + stack(1)), null],
    "rows below each other": [
      of(rows() + rows("z", 0, "q") + each("y# = Concat<axis=0>(r#, q#)") + stack(1), "x: f32[3,N,4], z: f32[3,N,4]"),
      null,
    ],
    "steps of which one is another": [
      of(`${rows()}${each("y# = Relu(r#)").replace("y1 = Relu", "y1 = Sigmoid")}${stack(1)}`),
      null,
    ],
    "rows of four axes": [of(rows() + stack(1, "r"), "x: f32[3,N,4,5]"), null],
    "rows of the last axis": [of(rows("x", 2) + stack(0, "r"), "x: f32[N,4,3]"), null],
    "numbers of which nobody knows how many, below each other": [
      of(`${rows()}\n  y = Concat<axis=0>(r0, r1, r2)`, "x: f32[3,N,M]"),
      null,
    ],
  },
});
