/**
 * A layer normalization written out whose statistics are results as well:
 *
 *   y = (x - mean) / root,  1 / root, mean   =>  y, mean, 1 / root = LayerNormalization(x, 1)
 *
 * which is what the body of ONNX's own LayerNormalization looks like. Without an inverse that
 * somebody reads, normalization.ts is enough: it leaves a mean that others read where it is.
 */
import { attr, type Node } from "../../ir/index.js";
import { defineRewrite, Skip } from "../../rewrite/index.js";
import { producerOf } from "../../rewrite/match.js";
import { onesAlong } from "./normalization.js";
import { momentOf, unscaled } from "./standardized.js";

export const fuseLayerNormStatistics = defineRewrite({
  name: "fuse-layer-norm-statistics",
  summary: "Turn a layer normalization written out into LayerNormalization where its mean and deviation are read too",
  numerics: "rounding",
  roots: ["Reciprocal"],
  minOpset: 17,
  rewrite(root, context) {
    const quotient = quotientBeside(root);
    const deviation = root.inputs[0];
    const moment = quotient && momentOf(producerOf(deviation, "Sqrt", root.graph)?.inputs[0]);
    const { mean } = moment ?? {};
    const found = quotient?.inputs[0] && moment ? unscaled(quotient, quotient.inputs[0], moment) : null;
    if (!quotient || !found || !mean?.producer) return null;
    const { x, axes, epsilon } = found;
    // The statistics are float32 whatever x is.
    if (x.dtype !== "f32") return context.skip("only f32");
    const ones = onesAlong(found, quotient, context);
    if (ones instanceof Skip) return ones;
    const results = [quotient.output, mean, root.output];
    const norm = context.create(
      "LayerNormalization",
      [x, ones],
      { axis: attr.int(-axes.length), epsilon: attr.float(epsilon) },
      {
        labels: results.map(({ label }) => label),
        types: results.map(({ type }) => type),
        // Others read the mean before anything is divided.
        before: mean.producer,
      },
    );
    context.alsoReplace(quotient.output, norm.outputs[0]!);
    context.alsoReplace(mean, norm.outputs[1]!);
    return [norm.outputs[2]!];
  },
});

/** The Div that is the only other reader of what the root inverts. */
function quotientBeside(root: Node): Node | null {
  const divisor = root.inputs[0];
  if (divisor?.useCount !== 2) return null;
  const other = divisor.uses.find((use) => use.kind === "input" && use.node !== root);
  const node = other?.kind === "input" ? other.node : null;
  return node?.is("Div") && node.graph === root.graph && node.inputs[1] === divisor ? node : null;
}
