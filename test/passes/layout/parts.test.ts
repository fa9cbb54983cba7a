import { eliminateConcatParts, eliminateUnusedPart, fuseConcat } from "../../../src/passes/layout/concat-parts.js";
import { fuseReduceReduce, fuseReduceSqueeze } from "../../../src/passes/layout/reduce-axes.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(fuseConcat, {
  rewrites: {
    "a Concat in a Concat": `(x: f32[N,2], z: f32[N,3]) -> (y) {
      a = Concat<axis=-1>(x, z)
      y = Concat<axis=1>(z, a, x)
    }`,
    "the parts of a Split": `(x: f32[N,6]) -> (y) {
      a, b = Split<axis=1>(x, $s: i64[2] = {2, 4})
      c = Concat<axis=-1>(a, b)
      y = Neg(c)
    }`,
  },
  leaves: {
    "one that others read": [
      `(x: f32[N,2], z: f32[N,3]) -> (a, y) {
        a = Concat<axis=1>(x, z)
        y = Concat<axis=1>(a, x)
      }`,
      null,
    ],
    "another axis": [
      `(x: f32[3,2], z: f32[3,2]) -> (y) {
        a = Concat<axis=1>(x, z)
        y = Concat<axis=0>(a, a)
      }`,
      null,
    ],
    "parts out of order": [
      `(x: f32[N,6]) -> (y) {
        a, b = Split<axis=1>(x, $s: i64[2] = {3, 3})
        y = Concat<axis=1>(b, a)
      }`,
      null,
    ],
    "parts put together along another axis": [
      `(x: f32[4,6]) -> (y) {
        a, b = Split<axis=1>(x, $s: i64[2] = {3, 3})
        y = Concat<axis=0>(a, b)
      }`,
      null,
    ],
    "some of the parts": [
      `(x: f32[N,6]) -> (y) {
        a, b, c = Split<axis=1>(x, $s: i64[3] = {2, 2, 2})
        y = Concat<axis=1>(a, b)
      }`,
      null,
    ],
  },
});

testRewrite(eliminateConcatParts, {
  rewrites: {
    "a Split into what was put together": `(x: f32[N,2], z: f32[N,3]) -> (y, w) {
      c = Concat<axis=1>(x, z)
      a, b = Split<axis=-1>(c, $s: i64[2] = {2, 3})
      y = Neg(a)
      w = Abs(b)
    }`,
    "a Slice of one part": `(x: f32[N,2], z: f32[N,3]) -> (y) {
      c = Concat<axis=1>(x, z)
      a = Slice(c, $s: i64[1] = {2}, $e: i64[1] = {9}, $ax: i64[1] = {1})
      y = Neg(a)
    }`,
    "a Slice of two of three parts": `(x: f32[N,2], z: f32[N,3]) -> (y) {
      c = Concat<axis=1>(x, z, x)
      a = Slice(c, $s: i64[1] = {2}, $e: i64[1] = {9}, $ax: i64[1] = {1})
      y = Neg(a)
    }`,
    "a Slice of the first two of three parts": `(x: f32[N,2], z: f32[N,3]) -> (y) {
      c = Concat<axis=1>(x, z, x)
      a = Slice(c, $s: i64[1] = {0}, $e: i64[1] = {5}, $ax: i64[1] = {1})
      y = Neg(a)
    }`,
    "a Slice within one part": `(x: f32[N,2], z: f32[N,5]) -> (y) {
      c = Concat<axis=1>(x, z)
      y = Slice(c, $s: i64[1] = {3}, $e: i64[1] = {9}, $ax: i64[1] = {1}, $st: i64[1] = {2})
    }`,
  },
  leaves: {
    "a stretch of one part where Slice had attributes": [
      `(x: f32[3,2]) -> (y) {
        a = Concat<axis=0>(x, x)
        y = Slice<starts=[5], ends=[6], axes=[0]>(a)
      }`,
      null,
      { opset: 9 },
    ],
    "a Split elsewhere": [
      `(x: f32[N,2], z: f32[N,3]) -> (a, b) {
        c = Concat<axis=1>(x, z)
        a, b = Split<axis=1>(c, $s: i64[2] = {3, 2})
      }`,
      null,
    ],
    "a Slice across parts": [
      `(x: f32[N,2], z: f32[N,3]) -> (y) {
        c = Concat<axis=1>(x, z)
        y = Slice(c, $s: i64[1] = {1}, $e: i64[1] = {4}, $ax: i64[1] = {1})
      }`,
      null,
    ],
    "a Slice from within a part to the end of the next": [
      `(x: f32[N,2], z: f32[N,3]) -> (y) {
        c = Concat<axis=1>(x, z, x, z)
        a = Slice(c, $s: i64[1] = {1}, $e: i64[1] = {5}, $ax: i64[1] = {1})
        y = Neg(a)
      }`,
      null,
    ],
    "a Slice of all parts": [
      `(x: f32[N,2], z: f32[N,3]) -> (y) {
        c = Concat<axis=1>(x, z, x)
        a = Slice(c, $s: i64[1] = {0}, $e: i64[1] = {7}, $ax: i64[1] = {1})
        y = Neg(a)
      }`,
      null,
    ],
    "every second element of two parts": [
      `(x: f32[N,2], z: f32[N,3]) -> (y) {
        c = Concat<axis=1>(x, z, x)
        y = Slice(c, $s: i64[1] = {0}, $e: i64[1] = {5}, $ax: i64[1] = {1}, $st: i64[1] = {2})
      }`,
      null,
    ],
    "parts of unknown size": [
      `(x: f32[N,M], z: f32[N,3]) -> (y) {
        c = Concat<axis=1>(x, z)
        y = Slice(c, $s: i64[1] = {-3}, $e: i64[1] = {9}, $ax: i64[1] = {1})
      }`,
      null,
    ],
    "another axis": [
      `(x: f32[4,2], z: f32[4,2]) -> (a, b) {
        c = Concat<axis=1>(x, z)
        a, b = Split<axis=0>(c, $s: i64[2] = {2, 2})
      }`,
      null,
    ],
  },
});

testRewrite(eliminateUnusedPart, {
  rewrites: {
    "the second of three parts": `(x: f32[N,9]) -> (y) {
      a, b, c = Split<axis=-1>(x, $s: i64[3] = {2, 3, 4})
      y = Neg(b)
    }`,
    "half of a known size": `(x: f32[8,N]) -> (y) {
      a, b = Split(x)
      y = Neg(b)
    }`,
  },
  leaves: {
    "two parts": ["(x: f32[N,9]) -> (a, b) { a, b, c = Split<axis=1>(x, $s: i64[3] = {2, 3, 4}) }", null],
    "half of an unknown size": [
      `(x: f32[N,8]) -> (y) {
        a, b = Split(x)
        y = Neg(b)
      }`,
      null,
    ],
    "sizes that are computed": [
      `(x: f32[N,8], s: i64[2]) -> (y) {
        a, b = Split<axis=1>(x, s)
        y = Neg(b)
      }`,
      null,
    ],
  },
});

testRewrite(fuseReduceSqueeze, {
  rewrites: {
    "a Squeeze of what was kept": `(x: f32[N,3,4,5]) -> (y) {
      m = ReduceMean<axes=[-1,-2], keepdims=1>(x)
      y = Squeeze(m, $a: i64[2] = {2, 3})
    }`,
    "an ArgMax": `(x: f32[N,3,4]) -> (y) {
      m = ArgMax<axis=-1, select_last_index=1>(x)
      y = Squeeze(m, $a: i64[1] = {2})
    }`,
    "axes as an input": [
      `(x: f32[N,3,4]) -> (y) {
        m = ReduceMax(x, $axes: i64[1] = {1})
        y = Squeeze(m, $a: i64[1] = {1})
      }`,
      { opset: 18 },
    ],
  },
  leaves: {
    "another axis": [
      `(x: f32[1,3,4]) -> (y) {
        m = ReduceSum(x, $axes: i64[1] = {1})
        y = Squeeze(m, $a: i64[1] = {0})
      }`,
      null,
    ],
    "a reduction that others read": [
      `(x: f32[N,3,4]) -> (m, y) {
        m = ReduceSum(x, $axes: i64[1] = {1})
        y = Squeeze(m, $a: i64[1] = {1})
      }`,
      null,
    ],
    "a reduction over nothing": [
      `(x: f32[1,3,4]) -> (y) {
        m = ReduceSum<noop_with_empty_axes=1>(x)
        y = Squeeze(m, $a: i64[1] = {0})
      }`,
      null,
    ],
    "some of the axes": [
      `(x: f32[N,3,4]) -> (y) {
        m = ReduceSum(x, $axes: i64[2] = {1, 2})
        y = Squeeze(m, $a: i64[1] = {1})
      }`,
      null,
    ],
  },
});

testRewrite(fuseReduceReduce, {
  rewrites: {
    "a mean of means": `(x: f32[N,3,4,5]) -> (y) {
      m = ReduceMean<axes=[3]>(x)
      y = ReduceMean<axes=[2]>(m)
    }`,
    "sums that drop their axes": `(x: f32[N,3,4,5]) -> (y) {
      m = ReduceSum<keepdims=0>(x, $a: i64[1] = {1})
      y = ReduceSum<keepdims=0>(m, $b: i64[1] = {-1})
    }`,
    "a plane that was flattened first": `(x: f32[N,3,4,5]) -> (y) {
      f = Reshape(x, $s: i64[3] = {0, 3, -1})
      y = ReduceMean<axes=[2], keepdims=0>(f)
    }`,
    "axes merged in the middle": [
      `(x: f32[N,2,3,4,5]) -> (y) {
        f = Reshape(x, $s: i64[3] = {0, 24, 5})
        y = ReduceMax<keepdims=0>(f, $a: i64[1] = {1})
      }`,
      { opset: 18 },
    ],
  },
  leaves: {
    "a sum of squares of sums of squares": [
      `(x: f32[N,3,4]) -> (y) {
        m = ReduceSumSquare<axes=[2]>(x)
        y = ReduceSumSquare<axes=[1]>(m)
      }`,
      null,
    ],
    "a largest sum": [
      `(x: f32[N,3,4]) -> (y) {
        m = ReduceSum(x, $a: i64[1] = {2})
        y = ReduceMax<axes=[1]>(m)
      }`,
      null,
    ],
    "axes of which one is kept": [
      `(x: f32[N,3,4]) -> (y) {
        m = ReduceSum(x, $a: i64[1] = {2})
        y = ReduceSum<keepdims=0>(m, $b: i64[1] = {1})
      }`,
      null,
    ],
    "means of integers": [
      `(x: i32[N,3,4]) -> (y) {
        m = ReduceMean<axes=[2]>(x)
        y = ReduceMean<axes=[1]>(m)
      }`,
      null,
    ],
    "a Reshape that regroups": [
      `(x: f32[4,3,4]) -> (y) {
        f = Reshape(x, $s: i64[2] = {3, 16})
        y = ReduceMax<axes=[1], keepdims=0>(f)
      }`,
      null,
    ],
    "a merged axis that is kept": [
      `(x: f32[N,3,4]) -> (y) {
        f = Reshape(x, $s: i64[2] = {-1, 12})
        y = ReduceMax<axes=[1]>(f)
      }`,
      null,
    ],
  },
});
