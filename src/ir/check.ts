import { invariant } from "../base/errors.js";
import type { Graph } from "./graph.js";
import type { Value } from "./value.js";

/**
 * States every structural invariant of a graph once: uses agree with inputs, order
 * is topological, values are read only where they are visible, ports have distinct
 * names. Throws a plain `internal:` error that names the node.
 */
export function check(graph: Graph): void {
  checkGraph(graph, new Set());
}

function checkGraph(graph: Graph, outer: ReadonlySet<Value>): void {
  const visible = new Set(outer);
  for (const value of [...graph.inputs, ...graph.constants]) {
    invariant(value.graph === graph, `${value.label} belongs to another graph`);
    visible.add(value);
  }
  let count = 0;
  for (const node of graph.nodes()) {
    count++;
    invariant(node.graph === graph && node.attached, `${node.displayName} is listed in a graph that is not its own`);
    node.inputs.forEach((value, index) => {
      if (!value) return;
      invariant(
        visible.has(value),
        `${node.displayName} reads ${value.label} before it is made, or from where it cannot be seen`,
      );
      const linked = value.uses.some((use) => use.kind === "input" && use.node === node && use.index === index);
      invariant(linked, `${node.displayName} reads ${value.label}, which does not know it`);
    });
    for (const body of node.bodies) {
      invariant(body.owner === node, `a body of ${node.displayName} has another owner`);
      checkGraph(body, visible);
    }
    node.outputs.forEach((value, index) => {
      if (!value) return;
      const origin = value.origin.producer;
      invariant(
        origin?.node === node && origin.index === index,
        `${value.label} does not know its producer ${node.displayName}`,
      );
      visible.add(value);
      checkUses(value);
    });
  }
  invariant(count === graph.nodeCount, "the node count is off");
  for (const value of [...graph.inputs, ...graph.constants]) checkUses(value);

  const names = new Set<string>();
  for (const { name, value } of graph.outputs) {
    invariant(!names.has(name), `two outputs are called ${name}`);
    names.add(name);
    invariant(visible.has(value), `output ${name} reads ${value.label}, which cannot be seen there`);
  }
}

function checkUses(value: Value): void {
  for (const use of value.uses) {
    if (use.kind === "input") {
      invariant(use.node.inputs[use.index] === value, `${value.label} thinks that ${use.node.displayName} reads it`);
    } else {
      const held = use.graph.outputs.some((port) => port === use.port && port.value === value);
      invariant(held, `${value.label} thinks that output ${use.port.name} reads it`);
    }
  }
}
