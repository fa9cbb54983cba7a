import { describe, expect, it } from "vitest";
import { parseModel, Tensor } from "../../../src/ir/index.js";
import { fuseAttentionCache } from "../../../src/passes/attention/cache.js";
import { annotateTypes, runPasses } from "../../../src/rewrite/index.js";
import { describeModel } from "../../support/ask-runtime.js";
import { runModel, seededFeeds } from "../../support/run-model.js";
import { testRewrite } from "../../support/test-rewrite.js";

const options = { opset: 23 };
const past = "pk: f32[b,3,p,4], pv: f32[b,3,p,4]";

/** One step of a decoder on [b, heads, tokens, 4]. */
const step = (
  attention: string,
  inputs = `q: f32[b,6,s,4], k: f32[b,3,s,4], v: f32[b,3,s,4], ${past}`,
  outputs = "y, ks, vs",
) =>
  `(${inputs}) -> (${outputs}) {
    ks = Concat<axis=2>(pk, k)
    vs = Concat<axis=-2>(pv, v)
    ${attention}
  }`;

testRewrite(fuseAttentionCache, {
  rewrites: {
    "keys and values that are given out": [step("y = Attention<scale=0.5>(q, ks, vs)"), options],
    "an attention with a mask": [
      step(
        "y = Attention(q, ks, vs, mask)",
        `q: f32[2,6,3,4], k: f32[2,3,3,4], v: f32[2,3,3,4], pk: f32[2,3,5,4], pv: f32[2,3,5,4], mask: f32[3,8]`,
      ),
      options,
    ],
    "heads that are split before and merged after": [
      `(q0: f32[b,s,12], k0: f32[b,s,12], v0: f32[b,s,12], ${past}) -> (y, ks, vs) {
        qr = Reshape(q0, $split: i64[4] = {0, 0, 3, 4})
        q = Transpose<perm=[0,2,1,3]>(qr)
        kr = Reshape(k0, $split)
        k = Transpose<perm=[0,2,1,3]>(kr)
        vr = Reshape(v0, $split)
        v = Transpose<perm=[0,2,1,3]>(vr)
        ks = Concat<axis=2>(pk, k)
        vs = Concat<axis=2>(pv, v)
        o = Attention<softcap=2.0>(q, ks, vs)
        ot = Transpose<perm=[0,2,1,3]>(o)
        y = Reshape(ot, $merged: i64[3] = {0, 0, 12})
      }`,
      options,
    ],
  },
  leaves: {
    "keys and values that stay inside": [step("y = Attention(q, ks, vs)", undefined, "y"), null, options],
    "keys that other nodes read": [
      step("y = Attention(q, ks, vs)\nz = Neg(ks)", undefined, "y, ks, vs, z"),
      "keys or values with those of the past are read elsewhere",
      options,
    ],
    "pasts of different lengths": [
      step(
        "y = Attention(q, ks, vs)",
        "q: f32[b,6,s,4], k: f32[b,3,s,4], v: f32[b,3,s,4], pk: f32[b,3,p,4], pv: f32[b,3,n,4]",
      ),
      "the pasts of keys and values may differ in length",
      options,
    ],
    "a causal mask": [step("y = Attention<is_causal=1>(q, ks, vs)"), "a causal mask counts from the past", options],
    "keys put together along another axis": [
      `(q: f32[b,6,s,4], k: f32[b,2,s,4], v: f32[b,3,s,4], pk: f32[b,1,s,4]) -> (y) {
        ks = Concat<axis=1>(pk, k) y = Attention(q, ks, v) }`,
      null,
      options,
    ],
    "values without a past": [
      `(q: f32[b,6,s,4], k: f32[b,3,s,4], v: f32[b,3,t,4], pk: f32[b,3,p,4]) -> (y) {
        ks = Concat<axis=2>(pk, k) y = Attention(q, ks, v) }`,
      null,
      options,
    ],
    "three parts": [
      step("y = Attention(q, ks, vs)").replace("(pk, k)", "(pk, k, k)").replace("(pv, v)", "(pv, v, v)"),
      null,
      options,
    ],
    "an attention that has a past": [
      `(q: f32[b,3,s,4], k: f32[b,3,s,4], v: f32[b,3,s,4], ${past}) -> (y, kp, vp) {
        ks = Concat<axis=2>(pk, k) vs = Concat<axis=2>(pv, v)
        y, kp, vp = Attention(q, ks, vs, _, pk, pv) }`,
      null,
      options,
    ],
    "keys put together outside of the body that attends": [
      `(q: f32[b,6,s,4], k: f32[b,3,s,4], v: f32[b,3,s,4], pk: f32[b,3,p,4], pv: f32[b,3,p,4], c: bool[]) -> (y, ks, vs) {
        ks = Concat<axis=2>(pk, k)
        y, vs = If<then_branch=() -> (t, w) { w = Concat<axis=2>(pv, v) t = Attention(q, ks, w) },
          else_branch=() -> (u, o) { o = Concat<axis=2>(pv, v) u = Neg(q) }>(c)
      }`,
      null,
      options,
    ],
  },
});

describe("fuse-attention-cache on the first step", () => {
  it("takes a past of none", async () => {
    const text = step("y = Attention<scale=0.5>(q, ks, vs)");
    const original = parseModel(text, options);
    const model = parseModel(text, options);
    await annotateTypes(model, describeModel);
    const [report] = await runPasses(model, [fuseAttentionCache], { check: true });
    expect(report!.applied).toBe(1);
    const none = Tensor.f32([2, 3, 0, 4], new Float32Array());
    const feeds = { ...seededFeeds(original, 2), pk: none, pv: none };
    const [before, after] = [await runModel(original, feeds), await runModel(model, feeds)];
    for (const name of ["y", "ks", "vs"]) {
      expect(after[name]!.dims).toEqual(before[name]!.dims);
      before[name]!.f32().forEach((x, i) => {
        expect(after[name]!.f32()[i]).toBeCloseTo(x, 5);
      });
    }
  });
});
