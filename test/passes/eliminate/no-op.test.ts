import { eliminateBinarySum } from "../../../src/passes/eliminate/binary-sum.js";
import { eliminateBroadcastExpand } from "../../../src/passes/eliminate/broadcast-expand.js";
import { eliminateCastLike } from "../../../src/passes/eliminate/cast-like.js";
import { eliminateDropout } from "../../../src/passes/eliminate/dropout.js";
import { eliminateIdentity } from "../../../src/passes/eliminate/identity.js";
import { eliminateNoOpArithmetic } from "../../../src/passes/eliminate/no-op-arithmetic.js";
import { eliminateNoOpCast } from "../../../src/passes/eliminate/no-op-cast.js";
import { eliminateNoOpExpand } from "../../../src/passes/eliminate/no-op-expand.js";
import { eliminateNoOpPad } from "../../../src/passes/eliminate/no-op-pad.js";
import { eliminateNoOpReshape } from "../../../src/passes/eliminate/no-op-reshape.js";
import { eliminateNoOpSlice } from "../../../src/passes/eliminate/no-op-slice.js";
import { eliminateNoOpTranspose } from "../../../src/passes/eliminate/no-op-transpose.js";
import { eliminateReinsertedAxis } from "../../../src/passes/eliminate/reinserted-axis.js";
import { eliminateRepeated } from "../../../src/passes/eliminate/repeated.js";
import { eliminateSingleOperand } from "../../../src/passes/eliminate/single-operand.js";
import { testRewrite } from "../../support/test-rewrite.js";

const between = (line: string, input = "x: f32[2,3,4]"): string => `(${input}) -> (y) {
  a = Neg(x)
  b = ${line}
  y = Abs(b)
}`;

testRewrite(eliminateIdentity, {
  rewrites: {
    "an Identity between nodes": between("Identity(a)"),
    "an Identity before an output": `(x: f32[2]) -> (y) {
      a = Exp(x)
      y = Identity(a)
    }`,
    "an Identity in a body": `(x: f32[2], c: bool[]) -> (y) {
      y = If<then_branch=() -> (t) { a = Identity(x) t = Neg(a) }, else_branch=() -> (e) { e = Abs(x) }>(c)
    }`,
  },
  leaves: {
    "one between an input and an output": ["(x: f32[2]) -> (y) { y = Identity(x) }", null],
    "one between a body's output and a value of the graph around it": [
      `(x: f32[2], c: bool[]) -> (y) {
        y = If<then_branch=() -> (t) { t = Identity(x) }, else_branch=() -> (e) { e = Abs(x) }>(c)
      }`,
      null,
    ],
    "one between two outputs": ["(x: f32[2]) -> (a, y) { a = Exp(x) y = Identity(a) }", null],
  },
});

testRewrite(eliminateDropout, {
  rewrites: {
    "a Dropout without a training input": between("Dropout(a)"),
    "a Dropout that is told not to train": between("Dropout(a, $ratio: f32[] = {0.5}, $train: bool[] = {0})"),
    "the attribute form of opset 10": [between("Dropout<ratio=0.5>(a)"), { opset: 10 }],
  },
  leaves: {
    "a Dropout in training": [
      between("Dropout<seed=1>(a, $ratio: f32[] = {0.5}, $train: bool[] = {1})"),
      "Dropout may be in training mode",
    ],
    "a Dropout whose mode is an input": [
      `(x: f32[2], train: bool[]) -> (y) { y = Dropout(x, $ratio: f32[] = {0.5}, train) }`,
      "Dropout may be in training mode",
    ],
    "a mask that is read": [
      `(x: f32[2]) -> (y, m) {
        y, m = Dropout(x)
      }`,
      "the mask is read",
    ],
  },
});

testRewrite(eliminateNoOpCast, {
  rewrites: {
    "a Cast to the same type": between("Cast<to=1>(a)"),
    "a Cast there and back": `(x: bool[3]) -> (y) {
      a = Not(x)
      b = Cast<to=7>(a)
      c = Cast<to=9>(b)
      y = Not(c)
    }`,
    "the wide step between integers": `(x: bool[3]) -> (y) {
      a = Cast<to=6>(x)
      y = Cast<to=7>(a)
    }`,
  },
  leaves: {
    "a Cast through a narrower type": [
      `(x: f32[3]) -> (y) {
        a = Cast<to=10>(x)
        y = Cast<to=1>(a)
      }`,
      null,
    ],
    "integers rounded to float on the way": [
      `(x: i64[3]) -> (y) {
        a = Cast<to=1>(x)
        y = Cast<to=7>(a)
      }`,
      null,
    ],
  },
});

testRewrite(eliminateNoOpReshape, {
  rewrites: {
    "a chain that copies sizes which are known": `(x: f32[N,6]) -> (y) {
      a = Reshape(x, $s: i64[3] = {-1, 2, 3})
      y = Reshape(a, $t: i64[4] = {0, 0, 3, 1})
    }`,
    "a chain that copies the one size which is not": `(x: f32[N,3,4]) -> (y) {
      a = Reshape(x, $s: i64[2] = {-1, 6})
      y = Reshape(a, $t: i64[3] = {0, 2, 3})
    }`,
    "a Reshape to the known shape": between("Reshape(a, $s: i64[3] = {2, 3, 4})"),
    "zeros and one -1 over symbols": between("Reshape(a, $s: i64[3] = {0, -1, 4})", "x: f32[N,M,4]"),
    "two in a row": `(x: f32[2,3,4]) -> (y) {
      a = Reshape(x, $s: i64[2] = {6, 4})
      y = Reshape(a, $t: i64[2] = {-1, 8})
    }`,
    "Unsqueeze and Squeeze that undo each other": `(x: f32[N,3]) -> (y) {
      a = Unsqueeze(x, $s: i64[1] = {1})
      b = Squeeze(a, $t: i64[1] = {1})
      y = Abs(b)
    }`,
    "a Flatten of a matrix": between("Flatten(a)", "x: f32[N,4]"),
  },
  leaves: {
    "a chain that copies sizes which are not known": [
      `(x: f32[N,M,6]) -> (y) {
        a = Reshape(x, $s: i64[4] = {0, 0, 2, 3})
        y = Reshape(a, $t: i64[4] = {0, 0, 3, 2})
      }`,
      null,
    ],
    "a first Reshape that somebody else reads": [
      `(x: f32[2,3,4]) -> (a, y) {
        a = Reshape(x, $s: i64[2] = {6, 4})
        y = Reshape(a, $t: i64[2] = {-1, 8})
      }`,
      null,
    ],
    "two symbols that trade places": [between("Reshape(a, $s: i64[2] = {-1, 4})", "x: f32[N,M]"), null],
  },
});

testRewrite(eliminateNoOpTranspose, {
  rewrites: {
    "the order as it was": between("Transpose<perm=[0,1,2]>(a)"),
    "axes of one element that change places": between("Transpose<perm=[2,1,0,3]>(a)", "x: f32[1,3,1,4]"),
    "two that undo each other": `(x: f32[N,3,4]) -> (y) {
      a = Transpose<perm=[1,2,0]>(x)
      b = Transpose<perm=[2,0,1]>(a)
      y = Abs(b)
    }`,
    "two that make one": `(x: f32[N,3,4]) -> (y) {
      a = Transpose<perm=[1,2,0]>(x)
      y = Transpose<perm=[1,2,0]>(a)
    }`,
    "the default order of a known rank": `(x: f32[N,3,4]) -> (y) {
      a = Transpose(x)
      b = Transpose(a)
      y = Abs(b)
    }`,
  },
  leaves: {
    "an axis of one element that goes elsewhere": [between("Transpose<perm=[1,0,2]>(a)", "x: f32[1,3,4]"), null],
    "equal sizes that change places": [between("Transpose<perm=[0,2,1]>(a)", "x: f32[1,3,3]"), null],
    "sizes that may be one": [between("Transpose<perm=[1,0,2]>(a)", "x: f32[N,N,4]"), null],
    "a first one that somebody else reads": [
      `(x: f32[2,3,4]) -> (a, y) {
        a = Transpose<perm=[1,2,0]>(x)
        y = Transpose<perm=[1,2,0]>(a)
      }`,
      null,
    ],
  },
});

testRewrite(eliminateNoOpPad, {
  rewrites: {
    "no padding, as an input": between("Pad(a, $p: i64[6] = {0})"),
    "no padding, as an attribute": [between("Pad<pads=[0,0,0,0,0,0]>(a)"), { opset: 10 }],
  },
  leaves: { "some padding": [between("Pad(a, $p: i64[6] = {0, 0, 0, 0, 0, 1})"), null] },
});

testRewrite(eliminateNoOpSlice, {
  rewrites: {
    "a Slice to the end of a symbol": between(
      "Slice(a, $s: i64[1] = {0}, $e: i64[1] = {9223372036854775807}, $axes: i64[1] = {0})",
      "x: f32[N,4]",
    ),
    "bounds that hold all that there is": between("Slice(a, $s: i64[2] = {0, 0}, $e: i64[2] = {2, 3})"),
    "the attribute form of opset 9": [between("Slice<starts=[0], ends=[3], axes=[1]>(a)"), { opset: 9 }],
  },
  leaves: {
    "an end that a symbol may exceed": [
      between("Slice(a, $s: i64[1] = {0}, $e: i64[1] = {100}, $axes: i64[1] = {0})", "x: f32[N,4]"),
      null,
    ],
    "a step of two": [
      between("Slice(a, $s: i64[1] = {0}, $e: i64[1] = {4}, $axes: i64[1] = {2}, $t: i64[1] = {2})"),
      null,
    ],
    "bounds that are computed": [`(x: f32[4], e: i64[1]) -> (y) { y = Slice(x, $s: i64[1] = {0}, e) }`, null],
  },
});

testRewrite(eliminateNoOpExpand, {
  rewrites: {
    "an Expand to ones": between("Expand(a, $s: i64[2] = {1, 1})", "x: f32[N,4]"),
    "an Expand to the known shape": between("Expand(a, $s: i64[3] = {2, 3, 4})"),
    "a Tile by ones": between("Tile(a, $s: i64[3] = {1, 1, 1})", "x: f32[N,4,2]"),
  },
  leaves: {
    "an Expand of a symbol to a number": [between("Expand(a, $s: i64[2] = {3, 4})", "x: f32[N,4]"), null],
    "an Expand that adds an axis": [between("Expand(a, $s: i64[3] = {1, 1, 1})", "x: f32[N,4]"), null],
  },
});

testRewrite(eliminateSingleOperand, {
  rewrites: {
    "a Concat of one": between("Concat<axis=0>(a)"),
    "a Max of one": between("Max(a)"),
  },
  leaves: { "a Concat of one tensor twice": [between("Concat<axis=0>(a, a)"), null] },
});

testRewrite(eliminateNoOpArithmetic, {
  rewrites: {
    "times one": between("Mul($one: f32[1] = {1.0}, a)", "x: f32[N,4]"),
    "minus zero": between("Sub(a, $zero: f32[] = {0.0})"),
    "plus zero for integers": between("Add(a, $zero: i64[1,3] = {0})", "x: i64[2,3]"),
    "a bias of zeros": between("MatMul(a, a) c = Add($zero: f32[4] = {0, 0, 0, 0}, b)", "x: f32[N,4,4]").replace(
      "Abs(b)",
      "Abs(c)",
    ),
    "plus negative zero": between("Add(a, $zero: f32[] = {-0.0})"),
  },
  leaves: {
    "plus zero, which changes -0.0": [between("Add(a, $zero: f32[] = {0.0})"), null],
    "plus zero after a factor below zero, which makes -0.0": [
      "(x: f32[2,3], w: f32[3,4]) -> (y) { a = Gemm<alpha=-1.0>(x, w) y = Add(a, $zero: f32[] = {0.0}) }",
      null,
    ],
    "a bias that widens the result": [
      between("MatMul(a, a) c = Add($zero: f32[1,1,4] = {0, 0, 0, 0}, b)", "x: f32[4,4]").replace("Abs(b)", "Abs(c)"),
      null,
    ],
    "ones that widen the result": [between("Mul(a, $one: f32[2,1] = {1.0})", "x: f32[4]"), null],
    "ones that stretch a dimension": [between("Mul(a, $one: f32[3,4] = {1.0})", "x: f32[N,4]"), null],
    "one divided by x": [between("Div($one: f32[] = {1.0}, a)"), null],
    "a factor that a caller may override": ["(x: f32[2], f: f32[2]) -> (y) { y = Mul(x, f) }", null],
  },
});

testRewrite(eliminateRepeated, {
  rewrites: {
    "Relu of Relu": `(x: f32[4]) -> (y) {
      a = Relu(x)
      y = Relu(a)
    }`,
    "a rounding of whole numbers": `(x: f32[4]) -> (y) {
      a = Floor(x)
      b = Ceil(a)
      y = Round(b)
    }`,
    "Neg of Neg": `(x: f32[4]) -> (y) {
      a = Neg(x)
      b = Neg(a)
      y = Exp(b)
    }`,
  },
  leaves: {
    "Exp of Exp": [
      `(x: f32[4]) -> (y) {
        a = Exp(x)
        y = Exp(a)
      }`,
      null,
    ],
  },
});

testRewrite(eliminateCastLike, {
  rewrites: {
    "one of a known type": [between("CastLike(a, $like: i32[1] = {0})"), { opset: 19 }],
  },
  leaves: {
    "a type that nobody knows": [
      `(x: f32[2], z: f32[2], c: bool[]) -> (y) {
        y = If<then_branch=() -> (t) { b = foo::Bar(z) t = CastLike(x, b) }, else_branch=() -> (e) { e = Abs(x) }>(c)
      }`,
      "the type to cast to is not known",
      { opset: 19 },
    ],
  },
});

testRewrite(eliminateBinarySum, {
  rewrites: { "a Sum of two that broadcast": between("Sum(a, $row: f32[1,4] = {1.0, 2.0, 3.0, 4.0})") },
  leaves: {
    "a Sum of three": [between("Sum(a, x, a)"), null],
    "a Sum that is normalized": [
      "(x: f32[N,4], z: f32[N,4]) -> (y) { a = Sum(x, z)\n y = LayerNormalization(a, $g: f32[4]) }",
      null,
    ],
  },
});

testRewrite(eliminateBroadcastExpand, {
  rewrites: {
    "copies of a column": `(x: f32[N,4]) -> (y) {
      m = ReduceMax<axes=[-1]>(x)
      s = Shape(x)
      e = Expand(m, s)
      y = Div(x, e)
    }`,
    "copies of a scalar, first":
      "(x: f32[2,3]) -> (y) { e = Expand($one: f32[] = {1.0}, $s: i64[2] = {2, 3}) y = Sub(e, x) }",
    "copies that others read as well": `(x: f32[2,3], z: f32[3]) -> (y, e) {
      e = Expand(z, $s: i64[2] = {2, 3})
      y = Mul(x, e)
    }`,
  },
  leaves: {
    "copies that make the result": [
      "(x: f32[2,1], z: f32[2,1]) -> (y) { e = Expand(z, $s: i64[2] = {2, 3}) y = Add(x, e) }",
      null,
    ],
    "copies that add an axis": [
      "(x: f32[3], z: f32[3]) -> (y) { e = Expand(z, $s: i64[2] = {1, 3}) y = Add(x, e) }",
      null,
    ],
    "copies of unknown number": ["(x: f32[N,3], z: f32[3], s: i64[2]) -> (y) { e = Expand(z, s) y = Add(x, e) }", null],
    "copies of copies": ["(z: f32[3]) -> (y) { e = Expand(z, $s: i64[2] = {2, 3}) y = Mul(e, e) }", null],
    "what does not broadcast": [
      "(x: f32[2,3], z: f32[3]) -> (y) { e = Expand(z, $s: i64[2] = {2, 3}) y = Concat<axis=0>(x, e) }",
      null,
    ],
  },
});

testRewrite(eliminateReinsertedAxis, {
  rewrites: {
    "an Unsqueeze":
      "(x: f32[N,3,4]) -> (y) { m = ReduceMean<axes=[1], keepdims=0>(x) y = Unsqueeze(m, $a: i64[1] = {-2}) }",
    "several axes":
      "(x: f32[N,3,4]) -> (y) { m = ReduceMax<axes=[2,1], keepdims=0>(x) y = Unsqueeze(m, $a: i64[2] = {1, 2}) }",
    "a Reshape":
      "(x: f32[N,3,4]) -> (y) { m = ReduceMean<axes=[-1], keepdims=0>(x) y = Reshape(m, $s: i64[3] = {0, 3, 1}) }",
    ArgMax: "(x: f32[N,3,4]) -> (y) { m = ArgMax<axis=2, keepdims=0>(x) y = Unsqueeze(m, $a: i64[1] = {2}) }",
  },
  leaves: {
    "another axis": [
      "(x: f32[N,3,4]) -> (y) { m = ReduceMean<axes=[1], keepdims=0>(x) y = Unsqueeze(m, $a: i64[1] = {2}) }",
      null,
    ],
    "one axis of two": [
      "(x: f32[N,3,4]) -> (y) { m = ReduceMean<axes=[1,2], keepdims=0>(x) y = Unsqueeze(m, $a: i64[1] = {1}) }",
      null,
    ],
    "an axis that is there": [
      "(x: f32[N,3,4]) -> (y) { m = ReduceMean<axes=[1]>(x) y = Unsqueeze(m, $a: i64[1] = {1}) }",
      null,
    ],
    "another shape": [
      "(x: f32[N,3,4]) -> (y) { m = ReduceMean<axes=[-1], keepdims=0>(x) y = Reshape(m, $s: i64[3] = {0, 1, 3}) }",
      null,
    ],
    "a result that somebody else reads": [
      "(x: f32[N,3,4]) -> (y, m) { m = ReduceMean<axes=[1], keepdims=0>(x) y = Unsqueeze(m, $a: i64[1] = {1}) }",
      null,
    ],
  },
});
