/** Makes a failing case smaller while it still fails in the same way. */
import {
  type Graph,
  type Model,
  type Node,
  nodesWithin,
  printGraph,
  Tensor,
  type TensorType,
} from "../../src/ir/index.js";
import { annotateTypes } from "../../src/rewrite/index.js";
import { type FuzzCase, modelOf } from "./fuzz-case.js";
import { describeModel } from "./session.js";

export type StillFails = (smaller: FuzzCase) => Promise<boolean>;

/** One way to make a model smaller; false when there is nothing to do at this place. */
type Step = (model: Model) => boolean;

export async function shrink(given: FuzzCase, stillFails: StillFails, budget = 400): Promise<FuzzCase> {
  let best = given;
  let left = budget;
  for (let changed = true; changed && left > 0; ) {
    changed = false;
    for (let index = 0; left > 0; index++) {
      const step = (await stepsOf(best))[index];
      if (!step) break;
      const smaller = applied(step, best);
      if (!smaller || smaller.text === best.text) continue;
      left--;
      if (!(await stillFails(smaller))) continue;
      best = smaller;
      changed = true;
      index--;
    }
  }
  return best;
}

function applied(step: Step, given: FuzzCase): FuzzCase | null {
  // Overridable constants stay constants here: the case remembers them by name.
  const model = modelOf({ ...given, overridable: [] });
  try {
    if (!step(model)) return null;
    sweep(model.graph);
    return { ...given, text: textOf(model) };
  } catch (thrown) {
    // A step that does not fit the graph is no step.
    if (thrown instanceof Error) return null;
    throw thrown;
  }
}

/** All values in full, but one for all where they are alike. */
export const textOf = (model: Model): string =>
  printGraph(model.graph, { valuesUpTo: Number.POSITIVE_INFINITY }).replaceAll(/= \{([^,{}]+)(?:, \1)+\}/g, "= {$1}");

async function stepsOf(given: FuzzCase): Promise<Step[]> {
  const model = modelOf({ ...given, overridable: [] });
  await annotateTypes(model, describeModel);
  const { graph } = model;
  const steps: Step[] = [];
  if (graph.outputs.length > 1) {
    for (const { name } of graph.outputs)
      steps.push((m) => {
        m.graph.removeOutput(name);
        return true;
      });
  }
  const count = [...graph.nodes()].length;
  for (let at = count - 1; at >= 0; at--) {
    const node = [...graph.nodes()][at]!;
    for (const index of node.inputs.keys()) steps.push((m) => bypass(nodeAt(m.graph, at), index));
    const type = node.outputs[0]?.type;
    if (type?.dtype && type.shape) steps.push((m) => cut(m, nodeAt(m.graph, at), type));
  }
  for (const label of graph.inputs.map((input) => input.label)) steps.push((m) => dropInput(m.graph, label));
  for (const [at, constant] of graph.constants.entries()) {
    if (constant.constant && constant.constant.elementCount > 1) steps.push((m) => simplerConstant(m.graph, at));
  }
  const inner = [...nodesWithin(graph)].length;
  for (let at = 0; at < inner; at++) {
    const names = [...[...nodesWithin(graph)][at]!.attributes].filter(([, a]) => !a.type.startsWith("graph"));
    for (const [name] of names)
      steps.push((m) => {
        const node = [...nodesWithin(m.graph)][at]!;
        node.graph.removeAttribute(node, name);
        return true;
      });
  }
  return steps;
}

const nodeAt = (graph: Graph, at: number): Node => [...graph.nodes()][at]!;

/** Readers read what the node reads. */
function bypass(node: Node, index: number): boolean {
  const input = node.inputs[index];
  const output = node.outputs[0];
  if (!input || !output || output.useCount === 0) return false;
  node.graph.replaceUses(output, input);
  return true;
}

/** Readers read a new input of the model. */
function cut(model: Model, node: Node, type: TensorType): boolean {
  const output = node.outputs[0];
  if (!output || output.useCount === 0) return false;
  const input = model.graph.addInput(`${output.label}_in`, type);
  model.graph.replaceUses(output, input);
  return true;
}

function dropInput(graph: Graph, label: string): boolean {
  const input = graph.inputs.find((each) => each.label === label);
  if (!input || input.useCount > 0 || graph.inputs.length === 1) return false;
  (graph.inputs as unknown[]).splice(graph.inputs.indexOf(input), 1);
  return true;
}

function simplerConstant(graph: Graph, at: number): boolean {
  const value = graph.constants[at]!;
  const tensor = value.constant!;
  const bytes = tensor.bytes();
  const size = bytes.length / tensor.elementCount;
  const first = bytes.slice(0, size);
  const uniform = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i += size) uniform.set(first, i);
  if (Buffer.compare(uniform, bytes) === 0) return false;
  const next = graph.addConstant(value.label, Tensor.fromBytes(tensor.dtype, tensor.dims, uniform));
  graph.replaceUses(value, next);
  graph.removeConstant(value);
  return true;
}

/** Takes out what no output needs. */
export function sweep(graph: Graph): void {
  for (const node of [...graph.nodes()].reverse()) {
    if (node.outputs.every((output) => !output || output.useCount === 0)) graph.removeNode(node);
  }
  for (const constant of graph.constants) if (constant.useCount === 0) graph.removeConstant(constant);
}
