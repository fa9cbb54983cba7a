import { inlineAssignment } from "../../../src/passes/layout/assigned/inline-assignment.js";
import { testRewrite } from "../../support/test-rewrite.js";

/** As exporters count out places of a free batch, here for the first axis of `rank`. */
const batchPlaces = (rank: number): string => `
  s = Shape(x)
  n = Gather<axis=0>(s, $zero: i64[] = {0})
  r = Range($from: i64[] = {0}, n, $by: i64[] = {1})
  b = Reshape(r, $column: i64[${rank}] = {${[-1, ...new Array(rank - 1).fill(1)].join(", ")}})
  nv = Unsqueeze(n, $front: i64[1] = {0})`;

/** Of a tensor [N,3,4]: all samples, the second row and those behind it, columns 1 and 2. */
const inner = `${batchPlaces(3)}
  grid = Concat<axis=0>(nv, $sides: i64[2] = {2, 2})
  be = Expand(b, grid)
  re = Expand($rows: i64[2,1] = {1, 2}, grid)
  ce = Expand($columns: i64[2] = {1, 2}, grid)
  bu = Unsqueeze(be, $last: i64[1] = {-1})
  ru = Unsqueeze(re, $last1: i64[1] = {-1})
  cu = Unsqueeze(ce, $last2: i64[1] = {-1})
  i = Concat<axis=-1>(bu, ru, cu)`;

/** 0, 1, 2, ... */
const count = (places: number): string => Array.from({ length: places }, (_, i) => i).join(", ");

const halves = `
  x0 = ScatterND(x, $even: i64[2,1] = {0, 2}, a)
  y = ScatterND(x0, $odd: i64[2,1] = {1, 3}, b)`;

testRewrite(inlineAssignment, {
  rewrites: {
    "one row of many that are small": "(x: f32[128,2], u: f32[1,2]) -> (y) { y = ScatterND(x, $i: i64[1,1] = {5}, u) }",
    "a box that begins behind the last of few samples": `(x: f32[N,C], u: f32[N,C]) -> (y) {
      ${batchPlaces(1)}
      tail = Slice(r, $three: i64[1] = {3}, $far: i64[1] = {2147483647}, $axis: i64[1] = {0})
      i = Unsqueeze(tail, $last: i64[1] = {-1})
      u1 = Slice(u, $three1: i64[1] = {3}, $far1: i64[1] = {9223372036854775807}, $axis1: i64[1] = {0})
      y = ScatterND(x, i, u1)
    }`,
    "a grid that counts in front of the axis that it has of its own": `(x: f32[2,3,N], u: f32[2,1,N]) -> (y) {
      y = ScatterND(x, $i: i64[2,1,2] = {1, 0, 1, 1}, u)
    }`,
    "elements along the first axis": `(x: f32[4,2], u: f32[2,2]) -> (y) {
      y = ScatterElements(x, $i: i64[2,2] = {1, 1, 2, 2}, u)
    }`,
    "one column of all samples": `(x: f32[N,3], u: f32[N]) -> (y) {
      ${batchPlaces(1)}
      c = Expand($one: i64[1] = {1}, nv)
      bu = Unsqueeze(b, $last: i64[1] = {-1})
      cu = Unsqueeze(c, $last1: i64[1] = {-1})
      i = Concat<axis=-1>(bu, cu)
      y = ScatterND(x, i, u)
    }`,
    "one column of all samples, filled in": `(x: f32[N,3], u: f32[N]) -> (y) {
      ${batchPlaces(1)}
      c = ConstantOfShape<value=i64[1] = {1}>(nv)
      bu = Unsqueeze(b, $last: i64[1] = {-1})
      cu = Unsqueeze(c, $last1: i64[1] = {-1})
      i = Concat<axis=-1>(bu, cu)
      y = ScatterND(x, i, u)
    }`,
    "all of a tensor whose size is computed": `(x: f32[N]) -> (y) {
      s = Shape(x)
      n = Sub(s, $one: i64[1] = {1})
      z = ConstantOfShape(n)
      n0 = Squeeze(n)
      r = Range($from: i64[] = {0}, n0, $by: i64[] = {1})
      i = Unsqueeze(r, $last: i64[1] = {-1})
      u = Slice(x, $start: i64[1] = {1}, $far: i64[1] = {9223372036854775807}, $axis: i64[1] = {0})
      y = ScatterND(z, i, u)
    }`,
    "the one row of every second of two": `(x: f32[2,N], u: f32[1,N]) -> (y) {
      r = Range($from: i64[] = {0}, $to: i64[] = {2}, $by: i64[] = {2})
      i = Unsqueeze(r, $last: i64[1] = {-1})
      y = ScatterND(x, i, u)
    }`,
    "one of places that are apart": `(x: f32[4,N], u: f32[1,N]) -> (y) {
      c = Slice($apart: i64[2,1] = {0, 2}, $from: i64[1] = {1}, $to: i64[1] = {2147483647}, $axis: i64[1] = {0})
      y = ScatterND(x, c, u)
    }`,
    "every second of places that are counted": `(x: f32[4,2], a: f32[2,2], b: f32[2,2]) -> (y) {
      even = Slice($all: i64[4,1] = {0, 1, 2, 3}, $from: i64[1] = {0}, $to: i64[1] = {4}, $axis: i64[1] = {0}, $by: i64[1] = {2})
      odd = Slice($apart: i64[3,1] = {1, 3, 5}, $from1: i64[1] = {0}, $to1: i64[1] = {2}, $axis1: i64[1] = {0})
      x0 = ScatterND(x, even, a)
      y = ScatterND(x0, odd, b)
    }`,
    "every second column, of elements": `(x: f32[2,4], a: f32[2,2], b: f32[2,2]) -> (y) {
      x0 = ScatterElements<axis=1>(x, $even: i64[2,2] = {0, 2, 0, 2}, a)
      y = ScatterElements<axis=1>(x0, $odd: i64[2,2] = {1, 3, 1, 3}, b)
    }`,
    "rows of a constant of equal numbers but the first":
      "(u: f32[1,2]) -> (y) { y = ScatterND($c: f32[3,2] = {2, 1, 1, 1, 1, 1}, $i: i64[1,1] = {2}, u) }",
    "rows of what is computed":
      "(x: f32[3,2], u: f32[1,2]) -> (y) { r = Relu(x)\n y = ScatterND(r, $i: i64[1,1] = {2}, u) }",
    "rows of a constant that no Pad takes":
      "(u: f16[1,2]) -> (y) { y = ScatterND($c: f16[3,2] = {1, 1, 1, 1, 1, 1}, $i: i64[1,1] = {2}, u) }",
    "rows of zeros that are read and written elsewhere": `(x: f32[4,2], u: f32[1,2]) -> (y, z) {
      p = ScatterND($c: f32[2,2] = {0, 0, 0, 0}, $i: i64[1,1] = {1}, u)
      y = ScatterND(x, $j: i64[2,1] = {0, 1}, p)
      z = Relu(p)
    }`,
    "rows of zeros one behind the other": `(u: f32[1,2], v: f32[1,2]) -> (y) {
      p = ScatterND($c: f32[3,2] = {0, 0, 0, 0, 0, 0}, $i: i64[1,1] = {1}, u)
      y = ScatterND(p, $j: i64[1,1] = {2}, v)
    }`,
    "many rows of a large tensor": `(x: f32[1024,64], u: f32[586,64]) -> (y) {
      y = ScatterND(x, $i: i64[586,1] = {${count(586)}}, u)
    }`,
    "few rows of a large tensor behind a Transpose": `(x: f32[2048,64], u: f32[1,2048]) -> (y) {
      t = Transpose<perm=[1,0]>(x)
      y = ScatterND(t, $i: i64[1,1] = {5}, u)
    }`,
    "one row of a large tensor, element by element": `(x: f32[64,2048], u: f32[1,2048]) -> (y) {
      i = Expand($row: i64[1,1] = {5}, $sides: i64[2] = {1, 2048})
      y = ScatterElements(x, i, u)
    }`,
    "all of a tensor": `(x: f32[N,3], u: f32[N,3]) -> (y) {
      ${batchPlaces(2)}
      grid = Concat<axis=0>(nv, $side: i64[1] = {3})
      be = Expand(b, grid)
      ce = Expand($columns: i64[3] = {0, 1, 2}, grid)
      bu = Unsqueeze(be, $last: i64[1] = {-1})
      cu = Unsqueeze(ce, $last1: i64[1] = {-1})
      i = Concat<axis=-1>(bu, cu)
      r1 = Relu(u)
      y = ScatterND(x, i, r1)
    }`,
    "a box inside": `(x: f32[N,3,4], u: f32[N,2,2]) -> (y) { ${inner}\n y = ScatterND(x, i, u) }`,
    "a box of zeros": `(x: f32[N,2,2]) -> (y) {
      ${inner}
      whole = Concat<axis=0>(nv, $wholes: i64[2] = {3, 4})
      z = ConstantOfShape(whole)
      y = ScatterND(z, i, x)
    }`,
    "a box of ones that are expanded and cut": `(x: f32[N,2,2]) -> (y) {
      ${inner}
      whole = Concat<axis=0>(nv, $wholes: i64[2] = {3, 6})
      z = Expand($one: f32[1] = {1.5}, whole)
      z1 = Slice(z, $starts: i64[1] = {0}, $ends: i64[1] = {4}, $axes: i64[1] = {2})
      y = ScatterND(z1, i, x)
    }`,
    "integers in a constant":
      "(u: i64[1,2]) -> (y) { y = ScatterND($c: i64[3,2] = {7, 7, 7, 7, 7, 7}, $i: i64[1,1] = {1}, u) }",
    "rows of a constant":
      "(u: f32[1,2]) -> (y) { y = ScatterND($c: f32[3,2] = {1, 2, 3, 4, 5, 6}, $i: i64[1,1] = {2}, u) }",
    "rows at the beginning": "(x: f32[4,N], u: f32[2,N]) -> (y) { y = ScatterND(x, $i: i64[2,1] = {0, 1}, u) }",
    "the last row, counted from the end":
      "(x: f32[4,N], u: f32[1,N]) -> (y) { y = ScatterND(x, $i: i64[1,1] = {-1}, u) }",
    "one column of two axes": `(x: f32[2,3,N], u: f32[2,N]) -> (y) {
      y = ScatterND(x, $i: i64[2,2] = {0, 1, 1, 1}, u)
    }`,
    "a grid with an axis of its own": `(x: f32[4,N], u: f32[1,2,N]) -> (y) {
      y = ScatterND(x, $i: i64[1,2,1] = {1, 2}, u)
    }`,
    "a box of free size up to the end": `(x: f32[N,C], u: f32[N,C]) -> (y) {
      ${batchPlaces(1)}
      tail = Slice(r, $one: i64[1] = {1}, $far: i64[1] = {9223372036854775807}, $axis: i64[1] = {0})
      i = Unsqueeze(tail, $last: i64[1] = {-1})
      u1 = Slice(u, $one1: i64[1] = {1}, $far1: i64[1] = {9223372036854775807}, $axis1: i64[1] = {0})
      y = ScatterND(x, i, u1)
    }`,
    "elements along an axis": `(x: f32[2,4], u: f32[2,2]) -> (y) {
      y = ScatterElements<axis=1>(x, $i: i64[2,2] = {1, 2, 1, 2}, u)
    }`,
    "elements of one row, some of another axis": `(x: f32[3,4], u: f32[1,2]) -> (y) {
      y = ScatterElements<axis=-2>(x, $i: i64[1,2] = {1, 1}, u)
    }`,
    "boxes one behind the other": `(x: f32[4,N], u: f32[2,N], v: f32[2,N]) -> (y) {
      x0 = ScatterND(x, $i: i64[2,1] = {0, 1}, u)
      y = ScatterND(x0, $j: i64[2,1] = {2, 3}, v)
    }`,
    "every second row": `(x: f32[4,2], a: f32[2,2], b: f32[2,2]) -> (y) { ${halves} }`,
    "every third row, one of them twice": `(x: f32[6,2], a: f32[2,2], b: f32[2,2], c: f32[2,2], d: f32[2,2]) -> (y) {
      k0 = ScatterND(x, $first: i64[2,1] = {0, 3}, a)
      k1 = ScatterND(k0, $third: i64[2,1] = {2, 5}, b)
      k2 = ScatterND(k1, $again: i64[2,1] = {2, 5}, c)
      y = ScatterND(k2, $second: i64[2,1] = {1, 4}, d)
    }`,
    "a row that a Range of one counts": `(x: f32[1,4], u: f32[4]) -> (y) {
      i = Range($from: i64[] = {0}, $to: i64[] = {1}, $by: i64[] = {1})
      y = ScatterND(x, i, u)
    }`,
    "a row of several that a Range of one counts": `(x: f32[5,4], u: f32[4]) -> (y) {
      i = Range($from: i64[] = {2}, $to: i64[] = {3}, $by: i64[] = {1})
      y = ScatterND(x, i, u)
    }`,
    "every third column of all samples": `(x0: f32[N,6], a: f32[2,N], b: f32[2,N]) -> (y) {
      x = Transpose<perm=[1,0]>(x0)
      k0 = ScatterND(x, $third: i64[2,1] = {2, 5}, a)
      k1 = ScatterND(k0, $first: i64[2,1] = {0, 3}, b)
      y = ScatterND(k1, $second: i64[2,1] = {1, 4}, a)
    }`,
    "every second element of two axes": `(x: f32[N,4,6], a: f32[N,2,2], b: f32[N,2,2]) -> (y) {
      ${batchPlaces(3)}
      grid = Concat<axis=0>(nv, $sides: i64[2] = {2, 2})
      be = Expand(b, grid)
      bu = Unsqueeze(be, $last: i64[1] = {-1})
      ${[0, 1]
        .map(
          (k) => `r${k} = Expand($rows${k}: i64[2,1] = {${k}, ${k + 2}}, grid)
            v${k} = Unsqueeze(r${k}, $behind${k}: i64[1] = {-1})`,
        )
        .join("\n")}
      ${[0, 1, 2]
        .map(
          (k) => `c${k} = Expand($columns${k}: i64[2] = {${k}, ${k + 3}}, grid)
            w${k} = Unsqueeze(c${k}, $end${k}: i64[1] = {-1})
            i${k} = Concat<axis=-1>(bu, v0, w${k})
            j${k} = Concat<axis=-1>(bu, v1, w${k})
            a${k} = Mul(a, $f${k}: f32[] = {${k + 1}.0})`,
        )
        .join("\n")}
      x0 = ScatterND(x, j1, a0)
      x1 = ScatterND(x0, i0, a1)
      x2 = ScatterND(x1, i2, a2)
      x3 = ScatterND(x2, j0, u)
      x4 = ScatterND(x3, i1, u)
      y = ScatterND(x4, j2, a)
    }`.replace(", b: f32", ", u: f32"),
  },
  leaves: {
    "every second row, with nothing in it": [
      "(x: f32[4,0], a: f32[2,0], b: f32[2,0]) -> (y) { x0 = ScatterND(x, $even: i64[2,1] = {0, 2}, a)\n y = ScatterND(x0, $odd: i64[2,1] = {1, 3}, b) }",
      null,
    ],
    "every second row, the others in a body": [
      `(x: f32[4,2], a: f32[2,2], b: f32[2,2], c: bool[]) -> (y) {
        x0 = ScatterND(x, $even: i64[2,1] = {0, 2}, a)
        y = If<then_branch=() -> (t) { t = ScatterND(x0, $odd: i64[2,1] = {1, 3}, b) }, else_branch=() -> (e) { e = Neg(x) }>(c)
      }`,
      null,
    ],
    "a row behind the last": ["(x: f32[4,2], u: f32[1,2]) -> (y) { y = ScatterND(x, $i: i64[1,1] = {4}, u) }", null],
    "a row before the first": ["(x: f32[4,2], u: f32[1,2]) -> (y) { y = ScatterND(x, $i: i64[1,1] = {-5}, u) }", null],
    "one element of a row twice": [
      "(x: f32[2,4], u: f32[2,2]) -> (y) { y = ScatterElements<axis=1>(x, $i: i64[2,2] = {1, 1, 1, 1}, u) }",
      null,
    ],
    "rows that are counted from the end on": [
      `(x: f32[4,N], u: f32[5,N]) -> (y) {
        r = Range($from: i64[] = {-1}, $to: i64[] = {4}, $by: i64[] = {1})
        i = Unsqueeze(r, $last: i64[1] = {-1})
        y = ScatterND(x, i, u)
      }`,
      null,
    ],
    "a diagonal that is expanded": [
      `(x: f32[2,2], u: f32[2]) -> (y) {
        i = Expand($c: i64[2,1] = {0, 1}, $sides: i64[2] = {2, 2})
        y = ScatterND(x, i, u)
      }`,
      null,
    ],
    "samples that are expanded to another number": [
      `(x: f32[N,3], u: f32[M,3]) -> (y) {
        ${batchPlaces(1)}
        m = Shape<start=0, end=1>(u)
        e = Expand(b, m)
        i = Unsqueeze(e, $last: i64[1] = {-1})
        y = ScatterND(x, i, u)
      }`,
      null,
    ],
    "places that are cut where they do not count": [
      `(x: f32[4,N], u: f32[3,N]) -> (y) {
        i = Slice($c: i64[3,2] = {0, 0, 1, 1, 2, 2}, $from: i64[1] = {1}, $to: i64[1] = {2}, $axis: i64[1] = {1})
        y = ScatterND(x, i, u)
      }`,
      null,
    ],
    "the last of some places": [
      `(x: f32[8,N], u: f32[2,N]) -> (y) {
        i = Slice($c: i64[4,1] = {3, 4, 5, 6}, $from: i64[1] = {-2}, $to: i64[1] = {9}, $axis: i64[1] = {0})
        y = ScatterND(x, i, u)
      }`,
      null,
    ],
    "some samples in the middle": [
      `(x: f32[N,3], u: f32[2,3]) -> (y) {
        ${batchPlaces(1)}
        t = Slice(r, $start: i64[1] = {1}, $end: i64[1] = {3}, $axis: i64[1] = {0})
        i = Unsqueeze(t, $last: i64[1] = {-1})
        y = ScatterND(x, i, u)
      }`,
      null,
    ],
    "every second row and every second column": [
      `(x: f32[4,4], u: f32[2,4], v: f32[4,2]) -> (y) {
        x0 = ScatterElements(x, $i: i64[2,4] = {0, 0, 0, 0, 2, 2, 2, 2}, u)
        y = ScatterElements<axis=1>(x0, $j: i64[4,2] = {1, 3, 1, 3, 1, 3, 1, 3}, v)
      }`,
      null,
    ],
    "every second row, and another behind them": [`(x: f32[5,2], a: f32[2,2], b: f32[2,2]) -> (y) { ${halves} }`, null],
    "every second row, of some columns": [
      `(x: f32[4,4], a: f32[2,2], b: f32[2,2]) -> (y) {
        x0 = ScatterND(x, $even: i64[2,2,2] = {0, 0, 0, 1, 2, 0, 2, 1}, a)
        y = ScatterND(x0, $odd: i64[2,2,2] = {1, 0, 1, 1, 3, 0, 3, 1}, b)
      }`,
      null,
    ],
    "every second row, with two free sizes behind": [
      `(x: f32[4,N,M], a: f32[2,N,M], b: f32[2,N,M], n: f32[N], m: f32[M]) -> (y, n1, m1) { ${halves}\n n1 = Neg(n)\n m1 = Neg(m) }`,
      null,
    ],
    "every second row, of a size that may be 0": [`(x: f32[4,N], a: f32[2,N], b: f32[2,N]) -> (y) { ${halves} }`, null],
    "rows of a large tensor, not many enough": [
      `(x: f32[1024,64], u: f32[585,64]) -> (y) { y = ScatterND(x, $i: i64[585,1] = {${count(585)}}, u) }`,
      "so little is written that the kernel, in place, is faster",
    ],
    "rows, where bounds are attributes": [
      "(x: f32[4,2], u: f32[2,2]) -> (y) { y = ScatterND(x, $i: i64[2,1] = {0, 1}, u) }",
      null,
      { opset: 11 },
    ],
    sums: [
      '(x: f32[4,2], u: f32[2,2]) -> (y) { y = ScatterND<reduction="add">(x, $i: i64[2,1] = {0, 1}, u) }',
      null,
      { opset: 16 },
    ],
    "rows in another order": ["(x: f32[4,2], u: f32[2,2]) -> (y) { y = ScatterND(x, $i: i64[2,1] = {1, 0}, u) }", null],
    "one row twice": ["(x: f32[4,2], u: f32[2,2]) -> (y) { y = ScatterND(x, $i: i64[2,1] = {1, 1}, u) }", null],
    "a diagonal": ["(x: f32[4,4], u: f32[2]) -> (y) { y = ScatterND(x, $i: i64[2,2] = {0, 0, 1, 1}, u) }", null],
    "rows around the end": ["(x: f32[4,2], u: f32[2,2]) -> (y) { y = ScatterND(x, $i: i64[2,1] = {-1, 0}, u) }", null],
    "axes the other way around": [
      "(x: f32[2,2], u: f32[2,2]) -> (y) { y = ScatterND(x, $i: i64[2,2,2] = {0, 0, 1, 0, 0, 1, 1, 1}, u) }",
      null,
    ],
    "places that are computed": [
      "(x: f32[4,2], i: i64[2,1], u: f32[2,2]) -> (y) { k = Mul(i, $z: i64[1] = {0})\n y = ScatterND(x, k, u) }",
      null,
    ],
    "a row of nobody knows how many": [
      "(x: f32[N,2], u: f32[1,2]) -> (y) { y = ScatterND(x, $i: i64[1,1] = {1}, u) }",
      null,
    ],
    "every second row alone": [
      "(x: f32[4,2], u: f32[2,2]) -> (y) { y = ScatterND(x, $i: i64[2,1] = {0, 2}, u) }",
      null,
    ],
    "every second row, the others by something else": [
      `(x: f32[4,2], v: f32[2,2]) -> (y) {
        r1 = Relu(x)
        y = ScatterND(r1, $i: i64[2,1] = {1, 3}, v)
      }`,
      null,
    ],
    "every second row and every third": [
      `(x: f32[6,2], u: f32[3,2], v: f32[2,2]) -> (y) {
        r1 = ScatterND(x, $i: i64[3,1] = {0, 2, 4}, u)
        y = ScatterND(r1, $j: i64[2,1] = {1, 4}, v)
      }`,
      null,
    ],
    "every second row, with two sizes nobody knows behind": [
      "(x: f32[4,N,M], a: f32[2,N,M], b: f32[2,N,M]) -> (y) { x0 = ScatterND(x, $even: i64[2,1] = {0, 2}, a)\n y = ScatterND(x0, $odd: i64[2,1] = {1, 3}, b) }",
      null,
    ],
    "elements that count along another axis": [
      "(x: f32[2,4], u: f32[2,2]) -> (y) { y = ScatterElements<axis=1>(x, $i: i64[2,2] = {0, 0, 1, 1}, u) }",
      null,
    ],
    "few rows of a large tensor": [
      "(x: f32[64,2048], u: f32[1,2048]) -> (y) { y = ScatterND(x, $i: i64[1,1] = {5}, u) }",
      "so little is written that the kernel, in place, is faster",
    ],
  },
});
