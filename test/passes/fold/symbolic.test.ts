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
    "a Slice up to a size that PyTorch reckoned and a Conv makes": `(x: f32[N,3,h]) -> (y) {
      s = Shape<start=2, end=3>(x)
      less = Sub(s, $one: i64[1] = {1})
      half = Div(less, $two: i64[1] = {2})
      size = Add(half, $one)
      c = Conv<pads=[1, 1], strides=[2]>(x, $w: f32[3,3,3])
      p = Slice(c, $from: i64[1] = {0}, size, $axis: i64[1] = {2})
      y = Neg(p)
    }`,
    "an Expand to what a Slice with a far end leaves": `(x: f32[N,8]) -> (y) {
      s = Shape(x)
      z = ConstantOfShape(s)
      h = Slice(z, $from: i64[1] = {0}, $far: i64[1] = {9223372036854775807}, $axis: i64[1] = {1}, $step: i64[1] = {2})
      t = Shape(h)
      g = Slice(x, $from1: i64[1] = {0}, $far1: i64[1] = {8}, $axis1: i64[1] = {1}, $step1: i64[1] = {2})
      y = Expand(g, t)
    }`,
    "an Expand to a shape whose free sizes are looked for": `(x: f32[N,8]) -> (y) {
      s = Shape(x)
      ones = ConstantOfShape<value=i64[1] = {1}>($two: i64[1] = {2})
      free = Mul(ones, $less: i64[] = {-1})
      isFree = Equal(s, free)
      t = Where(isFree, ones, s)
      y = Expand(x, t)
    }`,
    "sizes that are equal where a window fits": `(x: f32[N,3,h]) -> (y, z) {
      s = Shape<start=2, end=3>(x)
      less = Sub(s, $one: i64[1] = {1})
      half = Div(less, $two: i64[1] = {2})
      size = Add(half, $one)
      more = Add(s, $one)
      same = Div(more, $two)
      v = ConstantOfShape(size)
      y = Expand(v, same)
      z = MaxPool<kernel_shape=[3], pads=[1, 1]>(x)
    }`,
  },
  leaves: {
    "a shape of numbers that are no sizes": [
      `(x: f32[N,1]) -> (y) {
        s = Shape(x)
        floats = ConstantOfShape($two: i64[1] = {2})
        t = Cast<to=7>(floats)
        u = Max(s, t)
        y = Expand(x, u)
      }`,
      null,
    ],
    "sizes that are equal only where a window fits": [
      `(x: f32[N,3,h]) -> (y) {
        s = Shape<start=2, end=3>(x)
        less = Sub(s, $one: i64[1] = {1})
        half = Div(less, $two: i64[1] = {2})
        size = Add(half, $one)
        more = Add(s, $one)
        same = Div(more, $two)
        v = ConstantOfShape(size)
        y = Expand(v, same)
      }`,
      null,
    ],
    "sizes beside a window with more padding than length": [
      `(x: f32[N,3,h]) -> (y, z) {
        s = Shape<start=2, end=3>(x)
        less = Sub(s, $one: i64[1] = {1})
        half = Div(less, $two: i64[1] = {2})
        size = Add(half, $one)
        more = Add(s, $one)
        same = Div(more, $two)
        v = ConstantOfShape(size)
        y = Expand(v, same)
        z = Conv<pads=[1, 1]>(x, $w: f32[3,3,2])
      }`,
      null,
    ],
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
    "a size that is made for a Range that goes, and serves one that stays": `(x: f32[N,M], c: bool[]) -> (y) {
      y = If<then_branch=() -> (t) {
        s0 = Shape<end=1, start=0>(x)
        n0 = Squeeze(s0)
        r0 = Range($from0: i64[] = {0}, n0, $by0: i64[] = {1})
        s1 = Shape<end=1, start=0>(x)
        n1 = Squeeze(s1)
        r1 = Range($from1: i64[] = {0}, n1, $by1: i64[] = {1})
        s2 = Shape(r1)
        e = Expand(r0, s2)
        s3 = Shape(x)
        n3 = Gather<axis=0>(s3, $first: i64[] = {0})
        r3 = Range($from3: i64[] = {0}, n3, $by3: i64[] = {1})
        t = Add(e, r3)
      }, else_branch=() -> (f) {
        s4 = Shape<end=1, start=0>(x)
        n4 = Squeeze(s4)
        f = Range($from4: i64[] = {0}, n4, $by4: i64[] = {1})
      }>(c)
    }`,
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
    "arithmetic on one size after the other": `(x: f32[N,2,h,w]) -> (y) {
      m = MaxPool<kernel_shape=[2,2], strides=[2,2], pads=[1,1,1,1]>(x)
      h1 = Shape<start=2, end=3>(m)
      w1 = Shape<start=3, end=4>(m)
      h2 = Squeeze(h1)
      w2 = Squeeze(w1)
      h3 = Mul(h2, $two: i64[] = {2})
      w3 = Mul(w2, $two)
      h4 = Add(h3, $one: i64[] = {1})
      w4 = Add(w3, $three: i64[] = {3})
      h5 = Unsqueeze(h4, $ax: i64[1] = {0})
      w5 = Unsqueeze(w4, $ax)
      t = Concat<axis=0>(h5, w5)
      y = ConstantOfShape(t)
    }`,
    "differences and products of sizes": `(x: f32[N,h,w], z: f32[N,g,v]) -> (y) {
      h = Shape<start=1, end=2>(x)
      w = Shape<start=2, end=3>(x)
      g = Shape<start=1, end=2>(z)
      v = Shape<start=2, end=3>(z)
      a = Mul(h, g)
      b = Mul(w, v)
      c = Mul(g, $two: i64[1] = {2})
      d = Mul(v, $two)
      e = Sub(a, c)
      f = Sub(b, d)
      i = Add(e, $four: i64[1] = {4})
      j = Add(f, $four)
      t = Concat<axis=0>(i, j)
      y = ConstantOfShape(t)
    }`,
    "single sizes for a Range": `(x: f32[N,2,h,w]) -> (y, u, v) {
      m = MaxPool<kernel_shape=[2,2], strides=[2,2], pads=[1,1,1,1]>(x)
      s = Shape<start=2, end=4>(m)
      y = ConstantOfShape(s)
      h1 = Shape<start=2, end=3>(x)
      w1 = Shape<start=3, end=4>(x)
      h2 = Squeeze(h1)
      w2 = Squeeze(w1)
      h3 = Div(h2, $two: i64[] = {2})
      w3 = Div(w2, $two)
      h4 = Add(h3, $one: i64[] = {1})
      w4 = Add(w3, $one)
      u = Range($zero: i64[] = {0}, h4, $one)
      v = Range($zero, w4, $one)
    }`,
  },
  leaves: {
    "sizes in opposite order": [
      `(x: f32[N,h,w]) -> (y) {
        h1 = Shape<start=1, end=2>(x)
        w1 = Shape<start=2, end=3>(x)
        h2 = Mul(h1, $two: i64[1] = {2})
        w2 = Mul(w1, $two)
        t = Concat<axis=0>(w2, h2)
        y = ConstantOfShape(t)
      }`,
      null,
    ],
    "a single size that is read where it is": [
      `(x: f32[N,w]) -> (y) {
        s = Shape(x)
        n = Gather(s, $i: i64[] = {1})
        y = Range($zero: i64[] = {0}, n, $one: i64[] = {1})
      }`,
      null,
    ],
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
