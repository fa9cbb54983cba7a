import { fuseMatMulTranspose } from "../../../src/passes/contrib/matmul-transpose.js";
import { testRewrite } from "../../support/test-rewrite.js";

const OTHER_AXES = "the Transpose moves other axes than FusedMatMul can";
const BATCH = "the batches of the operands may differ";

testRewrite(fuseMatMulTranspose, {
  rewrites: {
    "a first operand": `(a: f32[N,2,4,3], b: f32[N,2,4,5]) -> (y) {
      t = Transpose<perm=[0,1,3,2]>(a)
      y = MatMul(t, b)
    }`,
    "a second operand of another rank": `(a: f32[N,2,3,4], b: f32[5,4]) -> (y) {
      t = Transpose<perm=[1,0]>(b)
      y = MatMul(a, t)
    }`,
    "axes in reverse where that is said by nothing": `(a: f32[N,4], b: f32[5,4]) -> (y) {
      t = Transpose(b)
      y = MatMul(a, t)
    }`,
    "both operands": `(a: f32[2,4,3], b: f32[2,5,4]) -> (y) {
      s = Transpose<perm=[0,2,1]>(a)
      t = Transpose<perm=[0,2,1]>(b)
      y = MatMul(s, t)
    }`,
    "a tensor times itself": `(a: f32[N,3,4]) -> (y) {
      t = Transpose<perm=[0,2,1]>(a)
      y = MatMul(t, a)
    }`,
    "a Transpose that two products read": `(a: f32[2,4,3], b: f32[2,4,5]) -> (y, z) {
      t = Transpose<perm=[0,2,1]>(a)
      y = MatMul(t, b)
      z = MatMul(a, t)
    }`,
    "a first operand with its rows before the batch": `(a: f32[3,2,6,4], b: f32[2,6,4,5]) -> (y) {
      t = Transpose<perm=[1,2,0,3]>(a)
      y = MatMul(t, b)
    }`,
    "a first operand with its columns before the batch": `(a: f32[4,2,6,3], b: f32[2,6,4,5]) -> (y) {
      t = Transpose<perm=[1,2,3,0]>(a)
      y = MatMul(t, b)
    }`,
    "a second operand with its columns before the batch": `(a: f32[2,3,4], b: f32[4,2,5]) -> (y) {
      t = Transpose<perm=[1,0,2]>(b)
      y = MatMul(a, t)
    }`,
    "a FusedMatMul": `(a: f32[2,4,3], b: f32[2,5,4]) -> (y) {
      t = Transpose<perm=[0,2,1]>(b)
      y = com.microsoft::FusedMatMul<transA=1, alpha=0.5>(a, t)
    }`,
  },
  leaves: {
    "other axes": [
      "(a: f32[2,3,6,4], b: f32[2,6,4,5]) -> (y) { t = Transpose<perm=[0,2,1,3]>(a)\n y = MatMul(t, b) }",
      OTHER_AXES,
    ],
    "a Transpose that a sum reads too": [
      "(a: f32[4,4], b: f32[4,5]) -> (y, z) { t = Transpose(a)\n y = MatMul(t, b)\n z = Add(t, a) }",
      "the Transpose has other readers",
    ],
    "a Transpose that others read": [
      "(a: f32[4,3], b: f32[4,5]) -> (y, z) { t = Transpose(a)\n y = MatMul(t, b)\n z = Relu(t) }",
      "the Transpose has other readers",
    ],
    "a Transpose that is an output": [
      "(a: f32[4,3], b: f32[4,5]) -> (y, t) { t = Transpose(a)\n y = MatMul(t, b) }",
      "the Transpose has other readers",
    ],
    "an operand that is turned already": [
      "(a: f32[3,4], b: f32[4,5]) -> (y) { t = Transpose(a)\n y = com.microsoft::FusedMatMul<transA=1>(t, b) }",
      "the operand is read along other axes already",
    ],
    "rows before the batch, where the batch is repeated": [
      "(a: f32[3,2,4], b: f32[6,2,4,5]) -> (y) { t = Transpose<perm=[1,0,2]>(a)\n y = MatMul(t, b) }",
      BATCH,
    ],
    "rows before the batch, where batches may differ": [
      "(a: f32[3,N,4], b: f32[M,4,5]) -> (y) { t = Transpose<perm=[1,0,2]>(a)\n y = MatMul(t, b) }",
      BATCH,
    ],
    integers: [
      "(a: i32[4,3], b: i32[4,5]) -> (y) { t = Transpose(a)\n y = MatMul(t, b) }",
      "FusedMatMul computes in f32 only",
    ],
    "a vector": ["(a: f32[4], b: f32[4,5]) -> (y) { t = Transpose(a)\n y = MatMul(t, b) }", OTHER_AXES],
  },
});
