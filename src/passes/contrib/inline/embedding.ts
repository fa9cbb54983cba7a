/**
 *   com.microsoft::EmbedLayerNormalization(ids, segments, words, places, kinds, gamma, beta)
 *     =>  LayerNormalization(Gather(words, ids) + Gather(kinds, segments) + places[0 .. length of ids], gamma, beta)
 *
 * or Gather(places, positions), where positions are given. The second result counts the ones of each row of a mask, the third is the sum.
 */
import { attr, dtypeCode, Tensor, type Value } from "../../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../../rewrite/index.js";
import { RUNTIME_DOMAIN } from "../domain.js";

export const inlineRuntimeEmbedding = defineRewrite({
  name: "inline-runtime-embedding",
  summary: "Write ONNX Runtime's EmbedLayerNormalization as Gather, Add and LayerNormalization",
  numerics: "rounding",
  roots: [`${RUNTIME_DOMAIN}::EmbedLayerNormalization`],
  minOpset: 17,
  revealsTypes: "for the next round",
  rewrite(root, context) {
    const { create, skip } = context;
    const [ids, segments, words, places, kinds, gamma, beta, mask, positions] = root.inputs;
    if (!ids || !words || !places || !gamma || !beta || words.dtype !== "f32") return null;
    const isCounted = (root.outputs[1]?.useCount ?? 0) > 0;
    if (isCounted && !mask) return skip("lengths are read that it does not count");
    if (!segments !== !kinds) return skip("its segments are not complete");
    const looked = (table: Value, rows: Value): Value => create("Gather", [table, rows]).output;
    const add = (one: Value, other: Value): Value => create("Add", [one, other]).output;
    const tokens = looked(words, ids);
    const placed = add(tokens, positions ? looked(places, positions) : firstRows(places, ids, context));
    const sum = segments && kinds ? add(placed, looked(kinds, segments)) : placed;
    const epsilon = attr.float(root.float("epsilon", 1e-12));
    const result = create("LayerNormalization", [sum, gamma, beta], { axis: attr.int(-1), epsilon }).output;
    return [result, isCounted ? lengthsOf(mask!, ids, context) : null, sum].slice(0, root.outputs.length);
  },
});

/** Of each row of a mask, how many of its numbers are 1: i32 of [B]. */
function lengthsOf(mask: Value, ids: Value, { create, constant }: RewriteContext): Value {
  const isOne = create("Equal", [mask, constant("one", Tensor.ofArray("i32", [], Int32Array.of(1)))]).output;
  const ones = create(
    "Cast",
    [isOne],
    { to: attr.int(dtypeCode("i32")) },
    { types: [{ dtype: "i32", shape: null }] },
  ).output;
  const types = [{ dtype: "i32" as const, shape: [ids.shape?.[0] ?? null] }];
  return create("ReduceSum", [ones, constant("tokens", Tensor.i64([1], [1]))], { keepdims: attr.int(0) }, { types })
    .output;
}

/** As many as a row of ids has. */
function firstRows(table: Value, ids: Value, { create, constant }: RewriteContext): Value {
  const one = (label: string, value: number): Value => constant(label, Tensor.i64([1], [value]));
  const shape = create("Shape", [ids]).output;
  const length = create(
    "Slice",
    [shape, one("start", 1), one("end", 2), one("axis", 0)],
    {},
    { types: [{ dtype: "i64", shape: [1] }] },
  );
  return create(
    "Slice",
    [table, one("start", 0), length.output, one("axis", 0)],
    {},
    { types: [{ dtype: "f32", shape: null }] },
  ).output;
}
