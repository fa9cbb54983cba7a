import {
  fuseConvBatchNorm,
  fuseConvTransposeBatchNorm,
  fuseGemmBatchNorm,
  fuseMatMulBatchNorm,
} from "../../../src/passes/fuse/batch-norm.js";
import {
  fuseConvMulAdd,
  fuseConvTransposeMulAdd,
  fuseGemmMulAdd,
  fuseMatMulMul,
} from "../../../src/passes/fuse/linear-arithmetic.js";
import { fuseMatMulAdd } from "../../../src/passes/fuse/matmul-add.js";
import { testRewrite } from "../../support/test-rewrite.js";

/** Statistics of a BatchNormalization over `count` channels. */
const statistics = (count: number): string => {
  const variance = Array.from({ length: count }, (_, i) => (0.5 + 0.25 * i).toFixed(2)).join(", ");
  return `$g: f32[${count}], $b: f32[${count}], $m: f32[${count}], $v: f32[${count}] = {${variance}}`;
};

const then = (first: string, second: string, input = "x: f32[N,3,6,6]"): string => `(${input}) -> (y) {
  c = ${first}
  y = ${second}
}`;

const CONV = "Conv<pads=[1,1,1,1]>(x, $w: f32[4,3,3,3])";
const NORM = `BatchNormalization<epsilon=0.001>(c, ${statistics(4)})`;

testRewrite(fuseConvBatchNorm, {
  rewrites: {
    "a Conv without bias": then(CONV, NORM),
    "a Conv with bias": then("Conv(x, $w: f32[4,3,3,3], $bias: f32[4])", NORM),
    "a Conv in groups": then("Conv<group=3>(x, $w: f32[6,1,3,3])", `BatchNormalization(c, ${statistics(6)})`),
    "a Conv over one axis": then("Conv(x, $w: f32[4,3,3])", NORM, "x: f32[N,3,9]"),
    "a weight that another Conv reads": `(x: f32[N,3,6,6]) -> (y, z) {
      c = Conv(x, $w: f32[4,3,3,3])
      y = ${NORM}
      z = Conv(x, $w)
    }`,
    "the form of opset 9": [then(CONV, NORM), { opset: 9 }],
    "a pair in a body": `(x: f32[1,3,6,6], p: bool[]) -> (y) {
      y = If<then_branch=() -> (t) { c = ${CONV} t = ${NORM} }, else_branch=() -> (e) { e = ${CONV.replace("$w", "$w2")} }>(p)
    }`,
  },
  leaves: {
    "another node reads the Conv": [
      `(x: f32[N,3,6,6]) -> (y, z) {
        c = ${CONV}
        y = ${NORM}
        z = Relu(c)
      }`,
      null,
    ],
    "the Conv is an output": [`(x: f32[N,3,6,6]) -> (c, y) { c = ${CONV} y = ${NORM} }`, null],
    "the mean is a graph input": [
      `(x: f32[N,3,6,6], m: f32[4]) -> (y) {
        c = ${CONV}
        y = BatchNormalization(c, $g: f32[4], $b: f32[4], m, $v: f32[4] = {1.0})
      }`,
      "statistics are no float constants, one number per channel",
    ],
    "the weight is a graph input": [
      `(x: f32[N,3,6,6], w: f32[4,3,3,3]) -> (y) { c = Conv(x, w) y = ${NORM} }`,
      "the weight is no constant",
    ],
    "it trains": [
      then(CONV, `BatchNormalization<training_mode=1>(c, ${statistics(4)})`),
      "BatchNormalization is in training mode",
    ],
    "a variance makes the factor infinite": [
      then(CONV, "BatchNormalization<epsilon=0.0>(c, $g: f32[4], $b: f32[4], $m: f32[4], $v: f32[4] = {0.0})"),
      "folded weights leave the range of f32",
    ],
    "the Conv is outside and the normalization in a body": [
      `(x: f32[1,3,6,6], p: bool[]) -> (y) {
        c = ${CONV}
        y = If<then_branch=() -> (t) { t = ${NORM} }, else_branch=() -> (e) { e = Conv(x, $w2: f32[4,3,3,3], $b2: f32[4]) }>(p)
      }`,
      null,
    ],
  },
});

testRewrite(fuseConvTransposeBatchNorm, {
  rewrites: {
    "a ConvTranspose": then("ConvTranspose<strides=[2,2]>(x, $w: f32[3,4,2,2])", NORM),
    "a ConvTranspose in groups": then(
      "ConvTranspose<group=3>(x, $w: f32[6,2,2,2], $bias: f32[6])",
      `BatchNormalization(c, ${statistics(6)})`,
      "x: f32[N,6,4,4]",
    ),
  },
  leaves: {
    "a Conv": [then(CONV, NORM), null],
  },
});

testRewrite(fuseGemmBatchNorm, {
  rewrites: {
    "a Gemm with alpha and beta": then(
      "Gemm<alpha=0.5, beta=2.0>(x, $w: f32[3,4], $bias: f32[4])",
      NORM,
      "x: f32[N,3]",
    ),
    "a transposed weight and one number for a bias": then(
      "Gemm<transB=1>(x, $w: f32[4,3], $bias: f32[])",
      NORM,
      "x: f32[N,3]",
    ),
    "a bias that beta switches off": then("Gemm<beta=0.0>(x, $w: f32[3,4], $bias: f32[4])", NORM, "x: f32[N,3]"),
  },
  leaves: {
    "a bias for every element": [
      then("Gemm(x, $w: f32[3,4], $bias: f32[2,4])", NORM, "x: f32[2,3]"),
      "the bias is not one number per channel",
    ],
  },
});

testRewrite(fuseMatMulBatchNorm, {
  rewrites: {
    "matrices, which become a Gemm": then("MatMul(x, $w: f32[3,4])", NORM, "x: f32[N,3]"),
    "tokens that are flattened": `(x: f32[N,5,3]) -> (y) {
      c0 = MatMul(x, $w: f32[3,4])
      c = Flatten<axis=2>(c0)
      y = ${NORM}
    }`,
    "tokens that are viewed as rows and back": `(x: f32[N,5,3]) -> (y) {
      c0 = MatMul(x, $w: f32[3,4])
      c = Reshape(c0, $rows: i64[2] = {-1, 4})
      r = ${NORM}
      y = Reshape(r, $back: i64[3] = {-1, 5, 4})
    }`,
  },
  leaves: {
    "tokens that others read": [
      `(x: f32[N,5,3]) -> (y, z) {
        c0 = MatMul(x, $w: f32[3,4])
        c = Flatten<axis=2>(c0)
        y = ${NORM}
        z = Neg(c0)
      }`,
      null,
    ],
    "tokens whose channels are cut into rows": [
      `(x: f32[N,5,3]) -> (y) {
        c0 = MatMul(x, $w: f32[3,8])
        c = Reshape(c0, $rows: i64[2] = {-1, 4})
        y = ${NORM}
      }`,
      null,
    ],
    "tokens viewed as images": [
      `(x: f32[N,4,3]) -> (y) {
        c0 = MatMul(x, $w: f32[3,4])
        c = Reshape(c0, $image: i64[4] = {0, 4, 2, 2})
        y = ${NORM}
      }`,
      null,
    ],
    "a product with weights that are made": [
      `(x: f32[N,5,3], w: f32[3,4]) -> (y) {
        c0 = MatMul(x, w)
        c = Flatten<axis=2>(c0)
        y = ${NORM}
      }`,
      "the weight is no constant",
    ],
    "a stack of matrices": [
      then("MatMul(x, $w: f32[4,4])", NORM, "x: f32[N,4,4]"),
      "only a MatMul of matrices has its columns on the channel axis",
    ],
  },
});

testRewrite(fuseConvMulAdd, {
  rewrites: {
    "a factor per channel": then(CONV, "Mul(c, $f: f32[4,1,1])"),
    "a factor before the Conv's result": then(CONV, "Mul($f: f32[1,4,1,1], c)"),
    "a scalar": then("Conv(x, $w: f32[4,3,3,3], $bias: f32[4])", "Div(c, $f: f32[] = {3.0})"),
    "an addend per channel": then(CONV, "Add(c, $f: f32[1,4,1,1])"),
    "a constant less the result": then("Conv(x, $w: f32[4,3,3,3], $bias: f32[4])", "Sub($f: f32[4,1,1], c)"),
    "a product, then a sum": `(x: f32[N,3,6,6]) -> (y) {
      c = ${CONV}
      d = Mul(c, $f: f32[4,1,1])
      y = Add(d, $g: f32[4,1,1])
    }`,
  },
  leaves: {
    "a factor per column": [then(CONV, "Mul(c, $f: f32[6])"), "the constant is not one number per channel"],
    "a constant that adds an axis": [then(CONV, "Mul(c, $f: f32[1,1,1,1,1])"), "the constant would widen the result"],
    "a constant that makes more channels of one": [
      then("Conv(x, $w: f32[1,3,3,3])", "Add(c, $f: f32[4,1,1])"),
      "the constant is not one number per channel",
    ],
    "a division by the result": [then(CONV, "Div($f: f32[] = {1.0}, c)"), null],
    "a factor when the weight is shared": [
      `(x: f32[N,3,6,6]) -> (y, z) {
        c = Conv(x, $w: f32[4,3,3,3])
        y = Mul(c, $f: f32[4,1,1])
        z = Conv(x, $w)
      }`,
      "other nodes read the weight",
    ],
  },
});

testRewrite(fuseConvTransposeMulAdd, {
  rewrites: { "an addend per channel": then("ConvTranspose(x, $w: f32[3,4,2,2])", "Add(c, $f: f32[4,1,1])") },
  leaves: {},
});

testRewrite(fuseGemmMulAdd, {
  rewrites: {
    "a factor per column": then("Gemm(x, $w: f32[3,4], $bias: f32[4])", "Mul(c, $f: f32[4])", "x: f32[N,3]"),
    "an addend per column": then(
      "Gemm<beta=0.5>(x, $w: f32[3,4], $bias: f32[1,4])",
      "Add(c, $f: f32[1,4])",
      "x: f32[N,3]",
    ),
  },
  leaves: {
    "a factor per row": [
      then("Gemm(x, $w: f32[3,4], $bias: f32[4])", "Mul(c, $f: f32[2,1])", "x: f32[2,3]"),
      "the constant is not one number per channel",
    ],
  },
});

testRewrite(fuseMatMulMul, {
  rewrites: {
    "a scalar": then("MatMul(x, $w: f32[3,4])", "Mul(c, $f: f32[] = {0.125})", "x: f32[N,M,3]"),
    "a divisor per column": then("MatMul(x, $w: f32[3,4])", "Div(c, $f: f32[4] = {2.0})", "x: f32[N,3]"),
  },
  leaves: {
    "a sum": [then("MatMul(x, $w: f32[3,4])", "Add(c, $f: f32[4])", "x: f32[N,3]"), null],
    "a product of two computed tensors": [
      then("MatMul(x, x)", "Mul(c, $f: f32[] = {0.125})", "x: f32[3,3]"),
      "the weight is no constant",
    ],
  },
});

testRewrite(fuseMatMulAdd, {
  rewrites: {
    "a bias": then("MatMul(x, $w: f32[3,4])", "Add(c, $b: f32[4])", "x: f32[N,3]"),
    "a bias before the product": then("MatMul(x, $w: f32[3,4])", "Add($b: f32[1,4], c)", "x: f32[N,3]"),
    "a computed addend of the result's shape": `(x: f32[N,3], z: f32[N,4]) -> (y) {
      c = MatMul(x, $w: f32[3,4])
      y = Add(c, z)
    }`,
  },
  leaves: {
    "a stack of matrices": [
      then("MatMul(x, $w: f32[3,4])", "Add(c, $b: f32[4])", "x: f32[N,M,3]"),
      "Gemm multiplies matrices, and a factor has 3 axes",
    ],
    "an addend of a higher rank": [
      then("MatMul(x, $w: f32[3,4])", "Add(c, $b: f32[2,1,4])", "x: f32[N,3]"),
      "the addend may widen the result",
    ],
    "an addend whose rows need not be the result's": [
      `(x: f32[N,3], z: f32[M,4]) -> (y) {
        c = MatMul(x, $w: f32[3,4])
        y = Add(c, z)
      }`,
      "the addend may widen the result",
    ],
    integers: [
      `(x: i64[N,3], w: i64[3,4]) -> (y) {
        c = MatMul(x, w)
        y = Add(c, $b: i64[4])
      }`,
      "Gemm is for floats",
    ],
    "a product that is an output": [
      "(x: f32[N,3]) -> (c, y) { c = MatMul(x, $w: f32[3,4]) y = Add(c, $b: f32[4]) }",
      null,
    ],
  },
});
