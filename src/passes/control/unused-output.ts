/**
 * Outputs of an If and a Loop that nobody reads go, with what only they need in the bodies
 * (eliminate-dead-code takes it away), and so do states of a Loop that never change or that
 * nothing kept depends on:
 *
 *   a, b = Loop<body=(i, k, s, t) -> (k, s, u) { u = Add(t, s) }>(n, true, x, y), a unread
 *     =>   b = Loop<body=(i, k, t) -> (k, u) { u = Add(t, x) }>(n, true, y)
 */
import { Graph, graphsWithin, type Node, type Value } from "../../ir/index.js";
import { isRemovable } from "../../ops/facts.js";
import { Captures, copyConstant, copyNode, defineGraphPass, removeWithFeeders } from "../../rewrite/index.js";
import { behindIdentity } from "./condition-value.js";
import { isRead } from "./stack.js";

export const eliminateUnusedOutput = defineGraphPass({
  name: "eliminate-unused-output",
  summary: "Remove outputs of If and Loop that nobody reads, and states of a Loop that do not change",
  numerics: "exact",
  revealsTypes: "for the next round",
  run({ model, claim }) {
    for (const graph of graphsWithin(model.graph)) {
      for (const node of graph.nodes()) {
        const plan = planOf(node);
        if (!plan) continue;
        if (!claim(node.displayName)) continue;
        rebuild(node, plan);
      }
    }
  },
});

interface Plan {
  /** Places of the node's inputs and outputs that stay. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  /** Places of each body's outputs that stay. */
  readonly bodyOutputs: readonly number[];
  /** What readers of an output that goes read instead. */
  readonly instead: ReadonlyMap<number, Value>;
}

const places = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** What can go; null when nothing can, or nothing at all is read: then the node is dead code. */
function planOf(node: Node): Plan | null {
  if (!node.outputs.some(isRead)) return null;
  if (node.is("If")) return ifPlan(node);
  return node.is("Loop") ? loopPlan(node) : null;
}

function ifPlan(node: Node): Plan | null {
  if (node.bodies.some(({ inputs, outputs }) => inputs.length > 0 || outputs.length !== node.outputs.length))
    return null;
  const outputs = places(node.outputs.length).filter((i) => isRead(node.outputs[i]));
  if (outputs.length === node.outputs.length) return null;
  return { inputs: places(node.inputs.length), outputs, bodyOutputs: outputs, instead: new Map() };
}

function loopPlan(node: Node): Plan | null {
  const body = node.bodies[0];
  if (!body || body.inputs.length < 2 || body.inputs.length !== node.inputs.length) return null;
  const states = body.inputs.length - 2;
  if (body.outputs.length !== node.outputs.length + 1 || node.inputs.slice(2).some((value) => !value)) return null;
  const instead = new Map<number, Value>();
  for (const i of places(states)) {
    if (behindIdentity(body.outputs[i + 1]!.value) === body.inputs[i + 2]) instead.set(i, node.inputs[i + 2]!);
  }
  const needed = neededStates(node, body, states);
  const keptStates = places(states).filter((i) => needed.has(i) && !instead.has(i));
  const keptScans = places(node.outputs.length - states)
    .map((i) => i + states)
    .filter((i) => isRead(node.outputs[i]));
  const outputs = [...keptStates, ...keptScans];
  if (outputs.length === node.outputs.length || (outputs.length === 0 && !isRemovable(node))) return null;
  return {
    inputs: [0, 1, ...keptStates.map((i) => i + 2)],
    outputs,
    bodyOutputs: [0, ...outputs.map((i) => i + 1)],
    instead,
  };
}

/** States that are read behind the Loop, or that the condition, an output or a state that is needed depends on. */
function neededStates(node: Node, body: Graph, states: number): Set<number> {
  const needed = new Set<number>();
  const seen = new Set<Value>();
  const pending: Value[] = [body.outputs[0]!.value];
  const need = (state: number): void => {
    if (needed.has(state)) return;
    needed.add(state);
    pending.push(body.outputs[state + 1]!.value);
  };
  node.outputs.forEach((output, i) => {
    if (!isRead(output)) return;
    if (i < states) need(i);
    else pending.push(body.outputs[i + 1]!.value);
  });
  for (let value = pending.pop(); value; value = pending.pop()) {
    if (seen.has(value)) continue;
    seen.add(value);
    const at = body.inputs.indexOf(value) - 2;
    if (at >= 0) need(at);
    // What nodes inside its bodies read counts as read by the node.
    if (value.producer && isWithin(value.graph, body)) pending.push(...readBy(value.producer));
  }
  return needed;
}

function isWithin(graph: Graph, body: Graph): boolean {
  for (let at: Graph | null = graph; at; at = at.parent) if (at === body) return true;
  return false;
}

function readBy(node: Node): Value[] {
  const inner = node.bodies.flatMap((body) => [
    ...body.outputs.map(({ value }) => value),
    ...[...body.nodes()].flatMap(readBy),
  ]);
  return [...node.inputs.filter((value): value is Value => value !== null), ...inner];
}

function rebuild(node: Node, plan: Plan): void {
  for (const [i, value] of plan.instead) if (node.outputs[i]) passOn(node, node.outputs[i], value);
  if (plan.outputs.length > 0) replaceByPart(node, plan);
  removeWithFeeders(node);
}

function replaceByPart(node: Node, { inputs, outputs, bodyOutputs }: Plan): void {
  const { graph } = node;
  const attributes = [...node.attributes].map(([name, attribute]) => {
    if (attribute.type !== "graph") return [name, attribute] as const;
    return [name, { ...attribute, value: partOf(attribute.value, node, inputs, bodyOutputs) }] as const;
  });
  const kept = outputs.map((i) => node.outputs[i]!);
  const copy = graph.addNode(
    {
      op: node.op,
      name: node.name,
      inputs: inputs.map((i) => node.inputs[i]!),
      attributes,
      outputs: kept.map(({ label, type }) => ({ label, type })),
      provenance: node.provenance,
    },
    node,
  );
  copy.extras = node.extras;
  kept.forEach((output, i) => {
    copy.outputs[i]!.info = output.info;
    graph.replaceUses(output, copy.outputs[i]!);
  });
}

/** A public output cannot be an input's or another output's value without an Identity. */
function passOn(node: Node, output: Value, value: Value): void {
  if (output.useCount === 0) return;
  const isPort = output.isGraphOutput;
  if (!isPort) {
    node.graph.replaceUses(output, value);
    return;
  }
  const spec = { op: "Identity", inputs: [value], outputs: [{ label: output.label, type: output.type }] };
  const identity = node.graph.addNode({ ...spec, provenance: node.provenance }, node);
  identity.output.info = output.info;
  node.graph.replaceUses(output, identity.output);
}

/** A copy of a body with some of its inputs and outputs; inputs that go are read where the first iteration has them from. */
function partOf(body: Graph, node: Node, inputs: readonly number[], outputs: readonly number[]): Graph {
  const copy = new Graph();
  copy.extras = body.extras;
  const values = new Captures();
  body.inputs.forEach((input, i) => {
    if (!inputs.includes(i)) {
      values.set(input, node.inputs[i]!);
      return;
    }
    const twin = copy.addInput(input.label, input.type, input.origin);
    twin.info = input.info;
    values.set(input, twin);
  });
  for (const constant of body.constants) values.set(constant, copyConstant(constant, copy, true));
  for (const inner of body.nodes()) copyNode(inner, copy, values, { keepTypes: true });
  for (const i of outputs) {
    const { name, value, info } = body.outputs[i]!;
    copy.addOutput(name, values.get(value), info);
  }
  return copy;
}
