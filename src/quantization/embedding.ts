/**
 * Look-up tables as integers of 8 bits with one scale per row (those of 4 bits: nibble-table.ts):
 *
 *   Gather(T, i)  =>  Mul(Cast(Gather(T_i8, i)), Gather(scale, i))     T [rows, ...], scale [rows, 1, ...]
 *
 * Only the rows that are looked up are widened, so the table stays small in memory
 * too. A row's scale follows its largest element, which keeps the error per row. Where all that is done with rows is to make
 * integers of them, the table has those (table-in-scale.ts).
 */
import { attr, type Model, type Node, nodesWithin, Tensor, type Value } from "../ir/index.js";
import { removeUnreadConstants } from "./dead-constants.js";
import { storeNibbles, takesNibbles } from "./nibble-table.js";
import { type NodeChoice, takesAll } from "./node-choice.js";
import type { FloatNode } from "./plan-static.js";
import { quantizeInScale } from "./table-in-scale.js";
import { WeightStore } from "./weight-store.js";
import { quantizeWeight, weightScales } from "./weights.js";

/** Tables smaller than this gain nothing. */
const SMALLEST_TABLE = 1 << 16;

export interface EmbeddingReport {
  /** Names of the look-ups whose tables are integers now. */
  readonly quantized: readonly string[];
  /** Those that could be and were told not to. */
  readonly float: readonly FloatNode[];
}

/** Quantizes every large table that a Gather looks up, bodies included. */
export function quantizeEmbeddings(
  model: Model,
  { keepFloat, takes = takesAll }: NodeChoice = {},
  store = new WeightStore(),
): EmbeddingReport {
  const quantized: string[] = [];
  const float: FloatNode[] = [];
  for (const node of [...nodesWithin(model.graph)]) {
    if (!isLookUp(node) || !takes(node)) continue;
    const reason = keepFloat?.get(node.name);
    if (reason !== undefined) float.push({ node: node.name, op: node.op, reason });
    else {
      if (!quantizeInScale(node, store)) quantizeEmbedding(node, store);
      quantized.push(node.name);
    }
  }
  removeUnreadConstants(model.graph);
  return { quantized, float };
}

/** A Gather of rows, by indices known at run time, out of a large constant f32 table. */
export function isLookUp(node: Node): boolean {
  const [table, indices] = node.inputs;
  if (!node.is("Gather") || !table?.constant || !indices || indices.constant) return false;
  const { dtype, dims, elementCount } = table.constant;
  return dtype === "f32" && dims.length >= 2 && node.int("axis", 0) === 0 && elementCount >= SMALLEST_TABLE;
}

/** Replaces a node of which `isLookUp` is true; returns the bits that its table has now. */
export function quantizeEmbedding(node: Node, store: WeightStore, bits: 8 | 4 = 8, opset = 0): 8 | 4 {
  if (bits === 4 && takesNibbles(node, opset)) {
    storeNibbles(node, store);
    return 4;
  }
  const [table, indices] = node.inputs as [Value, Value];
  const { dims } = table.constant!;
  const { graph } = node;
  // In the words of weight-only.ts: a table that a product reads too is stored once.
  const stored = store.of(table, "axis 0 to 127", () => {
    const values = table.constant!.f32();
    const scales = weightScales(values, dims, 0, 127);
    return {
      integers: quantizeWeight(values, dims, 0, scales, 127).integers,
      scales: Tensor.f32([dims[0]!, ...dims.slice(1).map(() => 1)], scales),
    };
  });

  const { label, shape } = node.output;
  const add = (op: string, inputs: Value[], suffix: string, dtype: "i8" | "f32", attributes = {}): Value =>
    graph.addNode(
      {
        op,
        name: `${node.name}/${suffix}`,
        inputs,
        attributes,
        outputs: [{ label: `${label}/${suffix}`, type: { dtype, shape: suffix === "scale" ? null : shape } }],
        provenance: node.provenance,
      },
      node,
    ).output;
  const looked = add("Gather", [stored.integers, indices], "Gather", "i8", { axis: attr.int(0) });
  const scale = add("Gather", [stored.scale, indices], "scale", "f32", { axis: attr.int(0) });
  const result = add("Mul", [add("Cast", [looked], "Cast", "f32", { to: attr.int(1) }), scale], "Mul", "f32");
  graph.replaceUses(node.output, result);
  graph.removeNode(node);
  result.label = label;
  return 8;
}
