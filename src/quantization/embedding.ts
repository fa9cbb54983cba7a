/**
 * Look-up tables as integers with one scale per row:
 *
 *   Gather(T, i)  =>  Mul(Cast(Gather(T_i8, i)), Gather(scale, i))     T [rows, ...], scale [rows, 1, ...]
 *
 * Only the rows that are looked up are widened, so the table stays small in memory
 * too. A row's scale follows its largest element, which keeps the error per row.
 */
import { attr, type Model, type Node, nodesWithin, Tensor, type Value } from "../ir/index.js";
import { WeightStore } from "./weight-store.js";
import { quantizeWeight, weightScales } from "./weights.js";

/** Tables smaller than this gain nothing. */
const SMALLEST_TABLE = 1 << 16;

/** Quantizes every table that a Gather looks up, bodies included, but for the nodes named. Returns the nodes' names. */
export function quantizeEmbeddings(model: Model, keepFloat: ReadonlyMap<string, string> | undefined): string[] {
  const quantized: string[] = [];
  const store = new WeightStore();
  for (const node of [...nodesWithin(model.graph)]) {
    if (!node.is("Gather") || keepFloat?.has(node.name)) continue;
    if (quantizeEmbedding(node, store) === null) quantized.push(node.name);
  }
  return quantized;
}

/** Replaces the node and answers null, or says why the node stays as it is. */
export function quantizeEmbedding(node: Node, store: WeightStore): string | null {
  const [table, indices] = node.inputs;
  if (!table?.constant || !indices || indices.constant) return "no constant table";
  const { dtype, dims, elementCount } = table.constant;
  if (dtype !== "f32" || dims.length < 2 || node.int("axis", 0) !== 0) return "no float table of rows";
  if (elementCount < SMALLEST_TABLE) return "a small table";

  const { graph } = node;
  const stored = store.of(table, "rows", () => {
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
  return null;
}
