/**
 * Constants that are computed without the runtime: those that only move elements, or count with integers, where every
 * kernel gives the same bits. To ask the runtime takes a session, and waiting for what it is doing already.
 */
import { type Model, type Node, Tensor, type Value } from "../../ir/index.js";
import { movements, type Operands } from "./moved-elements.js";
import { arithmetic } from "./whole-numbers.js";

/** The results of all of these nodes, in execution order; null where one of them is for the runtime to compute. */
export function computedHere(model: Model, nodes: Iterable<Node>): Map<Value, Tensor> | null {
  const results = new Map<Value, Tensor>();
  for (const node of nodes) {
    const compute = movements[node.op] ?? arithmetic[node.op];
    // A function of the model may have the name.
    if (!compute || node.outputs.length !== 1 || model.functions.has(`::${node.op}`)) return null;
    const operands: Operands = node.inputs.map((value) => value && (results.get(value) ?? value.constant));
    if (operands.some((operand, i) => operand?.dtype === "string" || (!operand && node.inputs[i]))) return null;
    const result = compute(node, operands);
    if (!result) return null;
    results.set(node.output, bare(result));
  }
  return results;
}

/** Without what a constant that it shares its bytes with brought along from the file. */
const bare = (tensor: Tensor): Tensor =>
  tensor.extras ? Tensor.fromSource(tensor.dtype, tensor.dims, tensor.byteSource) : tensor;
