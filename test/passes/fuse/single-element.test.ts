import { fuseArgMonotone } from "../../../src/passes/fuse/arg-monotone.js";
import { fuseSingleElement } from "../../../src/passes/fuse/single-element.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(fuseSingleElement, {
  rewrites: {
    "a mean that keeps its axis": "(x: f32[N,1,3]) -> (y) { a = ReduceMean<axes=[1]>(x) y = Neg(a) }",
    "a sum that drops its axes": "(x: f32[N,1,3,1]) -> (y) { y = ReduceSum<keepdims=0>(x, $a: i64[2] = {-1, 1}) }",
    "keepdims of neither 0 nor 1, which the runtime takes for 0":
      "(x: f32[2,1]) -> (y) { y = ReduceSum<keepdims=-1>(x, $a: i64[1] = {1}) }",
    "a maximum over all of one element": "(x: f32[1,1]) -> (y) { y = ReduceMax<keepdims=0>(x) }",
    "a product whose axes are an input": [
      "(x: f32[2,1]) -> (y) { p = ReduceProd(x, $a: i64[1] = {1}) y = Neg(p) }",
      { opset: 18 },
    ],
    "the place of the only element":
      "(x: f32[2,1,3]) -> (y, z) { y = ArgMax<axis=1>(x) z = ArgMin<axis=-2, keepdims=0>(x) }",
    "a Hardmax of one": "(x: f32[1,3]) -> (y) { y = Hardmax<axis=0>(x) }",
  },
  leaves: {
    "an axis of two": ["(x: f32[2,2]) -> (y, z) { y = Hardmax(x) z = ReduceMean<axes=[1]>(x) }", null],
    "an axis of any size": ["(x: f32[2,N]) -> (y, z) { y = Hardmax(x) z = ReduceMax<axes=[1]>(x) }", null],
    "one axis of two": ["(x: f32[1,2]) -> (y) { y = ReduceMean(x) }", null],
    "a reduction of another kind": ["(x: f32[2,1]) -> (y) { y = ReduceL2<axes=[1]>(x) }", null],
    "no axes at all, which means none": [
      "(x: f32[1]) -> (y) { a = ReduceSum<noop_with_empty_axes=1>(x) y = Neg(a) }",
      null,
    ],
    "axes that are fed": ["(x: f32[1,1], a: i64[1]) -> (y) { y = ReduceSum(x, a) }", null],
    "a Softmax, which makes NaN of infinity": ["(x: f32[2,1]) -> (y) { y = Softmax(x) }", null],
    "a Hardmax whose other sizes are not known": [
      "(x: f32[N,1]) -> (y) { y = Hardmax(x) }",
      "the size of the constant is not known",
    ],
    "a large Hardmax": ["(x: f32[9000,1]) -> (y) { y = Hardmax(x) }", "the constant would make the model larger"],
    "an old Hardmax, over all axes": ["(x: f32[2,1,3]) -> (y) { y = Hardmax<axis=1>(x) }", null, { opset: 11 }],
  },
});

testRewrite(fuseArgMonotone, {
  rewrites: {
    "the greatest of a Softmax": "(x: f32[N,5]) -> (y) { a = Softmax(x) y = ArgMax<axis=-1>(a) }",
    "the same axis, counted from both ends":
      "(x: f32[N,5]) -> (y) { a = Softmax(x) y = ArgMax<axis=1, keepdims=0>(a) }",
    "the least of a LogSoftmax": "(x: f32[3,5]) -> (y) { a = LogSoftmax<axis=0>(x) y = ArgMin(a) }",
    "the last of the greatest": "(x: f32[3,5]) -> (y) { a = Softmax<axis=0>(x) y = ArgMax<select_last_index=1>(a) }",
  },
  leaves: {
    "another axis": [
      "(x: f32[3,5]) -> (y) { a = Softmax(x) y = ArgMax<axis=0>(a) }",
      "the elements are compared along another axis",
    ],
    "an Exp, whose large results are all infinite": ["(x: f32[3,5]) -> (y) { a = Exp(x) y = ArgMax(a) }", null],
    "the least of a Softmax": [
      "(x: f32[3,5]) -> (y) { a = Softmax(x) y = ArgMin<axis=1>(a) }",
      "small results round to equal ones",
    ],
    "a Softmax that somebody else reads": ["(x: f32[3,5]) -> (a, y) { a = Softmax(x) y = ArgMax<axis=1>(a) }", null],
    "a Neg": ["(x: f32[3,5]) -> (y) { a = Neg(x) y = ArgMax(a) }", null],
  },
});
