/**
 * x: [N,H,T,D] * Unsqueeze(v: [T,D], [0, 1])  =>  x * v
 *
 * Broadcasting puts axes of size 1 in front by itself. What only goes element by element
 * between the two, and is read by nothing else, takes part:
 *
 *   x: [1,1,H,W,2] + Cast(Reshape(v, [1,1,H,W,2]))  =>  x + Cast(v: [H,W,2])
 */
import { type Graph, graphsWithin, type Node, soleReader, type Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import { defineGraphPass, removeWithFeeders } from "../../rewrite/index.js";
import { areSame } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import type { SizeFacts } from "../fold/size-rules.js";

/** Slopes broadcast one way only; by the rank of an exponent runtimes choose how to compute a power. */
const others: ReadonlySet<string> = new Set(["PRelu", "Pow"]);
const MOST_STEPS = 8;

export const eliminateLeadingAxes = defineGraphPass({
  name: "eliminate-leading-axes",
  summary: "Remove axes of size 1 put in front of a tensor that is broadcast anyway",
  numerics: "exact",
  run({ model, claim }) {
    const facts = sizeFacts();
    for (const graph of graphsWithin(model.graph)) {
      for (const node of graph.nodes()) {
        if (!broadcasts(node)) continue;
        for (const [index, operand] of node.inputs.entries()) {
          const found = operand && !operand.constant && viewBehind(operand, graph, facts);
          if (!found || !isWide(node, index, operand)) continue;
          if (!claim(node.displayName)) continue;
          remove(found, node, index);
        }
      }
    }
  },
});

const broadcasts = (node: Node): boolean =>
  familyOf(node) === "broadcasting" && !others.has(node.op) && !node.attributes.has("axis");

/** Whether another operand gives the result its rank. */
function isWide(node: Node, index: number, operand: Value): boolean {
  const rank = operand.shape?.length;
  return (
    rank !== undefined &&
    node.inputs.some((other, i) => i !== index && other !== operand && (other?.shape?.length ?? -1) >= rank)
  );
}

interface View {
  /** Puts the axes in front. */
  readonly node: Node;
  readonly count: number;
  /** Between the view and the operand, nearest to the view first. */
  readonly steps: readonly Node[];
}

function viewBehind(operand: Value, graph: Graph, facts: SizeFacts): View | null {
  const steps: Node[] = [];
  let at = operand;
  while (steps.length <= MOST_STEPS) {
    const { producer } = at;
    if (!producer || producer.graph !== graph) return null;
    const count = axesInFront(producer, facts);
    if (count > 0) return { node: producer, count, steps: steps.reverse() };
    const isStep = familyOf(producer) === "unary" || producer.is("Cast");
    const input = producer.inputs[0];
    // A step with another reader keeps its shape.
    if (!isStep || !input || input.constant || !soleReader(at)) return null;
    steps.push(producer);
    at = input;
  }
  return null;
}

/** How many axes of size 1 a node puts in front of its tensor; 0 when it does anything else. */
function axesInFront(node: Node, { shapeOf }: SizeFacts): number {
  if (!node.is("Unsqueeze") && !node.is("Reshape")) return 0;
  const [from, to] = [shapeOf(node.inputs[0]), shapeOf(node.output)];
  if (!from || !to) return 0;
  const count = to.length - from.length;
  const isSame = to.every((size, axis) => areSame(size, axis < count ? 1 : from[axis - count]));
  return isSame && count > 0 ? count : 0;
}

function remove({ node: view, count, steps }: View, reader: Node, index: number): void {
  const { graph } = view;
  const source = view.inputs[0]!;
  const [first = null] = steps;
  if (first) graph.setInput(first, 0, source);
  else graph.setInput(reader, index, source);
  for (const { output } of steps) {
    if (output.type?.shape) output.type = { dtype: output.dtype, shape: output.type.shape.slice(count) };
  }
  if (view.output.useCount === 0) removeWithFeeders(view);
}
