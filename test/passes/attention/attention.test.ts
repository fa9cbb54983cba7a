import { fuseAttention } from "../../../src/passes/attention/attention.js";
import { testRewrite } from "../../support/test-rewrite.js";

/** Splits of [b, s, 12] into three heads of four. */
const split = (name: string, from: string): string =>
  `${name}r = Reshape(${from}, $split_${name}: i64[4] = {0, 0, 3, 4})
   ${name} = Transpose<perm=[0,2,1,3]>(${name}r)`;

/** Three tensors, split, up to the scores of rank 4. */
const upTo = (inputs: string, scores: string): string =>
  `(q0: f32[b,s,12], k0: f32[b,t,12], v0: f32[b,t,12]${inputs}) -> (y) {
    ${split("q", "q0")}
    ${split("v", "v0")}
    kr = Reshape(k0, $split_k: i64[4] = {0, 0, 3, 4})
    kt = Transpose<perm=[0,2,3,1]>(kr)
    a = MatMul(q, kt)
    ${scores}
    p = Softmax<axis=-1>(m)
    o = MatMul(p, v)
    ot = Transpose<perm=[0,2,1,3]>(o)
    y = Reshape(ot, $merged: i64[3] = {0, 0, 12})
  }`;

const onHeads = (body: string, inputs = "q: f32[2,3,s,4], k: f32[2,3,t,4], v: f32[2,3,t,5]"): string =>
  `(${inputs}) -> (y) {\n${body}\n}`;

const scaled = "m = Mul(a, $scale: f32[] = {0.5})";
const options = { opset: 23 };

testRewrite(fuseAttention, {
  rewrites: {
    "an attention with its heads split and merged": [upTo("", scaled), options],
    "a mask that is added": [
      upTo(", mask: f32[b,1,s,t]", "b = Div(a, $root: f32[] = {2.0})\nm = Add(mask, b)"),
      options,
    ],
    "a mask that is stretched over the queries": [
      upTo(", mask: f32[b,1,1,t]", "b = Mul(a, $scale: f32[] = {0.5})\nm = Add(b, mask)"),
      options,
    ],
    "a mask that hides by the lowest number": [
      upTo(
        ", keep: bool[b,1,s,t]",
        `b = Mul(a, $scale: f32[] = {0.5})
         mask = Where(keep, $zero: f32[] = {0.0}, $low: f32[] = {-3.4028235e+38})
         m = Add(b, mask)`,
      ),
      options,
    ],
    "two masks, one of which is chosen": [
      upTo(
        ", keep: bool[s,t], bias: f32[3,s,t]",
        `b = Mul(a, $scale: f32[] = {0.5})
         c = Where(keep, b, $low: f32[] = {-3e38})
         m = Add(c, bias)`,
      ),
      options,
    ],
    "a mask of one number": [upTo(", mask: f32[]", "m = Add(a, mask)"), options],
    "flags times a number that hides": [
      upTo(
        ", keep: i64[b,1,1,t]",
        `flags = Cast<to=1>(keep)
         hide = Sub($one: f32[] = {1.0}, flags)
         mask = Mul(hide, $low: f32[] = {-10000.0})
         m = Add(a, mask)`,
      ),
      options,
    ],
    "a triangle of -inf below what another mask hides by": [
      upTo(
        ", hide: bool[2,1,1,3]",
        `c = Add(a, $triangle: f32[3,3] = {0.0, -inf, -inf, 0.0, 0.0, -inf, 0.0, 0.0, 0.0})
         m = Where(hide, $low: f32[] = {-1e9}, c)`,
      ).replace(
        "q0: f32[b,s,12], k0: f32[b,t,12], v0: f32[b,t,12]",
        "q0: f32[2,3,12], k0: f32[2,3,12], v0: f32[2,3,12]",
      ),
      options,
    ],
    "a triangle that leaves the first key visible": [
      upTo(
        "",
        `qs = Shape<start=1, end=2>(q0)
         ks = Shape<start=1, end=2>(k0)
         square = Concat<axis=0>(qs, ks)
         ones = Expand($one: f32[] = {1.0}, square)
         triangle = Trilu<upper=0>(ones)
         isHidden = Equal(triangle, $zero: f32[] = {0.0})
         mask = Where(isHidden, $infinite: f32[] = {-inf}, $zero)
         m = Add(a, mask)`,
      ),
      options,
    ],
    "two masks that hide by the lowest number, whose sum is -inf": [
      upTo(
        ", keep: bool[s,t], shown: bool[b,1,1,t]",
        `c = Where(keep, a, $low: f32[] = {-3.4028235e+38})
         mask = Where(shown, $zero: f32[] = {0.0}, $low)
         m = Add(c, mask)`,
      ),
      options,
    ],
    "weights of rows without keys that become 0": [
      onHeads(
        `kt = Transpose<perm=[0,1,3,2]>(k)
         a = MatMul(q, kt)
         mask = Where(keep, $zero: f32[] = {0.0}, $infinite: f32[] = {-inf})
         m = Add(a, mask)
         w = Softmax<axis=-1>(m)
         hidden = IsNaN(w)
         p = Where(hidden, $zero, w)
         y = MatMul(p, v)`,
        "q: f32[2,3,s,4], k: f32[2,3,t,4], v: f32[2,3,t,5], keep: bool[s,t]",
      ),
      options,
    ],
    "the same with a mask that may hold any number": [
      onHeads(
        `kt = Transpose<perm=[0,1,3,2]>(k)
         a = MatMul(q, kt)
         m = Add(a, mask)
         w = Softmax<axis=-1>(m)
         hidden = IsNaN(w)
         p = Where(hidden, $zero: f32[] = {0.0}, w)
         y = MatMul(p, v)`,
        "q: f32[2,3,s,4], k: f32[2,3,t,4], v: f32[2,3,t,5], mask: f32[s,t]",
      ),
      options,
    ],
    "a condition that hides where it is true": [
      upTo(", hide: bool[b,1,1,t]", "m = Where(hide, $low: f32[] = {-10000.0}, a)"),
      options,
    ],
    "scales on both sides": [
      onHeads(`qs = Mul(q, $half: f32[] = {0.5})
        kt = Transpose<perm=[0,1,3,2]>(k)
        ks = Div(kt, $two: f32[1] = {2.0})
        a = MatMul(qs, ks)
        p = Softmax(a)
        y = MatMul(p, v)`),
      options,
    ],
    "a scale inside the transposition": [
      onHeads(`ks = Mul($half: f32[] = {0.5}, k)
        kt = Transpose<perm=[0,1,3,2]>(ks)
        a = MatMul(q, kt)
        p = Softmax<axis=3>(a)
        y = MatMul(p, v)`),
      options,
    ],
    "a key transposed with its heads folded into the batch": [
      onHeads(
        `kf = Reshape(k, $fold: i64[3] = {-1, 5, 4})
        kt = Transpose<perm=[0,2,1]>(kf)
        ku = Reshape(kt, $unfold: i64[4] = {2, 3, 4, 5})
        a = MatMul(q, ku)
        p = Softmax(a)
        y = MatMul(p, v)`,
        "q: f32[2,3,s,4], k: f32[2,3,5,4], v: f32[2,3,5,4]",
      ),
      options,
    ],
    "heads of key and value that serve two of the query": [
      onHeads(
        `k1 = Unsqueeze(k, $two: i64[1] = {2})
        k2 = Expand(k1, $wide: i64[5] = {1, 1, 2, 1, 1})
        k3 = Reshape(k2, $many: i64[4] = {0, 6, -1, 4})
        v1 = Unsqueeze(v, $two)
        v2 = Expand(v1, $wide)
        v3 = Reshape(v2, $many)
        kt = Transpose<perm=[0,1,3,2]>(k3)
        a = MatMul(q, kt)
        p = Softmax(a)
        y = MatMul(p, v3)`,
        "q: f32[2,6,s,4], k: f32[2,3,t,4], v: f32[2,3,t,4]",
      ),
      options,
    ],
    "query, key and value that lie side by side": [
      `(x: f32[b,5,36]) -> (y) {
        x5 = Reshape(x, $five: i64[5] = {0, 5, 3, 3, 4})
        xt = Transpose<perm=[2,0,3,1,4]>(x5)
        q = Gather<axis=0>(xt, $zero: i64[] = {0})
        k = Gather<axis=0>(xt, $one: i64[] = {1})
        v = Gather<axis=0>(xt, $two: i64[] = {2})
        kt = Transpose<perm=[0,1,3,2]>(k)
        a = MatMul(q, kt)
        m = Mul(a, $scale: f32[] = {0.5})
        p = Softmax<axis=-1>(m)
        o = MatMul(p, v)
        ot = Transpose<perm=[0,2,1,3]>(o)
        y = Reshape(ot, $merged: i64[3] = {-1, 5, 12})
      }`,
      options,
    ],
    "scores that are capped": [
      upTo("", "b = Mul(a, $scale: f32[] = {0.25})\nc = Tanh(b)\nm = Mul(c, $cap: f32[] = {2.0})"),
      options,
    ],
    "an attention of which only the heads are put back": [
      `(q0: f32[b,s,12], k0: f32[b,t,12], v0: f32[b,t,12]) -> (y) {
        ${split("q", "q0")}
        ${split("k", "k0")}
        ${split("v", "v0")}
        kt = Transpose<perm=[0,1,3,2]>(k)
        a = MatMul(q, kt)
        p = Softmax<axis=-1>(a)
        o = MatMul(p, v)
        y = Transpose<perm=[0,2,1,3]>(o)
      }`,
      options,
    ],
  },
  leaves: {
    "a product of weights that are constants": [
      `(x: f32[2,3,4,4], $v: f32[2,3,4,4]) -> (y) { p = Softmax<axis=-1>(x) y = MatMul(p, $v) }`
        .replace(", $v: f32[2,3,4,4])", ")")
        .replace("MatMul(p, $v)", "MatMul(p, $v: f32[2,3,4,4])"),
      null,
      options,
    ],
    "matrices of rank 3": [
      onHeads(
        "kt = Transpose<perm=[0,2,1]>(k)\na = MatMul(q, kt)\np = Softmax<axis=-1>(a)\ny = MatMul(p, v)",
        "q: f32[6,s,4], k: f32[6,t,4], v: f32[6,t,4]",
      ),
      null,
      options,
    ],
    "weights that the model gives out": [
      `(q: f32[2,3,s,4], k: f32[2,3,t,4], v: f32[2,3,t,4]) -> (y, p) {
        kt = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, kt) p = Softmax<axis=-1>(a) y = MatMul(p, v) }`,
      "the weights of the attention are read elsewhere",
      options,
    ],
    "a Softmax over the queries": [
      onHeads("kt = Transpose<perm=[0,1,3,2]>(k)\na = MatMul(q, kt)\np = Softmax<axis=2>(a)\ny = MatMul(p, v)"),
      "the Softmax is not over the keys",
      options,
    ],
    "scores that other nodes read": [
      `(q: f32[2,3,s,4], k: f32[2,3,t,4], v: f32[2,3,t,4]) -> (y, a) {
        kt = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, kt) p = Softmax<axis=-1>(a) y = MatMul(p, v) }`,
      "the scores are not one MatMul, scaled and masked",
      options,
    ],
    "a scale that is computed": [
      upTo(", scale: f32[]", "m = Mul(a, scale)"),
      "the scores are not one MatMul, scaled and masked",
      options,
    ],
    "a scale per head": [
      upTo("", "m = Mul(a, $scale: f32[3,1,1])"),
      "the scores are not one MatMul, scaled and masked",
      options,
    ],
    "a negative scale": [
      upTo("", "m = Mul(a, $scale: f32[] = {-0.5})"),
      "the scores are not scaled by a positive number",
      options,
    ],
    "a mask that is scaled with the scores": [
      upTo(", mask: f32[b,1,s,t]", "b = Add(a, mask)\nm = Mul(b, $scale: f32[] = {0.5})"),
      "a mask is scaled together with the scores",
      options,
    ],
    "scores that are capped and masked": [
      upTo(", mask: f32[b,1,s,t]", "b = Tanh(a)\nc = Mul(b, $cap: f32[] = {2.0})\nm = Add(c, mask)"),
      "the scores are both capped and masked",
      options,
    ],
    "a choice that hides by a number like any other": [
      upTo(", keep: bool[b,1,s,t]", "m = Where(keep, a, $low: f32[] = {-1.0})"),
      "the scores are not one MatMul, scaled and masked",
      options,
    ],
    "a choice by a number that a mask may come down to": [
      upTo(", keep: bool[b,1,s,t], mask: f32[b,1,1,t]", "b = Add(a, mask)\nm = Where(keep, b, $low: f32[] = {-1e9})"),
      "rows that hide every key could come out differently: another mask may be as low as what Where fills in",
      options,
    ],
    "two choices by different numbers": [
      upTo(
        ", keep: bool[b,1,s,t], show: bool[b,1,1,t]",
        "b = Where(show, a, $lower: f32[] = {-1e9})\nm = Where(keep, b, $low: f32[] = {-1e4})",
      ),
      "rows that hide every key could come out differently: another mask may be as low as what Where fills in",
      options,
    ],
    "a choice by a number of five axes": [
      upTo(", keep: bool[b,1,s,t]", "m = Where(keep, a, $low: f32[1,1,1,1,1] = {-1e9})"),
      "the scores are not one MatMul, scaled and masked",
      options,
    ],
    "weights that become 0 where others are NaN": [
      onHeads(
        `kt = Transpose<perm=[0,1,3,2]>(k)
         a = MatMul(q, kt)
         w = Softmax<axis=-1>(a)
         hidden = IsNaN(a)
         p = Where(hidden, $zero: f32[] = {0.0}, w)
         y = MatMul(p, v)`,
      ),
      null,
      options,
    ],
    "weights that become 1 where they are NaN": [
      onHeads(
        `kt = Transpose<perm=[0,1,3,2]>(k)
         a = MatMul(q, kt)
         w = Softmax<axis=-1>(a)
         hidden = IsNaN(w)
         p = Where(hidden, $one: f32[] = {1.0}, w)
         y = MatMul(p, v)`,
      ),
      null,
      options,
    ],
    "a scale beyond f32": [
      onHeads(`qs = Mul(q, $one: f32[] = {1e-30})
        kt = Transpose<perm=[0,1,3,2]>(k)
        ks = Mul(kt, $other: f32[] = {1e-30})
        a = MatMul(qs, ks)
        p = Softmax(a)
        y = MatMul(p, v)`),
      "the scores are not scaled by a positive number",
      options,
    ],
    "a mask of another batch": [
      upTo(", mask: f32[n,1,s,t]", "m = Add(a, mask)"),
      "the mask may widen the scores",
      options,
    ],
    "a mask of several queries where there is one": [
      onHeads(
        "kt = Transpose<perm=[0,1,3,2]>(k)\na = MatMul(q, kt)\nm = Add(a, mask)\np = Softmax<axis=-1>(m)\ny = MatMul(p, v)",
        "q: f32[2,3,1,4], k: f32[2,3,t,4], v: f32[2,3,t,4], mask: f32[s,t]",
      ),
      "the mask may widen the scores",
      options,
    ],
    "a mask of other heads": [
      upTo(", mask: f32[b,h,s,t]", "m = Add(a, mask)"),
      "the mask may widen the scores",
      options,
    ],
    "a query and a key of batches that may differ": [
      onHeads(
        "kt = Transpose<perm=[0,1,3,2]>(k)\na = MatMul(q, kt)\np = Softmax<axis=-1>(a)\ny = MatMul(p, v)",
        "q: f32[b,3,s,4], k: f32[n,3,t,4], v: f32[n,3,t,4]",
      ),
      "the batches may differ in size",
      options,
    ],
    "a key whose one head is stretched": [
      onHeads(
        "kt = Transpose<perm=[0,1,3,2]>(k)\na = MatMul(q, kt)\np = Softmax<axis=-1>(a)\ny = MatMul(p, v)",
        "q: f32[2,3,s,4], k: f32[2,1,t,4], v: f32[2,3,t,4]",
      ),
      "key and value may differ in their number of heads",
      options,
    ],
    float16: [
      onHeads(
        "kt = Transpose<perm=[0,1,3,2]>(k)\na = MatMul(q, kt)\np = Softmax<axis=-1>(a)\ny = MatMul(p, v)",
        "q: f16[2,3,s,4], k: f16[2,3,t,4], v: f16[2,3,t,4]",
      ),
      "only f32 has kernels that are as fast",
      options,
    ],
    "models of an earlier opset": [upTo("", scaled), null, { opset: 22 }],
  },
});
