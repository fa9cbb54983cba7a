/**
 * The mean over all places of each channel, as exporters write `x.mean([2, 3])`, has an integer kernel by another name:
 *
 *   ReduceMean<axes=[2,3]>(x)  =>  GlobalAveragePool(x), behind it a Squeeze where the axes go
 */
import { type Node, Tensor, type Value } from "../ir/index.js";
import { passthrough } from "../target/integer-kernel.js";
import type { PlannedNode } from "./plan-static.js";

export interface Pooled {
  readonly nodes: readonly PlannedNode[];
  /** By what a Squeeze reads, the label of what it makes: both have the same range. */
  readonly squeezed: ReadonlyMap<Value, string>;
}

/** Writes the means among nodes that are to be integers as pools; these stand in their place then. */
export function poolMeans(planned: readonly PlannedNode[]): Pooled {
  const squeezed = new Map<Value, string>();
  const nodes = planned.flatMap((each): PlannedNode[] => {
    if (!each.node.is("ReduceMean")) return [each];
    const { pool, squeeze } = pooled(each.node);
    const made = { ...each, node: pool, outputs: [pool.output] };
    if (!squeeze) return [made];
    squeezed.set(pool.output, squeeze.output.label);
    return [made, { node: squeeze, kernel: passthrough, outputs: [squeeze.output] }];
  });
  return { nodes, squeezed };
}

function pooled(mean: Node): { readonly pool: Node; readonly squeeze: Node | null } {
  const { graph, name, provenance } = mean;
  const data = mean.inputs[0]!;
  const { label, type, dtype } = mean.output;
  const keeps = mean.int("keepdims", 1) !== 0;
  const shape = data.shape!.map((dim, axis) => (axis < 2 ? dim : 1));
  const made = keeps ? { label, type } : { label: `${label}/pooled`, type: dtype && { dtype, shape } };
  const pool = graph.addNode({ op: "GlobalAveragePool", name, inputs: [data], outputs: [made], provenance }, mean);
  const squeeze = keeps
    ? null
    : graph.addNode(
        {
          op: "Squeeze",
          name: `${name}/Squeeze`,
          inputs: [pool.output, graph.addConstant(`${label}/axes`, Tensor.i64([2], [2, 3]))],
          outputs: [{ label, type }],
          provenance,
        },
        mean,
      );
  graph.replaceUses(mean.output, (squeeze ?? pool).output);
  graph.removeNode(mean);
  return { pool, squeeze };
}
