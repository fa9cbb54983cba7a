/**
 * A product with a number between integers:
 *
 *   Q -> DQ(s) -> Mul(c) -> Q(s * c) -> DQ(s * c)  =>  Q -> DQ(s * c)
 *
 * The same integers stand for the product: nothing is computed, and nothing rounded.
 */
import { soleReader } from "../ir/index.js";
import { type Scaling, scalingOf } from "../target/scaling.js";
import type { PlannedNode } from "./plan-static.js";
import { type ActivationScheme, isSameScheme, schemeOf } from "./scheme.js";

/** Of a node that is to be integers; null where the integers of the result are others. */
export const scalingIn = ({ node, kernel }: PlannedNode): Scaling | null => (kernel.scales ? scalingOf(node) : null);

export const scaled = ({ scale, zeroPoint }: ActivationScheme, { factor }: Scaling): ActivationScheme => ({
  scale: Math.fround(scale * factor),
  zeroPoint,
});

/** Once pairs are written. */
export function foldScalings(planned: readonly PlannedNode[]): void {
  for (const each of planned) {
    const scaling = scalingIn(each);
    if (!scaling) continue;
    const { node } = each;
    const dequantize = node.inputs[scaling.slot]!.producer;
    const quantize = soleReader(node.output);
    const [own, made] = [schemeOf(dequantize), schemeOf(quantize)];
    // A model that has pairs of its own may have them by any scale.
    if (!own || !made || !isSameScheme(scaled(own, scaling), made)) continue;
    const { graph } = node;
    graph.replaceUses(quantize!.output, dequantize!.inputs[0]!);
    graph.removeNode(quantize!);
    graph.removeNode(node);
    if (dequantize!.output.useCount === 0) graph.removeNode(dequantize!);
  }
}
