import { fuseGemmTranspose } from "../../../src/passes/fuse/gemm-transpose.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(fuseGemmTranspose, {
  rewrites: {
    "the first matrix of a Gemm": "(x: f32[3,N], w: f32[3,4], b: f32[4]) -> (y) { t = Transpose(x) y = Gemm(t, w, b) }",
    "both, of which one is transposed already": `(x: f32[3,N], w: f32[3,4]) -> (y) {
      s = Transpose<perm=[1,0]>(x)
      t = Transpose(w)
      y = Gemm<alpha=0.5, beta=2.0, transB=1>(s, t, $b: f32[1,4])
    }`,
    "a MatMul of matrices": "(x: f32[3,5], w: f32[4,3]) -> (y) { s = Transpose(x) t = Transpose(w) y = MatMul(s, t) }",
    "the second matrix of a MatMul": "(x: f32[2,3], w: f32[4,3]) -> (y) { t = Transpose(w) y = MatMul(x, t) }",
  },
  leaves: {
    "a Transpose that somebody else reads": [
      "(x: f32[3,4], w: f32[3,4]) -> (t, y) { t = Transpose(x) y = MatMul(t, w) }",
      null,
    ],
    "a Transpose that moves nothing": [
      "(x: f32[4,3], w: f32[3,4]) -> (y) { t = Transpose<perm=[0,1]>(x) y = Gemm(t, w) }",
      null,
    ],
    "stacks of matrices": ["(x: f32[2,3,4], w: f32[2,3]) -> (y) { t = Transpose(x) y = MatMul(t, w) }", null],
    "a stack times a matrix": [
      "(x: f32[2,5,3], w: f32[4,3]) -> (y) { t = Transpose(w) y = MatMul(x, t) }",
      "Gemm multiplies matrices only",
    ],
    integers: ["(x: i32[3,2], w: i32[3,4]) -> (y) { t = Transpose(x) y = MatMul(t, w) }", "Gemm is for floats"],
    "a Transpose behind the addend": [
      "(x: f32[2,3], w: f32[3,2], c: f32[2,2]) -> (y) { t = Transpose(c) y = Gemm(x, w, t) }",
      null,
    ],
  },
});
