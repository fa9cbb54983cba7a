import { fuseReduceNorm } from "../../../src/passes/fuse/reduce-norm.js";
import { testRewrite } from "../../support/test-rewrite.js";

const AXES = "$axes: i64[1] = {-1}";
const openvino = { opset: 18, target: "openvino" };
const graph = (lines: string, inputs = "x: f32[N,3,4]"): string => `(${inputs}) -> (y) { ${lines} }`;
const SLOWER = "ONNX Runtime: its kernels for ReduceL1 and ReduceL2 on the CPU are slower than these nodes";

testRewrite(fuseReduceNorm, {
  rewrites: {
    "a sum of magnitudes": [graph(`a = Abs(x) y = ReduceSum<keepdims=0>(a, ${AXES})`), openvino],
    "a root of a sum of products": [graph(`q = Mul(x, x) s = ReduceSum(q, ${AXES}) y = Sqrt(s)`), openvino],
    "a root of a sum of powers": [
      graph(`q = Pow(x, $two: f32[] = {2}) s = ReduceSum<keepdims=0>(q, $axes: i64[2] = {0, 2}) y = Sqrt(s)`),
      openvino,
    ],
    "a root of a sum of squares": [graph(`s = ReduceSumSquare(x, ${AXES}) y = Sqrt(s)`), openvino],
    "a sum over everything": [graph("a = Abs(x) y = ReduceSum<keepdims=0>(a)"), openvino],
    "axes that are computed": [graph("a = Abs(x) y = ReduceSum(a, axes)", "x: f32[2,3], axes: i64[1]"), openvino],
    "axes where none would mean none": [
      graph(`a = Abs(x) y = ReduceSum<noop_with_empty_axes=1>(a, ${AXES})`),
      openvino,
    ],
  },
  leaves: {
    "what is slower on the CPU": [graph(`a = Abs(x) y = ReduceSum(a, ${AXES})`), SLOWER, { opset: 18 }],
    "it for ONNX Runtime by name": [
      graph(`s = ReduceSumSquare(x, ${AXES}) y = Sqrt(s)`),
      SLOWER,
      { opset: 18, target: "ort-cpu" },
    ],
    "what the target has no kernel for": [
      graph(`a = Abs(x) y = ReduceSum(a, ${AXES})`),
      "Core ML (ML Program) in ONNX Runtime 1.30: it has no kernel for ReduceL1",
      { opset: 18, target: "coreml" },
    ],
    "magnitudes that are read": [`(x: f32[N,3,4]) -> (y, a) { a = Abs(x) y = ReduceSum(a, ${AXES}) }`, null, openvino],
    "a product of two tensors": [
      graph(`q = Mul(x, z) s = ReduceSum(q, ${AXES}) y = Sqrt(s)`, "x: f32[N,3,4], z: f32[N,3,4]"),
      null,
      openvino,
    ],
    "another power": [graph(`q = Pow(x, $k: f32[] = {4}) s = ReduceSum(q, ${AXES}) y = Sqrt(s)`), null, openvino],
    "a power that widens": [
      graph(`q = Pow(x, $k: f32[1,1,1,1] = {2}) s = ReduceSum(q, ${AXES}) y = Sqrt(s)`),
      null,
      openvino,
    ],
    "a sum that is read": [`(x: f32[N,3,4]) -> (y, s) { s = ReduceSumSquare(x, ${AXES}) y = Sqrt(s) }`, null, openvino],
    "no axes, which may mean none": [graph("a = Abs(x) y = ReduceSum<noop_with_empty_axes=1>(a)"), null, openvino],
    "computed axes, which may be none": [
      graph("a = Abs(x) y = ReduceSum<noop_with_empty_axes=1>(a, axes)", "x: f32[2,3], axes: i64[1]"),
      null,
      openvino,
    ],
    "double precision": [graph(`a = Abs(x) y = ReduceSum(a, ${AXES})`, "x: f64[N,3,4]"), null, openvino],
  },
});
