import { sinkSqueeze } from "../../../src/passes/layout/sink-squeeze.js";
import { testRewrite } from "../../support/test-rewrite.js";

const AXIS = "$a: i64[1] = {2}";

testRewrite(sinkSqueeze, {
  rewrites: {
    "an activation": `(x: f32[N,4,1,5]) -> (y) { l = Squeeze(x, ${AXIS})\n y = Relu(l) }`,
    "an axis that is counted from the end":
      "(x: f32[N,4,1,5]) -> (y) { l = Squeeze(x, $a: i64[1] = {-2})\n y = Relu(l) }",
    "axes that are an attribute": [
      "(x: f32[N,4,1,5]) -> (y) { l = Squeeze<axes=[2]>(x)\n y = Relu(l) }",
      { opset: 11 },
    ],
    bounds: `(x: f32[N,4,1,5]) -> (y) { l = Squeeze(x, ${AXIS})\n y = Clip(l, $low: f32[] = {0.0}, $high: f32[] = {6.0}) }`,
    "two planes": `(x: f32[N,4,1,L], z: f32[N,4,1,L]) -> (y) { l = Squeeze(x, ${AXIS})\n m = Squeeze(z, a)\n y = Add(l, m) }`,
    "a stream that begins as a line, and is read in a plane too": `(x: f32[N,4,L], z: f32[N,4,1,L]) -> (y) {
        p = Unsqueeze(x, $a: i64[1] = {2})
        q = Mul(p, z)
        l = Squeeze(q, a)
        y = Add(x, l)
      }`,
    "an operand twice": `(x: f32[N,4,1,L]) -> (y) { l = Squeeze(x, ${AXIS})\n y = Mul(l, l) }`,
    "constants of each rank": `(x: f32[N,4,1,5]) -> (y) {
        l = Squeeze(x, ${AXIS})
        b = Mul(l, $one: f32[] = {3.0})
        c = Add(b, $along: f32[5])
        d = Sub(c, $each: f32[4,1])
        e = Div(d, $both: f32[1,4,5])
        y = PRelu(e, $slope: f32[4,1])
      }`,
    "a constant that widens": `(x: f32[1,4,1,5]) -> (y) { l = Squeeze(x, ${AXIS})\n y = Add(l, $b: f32[3,4,5]) }`,
    "a BatchNormalization": `(x: f32[N,4,1,5]) -> (y) { l = Squeeze(x, ${AXIS})\n y = BatchNormalization(l, $s: f32[4], $b: f32[4], $m: f32[4], $v: f32[4] = {0.5, 1.0, 1.5, 2.0}) }`,
    "channels side by side": `(x: f32[N,4,1,L], z: f32[N,3,1,L]) -> (y) { l = Squeeze(x, ${AXIS})\n m = Squeeze(z, a)\n y = Concat<axis=1>(l, m) }`,
    "lines in a row": `(x: f32[N,4,1,3], z: f32[N,4,1,5]) -> (y) { l = Squeeze(x, ${AXIS})\n m = Squeeze(z, a)\n y = Concat<axis=-1>(l, m) }`,
    "a gate": `(x: f32[N,8,1,L]) -> (y) { l = Squeeze(x, ${AXIS})\n u, v = Split<axis=-2>(l, $sizes: i64[2] = {4, 4})\n s = Sigmoid(v)\n y = Mul(u, s) }`,
    "an Unsqueeze that undoes it": `(x: f32[N,4,1,L]) -> (y, z) { l = Squeeze(x, ${AXIS})\n y = Unsqueeze(l, a)\n z = Exp(l) }`,
    "what others read too, where an Unsqueeze comes": `(x: f32[N,4,1,L]) -> (y, z) {
        l = Squeeze(x, ${AXIS})
        s = Sigmoid(l)
        m = Mul(l, s)
        y = Unsqueeze(m, a)
        z = Softmax(l)
      }`,
  },
  leaves: {
    "what others read too": [
      `(x: f32[N,4,1,L]) -> (y, z) { l = Squeeze(x, ${AXIS})\n y = Relu(l)\n z = Softmax(l) }`,
      null,
    ],
    "places that are normalized each by itself": [
      `(x: f32[N,4,1,2]) -> (y) { l = Squeeze<axes=[2]>(x)
        y = BatchNormalization<spatial=0>(l, $s: f32[4,2], $b: f32[4,2], $m: f32[4,2], $v: f32[4,2] = {1, 2, 3, 4, 5, 6, 7, 8}) }`,
      null,
      { opset: 8 },
    ],
    "large constants that others read": [
      `(x: f32[N,128,1,256]) -> (y, z) { l = Squeeze(x, ${AXIS}) y = Add(l, $b: f32[128,256]) z = ReduceSum<keepdims=0>(b) }`,
      null,
    ],
    "an output": [`(x: f32[N,4,1,L]) -> (l, y) { l = Squeeze(x, ${AXIS})\n y = Relu(l) }`, null],
    "an operand that is made elsewhere": [
      `(x: f32[N,4,1,L], z: f32[N,4,L]) -> (y) { l = Squeeze(x, ${AXIS})\n y = Add(l, z) }`,
      null,
    ],
    "another axis": ["(x: f32[N,1,4,5]) -> (y) { l = Squeeze(x, $a: i64[1] = {1})\n y = Relu(l) }", null],
    "two axes": ["(x: f32[N,4,1,1]) -> (y) { l = Squeeze(x, $a: i64[2] = {2, 3})\n y = Relu(l) }", null],
    "a volume": ["(x: f32[N,4,1,5,6]) -> (y) { l = Squeeze(x, $a: i64[1] = {2})\n y = Relu(l) }", null],
    "another axis that is put in": [
      `(x: f32[N,4,1,L]) -> (y) { l = Squeeze(x, ${AXIS})\n y = Unsqueeze(l, $b: i64[1] = {3}) }`,
      null,
    ],
    "what an axis of its own goes along": [
      `(x: f32[N,4,1,L]) -> (y) { l = Squeeze(x, ${AXIS})\n y = Softmax(l) }`,
      null,
    ],
    "constants of more axes": [
      `(x: f32[N,4,1,5]) -> (y) { l = Squeeze(x, ${AXIS})\n y = Add(l, $b: f32[2,1,4,5]) }`,
      null,
    ],
    "what runs elsewhere": [
      `(x: f32[N,4,1,5]) -> (y) { l = Squeeze(x, ${AXIS})\n y = Relu(l) }`,
      "NVIDIA TensorRT 11: its kernels for channels side by side are those of planes",
      { target: "tensorrt" },
    ],
  },
});
