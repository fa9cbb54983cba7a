import { invariant } from "../base/errors.js";
import type { Graph } from "./graph.js";
import type { Value } from "./value.js";

/** How often each value is read, as seen from its readers. */
type Tally = Map<Value, number>;

/**
 * States every structural invariant of a graph once: uses agree with inputs and
 * outputs, order is topological, values are read only where they are visible, ports have
 * distinct names. Throws a plain `internal:` error that names the node.
 */
export function check(graph: Graph): void {
  const reads: Tally = new Map();
  checkGraph(graph, new Set(), reads);
  // Every use leads to its reader, and there are as many as reads: so they are the same.
  for (const [value, count] of reads) {
    checkUses(value);
    invariant(value.useCount === count, `${value.label} is read ${count} times and knows of ${value.useCount}`);
  }
}

function checkGraph(graph: Graph, outer: ReadonlySet<Value>, reads: Tally): void {
  const visible = new Set(outer);
  const read = (value: Value): void => void reads.set(value, (reads.get(value) ?? 0) + 1);
  const define = (value: Value): void => {
    invariant(value.graph === graph, `${value.label} belongs to another graph`);
    visible.add(value);
    if (!reads.has(value)) reads.set(value, 0);
  };
  for (const value of [...graph.inputs, ...graph.constants]) define(value);
  let count = 0;
  for (const node of graph.nodes()) {
    count++;
    invariant(node.graph === graph && node.attached, `${node.displayName} is listed in a graph that is not its own`);
    for (const value of node.inputs) {
      if (!value) continue;
      invariant(
        visible.has(value),
        `${node.displayName} reads ${value.label} before it is made, or from where it cannot be seen`,
      );
      read(value);
    }
    for (const body of node.bodies) {
      invariant(body.owner === node, `a body of ${node.displayName} has another owner`);
      checkGraph(body, visible, reads);
    }
    node.outputs.forEach((value, index) => {
      if (!value) return;
      const origin = value.origin.producer;
      invariant(
        origin?.node === node && origin.index === index,
        `${value.label} does not know its producer ${node.displayName}`,
      );
      define(value);
    });
  }
  invariant(count === graph.nodeCount, "the node count is off");

  const names = new Set<string>();
  for (const { name, value } of graph.outputs) {
    invariant(!names.has(name), `two outputs are called ${name}`);
    names.add(name);
    invariant(visible.has(value), `output ${name} reads ${value.label}, which cannot be seen there`);
    read(value);
  }
}

function checkUses(value: Value): void {
  for (const use of value.uses) {
    if (use.kind === "input") {
      const held = use.node.attached && use.node.inputs[use.index] === value;
      invariant(held, `${value.label} thinks that ${use.node.displayName} reads it`);
    } else {
      const held = use.port.value === value && use.graph.outputs.includes(use.port);
      invariant(held, `${value.label} thinks that output ${use.port.name} reads it`);
    }
  }
}
