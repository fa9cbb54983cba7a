/**
 * A MaxPool that stays float between an activation that never falls and integers:
 *
 *   MaxPool(Relu(x)) -> Q   =>   Relu(MaxPool(x)) -> Q       the same of those in ops/monotone.ts
 *
 * The same numbers: the largest of some is the largest still. ONNX Runtime moves a QuantizeLinear in front of the pool that it
 * stands behind, and where no integers in NHWC come, its kernel for u8 takes twenty times as long as the one for floats (3x3 on
 * [64, 112, 112], 1.30 on x86: 4.0 ms, and 0.2). It moves none in front of an activation, and takes a Relu into the integers.
 */
import type { Node, Value } from "../ir/index.js";
import { exchangeableActivation } from "../rewrite/exchangeable-activation.js";
import { activationSlots } from "../target/integer-kernel.js";
import type { StaticPlan } from "./plan-static.js";

/** Before pairs are written: the value that integers read keeps its label. */
export function activationsBehindPools({ nodes }: StaticPlan): void {
  const planned = new Set(nodes.map(({ node }) => node));
  for (const { node, kernel } of nodes) {
    for (const index of activationSlots(node, kernel)) {
      const value = node.inputs[index];
      const activation = value && activationBefore(value, planned);
      if (activation) swap(activation, value.producer!);
    }
  }
}

/** What stands in front of the float MaxPool that makes a value, where all of both is float. */
function activationBefore({ producer: pool }: Value, planned: ReadonlySet<Node>): Node | null {
  const activation = pool?.is("MaxPool") && !planned.has(pool) ? exchangeableActivation(pool) : null;
  const before = activation?.inputs[0]?.producer;
  return before && planned.has(before) ? null : activation;
}

function swap(activation: Node, pool: Node): void {
  const { graph, op, name, attributes, provenance } = activation;
  const pooled = pool.output;
  const { label, type } = pooled;
  const inputs = [pooled, ...activation.inputs.slice(1)];
  const behind = graph.addNode({ op, name, inputs, attributes, outputs: [{ label, type }], provenance }, pool.next);
  pooled.label = `${label}/pooled`;
  graph.replaceUses(pooled, behind.output, behind);
  graph.setInput(pool, 0, activation.inputs[0]!);
  graph.removeNode(activation);
}
