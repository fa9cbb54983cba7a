import { eliminateSameShape } from "../../../src/passes/fold/same-shape.js";
import { eliminateShapeDetour } from "../../../src/passes/fold/shape-sources.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(eliminateSameShape, {
  rewrites: {
    "an Expand to its own shape": `(x: f32[N,M]) -> (y) {
      a = Relu(x)
      s = Shape(x)
      e = Expand(a, s)
      y = Neg(e)
    }`,
    "a Reshape back to sizes that were computed": `(x: f32[N,h,w,6]) -> (y) {
      s = Shape<start=0, end=3>(x)
      t = Concat<axis=0>(s, $c: i64[1] = {-1})
      r = Reshape(x, t)
      y = Neg(r)
    }`,
    "a Slice up to the size of the axis": `(x: f32[N,M]) -> (y) {
      s = Shape<start=1, end=2>(x)
      p = Slice(x, $from: i64[1] = {0}, s, $axis: i64[1] = {1})
      y = Neg(p)
    }`,
    "a Reshape to a size halved and doubled": `(x: f32[N,h,w]) -> (y) {
      d = Concat<axis=1>(x, x)
      s = Shape<start=1, end=2>(d)
      half = Div(s, $two: i64[1] = {2})
      back = Mul(half, $two)
      t = Concat<axis=0>($zero: i64[1] = {0}, back, $rest: i64[1] = {-1})
      r = Reshape(d, t)
      y = Neg(r)
    }`,
  },
  leaves: {
    "an Expand to another tensor's shape": [
      `(x: f32[N,1], z: f32[N,M]) -> (y) {
        s = Shape(z)
        y = Expand(x, s)
      }`,
      null,
    ],
    "a size that was rounded": [
      `(x: f32[N,h]) -> (y) {
        s = Shape<start=1, end=2>(x)
        half = Div(s, $two: i64[1] = {2})
        even = Mul(half, $two)
        y = Slice(x, $from: i64[1] = {0}, even, $axis: i64[1] = {1})
      }`,
      null,
    ],
    "a Slice backwards": [
      `(x: f32[4]) -> (y) {
        y = Slice(x, $from: i64[1] = {-1}, $to: i64[1] = {-9}, $axis: i64[1] = {0}, $step: i64[1] = {-1})
      }`,
      null,
    ],
    "a Reshape that trades sizes": [
      `(x: f32[N,M]) -> (y) {
        s = Shape(x)
        n = Slice(s, $a: i64[1] = {0}, $b: i64[1] = {1})
        m = Slice(s, $b, $e: i64[1] = {2})
        t = Concat<axis=0>(m, n)
        y = Reshape(x, t)
      }`,
      null,
    ],
  },
});

testRewrite(eliminateShapeDetour, {
  rewrites: {
    "sizes gathered one by one": `(x: f32[N,6,h,w]) -> (y) {
      a = Relu(x)
      s = Shape(a)
      n = Gather(s, $i0: i64[] = {0})
      h0 = Gather(s, $i2: i64[] = {2})
      w0 = Gather(s, $i3: i64[] = {3})
      nu = Unsqueeze(n, $ax: i64[1] = {0})
      hu = Unsqueeze(h0, $ax)
      wu = Unsqueeze(w0, $ax)
      t = Concat<axis=0>(nu, $c: i64[2] = {2, 3}, hu, wu)
      y = Reshape(x, t)
    }`,
    "two readers of one size": `(x: f32[N,M,4]) -> (y, z) {
      s = Shape(x)
      n = Gather(s, $i: i64[] = {1})
      u = Unsqueeze(n, $ax: i64[1] = {0})
      t = Concat<axis=0>(u, $c: i64[1] = {5})
      y = ConstantOfShape(t)
      v = Concat<axis=0>($d: i64[1] = {7}, u)
      z = ConstantOfShape(v)
    }`,
    "padding as PyTorch counts it": `(x: f32[N,h], z: f32[N,g]) -> (y) {
      a = Shape<start=1, end=2>(x)
      b = Shape<start=1, end=2>(z)
      t = Concat<axis=0>(a, b, $zeros: i64[2] = {0, 0})
      m = Reshape(t, $two: i64[2] = {-1, 2})
      r = Slice(m, $s: i64[1] = {-1}, $e: i64[1] = {-9223372036854775807}, $ax: i64[1] = {0}, $s)
      c = Transpose<perm=[1,0]>(r)
      p = Reshape(c, $s)
      y = Pad(x, p)
    }`,
    "sizes of a tensor further down": `(x: f32[N,4,h,w]) -> (y) {
      c = Conv<strides=[2,2]>(x, $k: f32[4,4,1,1])
      r = Relu(c)
      s = Shape(r)
      p = Slice(s, $b: i64[1] = {2}, $e: i64[1] = {4})
      m = Slice(s, $z: i64[1] = {0}, $o: i64[1] = {1})
      t = Concat<axis=0>(m, p)
      q = Concat<axis=0>(t, $three: i64[1] = {3})
      y = ConstantOfShape(q)
    }`,
  },
  leaves: {
    "pairs in another order": [
      `(x: f32[N,h], z: f32[N,g]) -> (y) {
        a = Shape<start=1, end=2>(x)
        b = Shape<start=1, end=2>(z)
        t = Concat<axis=0>(a, b, $zeros: i64[2] = {0, 0})
        m = Reshape(t, $two: i64[2] = {-1, 2})
        r = Slice(m, $s: i64[1] = {-1}, $e: i64[1] = {0}, $ax: i64[1] = {0}, $s)
        p = Reshape(r, $s)
        q = Concat<axis=0>(p, p)
        y = Pad(x, q)
      }`,
      null,
    ],
    "one Shape that says it all": [
      `(x: f32[N,M], z: f32[1,1]) -> (y) {
        s = Shape(x)
        y = Expand(z, s)
      }`,
      null,
    ],
    "sizes that are outputs too": [
      `(x: f32[N,M,4]) -> (y, t) {
        s = Shape(x)
        n = Gather(s, $i: i64[1] = {1})
        t = Concat<axis=0>(n, $c: i64[1] = {5})
        y = ConstantOfShape(t)
      }`,
      null,
    ],
    "an element that is computed from data": [
      `(x: f32[N,M,4], k: i64[1]) -> (y) {
        s = Shape(x)
        n = Gather(s, $i: i64[1] = {1})
        t = Concat<axis=0>(n, k)
        y = ConstantOfShape(t)
      }`,
      null,
    ],
    "opsets whose Shape takes no part": [
      `(x: f32[N,M,4]) -> (y) {
        s = Shape(x)
        n = Gather(s, $i: i64[] = {1})
        u = Unsqueeze(n, $ax: i64[1] = {0})
        t = Concat<axis=0>(u, $c: i64[1] = {5})
        y = ConstantOfShape(t)
      }`,
      null,
      { opset: 13 },
    ],
  },
});
