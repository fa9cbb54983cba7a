/**
 * Float work between integers: nodes that the runtime could not turn into integer ones,
 * although a DequantizeLinear comes before them and a QuantizeLinear after. Each costs
 * both, and its tensors are four times as large.
 */
import { readModel } from "../../../onnx/index.js";
import type { FloatIsland } from "../../port.js";
import { isConversion, type ProfiledNode } from "./profile.js";

/** `optimizedModel`: the graph that the runtime executed; `nodes`: what its profile of so many runs says of it. */
export function findIslands(optimizedModel: string, nodes: readonly ProfiledNode[], runs: number): FloatIsland[] {
  const graph = readModel(optimizedModel).message.graph ?? {};
  const floats = new Map(nodes.filter(computesInFloat).map((node) => [node.name, node]));
  const constants = new Set((graph.initializer ?? []).map(({ name = "" }) => name));
  const all = graph.node ?? [];
  /** Activations that come out of integers: a weight's DequantizeLinear says nothing. */
  const dequantized = new Set(
    all.flatMap(({ op_type, input = [], output = [] }) =>
      op_type === "DequantizeLinear" && !constants.has(input[0]!) ? output : [],
    ),
  );
  const quantized = new Set(
    all.flatMap(({ op_type, input = [] }) => (op_type === "QuantizeLinear" ? [input[0]!] : [])),
  );

  // Both directions in execution order: what follows integers, and what leads to them.
  const after = new Set<string>();
  const fromIntegers = new Set<string>();
  for (const { name = "", input = [], output = [] } of all) {
    if (!floats.has(name) || !input.some((value) => dequantized.has(value) || after.has(value))) continue;
    fromIntegers.add(name);
    for (const value of output) after.add(value);
  }
  const before = new Set<string>();
  const islands: FloatIsland[] = [];
  for (const { name = "", input = [], output = [] } of [...all].reverse()) {
    const node = floats.get(name);
    if (!node || !output.some((value) => quantized.has(value) || before.has(value))) continue;
    for (const value of input) before.add(value);
    if (!fromIntegers.has(name) || isConversion(node)) continue;
    islands.push({ node: name, op: node.op, durationMs: runs * node.leastMs });
  }
  return islands;
}

const INTEGER = /^(QLinear|Q[A-Z]|Quantize|Dequantize|DynamicQuantize)|Integer|NBits/;

const computesInFloat = ({ op, inputType }: ProfiledNode): boolean =>
  (inputType === "float" || inputType === "float16") && !INTEGER.test(op);
