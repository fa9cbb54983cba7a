/**
 * What both branches of an If do is done once, in front of it or behind it:
 *
 *   If<then = f(g(x)), else = h(g(x))>(c)   =>   v = g(x);  If<then = f(v), else = h(v)>(c)
 *   If<then = g(f(x)), else = g(h(x))>(c)   =>   g(If<then = f(x), else = h(x)>(c))
 *
 * One of the branches runs in any case, so nothing runs, and nothing fails, that did not
 * before. Convolutions, products and what a runtime fuses with them stay together where
 * they are.
 */
import { type Graph, graphsWithin, type Node, type Value } from "../../ir/index.js";
import { familyOf, isPure } from "../../ops/facts.js";
import { Captures, copyConstant, copyNode, defineGraphPass, removeWithFeeders } from "../../rewrite/index.js";
import { areAlike, areEqualValues, doTheSameHere } from "./equal-bodies.js";
import { moveOut } from "./move-out.js";
import { bodyOf } from "./rank-trace.js";

export const hoistCommonBranchNode = defineGraphPass({
  name: "hoist-common-branch-node",
  summary: "Do once in front of an If or behind it what both of its branches do",
  numerics: "exact",
  run({ model, claim }) {
    for (const graph of [...graphsWithin(model.graph)].reverse()) {
      for (const node of graph.nodes()) {
        const [then, otherwise] = [bodyOf(node, "then_branch"), bodyOf(node, "else_branch")];
        if (!node.is("If") || !then || !otherwise) continue;
        for (const [first, twin] of commonStarts(then, otherwise)) {
          if (claim(first.displayName)) moveOut(first, node, [twin]);
        }
        for (let i = 0; i < node.outputs.length; i++) {
          for (let at = commonEnd(node, then, otherwise, i); at; at = commonEnd(node, then, otherwise, i)) {
            if (!claim(at.first.displayName)) break;
            moveBehind(node, i, at, then, otherwise);
          }
        }
      }
    }
  },
});

const isHeavy = (node: Node | null): boolean =>
  node !== null && (familyOf(node) === "computation" || node.is("LSTM") || node.is("Resize"));

/** Pairs that do the same with what comes from outside; a pair may read what an earlier one gives once that has moved. */
function* commonStarts(then: Graph, otherwise: Graph): Generator<[Node, Node]> {
  for (const node of then.nodes()) {
    if (!mayMove(node)) continue;
    const isSeenOutside = (value: Value | null): boolean =>
      value === null || value.constant !== null || value.graph !== then;
    if (!node.inputs.every(isSeenOutside) || !node.inputs.some((value) => value && value.graph !== then)) continue;
    for (const other of otherwise.nodes()) {
      if (!doTheSameHere(node, other) || other.outputs.some((output) => output?.isGraphOutput)) continue;
      yield [node, other];
      break;
    }
  }
}

const mayMove = (node: Node): boolean =>
  isPure(node) &&
  !isHeavy(node) &&
  node.op !== "Constant" &&
  node.bodies.length === 0 &&
  !node.outputs.some((output) => output?.isGraphOutput);

interface CommonEnd {
  readonly first: Node;
  readonly second: Node;
  /** The input in which they differ. */
  readonly index: number;
}

/** The nodes that give output `i` in the two branches, when they do the same with one value of their own each. */
function commonEnd(node: Node, then: Graph, otherwise: Graph, i: number): CommonEnd | null {
  const [a, b] = [then.outputs[i]?.value, otherwise.outputs[i]?.value];
  if (!a || !b || !node.outputs[i] || node.outputs[i].useCount === 0) return null;
  const [first, second] = [endOf(a, then), endOf(b, otherwise)];
  if (!first || !second || !areAlike(first, second) || first.outputs.length !== second.outputs.length) return null;
  const differing = [...first.inputs.keys()].filter((at) => !areEqualValues(first.inputs[at]!, second.inputs[at]!));
  const [index, ...more] = differing;
  if (index === undefined || more.length > 0) return null;
  const [one, other] = [first.inputs[index], second.inputs[index]];
  if (!one || !other || !mayEnd(one, first, then) || !mayEnd(other, second, otherwise)) return null;
  // An If gives one type; what a Cast makes equal need not have been.
  if (one.dtype === null || one.dtype !== other.dtype) return null;
  const outside = first.inputs.every((value, at) => at === index || !value || value.constant || value.graph !== then);
  return outside ? { first, second, index } : null;
}

/** The producer of a branch's output, read by nobody else. */
function endOf(value: Value, branch: Graph): Node | null {
  const node = value.producer;
  if (!node || node.graph !== branch || value.useCount !== 1 || node.outputs[0] !== value) return null;
  const family = familyOf(node);
  const isLight = family === "movement" || family === "reduction" || family === "conversion" || family === "unary";
  return isLight && node.op !== "Identity" && node.outputs.length === 1 ? node : null;
}

/** A value of the branch that can be its output, and that is no product waiting for its activation. */
const mayEnd = (value: Value, reader: Node, branch: Graph): boolean =>
  value.graph === branch &&
  value.producer !== null &&
  !value.isGraphOutput &&
  !(isHeavy(value.producer) && familyOf(reader) === "unary");

function moveBehind(node: Node, i: number, { first, second, index }: CommonEnd, then: Graph, otherwise: Graph): void {
  const output = node.outputs[i]!;
  const [one, other] = [first.inputs[index]!, second.inputs[index]!];
  then.setOutput(i, one);
  otherwise.setOutput(i, other);

  const values = new Captures([[one, output]]);
  for (const input of first.inputs) {
    if (input?.constant && input.graph === then) values.set(input, copyConstant(input, node.graph, true));
  }
  const copy = copyNode(first, node.graph, values, { ...(node.next && { before: node.next }) });
  const result = copy.output;
  result.label = output.label;
  result.type = output.type;
  result.info = output.info;
  node.graph.replaceUses(output, result, copy);
  output.label = `${one.label}/If`;
  const shape = one.shape?.length === other.shape?.length ? one.shape : null;
  const dims = shape?.map((dim, axis) => (dim === other.shape?.[axis] ? dim : null)) ?? null;
  output.type = { dtype: one.dtype, shape: dims };
  output.info = null;
  copy.provenance = [...new Set([...first.provenance, ...second.provenance])];
  removeWithFeeders(first);
  removeWithFeeders(second);
}
