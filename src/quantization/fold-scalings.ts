/**
 * A product with a number between integers:
 *
 *   Q -> DQ(s) -> Mul(c) -> Q(s * c) -> DQ(s * c)  =>  Q -> DQ(s * c)
 *
 * The same integers stand for the product: nothing is computed, and nothing rounded.
 */
import { type Scaling, scalingOf } from "../target/scaling.js";
import { betweenPairs, replaceBetweenPairs } from "./between-pairs.js";
import type { PlannedNode } from "./plan-static.js";
import type { ActivationScheme } from "./scheme.js";

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
    const pairs = scaling && betweenPairs(each.node, scaling.slot, (scheme) => scaled(scheme, scaling));
    if (pairs) replaceBetweenPairs(each.node, pairs, pairs.dequantize.inputs[0]!);
  }
}
