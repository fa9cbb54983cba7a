import { graphsWithin, type Model, type Node, nodesWithin } from "../ir/index.js";

/**
 * Gives every node and value of the model a name that no other has, keeping those
 * that already are unique. Plans, ranges and reports speak of nodes and values by
 * name, and must find them again in a copy of the model. Values inside get none that
 * every object has, `constructor` say: the runtime's binding takes outputs by name from one.
 */
export function makeNamesUnique(model: Model): void {
  const nodes = new Set<string>();
  const values = new Set<string>();
  const claimInside = (wanted: string): string => claim(values, wanted in {} ? `${wanted}_` : wanted || "value");
  // Public names first: nothing else may take them.
  const inputs = new Set(model.graph.inputs.map(({ label }) => label));
  for (const { name, value } of model.graph.outputs) {
    if (value.isGraphInput && !inputs.has(name)) values.add(name);
    if (!value.isGraphInput && !values.has(name)) value.label = claim(values, name);
  }
  const ported = new Set(model.graph.outputs.map(({ value }) => value));
  for (const graph of graphsWithin(model.graph)) {
    const isPublic = graph === model.graph;
    for (const value of [...graph.inputs, ...graph.constants]) {
      if (ported.has(value) && !value.isGraphInput) continue;
      value.label = isPublic && value.isGraphInput ? claim(values, value.label || "value") : claimInside(value.label);
    }
    for (const node of graph.nodes()) {
      for (const value of node.outputs) {
        if (value && !ported.has(value)) value.label = claimInside(value.label);
      }
      node.name = claim(nodes, node.displayName);
    }
  }
}

/**
 * Gives nodes that were added names that no other node has: the runtime refuses a model where two have one.
 * @param known nodes that keep theirs, as far as they are still there
 */
export function nameAdded(model: Model, known: ReadonlySet<Node>): void {
  const nodes = [...nodesWithin(model.graph)];
  const taken = new Set(nodes.filter((node) => known.has(node)).map(({ name }) => name));
  for (const node of nodes) if (!known.has(node) && node.name !== "") node.name = claim(taken, node.name);
}

function claim(taken: Set<string>, wanted: string): string {
  let name = wanted;
  for (let i = 1; taken.has(name); i++) name = `${wanted}_${i}`;
  taken.add(name);
  return name;
}
