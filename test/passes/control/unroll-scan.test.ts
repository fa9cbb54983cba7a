import { unrollScan } from "../../../src/passes/control/unroll-scan.js";
import { testRewrite } from "../../support/test-rewrite.js";

const RUNNING = "(t, u) { t = Add(a, e)\n u = Relu(t) }";

/** A Scan that starts with x and reads z. */
const scan = (z: string, attributes = "", body = `(a: f32[N,3], e: f32[N,3]) -> ${RUNNING}`): string =>
  `(x: f32[N,3], z: ${z}) -> (y, c) { y, c = Scan<body=${body}, num_scan_inputs=1${attributes}>(x, z) }`;

testRewrite(unrollScan, {
  rewrites: {
    "three elements": scan("f32[3,N,3]"),
    "one element": scan("f32[1,N,3]"),
    "weights of any size, which are shared": scan(
      "f32[8,N,3]",
      "",
      "(a: f32[N,3], e: f32[N,3]) -> (t, u) { t = Add(a, e)\n u = MatMul(t, $w: f32[3,500]) }",
    ),
    "elements along another axis, backward": scan("f32[N,2,3]", ", scan_input_axes=[1], scan_input_directions=[1]"),
    "elements along an axis counted from the end": scan("f32[N,3,2]", ", scan_input_axes=[-1]"),
    "what it collects along another axis, backward": scan(
      "f32[2,N,3]",
      ", scan_output_axes=[-1], scan_output_directions=[1]",
    ),
    "a final state alone": `(x: f32[N,3], z: f32[4,N,3]) -> (y) {
      y, c = Scan<body=(a: f32[N,3], e: f32[N,3]) -> ${RUNNING}, num_scan_inputs=1>(x, z)
    }`,
    "two inputs in two directions, and no state": `(z: f32[2,N,3], w: f32[2,N,3]) -> (c, d) {
      c, d = Scan<body=(e: f32[N,3], f: f32[N,3]) -> (s, p) { s = Sub(e, f)\n p = Mul(e, f) }, num_scan_inputs=2,
        scan_input_directions=[0, 1], scan_output_directions=[1, 0]>(z, w)
    }`,
    "states that change places, and one that is collected": `(x: f32[2], w: f32[2], z: f32[3,2]) -> (y, v, c) {
      y, v, c = Scan<body=(a: f32[2], b: f32[2], e: f32[2]) -> (p, q, s) {
        p = Identity(b)
        q = Identity(a)
        s = Add(a, e)
      }, num_scan_inputs=1>(x, w, z)
    }`,
    "what is read from outside": `(x: f32[N,3], z: f32[2,N,3]) -> (y) {
      k = Neg(x)
      y, c = Scan<body=(a: f32[N,3], e: f32[N,3]) -> (t, u) { p = Mul(e, k)\n t = Add(a, p)\n u = Relu(t) }, num_scan_inputs=1>(x, z)
    }`,
    "a scan in a branch": `(x: f32[2,3], z: f32[2,2,3], d: bool[]) -> (y) {
      y = If<then_branch=() -> (s) {
        s, c = Scan<body=(a: f32[2,3], e: f32[2,3]) -> ${RUNNING}, num_scan_inputs=1>(x, z)
      }, else_branch=() -> (b) { b = Neg(x) }>(d)
    }`,
    integers: `(x: i64[2], z: i64[3,2]) -> (y, c) {
      y, c = Scan<body=(a: i64[2], e: i64[2]) -> (t, u) { t = Add(a, e)\n u = Identity(t) }, num_scan_inputs=1>(x, z)
    }`,
  },
  leaves: {
    "a length that is not known": [scan("f32[T,N,3]"), null],
    "a length that is known of one input alone": [
      `(z: f32[2,N,3], w: f32[T,N,3]) -> (c) {
        c = Scan<body=(e: f32[N,3], f: f32[N,3]) -> (s) { s = Sub(e, f) }, num_scan_inputs=2>(z, w)
      }`,
      null,
    ],
    "more bytes than a file should grow by": [
      scan("f32[16,N,3]"),
      "16 iterations of about 142 bytes are too many to write out",
    ],
    "an output of the body that is its input": [
      `(x: f32[2], w: f32[2], z: f32[3,2]) -> (y, v, c) {
        y, v, c = Scan<body=(a: f32[2], b: f32[2], e: f32[2]) -> (b, a, s) { s = Add(a, e) }, num_scan_inputs=1>(x, w, z)
      }`,
      "an output of its body is not computed",
    ],
    "random numbers": [
      `(x: f32[2,3], z: f32[2,2,3]) -> (y) {
        y = Scan<body=(a: f32[2,3], e: f32[2,3]) -> (t) { r = RandomNormal<shape=[2,3], seed=1.0>()\n s = Add(a, r)\n t = Add(s, e) }, num_scan_inputs=1>(x, z)
      }`,
      "a node in it may do something else each time",
    ],
    "an opset whose Unsqueeze names its axes": [
      scan("f32[2,N,3]"),
      "the opset is too old to write it out",
      { opset: 11 },
    ],
  },
});
