/**
 * A MaxPool that stays float between a Relu and integers:
 *
 *   MaxPool(Relu(x)) -> Q   =>   Relu(MaxPool(x)) -> Q
 *
 * The same numbers: the largest of some is the largest still. ONNX Runtime moves a QuantizeLinear in front of the pool that it
 * stands behind, and where no integers in NHWC come, its kernel for u8 takes twenty times as long as the one for floats (3x3 on
 * [64, 112, 112], 1.30 on x86: 4.0 ms, and 0.2). It moves none in front of a Relu, and takes that into the integers.
 */
import { type Node, soleReader, type Value } from "../ir/index.js";
import { activationSlots } from "../target/integer-kernel.js";
import type { StaticPlan } from "./plan-static.js";

/** Before pairs are written: the value that integers read keeps its label. */
export function reluBehindPools({ nodes }: StaticPlan): void {
  const planned = new Set(nodes.map(({ node }) => node));
  for (const { node, kernel } of nodes) {
    for (const index of activationSlots(node, kernel)) {
      const value = node.inputs[index];
      const relu = value && reluBefore(value, planned);
      if (relu) swap(relu, value.producer!);
    }
  }
}

/** The Relu in front of the float MaxPool that makes a value, where all of both is float and nobody else reads it. */
function reluBefore({ producer: pool }: Value, planned: ReadonlySet<Node>): Node | null {
  if (!pool?.is("MaxPool") || planned.has(pool) || pool.outputs.filter((output) => output).length !== 1) return null;
  const relu = pool.inputs[0]!.producer;
  if (!relu?.is("Relu") || soleReader(relu.output) !== pool) return null;
  const before = relu.inputs[0]!.producer;
  return before && planned.has(before) ? null : relu;
}

function swap(relu: Node, pool: Node): void {
  const { graph, name, provenance } = relu;
  const pooled = pool.output;
  const { label, type } = pooled;
  const behind = graph.addNode(
    { op: "Relu", name, inputs: [pooled], outputs: [{ label, type }], provenance },
    pool.next,
  );
  pooled.label = `${label}/pooled`;
  graph.replaceUses(pooled, behind.output, behind);
  graph.setInput(pool, 0, relu.inputs[0]!);
  graph.removeNode(relu);
}
