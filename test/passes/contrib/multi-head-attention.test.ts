import { fuseMultiHeadAttention } from "../../../src/passes/contrib/multi-head-attention.js";
import { testRewrite } from "../../support/test-rewrite.js";

const split = (name: string, heads = 3): string =>
  `${name}r = Reshape(${name}0, $split_${name}: i64[4] = {0, 0, ${heads}, 4})
   ${name} = Transpose<perm=[0,2,1,3]>(${name}r)`;

/** Attention on [b, s, 12] with three heads, whose scores a become m. */
const graph = (inputs: string, scores: string): string =>
  `(q0: f32[b,s,12], k0: f32[b,t,12], v0: f32[b,t,12]${inputs}) -> (y) {
    ${split("q")}
    ${split("k")}
    ${split("v")}
    kt = Transpose<perm=[0,1,3,2]>(k)
    a = MatMul(q, kt)
    ${scores}
    p = Softmax<axis=-1>(m)
    o = MatMul(p, v)
    ot = Transpose<perm=[0,2,1,3]>(o)
    y = Reshape(ot, $merged: i64[3] = {0, 0, 12})
  }`;

testRewrite(fuseMultiHeadAttention, {
  rewrites: {
    "an attention without a mask": graph("", "m = Mul(a, $scale: f32[] = {0.25})"),
    "a mask that is added": graph(
      ", keep: bool[b,1,s,t]",
      `b = Mul(a, $scale: f32[] = {0.5})
       mask = Where(keep, $zero: f32[] = {0.0}, $low: f32[] = {-3.4028235e+38})
       m = Add(b, mask)`,
    ),
    "one whose query, key and value come out of one tensor": `(x: f32[2,4,24]) -> (y) {
      r = Reshape(x, $split: i64[5] = {2, 4, 3, 2, 4})
      t = Transpose<perm=[2,0,3,1,4]>(r)
      q = Gather<axis=0>(t, $first: i64[] = {0})
      k = Gather<axis=0>(t, $second: i64[] = {1})
      v = Gather<axis=0>(t, $third: i64[] = {2})
      kt = Transpose<perm=[0,1,3,2]>(k)
      a = MatMul(q, kt)
      m = Mul(a, $scale: f32[] = {0.5})
      p = Softmax<axis=-1>(m)
      o = MatMul(p, v)
      ot = Transpose<perm=[0,2,1,3]>(o)
      y = Reshape(ot, $merged: i64[3] = {2, 4, 8})
    }`,
    "a mask that is stretched over the queries": graph(", mask: f32[b,1,1,t]", "m = Add(a, mask)"),
  },
  leaves: {
    "models that have Attention": [graph("", "m = Mul(a, $scale: f32[] = {0.25})"), null, { opset: 23 }],
    "a mask of two axes": [graph(", mask: f32[s,t]", "m = Add(a, mask)"), "the mask has no four axes"],
    "weights of rows without keys that become 0": [
      graph(
        ", mask: f32[b,1,s,t]",
        `m = Add(a, mask)
         w = Softmax<axis=-1>(m)
         hidden = IsNaN(w)`,
      ).replace("p = Softmax<axis=-1>(m)", "p = Where(hidden, $nothing: f32[] = {0.0}, w)"),
      "weights that are NaN become 0, which the kernel does not do",
    ],
    "scores that are capped": [
      graph("", "c = Tanh(a)\nm = Mul(c, $cap: f32[] = {2.0})"),
      "MultiHeadAttention does not cap scores",
    ],
    "heads that are not split from tokens": [
      `(q: f32[2,3,s,4], k: f32[2,3,t,4], v: f32[2,3,t,5]) -> (y) {
        kt = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, kt) p = Softmax<axis=-1>(a) y = MatMul(p, v) }`,
      "the heads are not split from tokens and merged again",
    ],
    "heads that share keys and values": [
      `(q: f32[2,6,s,4], k: f32[2,3,t,4], v: f32[2,3,t,4]) -> (y) {
        k1 = Unsqueeze(k, $two: i64[1] = {2})
        k2 = Expand(k1, $wide: i64[5] = {1, 1, 2, 1, 1})
        k3 = Reshape(k2, $many: i64[4] = {0, 6, -1, 4})
        v1 = Unsqueeze(v, $two)
        v2 = Expand(v1, $wide)
        v3 = Reshape(v2, $many)
        kt = Transpose<perm=[0,1,3,2]>(k3) a = MatMul(q, kt) p = Softmax<axis=-1>(a) y = MatMul(p, v3) }`,
      "MultiHeadAttention has as many heads of keys as of queries",
    ],
    "a product of weights that is no attention": [
      "(x: f32[2,3,4,4]) -> (y) { p = Softmax<axis=-1>(x) y = MatMul(p, $v: f32[2,3,4,4]) }",
      null,
    ],
  },
});
