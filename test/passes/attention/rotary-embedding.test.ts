import { fuseRotaryEmbedding } from "../../../src/passes/attention/rotary-embedding.js";
import { testRewrite } from "../../support/test-rewrite.js";

const options = { opset: 23 };

/** cos and sin of angles f [b, s, 4], both halves the same, with an axis for the heads. */
const angles = (axis: number): string =>
  `ff = Concat<axis=-1>(f, f)
   c0 = Cos(ff)
   s0 = Sin(ff)
   c = Unsqueeze(c0, $axis: i64[1] = {${axis}})
   s = Unsqueeze(s0, $axis)`;

/** x * c + [-x2, x1] * s, with x of eight elements. */
const turned = (from = "x"): string =>
  `kept = Mul(${from}, c)
   x1 = Slice(${from}, $zero: i64[1] = {0}, $half: i64[1] = {4}, $last: i64[1] = {-1})
   x2 = Slice(${from}, $half, $end: i64[1] = {9223372036854775807}, $last)
   n = Neg(x2)
   r = Concat<axis=-1>(n, x1)
   t = Mul(r, s)
   y = Add(kept, t)`;

const graph = (inputs: string, body: string, outputs = "y"): string => `(${inputs}) -> (${outputs}) {\n${body}\n}`;

const byHalves = (x1: string, x2: string): string =>
  `${x1}
   ${x2}
   a = Mul(x1, c) b = Mul(x2, s) real = Sub(a, b)
   d = Mul(s, x1) e = Mul(c, x2) imaginary = Add(e, d)`;

testRewrite(fuseRotaryEmbedding, {
  rewrites: {
    "heads first": [graph("x: f32[b,3,s,8], f: f32[b,s,4]", `${angles(1)}\n${turned()}`), options],
    "tokens first": [graph("x: f32[b,s,3,8], f: f32[b,s,4]", `${angles(2)}\n${turned()}`), options],
    "a split into heads, after it": [
      graph(
        "x0: f32[b,s,24], f: f32[b,s,4]",
        `xr = Reshape(x0, $split: i64[4] = {0, 0, 3, 8})
         x = Transpose<perm=[0,2,1,3]>(xr)
         ${angles(1)}
         ${turned()}`,
      ),
      options,
    ],
    "angles that are gathered from a table": [
      graph(
        "x: f32[b,3,s,8], ids: i64[b,s]",
        `c0 = Gather($cos: f32[9,8] = {0.5}, ids)
         s0 = Gather($sin: f32[9,8] = {0.25}, ids)
         c = Unsqueeze(c0, $axis: i64[1] = {1})
         s = Unsqueeze(s0, $axis)
         ${turned()}`,
      ).replaceAll(/\[9,8\] = \{([\d.]+)\}/g, (_, value) => `[9,8] = {${Array(72).fill(value).join(", ")}}`),
      options,
    ],
    "a scaled table of frequencies": [
      graph(
        "x: f32[2,3,4,8], at: f32[2,4,1]",
        `ff = Mul(at, $rates: f32[8] = {1.0, 0.5, 0.25, 0.1, 1.0, 0.5, 0.25, 0.1})
         c0 = Cos(ff) c1 = Mul(c0, $gain: f32[] = {1.5})
         s0 = Sin(ff) s1 = Mul(s0, $gain)
         c = Unsqueeze(c1, $axis: i64[1] = {1})
         s = Unsqueeze(s1, $axis)
         ${turned()}`,
      ),
      options,
    ],
    "halves put together at the end": [
      graph(
        "x: f32[b,3,s,8], c: f32[b,1,s,4], s: f32[b,1,s,4]",
        `${byHalves("x1, x2 = Split<axis=-1, num_outputs=2>(x)", "")}\ny = Concat<axis=3>(real, imaginary)`,
      ),
      options,
    ],
    "a part of each head": [
      graph(
        "x0: f32[b,3,s,12], c: f32[b,1,s,4], s: f32[b,1,s,4]",
        `x, rest = Split<axis=-1>(x0, $parts: i64[2] = {8, 4})
         ${byHalves("x1, x2 = Split<axis=-1, num_outputs=2>(x)", "")}
         y = Concat<axis=3>(real, imaginary, rest)`,
      ),
      options,
    ],
    "angles that are made like the halves": [
      graph(
        "x: f32[b,3,s,8], cs: f32[b,1,s,8]",
        `${byHalves("x1, x2 = Split<axis=-1, num_outputs=2>(x)", "c, s = Split<axis=-1, num_outputs=2>(cs)")}
         y = Concat<axis=3>(real, imaginary)`,
      ),
      options,
    ],
    "even and odd elements": [
      graph(
        "x: f32[b,s,3,8], c: f32[b,s,1,4], s: f32[b,s,1,4]",
        `${byHalves(
          "x1 = Slice(x, $zero: i64[1] = {0}, $end: i64[1] = {8}, $three: i64[1] = {3}, $two: i64[1] = {2})",
          "x2 = Slice(x, $one: i64[1] = {1}, $end, $three, $two)",
        )}
         ru = Unsqueeze(real, $last: i64[1] = {-1})
         iu = Unsqueeze(imaginary, $last)
         both = Concat<axis=-1>(ru, iu)
         y = Reshape(both, $back: i64[4] = {0, 0, 3, 8})`,
      ),
      options,
    ],
  },
  leaves: {
    "halves of angles that may differ": [
      graph("x: f32[b,3,s,8], c: f32[b,1,s,8], s: f32[b,1,s,8]", turned()),
      "the halves of the angles are not the same for sure",
      options,
    ],
    "a table whose halves differ": [
      graph(
        "x: f32[1,3,2,8]",
        `c = Identity($cos: f32[1,1,2,8] = {1.0, 0.5, 0.25, 0.1, 1.0, 0.5, 0.25, 0.1, 1.0, 0.5, 0.25, 0.1, 1.0, 0.5, 0.25, 0.2})
         s = Identity($sin: f32[1,1,2,8] = {1.0, 0.5, 0.25, 0.1, 1.0, 0.5, 0.25, 0.1, 1.0, 0.5, 0.25, 0.1, 1.0, 0.5, 0.25, 0.1})
         ${turned()}`,
      ),
      "the halves of the angles are not the same for sure",
      options,
    ],
    "angles for one element of the batch": [
      graph("x: f32[b,3,s,8], f: f32[1,s,4]", `${angles(1)}\n${turned()}`),
      "the angles are not given for each element of the batch",
      options,
    ],
    "angles for other positions": [
      graph("x: f32[b,3,s,8], f: f32[b,1,4]", `${angles(1)}\n${turned()}`),
      "the angles differ between heads, or may",
      options,
    ],
    "angles per head": [
      graph("x: f32[b,3,s,8], c: f32[b,3,s,8], s: f32[b,3,s,8]", turned()),
      "the angles differ between heads, or may",
      options,
    ],
    "halves the wrong way round": [
      graph(
        "x: f32[b,3,s,8], f: f32[b,s,4]",
        `${angles(1)}\n${turned()}`.replace("Concat<axis=-1>(n, x1)", "Concat<axis=-1>(x1, n)"),
      ),
      null,
      options,
    ],
    "parts that are not halves": [
      graph(
        "x: f32[b,3,s,8], f: f32[b,s,4]",
        `${angles(1)}\n${turned()}`.replace("$half: i64[1] = {4}", "$half: i64[1] = {3}"),
      ).replace("Slice(x, $half, $end", "Slice(x, $half, $end"),
      null,
      options,
    ],
    "a sum where a difference belongs": [
      graph(
        "x: f32[b,3,s,8], c: f32[b,1,s,4], s: f32[b,1,s,4]",
        `${byHalves("x1, x2 = Split<axis=-1, num_outputs=2>(x)", "")}\ny = Concat<axis=3>(imaginary, real)`,
      ),
      null,
      options,
    ],
    "another vector that is turned": [
      graph(
        "x: f32[b,3,s,8], z: f32[b,3,s,8], f: f32[b,s,4]",
        `${angles(1)}\n${turned()}`.replace("Mul(x, c)", "Mul(z, c)"),
      ),
      null,
      options,
    ],
    "a product that others read": [
      graph("x: f32[b,3,s,8], f: f32[b,s,4]", `${angles(1)}\n${turned()}`, "y, t"),
      null,
      options,
    ],
    float64: [graph("x: f64[b,3,s,8], f: f64[b,s,4]", `${angles(1)}\n${turned()}`), "only f32 is rotated", options],
  },
});
