/**
 * MaxPool over windows of one element, one by one, without padding; GlobalMaxPool of planes of one element    =>  x
 * AveragePool, GlobalAveragePool likewise                                                                     =>  x
 *
 * An average is a sum that starts with 0: it turns -0.0 into 0.0, so its removal is not exact.
 */
import type { Node, Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { readsOnlyFirst } from "../../rewrite/match.js";

export const eliminateNoOpPool = defineRewrite({
  name: "eliminate-no-op-pool",
  summary: "Remove pooling over windows of one element",
  numerics: "exact",
  roots: ["MaxPool", "GlobalMaxPool"],
  rewrite: (pool) => unpooled(pool),
});

export const eliminateNoOpAverage = defineRewrite({
  name: "eliminate-no-op-average",
  summary: "Remove pooling that averages single elements",
  numerics: "rounding",
  roots: ["AveragePool", "GlobalAveragePool"],
  rewrite: (pool) => unpooled(pool),
});

function unpooled(pool: Node): Value | null {
  const x = pool.inputs[0];
  if (!x?.shape || !readsOnlyFirst(pool)) return null;
  const places = x.shape.slice(2);
  const isNoOp = pool.op.startsWith("Global") ? places.every((dim) => dim === 1) : hasWindowsOfOne(pool);
  return isNoOp && places.length > 0 ? x : null;
}

function hasWindowsOfOne(pool: Node): boolean {
  const all = (name: string, wanted: number): boolean => (pool.ints(name) ?? []).every((each) => each === wanted);
  // Padding by `auto_pad` is none for such windows.
  return pool.ints("kernel_shape") !== null && all("kernel_shape", 1) && all("strides", 1) && all("pads", 0);
}
