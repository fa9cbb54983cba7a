/** The graph that the runtime executed, with the shapes that the profiler saw on its edges. */
import { groupBy } from "../../base/group-by.js";
import { loadWritten, type Model, type Node, nodesWithin, type Value } from "../../ir/index.js";
import type { ProfiledStep, TensorFacts } from "../../runtime/node-profile.js";

export interface ExecutedGraph {
  readonly model: Model;
  /** The node of each step; null for one that the file does not tell from others. */
  readonly nodes: readonly (Node | null)[];
}

/** Reads what the runtime wrote of the model `original`, whose nodes stand in the order in which it executes them. */
export function executedGraph(path: string, original: string, steps: readonly ProfiledStep[]): ExecutedGraph {
  const model = loadWritten(path, original);
  const nodes = stepNodes(model, steps);
  for (const [i, node] of nodes.entries()) if (node) typeEdges(node, steps[i]!);
  return { model, nodes };
}

type NamedStep = Pick<ProfiledStep, "name" | "op">;

/** By name; those without one, of which the profiler makes up names, by their order among their kind. */
export function stepNodes({ graph }: Model, steps: readonly NamedStep[]): (Node | null)[] {
  const nodes = [...nodesWithin(graph)];
  const named = groupBy(
    nodes.filter(({ name }) => name !== ""),
    keyOf,
  );
  const unnamed = groupBy(
    nodes.filter((node) => node.name === "" && node.graph === graph),
    ({ op }) => op,
  );
  const madeUp = groupBy(
    steps.filter((step) => !named.has(keyOf(step))),
    ({ op }) => op,
  );
  const byOrder = new Map<NamedStep, Node>();
  for (const [op, of] of madeUp) {
    const there = unnamed.get(op) ?? [];
    if (there.length === of.length) for (const [i, step] of of.entries()) byOrder.set(step, there[i]!);
  }
  return steps.map((step) => {
    const found = named.get(keyOf(step)) ?? [];
    return found.length === 1 ? found[0]! : (byOrder.get(step) ?? null);
  });
}

const keyOf = ({ op, name }: NamedStep): string => `${op}\n${name}`;

function typeEdges(node: Node, { inputs, outputs }: ProfiledStep): void {
  const present = (values: readonly (Value | null)[]): Value[] => values.filter((value) => value !== null);
  typeEach(present(node.outputs), outputs);
  // Weights that were packed are missing from the list, and known from the file.
  const read = present(node.inputs);
  const flowing = read.filter(({ constant }) => constant === null);
  typeEach(inputs.length === read.length ? read : flowing, inputs);
}

function typeEach(values: readonly Value[], tensors: readonly TensorFacts[]): void {
  if (values.length !== tensors.length) return;
  for (const [i, value] of values.entries()) {
    const { dtype, dims } = tensors[i]!;
    if (value.constant === null) value.type = { dtype, shape: dims };
  }
}
