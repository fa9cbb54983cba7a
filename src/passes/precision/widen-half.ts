/**
 *   f16 x, W: Conv(x, W) -> y f16   =>   Cast<f32>(x) -> Conv(., W as f32) -> Cast<f16>
 *
 * Integers come with scales in float32: nothing of a model in half precision could become integers, and on a CPU without kernels for half
 * precision ONNX Runtime computes in float32 all the same, between Casts of its own. Inputs and outputs keep their types.
 */
import { type Model, type Node, nodesWithin, type Value } from "../../ir/index.js";
import { dtypesOf } from "../../ops/dtypes.js";
import { defineGraphPass, isHalfType } from "../../rewrite/index.js";
import { readAsFloat32 } from "./float32-reading.js";

export const widenHalf = defineGraphPass({
  name: "widen-half",
  summary: "Compute in float32 what a model computes in half precision, for integers to be made of it",
  numerics: "rounding",
  revealsTypes: "at once",
  run({ model, claim, skipped, store }) {
    const nodes = halfNodes(model);
    const [first] = nodes;
    if (!first) return;
    const obstacle =
      model.functions.size > 0 ? { node: first, why: "functions of the model may compute in it too" } : whyNot(nodes);
    if (obstacle) skipped(obstacle.node.displayName, obstacle.why);
    else if (claim(first.displayName)) readAsFloat32(model, { store });
  },
});

/** Those that compute in half precision or widen weights: other Casts, at the inputs and the outputs, stay. */
function halfNodes(model: Model): readonly Node[] {
  const dtypes = dtypesOf(model);
  const isHalf = (value: Value | null): boolean => value !== null && isHalfType(dtypes.get(value) ?? null);
  return [...nodesWithin(model.graph)].filter(
    (node) => (!node.is("Cast") || node.inputs[0]?.constant) && (node.inputs.some(isHalf) || node.outputs.some(isHalf)),
  );
}

/** Operators of these domains take float32 where they take half precision. */
const known: ReadonlySet<string> = new Set(["", "ai.onnx.ml", "com.microsoft"]);

function whyNot(nodes: readonly Node[]): { readonly node: Node; readonly why: string } | null {
  for (const node of nodes) {
    if (!known.has(node.domain)) return { node, why: `the types that ${node.opName} takes are not known` };
    if (node.is("BitCast")) return { node, why: "it reads bits, which are others in another type" };
  }
  return null;
}
