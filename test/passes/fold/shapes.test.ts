import { foldShapes } from "../../../src/passes/fold/shapes.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(foldShapes, {
  rewrites: {
    "the Shape of a tensor with known dimensions": `(x: f32[2,3]) -> (y) {
      a = Relu(x)
      y = Shape(a)
    }`,
    "one known dimension of a symbolic shape": `(x: f32[N,3]) -> (y) {
      s = Shape(x)
      y = Gather(s, $i: i64[] = {1})
    }`,
    "a slice of a shape, in arithmetic": `(x: f32[N,4,6]) -> (y) {
      s = Shape<start=1>(x)
      y = Div(s, $two: i64[] = {2})
    }`,
    "the known part of a shape vector": `(x: f32[N,4,6]) -> (y) {
      s = Shape(x)
      a = Slice(s, $b: i64[1] = {1}, $e: i64[1] = {9223372036854775807})
      y = ReduceProd<keepdims=0>(a)
    }`,
    "a Reshape that keeps the batch": `(x: f32[N,3,4]) -> (y) {
      s = Shape(x)
      n = Gather(s, $i: i64[] = {0})
      u = Unsqueeze(n, $axis: i64[1] = {0})
      t = Concat<axis=0>(u, $rest: i64[1] = {12})
      y = Reshape(x, t)
    }`,
    "a Reshape by a batch that is not in its place": `(x: f32[N,3,4]) -> (y) {
      s = Shape(x)
      n = Gather(s, $i: i64[1] = {0})
      t = Concat<axis=0>($first: i64[1] = {12}, n)
      y = Reshape(x, t)
    }`,
    "a Reshape that keeps two symbols": `(x: f32[N,M,12]) -> (y) {
      s = Shape(x)
      n = Gather(s, $i: i64[1] = {0})
      m = Gather(s, $j: i64[1] = {1})
      t = Concat<axis=0>(n, m, $heads: i64[2] = {3, -1})
      y = Reshape(x, t)
    }`,
    "a Reshape that keeps sizes of a tensor further up": `(x: f32[N,M,12], z: f32[N,M,12]) -> (y) {
      r = Relu(x)
      s = Shape(r)
      n = Gather(s, $i: i64[1] = {0})
      m = Gather(s, $j: i64[1] = {1})
      k = MatMul(r, $w: f32[12,8])
      v = Add(k, $b: f32[8])
      t = Concat<axis=0>(n, m, $heads: i64[2] = {2, 4})
      h = Reshape(v, t)
      p = Transpose<perm=[0,2,1,3]>(h)
      q = Transpose<perm=[0,2,1,3]>(p)
      back = Concat<axis=0>(n, m, $flat: i64[1] = {-1})
      y = Reshape(q, back)
    }`,
    "a choice that no size can change": `(x: f32[N,4]) -> (y) {
      s = Shape(x)
      c = Equal(s, $minus: i64[2] = {-1, -1})
      t = Where(c, $ones: i64[2] = {1, 1}, $given: i64[2] = {2, 2})
      y = Mul(t, $f: i64[] = {3})
    }`,
    "a Reshape that may not copy, to one that may": `(x: f32[N,3,M]) -> (y) {
      s = Shape(x)
      n = Gather(s, $i: i64[1] = {0})
      m = Gather(s, $j: i64[1] = {2})
      t = Concat<axis=0>(n, $rest: i64[1] = {3}, m)
      a = Neg(x)
      y = Reshape<allowzero=1>(a, t)
    }`,
    "equal sizes that cancel": `(x: f32[N,M], z: f32[N,M]) -> (y) {
      a = Shape<start=0, end=1>(x)
      b = Size(z)
      c = Shape<start=1, end=2>(z)
      p = Mul(a, c)
      u = Reshape(b, $one: i64[1] = {1})
      q = Div(u, p)
      y = Add(q, $k: i64[1] = {3})
    }`,
    "a Reshape by what windows leave of a plane": `(x: f32[N,4,h,w]) -> (y) {
      c = Conv<pads=[1,1,1,1]>(x, $k: f32[4,4,3,3])
      s = Shape(x)
      p = Slice(s, $b: i64[1] = {2}, $e: i64[1] = {4})
      m = Slice(s, $z: i64[1] = {0}, $o: i64[1] = {1})
      t = Concat<axis=0>(m, $four: i64[1] = {-1}, p)
      y = Reshape(c, t)
    }`,
    "a Slice that ends with the axis": `(x: f32[N,M]) -> (y) {
      s = Shape(x)
      e = Gather(s, $i: i64[1] = {1})
      y = Slice(x, $b: i64[1] = {1}, e, $axis: i64[1] = {-1})
    }`,
    "a size split off": `(x: f32[2,M,5]) -> (y) {
      s = Shape(x)
      a, b = Split<axis=0>(s, $parts: i64[2] = {2, 1})
      y = Mul(b, $k: i64[1] = {3})
      }`,
    "a shape before a product over no axes": [
      `(x: f32[2,3]) -> (y) {
        s = Shape(x)
        p = ReduceProd<noop_with_empty_axes=1>(s)
        y = Mul(p, p)
      }`,
      { opset: 18 },
    ],
  },
  leaves: {
    "a named dimension": [
      `(x: f32[N,3]) -> (y) {
        s = Shape(x)
        y = Gather(s, $i: i64[] = {0})
      }`,
      null,
    ],
    "an index that is computed": [
      `(x: f32[N,3], i: i64[]) -> (y) {
        s = Shape(x)
        y = Gather(s, i)
      }`,
      null,
    ],
    "a Reshape by two sizes of another tensor": [
      `(x: f32[N,M,12], z: f32[A,B]) -> (y) {
        s = Shape(z)
        t = Concat<axis=0>(s, $rest: i64[1] = {-1})
        y = Reshape(x, t)
      }`,
      null,
    ],
    "sizes that a broadcast may have widened": [
      `(x: f32[A,B,12], z: f32[C,D,12]) -> (y) {
        s = Shape(x)
        t = Slice(s, $from: i64[1] = {0}, $to: i64[1] = {2})
        v = Add(x, z)
        u = Concat<axis=0>(t, $heads: i64[2] = {3, 4})
        y = Reshape(v, u)
      }`,
      null,
    ],
    "a Slice that ends with another axis": [
      `(x: f32[N,M]) -> (y) {
        s = Shape(x)
        e = Gather(s, $i: i64[1] = {0})
        y = Slice(x, $b: i64[1] = {1}, e, $axis: i64[1] = {1})
      }`,
      null,
    ],
    "sizes under one vague name": [
      `(x: f32[?,4], z: f32[?,4]) -> (y) {
        a = Shape<start=0, end=1>(x)
        b = Shape<start=0, end=1>(z)
        y = Sub(a, b)
      }`,
      null,
    ],
    "a zero that means no elements": [
      `(x: f32[N,3,0]) -> (y) {
        s = Shape(x)
        n = Gather(s, $i: i64[1] = {0})
        t = Concat<axis=0>(n, $rest: i64[1] = {0})
        y = Reshape<allowzero=1>(x, t)
      }`,
      null,
    ],
  },
});
