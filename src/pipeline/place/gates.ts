/**
 * Nodes that compute one number for each channel, which then scales or shifts whole planes (squeeze-and-excite, selective
 * kernels). There is little of them to be faster as integers, and their rounding is on all that they scale.
 */
import { elementCount, type Model, type Node, type Value } from "../../ir/index.js";

/** More of them are no gate. */
const MOST_NODES = 24;
/** As many numbers on the way, for each of the gate's: of several branches. */
const MOST_WIDER = 4;

/** From the mean of planes on, if there is one, or whatever else makes so few numbers. */
export function gateNodes({ graph }: Model): ReadonlySet<Node> {
  const found = new Set<Node>();
  for (const node of graph.nodes()) {
    if ((!node.is("Mul") && !node.is("Add")) || !isPlane(node.output)) continue;
    for (const gate of node.inputs) {
      const nodes = gate && isOfChannels(gate) ? nodesBehind(gate) : null;
      for (const each of nodes ?? []) found.add(each);
    }
  }
  return found;
}

function nodesBehind(gate: Value): ReadonlySet<Node> | null {
  const most = MOST_WIDER * countOf(gate)!;
  const nodes = new Set<Node>();
  const waiting = [gate];
  for (let value = waiting.pop(); value; value = waiting.pop()) {
    const { producer, graph } = value;
    if (!producer || producer.graph !== graph || nodes.has(producer)) continue;
    if (nodes.size === MOST_NODES) return null;
    nodes.add(producer);
    if (producer.is("GlobalAveragePool") || producer.is("ReduceMean")) continue;
    for (const input of producer.inputs)
      if (input && !input.constant && (countOf(input) ?? Infinity) <= most) waiting.push(input);
  }
  return nodes;
}

/** Of one sample. */
const countOf = ({ shape }: Value): number | null => {
  const sizes = shape?.slice(1);
  return sizes?.every((size) => typeof size === "number") ? elementCount(sizes) : null;
};

/** [N,C,1,...] */
const isOfChannels = (value: Value): boolean =>
  !value.constant &&
  !!value.shape &&
  value.shape.length > 2 &&
  value.shape.slice(2).every((size) => size === 1) &&
  countOf(value) !== null;

const isPlane = ({ shape }: Value): boolean => !!shape && shape.length > 2 && shape.slice(2).some((size) => size !== 1);
